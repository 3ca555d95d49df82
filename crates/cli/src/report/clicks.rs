//! `report clicks`: a page on a click log.

use std::path::PathBuf;

use rankwright::clicks::ClickModel;
use rankwright::tasks::{ReportClicksRequest, report_clicks};

use crate::clicks::{BiasArgs, ClickLogArgs};
use crate::failure::Failure;
use crate::output::Output;
use crate::page::PageArgs;
use crate::progress::run_task;

/// Describe a click log on a page: click rates and position bias by rank with intervals, the fit of
/// click models, and queries.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    log: ClickLogArgs,
    #[command(flatten)]
    bias: BiasArgs,
    /// Click models; all of them if not given. Several are separated by +: `pbm+ubm(iterations=20)`
    #[arg(long, value_name = "SPEC+...")]
    models: Option<String>,
    /// Another log to measure the fitted click models on, read with the same options
    #[arg(long, value_name = "LOG")]
    test: Vec<PathBuf>,
    #[command(flatten)]
    page: PageArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let mut request = ReportClicksRequest::new(args.log.files())
        .estimators(args.bias.estimators())
        .options(args.bias.options())
        .features(args.bias.features().map(Into::into));
    if !args.test.is_empty() {
        request = request.test(args.log.like(&args.test));
    }
    if let Some(models) = &args.models {
        let models = models.split('+').map(ClickModel::parse).collect::<Result<_, _>>()?;
        request = request.models(models);
    }
    args.page.check(&request, out)?;
    let result = run_task(out, |context| report_clicks(&request, context))?;
    args.page.finish(&result.report.page(), &request, &result, out)
}
