//! Preference pairs: two documents of one query, and which of them is better.
//!
//! Read from lines `qid better worse [weight]` and from `qid A > B [weight]`, `qid A < B`,
//! `qid A = B`, separated by tabs or spaces. A document is named by its document id or, where
//! the data has no such id, by its row number in the input, numbered from 0. Equal pairs (`=`)
//! and pairs that contradict each other are kept, with their weights.

use std::collections::HashMap;

use crate::bytes::Input;
use crate::dataset::Dataset;
use crate::error::{DataError, PairProblem, SourceLocation, quote};
use crate::warnings::{WarningKind, Warnings};

/// One preference between two rows of a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Query number.
    pub query: u32,
    /// Row of the better document (either one of an equal pair).
    pub better: u32,
    /// Row of the worse document.
    pub worse: u32,
    /// Weight, above 0 and finite.
    pub weight: f32,
    /// Whether the two are judged equal.
    pub equal: bool,
}

/// A preference between two rows of one query, by their numbers in the order in which the rows were
/// given, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preference {
    /// Row of the better document (either one of an equal pair).
    pub better: usize,
    /// Row of the worse document.
    pub worse: usize,
    /// Weight, above 0 and finite.
    pub weight: f32,
    /// Whether the two are judged equal.
    pub equal: bool,
}

impl Preference {
    /// One row is better than another, with weight 1.
    pub fn new(better: usize, worse: usize) -> Self {
        Preference { better, worse, weight: 1.0, equal: false }
    }

    /// Two rows are equally good, with weight 1.
    pub fn equal(one: usize, other: usize) -> Self {
        Preference { equal: true, ..Preference::new(one, other) }
    }

    /// The same preference with another weight.
    #[must_use]
    pub fn weight(self, weight: f32) -> Self {
        Preference { weight, ..self }
    }
}

impl From<(usize, usize)> for Preference {
    fn from((better, worse): (usize, usize)) -> Self {
        Preference::new(better, worse)
    }
}

impl From<(usize, usize, f32)> for Preference {
    fn from((better, worse, weight): (usize, usize, f32)) -> Self {
        Preference::new(better, worse).weight(weight)
    }
}

impl Dataset {
    /// Reads preference pairs for this data set; every document they name must be in it.
    pub fn with_pairs(mut self, input: &Input) -> Result<(Dataset, Warnings), DataError> {
        let mut warnings = Warnings::default();
        let resolver = PairResolver::new(&self);
        let mut pairs = Vec::new();
        for (index, line) in input.bytes.split(|&b| b == b'\n').enumerate() {
            let location = SourceLocation::line(&input.name, index as u64 + 1);
            let text = std::str::from_utf8(line)
                .map_err(|_| DataError::malformed(location.clone(), quote(line), "UTF-8 text"))?;
            if !text.trim().is_empty() && !text.starts_with('#') {
                pairs.push(resolver.pair(text, location)?);
            }
        }
        if pairs.is_empty() {
            return Err(DataError::Empty { file: input.name.clone(), what: "preference pairs" });
        }
        warn_of_contradictions(&pairs, &input.name, &mut warnings);
        self.pairs = Some(pairs);
        Ok((self, warnings))
    }

    /// The same data set with these preferences between its rows.
    pub fn with_preferences<P: Into<Preference>>(
        mut self,
        preferences: impl IntoIterator<Item = P>,
    ) -> Result<Dataset, DataError> {
        let (rows, queries) = (self.rows_by_source(), self.query_of_rows());
        let pair = |(number, preference): (usize, P)| {
            resolve(preference.into(), &rows, &queries)
                .map_err(|problem| DataError::InvalidPair { number, problem })
        };
        let pairs = preferences.into_iter().enumerate().map(pair);
        self.pairs = Some(pairs.collect::<Result<_, _>>()?);
        Ok(self)
    }
}

/// The pair of rows of a preference.
fn resolve(
    Preference { better, worse, weight, equal }: Preference,
    rows: &[u32],
    queries: &[u32],
) -> Result<Pair, PairProblem> {
    let find = |source: usize| {
        let row = rows.get(source).copied();
        let query = row.and_then(|row| queries.get(row as usize).copied());
        row.zip(query).ok_or(PairProblem::NoSuchRow(source))
    };
    let ((first, query), (second, other)) = (find(better)?, find(worse)?);
    match () {
        () if better == worse => Err(PairProblem::WithItself(better)),
        () if query != other => Err(PairProblem::TwoQueries(better, worse)),
        () if !(weight > 0.0 && weight.is_finite()) => Err(PairProblem::Weight(weight)),
        () => Ok(Pair { query, better: first, worse: second, weight, equal }),
    }
}

fn warn_of_contradictions(pairs: &[Pair], name: &str, warnings: &mut Warnings) {
    let directed: std::collections::HashSet<(u32, u32)> =
        pairs.iter().filter(|p| !p.equal).map(|p| (p.better, p.worse)).collect();
    let opposed = directed.iter().filter(|&&(a, b)| a < b && directed.contains(&(b, a))).count();
    warnings.add(WarningKind::ContradictoryPairs, opposed as u64, || SourceLocation::file(name));
}

/// Finds the rows of document names.
struct PairResolver<'a> {
    data: &'a Dataset,
    queries: HashMap<&'a str, u32>,
    by_docid: HashMap<(u32, &'a str), u32>,
    by_source: Vec<u32>,
}

