//! The metric under many rankings that each differ from the current one by a step along one column:
//! the inner loop of AdaRank and of coordinate ascent.
//!
//! ```text
//! score of a document in the ranking of a step = current score + factor x value in the column
//! ```
//!
//! The values are those of [`TargetMetric::values`] for the same scores, to the bit. Everything
//! that does not depend on a step is computed once: the ideal order, the order among equal scores
//! (rows are stored in it), and the gains of a sum over ranks
//! ([`FixedParts`](super::target::FixedParts)). For metrics with a cut-off only the best rows are
//! ordered ([`StepOrderer`]), found from those of the current ranking, or of the step before along
//! the same column and in the same direction. A step that is too short to move a row past another
//! one, such as any along a column that is constant in the query, has the current value.
//!
//! Cost of a step and a query of n documents: n sums and comparisons in f32 for metrics with a
//! small cut-off; otherwise a sort of n integers. Metrics under `ties=mean` or `scores=f32` take
//! the reference implementation. Queries run in parallel; each writes its own values, so that the
//! number of threads changes nothing. A task takes some neighbouring queries and all steps along
//! one column after the other, so that a column is read once and in the order in which it is
//! stored.

use rankwright_eval::{EvalError, RankedList};
use rayon::prelude::*;

use super::columns::{ColumnValue, QueryColumns, ValueRange};
use super::step_order::{StepOrderer, StepQuery};
use super::target::{FixedParts, TargetMetric};
use crate::error::LearnError;

/// Number of neighbouring queries that a task takes.
const TASK_QUERIES: usize = 16;
/// Up to this cut-off, the best rows are found from those of another ranking; for a larger one, all
/// rows are scored.
const MAX_GUESSED: usize = 32;

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
    /// By place.
    scores: Vec<f64>,
    /// The scores rounded to f32; minus infinity in places without a row.
    estimates: Vec<f32>,
    queries: Vec<QueryRanking>,
}

/// The ranking of one query.
#[derive(Debug, Clone, Default)]
struct QueryRanking {
    /// The largest absolute score; NaN if a score is.
    max_score: f64,
    /// The best rows, best first, as many as the metric depends on; empty if it depends on all.
    rows: Vec<u32>,
    /// The smallest difference between the scores of two of these rows, or of the last one and the
    /// next row.
    gap: f64,
    /// The value of the metric; `None` if it skips the query.
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
    orderer: StepOrderer,
    /// The best rows of the last ranking, and its value.
    rows: Vec<u32>,
    value: Option<f64>,
    /// Labels and scores by rank.
    labels: Vec<f64>,
    ranked_scores: Vec<f64>,
}

impl CurrentRanking {
    /// The scores, by place.
    pub(crate) fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// The scores alone, for the next ranking.
    pub(crate) fn into_scores(self) -> Vec<f64> {
        self.scores
    }

