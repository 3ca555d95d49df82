//! Scores with the ids of their rows: as a table of text, JSON lines, Parquet, Arrow, or a TREC
//! run.
//!
//! The columns of tables are `qid`, `docid` and `score`; numbers that are no scores, such as
//! grades, have a column of another name. If the data has no document ids, a column `row` with the
//! row number in the input, from 0, replaces `docid`. In a run, these row numbers are the document
//! ids. Every score reads back to the same float; only JSON lines have `null` for one that is not
//! finite.
//!
//! Control characters of ids are escaped in text (`\t` for a tab) and in JSON; Parquet and Arrow
//! keep them. A run refuses them, and a table of text refuses NUL bytes.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use rankwright_spec::{json_by_text, visible};

use crate::dataset::Dataset;
use crate::error::DataError;
use crate::format::{Format, nul_in_text};
use crate::lists::{ListFormat, QueryLists, Run};
use crate::store::write_atomic;

/// A format of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScoreFormat {
    /// One score per line, without ids.
    Scores,
    /// A table separated by tabs, with a header.
    Tsv,
    /// A table separated by commas, with a header.
    Csv,
    /// One JSON object per line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
    /// An Arrow IPC file.
    Arrow,
    /// A TREC run: `qid Q0 docid rank score tag`.
    Run,
}

json_by_text!(ScoreFormat, |format: &ScoreFormat| format.name(), ScoreFormat::from_name);

impl ScoreFormat {
    /// Every format.
    pub const ALL: [ScoreFormat; 7] = [
        ScoreFormat::Scores,
        ScoreFormat::Tsv,
        ScoreFormat::Csv,
        ScoreFormat::Jsonl,
        ScoreFormat::Parquet,
        ScoreFormat::Arrow,
        ScoreFormat::Run,
    ];

    /// The name of the format.
    pub fn name(self) -> &'static str {
        match self {
            ScoreFormat::Scores => "scores",
            ScoreFormat::Tsv => "tsv",
            ScoreFormat::Csv => "csv",
            ScoreFormat::Jsonl => "jsonl",
            ScoreFormat::Parquet => "parquet",
            ScoreFormat::Arrow => "arrow",
            ScoreFormat::Run => "run",
        }
    }

    fn extensions(self) -> &'static [&'static str] {
        match self {
            ScoreFormat::Scores => &[],
            ScoreFormat::Tsv => &["tsv"],
            ScoreFormat::Csv => &["csv"],
            ScoreFormat::Jsonl => &["jsonl", "ndjson"],
            ScoreFormat::Parquet => &["parquet", "pq"],
            ScoreFormat::Arrow => &["arrow", "feather", "ipc"],
            ScoreFormat::Run => &["run", "trec"],
        }
    }

    /// The format with this name, or an error that lists the names.
    pub fn from_name(name: &str) -> Result<ScoreFormat, DataError> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            DataError::UnknownName {
                what: "format of scores",
                name: name.to_owned(),
                known: Self::ALL.map(ScoreFormat::name).join(", "),
            }
        })
    }

    /// The format of a path's extension, or one score per line if the extension is unknown; a final
    /// `.gz` or `.zst` is skipped.
    pub fn from_path(path: impl AsRef<Path>) -> ScoreFormat {
        let name = path.as_ref().file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.to_ascii_lowercase();
        let stem = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
        let extension = stem.rsplit_once('.').map_or("", |(_, extension)| extension);
        let known = |format: &ScoreFormat| format.extensions().contains(&extension);
        Self::ALL.into_iter().find(known).unwrap_or(ScoreFormat::Scores)
    }

    /// Whether the format has the ids of the rows.
    pub fn has_ids(self) -> bool {
        self != ScoreFormat::Scores
    }
}

/// Scores and ids of the rows of a data set, to be written.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("scores.csv");
/// use rankwright_data::{Dataset, ScoreFormat, ScoredRows};
///
/// let data = Dataset::from_rows([[0.5], [0.7]], ["bm25"])
///     .labels([0, 1])
///     .query_ids(["q", "q"])
///     .doc_ids(["a", "b"])
///     .build()?;
/// let rows = ScoredRows::new(&data, &[1.5, -2.0], &[0, 1]);
/// rows.save(&path, ScoreFormat::Csv, "mine")?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "qid,docid,score\nq,a,1.5\nq,b,-2\n");
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ScoredRows<'a> {
    data: &'a Dataset,
    /// In the row order of the data set.
    scores: &'a [f64],
    /// The rows in the order in which they are written.
    order: &'a [u32],
    /// The name of the column of numbers.
    column: &'a str,
}

