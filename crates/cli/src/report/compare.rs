//! `report compare`: a page that compares systems, query by query.

use rankwright::tasks::{ReportComparisonRequest, report_comparison};

use crate::compare::SystemArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::page::PageArgs;
use crate::progress::run_task;

/// Compare systems on a page, from the same inputs as `compare`: models on one data set (`DATA
/// MODEL MODEL...`), score files for it (`--scores A --scores B DATA...`), or runs (`--qrels QRELS
/// RUN RUN...`).
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    systems: SystemArgs,
    /// Show the changes within this query; may be repeated. If not given: the largest win, the
    /// largest loss and the one in the middle
    #[arg(long = "query", value_name = "ID")]
    queries: Vec<String>,
    #[command(flatten)]
    page: PageArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let request =
        ReportComparisonRequest::new(args.systems.request()?).queries(args.queries.clone());
    args.page.check(&request, out)?;
    let result = run_task(out, |context| report_comparison(&request, context))?;
    args.page.finish(&result.report.page(), &request, &result, out)
}
