//! Parts of a data set that Parquet and Arrow files keep in their metadata: the feature set, and
//! the rule for absent features.

use super::damaged;
use crate::dataset::{Absent, Dataset};
use crate::error::{DataError, FileDamage};

const FEATURE_SET: &str = "rankwright.feature_set";
const ABSENT: &str = "rankwright.absent";

/// The metadata of a file that this crate wrote.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Metadata {
    pub(super) feature_set: Option<String>,
    pub(super) absent: Option<Absent>,
}

impl Metadata {
    pub(super) fn of(data: &Dataset) -> Self {
        let feature_set = data.feature_set().map(str::to_owned);
        Metadata { feature_set, absent: Some(data.absent()) }
    }

    /// Keys and values, sorted by key.
    pub(super) fn entries(self) -> impl Iterator<Item = (String, String)> {
        let absent = self.absent.map(|absent| (ABSENT.to_owned(), absent.name().to_owned()));
        absent.into_iter().chain(self.feature_set.map(|text| (FEATURE_SET.to_owned(), text)))
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
