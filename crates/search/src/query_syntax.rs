//! The syntax of queries: plain words, or words with operators.
//!
//! In the plain syntax, the default, a query is words, and its punctuation has no meaning: queries
//! of people and of test collections contain quotes, hyphens and colons that are not operators.
//!
//! In the simple syntax, parts of a query are conditions that a document must fulfil:
//!
//! ```text
//! "some words"   a text field has these words in this order, one after another
//! +word          a text field has the word; also +"some words"
//! -word          no text field has the word; also -"some words" and -field:word
//! field:word     the field has the word or value, as in a filter: title:blue, year:>=1990
//! ```
//!
//! The other words are optional and rank the documents, as in the plain syntax. The words of the
//! conditions rank them too, except excluded words. A quote that is not closed, and a name before a
//! colon that is no field of the index, are ordinary text.

use std::fmt;

use rankwright_spec::{choices, nearest};
use serde::Serialize;

use crate::document::Query;
use crate::error::SearchError;
use crate::filter::{
    ConditionOrigin, Filter, FilterError, FilterExpression, FilterHint, FilterProblem,
    QueryCondition, QueryTest, closing_quotes,
};
use crate::index::Index;
use crate::schema::FieldKind;

/// Maximum number of characters of a query in simple syntax.
const MAX_CHARACTERS: usize = 10_000;
/// Maximum number of conditions of a query in simple syntax.
const MAX_CONDITIONS: usize = 200;

choices! {
    /// The syntax of queries.
    ///
    /// ```
    /// use rankwright_search::{Document, Index, QuerySyntax};
    ///
    /// let index = Index::in_memory([Document::new("1").with("title", "blue train")])?;
    /// let parsed = QuerySyntax::Simple.parse("jazz -live title:blue", &index)?;
    /// assert_eq!(parsed.text, "jazz blue");
    /// assert_eq!(parsed.conditions.unwrap().to_string(), "NOT \"live\" AND title:blue");
    /// # Ok::<(), rankwright_search::SearchError>(())
    /// ```
    pub enum QuerySyntax {
        /// A query is a list of words and punctuation has no meaning, as in files of queries and in
        /// training data.
        Plain = "plain",
        /// "some words" is a phrase, +word is required, -word is excluded, field:word must be in
        /// that field; all other words are optional and count for the ranking.
        Simple = "simple",
    }
}

impl QuerySyntax {
    /// Parses the text of a query for an index.
    pub fn parse(self, text: &str, index: &Index) -> Result<ParsedQuery, SearchError> {
        match self {
            QuerySyntax::Plain => {
                let (text, ignored) = (text.to_owned(), Vec::new());
                Ok(ParsedQuery { text, conditions: None, ignored })
            }
            QuerySyntax::Simple => parse_simple(text, index),
        }
    }
}

impl fmt::Display for QuerySyntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A parsed query.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ParsedQuery {
    /// The words that rank documents.
    pub text: String,
    /// The conditions that documents must fulfil.
    pub conditions: Option<FilterExpression>,
    /// Conditions without effect, because the analysis removes all of their words (stop words).
    pub ignored: Vec<String>,
}

/// A query that is ready for ranking: its words, and a filter of the documents that may be found.
pub(crate) struct PreparedQuery {
    /// The query with the words that rank documents as its text.
    pub(crate) query: Query,
    /// The documents that fulfil the conditions of the query and pass the given filter; `None` if
    /// the query has no conditions, so that only the given filter counts.
    pub(crate) filter: Option<Filter>,
    /// Conditions without effect, as in [`ParsedQuery::ignored`].
    pub(crate) ignored: Vec<String>,
    /// Possible mistakes in the conditions of the query.
    pub(crate) hints: Vec<FilterHint>,
}

impl PreparedQuery {
    /// Parses a query, and joins its conditions with a filter.
    pub(crate) fn new(
        index: &Index,
        query: &Query,
        syntax: QuerySyntax,
        filter: Option<&Filter>,
    ) -> Result<Self, SearchError> {
        let ParsedQuery { text, conditions, ignored } = syntax.parse(&query.text, index)?;
        let query_filter = conditions.map(|conditions| Filter::of_expression(index, &conditions));
        let query_filter = query_filter.transpose()?;
        let hints = query_filter.as_ref().map_or(&[][..], Filter::hints).to_vec();
        let filter = match (query_filter, filter) {
            (Some(query_filter), Some(filter)) => Some(query_filter.and(filter)?),
            (query_filter, _) => query_filter,
        };
        Ok(Self { query: Query { text, ..query.clone() }, filter, ignored, hints })
    }
}

