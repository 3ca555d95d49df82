//! `report shrinkage`: a page on one learner with several shrinkages.

use std::path::PathBuf;

use rankwright::data::DEFAULT_SEED;
use rankwright::eval::MetricSpec;
use rankwright::learn::LearnerSpec;
use rankwright::model::MatchBy;
use rankwright::tasks::{ReportShrinkageRequest, report_shrinkage};

use crate::declared::choices;
use crate::failure::Failure;
use crate::input::{ReadArgs, match_options, validation};
use crate::output::Output;
use crate::page::PageArgs;
use crate::progress::run_training;

/// Train one learner once for each shrinkage and overlay the learning curves.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Feature data to train on; several files are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Validation data; may be repeated, each a separate set. The first determines the best round.
    /// Without it a fifth of the queries, drawn at random with the seed, is held out
    #[arg(long, value_name = "DATA")]
    valid: Vec<PathBuf>,
    /// The learner; its rate is replaced. See `list learners`
    #[arg(long, short, value_name = "SPEC", default_value = ReportShrinkageRequest::DEFAULT_LEARNER)]
    learner: String,
    /// The shrinkages (learning rates), separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = ReportShrinkageRequest::DEFAULT_RATES)]
    rates: Vec<f64>,
    /// The metric; the learner's own metric if not given
    #[arg(long, short, value_name = "SPEC")]
    metric: Option<String>,
    /// Number of trees, instead of that of the learner's spec
    #[arg(long, value_name = "N")]
    trees: Option<usize>,
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
    fn request(&self) -> Result<ReportShrinkageRequest, Failure> {
        let data = self.read.files(&self.data)?;
        let learner = LearnerSpec::parse(&self.learner)?;
        let mut request = ReportShrinkageRequest::new(learner, self.rates.clone(), data);
        request.trees = self.trees;
        request.valid = validation(&self.valid, None);
        request.metric = self.metric.as_deref().map(MetricSpec::parse).transpose()?;
        request.seed = self.seed;
        request.matching = match_options(self.match_by, self.ignore_extra);
        Ok(request)
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let request = args.request()?;
    args.page.check(&request, out)?;
    let result = run_training(out, |context| report_shrinkage(&request, context))?;
    args.page.finish(&result.report.page(), &request, &result, out)
}
