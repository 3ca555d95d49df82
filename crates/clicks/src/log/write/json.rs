//! JSON lines of pages with lists of documents and clicks, and what writers of JSON share.

use std::io::{self, Write};

use serde::Serialize;

use crate::impression::Impression;

/// Writes a value as one line.
pub(super) fn write_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Whether a text is left out because it is empty.
pub(super) fn is_empty(text: &str) -> bool {
    text.is_empty()
}

#[derive(Serialize)]
struct PageLine<'a> {
    #[serde(skip_serializing_if = "is_empty")]
    impression: &'a str,
    #[serde(skip_serializing_if = "is_empty")]
    session: &'a str,
    #[serde(skip_serializing_if = "is_empty")]
    user: &'a str,
    query: &'a str,
    docs: &'a [String],
    clicks: Vec<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    #[serde(skip_serializing_if = "is_empty")]
    ranker: &'a str,
    #[serde(skip_serializing_if = "is_empty")]
    device: &'a str,
    #[serde(skip_serializing_if = "<[f64]>::is_empty")]
    propensities: &'a [f64],
    #[serde(skip_serializing_if = "is_one")]
    count: u64,
}

/// Whether a count is left out because it is that of an ordinary line.
fn is_one(count: &u64) -> bool {
    *count == 1
}

/// Writes a page with its lists.
pub(super) fn write_page(out: &mut dyn Write, page: &Impression) -> io::Result<()> {
    let line = PageLine {
        impression: &page.id,
        session: &page.session,
        user: &page.user,
        query: &page.query,
        docs: &page.documents,
        clicks: page.clicked_ranks().into_iter().map(u8::from).collect(),
        time: page.time,
        ranker: &page.ranker,
        device: &page.device,
        propensities: &page.propensities,
        count: page.count,
    };
    write_line(out, &line)
}
