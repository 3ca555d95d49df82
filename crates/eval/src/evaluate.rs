//! Evaluates a set of queries: in parallel over queries, results in query order.
//!
//! Each query is loaded once and ranked once for each distinct order (tie policy, score width, rule
//! for unjudged documents) among the measures. Means are sums in query order, so the number of
//! threads cannot change a result; of several errors the one of the first query is returned. Cost:
//! O(n) per query, measure and sorted input, plus the sort if the input is not sorted.

use rankwright_spec::{check_params, params};
use rayon::prelude::*;
use serde::Serialize;

use crate::error::EvalError;
use crate::list::{Candidates, ListBuffers};
use crate::metric::{Aggregate, Measure, MetricSpec};
use crate::source::QuerySource;
use crate::stats::t_critical;

params! {
    /// Options of an evaluation.
    #[derive(Copy)]
    #[non_exhaustive]
    pub struct EvalOptions {
        depth: Option<usize> = None, 1..,
            "Number of documents that count, the best of each list; the cut comes before ties are \
             averaged.";
    }
}

/// Results of all measures over all queries.
///
/// It serialises to the totals: `{"metrics": [{"metric": "ndcg@10", "convention": "...",
/// "value": 0.5, "queries": 10, "ci95": [0.4, 0.6]}]}`. [`PerQueryTable`](crate::PerQueryTable) has
/// the values of the queries.
#[derive(Debug, Clone, Serialize)]
pub struct Evaluation {
    /// Ids of the queries.
    #[serde(skip)]
    pub queries: Vec<String>,
    /// One result for each measure, in the requested order.
    #[serde(rename = "metrics")]
    pub results: Vec<MeasureResult>,
}

impl Evaluation {
    /// The total of a metric by its name; `None` if it was not measured or no query counted.
    pub fn get(&self, metric: &str) -> Option<f64> {
        self.result(metric).map(|result| result.value).filter(|value| !value.is_nan())
    }

    /// The value of a metric for one query by its id; `None` also if the query was skipped.
    pub fn get_query(&self, metric: &str, query: &str) -> Option<f64> {
        let index = self.queries.iter().position(|id| id == query)?;
        self.result(metric)?.values.get(index).copied().flatten()
    }

    /// The result of a metric by its name, for any spacing of the name and order of its parameters.
    pub fn result(&self, metric: &str) -> Option<&MeasureResult> {
        let named = |name: &str| self.results.iter().find(|r| r.measure.to_string() == name);
        named(metric).or_else(|| named(&MetricSpec::parse(metric).ok()?.to_string()))
    }

    /// Each query with its value under a metric; `None` if the metric was not measured.
    pub fn per_query(&self, metric: &str) -> Option<impl Iterator<Item = (&str, Option<f64>)>> {
        let result = self.result(metric)?;
        Some(self.queries.iter().map(String::as_str).zip(result.values.iter().copied()))
    }
}

/// Result of one measure.
#[derive(Debug, Clone, Serialize)]
pub struct MeasureResult {
    /// The measure.
    #[serde(rename = "metric")]
    pub measure: Measure,
    /// Every convention of the number: those of the measure, and those of this evaluation (`depth`,
    /// `weights=query` if queries have different weights).
    pub convention: String,
    /// Whether a query has a weight other than 1, so that the total is weighted.
    #[serde(skip)]
    pub weighted: bool,
    /// One value for each query, in query order; `None` if the query was skipped.
    #[serde(skip)]
    pub values: Vec<Option<f64>>,
    /// The total: for most measures the mean over the counted queries. NaN when none was counted.
    pub value: f64,
    /// Number of queries that count.
    pub queries: usize,
    /// 95% interval (Student's t) of the mean over queries, for means and geometric means of at
    /// least two queries.
    pub ci95: Option<(f64, f64)>,
}

