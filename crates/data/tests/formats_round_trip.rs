//! Data sets survive every format, compressed or not, and any chain of formats, bit for bit.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rankwright_data::bytes::Input;
use rankwright_data::format::{self, Format, ReadOptions};
use rankwright_data::{Absent, DataPart, Dataset, FeatureNames, WarningKind, Warnings};

/// All formats but LETOR. Text formats lose the rule for absent features, which `there_and_back` gives
/// again; only the cache holds preference pairs.
fn tables() -> Vec<Format> {
    let mut formats = vec![Format::Csv, Format::Tsv, Format::Jsonl, Format::Cache];
    if cfg!(feature = "columnar") {
        formats.extend([Format::Parquet, Format::Arrow]);
    }
    formats
}

/// Writes a data set to a new file and reads it back; the format is detected by content.
fn there_and_back(data: &Dataset, format: Format, packing: &str) -> (Dataset, Warnings) {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("data.{}{packing}", format.info().extensions[0]);
    let path = folder.path().join(name);
    format::write(data, &path, format).unwrap();
    let options = ReadOptions::new().absent(data.absent());
    let loaded = format::read(&[path], &options).unwrap();
    assert_eq!(loaded.format, format);
    (loaded.data, loaded.warnings)
}

fn value() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -1e3f32..1e3,
        2 => (-5i32..300).prop_map(|v| v as f32),
        1 => Just(f32::NAN),
        1 => Just(-0.0f32),
        1 => any::<u32>().prop_map(|bits| match f32::from_bits(bits) {
            v if v.is_finite() => v,
            _ => f32::NAN,
        }),
        1 => (1u32..0x0080_0000).prop_map(f32::from_bits),
        1 => prop_oneof![Just(f32::MAX), Just(f32::MIN_POSITIVE), Just(16_777_217.0f32)],
    ]
}

fn label() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (0i32..5).prop_map(f64::from),
        1 => any::<f64>().prop_filter("finite", |v| v.is_finite()),
        1 => Just(f64::from_bits(1)),
    ]
}

/// The values of one row, before the query ids are known.
#[derive(Debug, Clone)]
struct Row {
    query: usize,
    values: Vec<f32>,
    label: f64,
    docid: String,
    weight: f32,
    position: u32,
}

fn rows(width: usize, docid: &'static str) -> impl Strategy<Value = Vec<Row>> {
    let row = (
        0usize..6,
        prop::collection::vec(value(), width),
        label(),
        docid,
        prop_oneof![Just(0.0f32), 0.001f32..9.0],
        1u32..=u32::MAX,
    );
    let row = row.prop_map(|(query, values, label, docid, weight, position)| Row {
        query,
        values,
        label,
        docid,
        weight,
        position,
    });
    prop::collection::vec(row, 1..30)
}

/// Which optional columns exist, the rule for absent features, and whether there is a feature set.
fn parts() -> impl Strategy<Value = [bool; 6]> {
    any::<[bool; 6]>()
}

fn build(ids: &[String], rows: &[Row], features: FeatureNames, parts: [bool; 6]) -> Dataset {
    let [doc_ids, weights, query_weights, positions, missing, set] = parts;
    let id = |row: &Row| ids[row.query % ids.len()].clone();
    let mut data = Dataset::builder()
        .rows(rows.iter().map(|row| &row.values))
        .features(features)
        .labels(rows.iter().map(|row| row.label))
        .query_ids(rows.iter().map(id))
        .absent(if missing { Absent::Missing } else { Absent::Zero });
    if doc_ids {
        data = data.doc_ids(rows.iter().map(|row| &row.docid));
    }
    if weights {
        data = data.weights(rows.iter().map(|row| row.weight));
    }
    if query_weights {
        data = data.query_weights(rows.iter().map(|row| id(row).len() as f32 / 7.0));
    }
    if positions {
        data = data.positions(rows.iter().map(|row| row.position));
    }
    if set {
        data = data.feature_set("analysis = \"größe\"\n");
    }
    data.build().unwrap()
}

