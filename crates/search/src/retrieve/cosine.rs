//! The cosine of tf-idf vectors (Salton; lnc.ltc in the notation of the SMART system): document
//! weights 1 + ln tf, query weights (1 + ln count) idf with idf = ln((N + 1) / (df + 0.5)), both
//! vectors scaled to length 1. Here tf and count are the numbers of occurrences of the term in the
//! document and in the query, N is the number of documents and df the number of those that contain
//! the term.

use rankwright_spec::params;

use super::def::FirstStageDef;
use super::weighting::{DocumentStats, QueryTerm, TermWeight, Weighting, idf};
use crate::features::FeatureDef;
use crate::index::Stat;

params! {
    /// The cosine of tf-idf vectors of one text field, or of all of them as one.
    pub struct Cosine {
        field: String = "all".to_owned(), .., "Text field; all: every text field as one.";
    }
}

pub(super) static FIRST_STAGE: FirstStageDef = FirstStageDef {
    name: "cosine",
    help: "Cosine of tf-idf vectors (lnc.ltc).",
    example: "cosine",
    ..FirstStageDef::of::<Cosine>()
};

pub(crate) static FEATURE: FeatureDef =
    FeatureDef { example: "cosine(field=title)", ..FeatureDef::of_weighting::<Cosine>() };

impl Weighting for Cosine {
    const FIRST_STAGE: &'static FirstStageDef = &FIRST_STAGE;
    const STATS: &'static [Stat] = &[Stat::Norm];
    const SHRINKS_WITH: Stat = Stat::Norm;
    const UNIT_QUERY: bool = true;

    fn field(&self) -> &str {
        &self.field
    }

    fn term_weight(&self, term: &QueryTerm) -> TermWeight {
        let weight = (1.0 + term.count.ln()) * idf(term.documents, term.df);
        // The formula of a matched term needs no statistic of the term.
        TermWeight { weight, statistic: 1.0 }
    }

    #[inline]
    fn matched_part(
        &self,
        _statistic: f64,
        tf: f64,
        _mean_length: f64,
        document: &DocumentStats,
    ) -> f64 {
        (1.0 + tf.ln()) / document.norm
    }
}
