//! Tests of the LETOR reader: usual and unusual files, side files, and the fast parser against the
//! reference parser.

use super::*;
use proptest::prelude::*;

fn load(text: &str) -> Result<(Dataset, Warnings), DataError> {
    load_with(text.as_bytes(), &ReadOptions::default())
}

fn load_with(text: &[u8], options: &ReadOptions) -> Result<(Dataset, Warnings), DataError> {
    let input = Input::from_bytes("f.txt", text.to_vec())?;
    let mut warnings = Warnings::default();
    let data = read(&[input], options, &mut warnings)?;
    Ok((data, warnings))
}

#[test]
fn a_plain_file_is_read() {
    let (data, warnings) = load("2 qid:a 1:0.5 2:3\n0 qid:a 2:-1.25 # d7\n1 qid:b 1:4").unwrap();
    assert_eq!((data.rows(), data.columns(), data.queries()), (3, 2, 2));
    assert_eq!(data.matrix().values(), [0.5, 3.0, 0.0, -1.25, 4.0, 0.0]);
    assert_eq!(data.labels(), [2.0, 0.0, 1.0]);
    assert_eq!(data.doc_ids().unwrap().iter().collect::<Vec<_>>(), ["", "d7", ""]);
    assert_eq!(warnings.count(WarningKind::RowsWithoutDocid), 2);
}

#[test]
fn unusual_but_valid_files_read_the_same() {
    let plain = load("1 qid:1 1:1 2:2\n0 qid:1 1:3 2:4\n").unwrap().0;
    for text in [
        "1 qid:1 1:1 2:2\r\n0 qid:1 1:3 2:4\r\n",
        "\u{feff}1 qid:1 1:1 2:2\n\n\n0 qid:1 1:3 2:4",
        "# head\n1 qid:1 1:1 2:2   \n  0 qid:1\t1:3 2:4 \n \n",
        "1.0 qid:1 2:2 1:1e0\n-0 qid:1 1:0.3e1 2:+4\n",
    ] {
        let data = load(text).unwrap().0;
        assert_eq!(data.matrix(), plain.matrix(), "{text:?}");
        assert_eq!(data.labels(), plain.labels(), "{text:?}");
    }
}

#[test]
fn scattered_rows_are_reported_with_their_file_and_line() {
    let texts = ["# head\n\n1 qid:1 1:1\n1 qid:2 1:1\n", "1 qid:2 1:1\n# x\n\n0 qid:1 1:2\n"];
    let inputs = texts.iter().zip(["a.txt", "b.txt"]);
    let inputs: Vec<Input> = inputs
        .map(|(text, name)| Input::from_bytes(name, text.as_bytes().to_vec()).unwrap())
        .collect();
    let mut warnings = Warnings::default();
    read(&inputs, &ReadOptions::default(), &mut warnings).unwrap();
    let found: Vec<_> =
        warnings.iter().filter(|w| w.kind == WarningKind::ScatteredQueries).collect();
    assert_eq!((found[0].count, &found[0].first), (1, &SourceLocation::line("b.txt", 4)));
}

#[test]
fn feature_ids_may_begin_at_0_in_any_row() {
    let late = format!("{}0 qid:2 0:9 1:8\n", "1 qid:1 1:1 2:2\n".repeat(3));
    let (data, _) = load(&late).unwrap();
    assert_eq!(data.features(), &FeatureNames::Ids { first: 0, count: 3 });
    assert_eq!(data.matrix().row(0), [0.0, 1.0, 2.0]);
    assert_eq!(data.matrix().row(3), [9.0, 8.0, 0.0]);
}

#[test]
fn a_wide_unsorted_row_widens_the_matrix() {
    let (data, warnings) = load("1 qid:1 1:1\n1 qid:1 9:5 2:1\n").unwrap();
    assert_eq!(data.columns(), 9);
    assert_eq!(data.matrix().get(1, 8), 5.0);
    assert_eq!(warnings.count(WarningKind::UnsortedFeatures), 1);
}

