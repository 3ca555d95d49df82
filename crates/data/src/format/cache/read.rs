//! Opens a cache file: checks header, layout and checksums first, then the consistency of its
//! parts.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;

use super::{
    ALIGN, ENTRY_BYTES, HEADER_BYTES, KIND_COUNT, MAGIC, MAGIC_LETTERS, SectionKind, VERSION,
    checksum, header_checksum, kind_count_of, section_name,
};
use crate::bytes::{Bytes, Input};
use crate::dataset::{Absent, Dataset, LabelColumn, check_label_columns, check_positions};
use crate::error::{DataError, FileDamage, FormatProblem, SectionProblem};
use crate::matrix::Matrix;
use crate::names::FeatureNames;
use crate::pairs::Pair;
use crate::strings::Strings;
use crate::table_columns::TableColumns;

/// Opens a cache file. Several inputs are an error: a cache is a whole data set.
pub(in crate::format) fn read(inputs: Vec<Input>) -> Result<Dataset, DataError> {
    let mut inputs = inputs.into_iter();
    let Some(input) = inputs.next() else {
        return Err(DataError::NoInput);
    };
    if let Some(second) = inputs.next() {
        let problem = FormatProblem::SecondCache { first: input.name };
        return Err(DataError::UnknownFormat { file: second.name, problem });
    }
    if cfg!(target_endian = "big") {
        return Err(DataError::BigEndian);
    }
    let file = CacheFile::open(&input.name, &input.bytes)?;
    let shape = DatasetShape::read(&file)?;
    let mut data = file.data_set(&shape)?;
    let range = file.section(SectionKind::Matrix).unwrap_or_default();
    data.matrix = match input.bytes {
        Bytes::Mapped(map) => Matrix::mapped(Arc::new(map), range.start, shape.rows, shape.columns)
            .ok_or_else(|| damaged(&input.name, FileDamage::Shape))?,
        Bytes::Owned(bytes) => {
            let bytes = bytes.get(range).unwrap_or(&[]);
            Matrix::from_rows(shape.rows, shape.columns, copy_values(bytes))?
        }
    };
    match data.has_category_texts() {
        true => Ok(data),
        false => Err(damaged(&input.name, FileDamage::CategoryNumber)),
    }
}

fn damaged(file: &str, damage: FileDamage) -> DataError {
    DataError::Damaged { file: file.to_owned(), damage }
}

/// A cache file with valid checksums.
struct CacheFile<'a> {
    name: &'a str,
    bytes: &'a [u8],
    /// Start and end of each section, by the number of its kind.
    sections: [Option<(usize, usize)>; KIND_COUNT as usize + 1],
}

