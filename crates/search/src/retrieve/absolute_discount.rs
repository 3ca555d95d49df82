//! Query likelihood ln P(Q|D) (Ponte and Croft 1998) with absolute discounting (Zhai and Lafferty
//! 2004):
//!
//! ```text
//! P(q|D)    = (max(tf - delta, 0) + delta u p) / |D|
//! ln P(q|D) = ln(1 + max(tf - delta, 0) / (delta u p)) + ln p + ln(delta u / |D|)
//! ```
//!
//! Here tf is the number of occurrences of the term q in the document D, |D| the number of terms of
//! D, u the number of different terms of D, and p the probability of q in the whole collection: its
//! occurrences divided by the number of terms of all documents. The first summand is 0 for a term
//! that the document does not have.

use rankwright_spec::{above, params};

use super::def::FirstStageDef;
use super::weighting::{DocumentStats, QueryTerm, TermWeight, Weighting};
use crate::features::FeatureDef;
use crate::index::Stat;

params! {
    /// Query likelihood with absolute discounting on one text field, or on all of them as one.
    pub struct AbsoluteDiscount {
        delta: f64 = 0.7, above(0.0).below(1.0), "Discount that is subtracted from each frequency.";
        field: String = "all".to_owned(), .., "Text field; all: every text field as one.";
    }
}

pub(super) static FIRST_STAGE: FirstStageDef = FirstStageDef {
    name: "absolute-discount",
    help: "Query likelihood ln P(Q|D), absolute discounting.",
    example: "absolute-discount",
    ..FirstStageDef::of::<AbsoluteDiscount>()
};

pub(crate) static FEATURE: FeatureDef = FeatureDef {
    example: "absolute-discount(field=title)",
    ..FeatureDef::of_weighting::<AbsoluteDiscount>()
};

impl Weighting for AbsoluteDiscount {
    const FIRST_STAGE: &'static FirstStageDef = &FIRST_STAGE;
    const STATS: &'static [Stat] = &[Stat::Distinct];
    const SHRINKS_WITH: Stat = Stat::Distinct;

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
        let from_collection = self.delta * document.distinct * collection_share;
        (1.0 + (tf - self.delta).max(0.0) / from_collection).ln()
    }

    fn constant_part(&self, collection_share: f64) -> f64 {
        collection_share.ln()
    }

    fn document_part(&self, document: &DocumentStats) -> f64 {
        match document.length > 0.0 {
            true => (self.delta * document.distinct / document.length).ln(),
            false => 0.0,
        }
    }

    /// A document has at most as many different terms as terms, so the quotient is at most 1.
    fn document_bound(&self, _: f64) -> f64 {
        self.delta.ln()
    }
}
