//! Tests of the codec: round trips are exact, damage is detected, no bytes panic.

mod nets;

use proptest::prelude::*;
use rankwright_data::{Absent, FeatureNames};
use xxhash_rust::xxh3::xxh3_64;

use super::{FORMAT, MAGIC};
use crate::tree::tests::{chain_tree, random_tree, two_split_tree};
use crate::{
    Categories, Ensemble, Header, Linear, Model, ModelBody, ModelError, SplitCondition, Tree,
};

fn tree_model(trees: Vec<Tree>) -> Model {
    let names = ["bm25", "page\nrank \"é\"", "c", "d"].map(String::from).to_vec();
    let mut header = Header::new(FeatureNames::Named(names), Absent::Missing);
    header.learner = "lambdamart(trees=2)".into();
    header.seed = u64::MAX;
    header.notes.insert("why".into(), "a test".into());
    Model::new(header, ModelBody::Trees(Ensemble::new(0.5, trees).unwrap())).unwrap()
}

fn linear_model() -> Model {
    let header = Header::new(FeatureNames::Ids { first: 1, count: 3 }, Absent::Zero);
    let linear = Linear::new(-0.0, vec![0.1, 0.0, -1e300]).unwrap();
    Model::new(header, ModelBody::Linear(linear)).unwrap()
}

