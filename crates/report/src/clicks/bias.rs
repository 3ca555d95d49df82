//! Position bias by several estimators.

use rankwright_clicks::bias::PositionBias;
use rankwright_eval::table::{Align, Cell, Table};

use super::rank_series;
use crate::chart::{Axis, Body, Chart};
use crate::page::{PageBlock, Section};

/// The section: a chart of all estimates, and a table; none without estimates.
pub(super) fn section(bias: &[PositionBias]) -> Option<Section> {
    let drawn: Vec<&PositionBias> = bias.iter().filter(|bias| bias.refusal.is_none()).collect();
    if bias.is_empty() {
        return None;
    }
    let mut blocks = Vec::new();
    if !drawn.is_empty() {
        let series = drawn.iter().map(|bias| {
            let mut series = rank_series(bias.estimator, &bias.examination, &bias.ci95);
            series.dashed = bias.estimator == "click-rate";
            series
        });
        blocks.push(PageBlock::Chart(Chart {
            id: "bias-chart".to_owned(),
            title: "Examination by rank".to_owned(),
            caption: "How often a rank is examined, relative to rank 1, with 95 % intervals of a \
                      bootstrap over impressions. The dashed click rates correct nothing."
                .to_owned(),
            x: Axis { label: "Rank".to_owned(), ..Axis::default() },
            y: Axis {
                label: "Examination".to_owned(),
                limits: Some((0.0, f64::INFINITY)),
                ..Axis::default()
            },
            body: Body::Lines(series.collect()),
        }));
        blocks.push(PageBlock::Table {
            id: "bias-values".to_owned(),
            title: "Examination relative to rank 1".to_owned(),
            table: table(&drawn),
        });
    }
    for bias in bias {
        if let Some(refusal) = &bias.refusal {
            blocks.push(PageBlock::Text(format!("{} has no estimate: {refusal}.", bias.estimator)));
        }
    }
    Some(Section { id: "bias".to_owned(), title: "Position bias".to_owned(), blocks })
}

fn table(estimates: &[&PositionBias]) -> Table {
    let names = std::iter::once("rank").chain(estimates.iter().map(|bias| bias.estimator));
    let mut table = Table::new(names.map(|name| (name, Align::Right)));
    let ranks = estimates.iter().map(|bias| bias.examination.len()).max().unwrap_or(0);
    for rank in 0..ranks {
        let value = |bias: &&PositionBias| {
            let value = bias.examination.get(rank).copied().flatten();
            Cell::new(value.map_or("-".to_owned(), |value| format!("{value:.3}")))
        };
        let number = Cell::new((rank + 1).to_string());
        table.rows.push(std::iter::once(number).chain(estimates.iter().map(value)).collect());
    }
    table
}
