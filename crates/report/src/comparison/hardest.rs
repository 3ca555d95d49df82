//! The hardest queries, and those with the largest difference between systems, under the main
//! metric.
//!
//! Hardest: the worst mean over the systems that have a value for the query. Most different: the
//! largest difference between the best and the worst system. Queries with equal values stay in
//! their order. Cost O(queries x systems). Edge cases: queries without any value are left out; with
//! one system no query has a difference.

use rankwright_eval::SourceKind;
use rankwright_eval::table::{Align, Cell, Table};

use super::{ComparisonReport, direction, fixed};
use crate::page::{PageBlock, Section};

/// Number of queries shown.
pub(super) const SHOWN: usize = 15;

/// A query with its value under each system.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QueryRow {
    /// Index of the query.
    pub(super) query: usize,
    /// The value of each system.
    pub(super) values: Vec<Option<f64>>,
    /// Mean over the systems that have a value.
    pub(super) mean: f64,
    /// Largest value minus smallest value.
    pub(super) span: f64,
}

/// All queries with a value, in their order.
fn rows(report: &ComparisonReport) -> Vec<QueryRow> {
    let row = |query: usize| {
        let values: Vec<Option<f64>> =
            (0..report.systems.len()).map(|s| report.value(s, query)).collect();
        let known: Vec<f64> = values.iter().copied().flatten().collect();
        let low = known.iter().copied().reduce(f64::min)?;
        let high = known.iter().copied().reduce(f64::max)?;
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        Some(QueryRow { query, values, mean, span: high - low })
    };
    (0..report.queries().len()).filter_map(row).collect()
}

/// The queries with the worst mean, the worst first.
pub(super) fn hardest(report: &ComparisonReport) -> Vec<QueryRow> {
    // Without a metric no query has a value.
    let Some(metric) = report.comparison.metrics.get(report.main) else { return Vec::new() };
    let sign = direction(metric.better);
    let mut rows = rows(report);
    rows.sort_by(|a, b| (sign * a.mean).total_cmp(&(sign * b.mean)).then(a.query.cmp(&b.query)));
    rows.truncate(SHOWN);
    rows
}

/// The queries on which the systems differ most; those without a difference are left out.
pub(super) fn most_different(report: &ComparisonReport) -> Vec<QueryRow> {
    let mut rows = rows(report);
    rows.retain(|row| row.span > 0.0);
    rows.sort_by(|a, b| b.span.total_cmp(&a.span).then(a.query.cmp(&b.query)));
    rows.truncate(SHOWN);
    rows
}

/// The section: two tables.
pub(super) fn section(report: &ComparisonReport) -> Option<Section> {
    let hardest = hardest(report);
    if hardest.is_empty() {
        return None;
    }
    let metric = report.main_metric();
    let mut blocks = vec![PageBlock::Table {
        id: "hardest-queries".to_owned(),
        title: format!("The worst mean of {metric} over the systems"),
        table: table(report, &hardest, ("mean", |row| row.mean)),
    }];
    let different = most_different(report);
    if !different.is_empty() {
        blocks.push(PageBlock::Table {
            id: "most-different-queries".to_owned(),
            title: format!("The largest differences in {metric} between systems"),
            table: table(report, &different, ("difference", |row| row.span)),
        });
    }
    Some(Section { id: "hardest".to_owned(), title: "Hardest queries".to_owned(), blocks })
}

/// A row for each query with its size and values; the last column has this name and these numbers.
fn table(
    report: &ComparisonReport,
    rows: &[QueryRow],
    (last_name, last_number): (&str, fn(&QueryRow) -> f64),
) -> Table {
    let details = report.details.as_ref();
    let mut columns = vec![("query", Align::Left)];
    match details.map(|details| details.kind) {
        Some(SourceKind::Features) => columns.push(("documents", Align::Right)),
        Some(SourceKind::Run) => columns.push(("judged", Align::Right)),
        None => {}
    }
    if details.is_some() {
        columns.push(("relevant", Align::Right));
    }
    columns.extend(report.systems.iter().map(|(name, _)| (name.as_str(), Align::Right)));
    columns.push((last_name, Align::Right));
    let mut table = Table::new(columns);
    for row in rows {
        let size = details.map(|details| details.query_sizes[row.query]);
        let sizes = size.map(|s| [s.documents, s.relevant].map(|n| Cell::new(n.to_string())));
        let values = row.values.iter().map(|value| Cell::new(fixed(*value)));
        let mut cells = vec![Cell::new(report.query_id(row.query))];
        cells.extend(sizes.into_iter().flatten());
        cells.extend(values);
        cells.push(Cell::new(fixed(Some(last_number(row)))));
        table.rows.push(cells);
    }
    if details.is_some() {
        table.notes.push("relevant: judged documents with a label of 1 or more".to_owned());
    }
    table
}
