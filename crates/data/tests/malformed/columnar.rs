//! Parquet and Arrow.

use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::{ArrayRef, BinaryArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;

use super::Reader::Text;
use super::{Case, case};

fn ints() -> ArrayRef {
    Arc::new(Int64Array::from(vec![1, 2]))
}

fn with_null() -> ArrayRef {
    Arc::new(Int64Array::from(vec![Some(1), None]))
}

fn words() -> ArrayRef {
    Arc::new(StringArray::from(vec!["1", "http://a"]))
}

fn too_large() -> ArrayRef {
    Arc::new(Float64Array::from(vec![1e300, 1.0]))
}

fn with_negative() -> ArrayRef {
    Arc::new(Float64Array::from(vec![1.0, -0.5]))
}

fn bytes() -> ArrayRef {
    Arc::new(BinaryArray::from(vec![b"a".as_slice(), b"\xff"]))
}

fn lists() -> ArrayRef {
    let mut lists = ListBuilder::new(Int64Builder::new());
    lists.append_value([Some(1), Some(2)]);
    lists.append_value([Some(1)]);
    Arc::new(lists.finish())
}

fn plain() -> Vec<(&'static str, ArrayRef)> {
    vec![("qid", ints()), ("label", ints())]
}

fn cut(mut bytes: Vec<u8>, by: usize) -> Vec<u8> {
    bytes.truncate(bytes.len() - by);
    bytes
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), true))
        .collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

fn parquet(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch = batch(columns);
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn arrow(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch = batch(columns);
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

pub(crate) fn columnar() -> Vec<Case> {
    vec![
        case(
            "columnar: Parquet that is only its magic",
            Text("magic.parquet"),
            b"PAR1",
            "magic.parquet is damaged: EOF: Parquet file too small. Size is 4 but need 8 -> create the file again from its source; do not use its content",
        ),
        case(
            "columnar: Parquet without its footer",
            Text("cut.parquet"),
            cut(parquet(plain()), 20),
            "cut.parquet is damaged: Parquet error: Invalid Parquet file. Corrupt footer -> create the file again from its source; do not use its content",
        ),
        case(
            "columnar: Parquet with noise for a footer",
            Text("noise.parquet"),
            b"PAR1\x07\x07\x07\x07\x07\x07\x07\x07\x08\0\0\0PAR1",
            "noise.parquet is damaged: EOF: Unexpected EOF -> create the file again from its source; do not use its content",
        ),
        case(
            "columnar: Parquet without query column",
            Text("bad.parquet"),
            parquet(vec![("id", ints()), ("label", ints())]),
            "bad.parquet: no column is recognised as the qid; the columns are 'id', 'label' -> give the roles `qid=none`; `qid=none` if all rows are one list",
        ),
        case(
            "columnar: Parquet without label column",
            Text("bad.parquet"),
            parquet(vec![("qid", ints()), ("x", ints())]),
            "bad.parquet: no column is recognised as the label; the columns are 'qid', 'x' -> give the roles `label=x`; `label=none` if there is no label",
        ),
        case(
            "columnar: Parquet with a null query id",
            Text("bad.parquet"),
            parquet(vec![("qid", with_null()), ("label", ints())]),
            "bad.parquet:2 (column 'qid'): found nothing, expected a query id",
        ),
        case(
            "columnar: Parquet with a null label",
            Text("bad.parquet"),
            parquet(vec![("qid", ints()), ("label", with_null())]),
            "bad.parquet:2 (column 'label'): found nothing, expected a label, which is a finite number -> leave out rows that nobody judged, or write 0 if they count as not relevant",
        ),
        case(
            "columnar: Parquet with words as feature",
            Text("bad.parquet"),
            parquet(vec![("qid", ints()), ("label", ints()), ("site", words())]),
            "bad.parquet: column 'site' has numbers and texts (the first text, 'http://a', is at bad.parquet:2) -> give the roles `category=site`",
        ),
        case(
            "columnar: Parquet with a feature beyond f32",
            Text("bad.parquet"),
            parquet(vec![("qid", ints()), ("label", ints()), ("x", too_large())]),
            "bad.parquet:1 (column 'x'): found 1e300, expected a number within ±3.4e38 (features are 32-bit floats)",
        ),
        case(
            "columnar: Parquet with a negative weight",
            Text("bad.parquet"),
            parquet(vec![("qid", ints()), ("label", ints()), ("weight", with_negative())]),
            "bad.parquet:2 (column 'weight'): found -0.5, expected a weight, which is a finite number from 0",
        ),
        case(
            "columnar: Parquet with bytes",
            Text("bad.parquet"),
            parquet(vec![("qid", ints()), ("label", ints()), ("raw", bytes())]),
            "bad.parquet: column 'raw' is of type Binary, which is neither a number, a text nor a point in time -> give the roles `ignore=raw`",
        ),
        case(
            "columnar: Parquet with a list of ids",
            Text("bad.parquet"),
            parquet(vec![("qid", ints()), ("label", ints()), ("tags", lists())]),
            "bad.parquet: column 'tags' is of type List(Int64), which is neither a number, a text nor a point in time -> give the roles `ignore=tags`",
        ),
        case(
            "columnar: Parquet with lists of different lengths",
            Text("bad.parquet"),
            parquet(vec![("qid", ints()), ("label", ints()), ("features", lists())]),
            "bad.parquet:2 (column 'features'): found a list of 1 value, expected as many values as in the first row",
        ),
        case(
            "columnar: Parquet without rows",
            Text("none.parquet"),
            parquet(vec![("qid", ints().slice(0, 0)), ("label", ints().slice(0, 0))]),
            "none.parquet holds no rows",
        ),
        case(
            "columnar: Arrow that is only its magic",
            Text("magic.arrow"),
            b"ARROW1\0\0",
            "magic.arrow is damaged: it is cut off, or its footer is missing -> create the file again from its source; do not use its content",
        ),
        case(
            "columnar: Arrow without its footer",
            Text("cut.arrow"),
            cut(arrow(plain()), 20),
            "cut.arrow is damaged: it is cut off, or its footer is missing -> create the file again from its source; do not use its content",
        ),
        case(
            "columnar: Arrow whose footer is noise",
            Text("noise.arrow"),
            b"ARROW1\0\0\x07\x07\x07\x07\x04\0\0\0ARROW1",
            "noise.arrow is damaged: its footer cannot be parsed -> create the file again from its source; do not use its content",
        ),
        case(
            "columnar: Arrow with two columns of one name",
            Text("bad.arrow"),
            arrow(vec![("qid", ints()), ("label", ints()), ("x", ints()), ("x", ints())]),
            "bad.arrow: there are two columns 'x' -> give every column its own name",
        ),
        case(
            "columnar: Arrow with words as label",
            Text("bad.arrow"),
            arrow(vec![("qid", ints()), ("label", words())]),
            "bad.arrow:2 (column 'label'): found 'http://a', expected a label, which is a finite number \
             -> write grades as numbers, higher is better, such as 0 for bad and 2 for good",
        ),
        case(
            "columnar: Arrow stream that ends early",
            Text("stream.arrow"),
            b"\xff\xff\xff\xff\x40\0\0\0\x10\0",
            "stream.arrow is damaged: it ends inside a message -> create the file again from its source; do not use its content",
        ),
        case(
            "columnar: Arrow stream without schema",
            Text("end.arrow"),
            b"\xff\xff\xff\xff\0\0\0\0",
            "end.arrow is damaged: it has no schema -> create the file again from its source; do not use its content",
        ),
    ]
}
