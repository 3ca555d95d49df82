//! Reads judgements and runs from JSON lines: an object a line with a query, a document and a
//! number, under any of the usual names.

use serde_json::{Map, Value};

use super::QueryLists;
use super::read::ListKind;
use crate::error::{DataError, SourceLocation, quote};
use crate::warnings::{WarningKind, Warnings};

const QUERY: &[&str] = &["query_id", "query-id", "qid", "query"];
const DOCUMENT: &[&str] = &["doc_id", "corpus-id", "corpus_id", "docid", "document_id", "doc"];
const RELEVANCE: &[&str] = &["relevance", "score", "rel", "label", "grade"];
const SCORE: &[&str] = &["score"];

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
        let place = SourceLocation::line(name, index as u64 + 1);
        let line = line.trim_ascii();
        match line.first() {
            None => {
                warnings.add(WarningKind::BlankLines, 1, || place);
                continue;
            }
            Some(b'#') => continue,
            Some(_) => rows.push(row(line, kind, place)?),
        }
    }
    let lists = QueryLists::from_rows(name, rows.iter().map(|(q, d, v)| (&**q, &**d, *v)))?;
    Ok((lists, warnings))
}

fn row(
    line: &[u8],
    kind: ListKind,
    place: SourceLocation,
) -> Result<(String, String, f64), DataError> {
    let object: Map<String, Value> = serde_json::from_slice(line).map_err(|e| {
        let place = place.clone().at_column(e.column() as u64);
        DataError::malformed(place, quote(line), format!("a JSON object ({e})"))
    })?;
    let numbers = if kind == ListKind::Run { SCORE } else { RELEVANCE };
    let (number, value) = field(&object, numbers, &place)?;
    let value = value.as_f64().filter(|v| v.is_finite()).ok_or_else(|| {
        let found = quote(value.to_string().as_bytes());
        DataError::malformed(place.clone().in_field(number), found, kind.value_name())
    })?;
    Ok((id(&object, QUERY, &place)?, id(&object, DOCUMENT, &place)?, value))
}

fn field<'a>(
    object: &'a Map<String, Value>,
    names: &[&'static str],
    place: &SourceLocation,
) -> Result<(&'static str, &'a Value), DataError> {
    names.iter().find_map(|name| object.get(*name).map(|value| (*name, value))).ok_or_else(|| {
        let keys: Vec<&str> = object.keys().map(String::as_str).collect();
        let found = format!("the keys {}", quote(keys.join(", ").as_bytes()));
        DataError::malformed(place.clone(), found, format!("a key '{}'", names.join("' or '")))
    })
}

fn id(
    object: &Map<String, Value>,
    names: &[&'static str],
    place: &SourceLocation,
) -> Result<String, DataError> {
    match field(object, names, place)? {
        (_, Value::String(text)) if !text.is_empty() => Ok(text.clone()),
        (_, Value::Number(number)) => Ok(number.to_string()),
        (name, other) => {
            let place = place.clone().in_field(name);
            Err(DataError::malformed(place, quote(other.to_string().as_bytes()), "a string as id"))
        }
    }
}
