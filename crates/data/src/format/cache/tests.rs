//! Tests of the cache: round trips, and every kind of damage.

use super::*;
use crate::bytes::Input;
use crate::matrix::Matrix;
use crate::pairs::Preference;

/// A data set with every part that a cache can hold, except table columns.
fn sample() -> Dataset {
    Dataset::builder()
        .dense(&[1.0, -0.0, f32::NAN, 4.0, f32::INFINITY, 6.0, 7.0, 1e-45], 2)
        .feature_names(["x", "label"])
        .labels([0.0, 1.0, 2.5, 0.0])
        .query_ids(["a", "ö b", "a", "c"])
        .doc_ids(["d1", "", "d3", "d4"])
        .weights([1.0, 0.0, 0.5, 2.0])
        .query_weights([1.0, 2.0, 1.0, 3.0])
        .positions([1, 2, 3, 4])
        .absent(Absent::Missing)
        .pairs([Preference::new(2, 0).weight(0.5), Preference::equal(0, 2).weight(0.5)])
        .feature_set("analysis = \"ö\"\n")
        .build()
        .unwrap()
}

fn bytes_of(data: &Dataset) -> Vec<u8> {
    let mut out = Vec::new();
    write(data, &mut out).unwrap();
    out
}

fn open(bytes: Vec<u8>) -> Result<Dataset, String> {
    read(vec![Input::from_bytes("t.rwd", bytes).unwrap()]).map_err(|e| e.to_string())
}

#[test]
fn a_data_set_comes_back_whole_from_memory_and_from_a_map() {
    let data = sample();
    assert_eq!(open(bytes_of(&data)).unwrap(), data);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.rwd");
    std::fs::write(&path, bytes_of(&data)).unwrap();
    let mapped = read(vec![Input::open(&path).unwrap()]).unwrap();
    assert_eq!(mapped, data);
    assert_eq!(bytes_of(&mapped), bytes_of(&data));
    let part = data.select_queries(&[2, 0]).unwrap();
    assert_eq!(open(bytes_of(&part)).unwrap(), part);
    let none = data.select_queries(&[]).unwrap();
    assert_eq!(open(bytes_of(&none)).unwrap(), none);
}

#[test]
fn every_bit_flip_and_every_truncation_is_detected() {
    let good = bytes_of(&sample());
    for at in 0..good.len() {
        for bit in [0, 3, 7] {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            assert!(open(bad).is_err(), "byte {at}, bit {bit}");
        }
        assert!(open(good[..at].to_vec()).is_err(), "cut at {at}");
    }
    assert!(open([&good[..], &[0]].concat()).unwrap_err().contains("bytes, but"));
}

#[test]
fn another_version_is_refused_as_such() {
    let mut bytes = bytes_of(&sample());
    // The version is in bytes 8 to 12.
    bytes[8] = 5;
    assert_eq!(
        open(bytes).unwrap_err(),
        "t.rwd has format version 5; this program reads versions up to 4"
    );
}

#[test]
fn data_without_a_feature_set_is_still_written_as_version_1() {
    let old = sample().with_feature_set(None);
    let bytes = bytes_of(&old);
    assert_eq!((bytes[8], bytes_of(&sample())[8]), (1, 2), "the versions");
    assert_eq!(open(bytes).unwrap(), old);
}

