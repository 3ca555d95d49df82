//! Opens a cache file: checks header, layout and checksums first, then the consistency of its
//! parts.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;

use super::{
    ALIGN, BIG_ENDIAN, ENTRY, HEAD, KINDS, MAGIC, NAME, SectionKind, VERSION, checksum,
    header_checksum, kinds_of, named,
};
use crate::bytes::{Bytes, Input};
use crate::dataset::{Absent, Dataset};
use crate::error::{DataError, Remedy};
use crate::matrix::Matrix;
use crate::names::FeatureNames;
use crate::pairs::Pair;
use crate::strings::Strings;

/// Opens a cache file; only one is allowed, since it is a whole data set.
pub(in crate::format) fn read(inputs: Vec<Input>) -> Result<Dataset, DataError> {
    let mut inputs = inputs.into_iter();
    let Some(input) = inputs.next() else {
        return Err(DataError::NoInput);
    };
    if let Some(second) = inputs.next() {
        return Err(DataError::UnknownFormat {
            file: second.name,
            reason: format!("a cache is a whole data set and cannot be joined to {}", input.name),
            remedy: Remedy::OneCache,
        });
    }
    if cfg!(target_endian = "big") {
        return Err(DataError::Unsupported { what: BIG_ENDIAN });
    }
    let file = CacheFile::open(&input.name, &input.bytes)?;
    let shape = SectionSizes::read(&file)?;
    let mut data = file.data_set(&shape)?;
    let range = file.section(SectionKind::Matrix).unwrap_or_default();
    data.matrix = match input.bytes {
        Bytes::Mapped(map) => Matrix::mapped(Arc::new(map), range.start, shape.rows, shape.columns)
            .ok_or_else(|| damaged(&input.name, "the matrix does not fit its section"))?,
        Bytes::Owned(bytes) => {
            let bytes = bytes.get(range).unwrap_or(&[]);
            Matrix::from_rows(shape.rows, shape.columns, copied(bytes))?
        }
    };
    Ok(data)
}

fn damaged(file: &str, what: impl Into<String>) -> DataError {
    DataError::Damaged { file: file.to_owned(), what: what.into() }
}

/// A cache file with valid checksums.
struct CacheFile<'a> {
    name: &'a str,
    bytes: &'a [u8],
    sections: [Option<(usize, usize)>; KINDS as usize + 1],
}

