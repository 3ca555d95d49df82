//! `data split`: parts or folds, by query; no query is in two parts.

use std::path::{Path, PathBuf};

use rankwright::data::format::{Format, write};
use rankwright::data::split::{Parts, folds};
use rankwright::data::{DEFAULT_SEED, DataError, Dataset, Warnings};
use rankwright::eval::table::{Align, Cell, Table};
use serde_json::{Value, json};

use super::target_format;
use crate::failure::Failure;
use crate::input::ReadArgs;
use crate::output::Output;

/// Split a data set by query into named parts, or into folds for cross validation.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Data files; several are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Named parts and their shares
    #[arg(long, value_name = "NAME=SHARE,...", default_value = "train=0.6,valid=0.2,test=0.2")]
    parts: String,
    /// Make this many folds instead, each with train, valid and test
    #[arg(long, value_name = "N", conflicts_with = "parts")]
    folds: Option<usize>,
    /// Seed of the shuffle
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// Folder to write into
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Format to write; that of the first input if not given
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let parts = Parts::parse(&args.parts)?;
    let (loaded, _) = args.read.read(&args.data, out)?;
    let data = &loaded.data;
    let format = match &args.to {
        Some(name) => target_format(&args.out, Some(name))?,
        None => loaded.format,
    };
    let (mut written, mut warnings) = (Vec::new(), Warnings::default());
    match args.folds {
        None => {
            for (name, queries) in parts.split(data.queries(), args.seed) {
                written.push(put(data, &queries, &args.out, &name, format, &mut warnings)?);
            }
        }
        Some(count) => {
            for (number, fold) in folds(data.queries(), count, args.seed)?.iter().enumerate() {
                let folder = args.out.join(format!("fold{}", number + 1));
                for (name, queries) in
                    [("train", &fold.train), ("valid", &fold.valid), ("test", &fold.test)]
                {
                    written.push(put(data, queries, &folder, name, format, &mut warnings)?);
                }
            }
        }
    }
    // Each kind once, whatever the number of parts.
    out.notes(&warnings);
    out.result(
        || json!({"seed": args.seed, "parts": written.iter().map(Part::json).collect::<Vec<_>>()}),
        || table(&written),
    )
}

struct Part {
    path: PathBuf,
    queries: usize,
    rows: usize,
}

impl Part {
    fn json(&self) -> Value {
        json!({"path": self.path, "queries": self.queries, "rows": self.rows})
    }
}

fn put(
    data: &Dataset,
    queries: &[usize],
    folder: &Path,
    name: &str,
    format: Format,
    warnings: &mut Warnings,
) -> Result<Part, Failure> {
    if queries.is_empty() {
        return Err(Failure::request(format!(
            "the part '{name}' would be empty: there are only {} queries",
            data.queries()
        )));
    }
    std::fs::create_dir_all(folder)
        .map_err(|e| DataError::io("make the folder", folder.display().to_string(), e))?;
    let extension = format.info().extensions.first().copied().unwrap_or("txt");
    let path = folder.join(format!("{name}.{extension}"));
    let part = data.select_queries(queries);
    warnings.merge(write(&part, &path, format)?);
    Ok(Part { path, queries: part.queries(), rows: part.rows() })
}

fn table(parts: &[Part]) -> String {
    let columns = [("part", Align::Left), ("queries", Align::Right), ("documents", Align::Right)];
    let mut table = Table::new(columns);
    for part in parts {
        let cells =
            [part.path.display().to_string(), part.queries.to_string(), part.rows.to_string()];
        table.rows.push(cells.map(Cell::new).to_vec());
    }
    table.to_text()
}
