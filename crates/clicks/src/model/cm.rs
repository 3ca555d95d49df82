//! The cascade model (Craswell et al. 2008): the user examines the ranks from the first one on, and
//! leaves after the first click.
//!
//! ```text
//! P(C_r = 1 | E_r = 1) = alpha(query, document)
//! P(E_{r+1} = 1 | E_r = 1) = 1 - C_r
//! ```
//!
//! alpha is the number of first clicks on a document divided by the number of pages on which it was
//! at the rank of the first click or above it, or that have no click. A second click has
//! probability 0; where a likelihood is computed, it has `MIN_PROBABILITY`.

use rankwright_spec::params;

use super::cascade::{CascadeParameters, CascadeRule, ExaminedRank, FittedCascade, RankSums};
use super::chain::ChainRank;
use super::def::{ClickModelDef, ClickModelParams, PageProbabilities};
use super::ratio::{Ratio, estimates};
use crate::pages::Pages;

params! {
    /// The cascade model.
    pub struct Cascade {
        prior: f64 = 1.0, 0.0.., "Pseudo-count: successes, and as many failures, that are added to each estimate.";
    }
}

pub(super) static DEF: ClickModelDef = ClickModelDef {
    name: "cascade",
    help: "Cascade model: ranks are examined in turn until the first click.",
    example: "cascade",
    ..ClickModelDef::of::<Cascade>()
};

impl ClickModelParams for Cascade {
    const DEF: &'static ClickModelDef = &DEF;

    fn fit(&self, pages: &Pages) -> Box<dyn PageProbabilities> {
        let mut ratios = vec![Ratio::default(); pages.pairs()];
        for page in pages.iter() {
            for (pair, clicked) in page.pairs.iter().zip(page.clicked) {
                let count = page.count as f64;
                ratios[*pair as usize].add(if *clicked { count } else { 0.0 }, count);
                if *clicked {
                    break;
                }
            }
        }
        let attraction = estimates(&ratios, self.prior);
        let parameters =
            CascadeParameters { attraction, satisfaction: Vec::new(), shared: Vec::new() };
        Box::new(FittedCascade { rule: CascadeModel, parameters, describe: |_| Vec::new() })
    }
}

pub(super) struct CascadeModel;

impl CascadeRule for CascadeModel {
    const HAS_SATISFACTION: bool = false;

    fn rank(&self, _: usize, attraction: f64, _: f64, _: &[f64]) -> ChainRank {
        ChainRank { click: attraction, after_click: 0.0, after_skip: 1.0 }
    }

    fn count(&self, rank: &ExaminedRank<'_>, sums: &mut RankSums<'_>) {
        let clicked = if rank.clicked { rank.count } else { 0.0 };
        sums.attraction.add(clicked, rank.examined * rank.count);
    }
}