/// The first part of a plain query that looks like an operator of the simple syntax: a sign,
/// several words in quotes, or a field of the index. A single word in quotes is not reported,
/// although it would be a condition in the simple syntax: in plain queries such quotes are common.
pub(crate) fn first_operator(text: &str, index: &Index) -> Option<String> {
    let parts = split_parts(text);
    let found = parts.iter().find(|part| {
        let is_phrase = part.is_quoted && part.body.split_whitespace().count() > 1;
        let is_field = kind_of_field(part, index).is_some();
        part.sign.is_some() || is_phrase || is_field || field_without_colon(part, index).is_some()
    });
    found.map(|part| text[part.start..part.end].to_owned())
}

/// A part of a query that looks like a condition, but is read as words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum UnreadCondition {
    /// `name:value` with a name that is no field of the index.
    NoField {
        /// The part of the query.
        part: String,
        /// The name.
        name: String,
        /// The field with the most similar name.
        similar: Option<String>,
    },
    /// A field and its value with a space between, as in `title: blue`.
    NoValue {
        /// The field.
        field: String,
    },
    /// A comparison without a colon, as in `year>1990`.
    NoColon {
        /// The part of the query.
        part: String,
        /// The same as a condition.
        condition: String,
    },
    /// A quote that is not closed.
    OpenQuote,
}

impl fmt::Display for UnreadCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoField { part, name, similar } => {
                write!(f, "`{part}` is read as words: the index has no field `{name}`")?;
                match similar {
                    Some(similar) => write!(f, "; did you mean `{similar}`?"),
                    None => Ok(()),
                }
            }
            Self::NoValue { field } => write!(
                f,
                "`{field}:` is read as a word; write the value directly behind the colon: \
                 {field}:value"
            ),
            Self::NoColon { part, condition } => {
                write!(f, "`{part}` is read as words; write {condition}")
            }
            Self::OpenQuote => {
                f.write_str("the query has a quote that is not closed; it is ignored")
            }
        }
    }
}

/// The first part of a query in the simple syntax that looks like a condition, but is none.
pub(crate) fn unread_condition(text: &str, index: &Index) -> Option<UnreadCondition> {
    split_parts(text).iter().filter(|part| !part.is_quoted).find_map(|part| {
        if part.body.starts_with('"') {
            return Some(UnreadCondition::OpenQuote);
        }
        let shown = || text[part.start..part.end].to_owned();
        if let Some(condition) = field_without_colon(part, index) {
            return Some(UnreadCondition::NoColon { part: shown(), condition });
        }
        let (name, value) = part.body.split_once(':')?;
        if index.schema().kind(name).is_some() {
            let field = name.to_owned();
            return value.is_empty().then_some(UnreadCondition::NoValue { field });
        }
        // Neither times such as 12:30 nor addresses.
        let is_name = name.starts_with(char::is_alphabetic) && name != "id";
        (is_name && !value.is_empty() && !value.starts_with('/')).then(|| {
            let fields: Vec<&str> =
                index.schema().fields.iter().map(|field| field.name.as_str()).collect();
            let similar = nearest(name, &fields);
            UnreadCondition::NoField { part: shown(), name: name.to_owned(), similar }
        })
    })
}

/// The condition that a part such as `year>1990` means, if its name is that of a field of numbers or
/// dates.
fn field_without_colon(part: &QueryPart<'_>, index: &Index) -> Option<String> {
    let body = Some(part.body).filter(|_| !part.is_quoted)?;
    let end = body.find(['<', '>', '='])?;
    let (name, test) = body.split_at(end);
    let is_compared =
        matches!(index.schema().kind(name), Some(FieldKind::Number | FieldKind::Date));
    let has_value = !test.trim_start_matches(['<', '>', '=']).is_empty();
    let test = test.strip_prefix('=').filter(|rest| !rest.starts_with('=')).unwrap_or(test);
    (is_compared && has_value).then(|| format!("{name}:{test}"))
}

/// A word such as `AND` in a query, which is read as any other word.
pub(crate) struct BooleanWord {
    /// The word.
    pub(crate) word: String,
    /// The query in the simple syntax as it was perhaps meant; `None` if it has brackets.
    pub(crate) simple: Option<String>,
}

