//! Recoverable problems, as values: the caller decides how to show them.

use std::fmt;

use rankwright_data::quote;
use rankwright_spec::words::{counted, plural};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::filter::{Filter, FilterHint};
use crate::query_syntax::UnreadCondition;
use crate::schema::FieldKind;

/// A recoverable problem of a search, of building an index or of a classification. Serialised as
/// `{"kind": ..., "message": ...}`, with the fields of the variant as further keys.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchWarning {
    /// The candidates of a model come from another first stage than in its training data.
    OtherFirstStage {
        /// The first stage of the training data.
        trained: String,
        /// The first stage in use.
        used: String,
    },
    /// A model re-ranks more or fewer candidates of a query than in its training data.
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
    /// Documents match the query, but none of them fulfils its conditions.
    NothingFits {
        /// The number of matching documents.
        documents: usize,
    },
    /// Documents match the query, but none of them both fulfils its conditions and passes the
    /// filter.
    NothingFitsAndPasses {
        /// The number of matching documents.
        documents: usize,
    },
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
    /// Judgements below 0 were taken as 0.
    NegativeJudgements {
        /// The number of such judgements.
        judgements: usize,
    },
    /// Documents with a judgement above 0 are not among the candidates of their query, so that they
    /// have no row.
    RelevantLeftOut {
        /// The number of such documents.
        documents: usize,
        /// The number of queries with such documents, and some ids of these queries.
        queries: CountedIds,
    },
    /// Documents were replaced by a later document with the same id.
    DuplicateIds {
        /// The number of replaced documents.
        documents: u64,
    },
    /// Documents without a term in any text field.
    WithoutTerms {
        /// The number of such documents.
        documents: u64,
    },
    /// Values that are not of their field's kind, and count as absent.
    NotOfKind {
        /// The field.
        field: String,
        /// The kind of the field.
        kind: FieldKind,
        /// The number of such values.
        values: u64,
        /// The beginning of the first such value, quoted.
        example: String,
    },
    /// A field is guessed to be a text or a category, as its values are numbers with a decimal comma,
    /// a currency sign or thousands separators.
    FormattedNumbers {
        /// The field.
        field: String,
        /// The kind of the field.
        guessed: FieldKind,
        /// The first such value.
        example: String,
    },
    /// A field has codes (digits with a leading zero), so that it is a category although its values
    /// read as numbers.
    Codes {
        /// The field.
        field: String,
        /// The first such code.
        example: String,
    },
    /// A field is text or a category because of a few values; all others are numbers, dates or
    /// urls.
    NearlyOfKind {
        /// The field.
        field: String,
        /// The kind of most values: number, date or url.
        kind: FieldKind,
        /// The kind of the field.
        guessed: FieldKind,
        /// Number of values.
        values: usize,
        /// Number of values of another kind.
        others: usize,
        /// The first of these values that is a text; if none of them is, the first one as text, a
        /// list with commas.
        example: String,
    },
    /// Documents have a field that the index does not have. The field is stored with them, but
    /// cannot be searched or filtered.
    NotIndexed {
        /// The field.
        field: String,
        /// Number of documents that have it.
        documents: u64,
        /// True for a new index: its first documents, from which its fields are guessed, do not
        /// have this field. False if the documents were added to an existing index.
        is_late: bool,
    },
    /// A filter may be mistaken: it lets few documents pass, or others than the user expects.
    FilterHint {
        /// The possible mistake.
        hint: FilterHint,
    },
    /// A plain query has characters that would have a meaning in the simple syntax.
    PlainOperators {
        /// The first such part of the query.
        part: String,
    },
    /// A query has a word such as `AND`, which no syntax takes as an operator.
    BooleanWord {
        /// The word.
        word: String,
        /// The query in the simple syntax as it was perhaps meant; `None` if it has brackets.
        simple: Option<String>,
    },
    /// A part of a query in simple syntax looks like a condition, but is read as words.
    UnreadCondition {
        /// The part, and the reason.
        condition: UnreadCondition,
    },
    /// Parts of a query in simple syntax have no effect, because the analysis removes all of their
    /// words (stop words).
    IgnoredParts {
        /// The parts.
        parts: Vec<String>,
    },
    /// A query lacks fields that the training queries of the model had, and that its features use.
    MissingQueryFields {
        /// The fields.
        fields: Vec<String>,
    },
    /// Some queries lack fields that the training queries of the model had.
    QueriesWithoutFields {
        /// The fields.
        fields: Vec<String>,
        /// The number of such queries, and some of their ids.
        queries: CountedIds,
    },
    /// Ids of documents to delete that the index does not have.
    UnknownIds {
        /// The number of such ids, and some of them.
        documents: CountedIds,
    },
    /// Documents without a class were left out.
    WithoutLabel {
        /// The field of the classes.
        label: String,
        /// The number of such documents.
        documents: usize,
    },
}