impl<'a> CacheFile<'a> {
    /// Verifies the header, the layout and every checksum.
    fn open(name: &'a str, bytes: &'a [u8]) -> Result<CacheFile<'a>, DataError> {
        let damaged = |damage| Err(damaged(name, damage));
        if bytes.starts_with(MAGIC_LETTERS) && !bytes.starts_with(MAGIC) {
            return damaged(FileDamage::FirstBytes);
        }
        if !bytes.starts_with(MAGIC) {
            let (file, problem) = (name.to_owned(), FormatProblem::NotACache);
            return Err(DataError::UnknownFormat { file, problem });
        }
        let (Some(version), Some(count)) = (u32_at(bytes, 8), u32_at(bytes, 12)) else {
            return damaged(FileDamage::ShortHeader);
        };
        if !(1..=VERSION).contains(&version) {
            let file = name.to_owned();
            return Err(DataError::Version { file, found: version, supported: VERSION });
        }
        if count > kind_count_of(version) {
            return damaged(FileDamage::TooManySections);
        }
        let table_end = HEADER_BYTES + count as usize * ENTRY_BYTES;
        let (Some(header), Some(table)) = (bytes.get(..24), bytes.get(HEADER_BYTES..table_end))
        else {
            return damaged(FileDamage::ShortHeader);
        };
        if u64_at(bytes, 24) != Some(header_checksum(header, table)) {
            return damaged(FileDamage::HeaderChecksum);
        }
        if u64_at(bytes, 16) != Some(bytes.len() as u64) {
            let expected = u64_at(bytes, 16).unwrap_or(0);
            return damaged(FileDamage::Length { found: bytes.len() as u64, expected });
        }
        let mut file = CacheFile { name, bytes, sections: [None; KIND_COUNT as usize + 1] };
        file.read_table(table, table_end)?;
        Ok(file)
    }

    /// Reads the table of sections and verifies their checksums. Sections must follow each other,
    /// by ascending kind, with zeros in the gaps.
    fn read_table(&mut self, table: &[u8], table_end: usize) -> Result<(), DataError> {
        let (mut last_kind, mut end) = (0, table_end);
        for entry in table.chunks_exact(ENTRY_BYTES) {
            let field = |offset| u64_at(entry, offset).unwrap_or(u64::MAX);
            let kind = field(0);
            let start =
                end.checked_next_multiple_of(ALIGN).filter(|start| *start as u64 == field(8));
            let length = usize::try_from(field(16)).ok();
            let extent = start
                .zip(length)
                .and_then(|(start, length)| Some((start, start.checked_add(length)?)));
            let Some((start, stop)) = extent.filter(|(_, stop)| *stop <= self.bytes.len()) else {
                return Err(self.bad_section(kind, SectionProblem::Extent));
            };
            let slot = usize::try_from(kind).ok().and_then(|kind| self.sections.get_mut(kind));
            let Some(slot) = slot.filter(|_| kind > last_kind) else {
                return Err(self.bad_section(kind, SectionProblem::Order));
            };
            *slot = Some((start, stop));
            let gap = self.bytes.get(end..start).unwrap_or(&[1]);
            if gap.iter().any(|byte| *byte != 0) {
                return Err(self.bad_section(kind, SectionProblem::Gap));
            }
            if checksum(self.bytes.get(start..stop).unwrap_or(&[])) != field(24) {
                return Err(self.bad_section(kind, SectionProblem::Checksum));
            }
            (last_kind, end) = (kind, stop);
        }
        match end == self.bytes.len() {
            true => Ok(()),
            false => Err(damaged(self.name, FileDamage::TrailingBytes)),
        }
    }

    /// The error of a damaged section.
    fn bad_section(&self, number: u64, problem: SectionProblem) -> DataError {
        let name = section_name(number);
        damaged(self.name, FileDamage::Section { number, name, problem })
    }

    fn section(&self, kind: SectionKind) -> Option<Range<usize>> {
        let (start, end) = self.sections.get(kind as usize).copied().flatten()?;
        Some(start..end)
    }

    /// The values of a section; `None` if there is no such section. It is an error if there are not
    /// `count` values.
    fn values<T: Pod>(&self, kind: SectionKind, count: usize) -> Result<Option<Vec<T>>, DataError> {
        let Some(range) = self.section(kind) else { return Ok(None) };
        if count.checked_mul(size_of::<T>()) != Some(range.len()) {
            return Err(self.bad_section(kind as u64, SectionProblem::Count));
        }
        Ok(Some(copy_values(self.bytes.get(range).unwrap_or(&[]))))
    }

    /// The content of a section that every cache has; an error if it is missing.
    fn required<T>(&self, kind: SectionKind, values: Option<T>) -> Result<T, DataError> {
        values.ok_or_else(|| self.bad_section(kind as u64, SectionProblem::Missing))
    }

    /// The strings of two sections: their text, and their ends in it. `None` if there is neither.
    fn strings(
        &self,
        text: SectionKind,
        ends: SectionKind,
        count: usize,
    ) -> Result<Option<Strings>, DataError> {
        let (range, ends) = match (self.section(text), self.values::<u64>(ends, count)?) {
            (None, None) => return Ok(None),
            (range, values) => (self.required(text, range)?, self.required(ends, values)?),
        };
        let bytes = self.bytes.get(range).unwrap_or(&[]).to_vec();
        let not_text = || self.bad_section(text as u64, SectionProblem::Text);
        let content = String::from_utf8(bytes).map_err(|_| not_text())?;
        Strings::from_parts(content, ends).map(Some).ok_or_else(not_text)
    }

    /// The text of a section; `None` if there is no such section.
    fn text(&self, kind: SectionKind) -> Result<Option<Arc<str>>, DataError> {
        let Some(range) = self.section(kind) else { return Ok(None) };
        let text = self.bytes.get(range).and_then(|bytes| std::str::from_utf8(bytes).ok());
        let text = text.ok_or_else(|| self.bad_section(kind as u64, SectionProblem::Text))?;
        Ok(Some(text.into()))
    }

    /// The columns of the table that the data was read from.
    fn table_columns(&self) -> Result<Option<Arc<TableColumns>>, DataError> {
        let Some(text) = self.text(SectionKind::TableColumns)? else { return Ok(None) };
        let columns = TableColumns::from_json(&text);
        let columns = columns.ok_or_else(|| damaged(self.name, FileDamage::TableColumns))?;
        Ok(Some(Arc::new(columns)))
    }

    /// Everything but the matrix, verified.
    fn data_set(&self, shape: &DatasetShape) -> Result<Dataset, DataError> {
        let (rows, queries) = (shape.rows, shape.queries);
        let query_ids = self.strings(SectionKind::QueryText, SectionKind::QueryEnds, queries)?;
        let starts = self.values(SectionKind::QueryStarts, queries)?;
        // Data without labels has no section of them.
        let labels = self.values(SectionKind::Labels, rows)?;
        // Rows without labels and features need no bytes of the file, so that a small file could
        // claim billions of them.
        if labels.is_none() && rows > self.bytes.len() {
            return Err(damaged(self.name, FileDamage::Shape));
        }
        let data = Dataset {
            matrix: Matrix::from_rows(0, 0, Vec::new())?,
            features: self.features(shape)?,
            is_labelled: labels.is_some(),
            labels: labels.unwrap_or_else(|| vec![0.0; rows]),
            label_columns: self.label_columns(rows)?,
            query_ids: self.required(SectionKind::QueryText, query_ids)?,
            query_starts: self.required(SectionKind::QueryStarts, starts)?,
            doc_ids: self.strings(SectionKind::DocidText, SectionKind::DocidEnds, rows)?,
            row_weights: self.values(SectionKind::RowWeights, rows)?,
            query_weights: self.values(SectionKind::QueryWeights, queries)?,
            positions: self.values(SectionKind::Positions, rows)?,
            pairs: self.pairs()?,
            source_rows: self.values(SectionKind::SourceRows, rows)?,
            absent: shape.absent,
            feature_set: self.text(SectionKind::FeatureSet)?,
            table_columns: self.table_columns()?,
        };
        match verify(&data) {
            Ok(()) => Ok(data),
            Err(damage) => Err(damaged(self.name, damage)),
        }
    }

    /// The feature names: ids or names, by the shape section.
    fn features(&self, shape: &DatasetShape) -> Result<FeatureNames, DataError> {
        let names = self.strings(SectionKind::NameText, SectionKind::NameEnds, shape.columns)?;
        match (shape.first_id, names) {
            (Some(first), None) => Ok(FeatureNames::Ids { first, count: shape.columns }),
            (None, Some(names)) => {
                Ok(FeatureNames::Named(names.iter().map(str::to_owned).collect()))
            }
            _ => Err(damaged(self.name, FileDamage::FeatureNames)),
        }
    }

    /// The further columns of labels.
    fn label_columns(&self, rows: usize) -> Result<Vec<LabelColumn>, DataError> {
        let (text, ends) = (SectionKind::LabelText, SectionKind::LabelEnds);
        let count = self.section(ends).map_or(0, |range| range.len() / size_of::<u64>());
        let names = self.strings(text, ends, count)?;
        let damaged = || self.bad_section(SectionKind::LabelValues as u64, SectionProblem::Count);
        let total = count.checked_mul(rows).ok_or_else(damaged)?;
        let values = self.values::<f64>(SectionKind::LabelValues, total)?;
        let (names, values) = match (names, values) {
            (None, None) => return Ok(Vec::new()),
            (Some(names), Some(values)) => (names, values),
            _ => return Err(damaged()),
        };
        let column = |(number, name): (usize, &str)| LabelColumn {
            name: name.to_owned(),
            labels: values.iter().skip(number * rows).take(rows).copied().collect(),
        };
        Ok(names.iter().enumerate().map(column).collect())
    }

    /// The preference pairs; `None` if there is no such section.
    fn pairs(&self) -> Result<Option<Vec<Pair>>, DataError> {
        let Some(range) = self.section(SectionKind::Pairs) else { return Ok(None) };
        let count = range.len() / size_of::<[u32; 5]>();
        let Some(fields) = self.values::<[u32; 5]>(SectionKind::Pairs, count)? else {
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
        let pairs: Option<Vec<Pair>> = fields.into_iter().map(pair).collect();
        pairs.map(Some).ok_or_else(|| damaged(self.name, FileDamage::Pair))
    }
}

