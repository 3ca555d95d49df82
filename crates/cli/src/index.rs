//! `index`: builds an index of a collection of text.

use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rankwright::search::{Analysis, BuildOptions, DocumentFormat, Existing, Schema};
use rankwright::spec::words::counted;
use rankwright::tasks::{BuildIndexRequest, BuildIndexResult, Context, IndexProgress, build_index};

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::progress::run_within;

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
    let request = args.request()?;
    let interrupt = Interrupt::after("the current documents");
    let bar = bar(out);
    let show = |progress: &IndexProgress| {
        if let Some(total) = progress.bytes_total {
            bar.set_length(total);
        }
        bar.set_position(progress.bytes);
        bar.set_message(counted(progress.documents as usize, "document"));
    };
    let context = Context::default().cancel(interrupt.flag()).on_indexing(&show);
    let result = run_within(out, context, &bar, |context| build_index(&request, context))?;
    out.show(&result, text)
}

impl Args {
    fn request(&self) -> Result<BuildIndexRequest, Failure> {
        let existing = match (self.add, self.rebuild) {
            (true, _) => Existing::Add,
            (_, true) => Existing::Replace,
            _ => Existing::Refuse,
        };
        let options = BuildOptions::new()
            .analysis(self.analysis.as_deref().map(Analysis::parse).transpose()?)
            .schema(Schema::parse(&self.schema)?)
            .existing(existing);
        let mut request = BuildIndexRequest::new(&self.documents, &self.out).options(options);
        request.format = self.format.as_deref().map(format).transpose()?;
        Ok(request)
    }
}

fn format(name: &str) -> Result<DocumentFormat, Failure> {
    DocumentFormat::from_name(name).ok_or_else(|| {
        let known = DocumentFormat::ALL.map(DocumentFormat::name).join(", ");
        Failure::usage(format!("--format {name} is not a format of documents; known are {known}"))
    })
}

fn text(result: &BuildIndexResult) -> String {
    let (report, megabytes) = (&result.report, result.bytes as f64 / 1e6);
    format!(
        "{}: {} in {:.1} s ({megabytes:.1} MB, {:.1} MB/s)\nanalysis: {}\nfields: {}",
        result.index.display(),
        counted((report.documents - report.duplicates) as usize, "document"),
        result.seconds,
        megabytes / result.seconds.max(1e-9),
        report.analysis,
        report.schema
    )
}

/// A progress bar of bytes, which also counts documents.
fn bar(out: &Output) -> ProgressBar {
    let target = match out.quiet {
        true => ProgressDrawTarget::hidden(),
        false => ProgressDrawTarget::stderr(),
    };
    let bar = ProgressBar::with_draw_target(None, target);
    let text = "{bar:24} {bytes}/{total_bytes}  {binary_bytes_per_sec}  {msg}  {eta} left";
    if let Ok(style) = ProgressStyle::with_template(text) {
        bar.set_style(style);
    }
    bar
}
