//! Tables of scores with ids, as [`ScoredRows`](crate::ScoredRows) writes them: the columns
//! `qid,docid,score`, or `qid,row,score` for data without document ids, in CSV, TSV, JSON lines,
//! Parquet or Arrow.
//!
//! Rows are matched with those of the data by their ids, in any order; the row number of data
//! without document ids counts from 0. If a document occurs several times in a query, its scores
//! are taken in their order. Every row of the data must have a score, and the table no others.

use std::collections::{HashMap, VecDeque};

use rankwright_spec::visible;
use serde_json::Value;

use crate::bytes::Input;
use crate::dataset::Dataset;
use crate::error::{DataError, SourceLocation, quote};

/// The names of the column of documents.
const DOCUMENT_COLUMNS: [&str; 2] = ["docid", "row"];

/// The expected beginning of a table, in errors.
const EXPECTED: &str = "the columns `qid,docid,score` or `qid,row,score`";

/// The form of a table of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TableForm {
    /// Separated by this byte.
    Separated(u8),
    JsonLines,
    /// Parquet or Arrow.
    Columnar,
}

/// The form of a table of scores and its column of documents; `None` for other bytes, and for
/// Parquet and Arrow, whose columns are not known before the file is opened.
fn header(bytes: &[u8]) -> Option<(TableForm, &'static str)> {
    let line = bytes.split(|byte| *byte == b'\n').next()?.trim_ascii();
    if line.starts_with(b"{") {
        let object: serde_json::Map<String, Value> = serde_json::from_slice(line).ok()?;
        let column = DOCUMENT_COLUMNS.into_iter().find(|column| object.contains_key(*column))?;
        let is_table =
            object.len() == 3 && ["qid", "score"].iter().all(|key| object.contains_key(*key));
        return is_table.then_some((TableForm::JsonLines, column));
    }
    let forms = [b',', b'\t'].into_iter().flat_map(|byte| DOCUMENT_COLUMNS.map(|c| (byte, c)));
    let mut forms = forms.filter(|(delimiter, column)| {
        let words: Vec<&[u8]> = line.split(|byte| byte == delimiter).collect();
        words == [b"qid".as_slice(), column.as_bytes(), b"score"]
    });
    forms.next().map(|(delimiter, column)| (TableForm::Separated(delimiter), column))
}

/// Whether bytes are a Parquet or an Arrow file, which as scores can only be a table.
fn is_columnar(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PAR1") || bytes.starts_with(b"ARROW1")
}

/// Whether bytes are a table of scores with ids, as text.
///
/// ```
/// assert!(rankwright_data::is_score_table(b"qid,docid,score\nq,a,1.5\n"));
/// assert!(rankwright_data::is_score_table(b"{\"qid\": \"q\", \"docid\": \"a\", \"score\": 1.5}\n"));
/// assert!(!rankwright_data::is_score_table(b"1.5\n0.5\n"));
/// ```
pub fn is_score_table(bytes: &[u8]) -> bool {
    header(bytes).is_some()
}

/// Reads the scores of a data set: one number per line, or a table of scores with ids, whose rows are
/// put into the row order of the data. The other scores stay in the order of the file.
///
/// `None` if the file is one number per line, for [`read_scores`](crate::read_scores).
pub fn read_scores_with_ids(
    input: &Input,
    data: &Dataset,
    data_name: &str,
) -> Result<Option<Vec<f64>>, DataError> {
    match is_score_table(&input.bytes) || is_columnar(&input.bytes) {
        true => read_score_table(input, data, data_name).map(Some),
        false => Ok(None),
    }
}

