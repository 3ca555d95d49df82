//! Errors of indexing, retrieval, features and re-ranking.

mod problems;

use rankwright_spec::visible::one_line;
use std::io;
use std::path::{Path, PathBuf};

use rankwright_data::{DataError, SourceLocation};
use rankwright_eval::EvalError;
use rankwright_model::ModelError;
use rankwright_spec::words::counted;
use rankwright_spec::{SpecError, nearest};

use crate::classify::ClassifyError;
use crate::filter::{FilterError, FilterHint};
use crate::schema::{FieldKind, Schema};
use crate::source::DocumentFormat;

pub use problems::{DocumentProblem, FeatureSetProblem, IndexDamage, IndexObject, TermStatistic};

/// The error type of the search crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Data(Box<DataError>),
    /// The spec of an analysis, a first stage, a feature or a classifier is invalid.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A model cannot be read or cannot score these features.
    #[error(transparent)]
    Model(Box<ModelError>),
    /// Scores cannot be ordered.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// Labelled documents cannot train a classifier.
    #[error(transparent)]
    Classify(#[from] ClassifyError),

    /// There is no index in a folder.
    #[error("there is no index in {}", .path.display())]
    NoIndex {
        /// The folder.
        path: PathBuf,
    },
    /// There is already an index in a folder, and the options do not allow changing it.
    #[error("there is already an index in {}", .path.display())]
    IndexExists {
        /// The folder.
        path: PathBuf,
    },
    /// The path of an index is a file.
    #[error("{} is a file, but an index is a folder", .path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// The folder for a new index holds files that do not belong to an index.
    #[error("the folder {} has other files in it and no index", .path.display())]
    FolderNotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// An index in the format of another version of the program.
    #[error(
        "the index {} has version {found}; this program reads version {known}",
        .path.display()
    )]
    IndexVersion {
        /// The folder.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that is read.
        known: u32,
    },
    /// Another process is writing to the index.
    #[error("another process is writing to the index {}", .path.display())]
    IndexLocked {
        /// The folder.
        path: PathBuf,
    },
    /// An index whose bytes differ from those that were written.
    #[error("the index {} is damaged: {damage}", .path.display())]
    Damaged {
        /// The folder.
        path: PathBuf,
        /// The damaged part.
        damage: IndexDamage,
    },
    /// The system cannot write or read the index: disk full, no permission.
    #[error("cannot access the index {}: {source}", .path.display())]
    IndexAccess {
        /// The folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Documents cannot be added with another analysis or schema than that of the index.
    #[error(
        "the given analysis or schema differs from that of the index, which was built with analysis \
         {analysis} and schema {schema}"
    )]
    OtherBuild {
        /// The analysis of the index.
        analysis: String,
        /// The schema of the index.
        schema: String,
    },
    /// A document, filter or field of one index was given to another index.
    #[error("a {object} of one index was given to another index")]
    OtherIndex {
        /// The kind of object.
        object: IndexObject,
    },

    /// An entry of a schema has no kind.
    #[error("the schema gives `{part}` no kind", part = one_line(.part))]
    SchemaWithoutKind {
        /// The entry.
        part: String,
    },
    /// A schema names a kind of field that does not exist.
    #[error("the schema names an unknown kind of field, `{kind}`")]
    UnknownKind {
        /// The kind.
        kind: String,
    },
    /// Two fields whose names are the same in the index, which stores names with ASCII letters,
    /// digits, `_` and `-` only.
    #[error(
        "the field `{field}` would have the name `{name}` in the index, which another field has"
    )]
    FieldNameTaken {
        /// The field.
        field: String,
        /// Its name in the index.
        name: String,
    },
    /// A field whose name in the index would be `all`, which stands for all text fields together.
    #[error(
        "the field `{field}` would have the name `all` in the index, which stands for all text \
         fields together"
    )]
    FieldNameReserved {
        /// The field.
        field: String,
    },
    /// There is no document to index.
    #[error("there are no documents: the input is empty")]
    NoDocuments,
    /// Every document was skipped, because none can be read.
    #[error(
        "none of {} can be read; the first: {first}",
        counted(*documents as usize, "document")
    )]
    AllBroken {
        /// The number of documents.
        documents: u64,
        /// Location and reason of the first document that was skipped.
        first: String,
    },
    /// A given schema names a field that no document has.
    #[error("the schema names a field `{field}`, but no document has it", field = one_line(.field))]
    AbsentField {
        /// The field.
        field: String,
        /// The fields that the documents have and the given schema does not name.
        guessed: Schema,
    },
    /// No field of the documents is text.
    #[error("the documents have no text field, so there is nothing to search")]
    NoTextField,
    /// A field that the index does not have, or not with this kind.
    #[error(
        "the index has no {} field `{name}`; its fields are {schema}",
        kind.name(), name = one_line(.name)
    )]
    UnknownField {
        /// The field.
        name: String,
        /// The kind of field that is needed.
        kind: FieldKind,
        /// The fields of the index.
        schema: Schema,
    },
    /// The values of a field cannot be counted: it is text, or only stored.
    #[error(
        "the values of the field `{field}` cannot be counted: it is {}",
        kind.name(), field = one_line(.field)
    )]
    NoFacet {
        /// The field.
        field: String,
        /// Its kind.
        kind: FieldKind,
    },
    /// The format of a file of documents cannot be detected.
    #[error("{file}: the first line does not show the format of the documents")]
    UnknownDocumentFormat {
        /// The file.
        file: String,
    },
    /// A document that cannot be added to an index.
    #[error("document `{id}`: {problem}", id = one_line(.id))]
    BadDocument {
        /// The document.
        id: String,
        /// The reason.
        problem: DocumentProblem,
    },

    /// A filter cannot be parsed, or does not fit the fields of the index.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// The TOML form of a feature set cannot be read.
    #[error("the feature set cannot be read: {0}")]
    BadFeatureSet(FeatureSetProblem),
    /// A feature set without features.
    #[error("the feature set has no features")]
    NoFeatures,
    /// Features computed by another version of the formulas.
    #[error("the features have version {found}; this program computes version {known}")]
    FeatureVersion {
        /// Their version.
        found: u32,
        /// The version that this program computes.
        known: u32,
    },
    /// Features of text with another analysis than that of the index.
    #[error(
        "the features were computed with the analysis {set}, but the index has the analysis {index}"
    )]
    OtherAnalysis {
        /// The analysis of the feature set.
        set: String,
        /// The analysis of the index.
        index: String,
    },
    /// A model that was trained on a table, whose columns no index can compute.
    #[error(
        "this model was trained on a table with columns such as '{}', not on features of an index",
        one_line(.feature)
    )]
    TableModel {
        /// The first feature of the model.
        feature: String,
    },
    /// A model with a feature that the index cannot compute.
    #[error("the index cannot compute the features of the model: {0}")]
    ModelFeatures(Box<SearchError>),
    /// A model names a feature differently from the index.
    #[error(
        "the model has a feature `{found}`, which the index names `{expected}`",
        found = one_line(.found), expected = one_line(.expected)
    )]
    FeatureName {
        /// The model's name.
        found: String,
        /// The index's name.
        expected: String,
    },
    /// The classes in a field cannot train the classifier whose scores are a feature.
    #[error(
        "the classes in the field `{field}` cannot train a classifier: {error}",
        field = one_line(.field)
    )]
    Classes {
        /// The field.
        field: String,
        /// The reason.
        error: ClassifyError,
    },
    /// A custom feature has the name of another feature of the index.
    #[error("there is already a feature `{name}`", name = one_line(.name))]
    FeatureTaken {
        /// The name.
        name: &'static str,
    },
    /// The name of a custom feature has characters with a meaning in specs.
    #[error("`{name}` is not a valid name of a feature", name = one_line(.name))]
    InvalidFeatureName {
        /// The name.
        name: &'static str,
    },
    /// A feature reads statistics of query terms that it did not declare as needed.
    #[error("a feature reads {statistic} of a text field that it does not declare as needed")]
    NotGathered {
        /// The statistics.
        statistic: TermStatistic,
    },
    /// A feature reads a candidate with an index that is too large.
    #[error(
        "a feature reads candidate {candidate} of {}, numbered from 0",
        counted(*candidates, "candidate")
    )]
    NoSuchCandidate {
        /// The index that was read.
        candidate: usize,
        /// The number of candidates.
        candidates: usize,
    },
    /// A feature reads a term of the query with an index that is too large.
    #[error("a feature reads term {term} of {}, numbered from 0", counted(*terms, "term"))]
    NoSuchTerm {
        /// The index that was read.
        term: usize,
        /// The number of different terms.
        terms: usize,
    },
    /// A model gave a document a score that is not a number.
    #[error("the score of the document `{id}` is not a number", id = one_line(.id))]
    NanScore {
        /// The document.
        id: String,
    },

    /// No query has a judgement.
    #[error("{judgements} has no judgement for any of the {queries} given queries")]
    NoJudgedQueries {
        /// The number of queries.
        queries: usize,
        /// The file of the judgements.
        judgements: String,
    },
    /// No query found a document.
    #[error("no document has a term of a query, so there are no rows")]
    NoRows,
    /// Queries match documents, but none of those passes the filter.
    #[error("no document that a query matches passes the filter, so there are no rows")]
    NoRowsPass {
        /// Possible mistakes in the filter.
        hints: Vec<FilterHint>,
    },
    /// Zero candidates were requested.
    #[error("the number of candidates must be at least 1")]
    ZeroCandidates,

    /// No document has the field of the classes.
    #[error(
        "no document has the field `{label}`; the fields are {fields}",
        label = one_line(.label)
    )]
    NoLabelField {
        /// The field.
        label: String,
        /// The existing fields.
        fields: Schema,
    },
    /// No field except the field of the classes is text or a number.
    #[error(
        "the documents have no text field or number field besides `{label}` to classify by; the \
         fields are {fields}"
    )]
    NoFieldBesideLabel {
        /// The field of the classes.
        label: String,
        /// The existing fields.
        fields: Schema,
    },
    /// The field of the classes is empty in every document.
    #[error(
        "no document has a value in the field `{label}` ({})",
        counted(*documents, "document"), label = one_line(.label)
    )]
    NoLabels {
        /// The field.
        label: String,
        /// The number of documents.
        documents: usize,
    },
    /// All labelled documents are of one class.
    #[error(
        "every labelled document has the class `{class}` ({}); at least two classes are needed",
        counted(*documents, "document")
    )]
    OneClass {
        /// The class.
        class: String,
        /// The number of documents.
        documents: usize,
    },
    /// Fewer labelled documents than folds, or fewer than two folds.
    #[error(
        "{} cannot be made of {}: there must be at least 2 folds, and at most one per document",
        counted(*folds, "fold"),
        counted(*documents, "labelled document")
    )]
    Folds {
        /// The number of documents.
        documents: usize,
        /// The number of folds.
        folds: usize,
    },
    /// A field that documents cannot be classified by.
    #[error(
        "`{field}` is not a field to classify by; expected text, category or number fields of {fields}"
    )]
    NotClassifiableBy {
        /// The field.
        field: String,
        /// The fields of the labelled documents.
        fields: Schema,
    },
    /// The documents to classify have none of the fields that the labelled ones are classified by.
    #[error(
        "the documents to classify have none of the fields of the labelled documents: {}",
        fields.join(", ")
    )]
    NoFieldToClassify {
        /// The fields of the labelled documents that they are classified by.
        fields: Vec<String>,
    },

    /// A bug in this program: a condition that it ensures does not hold.
    #[error("internal error: this should always hold: {invariant}")]
    Internal {
        /// The condition that should have held.
        invariant: &'static str,
    },
}

