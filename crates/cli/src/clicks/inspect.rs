//! `clicks inspect`: the content of a click log.

use rankwright::clicks::LogSummary;
use rankwright::eval::table::{Align, Cell, Table};
use rankwright::spec::words::counted;
use rankwright::tasks::{InspectClicksRequest, inspect_clicks};

use super::ClickLogArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

/// Count and describe a click log.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    log: ClickLogArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let request = InspectClicksRequest::new(args.log.files());
    let result = run_task(out, |context| inspect_clicks(&request, context))?;
    out.show(&result, |result| text(&result.summary))
}

fn text(summary: &LogSummary) -> String {
    let names = ["rank", "shown", "clicked", "rate", "95% interval", "documents", "at other ranks"];
    let mut ranks = Table::new(names.map(|name| (name, Align::Right)));
    for (rank, links) in summary.ranks.iter().zip(&summary.rank_links) {
        let [low, high] = rank.ci95;
        let cells = [
            rank.rank.to_string(),
            rank.shown.to_string(),
            rank.clicked.to_string(),
            format!("{:.4}", rank.rate),
            format!("{low:.4} to {high:.4}"),
            links.documents.to_string(),
            links.linked.to_string(),
        ];
        ranks.rows.push(cells.map(Cell::new).to_vec());
    }
    let mut queries =
        Table::new([("most frequent queries", Align::Left), ("impressions", Align::Right)]);
    for query in &summary.top_queries {
        let count = Cell::new(query.impressions.to_string());
        queries.rows.push(vec![Cell::new(query.query.as_str()), count]);
    }
    let tables = [counts(summary).to_text(), ranks.to_text(), queries.to_text()];
    format!("{}\n{}{}{}", tables.join("\n"), skew(summary), dwell(summary), links(summary))
}

fn skew(summary: &LogSummary) -> String {
    let skew = &summary.skew;
    format!(
        "The most frequent tenth of the queries has {:.0} % of the impressions (Gini {:.2}); of {} there is one impression only.\n",
        skew.top_tenth * 100.0,
        skew.gini,
        counted(skew.once, "query")
    )
}

fn dwell(summary: &LogSummary) -> String {
    summary.dwell.map_or(String::new(), |dwell| {
        format!(
            "Time until the next click on the page: median {} s, {:.0} % at least 30 s ({}).\n",
            dwell.median_seconds,
            dwell.long * 100.0,
            counted(dwell.clicks as usize, "click")
        )
    })
}

fn counts(summary: &LogSummary) -> Table {
    let counts = &summary.counts;
    let mut table = Table::new([("quantity", Align::Left), ("value", Align::Right)]);
    let mut line = |name: &str, count: u64, always: bool| {
        if always || count > 0 {
            table.rows.push(vec![name.into(), Cell::new(count.to_string())]);
        }
    };
    line("impressions", counts.impressions, true);
    line("impressions with a click", summary.clicked_impressions, true);
    line("clicks", counts.clicks, true);
    line("queries", summary.queries as u64, true);
    line("documents of queries", summary.pairs as u64, true);
    line("sessions", summary.sessions as u64, false);
    line("users", summary.users as u64, false);
    line("distinct pages", summary.distinct_pages as u64, true);
    line("repeated clicks on a document", counts.repeated_clicks, false);
    line("clicks above the click before", counts.upward_clicks, false);
    line("clicks before their impression", counts.early_clicks, false);
    line("clicks off their page, left out", counts.off_page_clicks, false);
    line("clicks without impression, left out", counts.clicks_without_impression, false);
    line("impressions with the id of an earlier one, left out", counts.repeated_impressions, false);
    line("impressions without documents, left out", counts.empty_impressions, false);
    line("repeated or early clicks, left out as requested", counts.dropped_clicks, false);
    line("users or sessions that are bots", counts.bots, false);
    line("impressions of bots", counts.bot_impressions, false);
    line("impressions of bots, left out as requested", counts.dropped_impressions, false);
    line("other events", counts.other_events, false);
    table
}

fn links(summary: &LogSummary) -> String {
    match summary.linked_ranks.as_slice() {
        [] | [_] => "Each rank shares documents with others, directly or through further ranks: position bias can be estimated.\n".to_owned(),
        groups => {
            let ranks = |group: &Vec<usize>| {
                group.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
            };
            let groups: Vec<String> = groups.iter().map(ranks).collect();
            format!(
                "No document was shown at ranks of two of these groups, so the position bias of one group cannot be compared with that of another: {}\n",
                groups.join(" | ")
            )
        }
    }
}
