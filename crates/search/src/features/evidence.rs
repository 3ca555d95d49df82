//! Statistics of a query's candidates: one pass over the postings of the query's terms.
//!
//! For each field the postings of each term are walked once, from candidate to candidate, reading
//! frequencies, and positions where a feature asks for them. All features are then computed from
//! these numbers. Cost: terms x candidates skips in the postings, for each field.

use std::cell::OnceCell;

use crate::document::Query;
use crate::error::SearchError;
use crate::index::{Index, TermHits, TermStats, TextField};
use crate::terms::Terms;

/// One text field: frequencies and positions, term by term, candidate by candidate.
#[derive(Debug, Default)]
pub(crate) struct FieldEvidence {
    tfs: Vec<u32>,
    /// Where the positions of (term, candidate) begin.
    starts: Vec<u32>,
    positions: Vec<u32>,
}

/// One text field: frequencies, and the terms' statistics.
#[derive(Debug, Default)]
pub(crate) struct TextFieldEvidence {
    /// Frequencies, term by term, candidate by candidate.
    tfs: Vec<u32>,
    /// Statistics of each term.
    pub(crate) stats: Vec<TermStats>,
}

/// A query with its candidates, and what the index says of both.
pub(crate) struct Evidence<'a> {
    pub(crate) index: &'a Index,
    pub(crate) query: &'a Query,
    pub(crate) terms: &'a Terms,
    /// The candidates, ascending.
    pub(crate) docs: &'a [u32],
    fields: Vec<FieldEvidence>,
    text_fields: Vec<Option<TextFieldEvidence>>,
    matching: OnceCell<usize>,
}

/// The statistics that features need.
#[derive(Debug, Clone, Default)]
pub(crate) struct Needs {
    /// Scopes whose frequencies are looked at.
    pub(crate) text_fields: Vec<TextField>,
    /// Scopes whose positions are looked at.
    pub(crate) positions: Vec<TextField>,
}

impl<'a> Evidence<'a> {
    /// Gathers what is needed. `docs` ascends.
    pub(crate) fn gather(
        index: &'a Index,
        query: &'a Query,
        terms: &'a Terms,
        docs: &'a [u32],
        needs: &Needs,
    ) -> Result<Evidence<'a>, SearchError> {
        let count = index.text_fields().count();
        let mut found = Evidence {
            index,
            query,
            terms,
            docs,
            fields: Vec::new(),
            text_fields: Vec::new(),
            matching: OnceCell::new(),
        };
        let of = |text_fields: &[TextField], field: usize| {
            text_fields.iter().any(|&text_field| index.fields_of(text_field).contains(&field))
        };
        for field in 0..index.tantivy_fields().len() {
            let positions = of(&needs.positions, field);
            let wanted = positions || of(&needs.text_fields, field);
            let evidence = wanted.then(|| found.gather_field(field, positions)).transpose()?;
            found.fields.push(evidence.unwrap_or_default());
        }
        for text_field in (0..count).map(TextField) {
            let wanted = needs.text_fields.contains(&text_field);
            let evidence = wanted.then(|| found.gather_text_field(text_field)).transpose()?;
            found.text_fields.push(evidence);
        }
        Ok(found)
    }

    fn gather_field(&self, field: usize, positions: bool) -> Result<FieldEvidence, SearchError> {
        let (terms, docs) = (self.terms.distinct().len(), self.docs.len());
        let mut evidence = FieldEvidence { tfs: vec![0; terms * docs], ..FieldEvidence::default() };
        for (t, term) in self.terms.distinct().enumerate() {
            let row = t * docs;
            if !positions {
                let found = |at: usize, tf: u32| evidence.tfs[row + at] = tf;
                self.index.frequencies(field, term, self.docs, found)?;
                continue;
            }
            let mut next = 0;
            let FieldEvidence { tfs, starts, positions } = &mut evidence;
            self.index.positions(field, term, self.docs, |at, places| {
                starts.extend((next..=at).map(|_| positions.len() as u32));
                next = at + 1;
                tfs[row + at] = places.len() as u32;
                positions.extend_from_slice(places);
            })?;
            starts.extend((next..docs).map(|_| positions.len() as u32));
        }
        Ok(evidence)
    }

    fn gather_text_field(&self, text_field: TextField) -> Result<TextFieldEvidence, SearchError> {
        let mut evidence = TextFieldEvidence::default();
        for term in self.terms.distinct() {
            evidence.stats.push(self.index.term_stats(text_field, term)?);
        }
        evidence.tfs = vec![0; self.terms.distinct().len() * self.docs.len()];
        for &field in self.index.fields_of(text_field) {
            let tfs = evidence.tfs.iter_mut().zip(&self.fields[field].tfs);
            tfs.for_each(|(sum, tf)| *sum += tf);
        }
        Ok(evidence)
    }

    /// The evidence of a text field that was asked for.
    pub(crate) fn text_field(
        &self,
        text_field: TextField,
    ) -> Result<&TextFieldEvidence, SearchError> {
        let found = self.text_fields.get(text_field.0).and_then(Option::as_ref);
        found.ok_or(SearchError::Internal { invariant: "a feature names the text fields it needs" })
    }

    /// Frequencies of the terms in a candidate.
    pub(crate) fn tfs<'s>(
        &self,
        text_field: &'s TextFieldEvidence,
        candidate: usize,
    ) -> impl Iterator<Item = u32> + use<'s> {
        text_field.tfs.iter().skip(candidate).step_by(self.docs.len()).copied()
    }

    /// Positions of a term in a candidate, ascending.
    pub(crate) fn positions(&self, field: usize, term: usize, candidate: usize) -> &[u32] {
        let evidence = &self.fields[field];
        let at = term * self.docs.len() + candidate;
        let (start, tf) = (evidence.starts[at] as usize, evidence.tfs[at] as usize);
        &evidence.positions[start..start + tf]
    }

    /// Number of documents of the whole index that have a term of the query.
    pub(crate) fn matching(&self) -> Result<usize, SearchError> {
        if let Some(&count) = self.matching.get() {
            return Ok(count);
        }
        let mut seen = vec![false; self.index.slots()];
        let mut hits = TermHits::default();
        for term in self.terms.distinct() {
            self.index.hits(self.index.all(), term, &mut hits)?;
            hits.docs.iter().for_each(|&doc| seen[doc as usize] = true);
        }
        let count = seen.into_iter().filter(|&seen| seen).count();
        Ok(*self.matching.get_or_init(|| count))
    }
}
