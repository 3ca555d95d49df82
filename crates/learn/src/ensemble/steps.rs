//! The metric under many rankings that each differ from the current one by a step along one column:
//! the inner loop of AdaRank and of coordinate ascent.
//!
//! ```text
//! score of a document in the ranking of a step = current score + factor x value in the column
//! ```
//!
//! The values are those of [`TargetMetric::values`] for the same scores, to the bit. Labels in the
//! ideal order and the order among equal scores do not depend on a step and are computed once
//! ([`FixedParts`](super::target::FixedParts)); only the ranks that the metric depends on are
//! sorted ([`TopOrderer`]), from the best rows of the current ranking, or of the step before along
//! the same column and in the same direction; and a ranking with the rows of that one has its value
//! and is not evaluated again.
//!
//! Cost of a step and a query of n documents: n products and comparisons, for metrics with a
//! cut-off; otherwise a sort of n integers. Metrics under `ties=mean` or `scores=f32` take the
//! reference implementation. Queries run in parallel; each writes its own values, so that the
//! number of threads changes nothing.

use rankwright_eval::{EvalError, RankedList, TopOrderer};
use rayon::prelude::*;

use super::columns::QueryColumns;
use super::target::{FixedParts, TargetMetric};
use crate::error::LearnError;

/// A step: a multiple of one column that is added to the current scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Step {
    pub(crate) column: usize,
    pub(crate) factor: f64,
}

impl Step {
    /// Whether another step goes along the same column in the same direction.
    fn is_aligned(&self, other: &Step) -> bool {
        self.column == other.column && (self.factor > 0.0) == (other.factor > 0.0)
    }
}

/// The current scores, and the ranking of each query by them.
#[derive(Debug)]
pub(crate) struct CurrentRanking {
    scores: Vec<f64>,
    /// By query; empty if the metric takes the reference implementation.
    queries: Vec<QueryRanking>,
}

/// The best rows of a query, best first, and the value of the metric; `None` if it skips the query.
#[derive(Debug, Clone, Default)]
struct QueryRanking {
    rows: Vec<u32>,
    value: Option<f64>,
}

/// The metric of each query under each step.
#[derive(Debug)]
pub(crate) struct StepValues {
    /// All values of the first query, then of the second, and so on.
    values: Vec<Option<f64>>,
    steps: usize,
}

/// Buffers for the rankings of one query.
#[derive(Debug, Default)]
struct StepBuffers {
    /// Scores by row; the ordering overwrites them.
    scores: Vec<f64>,
    orderer: TopOrderer,
    /// The last ranking.
    ranking: QueryRanking,
    /// Labels and scores by rank.
    labels: Vec<f64>,
    ranked_scores: Vec<f64>,
}

impl CurrentRanking {
    /// The scores, by row.
    pub(crate) fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// The scores alone, for the next ranking.
    pub(crate) fn into_scores(self) -> Vec<f64> {
        self.scores
    }
}

impl StepValues {
    /// The metric of each query under one step; `None` if the metric skips the query.
    pub(crate) fn of_step(&self, number: usize) -> impl Iterator<Item = Option<f64>> + '_ {
        self.values.iter().skip(number).step_by(self.steps.max(1)).copied()
    }

    /// All values, of one query after the other.
    pub(crate) fn all(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        self.values.iter().copied()
    }
}

