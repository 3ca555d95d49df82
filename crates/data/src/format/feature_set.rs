//! The feature set of a data file: how its features were computed, as TOML text. It is inside of
//! the file if the format can hold it (cache, Parquet, Arrow), otherwise in the side file
//! `DATA.features.toml`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Format;
use crate::bytes::Input;
use crate::error::{DataError, SourceLocation};
use crate::warnings::{WarningKind, Warnings};

/// The ending of side files with the feature set of a data file.
pub(crate) const ENDING: &str = ".features.toml";

/// The path of the side file with the feature set of a data file whose format cannot hold it.
pub fn feature_set_path(data: impl AsRef<Path>) -> PathBuf {
    let mut name = data.as_ref().as_os_str().to_owned();
    name.push(ENDING);
    name.into()
}

/// Whether files of this format hold the feature set themselves, without a side file.
pub(super) fn is_inside(format: Format) -> bool {
    matches!(format, Format::Cache | Format::Parquet | Format::Arrow)
}

/// The feature sets of the inputs of one data set.
#[derive(Debug)]
pub(super) struct FeatureSets {
    /// The name of each input, and its feature set if it has one.
    of_inputs: Vec<(String, Option<String>)>,
}

impl FeatureSets {
    /// Reads the side files of inputs.
    pub(super) fn from_side_files(inputs: &[Input]) -> Result<Self, DataError> {
        let sets = inputs.iter().map(|input| Ok((input.name.clone(), read_side_file(input)?)));
        Ok(FeatureSets { of_inputs: sets.collect::<Result<_, DataError>>()? })
    }

    /// Sets the feature set that is inside of an input; it replaces that of the side file.
    #[cfg(feature = "columnar")]
    pub(super) fn set_inside(&mut self, input: usize, text: String) {
        if let Some((_, set)) = self.of_inputs.get_mut(input) {
            *set = Some(text);
        }
    }

    /// The common set of all inputs. Adds a warning if only some inputs have one.
    pub(super) fn join(self, warnings: &mut Warnings) -> Result<Option<Arc<str>>, DataError> {
        let sets = || self.of_inputs.iter().filter_map(|(name, set)| Some((name, set.as_ref()?)));
        let Some((first, text)) = sets().next() else { return Ok(None) };
        if let Some((second, _)) = sets().find(|(_, other)| *other != text) {
            return Err(DataError::FeatureSets { first: first.clone(), second: second.clone() });
        }
        let mut without = self.of_inputs.iter().filter(|(_, set)| set.is_none());
        if let Some((name, _)) = without.next() {
            let count = 1 + without.count() as u64;
            warnings
                .add(WarningKind::InputsWithoutFeatureSet, count, || SourceLocation::file(name));
        }
        Ok(Some(text.as_str().into()))
    }
}

/// The text of the side file of an input, if there is one.
fn read_side_file(input: &Input) -> Result<Option<String>, DataError> {
    let Some(path) = input.path().map(feature_set_path).filter(|path| path.is_file()) else {
        return Ok(None);
    };
    let side = Input::open(&path)?;
    match std::str::from_utf8(&side.bytes) {
        Ok(text) => Ok(Some(text.to_owned())),
        Err(_) => {
            let location = SourceLocation::file(side.name);
            Err(DataError::malformed(location, "bytes that are not UTF-8", "a feature set as TOML"))
        }
    }
}
