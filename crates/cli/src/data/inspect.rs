//! `data inspect`: the content of a data set, and warnings before training on it.

use std::path::PathBuf;

use rankwright::eval::table::{Align, Cell, Table};
use rankwright::spec::words::counted;
use rankwright::tasks::{
    ColumnRole, InspectRequest, InspectResult, LabelCount, Warning, inspect_data,
};

use crate::failure::Failure;
use crate::input::ReadArgs;
use crate::output::Output;
use crate::progress::run_task;

/// Count and describe a data set.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Data files; several are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Show every feature, not only the unusual ones
    #[arg(long)]
    features: bool,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let request = InspectRequest::new(args.read.files(&args.data)?);
    let result = run_task(out, |context| inspect_data(&request, context))?;
    out.show(&result, |result| text(result, args.features))
}

/// The tables and warnings; `all_features` shows every feature, not only the unusual ones.
fn text(result: &InspectResult, all_features: bool) -> String {
    let mut counts = Table::new([("quantity", Align::Left), ("value", Align::Right)]);
    let mut line = |what: &str, count: String| {
        counts.rows.push(vec![what.into(), Cell::new(count)]);
    };
    line("queries", result.queries.to_string());
    line("documents", result.rows.to_string());
    line("features", result.features.to_string());
    let sizes = &result.query_sizes;
    line("documents per query, minimum", sizes.min.to_string());
    line("documents per query, median", sizes.median.to_string());
    line("documents per query, mean", format!("{:.1}", sizes.mean));
    line("documents per query, maximum", sizes.max.to_string());
    line("queries without a label of 1 or more", result.blank_queries.to_string());
    line("queries whose labels are all equal", result.equal_label_queries.to_string());
    if let Some(pairs) = result.pairs {
        line("preference pairs", pairs.to_string());
    }
    line("format", result.format.to_owned());
    line("absent features are", result.absent.to_owned());
    let mut parts = vec![counts.to_text(), labels(result).to_text()];
    if !result.columns.is_empty() {
        parts.push(columns(result, all_features).to_text());
    }
    let features = features(result, all_features);
    if !features.rows.is_empty() {
        parts.push(features.to_text());
    }
    // Warnings of the reader are on standard error.
    let about_content = result.warnings.iter().filter(|w| matches!(w, Warning::Content(_)));
    let warnings: String = about_content.map(|w| format!("warning: {w}\n")).collect();
    if !warnings.is_empty() {
        parts.push(warnings);
    }
    parts.join("\n")
}

/// Labels with a bar each; only the twenty most frequent if there are many.
fn labels(result: &InspectResult) -> Table {
    let columns = [("label", Align::Right), ("documents", Align::Right), ("share", Align::Right)];
    let mut table = Table::new(columns.into_iter().chain([("", Align::Left)]));
    let mut shown = result.labels.clone();
    if shown.len() > 20 {
        shown.sort_by_key(|one| std::cmp::Reverse(one.rows));
        shown.truncate(20);
        shown.sort_by(|a, b| a.label.total_cmp(&b.label));
        table.notes.push(format!(
            "{} different labels; the 20 most frequent are shown",
            result.labels.len()
        ));
    }
    if shown.is_empty() && result.rows > 0 {
        table.notes.push("the data has no labels".to_owned());
    }
    for LabelCount { label, rows, .. } in shown {
        let share = rows as f64 / result.rows.max(1) as f64;
        table.rows.push(vec![
            Cell::new(label.to_string()),
            Cell::new(rows.to_string()),
            Cell::new(format!("{:.1} %", 100.0 * share)),
            Cell::new("#".repeat((40.0 * share).round() as usize)),
        ]);
    }
    table
}

/// The columns of a table with their roles; `all_features` includes the features that are numbers.
fn columns(result: &InspectResult, all_features: bool) -> Table {
    let header = [("column", Align::Left), ("role", Align::Left), ("values", Align::Left)];
    let mut table = Table::new(header);
    let is_number = |column: &ColumnRole| column.values == Some("number");
    for column in result.columns.iter().filter(|column| all_features || !is_number(column)) {
        let values = match (column.values, column.categories) {
            (_, Some(count)) => counted(count, "category"),
            (Some("time"), _) => format!("time: {}", column.parts.join(", ")),
            (values, _) => values.unwrap_or_default().to_owned(),
        };
        table.rows.push(vec![
            Cell::new(column.name.as_str()),
            column.role.into(),
            Cell::new(values),
        ]);
    }
    let numbers = result.columns.iter().filter(|column| is_number(column)).count();
    if !all_features && numbers > 0 {
        let note = match table.rows.is_empty() {
            true => format!("{} of numbers, all features", counted(numbers, "column")),
            false => format!("and {} of numbers, features", counted(numbers, "column")),
        };
        table.notes.push(note);
    }
    table
}

/// Maximum number of unusual features that are shown.
const MAX_UNUSUAL_FEATURES: usize = 1000;

/// The unusual features, or all features, with statistics and remarks.
fn features(result: &InspectResult, all_features: bool) -> Table {
    let names = ["min", "mean", "max", "zeros", "missing"].map(|name| (name, Align::Right));
    let columns = [("feature", Align::Left)].into_iter().chain(names);
    let mut table = Table::new(columns.chain([("remark", Align::Left)]));
    for f in &result.feature_summaries {
        let mut remarks = Vec::new();
        if f.constant {
            remarks.push("constant".to_owned());
        }
        if let Some(other) = &f.same_as {
            remarks.push(format!("same as {other}"));
        }
        if f.infinite > 0 {
            remarks.push(format!("{} infinite", f.infinite));
        }
        if remarks.is_empty() && f.missing == 0 && !all_features {
            continue;
        }
        let all_rows = result.rows.max(1) as f64;
        let share = |count: usize| format!("{:.1} %", 100.0 * count as f64 / all_rows);
        if table.rows.len() == MAX_UNUSUAL_FEATURES && !all_features {
            let more = "only the first of them are shown; --features shows every feature";
            table.notes.push(more.to_owned());
            break;
        }
        table.rows.push(vec![
            Cell::new(f.name.as_str()),
            Cell::new(f.min.to_string()),
            Cell::new(format!("{:.4}", f.mean)),
            Cell::new(f.max.to_string()),
            Cell::new(share(f.zeros)),
            Cell::new(share(f.missing)),
            Cell::new(remarks.join(", ")),
        ]);
    }
    let hidden = result.feature_summaries.len() - table.rows.len();
    if !all_features && hidden > 0 && (1..MAX_UNUSUAL_FEATURES).contains(&table.rows.len()) {
        let more = counted(hidden, "more feature");
        table.notes.push(format!("and {more}, nothing unusual; --features shows every feature"));
    }
    table
}
