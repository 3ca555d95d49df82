//! Events joined with their impressions, in whatever order the log has them.
//!
//! A click belongs to the impression whose id it names; in logs of sessions, to the last page of
//! its session that shows the document. Rows of a table with the same id of an impression are one
//! page. Of several impressions with one id, the first counts.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::FixedState;
use rankwright_data::DataError;

use super::counts::LogCounts;
use super::record::{RecordKind, RecordReader};
use super::record_store::{JoinedRecords, RecordSet, UNREADABLE};
use crate::impression::{Click, Impression};

/// The index of a click whose document is looked up later.
const UNKNOWN_INDEX: u32 = u32::MAX;

/// The impressions of a set of records, each with the records that belong to it.
#[derive(Debug, Default)]
pub(super) struct JoinedLog {
    /// The first record of each impression.
    impressions: Vec<u32>,
    /// The start of each impression in `attached`, and at the end the length of that.
    starts: Vec<u32>,
    /// Clicks and further rows: the record, and the index of the clicked document if it is known.
    attached: Vec<(u32, u32)>,
}

/// Finds the impressions of a set of records, and what belongs to each. Counts the clicks without
/// impression, those on documents that no page of their session shows, and repeated impressions.
pub(super) fn join(records: &RecordSet, counts: &mut LogCounts) -> Result<JoinedLog, DataError> {
    let number = |record: usize| u32::try_from(record).map_err(|_| UNREADABLE);
    let (mut by_id, mut impressions) = (KeyTable::default(), Vec::new());
    // Each further record: its impression, its own number, and the index of the clicked document.
    let mut attached: Vec<(u32, u32, u32)> = Vec::new();
    // First the impressions, since a click may come before its impression.
    let mut owner_of_rows: HashMap<u32, u32, FixedState> = HashMap::default();
    for record in 0..records.len() {
        let kind = records.kind(record)?;
        match kind {
            RecordKind::Page | RecordKind::SessionPage => impressions.push(number(record)?),
            RecordKind::Impression | RecordKind::Rows => {
                let (hash, (_, key, _)) = (records.hash(record), records.get(record)?);
                match (by_id.find(records, &impressions, hash, key), kind) {
                    (Some(known), RecordKind::Rows) => {
                        owner_of_rows.insert(number(record)?, known);
                    }
                    (Some(_), _) => counts.repeated_impressions += 1,
                    (None, _) => {
                        by_id.insert(hash, key, number(impressions.len())?);
                        impressions.push(number(record)?);
                    }
                }
            }
            RecordKind::Click | RecordKind::SessionClick => {}
        }
    }
    let mut sessions = SessionPages::default();
    let mut next_impression = 0;
    for record in 0..records.len() {
        let this = number(record)?;
        // Whether the record begins an impression, and the number of that impression.
        let is_first = impressions.get(next_impression) == Some(&this);
        let first_number = number(next_impression)?;
        next_impression += usize::from(is_first);
        if matches!(records.kind(record)?, RecordKind::Impression | RecordKind::Page) {
            continue;
        }
        let (kind, key, mut fields) = records.get(record)?;
        match kind {
            RecordKind::SessionPage => sessions.add(key, first_number),
            RecordKind::Click => {
                match by_id.find(records, &impressions, records.hash(record), key) {
                    Some(impression) => attached.push((impression, this, UNKNOWN_INDEX)),
                    None => counts.clicks_without_impression += 1,
                }
            }
            RecordKind::SessionClick => {
                let click = fields.click().ok_or(UNREADABLE)?;
                match sessions.find(records, &impressions, key, click.document)? {
                    FoundPage::Page(impression, index) => attached.push((impression, this, index)),
                    FoundPage::NotShown => counts.off_page_clicks += 1,
                    FoundPage::NoPage => counts.clicks_without_impression += 1,
                }
            }
            RecordKind::Rows => {
                let owner = owner_of_rows.get(&this);
                attached.extend(owner.map(|owner| (*owner, this, UNKNOWN_INDEX)));
            }
            _ => {}
        }
    }
    // A stable sort: what belongs to an impression keeps the order of the log.
    attached.sort_by_key(|(impression, ..)| *impression);
    let mut starts = Vec::with_capacity(impressions.len() + 1);
    let mut start = 0;
    for impression in 0..=number(impressions.len())? {
        let before = attached.get(start..).unwrap_or_default();
        start += before.iter().take_while(|(owner, ..)| *owner < impression).count();
        starts.push(number(start)?);
    }
    let attached = attached.into_iter().map(|(_, record, index)| (record, index)).collect();
    Ok(JoinedLog { impressions, starts, attached })
}

/// Impressions by id. The rare ids with the hash of another one have a table of their own.
#[derive(Debug, Default)]
struct KeyTable {
    by_hash: HashMap<u64, u32, FixedState>,
    collided: HashMap<String, u32, FixedState>,
}

impl KeyTable {
    fn find(&self, records: &RecordSet, impressions: &[u32], hash: u64, key: &str) -> Option<u32> {
        let found = *self.by_hash.get(&hash)?;
        let first = impressions.get(found as usize)?;
        match records.get(*first as usize) {
            Ok((_, known, _)) if known == key => Some(found),
            _ => self.collided.get(key).copied(),
        }
    }

    /// Adds a key that is not known yet.
    fn insert(&mut self, hash: u64, key: &str, impression: u32) {
        match self.by_hash.entry(hash) {
            Entry::Occupied(_) => {
                self.collided.insert(key.to_owned(), impression);
            }
            Entry::Vacant(entry) => {
                entry.insert(impression);
            }
        }
    }
}

/// The pages of sessions so far.
#[derive(Debug, Default)]
struct SessionPages {
    by_session: HashMap<String, Vec<u32>, FixedState>,
}

