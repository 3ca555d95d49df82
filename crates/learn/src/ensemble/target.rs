//! A metric of many rankings of the same queries, for learners that optimise the metric itself
//! instead of a smooth loss.
//!
//! A ranking is given by scores that the caller fills in, query by query; several rankings are
//! evaluated in one pass, so that each query is loaded and its ideal order computed once. The total
//! is the metric's mean over queries (arithmetic or geometric) by their weights, added in the order
//! of the queries, so that the number of threads changes nothing. Weights of documents do not enter
//! a metric.
//!
//! Cost: a sort for each query and ranking. Rankings by scores that are stored in places
//! ([`TargetMetric::layout`]) are cheaper, and those that differ from the current one by a multiple
//! of one column still more: see [`steps`](super::steps), for which [`TargetMetric::values`] is the
//! reference implementation. Metrics that are sums or means over rows (`num_q`, `rmse`) do not
//! measure rankings, and are rejected.

use std::sync::Arc;

use rankwright_data::Dataset;
use rankwright_eval::compare::Better;
use rankwright_eval::{
    Aggregate, Candidates, EvalError, ListBuffers, Measure, MetricSpec, Orderer, QueryValue, Rows,
    SourceKind, TiePolicy, sort_labels,
};
use rankwright_spec::{Conflict, SpecError};
use rayon::prelude::*;

use super::columns::RowLayout;
use crate::error::LearnError;

/// A metric on a data set, with its sign flipped if lower is better, so that higher is always
/// better.
#[derive(Debug)]
pub(crate) struct TargetMetric<'a> {
    pub(super) data: &'a Dataset,
    pub(super) measure: Measure,
    /// The number of first ranks that the metric depends on; `None` for all.
    pub(super) depth: Option<usize>,
    /// -1 if lower values are better, else 1.
    sign: f64,
    /// For geometric means: values below this one count as this one; `None` for arithmetic means.
    floor: Option<f64>,
    /// For each query, whether it is used; `None` if all are.
    used: Option<Vec<bool>>,
    /// The places of the rows: those of a query are in the order among equal scores, if the metric
    /// has one.
    layout: Arc<RowLayout>,
    /// The parts of a ranking that do not depend on scores, by query; `None` if the metric needs
    /// more than the order of the rows (`ties=mean`, `scores=f32`).
    pub(super) fixed: Option<Arc<Vec<FixedParts>>>,
}

