//! Evaluates a set of queries: in parallel over queries, results in query order.
//!
//! Each query is loaded once, and ranked once for each different order that the measures need (by
//! tie policy, score width and treatment of unjudged documents). Means are sums in query order, so
//! the number of threads cannot change a result; of several errors the one of the first query is
//! returned. Cost: O(n) for each query of n documents and each measure, plus a sort if the
//! documents are not sorted.

use rankwright_spec::{check_params, params};
use rayon::prelude::*;
use serde::Serialize;

use crate::convention::Conventions;
use crate::error::EvalError;
use crate::list::{Candidates, ListBuffers, RankedList};
use crate::metric::{Aggregate, Measure, MetricSpec};
use crate::order::TiePolicy;
use crate::source::QuerySource;
use crate::stats::{Interval, IntervalMethod, t_critical};

params! {
    /// Options of an evaluation.
    #[derive(Copy)]
    pub struct EvalOptions {
        depth: Option<usize> = None, 1..,
            "Number of documents that count, the best of each list; the cut comes before ties are \
             averaged.";
        tie_effect: bool = false, ..,
            "Whether to measure the effect of ties too: the total if equal scores were in the worst \
             and in the best order.";
    }
}

/// Results of all measures over all queries.
///
/// It serialises to the totals: `{"metrics": [{"metric": "ndcg@10", "convention": "...",
/// "value": 0.5, "queries": 10, "ci95": [0.4, 0.6]}]}`. [`PerQueryTable`](crate::PerQueryTable) has
/// the values of the queries.
#[derive(Debug, Clone, Serialize)]
pub struct Evaluation {
    /// Ids of the queries, in query order.
    #[serde(skip)]
    pub queries: Vec<String>,
    /// One result for each measure, in the requested order.
    #[serde(rename = "metrics")]
    pub results: Vec<MeasureResult>,
}

impl Evaluation {
    /// The total of a metric by its name; `None` if it was not measured, or if no query counted and
    /// the total is no sum.
    pub fn get(&self, metric: &str) -> Option<f64> {
        self.result(metric).map(|result| result.value).filter(|value| !value.is_nan())
    }

    /// The value of a metric for the query with this id; `None` if there is no such metric or
    /// query, or the query was skipped.
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
    /// Every convention of the number (how ties, unjudged documents and so on are treated): those
    /// of the measure, and those of this evaluation (`depth`, `weights=query` if queries have
    /// different weights).
    pub convention: String,
    /// Whether a query has a weight other than 1, so that the total is weighted; never for a sum.
    #[serde(skip)]
    pub weighted: bool,
    /// One value for each query, in query order; `None` if the query was skipped.
    #[serde(skip)]
    pub values: Vec<Option<f64>>,
    /// The total: for most measures the mean over the counted queries. If none was counted, a sum
    /// is 0 and any other total NaN.
    pub value: f64,
    /// Number of queries that count.
    pub queries: usize,
    /// 95% interval of the mean over queries, for means and geometric means of at least two
    /// queries. It stays within the range of the metric.
    pub ci95: Option<(f64, f64)>,
    /// The method of the interval: Student's t (`t`), or where that would leave the range of the
    /// metric, Student's t on the logit or logarithmic scale (`logit`, `log`).
    #[serde(rename = "ci95_method", skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalMethod>,
    /// The effect of ties, if it was measured and there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ties: Option<TieEffect>,
}

/// The effect of the order of equal scores on a metric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TieEffect {
    /// Number of queries whose value depends on the order of equal scores.
    pub queries: usize,
    /// The lower total of the two extreme orders, lower labels first and higher labels first.
    pub low: f64,
    /// The higher one.
    pub high: f64,
}

impl TieEffect {
    /// The effect on this many queries, with the totals of the two extreme orders.
    pub fn new(queries: usize, one: f64, other: f64) -> Self {
        Self { queries, low: one.min(other), high: one.max(other) }
    }

