//! The binary cache (`.rwd`): a data set in its memory layout, checked and mapped when it is read.
//!
//! Layout, all numbers little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | `RWDATA\r\n`; the line end reveals transfers that change line ends |
//! | 8..12 | version of the format |
//! | 12..16 | number of sections |
//! | 16..24 | length of the file |
//! | 24..32 | checksum of the header |
//! | 32.. | table of sections: kind u32, 0 u32, offset u64, length u64, checksum u64 |
//! | then | the sections, by ascending kind, each at a multiple of 64, zeros in between |
//!
//! The checksum of the header is the xxh3-64 of the bytes before it and of the table. The checksum
//! of a section is the xxh3-64 of the xxh3-64 of each MiB, so that threads can share the work and
//! the result does not depend on their number. Every byte of the file is either checked against a
//! fixed value or covered by a checksum: every single bit flip is detected. Bytes with valid
//! checksums are still not trusted: sizes, orders and ranges are verified before a data set is
//! made.
//!
//! Opening costs one pass over the file at memory speed; the matrix stays mapped and is never
//! copied. Equal data sets give equal bytes.

mod read;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io::{self, Write};

use bytemuck::NoUninit;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use crate::dataset::{Absent, Dataset};
use crate::error::BIG_ENDIAN;
use crate::names::FeatureNames;
use crate::strings::Strings;

pub(super) use read::read;

/// The first bytes of every cache file.
const MAGIC: &[u8] = b"RWDATA\r\n";
/// The part of [`MAGIC`] that survives a transfer that changes line ends.
pub(super) const MAGIC_LETTERS: &[u8] = b"RWDATA";
/// The newest version of the format. A file has the lowest version that can hold its content: 4
/// with further columns of labels, 3 with the columns of a table, 2 with a feature set, otherwise 1.
const VERSION: u32 = 4;
/// Every section starts at a multiple of this, the size of a cache line.
const ALIGN: usize = 64;
/// The size of the header before the table of sections.
const HEADER_BYTES: usize = 32;
/// The size of an entry in the table of sections.
const ENTRY_BYTES: usize = 32;
/// Checksums of sections are computed in parallel over blocks of this size.
const CHECKSUM_BLOCK: usize = 1 << 20;

/// The content of a section; the numbers are part of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SectionKind {
    /// Rows, columns, queries, absent rule, kind of feature names, first feature id: u64 each.
    Shape = 1,
    /// f32, row after row.
    Matrix = 2,
    /// f64 for each row; data without labels has no such section.
    Labels = 3,
    /// The first row of each query: u32.
    QueryStarts = 4,
    /// All query ids, one after the other.
    QueryText = 5,
    /// The end of each query id in the text: u64. Document ids and feature names are stored
    /// likewise.
    QueryEnds = 6,
    DocidText = 7,
    DocidEnds = 8,
    NameText = 9,
    NameEnds = 10,
    /// f32 for each row.
    RowWeights = 11,
    /// f32 for each query.
    QueryWeights = 12,
    /// u32 for each row.
    Positions = 13,
    /// Query, better row, worse row, bits of the weight, whether equal: u32 each.
    Pairs = 14,
    /// The input row of each row: u32.
    SourceRows = 15,
    /// The feature set as UTF-8 text; from version 2 on.
    FeatureSet = 16,
    /// The columns of the table that the data was read from, as JSON; from version 3 on.
    TableColumns = 17,
    /// The names of further columns of labels, one after the other; from version 4 on.
    LabelText = 18,
    LabelEnds = 19,
    /// f64 for each row, column after column.
    LabelValues = 20,
}

/// The number of kinds, and the number of the last kind.
const KIND_COUNT: u32 = SectionKind::LabelValues as u32;

/// The number of kinds of sections that a version of the format has.
fn kind_count_of(version: u32) -> u32 {
    match version {
        1 => SectionKind::SourceRows as u32,
        2 => SectionKind::FeatureSet as u32,
        3 => SectionKind::TableColumns as u32,
        _ => KIND_COUNT,
    }
}

/// The names of the sections in messages, by kind.
const SECTION_NAMES: [&str; KIND_COUNT as usize + 1] = [
    "unknown",
    "shape",
    "matrix",
    "labels",
    "query starts",
    "query ids",
    "ends of query ids",
    "document ids",
    "ends of document ids",
    "feature names",
    "ends of feature names",
    "row weights",
    "query weights",
    "positions",
    "pairs",
    "source rows",
    "feature set",
    "table columns",
    "names of label columns",
    "ends of names of label columns",
    "label columns",
];

/// The name of a section in messages.
fn section_name(kind: u64) -> &'static str {
    usize::try_from(kind).ok().and_then(|kind| SECTION_NAMES.get(kind)).unwrap_or(&"unknown")
}

/// The checksum of a section.
fn checksum(bytes: &[u8]) -> u64 {
    let of_blocks: Vec<u64> = bytes.par_chunks(CHECKSUM_BLOCK).map(xxh3_64).collect();
    xxh3_64(bytemuck::cast_slice(&of_blocks))
}