impl<'a> ScoredRows<'a> {
    /// The rows of a data set with their scores, both in the row order of the data set; `order` is
    /// the order in which they are written ([`Dataset::rows_by_source`], or that of a ranking).
    pub fn new(data: &'a Dataset, scores: &'a [f64], order: &'a [u32]) -> Self {
        debug_assert_eq!(data.rows(), scores.len(), "one score for each row");
        ScoredRows { data, scores, order, column: "score" }
    }

    /// Sets the name of the column of numbers, `score` if not set.
    #[must_use]
    pub fn column(mut self, name: &'a str) -> Self {
        self.column = name;
        self
    }

    /// The query id of each row, in the order in which rows are written.
    pub fn query_ids(&self) -> Vec<String> {
        let queries = self.data.query_of_rows();
        let id = |row: &u32| self.data.query_ids().get(queries[*row as usize] as usize).to_owned();
        self.order.iter().map(id).collect()
    }

    /// The document id of each row, in the order in which rows are written; if the data has none,
    /// the row numbers in the input.
    pub fn doc_ids(&self) -> Vec<String> {
        let id = |row: &u32| match self.data.doc_ids() {
            Some(ids) => ids.get(*row as usize).to_owned(),
            None => self.data.source_row(*row as usize).to_string(),
        };
        self.order.iter().map(id).collect()
    }

    fn ordered_scores(&self) -> impl Iterator<Item = f64> + '_ {
        self.order.iter().map(|row| self.scores[*row as usize])
    }

    /// The name of the column of documents.
    fn document_column(&self) -> &'static str {
        if self.data.doc_ids().is_some() { "docid" } else { "row" }
    }

    /// Writes the rows to a file, atomically; `tag` is the name of a run.
    pub fn save(
        &self,
        path: impl AsRef<Path>,
        format: ScoreFormat,
        tag: &str,
    ) -> Result<(), DataError> {
        check_built(format)?;
        let path = path.as_ref();
        match format {
            ScoreFormat::Scores => write_atomic(path, |out| {
                self.ordered_scores().try_for_each(|score| writeln!(out, "{score}"))
            }),
            ScoreFormat::Run => {
                let (queries, documents) = (self.query_ids(), self.doc_ids());
                let ids = queries.iter().map(String::as_str);
                let ids = ids.zip(documents.iter().map(String::as_str));
                let rows = ids.zip(self.ordered_scores()).map(|((q, d), score)| (q, d, score));
                let lists = QueryLists::from_rows(path.display().to_string(), rows)?;
                Run::from_lists(lists).save(path, ListFormat::Trec, tag)
            }
            table => write_atomic(path, |out| self.write_table(table, out)),
        }
    }

    fn write_table(&self, format: ScoreFormat, out: &mut dyn Write) -> io::Result<()> {
        match format {
            ScoreFormat::Csv => self.write_text(b',', out),
            ScoreFormat::Tsv => self.write_text(b'\t', out),
            ScoreFormat::Jsonl => self.write_json(out),
            #[cfg(feature = "columnar")]
            ScoreFormat::Parquet => columnar::write_parquet(self, out),
            #[cfg(feature = "columnar")]
            ScoreFormat::Arrow => columnar::write_arrow(self, out),
            // `check_built` has refused formats that are not built in, and `save` handles those
            // that are no tables.
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn write_text(&self, delimiter: u8, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
        writer.write_record(["qid", self.document_column(), self.column])?;
        let (queries, documents) = (self.query_ids(), self.doc_ids());
        for ((query, document), score) in queries.iter().zip(&documents).zip(self.ordered_scores())
        {
            let ids = [text_cell(query)?, text_cell(document)?];
            writer.write_record([&*ids[0], &*ids[1], &score.to_string()])?;
        }
        writer.flush()
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let text = |value: &str| -> io::Result<String> {
            Ok(visible::json(&serde_json::to_string(value)?).into_owned())
        };
        let (column, value) = (self.document_column(), text(self.column)?);
        let (queries, documents) = (self.query_ids(), self.doc_ids());
        for ((query, document), score) in queries.iter().zip(&documents).zip(self.ordered_scores())
        {
            let document = match self.data.doc_ids() {
                Some(_) => text(document)?,
                None => document.clone(),
            };
            // JSON has no infinite numbers.
            let score = if score.is_finite() { score.to_string() } else { "null".to_owned() };
            let query = text(query)?;
            writeln!(out, "{{\"qid\": {query}, \"{column}\": {document}, {value}: {score}}}")?;
        }
        Ok(())
    }
}

/// An id in a table of text: control characters are escaped, and a NUL byte is refused as in every
/// other table of text.
fn text_cell(id: &str) -> io::Result<Cow<'_, str>> {
    match id.contains('\0') {
        true => Err(nul_in_text(id)),
        false => Ok(visible::one_line(id)),
    }
}

