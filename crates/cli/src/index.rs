//! `index`: builds an index of a collection of text.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rankwright::search::{
    Analysis, BuildOptions, BuildReport, Document, DocumentFormat, Documents, Existing, Schema,
    SearchError, build_index,
};
use serde::Serialize;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::Output;

/// Make a collection of text searchable.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Documents: JSON lines, TREC, SMART, CSV, TSV, Parquet, or a folder of text and HTML files;
    /// several are one collection
    #[arg(value_name = "DOCS", required = true)]
    documents: Vec<PathBuf>,
    /// The folder of the index
    #[arg(long, value_name = "INDEX")]
    out: PathBuf,
    /// Format of the documents; detected by content if not given
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// Analysis of the text: a language, such as `english` or `german(stem=false)`, or `plain`
    #[arg(long, value_name = "SPEC")]
    analysis: Option<String>,
    /// Kinds of fields, such as `title:text, year:number`; the others are guessed
    #[arg(long, value_name = "FIELDS", default_value = "")]
    schema: String,
    /// Add to an existing index; documents with existing ids are replaced
    #[arg(long, conflicts_with = "rebuild")]
    add: bool,
    /// Replace an existing index
    #[arg(long)]
    rebuild: bool,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let existing = match (args.add, args.rebuild) {
        (true, _) => Existing::Add,
        (_, true) => Existing::Replace,
        _ => Existing::Refuse,
    };
    let options = BuildOptions::new()
        .analysis(args.analysis.as_deref().map(Analysis::parse).transpose()?)
        .schema(Schema::parse(&args.schema)?)
        .existing(existing);
    let mut documents = Documents::open_all(&args.documents, format(args)?)?;
    let start = Instant::now();
    let (report, bytes) = build(args, &options, &mut documents, out)?;
    let seconds = start.elapsed().as_secs_f64();
    out.notes(documents.warnings());
    out.warn(&report.warnings());
    let rate = bytes as f64 / 1e6 / seconds.max(1e-9);
    out.show(&Built { index: &args.out, bytes, seconds, report: &report }, |_| {
        format!(
            "{}: {} documents in {seconds:.1} s ({:.1} MB, {rate:.1} MB/s)\nanalysis: {}\n\
             fields: {}",
            args.out.display(),
            report.documents - report.duplicates,
            bytes as f64 / 1e6,
            report.analysis,
            report.schema
        )
    })
}

/// A report, with the folder, size and time of the build.
#[derive(Serialize)]
struct Built<'a> {
    index: &'a Path,
    bytes: u64,
    seconds: f64,
    #[serde(flatten)]
    report: &'a BuildReport,
}

fn format(args: &Args) -> Result<Option<DocumentFormat>, Failure> {
    let Some(name) = &args.format else { return Ok(None) };
    let known = DocumentFormat::ALL.map(DocumentFormat::name).join(", ");
    let format = DocumentFormat::from_name(name);
    format.map(Some).ok_or_else(|| {
        Failure::usage(format!("--format {name} is none of the formats of documents: {known}"))
    })
}

/// Builds with a progress bar of bytes, which also counts documents.
fn build(
    args: &Args,
    options: &BuildOptions,
    documents: &mut Documents,
    out: &Output,
) -> Result<(BuildReport, u64), Failure> {
    let interrupt = Interrupt::listen()?;
    let bar = bar(documents.bytes_total(), out);
    let bytes = AtomicU64::new(0);
    let counted = Counted { documents, bytes: &bytes };
    let report = build_index(&args.out, counted, options, &mut |done| {
        bar.set_position(bytes.load(Ordering::Relaxed));
        bar.set_message(format!("{done} documents"));
        if interrupt.asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    match report? {
        Some(report) => Ok((report, documents.bytes_read())),
        None => Err(Failure::Stopped),
    }
}

fn bar(total: Option<u64>, out: &Output) -> ProgressBar {
    let target = match out.quiet {
        true => ProgressDrawTarget::hidden(),
        false => ProgressDrawTarget::stderr(),
    };
    let bar = ProgressBar::with_draw_target(total, target);
    let text = "{bar:24} {bytes}/{total_bytes}  {binary_bytes_per_sec}  {msg}  {eta} left";
    if let Ok(style) = ProgressStyle::with_template(text) {
        bar.set_style(style);
    }
    bar
}

/// An iterator over documents that reports the bytes read so far to the bar.
struct Counted<'a> {
    documents: &'a mut Documents,
    bytes: &'a AtomicU64,
}

impl Iterator for Counted<'_> {
    type Item = Result<Document, SearchError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.documents.next();
        self.bytes.store(self.documents.bytes_read(), Ordering::Relaxed);
        next
    }
}
