//! Records that wait until all records with their key are known: in memory up to a bound, beyond it
//! in temporary files.
//!
//! Above the bound, records are divided by the hash of their key into [`PARTITIONS`] files, so that
//! records with the same key are in the same one. At the end the files are read one after another,
//! the records of each are joined, and the impressions are written to a sorted file of their own;
//! all of these are then merged by the place of their impressions in the log. The order of the
//! output is therefore that of the log, with and without temporary files. A partition must fit into
//! memory: a log can be about a hundred times as large as the bound.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;

use rankwright_data::DataError;
use rankwright_data::store::{ScratchFile, ScratchReader};
use rayon::prelude::*;

use super::pipeline::{ItemSender, pipelined};
use super::record::{BatchRecord, RecordBatch, RecordKind, RecordReader, write_impression};
use crate::impression::Impression;

/// Number of files that records are divided into.
const PARTITIONS: usize = 128;

/// Number of impressions that are put together in parallel at a time: few enough to stay in the
/// cache until they are taken.
const BATCH_IMPRESSIONS: usize = 1024;

/// Impressions with the numbers of their clicks that are not on the page.
type BuiltPages = Vec<(Impression, u64)>;

/// A record among those of a [`RecordSet`].
#[derive(Debug, Clone, Copy)]
struct StoredRecord {
    hash: u64,
    chunk: u32,
    start: u32,
    length: u32,
}

/// Records in the order of the log.
#[derive(Debug, Default)]
pub(super) struct RecordSet {
    chunks: Vec<Vec<u8>>,
    records: Vec<StoredRecord>,
    /// The number of each record in the log; empty if the set has all records of the log.
    numbers: Vec<u64>,
}

impl RecordSet {
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// The hash of the key of a record.
    pub(super) fn hash(&self, record: usize) -> u64 {
        self.records.get(record).map_or(0, |record| record.hash)
    }

    /// A record: its kind, its key and its fields. An error would be a bug: records are read as
    /// they were written.
    pub(super) fn get(
        &self,
        record: usize,
    ) -> Result<(RecordKind, &str, RecordReader<'_>), DataError> {
        RecordReader::start(self.bytes(record)).ok_or(UNREADABLE)
    }

    /// The kind of a record.
    pub(super) fn kind(&self, record: usize) -> Result<RecordKind, DataError> {
        RecordKind::of(self.bytes(record)).ok_or(UNREADABLE)
    }

    fn bytes(&self, record: usize) -> &[u8] {
        let found = self.records.get(record).and_then(|record| {
            let chunk = self.chunks.get(record.chunk as usize)?;
            let start = record.start as usize;
            chunk.get(start..start + record.length as usize)
        });
        found.unwrap_or_default()
    }

    fn push(&mut self, hash: u64, bytes: &[u8]) -> Result<(), DataError> {
        // Chunks are small, so that offsets are, too.
        if self.chunks.last().is_none_or(|chunk| chunk.len() + bytes.len() > CHUNK_BYTES) {
            self.chunks.push(Vec::with_capacity(bytes.len().max(CHUNK_BYTES)));
        }
        let index = self.chunks.len() - 1;
        let Some(chunk) = self.chunks.last_mut() else { return Err(UNREADABLE) };
        let sizes = (u32::try_from(chunk.len()), u32::try_from(bytes.len()));
        let (Ok(start), Ok(length)) = sizes else { return Err(UNREADABLE) };
        chunk.extend_from_slice(bytes);
        self.records.push(StoredRecord { hash, chunk: index as u32, start, length });
        Ok(())
    }
}

/// The index of a record in memory, and its entries in the tables of the join, in bytes.
const RECORD_BYTES: u64 = 48;

/// Bytes of records that are kept together.
const CHUNK_BYTES: usize = 1 << 20;

/// The error of a record that cannot be read back, which would be a bug.
pub(super) const UNREADABLE: DataError =
    DataError::Internal { invariant: "records of a log are read as they were written" };

