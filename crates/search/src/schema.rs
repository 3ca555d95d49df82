//! The kinds of the fields of a collection: given by the user, or guessed from its first documents.
//!
//! | kind | values | used for |
//! |---|---|---|
//! | text | text | terms, positions, lengths |
//! | number | numbers, or text that reads as one | features, filters |
//! | date | `2024-05-31`, `2024-05-31T12:00:00Z`, or a year as a number | recency, filters |
//! | category | short texts, few different ones | match with the query, classification, filters |
//! | links | ids of other documents | number of links, PageRank, hubs and authorities |
//! | url | a web address | depth, length, number of slashes |
//! | stored | anything | shown with results, not searched |
//!
//! A value that is not of its field's kind (`n/a` in a number field) counts as absent, and a
//! warning gives the number of such values. Guessing reads the first documents only; a field that
//! first appears later is stored. Some names decide the kind (the constants such as `LINK_NAMES`
//! below), otherwise the values do. A field is guessed to be a number, a date or a url if all its
//! values are, or if at least 20 values are and at most 1 % are not; a warning names a field of
//! which up to 5 % are not, as those values alone make it a text or a category. Empty values are
//! left out. A field of numbers with a code among them, digits with a leading zero such as `01234`,
//! is a category: a number would lose the zero. Lists are categories. Other texts are a category if
//! all are short and few of them are different, otherwise text.

use std::collections::HashSet;

use rankwright_data::{PointInTime, is_decimal_comma, is_formatted_number};
use serde::{Deserialize, Serialize};

use crate::document::{Document, Value};
use crate::error::SearchError;
use crate::warning::SearchWarning;

/// The kind of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    /// Words to search.
    Text,
    /// A number.
    Number,
    /// A date, with or without a time.
    Date,
    /// One or several short texts, such as a genre or tags.
    Category,
    /// Ids of other documents.
    Links,
    /// A web address.
    Url,
    /// Any value: shown with results, not searched.
    Stored,
}

impl FieldKind {
    /// Every kind with its name in a schema.
    pub const ALL: [(&'static str, FieldKind); 7] = [
        ("text", FieldKind::Text),
        ("number", FieldKind::Number),
        ("date", FieldKind::Date),
        ("category", FieldKind::Category),
        ("links", FieldKind::Links),
        ("url", FieldKind::Url),
        ("stored", FieldKind::Stored),
    ];

    /// The name of the kind in a schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Date => "date",
            Self::Category => "category",
            Self::Links => "links",
            Self::Url => "url",
            Self::Stored => "stored",
        }
    }
}

/// A field and its kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldDef {
    /// The name that documents use.
    pub name: String,
    /// The kind of its values.
    pub kind: FieldKind,
}

/// The fields of a collection.
///
/// ```
/// use rankwright_search::{FieldKind, Schema};
///
/// let schema = Schema::parse("title:text, year:number")?;
/// assert_eq!(schema.kind("year"), Some(FieldKind::Number));
/// assert_eq!(schema.to_string(), "title:text, year:number");
/// # Ok::<(), rankwright_search::SearchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schema {
    /// The fields: first the given ones, then guessed ones in the order of the documents.
    pub fields: Vec<FieldDef>,
}

