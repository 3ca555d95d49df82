//! Errors of indexing, retrieval, features and re-ranking.

use std::path::{Path, PathBuf};

use rankwright_data::{DataError, SourceLocation};
use rankwright_eval::EvalError;
use rankwright_model::ModelError;
use rankwright_spec::SpecError;

use crate::classify::ClassifyError;
use crate::filter::FilterError;

/// The error type of the search crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// A file could not be read or written.
    #[error(transparent)]
    Data(Box<DataError>),
    /// A spec of an analysis, a first stage, a feature or a classifier is invalid.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A model could not be read or does not score these features.
    #[error(transparent)]
    Model(Box<ModelError>),
    /// Scores cannot be ordered.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// Labelled documents cannot train a classifier.
    #[error(transparent)]
    Classify(#[from] ClassifyError),

    /// There is no index in a folder.
    #[error("{}: there is no index", .path.display())]
    NoIndex {
        /// The folder.
        path: PathBuf,
    },
    /// There is already an index in a folder, and the options do not allow to change it.
    #[error("{}: there is an index already", .path.display())]
    IndexExists {
        /// The folder.
        path: PathBuf,
    },
    /// A file is in the place of the folder of an index.
    #[error("{}: is a file, and an index is a folder", .path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// The folder for a new index holds files that do not belong to an index.
    #[error("{}: a folder with other things in it, and no index", .path.display())]
    FolderNotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// An index in the format of another version of the program.
    #[error("{}: an index of version {found}; this program reads version {known}", .path.display())]
    IndexVersion {
        /// The folder.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that is read.
        known: u32,
    },
    /// Another process is writing to the index.
    #[error("index {}: another program is writing to it", .path.display())]
    IndexLocked {
        /// The folder.
        path: PathBuf,
    },
    /// An index whose bytes differ from those that were written.
    #[error("index {} is damaged: {what}", .path.display())]
    Damaged {
        /// The folder.
        path: PathBuf,
        /// The damaged part.
        what: String,
    },
    /// The system could not write or read the index: disk full, no permission.
    #[error("index {}: {what}", .path.display())]
    IndexAccess {
        /// The folder.
        path: PathBuf,
        /// The system's message.
        what: String,
    },
    /// The documents to add have another analysis or schema than the index.
    #[error("the index was built with analysis {analysis} and schema {schema}")]
    OtherBuild {
        /// The analysis of the index.
        analysis: String,
        /// The schema of the index.
        schema: String,
    },
    /// A document, filter or extractor of one index was given to another.
    #[error("a {what} of one index was given to another")]
    OtherIndex {
        /// The kind of object.
        what: &'static str,
    },

    /// An entry of a schema without a kind.
    #[error("schema: `{part}` has no kind")]
    SchemaWithoutKind {
        /// The entry.
        part: String,
    },
    /// A schema names a kind of field that does not exist.
    #[error("schema: `{kind}` is no kind of field")]
    UnknownKind {
        /// The kind.
        kind: String,
    },
    /// Two fields whose names differ only in characters that an index cannot store.
    #[error("schema: field `{field}` would be called `{name}`, which is taken")]
    FieldNameTaken {
        /// The field.
        field: String,
        /// Its name in the index.
        name: String,
    },
    /// No field of the documents is text.
    #[error("no field of the documents is text, so there is nothing to search")]
    NoTextField,
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
    /// A document that cannot be stored.
    #[error("document {id}: {why}")]
    BadDocument {
        /// The document.
        id: String,
        /// The reason.
        why: String,
    },

    /// A filter cannot be parsed, or does not fit the fields of the index.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// A feature set that is not valid TOML.
    #[error("feature set: {why}")]
    BadFeatureSet {
        /// The reason.
        why: String,
    },
    /// A feature set without features.
    #[error("a set of no features")]
    NoFeatures,
    /// Features computed by another version of the formulas.
    #[error("the features are of version {found}, this program computes version {known}")]
    FeatureVersion {
        /// Their version.
        found: u32,
        /// The version that this program computes.
        known: u32,
    },
    /// Features of text with another analysis than that of the index.
    #[error("the text of the features was analysed as {set}, the index's as {index}")]
    OtherAnalysis {
        /// The analysis of the feature set.
        set: String,
        /// The analysis of the index.
        index: String,
    },
    /// A model with a feature that the index cannot compute.
    #[error("the model's features are not those of this index: {0}")]
    ModelFeatures(Box<SearchError>),
    /// A model names a feature differently from the index.
    #[error("feature `{found}` is called `{expected}` here")]
    FeatureName {
        /// The model's name.
        found: String,
        /// The index's name.
        expected: String,
    },
    /// The classes of a field cannot train a classifier, whose scores are a feature.
    #[error("classes of field `{field}`: {error}")]
    Classes {
        /// The field.
        field: String,
        /// The reason.
        error: ClassifyError,
    },
    /// A custom feature has the name of another feature of the index.
    #[error("there is a feature `{name}` already")]
    FeatureTaken {
        /// The name.
        name: &'static str,
    },
    /// The name of a custom feature has characters with a meaning in specs.
    #[error("`{name}` cannot be the name of a feature")]
    NoFeatureName {
        /// The name.
        name: &'static str,
    },
    /// A feature reads statistics that it did not declare among its needs.
    #[error("a feature reads {what} of a text field that it does not name among its needs")]
    NotGathered {
        /// The statistics.
        what: &'static str,
    },
    /// A feature reads beyond the candidates of the query.
    #[error("a feature reads candidate {candidate} of {candidates}, which are numbered from 0")]
    NoSuchCandidate {
        /// The index that was read.
        candidate: usize,
        /// The number of candidates.
        candidates: usize,
    },
    /// A feature reads beyond the different terms of the query.
    #[error("a feature reads term {term} of {terms}, which are numbered from 0")]
    NoSuchTerm {
        /// The index that was read.
        term: usize,
        /// The number of different terms.
        terms: usize,
    },
    /// A model gave a document a score that is not a number.
    #[error("the score of document `{id}` is not a number")]
    NanScore {
        /// The document.
        id: String,
    },

    /// No query has a judgement.
    #[error("none of the {queries} queries has a judgement in {judgements}")]
    NoJudgedQueries {
        /// The number of queries.
        queries: usize,
        /// The name of the judgements.
        judgements: String,
    },
    /// No query found a document.
    #[error("no query found a document, so that there are no rows")]
    NoRows,
    /// Zero candidates or documents were requested.
    #[error("the number of {what} must be at least 1")]
    Zero {
        /// The kind of thing that is counted.
        what: &'static str,
    },

    /// No document has the field of the classes.
    #[error("no document has a field `{label}`; their fields are {fields}")]
    NoLabelField {
        /// The field.
        label: String,
        /// The fields there are.
        fields: String,
    },
    /// No field but that of the classes is text.
    #[error(
        "beside `{label}` no field is text, so there is nothing to tell classes by; the fields are \
         {fields}"
    )]
    NoTextBesideLabel {
        /// The field of the classes.
        label: String,
        /// The fields there are.
        fields: String,
    },
    /// The field of the classes is empty in every document.
    #[error("`{label}` is empty in all {documents} documents")]
    NoLabels {
        /// The field.
        label: String,
        /// The number of documents.
        documents: usize,
    },
    /// All labelled documents are of one class.
    #[error(
        "all {documents} labelled documents are of the class `{class}`: at least two classes are \
         needed to tell them apart"
    )]
    OneClass {
        /// The class.
        class: String,
        /// The number of documents.
        documents: usize,
    },
    /// Fewer labelled documents than folds, or fewer than two folds.
    #[error("{documents} labelled documents do not make {folds} folds")]
    Folds {
        /// The number of documents.
        documents: usize,
        /// The number of folds.
        folds: usize,
    },
    /// The documents to classify have none of the text fields of the labelled ones.
    #[error(
        "the documents to classify have none of the text fields that were learnt from: {fields}"
    )]
    NoFieldToClassify {
        /// The fields that were learnt from.
        fields: String,
    },

    /// A bug in this program.
    #[error("internal error: {invariant} does not hold")]
    Internal {
        /// The condition that should have held.
        invariant: &'static str,
    },
}

