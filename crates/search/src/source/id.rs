//! Ids of documents and queries: 1 to 1,000 bytes without whitespace and control characters.
//!
//! Lines of runs and judgements are split at whitespace, so a document whose id has whitespace
//! could be indexed but never judged: such an id is rejected when it is read.

use rankwright_data::{SourceLocation, quote};

use crate::error::SearchError;

/// Names of the field that holds a document's id, in order of precedence, ignoring case.
pub(crate) const DOCUMENT_ID_FIELDS: [&str; 11] = [
    "id",
    "_id",
    "docid",
    "doc_id",
    "docno",
    "key",
    "document_id",
    "product_id",
    "item_id",
    "sku",
    "uuid",
];

/// Largest number of bytes of an id.
const MAX_ID_BYTES: usize = 1000;

/// Help for an id with whitespace.
const WHITESPACE_HELP: &str =
    "runs and judgements are split at whitespace; replace the whitespace in the id by '_'";

/// Checks an id, and returns it.
pub(crate) fn checked(
    id: String,
    location: impl FnOnce() -> SourceLocation,
) -> Result<String, SearchError> {
    let malformed = |found: String, expected| SearchError::malformed(location(), found, expected);
    if id.is_empty() {
        return Err(malformed("an empty id".into(), "an id"));
    }
    if id.len() > MAX_ID_BYTES {
        let found = format!("an id of {} bytes", id.len());
        return Err(malformed(found, "an id of at most 1,000 bytes"));
    }
    let has_whitespace = id.contains(char::is_whitespace);
    if !has_whitespace && !id.contains(char::is_control) {
        return Ok(id);
    }
    let found = format!("the id {}", quote(id.as_bytes()));
    let error = malformed(found, "an id without whitespace and control characters");
    Err(match has_whitespace {
        true => error.with_help(WHITESPACE_HELP),
        false => error,
    })
}

/// The index in `names` of the first of `wanted` that is among them, ignoring case.
pub(crate) fn find_name<'a>(
    wanted: &[&str],
    names: impl Iterator<Item = &'a str> + Clone,
) -> Option<usize> {
    let position = |wanted: &str| names.clone().position(|name| name.eq_ignore_ascii_case(wanted));
    wanted.iter().find_map(|wanted| position(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_with_whitespace_or_control_characters_and_long_ids_are_refused() {
        let check = |id: &str| {
            checked(id.into(), || SourceLocation::line("f", 2)).map_err(|e| e.to_string())
        };
        assert_eq!(check("MED-10#ö"), Ok("MED-10#ö".into()));
        assert_eq!(check(&"x".repeat(1000)).unwrap().len(), 1000);
        for (id, message) in [
            ("", "f:2: found an empty id, expected an id"),
            (
                "a b",
                "f:2: found the id 'a b', expected an id without whitespace and control characters",
            ),
            (
                "a\u{7}",
                "f:2: found the id 'a\\u{7}', expected an id without whitespace and control \
                 characters",
            ),
        ] {
            assert_eq!(check(id).unwrap_err(), message);
        }
        let long = check(&"x".repeat(1001)).unwrap_err();
        assert_eq!(long, "f:2: found an id of 1001 bytes, expected an id of at most 1,000 bytes");
    }

    #[test]
    fn the_order_of_the_wanted_names_decides_not_that_of_the_columns() {
        let names = ["docno", "text", "ID"];
        assert_eq!(find_name(&DOCUMENT_ID_FIELDS, names.into_iter()), Some(2));
        assert_eq!(find_name(&DOCUMENT_ID_FIELDS, ["a"].into_iter()), None);
    }
}
