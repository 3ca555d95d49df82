//! `data generate`: reproducible data.

use std::path::PathBuf;

use clap::Subcommand;
use rankwright::data::format::write;
use rankwright::data::generate::{LetorOptions, StoreOptions};
use rankwright::data::{DEFAULT_SEED, DataError};
use rankwright::spec::words::counted;
use serde_json::json;

use super::target_format;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::timed;

#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// MSLR-shaped feature data: 136 features, labels 0 to 4, a planted relevance that is not linear
    Letor(LetorArgs),
    /// A synthetic history store to search: documents, queries and graded judgements
    Store(StoreArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct LetorArgs {
    /// Number of queries
    #[arg(long, value_name = "N", default_value_t = 1000)]
    queries: usize,
    /// Mean number of documents a query
    #[arg(long, value_name = "N", default_value_t = 120)]
    documents: usize,
    /// Seed; the same seed gives the same bytes on any machine
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// File to write
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// Format to write; told by the extension if not given
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StoreArgs {
    /// Number of records
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    records: usize,
    /// Number of queries
    #[arg(long, value_name = "N", default_value_t = 600)]
    queries: usize,
    /// Seed; the same seed gives the same bytes on any machine
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// Folder to write documents.jsonl, queries.jsonl and qrels.txt into; made if not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(what: &What, out: &Output) -> Result<(), Failure> {
    match what {
        What::Letor(args) => letor(args, out),
        What::Store(args) => store(args, out),
    }
}

fn letor(args: &LetorArgs, out: &Output) -> Result<(), Failure> {
    out.keeps_stdout_free(&args.out)?;
    let format = target_format(&args.out, args.to.as_deref())?;
    let options =
        LetorOptions { queries: args.queries, documents: args.documents, seed: args.seed };
    let (data, generating) = timed(out, "generating", || options.generate());
    let data = data?;
    let what = format!("writing {}", args.out.display());
    let (written, writing) = timed(out, &what, || write(&data, &args.out, format));
    written?;
    if args.out.as_os_str() == "-" {
        return Ok(());
    }
    out.result(
        || {
            json!({
                "out": args.out, "seed": args.seed, "rows": data.rows(),
                "queries": data.queries(), "features": data.columns(),
                "seconds": {"generate": generating, "write": writing},
            })
        },
        || {
            let rows = counted(data.rows(), "document");
            let queries = counted(data.queries(), "query");
            let features = counted(data.columns(), "feature");
            format!("{}: {rows} of {queries}, {features}", args.out.display())
        },
    )
}

fn store(args: &StoreArgs, out: &Output) -> Result<(), Failure> {
    if args.out.as_os_str() == "-" {
        return Err(Failure::request("a store is three files; give --out a folder, not -"));
    }
    let options = StoreOptions { records: args.records, queries: args.queries, seed: args.seed };
    let (store, generating) = timed(out, "generating", || options.generate());
    let store = store?;
    std::fs::create_dir_all(&args.out)
        .map_err(|e| DataError::io("make the folder", args.out.display().to_string(), e))?;
    let what = format!("writing into {}", args.out.display());
    let (written, writing) = timed(out, &what, || store.write(&args.out));
    written?;
    let (records, queries) = (store.documents.len(), store.queries.len());
    let judgements = store.qrels.lists().documents();
    out.result(
        || {
            json!({
                "out": args.out, "seed": args.seed, "records": records,
                "queries": queries, "judgements": judgements,
                "seconds": {"generate": generating, "write": writing},
            })
        },
        || {
            format!(
                "{}: {records} synthetic records, {queries} queries, {judgements} judgements",
                args.out.display()
            )
        },
    )
}
