//! `features`: computes feature data from text, for training or scoring.

use std::path::{Path, PathBuf};

use rankwright::search::DEFAULT_CANDIDATES;
use rankwright::spec::words::counted;
use rankwright::tasks::{
    ExtractFeaturesRequest, ExtractFeaturesResult, FeatureSource, extract_features,
};

use crate::failure::Failure;
use crate::output::{Output, path_text};
use crate::progress::run_task;
use crate::ranking::{QueryArgs, StageArgs};

/// Compute features of candidates for many queries: feature data to train on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The index
    #[arg(value_name = "INDEX")]
    index: PathBuf,
    #[command(flatten)]
    queries: QueryArgs,
    /// Judgements: the labels; candidates without one have label 0, queries without any are left
    /// out. Without this option all labels are 0
    #[arg(long, value_name = "FILE")]
    qrels: Option<PathBuf>,
    /// Features: specs separated by commas, a TOML file, feature data (the set it was made with),
    /// or `default`. See `list features`
    #[arg(long, value_name = "SPEC", default_value = "default")]
    features: String,
    #[arg(long, value_name = "N", help = candidates_help(), value_parser = clap::value_parser!(u32).range(1..))]
    candidates: Option<u32>,
    /// Add judged documents that are not among the candidates
    #[arg(long, requires = "qrels")]
    judged: bool,
    #[command(flatten)]
    stage: StageArgs,
    /// File for the data; the format is chosen by the extension
    #[arg(long, value_name = "DATA")]
    out: PathBuf,
}

fn candidates_help() -> String {
    format!(
        "Number of candidates of each query; by default that of the feature set, or \
         {DEFAULT_CANDIDATES}"
    )
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    out.check_not_stdout(&args.out)?;
    let mut request = ExtractFeaturesRequest::new(&args.index, args.queries.file())
        .out(&args.out)
        .features(FeatureSource::parse(&args.features)?)
        .candidates(args.stage.candidates(args.candidates)?)
        .judged(args.judged);
    request.qrels = args.qrels.as_ref().map(Into::into);
    let result = run_task(out, |context| extract_features(&request, context))?;
    match args.out == Path::new("-") {
        true => Ok(()),
        false => out.show(&result, text),
    }
}

fn text(result: &ExtractFeaturesResult) -> String {
    let rows = counted(result.result.rows, "document");
    let queries = counted(result.result.queries, "query");
    let features = counted(result.result.features, "feature");
    let (file, seconds) = (path_text(result.out.as_deref()), result.result.seconds.features);
    format!("{file}: {rows} of {queries}, {features}, in {seconds:.2} s")
}
