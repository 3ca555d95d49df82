//! Metrics as arguments, and evaluations as tables and JSON.

use std::path::{Path, PathBuf};

use rankwright::data::store::write_atomic;
use rankwright::eval::table::{Align, Cell, Table};
use rankwright::eval::{
    EvalOptions, Evaluation, Measure, MeasureResult, QuerySource, SourceKind, conventions,
    evaluate, expand,
};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{TableStyle, number};

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

/// What becomes of the numbers.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReportArgs {
    /// Write the value of each query: tab-separated, with a header
    #[arg(long, value_name = "FILE")]
    pub(crate) per_query: Option<PathBuf>,
    /// How the table is drawn
    #[arg(long, value_enum, default_value_t)]
    pub(crate) table: TableStyle,
}

impl MetricArgs {
    /// The measures asked for, or the usual ones.
    pub(crate) fn measures(&self, kind: SourceKind) -> Result<Vec<Measure>, Failure> {
        let usual = match kind {
            SourceKind::Features => "ndcg@1, ndcg@5, ndcg@10, ap, rr, p@10",
            SourceKind::Run => "ndcg@10, ap, rr, p@10, recall@100, judged@10",
        };
        let mut measures = Vec::new();
        for text in if self.metrics.is_empty() { vec![usual] } else { self.texts() } {
            for spec in expand(text)? {
                measures.push(spec.resolve(kind)?);
            }
        }
        Ok(measures)
    }

    fn texts(&self) -> Vec<&str> {
        self.metrics.iter().map(String::as_str).collect()
    }

    /// Evaluates a source.
    pub(crate) fn evaluate(
        &self,
        source: &dyn QuerySource,
        measures: &[Measure],
    ) -> Result<Evaluation, Failure> {
        Ok(evaluate(source, measures, EvalOptions { depth: self.depth.map(|n| n as usize) })?)
    }
}

/// Metric, value, interval, queries; conventions below.
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
    table.notes = conventions(&evaluation.results);
    table
}

fn value_text(result: &MeasureResult) -> String {
    match result.value {
        v if v.is_nan() => "no query".into(),
        v if v == v.trunc() && v.abs() >= 2.0 => format!("{v}"),
        v => format!("{v:.4}"),
    }
}

/// The metrics of an evaluation, in the shape that other programs rely on.
pub(crate) fn json_of(evaluation: &Evaluation) -> Value {
    let metric = |result: &MeasureResult| {
        json!({
            "metric": result.measure.to_string(),
            "convention": result.convention,
            "value": number(result.value),
            "queries": result.queries,
            "ci95": result.ci95.map(|(low, high)| [number(low), number(high)]),
        })
    };
    evaluation.results.iter().map(metric).collect()
}

/// Writes per-query values as a table: metric, query, and a column for each system.
pub(crate) fn write_per_query(path: &Path, systems: &[(&str, &Evaluation)]) -> Result<(), Failure> {
    write_atomic(path, |out| {
        let names: Vec<&str> = match systems {
            [_] => vec!["value"],
            _ => systems.iter().map(|(name, _)| *name).collect(),
        };
        writeln!(out, "metric\tquery\t{}", names.join("\t"))?;
        let Some((_, first)) = systems.first() else { return Ok(()) };
        for (m, result) in first.results.iter().enumerate() {
            for (q, query) in first.queries.iter().enumerate() {
                let values: Vec<Option<f64>> = systems
                    .iter()
                    .map(|(_, e)| e.results.get(m)?.values.get(q).copied().flatten())
                    .collect();
                if values.iter().all(Option::is_none) {
                    continue;
                }
                let shown = values.iter().map(|v| v.map_or(String::new(), |v| format!("{v:.10}")));
                let shown: Vec<String> = shown.collect();
                writeln!(out, "{}\t{query}\t{}", result.measure, shown.join("\t"))?;
            }
        }
        Ok(())
    })?;
    Ok(())
}
