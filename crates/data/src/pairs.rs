//! Preference pairs: two documents of one query, and which of them is better.
//!
//! They are read from lines `qid better worse [weight]` or `qid A > B [weight]`, `qid A < B`,
//! `qid A = B`, separated by tabs, spaces or commas (`lines.rs`). A document is named by its
//! document id or, if the data has no such id, by its row number in the input, from 0. Equal pairs
//! (`=`) and pairs that contradict each other are kept, with their weights.
//!
//! The fourth column is a weight in some files and the probability that the first document is
//! better in others: `q A B 0.5` may mean that A is better with weight 0.5, or that both are equal.
//! A header line (`qid better worse weight`, `qid better worse probability` or
//! `qid a b probability`) or a [`PairColumn`] says which it is. If neither is given, it is an error
//! if all values are from 0 to 1 and not all are 1. After a probability, a fifth column may be a
//! weight.
//!
//! A probability P strictly between 0 and 1 is a soft target, the P of RankNet's cross-entropy `-P
//! log p - (1 - P) log(1 - p)` (Burges et al. 2005). That is P times the loss of `A > B` plus 1 - P
//! times the loss of `B > A`. So a soft target becomes these two pairs with weights P and 1 - P,
//! which every pairwise learner can use; at P = 1/2 the loss is lowest for equal scores.

mod lines;

use std::collections::HashMap;

use rankwright_spec::choices;

use crate::bytes::Input;
use crate::dataset::Dataset;
use crate::error::{DataError, PairProblem, SourceLocation, quote};
use crate::warnings::{WarningKind, Warnings};
use lines::{PairLine, read_lines};

choices! {
    /// The meaning of the fourth column of a file of preference pairs.
    #[non_exhaustive]
    pub enum PairColumn {
        /// The weight of the pair, above 0.
        Weight = "weight",
        /// The probability that the first document is better, from 0 to 1; between them it is a
        /// soft target, such as 0.7, or 0.5 for equal documents.
        Probability = "probability",
    }
}

impl PairColumn {
    /// The meaning of a column of this name.
    fn from_name(name: &str) -> Option<PairColumn> {
        PairColumn::ALL
            .iter()
            .map(|(_, column)| *column)
            .find(|column| name.eq_ignore_ascii_case(column.name()))
    }
}

