//! Off-policy evaluation: the value that a ranking would have, from the log of another one.
//!
//! The metric is a sum over ranks, V = mean over impressions of sum_k lambda_k g_k, with the
//! metric's weight lambda_k of rank k (such as 1/log2(k+1) of `dcg`). There are two kinds of
//! propensities, and they stand for two values:
//!
//! **`examination`** (position-based, item by item): g_k is the relevance r(q, d_k) of the document
//! that the ranking has at rank k, the probability that it is clicked when examined. With
//! examination t_i of the rank at which impression i of n showed the document, and clicks c_i,
//!
//! ```text
//! ips    r = 1/n sum_i c_i w_i,    w_i = 1 / t_i                       (Joachims et al. 2017)
//! snips  r = sum_i c_i / sum_i t_i: impressions count by their examination
//! dm     r = m: the regression of relevance on features (regression.rs)
//! dr     r = m + 1/n sum_i w_i (c_i - t_i m)                           (Oosterhuis 2023)
//! ```
//!
//! `snips` and, without a clip, `ips` and `dr` are unbiased given the pages, if the position-based
//! model holds with these examinations. Relevance of documents that were never shown is 0 for `ips`
//! and `snips`, and m for `dr`.
//!
//! **`page`** (list by list): g_k is a click at rank k of the page that the ranking shows,
//! examination included. With p_j the logged probability of the document at rank j given those
//! above it, over the n impressions of a query,
//!
//! ```text
//! w_ik   = 1 / (p_1 ... p_k) if page i begins with the k first documents of the ranking, else 0
//! ips    g_k = 1/n sum_i w_ik c_ik                                     (McInerney et al. 2020)
//! snips  g_k = sum_i w_ik c_ik / sum_i w_ik, over the impressions of all queries
//! dm     g_k = t_k m(d_k)
//! dr     g_k = t_k m(d_k) + 1/n sum_i w_ik (c_ik - t_k m(d_k))
//! ```
//!
//! Apart from `dm`, this needs no true model of examination: it holds if a click depends only on
//! the documents down to its rank, as it also does in cascades. `snips` is consistent but not
//! unbiased (Swaminathan and Joachims 2015).
//!
//! Weights are limited by `clip` only if that is given. The *overlap* is the share of the metric's
//! weight at documents (`page`: ranks) of which the log has an impression with a weight above 0;
//! estimates other than `dm` are refused below `min_overlap`. The *effective sample* is
//! (sum a)^2 / sum a^2 over the shown documents with a weight above 0, a their weight in the value
//! (Kish 1965): as many equally weighted ones would have the same variance. Intervals are the 2.5
//! and 97.5 percentiles of a Poisson bootstrap over queries or impressions; m stays as it is.

mod log;
mod target;
mod value;

#[cfg(test)]
mod tests;

use rankwright_data::DEFAULT_SEED;
use rankwright_eval::{MetricSpec, of_ranking};
use rankwright_spec::{choices, params};

pub use log::{LoggedPages, LoggedPagesBuilder};
pub use value::{PolicyValue, TargetDocument, TargetRanking, value_difference};

use crate::error::ClicksError;

choices! {
    /// An estimator of the value of a ranking.
    pub enum ValueEstimator {
        /// Inverse propensity scores.
        Ips = "ips",
        /// Self-normalised inverse propensity scores.
        Snips = "snips",
        /// The direct method: a regression on features.
        Dm = "dm",
        /// Doubly robust: a regression that inverse propensity scores correct.
        Dr = "dr",
    }
}

impl ValueEstimator {
    /// Whether the estimator uses the regression on features.
    pub fn needs_regression(self) -> bool {
        matches!(self, Self::Dm | Self::Dr)
    }
}

choices! {
    /// The propensities that an estimate corrects for.
    pub enum PropensityKind {
        /// The examination of the rank at which a document was shown.
        Examination = "examination",
        /// The logged probabilities of the page.
        Page = "page",
    }
}

choices! {
    /// The unit that a bootstrap draws.
    pub enum ResampledUnit {
        /// Queries with all their impressions.
        Query = "query",
        /// Impressions.
        Impression = "impression",
    }
}

params! {
    /// Options of an off-policy evaluation.
    pub struct OffPolicyOptions {
        estimator: ValueEstimator = ValueEstimator::Ips, .., "Estimator: ips, snips, dm or dr.";
        propensity: PropensityKind = PropensityKind::Examination, ..,
            "Propensities: examination of the ranks, or page, the logged probabilities of the pages.";
        clip: Option<f64> = None, 1.0.., "Largest weight of a click; none: no limit.";
        min_overlap: f64 = 0.9, 0.0..=1.0,
            "Share of the metric's weight that the log must cover.";
        unit: ResampledUnit = ResampledUnit::Query, .., "Unit of the bootstrap: query or impression.";
        samples: u32 = 200, 0..=100_000, "Bootstrap samples of the intervals; 0: no intervals.";
        seed: u64 = DEFAULT_SEED, .., "Seed of the bootstrap.";
    }
}

/// Metrics that are sums over ranks of a weight times the relevance.
const ADDITIVE: [&str; 3] = ["dcg", "p", "rbp"];

/// The weight of each of the first `ranks` ranks in a metric: its value for a list whose only
/// relevant document, of label 1, is at that rank.
///
/// ```
/// use rankwright_clicks::off_policy::rank_weights;
/// use rankwright_eval::MetricSpec;
///
/// assert_eq!(rank_weights(&MetricSpec::parse("p@2")?, 3)?, [0.5, 0.5, 0.0]);
/// # Ok::<(), rankwright_clicks::ClicksError>(())
/// ```
pub fn rank_weights(metric: &MetricSpec, ranks: usize) -> Result<Vec<f64>, ClicksError> {
    let name = metric.def().name;
    if !ADDITIVE.contains(&name) {
        return Err(ClicksError::NotAdditive {
            metric: metric.to_string(),
            expected: ADDITIVE.to_vec(),
        });
    }
    let text = metric.to_string();
    let mut labels = vec![0.0; ranks];
    let mut weight = |rank: usize| {
        labels[rank] = 1.0;
        let value = of_ranking(&text, &labels);
        labels[rank] = 0.0;
        Ok(value?.unwrap_or(0.0))
    };
    (0..ranks).map(&mut weight).collect()
}
