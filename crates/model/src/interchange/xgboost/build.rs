//! Makes one of our models from XGBoost's arrays.
//!
//! Trees are walked from the root, node 0: after XGBoost has pruned a tree, some nodes may not be
//! reachable, and a child may have a smaller number than its parent. A node that is visited twice
//! is an error, so that the walk ends.

use rankwright_data::{Absent, FeatureNames};

use super::raw::{BoosterModel, ModelParams, Packed, RawThreshold, RawTree, XgboostFile};
use super::{NAME, invalid, objective, unsupported};
use crate::categories::Categories;
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::header::Header;
use crate::interchange::common::{in_tree, node_problem};
use crate::interchange::problem::excerpt;
use crate::interchange::{FileProblem, NodeProblem, UnsupportedPart};
use crate::linear::Linear;
use crate::model::{Model, ModelBody};
use crate::tree::{Child, Leaf, Side, Split, SplitCondition, Tree};

/// Bytes that sets of categories may use in addition to half the file's size: a single category
/// with a large number makes a large set.
const EXTRA_SET_BYTES: usize = 4 << 20;

/// The model of a file of `file_bytes` bytes, in which the number `nan_replacement` stands for NaN.
pub(super) fn model(
    file: XgboostFile,
    nan_replacement: f32,
    file_bytes: usize,
) -> Result<Model, ModelError> {
    let learner = file.learner;
    let version = match *file.version.0 {
        [major, minor, ..] => (major, minor),
        ref other => {
            let found = format!("{other:?}");
            return Err(bad_value("version", &found, "a version such as [3,2,0]"));
        }
    };
    let base = base_score(&learner.learner_model_param)?;
    let base = objective::margin(&learner.objective.name, base, version)?;
    let features = whole_number("num_feature", &learner.learner_model_param.num_feature)?;
    let names = match learner.feature_names.0 {
        names if names.is_empty() => FeatureNames::Ids { first: 0, count: features },
        names if names.len() == features => FeatureNames::from_names(names),
        names => {
            let rule = "one for each feature";
            return Err(list_length("feature_names", names.len(), features, rule));
        }
    };
    let mut header = Header::new(names, Absent::Missing);
    header.notes.insert("from".into(), format!("{NAME} {}", version.0));
    let mut builder = TreeBuilder {
        weights: None,
        nan_replacement,
        counts_rows: objective::counts_rows(&learner.objective.name),
        set_bytes_left: EXTRA_SET_BYTES + file_bytes / 2,
    };
    header.notes.insert("objective".into(), learner.objective.name);
    if let Some(best_iteration) = learner.attributes.best_iteration {
        header.notes.insert("best_iteration".into(), best_iteration);
    }
    let booster = learner.gradient_booster;
    let body = match (booster.name.as_str(), booster.model, booster.gbtree) {
        ("gbtree", Some(model), _) => builder.ensemble(base, model)?,
        ("dart", _, Some(wrapped)) => {
            builder.weights = Some(booster.weight_drop.unwrap_or_default());
            builder.ensemble(base, wrapped.model)?
        }
        ("gblinear", Some(model), _) => linear(base, model, features)?,
        (other, ..) => {
            return Err(unsupported(UnsupportedPart::Unknown {
                item: "booster",
                found: excerpt(other),
                expected: "gbtree, dart or gblinear with its model",
            }));
        }
    };
    Model::new(header, body)
}

fn bad_value(name: &'static str, found: &str, expected: &'static str) -> ModelError {
    invalid(FileProblem::BadValue { name, line: None, found: excerpt(found), expected })
}

fn list_length(
    list: &'static str,
    found: usize,
    expected: usize,
    rule: &'static str,
) -> ModelError {
    invalid(FileProblem::ListLength { list, found, expected, rule })
}

fn whole_number(name: &'static str, text: &str) -> Result<usize, ModelError> {
    text.trim().parse().map_err(|_| bad_value(name, text, "a whole number"))
}