/// Evaluates every measure on every query.
///
/// See [`ScoredQueries`](crate::ScoredQueries) for an example.
pub fn evaluate(
    source: &dyn QuerySource,
    measures: &[Measure],
    options: EvalOptions,
) -> Result<Evaluation, EvalError> {
    check_params(&options, "evaluation")?;
    let width = measures.len().max(1);
    let mut cells = vec![QueryValue::default(); source.len() * width];
    let plan = EvaluationPlan {
        source,
        measures,
        orders: group_by_order(measures, options),
        depth: options.depth,
    };
    let first_error = cells
        .par_chunks_mut(width)
        .enumerate()
        .map_init(
            || (Candidates::new(), ListBuffers::default()),
            |(candidates, buffers), (q, cells)| {
                let done = plan.query(q, candidates, buffers, cells);
                done.err().map(|e| (q, e.in_query(source.id(q))))
            },
        )
        .flatten()
        .min_by_key(|(q, _)| *q);
    if let Some((_, error)) = first_error {
        return Err(error);
    }
    let weights: Vec<f64> = (0..source.len()).map(|q| source.weight(q)).collect();
    let results = measures.iter().enumerate().map(|(m, measure)| {
        let column: Vec<QueryValue> = cells.iter().skip(m).step_by(width).copied().collect();
        let mut result = summarise(measure, &column, &weights);
        if let Some(depth) = options.depth {
            result.convention.push_str(&format!(", depth={depth}"));
        }
        result
    });
    let results = results.collect();
    Ok(Evaluation {
        queries: (0..source.len()).map(|q| source.id(q).to_owned()).collect(),
        results,
    })
}

/// The value of one measure for one query, and the number of its rows.
#[derive(Debug, Clone, Copy, Default)]
struct QueryValue {
    value: Option<f64>,
    rows: f64,
}

/// Measures grouped by the order that they need. Those that no tie policy can change join any
/// group, unless a depth cuts the list: then the order decides which documents they see.
fn group_by_order(measures: &[Measure], options: EvalOptions) -> Vec<Vec<usize>> {
    let fits = |a: &Measure, b: &Measure| {
        let (x, y) = (a.conventions(), b.conventions());
        let free = options.depth.is_none() && (a.is_order_free() || b.is_order_free());
        x.unjudged == y.unjudged && (free || x.order() == y.order())
    };
    // Measures that need an order come first, so that the first member of a group decides it.
    let mut ordered_first: Vec<usize> = (0..measures.len()).collect();
    ordered_first.sort_by_key(|&m| measures[m].is_order_free());
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for m in ordered_first {
        match groups.iter_mut().find(|g| fits(&measures[g[0]], &measures[m])) {
            Some(group) => group.push(m),
            None => groups.push(vec![m]),
        }
    }
    groups
}

/// Everything that the threads share.
struct EvaluationPlan<'s> {
    source: &'s dyn QuerySource,
    measures: &'s [Measure],
    orders: Vec<Vec<usize>>,
    depth: Option<usize>,
}

impl<'s> EvaluationPlan<'s> {
    fn query(
        &self,
        q: usize,
        candidates: &mut Candidates<'s>,
        buffers: &mut ListBuffers,
        cells: &mut [QueryValue],
    ) -> Result<(), EvalError> {
        candidates.clear();
        self.source.load(q, candidates)?;
        buffers.start(candidates)?;
        for group in &self.orders {
            let conventions = self.measures[group[0]].conventions();
            let list = buffers.rank_for(candidates, conventions, self.depth)?;
            for &m in group {
                let measure = &self.measures[m];
                cells[m] = QueryValue {
                    value: measure.evaluate(&list)?,
                    rows: measure.metric().rows(&list),
                };
            }
        }
        Ok(())
    }
}