#[test]
fn invalid_data_with_correct_checksums_is_refused() {
    let refused = |change: &dyn Fn(&mut Dataset)| {
        let mut data = sample();
        change(&mut data);
        open(bytes_of(&data)).unwrap_err()
    };
    assert!(refused(&|d| d.labels[0] = f64::NAN).contains("label"));
    assert!(refused(&|d| d.row_weights = Some(vec![-1.0; 4])).contains("weight"));
    assert!(refused(&|d| d.query_starts = vec![0, 3, 2]).contains("queries"));
    assert!(refused(&|d| d.query_starts = vec![0, 3, 9]).contains("queries"));
    assert!(refused(&|d| d.query_starts[0] = 1).contains("queries"));
    assert!(refused(&|d| d.source_rows = Some(vec![0, 1, 2, 2])).contains("permutation"));
    assert!(refused(&|d| d.source_rows = Some(vec![0, 1])).contains("source rows"));
    assert!(refused(&|d| d.positions = Some(vec![1])).contains("positions"));
    assert!(refused(&|d| d.pairs.as_mut().unwrap()[0].worse = 3).contains("pair"));
    assert!(refused(&|d| d.pairs.as_mut().unwrap()[0].weight = 0.0).contains("pair"));
    assert!(refused(&|d| d.pairs.as_mut().unwrap()[1].query = 7).contains("pair"));
    let twice = || FeatureNames::Named(vec!["x".into(), "x".into()]);
    assert!(refused(&|d| d.features = twice()).contains("same name"));
    assert!(refused(&|d| d.doc_ids = Some(Strings::default())).contains("document ids"));
}

#[test]
fn a_small_file_cannot_claim_billions_of_rows() {
    let mut data =
        Dataset::builder().dense(&[1.0], 1).labels([0.0]).query_ids(["a"]).build().unwrap();
    data.is_labelled = false;
    data.matrix = Matrix::from_rows(1, 0, Vec::new()).unwrap();
    data.features = FeatureNames::Ids { first: 1, count: 0 };
    let mut bytes = bytes_of(&data);
    // The shape is the first section; its first number is that of the rows.
    let number_at =
        |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let start = number_at(&bytes, HEADER_BYTES + 8) as usize;
    let end = start + number_at(&bytes, HEADER_BYTES + 16) as usize;
    bytes[start..start + 8].copy_from_slice(&u64::from(u32::MAX).to_le_bytes());
    let section_checksum = checksum(&bytes[start..end]).to_le_bytes();
    bytes[HEADER_BYTES + 24..HEADER_BYTES + 32].copy_from_slice(&section_checksum);
    let table_end = HEADER_BYTES + bytes[12] as usize * ENTRY_BYTES;
    let new_header_checksum =
        header_checksum(&bytes[..24], &bytes[HEADER_BYTES..table_end]).to_le_bytes();
    bytes[24..32].copy_from_slice(&new_header_checksum);
    let error = open(bytes).unwrap_err();
    assert!(error.contains("rows and columns do not match"), "{error}");
}

#[test]
fn two_caches_are_not_joined() {
    let input = || Input::from_bytes("t.rwd", bytes_of(&sample())).unwrap();
    let error = read(vec![input(), input()]).unwrap_err().to_string();
    assert!(error.contains("cannot be joined"), "{error}");
}

#[test]
fn the_columns_of_a_table_are_kept_and_damaged_ones_are_refused() {
    let text = "session,label,brand\n1,0,b\n1,1,a\n2,0,b\n2,1,b\n1,1,a\n";
    let input = Input::from_bytes("t.csv", text.into()).unwrap();
    let data = crate::format::read_inputs(vec![input], &crate::format::ReadOptions::default());
    let data = data.unwrap().data;
    let columns = data.table_columns().unwrap();
    assert_eq!(columns.categories("brand").unwrap().as_ref(), ["b", "a"]);
    let mut bytes = Vec::new();
    write(&data, &mut bytes).unwrap();
    assert_eq!(bytes[8], 3, "the version");
    let back = read(vec![Input::from_bytes("t.rwd", bytes).unwrap()]).unwrap();
    assert_eq!(back, data);
    let part = back.select_queries(&[1]).unwrap();
    assert_eq!(part.table_columns(), data.table_columns());
    for number in [2.0, -1.0, 0.5, f32::INFINITY] {
        let mut without_text = data.clone();
        without_text.matrix = without_text.matrix.into_owned();
        without_text.matrix.values_mut()[0] = number;
        let mut bytes = Vec::new();
        write(&without_text, &mut bytes).unwrap();
        let error = read(vec![Input::from_bytes("t.rwd", bytes).unwrap()]).unwrap_err();
        assert!(error.to_string().contains("a category has a number without a text"), "{error}");
    }
}
