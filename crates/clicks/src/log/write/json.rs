//! JSON lines of pages with lists of documents and clicks, and what writers of JSON share.

use std::io::{self, Write};

use serde::{Serialize, Serializer};

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

/// The JSON form of an impression: a page with lists of documents and clicks.
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    click_times: Vec<Option<f64>>,
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
    write_line(out, page)
}

/// The time of the first click on each document; empty if no click has a time.
fn click_times(page: &Impression) -> Vec<Option<f64>> {
    if page.clicks.iter().all(|click| click.time.is_none()) {
        return Vec::new();
    }
    let first = |index: usize| page.clicks.iter().find(|click| click.index == index);
    (0..page.documents.len()).map(|index| first(index)?.time).collect()
}

/// The line of the format `lists`, which the reader of JSON lines reads.
impl Serialize for Impression {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let page = self;
        let line = PageLine {
            impression: &page.id,
            session: &page.session,
            user: &page.user,
            query: &page.query,
            docs: &page.documents,
            clicks: page.clicked_ranks().into_iter().map(u8::from).collect(),
            click_times: click_times(page),
            time: page.time,
            ranker: &page.ranker,
            device: &page.device,
            propensities: &page.propensities,
            count: page.count,
        };
        line.serialize(serializer)
    }
}
