//! The most frequent queries.

use rankwright_clicks::LogSummary;

use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping};
use crate::page::{PageBlock, Section};

/// The section: a chart of the most frequent queries, with their share of all impressions.
pub(super) fn section(summary: &LogSummary) -> Section {
    let shown: u64 = summary.top_queries.iter().map(|query| query.impressions).sum();
    let all = summary.ranks.first().map_or(0, |rank| rank.shown);
    let share = if all > 0 { 100.0 * shown as f64 / all as f64 } else { 0.0 };
    let chart = Chart {
        id: "queries-chart".to_owned(),
        title: "Most frequent queries".to_owned(),
        caption: format!(
            "Impressions of the most frequent queries: {share:.1} % of all. Estimates for rare queries \
             depend on few impressions."
        ),
        x: Axis { label: "Query".to_owned(), ..Axis::default() },
        y: Axis { label: "Impressions".to_owned(), ..Axis::default() },
        body: Body::Bars(Bars {
            categories: summary.top_queries.iter().map(|query| query.query.clone()).collect(),
            series: vec![BarSeries {
                name: "Impressions".to_owned(),
                values: summary.top_queries.iter().map(|q| q.impressions as f64).collect(),
                ..BarSeries::default()
            }],
            grouping: Grouping::Beside,
            horizontal: true,
        }),
    };
    Section {
        id: "queries".to_owned(),
        title: "Queries".to_owned(),
        blocks: vec![PageBlock::Chart(chart)],
    }
}