impl Schema {
    /// Reads `name:kind, name:kind`.
    pub fn parse(text: &str) -> Result<Self, SearchError> {
        let mut schema = Schema::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, kind) = part
                .rsplit_once(':')
                .ok_or_else(|| SearchError::SchemaWithoutKind { part: part.to_owned() })?;
            let (name, kind) = (name.trim(), kind.trim());
            let found = FieldKind::ALL.iter().find(|(known, _)| *known == kind);
            let &(_, kind) =
                found.ok_or_else(|| SearchError::UnknownKind { kind: kind.to_owned() })?;
            schema.set(name, kind);
        }
        Ok(schema)
    }

    /// The kind of a field.
    pub fn kind(&self, name: &str) -> Option<FieldKind> {
        self.fields.iter().find(|field| field.name == name).map(|field| field.kind)
    }

    /// Names of the fields of a kind, in the order of the schema.
    pub fn of_kind(&self, kind: FieldKind) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(move |f| f.kind == kind).map(|f| f.name.as_str())
    }

    /// Sets the kind of a field, new or existing.
    pub fn set(&mut self, name: &str, kind: FieldKind) {
        match self.fields.iter_mut().find(|field| field.name == name) {
            Some(field) => field.kind = kind,
            None => self.fields.push(FieldDef { name: name.to_owned(), kind }),
        }
    }

    /// The `given` kinds, and guesses for the other fields from their values in some documents.
    pub fn guess(documents: &[Document], given: &Schema) -> Schema {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in documents.iter().flat_map(|d| &d.fields) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let mut schema = given.clone();
        for name in names {
            if given.kind(name).is_none() {
                let values = documents.iter().filter_map(|d| d.get(name));
                schema.set(name, guess_kind(name, &values.collect::<Vec<_>>()));
            }
        }
        schema
    }
}

impl std::fmt::Display for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, field) in self.fields.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{}:{}", field.name, field.kind.name())?;
        }
        Ok(())
    }
}

/// Names of fields that are text if they have a text value.
const TEXT_NAMES: [&str; 10] = [
    "title",
    "text",
    "body",
    "abstract",
    "contents",
    "content",
    "headline",
    "description",
    "summary",
    "keywords",
];
/// Names of fields that are links.
const LINK_NAMES: [&str; 5] = ["links", "outlinks", "citations", "references", "cites"];
/// Names of fields that are only stored: notes of the person who typed in a record, as in the SMART
/// collections.
const STORED_NAMES: [&str; 1] = ["note"];
/// Names of fields that are web addresses if they have a text value.
const URL_NAMES: [&str; 3] = ["url", "uri", "href"];

// The constants below are rules of thumb.

/// Largest number of different texts of a category, as a share of the documents that have one.
const MAX_DISTINCT_SHARE: f64 = 0.1;
/// Largest number of bytes of a text of a category.
const MAX_CATEGORY_BYTES: usize = 40;

/// Largest share of values of another kind that a number, date or url field may have.
const MAX_OTHER_KIND_SHARE: f64 = 0.01;
/// Smallest number of values of its own kind of a field that has values of another kind.
const MIN_VALUES_OF_KIND: usize = 20;

/// The name of a field within its object, in lower case.
fn last_part(name: &str) -> String {
    name.rsplit('.').next().unwrap_or(name).to_lowercase()
}

/// Whether a field of this name is text if it has a text value.
fn is_text_name(name: &str) -> bool {
    TEXT_NAMES.contains(&last_part(name).as_str())
}

/// Whether a value is a web address.
fn is_url(value: &Value) -> bool {
    let is_address = |text: &str| text.starts_with("http://") || text.starts_with("https://");
    as_text(value).is_some_and(is_address)
}

/// Guesses the kind of a field from its name and values; see the rules at the top of this file.
fn guess_kind(name: &str, values: &[&Value]) -> FieldKind {
    let is_text_name = is_text_name(name);
    let name = last_part(name);
    if LINK_NAMES.contains(&name.as_str()) {
        return FieldKind::Links;
    }
    if STORED_NAMES.contains(&name.as_str()) {
        return FieldKind::Stored;
    }
    let texts: Vec<&str> = values.iter().filter_map(|value| as_text(value)).collect();
    let values: Vec<&Value> =
        values.iter().copied().filter(|value| !is_empty_value(value)).collect();
    if texts.is_empty() {
        let are_numbers = mostly(&values, |value| number_of(value).is_some());
        return if are_numbers { FieldKind::Number } else { FieldKind::Category };
    }
    if is_text_name {
        return FieldKind::Text;
    }
    if URL_NAMES.contains(&name.as_str()) || mostly(&values, is_url) {
        return FieldKind::Url;
    }
    if mostly(&values, |value| number_of(value).is_some()) {
        return if texts.iter().any(|text| is_code(text)) {
            FieldKind::Category
        } else {
            FieldKind::Number
        };
    }
    if mostly(&values, |value| date_of(value).is_some()) {
        return FieldKind::Date;
    }
    let distinct: HashSet<&str> = texts.iter().copied().collect();
    let are_few = distinct.len() as f64 <= MAX_DISTINCT_SHARE * texts.len() as f64;
    let are_short = texts.iter().all(|text| text.len() <= MAX_CATEGORY_BYTES);
    if are_few && are_short { FieldKind::Category } else { FieldKind::Text }
}