/// One preference between two rows of a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Query number.
    pub query: u32,
    /// Row of the better document; either document of an equal pair.
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
    /// Row of the better document; either document of an equal pair.
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

    /// The preferences if the first row is better than the second with this probability, from 0 to
    /// 1: one preference for probability 0 or 1, otherwise one in each direction, weighted by its
    /// probability.
    ///
    /// ```
    /// use rankwright_data::Preference;
    ///
    /// let both = [Preference::new(0, 1).weight(0.75), Preference::new(1, 0).weight(0.25)];
    /// assert_eq!(Preference::with_probability(0, 1, 0.75), both);
    /// assert_eq!(Preference::with_probability(0, 1, 0.0), [Preference::new(1, 0)]);
    /// ```
    pub fn with_probability(first: usize, second: usize, probability: f32) -> Vec<Self> {
        let both = [(first, second, probability), (second, first, 1.0 - probability)];
        both.into_iter().filter(|(.., weight)| *weight != 0.0).map(Preference::from).collect()
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

/// The preference pairs of a data set, grouped by query.
#[derive(Debug, Clone, PartialEq)]
pub struct PairsByQuery {
    /// For each query its pairs, in the order in which they were given.
    queries: Vec<Vec<Pair>>,
}

impl PairsByQuery {
    /// The pairs of a query; none for a query that does not exist.
    pub fn of_query(&self, query: usize) -> &[Pair] {
        self.queries.get(query).map_or(&[], Vec::as_slice)
    }
}

impl Dataset {
    /// The preference pairs by query; `None` if the data has none. Cost: O(queries + pairs).
    pub fn pairs_by_query(&self) -> Option<PairsByQuery> {
        let mut queries = vec![Vec::new(); self.queries()];
        for pair in self.pairs.as_ref()? {
            let pairs = queries.get_mut(pair.query as usize);
            debug_assert!(pairs.is_some(), "pairs of a data set name its own queries");
            pairs.into_iter().for_each(|pairs| pairs.push(*pair));
        }
        Some(PairsByQuery { queries })
    }

    /// Reads preference pairs for this data set, which must have every document that they name. If
    /// there is no header, a fourth column must not be ambiguous, see [`Dataset::with_pairs_as`].
    pub fn with_pairs(self, input: &Input) -> Result<(Dataset, Warnings), DataError> {
        self.with_pairs_as(input, None)
    }

    /// Reads preference pairs for this data set, with the meaning of their fourth column.
    ///
    /// ```
    /// use rankwright_data::{Dataset, PairColumn, bytes::Input};
    ///
    /// let data = || Dataset::from_dense(vec![1.0, 2.0], 1, vec![0.0, 0.0], ["q", "q"]);
    /// let pairs = Input::from_bytes("pairs.tsv", b"q\t0\t1\t0.5\n".to_vec())?;
    /// assert!(data()?.with_pairs(&pairs).is_err(), "a weight, or equally good");
    /// let (weighted, _) = data()?.with_pairs_as(&pairs, Some(PairColumn::Weight))?;
    /// assert_eq!(weighted.pairs().unwrap()[0].weight, 0.5);
    /// // As a probability: half a preference in each direction.
    /// let (equal, _) = data()?.with_pairs_as(&pairs, Some(PairColumn::Probability))?;
    /// assert_eq!(equal.pairs().unwrap().len(), 2);
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn with_pairs_as(
        mut self,
        input: &Input,
        column: Option<PairColumn>,
    ) -> Result<(Dataset, Warnings), DataError> {
        let mut warnings = Warnings::default();
        let resolver = PairResolver::new(&self);
        let is_query = |id: &str| resolver.queries.contains_key(id);
        let (lines, column) = read_lines(input, column, is_query)?;
        let pairs = lines.into_iter().map(|line| resolver.pair(line, column));
        let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
        if pairs.is_empty() {
            return Err(DataError::Empty { file: input.name.clone(), what: "preference pairs" });
        }
        warn_of_contradictions(&pairs, &input.name, &mut warnings);
        self.pairs = Some(pairs.into_iter().flat_map(directed_pairs).collect());
        Ok((self, warnings))
    }

    /// The same data set with these preferences between its rows.
    pub fn with_preferences<P: Into<Preference>>(
        mut self,
        preferences: impl IntoIterator<Item = P>,
    ) -> Result<Dataset, DataError> {
        let (row_of_source, query_of_row) = (self.rows_by_source(), self.query_of_rows());
        let pair = |(number, preference): (usize, P)| {
            resolve(preference.into(), &row_of_source, &query_of_row)
                .map_err(|problem| DataError::InvalidPair { number, problem })
        };
        let pairs = preferences.into_iter().enumerate().map(pair);
        self.pairs = Some(pairs.collect::<Result<_, _>>()?);
        Ok(self)
    }
}

/// Turns a preference between input rows into a pair of rows of the data set.
fn resolve(
    Preference { better, worse, weight, equal }: Preference,
    row_of_source: &[u32],
    query_of_row: &[u32],
) -> Result<Pair, PairProblem> {
    let row_and_query = |source: usize| {
        let row = row_of_source.get(source).copied();
        let query = row.and_then(|row| query_of_row.get(row as usize).copied());
        row.zip(query).ok_or(PairProblem::NoSuchRow(source))
    };
    let (better_row, query) = row_and_query(better)?;
    let (worse_row, worse_query) = row_and_query(worse)?;
    match () {
        () if better == worse => Err(PairProblem::WithItself(better)),
        () if query != worse_query => Err(PairProblem::TwoQueries(better, worse)),
        () if !(weight > 0.0 && weight.is_finite()) => Err(PairProblem::Weight(weight)),
        () => Ok(Pair { query, better: better_row, worse: worse_row, weight, equal }),
    }
}

/// Warns if there are two documents of which each is better than the other by some pair, and counts
/// them. `pairs` have the probability that their first document is better; the two directions of
/// one probability are no contradiction.
fn warn_of_contradictions(pairs: &[(Pair, f32)], name: &str, warnings: &mut Warnings) {
    // The document that is more probably better, and the other one.
    let likelier = |(pair, probability): &(Pair, f32)| match *probability {
        _ if pair.equal => None,
        0.5 => None,
        probability if probability > 0.5 => Some((pair.better, pair.worse)),
        _ => Some((pair.worse, pair.better)),
    };
    let directed: std::collections::HashSet<(u32, u32)> =
        pairs.iter().filter_map(likelier).collect();
    let is_contradicted = |&&(a, b): &&(u32, u32)| a < b && directed.contains(&(b, a));
    let count = directed.iter().filter(is_contradicted).count() as u64;
    warnings.add(WarningKind::ContradictoryPairs, count, || SourceLocation::file(name));
}

/// One pair in each direction, weighted by the probability that the first document is better; only
/// one if the probability is 0 or 1.
fn directed_pairs((pair, probability): (Pair, f32)) -> impl Iterator<Item = Pair> {
    let Pair { better, worse, weight, .. } = pair;
    let first = Pair { weight: weight * probability, ..pair };
    let second =
        Pair { better: worse, worse: better, weight: weight * (1.0 - probability), ..pair };
    [first, second].into_iter().filter(|pair| pair.weight > 0.0)
}

/// Finds the rows of documents that are named by document id or by input row.
struct PairResolver<'a> {
    data: &'a Dataset,
    /// The number of each query id.
    queries: HashMap<&'a str, u32>,
    /// The row of each query number and document id.
    row_of_docid: HashMap<(u32, &'a str), u32>,
    /// The row of each input row.
    row_of_source: Vec<u32>,
}

impl<'a> PairResolver<'a> {
    fn new(data: &'a Dataset) -> Self {
        let queries = data.query_ids().iter().enumerate().map(|(q, id)| (id, q as u32)).collect();
        let mut row_of_docid = HashMap::new();
        if let Some(doc_ids) = data.doc_ids() {
            for (number, query) in data.iter_queries().enumerate() {
                for row in query.rows {
                    row_of_docid.entry((number as u32, doc_ids.get(row))).or_insert(row as u32);
                }
            }
        }
        PairResolver { data, queries, row_of_docid, row_of_source: data.rows_by_source() }
    }

    /// The pair of a line, and the probability that its first document is better.
    fn pair(&self, line: PairLine<'_>, column: PairColumn) -> Result<(Pair, f32), DataError> {
        let PairLine { query, first, relation, second, fourth, fifth, location } = line;
        let query = *self.queries.get(query).ok_or_else(|| {
            let found = quote(query.as_bytes());
            DataError::malformed(location.clone(), found, "a query of the data set")
        })?;
        let (a, b) = (self.row(query, first, &location)?, self.row(query, second, &location)?);
        if a == b {
            let expected = "two different documents";
            return Err(DataError::malformed(location, "a document paired with itself", expected));
        }
        let is_probability = relation.is_none() && column == PairColumn::Probability;
        let (probability, weight_text) = match fourth {
            Some(text) if is_probability => (probability(text, &location)?, fifth),
            _ if fifth.is_some() => {
                let expected = "four columns; a fifth one is a weight after a probability";
                return Err(DataError::malformed(location, "five columns", expected));
            }
            weight_text => (1.0, weight_text),
        };
        let weight = weight_text.map_or(Ok(1.0), |text| weight(text, &location))?;
        let relation = relation.unwrap_or('>');
        let (better, worse) = if relation == '<' { (b, a) } else { (a, b) };
        Ok((Pair { query, better, worse, weight, equal: relation == '=' }, probability))
    }

    /// The row of a query's document, by its document id or input row.
    fn row(&self, query: u32, name: &str, location: &SourceLocation) -> Result<u32, DataError> {
        if let Some(&row) = self.row_of_docid.get(&(query, name)) {
            return Ok(row);
        }
        let rows = self.data.query_rows(query as usize);
        name.parse()
            .ok()
            .and_then(|source: usize| self.row_of_source.get(source).copied())
            .filter(|&row| rows.contains(&(row as usize)))
            .ok_or_else(|| {
                let id = self.data.query_ids().get(query as usize);
                let expected = format!("a document id or row number (from 0) of query '{id}'");
                DataError::malformed(location.clone(), quote(name.as_bytes()), expected)
            })
    }
}

fn weight(text: &str, location: &SourceLocation) -> Result<f32, DataError> {
    match text.parse::<f32>() {
        Ok(weight) if weight > 0.0 && weight.is_finite() => Ok(weight),
        _ => {
            Err(DataError::malformed(location.clone(), quote(text.as_bytes()), "a weight above 0"))
        }
    }
}

fn probability(text: &str, location: &SourceLocation) -> Result<f32, DataError> {
    match text.parse::<f32>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => {
            let expected = "a probability from 0 to 1";
            Err(DataError::malformed(location.clone(), quote(text.as_bytes()), expected))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Format, ReadOptions, read_inputs};

    /// The rows of a query are not adjacent, so that input rows and rows of the data set differ.
    const DATA: &str = "1 qid:q 1:1 # a\n0 qid:r 1:2 # x\n0 qid:q 1:3 # b\n2 qid:r 1:4\n";

    fn with_pairs(pairs: &str) -> Result<(Dataset, Warnings), DataError> {
        with_pairs_as(pairs, None)
    }

    fn with_pairs_as(
        pairs: &str,
        column: Option<PairColumn>,
    ) -> Result<(Dataset, Warnings), DataError> {
        let options = ReadOptions { format: Some(Format::Letor), ..ReadOptions::default() };
        let data = Input::from_bytes("d", DATA.as_bytes().to_vec()).unwrap();
        let data = read_inputs(vec![data], &options).unwrap().data;
        data.with_pairs_as(&Input::from_bytes("p", pairs.as_bytes().to_vec()).unwrap(), column)
    }

    #[test]
    fn every_form_of_a_line_is_read() {
        let (data, warnings) =
            with_pairs("# judged\nq a b\nq\tb\ta\t1.5\nr x < 3 2\n\nq 0 = 2\n").unwrap();
        let pair =
            |query, better, worse, weight, equal| Pair { query, better, worse, weight, equal };
        let expected = [
            pair(0, 0, 1, 1.0, false),
            pair(0, 1, 0, 1.5, false),
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

    const HEADER: &str = "p:1: found 'qid doc_a doc_b', expected a header with the columns qid, better, \
                          worse and, if there are more, weight or probability";

    #[test]
    fn headers_of_other_words_and_commas_are_read() {
        let pairs = |text: &str| with_pairs(text).unwrap().0.pairs().unwrap().to_vec();
        let expected = pairs("q a b 2\n");
        for text in [
            "query_id winner loser weight\nq a b 2\n",
            "Query,Winner,Loser,Weight\nq,a,b,2\n",
            "\"qid\", \"better\", \"worse\", \"weight\"\r\n\"q\", \"a\", \"b\", 2\r\n",
            "qid chosen rejected weight\nq a b 2\n",
            "q,a,>,b,2\n",
        ] {
            assert_eq!(pairs(text), expected, "{text}");
        }
        // The probability says which document is better, so that documents need no such names.
        let expected = pairs("qid better worse probability\nq a b 0.8\nq b a 0\n");
        for names in ["qid a b", "qid A B", "query doc_a doc_b"] {
            let text = format!("{names} probability\nq a b 0.8\nq b a 0\n");
            assert_eq!(pairs(&text), expected, "{text}");
        }
        for names in ["qid a b", "qid a b weight", "qid b a probability"] {
            assert!(with_pairs(&format!("{names}\nq a b 2\n")).is_err(), "{names}");
        }
        // A query of the data set is no header, whatever its documents are called.
        let error = with_pairs("q winner loser\n").unwrap_err().to_string();
        assert!(error.contains("found 'winner', expected a document id"), "{error}");
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
            ("q a b -1\n", "p:1: found '-1', expected a weight above 0"),
            ("q a b 2\nq b a 0\n", "p:2: found '0', expected a weight above 0"),
            ("q a > b 0\n", "p:1: found '0', expected a weight above 0"),
            ("qid better worse p\n", "p:1: found 'p', expected 'weight' or 'probability'"),
            ("qid doc_a doc_b\nq a b\n", HEADER),
            ("qid loser winner\nq a b\n", &HEADER.replace("doc_a doc_b", "loser winner")),
            (
                "q a\n",
                "p:1: found 'q a', expected 'qid better worse [weight]' or 'qid A > B [weight]'",
            ),
            ("\n", "p holds no preference pairs"),
        ] {
            assert_eq!(with_pairs(text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_value_that_may_be_a_weight_or_a_probability_is_refused_with_both_readings() {
        for text in ["q a b\nq b a 0.5\n", "q a b 1\nq b a 0.5\n", "q a > b 7\nq b a 0.5\n"] {
            let error = with_pairs(text).unwrap_err();
            assert_eq!(
                error.to_string(),
                "p:2: 0.5 may be a weight ('b' is better than 'a', and the pair counts 0.5 times) \
                 or a probability ('b' and 'a' are equally good)"
            );
            assert_eq!(error.remedy(), Some(crate::Remedy::NamePairColumn));
        }
        assert!(with_pairs("q a b 0\n").unwrap_err().to_string().contains("'b' is better than"));
        assert!(with_pairs("q a b 0.7\n").unwrap_err().to_string().contains("probability 0.7"));
        // Not ambiguous: all 1, one above 1, or the relation is written out.
        for text in ["q a b 1\nr 3 x 1\n", "q a b 0.5\nr 3 x 2\n", "q a > b 0.5\n"] {
            assert!(with_pairs(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_header_or_the_caller_says_what_the_fourth_column_is() {
        // The pairs of the lines, which must be the same with a header and with a given column.
        let pairs_of = |text: &str, column: PairColumn| {
            let named = with_pairs(&format!("# c\nqid better worse {}\n{text}", column.name()));
            let given = with_pairs_as(text, Some(column)).unwrap().0;
            assert_eq!(named.unwrap().0.pairs(), given.pairs());
            given.pairs().unwrap().iter().map(|p| (p.better, p.worse, p.weight, p.equal)).collect()
        };
        let lines = "q a b 0.5\nq b a 1\n";
        let weights: Vec<_> = pairs_of(lines, PairColumn::Weight);
        assert_eq!(weights, [(0, 1, 0.5, false), (1, 0, 1.0, false)]);
        let lines = "q a b 0.5\nq a b 1\nq a b 0\nq a > b 3\n";
        let probabilities: Vec<_> = pairs_of(lines, PairColumn::Probability);
        let expected = [
            (0, 1, 0.5, false),
            (1, 0, 0.5, false),
            (0, 1, 1.0, false),
            (1, 0, 1.0, false),
            (0, 1, 3.0, false),
        ];
        assert_eq!(probabilities, expected);
        let contradiction =
            with_pairs_as("qid better worse weight\n", Some(PairColumn::Probability));
        let message = contradiction.unwrap_err().to_string();
        assert_eq!(message, "p:1: found 'weight', expected probability");
        assert!(with_pairs("qid better worse\nq a b 0.5\n").is_err());
    }

    #[test]
    fn a_soft_target_is_a_preference_in_each_direction() {
        let lines = "qid better worse probability weight\nq a b 0.75 2\nq b a 0.25\n";
        let (data, warnings) = with_pairs(lines).unwrap();
        let found: Vec<_> =
            data.pairs().unwrap().iter().map(|p| (p.better, p.worse, p.weight)).collect();
        assert_eq!(found, [(0, 1, 1.5), (1, 0, 0.5), (1, 0, 0.25), (0, 1, 0.75)]);
        // Both lines say that document a is better with probability 0.75: they agree.
        assert_eq!(warnings.count(WarningKind::ContradictoryPairs), 0);
        let opposed = "q a b 0.75\nq b a 0.75\n";
        let (_, warnings) = with_pairs_as(opposed, Some(PairColumn::Probability)).unwrap();
        assert_eq!(warnings.count(WarningKind::ContradictoryPairs), 1);
        for text in ["q a b 1.5\n", "q a b nan\n", "q a b 0.5 0\n", "q a b 0.5 1 1\n"] {
            assert!(with_pairs_as(text, Some(PairColumn::Probability)).is_err(), "{text}");
        }
        assert!(with_pairs_as("q a b 2 1\n", Some(PairColumn::Weight)).is_err());
    }
}
