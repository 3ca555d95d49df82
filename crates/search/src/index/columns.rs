//! Columns of an index: one number, or several labels, per document. They are read on first use and
//! cached.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::DateTime;
use tantivy::columnar::Column;

use super::layout::{Stat, url_column};
use super::{FieldLabels, Index, IndexId, Segment, TextField, lock};
use crate::error::{IndexObject, SearchError};
use crate::schema::FieldKind;

/// One number or date field of an index.
#[derive(Debug, Clone)]
pub struct NumberField {
    index: IndexId,
    /// The value of each document.
    values: Arc<Vec<f64>>,
}

impl NumberField {
    /// The values by document; the field of another index is an error.
    pub(crate) fn of(&self, index: &Index) -> Result<&[f64], SearchError> {
        match self.index == index.index_id() {
            true => Ok(&self.values),
            false => Err(SearchError::OtherIndex { object: IndexObject::NumberField }),
        }
    }
}

impl Index {
    /// A number field by its name, or a date field as seconds since 1970.
    pub fn number_field(&self, name: &str) -> Result<NumberField, SearchError> {
        let is_date = self.layout.other(name, FieldKind::Date).is_some();
        let kind = if is_date { FieldKind::Date } else { FieldKind::Number };
        Ok(NumberField { index: self.id, values: self.values(name, kind)? })
    }

    /// A statistic of each document in a text field.
    pub(crate) fn stat(
        &self,
        text_field: TextField,
        stat: Stat,
    ) -> Result<Arc<Vec<f64>>, SearchError> {
        self.column(&stat.column(&self.text_fields[text_field.0].column))
    }

    /// The column of a number or date field (seconds), by the name that documents use.
    pub(crate) fn values(&self, name: &str, kind: FieldKind) -> Result<Arc<Vec<f64>>, SearchError> {
        let slot = self.layout.other(name, kind).ok_or_else(|| self.no_field(name, kind))?;
        self.column(&slot.name)
    }

    /// A number computed from the addresses in a field.
    pub(crate) fn url_values(&self, name: &str, stat: &str) -> Result<Arc<Vec<f64>>, SearchError> {
        let slot = self.layout.other(name, FieldKind::Url);
        let slot = slot.ok_or_else(|| self.no_field(name, FieldKind::Url))?;
        self.column(&url_column(stat, &slot.name))
    }

    /// A column of numbers over all documents; absent values are NaN.
    pub(super) fn column(&self, name: &str) -> Result<Arc<Vec<f64>>, SearchError> {
        let kept = |columns: &HashMap<String, Arc<Vec<f64>>>| columns.get(name).cloned();
        if let Some(column) = kept(&lock(&self.columns)) {
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

    fn fill_column(
        &self,
        segment: &Segment,
        name: &str,
        values: &mut [f64],
    ) -> Result<(), SearchError> {
        let fast = segment.reader.fast_fields();
        let failed = |error: tantivy::TantivyError| self.failed(&error);
        if let Some(column) = fast.column_opt::<f64>(name).map_err(failed)? {
            copy(&column, values, |value| value);
        } else if let Some(column) = fast.column_opt::<u64>(name).map_err(failed)? {
            copy(&column, values, |value| value as f64);
        } else if let Some(column) = fast.column_opt::<DateTime>(name).map_err(failed)? {
            copy(&column, values, |value| value.into_timestamp_secs() as f64);
        }
        Ok(())
    }

    /// The labels (or links) of each document in a field.
    pub(crate) fn labels(
        &self,
        name: &str,
        kind: FieldKind,
    ) -> Result<Arc<FieldLabels>, SearchError> {
        let slot = self.layout.other(name, kind).ok_or_else(|| self.no_field(name, kind))?;
        if let Some(labels) = lock(&self.labels).get(&slot.name) {
            return Ok(labels.clone());
        }
        let labels = Arc::new(self.catch_damage(|| FieldLabels::read(self, &slot.name))?);
        lock(&self.labels).insert(slot.name.clone(), labels.clone());
        Ok(labels)
    }
}

fn copy<T: Copy + PartialOrd + std::fmt::Debug + Send + Sync + 'static>(
    column: &Column<T>,
    values: &mut [f64],
    number: impl Fn(T) -> f64,
) {
    for (doc, slot) in (0..).zip(values) {
        if let Some(value) = column.first(doc) {
            *slot = number(value);
        }
    }
}
