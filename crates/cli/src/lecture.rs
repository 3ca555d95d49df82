//! `lecture`: worked examples of lectures on learning to rank, computed live.

use std::fmt::Write;

use rankwright::eval::table::{Align, Cell, Table};
use rankwright::tasks::{
    LectureExample, LectureList, LectureRequest, LectureResult, LectureSource, LectureSummary,
    WithPage, lecture, list_lectures,
};

use crate::failure::Failure;
use crate::output::Output;
use crate::page::{ExtraPage, terminal_columns};
use crate::progress::run_task;

/// Compute worked examples of lectures step by step, beside the numbers of the slides; without
/// names, list the examples.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Examples, such as ndcg and mart, or lectures by letter, number or author, such as W, 000 or
    /// wicaksono, for all of their examples
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
    let columns = ["example", "lectures", "subject"];
    let mut table = Table::new(columns.map(|name| (name, Align::Left)));
    let row = |example: &LectureSummary| {
        let letters: Vec<&str> = example.sources().map(|lecture| lecture.letter).collect();
        vec![Cell::new(example.name), Cell::new(letters.join(" ")), Cell::new(example.title)]
    };
    table.rows.extend(list.examples.iter().map(row));
    for lecture in &list.lectures {
        let LectureSource { letter, number, title, .. } = lecture;
        table.notes.push(format!("{letter} or {number}: {title}"));
    }
    table.notes.push(
        "`rankwright lecture NAME` computes an example, or all of a lecture (`W` or `000`); `--all` all \
         of them."
            .into(),
    );
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
