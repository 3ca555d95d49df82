//! Tests of the code shared by tables.

use std::io::Write;

use super::cell::feature_from_f64;
use super::write::number_text;
use super::*;

fn feature(text: &str) -> Result<f32, String> {
    feature_from_text(text.as_bytes())
        .map(|v| v.value)
        .map_err(|p| p.at(SourceLocation::line("t", 1)).to_string())
}

#[test]
fn features_are_numbers_infinities_or_missing() {
    assert_eq!(feature(" 1.5 ").unwrap(), 1.5);
    assert_eq!(feature("-0").unwrap().to_bits(), (-0.0f32).to_bits());
    assert_eq!(feature("1e-45").unwrap(), f32::from_bits(1));
    assert_eq!(feature("-Infinity").unwrap(), f32::NEG_INFINITY);
    for missing in ["", "  ", "NULL", "nan", "NaN", "-nan", "NA", "n/a"] {
        assert_eq!(feature(missing).unwrap().to_bits(), f32::NAN.to_bits(), "{missing}");
    }
    assert_eq!(
        feature("3.5e38").unwrap_err(),
        "t:1: found '3.5e38', expected a number within ±3.4e38 (features are 32-bit floats)"
    );
    assert!(feature("abc").unwrap_err().ends_with("expected a number or an empty cell"));
    assert!(feature("1,5").is_err());
    assert!(feature_from_f64(1e39).is_err());
    assert_eq!(feature_from_f64(f64::INFINITY).unwrap(), f32::INFINITY);
}

#[test]
fn numbers_are_written_short_and_read_back() {
    for value in [0.0f32, -0.0, 1.0, 0.1, 1e-45, f32::MAX, 16_777_216.0, 1e16, -2.5e-7] {
        let mut text = Vec::new();
        write_number(&mut text, value);
        assert!(text.len() < 15, "{}", String::from_utf8_lossy(&text));
        let back = feature_from_text(&text).unwrap().value;
        assert_eq!(back.to_bits(), value.to_bits());
    }
    assert_eq!(number_text(10.0), "10");
}

#[test]
fn roles_refuse_what_they_cannot_mean() {
    let mut fields = Fields::default();
    for (role, bad) in [
        (Role::Query, ""),
        (Role::Label, "inf"),
        (Role::Label, "nan"),
        (Role::Label, ""),
        (Role::Weight, "-1"),
        (Role::Weight, "1e39"),
        (Role::QueryWeight, "x"),
        (Role::Position, "-1"),
        (Role::Position, "1.5"),
        (Role::Position, "4294967296"),
    ] {
        assert!(fields.set_text(role, bad.into()).is_err(), "{role:?} {bad}");
    }
    fields.set_number(Role::Query, 10.0).unwrap();
    assert_eq!(fields.query.as_deref(), Some("10"));
}

#[test]
fn a_matrix_beyond_the_limit_is_refused() {
    let names = ["qid", "label", "a", "b"].map(String::from);
    let schema = TableSchema::new("t.csv", &names, &Roles::default()).unwrap();
    let options = ReadOptions { max_matrix_bytes: 15, ..ReadOptions::default() };
    let mut table = TableBuilder::new(schema, &options);
    assert_eq!(table.add_rows("t.csv", 1, 7.0).unwrap(), [7.0, 7.0]);
    let error = table.add_rows("t.csv", 1, 0.0).unwrap_err();
    assert!(error.to_string().contains("the limit is 15 bytes"), "{error}");
    assert!(table.add_rows("t.csv", usize::MAX, 0.0).is_err());
}

#[test]
fn further_files_need_the_same_columns_in_any_order() {
    let names = |list: &[&str]| list.iter().map(|n| n.to_string()).collect::<Vec<_>>();
    let schema =
        TableSchema::new("a.csv", &names(&["qid", "label", "x"]), &Roles::default()).unwrap();
    let slots = schema.slots("b.csv", &names(&["x", "label", "qid"])).unwrap();
    assert_eq!(slots[0], Slot::Feature(0));
    let error = |list: &[&str]| schema.slots("b.csv", &names(list)).unwrap_err().to_string();
    assert_eq!(
        error(&["qid", "label", "y"]),
        "b.csv: the columns differ from those of a.csv: added 'y', missing 'x'"
    );
    assert!(error(&["qid", "label"]).ends_with("missing 'x'"));
    assert!(error(&["qid", "label", "x", "x"]).ends_with("there are two columns 'x'"));
}

#[test]
fn features_named_like_roles_are_not_written() {
    let named =
        |names: &[&str]| FeatureNames::Named(names.iter().map(|name| name.to_string()).collect());
    let error = check_writable(&named(&["a", "Label"]), true).unwrap_err().to_string();
    assert!(error.starts_with("feature 'Label' would be read back as the label"), "{error}");
    assert!(check_writable(&named(&["a", "Label"]), false).is_ok());
    assert!(check_writable(&named(&["a", "a"]), false).is_err());
    assert!(check_writable(&named(&[" "]), false).is_err());
}

#[test]
fn rows_are_written_in_order_by_any_number_of_threads() {
    let order: Vec<u32> = (0..5000).rev().collect();
    let mut out = Vec::new();
    write_rows(&order, &mut out, |row, text| writeln!(text, "{row}").unwrap()).unwrap();
    let expected: String = order.iter().map(|row| format!("{row}\n")).collect();
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}
