//! Query likelihood ln P(Q|D) (Ponte and Croft 1998) with absolute discounting (Zhai and Lafferty
//! 2004): P(q|D) = (max(tf - delta, 0) + delta u p) / |D| where u is the number of different terms
//! in D. Here tf is the number of occurrences of
//! the term q in the document D, |D| the number of terms of D, and p the probability of q in the
//! whole collection: its occurrences divided by the number of terms of all documents.

use rankwright_spec::{above, params};

use super::def::FirstStageDef;
use super::weighting::{DocumentStats, QueryTerm, Weighting};
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

    fn term(&self, term: &QueryTerm) -> (f64, f64) {
        (term.count, term.share)
    }

    #[inline]
    fn matched(&self, share: f64, tf: f64, _: f64, document: &DocumentStats) -> f64 {
        (1.0 + (tf - self.delta).max(0.0) / (self.delta * document.distinct * share)).ln()
    }

    fn constant(&self, share: f64) -> f64 {
        share.ln()
    }

    fn document(&self, document: &DocumentStats) -> f64 {
        match document.length > 0.0 {
            true => (self.delta * document.distinct / document.length).ln(),
            false => 0.0,
        }
    }

    /// A document has at most as many different terms as terms.
    fn document_bound(&self, _: f64) -> f64 {
        self.delta.ln()
    }
}
