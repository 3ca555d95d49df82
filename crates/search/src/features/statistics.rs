//! Statistics of a query's candidates: one pass over the postings of the query's terms.
//!
//! For each field the postings of each term are read once, skipping from candidate to candidate,
//! with frequencies, and with positions if a feature needs them. All features are then computed
//! from these numbers. Cost: terms x candidates skips in the postings, for each field.
//!
//! An "indexed field" is one text field of the schema; a [`TextField`] is one of them, or all of
//! them together.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fmt;

use crate::document::{Document, Query};
use crate::error::{SearchError, TermStatistic};
use crate::index::{Index, NumberField, TermPostings, TermStats, TextField};
use crate::terms::Terms;

/// The error of a feature that reads frequencies without declaring that it needs them.
const NO_FREQUENCIES: SearchError =
    SearchError::NotGathered { statistic: TermStatistic::Frequencies };
/// The error of a feature that reads positions without declaring that it needs them.
const NO_POSITIONS: SearchError = SearchError::NotGathered { statistic: TermStatistic::Positions };

/// Statistics of the query's terms in one indexed field, which is a text field of the schema.
///
/// The entry of a term and a candidate has the index term * candidates + candidate.
#[derive(Debug, Default)]
pub(crate) struct FieldStatistics {
    /// The frequency of each entry.
    tfs: Vec<u32>,
    /// The start of the positions of each entry in `positions`; empty if positions are not needed.
    starts: Vec<u32>,
    /// Positions of all entries, one entry after another.
    positions: Vec<u32>,
}

/// Statistics of the query's terms in a [`TextField`]: frequencies in the candidates, and
/// statistics over the whole index.
#[derive(Debug, Default)]
pub(crate) struct TextFieldStatistics {
    /// The frequency of each term in each candidate, as in [`FieldStatistics`].
    tfs: Vec<u32>,
    /// Statistics of each term over the whole index.
    pub(crate) stats: Vec<TermStats>,
}

/// A query with its candidates, and the statistics of both that features need.
///
/// Candidates are numbered from 0. Terms are the different terms of the query, in the order of
/// [`Terms::distinct`].
pub struct CandidateStatistics<'a> {
    pub(crate) index: &'a Index,
    pub(crate) query: &'a Query,
    pub(crate) terms: &'a Terms,
    /// The document numbers of the candidates, ascending.
    pub(crate) docs: &'a [u32],
    /// By indexed field; `None` if no feature needs it.
    fields: Vec<Option<FieldStatistics>>,
    /// By [`TextField`]; `None` if no feature needs it.
    text_fields: Vec<Option<TextFieldStatistics>>,
    /// See [`Self::matching`]; computed on first use.
    matching: OnceCell<usize>,
}

/// The statistics of the query's terms that a feature needs: the text fields in which it needs
/// their frequencies, and those in which it needs their positions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct Needs {
    frequencies: BTreeSet<TextField>,
    positions: BTreeSet<TextField>,
}

impl Needs {
    /// Adds the frequencies of the query's terms in a text field.
    pub fn frequencies(mut self, field: TextField) -> Self {
        self.frequencies.insert(field);
        self
    }

    /// Adds the positions of the query's terms in a text field.
    pub fn positions(mut self, field: TextField) -> Self {
        self.positions.insert(field);
        self
    }

    /// The union of both.
    pub(super) fn and(mut self, mut other: Needs) -> Self {
        self.frequencies.append(&mut other.frequencies);
        self.positions.append(&mut other.positions);
        self
    }

    /// Checks that an index has all the text fields.
    pub(super) fn check(&self, index: &Index) -> Result<(), SearchError> {
        let fields = self.frequencies.iter().chain(&self.positions);
        fields.into_iter().try_for_each(|&field| index.check_text_field(field))
    }
}

