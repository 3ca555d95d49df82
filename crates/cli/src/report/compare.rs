//! `report compare`: which system is better, and where.

use rankwright::tasks::{CompareResult, check_output, compare_systems};

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
    /// Show what changed within this query; may be repeated. If not given: the largest win, the
    /// largest loss and one in the middle
    #[arg(long = "query", value_name = "ID")]
    queries: Vec<String>,
    #[command(flatten)]
    page: PageArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let request = args.systems.request()?;
    check_output(&args.page.out, request.input.paths())?;
    let result = run_task(out, |context| compare_systems(&request, context))?;
    let CompareResult { systems, comparison, data_name, sources, .. } = result;
    let report = args.systems.report(systems, comparison, &data_name)?;
    let report =
        args.systems.add_query_details(report, &data_name, &sources, &args.queries, out)?;
    args.page.finish(&report.page(), &report, out)
}
