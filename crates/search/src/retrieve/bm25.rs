//! BM25 (Robertson et al. 1994): the sum over the terms of the query of
//!
//! ```text
//! count * idf * tf (k1 + 1) / (tf + k1 (1 - b + b |D| / avgdl))
//! idf = ln(1 + (N - df + 0.5) / (df + 0.5)), which is never negative
//! ```
//!
//! where count is the number of occurrences of the term in the query, tf that in the document, |D|
//! the number of terms of the document, avgdl the mean of |D| over all documents, N the number of
//! documents and df the number of those that contain the term.

use rankwright_spec::params;

use super::def::FirstStageDef;
use super::weighting::{DocumentStats, QueryTerm, TermWeight, Weighting, bm25_idf};
use crate::features::FeatureDef;

params! {
    /// Okapi BM25 on one text field, or on all of them as one.
    pub struct Bm25 {
        k1: f64 = 1.2, 0.0.., "Saturation of the term frequency; larger values count further occurrences more.";
        b: f64 = 0.75, 0.0..=1.0, "Strength of the normalisation by document length.";
        field: String = "all".to_owned(), .., "Text field; all: every text field as one.";
    }
}

pub(super) static FIRST_STAGE: FirstStageDef = FirstStageDef {
    name: "bm25",
    help: "Okapi BM25.",
    example: "bm25(k1=0.9, b=0.4)",
    ..FirstStageDef::of::<Bm25>()
};

pub(crate) static FEATURE: FeatureDef =
    FeatureDef { example: "bm25(field=title)", ..FeatureDef::of_weighting::<Bm25>() };

impl Weighting for Bm25 {
    const FIRST_STAGE: &'static FirstStageDef = &FIRST_STAGE;

    fn field(&self) -> &str {
        &self.field
    }

    fn term_weight(&self, term: &QueryTerm) -> TermWeight {
        TermWeight { weight: term.count, statistic: bm25_idf(term.documents, term.df) }
    }

    #[inline]
    fn matched_part(&self, idf: f64, tf: f64, mean_length: f64, document: &DocumentStats) -> f64 {
        let norm = self.k1 * (1.0 - self.b + self.b * document.length / mean_length);
        idf * (tf * (self.k1 + 1.0) / (tf + norm))
    }
}
