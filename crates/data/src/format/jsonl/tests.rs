//! Tests of JSON lines.

use super::*;
use crate::dataset::Absent;
use crate::format::Roles;

fn read_with(text: &str, options: &ReadOptions) -> Result<Dataset, String> {
    let input = Input::from_bytes("t.jsonl", text.into()).unwrap();
    read(&[input], options, &mut Warnings::default())
        .map(|(data, _)| data)
        .map_err(|e| e.to_string())
}

fn read_text(text: &str) -> Result<Dataset, String> {
    read_with(text, &ReadOptions::default())
}

#[test]
fn features_are_read_from_an_array_an_object_or_the_line_itself() {
    let array = read_text("{\"qid\":7,\"label\":1,\"features\":[1.5,null]}\n").unwrap();
    let keys = read_text("{\"qid\":\"7\",\"1\":1.5,\"2\":null,\"label\":1.0}").unwrap();
    let object = read_text(r#"{"features":{"1":1.5e0,"2":null},"rel":1,"query_id":7.0}"#).unwrap();
    assert_eq!(array, keys);
    assert_eq!(array, object);
    assert_eq!(array.query_ids().get(0), "7");
}

#[test]
fn a_feature_that_is_left_out_is_absent() {
    let text = "{\"qid\":1,\"label\":1,\"a\":1,\"b\":2}\n\n{\"label\":0,\"qid\":1,\"b\":3}\n";
    assert_eq!(read_text(text).unwrap().matrix().row(1), [0.0, 3.0]);
    let options = ReadOptions { absent: Absent::Missing, ..ReadOptions::default() };
    assert!(read_with(text, &options).unwrap().matrix().get(1, 0).is_nan());
}

/// Regression: a category that a line leaves out was read as the most frequent one, and a time as
/// the year 1970.
#[test]
fn a_category_or_a_time_that_is_left_out_is_missing() {
    let rows = [r#""brand":"z","at":"2026-01-02","x":1"#, r#""brand":"y""#, r#""brand":"z""#, ""];
    let rows = rows.map(|rest| format!("{{\"qid\":1,\"label\":1,{rest}}}\n").replace(",}", "}"));
    let data = read_text(&rows.concat()).unwrap();
    let column = |column| (0..4).map(|row| data.matrix().get(row, column)).collect::<Vec<f32>>();
    let brands = column(0);
    assert_eq!(brands[..3], [0.0, 1.0, 0.0]);
    assert!(brands[3].is_nan() && column(1)[1].is_nan(), "{brands:?}");
    assert_eq!(column(3), [1.0, 0.0, 0.0, 0.0], "numbers are absent by the option");
}

/// Regression: a key that the first line does not have was an error.
#[test]
fn later_lines_may_have_further_keys() {
    let text = concat!(
        "{\"qid\":1,\"label\":1,\"a\":1}\n",
        "{\"qid\":1,\"label\":0,\"a\":2,\"b\":3,\"brand\":\"x\"}\n",
        "{\"qid\":1,\"label\":0,\"a\":4}\n",
    );
    let data = read_text(text).unwrap();
    let names: Vec<_> = (0..3).map(|column| data.features().name(column)).collect();
    assert_eq!(names, ["a", "b", "brand"]);
    let rows: Vec<&[f32]> = (0..3).map(|row| data.matrix().row(row)).collect();
    assert_eq!(
        (rows[1], &rows[0][..2], &rows[2][..2]),
        (&[2.0, 3.0, 0.0][..], &[1.0, 0.0][..], &[4.0, 0.0][..])
    );
    assert!(rows[0][2].is_nan() && rows[2][2].is_nan(), "no brand");
    // Among the features, and as a column that was given a role.
    let nested = "{\"qid\":1,\"label\":1,\"features\":{\"a\":1}}\n{\"qid\":1,\"label\":0,\"features\":{\"b\":2}}\n";
    assert_eq!(read_text(nested).unwrap().matrix().values(), [1.0, 0.0, 0.0, 2.0]);
    let roles = Roles::parse("ignore=b+brand").unwrap();
    let options = ReadOptions { roles, ..ReadOptions::default() };
    assert_eq!(read_with(text, &options).unwrap().matrix().values(), [1.0, 2.0, 4.0]);
    let roles = Roles::parse("category=b, ignore=brand").unwrap();
    let options = ReadOptions { roles, ..ReadOptions::default() };
    assert_eq!(read_with(text, &options).unwrap().matrix().get(1, 1), 0.0);
    // A file whose lines all have keys of their own.
    let line = |n: usize| format!("{{\"qid\":1,\"label\":1,\"k{n}\":1}}\n");
    let wild: String = (0..MAX_LATER_KEYS + 2).map(line).collect();
    let error = read_text(&wild).unwrap_err();
    assert!(error.contains("'k4097', expected at most 4096 keys"), "{error}");
}

#[test]
fn errors_name_line_column_and_key() {
    let error = |later: &str| {
        let first = r#"{"qid":1,"label":1,"features":{"a":1}}"#;
        read_text(&format!("{first}\n{later}\n")).unwrap_err()
    };
    assert_eq!(
        error(r#"{"qid":1,"label":1,"features":{"a":"x"}}"#),
        "t.jsonl: column 'a' has numbers and texts (the first text, 'x', is at t.jsonl:2:36)"
    );
    assert!(error(r#"{"qid":1,"label":1,"features":[1]}"#).contains("an object with features"));
    assert_eq!(
        error(r#"{"qid":1,"features":{"a":1}}"#),
        "t.jsonl:2 (column 'label'): found nothing, expected a label, which is a finite number"
    );
    assert!(error(r#"{"qid":1,"label":1,"features":{"a":1}"#).contains("the end of the line"));
    assert!(error(r#"{"qid":1,"label":1 "features":{}}"#).contains("expected `,` or `}`"));
    assert!(error(r#"{"qid":1,"qid":2,"label":1}"#).contains("'qid' a second time"));
    assert!(error(r#"{"qid":1,"label":1,"features":{"a":1,"a":1}}"#).contains("second time"));
    assert!(error(r#"{"qid":1,"label":"1"}"#).contains("(column 'label')"));
    assert!(error(r#"{"qid":1,"label":1e999}"#).contains("found '1e999'"));
    assert!(error(r#"{"qid":1,"label":1,"features":{"a":1e39}}"#).contains("32-bit"));
    assert!(error(r#"{"qid":null,"label":1}"#).contains("(column 'qid'): found nothing"));
    assert!(error(r#"{"qid":1,"label":1,"features":[1]}"#).contains("found an array"));
    assert!(error(r#"[1]"#).contains("found an array, expected one JSON object per line"));
}

#[test]
fn deep_nesting_is_refused_without_a_crash() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let line = format!("{{\"qid\":1,\"label\":1,\"a\":{deep}}}");
    assert!(read_text(&line).unwrap_err().contains("of type array"));
    let options =
        ReadOptions { roles: Roles::parse("ignore=a").unwrap(), ..ReadOptions::default() };
    assert_eq!(read_with(&line, &options).unwrap().columns(), 0);
    assert!(read_text(&"{\"qid\":".repeat(100_000)).is_err());
}

#[test]
fn infinite_features_are_not_written() {
    let mut data = read_text("{\"qid\":1,\"label\":1,\"a\":1}").unwrap();
    data.matrix = crate::Matrix::from_rows(1, 1, vec![f32::INFINITY]).unwrap();
    let error = write(&data, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.starts_with("feature 'a' of row 1 is infinite"), "{error}");
}

#[test]
fn rows_are_written_as_documented() {
    let text = "{\"qid\":\"a\",\"docid\":\"d\",\"label\":1,\"features\":[1.5,null]}\n";
    let mut out = Vec::new();
    write(&read_text(text).unwrap(), &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), text);
}

/// Regression: data in which no line had a feature of the model was refused.
#[test]
fn a_feature_of_earlier_data_that_no_line_has_is_absent() {
    let train = r#"{"qid":1,"label":1,"a":1,"price":5,"brand":"x","at":"2026-01-02"}"#;
    let train = read_text(train).unwrap();
    let options = ReadOptions::new()
        .columns(train.table_columns().cloned())
        .features(train.features().clone());
    let read_new = |text: &str| {
        let input = Input::from_bytes("t.jsonl", text.into()).unwrap();
        let mut warnings = Warnings::default();
        let (data, _) = read(&[input], &options, &mut warnings).unwrap();
        let notes: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        (data, notes)
    };
    let both = "{\"qid\":1,\"label\":0,\"a\":7}\n{\"qid\":1,\"label\":0,\"a\":8,\"b\":9}\n";
    let (data, notes) = read_new(both);
    let names: Vec<_> = data.features().iter().collect();
    assert_eq!(names, ["a", "b", "price", "brand", "at.days", "at.weekday"]);
    assert_eq!(data.matrix().row(1)[..3], [8.0, 9.0, 0.0]);
    assert!(data.matrix().row(1)[3..].iter().all(|value| value.is_nan()));
    assert_eq!(data.categories(3).unwrap().len(), 1);
    let note = "t.jsonl: columns 'price', 'brand', 'at' are in no line: numbers are taken as 0, \
                categories and times as missing";
    assert_eq!(notes, [note]);
    let (data, _) = read_new(r#"{"qid":1,"label":0,"features":{"a":7}}"#);
    assert_eq!(data.matrix().row(0)[..2], [7.0, 0.0]);
    // Data of something else is not filled up.
    assert_eq!(read_new(r#"{"qid":1,"label":0,"z":7}"#).0.columns(), 1);
}
