//! `data generate`: reproducible data.

use std::path::PathBuf;

use clap::Subcommand;
use rankwright::data::format::write;
use rankwright::data::generate::LetorOptions;
use serde_json::json;

use super::target_format;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::timed;

#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// MSLR-shaped feature data: 136 features, labels 0 to 4, a planted relevance that is not linear
    Letor(LetorArgs),
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
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// File to write
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// Format to write; told by the extension if not given
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
}

pub(crate) fn run(what: &What, out: &Output) -> Result<(), Failure> {
    let What::Letor(args) = what;
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
            let (rows, queries, features) = (data.rows(), data.queries(), data.columns());
            format!(
                "{}: {rows} documents of {queries} queries, {features} features",
                args.out.display()
            )
        },
    )
}