/// Whether a test is true for all values, or for enough of them and false for very few.
fn mostly(values: &[&Value], test: impl Fn(&Value) -> bool) -> bool {
    let passing = values.iter().filter(|value| test(value)).count();
    let failing = values.len() - passing;
    let max_failing = MAX_OTHER_KIND_SHARE * values.len() as f64;
    let has_enough = passing >= MIN_VALUES_OF_KIND && failing as f64 <= max_failing;
    passing > 0 && (failing == 0 || has_enough)
}

/// Whether a text is digits with a leading zero, such as a postal code: it only looks like a
/// number.
fn is_code(text: &str) -> bool {
    let text = text.trim();
    text.len() > 1 && text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Warnings about guesses that the user may not expect: codes, and few values of another kind.
pub(crate) fn guess_warnings(documents: &[Document], given: &Schema) -> Vec<SearchWarning> {
    let codes = fields_of_codes(documents, given).into_iter();
    let codes = codes.map(|(field, example)| SearchWarning::Codes { field, example });
    codes
        .chain(nearly_of_kind(documents, given))
        .chain(formatted_numbers(documents, given))
        .collect()
}

/// The fields that are guessed to be texts or categories, although all values are numbers as people
/// write them.
fn formatted_numbers(documents: &[Document], given: &Schema) -> Vec<SearchWarning> {
    let schema = Schema::guess(documents, given);
    let is_formatted = |text: &str| is_decimal_comma(text) || is_formatted_number(text);
    let warning = |field: &FieldDef| {
        let is_text = matches!(field.kind, FieldKind::Text | FieldKind::Category);
        if !is_text || given.kind(&field.name).is_some() || is_text_name(&field.name) {
            return None;
        }
        let values = documents.iter().filter_map(|document| document.get(&field.name));
        let values: Vec<&Value> = values.filter(|value| !is_empty_value(value)).collect();
        let is_number = |value: &Value| match as_text(value) {
            Some(text) => is_formatted(text.trim()) || number_of(value).is_some(),
            None => number_of(value).is_some(),
        };
        let texts = values.iter().filter_map(|value| as_text(value));
        let example = texts.map(str::trim).find(|text| is_formatted(text))?.to_owned();
        values.iter().all(|value| is_number(value)).then(|| SearchWarning::FormattedNumbers {
            field: field.name.clone(),
            guessed: field.kind,
            example,
        })
    };
    schema.fields.iter().filter_map(warning).collect()
}

/// Largest share of values of another kind at which a warning says that they decide the kind of a
/// field.
const MAX_WARNED_SHARE: f64 = 0.05;

/// The fields that are guessed to be texts or categories because of a few values that are no
/// numbers, dates or urls as all others are.
fn nearly_of_kind(documents: &[Document], given: &Schema) -> Vec<SearchWarning> {
    let schema = Schema::guess(documents, given);
    let is_guessed_text = |field: &&FieldDef| {
        let is_text = matches!(field.kind, FieldKind::Text | FieldKind::Category);
        is_text && given.kind(&field.name).is_none() && !is_text_name(&field.name)
    };
    let warning = |field: &FieldDef| {
        let values = documents.iter().filter_map(|document| document.get(&field.name));
        let values: Vec<&Value> = values.filter(|value| !is_empty_value(value)).collect();
        [FieldKind::Number, FieldKind::Date, FieldKind::Url].into_iter().find_map(|kind| {
            let others: Vec<&Value> =
                values.iter().copied().filter(|value| !is_of_kind(value, kind)).collect();
            let texts: Vec<&str> = others.iter().filter_map(|value| as_text(value)).collect();
            let most = MAX_WARNED_SHARE * values.len() as f64;
            // Codes have a warning of their own.
            let are_few = others.len() as f64 <= most && !texts.iter().any(|text| is_code(text));
            let first = others.first().filter(|_| are_few)?;
            let example = texts.first().map(|text| (*text).to_owned());
            Some(SearchWarning::NearlyOfKind {
                field: field.name.clone(),
                kind,
                guessed: field.kind,
                values: values.len(),
                others: others.len(),
                example: example.unwrap_or_else(|| texts_of(first).join(", ")),
            })
        })
    };
    schema.fields.iter().filter(is_guessed_text).filter_map(warning).collect()
}

/// Whether a value can be one of a field of numbers, dates or urls.
fn is_of_kind(value: &Value, kind: FieldKind) -> bool {
    match kind {
        FieldKind::Number => number_of(value).is_some(),
        FieldKind::Date => date_of(value).is_some(),
        _ => is_url(value),
    }
}

/// The names of the fields that are guessed to be a category only because a code is among values
/// that read as numbers, each with its first code.
fn fields_of_codes(documents: &[Document], given: &Schema) -> Vec<(String, String)> {
    let schema = Schema::guess(documents, given);
    let guessed = schema.of_kind(FieldKind::Category).filter(|name| given.kind(name).is_none());
    let code_of = |name: &str| {
        let values: Vec<&Value> = documents
            .iter()
            .filter_map(|d| d.get(name))
            .filter(|value| !is_empty_value(value))
            .collect();
        let code = values.iter().filter_map(|value| as_text(value)).find(|text| is_code(text))?;
        let are_numbers = mostly(&values, |value| number_of(value).is_some());
        are_numbers.then(|| (name.to_owned(), code.trim().to_owned()))
    };
    guessed.filter_map(code_of).collect()
}

/// Whether a value is an empty list, or a text that is empty or only whitespace.
pub(crate) fn is_empty_value(value: &Value) -> bool {
    match value {
        Value::Text(text) => text.trim().is_empty(),
        Value::Texts(texts) => texts.is_empty(),
        Value::Number(_) => false,
    }
}

fn as_text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// A finite number, from a number or from text.
pub(crate) fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(*number).filter(|n| n.is_finite()),
        Value::Text(text) => read_number(text),
        Value::Texts(_) => None,
    }
}