/// The first `AND`, `OR` or `NOT` of a query that looks as if it was meant as an operator: it is in
/// capital letters, while some other word is not, and stands where an operator can.
pub(crate) fn boolean_word(text: &str) -> Option<BooleanWord> {
    let parts = split_parts(text);
    let words: Vec<&str> = parts.iter().map(|part| &text[part.start..part.end]).collect();
    let last = words.len().checked_sub(1)?;
    let is_operator = |at: usize| match words[at] {
        "AND" | "OR" => 0 < at && at < last,
        "NOT" => at < last,
        _ => false,
    };
    let word = words[(0..words.len()).find(|at| is_operator(*at))?].to_owned();
    if !text.contains(char::is_lowercase) {
        return None;
    }
    if let Some((word, simple)) = between(&words) {
        return Some(BooleanWord { word, simple: Some(simple) });
    }
    let simple = |at: usize| {
        let before = at.checked_sub(1).filter(|at| is_operator(*at)).map(|at| words[at]);
        let is_before_and = at < last && words[at + 1] == "AND" && is_operator(at + 1);
        let sign = match (before, parts[at].sign) {
            (_, Some(_)) => "",
            (Some("NOT"), _) => "-",
            (Some("AND"), _) => "+",
            _ if is_before_and => "+",
            _ => "",
        };
        format!("{sign}{}", words[at])
    };
    let simple_words = (0..words.len()).filter(|at| !is_operator(*at)).map(simple);
    let simple = simple_words.collect::<Vec<_>>().join(" ");
    Some(BooleanWord { word, simple: (!text.contains(['(', ')'])).then_some(simple) })
}

/// The word `BETWEEN` of a range in the words of SQL, `price BETWEEN 10 AND 20`, and the query with
/// the range as a condition of the simple syntax.
fn between(words: &[&str]) -> Option<(String, String)> {
    let is_range = |words: &[&str]| matches!(words, [_, word, _, "AND", _] if word.eq_ignore_ascii_case("between"));
    let at = words.windows(5).position(is_range)?;
    let [field, word, low, _, high] = words.get(at..at + 5)? else { return None };
    let range = format!("{field}:[{low} TO {high}]");
    let (before, after) = (&words[..at], &words[at + 5..]);
    let all: Vec<&str> =
        before.iter().copied().chain([range.as_str()]).chain(after.iter().copied()).collect();
    Some(((*word).to_owned(), all.join(" ")))
}

/// A part of a query between whitespace: an optional sign and a body.
struct QueryPart<'a> {
    /// `+` or `-` at the beginning of the part.
    sign: Option<char>,
    /// The text after the sign, without quotes around all of it.
    body: &'a str,
    /// Whether there were quotes around all of the body.
    is_quoted: bool,
    /// The byte range of the part in the query.
    start: usize,
    end: usize,
    /// The byte in the query at which the body begins, with its quotes.
    body_start: usize,
}

/// Divides a query at whitespace that is not inside of quotes or brackets.
fn split_parts(text: &str) -> Vec<QueryPart<'_>> {
    let mut parts = Vec::new();
    // The byte that is read next.
    let mut offset = 0;
    loop {
        offset += text[offset..].len() - text[offset..].trim_start().len();
        let Some(first) = text[offset..].chars().next() else { return parts };
        let start = offset;
        let next = text[offset + first.len_utf8()..].chars().next();
        let sign = Some(first).filter(|sign| {
            matches!(sign, '+' | '-') && next.is_some_and(|next| !next.is_whitespace())
        });
        offset += sign.map_or(0, char::len_utf8);
        let body_start = offset;
        let quoted_bytes = quoted_length(&text[offset..], Escapes::None);
        let is_whole_body =
            |end: &usize| text[offset + end..].chars().next().is_none_or(char::is_whitespace);
        if let Some(end) = quoted_bytes.filter(is_whole_body) {
            let body = without_quotes(&text[offset..offset + end]);
            offset += end;
            parts.push(QueryPart { sign, body, is_quoted: true, start, end: offset, body_start });
            continue;
        }
        offset += part_length(&text[offset..]);
        let body = &text[body_start..offset];
        parts.push(QueryPart { sign, body, is_quoted: false, start, end: offset, body_start });
    }
}

/// Whether a backslash in quotes escapes the next character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// Backslashes are ordinary characters, as in a phrase.
    None,
    /// A quote after a backslash does not end the text, as in a value of a filter.
    Backslash,
}