impl SearchError {
    /// Advice for the user: a way to avoid or repair the error, if there is one.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Data(error) => return error.help(),
            Self::Model(error) => return error.help(),
            Self::Classify(error) | Self::Classes { error, .. } => return error.help(),
            Self::IndexVersion { .. } => "build the index again with this program".into(),
            Self::NotAFolder { .. } => "give another path".into(),
            Self::Spec(error) => return error.help(),
            Self::Eval(error) => return error.help(),
            Self::FolderNotEmpty { .. } => "give a new or an empty folder".into(),
            Self::IndexLocked { .. } => "wait until the other process is finished".into(),
            Self::Damaged { .. } => "build the index again from the documents".into(),
            Self::OtherBuild { .. } => {
                "add documents with the same analysis and schema, or build a new index".into()
            }
            Self::OtherIndex { object } => format!("get the {object} from the index that uses it"),
            Self::SchemaWithoutKind { .. } => {
                format!("write name:kind, where kind is one of {}", known_kinds())
            }
            Self::UnknownKind { .. } => format!("the kinds are {}", known_kinds()),
            Self::FieldNameTaken { .. } => {
                "rename the field in the documents, or leave one of the two fields out".into()
            }
            Self::FieldNameReserved { .. } => {
                "rename the field in the documents, or leave it out".into()
            }
            Self::NoTextField => "give one of the fields the kind text".into(),
            Self::AbsentField { field, guessed } => {
                let known: Vec<&str> = guessed.fields.iter().map(|f| f.name.as_str()).collect();
                match (nearest(field, &known), known.is_empty()) {
                    (Some(similar), _) => format!("did you mean `{similar}`?"),
                    (None, false) => format!("further fields of the documents: {guessed}"),
                    (None, true) => "check its name and capital letters".into(),
                }
            }
            Self::NoFacet { .. } => {
                "count a field of the kind category, number, date, links or url".into()
            }
            Self::UnknownDocumentFormat { .. } => {
                format!(
                    "name the format: {}",
                    DocumentFormat::ALL.map(DocumentFormat::name).join(", ")
                )
            }
            Self::BadDocument { .. } => "leave the value or the document out".into(),
            Self::Filter(error) => return error.help(),
            Self::BadFeatureSet(_) => {
                "a feature set is TOML with a line such as features = [\"bm25\", \"pagerank\"]"
                    .into()
            }
            Self::NoFeatures => "name some features, or `default`".into(),
            Self::FeatureVersion { .. } | Self::OtherAnalysis { .. } | Self::ModelFeatures(_) => {
                "compute the features with this index and train again, or use the index that the \
                 model was trained on"
                    .into()
            }
            Self::TableModel { .. } => {
                "compute features of queries and documents with the index, and train a model on them"
                    .into()
            }
            Self::NotGathered { .. } => "return the text field from `Feature::needs`".into(),
            Self::NoRowsPass { hints } => return hints.first().map(ToString::to_string),
            Self::NoLabels { .. } => "give some documents a class".into(),
            _ => return None,
        })
    }

    /// A part of a document or query file that does not follow its format.
    pub(crate) fn malformed(
        location: SourceLocation,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        DataError::malformed(location, found, expected).into()
    }

    /// Adds advice for the user; only errors of [`DataError`] can carry it.
    pub(crate) fn with_help(self, text: impl Into<String>) -> Self {
        match self {
            Self::Data(error) => error.with_help(text.into()).into(),
            other => other,
        }
    }

    /// An error of the operating system in the folder of an index.
    pub(crate) fn access(path: &Path, source: io::Error) -> Self {
        Self::IndexAccess { path: path.to_owned(), source }
    }

    /// An error of tantivy in the folder of an index: an error of the operating system, or damage.
    pub(crate) fn tantivy(path: &Path, error: &tantivy::TantivyError) -> Self {
        use tantivy::TantivyError as T;
        if let Some(source) = system_error(error) {
            return Self::access(path, source);
        }
        let path = path.to_owned();
        match error {
            T::DataCorruption(_)
            | T::IncompatibleIndex(_)
            | T::InternalError(_)
            | T::OpenReadError(_)
            | T::OpenDirectoryError(_)
            | T::FieldNotFound(_)
            | T::IoError(_)
            | T::SchemaError(_) => {
                let damage = IndexDamage::Reader { message: error.to_string() };
                Self::Damaged { path, damage }
            }
            _ => Self::IndexAccess { path, source: io::Error::other(error.to_string()) },
        }
    }
}

