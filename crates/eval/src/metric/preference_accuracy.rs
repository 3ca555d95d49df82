//! Preference accuracy: the share of given preference pairs that the scores put in the right order.
//!
//! ```text
//! preference accuracy = sum of w(a, b) [s_a > s_b] / sum of w(a, b)   over the given pairs, a better than b
//! ```
//!
//! with w the weights of the pairs; a pair with equal scores counts `tie_credit`, by default one
//! half. The pairs are given with the data (from clicks, from judges), not derived from labels: for
//! these there is `pair-accuracy`. Pairs of documents that were judged equal do not count. A pair
//! with the probability P that a is better stands for the pair (a, b) with weight P and the pair
//! (b, a) with weight 1 - P, so that its highest value is max(P, 1 - P). Cost: O(pairs). A query
//! without pairs has no value and is skipped.
//!
//! ```
//! use rankwright_data::{Dataset, Preference};
//! use rankwright_eval::ScoredDataset;
//!
//! let rows = [[1.0], [2.0], [3.0]];
//! let pairs = [Preference::new(0, 1), Preference::new(2, 1).weight(3.0)];
//! let data = Dataset::from_rows(rows, ["x"]).query_ids(["q", "q", "q"]).pairs(pairs).build()?;
//! let found = ScoredDataset::new(&data, &[0.1, 0.2, 0.3])?.evaluate("preference-accuracy")?;
//! assert_eq!(found.get("preference-accuracy"), Some(0.75));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use rankwright_spec::{param_groups, params};

use super::{Metric, MetricDef, MetricParams, ZERO_TO_ONE};
use crate::error::EvalError;
use crate::list::RankedList;

params! {
    /// The value of pairs with equal scores.
    pub struct TieCreditParams {
        tie_credit: f64 = 0.5, 0.0..=1.0, "Value of a pair whose documents have equal scores.";
    }
    /// Builder methods for the value of pairs with equal scores.
    pub trait TieCreditOptions: tie_credit_params;
}

param_groups! {
    /// Parameters of preference accuracy.
    pub struct PreferenceAccuracyParams {
        ties: TieCreditParams, TieCreditOptions::tie_credit_params;
    }
}

/// Preference accuracy.
pub(super) static PREFERENCE_ACCURACY: MetricDef = MetricDef {
    name: "preference-accuracy",
    aliases: &["preference_accuracy"],
    help: "Share of the given preference pairs that stand in the right order.",
    example: "preference-accuracy(tie_credit=0)",
    cutoff: false,
    ..MetricDef::of::<PreferenceAccuracyParams>()
};

impl MetricParams for PreferenceAccuracyParams {
    fn def(&self) -> &'static MetricDef {
        &PREFERENCE_ACCURACY
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(PreferenceAccuracy { tie_credit: self.ties.tie_credit })
    }
}

#[derive(Debug)]
struct PreferenceAccuracy {
    /// Value of a pair with equal scores.
    tie_credit: f64,
}

impl Metric for PreferenceAccuracy {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn needs_labels(&self) -> bool {
        false
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let (mut right, mut all) = (0.0, 0.0);
        for pair in list.preferences() {
            let share = match pair.better_score.partial_cmp(&pair.worse_score) {
                Some(std::cmp::Ordering::Greater) => 1.0,
                Some(std::cmp::Ordering::Less) => 0.0,
                // NaN was rejected when the documents were ranked.
                Some(std::cmp::Ordering::Equal) | None => self.tie_credit,
            };
            right += pair.weight * share;
            all += pair.weight;
        }
        Ok((all > 0.0).then(|| right / all))
    }

    fn when_missing(&self, _list: &RankedList<'_>) -> Option<f64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::{Candidates, MetricSpec, SourceKind};

    /// The value for four documents with these scores and pairs (better, worse, weight).
    fn value(scores: [f64; 4], pairs: &[(u32, u32, f32)]) -> Option<f64> {
        value_of("preference-accuracy", scores, pairs)
    }

    fn value_of(metric: &str, scores: [f64; 4], pairs: &[(u32, u32, f32)]) -> Option<f64> {
        let mut candidates = Candidates::new();
        candidates.clear();
        scores.iter().for_each(|score| candidates.push(*score, 0.0));
        candidates.preferences.extend_from_slice(pairs);
        let spec = MetricSpec::parse(metric).unwrap();
        spec.resolve(SourceKind::Features).unwrap().of_candidates(&candidates).unwrap()
    }

    #[test]
    fn weights_count_and_equal_scores_count_half() {
        let pairs = [(0, 1, 1.0), (2, 0, 2.0), (3, 1, 5.0)];
        assert_eq!(value([3.0, 2.0, 1.0, 2.0], &pairs), Some((1.0 + 0.0 + 2.5) / 8.0));
        assert_eq!(value([3.0, 2.0, 4.0, 9.0], &pairs), Some(1.0));
        assert_eq!(value([1.0; 4], &pairs), Some(0.5));
        let strict = "preference-accuracy(tie_credit=0)";
        assert_eq!(value_of(strict, [3.0, 2.0, 1.0, 2.0], &pairs), Some(1.0 / 8.0));
    }

    #[test]
    fn a_soft_target_has_its_probability_as_highest_value() {
        let pairs = [(0, 1, 0.7), (1, 0, 0.3)];
        let found = value([2.0, 1.0, 0.0, 0.0], &pairs).unwrap();
        assert!((found - 0.7).abs() < 1e-6, "{found}");
    }

    #[test]
    fn a_query_without_pairs_is_skipped() {
        assert_eq!(value([3.0, 2.0, 1.0, 2.0], &[]), None);
    }
}
