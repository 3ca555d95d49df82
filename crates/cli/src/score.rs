//! `score`: scores each row with a model, as numbers, a table with ids, or a run.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use rankwright::data::ScoreFormat;
use rankwright::model::{MatchBy, PredictionKind};
use rankwright::spec::words::counted;
use rankwright::tasks::{ScoreRequest, ScoreResult, score};

use crate::declared::choices;
use crate::failure::Failure;
use crate::input::{ReadArgs, match_options};
use crate::output::Output;
use crate::progress::run_task;

/// Score feature data with a model: one score per line, in the row order of the input; or a table
/// with ids, or a run that `eval` and trec_eval read.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Feature data; several files are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// File for the scores; standard output if not given. The extension chooses the format: .csv,
    /// .tsv, .jsonl, .parquet, .arrow and .run have ids, any other is one score per line
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write query id and document id with each score; rows without document ids have their number
    /// in the input, from 0
    #[arg(long)]
    with_ids: bool,
    /// Format to write, for another extension or standard output
    #[arg(long, value_name = "FORMAT",
        value_parser = PossibleValuesParser::new(ScoreFormat::ALL.map(ScoreFormat::name)))]
    to: Option<String>,
    /// The name of a run, its last column
    #[arg(long, value_name = "NAME", default_value = ScoreRequest::DEFAULT_TAG)]
    tag: String,
    /// Write predictions instead of scores: the most probable grade (ordinal models), the
    /// probability of relevance (logistic, log-loss and ordinal models), or the class 1 or 0 (these
    /// and support vector machines)
    #[arg(long = "as", value_name = "PREDICTION",
        value_parser = PossibleValuesParser::new(PredictionKind::ALL.iter().map(|(name, _)| *name)))]
    predict: Option<String>,
    /// Lowest label that counts as relevant, for probabilities and classes; default: that of the
    /// training, or 1 for ordinal models
    #[arg(long, value_name = "LABEL", requires = "predict")]
    rel: Option<f64>,
    /// Ignore features that the model does not know
    #[arg(long)]
    ignore_extra: bool,
    /// Rule that matches the features of the data with those of the model
    #[arg(long, value_parser = choices::<MatchBy>(), default_value = MatchBy::default().name())]
    match_by: MatchBy,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    if let Some(path) = &args.out {
        out.check_not_stdout(path)?;
    }
    let data = args.read.files(&args.data)?;
    let mut request = ScoreRequest::new(&args.model, data)
        .matching(match_options(args.match_by, args.ignore_extra))
        .ids(args.with_ids)
        .tag(args.tag.as_str());
    request.format = args.to.as_deref().map(ScoreFormat::from_name).transpose()?;
    let kind = PredictionKind::ALL.iter().find(|(name, _)| Some(*name) == args.predict.as_deref());
    request.predict = kind.map(|(_, kind)| *kind);
    request.rel = args.rel;
    // With --json and without --out, the JSON output contains the scores.
    let target = args.out.clone().or_else(|| (!out.json).then(|| "-".into()));
    request.out = target.clone();
    let result = run_task(out, |context| score(&request, context))?;
    match target {
        Some(path) if path == Path::new("-") => Ok(()),
        _ => out.show(&result, text),
    }
}

fn text(result: &ScoreResult) -> String {
    let scores = match &result.predictions {
        Some((kind, _)) => counted(result.rows, kind.name()),
        None => counted(result.rows, "score"),
    };
    match &result.out {
        Some((file, ScoreFormat::Scores)) => format!("{}: {scores}", file.display()),
        Some((file, format)) => format!("{}: {scores}, as {}", file.display(), format.name()),
        None => scores,
    }
}