/// The base score, which newer versions write as a list of one number; fails for models of several
/// outputs.
fn base_score(params: &ModelParams) -> Result<f32, ModelError> {
    for (name, text) in [("num_class", &params.num_class), ("num_target", &params.num_target)] {
        let count = if text.is_empty() { 0 } else { whole_number(name, text)? };
        if count > 1 {
            let count = count as u64;
            return Err(unsupported(UnsupportedPart::SeveralOutputs { name, count }));
        }
    }
    let text = params.base_score.trim();
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let base = inside.trim().parse::<f32>().ok().filter(|base| base.is_finite());
    base.ok_or_else(|| bad_value("base_score", text, "one number such as 5E-1 or [5E-1]"))
}

/// Makes a linear model; `base` is added to its bias.
fn linear(base: f64, model: BoosterModel, features: usize) -> Result<ModelBody, ModelError> {
    let weights = model.weights.unwrap_or_default().0;
    match weights.split_last() {
        Some((bias, weights)) if weights.len() == features => {
            let weights = weights.iter().map(|&weight| f64::from(weight)).collect();
            Ok(ModelBody::Linear(Linear::new(base + f64::from(*bias), weights)?))
        }
        _ => {
            let rule = "one for each feature, and the bias";
            Err(list_length("weights", weights.len(), features + 1, rule))
        }
    }
}

/// Builds trees.
struct TreeBuilder {
    /// The weight of each tree of the booster `dart`; `None` for other boosters.
    weights: Option<Packed<f32>>,
    /// The number that stands for NaN in the file.
    nan_replacement: f32,
    /// Whether `sum_hessian` counts rows.
    counts_rows: bool,
    /// Number of bytes that sets may still use.
    set_bytes_left: usize,
}

impl TreeBuilder {
    /// Makes the ensemble of all trees.
    fn ensemble(&mut self, base: f64, model: BoosterModel) -> Result<ModelBody, ModelError> {
        let raw_trees = model.trees.map(|trees| trees.0).unwrap_or_default();
        let mut outputs = model.tree_info.0.iter().copied().enumerate();
        if let Some((number, output)) = outputs.find(|(_, output)| *output != 0) {
            let error = unsupported(UnsupportedPart::OtherOutput { output });
            return Err(in_tree(NAME, number, error));
        }
        if let Some(weights) = self.weights.as_ref().filter(|w| w.0.len() != raw_trees.len()) {
            let rule = "one for each tree";
            return Err(list_length("weight_drop", weights.0.len(), raw_trees.len(), rule));
        }
        let mut trees = Vec::with_capacity(raw_trees.len());
        for (number, tree) in raw_trees.into_iter().enumerate() {
            let built = self.tree(number, *tree);
            trees.push(built.map_err(|error| in_tree(NAME, number, error))?);
        }
        Ok(ModelBody::Trees(Ensemble::new(base, trees)?))
    }

