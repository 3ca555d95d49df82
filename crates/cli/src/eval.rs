//! `eval`: a model or a column of scores against labels, or a run against judgements.

use std::path::{Path, PathBuf};

use rankwright::data::bytes::Input;
use rankwright::data::{Dataset, Qrels, Run, read_scores};
use rankwright::eval::{Evaluation, JudgedRun, Measure, QuerySource, ScoredDataset, SourceKind};
use rankwright::model::ModelFormat;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::input::{ReadArgs, name_of, one_stdin, open};
use crate::measures::{MetricArgs, ReportArgs, json_of, table, write_per_query};
use crate::models::{Sorted, score};
use crate::output::Output;
use crate::progress::timed;

/// Measure a model on feature data (`MODEL DATA...`), scores against the labels of feature data
/// (`--scores FILE DATA...`), or a run against judgements (`--run`, `--qrels`).
#[derive(Debug, clap::Args)]
#[command(override_usage = "rankwright eval <MODEL> <DATA>... [OPTIONS]\n       \
                            rankwright eval --scores <FILE> <DATA>... [OPTIONS]\n       \
                            rankwright eval --run <RUN> --qrels <QRELS> [OPTIONS]")]
pub(crate) struct Args {
    /// A model (unless --scores is given), then feature data with labels; several files of data
    /// are one data set
    #[arg(value_name = "MODEL|DATA", required_unless_present = "run", conflicts_with = "run")]
    inputs: Vec<PathBuf>,
    /// Scores for DATA: one number a line, in row order
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    scores: Option<PathBuf>,
    /// Pass over features that the model does not know
    #[arg(long, conflicts_with_all = ["run", "scores"])]
    ignore_extra: bool,
    /// A run: TREC columns, a table with a header, or JSON lines
    #[arg(
        long,
        value_name = "RUN",
        requires = "qrels",
        conflicts_with_all = ["format", "absent", "columns", "pairs"]
    )]
    run: Option<PathBuf>,
    /// Judgements: TREC columns, a table with a header, or JSON lines
    #[arg(long, value_name = "QRELS", requires = "run")]
    qrels: Option<PathBuf>,
    #[command(flatten)]
    metrics: MetricArgs,
    #[command(flatten)]
    report: ReportArgs,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let (evaluation, about) = match (&args.run, &args.qrels, &args.scores) {
        (Some(run), Some(qrels), _) => of_run(args, run, qrels, out)?,
        (_, _, Some(scores)) => of_scores(args, scores, out)?,
        _ => of_model(args, out)?,
    };
    if let Some(path) = &args.report.per_query {
        out.keeps_stdout_free(path)?;
        write_per_query(path, &[("value", &evaluation)])?;
    }
    out.result(
        || {
            let mut document = json!({ "metrics": json_of(&evaluation) });
            if let (Value::Object(all), Value::Object(more)) = (&mut document, about) {
                all.extend(more);
            }
            document
        },
        || args.report.table.draw(&table(&evaluation)),
    )
}

fn of_run(
    args: &Args,
    run: &Path,
    qrels: &Path,
    out: &Output,
) -> Result<(Evaluation, Value), Failure> {
    one_stdin([run, qrels])?;
    let measures = args.metrics.measures(SourceKind::Run)?;
    let run_name = run.display().to_string();
    let (qrels, run) = (read_qrels(qrels, out)?, read_run(run, out)?);
    let joined = JudgedRun::new(&run, &qrels);
    tell_missing(&joined, &run_name, out);
    let (evaluation, _) = timed(out, "evaluating", || args.metrics.evaluate(&joined, &measures));
    let about = json!({ "queries": {
        "judged": joined.len(),
        "missing": joined.missing(),
        "unjudged": joined.unjudged(),
    }});
    Ok((evaluation?, about))
}

