//! Query likelihood ln P(Q|D) (Ponte and Croft 1998) with Dirichlet smoothing (Zhai and Lafferty
//! 2004): P(q|D) = (tf + mu p) / (|D| + mu). Here tf is the number of occurrences of
//! the term q in the document D, |D| the number of terms of D, and p the probability of q in the
//! whole collection: its occurrences divided by the number of terms of all documents.

use rankwright_spec::{above, params};

use super::def::FirstStageDef;
use super::weighting::{DocumentStats, QueryTerm, Weighting};
use crate::features::FeatureDef;

params! {
    /// Query likelihood with Dirichlet smoothing on one text field, or on all of them as one.
    pub struct Dirichlet {
        mu: f64 = 2000.0, above(0.0), "Number of terms of the collection's language model that smooth a document.";
        field: String = "all".to_owned(), .., "Text field; all: every text field as one.";
    }
}

pub(super) static FIRST_STAGE: FirstStageDef = FirstStageDef {
    name: "dirichlet",
    help: "Query likelihood ln P(Q|D), Dirichlet smoothing.",
    example: "dirichlet(mu=1000)",
    ..FirstStageDef::of::<Dirichlet>()
};

pub(crate) static FEATURE: FeatureDef =
    FeatureDef { example: "dirichlet(field=title)", ..FeatureDef::of_weighting::<Dirichlet>() };

impl Weighting for Dirichlet {
    const FIRST_STAGE: &'static FirstStageDef = &FIRST_STAGE;

    fn field(&self) -> &str {
        &self.field
    }

    fn term(&self, term: &QueryTerm) -> (f64, f64) {
        (term.count, term.share)
    }

    #[inline]
    fn matched(&self, share: f64, tf: f64, _: f64, _: &DocumentStats) -> f64 {
        (1.0 + tf / (self.mu * share)).ln()
    }

    fn constant(&self, share: f64) -> f64 {
        share.ln()
    }

    fn document(&self, document: &DocumentStats) -> f64 {
        (self.mu / (document.length + self.mu)).ln()
    }

    fn document_bound(&self, least_length: f64) -> f64 {
        (self.mu / (least_length + self.mu)).ln()
    }
}
