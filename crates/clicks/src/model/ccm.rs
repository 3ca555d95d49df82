//! The click chain model (Guo et al. 2009), with point estimates instead of distributions: a
//! cascade that goes on with probabilities that depend on what was seen.
//!
//! ```text
//! P(C_r = 1 | E_r = 1) = alpha(query, document)
//! P(E_{r+1} = 1 | E_r = 1, C_r = 0) = tau_1
//! P(E_{r+1} = 1 | E_r = 1, C_r = 1) = tau_2 (1 - alpha) + tau_3 alpha
//! ```
//!
//! A clicked document is relevant with the same probability alpha by which it attracts: tau_2 is
//! the probability to go on after an irrelevant document and tau_3 after a relevant one. So alpha
//! is estimated from two kinds of trials, the attraction of an examined document and the relevance
//! of a clicked one.

use rankwright_spec::params;

use super::cascade::{self, CascadeRule, ExaminedRank, FittedCascade, RankSums};
use super::chain::ChainRank;
use super::def::{ClickModelDef, ClickModelParams, NamedParameter, PageProbabilities};
use crate::pages::Pages;

params! {
    /// The click chain model.
    pub struct Ccm {
        iterations: u32 = 50, 1..=100_000, "Iterations of expectation maximisation.";
        prior: f64 = 1.0, 0.0.., "Pseudo-count: successes, and as many failures, that are added to each estimate.";
    }
}

pub(super) static DEF: ClickModelDef = ClickModelDef {
    name: "ccm",
    help: "Click chain model: a cascade that goes on by click and relevance.",
    example: "ccm(iterations=20)",
    ..ClickModelDef::of::<Ccm>()
};

impl ClickModelParams for Ccm {
    const DEF: &'static ClickModelDef = &DEF;

    fn fit(&self, pages: &Pages) -> Box<dyn PageProbabilities> {
        let start = vec![0.5; 3];
        let parameters = cascade::fit(&CcmRule, pages, start, self.iterations, self.prior);
        let describe = |parameters: &cascade::CascadeParameters| {
            let names =
                ["continue-after-skip", "continue-after-irrelevant", "continue-after-relevant"];
            let named = names.iter().zip(&parameters.shared);
            named.map(|(name, value)| NamedParameter::single(name, *value)).collect()
        };
        Box::new(FittedCascade { rule: CcmRule, parameters, describe })
    }
}

pub(super) struct CcmRule;

/// tau_1, tau_2 and tau_3.
fn continuations(shared: &[f64]) -> [f64; 3] {
    shared.try_into().unwrap_or([0.5; 3])
}

impl CascadeRule for CcmRule {
    const HAS_SATISFACTION: bool = false;

    fn rank(&self, _: usize, attraction: f64, _: f64, shared: &[f64]) -> ChainRank {
        let [after_skip, irrelevant, relevant] = continuations(shared);
        let after_click = irrelevant * (1.0 - attraction) + relevant * attraction;
        ChainRank { click: attraction, after_click, after_skip }
    }

    fn count(&self, rank: &ExaminedRank<'_>, sums: &mut RankSums<'_>) {
        let count = rank.count;
        if !rank.clicked {
            sums.attraction.add(0.0, rank.examined * count);
            sums.shared[0].add(rank.next_examined * count, rank.examined * count);
            return;
        }
        let relevant = relevance(rank);
        sums.attraction.add(count, count);
        sums.attraction.add((relevant.goes_on + relevant.leaves) * count, count);
        let irrelevant_goes_on = rank.next_examined - relevant.goes_on;
        let irrelevant_leaves = 1.0 - rank.next_examined - relevant.leaves;
        sums.shared[1]
            .add(irrelevant_goes_on * count, (irrelevant_goes_on + irrelevant_leaves) * count);
        sums.shared[2].add(relevant.goes_on * count, (relevant.goes_on + relevant.leaves) * count);
    }
}

/// The probabilities that a clicked document is relevant and that the user goes on or leaves.
struct RelevantClick {
    goes_on: f64,
    leaves: f64,
}

fn relevance(rank: &ExaminedRank<'_>) -> RelevantClick {
    let [_, irrelevant, relevant] = continuations(rank.shared);
    let alpha = rank.attraction;
    let share = |relevant: f64, irrelevant: f64| {
        let (relevant, irrelevant) = (alpha * relevant, (1.0 - alpha) * irrelevant);
        if relevant + irrelevant > 0.0 { relevant / (relevant + irrelevant) } else { 0.0 }
    };
    RelevantClick {
        goes_on: rank.next_examined * share(relevant, irrelevant),
        leaves: (1.0 - rank.next_examined) * share(1.0 - relevant, 1.0 - irrelevant),
    }
}