    /// The metric of each query; `None` if the metric skips the query.
    pub(crate) fn values(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        self.queries.iter().map(|query| query.value)
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
    /// Ranks all queries by these scores, by place.
    pub(crate) fn rank(&self, scores: Vec<f64>) -> Result<CurrentRanking, LearnError> {
        let layout = self.layout();
        let mut estimates = vec![f32::NEG_INFINITY; layout.len()];
        let round = |(query, estimates): (usize, &mut [f32])| {
            for (estimate, score) in estimates.iter_mut().zip(&scores[layout.places(query)]) {
                *estimate = *score as f32;
            }
        };
        layout.split(&mut estimates).into_par_iter().enumerate().with_min_len(8).for_each(round);
        let mut queries = vec![QueryRanking::default(); layout.queries()];
        let Some(fixed) = &self.fixed else {
            let values = self.values(1, |query, _, to| {
                to.copy_from_slice(&scores[layout.places(query)]);
            })?;
            for (query, values) in queries.iter_mut().zip(values) {
                query.value = values.into_iter().flatten().next();
            }
            return Ok(CurrentRanking { scores, estimates, queries });
        };
        let rank_query = |buffers: &mut StepBuffers, query: usize, ranking: &mut QueryRanking| {
            let query_scores = &scores[layout.places(query)];
            let gap = buffers.orderer.order_and_gap(query_scores, self.depth)?;
            buffers.rows.clear();
            self.evaluate_order(&fixed[query], buffers)?;
            let max_score = ValueRange::new(query_scores.iter().copied()).max_abs;
            let (rows, value) = (buffers.rows.clone(), buffers.value);
            *ranking = QueryRanking { max_score, rows, gap, value };
            Ok(())
        };
        let tasks = queries.par_iter_mut().enumerate().with_min_len(8);
        let results = tasks.map_init(StepBuffers::default, |buffers, (query, ranking)| {
            match self.weight(query) == 0.0 {
                true => Ok(()),
                false => {
                    rank_query(buffers, query, ranking).map_err(|error| self.in_query(error, query))
                }
            }
        });
        first_error(results)?;
        Ok(CurrentRanking { scores, estimates, queries })
    }

    /// The metric of each query under each step from the current ranking.
    pub(crate) fn step_values<T: ColumnValue>(
        &self,
        current: &CurrentRanking,
        columns: &QueryColumns<T>,
        steps: &[Step],
    ) -> Result<StepValues, LearnError> {
        let count = steps.len();
        let Some(fixed) = &self.fixed else {
            let values = self.values(count, |query, number, to| {
                let scores = &current.scores[self.layout().places(query)];
                let Step { column, factor } = steps[number];
                let terms = scores.iter().zip(columns.column(query, column));
                for (to, (score, value)) in to.iter_mut().zip(terms) {
                    *to = score + factor * (*value).into();
                }
            })?;
            return Ok(StepValues { values: values.into_iter().flatten().collect(), steps: count });
        };
        let mut values = vec![None; self.data.queries() * count];
        let tasks = values.par_chunks_mut((TASK_QUERIES * count).max(1)).enumerate();
        let results = tasks.map_init(StepBuffers::default, |buffers, (task, values)| {
            let mut first = 0;
            for steps in steps.chunk_by(|a, b| a.column == b.column) {
                let numbers = first..first + steps.len();
                first = numbers.end;
                for (query, values) in (task * TASK_QUERIES..).zip(values.chunks_mut(count)) {
                    if self.weight(query) != 0.0 {
                        let parts = (&fixed[query], current, columns);
                        self.query_steps(
                            query,
                            parts,
                            steps,
                            buffers,
                            &mut values[numbers.clone()],
                        )
                        .map_err(|error| self.in_query(error, query))?;
                    }
                }
            }
            Ok(())
        });
        first_error(results)?;
        Ok(StepValues { values, steps: count })
    }

    /// The total of each step; higher is better.
    pub(crate) fn step_totals(&self, values: &StepValues) -> Vec<f64> {
        self.totals_by_query(values.steps, &values.values)
    }

    /// An error that names its query.
    fn in_query(&self, error: EvalError, query: usize) -> EvalError {
        error.in_query(self.data.query_ids().get(query))
    }

    /// The metric of one query under steps along one column.
    fn query_steps<T: ColumnValue>(
        &self,
        query: usize,
        (fixed, current, columns): (&FixedParts, &CurrentRanking, &QueryColumns<T>),
        steps: &[Step],
        buffers: &mut StepBuffers,
        values: &mut [Option<f64>],
    ) -> Result<(), EvalError> {
        let Some(column) = steps.first().map(|step| step.column) else { return Ok(()) };
        let ranking = &current.queries[query];
        let step_query = StepQuery {
            scores: &current.scores[self.layout().places(query)],
            estimates: &current.estimates[self.layout().padded_places(query)],
            max_score: ranking.max_score,
            column: columns.column(query, column),
            range: columns.range(query, column),
        };
        let depth = self.depth;
        let mut last: Option<&Step> = None;
        for (value, step) in values.iter_mut().zip(steps) {
            if !last.is_some_and(|last| last.is_aligned(step)) {
                // Reuses the memory of the buffer.
                buffers.rows.clone_from(&ranking.rows);
                buffers.value = ranking.value;
            }
            // A metric without a cut-off may depend on the scores, which change even if the order
            // does not.
            if depth.is_some() && step_query.keeps_order(step.factor, ranking.gap) {
                (*value, last) = (ranking.value, None);
                continue;
            }
            match depth {
                Some(depth) if depth <= MAX_GUESSED => {
                    buffers.orderer.order(&step_query, step.factor, &buffers.rows, depth)?;
                }
                _ => buffers.orderer.order_all(&step_query, step.factor, depth)?,
            }
            self.evaluate_order(fixed, buffers)?;
            (*value, last) = (buffers.value, Some(step));
        }
        Ok(())
    }

    /// Sets `rows` and `value` of the buffers to those of the orderer's last order. Before, they
    /// are those of another ranking, whose value is kept if its rows are the same.
    fn evaluate_order(
        &self,
        fixed: &FixedParts,
        buffers: &mut StepBuffers,
    ) -> Result<(), EvalError> {
        let StepBuffers { orderer, rows, value, labels, ranked_scores } = buffers;
        let order = orderer.last_order();
        let has_depth = self.depth.is_some();
        if let Some(query_value) = &fixed.value {
            *value = query_value.of_rows(order);
        } else if !has_depth || order.is_empty() || order != rows.as_slice() {
            labels.clear();
            labels.extend(order.iter().map(|row| fixed.labels[*row as usize]));
            ranked_scores.clear();
            // A metric without a cut-off may depend on the scores.
            if !has_depth {
                let scores = orderer.last_scores();
                ranked_scores.extend(order.iter().map(|row| scores[*row as usize]));
            }
            let list = RankedList::of_judged(labels, ranked_scores, &fixed.ideal);
            *value = self.measure.evaluate(&list)?;
        }
        rows.clear();
        if has_depth {
            rows.extend_from_slice(order);
        }
        Ok(())
    }
}

/// The first error in the order of the tasks, whatever the number of threads.
fn first_error(
    results: impl IndexedParallelIterator<Item = Result<(), EvalError>>,
) -> Result<(), LearnError> {
    results.find_map_first(Result::err).map_or(Ok(()), |error| Err(error.into()))
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

    /// Scores by place, from scores by row.
    fn in_places(target: &TargetMetric<'_>, by_row: &[f64]) -> Vec<f64> {
        let layout = target.layout();
        let mut scores = vec![0.0; layout.len()];
        for query in 0..layout.queries() {
            for (place, row) in layout.places(query).zip(layout.rows(query)) {
                scores[place] = by_row[*row as usize];
            }
        }
        scores
    }

    #[test]
    fn steps_have_the_values_of_a_whole_ranking_by_their_scores() {
        let data = LetorOptions { queries: 12, documents: 30, seed: 4 }.generate().unwrap();
        let width = data.columns();
        let mut steps = Vec::new();
        for column in [0, 7, 50, 90, width - 1] {
            // The two directions apart, and both in turn.
            let factors = [1e-9, 0.01, 0.5, 0.7, 30.0, -1e-9, -0.5, -4.0, 0.5, -0.5, 0.0, 2.0];
            steps.extend(factors.map(|factor| Step { column, factor }));
        }
        for text in METRICS {
            let target = TargetMetric::new(&data, &MetricSpec::parse(text).unwrap()).unwrap();
            let columns = QueryColumns::new(target.layout(), data.matrix().values(), width);
            // Whole numbers from 0 to 4, so that many scores are equal.
            let base: Vec<f64> = (0..data.rows()).map(|row| (row * 7 % 5) as f64).collect();
            let expected = target.values(steps.len(), |query, number, to| {
                let Step { column, factor } = steps[number];
                for (to, row) in to.iter_mut().zip(data.query_rows(query)) {
                    *to = base[row] + factor * f64::from(data.matrix().get(row, column));
                }
            });
            let expected = expected.unwrap();
            let current = target.rank(in_places(&target, &base)).unwrap();
            let of_base = target.values(1, |query, _, to| {
                to.copy_from_slice(&base[data.query_rows(query)]);
            });
            assert!(current.values().eq(of_base.unwrap().concat()), "{text}");
            let found = target.step_values(&current, &columns, &steps).unwrap();
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
        let columns = QueryColumns::new(target.layout(), data.matrix().values(), data.columns());
        let steps = [Step { column: 3, factor: 1.0 }];
        let values = |target: &TargetMetric<'_>| {
            let current = target.rank(vec![0.0; target.layout().len()]).unwrap();
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
        let columns = QueryColumns::new(target.layout(), data.matrix().values(), data.columns());
        let mut scores = vec![0.0; target.layout().len()];
        let place = target.layout().places(1).start;
        scores[place] = f64::INFINITY;
        let current = target.rank(scores.clone()).unwrap();
        let steps = [Step { column: 3, factor: f64::NEG_INFINITY }];
        let error = target.step_values(&current, &columns, &steps).unwrap_err().to_string();
        assert!(error.contains("is NaN"), "{error}");
        scores[place] = f64::NAN;
        let error = target.rank(scores).unwrap_err().to_string();
        assert!(error.contains("is NaN") && error.contains(data.query_ids().get(1)), "{error}");
    }
}