#[test]
fn rows_without_features_are_rows() {
    let (data, _) = load("1 qid:1\n0 qid:1 # x\n").unwrap();
    assert_eq!((data.rows(), data.columns()), (2, 0));
}

#[test]
fn absent_features_can_be_missing_and_null_always_is() {
    let options = ReadOptions { absent: Absent::Missing, ..ReadOptions::default() };
    let (data, warnings) = load_with(b"1 qid:1 2:7\n1 qid:1 1:NULL 2:0\n", &options).unwrap();
    assert!(data.matrix().get(0, 0).is_nan() && data.matrix().get(1, 0).is_nan());
    assert_eq!(data.matrix().get(1, 1), 0.0);
    assert_eq!((data.absent(), warnings.count(WarningKind::MissingValues)), (Absent::Missing, 1));
}

#[test]
fn a_matrix_beyond_the_limit_is_refused() {
    let options = ReadOptions { max_matrix_bytes: 1000, ..ReadOptions::default() };
    let error = load_with(b"1 qid:1 16000000:1\n", &options).unwrap_err();
    assert!(matches!(error, DataError::TooLarge { .. }), "{error}");
}

#[test]
fn side_files_give_queries_weights_and_positions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    std::fs::write(&path, "1 1:1\n0 1:2\n2 1:3\n").unwrap();
    let read_data = || {
        let mut warnings = Warnings::default();
        let inputs = [Input::open(&path).unwrap()];
        read(&inputs, &ReadOptions::default(), &mut warnings).map(|data| (data, warnings))
    };
    assert!(read_data().unwrap_err().help().unwrap().contains(".query"));
    std::fs::write(folder.path().join("x.query"), "2\n1\n").unwrap();
    std::fs::write(folder.path().join("x.weight"), "1\n0.5\n2\n").unwrap();
    let (data, warnings) = read_data().unwrap();
    assert_eq!(data.query(0).rows, 0..2);
    assert_eq!(data.row_weights(), Some(&[1.0, 0.5, 2.0][..]));
    assert_eq!(warnings.count(WarningKind::SideFile), 2);
    // Positions are ranks, from 1.
    std::fs::write(folder.path().join("x.position"), "1\n0\n2\n").unwrap();
    let error = read_data().unwrap_err().to_string();
    assert!(error.contains("x.position:2") && error.contains("from 1"), "{error}");
    std::fs::remove_file(folder.path().join("x.position")).unwrap();
    std::fs::write(folder.path().join("x.query"), "2\n2\n").unwrap();
    assert!(read_data().unwrap_err().to_string().contains("add up to 4"));
}

#[test]
fn side_files_are_checked_for_each_input_and_read_also_if_rows_have_qids() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let read_both = || {
        let mut warnings = Warnings::default();
        let inputs = ["a", "b"].map(|name| Input::open(folder.path().join(name)).unwrap());
        read(&inputs, &ReadOptions::default(), &mut warnings).map(|data| (data, warnings))
    };
    write("a", "1 qid:1 1:1\n0 qid:1 1:2\n");
    write("b", "1 qid:2 1:1\n0 qid:2 1:2\n");
    write("a.weight", "1\n2\n3\n");
    write("b.weight", "4\n");
    let error = read_both().unwrap_err().to_string();
    assert!(error.contains("a.weight: found 3 lines, expected 2"), "{error}");
    write("a.weight", "1\n2\n");
    write("b.weight", "3\n4\n");
    write("b.query", "1\n1\n");
    let (data, warnings) = read_both().unwrap();
    assert_eq!(data.row_weights(), Some(&[1.0, 2.0, 3.0, 4.0][..]));
    assert_eq!((data.queries(), warnings.count(WarningKind::NeedlessQuerySizes)), (2, 1));
    // The first query of b is not the query 1 of a.
    write("b", "1 1:1\n0 1:2\n");
    let error = read_both().unwrap_err().to_string();
    assert!(error.contains("found rows without qid, expected a qid in each row, as in"), "{error}");
    write("a", "1 1:1\n0 1:2\n");
    write("a.query", "2\n");
    assert_eq!(read_both().unwrap().0.queries(), 3);
}