/// Data sets with everything that tables can hold: unusual ids, unusual names, scattered rows.
fn any_data() -> impl Strategy<Value = Dataset> {
    let names = prop_oneof![
        (0u32..2, 1usize..5).prop_map(|(first, count)| FeatureNames::Ids { first, count }),
        prop::sample::subsequence(
            vec!["bm25", "a,b", "tab\there", "\"quoted\"", "größe", "two words", " x", "{", "1"],
            1..5
        )
        .prop_map(|names| FeatureNames::from_names(names.into_iter().map(String::from).collect())),
    ];
    let ids = prop::collection::vec("[ -~äöß☃\"',\t]{1,6}|\\PC{1,4}|[0-9]{1,20}", 1..6);
    (names, ids, parts())
        .prop_flat_map(|(names, ids, parts)| {
            let width = names.len();
            (Just(names), Just(ids), Just(parts), rows(width, "|[a-z]{1,3}|[ -~é\"\t,]{1,8}"))
        })
        .prop_map(|(names, ids, parts, rows)| build(&ids, &rows, names, parts))
}

/// Data sets that LETOR text can hold.
fn letor_data() -> impl Strategy<Value = Dataset> {
    let ids = prop::collection::vec("[!-\"$-~ä]{1,6}", 1..6);
    (0u32..2, 1usize..5, ids, any::<[bool; 2]>())
        .prop_flat_map(|(first, count, ids, parts)| {
            let names = FeatureNames::Ids { first, count };
            (Just(names), Just(ids), Just(parts), rows(count, "[a-zA-Z0-9:_.-]{1,12}"))
        })
        .prop_map(|(names, ids, [doc_ids, missing], rows)| {
            build(&ids, &rows, names, [doc_ids, false, false, false, missing, false])
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_data_set_survives_every_table_format(data in any_data()) {
        for format in tables() {
            prop_assert_eq!(&there_and_back(&data, format, "").0, &data, "{:?}", format);
        }
    }

    #[test]
    fn packing_changes_nothing(data in any_data(), packing in prop_oneof![Just(".gz"), Just(".zst")]) {
        for format in tables() {
            let packed = there_and_back(&data, format, packing).0;
            prop_assert_eq!(&packed, &data, "{:?}{}", format, packing);
        }
    }

    #[test]
    fn a_chain_of_formats_ends_where_it_began(
        data in any_data(),
        chain in prop::collection::vec(0usize..6, 2..5),
    ) {
        let formats = tables();
        let mut now = data.clone();
        for step in &chain {
            now = there_and_back(&now, formats[step % formats.len()], "").0;
        }
        prop_assert_eq!(now, data);
    }

    #[test]
    fn letor_text_survives_itself_and_every_table(data in letor_data(), packing in "|\\.gz|\\.zst") {
        prop_assert_eq!(&there_and_back(&data, Format::Letor, &packing).0, &data);
        for format in tables() {
            let through = there_and_back(&there_and_back(&data, format, "").0, Format::Letor, "").0;
            prop_assert_eq!(&through, &data, "{:?}", format);
        }
    }

    #[test]
    fn scattered_rows_are_noted_and_come_back_in_their_old_order(data in any_data()) {
        let scattered = (0..data.rows()).any(|row| data.source_row(row) != row);
        for format in tables() {
            let (back, warnings) = there_and_back(&data, format, "");
            // A cache keeps the grouped order and gives no warning.
            let noted = warnings.count(WarningKind::ScatteredQueries) > 0;
            prop_assert_eq!(noted, scattered && format != Format::Cache);
            prop_assert_eq!(back.rows_by_source(), data.rows_by_source());
        }
    }

    #[test]
    fn equal_data_sets_give_equal_cache_bytes(data in any_data()) {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a.rwd", "b.rwd"].map(|name| folder.path().join(name));
        format::write(&data, &paths[0], Format::Cache).unwrap();
        let again = there_and_back(&data, Format::Cache, "").0;
        format::write(&again, &paths[1], Format::Cache).unwrap();
        prop_assert_eq!(std::fs::read(&paths[0]).unwrap(), std::fs::read(&paths[1]).unwrap());
    }
}

fn small(values: Vec<f32>, features: FeatureNames) -> Dataset {
    let rows: Vec<Row> = values
        .chunks(features.len())
        .map(|values| Row {
            query: 0,
            values: values.to_vec(),
            label: 1.0,
            docid: "d".into(),
            weight: 1.0,
            position: 1,
        })
        .collect();
    build(&["q".into()], &rows, features, [false; 6])
}

#[test]
fn infinities_survive_every_format_that_can_hold_them() {
    let features = FeatureNames::Ids { first: 1, count: 2 };
    let data = small(vec![f32::INFINITY, f32::NEG_INFINITY], features);
    for format in tables().into_iter().chain([Format::Letor]).filter(|f| *f != Format::Jsonl) {
        assert_eq!(there_and_back(&data, format, "").0, data, "{format:?}");
    }
    let error = format::write(&data, Path::new("/dev/null"), Format::Jsonl).unwrap_err();
    assert!(error.to_string().contains("infinite, which JSON cannot represent"), "{error}");
}

#[test]
fn preference_pairs_survive_the_cache() {
    let data = small(vec![1.0, 2.0, 3.0], FeatureNames::Ids { first: 1, count: 1 });
    let pairs = Input::from_bytes(
        "pairs",
        b"qid better worse weight\nq 0 1 0.5\nq 1 > 2\nq 0 = 2\n".to_vec(),
    )
    .unwrap();
    let (data, _) = data.with_pairs(&pairs).unwrap();
    let back = there_and_back(&data, Format::Cache, "").0;
    assert_eq!(back.pairs().unwrap().len(), 3);
    assert_eq!(back, data);
}

#[test]
fn a_feature_with_the_name_of_a_role_is_written_only_where_it_comes_back() {
    let names = FeatureNames::Named(vec!["relevance".into(), "x".into()]);
    let data = small(vec![1.0, 2.0], names);
    for format in tables() {
        match format {
            Format::Jsonl | Format::Cache => assert_eq!(there_and_back(&data, format, "").0, data),
            _ => {
                let error = format::write(&data, Path::new("/dev/null"), format).unwrap_err();
                let error = error.to_string();
                assert!(error.contains("'relevance' would be read back as the label"), "{error}");
            }
        }
    }
}

#[test]
fn more_rows_than_a_parquet_row_group_survive() {
    let features = FeatureNames::Ids { first: 0, count: 1 };
    let data = small((0..70_000).map(|v| v as f32 / 3.0).collect(), features);
    for format in tables().into_iter().chain([Format::Letor]) {
        assert_eq!(there_and_back(&data, format, "").0, data, "{format:?}");
    }
}

#[test]
fn several_files_are_one_data_set() {
    let features = FeatureNames::Ids { first: 1, count: 1 };
    let whole = small(vec![1.0, 2.0, 3.0, 4.0], features.clone());
    let halves = [small(vec![1.0, 2.0], features.clone()), small(vec![3.0, 4.0], features)];
    let folder = tempfile::tempdir().unwrap();
    for format in tables().into_iter().chain([Format::Letor]) {
        let paths: Vec<PathBuf> = (0..2).map(|i| folder.path().join(format!("{i}"))).collect();
        for (half, path) in halves.iter().zip(&paths) {
            format::write(half, path, format).unwrap();
        }
        match (format::read(&paths, &ReadOptions::default()), format) {
            (joined, Format::Cache) => assert!(joined.is_err()),
            (joined, _) => assert_eq!(joined.unwrap().data, whole, "{format:?}"),
        }
    }
}

#[test]
fn the_feature_set_stays_with_the_data_in_every_table_format() {
    let folder = tempfile::tempdir().unwrap();
    let data = small(vec![1.0, 2.0], FeatureNames::Named(vec!["bm25".into()]));
    let with = data.clone().with_feature_set(Some("features = [\"bm25\"]\n"));
    for format in tables() {
        let path = folder.path().join(format!("d.{}", format.info().extensions[0]));
        assert!(format::write(&with, &path, format).unwrap().is_empty());
        assert_eq!(Dataset::read(&path).unwrap(), with, "{format:?}");
        // Data without a feature set does not inherit that of the file it replaces.
        format::write(&data, &path, format).unwrap();
        assert_eq!(Dataset::read(&path).unwrap(), data, "{format:?}");
    }
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, tables().len(), "no set of older data is left");
}

#[test]
fn parts_of_one_data_set_must_have_one_feature_set() {
    let folder = tempfile::tempdir().unwrap();
    let data = small(vec![1.0, 2.0], FeatureNames::Ids { first: 1, count: 1 });
    let sets = [Some("english"), Some("plain"), None];
    for format in tables().into_iter().filter(|format| *format != Format::Cache) {
        let paths = ["a", "b", "c"].map(|name| folder.path().join(name));
        for (path, set) in paths.iter().zip(sets) {
            format::write(&data.clone().with_feature_set(set), path, format).unwrap();
        }
        let read = |files: &[&PathBuf]| format::read(files, &ReadOptions::default());
        let error = read(&[&paths[0], &paths[1]]).unwrap_err().to_string();
        assert!(error.ends_with("b have different feature sets"), "{format:?}: {error}");
        let joined = read(&[&paths[0], &paths[2]]).unwrap();
        assert_eq!(joined.data.feature_set(), Some("english"));
        assert_eq!(joined.warnings.count(WarningKind::InputsWithoutFeatureSet), 1);
    }
}

/// Zeros that nobody gave must not become labels on the way through a file.
#[test]
fn data_without_labels_stays_without_labels() {
    let data = Dataset::from_rows([[1.0], [2.0]], ["bm25"]).query_ids(["q", "q"]).build().unwrap();
    assert!(!data.is_labelled() && data.labels() == [0.0, 0.0]);
    assert!(!data.select_queries(&[0]).unwrap().is_labelled());
    let folder = tempfile::tempdir().unwrap();
    for format in tables() {
        let path = folder.path().join("d");
        format::write(&data, &path, format).unwrap();
        if matches!(format, Format::Csv | Format::Tsv | Format::Jsonl) {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains("label"), "{text}");
        }
        let options = ReadOptions::new().needs_labels(false);
        let read = format::read(&[&path], &options).unwrap().data;
        assert!(!read.is_labelled(), "{format:?}");
        assert_eq!(read.matrix().values(), data.matrix().values());
    }
    let warnings = format::write(&data, folder.path().join("d.txt"), Format::Letor).unwrap();
    let kinds: Vec<_> = warnings.iter().map(|warning| warning.kind).collect();
    assert!(kinds.contains(&WarningKind::Lost(DataPart::NoLabels)), "{kinds:?}");
}

