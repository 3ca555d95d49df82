//! `features`: computes feature data from text, for training or scoring.
//!
//! A row for each candidate of each query, labelled by the judgements. The feature set is stored
//! with the data: inside of the file where its format can hold it, or else beside it,
//! OUT.features.toml. `train` copies it into the model, where `search` and `run` read it.

use std::path::{Path, PathBuf};

use rankwright::data::Dataset;
use rankwright::data::bytes::Input;
use rankwright::data::format::{feature_set_path, write};
use rankwright::search::{FeatureSet, RowOptions, TrainingData, training_data};
use rankwright::tasks::read_qrels;
use serde::Serialize;

use crate::data::target_format;
use crate::failure::Failure;
use crate::input::not_over_an_input;
use crate::output::Output;
use crate::progress::{run_task, timed};
use crate::ranking::{QueryArgs, StageArgs, open_index};

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
    /// Number of candidates of each query; by default that of the feature set, or 100
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
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

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    out.keeps_stdout_free(&args.out)?;
    let inputs = args.qrels.as_deref().into_iter().chain([args.queries.path()]);
    not_over_an_input(&args.out, inputs)?;
    let format = target_format(&args.out, None)?;
    let stage = args.stage.stage()?;
    let set = read_set(&args.features)?;
    let queries = args.queries.read()?;
    let qrels = args
        .qrels
        .as_deref()
        .map(|path| run_task(out, |context| read_qrels(path, context)))
        .transpose()?;
    let index = open_index(&args.index, out)?;
    let filter = args.stage.filter(&index, out)?;
    let options = RowOptions::new()
        .first_stage(stage)
        .candidates(args.candidates.map(|candidates| candidates as usize))
        .judged(args.judged)
        .filter(filter.as_ref());
    let what = format!("features of {} queries", queries.len());
    let result =
        timed(out, &what, || training_data(index, queries, qrels.as_ref(), &set, &options)).0?;
    out.warn(&result.warnings);
    out.notes(&write(&result.data, &args.out, format)?);
    let beside = feature_set_path(&args.out);
    let set = if beside.is_file() { &beside } else { &args.out };
    out.show(&WrittenFeatures { out: &args.out, set, result: &result }, |_| {
        let TrainingData { rows, queries, features, seconds, .. } = &result;
        format!(
            "{}: {rows} documents of {queries} queries, {features} features, in {:.2} s",
            args.out.display(),
            seconds.features
        )
    })
}

/// Feature data, the file it was written to, and the file that holds its feature set.
#[derive(Serialize)]
struct WrittenFeatures<'a> {
    out: &'a Path,
    set: &'a Path,
    #[serde(flatten)]
    result: &'a TrainingData,
}

/// The feature set from a list of specs, from its TOML form, or of feature data.
fn read_set(text: &str) -> Result<FeatureSet, Failure> {
    if text.ends_with(".toml") {
        let input = Input::open(Path::new(text))?;
        return Ok(FeatureSet::from_toml(&String::from_utf8_lossy(&input.bytes))?);
    }
    if !Path::new(text).is_file() {
        return Ok(FeatureSet::parse(text)?);
    }
    match Dataset::read(text)?.feature_set() {
        Some(set) => Ok(FeatureSet::from_toml(set)?),
        None => Err(Failure::request(format!("the data {text} has no feature set"))),
    }
}