#[test]
fn a_comment_may_follow_without_a_space() {
    for text in ["1 qid:5#a 1:2\n", "1 qid:5#a 1:2\n2 qid:6 1:0.123456 2:0.123456 3:0.123456\n"] {
        let (data, _) = load(text).unwrap();
        assert_eq!((data.query(0).id, data.doc_ids().unwrap().get(0)), ("5", "a"));
        assert!(data.matrix().row(0).iter().all(|v| *v == 0.0));
    }
}

#[test]
fn errors_count_lines_across_chunks() {
    // 7.6 MB, more than one chunk of 4 MiB.
    let mut text = "1 qid:1 1:0.123456\n".repeat(400_000);
    text.push_str("1 qid:1 1:x\n");
    let error = load(&text).unwrap_err().to_string();
    assert_eq!(error, "f.txt:400001:11: found 'x', expected a number, NULL or nan");
}

/// A word of a line, valid or invalid.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        20 => (0u32..12, -99999i32..99999).prop_map(|(id, v)| format!("{id}:{}", v as f32 / 1000.0)),
        5 => (0u32..12, any::<f32>()).prop_map(|(id, v)| format!("{id}:{v:e}")),
        5 => (0u32..12, any::<f64>()).prop_map(|(id, v)| format!("{id}:{v}")),
        1 => Just("qid:7".to_owned()),
        1 => Just("3:NULL".to_owned()),
        1 => "[0-9:.e#a-]{1,9}",
    ]
}

/// A file of a few lines, mostly valid.
fn file() -> impl Strategy<Value = String> {
    let end =
        prop_oneof![4 => Just("\n"), 1 => Just(" \r\n"), 1 => Just(" # d1\n"), 1 => Just("\n\n")];
    let row = (0u32..5, "[a-c]#?[ad]?", prop::collection::vec(word(), 0..6), end);
    prop::collection::vec(row, 1..6).prop_map(|rows| {
        let line = |(label, qid, words, end): &(u32, String, Vec<String>, &str)| {
            let words: Vec<String> = words.iter().map(|w| format!(" {w}")).collect();
            format!("{label} qid:{qid}{}{end}", words.concat())
        };
        rows.iter().map(line).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// The fast parser against the reference parser, on files that are mostly valid.
    #[test]
    fn the_fast_parser_agrees_with_the_reference_parser(text in file()) {
        let bytes = text.as_bytes();
        let expected: Result<Vec<_>, _> =
            bytes.split(|&b| b == b'\n').filter(|l| line::has_data(l)).map(line::parse).collect();
        match (load(&text), expected) {
            (Ok((data, _)), Ok(lines)) => {
                let FeatureNames::Ids { first, .. } = *data.features() else { unreachable!() };
                let labels: Vec<f64> = lines.iter().map(|l| l.label).collect();
                prop_assert_eq!(data.to_source_order(data.labels()).unwrap(), labels);
                for (source, &row) in data.rows_by_source().iter().enumerate() {
                    let mut cells = vec![0f32; data.columns()];
                    for &(id, value) in &lines[source].features {
                        cells[(id - first) as usize] = value;
                    }
                    let bits = |v: &[f32]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                    prop_assert_eq!(bits(data.matrix().row(row as usize)), bits(&cells));
                }
            }
            (Err(_), Err(_)) => {}
            // Only one of the two parsers has accepted the file.
            (fast, reference) => prop_assert!(false, "{fast:?} against {reference:?}"),
        }
    }

    #[test]
    fn any_bytes_give_a_result_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let options = ReadOptions { max_matrix_bytes: 1 << 20, ..ReadOptions::default() };
        let _ = load_with(&bytes, &options);
    }
}