/// A number of queries or documents, with the first few ids.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct CountedIds {
    /// The number of all ids.
    pub number: usize,
    /// The first ids, at most [`CountedIds::SHOWN`].
    pub ids: Vec<String>,
}

impl CountedIds {
    /// The largest number of ids that are kept.
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

/// Facts about the result of a query that explain why it may have no documents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueryOutcome {
    /// Whether the query has terms after the analysis.
    pub(crate) has_terms: bool,
    /// Number of documents with a term of the query, before the filter; exact if `is_empty`.
    pub(crate) matching: usize,
    /// Whether the result has no documents.
    pub(crate) is_empty: bool,
    /// Whether the query has conditions (only in the simple syntax).
    pub(crate) has_conditions: bool,
}

/// "1 document has", "2 documents have".
fn documents_have(documents: usize) -> String {
    match documents {
        1 => "1 document has".to_owned(),
        documents => format!("{documents} documents have"),
    }
}

/// The hints on a filter, as warnings.
pub(crate) fn filter_warnings(filter: Option<&Filter>) -> impl Iterator<Item = SearchWarning> {
    let hints = filter.into_iter().flat_map(Filter::hints);
    hints.map(|hint| SearchWarning::FilterHint { hint: hint.clone() })
}

/// The warnings about queries without documents, by reason.
pub(crate) fn empty_query_warnings<'a>(
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
            Self::NothingFits { .. } => "nothing-fits",
            Self::NothingFitsAndPasses { .. } => "nothing-fits-and-passes",
            Self::QueriesWithoutTerms { .. } => "queries-without-terms",
            Self::NothingFound { .. } => "nothing-found",
            Self::QueriesFiltered { .. } => "queries-filtered",
            Self::WithoutJudgements { .. } => "without-judgements",
            Self::UnknownQueries { .. } => "unknown-queries",
            Self::UnknownDocuments { .. } => "unknown-documents",
            Self::NegativeJudgements { .. } => "negative-judgements",
            Self::RelevantLeftOut { .. } => "relevant-left-out",
            Self::DuplicateIds { .. } => "duplicate-ids",
            Self::WithoutTerms { .. } => "without-terms",
            Self::NotOfKind { .. } => "not-of-kind",
            Self::FormattedNumbers { .. } => "formatted-numbers",
            Self::Codes { .. } => "codes",
            Self::NearlyOfKind { .. } => "nearly-of-kind",
            Self::NotIndexed { .. } => "not-indexed",
            Self::FilterHint { .. } => "filter-hint",
            Self::PlainOperators { .. } => "plain-operators",
            Self::BooleanWord { .. } => "boolean-word",
            Self::UnreadCondition { .. } => "unread-condition",
            Self::IgnoredParts { .. } => "ignored-parts",
            Self::MissingQueryFields { .. } => "missing-query-fields",
            Self::QueriesWithoutFields { .. } => "queries-without-fields",
            Self::UnknownIds { .. } => "unknown-ids",
            Self::WithoutLabel { .. } => "without-label",
        }
    }
}

impl SearchWarning {
    /// Whether this is a reason why a query found no document.
    pub fn explains_empty_result(&self) -> bool {
        matches!(
            self,
            Self::NoTerms
                | Self::NothingMatches
                | Self::NothingPasses
                | Self::MatchesFiltered { .. }
                | Self::NothingFits { .. }
                | Self::NothingFitsAndPasses { .. }
        )
    }

