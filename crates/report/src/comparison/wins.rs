//! Queries won and lost against the baseline, under the main metric.
//!
//! The difference of a query is the system's value minus the baseline's, negated where lower values
//! are better, so that a difference above 0 is always a win. Differences as small as rounding
//! errors count as 0. Queries are sorted by their difference, the largest win first; with more than
//! 300 queries neighbouring ones share a bar, whose height is their mean. Edge cases: without a
//! common query the list is empty.

use rankwright_eval::Evaluation;
use rankwright_eval::compare::{CompareError, Comparison};
use rankwright_eval::stats::{Paired, Wins};
use rankwright_eval::table::{Align, Cell, Table};
use rankwright_spec::words::counted;

use super::{ComparisonReport, direction, fixed};
use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping};
use crate::error::ReportError;
use crate::metric_axis::metric_limits;
use crate::page::{ChoiceControl, PageBlock, Section};

/// Maximum number of queries for which each query has its own bar.
const BARS: usize = 300;
/// Maximum number of bars where several queries share a bar.
const BINS: usize = 100;

/// Differences of one system to the baseline.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Differences {
    /// Index of the system.
    pub(super) system: usize,
    /// Number of queries won, tied and lost.
    pub(super) counts: Wins,
    /// Index and difference of each query, the largest win first.
    pub(super) sorted: Vec<(usize, f64)>,
}

/// Differences of every system but the baseline under the metric with this index.
pub(super) fn differences(
    comparison: &Comparison,
    systems: &[(String, Evaluation)],
    metric: usize,
) -> Result<Vec<Differences>, ReportError> {
    let values = |system: usize| systems[system].1.results[metric].values.as_slice();
    // There may be no metric at all.
    let Some(metric) = comparison.metrics.get(metric) else { return Ok(Vec::new()) };
    let sign = direction(metric.better);
    let of_system = |(system, result): (usize, &rankwright_eval::compare::SystemResult)| {
        let counts = result.vs_baseline.as_ref()?.counts;
        let sorted = sorted_differences(values(system), values(comparison.baseline), sign);
        Some(sorted.map(|sorted| Differences { system, counts, sorted }))
    };
    metric.systems.iter().enumerate().filter_map(of_system).collect()
}

/// Index and difference of each query that has a value under both, the largest win first; `sign` is
/// -1 if lower values are better.
fn sorted_differences(
    system: &[Option<f64>],
    baseline: &[Option<f64>],
    sign: f64,
) -> Result<Vec<(usize, f64)>, ReportError> {
    let common = system.iter().zip(baseline).enumerate();
    let common = common.filter_map(|(q, (s, b))| Some((q, ((*s)?, (*b)?))));
    let (queries, (system, baseline)): (Vec<usize>, (Vec<f64>, Vec<f64>)) = common.unzip();
    let pairs = Paired::new(&system, &baseline).map_err(CompareError::from)?;
    let differences = pairs.differences().iter().map(|d| sign * d);
    let mut sorted: Vec<(usize, f64)> = queries.into_iter().zip(differences).collect();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(sorted)
}

/// The section: counts for every metric, and a chart for each system.
pub(super) fn section(report: &ComparisonReport) -> Option<Section> {
    let groups: Vec<(String, Vec<PageBlock>)> = report
        .differences
        .iter()
        .enumerate()
        .map(|(i, d)| {
            (report.name(d.system).to_owned(), vec![PageBlock::Chart(chart(report, i + 1, d))])
        })
        .collect();
    if groups.is_empty() {
        return None;
    }
    let counts = PageBlock::Table {
        id: "win-counts".to_owned(),
        title: format!("Queries won, tied and lost against {}", report.baseline_name()),
        table: counts_table(report),
    };
    let charts = PageBlock::Choice {
        id: "wins-by-system".to_owned(),
        label: "System".to_owned(),
        groups,
        control: ChoiceControl::List,
    };
    let title = "Queries won and lost".to_owned();
    Some(Section { id: "wins".to_owned(), title, blocks: vec![counts, charts] })
}

/// Queries won, tied and lost, with a row for each metric and system.
fn counts_table(report: &ComparisonReport) -> Table {
    let columns = [("metric", Align::Left), ("system", Align::Left)];
    let numbers = ["won", "tied", "lost"].map(|name| (name, Align::Right));
    let mut table = Table::new(columns.into_iter().chain(numbers));
    for metric in &report.comparison.metrics {
        for (name, result) in report.comparison.systems.iter().zip(&metric.systems) {
            let Some(vs_baseline) = &result.vs_baseline else { continue };
            let Wins { wins, ties, losses } = vs_baseline.counts;
            let counts = [wins, ties, losses].map(|count| Cell::new(count.to_string()));
            let names = [metric.label.as_str(), name.as_str()].map(Cell::new);
            table.rows.push(names.into_iter().chain(counts).collect());
        }
    }
    table
}

