//! Columns of an index: one number, or several texts, per document. They are read on first use
//! and cached.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::DateTime;
use tantivy::columnar::Column;

use super::layout::{Stat, url_column};
use super::{FieldValues, Index, IndexId, Segment, TextField, lock};
use crate::error::{IndexObject, SearchError};
use crate::schema::FieldKind;

/// One number or date field of an index.
#[derive(Debug, Clone)]
pub struct NumberField {
    index: IndexId,
    /// The value of each document by its number; NaN if it has none.
    values: Arc<Vec<f64>>,
}

impl NumberField {
    /// The values by document number; an error if `index` is not the index of this field.
    pub(crate) fn values_in(&self, index: &Index) -> Result<&[f64], SearchError> {
        match self.index == index.index_id() {
            true => Ok(&self.values),
            false => Err(SearchError::OtherIndex { object: IndexObject::NumberField }),
        }
    }
}

impl Index {
    /// A number field by its name, or a date field as seconds since 1970.
    pub fn number_field(&self, name: &str) -> Result<NumberField, SearchError> {
        let is_date = self.layout.non_text_field(name, FieldKind::Date).is_some();
        let kind = if is_date { FieldKind::Date } else { FieldKind::Number };
        Ok(NumberField { index: self.id, values: self.values(name, kind)? })
    }

    /// A statistic of each document in a text field, by document number.
    pub(crate) fn stat(
        &self,
        text_field: TextField,
        stat: Stat,
    ) -> Result<Arc<Vec<f64>>, SearchError> {
        self.column(&stat.column(&self.text_fields[text_field.0].column))
    }

    /// The column of a number field, or of a date field in seconds since 1970; `name` is the name
    /// that documents use.
    pub(crate) fn values(&self, name: &str, kind: FieldKind) -> Result<Arc<Vec<f64>>, SearchError> {
        let field = self.layout.non_text_field(name, kind);
        let field = field.ok_or_else(|| self.unknown_field(name, kind))?;
        self.column(&field.name)
    }

    /// A number computed from the web addresses in a field, one of `URL_STATS`.
    pub(crate) fn url_values(&self, name: &str, stat: &str) -> Result<Arc<Vec<f64>>, SearchError> {
        let field = self.layout.non_text_field(name, FieldKind::Url);
        let field = field.ok_or_else(|| self.unknown_field(name, FieldKind::Url))?;
        self.column(&url_column(stat, &field.name))
    }

    /// A column of numbers over all documents, by its name in tantivy; absent values are NaN.
    pub(super) fn column(&self, name: &str) -> Result<Arc<Vec<f64>>, SearchError> {
        let cached = |columns: &HashMap<String, Arc<Vec<f64>>>| columns.get(name).cloned();
        if let Some(column) = cached(&lock(&self.columns)) {
            return Ok(column);
        }
        let mut values = vec![f64::NAN; self.max_doc()];
        self.catch_damage(|| {
            for segment in &self.segments {
                let range =
                    segment.base as usize..(segment.base + segment.reader.max_doc()) as usize;
                self.fill_column(segment, name, &mut values[range])?;
            }
            Ok(())
        })?;
        let column = Arc::new(values);
        lock(&self.columns).insert(name.to_owned(), column.clone());
        Ok(column)
    }

    /// A column that is computed from the whole index: `make` computes it together with others,
    /// each under its name, and all are cached.
    pub(crate) fn computed_column(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<Vec<(String, Vec<f64>)>, SearchError>,
    ) -> Result<Arc<Vec<f64>>, SearchError> {
        // No field of an index has such a name.
        let key = |name: &str| format!("computed\0{name}");
        if let Some(column) = lock(&self.columns).get(&key(name)) {
            return Ok(column.clone());
        }
        let made = make()?;
        let mut columns = lock(&self.columns);
        for (name, values) in made {
            columns.insert(key(&name), Arc::new(values));
        }
        let invariant = "the requested column is among those that are made";
        columns.get(&key(name)).cloned().ok_or(SearchError::Internal { invariant })
    }

    /// Sets the values of a segment's documents, if the segment has the column; tantivy's column is
    /// of one of three types.
    fn fill_column(
        &self,
        segment: &Segment,
        name: &str,
        values: &mut [f64],
    ) -> Result<(), SearchError> {
        let fast = segment.reader.fast_fields();
        let failed = |error: tantivy::TantivyError| self.tantivy_error(&error);
        if let Some(column) = fast.column_opt::<f64>(name).map_err(failed)? {
            copy_as_f64(&column, values, |value| value);
        } else if let Some(column) = fast.column_opt::<u64>(name).map_err(failed)? {
            copy_as_f64(&column, values, |value| value as f64);
        } else if let Some(column) = fast.column_opt::<DateTime>(name).map_err(failed)? {
            copy_as_f64(&column, values, |value| value.into_timestamp_secs() as f64);
        }
        Ok(())
    }

    /// The values of each document in a field of categories, links or web addresses.
    pub(crate) fn field_values(
        &self,
        name: &str,
        kind: FieldKind,
    ) -> Result<Arc<FieldValues>, SearchError> {
        let field = self.layout.non_text_field(name, kind);
        let field = field.ok_or_else(|| self.unknown_field(name, kind))?;
        if let Some(values) = lock(&self.field_values).get(&field.name) {
            return Ok(values.clone());
        }
        let values = Arc::new(self.catch_damage(|| FieldValues::read(self, &field.name))?);
        lock(&self.field_values).insert(field.name.clone(), values.clone());
        Ok(values)
    }
}

/// Copies a column of tantivy as `f64`; `values` of documents without a value in it stay as they
/// are.
fn copy_as_f64<T: Copy + PartialOrd + std::fmt::Debug + Send + Sync + 'static>(
    column: &Column<T>,
    values: &mut [f64],
    to_f64: impl Fn(T) -> f64,
) {
    for (doc, copied) in (0..).zip(values) {
        if let Some(value) = column.first(doc) {
            *copied = to_f64(value);
        }
    }
}
