//! `clicks simulate`: a click log of simulated users.

use std::path::{Path, PathBuf};

use rankwright::clicks::simulate::{LoggingRanker, SimulatedUser};
use rankwright::model::MatchBy;
use rankwright::spec::words::counted;
use rankwright::tasks::{
    LoggingScores, SimulateClicksRequest, SimulateClicksResult, SimulateOptions, simulate_clicks,
};

use crate::declared::{choices, help, value};
use crate::failure::Failure;
use crate::input::{ReadArgs, match_options};
use crate::output::Output;
use crate::progress::run_task;

/// Simulate users that click on rankings of labelled data, and write the log as JSON lines.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Feature data; its labels are the grades that users see
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// Model whose rankings are shown
    #[arg(value_name = "MODEL", required_unless_present = "by_feature")]
    model: Option<PathBuf>,
    /// Show rankings by the values of a feature, by its name or number, instead of those of a model
    #[arg(long, value_name = "ID", conflicts_with = "model")]
    by_feature: Option<String>,
    /// Show the lowest scores first
    #[arg(long)]
    reverse: bool,
    /// Users: pbm, cascade, dbn or trust, with exam=inverse|ultra|geometric, eta, noise, max, or click
    /// probabilities by grade: `pbm(click=.1/.4/1)`
    #[arg(long, value_name = "SPEC", default_value_t = SimulatedUser::default().spec())]
    user: String,
    #[arg(
        long,
        value_name = "N",
        default_value_t = SimulateOptions::default().sessions,
        value_parser = value::<SimulateOptions, u64>("sessions"),
        help = help::<SimulateOptions>("sessions")
    )]
    sessions: u64,
    #[arg(
        long,
        value_name = "K",
        value_parser = value::<SimulateOptions, usize>("top"),
        help = help::<SimulateOptions>("top")
    )]
    top: Option<usize>,
    /// Ranker: fixed, plackett-luce(temperature=1) or random; the latter two log propensities
    #[arg(long, value_name = "SPEC", default_value_t = LoggingRanker::default().spec())]
    ranker: String,
    /// Write equal pages of a query as one line with their number, so that a log of many sessions
    /// stays small
    #[arg(long)]
    count: bool,
    #[arg(
        long,
        value_name = "N",
        default_value_t = SimulateOptions::default().seed,
        help = help::<SimulateOptions>("seed")
    )]
    seed: u64,
    /// The log: JSON lines, compressed if the name ends in .gz or .zst
    #[arg(long, value_name = "LOG")]
    out: PathBuf,
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
    out.check_not_stdout(&args.out)?;
    let scores = match (&args.model, &args.by_feature) {
        (Some(model), _) => LoggingScores::Model(model.into()),
        (None, Some(feature)) => LoggingScores::Feature(feature.clone()),
        // The parser requires one of them.
        (None, None) => return Err(Failure::usage("give a model, or --by-feature")),
    };
    let data = args.read.files(std::slice::from_ref(&args.data))?;
    let request = SimulateClicksRequest::new(data, scores)
        .user(SimulatedUser::parse(&args.user)?)
        .out(&args.out)
        .matching(match_options(args.match_by, args.ignore_extra))
        .reverse(args.reverse)
        .ranker(LoggingRanker::parse(&args.ranker)?)
        .sessions(args.sessions)
        .top(args.top)
        .count_pages(args.count)
        .seed(args.seed);
    let result = run_task(out, |context| simulate_clicks(&request, context))?;
    out.show(&result, |result| text(&args.out, result))
}

fn text(file: &Path, result: &SimulateClicksResult) -> String {
    format!(
        "{}: {} of {} by {}, with {} of {}; {} without a click\n",
        file.display(),
        counted(result.impressions as usize, "impression"),
        counted(result.queries, "query"),
        result.ranker,
        counted(result.clicks as usize, "click"),
        result.user,
        result.without_click
    )
}
