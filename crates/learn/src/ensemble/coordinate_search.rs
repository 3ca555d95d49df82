//! Maximisation of a metric, one weight at a time: the search of coordinate ascent (Metzler and
//! Croft 2007), for linear models over features and for blends of models.
//!
//! A point is a weight for each column; documents are scored by the weighted sum of their columns.
//! One weight is changed while the others are fixed: a metric of rankings is constant between the
//! points where two documents swap ranks, so it has no useful gradient, and steps of growing size
//! are tried in both directions instead, from a thousandth of the sum of all absolute weights to
//! four times that sum, and the step to a weight of 0. Four steps around the best one are tried
//! next. The best step is taken if it improves the metric by more than `tolerance`; of equally good
//! ones the smallest is taken.
//!
//! Cost of a pass: at most columns x 31 rankings of the data (2 x 13 steps, the step to 0, and 4
//! refinements), each found from the current ranking or from that of the step before
//! ([`steps`](super::steps)). Scores are computed again from the weights before each pass, so that
//! a pass depends on its weights alone.

use super::columns::{ColumnValue, QueryColumns};
use super::steps::{CurrentRanking, Step};
use super::target::TargetMetric;
use crate::error::LearnError;

/// Number of doublings of the step in each direction: the largest is 2 to this power times the
/// smallest.
const DOUBLINGS: i32 = 12;
/// The smallest step, as a fraction of the sum of all absolute weights.
const MIN_STEP: f64 = 1e-3;
/// Factors of the best step that are tried next.
const REFINEMENTS: [f64; 4] = [0.625, 0.8, 1.25, 1.6];

/// The search for weights: a metric, columns to weight, and limits.
#[derive(Debug)]
pub(crate) struct CoordinateSearch<'a, T> {
    pub(crate) target: &'a TargetMetric<'a>,
    pub(crate) columns: &'a QueryColumns<T>,
    /// A step must improve the metric by more than this.
    pub(crate) tolerance: f64,
    /// Weights below this are not tried.
    pub(crate) min_weight: f64,
}

/// A point of the search: weights, and the value of the metric.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WeightPoint {
    pub(crate) weights: Vec<f64>,
    pub(crate) value: f64,
}

