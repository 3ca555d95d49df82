//! The description of a model format. Everything that lists, detects, reads or writes formats uses
//! the table `FORMATS` in `mod.rs`.

use std::fmt;

use serde::Serialize;

use super::FORMATS;
use crate::error::ModelError;
use crate::model::{BodyKind, Model};

/// A function that reads a model from the bytes of a file.
pub type ReadModel = fn(&[u8]) -> Result<Model, ModelError>;
/// A function that makes the bytes of a file.
pub type WriteModel = fn(&Model) -> Result<Vec<u8>, ModelError>;

/// A format of model files: its description, and the functions that read and write it.
///
/// A program can define a format of its own as a value of this type, for [`Model::from_bytes_as`]
/// and [`Model::to_bytes_as`]. [`Model::from_bytes`] detects only the formats of this crate.
///
/// ```
/// use rankwright_model::ModelFormat;
///
/// let format = ModelFormat::find("lightgbm")?;
/// assert_eq!((format.system, format.can_write()), ("LightGBM", true));
/// assert_eq!(ModelFormat::detect(b"tree\nversion=v4\n"), Some(format));
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
#[derive(Serialize)]
pub struct ModelFormat {
    /// The name by which a user chooses the format: `lightgbm`.
    pub name: &'static str,
    /// The system, in its own spelling.
    pub system: &'static str,
    /// The files that can be read, in words.
    pub reads: &'static str,
    /// The file that is written, in words; empty if the format is only read.
    pub writes: &'static str,
    /// The usual extensions of file names, without a dot.
    pub extensions: &'static [&'static str],
    /// The kinds of models that can be written.
    pub bodies: &'static [BodyKind],
    /// The agreement of our scores with those of the system, in words.
    pub scores: &'static str,
    /// Returns whether bytes begin like a file of this format.
    #[serde(skip)]
    pub detect: fn(&[u8]) -> bool,
    /// Reads a file. Any bytes must give a model or an error.
    #[serde(skip)]
    pub read: ReadModel,
    /// Writes models of the kinds in `bodies`; `None` if the format is only read.
    #[serde(skip)]
    pub write: Option<WriteModel>,
}

impl ModelFormat {
    /// Every format.
    pub fn all() -> &'static [&'static ModelFormat] {
        FORMATS
    }

    /// The format of this crate, which keeps everything that a model has.
    pub fn own() -> &'static ModelFormat {
        &crate::codec::FORMAT
    }

    /// Every format that can be written.
    pub fn writable() -> impl Iterator<Item = &'static ModelFormat> {
        FORMATS.iter().copied().filter(|format| format.can_write())
    }

    /// The format with this name.
    pub fn find(name: &str) -> Result<&'static ModelFormat, ModelError> {
        let found = FORMATS.iter().copied().find(|format| format.name == name);
        found.ok_or_else(|| ModelError::UnknownFormat {
            name: name.to_owned(),
            known: names(|format| format.name),
        })
    }

    /// The format of some bytes, detected by their beginning.
    pub fn detect(bytes: &[u8]) -> Option<&'static ModelFormat> {
        FORMATS.iter().copied().find(|format| (format.detect)(bytes))
    }

    /// Whether models can be written in this format.
    pub fn can_write(&self) -> bool {
        self.write.is_some()
    }

    /// The names of all systems, for messages.
    pub(crate) fn systems() -> String {
        names(|format| format.system)
    }
}

/// A text of every format, such as its name, joined by commas for a message.
fn names(text: impl Fn(&ModelFormat) -> &'static str) -> String {
    FORMATS.iter().map(|format| text(format)).collect::<Vec<_>>().join(", ")
}

/// Formats are compared by name, which is unique.
impl PartialEq for ModelFormat {
    fn eq(&self, other: &ModelFormat) -> bool {
        self.name == other.name
    }
}

impl Eq for ModelFormat {}

impl fmt::Debug for ModelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ModelFormat").field(&self.name).finish()
    }
}

impl fmt::Display for ModelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
