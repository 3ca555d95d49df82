//! Files of interleaved lists: JSON lines, one list each.
//!
//! ```text
//! {"request": "q1#1", "query": "q1", "method": "team-draft", "rankers": ["old.run", "new.run"],
//!  "documents": ["a", "c", "b"], "teams": [0, 1, 0], "ranks": [[1, 3, 2], [2, 1, 4]],
//!  "lengths": [3, 3]}
//! ```
//!
//! `teams` has the ranker of each document, from 0, and is absent for methods without teams.
//! `ranks` has a list for each ranker, with the rank of each document from 1; one more than the
//! ranking's number of documents (`lengths`) means that the ranking does not have the document.
//! That is all that the credits of clicks need, so that rankings need not be kept.

use std::io::{self, Write};

use rankwright_data::bytes::Input;
use rankwright_data::{DataError, SourceLocation, quote};
use rankwright_spec::{ParamValue, RangeDef, visible};
use serde::{Deserialize, Serialize, Serializer};

use super::{InterleavedList, InterleavingMethod};

/// An interleaved list for a request, with the names of its rankers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InterleavedPage {
    /// The id of the request, by which a click log names the page.
    pub request: String,
    /// The query.
    pub query: String,
    /// Names of the rankers, in the order of the list's teams and ranks.
    pub rankers: Vec<String>,
    /// The list.
    pub list: InterleavedList,
}

impl InterleavedPage {
    /// A list for a request.
    pub fn new(
        request: impl Into<String>,
        query: impl Into<String>,
        rankers: &[String],
        list: InterleavedList,
    ) -> Self {
        let (request, query) = (request.into(), query.into());
        Self { request, query, rankers: rankers.to_vec(), list }
    }
}

/// A line of a file.
#[derive(Debug, Serialize, Deserialize)]
struct ListLine {
    request: String,
    query: String,
    method: String,
    rankers: Vec<String>,
    documents: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    teams: Vec<usize>,
    ranks: Vec<Vec<usize>>,
    lengths: Vec<usize>,
}

/// The line of a file.
impl Serialize for InterleavedPage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let InterleavedPage { request, query, rankers, list } = self;
        let line = ListLine {
            request: request.clone(),
            query: query.clone(),
            method: list.method().name().to_owned(),
            rankers: rankers.clone(),
            documents: list.documents().to_vec(),
            teams: list.teams().to_vec(),
            ranks: list.ranks().to_vec(),
            lengths: list.lengths().to_vec(),
        };
        line.serialize(serializer)
    }
}

/// Writes lists as JSON lines.
pub fn write_lists(out: &mut dyn Write, pages: &[InterleavedPage]) -> io::Result<()> {
    for page in pages {
        writeln!(out, "{}", visible::json(&serde_json::to_string(page)?))?;
    }
    Ok(())
}

/// Checks lists in memory as those of a file: all of them have the same rankers, one for each
/// ranking of a list, and each request occurs once. `name` is theirs in messages.
pub fn check_lists(name: &str, pages: &[InterleavedPage]) -> Result<(), DataError> {
    let mut requests = std::collections::HashSet::new();
    for page in pages {
        let malformed = |expected: &str| {
            let found = format!("the list of request '{}'", page.request);
            DataError::malformed(SourceLocation::file(name), found, expected)
        };
        if page.rankers.len() != page.list.rankers() {
            return Err(malformed("a name for each ranker"));
        }
        if pages.first().is_some_and(|first| first.rankers != page.rankers) {
            return Err(malformed("the rankers of the lists before"));
        }
        if !requests.insert(&page.request) {
            return Err(malformed("a request that no list before has"));
        }
    }
    Ok(())
}