/// Name and height of each bar: the query's id and its difference, or `1 to 11` and the mean of
/// these queries.
fn bars(report: &ComparisonReport, sorted: &[(usize, f64)]) -> Vec<(String, f64)> {
    if sorted.len() <= BARS {
        let bar = |(query, d): &(usize, f64)| (report.query_id(*query).to_owned(), *d);
        return sorted.iter().map(bar).collect();
    }
    let size = sorted.len().div_ceil(BINS);
    let mut first = 1;
    let bin = |queries: &[(usize, f64)]| {
        let last = first + queries.len() - 1;
        let name = format!("{first} to {last}");
        first = last + 1;
        (name, mean(queries))
    };
    sorted.chunks(size).map(bin).collect()
}

/// The mean difference.
fn mean(queries: &[(usize, f64)]) -> f64 {
    queries.iter().map(|(_, d)| d).sum::<f64>() / queries.len().max(1) as f64
}

/// The bars of one system; `number` makes the id unique.
fn chart(report: &ComparisonReport, number: usize, differences: &Differences) -> Chart {
    let (system, baseline) = (report.name(differences.system), report.baseline_name());
    let bars = bars(report, &differences.sorted);
    let Wins { wins, ties, losses } = differences.counts;
    let bars_note = match differences.sorted.len() > BARS {
        true => {
            " Queries are sorted by their difference; each bar is the mean of several \
                 neighbouring queries."
        }
        false => " Each bar is a query.",
    };
    // The differences of one sign; the others are gaps.
    let series = |name: &str, keep: fn(f64) -> bool| BarSeries {
        name: name.to_owned(),
        values: bars.iter().map(|(_, d)| if keep(*d) { *d } else { f64::NAN }).collect(),
        ..BarSeries::default()
    };
    Chart {
        id: format!("wins-{number}"),
        title: format!("{system} against {baseline}, query by query"),
        caption: format!(
            "By {}, {system} is better than {baseline} on {}, equal on {ties} and worse on \
             {losses}.{bars_note} Values above 0 mean that {system} is better.",
            report.main_metric(),
            counted(wins, "query")
        ),
        x: Axis { label: "Queries, the largest win first".to_owned(), ..Axis::default() },
        y: Axis {
            label: format!("Improvement in {}", report.main_metric()),
            // A difference is at most as large as the range of the metric.
            limits: metric_limits(&report.main_metric()).map(|(a, b)| (a - b, b - a)),
            ..Axis::default()
        },
        body: Body::Bars(Bars {
            series: vec![series("better", |d| d >= 0.0), series("worse", |d| d < 0.0)],
            categories: bars.into_iter().map(|(name, _)| name).collect(),
            grouping: Grouping::Stacked,
            horizontal: false,
        }),
    }
}

/// Blocks of one to eight eighths of the height of a line.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The differences for a terminal: two rows of blocks for each system, wins in the first and losses
/// in the second.
pub(super) fn text(report: &ComparisonReport, width: usize) -> String {
    let all = || report.differences.iter().flat_map(|d| &d.sorted);
    let largest = all().fold(0.0, |most: f64, (_, d)| most.max(d.abs()));
    if report.differences.is_empty() {
        return String::new();
    }
    let (metric, baseline) = (report.main_metric(), report.baseline_name());
    let mut out = match largest > 0.0 {
        true => format!(
            "{metric} by query against {baseline}, the largest win first (█ is {}):\n",
            fixed(Some(largest))
        ),
        false => format!("{metric} by query against {baseline}: no difference\n"),
    };
    let longest = report.differences.iter().map(|d| report.name(d.system).chars().count()).max();
    let name_width = longest.unwrap_or(0);
    for differences in &report.differences {
        let Wins { wins, ties, losses } = differences.counts;
        let name = report.name(differences.system);
        let pad = " ".repeat(name_width.saturating_sub(name.chars().count()));
        out += &format!("{name}{pad}  {wins} won, {ties} tied, {losses} lost\n");
        let columns = width.saturating_sub(name_width + 4).clamp(8, 100);
        for (symbol, sign) in [('+', 1.0), ('-', -1.0)] {
            let blocks = blocks(&differences.sorted, columns, sign, largest);
            if !blocks.trim_end().is_empty() {
                out += &format!("{}  {symbol} {}\n", " ".repeat(name_width), blocks.trim_end());
            }
        }
    }
    out
}

/// The differences of one sign as blocks, a column for each query; several queries share a column
/// where there are too many. `largest` is the difference of a full block.
fn blocks(sorted: &[(usize, f64)], columns: usize, sign: f64, largest: f64) -> String {
    let n = sorted.len();
    let columns = columns.min(n);
    let column = |c: usize| {
        let queries = sorted.get(c * n / columns..(c + 1) * n / columns).unwrap_or(&[]);
        let height = sign * mean(queries) / largest;
        match height > 0.0 {
            // Every value above 0 gets a visible block.
            true => BLOCKS.get(((height * 8.0).ceil() as usize).clamp(1, 8) - 1).copied(),
            false => Some(' '),
        }
    };
    (0..columns).filter_map(column).collect()
}
