//! Support for the tests of several formats: random models, rows to score, and damaged files.

use rankwright_data::{Absent, FeatureNames, Random};

use crate::error::ModelError;
use crate::tree::tests::random_tree;
use crate::{
    Child, Ensemble, Header, Leaf, Linear, Model, ModelBody, Side, Split, SplitCondition, Tree,
};

/// A model of random trees over four features. `missing` gets the threshold and the random side of
/// missing values of a split and returns the side to use; `value` rounds leaf values and the base.
pub(super) fn model(
    seed: u64,
    missing: impl Fn(f32, Side) -> Side,
    value: impl Fn(f64) -> f64,
) -> Model {
    // The second argument of `Random::new` is any number: it keeps streams of random numbers apart.
    let mut draw = Random::new(seed, 2);
    let trees = (0..draw.below(6))
        .map(|number| {
            let tree = random_tree(seed + number as u64, draw.below(12), 4);
            let mut splits: Vec<Split> = tree.splits().to_vec();
            for split in &mut splits {
                let threshold = split.rule.threshold().unwrap() * 0.5;
                (split.rule, split.gain, split.rows) = (SplitCondition::AtMost(threshold), 0.0, 0);
                split.missing = missing(threshold, split.missing);
            }
            let leaf = |leaf: &Leaf| Leaf { value: value(leaf.value), rows: 0 };
            Tree::new(splits, tree.leaves().iter().map(leaf).collect()).unwrap()
        })
        .collect();
    let ensemble = Ensemble::new(value(draw.normal()), trees).unwrap();
    Model::new(Header::new(names(), Absent::Zero), ModelBody::Trees(ensemble)).unwrap()
}

/// A model of one tree that every format of trees can express.
pub(super) fn simple_model() -> Model {
    let ensemble = Ensemble::new(0.5, vec![small_tree([Side::Left, Side::Right])]).unwrap();
    let features = FeatureNames::Named(vec!["bm25".into(), "pagerank".into()]);
    Model::new(Header::new(features, Absent::Zero), ModelBody::Trees(ensemble)).unwrap()
}

/// Names that are hard for some formats.
pub(super) fn names() -> FeatureNames {
    FeatureNames::Named(["bm25", "a \"b\" <c> & é", "# d\n", "e=1:2"].map(String::from).to_vec())
}

/// A linear model of the features [`names`].
pub(super) fn linear_model(bias: f64) -> Model {
    let linear = Linear::new(bias, vec![0.1, -2.5e-7, 0.0, 1e30]).unwrap();
    Model::new(Header::new(names(), Absent::Zero), ModelBody::Linear(linear)).unwrap()
}

/// Rows at and around thresholds, with missing and infinite values.
pub(super) fn rows(seed: u64) -> Vec<[f32; 4]> {
    let mut draw = Random::new(seed, 3);
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1e-45];
    let mut value = || match draw.below(4) {
        0 => special[draw.below(special.len())],
        _ => draw.below(24) as f32 * 0.25 - 1.0,
    };
    (0..50).map(|_| [value(), value(), value(), value()]).collect()
}

/// Checks that a model written and read back has the same features and gives the same scores to the
/// bit, and that a second round changes nothing.
pub(super) fn assert_round_trip(
    model: &Model,
    seed: u64,
    read: impl Fn(&[u8]) -> Result<Model, ModelError>,
    write: impl Fn(&Model) -> Result<Vec<u8>, ModelError>,
) {
    let back = read(&write(model).unwrap()).unwrap();
    assert_eq!(back.header().features, model.header().features);
    assert!(same_bits(model, &back, &rows(seed)));
    assert_eq!(read(&write(&back).unwrap()).unwrap().body(), back.body());
}

/// Whether two models give the same bits on every row.
pub(super) fn same_bits(a: &Model, b: &Model, rows: &[[f32; 4]]) -> bool {
    rows.iter().all(|row| a.score_row(row).to_bits() == b.score_row(row).to_bits())
}

/// Damages a file in many ways, and checks that reading gives a model or an error for each damaged
/// form. Returns the number of forms.
pub(super) fn damage(bytes: &[u8], read: fn(&[u8]) -> Result<Model, ModelError>) -> usize {
    assert!(read(bytes).is_ok(), "{:?}", read(bytes));
    let mut count = 0;
    let mut check = |bytes: &[u8]| {
        if let Ok(model) = read(bytes) {
            // A model that was read must also score.
            model.score_row(&[1.0; 8]);
        }
        count += 1;
    };
    for index in 0..bytes.len() {
        check(&bytes[..index]);
        check(&bytes[index..]);
        let mut changed = bytes.to_vec();
        for flip in [1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x7f, 0xff] {
            changed[index] = bytes[index] ^ flip;
            check(&changed);
        }
        changed.remove(index);
        check(&changed);
        changed = bytes.to_vec();
        changed.insert(index, bytes[index]);
        check(&changed);
    }
    for (from, to) in numbers(bytes) {
        for extreme in
            ["-1", "1e999", "-1e999", "nan", "NaN", "", "4294967295", "18446744073709551616"]
        {
            check(&[&bytes[..from], extreme.as_bytes(), &bytes[to..]].concat());
        }
    }
    count
}

/// The start and the end of each number in a text.
fn numbers(bytes: &[u8]) -> Vec<(usize, usize)> {
    let is_part = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let mut found = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let length = bytes[start..].iter().take_while(|byte| is_part(**byte)).count();
        if bytes[start..start + length].iter().any(u8::is_ascii_digit) {
            found.push((start, start + length));
        }
        start += length.max(1);
    }
    found
}

/// A small tree for files written by hand: `x0 <= 0.5 ? 1 : (x1 <= -2 ? 2 : 4)`; `missing` has the
/// sides of missing values at its two splits.
pub(super) fn small_tree(missing: [Side; 2]) -> Tree {
    let split = |feature, threshold, missing, left, right| Split {
        feature,
        rule: SplitCondition::AtMost(threshold),
        missing,
        left,
        right,
        gain: 0.0,
        rows: 0,
    };
    let splits = vec![
        split(0, 0.5, missing[0], Child::Leaf(0), Child::Split(1)),
        split(1, -2.0, missing[1], Child::Leaf(1), Child::Leaf(2)),
    ];
    let leaves = [1.0, 2.0, 4.0].map(|value| Leaf { value, rows: 0 }).to_vec();
    Tree::new(splits, leaves).unwrap()
}