fn summarise(measure: &Measure, cells: &[QueryValue], weights: &[f64]) -> MeasureResult {
    let counted =
        || cells.iter().zip(weights).filter_map(|(c, &w)| c.value.map(|v| (v, w, c.rows)));
    let mean_of = |f: &dyn Fn(f64) -> f64, by_rows: bool| {
        let (mut sum, mut total) = (0.0, 0.0);
        for (value, weight, rows) in counted() {
            let weight = if by_rows { weight * rows } else { weight };
            sum += weight * f(value);
            total += weight;
        }
        sum / total
    };
    let (value, ci95) = match measure.aggregate() {
        Aggregate::Mean => {
            let mean = mean_of(&|v| v, false);
            (mean, interval(counted().map(|(v, w, _)| (v, w)), mean))
        }
        Aggregate::Sum => (counted().map(|(v, _, _)| v).sum(), None),
        Aggregate::GeometricMean { floor } => {
            let log = |v: f64| v.max(floor).ln();
            let mean = mean_of(&log, false);
            let ci = interval(counted().map(|(v, w, _)| (log(v), w)), mean);
            (mean.exp(), ci.map(|(low, high)| (low.exp(), high.exp())))
        }
        Aggregate::RowMean => (mean_of(&|v| v, true), None),
        Aggregate::RowRootMeanSquare => (mean_of(&|v| v * v, true).sqrt(), None),
    };
    let values: Vec<Option<f64>> = cells.iter().map(|c| c.value).collect();
    let queries = values.iter().flatten().count();
    let mut convention = measure.convention().to_owned();
    let weighted = weights.iter().any(|weight| *weight != 1.0);
    if weighted {
        convention.push_str(", weights=query");
    }
    MeasureResult { measure: measure.clone(), convention, weighted, values, value, queries, ci95 }
}

/// Student's t interval of a weighted mean; unequal weights shrink the number of queries to
/// (sum w)^2 / sum w^2, which for equal weights is the plain count.
fn interval(values: impl Iterator<Item = (f64, f64)>, mean: f64) -> Option<(f64, f64)> {
    let (mut total, mut squares, mut spread) = (0.0, 0.0, 0.0);
    for (value, weight) in values {
        total += weight;
        squares += weight * weight;
        spread += weight * (value - mean) * (value - mean);
    }
    let n = total * total / squares;
    if n.is_nan() || n < 2.0 - 1e-9 {
        return None;
    }
    let t = t_critical(0.95, n - 1.0)?;
    let half = t * (spread / total / (n - 1.0)).sqrt();
    Some((mean - half, mean + half))
}

