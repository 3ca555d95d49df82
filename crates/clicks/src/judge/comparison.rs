//! A comparison of two documents by a judge, and files of comparisons.
//!
//! A file has JSON lines, as `judge read` writes them, or a line of words for each comparison,
//! whose last word, the judge, may be absent:
//!
//! ```text
//! {"query": "q1", "a": "d3", "b": "d7", "preferred": "b", "judge": "anna"}
//! q1 d3 < d7 anna
//! ```
//!
//! `a` is the document that the judge saw first. `preferred` is `a`, `b` or `tie`.

use std::io::{self, Write};

use rankwright_data::bytes::Input;
use rankwright_data::{DataError, SourceLocation, quote};
use rankwright_spec::{ParamValue, RangeDef, choices, visible};
use serde::{Deserialize, Serialize, Serializer};

/// A comparison of two documents for a query, in the order in which the judge saw them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PairComparison {
    /// The judge; empty if there is only one.
    pub judge: String,
    /// The query.
    pub query: String,
    /// The document that was shown first.
    pub first: String,
    /// The document that was shown second.
    pub second: String,
    /// The judgement.
    pub preferred: Preferred,
}

choices! {
    /// The preferred document of a comparison.
    pub enum Preferred {
        /// The document that was shown first.
        First = "a",
        /// The document that was shown second.
        Second = "b",
        /// Both are equally good.
        Neither = "tie",
    }
}

impl Preferred {
    /// The judgement with the two documents exchanged.
    pub fn exchanged(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
            Self::Neither => Self::Neither,
        }
    }
}

impl PairComparison {
    /// A comparison by one judge.
    pub fn new(
        query: impl Into<String>,
        first: impl Into<String>,
        second: impl Into<String>,
        preferred: Preferred,
    ) -> Self {
        let (query, first, second) = (query.into(), first.into(), second.into());
        Self { judge: String::new(), query, first, second, preferred }
    }

    /// Names the judge.
    #[must_use]
    pub fn by(mut self, judge: impl Into<String>) -> Self {
        self.judge = judge.into();
        self
    }

    /// The two documents in alphabetical order, and the share of the win that the first of them
    /// has: 1, 0.5 or 0.
    pub(super) fn sorted(&self) -> (&str, &str, f64) {
        let share = match self.preferred {
            Preferred::First => 1.0,
            Preferred::Second => 0.0,
            Preferred::Neither => 0.5,
        };
        match self.first <= self.second {
            true => (&self.first, &self.second, share),
            false => (&self.second, &self.first, 1.0 - share),
        }
    }
}

/// A line of JSON.
#[derive(Debug, Serialize, Deserialize)]
struct ComparisonLine {
    query: String,
    a: String,
    b: String,
    preferred: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    judge: String,
}

/// The line of JSON of a file.
impl Serialize for PairComparison {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PairComparison { judge, query, first, second, preferred } = self;
        let line = ComparisonLine {
            query: query.clone(),
            a: first.clone(),
            b: second.clone(),
            preferred: preferred.name().to_owned(),
            judge: judge.clone(),
        };
        line.serialize(serializer)
    }
}

/// Writes comparisons as JSON lines.
pub fn write_comparisons(out: &mut dyn Write, comparisons: &[PairComparison]) -> io::Result<()> {
    for comparison in comparisons {
        writeln!(out, "{}", visible::json(&serde_json::to_string(comparison)?))?;
    }
    Ok(())
}

/// Reads comparisons from JSON lines or lines of words.
///
/// ```
/// use rankwright_clicks::judge::{Preferred, read_comparisons};
/// use rankwright_data::bytes::Input;
///
/// let found = read_comparisons(&Input::raw("judgements", b"q1 d3 < d7\n".to_vec()))?;
/// assert_eq!((found[0].first.as_str(), found[0].preferred), ("d3", Preferred::Second));
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
pub fn read_comparisons(input: &Input) -> Result<Vec<PairComparison>, DataError> {
    let mut comparisons = Vec::new();
    for (number, line) in (1..).zip(input.bytes.split(|byte| *byte == b'\n')) {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let comparison = match line.first() {
            Some(b'{') => from_json(line),
            _ => from_words(line),
        };
        comparisons.push(comparison.map_err(|expected| {
            let location = SourceLocation::line(&input.name, number);
            DataError::malformed(location, quote(line), expected)
        })?);
    }
    Ok(comparisons)
}

fn from_json(line: &[u8]) -> Result<PairComparison, String> {
    let line: ComparisonLine = serde_json::from_slice(line).map_err(|error| {
        format!("a comparison with the keys query, a, b and preferred ({error})")
    })?;
    let preferred = Preferred::read(&line.preferred, &RangeDef::default())
        .map_err(|_| "a, b or tie as the value of preferred".to_owned())?;
    distinct(PairComparison::new(line.query, line.a, line.b, preferred).by(line.judge))
}

fn from_words(line: &[u8]) -> Result<PairComparison, String> {
    let expected = || "a comparison as JSON, or 'query A > B', 'query A < B' or 'query A = B'";
    let text = std::str::from_utf8(line).map_err(|_| "UTF-8 text".to_owned())?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let (query, first, relation, second, judge) = match words[..] {
        [query, first, relation, second] => (query, first, relation, second, ""),
        [query, first, relation, second, judge] => (query, first, relation, second, judge),
        _ => return Err(expected().to_owned()),
    };
    let preferred = match relation {
        ">" => Preferred::First,
        "<" => Preferred::Second,
        "=" => Preferred::Neither,
        _ => return Err(expected().to_owned()),
    };
    distinct(PairComparison::new(query, first, second, preferred).by(judge))
}

fn distinct(comparison: PairComparison) -> Result<PairComparison, String> {
    match comparison.first == comparison.second {
        true => Err("two different documents".to_owned()),
        false => Ok(comparison),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<PairComparison>, DataError> {
        read_comparisons(&Input::raw("j", text.as_bytes().to_vec()))
    }

    #[test]
    fn comparisons_are_read_as_they_were_written() {
        let all = [
            PairComparison::new("q 1", "a", "b\n", Preferred::Second).by("anna"),
            PairComparison::new("q2", "c", "d", Preferred::Neither),
            PairComparison::new("q2", "d", "c", Preferred::First).by("x"),
        ];
        let mut text = Vec::new();
        write_comparisons(&mut text, &all).unwrap();
        assert_eq!(read(std::str::from_utf8(&text).unwrap()).unwrap(), all);
    }

    #[test]
    fn lines_of_words_have_a_relation_and_perhaps_a_judge() {
        let found = read("# query A B\nq a > b\nq a = b anna\n\nq\ta\t<\tb\n").unwrap();
        let preferred: Vec<Preferred> = found.iter().map(|c| c.preferred).collect();
        assert_eq!(preferred, [Preferred::First, Preferred::Neither, Preferred::Second]);
        assert_eq!((found[1].judge.as_str(), found[2].judge.as_str()), ("anna", ""));
    }

    #[test]
    fn lines_that_cannot_be_read_are_errors_with_a_place() {
        for bad in [
            "q a b",
            "q a >= b",
            "q a > a",
            "q a > b anna x",
            r#"{"query": "q", "a": "x", "b": "y"}"#,
            r#"{"query": "q", "a": "x", "b": "y", "preferred": "x"}"#,
            r#"{"query": "q", "a": "x", "b": "x", "preferred": "a"}"#,
            "{",
        ] {
            let error = read(&format!("q a > b\n{bad}\n")).unwrap_err().to_string();
            assert!(error.starts_with("j:2: "), "{bad}: {error}");
        }
    }
}
