//! The relation of each feature to relevance: its correlation with the labels, and its quality as
//! the only feature of a ranker.
//!
//! Correlation is the mean over queries of Kendall's tau-b between feature and label (the metric
//! `kendall`: exact, O(n log n) per query, ties of both sides taken into account). Documents
//! without a value are left out of it. A query with equal labels has no tau and is skipped; a
//! feature that is constant within a query has 0 there.
//!
//! As a ranker a feature is tried in both directions, larger values first and smaller values first;
//! the better direction counts. Documents without a value are last in both, and ties follow the
//! metric's policy. The default policy is `worst` (less relevant documents first), so that a
//! constant feature does not profit from the order of the documents in the data.

use rankwright_data::{Dataset, DatasetSummary};
use rankwright_eval::compare::Better;
use rankwright_eval::table::{Align, Cell, Table};
use rankwright_eval::{
    EvalOptions, Measure, MeasureResult, MetricSpec, ScoredDataset, ScoredQueries, SourceKind,
    evaluate,
};
use rankwright_spec::words::counted;
use rayon::prelude::*;

use super::{DataReport, column, fixed, signed};
use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping, SeriesColour};
use crate::error::ReportError;
use crate::metric_axis::metric_axis;
use crate::page::{PageBlock, Section};

/// Maximum number of rows of a table.
const TABLE_ROWS: usize = 150;

/// The relation of one feature to relevance.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Relation {
    /// Mean tau-b over queries; NaN if no query has one.
    pub(super) tau: f64,
    /// 95 % confidence interval of the mean tau-b.
    pub(super) tau_ci95: Option<(f64, f64)>,
    /// Number of queries that have a tau-b.
    pub(super) tau_queries: usize,
    /// The metric of the ranker with larger values first.
    pub(super) descending: f64,
    /// The metric of the ranker with smaller values first.
    pub(super) ascending: f64,
}

impl Relation {
    /// The metric of the better ranker, and whether that one has larger values first.
    pub(super) fn best(&self, better: Better) -> (f64, bool) {
        let ascending_is_better = match better {
            Better::Higher => self.ascending > self.descending,
            Better::Lower => self.ascending < self.descending,
        };
        if ascending_is_better { (self.ascending, false) } else { (self.descending, true) }
    }
}

/// The relations of all features, in column order.
pub(super) fn all(
    data: &Dataset,
    summary: &DatasetSummary,
    ranker: &Measure,
) -> Result<Vec<Relation>, ReportError> {
    let tau = MetricSpec::parse("kendall")?.resolve(SourceKind::Features)?;
    let has_missing = |c: usize| summary.features.get(c).is_some_and(|feature| feature.missing > 0);
    let columns: Vec<usize> = (0..data.columns()).collect();
    let found: Vec<Result<Relation, ReportError>> =
        columns.par_iter().map(|&c| relation(data, c, has_missing(c), ranker, &tau)).collect();
    // Collected in column order, so that of several errors the first one is reported.
    found.into_iter().collect()
}

/// The relation of the feature in column `c`.
fn relation(
    data: &Dataset,
    c: usize,
    has_missing: bool,
    ranker: &Measure,
    tau: &Measure,
) -> Result<Relation, ReportError> {
    let scores = |sign: f64| -> Vec<f64> {
        let score = |value: f32| match value.is_nan() {
            true => f64::NEG_INFINITY,
            false => sign * f64::from(value),
        };
        column(data, c).map(score).collect()
    };
    let measure = |scores: &[f64], measures: &[Measure]| {
        evaluate(&ScoredDataset::new(data, scores)?, measures, EvalOptions::default())
    };
    let larger_first = measure(&scores(1.0), &[ranker.clone(), tau.clone()])?;
    let smaller_first = measure(&scores(-1.0), std::slice::from_ref(ranker))?;
    let value = |results: &[MeasureResult]| results.first().map_or(f64::NAN, |r| r.value);
    let (descending, ascending) = (value(&larger_first.results), value(&smaller_first.results));
    let tau_result = match has_missing {
        true => Some(tau_without_missing(data, c, tau)?),
        false => larger_first.results.into_iter().nth(1),
    };
    let (tau, tau_ci95, tau_queries) =
        tau_result.map_or((f64::NAN, None, 0), |r| (r.value, r.ci95, r.queries));
    Ok(Relation { tau, tau_ci95, tau_queries, descending, ascending })
}

