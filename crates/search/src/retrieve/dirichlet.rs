//! Query likelihood ln P(Q|D) (Ponte and Croft 1998) with Dirichlet smoothing (Zhai and Lafferty
//! 2004):
//!
//! ```text
//! P(q|D)    = (tf + mu p) / (|D| + mu)
//! ln P(q|D) = ln(1 + tf / (mu p)) + ln p + ln(mu / (|D| + mu))
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
    /// Query likelihood with Dirichlet smoothing on one text field, or on all of them as one.
    pub struct Dirichlet {
        mu: f64 = 2000.0, above(0.0), "Smoothing: number of terms of the collection's language model that are added to a document.";
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

    fn term_weight(&self, term: &QueryTerm) -> TermWeight {
        TermWeight { weight: term.count, statistic: term.collection_share }
    }

    #[inline]
    fn matched_part(&self, collection_share: f64, tf: f64, _: f64, _: &DocumentStats) -> f64 {
        (1.0 + tf / (self.mu * collection_share)).ln()
    }

    fn constant_part(&self, collection_share: f64) -> f64 {
        collection_share.ln()
    }

    fn document_part(&self, document: &DocumentStats) -> f64 {
        (self.mu / (document.length + self.mu)).ln()
    }

    fn document_bound(&self, min_length: f64) -> f64 {
        (self.mu / (min_length + self.mu)).ln()
    }
}
