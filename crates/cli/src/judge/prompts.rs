//! `judge prompts`: questions about pairs of documents.

use std::path::PathBuf;

use rankwright::clicks::judge::PROMPT_TEMPLATES;
use rankwright::data::DEFAULT_SEED;
use rankwright::spec::words::counted;
use rankwright::tasks::{
    JudgePromptsRequest, JudgePromptsResult, PromptDocuments, PromptSource, judge_prompts,
};

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
    /// Text of the questions: search, recommendation, answer, or a file with the placeholders
    /// {query}, {a} and {b}, each also with a field as in {a.title} or {query.answer}
    #[arg(long, value_name = "TEMPLATE", default_value = "search")]
    template: PathBuf,
    /// Fields of a document that are shown; all texts if not given
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    fields: Vec<String>,
    /// Number of words of a field that are shown
    #[arg(long, value_name = "N", default_value_t = 100)]
    max_words: usize,
    /// Number of first documents of each run among which pairs are chosen
    #[arg(long, value_name = "N", default_value_t = 10)]
    depth: usize,
    /// Largest number of pairs
    #[arg(long, value_name = "N", default_value_t = 100)]
    max: usize,
    /// Ask about each pair once; by default it is asked about in both orders, which shows whether
    /// the judge prefers the document that comes first
    #[arg(long)]
    one_order: bool,
    /// Seed of the choice among queries and of the order of documents
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// File for the questions: JSON lines with id, query, a, b and prompt
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    out.check_not_stdout(&args.out)?;
    let documents = match &args.index {
        Some(index) => PromptDocuments::Index(index.into()),
        None => PromptDocuments::Files(args.documents.clone()),
    };
    let name = args.template.to_string_lossy();
    let template = match PROMPT_TEMPLATES.iter().any(|(known, _)| *known == name) {
        true => PromptSource::Named(name.into_owned()),
        false => PromptSource::File(args.template.clone()),
    };
    let request = JudgePromptsRequest::new(&args.runs, args.queries.file(), documents, &args.out)
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
        false => out.show(&result, text),
    }
}

fn text(result: &JudgePromptsResult) -> String {
    let chosen_by = match result.chosen_by {
        "disagreement" => "that the runs order differently",
        _ => "whose scores differ least",
    };
    format!(
        "{}: {} on {} of {}, out of {} {chosen_by}\n",
        result.out.display(),
        counted(result.questions, "question"),
        counted(result.pairs, "pair"),
        counted(result.queries, "query"),
        result.candidates
    )
}