/// Reads a table of scores with ids, in the row order of the data; `data_name` is for messages.
///
/// ```
/// use rankwright_data::{Dataset, bytes::Input, read_score_table};
///
/// let data = Dataset::from_rows([[0.5], [0.7]], ["bm25"])
///     .labels([0, 1])
///     .query_ids(["q", "q"])
///     .doc_ids(["a", "b"])
///     .build()?;
/// let table = Input::from_bytes("s.csv", b"qid,docid,score\nq,b,2\nq,a,1\n".to_vec())?;
/// assert_eq!(read_score_table(&table, &data, "data.csv")?, [1.0, 2.0]);
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
pub fn read_score_table(
    input: &Input,
    data: &Dataset,
    data_name: &str,
) -> Result<Vec<f64>, DataError> {
    let (form, column) = match header(&input.bytes) {
        Some(found) => found,
        None if is_columnar(&input.bytes) => (TableForm::Columnar, ""),
        None => {
            let location = SourceLocation::line(&input.name, 1);
            return Err(DataError::malformed(location, "something else", EXPECTED));
        }
    };
    match form {
        TableForm::Separated(delimiter) => {
            let mut scores = MatchedScores::new(input, data, data_name, column);
            scores.read_separated(delimiter)?;
            scores.finish()
        }
        TableForm::JsonLines => {
            let mut scores = MatchedScores::new(input, data, data_name, column);
            scores.read_json_lines()?;
            scores.finish()
        }
        TableForm::Columnar => read_columnar(input, data, data_name),
    }
}

/// The scores of rows of the data, matched by their ids.
struct MatchedScores<'a> {
    input: &'a Input,
    data_name: &'a str,
    /// The name of the column of documents.
    column: &'static str,
    rows: RowsOfIds,
    scores: Vec<Option<f64>>,
}

impl<'a> MatchedScores<'a> {
    fn new(input: &'a Input, data: &Dataset, data_name: &'a str, column: &'static str) -> Self {
        let rows = row_numbers(data, column == "docid");
        MatchedScores { input, data_name, column, rows, scores: vec![None; data.rows()] }
    }

    fn at(&self, line: u64) -> SourceLocation {
        SourceLocation::line(&self.input.name, line)
    }

    /// Adds a row of the table; `shown` is the score in the file.
    fn add(
        &mut self,
        line: u64,
        (query, document): (&[u8], &[u8]),
        value: Option<f64>,
        shown: &[u8],
    ) -> Result<(), DataError> {
        let value = value.filter(|value| !value.is_nan()).ok_or_else(|| {
            let expected = "a score, which is a number, not NaN";
            DataError::malformed(self.at(line), quote(shown), expected)
        })?;
        let known = self.rows.get_mut(&(query.to_vec(), document.to_vec()));
        let Some(row) = known.and_then(VecDeque::pop_front) else {
            let found = format!("query {}, {} {}", quote(query), self.column, quote(document));
            let expected = format!("a row of {}, each once", self.data_name);
            return Err(DataError::malformed(self.at(line), found, expected));
        };
        if let Some(place) = self.scores.get_mut(row) {
            *place = Some(value);
        }
        Ok(())
    }

    fn read_separated(&mut self, delimiter: u8) -> Result<(), DataError> {
        let mut reader = csv::ReaderBuilder::new();
        let bytes: &[u8] = &self.input.bytes;
        let mut reader = reader.delimiter(delimiter).flexible(true).from_reader(bytes);
        let mut record = csv::ByteRecord::new();
        loop {
            let line = reader.position().line();
            match reader.read_byte_record(&mut record) {
                Ok(false) => return Ok(()),
                Ok(true) => {}
                Err(error) => {
                    let expected = "a row of a table";
                    return Err(DataError::malformed(self.at(line), error.to_string(), expected));
                }
            }
            let line = record.position().map_or(line, csv::Position::line);
            let cells: Vec<&[u8]> = record.iter().collect();
            let [query, document, score] = cells.as_slice() else {
                let found = format!("{} cells", cells.len());
                let expected = "query, document and score";
                return Err(DataError::malformed(self.at(line), found, expected));
            };
            let value = std::str::from_utf8(score).ok().and_then(|text| text.trim().parse().ok());
            self.add(line, (query, document), value, score)?;
        }
    }