/// Copies values out of bytes that need not be aligned; bytes after the last whole value are
/// ignored.
fn copy_values<T: Pod>(bytes: &[u8]) -> Vec<T> {
    let mut values = vec![T::zeroed(); bytes.len() / size_of::<T>()];
    let target = bytemuck::cast_slice_mut::<T, u8>(&mut values);
    let length = target.len();
    target.copy_from_slice(bytes.get(..length).unwrap_or(&[]));
    values
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// The content of the section [`SectionKind::Shape`].
struct DatasetShape {
    rows: usize,
    columns: usize,
    queries: usize,
    absent: Absent,
    /// The first feature id; `None` if features have names.
    first_id: Option<u32>,
}

impl DatasetShape {
    fn read(file: &CacheFile<'_>) -> Result<DatasetShape, DataError> {
        let shape =
            file.required(SectionKind::Shape, file.values::<u64>(SectionKind::Shape, 6)?)?;
        let matrix = file.required(SectionKind::Matrix, file.section(SectionKind::Matrix))?;
        let [rows, columns, queries, absent, has_names, first_id] = shape[..] else {
            return Err(damaged(file.name, FileDamage::Shape));
        };
        let size = |value: u64| u32::try_from(value).ok().map(|value| value as usize);
        // 0 is zero, 1 is missing; `None` for any other number.
        let absent = [Absent::Zero, Absent::Missing].into_iter().nth(absent.min(2) as usize);
        let first_id = match (has_names, u32::try_from(first_id)) {
            (0, Ok(first)) => Some(Some(first)),
            (1, Ok(0)) => Some(None),
            _ => None,
        };
        let shape = || {
            let (rows, columns) = (size(rows)?, size(columns)?);
            let matrix_bytes = rows.checked_mul(columns)?.checked_mul(size_of::<f32>())?;
            (matrix_bytes == matrix.len()).then_some(())?;
            Some(DatasetShape {
                rows,
                columns,
                queries: size(queries)?,
                absent: absent?,
                first_id: first_id?,
            })
        };
        shape().ok_or_else(|| damaged(file.name, FileDamage::Shape))
    }
}

/// Checks that the parts form a valid data set; correct checksums do not prove that.
fn verify(data: &Dataset) -> Result<(), FileDamage> {
    let rows = data.rows();
    let starts = &data.query_starts;
    let is_in_range = starts.last().is_none_or(|last| *last as usize <= rows);
    if starts.first().copied().unwrap_or(0) != 0 || !starts.is_sorted() || !is_in_range {
        return Err(FileDamage::QueryOrder);
    }
    if starts.is_empty() && rows > 0 {
        return Err(FileDamage::NoQueries);
    }
    if data.labels.iter().any(|label| !label.is_finite()) {
        return Err(FileDamage::Label);
    }
    if check_label_columns(&data.label_columns, rows).is_err() {
        return Err(FileDamage::Label);
    }
    if data.features.duplicate().is_some() {
        return Err(FileDamage::DuplicateFeature);
    }
    let weights = data.row_weights.iter().chain(&data.query_weights).flatten();
    if weights.into_iter().any(|weight| !(*weight >= 0.0 && weight.is_finite())) {
        return Err(FileDamage::Weight);
    }
    if check_positions(data.positions.as_deref().unwrap_or_default()).is_err() {
        return Err(FileDamage::Position);
    }
    if let Some(order) = &data.source_rows {
        let mut seen = vec![false; rows];
        let is_new =
            |row: &u32| seen.get_mut(*row as usize).is_some_and(|s| !std::mem::replace(s, true));
        if !order.iter().all(is_new) {
            return Err(FileDamage::RowOrder);
        }
    }
    let is_valid = |pair: &Pair| {
        let query = Some(pair.query as usize).filter(|query| *query < data.queries());
        let rows = query.map_or(0..0, |query| data.query_rows(query));
        rows.contains(&(pair.better as usize))
            && rows.contains(&(pair.worse as usize))
            && pair.better != pair.worse
            && pair.weight > 0.0
            && pair.weight.is_finite()
    };
    if !data.pairs.iter().flatten().all(is_valid) {
        return Err(FileDamage::Pair);
    }
    Ok(())
}
