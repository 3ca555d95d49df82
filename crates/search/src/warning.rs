//! Recoverable problems, as values: the caller decides how to show them.

use std::fmt;

use serde::Serialize;

/// A recoverable problem of a search, a build or a classification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "warning")]
#[non_exhaustive]
pub enum SearchWarning {
    /// A model re-ranks the candidates of another first stage than it was trained on.
    OtherFirstStage {
        /// The first stage of the training data.
        trained: String,
        /// The first stage in use.
        used: String,
    },
    /// A model re-ranks more or fewer candidates than it was trained on.
    OtherCandidates {
        /// Candidates of a query in the training data.
        trained: usize,
        /// Candidates in use.
        used: usize,
    },
    /// A model does not record the feature set that its features were computed with.
    NoFeatureSet,
    /// A query has no terms after the analysis.
    NoTerms,
    /// Some queries found no document.
    NothingFound {
        /// The number of such queries.
        queries: usize,
    },
    /// Queries without a judgement were left out.
    WithoutJudgements {
        /// Their number.
        queries: usize,
    },
    /// No document passes the filter.
    NothingPasses,
    /// Documents were replaced by a later one of the same id.
    DuplicateIds {
        /// Their number.
        documents: u64,
    },
    /// Documents without a term in any text field.
    WithoutTerms {
        /// Their number.
        documents: u64,
    },
    /// Values that are not of their field's kind.
    NotOfKind {
        /// Their number.
        values: u64,
    },
    /// Documents without a class were left out.
    WithoutLabel {
        /// The field of the classes.
        label: String,
        /// Their number.
        documents: usize,
    },
}

impl fmt::Display for SearchWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherFirstStage { trained, used } => write!(
                f,
                "the model was trained on candidates of {trained}, and ranks those of {used}"
            ),
            Self::OtherCandidates { trained, used } => write!(
                f,
                "the model was trained on {trained} candidates of a query, and ranks {used}"
            ),
            Self::NoFeatureSet => f.write_str(
                "the model does not say which analysis, first stage and number of candidates it \
                 was trained on",
            ),
            Self::NoTerms => {
                f.write_str("nothing is left of the query: it is empty, or of stop words alone")
            }
            Self::NothingFound { queries } => {
                write!(f, "{queries} queries found nothing: no document has one of their terms")
            }
            Self::WithoutJudgements { queries } => {
                write!(f, "{queries} queries without judgements are left out")
            }
            Self::NothingPasses => f.write_str("no document passes the filter"),
            Self::DuplicateIds { documents } => {
                write!(f, "{documents} documents with an id that came again: the last one counts")
            }
            Self::WithoutTerms { documents } => write!(
                f,
                "{documents} documents without a term to search by: kept, but no query finds them"
            ),
            Self::NotOfKind { values } => {
                write!(f, "{values} values are not of their field's kind and count as absent")
            }
            Self::WithoutLabel { label, documents } => {
                write!(f, "{documents} documents have no `{label}` and are left out")
            }
        }
    }
}
