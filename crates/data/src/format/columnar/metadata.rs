//! Parts of a data set that Parquet and Arrow files keep in their metadata: the feature set, the
//! rule for absent features, and the columns of the table that the data was read from.

use std::io;
use std::sync::Arc;

use super::damaged;
use crate::dataset::{Absent, Dataset};
use crate::error::{DataError, FileDamage};
use crate::table_columns::TableColumns;

const FEATURE_SET: &str = "rankwright.feature_set";
const ABSENT: &str = "rankwright.absent";
const COLUMNS: &str = "rankwright.columns";

/// The parts of a data set that are in the metadata of a file; `None` where the file has no entry.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Metadata {
    pub(super) feature_set: Option<String>,
    pub(super) absent: Option<Absent>,
    pub(super) columns: Option<Arc<TableColumns>>,
}

impl Metadata {
    pub(super) fn of(data: &Dataset) -> Self {
        let feature_set = data.feature_set().map(str::to_owned);
        let columns = data.table_columns().cloned();
        Metadata { feature_set, absent: Some(data.absent()), columns }
    }

    /// Keys and values, sorted by key.
    pub(super) fn entries(self) -> io::Result<Vec<(String, String)>> {
        let absent = self.absent.map(|absent| (ABSENT.to_owned(), absent.name().to_owned()));
        let columns = self.columns.map(|columns| columns.to_json()).transpose()?;
        let columns = columns.map(|text| (COLUMNS.to_owned(), text));
        let feature_set = self.feature_set.map(|text| (FEATURE_SET.to_owned(), text));
        Ok(absent.into_iter().chain(columns).chain(feature_set).collect())
    }

    /// Reads this crate's entries from the metadata of a file.
    pub(super) fn read<'a>(
        file: &str,
        entries: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, DataError> {
        let mut metadata = Metadata::default();
        for (key, value) in entries {
            match (key, value) {
                (FEATURE_SET, text) => metadata.feature_set = Some(text.to_owned()),
                (COLUMNS, text) => {
                    let columns = TableColumns::from_json(text);
                    let columns = columns.ok_or_else(|| damaged(file, FileDamage::TableColumns))?;
                    metadata.columns = Some(Arc::new(columns));
                }
                (ABSENT, "zero") => metadata.absent = Some(Absent::Zero),
                (ABSENT, "missing") => metadata.absent = Some(Absent::Missing),
                (ABSENT, _) => {
                    return Err(damaged(file, FileDamage::AbsentRule));
                }
                _ => {}
            }
        }
        Ok(metadata)
    }
}
