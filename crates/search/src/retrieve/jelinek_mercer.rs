//! Query likelihood ln P(Q|D) (Ponte and Croft 1998) with Jelinek-Mercer smoothing (Zhai and
//! Lafferty 2004):
//!
//! ```text
//! P(q|D)    = (1 - lambda) tf / |D| + lambda p
//! ln P(q|D) = ln(1 + (1 - lambda) tf / (|D| lambda p)) + ln(lambda p)
//! ```
//!
//! Here tf is the number of occurrences of the term q in the document D, |D| the number of terms of
//! D, and p the probability of q in the whole collection: its occurrences divided by the number of
//! terms of all documents. The first summand is 0 for a term that the document does not have.

use rankwright_spec::{above, params};

use super::def::FirstStageDef;
use super::weighting::{DocumentStats, QueryTerm, TermWeight, Weighting};
use crate::features::FeatureDef;

params! {
    /// Query likelihood with Jelinek-Mercer smoothing on one text field, or on all of them as one.
    pub struct JelinekMercer {
        lambda: f64 = 0.5, above(0.0).below(1.0), "Weight of the collection's language model.";
        field: String = "all".to_owned(), .., "Text field; all: every text field as one.";
    }
}

pub(super) static FIRST_STAGE: FirstStageDef = FirstStageDef {
    name: "jelinek-mercer",
    help: "Query likelihood ln P(Q|D), Jelinek-Mercer smoothing.",
    example: "jelinek-mercer(lambda=0.3)",
    ..FirstStageDef::of::<JelinekMercer>()
};

pub(crate) static FEATURE: FeatureDef = FeatureDef {
    example: "jelinek-mercer(field=title)",
    ..FeatureDef::of_weighting::<JelinekMercer>()
};

impl Weighting for JelinekMercer {
    const FIRST_STAGE: &'static FirstStageDef = &FIRST_STAGE;

    fn field(&self) -> &str {
        &self.field
    }

    fn term_weight(&self, term: &QueryTerm) -> TermWeight {
        TermWeight { weight: term.count, statistic: term.collection_share }
    }

    #[inline]
    fn matched_part(
        &self,
        collection_share: f64,
        tf: f64,
        _: f64,
        document: &DocumentStats,
    ) -> f64 {
        let from_collection = document.length * self.lambda * collection_share;
        (1.0 + (1.0 - self.lambda) * tf / from_collection).ln()
    }

    fn constant_part(&self, collection_share: f64) -> f64 {
        (self.lambda * collection_share).ln()
    }
}