impl<'a> CandidateStatistics<'a> {
    /// Collects the needed statistics. `docs` is ascending.
    pub(crate) fn gather(
        index: &'a Index,
        query: &'a Query,
        terms: &'a Terms,
        docs: &'a [u32],
        needs: &Needs,
    ) -> Result<CandidateStatistics<'a>, SearchError> {
        let mut found = CandidateStatistics {
            index,
            query,
            terms,
            docs,
            fields: Vec::new(),
            text_fields: Vec::new(),
            matching: OnceCell::new(),
        };
        let includes = |text_fields: &BTreeSet<TextField>, field: usize| {
            text_fields.iter().any(|&text_field| index.fields_of(text_field).contains(&field))
        };
        for field in 0..index.tantivy_fields().len() {
            let with_positions = includes(&needs.positions, field);
            let is_needed = with_positions || includes(&needs.frequencies, field);
            let statistics = is_needed.then(|| found.gather_field(field, with_positions));
            let statistics = statistics.transpose()?;
            found.fields.push(statistics);
        }
        for text_field in index.text_fields() {
            let is_needed = needs.frequencies.contains(&text_field);
            let statistics = is_needed.then(|| found.gather_text_field(text_field)).transpose()?;
            found.text_fields.push(statistics);
        }
        Ok(found)
    }

    /// Reads the postings of the query's terms in one indexed field.
    fn gather_field(
        &self,
        field: usize,
        with_positions: bool,
    ) -> Result<FieldStatistics, SearchError> {
        let (terms, docs) = (self.terms.distinct().len(), self.docs.len());
        let mut statistics =
            FieldStatistics { tfs: vec![0; terms * docs], ..FieldStatistics::default() };
        for (t, term) in self.terms.distinct().enumerate() {
            let first_entry = t * docs;
            if !with_positions {
                let found =
                    |candidate: usize, tf: u32| statistics.tfs[first_entry + candidate] = tf;
                self.index.frequencies(field, term, self.docs, found)?;
                continue;
            }
            // The first candidate whose entry has no start yet.
            let mut next = 0;
            let FieldStatistics { tfs, starts, positions } = &mut statistics;
            self.index.positions(field, term, self.docs, |candidate, found| {
                starts.extend((next..=candidate).map(|_| positions.len() as u32));
                next = candidate + 1;
                tfs[first_entry + candidate] = found.len() as u32;
                positions.extend_from_slice(found);
            })?;
            starts.extend((next..docs).map(|_| positions.len() as u32));
        }
        Ok(statistics)
    }

    /// Adds up the frequencies in the indexed fields of a text field, which were gathered before.
    fn gather_text_field(&self, text_field: TextField) -> Result<TextFieldStatistics, SearchError> {
        let mut statistics = TextFieldStatistics::default();
        for term in self.terms.distinct() {
            statistics.stats.push(self.index.term_stats(text_field, term)?);
        }
        statistics.tfs = vec![0; self.terms.distinct().len() * self.docs.len()];
        for &field in self.index.fields_of(text_field) {
            let field = self.fields.get(field).and_then(Option::as_ref).ok_or(NO_FREQUENCIES)?;
            statistics.tfs.iter_mut().zip(&field.tfs).for_each(|(sum, tf)| *sum += tf);
        }
        Ok(statistics)
    }

    /// The statistics of a text field, whose frequencies must be declared as needed.
    pub(crate) fn text_field(
        &self,
        text_field: TextField,
    ) -> Result<&TextFieldStatistics, SearchError> {
        self.text_fields.get(text_field.0).and_then(Option::as_ref).ok_or(NO_FREQUENCIES)
    }

    /// The frequency of each different term in a candidate.
    pub(crate) fn tfs<'s>(
        &self,
        text_field: &'s TextFieldStatistics,
        candidate: usize,
    ) -> impl Iterator<Item = u32> + use<'s> {
        text_field.tfs.iter().skip(candidate).step_by(self.docs.len()).copied()
    }

    /// The statistics of each indexed field of a text field, whose positions must be declared as
    /// needed.
    pub(crate) fn fields_with_positions(
        &self,
        text_field: TextField,
    ) -> Result<Vec<&FieldStatistics>, SearchError> {
        let fields = self.index.fields_of(text_field).iter();
        let found = fields.map(|&field| self.fields.get(field).and_then(Option::as_ref));
        let has_positions = |found: &&FieldStatistics| found.starts.len() == found.tfs.len();
        found.map(|found| found.filter(has_positions).ok_or(NO_POSITIONS)).collect()
    }

    /// Positions of a term in a candidate, ascending.
    pub(crate) fn positions_in<'s>(
        &self,
        statistics: &'s FieldStatistics,
        term: usize,
        candidate: usize,
    ) -> &'s [u32] {
        let entry = term * self.docs.len() + candidate;
        let (start, tf) = (statistics.starts[entry] as usize, statistics.tfs[entry] as usize);
        &statistics.positions[start..start + tf]
    }

    /// Number of documents of the whole index that have a term of the query.
    pub(crate) fn matching(&self) -> Result<usize, SearchError> {
        if let Some(&count) = self.matching.get() {
            return Ok(count);
        }
        let mut matches = vec![false; self.index.max_doc()];
        let mut postings = TermPostings::default();
        for term in self.terms.distinct() {
            self.index.read_postings(self.index.all_text(), term, &mut postings)?;
            postings.docs.iter().for_each(|&doc| matches[doc as usize] = true);
        }
        let count = matches.into_iter().filter(|&matches| matches).count();
        Ok(*self.matching.get_or_init(|| count))
    }
}