impl<'a> CacheFile<'a> {
    /// Verifies the header, the layout and every checksum.
    fn open(name: &'a str, bytes: &'a [u8]) -> Result<CacheFile<'a>, DataError> {
        let damaged = |what: &str| Err(damaged(name, what));
        if bytes.starts_with(NAME) && !bytes.starts_with(MAGIC) {
            return damaged("its first bytes were changed, maybe by a transfer in text mode");
        }
        if !bytes.starts_with(MAGIC) {
            return Err(DataError::UnknownFormat {
                file: name.to_owned(),
                reason: "this is no Rankwright cache; it does not start with RWDATA".into(),
                remedy: Remedy::WriteCache,
            });
        }
        let (Some(version), Some(count)) = (u32_at(bytes, 8), u32_at(bytes, 12)) else {
            return damaged("it ends inside its header");
        };
        if !(1..=VERSION).contains(&version) {
            let file = name.to_owned();
            return Err(DataError::Version { file, found: version, supported: VERSION });
        }
        if count > kinds_of(version) {
            return damaged("its header names more sections than there are kinds");
        }
        let table_end = HEAD + count as usize * ENTRY;
        let (Some(head), Some(table)) = (bytes.get(..24), bytes.get(HEAD..table_end)) else {
            return damaged("it ends inside its header");
        };
        if u64_at(bytes, 24) != Some(header_checksum(head, table)) {
            return damaged("the checksum of its header does not fit");
        }
        if u64_at(bytes, 16) != Some(bytes.len() as u64) {
            return Err(self::damaged(
                name,
                format!(
                    "it holds {} bytes where {} were written",
                    bytes.len(),
                    u64_at(bytes, 16).unwrap_or(0)
                ),
            ));
        }
        let mut file = CacheFile { name, bytes, sections: [None; KINDS as usize + 1] };
        file.read_table(table, table_end)?;
        Ok(file)
    }

    /// Sections must follow each other, by ascending kind, with zeros in the gaps.
    fn read_table(&mut self, table: &[u8], table_end: usize) -> Result<(), DataError> {
        let (mut last_kind, mut end) = (0, table_end);
        for entry in table.chunks_exact(ENTRY) {
            let at = |offset| u64_at(entry, offset).unwrap_or(u64::MAX);
            let kind = at(0);
            let start = end.checked_next_multiple_of(ALIGN).filter(|start| *start as u64 == at(8));
            let length = usize::try_from(at(16)).ok();
            let placed = start
                .zip(length)
                .and_then(|(start, length)| Some((start, start.checked_add(length)?)));
            let Some((start, stop)) = placed.filter(|(_, stop)| *stop <= self.bytes.len()) else {
                return Err(damaged(self.name, format!("{} is not where it must be", named(kind))));
            };
            let slot = usize::try_from(kind).ok().and_then(|kind| self.sections.get_mut(kind));
            let Some(slot) = slot.filter(|_| kind > last_kind) else {
                return Err(damaged(self.name, format!("{} is out of order", named(kind))));
            };
            *slot = Some((start, stop));
            let gap = self.bytes.get(end..start).unwrap_or(&[1]);
            if gap.iter().any(|byte| *byte != 0) {
                return Err(damaged(
                    self.name,
                    format!("the bytes before {} are not zero", named(kind)),
                ));
            }
            if checksum(self.bytes.get(start..stop).unwrap_or(&[])) != at(24) {
                return Err(damaged(
                    self.name,
                    format!("the checksum of {} does not fit", named(kind)),
                ));
            }
            (last_kind, end) = (kind, stop);
        }
        match end == self.bytes.len() {
            true => Ok(()),
            false => Err(damaged(self.name, "there are bytes after its last section")),
        }
    }

    fn section(&self, kind: SectionKind) -> Option<Range<usize>> {
        let (start, end) = self.sections.get(kind as usize).copied().flatten()?;
        Some(start..end)
    }

    /// The values of a section, which must be this many; `None` if there is no such section.
    fn values<T: Pod>(&self, kind: SectionKind, count: usize) -> Result<Option<Vec<T>>, DataError> {
        let Some(range) = self.section(kind) else { return Ok(None) };
        if count.checked_mul(size_of::<T>()) != Some(range.len()) {
            return Err(damaged(self.name, format!("{} has the wrong length", named(kind as u64))));
        }
        Ok(Some(copied(self.bytes.get(range).unwrap_or(&[]))))
    }

    fn needed<T>(&self, kind: SectionKind, values: Option<T>) -> Result<T, DataError> {
        values.ok_or_else(|| damaged(self.name, format!("{} is not there", named(kind as u64))))
    }

    fn strings(
        &self,
        text: SectionKind,
        ends: SectionKind,
        count: usize,
    ) -> Result<Option<Strings>, DataError> {
        let (range, ends) = match (self.section(text), self.values::<u64>(ends, count)?) {
            (None, None) => return Ok(None),
            (range, values) => (self.needed(text, range)?, self.needed(ends, values)?),
        };
        let bytes = self.bytes.get(range).unwrap_or(&[]).to_vec();
        let unfit =
            || damaged(self.name, format!("{} does not hold {count} strings", named(text as u64)));
        let content = String::from_utf8(bytes).map_err(|_| unfit())?;
        Strings::from_parts(content, ends).map(Some).ok_or_else(unfit)
    }

    /// The text of a section; `None` if there is no such section.
    fn text(&self, kind: SectionKind) -> Result<Option<Arc<str>>, DataError> {
        let Some(range) = self.section(kind) else { return Ok(None) };
        let text = self.bytes.get(range).and_then(|bytes| std::str::from_utf8(bytes).ok());
        let text = text.ok_or_else(|| {
            damaged(self.name, format!("{} is not UTF-8 text", named(kind as u64)))
        })?;
        Ok(Some(text.into()))
    }

    /// Everything but the matrix, verified.
    fn data_set(&self, shape: &SectionSizes) -> Result<Dataset, DataError> {
        let (rows, queries) = (shape.rows, shape.queries);
        let query_ids = self.strings(SectionKind::QueryText, SectionKind::QueryEnds, queries)?;
        let starts = self.values(SectionKind::QueryStarts, queries)?;
        let data = Dataset {
            matrix: Matrix::from_rows(0, 0, Vec::new())?,
            features: self.features(shape)?,
            labels: self.needed(SectionKind::Labels, self.values(SectionKind::Labels, rows)?)?,
            query_ids: self.needed(SectionKind::QueryText, query_ids)?,
            query_starts: self.needed(SectionKind::QueryStarts, starts)?,
            doc_ids: self.strings(SectionKind::DocidText, SectionKind::DocidEnds, rows)?,
            row_weights: self.values(SectionKind::RowWeights, rows)?,
            query_weights: self.values(SectionKind::QueryWeights, queries)?,
            positions: self.values(SectionKind::Positions, rows)?,
            pairs: self.pairs()?,
            source_rows: self.values(SectionKind::SourceRows, rows)?,
            absent: shape.absent,
            feature_set: self.text(SectionKind::FeatureSet)?,
        };
        match verify(&data) {
            Ok(()) => Ok(data),
            Err(what) => Err(damaged(self.name, what)),
        }
    }

    fn features(&self, shape: &SectionSizes) -> Result<FeatureNames, DataError> {
        let names = self.strings(SectionKind::NameText, SectionKind::NameEnds, shape.columns)?;
        match (shape.first_id, names) {
            (Some(first), None) => Ok(FeatureNames::Ids { first, count: shape.columns }),
            (None, Some(names)) => {
                Ok(FeatureNames::Named(names.iter().map(str::to_owned).collect()))
            }
            _ => Err(damaged(self.name, "feature names and ids contradict each other")),
        }
    }

    fn pairs(&self) -> Result<Option<Vec<Pair>>, DataError> {
        let Some(range) = self.section(SectionKind::Pairs) else { return Ok(None) };
        let Some(flat) = self.values::<[u32; 5]>(SectionKind::Pairs, range.len() / 20)? else {
            return Ok(None);
        };
        let pair = |[query, better, worse, weight, equal]: [u32; 5]| match equal {
            0 | 1 => Some(Pair {
                query,
                better,
                worse,
                weight: f32::from_bits(weight),
                equal: equal == 1,
            }),
            _ => None,
        };
        let pairs: Option<Vec<Pair>> = flat.into_iter().map(pair).collect();
        pairs.map(Some).ok_or_else(|| damaged(self.name, "a pair is neither equal nor unequal"))
    }
}

