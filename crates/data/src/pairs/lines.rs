//! The lines of a file of preference pairs: their words, and the header.
//!
//! Words are separated by tabs or spaces; by commas if the first line has fewer than three words
//! outside of double quotes, or if a space follows every comma. A word between commas may be in
//! double quotes, and may then have commas itself. The first line, which is the first that is
//! neither empty nor a comment, is a header if it names the columns `qid better worse`, or if its
//! first word is no query of the data set and the line has other usual names
//! (`query winner loser`). A header whose second and third columns do not say which document is
//! better is an error, as the order of the documents could be the other one; only before a
//! probability, which is that of the first document, they may be `a b` (or `doc_a doc_b`).

use super::PairColumn;
use crate::bytes::Input;
use crate::error::{DataError, SourceLocation, quote};
use crate::format::{Role, is_query_name};

/// Names of the column with the better document.
const BETTER: &[&str] = &["better", "winner", "preferred", "chosen", "positive"];

/// Names of the column with the worse document, in the order of [`BETTER`].
const WORSE: &[&str] = &["worse", "loser", "other", "rejected", "negative"];

/// Names of the column with the first document of a probability, and of that with the second.
const FIRST: &[&str] = &["a", "doc_a"];
const SECOND: &[&str] = &["b", "doc_b"];

/// The words of a line.
#[derive(Debug)]
pub(super) struct PairLine<'a> {
    pub(super) query: &'a str,
    pub(super) first: &'a str,
    /// `>`, `<` or `=`, if the line has it; the last column is then a weight.
    pub(super) relation: Option<char>,
    pub(super) second: &'a str,
    /// The fourth column (after the relation, if there is one): a weight or a probability.
    pub(super) fourth: Option<&'a str>,
    /// The fifth column: the weight after a probability.
    pub(super) fifth: Option<&'a str>,
    pub(super) location: SourceLocation,
}

