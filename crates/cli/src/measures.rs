//! Metrics as arguments, and evaluations as tables.

use std::path::{Path, PathBuf};

use rankwright::eval::table::{Align, Cell, Table};
use rankwright::eval::{Evaluation, MeasureResult, MetricSpec, footnotes, parse_metrics};
use rankwright::tasks::{TaskInputs, write_per_query};

use crate::failure::Failure;
use crate::output::{Output, TableStyle};

/// Metrics to compute.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct MetricArgs {
    /// A metric such as `ndcg@10` or `ap(preset=trec)`; may be repeated, and takes lists
    /// separated by commas. `trec_eval` stands for trec_eval's official set. See `list metrics`
    #[arg(long = "metric", short, value_name = "SPEC")]
    pub(crate) metrics: Vec<String>,
    /// Count only the best N documents of each query
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: Option<u32>,
}

/// Output options of the numbers.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReportArgs {
    /// Write the value of each query, with a header: separated by commas if FILE ends in .csv,
    /// otherwise by tabs
    #[arg(long, value_name = "FILE")]
    pub(crate) per_query: Option<PathBuf>,
    /// Style of the table
    #[arg(long, value_enum, default_value_t)]
    pub(crate) table: TableStyle,
}

impl ReportArgs {
    /// Rejects a file of values that must not be written to; `others` are further output files.
    pub(crate) fn check<'a>(
        &'a self,
        others: impl IntoIterator<Item = &'a Path>,
        request: &impl TaskInputs,
        out: &Output,
    ) -> Result<(), Failure> {
        if let Some(path) = &self.per_query {
            out.check_not_stdout(path)?;
        }
        Ok(request.check_outputs(others.into_iter().chain(self.per_query.as_deref()))?)
    }

    /// Writes the values of each query of these systems, if requested.
    pub(crate) fn write(
        &self,
        systems: &[(&str, &Evaluation)],
        request: &impl TaskInputs,
    ) -> Result<(), Failure> {
        match &self.per_query {
            Some(path) => Ok(write_per_query(path, systems, request)?),
            None => Ok(()),
        }
    }
}

impl MetricArgs {
    /// The metrics requested; empty for the default ones.
    pub(crate) fn specs(&self) -> Result<Vec<MetricSpec>, Failure> {
        specs(&self.metrics)
    }

    pub(crate) fn depth(&self) -> Option<usize> {
        self.depth.map(|n| n as usize)
    }
}

/// Metrics from arguments, each of which may be a list.
pub(crate) fn specs(texts: &[String]) -> Result<Vec<MetricSpec>, Failure> {
    let lists = texts.iter().map(|text| parse_metrics(text)).collect::<Result<Vec<_>, _>>()?;
    Ok(lists.into_iter().flatten().collect())
}

/// A table of metric, value, interval and queries; below it the conventions of the metrics: how
/// ties, unjudged documents and so on are treated.
pub(crate) fn table(evaluation: &Evaluation) -> Table {
    let mut table = Table::new([
        ("metric", Align::Left),
        ("value", Align::Right),
        ("95% interval", Align::Right),
        ("queries", Align::Right),
    ]);
    for result in &evaluation.results {
        let interval = match result.ci95 {
            Some((low, high)) => format!("{low:.4} to {high:.4}"),
            None => String::new(),
        };
        table.rows.push(vec![
            Cell::new(result.measure.to_string()),
            Cell::new(value_text(result)),
            Cell::new(interval),
            Cell::new(result.queries.to_string()),
        ]);
    }
    table.notes = footnotes(&evaluation.results);
    table
}

fn value_text(result: &MeasureResult) -> String {
    match result.value {
        v if v.is_nan() => "no query".into(),
        // A count.
        v if v == v.trunc() && v.abs() >= 2.0 => format!("{v}"),
        v => format!("{v:.4}"),
    }
}
