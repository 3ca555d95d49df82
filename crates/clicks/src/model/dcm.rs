//! The dependent click model (Guo, Liu and Wang 2009): a cascade that may go on after a click, with
//! a probability that depends on the rank.
//!
//! ```text
//! P(C_r = 1 | E_r = 1) = alpha(query, document)
//! P(E_{r+1} = 1 | E_r = 1, C_r) = lambda_r after a click, 1 after none
//! ```
//!
//! Guo et al. assume that the user leaves after the last click; here expectation maximisation takes
//! both possibilities into account: a user who goes on and finds nothing leaves no trace either.

use rankwright_spec::params;

use super::cascade::{self, CascadeRule, ExaminedRank, FittedCascade, RankSums};
use super::chain::ChainRank;
use super::def::{ClickModelDef, ClickModelParams, NamedParameter, PageProbabilities};
use crate::pages::Pages;

params! {
    /// The dependent click model.
    pub struct Dcm {
        iterations: u32 = 50, 1..=100_000, "Iterations of expectation maximisation.";
        prior: f64 = 1.0, 0.0.., "Pseudo-count: successes, and as many failures, that are added to each estimate.";
    }
}

pub(super) static DEF: ClickModelDef = ClickModelDef {
    name: "dcm",
    help: "Dependent click model: a cascade that goes on after a click, by rank.",
    example: "dcm(iterations=20)",
    ..ClickModelDef::of::<Dcm>()
};

impl ClickModelParams for Dcm {
    const DEF: &'static ClickModelDef = &DEF;

    fn fit(&self, pages: &Pages) -> Box<dyn PageProbabilities> {
        let start = vec![0.5; pages.max_ranks()];
        let parameters = cascade::fit(&DcmRule, pages, start, self.iterations, self.prior);
        let describe = |parameters: &cascade::CascadeParameters| {
            vec![NamedParameter::by_rank("continuation", parameters.shared.clone())]
        };
        Box::new(FittedCascade { rule: DcmRule, parameters, describe })
    }
}

pub(super) struct DcmRule;

impl CascadeRule for DcmRule {
    const HAS_SATISFACTION: bool = false;

    fn rank(&self, rank: usize, attraction: f64, _: f64, shared: &[f64]) -> ChainRank {
        let after_click = shared.get(rank).copied().unwrap_or(0.5);
        ChainRank { click: attraction, after_click, after_skip: 1.0 }
    }

    fn count(&self, rank: &ExaminedRank<'_>, sums: &mut RankSums<'_>) {
        let clicked = if rank.clicked { rank.count } else { 0.0 };
        sums.attraction.add(clicked, rank.examined * rank.count);
        sums.shared[rank.rank].add(rank.next_examined * clicked, clicked);
    }
}