/// Impressions that are put together from the records of a set.
pub(super) trait JoinedRecords: Sync {
    /// Number of impressions.
    fn len(&self) -> usize;

    /// The record that is the first one of an impression; these are in ascending order.
    fn first_record(&self, impression: usize) -> usize;

    /// Puts the impression into `page`, in place of another one; the number of its clicks that are
    /// not on the page.
    fn build(
        &self,
        records: &RecordSet,
        impression: usize,
        page: &mut Impression,
    ) -> Result<u64, DataError>;
}

/// Keeps records until all of them are known.
#[derive(Debug)]
pub(super) struct RecordStore {
    /// Bytes that may be held in memory.
    bound: u64,
    /// The folder of temporary files.
    folder: PathBuf,
    held: RecordSet,
    held_bytes: u64,
    /// The files; none while everything is in memory.
    partitions: Vec<ScratchFile>,
    /// Number of records so far.
    count: u64,
    /// Number of records that are no clicks.
    impressions: u64,
}

impl RecordStore {
    pub(super) fn new(bound: u64, folder: PathBuf) -> Self {
        let (held, partitions) = (RecordSet::default(), Vec::new());
        RecordStore { bound, folder, held, held_bytes: 0, partitions, count: 0, impressions: 0 }
    }

    /// Whether an impression waits here: later ones must wait as well to keep their order.
    pub(super) fn has_impressions(&self) -> bool {
        self.impressions > 0
    }