impl TargetMetric<'_> {
    /// Ranks all queries by these scores.
    pub(crate) fn rank(&self, scores: Vec<f64>) -> Result<CurrentRanking, LearnError> {
        let Some(fixed) = &self.fixed else {
            return Ok(CurrentRanking { scores, queries: Vec::new() });
        };
        let mut queries = vec![QueryRanking::default(); self.data.queries()];
        self.for_each_query(queries.as_mut_slice(), 1, |buffers, query, ranking| {
            let query_scores = &scores[self.data.query_rows(query)];
            if let Some(row) = query_scores.iter().position(|score| score.is_nan()) {
                return Err(EvalError::NanScore { row });
            }
            buffers.scores.clear();
            buffers.scores.extend_from_slice(query_scores);
            buffers.ranking.rows.clear();
            self.update_ranking(query, fixed, buffers)?;
            ranking.fill(buffers.ranking.clone());
            Ok(())
        })?;
        Ok(CurrentRanking { scores, queries })
    }

    /// The metric of each query under each step from the current ranking.
    pub(crate) fn step_values<T: Copy + Into<f64> + Send + Sync>(
        &self,
        current: &CurrentRanking,
        columns: &QueryColumns<T>,
        steps: &[Step],
    ) -> Result<StepValues, LearnError> {
        let count = steps.len();
        let Some(fixed) = &self.fixed else {
            let values = self.values(count, |query, number, to| {
                let scores = &current.scores[self.data.query_rows(query)];
                if let Some(step) = steps.get(number) {
                    add_step(scores, columns.column(query, step.column), step.factor, to);
                }
            })?;
            return Ok(StepValues { values: values.into_iter().flatten().collect(), steps: count });
        };
        let mut values = vec![None; self.data.queries() * count];
        self.for_each_query(&mut values, count, |buffers, query, to| {
            self.query_steps((query, current), columns, steps, fixed, buffers, to)
        })?;
        Ok(StepValues { values, steps: count })
    }

    /// The total of each step; higher is better.
    pub(crate) fn step_totals(&self, values: &StepValues) -> Vec<f64> {
        self.totals_by_query(values.steps, &values.values)
    }

    /// Calls `fill` for each query that is used, with its part of `values`, `count` for each query.
    fn for_each_query<V: Send>(
        &self,
        values: &mut [V],
        count: usize,
        fill: impl Fn(&mut StepBuffers, usize, &mut [V]) -> Result<(), EvalError> + Sync,
    ) -> Result<(), LearnError> {
        // At least 8 queries for a task: a single small query is less work than starting a task.
        let queries = values.par_chunks_mut(count.max(1)).enumerate().with_min_len(8);
        let results = queries.map_init(StepBuffers::default, |buffers, (query, values)| {
            match self.weight(query) == 0.0 {
                true => Ok(()),
                false => fill(buffers, query, values)
                    .map_err(|error| error.in_query(self.data.query_ids().get(query))),
            }
        });
        // The first error in the order of the queries, whatever the number of threads.
        results.find_map_first(Result::err).map_or(Ok(()), |error| Err(error.into()))
    }

    /// The metric of one query under each step.
    fn query_steps<T: Copy + Into<f64> + Send + Sync>(
        &self,
        (query, current): (usize, &CurrentRanking),
        columns: &QueryColumns<T>,
        steps: &[Step],
        fixed: &FixedParts,
        buffers: &mut StepBuffers,
        values: &mut [Option<f64>],
    ) -> Result<(), EvalError> {
        let scores = &current.scores[self.data.query_rows(query)];
        let Some(ranking) = current.queries.get(query) else { return Ok(()) };
        buffers.scores.resize(scores.len(), 0.0);
        let mut last: Option<&Step> = None;
        for (value, step) in values.iter_mut().zip(steps) {
            let column = columns.column(query, step.column);
            if add_step(scores, column, step.factor, &mut buffers.scores) {
                let row = buffers.scores.iter().position(|score| score.is_nan());
                return Err(EvalError::NanScore { row: row.unwrap_or(0) });
            }
            if !last.is_some_and(|last| last.is_aligned(step)) {
                // Into the memory that there is.
                buffers.ranking.rows.clone_from(&ranking.rows);
                buffers.ranking.value = ranking.value;
            }
            self.update_ranking(query, fixed, buffers)?;
            (*value, last) = (buffers.ranking.value, Some(step));
        }
        Ok(())
    }

    /// Ranks one query by the scores of the buffers; the ranking there is that of similar scores,
    /// or empty.
    fn update_ranking(
        &self,
        query: usize,
        fixed: &FixedParts,
        buffers: &mut StepBuffers,
    ) -> Result<(), EvalError> {
        let StepBuffers { scores, orderer, ranking, labels, ranked_scores } = buffers;
        let rows = self.data.query_rows(query);
        let tie_ranks = &fixed.tie_ranks[rows.clone()];
        let depth = self.measure.depth();
        let order = match depth {
            Some(depth) => orderer.order(scores, tie_ranks, &ranking.rows, depth)?,
            None => orderer.order(scores, tie_ranks, &[], usize::MAX)?,
        };
        // Without a cut-off the scores may count, which are not the same for the same order.
        if depth.is_some() && !order.is_empty() && order == ranking.rows {
            return Ok(());
        }
        let row_labels = self.data.query(query).labels;
        labels.clear();
        labels.extend(order.iter().map(|row| row_labels[*row as usize]));
        ranked_scores.clear();
        if depth.is_none() {
            ranked_scores.extend(order.iter().map(|row| scores[*row as usize]));
        }
        ranking.rows.clear();
        ranking.rows.extend_from_slice(order);
        let list = RankedList::of_judged(labels, ranked_scores, &fixed.ideal[rows]);
        ranking.value = self.measure.evaluate(&list)?;
        Ok(())
    }
}

