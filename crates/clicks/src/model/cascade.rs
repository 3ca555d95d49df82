//! The models of the cascade family that are fitted by expectation maximisation over the chain of
//! examinations (`chain.rs`), and their common loop. A model has parameters for each pair, and some
//! that all pages share; an iteration computes, for each distinct page, the probability that each
//! rank was examined, and from these the expected successes and trials of every parameter. Queries
//! are independent given the shared parameters, so they are visited in parallel, and the sums are
//! added in the order of the queries.

use rayon::prelude::*;

use super::chain::{self, ChainRank};
use super::ratio::{Ratio, estimates, sum};
use crate::pages::{DistinctPage, Pages, QueryPages};

/// The parameters of a model of the cascade family.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CascadeParameters {
    /// For each pair the probability of a click on the examined document.
    pub(super) attraction: Vec<f64>,
    /// For each pair the probability that the document satisfies the user after a click; empty for
    /// models without it.
    pub(super) satisfaction: Vec<f64>,
    /// The parameters that all pages share; each model has its own.
    pub(super) shared: Vec<f64>,
}

/// The rule of a model of the cascade family.
pub(super) trait CascadeRule: Sync {
    /// Whether documents have a satisfaction besides their attraction.
    const HAS_SATISFACTION: bool;

    /// The probabilities of a rank (from 0), for a document with this attraction and satisfaction.
    fn rank(&self, rank: usize, attraction: f64, satisfaction: f64, shared: &[f64]) -> ChainRank;

    /// Adds the expected successes and trials of a rank.
    fn count(&self, rank: &ExaminedRank<'_>, sums: &mut RankSums<'_>);
}

/// A rank of a page in an iteration.
pub(super) struct ExaminedRank<'a> {
    /// The rank, from 0.
    pub(super) rank: usize,
    pub(super) clicked: bool,
    /// The probability that the rank was examined, given all clicks of the page.
    pub(super) examined: f64,
    /// The same for the next rank.
    pub(super) next_examined: f64,
    pub(super) attraction: f64,
    pub(super) satisfaction: f64,
    pub(super) shared: &'a [f64],
    /// Number of impressions of the page.
    pub(super) count: f64,
}

/// The sums to which a rank adds.
pub(super) struct RankSums<'a> {
    pub(super) attraction: &'a mut Ratio,
    pub(super) satisfaction: &'a mut Ratio,
    pub(super) shared: &'a mut [Ratio],
}

/// Fits a model; `shared` are the values with which the parameters that all pages share start.
pub(super) fn fit<R: CascadeRule>(
    rule: &R,
    pages: &Pages,
    shared: Vec<f64>,
    iterations: u32,
    prior: f64,
) -> CascadeParameters {
    let queries = pages.by_query();
    let satisfaction = if R::HAS_SATISFACTION { pages.pairs() } else { 0 };
    let mut parameters = CascadeParameters {
        attraction: vec![0.5; pages.pairs()],
        satisfaction: vec![0.5; satisfaction],
        shared,
    };
    for _ in 0..iterations {
        let parts: Vec<QuerySums> =
            queries.par_iter().map(|query| query_sums(rule, query, &parameters)).collect();
        let by_pair = |pick: fn(&QuerySums) -> &[Ratio]| -> Vec<f64> {
            parts.iter().flat_map(|part| estimates(pick(part), prior)).collect()
        };
        let attraction = by_pair(|part| &part.attraction);
        let satisfaction = match R::HAS_SATISFACTION {
            true => by_pair(|part| &part.satisfaction),
            false => Vec::new(),
        };
        let totals = sum(parts.into_iter().map(|part| part.shared), parameters.shared.len());
        parameters =
            CascadeParameters { attraction, satisfaction, shared: estimates(&totals, prior) };
    }
    parameters
}

/// The sums of one query.
struct QuerySums {
    attraction: Vec<Ratio>,
    satisfaction: Vec<Ratio>,
    shared: Vec<Ratio>,
}

fn query_sums<R: CascadeRule>(
    rule: &R,
    query: &QueryPages<'_>,
    parameters: &CascadeParameters,
) -> QuerySums {
    let none = vec![Ratio::default(); query.pairs.len()];
    let shared = vec![Ratio::default(); parameters.shared.len()];
    let mut sums = QuerySums { attraction: none.clone(), satisfaction: none, shared };
    let (mut ranks, mut examined) = (Vec::new(), Vec::new());
    for page in &query.pages {
        ranks.clear();
        ranks.extend(chain_ranks(rule, page.pairs, parameters));
        chain::examined(&ranks, page.clicked, &mut examined);
        for (rank, (pair, clicked)) in page.pairs.iter().zip(page.clicked).enumerate() {
            let pair_in_query = *pair as usize - query.pairs.start;
            let examined_rank = ExaminedRank {
                rank,
                clicked: *clicked,
                examined: examined[rank],
                next_examined: examined[rank + 1],
                attraction: parameters.attraction[*pair as usize],
                satisfaction: satisfaction(parameters, *pair),
                shared: &parameters.shared,
                count: page.count as f64,
            };
            let mut rank_sums = RankSums {
                attraction: &mut sums.attraction[pair_in_query],
                satisfaction: &mut sums.satisfaction[pair_in_query],
                shared: &mut sums.shared,
            };
            rule.count(&examined_rank, &mut rank_sums);
        }
    }
    sums
}

/// The satisfaction of a pair; 0.5 for a pair that the log did not have, and in models without it.
fn satisfaction(parameters: &CascadeParameters, pair: u32) -> f64 {
    parameters.satisfaction.get(pair as usize).copied().unwrap_or(0.5)
}

/// The chain of a page with these pairs.
pub(super) fn chain_ranks<'a, R: CascadeRule>(
    rule: &'a R,
    pairs: &'a [u32],
    parameters: &'a CascadeParameters,
) -> impl Iterator<Item = ChainRank> + 'a {
    pairs.iter().enumerate().map(|(rank, pair)| {
        let attraction = super::examination::attraction(&parameters.attraction, *pair);
        rule.rank(rank, attraction, satisfaction(parameters, *pair), &parameters.shared)
    })
}

/// A fitted model of the cascade family.
pub(super) struct FittedCascade<R> {
    pub(super) rule: R,
    pub(super) parameters: CascadeParameters,
    /// Names the parameters that all pages share.
    pub(super) describe: fn(&CascadeParameters) -> Vec<super::def::NamedParameter>,
}

impl<R: CascadeRule + Send> super::def::PageProbabilities for FittedCascade<R> {
    fn marginal(&self, pairs: &[u32], out: &mut Vec<f64>) {
        chain::marginal(chain_ranks(&self.rule, pairs, &self.parameters), out);
    }

    fn conditional(&self, page: &DistinctPage<'_>, out: &mut Vec<f64>) {
        let ranks = chain_ranks(&self.rule, page.pairs, &self.parameters);
        chain::conditional(ranks, page.clicked, out);
    }

    fn parameters(&self) -> Vec<super::def::NamedParameter> {
        use super::def::NamedParameter;
        let mut all = (self.describe)(&self.parameters);
        all.push(NamedParameter::by_pair("attraction", self.parameters.attraction.clone()));
        if R::HAS_SATISFACTION {
            let satisfaction = self.parameters.satisfaction.clone();
            all.push(NamedParameter::by_pair("satisfaction", satisfaction));
        }
        all
    }
}
