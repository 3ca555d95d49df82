//! Tests of Parquet and Arrow: types, nulls, lists, and files that claim too much.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, ListBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float32Array, Float64Array,
    Int64Array, NullArray, StringArray, StringViewArray, StructArray, UInt8Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::DataType;
use parquet::arrow::ArrowWriter;

use super::*;
use crate::format::Roles;

/// A batch of columns that may have nulls.
fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true)))
        .unwrap()
}

/// An Arrow IPC file.
fn arrow(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), batch.schema_ref()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

/// An Arrow IPC stream with the same batch twice.
fn stream(batch: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), batch.schema_ref(), options).unwrap();
    writer.write(batch).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn parquet(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn read(bytes: Vec<u8>, roles: &str) -> Result<Dataset, String> {
    let options = ReadOptions { roles: Roles::parse(roles).unwrap(), ..ReadOptions::default() };
    let is_parquet = bytes.starts_with(b"PAR1");
    let inputs = vec![Input::from_bytes("t", bytes).unwrap()];
    let (mut sets, mut warnings) =
        (FeatureSets::from_side_files(&inputs).unwrap(), Warnings::default());
    let data = match is_parquet {
        true => read_parquet(inputs, &options, &mut sets, &mut warnings),
        false => read_arrow(inputs, &options, &mut sets, &mut warnings),
    };
    data.map(|(data, _)| data).map_err(|error| error.to_string())
}

/// Reads the batch as Parquet and as Arrow; both must agree.
fn read_as_both(batch: &RecordBatch, roles: &str) -> Result<Dataset, String> {
    let from_parquet = read(parquet(batch), roles);
    assert_eq!(from_parquet, read(arrow(batch), roles));
    from_parquet
}

/// A batch of two rows with qid, label and these columns.
fn two_rows(columns: Vec<(&'static str, ArrayRef)>) -> RecordBatch {
    let mut all: Vec<(&str, ArrayRef)> = vec![
        ("qid", Arc::new(Int64Array::from(vec![10, i64::MAX]))),
        ("label", Arc::new(UInt8Array::from(vec![2, 0]))),
    ];
    all.extend(columns);
    batch(all)
}

#[test]
fn every_plain_type_is_a_feature() {
    let decimal = Decimal128Array::from(vec![Some(125), None]).with_precision_and_scale(10, 2);
    let words: DictionaryArray<Int32Type> = vec!["1.5", "NULL"].into_iter().collect();
    let data = read_as_both(
        &two_rows(vec![
            ("f32", Arc::new(Float32Array::from(vec![Some(0.5), None]))),
            ("f64", Arc::new(Float64Array::from(vec![f64::NAN, -0.0]))),
            ("flag", Arc::new(BooleanArray::from(vec![true, false]))),
            ("text", Arc::new(StringArray::from(vec!["1e-3", ""]))),
            ("view", Arc::new(StringViewArray::from(vec!["7", "inf"]))),
            ("dictionary", Arc::new(words)),
            ("decimal", Arc::new(decimal.unwrap())),
        ]),
        "",
    )
    .unwrap();
    assert_eq!(data.query_ids().iter().collect::<Vec<_>>(), ["10", "9223372036854775807"]);
    assert_eq!(data.labels(), [2.0, 0.0]);
    let shown: Vec<String> = data.matrix().values().iter().map(|v| v.to_string()).collect();
    assert_eq!(shown[..7], ["0.5", "NaN", "1", "0.001", "7", "1.5", "1.25"]);
    assert_eq!(shown[7..], ["NaN", "-0", "0", "NaN", "inf", "NaN", "NaN"]);
}

#[test]
fn ids_that_are_floats_are_written_plainly() {
    let data = read_as_both(
        &batch(vec![
            ("qid", Arc::new(Float64Array::from(vec![10.0, 10.5]))),
            ("docid", Arc::new(StringArray::from(vec![Some("d"), None]))),
            ("label", Arc::new(StringArray::from(vec!["1", "0.5"]))),
        ]),
        "",
    )
    .unwrap();
    assert_eq!(data.query_ids().iter().collect::<Vec<_>>(), ["10", "10.5"]);
    assert_eq!(data.labels(), [1.0, 0.5]);
}

#[test]
fn a_list_column_holds_all_features() {
    let mut lists = ListBuilder::new(Float32Builder::new());
    let mut fixed = FixedSizeListBuilder::new(Float32Builder::new(), 2);
    for values in [[Some(1.0), None], [Some(3.0), Some(4.0)]] {
        lists.append_value(values);
        values.iter().for_each(|value| fixed.values().append_option(*value));
        fixed.append(true);
    }
    let arrays: [ArrayRef; 2] = [Arc::new(lists.finish()), Arc::new(fixed.finish())];
    for array in arrays {
        let data = read_as_both(&two_rows(vec![("features", array)]), "").unwrap();
        assert_eq!(data.features(), &crate::FeatureNames::Ids { first: 1, count: 2 });
        assert!(data.matrix().get(0, 1).is_nan());
        assert_eq!(data.matrix().row(1), [3.0, 4.0]);
    }
    let mut ragged = ListBuilder::new(Float32Builder::new());
    ragged.append_value([Some(1.0)]);
    ragged.append_value([Some(1.0), None]);
    let error =
        read_as_both(&two_rows(vec![("features", Arc::new(ragged.finish()))]), "").unwrap_err();
    assert_eq!(
        error,
        "t:2 (column 'features'): found a list of 2 values, expected as many values as in the first row"
    );
}

#[test]
fn nulls_are_refused_where_a_value_must_be() {
    let rows = |qid: Option<&str>, label: Option<f64>| {
        batch(vec![
            ("qid", Arc::new(StringArray::from(vec![Some("a"), qid]))),
            ("label", Arc::new(Float64Array::from(vec![Some(1.0), label]))),
        ])
    };
    assert!(read_as_both(&rows(Some("a"), Some(0.0)), "").is_ok());
    let error = read_as_both(&rows(None, Some(0.0)), "").unwrap_err();
    assert_eq!(error, "t:2 (column 'qid'): found nothing, expected a query id");
    assert!(
        read_as_both(&rows(Some("a"), None), "").unwrap_err().starts_with("t:2 (column 'label')")
    );
    assert!(
        read_as_both(&rows(Some("a"), Some(f64::INFINITY)), "").unwrap_err().contains("found inf")
    );
    let error =
        read_as_both(&two_rows(vec![("x", Arc::new(Float64Array::from(vec![1.0, 1e39])))]), "");
    assert!(error.unwrap_err().starts_with("t:2 (column 'x'): found 1e39"));
}

#[test]
fn nested_columns_must_be_left_out_by_name() {
    let inner = Arc::new(arrow_schema::Field::new("i", DataType::Int64, true));
    let nested =
        StructArray::from(vec![(inner, Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef)]);
    let rows = two_rows(vec![("nest", Arc::new(nested)), ("x", Arc::new(NullArray::new(2)))]);
    let error = read(arrow(&rows), "").unwrap_err();
    assert!(error.starts_with("t: column 'nest' is of type Struct("), "{error}");
    let data = read_as_both(&rows, "ignore=nest").unwrap();
    assert_eq!(data.columns(), 1);
    assert!(data.matrix().get(1, 0).is_nan());
}

/// Regression: durations were numbers of their unit in Parquet files, and refused in Arrow files.
#[test]
fn durations_are_seconds() {
    let columns: Vec<(&'static str, ArrayRef)> = vec![
        ("millis", Arc::new(arrow_array::DurationMillisecondArray::from(vec![1500, 60_000]))),
        ("micros", Arc::new(arrow_array::DurationMicrosecondArray::from(vec![1_500_000, 7]))),
    ];
    let data = read_as_both(&two_rows(columns), "").unwrap();
    assert_eq!(data.matrix().values(), [1.5, 1.5, 60.0, 7e-6]);
}

#[test]
fn streams_are_read_compressed_or_not() {
    let rows = two_rows(vec![("x", Arc::new(Float32Array::from(vec![0.0; 2])))]);
    for compression in [None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)] {
        let bytes = stream(&rows, compression);
        assert_eq!(read(bytes.clone(), "").unwrap().rows(), 4);
        let cut = read(bytes[..bytes.len() / 2].to_vec(), "").unwrap_err();
        assert!(cut.starts_with("t is damaged"), "{cut}");
    }
}

#[test]
fn compressed_buffers_that_claim_too_much_are_refused_before_memory_is_allocated() {
    let many = batch(vec![
        ("qid", Arc::new(Int64Array::from(vec![10; 1000]))),
        ("label", Arc::new(UInt8Array::from(vec![2; 1000]))),
    ]);
    let good = stream(&many, Some(CompressionType::ZSTD));
    assert_eq!(read(good.clone(), "").unwrap().rows(), 2000);
    // The uncompressed length of the column `qid`, with a high bit set.
    let length = (many.num_rows() as i64 * 8).to_le_bytes();
    let at = good.windows(8).position(|w| w == length).unwrap();
    let mut bad = good.clone();
    bad[at + 6] = 0x40;
    let error = read(bad, "").unwrap_err();
    assert!(error.contains("bytes claims to hold 18014398509"), "{error}");
}

#[test]
fn a_file_without_rows_is_empty() {
    let none = two_rows(vec![]).slice(0, 0);
    assert_eq!(read_as_both(&none, "").unwrap_err(), "t holds no rows");
}

#[test]
fn texts_become_categories_and_times_become_numbers() {
    use arrow_array::{Date32Array, TimestampMillisecondArray};
    let brands: DictionaryArray<Int32Type> = vec!["b", "a", "b", "b"].into_iter().collect();
    let milliseconds = [1_735_756_200_000, 0, 0, 0];
    let rows = batch(vec![
        ("qid", Arc::new(Int64Array::from(vec![1; 4]))),
        ("label", Arc::new(UInt8Array::from(vec![2, 0, 1, 0]))),
        ("brand", Arc::new(brands)),
        ("at", Arc::new(TimestampMillisecondArray::from(milliseconds.to_vec()))),
        ("day", Arc::new(Date32Array::from(vec![Some(20_089), None, Some(0), Some(1)]))),
    ]);
    let data = read_as_both(&rows, "").unwrap();
    let names: Vec<String> = data.features().iter().map(|name| name.into_owned()).collect();
    assert_eq!(names, ["brand", "at.days", "at.hour", "at.weekday", "day.days", "day.weekday"]);
    assert_eq!(data.categories(0).unwrap().as_ref(), ["b", "a"]);
    assert_eq!(data.matrix().get(1, 0), 1.0);
    // Wednesday, 1 January 2025, 18:30.
    assert_eq!(data.matrix().row(0)[2..], [18.0, 2.0, 20_089.0, 2.0]);
    assert!(data.matrix().get(1, 4).is_nan());
    let hour = read_as_both(&rows, "hour=at, ignore=day, number=label, label=none");
    assert!(hour.is_ok_and(|data| data.columns() == 3));
}

#[test]
fn large_tables_keep_their_rows_in_order() {
    let count = 70_000;
    let column = |factor: f32| -> ArrayRef {
        Arc::new(Float32Array::from_iter_values((0..count).map(|row| row as f32 * factor)))
    };
    let mut columns: Vec<(&'static str, ArrayRef)> = vec![
        ("qid", Arc::new(Int64Array::from_iter_values((0..count).map(|row| row / 100)))),
        ("label", Arc::new(UInt8Array::from_iter_values((0..count).map(|row| (row % 3) as u8)))),
    ];
    for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"] {
        columns.push((name, column(name.len() as f32 + columns.len() as f32)));
    }
    let data = read_as_both(&batch(columns), "").unwrap();
    assert_eq!(data.rows(), count as usize);
    for row in [0, 2047, 2048, 65_535, 65_536, 69_999] {
        assert_eq!(data.labels()[row], (row % 3) as f64);
        let expected: Vec<f32> = (0..11).map(|c| row as f32 * (c + 3) as f32).collect();
        assert_eq!(data.matrix().row(row), expected);
    }
}