/// The correlation over the documents that have a value.
fn tau_without_missing(
    data: &Dataset,
    c: usize,
    tau: &Measure,
) -> Result<MeasureResult, ReportError> {
    let values: Vec<f32> = column(data, c).collect();
    let (mut scores, mut labels) = (Vec::new(), Vec::new());
    let (mut ranges, mut ids) = (Vec::new(), Vec::new());
    for query in data.iter_queries() {
        let start = scores.len();
        for (value, label) in values.get(query.rows.clone()).unwrap_or(&[]).iter().zip(query.labels)
        {
            if !value.is_nan() {
                scores.push(f64::from(*value));
                labels.push(*label);
            }
        }
        ranges.push(start..scores.len());
        ids.push(query.id);
    }
    let weights = data.query_weights().map(|w| w.iter().map(|w| f64::from(*w)).collect::<Vec<_>>());
    let mut source = ScoredQueries::new(&labels, &scores, ranges, ids)?;
    if let Some(weights) = &weights {
        source = source.with_weights(weights)?;
    }
    let found = evaluate(&source, std::slice::from_ref(tau), EvalOptions::default())?;
    let first = found.results.into_iter().next();
    first.ok_or(ReportError::Internal { invariant: "one metric has one result" })
}

/// Columns by the absolute value of tau, the largest first; those without a tau last, in column
/// order.
pub(super) fn order(relations: &[Relation]) -> Vec<usize> {
    let size = |c: &usize| relations.get(*c).map_or(f64::NAN, |r| r.tau.abs());
    // Below every absolute value.
    let size = |c: &usize| Some(size(c)).filter(|s| !s.is_nan()).unwrap_or(-1.0);
    let mut order: Vec<usize> = (0..relations.len()).collect();
    order.sort_by(|a, b| size(b).total_cmp(&size(a)));
    order
}

/// Columns by their single-feature ranker, the best first; those without a value last.
pub(super) fn by_ranker(report: &DataReport) -> Vec<usize> {
    let better = report.ranker.metric().better();
    let sign = if better == Better::Higher { 1.0 } else { -1.0 };
    let value = |c: &usize| {
        let value = report.relations.get(*c).map_or(f64::NAN, |r| sign * r.best(better).0);
        if value.is_nan() { f64::NEG_INFINITY } else { value }
    };
    let mut order: Vec<usize> = (0..report.relations.len()).collect();
    order.sort_by(|a, b| value(b).total_cmp(&value(a)));
    order
}

/// Horizontal bars, one for each of the columns; `value` gives the length of a bar and its
/// interval.
fn bars(
    report: &DataReport,
    columns: &[usize],
    name: &str,
    value: impl Fn(&Relation) -> (f64, Option<(f64, f64)>),
) -> Body {
    let relations = || columns.iter().filter_map(|c| report.relations.get(*c));
    let gap = (f64::NAN, f64::NAN);
    let band: Vec<(f64, f64)> = relations().map(|r| value(r).1.unwrap_or(gap)).collect();
    let has_band = band.iter().any(|(low, _)| !low.is_nan());
    Body::Bars(Bars {
        categories: columns.iter().map(|c| report.name(*c).to_owned()).collect(),
        series: vec![BarSeries {
            name: name.to_owned(),
            values: relations().map(|r| value(r).0).collect(),
            band: if has_band { band } else { Vec::new() },
            colour: SeriesColour::Signed,
        }],
        grouping: Grouping::Beside,
        horizontal: true,
    })
}