/// Each measure with its conventions; those that agree share a line.
pub fn conventions(results: &[MeasureResult]) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for MeasureResult { measure, convention, .. } in results {
        match groups.iter_mut().find(|(text, _)| text == convention) {
            Some((_, names)) => names.push(measure.to_string()),
            None => groups.push((convention, vec![measure.to_string()])),
        }
    }
    groups.into_iter().map(|(text, names)| format!("{}: {text}", names.join(", "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{ScoredQueries, SourceKind};

    fn measures(specs: &[&str]) -> Vec<Measure> {
        specs
            .iter()
            .map(|s| MetricSpec::parse(s).unwrap().resolve(SourceKind::Features).unwrap())
            .collect()
    }

    #[test]
    fn skipped_queries_leave_the_mean_and_intervals_are_students() {
        let labels = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0];
        let scores = [2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0];
        let ranges = vec![0..2, 2..4, 4..6, 6..8];
        let source =
            ScoredQueries::new(&labels, &scores, ranges, vec!["a", "b", "c", "d"]).unwrap();
        let result =
            evaluate(&source, &measures(&["rr", "num_q"]), EvalOptions::default()).unwrap();
        let rr = &result.results[0];
        assert_eq!(rr.values, [Some(1.0), Some(0.5), None, Some(1.0)]);
        assert_eq!((rr.value, rr.queries), (2.5 / 3.0, 3));
        // mean 0.8333, standard error 0.16667, t(2, 0.975) = 4.30265
        let (low, high) = rr.ci95.unwrap();
        assert!((low - 0.116_225).abs() < 1e-5 && (high - 1.550_442).abs() < 1e-5, "{low} {high}");
        assert_eq!(result.results[1].value, 4.0);
        assert_eq!(result.queries, ["a", "b", "c", "d"]);
    }

    #[test]
    fn results_are_found_by_name_and_queries_by_id() {
        let (labels, scores) = ([1.0, 0.0, 0.0, 1.0, 0.0], [2.0, 1.0, 2.0, 1.0, 3.0]);
        let ranges = vec![0..2, 2..4, 4..5];
        let source = ScoredQueries::new(&labels, &scores, ranges, vec!["a", "b", "c"]).unwrap();
        let specs = measures(&["rr", "ap(rel=1, blank=skip)@5", "p(rel=2)@1"]);
        let found = evaluate(&source, &specs, EvalOptions::default()).unwrap();
        assert_eq!(found.get("rr"), Some(0.75));
        assert_eq!(found.get("ap(blank=skip,rel=1) @ 5"), Some(0.75));
        assert_eq!((found.get("ap"), found.get("p(rel=2)@1")), (None, None));
        assert_eq!(found.get_query("rr", "b"), Some(0.5));
        assert_eq!((found.get_query("rr", "c"), found.get_query("rr", "z")), (None, None));
        let all: Vec<_> = found.per_query("rr").unwrap().collect();
        assert_eq!(all, [("a", Some(1.0)), ("b", Some(0.5)), ("c", None)]);
    }

    #[test]
    fn an_evaluation_serialises_to_what_other_programs_rely_on() {
        let source = ScoredQueries::new(&[1.0], &[2.0], vec![0..1, 1..1], vec!["a", "b"]).unwrap();
        let specs = measures(&["rr", "auc"]);
        let options = EvalOptions::default().depth(3);
        let found = evaluate(&source, &specs, options).unwrap();
        let convention = &found.results[0].convention;
        assert!(convention.ends_with(", depth=3"), "{convention}");
        assert_eq!(
            serde_json::to_value(&found).unwrap(),
            serde_json::json!({ "metrics": [
                {"metric": "rr", "convention": convention, "value": 1.0, "queries": 1, "ci95": null},
                {
                    "metric": "auc",
                    "convention": found.results[1].convention,
                    "value": null,
                    "queries": 0,
                    "ci95": null,
                },
            ]})
        );
        let wrong = evaluate(&source, &specs, EvalOptions::default().depth(0)).unwrap_err();
        assert!(wrong.to_string().contains("depth=0 is not allowed"), "{wrong}");
    }

    #[test]
    fn weights_move_the_mean() {
        let (labels, scores) = ([1.0, 0.0, 0.0, 1.0], [2.0, 1.0, 2.0, 1.0]);
        let source =
            ScoredQueries::new(&labels, &scores, vec![0..2, 2..4], vec!["a", "b"]).unwrap();
        let source = source.with_weights(&[3.0, 1.0]).unwrap();
        let result = evaluate(&source, &measures(&["rr"]), EvalOptions::default()).unwrap();
        assert_eq!(result.results[0].value, 0.875);
        assert!(result.results[0].convention.ends_with("weights=query"));
        assert!(result.results[0].weighted);
        let equal = source.with_weights(&[1.0, 1.0]).unwrap();
        let result = evaluate(&equal, &measures(&["rr"]), EvalOptions::default()).unwrap();
        assert!(!result.results[0].weighted);
    }

    #[test]
    fn the_first_bad_query_is_named_whatever_the_threads() {
        let labels = [1.0; 400];
        let mut scores = [0.5; 400];
        scores[203] = f64::NAN;
        scores[311] = f64::NAN;
        let ids: Vec<String> = (0..100).map(|q| format!("q{q}")).collect();
        let ranges = (0..100).map(|q| q * 4..q * 4 + 4).collect();
        let ids = ids.iter().map(String::as_str).collect();
        let source = ScoredQueries::new(&labels, &scores, ranges, ids).unwrap();
        let error = evaluate(&source, &measures(&["rr"]), EvalOptions::default()).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("query q50: the score of row 3 (from 0, within the query) is NaN"),
            "{error}"
        );
    }

    #[test]
    fn no_queries_and_no_measures_are_fine() {
        let source = ScoredQueries::new(&[], &[], vec![], vec![]).unwrap();
        let result = evaluate(&source, &measures(&["ndcg@10"]), EvalOptions::default()).unwrap();
        assert!(result.results[0].value.is_nan());
        assert_eq!((result.results[0].queries, result.results[0].ci95), (0, None));
        let source =
            ScoredQueries::new(&[1.0; 2], &[1.0; 2], vec![0..1, 1..2], vec!["a", "b"]).unwrap();
        assert!(evaluate(&source, &[], EvalOptions::default()).unwrap().results.is_empty());
    }
}
