//! `data split`: parts or folds, by query; no query is in two parts.

use std::path::PathBuf;

use rankwright::data::format::Format;
use rankwright::data::split::{Parts, SplitOptions};
use rankwright::eval::table::{Align, Cell, Table};
use rankwright::spec::words::counted;
use rankwright::tasks::{SplitRequest, SplitResult, Warning, split_data};

use crate::declared::help;
use crate::failure::Failure;
use crate::input::ReadArgs;
use crate::output::Output;
use crate::progress::run_task;

/// Split a data set by query into named parts, or into folds for cross validation.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Data files; several are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    #[arg(long, value_name = "NAME=SHARE,...", help = help::<SplitOptions>("parts"))]
    #[arg(default_value_t = SplitOptions::default().parts.to_string())]
    parts: String,
    #[arg(long, value_name = "N", help = help::<SplitOptions>("folds"), conflicts_with = "parts")]
    folds: Option<usize>,
    #[arg(long, value_name = "N", help = help::<SplitOptions>("seed"))]
    #[arg(default_value_t = SplitOptions::default().seed)]
    seed: u64,
    /// Folder to write into
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Format to write; that of the first input if not given
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    /// Replace parts that exist
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let mut split = SplitOptions::default().parts(Parts::parse(&args.parts)?).seed(args.seed);
    split.folds = args.folds;
    let data = args.read.files(&args.data)?;
    let mut request = SplitRequest::new(data, split).out(&args.out).replace(args.force);
    request.format = args.to.as_deref().map(Format::from_name).transpose()?;
    let result = run_task(out, |context| split_data(&request, context))?;
    out.show(&result, table)
}

/// The parts, and below them a reminder of files that are no parts.
fn table(result: &SplitResult) -> String {
    let columns = [("part", Align::Left), ("queries", Align::Right), ("documents", Align::Right)];
    let mut table = Table::new(columns);
    for part in &result.parts {
        let file = part.path.as_ref().map(|path| path.display().to_string());
        let cells = [
            file.unwrap_or_else(|| part.name.clone()),
            part.queries.to_string(),
            part.rows.to_string(),
        ];
        table.rows.push(cells.map(Cell::new).to_vec());
    }
    for warning in &result.warnings {
        if let Warning::OtherParts { files } = warning {
            let files = counted(files.len(), "file");
            table.notes.push(format!("the folder also has {files} of an earlier split"));
        }
    }
    table.to_text()
}
