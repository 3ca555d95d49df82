//! Click rates: one for all clicks, one for each rank, or one for each pair of a query and a
//! document. They are the baselines that a click model should beat.
//!
//! ```text
//! global-ctr    P(C = 1) = clicks / impressions of documents
//! rank-ctr      P(C_r = 1) = clicks at rank r / impressions of rank r
//! document-ctr  P(C = 1) = clicks on the document / its impressions for the query
//! ```

use rankwright_spec::params;

use super::def::{ClickModelDef, ClickModelParams, NamedParameter, PageProbabilities};
use super::examination::attraction;
use super::ratio::{Ratio, estimates};
use crate::pages::{DistinctPage, Pages};

params! {
    /// One click rate for all documents.
    pub struct GlobalCtr {
        prior: f64 = 1.0, 0.0.., "Pseudo-count: clicks, and as many skips, that are added to the estimate.";
    }
}

params! {
    /// A click rate for each rank.
    pub struct RankCtr {
        prior: f64 = 1.0, 0.0.., "Pseudo-count: successes, and as many failures, that are added to each estimate.";
    }
}

params! {
    /// A click rate for each pair of a query and a document.
    pub struct DocumentCtr {
        prior: f64 = 1.0, 0.0.., "Pseudo-count: successes, and as many failures, that are added to each estimate.";
    }
}

pub(super) static GLOBAL: ClickModelDef = ClickModelDef {
    name: "global-ctr",
    help: "One click rate for all documents.",
    example: "global-ctr",
    ..ClickModelDef::of::<GlobalCtr>()
};

pub(super) static RANK: ClickModelDef = ClickModelDef {
    name: "rank-ctr",
    help: "A click rate for each rank.",
    example: "rank-ctr",
    ..ClickModelDef::of::<RankCtr>()
};

pub(super) static DOCUMENT: ClickModelDef = ClickModelDef {
    name: "document-ctr",
    help: "A click rate for each document of a query.",
    example: "document-ctr(prior=0.5)",
    ..ClickModelDef::of::<DocumentCtr>()
};

/// The click rates of documents in groups, of which `group` returns the number by rank and pair.
fn rates(pages: &Pages, groups: usize, prior: f64, group: fn(usize, u32) -> usize) -> Vec<f64> {
    let mut ratios = vec![Ratio::default(); groups];
    for page in pages.iter() {
        for (rank, (pair, clicked)) in page.pairs.iter().zip(page.clicked).enumerate() {
            let count = page.count as f64;
            ratios[group(rank, *pair)].add(if *clicked { count } else { 0.0 }, count);
        }
    }
    estimates(&ratios, prior)
}

impl ClickModelParams for GlobalCtr {
    const DEF: &'static ClickModelDef = &GLOBAL;

    fn fit(&self, pages: &Pages) -> Box<dyn PageProbabilities> {
        let rate = rates(pages, 1, self.prior, |_, _| 0);
        Box::new(Fitted::Global(rate[0]))
    }
}

impl ClickModelParams for RankCtr {
    const DEF: &'static ClickModelDef = &RANK;

    fn fit(&self, pages: &Pages) -> Box<dyn PageProbabilities> {
        Box::new(Fitted::Rank(rates(pages, pages.max_ranks(), self.prior, |rank, _| rank)))
    }
}

impl ClickModelParams for DocumentCtr {
    const DEF: &'static ClickModelDef = &DOCUMENT;

    fn fit(&self, pages: &Pages) -> Box<dyn PageProbabilities> {
        let by_pair = rates(pages, pages.pairs(), self.prior, |_, pair| pair as usize);
        Box::new(Fitted::Document(by_pair))
    }
}

enum Fitted {
    Global(f64),
    Rank(Vec<f64>),
    Document(Vec<f64>),
}

impl PageProbabilities for Fitted {
    fn marginal(&self, pairs: &[u32], out: &mut Vec<f64>) {
        out.clear();
        out.extend(pairs.iter().enumerate().map(|(rank, pair)| match self {
            Self::Global(rate) => *rate,
            Self::Rank(rates) => rates.get(rank).copied().unwrap_or(0.5),
            Self::Document(rates) => attraction(rates, *pair),
        }));
    }

    fn conditional(&self, page: &DistinctPage<'_>, out: &mut Vec<f64>) {
        self.marginal(page.pairs, out);
    }

    fn parameters(&self) -> Vec<NamedParameter> {
        vec![match self {
            Self::Global(rate) => NamedParameter::single("click-rate", *rate),
            Self::Rank(rates) => NamedParameter::by_rank("click-rate", rates.clone()),
            Self::Document(rates) => NamedParameter::by_pair("click-rate", rates.clone()),
        }]
    }
}
