//! A metric of many rankings of the same queries, for learners that optimise the metric itself
//! instead of a smooth loss.
//!
//! A ranking is given by scores that the caller fills in, query by query; several rankings are
//! evaluated in one pass, so that each query is loaded and its ideal order computed once. The total
//! is the metric's mean over queries (arithmetic or geometric) by their weights, added in the order
//! of the queries, so that the number of threads changes nothing. Weights of documents do not enter
//! a metric.
//!
//! Cost: a sort for each query and ranking; of the first ranks only for steps along a column
//! ([`TargetMetric::step_values`]). Metrics that are sums or means over rows (`num_q`,
//! `rmse`) do not measure rankings, and are rejected.

use rankwright_data::Dataset;
use rankwright_eval::compare::Better;
use rankwright_eval::{
    Aggregate, Candidates, EvalError, ListBuffers, Measure, MetricSpec, SourceKind,
};
use rankwright_spec::{Conflict, SpecError};
use rayon::prelude::*;

use super::columns::QueryColumns;
use crate::error::LearnError;

/// A metric on a data set, with its sign flipped if lower is better, so that higher is always
/// better.
#[derive(Debug)]
pub(crate) struct TargetMetric<'a> {
    data: &'a Dataset,
    measure: Measure,
    /// -1 if lower values are better, else 1.
    sign: f64,
    /// For geometric means: values below this one count as this one; `None` for arithmetic means.
    floor: Option<f64>,
    /// For each query, whether it is used; `None` if all are.
    used: Option<Vec<bool>>,
}

impl<'a> TargetMetric<'a> {
    /// Rejects metrics that cannot be optimised; called when a spec is read.
    pub(crate) fn check(metric: &MetricSpec, learner: &str) -> Result<(), SpecError> {
        let measure = metric.resolve(SourceKind::Features)?;
        match measure.aggregate() {
            Aggregate::Mean | Aggregate::GeometricMean { .. } => Ok(()),
            other => {
                let conflict = Conflict::UnsuitableMetric {
                    metric: metric.to_string(),
                    reason: format!("it is a {}, not a mean over queries", other.name()),
                    expected: "a mean over queries, such as metric=ndcg@10",
                };
                Err(SpecError::conflict(learner, conflict))
            }
        }
    }

    /// The metric on this data; an error if no query has a value.
    pub(crate) fn new(data: &'a Dataset, metric: &MetricSpec) -> Result<Self, LearnError> {
        let measure = metric.resolve(SourceKind::Features)?;
        let floor = match measure.aggregate() {
            Aggregate::GeometricMean { floor } => Some(floor),
            _ => None,
        };
        let sign = if measure.metric().better() == Better::Lower { -1.0 } else { 1.0 };
        let target = Self { data, measure, sign, floor, used: None };
        let total_of_equal_scores = target.totals(1, |_, _, scores| scores.fill(0.0))?;
        if total_of_equal_scores.iter().any(|value| value.is_nan()) {
            return Err(LearnError::NoMetricValue {
                data: "the training data".to_owned(),
                metric: metric.to_string(),
            });
        }
        Ok(target)
    }