/// Number of bytes of a quoted text at the beginning, with its quotes; `None` if the text does not
/// begin with a quote, or the quote is not closed.
fn quoted_length(text: &str, escapes: Escapes) -> Option<usize> {
    let closing = closing_quotes(text.chars().next()?)?;
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if !is_escaped && closing.contains(&c) {
            return Some(at + c.len_utf8());
        }
        is_escaped = escapes == Escapes::Backslash && c == '\\' && !is_escaped;
    }
    None
}

/// A quoted text without its first and its last character, which are the quotes.
fn without_quotes(quoted: &str) -> &str {
    let mut inside = quoted.chars();
    inside.next();
    inside.next_back();
    inside.as_str()
}

/// Number of bytes before the next whitespace. Whitespace inside of quotes or brackets does not
/// count if they begin a value, after `:`, `=`, `<` or `>`.
fn part_length(text: &str) -> usize {
    let mut offset = 0;
    let mut previous = ' ';
    while let Some(c) = text[offset..].chars().next() {
        if c.is_whitespace() {
            return offset;
        }
        let starts_value = matches!(previous, ':' | '=' | '<' | '>');
        let jump = match c {
            '[' | '{' if starts_value => text[offset..].find([']', '}']).map(|end| end + 1),
            '(' if starts_value => text[offset..].find(')').map(|end| end + 1),
            _ if starts_value => quoted_length(&text[offset..], Escapes::Backslash),
            _ => None,
        };
        previous = c;
        offset += jump.unwrap_or(c.len_utf8());
    }
    offset
}

/// The kind of the field that a part names before a colon, if the index has such a field to search.
fn kind_of_field(part: &QueryPart<'_>, index: &Index) -> Option<FieldKind> {
    let (name, value) = part.body.split_once(':').filter(|_| !part.is_quoted)?;
    let kind = index.schema().kind(name);
    // The id of a document is no field of the schema; filters compare it like a category.
    let kind = kind.or((name == "id").then_some(FieldKind::Category));
    kind.filter(|kind| !value.is_empty() && *kind != FieldKind::Stored)
}

