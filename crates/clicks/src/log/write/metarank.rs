//! Metarank's events: a ranking with its items, and an interaction for each click. Query, ranker
//! and device are fields of the ranking, a propensity is one of its item. Times are milliseconds;
//! [`timestamp`] says which ones are seconds.

use std::io::{self, Write};

use serde::Serialize;

use super::json::{is_empty, write_line};
use crate::impression::Impression;

#[derive(Serialize)]
struct RankingLine<'a> {
    event: &'static str,
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    #[serde(skip_serializing_if = "is_empty")]
    user: &'a str,
    #[serde(skip_serializing_if = "is_empty")]
    session: &'a str,
    fields: Vec<RankingField<'a>>,
    items: Vec<RankedItem<'a>>,
}

#[derive(Serialize)]
struct RankingField<'a> {
    name: &'static str,
    value: &'a str,
}

#[derive(Serialize)]
struct RankedItem<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<[ItemField; 1]>,
}

#[derive(Serialize)]
struct ItemField {
    name: &'static str,
    value: f64,
}

#[derive(Serialize)]
struct InteractionLine<'a> {
    event: &'static str,
    id: String,
    ranking: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    #[serde(skip_serializing_if = "is_empty")]
    user: &'a str,
    #[serde(skip_serializing_if = "is_empty")]
    session: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    item: &'a str,
}

/// A time as Metarank writes it: in milliseconds. Our reader guesses the unit by the size of the
/// number (`PointInTime`) and would take milliseconds below 1e11 for seconds; such times, and those
/// with a part of a millisecond, are written as seconds.
fn timestamp(seconds: f64) -> String {
    let milliseconds = seconds * 1e3;
    match milliseconds.fract() == 0.0 && milliseconds.abs() >= 1e11 {
        true => format!("{milliseconds}"),
        false => format!("{seconds}"),
    }
}

/// Writes a page and its clicks.
pub(super) fn write(out: &mut dyn Write, id: &str, page: &Impression) -> io::Result<()> {
    let fields = [("query", &page.query), ("ranker", &page.ranker), ("device", &page.device)];
    let is_given = |(name, value): &(&str, &String)| *name == "query" || !value.is_empty();
    let fields = fields.into_iter().filter(is_given);
    let propensity = |index: usize| {
        let value = *page.propensities.get(index)?;
        Some([ItemField { name: "propensity", value }])
    };
    let items = page.documents.iter().enumerate();
    let ranking = RankingLine {
        event: "ranking",
        id,
        timestamp: page.time.map(timestamp),
        user: &page.user,
        session: &page.session,
        fields: fields.map(|(name, value)| RankingField { name, value }).collect(),
        items: items.map(|(index, id)| RankedItem { id, fields: propensity(index) }).collect(),
    };
    write_line(out, &ranking)?;
    for (number, click) in page.clicks.iter().enumerate() {
        let Some(item) = page.documents.get(click.index) else { continue };
        let interaction = InteractionLine {
            event: "interaction",
            id: format!("{id}-{}", number + 1),
            ranking: id,
            timestamp: click.time.map(timestamp),
            user: &page.user,
            session: &page.session,
            kind: "click",
            item,
        };
        write_line(out, &interaction)?;
    }
    Ok(())
}