    /// The same metric on some of the queries: `used` says for each query whether it is used.
    pub(crate) fn restricted_to(&self, used: Vec<bool>) -> TargetMetric<'a> {
        let measure = self.measure.clone();
        TargetMetric {
            measure,
            used: Some(used),
            data: self.data,
            sign: self.sign,
            floor: self.floor,
        }
    }

    /// The data.
    pub(crate) fn data(&self) -> &'a Dataset {
        self.data
    }

    /// The metric of each query under each of `count` rankings, by query; `None` if the metric
    /// skips the query. `fill(query, ranking, scores)` sets the scores of the query's documents;
    /// queries and rankings count from 0.
    pub(crate) fn values(
        &self,
        count: usize,
        fill: impl Fn(usize, usize, &mut [f64]) + Sync,
    ) -> Result<Vec<Vec<Option<f64>>>, LearnError> {
        let query_values = |(candidates, workspace): &mut (Candidates<'a>, ListBuffers), query| {
            self.query_values(query, count, &fill, candidates, workspace)
                .map_err(|error| error.in_query(self.data.query_ids().get(query)))
        };
        let buffers = || (Candidates::new(), ListBuffers::default());
        let queries = (0..self.data.queries()).into_par_iter();
        let all: Vec<Result<Vec<Option<f64>>, EvalError>> =
            queries.map_init(buffers, query_values).collect();
        // The first error in the order of the queries, whatever the number of threads.
        Ok(all.into_iter().collect::<Result<Vec<_>, EvalError>>()?)
    }

    /// The total of each of `count` rankings, higher is better; NaN if no query has a value.
    pub(crate) fn totals(
        &self,
        count: usize,
        fill: impl Fn(usize, usize, &mut [f64]) + Sync,
    ) -> Result<Vec<f64>, LearnError> {
        let values = self.values(count, fill)?;
        Ok((0..count).map(|ranking| self.total(values.iter().map(|v| v[ranking]))).collect())
    }

    /// The metric of each query, by query, under the rankings by `scores` plus each of `steps`
    /// times one column; `None` if the metric skips the query. The same as [`values`](Self::values)
    /// of these scores, but only the ranks that the metric depends on are sorted, and a ranking
    /// whose labels are those of the ranking before is not evaluated again.
    pub(crate) fn step_values<T: Copy + Into<f64> + Send + Sync>(
        &self,
        scores: &[f64],
        columns: &QueryColumns<T>,
        column: usize,
        steps: &[f64],
    ) -> Result<Vec<Vec<Option<f64>>>, LearnError> {
        let query_values = |buffers: &mut StepBuffers<'a>, query: usize| {
            let scores = &scores[self.data.query_rows(query)];
            self.query_step_values((query, scores), columns.column(query, column), steps, buffers)
                .map_err(|error| error.in_query(self.data.query_ids().get(query)))
        };
        let queries = (0..self.data.queries()).into_par_iter().with_min_len(8);
        let all: Vec<Result<Vec<Option<f64>>, EvalError>> =
            queries.map_init(StepBuffers::default, query_values).collect();
        Ok(all.into_iter().collect::<Result<Vec<_>, EvalError>>()?)
    }

    /// The total of each ranking of [`step_values`](Self::step_values); higher is better.
    pub(crate) fn step_totals<T: Copy + Into<f64> + Send + Sync>(
        &self,
        scores: &[f64],
        columns: &QueryColumns<T>,
        column: usize,
        steps: &[f64],
    ) -> Result<Vec<f64>, LearnError> {
        let values = self.step_values(scores, columns, column, steps)?;
        let total = |number: usize| self.total(values.iter().map(|of_query| of_query[number]));
        Ok((0..steps.len()).map(total).collect())
    }

    /// The total of one ranking from its values by query; higher is better.
    pub(crate) fn total(&self, values: impl Iterator<Item = Option<f64>>) -> f64 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for (query, value) in values.enumerate() {
            if let Some(value) = value {
                let weight = self.weight(query);
                sum += weight * self.floor.map_or(value, |floor| value.max(floor).ln());
                weights += weight;
            }
        }
        let mean = sum / weights;
        self.sign * if self.floor.is_some() { mean.exp() } else { mean }
    }

    /// Weight of a query; 0 if it is not used.
    pub(crate) fn weight(&self, query: usize) -> f64 {
        if self.used.as_ref().is_some_and(|used| !used[query]) {
            return 0.0;
        }
        let weights = self.data.query_weights();
        weights.and_then(|weights| weights.get(query)).map_or(1.0, |weight| f64::from(*weight))
    }

    /// The metric of one query under each ranking.
    fn query_values(
        &self,
        query: usize,
        count: usize,
        fill: &(impl Fn(usize, usize, &mut [f64]) + Sync),
        candidates: &mut Candidates<'a>,
        workspace: &mut ListBuffers,
    ) -> Result<Vec<Option<f64>>, EvalError> {
        if self.weight(query) == 0.0 {
            return Ok(vec![None; count]);
        }
        self.load(query, candidates);
        workspace.start(candidates)?;
        let value = |ranking| {
            fill(query, ranking, &mut candidates.scores);
            let list = workspace.rank_for(candidates, self.measure.conventions(), None)?;
            self.measure.evaluate(&list)
        };
        (0..count).map(value).collect()
    }

    /// The metric of one query, with its current scores, under each step along a column.
    fn query_step_values<T: Copy + Into<f64>>(
        &self,
        (query, scores): (usize, &[f64]),
        column: &[T],
        steps: &[f64],
        buffers: &mut StepBuffers<'a>,
    ) -> Result<Vec<Option<f64>>, EvalError> {
        if self.weight(query) == 0.0 {
            return Ok(vec![None; steps.len()]);
        }
        let StepBuffers { candidates, lists, labels } = buffers;
        self.load(query, candidates);
        lists.start(candidates)?;
        let conventions = self.measure.conventions();
        let depth = self.measure.depth();
        let is_zero = column.iter().all(|value| (*value).into() == 0.0);
        let mut step_values: Vec<Option<f64>> = Vec::with_capacity(steps.len());
        for step in steps {
            if let (true, Some(value)) = (is_zero, step_values.last()) {
                // No step along a column of zeros changes anything.
                step_values.push(*value);
                continue;
            }
            for ((to, score), value) in candidates.scores.iter_mut().zip(scores).zip(column) {
                *to = score + step * (*value).into();
            }
            let list = match depth {
                Some(depth) => lists.rank_top(candidates, conventions, depth)?,
                None => lists.rank_for(candidates, conventions, None)?,
            };
            let value = match step_values.last() {
                Some(last) if depth.is_some() && list.labels() == labels.as_slice() => *last,
                _ => self.measure.evaluate(&list)?,
            };
            labels.clear();
            labels.extend_from_slice(list.labels());
            step_values.push(value);
        }
        Ok(step_values)
    }

    /// Fills in a query's documents; scores are 0.
    fn load(&self, query: usize, candidates: &mut Candidates<'a>) {
        candidates.clear();
        let rows = self.data.query_rows(query);
        candidates.labels.extend_from_slice(self.data.query(query).labels);
        candidates.scores.resize(rows.len(), 0.0);
        if let Some(doc_ids) = self.data.doc_ids() {
            candidates.doc_ids.extend(rows.map(|row| doc_ids.get(row).as_bytes()));
        }
    }
}

