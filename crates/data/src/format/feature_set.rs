//! The feature set of a data file: inside the file if the format can hold a text (cache, Parquet,
//! Arrow), otherwise in a file beside it, `DATA.features.toml`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Format;
use crate::bytes::Input;
use crate::error::{DataError, SourceLocation};
use crate::warnings::{WarningKind, Warnings};

/// The ending of files that hold the feature set of a data file.
pub(crate) const ENDING: &str = ".features.toml";

/// The path of the file that holds the feature set of a data file whose format cannot.
pub fn feature_set_path(data: impl AsRef<Path>) -> PathBuf {
    let mut name = data.as_ref().as_os_str().to_owned();
    name.push(ENDING);
    name.into()
}

/// Whether a format holds the feature set inside of the file.
pub(super) fn is_inside(format: Format) -> bool {
    matches!(format, Format::Cache | Format::Parquet | Format::Arrow)
}

/// The feature set of each input that has one.
#[derive(Debug)]
pub(super) struct FeatureSets {
    of_inputs: Vec<(String, Option<String>)>,
}

impl FeatureSets {
    /// The sets in files beside inputs.
    pub(super) fn beside(inputs: &[Input]) -> Result<Self, DataError> {
        let beside = inputs.iter().map(|input| Ok((input.name.clone(), read_beside(input)?)));
        Ok(FeatureSets { of_inputs: beside.collect::<Result<_, DataError>>()? })
    }

    /// Sets the feature set inside an input, which replaces the one beside it.
    #[cfg(feature = "columnar")]
    pub(super) fn set_inside(&mut self, input: usize, text: String) {
        if let Some((_, known)) = self.of_inputs.get_mut(input) {
            *known = Some(text);
        }
    }

    /// The common set of all inputs. Adds a warning if only some inputs have one.
    pub(super) fn join(self, warnings: &mut Warnings) -> Result<Option<Arc<str>>, DataError> {
        let with = || self.of_inputs.iter().filter_map(|(name, set)| Some((name, set.as_ref()?)));
        let Some((first, text)) = with().next() else { return Ok(None) };
        if let Some((second, _)) = with().find(|(_, other)| *other != text) {
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

/// The text beside an input that is a file, if there is one.
fn read_beside(input: &Input) -> Result<Option<String>, DataError> {
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