impl SearchError {
    /// The remedy, where there is one that holds for every caller.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Data(error) => return error.help(),
            Self::Model(error) => return error.help(),
            Self::IndexVersion { .. } => "build it again with this program".into(),
            Self::NotAFolder { .. } => "give another name".into(),
            Self::FolderNotEmpty { .. } => "give a new or an empty folder".into(),
            Self::IndexLocked { .. } => "wait until it is done".into(),
            Self::Damaged { .. } => "build it again from the documents".into(),
            Self::SchemaWithoutKind { .. } => {
                format!("write name:kind, with a kind of {}", known_kinds())
            }
            Self::UnknownKind { .. } => format!("the kinds are {}", known_kinds()),
            Self::FieldNameTaken { .. } => {
                "rename it in the documents, or leave one of the two out".into()
            }
            Self::BadDocument { .. } => "leave it out".into(),
            Self::Filter(error) => return error.help(),
            Self::BadFeatureSet { .. } => "a feature set has features = [\"bm25\", ...]".into(),
            Self::NoFeatures => "name some, or `default`".into(),
            Self::FeatureVersion { .. } | Self::OtherAnalysis { .. } | Self::ModelFeatures(_) => {
                "make the features with this index, train again, or take the index that the model \
                 was trained on"
                    .into()
            }
            Self::NoLabels { .. } | Self::Classes { .. } => "label some documents".into(),
            _ => return None,
        })
    }

    /// A part of a document or query file that does not follow its format.
    pub(crate) fn malformed(
        place: SourceLocation,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        DataError::malformed(place, found, expected).into()
    }

    /// Adds a remedy to the error.
    pub(crate) fn with_help(self, text: impl Into<String>) -> Self {
        match self {
            Self::Data(error) => error.with_help(text.into()).into(),
            other => other,
        }
    }

    /// A system error at the folder of an index.
    pub(crate) fn access(path: &Path, error: &std::io::Error) -> Self {
        Self::IndexAccess { path: path.to_owned(), what: error.to_string() }
    }

    /// An error of tantivy at the folder of an index.
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
            _ => Self::IndexAccess { path, what },
        }
    }
}

impl From<DataError> for SearchError {
    fn from(error: DataError) -> Self {
        Self::Data(Box::new(error))
    }
}

impl From<ModelError> for SearchError {
    fn from(error: ModelError) -> Self {
        Self::Model(Box::new(error))
    }
}

fn known_kinds() -> String {
    crate::schema::FieldKind::ALL.map(|(name, _)| name).join(", ")
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
