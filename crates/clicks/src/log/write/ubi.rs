//! UBI 1.3 (User Behavior Insights): a query with the shown documents, and an event for each click.
//! Ranker, device and propensities are attributes of the query.

use std::io::{self, Write};

use rankwright_data::PointInTime;
use serde::Serialize;

use super::json::{is_empty, write_line};
use crate::impression::Impression;

#[derive(Serialize)]
struct QueryLine<'a> {
    query_id: &'a str,
    #[serde(skip_serializing_if = "is_empty")]
    client_id: &'a str,
    #[serde(skip_serializing_if = "is_empty")]
    session_id: &'a str,
    user_query: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<&'a str>,
    #[serde(skip_serializing_if = "QueryAttributes::is_empty")]
    query_attributes: QueryAttributes<'a>,
    query_response_hit_ids: &'a [String],
}

#[derive(Serialize)]
struct QueryAttributes<'a> {
    #[serde(skip_serializing_if = "is_empty")]
    ranker: &'a str,
    #[serde(skip_serializing_if = "is_empty")]
    device: &'a str,
    #[serde(skip_serializing_if = "<[f64]>::is_empty")]
    propensities: &'a [f64],
}

impl QueryAttributes<'_> {
    fn is_empty(&self) -> bool {
        self.ranker.is_empty() && self.device.is_empty() && self.propensities.is_empty()
    }
}

#[derive(Serialize)]
struct EventLine<'a> {
    action_name: &'static str,
    query_id: &'a str,
    #[serde(skip_serializing_if = "is_empty")]
    client_id: &'a str,
    #[serde(skip_serializing_if = "is_empty")]
    session_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<String>,
    event_attributes: EventAttributes<'a>,
}

#[derive(Serialize)]
struct EventAttributes<'a> {
    object: EventObject<'a>,
    position: EventPosition,
}

#[derive(Serialize)]
struct EventObject<'a> {
    object_id: &'a str,
}

#[derive(Serialize)]
struct EventPosition {
    ordinal: usize,
}

/// The time as text; `None` before the year 0 and after 9999.
fn timestamp(seconds: f64) -> Option<String> {
    PointInTime::from_seconds(seconds)?.to_iso()
}

/// Writes a page and its clicks; false if a time cannot be written.
pub(super) fn write(out: &mut dyn Write, id: &str, page: &Impression) -> io::Result<bool> {
    let time = page.time.and_then(timestamp);
    let mut has_times = time.is_some() || page.time.is_none();
    let query = QueryLine {
        query_id: id,
        client_id: &page.user,
        session_id: &page.session,
        user_query: &page.query,
        timestamp: time.as_deref(),
        query_attributes: QueryAttributes {
            ranker: &page.ranker,
            device: &page.device,
            propensities: &page.propensities,
        },
        query_response_hit_ids: &page.documents,
    };
    write_line(out, &query)?;
    for click in &page.clicks {
        let Some(document) = page.documents.get(click.index) else { continue };
        let time = click.time.and_then(timestamp);
        has_times &= time.is_some() || click.time.is_none();
        let event = EventLine {
            action_name: "click",
            query_id: id,
            client_id: &page.user,
            session_id: &page.session,
            timestamp: time,
            event_attributes: EventAttributes {
                object: EventObject { object_id: document },
                position: EventPosition { ordinal: click.index + 1 },
            },
        };
        write_line(out, &event)?;
    }
    Ok(has_times)
}