    /// Makes the tree with this number in the file.
    fn tree(&mut self, number: usize, raw: RawTree) -> Result<Tree, ModelError> {
        if !matches!(raw.tree_param.size_leaf_vector.trim(), "" | "0" | "1") {
            return Err(unsupported(UnsupportedPart::VectorLeaves));
        }
        let nodes = check_lengths(&raw)?;
        let weight = match &self.weights {
            None => 1.0,
            Some(weights) => weights.0.get(number).copied().map_or(1.0, f64::from),
        };
        let node_sets = NodeSets::new(&raw)?;
        let split_count = raw.left_children.0.iter().filter(|&&left| left != LEAF).count();
        let mut walk = TreeWalk {
            splits: Vec::with_capacity(split_count),
            leaves: Vec::with_capacity(nodes - split_count),
            sets: Vec::new(),
            visited: vec![false; nodes],
            pending: vec![(0, None)],
        };
        while let Some((node, parent)) = walk.pending.pop() {
            walk.visit(node)?;
            let rows = match self.counts_rows {
                true => entry(&raw.sum_hessian, node, 0.0).round() as u64,
                false => 0,
            };
            let left = entry(&raw.left_children, node, LEAF);
            let child = if left == LEAF {
                let value = self.number(entry(&raw.split_conditions, node, NO_CONDITION).0);
                let value = f64::from(value) * weight;
                walk.leaves.push(Leaf { value, rows });
                Child::Leaf(walk.leaves.len() as u32 - 1)
            } else {
                let split = self.split(&raw, node, rows, &node_sets, &mut walk.sets)?;
                // In XGBoost listed categories go right, in our trees left.
                let sides_swapped = matches!(split.rule, SplitCondition::In(_));
                let number = walk.splits.len();
                let right = entry(&raw.right_children, node, LEAF);
                let (left, right) = if sides_swapped { (right, left) } else { (left, right) };
                walk.splits.push(split);
                walk.pending.push((right, Some((number, Side::Right))));
                walk.pending.push((left, Some((number, Side::Left))));
                Child::Split(number as u32)
            };
            walk.set_child(parent, child);
        }
        drop(raw);
        Tree::with_sets(walk.splits, walk.leaves, walk.sets)
    }

    /// The number that a number of the file stands for: itself, or NaN.
    fn number(&self, number: f32) -> f32 {
        if number == self.nan_replacement { f32::NAN } else { number }
    }

    /// The split at a node, whose children are set later; its set of categories is added to `sets`.
    fn split(
        &mut self,
        raw: &RawTree,
        node: i32,
        rows: u64,
        node_sets: &NodeSets,
        sets: &mut Vec<Categories>,
    ) -> Result<Split, ModelError> {
        let default_left = raw.default_left.0.get(node as usize).is_some_and(|flag| flag.0);
        let (rule, missing_left) = match entry(&raw.split_type, node, 0) {
            0 => {
                let threshold = entry(&raw.split_conditions, node, NO_CONDITION).0;
                // No value is below -inf, so that there would be no number for `AtMost`.
                if self.number(threshold).is_nan() || threshold == f32::NEG_INFINITY {
                    return Err(node_problem(NAME, NodeProblem::BadThreshold { node }));
                }
                (SplitCondition::AtMost(threshold.next_down()), default_left)
            }
            1 => {
                let ids = node_sets.categories(raw, node)?;
                let bytes = ids.iter().max().map_or(0, |&id| id as usize / 8);
                self.set_bytes_left = self
                    .set_bytes_left
                    .checked_sub(bytes)
                    .ok_or_else(|| unsupported(UnsupportedPart::LargeCategories))?;
                sets.push(Categories::new(ids.iter().copied())?);
                (SplitCondition::In(sets.len() as u32 - 1), !default_left)
            }
            other => {
                let kind = other.to_string();
                return Err(unsupported(UnsupportedPart::SplitKind { kind }));
            }
        };
        let gain = f64::from(self.number(entry(&raw.loss_changes, node, 0.0)));
        Ok(Split {
            feature: entry(&raw.split_indices, node, 0),
            rule,
            missing: if missing_left { Side::Left } else { Side::Right },
            left: Child::Leaf(0),
            right: Child::Leaf(0),
            // The gain of a split does not affect a score.
            gain: if gain.is_nan() { 0.0 } else { gain.clamp(f64::MIN, f64::MAX) },
            rows,
        })
    }
}

/// The threshold of a node without an entry.
const NO_CONDITION: RawThreshold = RawThreshold(f32::NAN);

/// The number that marks a leaf, in place of its left child.
const LEAF: i32 = -1;

/// The entry of a node, or `default` if the array was left out (lengths have been checked).
fn entry<T: Copy>(list: &Packed<T>, node: i32, default: T) -> T {
    usize::try_from(node).ok().and_then(|node| list.0.get(node)).copied().unwrap_or(default)
}

