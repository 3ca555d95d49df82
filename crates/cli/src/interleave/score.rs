//! `interleave score`: the table of wins and losses of an interleaved comparison.

use std::path::PathBuf;

use rankwright::clicks::interleave::InterleavingOptions;
use rankwright::eval::stats::Correction;
use rankwright::eval::table::Table;
use rankwright::tasks::{
    InterleavingCluster, ScoreInterleavingRequest, ScoreInterleavingResult, WithPage,
    score_interleaving,
};

use crate::clicks::{ReadingArgs, choice};
use crate::declared::{help, value};
use crate::failure::Failure;
use crate::output::Output;
use crate::page::ExtraPage;
use crate::progress::run_task;

/// Compare the rankers by the clicks on interleaved lists. An impression of the log shows the list
/// whose request id is its own id (the query_id of UBI, the id of a ranking of Metarank); one
/// without such an id the list of its query that has the same documents.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Click log, in any format of `clicks`; several files are one log
    #[arg(value_name = "EVENTS", required = true)]
    events: Vec<PathBuf>,
    /// The interleaved lists that were shown, as `interleave --out` wrote them
    #[arg(long, value_name = "LISTS")]
    lists: PathBuf,
    /// Impressions that the bootstrap of the interval keeps together: those of a user (of a
    /// session, for impressions without a user), of a query, or each impression by itself
    #[arg(long, value_name = "NAME", default_value = InterleavingCluster::default().name(), value_parser = choice::<InterleavingCluster>)]
    by: InterleavingCluster,
    /// Correction of the p-values if there are more than two rankers: holm, bonferroni or none
    #[arg(long, value_name = "RULE", default_value_t = Correction::default())]
    correction: Correction,
    #[arg(
        long,
        value_name = "N",
        default_value_t = InterleavingOptions::default().samples,
        value_parser = value::<InterleavingOptions, usize>("samples"),
        help = help::<InterleavingOptions>("samples")
    )]
    samples: usize,
    #[arg(
        long,
        value_name = "N",
        default_value_t = InterleavingOptions::default().seed,
        help = help::<InterleavingOptions>("seed")
    )]
    seed: u64,
    #[command(flatten)]
    page: ExtraPage,
    #[command(flatten)]
    reading: ReadingArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let options = InterleavingOptions::default().samples(args.samples).seed(args.seed);
    let log = args.reading.files(&args.events);
    let request = ScoreInterleavingRequest::new(log, &args.lists)
        .cluster(args.by)
        .correction(args.correction)
        .options(options);
    args.page.check(&request, out)?;
    let result = run_task(out, |context| score_interleaving(&request, context))?;
    let page = args.page.write(|| result.report().page(), &request, out)?;
    match args.page.is_standard_output() {
        true => Ok(()),
        false => out.show(&WithPage { result: &result, page }, |_| text(&result)),
    }
}

/// The table of wins and losses, the differences with their tests, and the impressions that are
/// needed.
fn text(result: &ScoreInterleavingResult) -> String {
    let report = result.report();
    let tables =
        [Some(report.counts_table()), Some(report.difference_table()), report.power_table()];
    let tables: Vec<String> = tables.iter().flatten().map(Table::to_text).collect();
    tables.join("\n")
}
