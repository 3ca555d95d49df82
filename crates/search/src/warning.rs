//! Recoverable problems, as values: the caller decides how to show them.

use std::fmt;

use rankwright_data::quote;
use rankwright_spec::words::counted;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::filter::Filter;
use crate::schema::FieldKind;

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
    /// No document has a term of the query.
    NothingMatches,
    /// Documents match the query, but none of them passes the filter.
    MatchesFiltered {
        /// The number of matching documents.
        documents: usize,
    },
    /// No document of the index passes the filter.
    NothingPasses,
    /// Some queries have no terms after the analysis, so they found no document.
    QueriesWithoutTerms {
        /// The number of such queries, and some of their ids.
        queries: CountedIds,
    },
    /// Some queries found no document, as no document has one of their terms.
    NothingFound {
        /// The number of such queries, and some of their ids.
        queries: CountedIds,
    },
    /// Some queries found no document, as the documents that match them do not pass the filter.
    QueriesFiltered {
        /// The number of such queries, and some of their ids.
        queries: CountedIds,
    },
    /// Queries without a judgement were left out.
    WithoutJudgements {
        /// The number of such queries, and some of their ids.
        queries: CountedIds,
    },
    /// Judgements of queries that were not given.
    UnknownQueries {
        /// The number of such queries, and some of their ids.
        queries: CountedIds,
    },
    /// Judgements of documents that the index does not have.
    UnknownDocuments {
        /// The number of such documents, and some of their ids.
        documents: CountedIds,
    },
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
    /// Values that are not of their field's kind, and count as absent.
    NotOfKind {
        /// The field.
        field: String,
        /// Its kind.
        kind: FieldKind,
        /// Their number.
        values: u64,
        /// The beginning of the first such value.
        example: String,
    },
    /// Documents without a class were left out.
    WithoutLabel {
        /// The field of the classes.
        label: String,
        /// Their number.
        documents: usize,
    },
}

/// A number of queries or documents, with the first few ids.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CountedIds {
    /// Their number.
    pub number: usize,
    /// The first ids, at most [`CountedIds::SHOWN`].
    pub ids: Vec<String>,
}

impl CountedIds {
    /// The largest number of ids.
    pub const SHOWN: usize = 3;

    /// Counts an id.
    pub(crate) fn add(&mut self, id: &str) {
        self.number += 1;
        if self.ids.len() < Self::SHOWN {
            self.ids.push(id.to_owned());
        }
    }
}

impl<S: AsRef<str>> FromIterator<S> for CountedIds {
    fn from_iter<T: IntoIterator<Item = S>>(ids: T) -> Self {
        let mut counted = Self::default();
        ids.into_iter().for_each(|id| counted.add(id.as_ref()));
        counted
    }
}

impl fmt::Display for CountedIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted: Vec<String> = self.ids.iter().map(|id| quote(id.as_bytes())).collect();
        f.write_str(&quoted.join(", "))?;
        match self.number - self.ids.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// The outcome of a query whose list of documents is empty, or not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueryOutcome {
    /// Whether the query has terms.
    pub(crate) has_terms: bool,
    /// Number of documents with a term of the query, before the filter.
    pub(crate) matching: usize,
    /// Whether the list of documents is empty.
    pub(crate) is_empty: bool,
}

/// The warnings about queries without documents, by reason.
pub(crate) fn of_empty_queries<'a>(
    outcomes: impl Iterator<Item = (&'a str, QueryOutcome)>,
    filter: Option<&Filter>,
) -> Vec<SearchWarning> {
    let nothing_passes = filter.is_some_and(|filter| filter.documents() == 0);
    let [mut without_terms, mut unmatched, mut filtered] = [const { None::<CountedIds> }; 3];
    for (id, outcome) in outcomes.filter(|(_, outcome)| outcome.is_empty) {
        let reason = match outcome {
            QueryOutcome { has_terms: false, .. } => &mut without_terms,
            QueryOutcome { matching: 0, .. } => &mut unmatched,
            _ => &mut filtered,
        };
        reason.get_or_insert_default().add(id);
    }
    let mut warnings = Vec::new();
    warnings.extend(nothing_passes.then_some(SearchWarning::NothingPasses));
    warnings.extend(without_terms.map(|queries| SearchWarning::QueriesWithoutTerms { queries }));
    warnings.extend(unmatched.map(|queries| SearchWarning::NothingFound { queries }));
    let filtered = filtered.filter(|_| !nothing_passes);
    warnings.extend(filtered.map(|queries| SearchWarning::QueriesFiltered { queries }));
    warnings
}

impl SearchWarning {
    /// The stable name of the kind of warning, such as `no-terms`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::OtherFirstStage { .. } => "other-first-stage",
            Self::OtherCandidates { .. } => "other-candidates",
            Self::NoFeatureSet => "no-feature-set",
            Self::NoTerms => "no-terms",
            Self::NothingMatches => "nothing-matches",
            Self::MatchesFiltered { .. } => "matches-filtered",
            Self::NothingPasses => "nothing-passes",
            Self::QueriesWithoutTerms { .. } => "queries-without-terms",
            Self::NothingFound { .. } => "nothing-found",
            Self::QueriesFiltered { .. } => "queries-filtered",
            Self::WithoutJudgements { .. } => "without-judgements",
            Self::UnknownQueries { .. } => "unknown-queries",
            Self::UnknownDocuments { .. } => "unknown-documents",
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
            Self::NothingMatches => f.write_str("no document has a term of the query"),
            Self::MatchesFiltered { documents: 1 } => {
                f.write_str("1 document matches the query, but it does not pass the filter")
            }
            Self::MatchesFiltered { documents } => {
                write!(
                    f,
                    "{documents} documents match the query, but none of them passes the filter"
                )
            }
            Self::NothingPasses => f.write_str("no document of the index passes the filter"),
            Self::QueriesWithoutTerms { queries } => write!(
                f,
                "{} found no document, because no term is left after the analysis: {queries}",
                counted(queries.number, "query")
            ),
            Self::NothingFound { queries } => write!(
                f,
                "{} found no document, because no document has one of the query terms: {queries}",
                counted(queries.number, "query")
            ),
            Self::QueriesFiltered { queries } => write!(
                f,
                "{} found no document, because no matching document passes the filter: {queries}",
                counted(queries.number, "query")
            ),
            Self::WithoutJudgements { queries } => write!(
                f,
                "{} without judgements left out: {queries}",
                counted(queries.number, "query")
            ),
            Self::UnknownQueries { queries } => write!(
                f,
                "judgements of {} ignored, as the query is not given: {queries}",
                counted(queries.number, "query")
            ),
            Self::UnknownDocuments { documents } => write!(
                f,
                "judgements of {} ignored, as the index does not have the document: {documents}",
                counted(documents.number, "document")
            ),
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
            Self::NotOfKind { field, kind, values, example } => {
                let are = if *values == 1 { "value that is" } else { "values that are" };
                write!(f, "field `{field}`: {values} {are} no {} counted as absent", kind.name())?;
                write!(f, ", such as {example}")
            }
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
        let one = SearchWarning::NothingFound { queries: ["q1"].into_iter().collect() };
        let message =
            "1 query found no document, because no document has one of the query terms: 'q1'";
        let expected = json!({ "kind": "nothing-found", "message": message });
        assert_eq!(serde_json::to_value(&one).unwrap(), expected);
        let five = ["1", "2", "3", "4", "5"].into_iter().collect();
        let five = SearchWarning::WithoutJudgements { queries: five };
        let said = "5 queries without judgements left out: '1', '2', '3' and 2 more";
        assert_eq!(five.to_string(), said);
    }
}
