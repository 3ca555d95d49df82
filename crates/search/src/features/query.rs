//! Features of the query alone: the same for each of its documents, they tell easy queries from hard.
//!
//! `query-scope` (He and Ounis 2004) is -ln(n/N) where n of N documents have a term of the query;
//! `query-clarity` their simplified clarity score, sum over terms of P(q|Q) log2(P(q|Q) / P(q|C)).
//! Both look at all text fields together. A query of no known terms has 0.

use crate::error::SearchError;
use crate::features::evidence::{Evidence, Needs};
use crate::features::{Feature, Summary};
use crate::index::TextField;
use crate::weighting::idf;

/// What is told of the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum QueryKind {
    Length,
    Idf(Summary),
    Scope,
    Clarity,
}

/// A feature of the query, over one text field.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueryFeature {
    pub(super) text_field: TextField,
    pub(super) kind: QueryKind,
}

impl Feature for QueryFeature {
    fn needs(&self) -> Needs {
        Needs { text_fields: vec![self.text_field], ..Needs::default() }
    }

    fn values(&self, evidence: &Evidence<'_>, out: &mut [f64]) -> Result<(), SearchError> {
        let value = self.value(evidence)?;
        out.fill(value);
        Ok(())
    }
}

impl QueryFeature {
    fn value(&self, evidence: &Evidence<'_>) -> Result<f64, SearchError> {
        let documents = evidence.index.documents() as f64;
        let text_field = evidence.text_field(self.text_field)?;
        Ok(match self.kind {
            QueryKind::Length => evidence.terms.length() as f64,
            QueryKind::Idf(summary) => {
                let known = text_field.stats.iter().filter(|stats| stats.documents > 0);
                let idfs: Vec<f64> =
                    known.map(|stats| idf(documents, stats.documents as f64)).collect();
                summary.of(&idfs, idfs.len())
            }
            QueryKind::Scope => match evidence.matching()? {
                0 => 0.0,
                matching => -(matching as f64 / documents).ln(),
            },
            QueryKind::Clarity => {
                let all = evidence.index.terms(self.text_field) as f64;
                let length = evidence.terms.length() as f64;
                let terms = evidence.terms.counts().zip(&text_field.stats);
                let known = terms.filter(|(_, stats)| stats.occurrences > 0);
                known
                    .map(|(count, stats)| {
                        let share = f64::from(count) / length;
                        share * (share * all / stats.occurrences as f64).log2()
                    })
                    .sum()
            }
        })
    }
}
