//! Records of a log as bytes: the form in which they wait in memory, or in temporary files, to be
//! joined.
//!
//! A record is a byte that tells its kind, its key (the id of an impression, a session or a user;
//! complete pages may have none), and its fields. Texts and lists begin with their length.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::impression::{Click, Impression};

/// The kind of a record that is joined with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordKind {
    /// A page whose clicks come as events that name its id.
    Impression,
    /// A click on the impression with the id that is the key.
    Click,
    /// Some rows of a table that show an impression; further rows may follow.
    Rows,
    /// A page of a session, whose clicks come as events of the session.
    SessionPage,
    /// A click on the last page of a session that shows the document.
    SessionClick,
    /// A page that is complete.
    Page,
}

const KINDS: [RecordKind; 6] = [
    RecordKind::Impression,
    RecordKind::Click,
    RecordKind::Rows,
    RecordKind::SessionPage,
    RecordKind::SessionClick,
    RecordKind::Page,
];

impl RecordKind {
    /// The kind of a record, by its first byte.
    pub(super) fn of(record: &[u8]) -> Option<Self> {
        record.first().and_then(|kind| KINDS.get(usize::from(*kind))).copied()
    }

    /// Whether the record is an event on an impression.
    pub(super) fn is_click(self) -> bool {
        matches!(self, RecordKind::Click | RecordKind::SessionClick)
    }

    /// The hash of a key; ids of impressions and sessions have different ones.
    pub(super) fn hash(self, key: &str) -> u64 {
        let is_session = matches!(self, RecordKind::SessionPage | RecordKind::SessionClick);
        xxh3_64_with_seed(key.as_bytes(), u64::from(is_session))
    }
}

/// The fields of a page that are not its documents.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageFields<'a> {
    pub(super) id: &'a str,
    pub(super) session: &'a str,
    pub(super) user: &'a str,
    pub(super) query: &'a str,
    pub(super) ranker: &'a str,
    pub(super) device: &'a str,
    pub(super) time: Option<f64>,
    pub(super) clicks: &'a [Click],
    pub(super) propensities: &'a [f64],
    pub(super) count: u64,
}

impl Default for PageFields<'_> {
    fn default() -> Self {
        Self {
            id: "",
            session: "",
            user: "",
            query: "",
            ranker: "",
            device: "",
            time: None,
            clicks: &[],
            propensities: &[],
            count: 1,
        }
    }
}

impl<'a> From<&'a Impression> for PageFields<'a> {
    fn from(page: &'a Impression) -> PageFields<'a> {
        PageFields {
            id: &page.id,
            session: &page.session,
            user: &page.user,
            query: &page.query,
            ranker: &page.ranker,
            device: &page.device,
            time: page.time,
            clicks: &page.clicks,
            propensities: &page.propensities,
            count: page.count,
        }
    }
}

/// Appends records to bytes.
#[derive(Debug)]
pub(super) struct RecordWriter<'a>(&'a mut Vec<u8>);

impl<'a> RecordWriter<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        RecordWriter(out)
    }

    /// Begins a record.
    pub(super) fn start(self, kind: RecordKind, key: &str) -> Self {
        self.0.push(kind as u8);
        self.text(key)
    }

    fn number(self, mut value: u64) -> Self {
        // Seven bits a byte, the lowest first; the highest bit tells that another byte follows.
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
        self
    }

    pub(super) fn text(self, text: &str) -> Self {
        let out = self.number(text.len() as u64);
        out.0.extend_from_slice(text.as_bytes());
        out
    }

    fn float(self, value: f64) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn floats(self, values: &[f64]) -> Self {
        let out = self.number(values.len() as u64);
        values.iter().fold(out, |out, value| out.float(*value))
    }

    fn optional(self, value: Option<f64>) -> Self {
        self.0.push(u8::from(value.is_some()));
        match value {
            Some(value) => self.float(value),
            None => self,
        }
    }

    /// The fields of a page.
    pub(super) fn page<'d>(
        self,
        page: PageFields<'_>,
        documents: impl ExactSizeIterator<Item = &'d str>,
    ) -> Self {
        let texts = [page.id, page.session, page.user, page.query, page.ranker, page.device];
        let out = texts.into_iter().fold(self, RecordWriter::text).optional(page.time);
        let out = out.number(documents.len() as u64);
        let out = documents.fold(out, RecordWriter::text).number(page.clicks.len() as u64);
        let click = |out: Self, click: &Click| out.number(click.index as u64).optional(click.time);
        page.clicks.iter().fold(out, click).floats(page.propensities).number(page.count)
    }

    /// The positions of the documents of some rows.
    pub(super) fn positions(self, positions: &[f64]) -> Self {
        self.floats(positions)
    }

    /// A click. Without a document it is on the rank, from 1.
    pub(super) fn click(self, document: &str, rank: u64, time: Option<f64>) -> Self {
        self.text(document).number(rank).optional(time)
    }
}