/// Buffers for the rankings of one query.
#[derive(Debug, Default)]
struct StepBuffers<'a> {
    candidates: Candidates<'a>,
    lists: ListBuffers,
    /// The labels of the last ranking.
    labels: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::generate::LetorOptions;
    use rankwright_eval::ScoredDataset;

    #[test]
    fn totals_are_those_of_an_evaluation() {
        let data = LetorOptions { queries: 15, documents: 20, seed: 4 }.generate().unwrap();
        let columns = [7, 90];
        let score = |row: usize, ranking: usize| {
            f64::from(data.matrix().get(row, columns[ranking])) + row as f64 * 1e-9
        };
        for text in ["ndcg@5", "ap", "gmap", "err@10", "ndcg(blank=0, ties=mean)@3"] {
            let metric = MetricSpec::parse(text).unwrap();
            let target = TargetMetric::new(&data, &metric).unwrap();
            let fill = |query: usize, ranking: usize, scores: &mut [f64]| {
                for (to, row) in scores.iter_mut().zip(data.query_rows(query)) {
                    *to = score(row, ranking);
                }
            };
            let found = target.totals(2, fill).unwrap();
            for (ranking, found) in found.into_iter().enumerate() {
                let scores: Vec<f64> = (0..data.rows()).map(|row| score(row, ranking)).collect();
                let measure = metric.resolve(SourceKind::Features).unwrap();
                let evaluation = ScoredDataset::new(&data, &scores).unwrap().evaluate(&[measure]);
                assert_eq!(found, evaluation.unwrap().results[0].value, "{text}");
            }
        }
    }

    #[test]
    fn steps_along_a_column_have_the_values_of_their_scores() {
        let data = LetorOptions { queries: 12, documents: 30, seed: 4 }.generate().unwrap();
        let width = data.columns();
        let columns = QueryColumns::new(&data, data.matrix().values(), width);
        let steps = [-4.0, -0.5, -1e-9, 1e-9, 0.01, 0.5, 0.7, 30.0];
        for text in [
            "ndcg@10",
            "ndcg@5",
            "dcg@3",
            "ap",
            "ap@10",
            "err@10",
            "p@5",
            "rr@10",
            "recall@10",
            "success@5",
            "gmap",
            "ndcg(ties=mean)@10",
            "ndcg(blank=0)",
            "kendall",
        ] {
            let target = TargetMetric::new(&data, &MetricSpec::parse(text).unwrap()).unwrap();
            // Whole numbers from 0 to 4, so that many scores are equal.
            let base: Vec<f64> = (0..data.rows()).map(|row| (row * 7 % 5) as f64).collect();
            for column in [0, 7, 50, 90, width - 1] {
                let expected = target.values(steps.len(), |query, number, to| {
                    for (to, row) in to.iter_mut().zip(data.query_rows(query)) {
                        let value = f64::from(data.matrix().get(row, column));
                        *to = base[row] + steps[number] * value;
                    }
                });
                let found = target.step_values(&base, &columns, column, &steps).unwrap();
                assert_eq!(found, expected.unwrap(), "{text}, column {column}");
            }
        }
    }

    #[test]
    fn metrics_that_are_not_means_over_queries_are_rejected() {
        let check = |text: &str| TargetMetric::check(&MetricSpec::parse(text).unwrap(), "adarank");
        assert!(check("ndcg@10").is_ok() && check("gmap").is_ok());
        for text in ["num_q", "rmse"] {
            let error = check(text).unwrap_err().to_string();
            assert!(error.contains("`adarank`") && error.contains("metric=ndcg@10"), "{error}");
        }
    }
}
