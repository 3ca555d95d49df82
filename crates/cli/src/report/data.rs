//! `report data`: a page that describes a data set.

use std::path::PathBuf;

use rankwright::data::DEFAULT_SEED;
use rankwright::report::data::DataOptions;
use rankwright::tasks::{ReportDataRequest, report_data};

use crate::failure::Failure;
use crate::input::ReadArgs;
use crate::output::Output;
use crate::page::PageArgs;
use crate::progress::run_task;

/// Describe a data set on a page: labels, sizes of queries, the relation of each feature to
/// relevance, near-duplicate features, missing and unusual values.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Data files; several are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Metric of the single-feature rankers
    #[arg(long, short, value_name = "SPEC", default_value_t = DataOptions::default().metric)]
    metric: String,
    /// Number of features shown in charts, the strongest relation to relevance first
    #[arg(long, value_name = "N", default_value_t = DataOptions::default().top as u32, value_parser = clap::value_parser!(u32).range(1..=50))]
    top: u32,
    /// Number of documents on which features are compared with each other
    #[arg(long, value_name = "N", default_value_t = DataOptions::default().sample as u32, value_parser = clap::value_parser!(u32).range(2..))]
    sample: u32,
    /// Seed of that sample
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let options = DataOptions::default()
        .metric(&args.metric)
        .top(args.top as usize)
        .sample(args.sample as usize)
        .seed(args.seed);
    let request = ReportDataRequest::new(args.read.files(&args.data)?).options(options);
    args.page.check(&request, out)?;
    let result = run_task(out, |context| report_data(&request, context))?;
    args.page.finish(&result.report.page(), &request, &result, out)
}
