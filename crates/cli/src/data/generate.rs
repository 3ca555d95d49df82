//! `data generate`: generates reproducible data.

use std::path::PathBuf;

use clap::Subcommand;
use rankwright::data::DEFAULT_SEED;
use rankwright::data::format::Format;
use rankwright::data::generate::{LetorOptions, StoreOptions};
use rankwright::spec::words::counted;
use rankwright::tasks::{
    GenerateLetorRequest, GenerateStoreRequest, generate_letor, generate_store,
};

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
    /// Number of queries
    #[arg(long, value_name = "N", default_value_t = LetorOptions::default().queries)]
    queries: usize,
    /// Mean number of documents per query
    #[arg(long, value_name = "N", default_value_t = LetorOptions::default().documents)]
    documents: usize,
    /// Seed; the same seed gives the same bytes on any machine
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
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
    /// Number of records
    #[arg(long, value_name = "N", default_value_t = StoreOptions::default().records)]
    records: usize,
    /// Number of queries
    #[arg(long, value_name = "N", default_value_t = StoreOptions::default().queries)]
    queries: usize,
    /// Seed; the same seed gives the same bytes on any machine
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// Share of the words of a record that are drawn from a random genre, from 0 to 1: with more
    /// overlap, words tell the genre of fewer records
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    genre_overlap: f64,
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
    let StoreArgs { records, queries, seed, genre_overlap, .. } = *args;
    let options = StoreOptions { records, queries, seed, genre_overlap };
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
