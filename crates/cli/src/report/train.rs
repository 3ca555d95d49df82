//! `report train`: a page on the training of a model.

use std::path::PathBuf;

use rankwright::model::MatchBy;
use rankwright::report::training::TrainingReportParams;
use rankwright::tasks::{ReportTrainingRequest, report_training};

use crate::declared::{choices, help, value};
use crate::failure::Failure;
use crate::input::{ReadArgs, match_options, validation};
use crate::measures::specs;
use crate::output::Output;
use crate::page::PageArgs;
use crate::progress::run_task;

/// Show the training of a model: learning curves, lambdas, labels by rank, forces on the documents
/// of a query, time, feature importance and trees. The log beside the model (MODEL.log.json) has
/// what cannot be computed again: times, and the curves of a model without trees.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The data that it was trained on; several files are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Validation data; may be repeated, each a separate set. The first determines the best round
    #[arg(long, value_name = "DATA")]
    valid: Vec<PathBuf>,
    /// A metric; may be repeated, and the first determines the best round. If not given: the metric
    /// of the model's training, or ndcg@10 if the model names none
    #[arg(long = "metric", short, value_name = "SPEC")]
    metrics: Vec<String>,
    /// The query whose forces are drawn. If not given: one of 10 to 20 documents, if there is any,
    /// with many different labels and a typical value of the metric
    #[arg(long, value_name = "ID")]
    query: Option<String>,
    #[arg(long, value_name = "N", help = help::<TrainingReportParams>("points"))]
    #[arg(default_value_t = TrainingReportParams::default().points)]
    #[arg(value_parser = value::<TrainingReportParams, usize>("points"))]
    points: usize,
    #[arg(long, value_name = "N", help = help::<TrainingReportParams>("trees"))]
    #[arg(default_value_t = TrainingReportParams::default().trees)]
    #[arg(value_parser = value::<TrainingReportParams, usize>("trees"))]
    trees: usize,
    #[arg(long, value_name = "N", help = help::<TrainingReportParams>("seed"))]
    #[arg(default_value_t = TrainingReportParams::default().seed)]
    seed: u64,
    /// Ignore features of the data that the model does not know
    #[arg(long)]
    ignore_extra: bool,
    /// Rule that matches the features of the data with those of the model
    #[arg(long, value_parser = choices::<MatchBy>(), default_value = MatchBy::default().name())]
    match_by: MatchBy,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    read: ReadArgs,
}

impl Args {
    fn request(&self) -> Result<ReportTrainingRequest, Failure> {
        let data = self.read.files(&self.data)?;
        let mut request = ReportTrainingRequest::new(&self.model, data);
        request.valid = validation(&self.valid, None);
        request.metrics = specs(&self.metrics)?;
        request.query = self.query.clone();
        request.points = self.points;
        request.trees = self.trees;
        request.seed = self.seed;
        request.matching = match_options(self.match_by, self.ignore_extra);
        Ok(request)
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let request = args.request()?;
    args.page.check(&request, out)?;
    let result = run_task(out, |context| report_training(&request, context))?;
    args.page.finish(&result.report.page(), &request, &result, out)
}