/// Rejects a format that this build does not include.
fn check_built(format: ScoreFormat) -> Result<(), DataError> {
    let format = match format {
        ScoreFormat::Parquet => Format::Parquet,
        ScoreFormat::Arrow => Format::Arrow,
        _ => return Ok(()),
    };
    match cfg!(feature = "columnar") {
        true => Ok(()),
        false => Err(DataError::NotBuilt { format, feature: "columnar" }),
    }
}

/// Parquet and Arrow.
#[cfg(feature = "columnar")]
mod columnar {
    use std::io::{self, Write};
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
    use arrow_ipc::writer::FileWriter;
    use arrow_schema::{DataType, Field, Schema as ArrowSchema, SchemaRef};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::file::properties::WriterProperties;

    use super::ScoredRows;

    /// The number of rows that are written as one group.
    const ROWS_PER_GROUP: usize = 1 << 20;

    fn schema_of(rows: &ScoredRows<'_>) -> SchemaRef {
        let documents = match rows.data.doc_ids() {
            Some(_) => DataType::Utf8,
            None => DataType::UInt64,
        };
        let fields = vec![
            Field::new("qid", DataType::Utf8, false),
            Field::new(rows.document_column(), documents, false),
            Field::new(rows.column, DataType::Float64, false),
        ];
        Arc::new(ArrowSchema::new(fields))
    }

