//! The fit of a click model to a log: how well it predicts the clicks.
//!
//! ```text
//! log-likelihood          mean over pages of sum_r ln P(C_r | C_<r)
//! perplexity at rank r    2^(-mean log2 P(C_r))
//! conditional perplexity  2^(-mean log2 P(C_r | C_<r))
//! ```
//!
//! A perplexity of 1 is perfect and 2 is a fair coin. The perplexity of all ranks is the mean over
//! ranks, as in the literature. The probability of what happened is at least `MIN_PROBABILITY`, so
//! that an event that is impossible under a model costs much, but not everything.

use serde::Serialize;

use super::FittedClickModel;
use crate::pages::{DistinctPage, Pages};

/// The smallest probability of an event in a likelihood.
pub(super) const MIN_PROBABILITY: f64 = 1e-6;

/// The fit of a click model to a log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClickModelEvaluation {
    /// Number of impressions.
    pub impressions: u64,
    /// Mean log-likelihood of a page.
    pub log_likelihood: f64,
    /// Mean perplexity over ranks.
    pub perplexity: f64,
    /// Mean conditional perplexity over ranks.
    pub conditional_perplexity: f64,
    /// Perplexity of each rank.
    pub perplexity_by_rank: Vec<f64>,
    /// Conditional perplexity of each rank.
    pub conditional_perplexity_by_rank: Vec<f64>,
}

/// Sums of logarithms (base 2) of the probabilities of what happened at a rank.
#[derive(Debug, Clone, Copy, Default)]
struct RankLogs {
    marginal: f64,
    conditional: f64,
    impressions: f64,
}

impl FittedClickModel {
    /// Measures the model on the pages of a log. `fitted` are the pages that it was fitted to; a
    /// pair of query and document that they did not have counts as one that was never shown.
    pub fn evaluate(&self, pages: &Pages, fitted: &Pages) -> ClickModelEvaluation {
        let numbers = pages.numbers_in(fitted);
        let mut logs = vec![RankLogs::default(); pages.max_ranks()];
        let (mut pairs, mut probabilities) = (Vec::new(), Vec::new());
        for page in pages.iter() {
            pairs.clear();
            pairs.extend(page.pairs.iter().map(|pair| numbers[*pair as usize]));
            let page = DistinctPage { pairs: &pairs, ..page };
            self.probabilities.marginal(&pairs, &mut probabilities);
            add_logs(&mut logs, &page, &probabilities, |logs| &mut logs.marginal);
            self.probabilities.conditional(&page, &mut probabilities);
            add_logs(&mut logs, &page, &probabilities, |logs| &mut logs.conditional);
            logs.iter_mut()
                .take(pairs.len())
                .for_each(|rank| rank.impressions += page.count as f64);
        }
        summary(&logs, pages.impressions())
    }
}

/// Adds the logarithm of the probability of what happened at each rank of a page.
fn add_logs(
    logs: &mut [RankLogs],
    page: &DistinctPage<'_>,
    click_probabilities: &[f64],
    sum: fn(&mut RankLogs) -> &mut f64,
) {
    for ((logs, probability), clicked) in logs.iter_mut().zip(click_probabilities).zip(page.clicked)
    {
        let outcome = if *clicked { *probability } else { 1.0 - *probability };
        *sum(logs) += page.count as f64 * outcome.clamp(MIN_PROBABILITY, 1.0).log2();
    }
}

fn summary(logs: &[RankLogs], impressions: u64) -> ClickModelEvaluation {
    let perplexities = |sum: fn(&RankLogs) -> f64| -> Vec<f64> {
        logs.iter().map(|rank| (-sum(rank) / rank.impressions).exp2()).collect()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let perplexity_by_rank = perplexities(|rank| rank.marginal);
    let conditional_perplexity_by_rank = perplexities(|rank| rank.conditional);
    let logs_base_2: f64 = logs.iter().map(|rank| rank.conditional).sum();
    ClickModelEvaluation {
        impressions,
        log_likelihood: logs_base_2 * std::f64::consts::LN_2 / impressions as f64,
        perplexity: mean(&perplexity_by_rank),
        conditional_perplexity: mean(&conditional_perplexity_by_rank),
        perplexity_by_rank,
        conditional_perplexity_by_rank,
    }
}