/// The section on correlation with relevance: a chart of the strongest features and a table of at
/// most 150.
pub(super) fn section(report: &DataReport) -> Section {
    let shown = report.order.get(..report.options.top).unwrap_or(&report.order);
    let chart = Chart {
        id: "tau".to_owned(),
        title: "Correlation of features with relevance".to_owned(),
        caption: "The mean over queries of Kendall's tau-b between feature and label, with its \
                  95% interval. Below 0, relevant documents have smaller values. Documents \
                  without a value are left out."
            .to_owned(),
        x: Axis { label: "Feature".to_owned(), ..Axis::default() },
        y: Axis { label: "Mean tau-b".to_owned(), limits: Some((-1.0, 1.0)), ..Axis::default() },
        body: bars(report, shown, "mean tau-b", |r| (r.tau, r.tau_ci95)),
    };
    let columns = ["mean tau-b", "95% interval", "queries", "missing", "zeros"];
    let columns = columns.map(|name| (name, Align::Right));
    let mut table = Table::new([("feature", Align::Left)].into_iter().chain(columns));
    let rows = report.summary.rows.max(1) as f64;
    let share = |count: usize| format!("{:.1} %", 100.0 * count as f64 / rows);
    for &c in report.order.iter().take(TABLE_ROWS) {
        let (Some(r), Some(f)) = (report.relations.get(c), report.summary.features.get(c)) else {
            continue;
        };
        let interval =
            r.tau_ci95.map(|(low, high)| format!("{} to {}", fixed(Some(low)), fixed(Some(high))));
        let cells = [
            f.name.clone(),
            signed(Some(r.tau)),
            interval.unwrap_or_else(|| "-".to_owned()),
            r.tau_queries.to_string(),
            share(f.missing),
            share(f.zeros),
        ];
        table.rows.push(cells.into_iter().map(Cell::new).collect());
    }
    table.notes.extend(omission_note(report));
    let title = "Correlation of every feature, the strongest first".to_owned();
    let table = PageBlock::Table { id: "tau-table".to_owned(), title, table };
    let title = "Features and relevance".to_owned();
    Section { id: "relevance".to_owned(), title, blocks: vec![PageBlock::Chart(chart), table] }
}

/// The note about features that a table has no room for.
fn omission_note(report: &DataReport) -> Option<String> {
    let more = report.relations.len().checked_sub(TABLE_ROWS).filter(|more| *more > 0)?;
    Some(format!("{} not shown; the JSON document has all features", counted(more, "more feature")))
}

/// The section on single-feature rankers: a chart of the best and a table of at most 150.
pub(super) fn rankers(report: &DataReport) -> Section {
    let order = by_ranker(report);
    let better = report.ranker.metric().better();
    let metric = report.ranker.to_string();
    let shown = order.get(..report.options.top).unwrap_or(&order);
    let chart = Chart {
        id: "rankers-chart".to_owned(),
        title: format!("{metric} of each feature alone"),
        caption:
            "Documents ranked by one feature, in the better of the two directions: a baseline \
                  for every model. Documents without a value are ranked last."
                .to_owned(),
        x: Axis { label: "Feature".to_owned(), ..Axis::default() },
        y: metric_axis(&metric),
        body: bars(report, shown, &metric, |r| (r.best(better).0, None)),
    };
    let mut table = Table::new([
        ("feature".to_owned(), Align::Left),
        (metric, Align::Right),
        ("ranked first".to_owned(), Align::Left),
        ("larger first".to_owned(), Align::Right),
        ("smaller first".to_owned(), Align::Right),
    ]);
    for (rank, &c) in order.iter().enumerate().take(TABLE_ROWS) {
        let Some(r) = report.relations.get(c) else { continue };
        let (value, larger_first) = r.best(better);
        let best = Cell { best: rank == 0 && !value.is_nan(), ..Cell::new(fixed(Some(value))) };
        let ranked_first = if larger_first { "larger values" } else { "smaller values" };
        let numbers = [r.descending, r.ascending].map(|v| Cell::new(fixed(Some(v))));
        let cells = [Cell::new(report.name(c)), best, Cell::new(ranked_first)];
        table.rows.push(cells.into_iter().chain(numbers).collect());
    }
    table.notes.push(report.convention());
    table.notes.extend(omission_note(report));
    let title = "Every feature as a ranker, the best first".to_owned();
    let table = PageBlock::Table { id: "rankers-table".to_owned(), title, table };
    let title = "Single features as rankers".to_owned();
    Section { id: "rankers".to_owned(), title, blocks: vec![PageBlock::Chart(chart), table] }
}