    /// Adds the records of a batch to join, and its pages if others wait for their clicks; passes
    /// them on otherwise.
    pub(super) fn add<E: From<DataError>>(
        &mut self,
        batch: &mut RecordBatch,
        mut pass_on: impl FnMut(&mut Impression) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.partitions.is_empty() && batch.pages.is_empty() {
            return Ok(self.adopt(batch)?);
        }
        let mut encoded = Vec::new();
        let RecordBatch { bytes: all_bytes, pages, records, .. } = batch;
        let mut pages = pages.iter_mut();
        for record in records.iter() {
            match record {
                BatchRecord::Page => {
                    let page = pages.next().ok_or(UNREADABLE)?;
                    if !self.has_impressions() {
                        pass_on(page)?;
                        continue;
                    }
                    encoded.clear();
                    write_impression(&mut encoded, RecordKind::Page, "", page);
                    // Pages have no key: their number, multiplied by 2^64 divided by the golden
                    // ratio, spreads them evenly over the partitions.
                    let hash = self.count.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    self.push(hash, &encoded)?;
                }
                BatchRecord::Joined { hash, bytes } => {
                    let bytes = all_bytes.get(bytes.clone()).unwrap_or_default();
                    self.push(*hash, bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the records of a batch without a copy of their bytes.
    fn adopt(&mut self, batch: &mut RecordBatch) -> Result<(), DataError> {
        let bytes = std::mem::take(&mut batch.bytes);
        let chunk = u32::try_from(self.held.chunks.len()).map_err(|_| UNREADABLE)?;
        for record in &batch.records {
            let BatchRecord::Joined { hash, bytes: place } = record else { continue };
            let sizes = (u32::try_from(place.start), u32::try_from(place.len()));
            let (Ok(start), Ok(length)) = sizes else { return Err(UNREADABLE) };
            let kind = bytes.get(place.start).and_then(|kind| RecordKind::of(&[*kind]));
            self.impressions += u64::from(!kind.is_some_and(RecordKind::is_click));
            self.held.records.push(StoredRecord { hash: *hash, chunk, start, length });
        }
        self.count += batch.records.len() as u64;
        self.held_bytes += bytes.len() as u64 + RECORD_BYTES * batch.records.len() as u64;
        self.held.chunks.push(bytes);
        match self.held_bytes > self.bound {
            true => self.spill_held(),
            false => Ok(()),
        }
    }

    /// Adds one record.
    pub(super) fn push(&mut self, hash: u64, bytes: &[u8]) -> Result<(), DataError> {
        let is_click = RecordKind::of(bytes).is_some_and(RecordKind::is_click);
        self.impressions += u64::from(!is_click);
        let number = self.count;
        self.count += 1;
        if !self.partitions.is_empty() {
            return spill(&mut self.partitions, hash, number, bytes);
        }
        self.held.push(hash, bytes)?;
        self.held_bytes += bytes.len() as u64 + RECORD_BYTES;
        if self.held_bytes > self.bound {
            self.spill_held()?;
        }
        Ok(())
    }

    /// Moves the records in memory to files.
    fn spill_held(&mut self) -> Result<(), DataError> {
        let files = (0..PARTITIONS).map(|_| ScratchFile::new_in(&self.folder));
        self.partitions = files.collect::<Result<_, _>>()?;
        let held = std::mem::take(&mut self.held);
        for record in 0..held.len() {
            let bytes = held.bytes(record);
            spill(&mut self.partitions, held.hash(record), record as u64, bytes)?;
        }
        Ok(())
    }

    /// Joins the records with `join`, and passes the impressions to `emit` in the order of the log.
    /// Returns the number of clicks that are not on their page.
    pub(super) fn finish<J: JoinedRecords, E: From<DataError>>(
        self,
        mut join: impl FnMut(&RecordSet) -> Result<J, DataError>,
        mut emit: impl FnMut(&mut Impression) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut off_page = 0;
        if self.partitions.is_empty() {
            let records = self.held;
            let joined = join(&records)?;
            pipelined(
                |sender: &ItemSender<BuiltPages>| {
                    batches(&records, &joined, |batch, _| match sender.send(batch) {
                        true => Ok(Some(sender.used().unwrap_or_default())),
                        false => Ok(None),
                    })
                },
                |batch| {
                    batch.iter_mut().try_for_each(|(page, off)| {
                        off_page += *off;
                        emit(page)
                    })
                },
            )?;
            return Ok(off_page);
        }
        let mut sorted = Vec::with_capacity(PARTITIONS);
        for partition in self.partitions {
            let records = load(partition)?;
            let joined = join(&records)?;
            let mut out = ScratchFile::new_in(&self.folder)?;
            let mut encoded = Vec::new();
            batches(&records, &joined, |batch, first| {
                for (impression, (page, off)) in (first..).zip(&batch) {
                    off_page += off;
                    encoded.clear();
                    write_impression(&mut encoded, RecordKind::Page, "", page);
                    let number = records.numbers.get(joined.first_record(impression));
                    write_record(&mut out, 0, number.copied().ok_or(UNREADABLE)?, &encoded)?;
                }
                Ok(Some(batch))
            })?;
            if !out.is_empty() {
                sorted.push(SortedRecords::new(out.into_reader()?)?);
            }
        }
        let merged = |sender: &ItemSender<Vec<Impression>>| merge(sorted, sender);
        pipelined(merged, |pages| pages.iter_mut().try_for_each(&mut emit))?;
        Ok(off_page)
    }
}

/// Puts impressions together, a batch at a time in parallel, and passes each batch with the number
/// of its first impression to `take`, which returns a batch to use again; `None` ends the work.
fn batches<J: JoinedRecords>(
    records: &RecordSet,
    joined: &J,
    mut take: impl FnMut(BuiltPages, usize) -> Result<Option<BuiltPages>, DataError>,
) -> Result<(), DataError> {
    let mut batch = BuiltPages::new();
    for first in (0..joined.len()).step_by(BATCH_IMPRESSIONS) {
        let count = BATCH_IMPRESSIONS.min(joined.len() - first);
        batch.resize_with(count, Default::default);
        batch.par_iter_mut().enumerate().with_min_len(64).try_for_each(
            |(index, (page, off_page))| {
                *off_page = joined.build(records, first + index, page)?;
                Ok::<_, DataError>(())
            },
        )?;
        match take(batch, first)? {
            Some(used) => batch = used,
            None => break,
        }
    }
    Ok(())
}

/// Bytes before a record in a file: its length, its number in the log and the hash of its key.
const HEADER_BYTES: usize = 20;

fn write_record(
    file: &mut ScratchFile,
    hash: u64,
    number: u64,
    bytes: &[u8],
) -> Result<(), DataError> {
    let length = u32::try_from(bytes.len()).map_err(|_| UNREADABLE)?;
    file.append(&length.to_le_bytes())?;
    file.append(&number.to_le_bytes())?;
    file.append(&hash.to_le_bytes())?;
    file.append(bytes)
}

/// Appends a record to the file of its hash.
fn spill(
    partitions: &mut [ScratchFile],
    hash: u64,
    number: u64,
    bytes: &[u8],
) -> Result<(), DataError> {
    let partition = (hash >> 32) as usize % PARTITIONS;
    let file = partitions.get_mut(partition).ok_or(UNREADABLE)?;
    write_record(file, hash, number, bytes)
}

/// Reads a record; its number in the log and the hash of its key, or `None` at the end.
fn read_record(
    file: &mut ScratchReader,
    bytes: &mut Vec<u8>,
) -> Result<Option<(u64, u64)>, DataError> {
    let mut header = [0; HEADER_BYTES];
    if !file.fill(&mut header)? {
        return Ok(None);
    }
    let field = |range: std::ops::Range<usize>| {
        let mut value = [0; 8];
        let bytes = header.get(range).unwrap_or_default();
        value.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        u64::from_le_bytes(value)
    };
    bytes.clear();
    bytes.resize(field(0..4) as usize, 0);
    file.fill(bytes)?;
    Ok(Some((field(4..12), field(12..20))))
}

/// The records of a partition, in the order of the log.
fn load(partition: ScratchFile) -> Result<RecordSet, DataError> {
    let mut file = partition.into_reader()?;
    let (mut records, mut bytes) = (RecordSet::default(), Vec::new());
    while let Some((number, hash)) = read_record(&mut file, &mut bytes)? {
        records.push(hash, &bytes)?;
        records.numbers.push(number);
    }
    Ok(records)
}

/// A file of impressions that are sorted by their place in the log, with the next one of them.
struct SortedRecords {
    file: ScratchReader,
    /// Its number in the log; `None` at the end.
    next: Option<u64>,
    /// Its record.
    bytes: Vec<u8>,
}

impl SortedRecords {
    fn new(file: ScratchReader) -> Result<Self, DataError> {
        let mut sorted = SortedRecords { file, next: None, bytes: Vec::new() };
        sorted.advance()?;
        Ok(sorted)
    }

    fn advance(&mut self) -> Result<(), DataError> {
        let read = read_record(&mut self.file, &mut self.bytes)?;
        self.next = read.map(|(number, _)| number);
        Ok(())
    }
}

/// Passes the impressions of all files on, by their place in the log.
fn merge(
    mut files: Vec<SortedRecords>,
    sender: &ItemSender<Vec<Impression>>,
) -> Result<(), DataError> {
    let mut batch: Vec<Impression> = Vec::new();
    let mut count = 0;
    let first = files.iter().enumerate().filter_map(|(file, sorted)| Some((sorted.next?, file)));
    let mut heap: BinaryHeap<Reverse<(u64, usize)>> = first.map(Reverse).collect();
    while let Some(Reverse((_, number))) = heap.pop() {
        let file = files.get_mut(number).ok_or(UNREADABLE)?;
        let (_, _, mut fields) = RecordReader::start(&file.bytes).ok_or(UNREADABLE)?;
        // A batch that was used before has impressions to read into.
        if count == batch.len() {
            batch.push(Impression::default());
        }
        let page = batch.get_mut(count).ok_or(UNREADABLE)?;
        fields.read_page(page).ok_or(UNREADABLE)?;
        count += 1;
        file.advance()?;
        heap.extend(file.next.map(|next| Reverse((next, number))));
        if count == BATCH_IMPRESSIONS {
            if !sender.send(std::mem::take(&mut batch)) {
                return Ok(());
            }
            batch = sender.used().unwrap_or_default();
            count = 0;
        }
    }
    batch.truncate(count);
    sender.send(batch);
    Ok(())
}