impl<T: ColumnValue> CoordinateSearch<'_, T> {
    /// The point of these weights, scaled so that their absolute values sum to 1.
    pub(crate) fn evaluate(&self, mut weights: Vec<f64>) -> Result<WeightPoint, LearnError> {
        let sum: f64 = weights.iter().map(|weight| weight.abs()).sum();
        if sum > 0.0 && sum.is_finite() {
            weights.iter_mut().for_each(|weight| *weight /= sum);
        }
        let ranking = self.target.rank(self.columns.scores(&weights))?;
        Ok(WeightPoint { weights, value: self.target.total(ranking.values()) })
    }

    /// Changes each weight once, in the given order. Returns the same point if no step improves the
    /// metric.
    pub(crate) fn pass(
        &self,
        start: &WeightPoint,
        order: &[usize],
    ) -> Result<WeightPoint, LearnError> {
        let mut weights = start.weights.clone();
        let mut current = self.target.rank(self.columns.scores(&weights))?;
        let mut value = start.value;
        let mut moved = false;
        for &column in order {
            let Some((step, new_value)) = self.best_step(column, &weights, &current, value)? else {
                continue;
            };
            weights[column] += step;
            let mut scores = current.into_scores();
            self.columns.add_column(&mut scores, step, column);
            current = self.target.rank(scores)?;
            (value, moved) = (new_value, true);
        }
        if moved { self.evaluate(weights) } else { Ok(start.clone()) }
    }

    /// The step of one weight that improves the metric most, and the value after that step; `None`
    /// if no step improves the metric by more than the tolerance.
    fn best_step(
        &self,
        column: usize,
        weights: &[f64],
        ranking: &CurrentRanking,
        value: f64,
    ) -> Result<Option<(f64, f64)>, LearnError> {
        let weight_sum = weights.iter().map(|weight| weight.abs()).sum::<f64>();
        // Above 0 even if all weights are 0.
        let min_step = MIN_STEP * weight_sum.max(1e-300);
        let current = weights[column];
        let mut steps: Vec<f64> = (0..=DOUBLINGS)
            .flat_map(|k| [1.0, -1.0].map(|sign| sign * min_step * f64::from(1 << k)))
            .collect();
        steps.push(-current);
        let best = self.best_of(steps, (column, current), ranking, value + self.tolerance)?;
        let Some((step, value)) = best else { return Ok(None) };
        let refined_steps = REFINEMENTS.iter().map(|factor| step * factor).collect();
        let refined = self.best_of(refined_steps, (column, current), ranking, value)?;
        Ok(Some(refined.unwrap_or((step, value))))
    }

    /// The best of these steps of a column from its current weight, and the value after that step;
    /// of equally good steps the smallest. `None` if no step gives more than `value`.
    fn best_of(
        &self,
        mut steps: Vec<f64>,
        (column, current): (usize, f64),
        ranking: &CurrentRanking,
        value: f64,
    ) -> Result<Option<(f64, f64)>, LearnError> {
        steps.retain(|step| *step != 0.0 && current + step >= self.min_weight);
        // Small steps first, and the two directions apart: the ranking of a step is found from that
        // of the step before it in the same direction, which is similar.
        steps.sort_by(|a, b| (*b > 0.0).cmp(&(*a > 0.0)).then(a.abs().total_cmp(&b.abs())));
        let column_steps: Vec<Step> = steps.iter().map(|&factor| Step { column, factor }).collect();
        let values = self.target.step_values(ranking, self.columns, &column_steps)?;
        let mut steps_with_values: Vec<(f64, f64)> =
            steps.into_iter().zip(self.target.step_totals(&values)).collect();
        steps_with_values.sort_by(|(a, _), (b, _)| a.abs().total_cmp(&b.abs()));
        let mut best: Option<(f64, f64)> = None;
        for (step, step_value) in steps_with_values {
            if step_value > best.map_or(value, |(_, best_value)| best_value) {
                best = Some((step, step_value));
            }
        }
        Ok(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::Dataset;
    use rankwright_data::generate::LetorOptions;
    use rankwright_eval::MetricSpec;

    /// Two queries that the sum of both columns ranks perfectly, and neither column alone.
    fn data() -> Dataset {
        let rows: [(&str, f64, [f32; 2]); 7] = [
            ("a", 2.0, [3.0, 3.0]),
            ("a", 1.0, [1.0, 4.0]),
            ("a", 0.0, [4.0, 0.0]),
            ("b", 1.0, [2.0, 2.0]),
            ("b", 0.0, [0.0, 3.0]),
            ("b", 0.0, [3.0, 0.0]),
            ("b", 0.0, [1.0, 1.0]),
        ];
        let data = Dataset::builder().rows(rows.map(|(.., values)| values));
        data.labels(rows.map(|row| row.1)).query_ids(rows.map(|row| row.0)).build().unwrap()
    }

    #[test]
    fn a_pass_finds_the_weights_that_rank_best_and_the_next_changes_nothing() {
        let data = data();
        let target = TargetMetric::new(&data, &MetricSpec::parse("ndcg@10").unwrap()).unwrap();
        let columns = QueryColumns::new(target.layout(), data.matrix().values(), 2);
        let search = CoordinateSearch {
            target: &target,
            columns: &columns,
            tolerance: 1e-6,
            min_weight: f64::NEG_INFINITY,
        };
        let start = search.evaluate(vec![5.0, 0.0]).unwrap();
        assert_eq!(start.weights, [1.0, 0.0]);
        assert!(start.value < 1.0);
        let point = search.pass(&start, &[1, 0]).unwrap();
        assert_eq!(point.value, 1.0, "{point:?}");
        assert_eq!(search.pass(&point, &[0, 1]).unwrap(), point);
    }

    /// The total of whole rankings by scores that are given by row.
    fn reference_total(target: &TargetMetric<'_>, score: impl Fn(usize) -> f64 + Sync) -> f64 {
        let totals = target.totals(1, |query, _, to| {
            for (to, row) in to.iter_mut().zip(target.data().query_rows(query)) {
                *to = score(row);
            }
        });
        totals.unwrap()[0]
    }

    /// The point of these weights, from whole rankings.
    fn reference_point(target: &TargetMetric<'_>, mut weights: Vec<f64>) -> WeightPoint {
        let sum: f64 = weights.iter().map(|weight| weight.abs()).sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        let scores = reference_scores(target.data(), &weights);
        let value = reference_total(target, |row| scores[row]);
        WeightPoint { weights, value }
    }

    /// The weighted sum of each row.
    fn reference_scores(data: &Dataset, weights: &[f64]) -> Vec<f64> {
        let term = |row: usize, column: usize| f64::from(data.matrix().get(row, column));
        let used: Vec<usize> =
            (0..weights.len()).filter(|column| weights[*column] != 0.0).collect();
        let score = |row| used.iter().fold(0.0, |sum, &c| sum + weights[c] * term(row, c));
        (0..data.rows()).map(score).collect()
    }

    /// A pass over the features of the data that ranks all queries whole for each step.
    fn reference_pass(
        (target, tolerance): (&TargetMetric<'_>, f64),
        start: &WeightPoint,
        order: &[usize],
    ) -> WeightPoint {
        let data = target.data();
        let (mut weights, mut value) = (start.weights.clone(), start.value);
        let mut scores = reference_scores(data, &weights);
        for &column in order {
            let sum: f64 = weights.iter().map(|weight| weight.abs()).sum();
            let feature = |row: usize| f64::from(data.matrix().get(row, column));
            let total_with =
                |step: f64| reference_total(target, |row| scores[row] + step * feature(row));
            let mut best: Option<(f64, f64)> = None;
            let try_all = |steps: &mut Vec<f64>, best: &mut Option<(f64, f64)>, least: f64| {
                steps.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
                for step in steps.iter().filter(|step| **step != 0.0) {
                    let found = total_with(*step);
                    if found > best.map_or(least, |(_, best)| best) {
                        *best = Some((*step, found));
                    }
                }
            };
            let size = |k: i32| MIN_STEP * sum * f64::from(1 << k);
            let mut steps: Vec<f64> = (0..=DOUBLINGS).flat_map(|k| [size(k), -size(k)]).collect();
            steps.push(-weights[column]);
            try_all(&mut steps, &mut best, value + tolerance);
            let Some((step, _)) = best else { continue };
            try_all(&mut REFINEMENTS.map(|factor| step * factor).to_vec(), &mut best, value);
            let Some((step, found)) = best else { continue };
            weights[column] += step;
            (0..data.rows()).for_each(|row| scores[row] += step * feature(row));
            value = found;
        }
        if weights == start.weights { start.clone() } else { reference_point(target, weights) }
    }

    #[test]
    fn a_pass_takes_the_steps_of_whole_rankings() {
        let data = LetorOptions { queries: 8, documents: 40, seed: 6 }.generate().unwrap();
        let order: Vec<usize> = (0..12).map(|column| column * 11).collect();
        for metric in ["ndcg@5", "ap", "ndcg(ties=mean)@3"] {
            let target = &TargetMetric::new(&data, &MetricSpec::parse(metric).unwrap()).unwrap();
            let values = data.matrix().values();
            let columns = &QueryColumns::new(target.layout(), values, data.columns());
            let min_weight = f64::NEG_INFINITY;
            let search = CoordinateSearch { target, columns, tolerance: 1e-4, min_weight };
            let start = search.evaluate(vec![1.0; data.columns()]).unwrap();
            assert_eq!(start, reference_point(target, vec![1.0; data.columns()]), "{metric}");
            let point = search.pass(&start, &order).unwrap();
            assert_ne!(point, start, "{metric}");
            assert_eq!(point, reference_pass((target, 1e-4), &start, &order), "{metric}");
        }
    }

    #[test]
    fn weights_are_never_below_the_minimum() {
        let data = data();
        let target = TargetMetric::new(&data, &MetricSpec::parse("ndcg@10").unwrap()).unwrap();
        // The negated columns: only weights below 0 could improve the metric.
        let negated: Vec<f64> = data.matrix().values().iter().map(|v| -f64::from(*v)).collect();
        let columns = &QueryColumns::new(target.layout(), &negated, 2);
        let search = CoordinateSearch { target: &target, columns, tolerance: 0.0, min_weight: 0.0 };
        let point = search.pass(&search.evaluate(vec![1.0, 1.0]).unwrap(), &[0, 1, 0, 1]).unwrap();
        assert!(point.weights.iter().all(|weight| *weight >= 0.0), "{point:?}");
    }
}