/// Values from bytes that need not be aligned.
fn copied<T: Pod>(bytes: &[u8]) -> Vec<T> {
    let mut values = vec![T::zeroed(); bytes.len() / size_of::<T>()];
    let target = bytemuck::cast_slice_mut::<T, u8>(&mut values);
    let whole = target.len();
    target.copy_from_slice(bytes.get(..whole).unwrap_or(&[]));
    values
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// The section with the numbers of rows, columns and queries.
struct SectionSizes {
    rows: usize,
    columns: usize,
    queries: usize,
    absent: Absent,
    /// The first feature id; `None` if features have names.
    first_id: Option<u32>,
}

impl SectionSizes {
    fn read(file: &CacheFile<'_>) -> Result<SectionSizes, DataError> {
        let shape = file.needed(SectionKind::Shape, file.values::<u64>(SectionKind::Shape, 6)?)?;
        let matrix = file.needed(SectionKind::Matrix, file.section(SectionKind::Matrix))?;
        let [rows, columns, queries, absent, named, first] = shape[..] else {
            return Err(damaged(file.name, "its shape has the wrong length"));
        };
        let size = |value: u64| u32::try_from(value).ok().map(|value| value as usize);
        let absent = [Absent::Zero, Absent::Missing].into_iter().nth(absent.min(2) as usize);
        let first_id = match (named, u32::try_from(first)) {
            (0, Ok(first)) => Some(Some(first)),
            (1, Ok(0)) => Some(None),
            _ => None,
        };
        let read = || {
            let (rows, columns) = (size(rows)?, size(columns)?);
            let values = rows.checked_mul(columns)?.checked_mul(4)?;
            (values == matrix.len()).then_some(())?;
            Some(SectionSizes {
                rows,
                columns,
                queries: size(queries)?,
                absent: absent?,
                first_id: first_id?,
            })
        };
        read().ok_or_else(|| damaged(file.name, "its shape does not fit its matrix"))
    }
}

/// Checks that the parts make a data set, which checksums cannot show. `Err` names the fault.
fn verify(data: &Dataset) -> Result<(), &'static str> {
    let rows = data.rows();
    let starts = &data.query_starts;
    let bounded = starts.last().is_none_or(|last| *last as usize <= rows);
    if starts.first().copied().unwrap_or(0) != 0 || !starts.is_sorted() || !bounded {
        return Err("its queries do not follow one another");
    }
    if starts.is_empty() && rows > 0 {
        return Err("it has rows but no queries");
    }
    if data.labels.iter().any(|label| !label.is_finite()) {
        return Err("a label is not finite");
    }
    if data.features.duplicate().is_some() {
        return Err("two features have the same name");
    }
    let weights = data.row_weights.iter().chain(&data.query_weights).flatten();
    if weights.into_iter().any(|weight| !(*weight >= 0.0 && weight.is_finite())) {
        return Err("a weight is negative or not finite");
    }
    if let Some(order) = &data.source_rows {
        let mut met = vec![false; rows];
        let fresh =
            |row: &u32| met.get_mut(*row as usize).is_some_and(|m| !std::mem::replace(m, true));
        if !order.iter().all(fresh) {
            return Err("its original row order is no permutation");
        }
    }
    let sound = |pair: &Pair| {
        let query = Some(pair.query as usize).filter(|query| *query < data.queries());
        let rows = query.map_or(0..0, |query| data.query_rows(query));
        rows.contains(&(pair.better as usize))
            && rows.contains(&(pair.worse as usize))
            && pair.better != pair.worse
            && pair.weight > 0.0
            && pair.weight.is_finite()
    };
    if !data.pairs.iter().flatten().all(sound) {
        return Err("a preference pair is not inside its query");
    }
    Ok(())
}