/// Encodes a whole impression.
pub(super) fn write_impression(out: &mut Vec<u8>, kind: RecordKind, key: &str, page: &Impression) {
    let documents = page.documents.iter().map(String::as_str);
    RecordWriter::new(out).start(kind, key).page(page.into(), documents);
}

/// A click as it is in a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClickRecord<'a> {
    pub(super) document: &'a str,
    /// From 1; 0 if it is not known.
    pub(super) rank: usize,
    pub(super) time: Option<f64>,
}

/// Reads a record from bytes; `None` if they are not what [`RecordWriter`] writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordReader<'a>(&'a [u8]);

impl<'a> RecordReader<'a> {
    /// Begins a record: its kind, its key and the reader of its fields.
    pub(super) fn start(bytes: &'a [u8]) -> Option<(RecordKind, &'a str, Self)> {
        let kind = RecordKind::of(bytes)?;
        let mut fields = RecordReader(bytes.get(1..)?);
        let key = fields.text()?;
        Some((kind, key, fields))
    }

    fn number(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A number of things that take at least a byte each.
    fn length(&mut self) -> Option<usize> {
        let length = usize::try_from(self.number()?).ok()?;
        (length <= self.0.len()).then_some(length)
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.length()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }

    fn float(&mut self) -> Option<f64> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(f64::from_le_bytes(*bytes))
    }

    fn floats(&mut self) -> Option<Vec<f64>> {
        let count = self.length()?;
        (0..count).map(|_| self.float()).collect()
    }

    /// A value that may be absent; `None` only for bytes that are no such value.
    fn optional(&mut self) -> Option<Option<f64>> {
        let (flag, rest) = self.0.split_first()?;
        self.0 = rest;
        match flag {
            0 => Some(None),
            _ => self.float().map(Some),
        }
    }

    /// The fields of a page.
    pub(super) fn page(&mut self) -> Option<Impression> {
        let mut page = Impression::default();
        self.read_page(&mut page)?;
        Some(page)
    }

    /// The fields of a page, in place of those of `page`, whose memory is used again.
    pub(super) fn read_page(&mut self, page: &mut Impression) -> Option<()> {
        let Impression {
            id,
            session,
            user,
            query,
            documents,
            clicks,
            time,
            ranker,
            device,
            propensities,
            count: impressions,
        } = page;
        for text in [id, session, user, query, ranker, device] {
            self.read_text(text)?;
        }
        *time = self.optional()?;
        let count = self.length()?;
        documents.resize_with(count, String::new);
        documents.iter_mut().try_for_each(|document| self.read_text(document))?;
        let count = self.length()?;
        clicks.clear();
        for _ in 0..count {
            let index = usize::try_from(self.number()?).ok()?;
            clicks.push(Click { index, time: self.optional()? });
        }
        propensities.clear();
        propensities.extend(self.floats()?);
        *impressions = self.number()?;
        Some(())
    }

    fn read_text(&mut self, text: &mut String) -> Option<()> {
        text.clear();
        text.push_str(self.text()?);
        Some(())
    }