/// Writes scores plus a multiple of a column; returns whether one is NaN.
#[inline]
fn add_step<T: Copy + Into<f64>>(
    scores: &[f64],
    column: &[T],
    factor: f64,
    to: &mut [f64],
) -> bool {
    let mut any_nan = false;
    for ((to, score), value) in to.iter_mut().zip(scores).zip(column) {
        *to = score + factor * (*value).into();
        any_nan |= to.is_nan();
    }
    any_nan
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::generate::LetorOptions;
    use rankwright_eval::MetricSpec;

    /// Metrics with and without a cut-off, with a cut-off beyond most lists, and those that need
    /// scores or the exact mean over ties.
    const METRICS: [&str; 19] = [
        "ndcg@10",
        "ndcg@5",
        "ndcg@40",
        "ndcg(short=zero)@25",
        "ndcg(ties=best)@10",
        "ndcg(ties=stable)@10",
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
        "ndcg(scores=f32)@10",
        "ndcg(blank=0)",
        "kendall",
    ];

    #[test]
    fn steps_have_the_values_of_a_whole_ranking_by_their_scores() {
        let data = LetorOptions { queries: 12, documents: 30, seed: 4 }.generate().unwrap();
        let width = data.columns();
        let columns = QueryColumns::new(&data, data.matrix().values(), width);
        let mut steps = Vec::new();
        for column in [0, 7, 50, 90, width - 1] {
            // The two directions apart, and both in turn.
            let factors = [1e-9, 0.01, 0.5, 0.7, 30.0, -1e-9, -0.5, -4.0, 0.5, -0.5, 0.0, 2.0];
            steps.extend(factors.map(|factor| Step { column, factor }));
        }
        for text in METRICS {
            let target = TargetMetric::new(&data, &MetricSpec::parse(text).unwrap()).unwrap();
            // Whole numbers from 0 to 4, so that many scores are equal.
            let base: Vec<f64> = (0..data.rows()).map(|row| (row * 7 % 5) as f64).collect();
            let expected = target.values(steps.len(), |query, number, to| {
                let Step { column, factor } = steps[number];
                for (to, row) in to.iter_mut().zip(data.query_rows(query)) {
                    *to = base[row] + factor * f64::from(data.matrix().get(row, column));
                }
            });
            let expected = expected.unwrap();
            let found = target.step_values(&target.rank(base).unwrap(), &columns, &steps).unwrap();
            assert_eq!(found.all().collect::<Vec<_>>(), expected.concat(), "{text}");
            let totals = target.step_totals(&found);
            for (number, total) in totals.into_iter().enumerate() {
                let values: Vec<_> = found.of_step(number).collect();
                assert!(values.iter().zip(&expected).all(|(value, query)| *value == query[number]));
                assert_eq!(total, target.total(values.into_iter()), "{text}");
            }
        }
    }

    #[test]
    fn queries_that_are_not_used_have_no_value_and_others_are_unchanged() {
        let data = LetorOptions { queries: 6, documents: 20, seed: 9 }.generate().unwrap();
        let target = TargetMetric::new(&data, &MetricSpec::parse("ndcg@10").unwrap()).unwrap();
        let columns = QueryColumns::new(&data, data.matrix().values(), data.columns());
        let steps = [Step { column: 3, factor: 1.0 }];
        let values = |target: &TargetMetric<'_>| {
            let current = target.rank(vec![0.0; data.rows()]).unwrap();
            target.step_values(&current, &columns, &steps).unwrap().all().collect::<Vec<_>>()
        };
        let all = values(&target);
        let half = values(&target.restricted_to(vec![true, false, true, false, true, false]));
        assert!(half.iter().skip(1).step_by(2).all(Option::is_none));
        assert!(half.iter().step_by(2).eq(all.iter().step_by(2)));
    }

    #[test]
    fn a_score_that_is_not_a_number_names_its_query() {
        let data = LetorOptions { queries: 3, documents: 9, seed: 9 }.generate().unwrap();
        let target = TargetMetric::new(&data, &MetricSpec::parse("ndcg@10").unwrap()).unwrap();
        let columns = QueryColumns::new(&data, data.matrix().values(), data.columns());
        let mut scores = vec![0.0; data.rows()];
        scores[data.query_rows(1).start] = f64::INFINITY;
        let current = target.rank(scores.clone()).unwrap();
        let steps = [Step { column: 3, factor: f64::NEG_INFINITY }];
        let error = target.step_values(&current, &columns, &steps).unwrap_err().to_string();
        assert!(error.contains("is NaN"), "{error}");
        scores[data.query_rows(1).start] = f64::NAN;
        let error = target.rank(scores).unwrap_err().to_string();
        assert!(error.contains("is NaN") && error.contains(data.query_ids().get(1)), "{error}");
    }
}
