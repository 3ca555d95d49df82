//! `eval`: a run against judgements, or a column of scores against labels.

use std::path::{Path, PathBuf};

use rankwright::data::bytes::Input;
use rankwright::data::{Dataset, Qrels, Run, read_scores};
use rankwright::eval::{Evaluation, JudgedRun, QuerySource, ScoredDataset, SourceKind};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::input::{ReadArgs, name_of, one_stdin};
use crate::measures::{MetricArgs, ReportArgs, json_of, table, write_per_query};
use crate::output::Output;
use crate::progress::timed;

/// Measure a run against judgements (`--run`, `--qrels`), or scores against the labels of feature
/// data (`--scores FILE DATA...`).
#[derive(Debug, clap::Args)]
#[command(override_usage = "rankwright eval --run <RUN> --qrels <QRELS> [OPTIONS]\n       \
                            rankwright eval --scores <FILE> <DATA>... [OPTIONS]")]
pub(crate) struct Args {
    /// Feature data with labels; several files are one data set
    #[arg(value_name = "DATA", required_unless_present = "run", conflicts_with = "run")]
    data: Vec<PathBuf>,
    /// Scores for DATA: one number a line, in row order
    #[arg(long, value_name = "FILE", required_unless_present = "run", conflicts_with = "run")]
    scores: Option<PathBuf>,
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
        _ => return Err(Failure::request("give --run and --qrels, or --scores and DATA")),
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
    let (read, _) = timed(out, &what, || Run::read(Input::open(path)?));
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
    one_stdin(args.data.iter().map(PathBuf::as_path).chain([scores]))?;
    let measures = args.metrics.measures(SourceKind::Features)?;
    let (loaded, _) = args.read.read(&args.data, out)?;
    let data = loaded.data;
    let scores = scores_for(&data, scores, &args.data)?;
    let source = ScoredDataset::new(&data, &scores)?;
    let (evaluation, _) = timed(out, "evaluating", || args.metrics.evaluate(&source, &measures));
    Ok((evaluation?, json!({ "rows": data.rows(), "queries": { "judged": data.queries() } })))
}

/// Reads scores and puts them into the row order of the data.
pub(crate) fn scores_for(
    data: &Dataset,
    path: &Path,
    files: &[PathBuf],
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
