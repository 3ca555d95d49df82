//! `report data`: a page that describes a data set.

use std::path::PathBuf;

use rankwright::report::data::DataOptions;
use rankwright::tasks::{ReportDataRequest, report_data};

use crate::declared::{help, value};
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
    #[arg(long, short, value_name = "SPEC", help = help::<DataOptions>("metric"))]
    #[arg(default_value_t = DataOptions::default().metric.as_str().to_owned())]
    metric: String,
    #[arg(long, value_name = "N", help = help::<DataOptions>("top"))]
    #[arg(default_value_t = DataOptions::default().top)]
    #[arg(value_parser = value::<DataOptions, usize>("top"))]
    top: usize,
    #[arg(long, value_name = "N", help = help::<DataOptions>("sample"))]
    #[arg(default_value_t = DataOptions::default().sample)]
    #[arg(value_parser = value::<DataOptions, usize>("sample"))]
    sample: usize,
    #[arg(long, value_name = "N", help = help::<DataOptions>("seed"))]
    #[arg(default_value_t = DataOptions::default().seed)]
    seed: u64,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let options = DataOptions::default()
        .metric(args.metric.as_str())
        .top(args.top)
        .sample(args.sample)
        .seed(args.seed);
    let request = ReportDataRequest::new(args.read.files(&args.data)?).options(options);
    args.page.check(&request, out)?;
    let result = run_task(out, |context| report_data(&request, context))?;
    args.page.finish(&result.report.page(), &request, &result, out)
}
