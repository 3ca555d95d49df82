//! The user browsing model (Dupret and Piwowarski 2008): whether a rank is examined depends on the
//! rank and on the rank of the last click above it.
//!
//! ```text
//! P(C_r = 1 | C_<r) = gamma(r, r') alpha(query, document),   r' the rank of the last click, or 0
//! ```
//!
//! The probability of a click at a rank without regard to the clicks above it is a sum over the
//! last click, O(ranks^2) for a page.

use rankwright_spec::params;

use super::def::{ClickModelDef, ClickModelParams, NamedParameter, PageProbabilities};
use super::examination::Examination;
use crate::pages::{DistinctPage, Pages};

params! {
    /// The user browsing model.
    pub struct Ubm {
        iterations: u32 = 50, 1..=100_000, "Iterations of expectation maximisation.";
        prior: f64 = 1.0, 0.0.., "Pseudo-count: successes, and as many failures, that are added to each estimate.";
    }
}

pub(super) static DEF: ClickModelDef = ClickModelDef {
    name: "ubm",
    help: "User browsing model: examination by rank and last click, times attraction.",
    example: "ubm(iterations=20)",
    ..ClickModelDef::of::<Ubm>()
};

impl ClickModelParams for Ubm {
    const DEF: &'static ClickModelDef = &DEF;

    fn fit(&self, pages: &Pages) -> Box<dyn PageProbabilities> {
        let states = state(pages.max_ranks(), 0);
        let fitted = Examination::fit(pages, visit_states, states, self.iterations, self.prior);
        Box::new(FittedUbm(fitted))
    }
}

/// The number of a state: `rank` from 0, and the rank of the last click above it from 1, or 0.
fn state(rank: usize, last_click: usize) -> usize {
    rank * (rank + 1) / 2 + last_click
}

fn visit_states(page: &DistinctPage<'_>, visit: &mut dyn FnMut(u32, u32, bool)) {
    let mut last_click = 0;
    for (rank, (pair, clicked)) in page.pairs.iter().zip(page.clicked).enumerate() {
        visit(*pair, state(rank, last_click) as u32, *clicked);
        if *clicked {
            last_click = rank + 1;
        }
    }
}

struct FittedUbm(Examination);

impl FittedUbm {
    fn click(&self, rank: usize, last_click: usize, pair: u32) -> f64 {
        let gamma = self.0.examination.get(state(rank, last_click)).copied().unwrap_or(0.5);
        gamma * self.0.attraction(pair)
    }
}

impl PageProbabilities for FittedUbm {
    fn marginal(&self, pairs: &[u32], out: &mut Vec<f64>) {
        out.clear();
        // The probability of each last click above the present rank; at first there is none.
        let mut last_click = vec![1.0];
        for (rank, pair) in pairs.iter().enumerate() {
            let mut clicked = 0.0;
            for (last, probability) in last_click.iter_mut().enumerate() {
                let click = self.click(rank, last, *pair);
                clicked += *probability * click;
                *probability *= 1.0 - click;
            }
            out.push(clicked);
            last_click.push(clicked);
        }
    }

    fn conditional(&self, page: &DistinctPage<'_>, out: &mut Vec<f64>) {
        out.clear();
        let mut last_click = 0;
        for (rank, (pair, clicked)) in page.pairs.iter().zip(page.clicked).enumerate() {
            out.push(self.click(rank, last_click, *pair));
            if *clicked {
                last_click = rank + 1;
            }
        }
    }

    fn parameters(&self) -> Vec<NamedParameter> {
        vec![
            NamedParameter::by_rank_and_last_click("examination", self.0.examination.clone()),
            NamedParameter::by_pair("attraction", self.0.attraction.clone()),
        ]
    }
}
