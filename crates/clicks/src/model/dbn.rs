//! The dynamic Bayesian network model (Chapelle and Zhang 2009): a cascade in which a clicked
//! document may satisfy the user, who then leaves.
//!
//! ```text
//! P(C_r = 1 | E_r = 1) = alpha(query, document)
//! P(S_r = 1 | C_r = 1) = sigma(query, document)
//! P(E_{r+1} = 1 | E_r = 1, S_r = 0) = gamma,  and 0 after S_r = 1
//! ```
//!
//! `dbn` is fitted by expectation maximisation. `sdbn`, the simplified model, has gamma = 1, and
//! takes the last click of a page as the one that satisfied: alpha and sigma are then ratios of
//! counts over the ranks down to the last click (all ranks on pages without a click).

use rankwright_spec::params;

use super::cascade::{self, CascadeParameters, CascadeRule, ExaminedRank, FittedCascade, RankSums};
use super::chain::ChainRank;
use super::def::{ClickModelDef, ClickModelParams, NamedParameter, PageProbabilities};
use super::ratio::{Ratio, estimates};
use crate::pages::Pages;

params! {
    /// The dynamic Bayesian network model.
    pub struct Dbn {
        iterations: u32 = 50, 1..=100_000, "Iterations of expectation maximisation.";
        prior: f64 = 1.0, 0.0.., "Pseudo-count: successes, and as many failures, that are added to each estimate.";
    }
}

params! {
    /// The simplified dynamic Bayesian network model.
    pub struct Sdbn {
        prior: f64 = 1.0, 0.0.., "Pseudo-count: successes, and as many failures, that are added to each estimate.";
    }
}

pub(super) static DBN: ClickModelDef = ClickModelDef {
    name: "dbn",
    help: "Dynamic Bayesian network: a cascade that ends when a clicked document satisfies.",
    example: "dbn(iterations=20)",
    ..ClickModelDef::of::<Dbn>()
};

pub(super) static SDBN: ClickModelDef = ClickModelDef {
    name: "sdbn",
    help: "Simplified DBN: the last click satisfies; counts instead of iterations.",
    example: "sdbn",
    ..ClickModelDef::of::<Sdbn>()
};

impl ClickModelParams for Dbn {
    const DEF: &'static ClickModelDef = &DBN;

    fn fit(&self, pages: &Pages) -> Box<dyn PageProbabilities> {
        let parameters = cascade::fit(&DbnRule, pages, vec![0.5], self.iterations, self.prior);
        Box::new(FittedCascade { rule: DbnRule, parameters, describe })
    }
}

impl ClickModelParams for Sdbn {
    const DEF: &'static ClickModelDef = &SDBN;

    fn fit(&self, pages: &Pages) -> Box<dyn PageProbabilities> {
        let mut attraction = vec![Ratio::default(); pages.pairs()];
        let mut satisfaction = attraction.clone();
        for page in pages.iter() {
            let last_click = page.clicked.iter().rposition(|clicked| *clicked);
            let examined = last_click.map_or(page.pairs.len(), |rank| rank + 1);
            let seen = page.pairs.iter().zip(page.clicked).take(examined);
            for (rank, (pair, clicked)) in seen.enumerate() {
                let (pair, count) = (*pair as usize, page.count as f64);
                attraction[pair].add(if *clicked { count } else { 0.0 }, count);
                if *clicked {
                    satisfaction[pair]
                        .add(if last_click == Some(rank) { count } else { 0.0 }, count);
                }
            }
        }
        let parameters = CascadeParameters {
            attraction: estimates(&attraction, self.prior),
            satisfaction: estimates(&satisfaction, self.prior),
            shared: vec![1.0],
        };
        Box::new(FittedCascade { rule: DbnRule, parameters, describe })
    }
}

fn describe(parameters: &CascadeParameters) -> Vec<NamedParameter> {
    let continuation = parameters.shared.iter();
    continuation.map(|value| NamedParameter::single("continuation", *value)).collect()
}

pub(super) struct DbnRule;

impl CascadeRule for DbnRule {
    const HAS_SATISFACTION: bool = true;

    fn rank(&self, _: usize, attraction: f64, satisfaction: f64, shared: &[f64]) -> ChainRank {
        let go_on = shared[0];
        let after_click = (1.0 - satisfaction) * go_on;
        ChainRank { click: attraction, after_click, after_skip: go_on }
    }

    fn count(&self, rank: &ExaminedRank<'_>, sums: &mut RankSums<'_>) {
        let count = rank.count;
        if !rank.clicked {
            sums.attraction.add(0.0, rank.examined * count);
            sums.shared[0].add(rank.next_examined * count, rank.examined * count);
            return;
        }
        let satisfied = (1.0 - rank.next_examined) * satisfied_if_left(rank);
        sums.attraction.add(count, count);
        sums.satisfaction.add(satisfied * count, count);
        sums.shared[0].add(rank.next_examined * count, (1.0 - satisfied) * count);
    }
}

/// P(S = 1 | C = 1, the next rank is not examined).
fn satisfied_if_left(rank: &ExaminedRank<'_>) -> f64 {
    let left_unsatisfied = (1.0 - rank.satisfaction) * (1.0 - rank.shared[0]);
    let left = rank.satisfaction + left_unsatisfied;
    if left > 0.0 { rank.satisfaction / left } else { 0.0 }
}