/// The parts of the rankings of a query that do not depend on the scores.
#[derive(Debug)]
pub(super) struct FixedParts {
    /// The labels of the query, best first.
    pub(super) ideal: Vec<f64>,
    /// The labels by place.
    pub(super) labels: Vec<f64>,
    /// The value of any order of the places, if it is a sum over few ranks.
    pub(super) value: Option<QueryValue>,
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
        let layout = Arc::new(RowLayout::new(data, (0..data.rows() as u32).collect()));
        let depth = measure.depth();
        let mut target =
            Self { data, measure, depth, sign, floor, used: None, layout, fixed: None };
        let total_of_equal_scores = target.totals(1, |_, _, scores| scores.fill(0.0))?;
        if total_of_equal_scores.iter().any(|value| value.is_nan()) {
            return Err(LearnError::NoMetricValue {
                data: "the training data".to_owned(),
                metric: metric.to_string(),
            });
        }
        let order = target.measure.conventions().order();
        if order.ties != TiePolicy::Mean && !order.scores32 {
            let layout = RowLayout::new(data, target.tie_order(order.ties)?);
            let parts = |query| target.fixed_parts(query, layout.rows(query));
            target.fixed = Some(Arc::new((0..data.queries()).into_par_iter().map(parts).collect()));
            target.layout = Arc::new(layout);
        }
        Ok(target)
    }

    /// The rows of each query in the order that equal scores have.
    fn tie_order(&self, ties: TiePolicy) -> Result<Vec<u32>, LearnError> {
        let mut all = vec![0; self.data.rows()];
        let (mut orderer, mut candidates) = (Orderer::default(), Candidates::new());
        for query in 0..self.data.queries() {
            self.load(query, &mut candidates);
            let Candidates { scores, labels, doc_ids, .. } = &candidates;
            let tie_ranks = orderer
                .tie_ranks(Rows { scores, labels, doc_ids }, ties)
                .map_err(|error| error.in_query(self.data.query_ids().get(query)))?;
            let rows = self.data.query_rows(query);
            for (row, tie_rank) in rows.clone().zip(tie_ranks) {
                all[rows.start + tie_rank as usize] = row as u32;
            }
        }
        Ok(all)
    }

    /// The parts of all rankings of a query that do not depend on scores, for its rows in this
    /// order.
    fn fixed_parts(&self, query: usize, rows: &[u32]) -> FixedParts {
        let labels: Vec<f64> = rows.iter().map(|row| self.data.labels()[*row as usize]).collect();
        let mut ideal = self.data.query(query).labels.to_vec();
        sort_labels(&mut ideal);
        let value = self.measure.query_value(&labels, &ideal);
        FixedParts { ideal, labels, value }
    }

    /// The same metric on some of the queries: `used` says for each query whether it is used.
    pub(crate) fn restricted_to(&self, used: Vec<bool>) -> TargetMetric<'a> {
        let measure = self.measure.clone();
        TargetMetric {
            measure,
            depth: self.depth,
            used: Some(used),
            data: self.data,
            sign: self.sign,
            floor: self.floor,
            layout: Arc::clone(&self.layout),
            fixed: self.fixed.clone(),
        }
    }

    /// The places in which columns and scores of the rows are stored.
    pub(crate) fn layout(&self) -> &Arc<RowLayout> {
        &self.layout
    }

    /// The metric with its conventions.
    pub(crate) fn measure(&self) -> &Measure {
        &self.measure
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

    /// The total of one ranking from its values by query; higher is better.
    pub(crate) fn total(&self, values: impl Iterator<Item = Option<f64>>) -> f64 {
        let mut total = TotalSums::default();
        for (query, value) in values.enumerate() {
            total.add(value, self.weight(query), self.floor);
        }
        self.mean(total)
    }

    /// The totals of several rankings from their values by query, all of the first query, then all
    /// of the second, and so on; each the same as [`total`](Self::total) of its values.
    pub(super) fn totals_by_query(&self, count: usize, values: &[Option<f64>]) -> Vec<f64> {
        let mut totals = vec![TotalSums::default(); count];
        for (query, query_values) in values.chunks(count.max(1)).enumerate() {
            let weight = self.weight(query);
            for (total, value) in totals.iter_mut().zip(query_values) {
                total.add(*value, weight, self.floor);
            }
        }
        totals.into_iter().map(|total| self.mean(total)).collect()
    }

    /// The total of these sums.
    fn mean(&self, total: TotalSums) -> f64 {
        let mean = total.sum / total.weights;
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

/// The weighted sum of values over queries, and the sum of the weights.
#[derive(Debug, Clone, Copy, Default)]
struct TotalSums {
    sum: f64,
    weights: f64,
}

impl TotalSums {
    /// Adds the value of a query; nothing if the metric skips it.
    #[inline]
    fn add(&mut self, value: Option<f64>, weight: f64, floor: Option<f64>) {
        if let Some(value) = value {
            self.sum += weight * floor.map_or(value, |floor| value.max(floor).ln());
            self.weights += weight;
        }
    }
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
    fn metrics_that_are_not_means_over_queries_are_rejected() {
        let check = |text: &str| TargetMetric::check(&MetricSpec::parse(text).unwrap(), "adarank");
        assert!(check("ndcg@10").is_ok() && check("gmap").is_ok());
        for text in ["num_q", "rmse"] {
            let error = check(text).unwrap_err().to_string();
            assert!(error.contains("`adarank`") && error.contains("metric=ndcg@10"), "{error}");
        }
    }
}