    /// Whether ties decide the number: they change it by more than 1 % of its highest value.
    pub fn is_large(&self) -> bool {
        self.high - self.low > 0.01 * self.high.abs().max(self.low.abs())
    }
}

/// Evaluates every measure on every query.
///
/// See [`ScoredQueries`](crate::ScoredQueries) for an example.
pub fn evaluate(
    source: &dyn QuerySource,
    measures: &[Measure],
    options: EvalOptions,
) -> Result<Evaluation, EvalError> {
    evaluate_queries(source, measures, &|_| measures, options)
}

/// Evaluates each query by measures of its own, which differ from `measures` in their thresholds
/// alone.
pub(crate) fn evaluate_queries<'s>(
    source: &'s dyn QuerySource,
    measures: &'s [Measure],
    measures_of: &'s (dyn Fn(usize) -> &'s [Measure] + Sync),
    options: EvalOptions,
) -> Result<Evaluation, EvalError> {
    check_params(&options, "evaluation")?;
    if !source.is_labelled()
        && let Some(measure) = measures.iter().find(|measure| measure.metric().needs_labels())
    {
        return Err(EvalError::NoLabels { metric: measure.to_string() });
    }
    // `cells` has a row for each query and a column for each measure.
    let columns = measures.len().max(1);
    let mut cells = vec![QueryValue::default(); source.len() * columns];
    let plan = EvaluationPlan {
        source,
        measures_of,
        groups: group_by_order(measures, options),
        depth: options.depth,
        tie_effect: options.tie_effect,
    };
    let first_error = cells
        .par_chunks_mut(columns)
        .enumerate()
        .map_init(
            || (Candidates::new(), ListBuffers::default()),
            |(candidates, buffers), (q, cells)| {
                let done = plan.evaluate_query(q, candidates, buffers, cells);
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
        let column: Vec<QueryValue> = cells.iter().skip(m).step_by(columns).copied().collect();
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

/// The value of one measure for one query.
#[derive(Debug, Clone, Copy, Default)]
struct QueryValue {
    /// `None` if the query is skipped.
    value: Option<f64>,
    /// The values with equal scores in the worst and in the best order, if these were computed.
    extremes: Option<[Option<f64>; 2]>,
    /// The weight of the query in a mean over rows: its number of rows.
    rows: f64,
}

/// The indices of measures, grouped by the order that they need. Measures whose values do not
/// depend on the order of equal scores join any group, unless a depth cuts the lists: then the
/// order decides which documents they see.
fn group_by_order(measures: &[Measure], options: EvalOptions) -> Vec<Vec<usize>> {
    let fits = |a: &Measure, b: &Measure| {
        let (x, y) = (a.conventions(), b.conventions());
        let any_order = options.depth.is_none() && (a.is_order_free() || b.is_order_free());
        x.unjudged == y.unjudged && (any_order || x.order() == y.order())
    };
    // Measures that depend on the order come first, so that the first one of a group decides its
    // order.
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

/// The input of an evaluation, which all threads share.
struct EvaluationPlan<'s> {
    source: &'s dyn QuerySource,
    /// The measures of a query.
    measures_of: &'s (dyn Fn(usize) -> &'s [Measure] + Sync),
    /// The indices of measures, grouped by the order that they need.
    groups: Vec<Vec<usize>>,
    depth: Option<usize>,
    tie_effect: bool,
}

impl<'s> EvaluationPlan<'s> {
    /// Evaluates all measures on query `q`; `cells` has an entry for each measure.
    fn evaluate_query(
        &self,
        q: usize,
        candidates: &mut Candidates<'s>,
        buffers: &mut ListBuffers,
        cells: &mut [QueryValue],
    ) -> Result<(), EvalError> {
        candidates.clear();
        self.source.load(q, candidates)?;
        buffers.start(candidates)?;
        let measures = (self.measures_of)(q);
        for group in &self.groups {
            let conventions = measures[group[0]].conventions();
            let list = buffers.rank_for(candidates, conventions, self.depth)?;
            for &m in group {
                let measure = &measures[m];
                cells[m] = QueryValue {
                    value: measure.evaluate(&list)?,
                    extremes: None,
                    rows: measure.metric().rows(&list),
                };
            }
            // A cut list does not show ties with documents below the cut.
            if self.tie_effect && (self.depth.is_some() || has_ties(&list, conventions)) {
                self.evaluate_extremes((measures, group), candidates, buffers, cells)?;
            }
        }
        Ok(())
    }

    /// Evaluates the measures of a group with equal scores in the worst and in the best order,
    /// except for those that do not depend on the order.
    fn evaluate_extremes(
        &self,
        (measures, group): (&[Measure], &[usize]),
        candidates: &Candidates<'s>,
        buffers: &mut ListBuffers,
        cells: &mut [QueryValue],
    ) -> Result<(), EvalError> {
        // A depth cuts the lists, so that the order decides which documents any measure sees.
        let depends = |m: &&usize| self.depth.is_some() || !measures[**m].is_order_free();
        let group: Vec<usize> = group.iter().filter(depends).copied().collect();
        let Some(&first) = group.first() else { return Ok(()) };
        for (index, ties) in [TiePolicy::Worst, TiePolicy::Best].into_iter().enumerate() {
            let conventions = Conventions { ties, ..*measures[first].conventions() };
            let list = buffers.rank_for(candidates, &conventions, self.depth)?;
            for &m in &group {
                let value = measures[m].evaluate(&list)?;
                cells[m].extremes.get_or_insert([None; 2])[index] = value;
            }
        }
        Ok(())
    }
}

/// Whether two documents with equal scores have different labels.
fn has_ties(list: &RankedList<'_>, conventions: &Conventions) -> bool {
    let rounded = |score: f64| match conventions.order().scores32 {
        true => f64::from(score as f32),
        false => score,
    };
    let (scores, labels) = (list.scores().windows(2), list.labels().windows(2));
    scores.zip(labels).any(|(s, l)| rounded(s[0]) == rounded(s[1]) && l[0] != l[1])
}

/// The result of a measure, given the values of all queries and their weights.
fn summarise(measure: &Measure, cells: &[QueryValue], weights: &[f64]) -> MeasureResult {
    let (value, interval) = total(measure, cells, weights);
    let values: Vec<Option<f64>> = cells.iter().map(|c| c.value).collect();
    let queries = values.iter().flatten().count();
    let mut convention = measure.convention().to_owned();
    let weighted =
        measure.aggregate() != Aggregate::Sum && weights.iter().any(|weight| *weight != 1.0);
    if weighted {
        convention.push_str(", weights=query");
    }
    MeasureResult {
        measure: measure.clone(),
        convention,
        weighted,
        values,
        value,
        queries,
        ci95: interval.map(|interval| (interval.low, interval.high)),
        interval: interval.map(|interval| interval.method),
        ties: tie_effect(measure, cells, weights),
    }
}

/// The effect of ties on a total; `None` if no query depends on them.
fn tie_effect(measure: &Measure, cells: &[QueryValue], weights: &[f64]) -> Option<TieEffect> {
    let differ = |cell: &&QueryValue| cell.extremes.is_some_and(|[worst, best]| worst != best);
    let queries = cells.iter().filter(differ).count();
    if queries == 0 {
        return None;
    }
    let [worst, best] = [0, 1].map(|index| {
        let at_extreme = |cell: &QueryValue| QueryValue {
            value: cell.extremes.map_or(cell.value, |values| values[index]),
            ..*cell
        };
        total(measure, &cells.iter().map(at_extreme).collect::<Vec<_>>(), weights).0
    });
    Some(TieEffect::new(queries, worst, best))
}

/// The total of a measure over queries, with its interval.
fn total(measure: &Measure, cells: &[QueryValue], weights: &[f64]) -> (f64, Option<Interval>) {
    let counted =
        || cells.iter().zip(weights).filter_map(|(c, &w)| c.value.map(|v| (v, w, c.rows)));
    // The weight of a query in a mean over queries, and in a mean over rows.
    let of_query = |weight: f64, _rows: f64| weight;
    let of_rows = |weight: f64, rows: f64| weight * rows;
    let mean_of = |term: &dyn Fn(f64) -> f64, weight_of: &dyn Fn(f64, f64) -> f64| {
        let (mut sum, mut total) = (0.0, 0.0);
        for (value, weight, rows) in counted() {
            let weight = weight_of(weight, rows);
            sum += weight * term(value);
            total += weight;
        }
        sum / total
    };
    let range = measure.metric().range();
    match measure.aggregate() {
        Aggregate::Mean => {
            let mean = mean_of(&|v| v, &of_query);
            let half = half_width(counted().map(|(v, w, _)| (v, w)), mean);
            (mean, half.map(|half| Interval::within(mean, half, range)))
        }
        // The sum of no values is -0; adding 0 makes it 0.
        Aggregate::Sum => (counted().map(|(v, _, _)| v).sum::<f64>() + 0.0, None),
        Aggregate::GeometricMean { floor } => {
            let log = |v: f64| v.max(floor).ln();
            let mean = mean_of(&log, &of_query);
            let half = half_width(counted().map(|(v, w, _)| (log(v), w)), mean);
            let of_logs = half.map(|half| {
                let (low, high) = ((mean - half).exp(), (mean + half).exp());
                match high <= range.1 {
                    true => Interval { low, high, method: IntervalMethod::T },
                    // A small error h of the logarithm is an error of h times the value.
                    false => Interval::within(mean.exp(), half * mean.exp(), range),
                }
            });
            (mean.exp(), of_logs)
        }
        Aggregate::RowMean => (mean_of(&|v| v, &of_rows), None),
        Aggregate::RowRootMeanSquare => (mean_of(&|v| v * v, &of_rows).sqrt(), None),
    }
}

/// Half the width of Student's t interval of a weighted mean of (value, weight) pairs; `None` below
/// two queries. Unequal weights shrink the number of queries to Kish's effective sample size
/// (sum w)^2 / sum w^2, which for equal weights is the number of queries.
fn half_width(values: impl Iterator<Item = (f64, f64)>, mean: f64) -> Option<f64> {
    let (mut total, mut squared_weights, mut squared_deviations) = (0.0, 0.0, 0.0);
    for (value, weight) in values {
        total += weight;
        squared_weights += weight * weight;
        squared_deviations += weight * (value - mean) * (value - mean);
    }
    let n = total * total / squared_weights;
    // 1e-9 allows for rounding in the sums.
    if n.is_nan() || n < 2.0 - 1e-9 {
        return None;
    }
    let t = t_critical(0.95, n - 1.0)?;
    Some(t * (squared_deviations / total / (n - 1.0)).sqrt())
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
    fn a_sum_has_no_weights_and_the_sum_of_nothing_is_0() {
        let labels = [1.0, 0.0, 0.0, 1.0];
        let scores = [2.0, 1.0, 2.0, 1.0];
        let source = ScoredQueries::new(&labels, &scores, vec![0..2, 2..4], vec!["a", "b"]);
        let source = source.unwrap().with_weights(&[2.0, 1.0]).unwrap();
        let measures = measures(&["num_q", "rr"]);
        let found = evaluate(&source, &measures, EvalOptions::default()).unwrap();
        let [sum, mean] = &found.results[..] else { panic!("two measures") };
        assert!(!sum.weighted && !sum.convention.contains("weights"), "{}", sum.convention);
        assert!(mean.weighted && mean.convention.ends_with("weights=query"));
        let none = ScoredQueries::new(&[], &[], Vec::new(), Vec::new()).unwrap();
        let value = evaluate(&none, &measures, EvalOptions::default()).unwrap().results[0].value;
        assert!(value == 0.0 && value.is_sign_positive(), "{value}");
    }

    #[test]
    fn skipped_queries_are_left_out_of_the_mean_and_intervals_are_students() {
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
        // mean 0.8333, standard error 0.16667, t(2, 0.975) = 4.30265: Student's interval would be
        // 0.1162 to 1.5504, which leaves 0 to 1, so that the interval is computed on the logit
        // scale, 1.6094 -+ 0.7171 / (0.8333 * 0.1667), and mapped back.
        let (low, high) = rr.ci95.unwrap();
        assert_eq!(rr.interval, Some(IntervalMethod::Logit));
        assert!((low - 0.027_821).abs() < 1e-5 && (high - 0.998_857).abs() < 1e-5, "{low} {high}");
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
    fn the_json_of_an_evaluation_stays_the_same() {
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
    fn the_effect_of_ties_is_measured_where_it_is_requested() {
        // The first query is tied, the second is not; the third is tied with equal labels.
        let labels = [0.0, 1.0, 1.0, 0.0, 1.0, 1.0];
        let scores = [1.0, 1.0, 2.0, 1.0, 3.0, 3.0];
        let ids = vec!["a", "b", "c"];
        let source = ScoredQueries::new(&labels, &scores, vec![0..2, 2..4, 4..6], ids).unwrap();
        let specs = measures(&["rr", "rr(ties=mean)", "auc", "inversions"]);
        let without_ties = evaluate(&source, &specs, EvalOptions::default()).unwrap();
        assert!(without_ties.results.iter().all(|result| result.ties.is_none()));
        let found = evaluate(&source, &specs, EvalOptions::default().tie_effect(true)).unwrap();
        let values = |e: &Evaluation| e.results.iter().map(|r| r.value).collect::<Vec<_>>();
        assert_eq!(values(&without_ties), values(&found));
        let expected = Some(TieEffect { queries: 1, low: 2.5 / 3.0, high: 1.0 });
        assert_eq!([found.results[0].ties, found.results[1].ties], [expected; 2]);
        assert_eq!(found.results[2].ties, None, "the area does not depend on the order of ties");
        let wrong = found.results[3].ties.unwrap();
        assert_eq!((wrong.queries, wrong.low, wrong.high), (1, 0.0, 1.0 / 3.0));
        assert!(wrong.is_large());
        assert!(!TieEffect { queries: 1, low: 0.7, high: 0.705 }.is_large());
    }

    #[test]
    fn intervals_of_every_metric_stay_within_its_range() {
        // Many perfect queries and a bad one, which pushes Student's interval beyond 1.
        let labels: Vec<f64> = (0..20).map(|row| f64::from(row % 2)).collect();
        let mut scores = labels.clone();
        scores[0] = 2.0;
        let ranges = (0..10).map(|q| 2 * q..2 * q + 2).collect();
        let ids = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].to_vec();
        let source = ScoredQueries::new(&labels, &scores, ranges, ids).unwrap();
        for def in crate::metric::METRICS {
            let found =
                evaluate(&source, &measures(&[def.example]), EvalOptions::default()).unwrap();
            let result = &found.results[0];
            let (low, high) = result.measure.metric().range();
            for value in result.values.iter().flatten() {
                assert!((low..=high).contains(value), "{}: {value}", def.name);
            }
            if let Some((from, to)) = result.ci95 {
                assert!(low <= from && to <= high, "{}: {from} to {to}", def.name);
            }
        }
    }

    #[test]
    fn the_mean_is_weighted_by_query() {
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
    fn the_error_names_the_first_bad_query_for_any_number_of_threads() {
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
    fn an_evaluation_may_have_no_queries_or_no_measures() {
        let source = ScoredQueries::new(&[], &[], vec![], vec![]).unwrap();
        let result = evaluate(&source, &measures(&["ndcg@10"]), EvalOptions::default()).unwrap();
        assert!(result.results[0].value.is_nan());
        assert_eq!((result.results[0].queries, result.results[0].ci95), (0, None));
        let source =
            ScoredQueries::new(&[1.0; 2], &[1.0; 2], vec![0..1, 1..2], vec!["a", "b"]).unwrap();
        assert!(evaluate(&source, &[], EvalOptions::default()).unwrap().results.is_empty());
    }
}