/// Writes a data set; the matrix is not copied.
pub(super) fn write(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    if cfg!(target_endian = "big") {
        return Err(io::Error::new(io::ErrorKind::Unsupported, BIG_ENDIAN));
    }
    let sections = sections(data)?;
    let mut table = Vec::with_capacity(sections.len() * ENTRY_BYTES);
    let mut end = HEADER_BYTES + sections.len() * ENTRY_BYTES;
    for (kind, bytes) in &sections {
        let start = end.next_multiple_of(ALIGN);
        table.extend_from_slice(&(*kind as u64).to_le_bytes());
        for value in [start as u64, bytes.len() as u64, checksum(bytes)] {
            table.extend_from_slice(&value.to_le_bytes());
        }
        end = start + bytes.len();
    }
    let mut header = MAGIC.to_vec();
    let version: u32 = match (&data.table_columns, &data.feature_set) {
        _ if !data.label_columns.is_empty() => VERSION,
        (Some(_), _) => 3,
        (None, Some(_)) => 2,
        (None, None) => 1,
    };
    header.extend_from_slice(&version.to_le_bytes());
    header.extend_from_slice(&(sections.len() as u32).to_le_bytes());
    header.extend_from_slice(&(end as u64).to_le_bytes());
    let checksum = header_checksum(&header, &table);
    header.extend_from_slice(&checksum.to_le_bytes());
    out.write_all(&header)?;
    out.write_all(&table)?;
    let mut written = header.len() + table.len();
    for (_, bytes) in &sections {
        let start = written.next_multiple_of(ALIGN);
        out.write_all(&vec![0; start - written])?;
        out.write_all(bytes)?;
        written = start + bytes.len();
    }
    Ok(())
}

/// The checksum of the header's bytes before the checksum itself, and of the table of sections.
fn header_checksum(header: &[u8], table: &[u8]) -> u64 {
    xxh3_64(&[header, table].concat())
}

/// The sections of a data set, by ascending kind.
fn sections(data: &Dataset) -> io::Result<Vec<(SectionKind, Cow<'_, [u8]>)>> {
    fn raw<T: NoUninit>(values: &[T]) -> Cow<'_, [u8]> {
        Cow::Borrowed(bytemuck::cast_slice(values))
    }
    let (has_names, first_id) = match data.features() {
        FeatureNames::Ids { first, .. } => (0, *first),
        FeatureNames::Named(_) => (1, 0),
    };
    let absent = u64::from(data.absent == Absent::Missing);
    let (rows, columns, queries) = (data.rows(), data.columns(), data.queries());
    let shape =
        [rows as u64, columns as u64, queries as u64, absent, has_names, u64::from(first_id)];
    let mut sections = vec![
        (SectionKind::Shape, Cow::Owned(bytemuck::cast_slice(&shape).to_vec())),
        (SectionKind::Matrix, raw(data.matrix.values())),
    ];
    sections.extend(data.is_labelled.then(|| (SectionKind::Labels, raw(&data.labels))));
    sections.push((SectionKind::QueryStarts, raw(&data.query_starts)));
    let (text, ends) = data.query_ids.parts();
    sections.extend([
        (SectionKind::QueryText, raw(text.as_bytes())),
        (SectionKind::QueryEnds, raw(ends)),
    ]);
    if let Some(doc_ids) = &data.doc_ids {
        let (text, ends) = doc_ids.parts();
        sections.extend([
            (SectionKind::DocidText, raw(text.as_bytes())),
            (SectionKind::DocidEnds, raw(ends)),
        ]);
    }
    if let FeatureNames::Named(names) = data.features() {
        let names: Strings = names.iter().map(String::as_str).collect();
        let (text, ends) = names.parts();
        sections.push((SectionKind::NameText, Cow::Owned(text.as_bytes().to_vec())));
        sections.push((SectionKind::NameEnds, Cow::Owned(bytemuck::cast_slice(ends).to_vec())));
    }
    sections.extend(data.row_weights.as_deref().map(|v| (SectionKind::RowWeights, raw(v))));
    sections.extend(data.query_weights.as_deref().map(|v| (SectionKind::QueryWeights, raw(v))));
    sections.extend(data.positions.as_deref().map(|v| (SectionKind::Positions, raw(v))));
    sections.extend(data.pairs.as_ref().map(|pairs| {
        let flat = pairs
            .iter()
            .flat_map(|p| [p.query, p.better, p.worse, p.weight.to_bits(), u32::from(p.equal)]);
        (SectionKind::Pairs, Cow::Owned(flat.flat_map(u32::to_le_bytes).collect()))
    }));
    sections.extend(data.source_rows.as_deref().map(|v| (SectionKind::SourceRows, raw(v))));
    sections
        .extend(data.feature_set.as_ref().map(|t| (SectionKind::FeatureSet, raw(t.as_bytes()))));
    if let Some(columns) = &data.table_columns {
        let text = columns.to_json()?;
        sections.push((SectionKind::TableColumns, Cow::Owned(text.into_bytes())));
    }
    if !data.label_columns.is_empty() {
        let names: Strings = data.label_column_names().collect();
        let (text, ends) = names.parts();
        let labels = data.label_columns.iter().flat_map(|column| &column.labels);
        let labels: Vec<u8> = labels.flat_map(|label| label.to_le_bytes()).collect();
        sections.extend([
            (SectionKind::LabelText, Cow::Owned(text.as_bytes().to_vec())),
            (SectionKind::LabelEnds, Cow::Owned(bytemuck::cast_slice(ends).to_vec())),
            (SectionKind::LabelValues, Cow::Owned(labels)),
        ]);
    }
    Ok(sections)
}
