//! `lecture`: worked examples of lectures on learning to rank, computed live.

use std::fmt::Write;

use rankwright::eval::table::{Align, Cell, Table};
use rankwright::tasks::{
    LectureExample, LectureList, LectureRequest, LectureResult, WithPage, lecture, list_lectures,
};

use crate::failure::Failure;
use crate::output::Output;
use crate::page::{ExtraPage, terminal_columns};
use crate::progress::run_task;

/// Compute worked examples of lectures step by step, beside the numbers of the slides; without
/// names, list the examples.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Examples, such as ndcg and mart
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Compute all examples
    #[arg(long, conflicts_with = "names")]
    all: bool,
    #[command(flatten)]
    page: ExtraPage,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    if args.names.is_empty() && !args.all && args.page.html.is_none() {
        return out.show(&list_lectures(), list_text);
    }
    args.page.check(&(), out)?;
    let request = LectureRequest::new().names(&args.names);
    let result = run_task(out, |context| lecture(&request, context))?;
    let page = args.page.write(|| result.page(), &(), out)?;
    if args.page.is_standard_output() {
        return Ok(());
    }
    out.show(&WithPage { result: &result, page }, |_| text(&result))
}

/// The examples, one per line.
fn list_text(list: &LectureList) -> String {
    let mut table = Table::new([("example", Align::Left), ("subject", Align::Left)]);
    let row = |example: &rankwright::tasks::LectureSummary| {
        vec![Cell::new(example.name), Cell::new(example.title)]
    };
    table.rows.extend(list.examples.iter().map(row));
    table.notes.push("`rankwright lecture NAME` computes one, `--all` all of them.".into());
    table.notes.push("`rankwright lecture --html FILE` writes a page with pictures.".into());
    table.to_text()
}

fn text(result: &LectureResult) -> String {
    let examples: Vec<String> = result.examples.iter().map(example_text).collect();
    examples.join("\n")
}

fn example_text(example: &LectureExample) -> String {
    let about = &example.about;
    let mut text = format!("{}: {}\n", about.name, about.title);
    let _ = writeln!(text, "from: {}\n", about.lectures.join("; "));
    let table = example.table();
    text += &match terminal_columns() {
        Some(width) => table.to_text_within(width),
        None => table.to_text(),
    };
    text
}