    /// The index of a document on a page; `None` if the page does not show it.
    pub(super) fn index_of(mut self, document: &str) -> Option<usize> {
        (0..6).try_for_each(|_| self.text().map(drop))?;
        self.optional()?;
        let count = self.length()?;
        (0..count).find(|_| self.text() == Some(document))
    }

    /// The positions of the documents of some rows.
    pub(super) fn positions(&mut self) -> Option<Vec<f64>> {
        self.floats()
    }

    /// A click.
    pub(super) fn click(&mut self) -> Option<ClickRecord<'a>> {
        let document = self.text()?;
        let rank = usize::try_from(self.number()?).ok()?;
        Some(ClickRecord { document, rank, time: self.optional()? })
    }
}

/// Number of records from which on a batch is passed on: enough to make the cost of passing it
/// small.
const FULL_BATCH_RECORDS: usize = 4096;

/// Records of a part of a log, in its order.
#[derive(Debug, Default)]
pub(super) struct RecordBatch {
    /// Records that are to be joined, one after another.
    pub(super) bytes: Vec<u8>,
    /// Pages that are complete.
    pub(super) pages: Vec<Impression>,
    pub(super) records: Vec<BatchRecord>,
    /// Events that are no clicks.
    pub(super) other_events: u64,
    /// Clicks on documents that their page does not show.
    pub(super) off_page_clicks: u64,
    /// Clicks that name no impression.
    pub(super) clicks_without_impression: u64,
}

/// A record of a batch.
#[derive(Debug)]
pub(super) enum BatchRecord {
    /// The next of the pages that are complete.
    Page,
    /// A record to join: the hash of its key, and its bytes.
    Joined { hash: u64, bytes: Range<usize> },
}

impl RecordBatch {
    /// Adds a record to join, whose fields `write` writes.
    pub(super) fn join(
        &mut self,
        kind: RecordKind,
        key: &str,
        write: impl FnOnce(RecordWriter<'_>),
    ) {
        let start = self.bytes.len();
        write(RecordWriter::new(&mut self.bytes).start(kind, key));
        let bytes = start..self.bytes.len();
        self.records.push(BatchRecord::Joined { hash: kind.hash(key), bytes });
    }

    /// Adds a complete page.
    pub(super) fn page(&mut self, page: Impression) {
        self.records.push(BatchRecord::Page);
        self.pages.push(page);
    }

    /// Whether the batch has enough records to be passed on.
    pub(super) fn is_full(&self) -> bool {
        self.records.len() >= FULL_BATCH_RECORDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_are_written_and_cut_ones_are_refused() {
        let mut page = Impression::new("red shoe", ["a", "b", "ü"]).clicked([3, 1]);
        page.clicks[0].time = Some(-2.5);
        page.session = "s".repeat(200);
        page.propensities = vec![0.5, 0.25, f64::MIN_POSITIVE];
        page.count = 300;
        let mut bytes = Vec::new();
        write_impression(&mut bytes, RecordKind::SessionPage, "key", &page);
        let (kind, key, mut fields) = RecordReader::start(&bytes).unwrap();
        assert_eq!((kind, key), (RecordKind::SessionPage, "key"));
        assert_eq!((fields.index_of("ü"), fields.index_of("c")), (Some(2), None));
        assert_eq!(fields.page().unwrap(), page);
        for end in 0..bytes.len() {
            let cut = RecordReader::start(&bytes[..end]);
            assert!(cut.is_none_or(|(_, _, mut fields)| fields.page().is_none()), "{end}");
        }
        let mut bytes = Vec::new();
        let out = RecordWriter::new(&mut bytes).start(RecordKind::Click, "i");
        out.click("d", 300, Some(7.0));
        let (_, _, mut fields) = RecordReader::start(&bytes).unwrap();
        let click = ClickRecord { document: "d", rank: 300, time: Some(7.0) };
        assert_eq!(fields.click(), Some(click));
        assert!(RecordReader::start(&[9, 0]).is_none());
    }
}
