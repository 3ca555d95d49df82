//! Tables of scores with ids, as [`ScoredRows`](crate::ScoredRows) writes them: a header
//! `qid,docid,score`, or `qid,row,score` for data without document ids, separated by commas or
//! tabs.
//!
//! Rows are matched with those of the data by their ids, in any order; the row number of data
//! without document ids counts from 0. If a document occurs several times in a query, its scores
//! are taken in their order. Every row of the data must have a score, and the table no others.

use std::collections::{HashMap, VecDeque};

use rankwright_spec::visible;

use crate::bytes::Input;
use crate::dataset::Dataset;
use crate::error::{DataError, SourceLocation, quote};

/// The column of documents, and the delimiter, of a table of scores; `None` for other bytes.
fn header(bytes: &[u8]) -> Option<(&'static str, u8)> {
    let line = bytes.split(|byte| *byte == b'\n').next()?.trim_ascii();
    let known = [("docid", b','), ("docid", b'\t'), ("row", b','), ("row", b'\t')];
    known.into_iter().find(|(column, delimiter)| {
        let words: Vec<&[u8]> = line.split(|byte| byte == delimiter).collect();
        words == [b"qid".as_slice(), column.as_bytes(), b"score"]
    })
}

/// Whether bytes are a table of scores with ids.
///
/// ```
/// assert!(rankwright_data::is_score_table(b"qid,docid,score\nq,a,1.5\n"));
/// assert!(!rankwright_data::is_score_table(b"1.5\n0.5\n"));
/// ```
pub fn is_score_table(bytes: &[u8]) -> bool {
    header(bytes).is_some()
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
    let at = |line: u64| SourceLocation::line(&input.name, line);
    let Some((column, delimiter)) = header(&input.bytes) else {
        let expected = "a first line `qid,docid,score` or `qid,row,score`";
        return Err(DataError::malformed(at(1), "something else", expected));
    };
    let mut rows = row_numbers(data, column == "docid");
    let mut scores = vec![None; data.rows()];
    let mut reader = csv::ReaderBuilder::new();
    let mut reader = reader.delimiter(delimiter).flexible(true).from_reader(&*input.bytes);
    let mut record = csv::ByteRecord::new();
    loop {
        let line = reader.position().line();
        match reader.read_byte_record(&mut record) {
            Ok(false) => break,
            Ok(true) => {}
            Err(error) => {
                return Err(DataError::malformed(at(line), error.to_string(), "a row of a table"));
            }
        }
        let line = record.position().map_or(line, csv::Position::line);
        let cells: Vec<&[u8]> = record.iter().collect();
        let [query, document, score] = cells.as_slice() else {
            let found = format!("{} cells", cells.len());
            return Err(DataError::malformed(at(line), found, "query, document and score"));
        };
        let value = std::str::from_utf8(score).ok().and_then(|text| text.trim().parse().ok());
        let value = value.filter(|value: &f64| !value.is_nan()).ok_or_else(|| {
            DataError::malformed(at(line), quote(score), "a score, which is a number, not NaN")
        })?;
        let known = rows.get_mut(&(query.to_vec(), document.to_vec()));
        let Some(row) = known.and_then(VecDeque::pop_front) else {
            let found = format!("query {}, {column} {}", quote(query), quote(document));
            let expected = format!("a row of {data_name}, each once");
            return Err(DataError::malformed(at(line), found, expected));
        };
        if let Some(place) = scores.get_mut(row) {
            *place = Some(value);
        }
    }
    let found = scores.iter().flatten().count();
    let all: Option<Vec<f64>> = scores.into_iter().collect();
    all.ok_or_else(|| DataError::LengthMismatch {
        what: "score",
        found,
        per: "row of the data",
        expected: data.rows(),
    })
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
        for format in [ScoreFormat::Csv, ScoreFormat::Tsv] {
            let path = folder.path().join("scores");
            let order = data.rows_by_source();
            ScoredRows::new(&data, &scores, &order).save(&path, format, "").unwrap();
            let input = Input::open(&path).unwrap();
            assert!(is_score_table(&input.bytes));
            assert_eq!(read_score_table(&input, &data, "data").unwrap(), scores);
        }
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
