//! The errors of the model crate. They name the fault and the value, in terms that suit every
//! caller.

use rankwright_data::DataError;

/// An error of the model crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A file could not be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Bytes that are no model at all.
    #[error("this is no model: it begins with {found}, unlike those of {systems}")]
    NotAModel {
        /// The first bytes.
        found: String,
        /// The systems whose models could have been read.
        systems: String,
    },
    /// An unknown model format.
    #[error("there is no model format '{name}'; known are {known}")]
    UnknownFormat {
        /// The given name.
        name: String,
        /// The known names.
        known: String,
    },
    /// A model of another version of the format.
    #[error("the model has format version {found}; this program reads version {supported}")]
    Version {
        /// The version in the file.
        found: u32,
        /// The version that is read.
        supported: u32,
    },
    /// A model whose bytes were changed after writing.
    #[error("the model is damaged: {what}")]
    Damaged {
        /// The damage.
        what: String,
    },
    /// Parts that do not make a model.
    #[error("{what}; expected {expected}")]
    Invalid {
        /// The parts that were found.
        what: String,
        /// The parts that were expected.
        expected: String,
    },
    /// A part of a model that one of two model formats cannot express.
    #[error("{format} model: {what}")]
    Unsupported {
        /// The other system.
        format: &'static str,
        /// The part that cannot be expressed, and where it is.
        what: String,
    },
    /// The data lacks features that the model needs.
    #[error("the data lacks {count} of the model's features: {names}")]
    MissingFeatures {
        /// Their number.
        count: usize,
        /// Their names, the first few.
        names: String,
    },
    /// The data has features that the model does not know.
    #[error("the data has {count} features that the model does not know: {names}")]
    UnknownFeatures {
        /// Their number.
        count: usize,
        /// Their names, the first few.
        names: String,
    },
    /// Absent values were read in another way than the model was trained with.
    #[error(
        "the model takes absent features as {model}, but the data was read with them as {data}"
    )]
    Absent {
        /// The model's rule.
        model: &'static str,
        /// The data's rule.
        data: &'static str,
    },
    /// Rows were given one by one to a model whose scores depend on the other documents of the
    /// query.
    #[error("the scores of this model depend on the whole query: its rows must be scored together")]
    NeedsWholeQuery,
    /// Values that do not make rows.
    #[error("{values} values for {rows} rows; expected {columns} values for each row")]
    RowLength {
        /// Number of values.
        values: usize,
        /// Number of rows.
        rows: usize,
        /// Number of values in a row.
        columns: usize,
    },
    /// A number of a feature that the model does not have.
    #[error("there is no feature number {feature}; the model has {features} features, from 0 on")]
    NoSuchFeature {
        /// The given number.
        feature: usize,
        /// Number of features.
        features: usize,
    },
    /// A bug in this library: an invariant does not hold.
    #[error("internal error: this should always hold: {invariant}")]
    Internal {
        /// The statement that should be true.
        invariant: &'static str,
    },
    /// An error in a named file.
    #[error("{file}: {error}")]
    InFile {
        /// The file.
        file: String,
        /// The error.
        error: Box<ModelError>,
    },
}

impl ModelError {
    /// Parts that do not make a model, and what would.
    pub fn invalid(what: impl Into<String>, expected: impl Into<String>) -> Self {
        ModelError::Invalid { what: what.into(), expected: expected.into() }
    }

    /// Bytes that are no model of these systems.
    pub(crate) fn not_a_model(bytes: &[u8], systems: impl Into<String>) -> Self {
        let found = match bytes.get(..bytes.len().min(20)) {
            None | Some([]) => "nothing".into(),
            Some(start) => format!("'{}'", String::from_utf8_lossy(start).escape_debug()),
        };
        ModelError::NotAModel { found, systems: systems.into() }
    }

    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        ModelError::Damaged { what: what.into() }
    }

    /// Adds the part of a model to the error.
    pub(crate) fn within(self, part: impl std::fmt::Display) -> Self {
        match self {
            ModelError::Invalid { what, expected } => {
                ModelError::Invalid { what: format!("{part}: {what}"), expected }
            }
            ModelError::Damaged { what } => ModelError::Damaged { what: format!("{part}: {what}") },
            ModelError::Version { .. } | ModelError::NotAModel { .. } => {
                ModelError::Damaged { what: format!("{part}: {self}") }
            }
            other => other,
        }
    }

    /// Adds the file to the error.
    pub fn in_file(self, file: impl Into<String>) -> Self {
        match self {
            // These already name their file.
            ModelError::Data(_) | ModelError::InFile { .. } => self,
            other => ModelError::InFile { file: file.into(), error: Box::new(other) },
        }
    }

    /// A remedy, if there is one.
    pub fn help(&self) -> Option<String> {
        match self {
            ModelError::Data(error) => error.help(),
            ModelError::InFile { error, .. } => error.help(),
            ModelError::Version { found, supported } if found > supported => {
                Some("a newer program wrote it: update this one, or train the model again".into())
            }
            ModelError::Damaged { .. } => {
                Some("copy or train the model again; nothing in the file can be trusted".into())
            }
            ModelError::MissingFeatures { .. } => {
                Some("add these columns to the data, or rename them as in training".into())
            }
            ModelError::UnknownFeatures { .. } => Some("check that this is the right data".into()),
            ModelError::Absent { model, .. } => {
                Some(format!("read the data again from its source, absent features as {model}"))
            }
            _ => None,
        }
    }
}

/// Maximum number of names in a message.
pub(crate) const SHOWN: usize = 10;

/// The first few of `count` names, for a message.
pub(crate) fn first_names<S: AsRef<str>>(names: &[S], count: usize) -> String {
    let shown: Vec<&str> = names.iter().take(SHOWN).map(S::as_ref).collect();
    match count.saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