/// A number; `true` is 1 and `false` is 0, as in JSON.
fn read_number(text: &str) -> Option<f64> {
    let text = text.trim();
    match () {
        () if text.eq_ignore_ascii_case("true") => Some(1.0),
        () if text.eq_ignore_ascii_case("false") => Some(0.0),
        () => text.parse().ok().filter(|number: &f64| number.is_finite()),
    }
}

/// Seconds since 1970 of a date (its beginning, UTC) or a timestamp; without a zone it is UTC.
pub(crate) fn date_of(value: &Value) -> Option<i64> {
    match value {
        Value::Text(text) => read_date(text),
        // A whole number is a year.
        Value::Number(year) if year.fract() == 0.0 && (1.0..=9999.0).contains(year) => {
            read_date(&format!("{:04}-01-01", *year as i32))
        }
        _ => None,
    }
}

fn read_date(text: &str) -> Option<i64> {
    let time = PointInTime::from_text(text.trim().as_bytes())?;
    Some(time.micros.div_euclid(1_000_000))
}

/// The texts of a value of any kind.
pub(crate) fn texts_of(value: &Value) -> Vec<String> {
    match value {
        Value::Text(text) => vec![text.clone()],
        Value::Texts(texts) => texts.clone(),
        Value::Number(number) => vec![number.to_string()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(name: &str, values: Vec<Value>) -> Vec<Document> {
        values.into_iter().map(|v| Document::new("d").with(name, v)).collect()
    }

    fn guessed(name: &str, values: Vec<Value>) -> FieldKind {
        let schema = Schema::guess(&documents(name, values), &Schema::default());
        schema.kind(name).unwrap()
    }

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    #[test]
    fn kinds_are_guessed_from_names_and_values() {
        assert_eq!(guessed("title", vec![text("1984")]), FieldKind::Text);
        assert_eq!(guessed("links", vec![Value::Texts(vec!["a".into()])]), FieldKind::Links);
        assert_eq!(guessed("pages", vec![text("12"), text("7.5")]), FieldKind::Number);
        assert_eq!(guessed("born", vec![text("1912-06-23")]), FieldKind::Date);
        assert_eq!(guessed("home", vec![text("https://a/b")]), FieldKind::Url);
        assert_eq!(guessed("genre", vec![text("rock"); 20]), FieldKind::Category);
        assert_eq!(guessed("tags", vec![Value::Texts(vec!["a".into()])]), FieldKind::Category);
        assert_eq!(guessed("notes", vec![text("one"), text("two words")]), FieldKind::Text);
        assert_eq!(guessed("note", vec![text("CA581203 JB")]), FieldKind::Stored);
    }

    #[test]
    fn digits_with_a_leading_zero_are_codes_and_no_numbers() {
        let codes = || vec![text("10115"), text("01234"), text("99084")];
        assert_eq!(guessed("zip", codes()), FieldKind::Category);
        let found = fields_of_codes(&documents("zip", codes()), &Schema::default());
        assert_eq!(found, [("zip".to_owned(), "01234".to_owned())]);
        for values in [["0", "1"], ["0.5", "01.5"], ["-01", "7"], ["10", "20"]] {
            let values: Vec<Value> = values.map(text).into();
            assert_eq!(guessed("size", values.clone()), FieldKind::Number, "{values:?}");
            assert_eq!(fields_of_codes(&documents("size", values), &Schema::default()), []);
        }
        let given = Schema::parse("zip:number").unwrap();
        let kept = Schema::guess(&documents("zip", codes()), &given);
        assert_eq!(kept.kind("zip"), Some(FieldKind::Number));
        assert_eq!(fields_of_codes(&documents("zip", codes()), &given), []);
    }

    #[test]
    fn a_few_values_of_another_kind_do_not_change_the_guess() {
        let repeat = |value: Value, count: usize, other_texts: &[&str]| {
            let mut values = vec![value; count];
            values.extend(other_texts.iter().map(|&other| text(other)));
            values
        };
        let (number, date) = (|| text("12.5"), || text("2024-05-31"));
        assert_eq!(guessed("pages", repeat(number(), 1999, &["n/a"])), FieldKind::Number);
        assert_eq!(guessed("pages", repeat(Value::Number(3.0), 1999, &["n/a"])), FieldKind::Number);
        assert_eq!(guessed("born", repeat(date(), 1999, &["unknown"])), FieldKind::Date);
        assert_eq!(guessed("home", repeat(text("https://a/b"), 999, &["none"])), FieldKind::Url);
        assert_eq!(guessed("pages", repeat(number(), 99, &["n/a"])), FieldKind::Number);
        assert_ne!(guessed("pages", repeat(number(), 98, &["n/a"])), FieldKind::Number);
        assert_ne!(guessed("pages", repeat(number(), 19, &["n/a"])), FieldKind::Number);
        assert_eq!(guessed("pages", repeat(number(), 3, &["", " "])), FieldKind::Number);
        assert_eq!(guessed("pages", vec![text(""), text(" ")]), FieldKind::Text);
    }

    #[test]
    fn one_number_does_not_make_a_field_of_lists_a_number() {
        let list = || Value::Texts(vec!["a".into(), "b".into()]);
        let one_number = [vec![list(); 30], vec![Value::Number(3.0)]].concat();
        assert_eq!(guessed("tags", one_number), FieldKind::Category);
        let one_list = |numbers| [vec![Value::Number(3.0); numbers], vec![list()]].concat();
        assert_eq!(guessed("size", one_list(99)), FieldKind::Number);
        assert_eq!(guessed("size", one_list(98)), FieldKind::Category);
        let empty_list = vec![Value::Number(3.0), Value::Texts(Vec::new())];
        assert_eq!(guessed("size", empty_list), FieldKind::Number);
    }

    #[test]
    fn a_field_whose_kind_few_values_decide_is_warned_about() {
        let prices = |numbers: usize, others: &[&str]| {
            let mut values: Vec<Value> = (0..numbers).map(|n| text(&format!("{n}.5"))).collect();
            values.extend(others.iter().map(|&other| text(other)));
            documents("price", values)
        };
        let warnings = |documents: &[Document]| {
            let warnings = guess_warnings(documents, &Schema::default());
            warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let expected = "field `price` is text, as 1 of its 51 values is no number, such as 'n/a'; \
                        give its kind in the schema if it is a number field";
        assert_eq!(warnings(&prices(50, &["n/a"])), [expected]);
        assert_eq!(warnings(&prices(50, &["n/a", ""])), [expected]);
        // Few enough to be a number all the same, too many, and none.
        assert_eq!(warnings(&prices(99, &["n/a"])), [""; 0]);
        assert_eq!(warnings(&prices(18, &["n/a"])), [""; 0]);
        assert_eq!(warnings(&prices(50, &[])), [""; 0]);
        let given = Schema::parse("price:text").unwrap();
        assert_eq!(guess_warnings(&prices(50, &["n/a"]), &given), []);
        let days: Vec<Value> = (0..19).map(|_| text("2024-05-31")).chain([text("soon")]).collect();
        assert!(warnings(&documents("day", days))[0].contains("is no date, such as 'soon'"));
        // Lists and numbers count as values of another kind, too.
        let list = || Value::Texts(vec!["a".into(), "b".into()]);
        let mixed = |texts: &[&str], lists: usize, numbers: usize| {
            let mut values: Vec<Value> = (0..60).map(|n| text(&format!("{n}.5"))).collect();
            values.extend(vec![Value::Number(0.5); numbers]);
            values.extend(vec![list(); lists]);
            values.extend(texts.iter().map(|&other| text(other)));
            documents("price", values)
        };
        let found = warnings(&mixed(&["n/a"], 2, 0));
        assert!(
            found[0].contains("as 3 of its 63 values are no numbers, such as 'n/a'"),
            "{found:?}"
        );
        assert_eq!(warnings(&mixed(&["n/a"], 10, 0)), [""; 0]);
        let found = warnings(&mixed(&[], 2, 0));
        assert!(
            found[0].contains("as 2 of its 62 values are no numbers, such as 'a, b'"),
            "{found:?}"
        );
        let days = [vec![text("2024-05-31"); 19], vec![text("soon")], vec![Value::Number(0.5); 9]];
        assert_eq!(warnings(&documents("day", days.concat())), [""; 0]);
    }

    #[test]
    fn given_kinds_stay_and_the_rest_is_guessed() {
        let given = Schema::parse("year:category").unwrap();
        let schema = Schema::guess(&documents("year", vec![Value::Number(1990.0)]), &given);
        assert_eq!(schema.to_string(), "year:category");
    }

    #[test]
    fn a_schema_without_a_kind_or_with_an_unknown_one_is_refused() {
        assert!(Schema::parse("title").unwrap_err().to_string().contains("gives `title` no kind"));
        assert!(
            Schema::parse("title:words").unwrap_err().to_string().contains("unknown kind of field")
        );
    }

    #[test]
    fn days_timestamps_and_years_are_dates() {
        assert_eq!(date_of(&text("1970-01-02")), Some(86_400));
        assert_eq!(date_of(&text("1970-01-01T00:01:00Z")), Some(60));
        assert_eq!(date_of(&Value::Number(1970.0)), Some(0));
        for same in [
            "1970-01-01T00:01:00",
            "1970-01-01 00:01",
            "1970-01-01T00:01Z",
            "1970-01-01T01:01:00.123456+01:00",
            "1.1.1970 00:01",
        ] {
            assert_eq!(date_of(&text(same)), Some(60), "{same}");
        }
        assert_eq!(date_of(&text("soon")), None);
        assert_eq!((number_of(&text("true")), number_of(&text("False"))), (Some(1.0), Some(0.0)));
    }
}
