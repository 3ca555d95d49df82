//! Reads judgements and runs from JSON lines: one object per line with a query, a document and a
//! number, under any of the usual names.

use serde_json::{Map, Value};

use super::QueryLists;
use super::read::ListKind;
use crate::error::{DataError, SourceLocation, quote};
use crate::warnings::{WarningKind, Warnings};

// The keys of each part of a row; the first one that a line has is used.
const QUERY: &[&str] = &["query_id", "query-id", "qid", "query"];
const DOCUMENT: &[&str] = &["doc_id", "corpus-id", "corpus_id", "docid", "document_id", "doc"];
const RELEVANCE: &[&str] = &["relevance", "score", "rel", "label", "grade"];
const SCORE: &[&str] = &["score"];

/// Reads lists from text whose first line of data is a JSON object.
pub(super) fn read(
    name: &str,
    text: &[u8],
    kind: ListKind,
    mut warnings: Warnings,
) -> Result<(QueryLists, Warnings), DataError> {
    let mut rows = Vec::new();
    // The empty text after the last line feed is no blank line.
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    for (index, line) in text.split(|&b| b == b'\n').enumerate() {
        let location = SourceLocation::line(name, index as u64 + 1);
        let line = line.trim_ascii();
        match line.first() {
            None => {
                warnings.add(WarningKind::BlankLines, 1, || location);
                continue;
            }
            Some(b'#') => continue,
            Some(_) => rows.push(row(line, kind, location)?),
        }
    }
    let lists = QueryLists::from_rows(name, rows.iter().map(|(q, d, v)| (&**q, &**d, *v)))?;
    Ok((lists, warnings))
}

/// The query, the document and the number of a line.
fn row(
    line: &[u8],
    kind: ListKind,
    location: SourceLocation,
) -> Result<(String, String, f64), DataError> {
    let object: Map<String, Value> = serde_json::from_slice(line).map_err(|e| {
        let location = location.clone().at_column(e.column() as u64);
        DataError::malformed(location, quote(line), format!("a JSON object ({e})"))
    })?;
    let value_keys = if kind == ListKind::Run { SCORE } else { RELEVANCE };
    let (value_key, value) = field(&object, value_keys, &location)?;
    let value = value.as_f64().filter(|v| v.is_finite()).ok_or_else(|| {
        let found = quote(value.to_string().as_bytes());
        DataError::malformed(location.clone().in_field(value_key), found, kind.value_name())
    })?;
    Ok((id(&object, QUERY, &location)?, id(&object, DOCUMENT, &location)?, value))
}

/// The first of these keys that an object has, with its value.
fn field<'a>(
    object: &'a Map<String, Value>,
    names: &[&'static str],
    location: &SourceLocation,
) -> Result<(&'static str, &'a Value), DataError> {
    names.iter().find_map(|name| object.get(*name).map(|value| (*name, value))).ok_or_else(|| {
        let keys: Vec<&str> = object.keys().map(String::as_str).collect();
        let found = format!("the keys {}", quote(keys.join(", ").as_bytes()));
        DataError::malformed(location.clone(), found, format!("a key '{}'", names.join("' or '")))
    })
}

/// The id under the first of these keys that an object has: a text, or a number as text.
fn id(
    object: &Map<String, Value>,
    names: &[&'static str],
    location: &SourceLocation,
) -> Result<String, DataError> {
    match field(object, names, location)? {
        (_, Value::String(text)) if !text.is_empty() => Ok(text.clone()),
        (_, Value::Number(number)) => Ok(number.to_string()),
        (name, other) => {
            let location = location.clone().in_field(name);
            Err(DataError::malformed(
                location,
                quote(other.to_string().as_bytes()),
                "a string as id",
            ))
        }
    }
}