/// The error of the operating system inside an error of tantivy; `None` if the cause is the content
/// of a file.
fn system_error(error: &tantivy::TantivyError) -> Option<io::Error> {
    use tantivy::TantivyError as T;
    use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
    let source = match error {
        T::IoError(error)
        | T::OpenDirectoryError(
            OpenDirectoryError::IoError { io_error: error, .. }
            | OpenDirectoryError::FailedToCreateTempDir(error),
        )
        | T::OpenReadError(OpenReadError::IoError { io_error: error, .. })
        | T::OpenWriteError(OpenWriteError::IoError { io_error: error, .. })
        | T::LockFailure(LockError::IoError(error), _) => error,
        _ => return None,
    };
    use io::ErrorKind::{InvalidData, InvalidInput, NotFound, Other, UnexpectedEof};
    let is_about_content =
        matches!(source.kind(), InvalidData | InvalidInput | NotFound | Other | UnexpectedEof);
    (!is_about_content).then(|| copy_io_error(source))
}

/// A copy of an error of the operating system, with its code.
pub(crate) fn copy_io_error(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
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
    FieldKind::ALL.map(|(name, _)| name).join(", ")
}

#[cfg(test)]
mod tests {
    use rankwright_data::quote;

    use super::*;

    #[test]
    fn messages_name_location_found_and_expected_and_help_is_separate() {
        let error =
            SearchError::malformed(SourceLocation::line("a.jsonl", 3), quote(b"x\ty"), "an id");
        assert_eq!(error.to_string(), "a.jsonl:3: found 'x\\ty', expected an id");
        assert_eq!(error.help(), None);
        assert_eq!(error.with_help("give one").help().as_deref(), Some("give one"));
        // 40 characters of the text, two quotes and an ellipsis.
        assert_eq!(quote(&[b'x'; 500]).chars().count(), 43);
        assert_eq!(quote(b""), "nothing");
    }
}