    /// The fields by their names in JSON.
    fn fields(&self) -> Vec<(&'static str, Value)> {
        match self {
            Self::NoFeatureSet | Self::NoTerms | Self::NothingMatches | Self::NothingPasses => {
                Vec::new()
            }
            Self::OtherFirstStage { trained, used } => {
                vec![("trained", json!(trained)), ("used", json!(used))]
            }
            Self::OtherCandidates { trained, used } => {
                vec![("trained", json!(trained)), ("used", json!(used))]
            }
            Self::MatchesFiltered { documents }
            | Self::NothingFits { documents }
            | Self::NothingFitsAndPasses { documents } => {
                vec![("documents", json!(documents))]
            }
            Self::QueriesWithoutTerms { queries }
            | Self::NothingFound { queries }
            | Self::QueriesFiltered { queries }
            | Self::WithoutJudgements { queries }
            | Self::UnknownQueries { queries } => vec![("queries", json!(queries))],
            Self::UnknownDocuments { documents } | Self::UnknownIds { documents } => {
                vec![("documents", json!(documents))]
            }
            Self::NegativeJudgements { judgements } => vec![("judgements", json!(judgements))],
            Self::RelevantLeftOut { documents, queries } => {
                vec![("documents", json!(documents)), ("queries", json!(queries))]
            }
            Self::DuplicateIds { documents } | Self::WithoutTerms { documents } => {
                vec![("documents", json!(documents))]
            }
            Self::FormattedNumbers { field, guessed, example } => vec![
                ("field", json!(field)),
                ("guessed", json!(guessed.name())),
                ("example", json!(example)),
            ],
            Self::Codes { field, example } => {
                vec![("field", json!(field)), ("example", json!(example))]
            }
            Self::NearlyOfKind { field, kind, guessed, values, others, example } => vec![
                ("field", json!(field)),
                ("value_kind", json!(kind)),
                ("field_kind", json!(guessed)),
                ("values", json!(values)),
                ("others", json!(others)),
                ("example", json!(example)),
            ],
            Self::NotOfKind { field, kind, values, example } => vec![
                ("field", json!(field)),
                ("field_kind", json!(kind)),
                ("values", json!(values)),
                ("example", json!(example)),
            ],
            Self::NotIndexed { field, documents, is_late } => vec![
                ("field", json!(field)),
                ("documents", json!(documents)),
                ("is_late", json!(is_late)),
            ],
            Self::FilterHint { hint } => vec![("hint", json!(hint))],
            Self::PlainOperators { part } => vec![("part", json!(part))],
            Self::BooleanWord { word, simple } => {
                vec![("word", json!(word)), ("simple", json!(simple))]
            }
            Self::UnreadCondition { condition } => vec![("condition", json!(condition))],
            Self::IgnoredParts { parts } => vec![("parts", json!(parts))],
            Self::MissingQueryFields { fields } => vec![("fields", json!(fields))],
            Self::QueriesWithoutFields { fields, queries } => {
                vec![("fields", json!(fields)), ("queries", json!(queries))]
            }
            Self::WithoutLabel { label, documents } => {
                vec![("label", json!(label)), ("documents", json!(documents))]
            }
        }
    }
}