/// The same bytes, whose last 8 are replaced by a valid checksum.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 8;
    let sum = xxh3_64(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// The index of the first byte of the body.
fn body_start(bytes: &[u8]) -> usize {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    ends.map(|(index, _)| index + 1).nth(1).unwrap()
}

#[test]
fn models_are_read_back_equal_and_written_as_the_same_bytes() {
    let constant = Tree::constant(2.0, 3).unwrap();
    let shapes = vec![two_split_tree(), constant, random_tree(7, 20, 4), chain_tree(9)];
    for model in [tree_model(shapes), tree_model(vec![]), linear_model()] {
        let bytes = model.to_bytes();
        let back = Model::from_bytes(&bytes).unwrap();
        assert_eq!(back, model);
        assert_eq!(back.to_bytes(), bytes);
        assert!((FORMAT.detect)(&bytes) && (FORMAT.detect)(&bytes[..MAGIC.len()]));
    }
}

#[test]
fn the_first_two_lines_can_be_read_by_people() {
    let bytes = tree_model(vec![two_split_tree()]).to_bytes();
    let text = String::from_utf8_lossy(&bytes[..body_start(&bytes)]).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0], "RANKWRIGHT MODEL 1");
    assert!(lines[1].starts_with(r#"{"kind":"trees","learner":"lambdamart(trees=2)""#));
    assert!(lines[1].contains(r#""features":{"names":["bm25","page\nrank \"é\"","c","d"]}"#));
}

#[test]
fn every_truncation_and_every_changed_byte_is_an_error() {
    for model in [tree_model(vec![two_split_tree(), random_tree(3, 4, 4)]), linear_model()] {
        let bytes = model.to_bytes();
        for end in 0..bytes.len() {
            assert!(Model::from_bytes(&bytes[..end]).is_err(), "cut at {end}");
        }
        let mut changed = bytes.clone();
        for index in 0..bytes.len() {
            for flip in 1..=255 {
                changed[index] = bytes[index] ^ flip;
                assert!(Model::from_bytes(&changed).is_err(), "byte {index} flipped by {flip}");
            }
            changed[index] = bytes[index];
        }
        let longer = [&bytes[..], b"\0"].concat();
        assert!(Model::from_bytes(&longer).is_err());
    }
}

/// Replaces bytes of a model's body from `offset` on by `new`, with a valid checksum; returns the
/// error of reading the model.
fn refusal(model: &Model, offset: usize, new: &[u8]) -> String {
    let mut bytes = model.to_bytes();
    let start = body_start(&bytes) + offset;
    bytes[start..start + new.len()].copy_from_slice(new);
    Model::from_bytes(&sealed(bytes)).unwrap_err().to_string()
}

#[test]
fn content_with_a_valid_checksum_is_checked_too() {
    let model = tree_model(vec![two_split_tree()]);
    // Offsets in the body. The base has 8 bytes, the numbers of trees and of splits 4 each; then
    // follow arrays for two splits (features, thresholds, sides of missing values, left and right
    // children, gains, rows) and the values of three leaves.
    let (trees, splits, features, thresholds, missing) = (8, 12, 16, 24, 32);
    let (left, right, gains, values) = (33, 41, 49, 81);
    let leaf = |number: u32| (number | 1 << 31).to_le_bytes();
    let nan = f64::NAN.to_le_bytes();
    for (offset, new, reason) in [
        (0, &nan[..], "the base score is NaN"),
        (trees, &2u32.to_le_bytes(), "bytes should follow"),
        (trees, &0u32.to_le_bytes(), "bytes after its end"),
        (trees, &u32::MAX.to_le_bytes(), "4294967295 trees do not fit"),
        (splits, &u32::MAX.to_le_bytes(), "bytes should follow, but"),
        (splits, &1u32.to_le_bytes(), "tree 0: split 0 leads to"),
        (features, &4u32.to_le_bytes(), "uses 5 features; its header has 4"),
        (features, &u32::MAX.to_le_bytes(), "feature 4294967295"),
        (thresholds, &f32::NAN.to_le_bytes(), "tree 0: the threshold of split 0 is NaN"),
        (missing, &[0x82], "padding bits"),
        (left, &7u32.to_le_bytes(), "leads to split 7; expected a split or leaf that exists"),
        (left, &leaf(3), "leads to leaf 3"),
        (left, &leaf(1), "which has a parent already"),
        (right, &0u32.to_le_bytes(), "leads back to split 0"),
        (right + 4, &0u32.to_le_bytes(), "split 1 leads back to split 0"),
        (gains, &nan, "the gain of split 0 is NaN"),
        (values, &nan, "the value of leaf 0 is NaN"),
        (values + 8, &f64::INFINITY.to_le_bytes(), "the value of leaf 1 is inf"),
    ] {
        let error = refusal(&model, offset, new);
        assert!(error.contains(reason), "{offset}: {error}");
    }
    // The bias has 8 bytes, the number of weights 4.
    for (offset, new, reason) in [
        (0, &nan[..], "the bias is NaN"),
        (8, &2u32.to_le_bytes(), "8 bytes after its end"),
        (8, &4u32.to_le_bytes(), "32 bytes should follow, but 24 are left"),
        (12, &nan, "weight number 0 is NaN"),
    ] {
        let error = refusal(&linear_model(), offset, new);
        assert!(error.contains(reason), "{offset}: {error}");
    }
}

/// Replaces a text in the first two lines of a model's file; returns the error of reading the file.
fn header_refusal(model: &Model, from: &str, to: &str) -> String {
    let bytes = model.to_bytes();
    let split = body_start(&bytes);
    let text = std::str::from_utf8(&bytes[..split]).unwrap();
    assert!(text.contains(from), "{text}");
    let changed = [text.replacen(from, to, 1).as_bytes(), &bytes[split..]].concat();
    Model::from_bytes(&sealed(changed)).unwrap_err().to_string()
}

#[test]
fn invalid_headers_are_refused() {
    let model = tree_model(vec![two_split_tree()]);
    for (from, to, reason) in [
        ("\"kind\":\"trees\"", "\"kind\":\"forest\"", "its kind is 'forest'"),
        ("\"kind\":\"trees\"", "\"kind\":\"linear\"", "damaged"),
        ("\"bm25\"", "\"bm26\"", "feature hash"),
        ("\"absent\":\"missing\"", "\"absent\":\"gone\"", "unknown variant"),
        ("\"seed\":18446744073709551615", "\"seed\":-1", "header cannot be read"),
        ("\"rows\":0", "\"rows\":0,\"extra\":0", "unknown field"),
        ("\"rows\":0,", "", "missing field `rows`"),
        ("MODEL 1\n", "MODEL 1\r\n", "line ends were changed"),
        ("MODEL 1\n", "MODEL 01\n", "no version"),
        ("MODEL 1\n", "MODEL \n", "no version"),
    ] {
        let error = header_refusal(&model, from, to);
        assert!(error.contains(reason), "{to}: {error}");
    }
    let error = header_refusal(&linear_model(), "\"count\":3", "\"count\":18446744073709551615");
    assert!(error.contains("feature hash"), "{error}");
}

/// A model whose second tree has two splits: one on a set of categories, one for which 0 is
/// missing.
fn model_with_sets() -> Model {
    let mut splits = two_split_tree().splits().to_vec();
    splits[0].rule = SplitCondition::In(1);
    splits[1].rule = SplitCondition::NonZeroAtMost(0.25);
    let sets = vec![Categories::default(), Categories::new([0, 65]).unwrap()];
    let leaves = two_split_tree().leaves().to_vec();
    tree_model(vec![two_split_tree(), Tree::with_sets(splits, leaves, sets).unwrap()])
}

#[test]
fn version_2_holds_sets_and_is_written_only_for_trees_that_need_it() {
    let model = model_with_sets();
    let bytes = model.to_bytes();
    assert!(bytes.starts_with(b"RANKWRIGHT MODEL 2\n"));
    assert_eq!(Model::from_bytes(&bytes).unwrap(), model);
    // Before the kinds of the first tree's conditions: the base, the numbers of trees and of
    // splits, the features and the thresholds of two splits.
    let kinds = 8 + 4 + 4 + 8 + 8;
    let body_end = bytes.len() - body_start(&bytes) - 8;
    for (offset, new, reason) in [
        (kinds, &[3][..], "the byte 3 is no known split condition"),
        (kinds, &[2], "tree 0: split 0 tests set"),
        // The file ends with the second set: its number of words (4 bytes), two words.
        (body_end - 8, &0_u64.to_le_bytes(), "and the last one not 0"),
        (body_end - 20, &u32::MAX.to_le_bytes(), "bytes should follow, but"),
    ] {
        let error = refusal(&model, offset, new);
        assert!(error.contains(reason), "{offset}: {error}");
    }
    let bytes = tree_model(vec![two_split_tree()]).to_bytes();
    assert!(bytes.starts_with(b"RANKWRIGHT MODEL 1\n"));
}

#[test]
fn the_error_of_a_newer_version_says_so() {
    let error = Model::from_bytes(b"RANKWRIGHT MODEL 5\nwhatever comes").unwrap_err();
    assert!(matches!(error, ModelError::Version { found: 5, supported: 4 }));
    assert!(error.help().unwrap().contains("newer program"));
}

#[test]
fn the_error_for_bytes_that_are_no_model_does_not_show_them() {
    for bytes in [&b"2 qid:1 1:0.5\n"[..], b"", b"password=secret"] {
        let error = Model::from_bytes(bytes).unwrap_err().to_string();
        assert!(error.starts_with("this is no model") && error.contains("LightGBM"), "{error}");
        assert!(!error.contains("qid") && !error.contains("secret"), "{error}");
    }
}

#[test]
fn files_are_saved_and_loaded_and_errors_name_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.model");
    let model = tree_model(vec![two_split_tree()]);
    model.save(&path).unwrap();
    assert_eq!(Model::load(&path).unwrap(), model);
    model.save(folder.path().join("a.gz")).unwrap();
    assert_eq!(Model::load(folder.path().join("a.gz")).unwrap(), model);
    std::fs::write(&path, &model.to_bytes()[..100]).unwrap();
    let error = Model::load(&path).unwrap_err();
    assert!(error.to_string().contains("a.model: the model is damaged: its checksum"), "{error}");
    assert!(error.help().unwrap().contains("train the model again"));
    let error = Model::load(folder.path().join("gone")).unwrap_err().to_string();
    assert!(error.starts_with("cannot read"), "{error}");
}

proptest! {
    #[test]
    fn any_bytes_give_a_model_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Model::from_bytes(&bytes);
        let _ = Model::from_bytes(&[b"RANKWRIGHT MODEL 1\n", &bytes[..]].concat());
    }

    #[test]
    fn damage_under_a_valid_checksum_gives_a_model_or_an_error(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        seed in 0u64..50,
    ) {
        let mut bytes = tree_model(vec![two_split_tree(), random_tree(seed, 6, 4)]).to_bytes();
        let start = body_start(&bytes);
        let checksum = bytes.len() - 8;
        for (index, value) in changes {
            bytes[start + index.index(checksum - start)] = value;
        }
        if let Ok(model) = Model::from_bytes(&sealed(bytes.clone())) {
            prop_assert_eq!(model.to_bytes(), sealed(bytes), "a model has only one form as bytes");
            prop_assert!(!model.score_row(&[1.0, f32::NAN]).is_nan());
        }
    }
}