/// The number of nodes; checks that each array has this length, or is left out if it may be.
fn check_lengths(raw: &RawTree) -> Result<usize, ModelError> {
    let nodes = raw.left_children.0.len();
    // Name, length, and whether the array is needed.
    let lengths = [
        ("right_children", raw.right_children.0.len(), true),
        ("split_indices", raw.split_indices.0.len(), true),
        ("split_conditions", raw.split_conditions.0.len(), true),
        ("default_left", raw.default_left.0.len(), true),
        ("loss_changes", raw.loss_changes.0.len(), false),
        ("sum_hessian", raw.sum_hessian.0.len(), false),
        ("split_type", raw.split_type.0.len(), false),
    ];
    for (name, length, is_needed) in lengths {
        if length != nodes && (is_needed || length != 0) {
            return Err(list_length(name, length, nodes, "as many as left_children has"));
        }
    }
    match i32::try_from(nodes) {
        Ok(1..) => Ok(nodes),
        _ => Err(bad_value("the number of nodes", &nodes.to_string(), "1 to 2147483647")),
    }
}

/// A walk over a tree, with the parts found so far.
struct TreeWalk {
    splits: Vec<Split>,
    leaves: Vec<Leaf>,
    sets: Vec<Categories>,
    visited: Vec<bool>,
    /// Nodes to visit, each with the number of its parent's split and the side there.
    pending: Vec<(i32, Option<(usize, Side)>)>,
}

impl TreeWalk {
    /// Marks a node as visited; fails if it was visited before or does not exist.
    fn visit(&mut self, node: i32) -> Result<(), ModelError> {
        let visited = usize::try_from(node).ok().and_then(|node| self.visited.get_mut(node));
        match visited {
            Some(visited) if !*visited => *visited = true,
            Some(_) => {
                return Err(node_problem(NAME, NodeProblem::ReachedTwice { node: node.into() }));
            }
            None => {
                return Err(node_problem(NAME, NodeProblem::NoSuchNode { node: node.into() }));
            }
        }
        Ok(())
    }

    /// Sets the child on one side of its parent's split; the root has no parent.
    fn set_child(&mut self, parent: Option<(usize, Side)>, child: Child) {
        let Some((split, side)) = parent else { return };
        if let Some(split) = self.splits.get_mut(split) {
            match side {
                Side::Left => split.left = child,
                Side::Right => split.right = child,
            }
        }
    }
}

/// For each node that tests categories its number and the index of its set, sorted by node.
struct NodeSets(Vec<(u32, u32)>);

impl NodeSets {
    /// Checks that the lists of sets have equal lengths, and sorts the nodes.
    fn new(raw: &RawTree) -> Result<NodeSets, ModelError> {
        let nodes = &raw.categories_nodes.0;
        let (segments, sizes) = (raw.categories_segments.0.len(), raw.categories_sizes.0.len());
        for (list, length) in [("categories_segments", segments), ("categories_sizes", sizes)] {
            if length != nodes.len() {
                let rule = "as many as categories_nodes has";
                return Err(list_length(list, length, nodes.len(), rule));
            }
        }
        let mut node_sets: Vec<(u32, u32)> = nodes.iter().copied().zip(0..).collect();
        node_sets.sort_unstable();
        Ok(NodeSets(node_sets))
    }

    /// The categories of a node's set.
    fn categories<'a>(&self, raw: &'a RawTree, node: i32) -> Result<&'a [u32], ModelError> {
        let found = self.0.binary_search_by_key(&(node as u32), |&(node, _)| node).ok();
        let index = found.and_then(|found| self.0.get(found)).map(|&(_, index)| index as usize);
        let range = index.and_then(|index| {
            let begin = usize::try_from(*raw.categories_segments.0.get(index)?).ok()?;
            let size = usize::try_from(*raw.categories_sizes.0.get(index)?).ok()?;
            raw.categories.0.get(begin..begin.checked_add(size)?)
        });
        range.ok_or_else(|| node_problem(NAME, NodeProblem::NoCategories { node }))
    }
}
