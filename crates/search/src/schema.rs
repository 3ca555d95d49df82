//! The kinds of the fields of a collection: given, or guessed from its first documents.
//!
//! | kind | from | used for |
//! |---|---|---|
//! | text | text | terms, positions, lengths |
//! | number | numbers, or text that reads as one | features, filters |
//! | date | `2024-05-31`, `2024-05-31T12:00:00Z` | recency, filters |
//! | category | short text with few values | match with the query, classification, filters |
//! | links | ids of other documents | degrees, PageRank, hubs and authorities |
//! | url | an address | depth, length, slashes |
//! | stored | anything | shown with results, not searched |
//!
//! A value that is not of its field's kind (a number field with `n/a`) is absent, and is counted.
//! Guessing reads the first documents only; a field that first appears later is stored. A field is
//! guessed to be a number, a date or a url if all its values are, or if at least 20 are and at most
//! 1 % are not. Empty values do not count. A field with a code among its texts, digits with a zero in
//! front such as `01234`, is a category and no number: as a number it would lose the zero.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime};

use crate::document::{Document, Value};
use crate::error::SearchError;

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
    /// One or several labels.
    Category,
    /// Ids of other documents.
    Links,
    /// An address.
    Url,
    /// Kept, not searched.
    Stored,
}

impl FieldKind {
    /// Every kind with its name.
    pub const ALL: [(&'static str, FieldKind); 7] = [
        ("text", FieldKind::Text),
        ("number", FieldKind::Number),
        ("date", FieldKind::Date),
        ("category", FieldKind::Category),
        ("links", FieldKind::Links),
        ("url", FieldKind::Url),
        ("stored", FieldKind::Stored),
    ];

    /// Its name in a schema.
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
    /// Its kind.
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
    /// The fields, in order.
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

    /// Fields of a kind, in order.
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

    /// The kinds that the values of some documents suggest; `given` kinds are kept.
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
const LINK_NAMES: [&str; 5] = ["links", "outlinks", "citations", "references", "cites"];
/// Fields with notes of the person who entered a record, as in SMART's collections.
const STORED_NAMES: [&str; 1] = ["note"];
const URL_NAMES: [&str; 3] = ["url", "uri", "href"];

/// A category has few values: at most this share of the documents, and short ones.
const CATEGORY_SHARE: f64 = 0.1;
const CATEGORY_BYTES: usize = 40;

/// A number, date or url field may have a few other values: at most this share of all, beside
/// enough values of its kind.
const OTHERS_SHARE: f64 = 0.01;
const ENOUGH_OF_A_KIND: usize = 20;

fn guess_kind(name: &str, values: &[&Value]) -> FieldKind {
    let name = name.rsplit('.').next().unwrap_or(name).to_lowercase();
    if LINK_NAMES.contains(&name.as_str()) {
        return FieldKind::Links;
    }
    if STORED_NAMES.contains(&name.as_str()) {
        return FieldKind::Stored;
    }
    let texts: Vec<&str> = values.iter().filter_map(|value| as_text(value)).collect();
    if texts.is_empty() {
        let numbers = values.iter().any(|value| matches!(value, Value::Number(_)));
        return if numbers { FieldKind::Number } else { FieldKind::Category };
    }
    if TEXT_NAMES.contains(&name.as_str()) {
        return FieldKind::Text;
    }
    let values: Vec<&Value> =
        values.iter().copied().filter(|value| !is_empty_text(value)).collect();
    let is_url = |value: &Value| {
        let is_address = |text: &str| text.starts_with("http://") || text.starts_with("https://");
        as_text(value).is_some_and(is_address)
    };
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
    let few = distinct.len() as f64 <= CATEGORY_SHARE * texts.len() as f64;
    let short = texts.iter().all(|text| text.len() <= CATEGORY_BYTES);
    if few && short { FieldKind::Category } else { FieldKind::Text }
}

/// Whether a test is true for all values, or for many and false for a few.
fn mostly(values: &[&Value], test: impl Fn(&Value) -> bool) -> bool {
    let passing = values.iter().filter(|value| test(value)).count();
    let failing = values.len() - passing;
    let few = passing >= ENOUGH_OF_A_KIND && failing as f64 <= OTHERS_SHARE * values.len() as f64;
    passing > 0 && (failing == 0 || few)
}

/// Whether a text is digits with a zero in front, such as a postal code: a number only by accident.
fn is_code(text: &str) -> bool {
    let text = text.trim();
    text.len() > 1 && text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The fields that are a category only because of a code among values that read as numbers, with the
/// first such code. Only fields whose kind was not given.
pub(crate) fn fields_of_codes(documents: &[Document], given: &Schema) -> Vec<(String, String)> {
    let schema = Schema::guess(documents, given);
    let guessed = schema.of_kind(FieldKind::Category).filter(|name| given.kind(name).is_none());
    let code_of = |name: &str| {
        let values: Vec<&Value> = documents
            .iter()
            .filter_map(|d| d.get(name))
            .filter(|value| !is_empty_text(value))
            .collect();
        let code = values.iter().filter_map(|value| as_text(value)).find(|text| is_code(text))?;
        let are_numbers = mostly(&values, |value| number_of(value).is_some());
        are_numbers.then(|| (name.to_owned(), code.trim().to_owned()))
    };
    guessed.filter_map(code_of).collect()
}

/// Whether a value is a text that is empty or only whitespace.
pub(crate) fn is_empty_text(value: &Value) -> bool {
    as_text(value).is_some_and(|text| text.trim().is_empty())
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

fn read_number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Seconds since 1970 of a date (its beginning, UTC) or a timestamp.
pub(crate) fn date_of(value: &Value) -> Option<i64> {
    match value {
        Value::Text(text) => read_date(text),
        // A number alone is a year.
        Value::Number(year) if year.fract() == 0.0 && (1.0..=9999.0).contains(year) => {
            read_date(&format!("{:04}-01-01", *year as i32))
        }
        _ => None,
    }
}

fn read_date(text: &str) -> Option<i64> {
    let text = text.trim();
    let day = format_description!("[year]-[month]-[day]");
    if let Ok(date) = Date::parse(text, day) {
        return Some(date.midnight().assume_utc().unix_timestamp());
    }
    OffsetDateTime::parse(text, &Rfc3339).ok().map(OffsetDateTime::unix_timestamp)
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
    fn digits_with_a_zero_in_front_are_codes_and_no_numbers() {
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
        let with = |count: usize, value: Value, others: &[&str]| {
            let mut values = vec![value; count];
            values.extend(others.iter().map(|&other| text(other)));
            values
        };
        let (number, date) = (|| text("12.5"), || text("2024-05-31"));
        assert_eq!(guessed("pages", with(1999, number(), &["n/a"])), FieldKind::Number);
        assert_eq!(guessed("pages", with(1999, Value::Number(3.0), &["n/a"])), FieldKind::Number);
        assert_eq!(guessed("born", with(1999, date(), &["unknown"])), FieldKind::Date);
        assert_eq!(guessed("home", with(999, text("https://a/b"), &["none"])), FieldKind::Url);
        assert_eq!(guessed("pages", with(99, number(), &["n/a"])), FieldKind::Number);
        assert_ne!(guessed("pages", with(98, number(), &["n/a"])), FieldKind::Number);
        assert_ne!(guessed("pages", with(19, number(), &["n/a"])), FieldKind::Number);
        assert_eq!(guessed("pages", with(3, number(), &["", " "])), FieldKind::Number);
        assert_eq!(guessed("pages", vec![text(""), text(" ")]), FieldKind::Text);
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
    fn days_moments_and_years_are_dates() {
        assert_eq!(date_of(&text("1970-01-02")), Some(86_400));
        assert_eq!(date_of(&text("1970-01-01T00:01:00Z")), Some(60));
        assert_eq!(date_of(&Value::Number(1970.0)), Some(0));
        assert_eq!(date_of(&text("soon")), None);
    }
}