#[test]
fn parts_that_a_format_cannot_hold_give_warnings() {
    let data = Dataset::from_rows([[1.0], [2.0]], ["bm25"])
        .labels([1, 0])
        .query_ids(["q", "q"])
        .weights([1.0, 2.0])
        .query_weights([2.0, 2.0])
        .positions([1, 2])
        .pairs([(0, 1)])
        .absent(Absent::Missing)
        .feature_set("x")
        .build()
        .unwrap();
    let lost = |format| {
        let folder = tempfile::tempdir().unwrap();
        let warnings = format::write(&data, folder.path().join("d"), format).unwrap();
        warnings.iter().map(|warning| warning.kind).collect::<Vec<_>>()
    };
    assert_eq!(lost(Format::Cache), []);
    let pairs = [DataPart::Pairs].map(WarningKind::Lost);
    let text = [DataPart::AbsentRule, DataPart::Pairs].map(WarningKind::Lost);
    for format in tables() {
        match format {
            Format::Cache => assert_eq!(lost(format), []),
            Format::Parquet | Format::Arrow => assert_eq!(lost(format), pairs),
            _ => assert_eq!(lost(format), text),
        }
    }
    let all = [
        DataPart::FeatureNames,
        DataPart::AbsentRule,
        DataPart::RowWeights,
        DataPart::QueryWeights,
        DataPart::Positions,
        DataPart::Pairs,
        DataPart::FeatureSet,
    ];
    assert_eq!(lost(Format::Letor), all.map(WarningKind::Lost));
    let (mut out, folder) = (Vec::new(), tempfile::tempdir().unwrap());
    let warnings = format::write_to(&data, &mut out, Format::Csv).unwrap();
    let last = warnings.iter().last().unwrap().to_string();
    assert_eq!(last, "csv: this format does not keep the feature set");
    let path = folder.path().join("d.csv");
    data.save(&path).unwrap();
    assert!(data.save(folder.path().join("d.what")).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), out);
    assert_eq!(Dataset::read_bytes(out).unwrap().labels(), data.labels());
}
