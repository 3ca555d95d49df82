//! Code shared by the readers of LightGBM's text and JSON: split conditions, feature names, and the
//! model made from the trees.

use rankwright_data::{Absent, FeatureNames};

use super::{NAME, invalid, unsupported};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::header::Header;
use crate::interchange::common::at_most;
use crate::interchange::{FileProblem, UnsupportedPart};
use crate::model::{Model, ModelBody};
use crate::tree::{Leaf, Side, SplitCondition, Tree};

/// Maximum number of named features: a name needs more memory than its text in the file.
const MAX_NAMES: usize = 1 << 17;

/// The values that a numeric split treats as missing.
#[derive(Debug, Clone, Copy)]
pub(super) enum MissingValues {
    /// Nothing: NaN counts as 0.
    None,
    /// 0 and NaN.
    Zero,
    /// NaN.
    NaN,
}

/// The condition of a split on a number, and the side of its missing values; `default_left` is that
/// side in the file.
pub(super) fn numeric_condition(
    threshold: f64,
    missing: MissingValues,
    default_left: bool,
) -> (SplitCondition, Side) {
    let side = |left| if left { Side::Left } else { Side::Right };
    let rounded = at_most(threshold);
    match missing {
        MissingValues::None => (SplitCondition::AtMost(rounded), side(0.0 <= threshold)),
        MissingValues::Zero => (SplitCondition::NonZeroAtMost(rounded), side(default_left)),
        MissingValues::NaN => (SplitCondition::AtMost(rounded), side(default_left)),
    }
}

/// The finite number nearest to a gain; 0 for NaN.
pub(super) fn finite_gain(gain: f64) -> f64 {
    match gain.is_nan() {
        true => 0.0,
        false => gain.clamp(f64::MIN, f64::MAX),
    }
}

/// Feature names as they are read. `Column_0`, `Column_1`, ... are only counted.
#[derive(Debug, Default)]
pub(super) struct ReadNames {
    /// Number of names `Column_i` before any other name.
    columns: usize,
    /// All names, if some name is not of this form; otherwise empty.
    named: Vec<String>,
}

impl ReadNames {
    /// Adds the name of the next feature.
    pub(super) fn push(&mut self, name: &str) -> Result<(), ModelError> {
        if self.named.is_empty() {
            let number = name.strip_prefix("Column_").and_then(|n| n.parse::<usize>().ok());
            if number == Some(self.columns) {
                self.columns += 1;
                return Ok(());
            }
        }
        if self.columns.max(self.named.len()) >= MAX_NAMES {
            let (items, most) = ("named features", MAX_NAMES);
            return Err(unsupported(UnsupportedPart::TooMany { items, most }));
        }
        if self.named.is_empty() {
            self.named = (0..self.columns).map(|i| format!("Column_{i}")).collect();
        }
        self.named.push(name.to_owned());
        Ok(())
    }

    /// The names, which must be as many as the features.
    fn into_names(self, features: usize) -> Result<FeatureNames, ModelError> {
        let names = match self.named.is_empty() {
            true => FeatureNames::Ids { first: 0, count: self.columns },
            false => FeatureNames::from_names(self.named),
        };
        match names.len() {
            0 => Ok(FeatureNames::Ids { first: 0, count: features }),
            found if found == features => Ok(names),
            found => Err(invalid(FileProblem::ListLength {
                list: "feature_names",
                found,
                expected: features,
                rule: "one more than max_feature_idx",
            })),
        }
    }
}

/// The values in a file besides its trees.
#[derive(Debug, Default)]
pub(super) struct FileHead {
    pub(super) version: String,
    pub(super) classes: u64,
    pub(super) trees_per_iteration: u64,
    /// Number of the last feature, from 0; -1 in a model without features.
    pub(super) last_feature: i64,
    pub(super) objective: String,
    /// Whether the score is the mean of the trees, not the sum.
    pub(super) average: bool,
    pub(super) names: ReadNames,
}

impl FileHead {
    /// Rejects models that our format cannot express.
    pub(super) fn check(&self) -> Result<(), ModelError> {
        if !matches!(self.version.as_str(), "v2" | "v3" | "v4") {
            let found = self.version.escape_debug().to_string();
            let expected = "v2, v3 or v4";
            return Err(unsupported(UnsupportedPart::Version { found, expected }));
        }
        for (name, count) in
            [("num_class", self.classes), ("num_tree_per_iteration", self.trees_per_iteration)]
        {
            if count > 1 {
                return Err(unsupported(UnsupportedPart::SeveralOutputs { name, count }));
            }
        }
        Ok(())
    }

    /// Makes the model of these trees.
    pub(super) fn into_model(self, mut trees: Vec<Tree>) -> Result<Model, ModelError> {
        if self.average && !trees.is_empty() {
            let count = trees.len() as f64;
            for tree in &mut trees {
                *tree = divided(tree, count)?;
            }
        }
        let mut base = 0.0;
        if let Some(value) = trees.first().and_then(constant) {
            base += value;
            trees.remove(0);
        }
        let features = self.last_feature.checked_add(1).and_then(|n| usize::try_from(n).ok());
        let features = features.ok_or_else(|| {
            invalid(FileProblem::BadValue {
                name: "max_feature_idx",
                line: None,
                found: self.last_feature.to_string(),
                expected: "the number of the last feature",
            })
        })?;
        let mut header = Header::new(self.names.into_names(features)?, Absent::Zero);
        let from = format!("{NAME} {}", self.version.trim_start_matches('v'));
        header.notes.insert("from".into(), from);
        if !self.objective.is_empty() {
            header.notes.insert("objective".into(), self.objective);
        }
        if self.average {
            header.notes.insert(
                "average_output".into(),
                "leaf values are divided by the number of trees".into(),
            );
        }
        Model::new(header, ModelBody::Trees(Ensemble::new(base, trees)?))
    }
}

/// The value of a tree that is one leaf; `None` for other trees.
fn constant(tree: &Tree) -> Option<f64> {
    tree.splits().is_empty().then(|| tree.leaves().first().map(|leaf| leaf.value))?
}

/// The tree with every leaf value divided by a number.
fn divided(tree: &Tree, divisor: f64) -> Result<Tree, ModelError> {
    let leaves = tree.leaves().iter().map(|leaf| Leaf { value: leaf.value / divisor, ..*leaf });
    Tree::with_sets(tree.splits().to_vec(), leaves.collect(), tree.sets().to_vec())
}