    fn read_json_lines(&mut self) -> Result<(), DataError> {
        let bytes: &[u8] = &self.input.bytes;
        let lines = (1..).zip(bytes.split(|byte| *byte == b'\n'));
        for (line, text) in lines.filter(|(_, text)| !text.trim_ascii().is_empty()) {
            let object: Value = serde_json::from_slice(text).map_err(|error| {
                let found = format!("invalid JSON ({error})");
                DataError::malformed(self.at(line), found, "one JSON object per line")
            })?;
            let text = |key: &str| match object.get(key) {
                Some(Value::String(text)) => Some(visible::one_line(text).into_owned()),
                Some(Value::Number(number)) => Some(number.to_string()),
                _ => None,
            };
            let (Some(query), Some(document)) = (text("qid"), text(self.column)) else {
                let expected = format!("the keys qid, {} and score", self.column);
                return Err(DataError::malformed(
                    self.at(line),
                    "an object without them",
                    expected,
                ));
            };
            let score = object.get("score").unwrap_or(&Value::Null);
            let ids = (query.as_bytes(), document.as_bytes());
            self.add(line, ids, score.as_f64(), score.to_string().as_bytes())?;
        }
        Ok(())
    }

    /// The scores in the row order of the data.
    fn finish(self) -> Result<Vec<f64>, DataError> {
        let (found, expected) = (self.scores.iter().flatten().count(), self.scores.len());
        let all: Option<Vec<f64>> = self.scores.into_iter().collect();
        let (what, per) = ("score", "row");
        all.ok_or(DataError::LengthMismatch { what, found, per, expected })
    }
}

/// Reads a Parquet or Arrow file of scores.
#[cfg(feature = "columnar")]
fn read_columnar(input: &Input, data: &Dataset, data_name: &str) -> Result<Vec<f64>, DataError> {
    use crate::format::NamedColumns;

    let file = NamedColumns::open(input)?;
    let column = DOCUMENT_COLUMNS.into_iter().find(|column| file.has_column(column));
    let column = column.filter(|_| file.has_column("qid") && file.has_column("score"));
    let column = column.ok_or_else(|| {
        let location = SourceLocation::file(&input.name);
        DataError::malformed(location, "other columns", EXPECTED)
    })?;
    let mut scores = MatchedScores::new(input, data, data_name, column);
    let mut line = 0;
    for group in 0..file.groups() {
        let queries = file.texts(group, "qid")?;
        let documents = file.texts(group, column)?;
        let values = file.numbers(group, "score")?;
        let ids = queries.iter().zip(documents.iter());
        for ((query, document), value) in ids.zip(values.iter()) {
            line += 1;
            let query = visible::one_line(query.unwrap_or("")).into_owned();
            let document = visible::one_line(document.unwrap_or("")).into_owned();
            scores.add(line, (query.as_bytes(), document.as_bytes()), value, b"a missing value")?;
        }
    }
    scores.finish()
}

#[cfg(not(feature = "columnar"))]
fn read_columnar(input: &Input, _: &Dataset, _: &str) -> Result<Vec<f64>, DataError> {
    let format = match input.bytes.starts_with(b"PAR1") {
        true => crate::format::Format::Parquet,
        false => crate::format::Format::Arrow,
    };
    Err(DataError::NotBuilt { format, feature: "columnar" })
}

/// The rows of each pair of query and document, in the order of the source.
type RowsOfIds = HashMap<(Vec<u8>, Vec<u8>), VecDeque<usize>, foldhash::fast::RandomState>;

