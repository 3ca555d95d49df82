//! Click rates by rank, and counts of the log.

use rankwright_clicks::LogSummary;
use rankwright_eval::table::{Align, Cell, Table};

use super::rank_series;
use crate::chart::{Axis, Body, Chart};
use crate::page::{PageBlock, Section};

/// The section: a chart of click rates, a table of ranks, and a table of counts.
pub(super) fn section(summary: &LogSummary) -> Section {
    let values: Vec<Option<f64>> = summary.ranks.iter().map(|rank| Some(rank.rate)).collect();
    let bands: Vec<Option<[f64; 2]>> = summary.ranks.iter().map(|rank| Some(rank.ci95)).collect();
    let chart = Chart {
        id: "click-rates".to_owned(),
        title: "Click rate by rank".to_owned(),
        caption: "The share of impressions in which the document at a rank was clicked, with 95 % \
                  intervals (Wilson). It mixes the position with the relevance of what is shown there."
            .to_owned(),
        x: Axis { label: "Rank".to_owned(), ..Axis::default() },
        y: Axis {
            label: "Click rate".to_owned(),
            limits: Some((0.0, 1.0)),
            ..Axis::default()
        },
        body: Body::Lines(vec![rank_series("click rate", &values, &bands)]),
    };
    let blocks = vec![
        PageBlock::Chart(chart),
        table("ranks", "Ranks", ranks(summary)),
        table("counts", "Counts", counts(summary)),
        PageBlock::Text(links(summary)),
    ];
    Section { id: "rates".to_owned(), title: "Click rates".to_owned(), blocks }
}

fn table(id: &str, title: &str, table: Table) -> PageBlock {
    PageBlock::Table { id: id.to_owned(), title: title.to_owned(), table }
}

fn ranks(summary: &LogSummary) -> Table {
    let names = ["rank", "shown", "clicked", "rate", "95 % interval"];
    let mut table = Table::new(names.map(|name| (name, Align::Right)));
    for rank in &summary.ranks {
        let [low, high] = rank.ci95;
        let cells = [
            rank.rank.to_string(),
            rank.shown.to_string(),
            rank.clicked.to_string(),
            format!("{:.4}", rank.rate),
            format!("{low:.4} to {high:.4}"),
        ];
        table.rows.push(cells.map(Cell::new).to_vec());
    }
    table
}

fn counts(summary: &LogSummary) -> Table {
    let counts = &summary.counts;
    let mut table = Table::new([("quantity", Align::Left), ("value", Align::Right)]);
    for (name, count) in [
        ("impressions", counts.impressions),
        ("impressions with a click", summary.clicked_impressions),
        ("clicks", counts.clicks),
        ("queries", summary.queries as u64),
        ("documents of queries", summary.pairs as u64),
        ("sessions", summary.sessions as u64),
        ("distinct pages", summary.distinct_pages as u64),
        ("repeated clicks on a document", counts.repeated_clicks),
        ("clicks above the click before", counts.upward_clicks),
        ("clicks before their impression", counts.early_clicks),
        ("clicks off their page, left out", counts.off_page_clicks),
        ("clicks without impression, left out", counts.clicks_without_impression),
    ] {
        table.rows.push(vec![name.into(), Cell::new(count.to_string())]);
    }
    table
}

/// A sentence on the ranks that documents link: a document of a query links the ranks at which it
/// was shown.
fn links(summary: &LogSummary) -> String {
    match summary.linked_ranks.as_slice() {
        [] | [_] => {
            "Documents link all ranks: position bias can be told from relevance.".to_owned()
        }
        groups => {
            let ranks = |group: &Vec<usize>| {
                group.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
            };
            let groups: Vec<String> = groups.iter().map(ranks).collect();
            format!(
                "No document links these groups of ranks, so that their position bias cannot be \
                 compared by the documents shown there: {}.",
                groups.join(" | ")
            )
        }
    }
}
