//! `features`: feature data from text, to train on or to score.
//!
//! A row for each candidate of each query, labelled by the judgements. The set of features goes with the
//! data: inside of the file where its format can hold it, or else beside it, OUT.features.toml. `train`
//! puts it into the model, where `search` and `run` find it.

use std::path::{Path, PathBuf};

use rankwright::data::bytes::Input;
use rankwright::data::format::{feature_set_path, write};
use rankwright::data::{Dataset, Qrels};
use rankwright::search::{Extractor, FeatureSet, Query, RowOptions};
use rankwright::tasks::read_qrels;
use serde_json::json;

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
    /// out. Without the option all labels are 0
    #[arg(long, value_name = "FILE")]
    qrels: Option<PathBuf>,
    /// Features: specs with commas between them, a TOML file, feature data (the set it was made with),
    /// or `default`. See `list features`
    #[arg(long, value_name = "SPEC", default_value = "default")]
    features: String,
    /// Candidates of each query
    #[arg(long, value_name = "N", default_value_t = 100)]
    candidates: usize,
    /// Add judged documents that are not among the candidates
    #[arg(long, requires = "qrels")]
    judged: bool,
    #[command(flatten)]
    stage: StageArgs,
    /// Where the data goes; the extension tells the format
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
    let (queries, left_out) = judged_queries(queries, qrels.as_ref())?;
    if left_out > 0 {
        out.note(format!("{left_out} queries without judgements are left out"));
    }
    let index = open_index(&args.index, out)?;
    let filter = args.stage.filter(&index, out)?;
    let (extractor, ready) = timed(out, "making features ready", || Extractor::new(&index, &set));
    let extractor = extractor?;
    let options = RowOptions {
        stage,
        candidates: args.candidates,
        judged: args.judged,
        filter: filter.as_ref(),
    };
    let (data, seconds) = timed(out, &format!("features of {} queries", queries.len()), || {
        extractor.dataset(&index, &queries, qrels.as_ref(), &options)
    });
    let data = data?;
    out.notes(&write(&data, &args.out, format)?);
    let beside = feature_set_path(&args.out);
    let set = if beside.is_file() { &beside } else { &args.out };
    let (rows, columns) = (data.rows(), data.columns());
    out.result(
        || {
            json!({
                "out": args.out, "queries": data.queries(), "rows": rows, "features": columns,
                "set": set, "seconds": {"ready": ready, "features": seconds},
            })
        },
        || {
            format!(
                "{}: {rows} documents of {} queries, {columns} features, in {seconds:.2} s",
                args.out.display(),
                data.queries()
            )
        },
    )
}

/// A set from a list of specs, from its TOML form, or that of feature data.
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

/// The queries that have judgements, and how many have none.
fn judged_queries(
    queries: Vec<Query>,
    qrels: Option<&Qrels>,
) -> Result<(Vec<Query>, usize), Failure> {
    let Some(qrels) = qrels else { return Ok((queries, 0)) };
    let count = queries.len();
    let is_judged = |query: &Query| qrels.lists().find(&query.id).is_some();
    let judged: Vec<Query> = queries.into_iter().filter(is_judged).collect();
    if judged.is_empty() {
        return Err(Failure::request(format!(
            "none of the {count} queries has a judgement in {}: do both number queries alike \
             (--number-by-position)?",
            qrels.lists().name()
        )));
    }
    let left_out = count - judged.len();
    Ok((judged, left_out))
}