enum FoundPage {
    /// The impression, and the index of the document.
    Page(u32, u32),
    /// No page of the session so far shows the document.
    NotShown,
    /// The session has no page so far.
    NoPage,
}

impl SessionPages {
    fn add(&mut self, session: &str, impression: u32) {
        match self.by_session.get_mut(session) {
            Some(pages) => pages.push(impression),
            None => drop(self.by_session.insert(session.to_owned(), vec![impression])),
        }
    }

    /// The last page of the session that shows a document.
    fn find(
        &self,
        records: &RecordSet,
        impressions: &[u32],
        session: &str,
        document: &str,
    ) -> Result<FoundPage, DataError> {
        let Some(pages) = self.by_session.get(session) else { return Ok(FoundPage::NoPage) };
        for page in pages.iter().rev() {
            let first = impressions.get(*page as usize).ok_or(UNREADABLE)?;
            let (_, _, fields) = records.get(*first as usize)?;
            if let Some(index) = fields.index_of(document) {
                let index = u32::try_from(index).map_err(|_| UNREADABLE)?;
                return Ok(FoundPage::Page(*page, index));
            }
        }
        Ok(FoundPage::NotShown)
    }
}

impl JoinedRecords for JoinedLog {
    fn len(&self) -> usize {
        self.impressions.len()
    }

    fn first_record(&self, impression: usize) -> usize {
        self.impressions.get(impression).map_or(0, |record| *record as usize)
    }

    fn build(
        &self,
        records: &RecordSet,
        impression: usize,
        page: &mut Impression,
    ) -> Result<u64, DataError> {
        let (kind, _, mut fields) = records.get(self.first_record(impression))?;
        fields.read_page(page).ok_or(UNREADABLE)?;
        let mut positions = Vec::new();
        if kind == RecordKind::Rows {
            positions = fields.positions().ok_or(UNREADABLE)?;
        }
        let bounds = (self.starts.get(impression), self.starts.get(impression + 1));
        let (Some(start), Some(end)) = bounds else { return Err(UNREADABLE) };
        let attached = self.attached.get(*start as usize..*end as usize).ok_or(UNREADABLE)?;
        let mut off_page = 0;
        for (record, index) in attached {
            let (kind, _, mut fields) = records.get(*record as usize)?;
            if kind == RecordKind::Rows {
                add_rows(page, &mut positions, &mut fields)?;
                continue;
            }
            let click = fields.click().ok_or(UNREADABLE)?;
            let found = match (*index, click.document) {
                (UNKNOWN_INDEX, "") => click.rank.checked_sub(1),
                (UNKNOWN_INDEX, shown) => page.documents.iter().position(|id| id == shown),
                (index, _) => Some(index as usize),
            };
            match found.filter(|index| *index < page.documents.len()) {
                Some(index) => page.clicks.push(Click { index, time: click.time }),
                None => off_page += 1,
            }
        }
        sort_by_position(page, &positions);
        sort_clicks(page);
        Ok(off_page)
    }
}

fn add_rows(
    page: &mut Impression,
    positions: &mut Vec<f64>,
    fields: &mut RecordReader<'_>,
) -> Result<(), DataError> {
    let rows = fields.page().ok_or(UNREADABLE)?;
    let first = page.documents.len();
    let has_propensities = page.propensities.len() == first
        && rows.propensities.len() == rows.documents.len()
        && !rows.propensities.is_empty();
    match has_propensities {
        true => page.propensities.extend(rows.propensities),
        false => page.propensities.clear(),
    }
    page.documents.extend(rows.documents);
    let clicks = rows.clicks.into_iter();
    page.clicks.extend(clicks.map(|click| Click { index: first + click.index, ..click }));
    positions.extend(fields.positions().ok_or(UNREADABLE)?);
    Ok(())
}

/// The part of an error that says what was expected, for a value that is no position.
pub(super) const POSITION: &str = "a position: a whole number, 1 for the first document of a page";

/// Whether a number is a position: positions are ranks, which start at 1.
pub(super) fn is_position(number: f64) -> bool {
    number >= 1.0 && number.fract() == 0.0
}

/// Puts the documents of a page in the order of their positions. Equal positions keep their order,
/// and so do pages without a position for each document.
pub(super) fn sort_by_position(page: &mut Impression, positions: &[f64]) {
    let count = page.documents.len();
    if positions.len() != count || positions.is_sorted() {
        return;
    }
    let mut order: Vec<usize> = (0..count).collect();
    let position = |index: &usize| positions.get(*index).copied().unwrap_or(f64::INFINITY);
    order.sort_by(|a, b| position(a).total_cmp(&position(b)));
    let mut new_index = vec![0; count];
    for (new, old) in order.iter().enumerate() {
        if let Some(slot) = new_index.get_mut(*old) {
            *slot = new;
        }
    }
    let taken = |texts: &mut Vec<String>, old: &usize| texts.get_mut(*old).map(std::mem::take);
    page.documents = order.iter().filter_map(|old| taken(&mut page.documents, old)).collect();
    let propensity = |old: &usize| page.propensities.get(*old).copied();
    page.propensities = order.iter().filter_map(propensity).collect();
    for click in &mut page.clicks {
        click.index = new_index.get(click.index).copied().unwrap_or(click.index);
    }
    // Clicks of rows come by rank, unless they have times.
    page.clicks.sort_by_key(|click| click.index);
}

/// Sorts clicks by time if all of them have one; otherwise they keep their order.
pub(super) fn sort_clicks(page: &mut Impression) {
    if page.clicks.iter().all(|click| click.time.is_some()) {
        let time = |click: &Click| click.time.unwrap_or(0.0);
        page.clicks.sort_by(|a, b| time(a).total_cmp(&time(b)));
    }
}
