//! Writes our trees as LightGBM's text, version v4.

use std::fmt::{Display, Write};

use rankwright_data::FeatureNames;
use rankwright_spec::visible;

use super::{NAME, unsupported};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::interchange::UnsupportedPart;
use crate::interchange::common::in_tree;
use crate::model::{Model, ModelBody};
use crate::tree::{Child, Leaf, Side, Split, SplitCondition, Tree};

/// Writes a model of trees.
pub(crate) fn write(model: &Model) -> Result<Vec<u8>, ModelError> {
    let ModelBody::Trees(ensemble) = model.body() else {
        return Err(unsupported(UnsupportedPart::of_model(model)));
    };
    let trees = tree_texts(ensemble)?;
    let count = model.header().features.len();
    let mut out = String::from("tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\n");
    // Writing to a String cannot fail.
    let _ = writeln!(out, "label_index=0\nmax_feature_idx={}", count as i64 - 1);
    // With this objective the prediction is the raw score.
    out.push_str("objective=regression\n");
    line(&mut out, "feature_names", names(&model.header().features)?);
    line(&mut out, "feature_infos", (0..count).map(|_| "none"));
    line(&mut out, "tree_sizes", trees.iter().map(String::len));
    out.push('\n');
    trees.iter().for_each(|tree| out.push_str(tree));
    out.push_str("end of trees\n\nfeature_importances:\n\nparameters:\n\nend of parameters\n\n");
    out.push_str("pandas_categorical:null\n");
    Ok(out.into_bytes())
}

/// The feature names as LightGBM writes them. The format has no escapes, so that a name with white
/// space or a control character is refused.
fn names(features: &FeatureNames) -> Result<Vec<String>, ModelError> {
    let name = |column: usize| match features {
        FeatureNames::Ids { first: 0, .. } => format!("Column_{column}"),
        _ => features.name(column).into_owned(),
    };
    let names: Vec<String> = (0..features.len()).map(name).collect();
    let is_refused = |c: char| c.is_whitespace() || visible::is_control(c);
    match names.iter().find(|name| name.is_empty() || name.contains(is_refused)) {
        None => Ok(names),
        Some(bad) => Err(unsupported(UnsupportedPart::FeatureName { name: bad.clone() })),
    }
}

/// The text of each tree; a base score other than 0 becomes a first tree of one leaf.
fn tree_texts(ensemble: &Ensemble) -> Result<Vec<String>, ModelError> {
    let base = match ensemble.base() == 0.0 {
        true => None,
        false => Some(Tree::constant(ensemble.base(), 0)?),
    };
    let trees = base.iter().chain(ensemble.trees());
    // An error names the tree by its number in our model.
    let own_number = |number: usize| number - usize::from(base.is_some());
    trees.enumerate().map(|(number, tree)| tree_text(number, tree, own_number)).collect()
}

/// The text of a tree; `number` is its number in the file, from which `own_number` computes its
/// number in our model.
fn tree_text(
    number: usize,
    tree: &Tree,
    own_number: impl Fn(usize) -> usize,
) -> Result<String, ModelError> {
    let (splits, leaves) = (tree.splits(), tree.leaves());
    let decision_types: Option<Vec<u8>> = splits.iter().map(decision_type).collect();
    let decision_types = decision_types.ok_or_else(|| {
        let error = unsupported(UnsupportedPart::MissingWithCategories);
        in_tree(NAME, own_number(number), error)
    })?;
    let mut out =
        format!("Tree={number}\nnum_leaves={}\nnum_cat={}\n", leaves.len(), tree.sets().len());
    line(&mut out, "split_feature", splits.iter().map(|split| split.feature));
    line(&mut out, "split_gain", splits.iter().map(|split| ShortFloat(split.gain)));
    line(&mut out, "threshold", splits.iter().map(threshold));
    line(&mut out, "decision_type", decision_types);
    line(&mut out, "left_child", splits.iter().map(|split| child(split.left)));
    line(&mut out, "right_child", splits.iter().map(|split| child(split.right)));
    line(&mut out, "leaf_value", leaves.iter().map(|leaf| ShortFloat(leaf.value)));
    line(&mut out, "leaf_count", leaves.iter().map(|leaf: &Leaf| leaf.rows));
    line(&mut out, "internal_count", splits.iter().map(|split| split.rows));
    if !tree.sets().is_empty() {
        add_sets(&mut out, tree);
    }
    out.push_str("is_linear=0\nshrinkage=1\n\n\n");
    Ok(out)
}

/// Adds the sets of categories, 32 bits to a number; at least one number for each set.
fn add_sets(out: &mut String, tree: &Tree) {
    let mut boundaries = vec![0];
    let mut bits: Vec<u32> = Vec::new();
    for set in tree.sets() {
        let halves = set.words().iter().flat_map(|&word| [word as u32, (word >> 32) as u32]);
        bits.extend(halves);
        if set.words().is_empty() {
            bits.push(0);
        }
        boundaries.push(bits.len());
    }
    line(out, "cat_boundaries", boundaries);
    line(out, "cat_threshold", bits);
}

/// Adds a line `key=value value ...`.
fn line<T: Display>(out: &mut String, key: &str, values: impl IntoIterator<Item = T>) {
    out.push_str(key);
    let mut separator = '=';
    for value in values {
        let _ = write!(out, "{separator}{value}");
        separator = ' ';
    }
    if separator == '=' {
        out.push(separator);
    }
    out.push('\n');
}

/// A number in the shortest form that reads back to the same bits, with an exponent if it is very
/// large or small.
struct ShortFloat(f64);

impl Display for ShortFloat {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// LightGBM's bits of a split, as the documentation of `mod.rs` lists them; `None` if LightGBM
/// cannot express the split.
fn decision_type(split: &Split) -> Option<u8> {
    const CATEGORIES: u8 = 1;
    const MISSING_LEFT: u8 = 2;
    const MISSING_ZERO: u8 = 1 << 2;
    const MISSING_NAN: u8 = 2 << 2;
    let missing_left = if split.missing == Side::Left { MISSING_LEFT } else { 0 };
    match split.rule {
        SplitCondition::AtMost(_) => Some(MISSING_NAN | missing_left),
        SplitCondition::NonZeroAtMost(_) => Some(MISSING_ZERO | missing_left),
        SplitCondition::In(_) => (split.missing == Side::Right).then_some(MISSING_NAN | CATEGORIES),
    }
}

/// The threshold of a split, or the number of its set.
fn threshold(split: &Split) -> ShortFloat {
    match split.rule {
        SplitCondition::AtMost(threshold) | SplitCondition::NonZeroAtMost(threshold) => {
            ShortFloat(f64::from(threshold))
        }
        SplitCondition::In(set) => ShortFloat(f64::from(set)),
    }
}

/// The number of a child in the file: splits are numbered from 0 on, leaves from -1 downwards.
fn child(child: Child) -> i64 {
    match child {
        Child::Split(number) => i64::from(number),
        Child::Leaf(number) => -1 - i64::from(number),
    }
}
