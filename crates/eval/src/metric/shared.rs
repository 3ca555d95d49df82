//! Parameters that several metrics share, declared once.
//!
//! A metric joins the groups that it takes with `param_groups!`. Most take all of the shared
//! conventions ([`ConventionParams`]: how ties, unjudged documents and so on are treated); the
//! others take single ones.

use rankwright_spec::{Auto, above, param_groups, params};

use crate::convention::{Blank, Missing, ScoreWidth, Unjudged};
use crate::discount::Discount;
use crate::gain::Gain;
use crate::order::TiePolicy;

params! {
    /// The threshold of relevance.
    pub struct RelParams {
        rel: f64 = 1.0, above(0.0), "Lowest label that counts as relevant.";
    }
    /// Builder methods for the threshold of relevance.
    pub trait RelOptions: rel_params;
}

params! {
    /// Gain of labels.
    pub struct GainParams {
        gain: Gain = Gain::Exp, ..,
            "Gain of a label: exp is 2^label - 1, linear is the label, a table such as 0/1/3/7/15 \
             has one gain for each label from 0 on.";
    }
    /// Builder methods for the gain of labels.
    pub trait GainOptions: gain_params;
}

params! {
    /// Discount of ranks.
    pub struct DiscountParams {
        discount: Discount = Discount::Log2, ..,
            "Weight of rank r: log2 is 1/log2(r+1), letor is 1, 1, then 1/log2(r), zipf is 1/r, \
             none is 1.";
    }
    /// Builder methods for the discount of ranks.
    pub trait DiscountOptions: discount_params;
}

params! {
    /// Queries without a relevant document.
    pub struct BlankParams {
        blank: Blank = Blank::Skip, ..,
            "Value of a query without a relevant document; skip leaves it out of the mean.";
    }
    /// Builder methods for queries without a relevant document.
    pub trait BlankOptions: blank_params;
}

params! {
    /// Judged queries that a run lacks.
    pub struct MissingParams {
        missing: Missing = Missing::Zero, ..,
            "Judged query that the run did not return: zero counts it as an empty ranking, skip \
             leaves it out of the mean.";
    }
    /// Builder methods for judged queries that a run lacks.
    pub trait MissingOptions: missing_params;
}

params! {
    /// Documents without a judgement.
    pub struct UnjudgedParams {
        unjudged: Unjudged = Unjudged::NonRelevant, ..,
            "Documents without a judgement: nonrel counts them as non-relevant, drop removes them \
             before ranking.";
    }
    /// Builder methods for documents without a judgement.
    pub trait UnjudgedOptions: unjudged_params;
}

params! {
    /// The order of documents.
    pub struct OrderParams {
        ties: Auto<TiePolicy> = Auto::Auto, ..,
            "Order among equal scores; auto is worst for feature data and docid for runs.";
        scores: ScoreWidth = ScoreWidth::F64, .., "Width at which scores are compared.";
    }
    /// Builder methods for the order of documents.
    pub trait OrderOptions: order_params;
}

param_groups! {
    /// All shared conventions.
    pub struct ConventionParams {
        blank: BlankParams;
        missing: MissingParams;
        unjudged: UnjudgedParams;
        order: OrderParams;
    }
}

/// Parameters that contain all shared conventions; they have the builder methods of each.
pub trait ConventionOptions: Sized {
    /// The shared conventions.
    fn convention_params(&mut self) -> &mut ConventionParams;
}

impl ConventionOptions for ConventionParams {
    fn convention_params(&mut self) -> &mut ConventionParams {
        self
    }
}

impl<T: ConventionOptions> BlankOptions for T {
    fn blank_params(&mut self) -> &mut BlankParams {
        &mut self.convention_params().blank
    }
}

impl<T: ConventionOptions> MissingOptions for T {
    fn missing_params(&mut self) -> &mut MissingParams {
        &mut self.convention_params().missing
    }
}

impl<T: ConventionOptions> UnjudgedOptions for T {
    fn unjudged_params(&mut self) -> &mut UnjudgedParams {
        &mut self.convention_params().unjudged
    }
}

impl<T: ConventionOptions> OrderOptions for T {
    fn order_params(&mut self) -> &mut OrderParams {
        &mut self.convention_params().order
    }
}