/// The interface for custom features.
impl<'a> CandidateStatistics<'a> {
    /// The index.
    pub fn index(&self) -> &'a Index {
        self.index
    }

    /// The query.
    pub fn query(&self) -> &'a Query {
        self.query
    }

    /// The terms of the query.
    pub fn terms(&self) -> &'a Terms {
        self.terms
    }

    /// Number of candidates.
    pub fn candidates(&self) -> usize {
        self.docs.len()
    }

    /// The id of a candidate.
    pub fn id(&self, candidate: usize) -> Result<&'a str, SearchError> {
        Ok(self.index.ids()?.get(self.doc(candidate)?))
    }

    /// The document of a candidate, as it was added to the index. It is read and decompressed each
    /// time, which is slow compared with other statistics.
    pub fn document(&self, candidate: usize) -> Result<Document, SearchError> {
        self.index.stored_document(self.doc(candidate)?)
    }

    /// The value of each candidate in a number or date field; NaN is missing.
    pub fn numbers(&self, field: &NumberField) -> Result<Vec<f64>, SearchError> {
        let values = field.values_in(self.index)?;
        Ok(self.docs.iter().map(|&doc| values[doc as usize]).collect())
    }

    /// The number of terms of a candidate in a text field.
    pub fn length(&self, field: TextField, candidate: usize) -> Result<f64, SearchError> {
        self.index.check_text_field(field)?;
        Ok(self.index.lengths(field)[self.doc(candidate)? as usize])
    }

    /// The frequency of each different term in a text field of a candidate.
    pub fn frequencies(
        &self,
        field: TextField,
        candidate: usize,
    ) -> Result<impl Iterator<Item = u32>, SearchError> {
        self.doc(candidate)?;
        Ok(self.tfs(self.text_field(field)?, candidate))
    }

    /// The number of documents and occurrences of each different term in a text field of the index.
    pub fn term_stats(&self, field: TextField) -> Result<&[TermStats], SearchError> {
        Ok(&self.text_field(field)?.stats)
    }

    /// Positions of a term in a candidate, ascending, among all words, including those that the
    /// analysis removes: a list for each indexed field of the text field.
    pub fn positions(
        &self,
        field: TextField,
        term: usize,
        candidate: usize,
    ) -> Result<Vec<&[u32]>, SearchError> {
        self.index.check_text_field(field)?;
        self.doc(candidate)?;
        if term >= self.terms.distinct().len() {
            return Err(SearchError::NoSuchTerm { term, terms: self.terms.distinct().len() });
        }
        let fields = self.fields_with_positions(field)?.into_iter();
        Ok(fields.map(|statistics| self.positions_in(statistics, term, candidate)).collect())
    }

    /// The document number of a candidate.
    fn doc(&self, candidate: usize) -> Result<u32, SearchError> {
        let candidates = self.docs.len();
        let found = self.docs.get(candidate).copied();
        found.ok_or(SearchError::NoSuchCandidate { candidate, candidates })
    }
}

impl fmt::Debug for CandidateStatistics<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { query, docs, .. } = self;
        f.debug_struct("CandidateStatistics")
            .field("query", query)
            .field("docs", docs)
            .finish_non_exhaustive()
    }
}
