//! `eval`: a model or a column of scores against labels, or a run against judgements.

use std::path::PathBuf;

use rankwright::model::MatchBy;
use rankwright::tasks::{EvalInput, EvalRequest, eval};

use crate::declared::choices;
use crate::failure::Failure;
use crate::input::{ReadArgs, match_options};
use crate::measures::{MetricArgs, ReportArgs, table};
use crate::output::Output;
use crate::progress::run_task;

/// Measure a model on feature data (`MODEL DATA...`), scores against the labels of feature data
/// (`--scores FILE DATA...`), or a run against judgements (`--run`, `--qrels`).
#[derive(Debug, clap::Args)]
#[command(override_usage = "rankwright eval <MODEL> <DATA>... [OPTIONS]\n       \
                            rankwright eval --scores <FILE> <DATA>... [OPTIONS]\n       \
                            rankwright eval --run <RUN> --qrels <QRELS> [OPTIONS]")]
pub(crate) struct Args {
    /// A model (unless --scores is given), then feature data with labels; several data files are
    /// one data set
    #[arg(value_name = "MODEL|DATA", required_unless_present = "run", conflicts_with = "run")]
    inputs: Vec<PathBuf>,
    /// Scores for DATA: one number per line in row order, or a table with ids (CSV, TSV, JSON lines, Parquet, Arrow)
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    scores: Option<PathBuf>,
    /// Ignore features that the model does not know
    #[arg(long, conflicts_with_all = ["run", "scores"])]
    ignore_extra: bool,
    /// Rule that matches the features of the data with those of the model
    #[arg(long, value_parser = choices::<MatchBy>(), default_value = MatchBy::default().name(), conflicts_with_all = ["run", "scores"])]
    match_by: MatchBy,
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

impl Args {
    fn request(&self) -> Result<EvalRequest, Failure> {
        let input = match (&self.run, &self.qrels, &self.scores) {
            (Some(run), Some(qrels), _) => EvalInput::run(run, qrels),
            (_, _, Some(scores)) => EvalInput::scores(scores, self.read.files(&self.inputs)?),
            _ => EvalInput::Model {
                model: None,
                data: self.read.files(&self.inputs)?.into(),
                matching: match_options(self.match_by, self.ignore_extra),
            },
        };
        let request = EvalRequest::new(input).metrics(self.metrics.specs()?);
        Ok(request.depth(self.metrics.depth()))
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let request = args.request()?;
    args.report.check([], &request, out)?;
    let result = run_task(out, |context| eval(&request, context))?;
    args.report.write(&[("value", &result.evaluation)], &request)?;
    out.show(&result, |result| args.report.table.draw(&table(&result.evaluation)))
}