impl<'a> PairResolver<'a> {
    fn new(data: &'a Dataset) -> Self {
        let queries = data.query_ids().iter().enumerate().map(|(q, id)| (id, q as u32)).collect();
        let mut by_docid = HashMap::new();
        if let Some(doc_ids) = data.doc_ids() {
            for (number, query) in data.iter_queries().enumerate() {
                for row in query.rows {
                    by_docid.entry((number as u32, doc_ids.get(row))).or_insert(row as u32);
                }
            }
        }
        PairResolver { data, queries, by_docid, by_source: data.rows_by_source() }
    }

    fn pair(&self, line: &str, location: SourceLocation) -> Result<Pair, DataError> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (qid, a, relation, b, weight) = match words[..] {
            [qid, a, op @ (">" | "<" | "="), b] => (qid, a, op, b, None),
            [qid, a, op @ (">" | "<" | "="), b, weight] => (qid, a, op, b, Some(weight)),
            [qid, better, worse] => (qid, better, ">", worse, None),
            [qid, better, worse, weight] => (qid, better, ">", worse, Some(weight)),
            _ => {
                let expected = "'qid better worse [weight]' or 'qid A > B [weight]'";
                let found = quote(line.trim_end().as_bytes());
                return Err(DataError::malformed(location, found, expected));
            }
        };
        let query = *self.queries.get(qid).ok_or_else(|| {
            DataError::malformed(location.clone(), quote(qid.as_bytes()), "a query of the data set")
        })?;
        let (a, b) = (self.row(query, a, &location)?, self.row(query, b, &location)?);
        if a == b {
            let expected = "two different documents";
            return Err(DataError::malformed(location, "a document paired with itself", expected));
        }
        let weight = match weight {
            Some(text) => parse_weight(text, &location)?,
            None => 1.0,
        };
        let (better, worse) = if relation == "<" { (b, a) } else { (a, b) };
        Ok(Pair { query, better, worse, weight, equal: relation == "=" })
    }

    fn row(&self, query: u32, name: &str, location: &SourceLocation) -> Result<u32, DataError> {
        if let Some(&row) = self.by_docid.get(&(query, name)) {
            return Ok(row);
        }
        let rows = self.data.query_rows(query as usize);
        name.parse()
            .ok()
            .and_then(|source: usize| self.by_source.get(source).copied())
            .filter(|&row| rows.contains(&(row as usize)))
            .ok_or_else(|| {
                let id = self.data.query_ids().get(query as usize);
                let expected = format!("a document id or row number (from 0) of query '{id}'");
                DataError::malformed(location.clone(), quote(name.as_bytes()), expected)
            })
    }
}

fn parse_weight(text: &str, location: &SourceLocation) -> Result<f32, DataError> {
    match text.parse::<f32>() {
        Ok(weight) if weight > 0.0 && weight.is_finite() => Ok(weight),
        _ => {
            Err(DataError::malformed(location.clone(), quote(text.as_bytes()), "a weight above 0"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Format, ReadOptions, read_inputs};

    /// The rows of a query are not adjacent, so that source rows and rows differ.
    const DATA: &str = "1 qid:q 1:1 # a\n0 qid:r 1:2 # x\n0 qid:q 1:3 # b\n2 qid:r 1:4\n";

    fn with_pairs(pairs: &str) -> Result<(Dataset, Warnings), DataError> {
        let options = ReadOptions { format: Some(Format::Letor), ..ReadOptions::default() };
        let data = Input::from_bytes("d", DATA.as_bytes().to_vec()).unwrap();
        let data = read_inputs(vec![data], &options).unwrap().data;
        data.with_pairs(&Input::from_bytes("p", pairs.as_bytes().to_vec()).unwrap())
    }

    #[test]
    fn every_way_of_writing_a_pair_is_read() {
        let (data, warnings) =
            with_pairs("# judged\nq a b\nq\tb\ta\t0.5\nr x < 3 2\n\nq 0 = 2\n").unwrap();
        let pair =
            |query, better, worse, weight, equal| Pair { query, better, worse, weight, equal };
        let expected = [
            pair(0, 0, 1, 1.0, false),
            pair(0, 1, 0, 0.5, false),
            pair(1, 3, 2, 2.0, false),
            pair(0, 0, 1, 1.0, true),
        ];
        assert_eq!(data.pairs(), Some(&expected[..]));
        assert_eq!(warnings.count(WarningKind::ContradictoryPairs), 1);
    }

    #[test]
    fn pairs_follow_their_queries_into_a_part() {
        let (data, _) = with_pairs("q a b\nr 3 x 2\n").unwrap();
        let part = data.select_queries(&[1]).unwrap();
        let kept = Pair { query: 0, better: 1, worse: 0, weight: 2.0, equal: false };
        assert_eq!(part.pairs(), Some(&[kept][..]));
    }

    #[test]
    fn invalid_pairs_are_refused() {
        for (text, message) in [
            (
                "q a a\n",
                "p:1: found a document paired with itself, expected two different documents",
            ),
            (
                "q a x\n",
                "p:1: found 'x', expected a document id or row number (from 0) of query 'q'",
            ),
            (
                "q 0 1\n",
                "p:1: found '1', expected a document id or row number (from 0) of query 'q'",
            ),
            ("z a b\n", "p:1: found 'z', expected a query of the data set"),
            ("q a b 0\n", "p:1: found '0', expected a weight above 0"),
            (
                "q a\n",
                "p:1: found 'q a', expected 'qid better worse [weight]' or 'qid A > B [weight]'",
            ),
            ("\n", "p holds no preference pairs"),
        ] {
            assert_eq!(with_pairs(text).unwrap_err().to_string(), message);
        }
    }
}
