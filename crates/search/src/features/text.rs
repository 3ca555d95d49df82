//! Features of how a field matches the words: Nallapati's six, frequencies, idf, weightings.
//!
//! Nallapati (2004), for query terms q, document D, collection C; |D| in terms, sums over different
//! terms of the query: 1. sum over matched terms of ln c(q,D); 2. sum of ln(1 + c(q,D)/|D|); 3. sum
//! over matched terms of ln idf(q); 4. sum over matched terms of ln(|C|/c(q,C)); 5. sum of
//! ln(1 + idf(q) c(q,D)/|D|); 6. sum of ln(1 + c(q,D)/|D| * |C|/c(q,C)). Here idf(q) =
//! ln((N+1)/(df+0.5)), which stays above 0. A document without a match, or of length 0, has 0.

use crate::error::SearchError;
use crate::features::evidence::{Evidence, Needs, TextFieldEvidence};
use crate::features::{Feature, Summary};
use crate::index::{Index, TextField};
use crate::weighting::{DocumentColumns, Weigher, Weighting, idf};

/// What is summed over matched terms, or summed up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TextKind {
    Nallapati(u32),
    Tf(Summary),
    Idf(Summary),
    TfIdf(Summary),
    Matched,
    MatchedRatio,
}

/// A feature of the frequencies in a text field.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextFeature {
    pub(super) text_field: TextField,
    pub(super) kind: TextKind,
}

impl Feature for TextFeature {
    fn needs(&self) -> Needs {
        Needs { text_fields: vec![self.text_field], ..Needs::default() }
    }

    fn values(&self, evidence: &Evidence<'_>, out: &mut [f64]) -> Result<(), SearchError> {
        let text_field = evidence.text_field(self.text_field)?;
        let facts = facts(evidence, self.text_field, text_field);
        let lengths = evidence.index.lengths(self.text_field);
        let mut values = Vec::new();
        for (candidate, slot) in out.iter_mut().enumerate() {
            let length = lengths[evidence.docs[candidate] as usize];
            let matched = evidence.tfs(text_field, candidate).zip(&facts).filter(|(tf, _)| *tf > 0);
            values.clear();
            values.extend(matched.map(|(tf, fact)| self.kind.part(f64::from(tf), length, fact)));
            *slot = self.kind.whole(&values, evidence.terms.distinct().len());
        }
        Ok(())
    }
}

/// What is known of a term in a text field.
struct Fact {
    idf: f64,
    /// |C| / c(q,C).
    rarity: f64,
}

fn facts(evidence: &Evidence<'_>, text_field: TextField, found: &TextFieldEvidence) -> Vec<Fact> {
    let documents = evidence.index.documents() as f64;
    let all = evidence.index.terms(text_field) as f64;
    let terms = found.stats.iter().map(|stats| Fact {
        idf: idf(documents, stats.documents as f64),
        rarity: all / (stats.occurrences as f64).max(1.0),
    });
    terms.collect()
}

impl TextKind {
    /// What a matched term gives.
    fn part(self, tf: f64, length: f64, fact: &Fact) -> f64 {
        let share = tf / length;
        match self {
            TextKind::Nallapati(1) => tf.ln(),
            TextKind::Nallapati(2) => (1.0 + share).ln(),
            TextKind::Nallapati(3) => fact.idf.ln(),
            TextKind::Nallapati(4) => fact.rarity.ln(),
            TextKind::Nallapati(5) => (1.0 + fact.idf * share).ln(),
            TextKind::Nallapati(_) => (1.0 + share * fact.rarity).ln(),
            TextKind::Tf(_) => tf,
            TextKind::Idf(_) => fact.idf,
            TextKind::TfIdf(_) => tf * fact.idf,
            TextKind::Matched | TextKind::MatchedRatio => 1.0,
        }
    }

    /// What the matched terms give together; the others of the `terms` count as 0.
    fn whole(self, parts: &[f64], terms: usize) -> f64 {
        match self {
            TextKind::Tf(summary) | TextKind::TfIdf(summary) => summary.of(parts, terms),
            TextKind::Idf(summary) => summary.of(parts, parts.len()),
            TextKind::MatchedRatio if terms > 0 => parts.len() as f64 / terms as f64,
            _ => parts.iter().sum(),
        }
    }
}

/// A first stage's weighting as a feature.
pub(super) struct WeightFeature {
    text_field: TextField,
    weighting: Weighting,
    columns: DocumentColumns,
}

impl WeightFeature {
    pub(super) fn new(
        index: &Index,
        text_field: TextField,
        weighting: Weighting,
    ) -> Result<Self, SearchError> {
        let columns = DocumentColumns::new(index, text_field, &[weighting])?;
        Ok(Self { text_field, weighting, columns })
    }
}

impl Feature for WeightFeature {
    fn needs(&self) -> Needs {
        Needs { text_fields: vec![self.text_field], ..Needs::default() }
    }

    fn values(&self, evidence: &Evidence<'_>, out: &mut [f64]) -> Result<(), SearchError> {
        let text_field = evidence.text_field(self.text_field)?;
        let (index, terms) = (evidence.index, evidence.terms);
        let weigher =
            Weigher::new(self.weighting, index, self.text_field, terms, &text_field.stats);
        for (candidate, slot) in out.iter_mut().enumerate() {
            let document = self.columns.of(evidence.docs[candidate]);
            let tfs = evidence.tfs(text_field, candidate).enumerate().filter(|(_, tf)| *tf > 0);
            let sum: f64 =
                tfs.map(|(term, tf)| weigher.matched(term, f64::from(tf), &document)).sum();
            *slot = sum + weigher.document(&document);
        }
        Ok(())
    }
}