    /// The rows in their order, in groups.
    fn batches<'a>(
        rows: &'a ScoredRows<'_>,
        schema: &SchemaRef,
    ) -> impl Iterator<Item = io::Result<RecordBatch>> + 'a {
        let schema = schema.clone();
        rows.order.chunks(ROWS_PER_GROUP).map(move |order| {
            let part = ScoredRows { order, ..*rows };
            let documents: ArrayRef = match rows.data.doc_ids() {
                Some(_) => Arc::new(StringArray::from_iter_values(part.doc_ids())),
                None => {
                    let source = |row: &u32| rows.data.source_row(*row as usize) as u64;
                    Arc::new(UInt64Array::from_iter_values(order.iter().map(source)))
                }
            };
            let columns: Vec<ArrayRef> = vec![
                Arc::new(StringArray::from_iter_values(part.query_ids())),
                documents,
                Arc::new(Float64Array::from_iter_values(part.ordered_scores())),
            ];
            RecordBatch::try_new(schema.clone(), columns).map_err(io::Error::other)
        })
    }

    pub(super) fn write_parquet(rows: &ScoredRows<'_>, out: &mut dyn Write) -> io::Result<()> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
            .build();
        let schema = schema_of(rows);
        // `ArrowWriter` needs an output that is `Send`, which `out` is not. So it writes to memory,
        // and the bytes are moved to `out` after each group.
        let mut writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties))?;
        for batch in batches(rows, &schema) {
            writer.write(&batch?)?;
            writer.flush()?;
            out.write_all(&std::mem::take(writer.inner_mut()))?;
        }
        out.write_all(&writer.into_inner()?)
    }

    pub(super) fn write_arrow(rows: &ScoredRows<'_>, out: &mut dyn Write) -> io::Result<()> {
        let schema = schema_of(rows);
        let mut writer = FileWriter::try_new(out, &schema).map_err(io::Error::other)?;
        for batch in batches(rows, &schema) {
            writer.write(&batch?).map_err(io::Error::other)?;
        }
        writer.finish().map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two queries whose rows are not adjacent in the input, with or without document ids.
    fn data(has_doc_ids: bool) -> Dataset {
        let rows = [[0.1], [0.2], [0.3]];
        let built =
            Dataset::from_rows(rows, ["f"]).labels([0, 1, 0]).query_ids(["a b", "x", "a b"]);
        match has_doc_ids {
            true => built.doc_ids(["d,1", "d2", "d3"]).build().unwrap(),
            false => built.build().unwrap(),
        }
    }

    /// The text of the file with the scores of the data, in the order of the input.
    fn written(data: &Dataset, format: ScoreFormat) -> Result<String, DataError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores");
        // Scores in the row order of the data set: the rows of `a b` come first.
        let rows = data.rows_by_source();
        ScoredRows::new(data, &[1.0, 3.0, 0.1 + 0.2], &rows).save(&path, format, "mine")?;
        Ok(std::fs::read_to_string(path).unwrap())
    }

    #[test]
    fn rows_are_in_the_order_of_the_input_and_ids_are_quoted() {
        let named = data(true);
        assert_eq!(
            written(&named, ScoreFormat::Csv).unwrap(),
            "qid,docid,score\na b,\"d,1\",1\nx,d2,0.30000000000000004\na b,d3,3\n"
        );
        assert_eq!(written(&named, ScoreFormat::Scores).unwrap(), "1\n0.30000000000000004\n3\n");
        assert_eq!(
            written(&data(false), ScoreFormat::Tsv).unwrap(),
            "qid\trow\tscore\na b\t0\t1\nx\t1\t0.30000000000000004\na b\t2\t3\n"
        );
        let lines = written(&named, ScoreFormat::Jsonl).unwrap();
        assert_eq!(lines.lines().next(), Some(r#"{"qid": "a b", "docid": "d,1", "score": 1}"#));
    }

    #[test]
    fn control_characters_of_ids_are_escaped_or_refused() {
        let with_id = |id: &str| {
            let built = Dataset::from_rows([[0.1], [0.2], [0.3]], ["f"]).labels([0, 1, 0]);
            built.query_ids([id, id, id]).doc_ids([id, "d2", "d3"]).build().unwrap()
        };
        let evil = with_id("a\tb\nc\u{1b}\u{9b}\u{202e}");
        let row = |text: String| text.lines().nth(1).unwrap_or_default().to_owned();
        let shown = "a\\tb\\nc\\u{1b}\\u{9b}\\u{202e}";
        for (format, separator) in [(ScoreFormat::Tsv, '\t'), (ScoreFormat::Csv, ',')] {
            let text = written(&evil, format).unwrap();
            assert_eq!(text.lines().count(), 4, "{text}");
            assert_eq!(row(text).split(separator).collect::<Vec<_>>()[..2], [shown, shown]);
            let error = written(&with_id("a\0b"), format).unwrap_err().to_string();
            assert!(error.contains("has a NUL byte"), "{error}");
        }
        let text = written(&evil, ScoreFormat::Jsonl).unwrap();
        assert!(!text.contains(|c| visible::is_control(c) && c != '\n'), "{text:?}");
        let line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(line["docid"], "a\tb\nc\u{1b}\u{9b}\u{202e}");
    }

    #[test]
    fn an_id_with_a_blank_is_refused_in_a_run() {
        let error = written(&data(true), ScoreFormat::Run).unwrap_err().to_string();
        assert!(error.contains("has spaces"), "{error}");
    }

    #[test]
    fn extensions_choose_the_format() {
        for (name, format) in [
            ("a.csv", ScoreFormat::Csv),
            ("a.tsv.gz", ScoreFormat::Tsv),
            ("A.PARQUET", ScoreFormat::Parquet),
            ("a.trec", ScoreFormat::Run),
            ("a.txt", ScoreFormat::Scores),
            ("run", ScoreFormat::Scores),
            ("-", ScoreFormat::Scores),
        ] {
            assert_eq!(ScoreFormat::from_path(name), format, "{name}");
        }
        let error = ScoreFormat::from_name("xlsx").unwrap_err().to_string();
        assert!(error.contains("parquet, arrow, run"), "{error}");
    }

    #[cfg(feature = "columnar")]
    #[test]
    fn columnar_files_hold_ids_and_scores() {
        use arrow_array::{Array, Float64Array, StringArray};
        use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
        let data = data(true);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.parquet");
        let order = data.rows_by_source();
        let rows = ScoredRows::new(&data, &[1.0, 3.0, 0.1 + 0.2], &order);
        rows.save(&path, ScoreFormat::Parquet, "").unwrap();
        let file = std::fs::File::open(&path).unwrap();
        let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let batch = reader.next().unwrap().unwrap();
        let ids = batch.column(1).as_any().downcast_ref::<StringArray>().unwrap();
        let scores = batch.column(2).as_any().downcast_ref::<Float64Array>().unwrap();
        assert_eq!((ids.value(0), ids.value(2), scores.value(1)), ("d,1", "d3", 0.1 + 0.2));
        rows.save(&path, ScoreFormat::Arrow, "").unwrap();
        assert!(std::fs::read(&path).unwrap().starts_with(b"ARROW1"));
    }
}
