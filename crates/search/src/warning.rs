//! Recoverable problems, as values: the caller decides how to show them.

use std::fmt;

use rankwright_spec::words::counted;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A recoverable problem of a search, of building an index or of a classification. Serialised as
/// `{"kind": ..., "message": ...}`.
#[derive(Debug, Clone, PartialEq, Eq)]
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

impl SearchWarning {
    /// The stable name of the kind of warning, such as `no-terms`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::OtherFirstStage { .. } => "other-first-stage",
            Self::OtherCandidates { .. } => "other-candidates",
            Self::NoFeatureSet => "no-feature-set",
            Self::NoTerms => "no-terms",
            Self::NothingFound { .. } => "nothing-found",
            Self::WithoutJudgements { .. } => "without-judgements",
            Self::NothingPasses => "nothing-passes",
            Self::DuplicateIds { .. } => "duplicate-ids",
            Self::WithoutTerms { .. } => "without-terms",
            Self::NotOfKind { .. } => "not-of-kind",
            Self::WithoutLabel { .. } => "without-label",
        }
    }
}

impl Serialize for SearchWarning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("SearchWarning", 2)?;
        object.serialize_field("kind", self.kind())?;
        object.serialize_field("message", &self.to_string())?;
        object.end()
    }
}

impl fmt::Display for SearchWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherFirstStage { trained, used } => write!(
                f,
                "the model was trained on candidates of the first stage {trained}, but ranks \
                 candidates of {used}"
            ),
            Self::OtherCandidates { trained, used } => write!(
                f,
                "the model was trained on {} per query, but ranks {used}",
                counted(*trained, "candidate")
            ),
            Self::NoFeatureSet => f.write_str(
                "the model does not record the analysis, first stage and number of candidates \
                 that it was trained with",
            ),
            Self::NoTerms => f.write_str(
                "the query has no terms after the analysis: it is empty or has only stop words",
            ),
            Self::NothingFound { queries } => write!(
                f,
                "{} found no document, because no document has one of the query terms",
                counted(*queries, "query")
            ),
            Self::WithoutJudgements { queries } => {
                write!(f, "{} without judgements left out", counted(*queries, "query"))
            }
            Self::NothingPasses => f.write_str("no document passes the filter"),
            Self::DuplicateIds { documents } => write!(
                f,
                "{} replaced by a later document of the same id",
                counted(*documents as usize, "document")
            ),
            Self::WithoutTerms { documents } => write!(
                f,
                "{} without a term in any text field: kept, but no query finds such a document",
                counted(*documents as usize, "document")
            ),
            Self::NotOfKind { values } => write!(
                f,
                "{} ignored because of a type other than that of the field",
                counted(*values as usize, "value")
            ),
            Self::WithoutLabel { label, documents } => write!(
                f,
                "{} without a value in `{label}` left out",
                counted(*documents, "document")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_warning_is_serialised_as_kind_and_message() {
        let one = SearchWarning::NothingFound { queries: 1 };
        let message = "1 query found no document, because no document has one of the query terms";
        let expected = json!({ "kind": "nothing-found", "message": message });
        assert_eq!(serde_json::to_value(&one).unwrap(), expected);
        let two = SearchWarning::WithoutJudgements { queries: 2 };
        assert_eq!(two.to_string(), "2 queries without judgements left out");
    }
}