/// The rows of the data by the ids with which a table of scores names them.
fn row_numbers(data: &Dataset, by_document: bool) -> RowsOfIds {
    let queries = data.query_of_rows();
    let mut rows = RowsOfIds::default();
    for &row in data.rows_by_source().iter() {
        let row = row as usize;
        let query = queries.get(row).map_or("", |query| data.query_ids().get(*query as usize));
        let document = match data.doc_ids().filter(|_| by_document) {
            Some(ids) => visible::one_line(ids.get(row)).into_owned(),
            None => data.source_row(row).to_string(),
        };
        let ids = (visible::one_line(query).into_owned().into_bytes(), document.into_bytes());
        rows.entry(ids).or_default().push_back(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScoredRows;
    use crate::scored_rows::ScoreFormat;

    fn data() -> Dataset {
        Dataset::from_rows([[1.0], [2.0], [3.0], [4.0]], ["a"])
            .labels([0, 1, 0, 1])
            .query_ids(["x, y", "q", "x, y", "q"])
            .doc_ids(["d", "d", "e\tf", "d"])
            .build()
            .unwrap()
    }

    fn read(text: &str) -> Result<Vec<f64>, String> {
        let input = Input::from_bytes("s.csv", text.as_bytes().to_vec()).unwrap();
        read_score_table(&input, &data(), "data").map_err(|error| error.to_string())
    }

    #[test]
    fn written_tables_read_back_in_the_row_order_of_the_data() {
        let (data, folder) = (data(), tempfile::tempdir().unwrap());
        let scores = [0.25, -1e-300, f64::INFINITY, 7.0];
        let finite = [0.25, -1e-300, 1e17, 7.0];
        let mut formats = vec![
            (ScoreFormat::Csv, scores),
            (ScoreFormat::Tsv, scores),
            (ScoreFormat::Jsonl, finite),
        ];
        if cfg!(feature = "columnar") {
            formats.extend([(ScoreFormat::Parquet, scores), (ScoreFormat::Arrow, scores)]);
        }
        for (format, scores) in formats {
            let path = folder.path().join("scores");
            let order = data.rows_by_source();
            ScoredRows::new(&data, &scores, &order).save(&path, format, "").unwrap();
            let input = Input::open(&path).unwrap();
            let read = read_scores_with_ids(&input, &data, "data").unwrap();
            assert_eq!(read.as_deref(), Some(&scores[..]), "{format:?}");
        }
        let input = Input::from_bytes("s", b"1\n2\n".to_vec()).unwrap();
        assert_eq!(read_scores_with_ids(&input, &data, "data").unwrap(), None);
    }

    #[test]
    fn json_lines_of_scores_are_matched_by_their_ids() {
        let line = |query: &str, id: &str, score: &str| {
            format!("{{\"qid\": \"{query}\", \"docid\": \"{id}\", \"score\": {score}}}\n")
        };
        let rows = [line("q", "d", "1"), line("x, y", "e\\tf", "2"), line("x, y", "d", "3")];
        assert_eq!(
            read(&format!("{}{}", rows.concat(), line("q", "d", "4"))).unwrap(),
            [3.0, 2.0, 1.0, 4.0]
        );
        let error = read(&line("q", "d", "null")).unwrap_err();
        assert_eq!(error, "s.csv:1: found 'null', expected a score, which is a number, not NaN");
        assert!(read(&format!("{}{{}}\n", rows[0])).unwrap_err().contains("the keys qid, docid"));
    }

    #[test]
    fn every_row_needs_one_score() {
        let error = read("qid,docid,score\nq,z,1\n").unwrap_err();
        assert_eq!(error, "s.csv:2: found query 'q', docid 'z', expected a row of data, each once");
        let error = read("qid,docid,score\nq,d,1\nq,d,1\nq,d,1\n").unwrap_err();
        assert!(error.starts_with("s.csv:4: found query 'q', docid 'd'"), "{error}");
        assert!(read("qid,docid,score\nq,d,x\n").unwrap_err().contains("found 'x'"));
        assert!(read("qid,docid,score\nq,d\n").unwrap_err().contains("2 cells"));
        let error = read("qid,docid,score\nq,d,1\n").unwrap_err();
        assert!(error.contains('1') && error.contains('4'), "{error}");
        assert!(read("a,b\n").is_err() && read("").is_err());
    }
}
