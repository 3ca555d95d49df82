//! `data generate`: generates reproducible data.

use std::path::PathBuf;

use clap::Subcommand;
use rankwright::data::format::Format;
use rankwright::data::generate::{LetorOptions, StoreOptions};
use rankwright::spec::words::counted;
use rankwright::tasks::{
    GenerateLetorRequest, GenerateStoreRequest, generate_letor, generate_store,
};

use crate::declared::help;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

#[derive(Debug, Subcommand)]
pub(crate) enum GeneratorArgs {
    /// MSLR-shaped feature data: 136 features, labels 0 to 4, a planted relevance that is not
    /// linear. Features have names (`bm25_title`, `pagerank`), and numbers in LETOR text
    Letor(LetorArgs),
    /// A synthetic record store to search: documents, queries and graded judgements
    Store(StoreArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct LetorArgs {
    #[arg(long, value_name = "N", help = help::<LetorOptions>("queries"))]
    #[arg(default_value_t = LetorOptions::default().queries)]
    queries: usize,
    #[arg(long, value_name = "N", help = help::<LetorOptions>("documents"))]
    #[arg(default_value_t = LetorOptions::default().documents)]
    documents: usize,
    #[arg(long, value_name = "N", help = help::<LetorOptions>("seed"))]
    #[arg(default_value_t = LetorOptions::default().seed)]
    seed: u64,
    /// File to write
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// Format to write; chosen by the extension if not given
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StoreArgs {
    #[arg(long, value_name = "N", help = help::<StoreOptions>("records"))]
    #[arg(default_value_t = StoreOptions::default().records)]
    records: usize,
    #[arg(long, value_name = "N", help = help::<StoreOptions>("queries"))]
    #[arg(default_value_t = StoreOptions::default().queries)]
    queries: usize,
    #[arg(long, value_name = "N", help = help::<StoreOptions>("seed"))]
    #[arg(default_value_t = StoreOptions::default().seed)]
    seed: u64,
    /// Folder to write documents.jsonl, queries.jsonl and qrels.txt into; created if needed
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(what: &GeneratorArgs, out: &Output) -> Result<(), Failure> {
    match what {
        GeneratorArgs::Letor(args) => letor(args, out),
        GeneratorArgs::Store(args) => store(args, out),
    }
}

fn letor(args: &LetorArgs, out: &Output) -> Result<(), Failure> {
    out.check_not_stdout(&args.out)?;
    let LetorArgs { queries, documents, seed, .. } = *args;
    let options = LetorOptions { queries, documents, seed };
    let mut request = GenerateLetorRequest::new(options, &args.out);
    request.format = args.to.as_deref().map(Format::from_name).transpose()?;
    let result = run_task(out, |context| generate_letor(&request, context))?;
    if args.out.as_os_str() == "-" {
        return Ok(());
    }
    out.show(&result, |result| {
        let rows = counted(result.rows, "document");
        let queries = counted(result.queries, "query");
        let features = counted(result.features, "feature");
        format!("{}: {rows} of {queries}, {features}", result.out.display())
    })
}

fn store(args: &StoreArgs, out: &Output) -> Result<(), Failure> {
    if args.out.as_os_str() == "-" {
        return Err(Failure::request(
            "--out cannot be standard output (-): a store is a folder of three files",
        ));
    }
    let options = StoreOptions { records: args.records, queries: args.queries, seed: args.seed };
    let request = GenerateStoreRequest::new(options, &args.out);
    let result = run_task(out, |context| generate_store(&request, context))?;
    out.show(&result, |result| {
        format!(
            "{}: {}, {}, {}",
            result.out.display(),
            counted(result.records, "synthetic record"),
            counted(result.queries, "query"),
            counted(result.judgements, "judgement")
        )
    })
}
