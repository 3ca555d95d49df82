//! What can go wrong between documents and a ranking.

use std::path::{Path, PathBuf};

use rankwright_data::{DataError, SourceLocation};
use rankwright_eval::EvalError;
use rankwright_model::ModelError;
use rankwright_spec::SpecError;

/// Everything the search crate reports instead of a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// A file could not be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A spec of an analysis, a first stage or a feature.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A model does not fit.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Scores cannot be ordered.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// A model gave a document a score that is not a number.
    #[error("the score of document `{id}` is not a number")]
    NanScore {
        /// The document.
        id: String,
    },
    /// There is no index at a place, or there is something else.
    #[error("{}: {what}", .path.display())]
    NoIndex {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
        /// The way out.
        help: String,
    },
    /// An index whose bytes are not what was once written.
    #[error("index {} is damaged: {what}", .path.display())]
    Damaged {
        /// The folder.
        path: PathBuf,
        /// What does not fit.
        what: String,
    },
    /// The index could not be written or read, though it is not damaged: disk full, no permission.
    #[error("index {}: {what}", .path.display())]
    Index {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        what: String,
    },
    /// A field that the index does not have, or not as this kind.
    #[error("no {wanted} field `{name}` in the index; it has {known}")]
    Field {
        /// The field.
        name: String,
        /// The kind of field that is needed.
        wanted: &'static str,
        /// The fields there are.
        known: String,
    },
    /// A request that cannot be met.
    #[error("{what}")]
    Request {
        /// What is wrong.
        what: String,
        /// The way out.
        help: Option<String>,
    },
    /// What a model was trained on is not what this index computes.
    #[error("the model's features are not those of this index: {what}")]
    Mismatch {
        /// What differs.
        what: String,
    },
}

impl SearchError {
    /// A request that cannot be met, and the way out.
    pub fn request(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Request { what: what.into(), help: Some(help.into()) }
    }

    /// What to do about it, where there is something.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Data(error) => error.help(),
            Self::Model(error) => error.help(),
            Self::Request { help, .. } => help.clone(),
            Self::NoIndex { help, .. } => Some(help.clone()),
            Self::Damaged { .. } => Some(
                "build it again from the documents: rankwright index DOCS --out INDEX --rebuild"
                    .into(),
            ),
            Self::Mismatch { .. } => Some(
                "make the features with this index, train again, or take the index that the model \
                 was trained on"
                    .into(),
            ),
            _ => None,
        }
    }

    /// A part of a document or query file that does not follow its format.
    pub(crate) fn malformed(
        place: SourceLocation,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        DataError::malformed(place, found, expected).into()
    }

    /// The same with what to do about it.
    pub(crate) fn with_help(self, text: impl Into<String>) -> Self {
        match self {
            Self::Data(error) => Self::Data(error.with_help(text.into())),
            other => other,
        }
    }

    /// What tantivy said of the index at a path.
    pub(crate) fn tantivy(path: &Path, error: &tantivy::TantivyError) -> Self {
        use tantivy::TantivyError as T;
        let (path, what) = (path.to_owned(), error.to_string());
        match error {
            T::DataCorruption(_) | T::IncompatibleIndex(_) | T::InternalError(_) => {
                Self::Damaged { path, what }
            }
            T::OpenReadError(_) | T::FieldNotFound(_) | T::SchemaError(_) => {
                Self::Damaged { path, what }
            }
            _ => Self::Index { path, what },
        }
    }
}

#[cfg(test)]
mod tests {
    use rankwright_data::quote;

    use super::*;

    #[test]
    fn messages_say_place_finding_and_expectation_and_help_is_apart() {
        let error =
            SearchError::malformed(SourceLocation::line("a.jsonl", 3), quote(b"x\ty"), "an id");
        assert_eq!(error.to_string(), "a.jsonl:3: found 'x\\ty', expected an id");
        assert_eq!(error.help(), None);
        assert_eq!(error.with_help("give one").help().as_deref(), Some("give one"));
        assert_eq!(quote(&[b'x'; 500]).chars().count(), 43);
        assert_eq!(quote(b""), "nothing");
    }
}
