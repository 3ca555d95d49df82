//! The value of one query under many rankings, for metrics that are a sum over the first ranks.
//!
//! ```text
//! value = min(max, (sum over ranks r of gain of the document at r x discount of r) / divisor)
//! ```
//!
//! Gains, discounts and divisor do not depend on the ranking, and are computed once
//! ([`Measure::query_value`](crate::Measure::query_value)); a ranking then costs a product and a
//! sum for each rank. The terms are added from the first rank on, so that a value is that of
//! [`Measure::evaluate`](crate::Measure::evaluate), to the last bit.

use std::sync::Arc;

/// The value of one query as a function of the order of its documents.
///
/// ```
/// use rankwright_eval::{MetricSpec, SourceKind};
///
/// let ndcg = MetricSpec::parse("ndcg(gain=linear)@2")?.resolve(SourceKind::Features)?;
/// let labels = [0.0, 1.0, 0.0];
/// let query = ndcg.query_value(&labels, &[1.0, 0.0, 0.0]).ok_or("a sum over ranks")?;
/// assert_eq!(query.of_rows(&[1, 0]), Some(1.0));
/// assert_eq!(query.of_rows(&[0, 2]), Some(0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum QueryValue {
    /// Every order has this value; `None` if the query is skipped.
    Constant(Option<f64>),
    /// A sum over the first ranks.
    Sum(RankSum),
}

/// A sum over the first ranks of a query, divided by a number.
#[derive(Debug, Clone, PartialEq)]
pub struct RankSum {
    /// Gain of each row.
    gains: Vec<f64>,
    /// Discount of each rank that counts; shared by all queries.
    discounts: Arc<[f64]>,
    divisor: f64,
    /// A larger value counts as this one.
    max: f64,
}

impl QueryValue {
    /// The value of an order: rows of the query, best first, at least as many as the metric depends
    /// on; `None` if the query is skipped. A row that the query does not have gains nothing.
    #[inline]
    pub fn of_rows(&self, rows: &[u32]) -> Option<f64> {
        match self {
            QueryValue::Constant(value) => *value,
            QueryValue::Sum(sum) => Some(sum.of_rows(rows)),
        }
    }
}

impl RankSum {
    /// The sum of gains (by row) times discounts (by rank), divided by `divisor`, at most `max`.
    pub(crate) fn new(gains: Vec<f64>, discounts: Arc<[f64]>, divisor: f64, max: f64) -> Self {
        Self { gains, discounts, divisor, max }
    }

    /// The value of an order.
    #[inline]
    fn of_rows(&self, rows: &[u32]) -> f64 {
        let mut sum = 0.0;
        for (row, discount) in rows.iter().zip(self.discounts.iter()) {
            sum += self.gains.get(*row as usize).copied().unwrap_or(0.0) * discount;
        }
        (sum / self.divisor).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use crate::{MetricSpec, RankedList, SourceKind, sort_labels};
    use proptest::prelude::*;

    proptest! {
        /// Also queries without a relevant document, lists shorter than the cut-off and labels that
        /// a table of gains does not have.
        #[test]
        fn values_have_the_bits_of_an_evaluation(
            labels in prop::collection::vec(prop_oneof![
                3 => (-1_i32..5).prop_map(f64::from), 1 => Just(0.5)], 1..20),
            seed in 0_usize..100,
            metric in prop_oneof![Just("ndcg@5"), Just("dcg@5"), Just("ndcg(blank=0)@10"),
                Just("ndcg(blank=1, gain=linear)@3"), Just("ndcg(short=zero)@7"),
                Just("ndcg(gain=0/1/3/7/15, discount=letor)@4"), Just("dcg(discount=zipf)@2")],
        ) {
            let measure = MetricSpec::parse(metric).unwrap().resolve(SourceKind::Features).unwrap();
            let mut ideal = labels.clone();
            sort_labels(&mut ideal);
            let mut rows: Vec<u32> = (0..labels.len() as u32).collect();
            rows.sort_by_key(|row| (*row as usize * 7 + seed) * 31 % 23);
            let ranked: Vec<f64> = rows.iter().map(|row| labels[*row as usize]).collect();
            let expected = measure.evaluate(&RankedList::of_judged(&ranked, &[], &ideal));
            if let Some(query) = measure.query_value(&labels, &ideal) {
                prop_assert_eq!(Ok(query.of_rows(&rows)), expected);
            } else {
                // Here only labels that the table of gains does not have give no sum.
                prop_assert!(metric.contains("gain=0/") && labels.contains(&0.5));
            }
        }
    }

    #[test]
    fn metrics_that_are_no_sum_over_few_ranks_have_none() {
        for metric in ["ap", "err@10", "ndcg", "ndcg@1000", "ndcg(ties=mean)@10"] {
            let measure = MetricSpec::parse(metric).unwrap().resolve(SourceKind::Features).unwrap();
            assert_eq!(measure.query_value(&[1.0, 0.0], &[1.0, 0.0]), None, "{metric}");
        }
    }
}
