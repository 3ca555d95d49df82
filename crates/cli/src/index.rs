//! `index`: builds an index of a collection of text, adds documents to it or deletes some.

use std::path::PathBuf;

use indicatif::ProgressBar;
use rankwright::search::{
    Analysis, BuildOptions, DocumentFormat, Existing, Schema, SkippedDocuments,
};
use rankwright::spec::words::counted;
use rankwright::tasks::{
    BuildIndexRequest, BuildIndexResult, Context, DeleteDocumentsRequest, DeleteDocumentsResult,
    IndexProgress, build_index, delete_documents,
};

use crate::advice::offer_skipping;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::progress::{DOCUMENTS, run_task, run_with_bar, style};

/// Make a collection of text searchable.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Documents: JSON lines, TREC, SMART, CSV, TSV, Parquet, or a folder of text and HTML files;
    /// several are one collection
    #[arg(value_name = "DOCS", required_unless_present_any = ["delete", "delete_where"])]
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
    /// Skip documents that cannot be read, such as lines that are not JSON, and report them
    #[arg(long)]
    skip_broken: bool,
    /// Delete the documents of these ids from the index, instead of adding any
    #[arg(
        long,
        value_name = "ID",
        num_args = 1..,
        conflicts_with_all = ["documents", "add", "rebuild", "schema", "analysis", "format", "skip_broken"]
    )]
    delete: Vec<String>,
    /// Delete the documents that pass this filter, such as `year<1990`; see docs/filters.md. With
    /// --delete, documents are deleted that have one of the ids or pass the filter
    #[arg(
        long,
        value_name = "FILTER",
        allow_hyphen_values = true,
        conflicts_with_all = ["documents", "add", "rebuild", "schema", "analysis", "format", "skip_broken"]
    )]
    delete_where: Option<String>,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    if args.documents.is_empty() {
        let mut request = DeleteDocumentsRequest::new(&args.out);
        request.ids = args.delete.clone();
        request.filter = args.delete_where.clone();
        let result = run_task(out, |context| delete_documents(&request, context))?;
        return out.show(&result, deleted_text);
    }
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
    let result = run_with_bar(out, context, &bar, |context| build_index(&request, context));
    let result = if args.skip_broken { result? } else { result.map_err(offer_skipping)? };
    if let Some(skipped) = &result.skipped {
        note_skipped(skipped, out);
    }
    out.show(&result, |result| text(result, args.add))
}

/// Maximum number of skipped documents that are shown.
const MAX_SHOWN: usize = 5;

/// Prints a note with the number of skipped documents and the first of them.
fn note_skipped(skipped: &SkippedDocuments, out: &Output) {
    if skipped.documents == 0 {
        return;
    }
    let mut note = format!("{} skipped:", counted(skipped.documents as usize, "broken document"));
    for document in skipped.first.iter().take(MAX_SHOWN) {
        note.push_str(&format!("\n      {}: {}", document.location, document.reason));
    }
    let more = skipped.documents.saturating_sub(MAX_SHOWN as u64);
    if more > 0 {
        note.push_str(&format!(
            "\n      and {more} more; --json has the first {}",
            SkippedDocuments::KEPT
        ));
    }
    out.note(note);
}

fn deleted_text(result: &DeleteDocumentsResult) -> String {
    format!(
        "{}: {} deleted, {} left, in {:.1} s",
        result.index.display(),
        counted(result.deleted, "document"),
        counted(result.total, "document"),
        result.seconds
    )
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
        request.format = self.format.as_deref().map(document_format).transpose()?;
        request.skip_broken = self.skip_broken;
        Ok(request)
    }
}

fn document_format(name: &str) -> Result<DocumentFormat, Failure> {
    DocumentFormat::from_name(name).ok_or_else(|| {
        let known = DocumentFormat::ALL.map(DocumentFormat::name).join(", ");
        Failure::usage(format!("--format {name} is not a format of documents; known are {known}"))
    })
}

fn text(result: &BuildIndexResult, is_added: bool) -> String {
    let (report, megabytes) = (&result.report, result.bytes as f64 / 1e6);
    let documents = match is_added {
        true => format!(
            "{} added, {} replaced, {} unchanged; {} now,",
            counted(report.added as usize, "document"),
            report.replaced,
            report.unchanged,
            counted(report.total as usize, "document")
        ),
        false => counted(report.total as usize, "document"),
    };
    format!(
        "{}: {documents} in {:.1} s ({megabytes:.1} MB, {:.1} MB/s)\nanalysis: {}\nfields: {}",
        result.index.display(),
        result.seconds,
        megabytes / result.seconds.max(1e-9),
        report.analysis,
        report.schema
    )
}

/// A progress bar of bytes, which also counts documents.
fn bar(out: &Output) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, out.progress());
    bar.set_style(style(DOCUMENTS));
    bar
}
