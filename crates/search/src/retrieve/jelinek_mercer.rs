//! Query likelihood ln P(Q|D) (Ponte and Croft 1998) with Jelinek-Mercer smoothing (Zhai and
//! Lafferty 2004): P(q|D) = (1 - lambda) tf / |D| + lambda p. Here tf is the number of occurrences
//! of the term q in the document D, |D| the number of terms of D, and p the probability of q in the
//! whole collection: its occurrences divided by the number of terms of all documents.

use rankwright_spec::{above, params};

use super::def::FirstStageDef;
use super::weighting::{DocumentStats, QueryTerm, Weighting};
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

    fn term(&self, term: &QueryTerm) -> (f64, f64) {
        (term.count, term.share)
    }

    #[inline]
    fn matched(&self, share: f64, tf: f64, _: f64, document: &DocumentStats) -> f64 {
        (1.0 + (1.0 - self.lambda) * tf / (document.length * self.lambda * share)).ln()
    }

    fn constant(&self, share: f64) -> f64 {
        (self.lambda * share).ln()
    }
}