pub(crate) fn read_qrels(path: &Path, out: &Output) -> Result<Qrels, Failure> {
    let what = format!("reading {}", path.display());
    let (read, _) = timed(out, &what, || Qrels::read(Input::open(path)?));
    let (qrels, notes) = read?;
    out.notes(&notes);
    Ok(qrels)
}

pub(crate) fn read_run(path: &Path, out: &Output) -> Result<Run, Failure> {
    let what = format!("reading {}", path.display());
    let input = Input::open(path)?;
    if ModelFormat::detect(&input.bytes).is_some() {
        return Err(Failure::request(format!(
            "{} is a model; a run is expected here, since models rank feature data",
            path.display()
        )));
    }
    let (read, _) = timed(out, &what, || Run::read(input));
    let (run, notes) = read?;
    out.notes(&notes);
    Ok(run)
}

/// Says which queries do not meet.
pub(crate) fn tell_missing(joined: &JudgedRun<'_>, run: &str, out: &Output) {
    if joined.missing() > 0 {
        let (missing, all) = (joined.missing(), joined.len());
        out.note(format!("{run} lacks {missing} of {all} judged queries; 'missing=' in a metric's convention says how they count"));
    }
    if joined.unjudged() > 0 {
        out.note(format!(
            "{run} has {} queries that nobody judged; passed over",
            joined.unjudged()
        ));
    }
}

fn of_scores(args: &Args, scores: &Path, out: &Output) -> Result<(Evaluation, Value), Failure> {
    one_stdin(args.inputs.iter().map(PathBuf::as_path).chain([scores]))?;
    let measures = args.metrics.measures(SourceKind::Features)?;
    let (loaded, _) = args.read.read(&args.inputs, out)?;
    let data = loaded.data;
    let scores = scores_for(&data, scores, &args.inputs)?;
    of_columns(args, &data, &scores, &measures, out)
}

fn of_model(args: &Args, out: &Output) -> Result<(Evaluation, Value), Failure> {
    one_stdin(args.inputs.iter().chain(&args.read.pairs).map(PathBuf::as_path))?;
    let measures = args.metrics.measures(SourceKind::Features)?;
    let (inputs, _) = open(&args.inputs, out)?;
    let sorted = Sorted::new(inputs)?;
    let model = match &sorted.models[..] {
        [(_, model)] => model,
        [] => {
            let first = args.inputs.first().map(|path| path.display().to_string());
            return Err(Failure::request(format!(
                "{} is no model; give a model before the data, or --scores for scores that are \
                 made already",
                first.unwrap_or_default()
            )));
        }
        _ => return Err(Failure::request("eval takes one model; `compare` takes several")),
    };
    if sorted.data.is_empty() {
        return Err(Failure::request("give feature data for the model to score"));
    }
    let (loaded, _) = args.read.read_opened(sorted.data, Some(model.header().absent), out)?;
    let (scores, _) = score(model, &loaded.data, args.ignore_extra, out)?;
    of_columns(args, &loaded.data, &scores, &measures, out)
}

fn of_columns(
    args: &Args,
    data: &Dataset,
    scores: &[f64],
    measures: &[Measure],
    out: &Output,
) -> Result<(Evaluation, Value), Failure> {
    let source = ScoredDataset::new(data, scores)?;
    let (evaluation, _) = timed(out, "evaluating", || args.metrics.evaluate(&source, measures));
    Ok((evaluation?, json!({ "rows": data.rows(), "queries": { "judged": data.queries() } })))
}

/// Reads scores and puts them into the row order of the data.
pub(crate) fn scores_for<P: AsRef<Path>>(
    data: &Dataset,
    path: &Path,
    files: &[P],
) -> Result<Vec<f64>, Failure> {
    let scores = read_scores(&Input::open(path)?)?;
    if scores.len() != data.rows() {
        return Err(Failure::request(format!(
            "{} has {} scores, but {} has {} rows; a score file has one line for each row",
            path.display(),
            scores.len(),
            name_of(files),
            data.rows()
        )));
    }
    Ok(data.from_source_order(&scores))
}