/// Parses a query in the simple syntax: words that rank, conditions, and conditions without effect.
fn parse_simple(text: &str, index: &Index) -> Result<ParsedQuery, SearchError> {
    let error_at = |offset: usize, problem: FilterProblem| {
        let position = text[..offset].chars().count();
        let filter = text.to_owned();
        let origin = ConditionOrigin::Query;
        SearchError::Filter(FilterError { filter, position, problem, origin })
    };
    if text.chars().nth(MAX_CHARACTERS).is_some() {
        return Err(error_at(0, FilterProblem::TooLong { most: MAX_CHARACTERS }));
    }
    let mut words: Vec<String> = Vec::new();
    let mut conditions = Vec::new();
    let mut ignored = Vec::new();
    for part in &split_parts(text) {
        let is_excluded = part.sign == Some('-');
        let text_of_part = || text[part.start..part.end].to_owned();
        if let Some(kind) = kind_of_field(part, index) {
            let expression = FilterExpression::parse(part.body).map_err(|error| {
                let before = text[..part.body_start].chars().count();
                let (filter, origin) = (text.to_owned(), ConditionOrigin::Query);
                let position = before + error.position;
                SearchError::Filter(FilterError { filter, position, origin, ..error })
            })?;
            let has_words = matches!(kind, FieldKind::Text | FieldKind::Category);
            if let Some((_, value)) = expression.single_value().filter(|_| has_words) {
                if kind == FieldKind::Text && index.analysis().terms(value).is_empty() {
                    ignored.push(text_of_part());
                    continue;
                }
                if !is_excluded {
                    words.push(value.to_owned());
                }
            }
            let (test, offset) = (QueryTest::Field(expression), part.body_start);
            conditions.push(QueryCondition { is_excluded, test, offset });
        } else if part.is_quoted || part.sign.is_some() {
            if index.analysis().terms(part.body).is_empty() {
                ignored.push(text_of_part());
                continue;
            }
            if !is_excluded {
                words.push(part.body.to_owned());
            }
            let test = QueryTest::Words(part.body.to_owned());
            conditions.push(QueryCondition { is_excluded, test, offset: part.body_start });
        } else {
            words.push(part.body.to_owned());
        }
        if conditions.len() > MAX_CONDITIONS {
            let most = MAX_CONDITIONS;
            return Err(error_at(part.start, FilterProblem::TooManyConditions { most }));
        }
    }
    let conditions = FilterExpression::of_query(text, conditions);
    Ok(ParsedQuery { text: words.join(" "), conditions, ignored })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, Ranker, SearchRequest, SearchWarning};

    fn index() -> Index {
        let documents = [
            ("1", "Blue Train", "hard bop", 1957.0),
            ("2", "Train Blue", "hard bop", 1960.0),
            ("3", "Giant Steps", "jazz", 1960.0),
            ("4", "Blue Sea", "jazz", 1999.0),
        ];
        let documents = documents.map(|(id, title, genre, year)| {
            Document::new(id).with("title", title).with("genre", genre).with("year", year)
        });
        let schema = crate::Schema::parse("genre:category").unwrap();
        let options = crate::BuildOptions::new().schema(schema);
        Index::in_memory_with(documents.map(Ok), &options).unwrap().0
    }

    /// The words and the conditions of a query.
    fn parsed(index: &Index, text: &str) -> (String, String) {
        let parsed = QuerySyntax::Simple.parse(text, index).unwrap();
        let conditions = parsed.conditions.map(|conditions| conditions.to_string());
        (parsed.text, conditions.unwrap_or_default())
    }

    #[test]
    fn quotes_signs_and_fields_become_conditions_and_the_rest_are_words() {
        let index = index();
        for (text, words, conditions) in [
            ("blue train", "blue train", ""),
            ("\"blue train\" live", "blue train live", "\"blue train\""),
            ("“blue train”", "blue train", "\"blue train\""),
            ("+blue train", "blue train", "\"blue\""),
            ("train -sea", "train", "NOT \"sea\""),
            ("-\"blue sea\" x", "x", "NOT \"blue sea\""),
            ("title:blue", "blue", "title:blue"),
            ("-title:blue x", "x", "NOT title:blue"),
            ("genre:\"hard bop\" x", "hard bop x", "genre:\"hard bop\""),
            ("title:\"blue \\\"train\\\"\" x", "blue \"train\" x", "title:\"blue \\\"train\\\"\""),
            ("\"'blue' train\" x", "'blue' train x", "\"'blue' train\""),
            ("x year:>=1960", "x", "year>=1960"),
            ("x year:[1950 TO 1960]", "x", "year:[1950 TO 1960]"),
            ("colour:red 12:30", "colour:red 12:30", ""),
            ("noise-cancelling 5\" screen - +", "noise-cancelling 5\" screen - +", ""),
            ("x -", "x -", ""),
            ("", "", ""),
        ] {
            assert_eq!(parsed(&index, text), (words.into(), conditions.into()), "{text}");
        }
        let stop_words = QuerySyntax::Simple.parse("+the train \"of\" title:the", &index).unwrap();
        assert_eq!(stop_words.ignored, ["+the", "\"of\"", "title:the"]);
        assert_eq!((stop_words.text.as_str(), stop_words.conditions), ("train", None));
        let plain = QuerySyntax::Plain.parse("+the \"train\"", &index).unwrap();
        assert_eq!((plain.text.as_str(), plain.conditions), ("+the \"train\"", None));
    }

    #[test]
    fn documents_fulfil_the_conditions_of_the_query() {
        let ranker = Ranker::builder(index()).syntax(QuerySyntax::Simple).build().unwrap();
        let found = |text: &str| {
            let hits = ranker.rank(text, 10).unwrap();
            let mut ids: Vec<String> = hits.into_iter().map(|hit| hit.id).collect();
            ids.sort_unstable();
            ids.join(" ")
        };
        assert_eq!(found("blue train"), "1 2 4");
        assert_eq!(found("\"blue train\""), "1");
        assert_eq!(found("blue +train"), "1 2");
        assert_eq!(found("blue -train"), "4");
        assert_eq!(found("blue year:1960"), "2");
        assert_eq!(found("blue -genre:jazz"), "1 2");
        assert_eq!(found("blue +steps"), "3");
        assert_eq!(found("blue +steps +train"), "");
        assert_eq!(found("blue +steps -sea title:giant"), "3");
        let none = ranker.search(&SearchRequest::new("blue +ocean")).unwrap();
        let kinds: Vec<&str> = none.warnings.iter().map(|warning| warning.kind()).collect();
        assert_eq!(kinds, ["nothing-fits"]);
    }

    #[test]
    fn conditions_and_a_filter_together_explain_an_empty_result() {
        let ranker = Ranker::builder(index()).syntax(QuerySyntax::Simple).build().unwrap();
        let filter = Filter::new(ranker.index(), "genre:jazz").unwrap();
        // Document 4 passes the filter, and documents 1 and 2 fulfil the condition.
        let request = SearchRequest::new("blue +train").filter(Some(&filter));
        let warnings = ranker.search(&request).unwrap().warnings;
        assert_eq!(warnings, [SearchWarning::NothingFitsAndPasses { documents: 3 }]);
        let message = "3 documents have a word of the query, but none both fulfils all of its \
                       conditions (quotes, + and -, fields) and passes the filter";
        assert_eq!(warnings[0].to_string(), message);
    }

    #[test]
    fn errors_point_into_the_query() {
        let error = QuerySyntax::Simple
            .parse("blue year:soon", &index())
            .and_then(|parsed| Filter::of_expression(&index(), &parsed.conditions.unwrap()));
        let error = error.unwrap_err();
        let message = "query, character 11: field `year` is a number, and `soon` is not";
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn operators_in_a_plain_query_are_found_if_they_look_intended() {
        let index = index();
        let found = |text| first_operator(text, &index);
        assert_eq!(found("\"blue train\" live").as_deref(), Some("\"blue train\""));
        assert_eq!(found("blue -live").as_deref(), Some("-live"));
        assert_eq!(found("title:blue").as_deref(), Some("title:blue"));
        assert_eq!(found("blue year>1990").as_deref(), Some("year>1990"));
        for plain in ["blue train", "noise-cancelling", "\"blue\"", "12:30", "5\" screen", "a - b"]
        {
            assert_eq!(found(plain), None, "{plain}");
        }
    }

    /// Regression: the simple syntax read such parts as words without a note.
    #[test]
    fn parts_that_only_look_like_conditions_are_named() {
        let index = index();
        let found = |text| unread_condition(text, &index).map(|found| found.to_string());
        for (text, message) in [
            (
                "blue ttle:red",
                "`ttle:red` is read as words: the index has no field `ttle`; did you mean `title`?",
            ),
            ("author:miles", "`author:miles` is read as words: the index has no field `author`"),
            (
                "title: blue",
                "`title:` is read as a word; write the value directly behind the colon: title:value",
            ),
            ("year>=1990 blue", "`year>=1990` is read as words; write year:>=1990"),
            ("year=1990", "`year=1990` is read as words; write year:1990"),
            ("\"blue train", "the query has a quote that is not closed; it is ignored"),
        ] {
            assert_eq!(found(text).as_deref(), Some(message), "{text}");
        }
        for read in [
            "title:blue year:>1990 id:4",
            "12:30",
            "http://a.b",
            "\"blue train\" -live",
            "a>b",
            "12:",
        ] {
            assert_eq!(found(read), None, "{read}");
        }
    }

    #[test]
    fn words_such_as_and_are_found_if_they_look_like_operators() {
        let found = |text| {
            let found = boolean_word(text)?;
            Some((found.word, found.simple.unwrap_or_default()))
        };
        for (text, word, simple) in [
            ("blue AND train", "AND", "+blue +train"),
            ("blue NOT train", "NOT", "blue -train"),
            ("NOT train blue", "NOT", "-train blue"),
            ("a AND b AND NOT c", "AND", "+a +b -c"),
            ("shoes price BETWEEN 1 AND 5", "BETWEEN", "shoes price:[1 TO 5]"),
            ("blue OR \"red train\"", "OR", "blue \"red train\""),
            ("blue AND -train", "AND", "+blue -train"),
            ("(a OR b) AND c", "OR", ""),
        ] {
            assert_eq!(found(text), Some((word.into(), simple.into())), "{text}");
        }
        for words in ["ROCK AND ROLL", "rock and roll", "AND so on", "say NOT", "", "\"AND\" b c"] {
            assert_eq!(found(words), None, "{words}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_a_query_or_an_error(
            text in "([a-c]|AND |NOT |[ :=<>!*(),\\[\\]{}\"'\\\\+-]|title:|year:|“|”|é|[0-9]){0,24}",
        ) {
            static INDEX: std::sync::LazyLock<Index> = std::sync::LazyLock::new(index);
            let index = &*INDEX;
            match QuerySyntax::Simple.parse(&text, index) {
                Ok(parsed) => {
                    if let Some(conditions) = parsed.conditions {
                        let _ = Filter::of_expression(index, &conditions);
                    }
                }
                Err(SearchError::Filter(error)) => {
                    proptest::prop_assert!(error.position <= text.chars().count(), "{}", error);
                    error.pointer();
                }
                Err(other) => proptest::prop_assert!(false, "{}", other),
            }
            first_operator(&text, index);
            boolean_word(&text);
            unread_condition(&text, index);
        }
    }
}
