//! The table of means with significance, the table of all results, and charts of means.
//!
//! Metrics whose means are all between -1 and 1 share a chart. A metric with a larger mean (a
//! count, a DCG) has its own chart, because on a common axis the bars of the others would be too
//! small.

use rankwright_eval::compare::{Mark, MetricComparison, SystemResult};
use rankwright_eval::table::{comparison_details, comparison_table};
use rankwright_eval::tie_notes;

use super::{ComparisonReport, fixed};
use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping};
use crate::metric_axis::metric_limits;
use crate::page::{PageBlock, Section};

/// Maximum number of metrics drawn in one chart.
const METRICS: usize = 10;

/// Facts at the top of the page: systems, baseline and number of queries.
pub(super) fn facts(report: &ComparisonReport) -> Vec<(String, String)> {
    let queries = report.queries().len();
    vec![
        ("Systems".to_owned(), report.comparison.systems.join(", ")),
        ("Baseline".to_owned(), report.baseline_name().to_owned()),
        ("Queries".to_owned(), queries.to_string()),
    ]
}

/// Summary of the results under the main metric, in a sentence.
pub(super) fn summary(report: &ComparisonReport) -> String {
    let Some(metric) = report.comparison.metrics.get(report.main) else {
        return "No metric was requested.".to_owned();
    };
    let baseline = report.baseline_name();
    let sentences: Vec<String> = report
        .comparison
        .systems
        .iter()
        .zip(&metric.systems)
        .filter_map(|(name, result)| sentence(name, result, baseline))
        .collect();
    match sentences.is_empty() {
        true => {
            let mean = metric.systems.first().and_then(|system| system.mean);
            format!("{baseline}: {} {}.", metric.label, fixed(mean))
        }
        false => format!("By {}: {}.", metric.label, sentences.join("; ")),
    }
}

/// The result of a system against the baseline; none for the baseline itself.
fn sentence(name: &str, result: &SystemResult, baseline: &str) -> Option<String> {
    let vs_baseline = result.vs_baseline.as_ref()?;
    match vs_baseline.pairs {
        0 => return Some(format!("{name} and {baseline} have no common query with a value")),
        1 => {
            let difference = super::signed(vs_baseline.difference);
            return Some(format!(
                "{name} differs from {baseline} by {difference} on one query, too few for a test"
            ));
        }
        _ => {}
    }
    let judgement = match vs_baseline.mark {
        Mark::Better => "significantly better than",
        Mark::Worse => "significantly worse than",
        Mark::None => "not significantly different from",
    };
    let difference = super::signed(vs_baseline.difference);
    let p = match vs_baseline.p_corrected {
        p if p < 0.00005 => "p < 0.0001".to_owned(),
        p => format!("p = {p:.4}"),
    };
    Some(format!("{name} is {judgement} {baseline} ({difference}, {p})"))
}

/// The section: tables and chart.
pub(super) fn section(report: &ComparisonReport) -> Section {
    let mut table = comparison_table(&report.comparison);
    table.notes.extend(tie_notes(report.systems().iter().map(|(name, e)| (name.as_str(), e))));
    if report.measures().iter().any(|result| result.weighted) {
        table.notes.push(WEIGHTED.to_owned());
    }
    let mut blocks = vec![PageBlock::Table {
        id: "comparison".to_owned(),
        title: "Means, with significance against the baseline".to_owned(),
        table,
    }];
    blocks.extend(charts(report).into_iter().map(PageBlock::Chart));
    blocks.push(PageBlock::Table {
        id: "comparison-details".to_owned(),
        title: "All results: 95% intervals, differences, p-values, effect sizes, wins and losses"
            .to_owned(),
        table: comparison_details(&report.comparison),
    });
    Section { id: "summary".to_owned(), title: "Comparison of the systems".to_owned(), blocks }
}

/// Note for weighted queries.
pub(super) const WEIGHTED: &str =
    "values are weighted means over queries; differences and tests weight all queries equally";

/// One chart or several charts of means, with the ids `means`, `means-2` and so on.
fn charts(report: &ComparisonReport) -> Vec<Chart> {
    let (small, large): (Vec<_>, Vec<_>) =
        report.comparison.metrics.iter().partition(|metric| is_small(metric));
    let mut groups: Vec<Vec<&MetricComparison>> =
        small.chunks(METRICS).map(<[_]>::to_vec).collect();
    groups.extend(large.into_iter().map(|metric| vec![metric]));
    let suffix = |i: usize| if i == 0 { String::new() } else { format!("-{}", i + 1) };
    let chart = |(i, group): (usize, Vec<&MetricComparison>)| {
        means_chart(report, &group, format!("means{}", suffix(i)))
    };
    groups.into_iter().enumerate().map(chart).collect()
}

/// The lowest and the highest possible value of all of these metrics; none if one is not known.
fn limits(metrics: &[&MetricComparison]) -> Option<(f64, f64)> {
    let mut ranges = metrics.iter().map(|metric| metric_limits(&metric.label));
    let first = ranges.next()??;
    ranges.try_fold(first, |all, range| Some((all.0.min(range?.0), all.1.max(range?.1))))
}

/// Whether all means are between -1 and 1.
fn is_small(metric: &MetricComparison) -> bool {
    metric.systems.iter().filter_map(|system| system.mean).all(|mean| mean.abs() <= 1.0)
}

/// The mean of each system and metric, with its 95% interval.
fn means_chart(report: &ComparisonReport, metrics: &[&MetricComparison], id: String) -> Chart {
    let series = |(s, name): (usize, &String)| {
        let results = || metrics.iter().map(move |metric| metric.systems.get(s));
        let gap = [f64::NAN; 2];
        BarSeries {
            name: name.clone(),
            values: results().map(|r| r.and_then(|r| r.mean).unwrap_or(f64::NAN)).collect(),
            band: results()
                .map(|r| r.and_then(|r| r.ci95).unwrap_or(gap))
                .map(|[low, high]| (low, high))
                .collect(),
            ..BarSeries::default()
        }
    };
    Chart {
        id,
        title: "Means over the queries".to_owned(),
        caption: "The mean of each system, with its 95% interval (Student's t over queries, \
                  within the range of the metric). \
                  Two systems can differ significantly although their intervals overlap, because \
                  the test above compares them query by query."
            .to_owned(),
        x: Axis { label: "Metric".to_owned(), ..Axis::default() },
        y: Axis { label: "Mean".to_owned(), limits: limits(metrics), ..Axis::default() },
        body: Body::Bars(Bars {
            categories: metrics.iter().map(|metric| metric.label.clone()).collect(),
            series: report.comparison.systems.iter().enumerate().map(series).collect(),
            grouping: Grouping::Beside,
            horizontal: false,
        }),
    }
}
