//! `judge prompts`: questions about pairs of documents.

use std::path::{Path, PathBuf};

use rankwright::clicks::judge::PromptOptions;
use rankwright::spec::words::counted;
use rankwright::tasks::{
    DocumentsSource, JudgePromptsRequest, JudgePromptsResult, PromptSource, judge_prompts,
};

use crate::declared::{help, value};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;
use crate::ranking::QueryArgs;

/// Write questions for a person or a language model: which of two documents is better for a query.
/// Of two or more runs, pairs are chosen that the runs order differently, differences at the top
/// first; of one run, pairs whose scores differ least.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Runs whose documents are compared
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    queries: QueryArgs,
    /// Index that has the documents
    #[arg(long, value_name = "INDEX", required_unless_present = "documents")]
    index: Option<PathBuf>,
    /// Files or folders that have the documents, such as JSON lines; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "index")]
    documents: Vec<PathBuf>,
    /// Text of the questions: search, recommendation, answer, or a text or a file with the
    /// placeholders {query}, {a} and {b}, each also with a field as in {a.title} or {query.answer}
    #[arg(long, value_name = "TEMPLATE", default_value = PromptSource::DEFAULT_NAME)]
    template: PathBuf,
    /// Fields of a document that are shown; all texts if not given
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    fields: Vec<String>,
    #[arg(
        long,
        value_name = "N",
        default_value_t = PromptOptions::default().max_words,
        value_parser = value::<PromptOptions, usize>("max_words"),
        help = help::<PromptOptions>("max_words")
    )]
    max_words: usize,
    #[arg(
        long,
        value_name = "N",
        default_value_t = PromptOptions::default().depth,
        value_parser = value::<PromptOptions, usize>("depth"),
        help = help::<PromptOptions>("depth")
    )]
    depth: usize,
    #[arg(
        long,
        value_name = "N",
        default_value_t = PromptOptions::default().max_pairs,
        value_parser = value::<PromptOptions, usize>("max_pairs"),
        help = help::<PromptOptions>("max_pairs")
    )]
    max: usize,
    /// Ask about each pair once; by default it is asked about in both orders, which shows whether
    /// the judge prefers the document that comes first
    #[arg(long)]
    one_order: bool,
    #[arg(
        long,
        value_name = "N",
        default_value_t = PromptOptions::default().seed,
        help = help::<PromptOptions>("seed")
    )]
    seed: u64,
    /// File for the questions: JSON lines with id, query, a, b and prompt
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    out.check_not_stdout(&args.out)?;
    let documents = match &args.index {
        Some(index) => DocumentsSource::Index(index.into()),
        None => DocumentsSource::Files(args.documents.clone()),
    };
    let template = match args.template.to_str() {
        // A file whose name has a brace is a file.
        Some(text) if !args.template.is_file() => PromptSource::parse(text),
        _ => PromptSource::File(args.template.clone()),
    };
    let request = JudgePromptsRequest::new(&args.runs, args.queries.file(), documents)
        .out(&args.out)
        .template(template)
        .fields(&args.fields)
        .max_words(args.max_words)
        .depth(args.depth)
        .max_pairs(args.max)
        .both_orders(!args.one_order)
        .seed(args.seed);
    let result = run_task(out, |context| judge_prompts(&request, context))?;
    match args.out.as_os_str() == "-" {
        true => Ok(()),
        false => out.show(&result, |result| text(&args.out, result)),
    }
}

fn text(file: &Path, result: &JudgePromptsResult) -> String {
    let chosen_by = match result.chosen_by {
        "disagreement" => "that the runs order differently",
        _ => "whose scores differ least",
    };
    format!(
        "{}: {} on {} of {}, out of {} {chosen_by}\n",
        file.display(),
        counted(result.questions, "question"),
        counted(result.pairs, "pair"),
        counted(result.queries, "query"),
        result.candidates
    )
}