impl<'a> PairLine<'a> {
    /// Gives the words of a line their meanings.
    fn new(line: &str, words: &[&'a str], location: SourceLocation) -> Result<Self, DataError> {
        let mut fifth = None;
        let (query, first, relation, second, fourth) = match words[..] {
            [query, a, ">" | "<" | "=", b] => (query, a, words.get(2), b, None),
            [query, a, ">" | "<" | "=", b, weight] => (query, a, words.get(2), b, Some(weight)),
            [query, a, b] => (query, a, None, b, None),
            [query, a, b, value] => (query, a, None, b, Some(value)),
            [query, a, b, value, weight] => {
                fifth = Some(weight);
                (query, a, None, b, Some(value))
            }
            _ => {
                let expected = "'qid better worse [weight]' or 'qid A > B [weight]'";
                let found = quote(line.trim_end().as_bytes());
                return Err(DataError::malformed(location, found, expected));
            }
        };
        let relation = relation.and_then(|word| word.chars().next());
        Ok(PairLine { query, first, relation, second, fourth, fifth, location })
    }
}

/// The lines of a file, and the meaning of its fourth column; `given` is the meaning by the caller,
/// and `is_query` says whether the data set has a query.
pub(super) fn read_lines(
    input: &Input,
    given: Option<PairColumn>,
    is_query: impl Fn(&str) -> bool,
) -> Result<(Vec<PairLine<'_>>, PairColumn), DataError> {
    // `header` is the meaning by the header: `Some(None)` if the header has only three columns.
    let (mut lines, mut header, mut has_commas) = (Vec::new(), None, None);
    for (number, line) in (1..).zip(input.bytes.split(|&b| b == b'\n')) {
        let location = SourceLocation::line(&input.name, number);
        let text = std::str::from_utf8(line)
            .map_err(|_| DataError::malformed(location.clone(), quote(line), "UTF-8 text"))?;
        if text.trim().is_empty() || text.starts_with('#') {
            continue;
        }
        let has_commas = *has_commas.get_or_insert_with(|| is_comma_separated(text));
        let words = words(text, has_commas);
        match lines.is_empty() && header.is_none() {
            true if is_header(&words, &is_query) => {
                header = Some(header_column(text, &words, given, location)?);
            }
            _ => lines.push(PairLine::new(text, &words, location)?),
        }
    }
    match given.or(header.flatten()) {
        Some(column) => Ok((lines, column)),
        None => check_weights(&lines).map(|()| (lines, PairColumn::Weight)),
    }
}

/// Whether the words of a line are separated by commas.
fn is_comma_separated(line: &str) -> bool {
    let parts = split_at_commas(line);
    let has_few_words = || {
        let unquoted = parts.iter().filter(|part| without_quotes(part.trim()) == part.trim());
        let unquoted: Vec<&str> = unquoted.copied().collect();
        unquoted.join(",").split_whitespace().count() < 3
    };
    let is_spaced = || parts.iter().skip(1).all(|part| part.starts_with(' '));
    parts.len() >= 3 && (has_few_words() || is_spaced())
}

/// Splits a line at every comma outside of double quotes. A quote opens only at the beginning of a
/// word (`5" disk` has none), and two of them side by side do not end the quoted text.
fn split_at_commas(line: &str) -> Vec<&str> {
    let (mut is_quoted, mut may_open) = (false, true);
    let is_separator = |c: char| {
        let is_quote = c == '"' && (is_quoted || may_open);
        is_quoted ^= is_quote;
        let is_separator = c == ',' && !is_quoted;
        may_open = is_separator || is_quote || (may_open && c.is_whitespace());
        is_separator
    };
    line.split(is_separator).collect()
}

fn words(line: &str, has_commas: bool) -> Vec<&str> {
    match has_commas {
        false => line.split_whitespace().collect(),
        true => split_at_commas(line).into_iter().map(|word| without_quotes(word.trim())).collect(),
    }
}

/// A word without the double quotes around it.
fn without_quotes(word: &str) -> &str {
    let inner = word.strip_prefix('"').and_then(|word| word.strip_suffix('"'));
    inner.unwrap_or(word)
}

/// Whether a line names columns instead of documents: it has the names that are documented, or
/// other usual names and no query of the data set.
fn is_header(words: &[&str], is_query: &impl Fn(&str) -> bool) -> bool {
    let [query, first, second, ..] = words else { return false };
    let lower = [query, first, second].map(|word| word.to_ascii_lowercase());
    if lower == ["qid", "better", "worse"] {
        return true;
    }
    let names_documents = [first, second].iter().any(|word| is_document_name(word));
    // `q` is a usual id of a query, too.
    let names_query = query.len() > 1 && is_query_name(query);
    !is_query(query) && (names_query || names_documents)
}

/// Whether a word is the name of a column of documents.
fn is_document_name(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let is_known = BETTER.contains(&word.as_str()) || WORSE.contains(&word.as_str());
    is_known || Role::guess(&word) == Some(Role::Docid)
}

/// The meaning of the fourth column by a header, if the header names it; an error if the caller has
/// given another meaning, or if the header does not say which document is better.
fn header_column(
    line: &str,
    words: &[&str],
    given: Option<PairColumn>,
    location: SourceLocation,
) -> Result<Option<PairColumn>, DataError> {
    let is_named = |at: usize, names: &[&str]| {
        words.get(at).is_some_and(|word| names.iter().any(|name| word.eq_ignore_ascii_case(name)))
    };
    let says_better = is_named(1, BETTER) && is_named(2, WORSE);
    let has_probability =
        words.get(3).and_then(|name| PairColumn::from_name(name)) == Some(PairColumn::Probability);
    let is_neutral = has_probability && is_named(1, FIRST) && is_named(2, SECOND);
    if !says_better && !is_neutral {
        let expected = "a header with the columns qid, better, worse and, if there are more, weight or \
                        probability";
        return Err(DataError::malformed(location, quote(line.trim_end().as_bytes()), expected));
    }
    let name = match words[..] {
        [_, _, _] => return Ok(None),
        [_, _, _, name] => name,
        [_, _, _, name, weight]
            if PairColumn::from_name(name) == Some(PairColumn::Probability)
                && PairColumn::from_name(weight) == Some(PairColumn::Weight) =>
        {
            name
        }
        _ => line,
    };
    let column = PairColumn::from_name(name);
    match column {
        Some(_) if given.is_none() || column == given => Ok(column),
        _ => {
            let expected = given.map_or("'weight' or 'probability'", PairColumn::name);
            Err(DataError::malformed(location, quote(name.as_bytes()), expected))
        }
    }
}

/// Rejects values of the fourth column that could be probabilities as well as weights.
fn check_weights(lines: &[PairLine<'_>]) -> Result<(), DataError> {
    let values = lines.iter().filter(|line| line.relation.is_none());
    let values = values.filter_map(|line| Some((line, line.fourth?.parse::<f32>().ok()?)));
    let mut ambiguous = None;
    for (line, value) in values {
        if !(0.0..=1.0).contains(&value) {
            return Ok(());
        }
        if value != 1.0 {
            ambiguous.get_or_insert((line, value));
        }
    }
    let Some((line, value)) = ambiguous else { return Ok(()) };
    Err(DataError::AmbiguousPair {
        location: Box::new(line.location.clone()),
        first: line.first.to_owned(),
        second: line.second.to_owned(),
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a first line.
    fn of_first_line(line: &str) -> Vec<&str> {
        words(line, is_comma_separated(line))
    }

    #[test]
    fn commas_in_double_quotes_belong_to_the_word() {
        for (line, expected) in [
            ("q,\"a, b\",c", ["q", "a, b", "c"]),
            ("q, \"a,b\", \"c,d\"\r", ["q", "a,b", "c,d"]),
            (
                "\"a query, two\",\"red shoes\",\"blue hat\"",
                ["a query, two", "red shoes", "blue hat"],
            ),
            ("q,5\" disk,c", ["q", "5\" disk", "c"]),
            ("q,\"a \"\"b\"\", c\",d", ["q", "a \"\"b\"\", c", "d"]),
            ("q\ta,1,2\tb", ["q", "a,1,2", "b"]),
        ] {
            assert_eq!(of_first_line(line), expected, "{line}");
        }
    }
}
