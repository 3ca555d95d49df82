//! `report tradeoff`: a page on one learner with two goals.

use std::path::PathBuf;

use rankwright::data::DEFAULT_SEED;
use rankwright::experiment::TradeOffGoal;
use rankwright::learn::LearnerSpec;
use rankwright::model::MatchBy;
use rankwright::tasks::{ReportTradeOffRequest, TaskError, report_trade_off};

use crate::declared::choices;
use crate::failure::Failure;
use crate::input::{ReadArgs, match_options};
use crate::output::Output;
use crate::page::PageArgs;
use crate::progress::run_training;

/// Train one learner with several weights of two goals and draw their trade-off.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Feature data to train on; several files are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Validation data, on which models are chosen and both goals are measured. Without it a fifth
    /// of the queries, drawn at random with the seed, is held out
    #[arg(long, value_name = "DATA")]
    valid: Option<PathBuf>,
    /// The learner; its metric and labels are replaced. See `list learners`
    #[arg(long, short, value_name = "SPEC", default_value = ReportTradeOffRequest::DEFAULT_LEARNER)]
    learner: String,
    /// The first goal: a metric, or a metric on a column of labels, such as `ndcg@10 on clicks`
    #[arg(long, value_name = "GOAL", default_value = "ndcg@10")]
    first: String,
    /// The second goal, which differs from the first one either in its metric or in its labels
    #[arg(long, value_name = "GOAL")]
    second: String,
    /// Weights of the second goal from 0 to 1, separated by commas; that of the first is the rest
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = ReportTradeOffRequest::DEFAULT_WEIGHTS)]
    weights: Vec<f64>,
    /// Tolerances, separated by commas: for each, the learner is also trained on the second goal
    /// with the first one kept within it
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    keep: Vec<f64>,
    /// Seed of the trainings, and of the held-out queries
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// Ignore features of --valid that the training data does not know
    #[arg(long)]
    ignore_extra: bool,
    /// Rule that matches the features of --valid with those of the training data
    #[arg(long, value_parser = choices::<MatchBy>(), default_value = MatchBy::default().name())]
    match_by: MatchBy,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    read: ReadArgs,
}

impl Args {
    fn request(&self) -> Result<ReportTradeOffRequest, Failure> {
        let data = self.read.files(&self.data)?;
        let learner = LearnerSpec::parse(&self.learner)?;
        let goal = |text: &str| TradeOffGoal::parse(text).map_err(TaskError::from);
        let goals = [goal(&self.first)?, goal(&self.second)?];
        let mut request = ReportTradeOffRequest::new(learner, goals, data)
            .weights(self.weights.clone())
            .tolerances(self.keep.clone())
            .seed(self.seed);
        request.valid = self.valid.clone();
        request.matching = match_options(self.match_by, self.ignore_extra);
        Ok(request)
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let request = args.request()?;
    args.page.check(&request, out)?;
    let result = run_training(out, |context| report_trade_off(&request, context))?;
    args.page.finish(&result.report.page(), &request, &result, out)
}