impl Serialize for SearchWarning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.fields();
        let mut object = serializer.serialize_map(Some(2 + fields.len()))?;
        object.serialize_entry("kind", self.kind())?;
        object.serialize_entry("message", &self.to_string())?;
        for (name, value) in &fields {
            object.serialize_entry(name, value)?;
        }
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
            Self::NothingFits { documents } => write!(
                f,
                "{} a word of the query, but none fulfils all of its conditions (quotes, + and -, \
                 fields)",
                documents_have(*documents)
            ),
            Self::NothingFitsAndPasses { documents } => write!(
                f,
                "{} a word of the query, but none both fulfils all of its conditions (quotes, + \
                 and -, fields) and passes the filter",
                documents_have(*documents)
            ),
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
            Self::NegativeJudgements { judgements } => {
                write!(f, "{} below 0 taken as 0", counted(*judgements, "judgement"))
            }
            Self::RelevantLeftOut { documents, queries } => write!(
                f,
                "{} of {} left out, not among the candidates: {queries}",
                counted(*documents, "relevant document"),
                counted(queries.number, "query")
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
            Self::FormattedNumbers { field, guessed, example } => write!(
                f,
                "field `{field}` is a {}: its values, such as {}, are numbers with a decimal comma, a \
                 currency sign or a thousands separator; numbers such as 1234.50 are read",
                guessed.name(),
                quote(example.as_bytes())
            ),
            Self::Codes { field, example } => write!(
                f,
                "field `{field}` has codes such as {}, whose first zero a number would lose: it is \
                 a category; give its kind in the schema if it is a number",
                quote(example.as_bytes())
            ),
            Self::NearlyOfKind { field, kind, guessed, values, others, example } => {
                let (guessed, kind) = (guessed.name(), kind.name());
                let is = if *others == 1 { "is" } else { "are" };
                let example = quote(example.as_bytes());
                write!(
                    f,
                    "field `{field}` is {guessed}, as {others} of its {values} values {is} "
                )?;
                let no_kind = if *others == 1 { kind.to_owned() } else { plural(kind) };
                write!(
                    f,
                    "no {no_kind}, such as {example}; give its kind in the schema if it is "
                )?;
                write!(f, "a {kind} field")
            }
            Self::NotIndexed { field, documents, is_late } => {
                let documents = counted(*documents as usize, "document");
                write!(f, "field `{field}` of {documents} is kept but not indexed, ")?;
                f.write_str(match is_late {
                    true => {
                        "as the first documents do not have it; give its kind in the schema to \
                         index it"
                    }
                    false => "as the index does not have it; build the index again to index it",
                })
            }
            Self::FilterHint { hint } => hint.fmt(f),
            Self::PlainOperators { part } => write!(
                f,
                "the query is plain, so that {} is read as words; in the simple syntax quotes, + \
                 and - and field names have a meaning",
                quote(part.as_bytes())
            ),
            Self::BooleanWord { word, .. } => write!(
                f,
                "'{word}' is read as a word like the others; in the simple syntax +word is required \
                 and -word is excluded"
            ),
            Self::UnreadCondition { condition } => condition.fmt(f),
            Self::IgnoredParts { parts } => {
                let parts: Vec<String> = parts.iter().map(|part| quote(part.as_bytes())).collect();
                write!(
                    f,
                    "ignored in the query, as no term is left after the analysis: {}",
                    parts.join(", ")
                )
            }
            Self::MissingQueryFields { fields } => write!(
                f,
                "the query has no {}, which the model was trained with: some features have other \
                 values than in training",
                field_names(fields)
            ),
            Self::QueriesWithoutFields { fields, queries } => write!(
                f,
                "{} without {}, which the model was trained with: {queries}",
                counted(queries.number, "query"),
                field_names(fields)
            ),
            Self::UnknownIds { documents } => write!(
                f,
                "{} to delete not in the index: {documents}",
                counted(documents.number, "document")
            ),
            Self::WithoutLabel { label, documents } => write!(
                f,
                "{} without a value in `{label}` left out",
                counted(*documents, "document")
            ),
        }
    }
}

/// "field `a`", or "fields `a`, `b`".
fn field_names(fields: &[String]) -> String {
    let names: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
    format!("{} {}", if fields.len() == 1 { "field" } else { "fields" }, names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_serialised_as_kind_message_and_fields() {
        let one = SearchWarning::NothingFound { queries: ["q1"].into_iter().collect() };
        let message =
            "1 query found no document, because no document has one of the query terms: 'q1'";
        let queries = json!({ "number": 1, "ids": ["q1"] });
        let expected = json!({ "kind": "nothing-found", "message": message, "queries": queries });
        assert_eq!(serde_json::to_value(&one).unwrap(), expected);
        let five = ["1", "2", "3", "4", "5"].into_iter().collect();
        let five = SearchWarning::WithoutJudgements { queries: five };
        let message = "5 queries without judgements left out: '1', '2', '3' and 2 more";
        assert_eq!(five.to_string(), message);
        let hint = FilterHint::ReversedRange { field: "price".to_owned() };
        let hint = serde_json::to_value(SearchWarning::FilterHint { hint }).unwrap();
        assert_eq!(hint["hint"], json!({ "kind": "reversed-range", "field": "price" }));
    }
}
