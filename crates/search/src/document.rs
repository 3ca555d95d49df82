//! A document and a query as read: an id and named values, not yet typed by a schema.

use serde::{Deserialize, Serialize};

/// A value as read from a file. The kind of its field is decided later, by the schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Text: a title, a body, a date, a category, a URL.
    Text(String),
    /// A number.
    Number(f64),
    /// Several texts: links to other documents, authors, categories.
    Texts(Vec<String>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<Vec<String>> for Value {
    fn from(texts: Vec<String>) -> Self {
        Self::Texts(texts)
    }
}

/// One document.
///
/// ```
/// use rankwright_search::Document;
///
/// let document = Document::new("d1").with("title", "Blue Train").with("minutes", 42.8);
/// assert_eq!(document.text("title"), Some("Blue Train"));
/// assert_eq!(document.get("year"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The id, unique in an index. A later document of the same id replaces an earlier one.
    pub id: String,
    /// Values by field name, in the order of the source.
    pub fields: Vec<(String, Value)>,
}

impl Document {
    /// A document without fields.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), fields: Vec::new() }
    }

    /// Adds a field: a text, a number or several texts.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.push((name.to_owned(), value.into()));
        self
    }

    /// The first value of a field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// The text of a field; `None` if the field is absent, a number or several texts.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// A query: its text, and further values where the file has them (a language, a category).
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The id that judgements and runs use.
    pub id: String,
    /// The words to search for.
    pub text: String,
    /// Further values by name, in the order of the file.
    pub fields: Vec<(String, Value)>,
}

impl Query {
    /// A query of text alone.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: id.into(), text: text.into(), fields: Vec::new() }
    }

    /// Adds a value, such as a language.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.push((name.to_owned(), value.into()));
        self
    }
}
