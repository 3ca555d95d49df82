//! The position-based model (Craswell et al. 2008; the name is Chuklin et al.'s): a document is
//! clicked if its rank is examined and the document attracts.
//!
//! ```text
//! P(C_r = 1) = gamma_r alpha(query, document)
//! ```
//!
//! Clicks on different ranks are independent. Only the products are determined by the clicks: the
//! prior decides how a common factor is divided between ranks and documents.

use rankwright_spec::params;

use super::def::{ClickModelDef, ClickModelParams, NamedParameter, PageProbabilities};
use super::examination::Examination;
use crate::pages::{DistinctPage, Pages};

params! {
    /// The position-based model.
    pub struct Pbm {
        iterations: u32 = 50, 1..=100_000, "Iterations of expectation maximisation.";
        prior: f64 = 1.0, 0.0.., "Pseudo-count: successes, and as many failures, that are added to each estimate.";
    }
}

pub(super) static DEF: ClickModelDef = ClickModelDef {
    name: "pbm",
    help: "Position-based model: examination by rank times attraction of the document.",
    example: "pbm(iterations=20)",
    ..ClickModelDef::of::<Pbm>()
};

impl ClickModelParams for Pbm {
    const DEF: &'static ClickModelDef = &DEF;

    fn fit(&self, pages: &Pages) -> Box<dyn PageProbabilities> {
        let states = pages.max_ranks();
        let fitted = Examination::fit(pages, visit_ranks, states, self.iterations, self.prior);
        Box::new(FittedPbm(fitted))
    }
}

/// The examination of each rank without a prior, up to a common factor.
pub(super) fn fit_examination(pages: &Pages, iterations: u32) -> Vec<f64> {
    Examination::fit(pages, visit_ranks, pages.max_ranks(), iterations, 0.0).examination
}

/// The state of a document is its rank.
fn visit_ranks(page: &DistinctPage<'_>, visit: &mut dyn FnMut(u32, u32, bool)) {
    for ((pair, clicked), rank) in page.pairs.iter().zip(page.clicked).zip(0..) {
        visit(*pair, rank, *clicked);
    }
}

struct FittedPbm(Examination);

impl PageProbabilities for FittedPbm {
    fn marginal(&self, pairs: &[u32], out: &mut Vec<f64>) {
        out.clear();
        let rank = |rank: usize| self.0.examination.get(rank).copied().unwrap_or(0.5);
        out.extend((0..).zip(pairs).map(|(r, pair)| rank(r) * self.0.attraction(*pair)));
    }

    fn conditional(&self, page: &DistinctPage<'_>, out: &mut Vec<f64>) {
        self.marginal(page.pairs, out);
    }

    fn parameters(&self) -> Vec<NamedParameter> {
        vec![
            NamedParameter::by_rank("examination", self.0.examination.clone()),
            NamedParameter::by_pair("attraction", self.0.attraction.clone()),
        ]
    }
}