/// Reads lists from JSON lines. All lists have the same rankers, and each request occurs once.
///
/// ```
/// use rankwright_clicks::interleave::read_lists;
/// use rankwright_data::bytes::Input;
///
/// let line = r#"{"request": "r", "query": "q", "method": "balanced", "rankers": ["old", "new"],
///     "documents": ["a", "b"], "ranks": [[1, 2], [2, 1]], "lengths": [2, 2]}"#.replace('\n', " ");
/// let pages = read_lists(&Input::raw("lists.jsonl", line.into_bytes()))?;
/// assert_eq!(pages[0].list.credits(&[1]), [0.0, 1.0]);
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
pub fn read_lists(input: &Input) -> Result<Vec<InterleavedPage>, DataError> {
    let mut pages: Vec<InterleavedPage> = Vec::new();
    let mut requests = std::collections::HashSet::new();
    for (number, line) in (1..).zip(input.bytes.split(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let malformed = |expected: &str| {
            let location = SourceLocation::line(&input.name, number);
            DataError::malformed(location, quote(line.trim_ascii()), expected)
        };
        let page = read_line(line).map_err(|expected| malformed(&expected))?;
        if pages.first().is_some_and(|first| first.rankers != page.rankers) {
            return Err(malformed("the rankers of the lists before"));
        }
        if !requests.insert(page.request.clone()) {
            return Err(malformed("a request that no line before has"));
        }
        pages.push(page);
    }
    Ok(pages)
}

/// The list of a line; the error says what was expected.
fn read_line(line: &[u8]) -> Result<InterleavedPage, String> {
    let line: ListLine = serde_json::from_slice(line)
        .map_err(|error| format!("an interleaved list as JSON ({error})"))?;
    let method = InterleavingMethod::read(&line.method, &RangeDef::default()).map_err(|_| {
        let known: Vec<&str> = InterleavingMethod::ALL.iter().map(|(name, _)| *name).collect();
        format!("a method of interleaving ({})", known.join(", "))
    })?;
    if line.rankers.len() != line.lengths.len() {
        return Err("a length for each ranker".to_owned());
    }
    let ListLine { request, query, rankers, documents, teams, ranks, lengths, .. } = line;
    let list = InterleavedList::from_parts(method, documents, teams, ranks, lengths)?;
    Ok(InterleavedPage { request, query, rankers, list })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interleave::Interleaver;

    fn read(text: &str) -> Result<Vec<InterleavedPage>, DataError> {
        read_lists(&Input::raw("lists", text.as_bytes().to_vec()))
    }

    #[test]
    fn lists_of_every_method_are_read_as_they_were_written() {
        let rankings = [vec!["a", "b", "c"], vec!["c", "d", "a", "e"]];
        let names = ["old".to_owned(), "new".to_owned()];
        for (name, method) in InterleavingMethod::ALL {
            let list = Interleaver::new(*method, &rankings, 4).unwrap().list(3, name);
            let page = InterleavedPage::new(*name, "q\t1", &names, list);
            let mut text = Vec::new();
            write_lists(&mut text, std::slice::from_ref(&page)).unwrap();
            let found = read(std::str::from_utf8(&text).unwrap()).unwrap();
            assert_eq!(found, [page]);
        }
    }

    #[test]
    fn lists_in_memory_have_one_list_a_request_and_the_same_rankers() {
        let list = Interleaver::new(InterleavingMethod::TeamDraft, &[vec!["a"], vec!["b"]], 2);
        let list = list.unwrap().list(1, "r");
        let names = ["old".to_owned(), "new".to_owned()];
        let page = |request: &str, names: &[String]| {
            InterleavedPage::new(request, "q", names, list.clone())
        };
        assert!(check_lists("lists", &[page("r", &names), page("s", &names)]).is_ok());
        for (pages, expected) in [
            ([page("r", &names), page("r", &names)], "no list before"),
            ([page("r", &names), page("s", &["old".to_owned(), "x".to_owned()])], "before"),
            ([page("r", &names[..1]), page("s", &names[..1])], "each ranker"),
        ] {
            let error = check_lists("lists", &pages).unwrap_err().to_string();
            assert!(error.starts_with("lists: ") && error.contains(expected), "{error}");
        }
    }

    #[test]
    fn damaged_lists_are_errors_with_a_line() {
        let good = r#"{"request": "r", "query": "q", "method": "team-draft", "rankers": ["x", "y"], "documents": ["a", "b"], "teams": [0, 1], "ranks": [[1, 2], [3, 1]], "lengths": [2, 2]}"#;
        assert_eq!(read(good).unwrap()[0].list.credits(&[0, 1, 1, 7]), [1.0, 1.0]);
        for (from, to) in [
            ("\"teams\": [0, 1]", "\"teams\": [0, 2]"),
            ("\"teams\": [0, 1]", "\"teams\": [0]"),
            ("\"teams\": [0, 1], ", ""),
            ("[[1, 2], [3, 1]]", "[[1, 2]]"),
            ("[[1, 2], [3, 1]]", "[[1, 2], [3]]"),
            ("[[1, 2], [3, 1]]", "[[1, 2], [4, 1]]"),
            ("[[1, 2], [3, 1]]", "[[1, 2], [0, 1]]"),
            ("[[1, 2], [3, 1]]", "[[1, 2], [1, 1]]"),
            ("\"lengths\": [2, 2]", "\"lengths\": [2]"),
            ("\"lengths\": [2, 2]", "\"lengths\": [-2, 2]"),
            ("team-draft", "team"),
            ("[\"x\", \"y\"]", "[\"x\"]"),
            ("\"request\": \"r\"", "\"request\": 1"),
            ("{", "["),
        ] {
            let bad = good.replacen(from, to, 1).replace("\"r\"", "\"s\"");
            let error = read(&format!("{good}\n\n{bad}\n")).unwrap_err().to_string();
            assert!(error.starts_with("lists:3: "), "{bad}: {error}");
        }
        let other = good.replace("\"y\"]", "\"z\"]").replace("\"r\"", "\"s\"");
        assert!(read(&format!("{good}\n{other}")).is_err());
        assert!(
            read(&format!("{good}\n{good}")).unwrap_err().to_string().contains("no line before")
        );
    }
}
