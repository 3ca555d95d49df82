//! `data inspect`: what is in a data set, and what to know before training on it.

use std::path::PathBuf;

use rankwright::data::{Dataset, FeatureSummary, Summary};
use rankwright::eval::table::{Align, Cell, Table};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::input::ReadArgs;
use crate::output::{Output, number};
use crate::progress::timed;

/// Count and describe a data set.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Data files; several are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Show every feature, not only the odd ones
    #[arg(long)]
    features: bool,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let (loaded, load) = args.read.read(&args.data, out)?;
    let (summary, look) = timed(out, "looking", || Summary::of(&loaded.data));
    let format = loaded.format.info().name;
    out.result(
        || {
            let notes: Vec<String> = loaded.warnings.iter().map(|note| note.to_string()).collect();
            let mut document = json_of(&summary, &loaded.data);
            document["format"] = json!(format);
            document["notes"] = json!(notes);
            document["seconds"] = json!({"load": load, "inspect": look});
            document
        },
        || text(&summary, &loaded.data, format, args.features),
    )
}

fn json_of(s: &Summary, data: &Dataset) -> Value {
    let labels: Vec<Value> =
        s.labels.iter().map(|(label, rows)| json!({"label": label, "rows": rows})).collect();
    let feature = |f: &FeatureSummary| {
        json!({
            "name": f.name, "missing": f.missing, "zeros": f.zeros, "infinite": f.infinite,
            "min": number(f64::from(f.min)), "max": number(f64::from(f.max)),
            "mean": number(f.mean), "constant": f.is_constant(s.rows), "same_as": f.same_as,
        })
    };
    json!({
        "rows": s.rows,
        "queries": s.queries,
        "features": s.features.len(),
        "labels": labels,
        "query_sizes": {
            "min": s.sizes.min, "median": s.sizes.median, "mean": s.sizes.mean,
            "p95": s.sizes.p95, "max": s.sizes.max,
        },
        "blank_queries": s.blank_queries,
        "level_queries": s.level_queries,
        "single_queries": s.single_queries,
        "repeated_documents": s.repeated_documents,
        "sorted_by_label": s.sorted_by_label,
        "absent": data.absent().name(),
        "pairs": data.pairs().map(<[_]>::len),
        "warnings": s.warnings(),
        "feature_summaries": s.features.iter().map(feature).collect::<Vec<_>>(),
    })
}

fn text(s: &Summary, data: &Dataset, format: &str, all: bool) -> String {
    let mut counts = Table::new([("what", Align::Left), ("count", Align::Right)]);
    let mut line = |what: &str, count: String| {
        counts.rows.push(vec![what.into(), Cell::new(count)]);
    };
    line("queries", s.queries.to_string());
    line("documents", s.rows.to_string());
    line("features", s.features.len().to_string());
    let z = &s.sizes;
    line("documents a query, fewest", z.min.to_string());
    line("documents a query, median", z.median.to_string());
    line("documents a query, mean", format!("{:.1}", z.mean));
    line("documents a query, most", z.max.to_string());
    line("queries without a label of 1 or more", s.blank_queries.to_string());
    line("queries with equal labels", s.level_queries.to_string());
    if let Some(pairs) = data.pairs() {
        line("preference pairs", pairs.len().to_string());
    }
    line("format", format.to_owned());
    line("absent features are", data.absent().name().to_owned());
    let mut parts = vec![counts.to_text(), labels(s).to_text()];
    let odd = features(s, all);
    if !odd.rows.is_empty() {
        parts.push(odd.to_text());
    }
    let warnings: String = s.warnings().iter().map(|w| format!("warning: {w}\n")).collect();
    if !warnings.is_empty() {
        parts.push(warnings);
    }
    parts.join("\n")
}

/// Labels with a bar each; the commonest twenty if there are many.
fn labels(s: &Summary) -> Table {
    let columns = [("label", Align::Right), ("documents", Align::Right), ("share", Align::Right)];
    let mut table = Table::new(columns.into_iter().chain([("", Align::Left)]));
    let mut shown: Vec<(f64, usize)> = s.labels.clone();
    if shown.len() > 20 {
        shown.sort_by_key(|(_, rows)| std::cmp::Reverse(*rows));
        shown.truncate(20);
        shown.sort_by(|a, b| a.0.total_cmp(&b.0));
        table
            .notes
            .push(format!("{} different labels; the commonest 20 are shown", s.labels.len()));
    }
    for (label, rows) in shown {
        let share = rows as f64 / s.rows.max(1) as f64;
        table.rows.push(vec![
            Cell::new(label.to_string()),
            Cell::new(rows.to_string()),
            Cell::new(format!("{:.1} %", 100.0 * share)),
            Cell::new("#".repeat((40.0 * share).round() as usize)),
        ]);
    }
    table
}

fn features(s: &Summary, all: bool) -> Table {
    let names = ["min", "mean", "max", "zeros", "missing"].map(|name| (name, Align::Right));
    let columns = [("feature", Align::Left)].into_iter().chain(names);
    let mut table = Table::new(columns.chain([("remark", Align::Left)]));
    for f in &s.features {
        let mut remarks = Vec::new();
        if f.is_constant(s.rows) {
            remarks.push("constant".to_owned());
        }
        if let Some(other) = &f.same_as {
            remarks.push(format!("same as {other}"));
        }
        if f.infinite > 0 {
            remarks.push(format!("{} infinite", f.infinite));
        }
        if remarks.is_empty() && f.missing == 0 && !all {
            continue;
        }
        let share = |count: usize| format!("{:.1} %", 100.0 * count as f64 / s.rows.max(1) as f64);
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
    table
}
