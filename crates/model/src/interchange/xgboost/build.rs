//! Makes one of our models from XGBoost's arrays.
//!
//! Trees are walked from node 0, as pruning leaves nodes behind that no node refers to and may give
//! a child a smaller number than its parent. A node that is visited twice is an error, so that the
//! walk ends.

use rankwright_data::{Absent, FeatureNames};

use super::raw::{BoosterModel, ModelParams, Packed, RawThreshold, RawTree, XgboostFile};
use super::{NAME, invalid, objective, unsupported};
use crate::categories::Categories;
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::header::Header;
use crate::interchange::common::{in_tree, node_problem};
use crate::interchange::problem::shown;
use crate::interchange::{FileProblem, NodeProblem, UnsupportedPart};
use crate::linear::Linear;
use crate::model::{Model, ModelBody};
use crate::tree::{Child, Leaf, Side, Split, SplitCondition, Tree};

/// Memory that sets may use besides the file's size: a single large category makes a large set.
const SET_BYTES: usize = 4 << 20;

/// The model of a file of `bytes` bytes, in which the number `unknown` replaces NaN.
pub(super) fn model(file: XgboostFile, unknown: f32, bytes: usize) -> Result<Model, ModelError> {
    let learner = file.learner;
    let version = match *file.version.0 {
        [major, minor, ..] => (major, minor),
        _ => return Err(bad_value("version", "", "a version such as [3,2,0]")),
    };
    let base = base_score(&learner.learner_model_param)?;
    let base = objective::margin(&learner.objective.name, base, version)?;
    let features = whole_number("num_feature", &learner.learner_model_param.num_feature)?;
    let names = match learner.feature_names.0 {
        none if none.is_empty() => FeatureNames::Ids { first: 0, count: features },
        names if names.len() == features => FeatureNames::from_names(names),
        names => {
            let rule = "one for each feature";
            return Err(list_length("feature_names", names.len(), features, rule));
        }
    };
    let mut header = Header::new(names, Absent::Missing);
    header.notes.insert("from".into(), format!("{NAME} {}", version.0));
    let mut build = Build {
        weights: None,
        unknown,
        counts_rows: objective::counts_rows(&learner.objective.name),
        room: SET_BYTES + bytes / 2,
    };
    header.notes.insert("objective".into(), learner.objective.name);
    if let Some(best) = learner.attributes.best_iteration {
        header.notes.insert("best_iteration".into(), best);
    }
    let booster = learner.gradient_booster;
    let kind = match (booster.name.as_str(), booster.model, booster.gbtree) {
        ("gbtree", Some(inside), _) => build.ensemble(base, inside)?,
        ("dart", _, Some(wrapped)) => {
            build.weights = Some(booster.weight_drop.unwrap_or_default());
            build.ensemble(base, wrapped.model)?
        }
        ("gblinear", Some(inside), _) => linear(base, inside, features)?,
        (other, ..) => {
            return Err(unsupported(UnsupportedPart::Unknown {
                item: "booster",
                found: shown(other),
                expected: "gbtree, dart or gblinear with its model",
            }));
        }
    };
    Model::new(header, kind)
}

fn bad_value(name: &'static str, found: &str, expected: &'static str) -> ModelError {
    invalid(FileProblem::BadValue { name, line: None, found: shown(found), expected })
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

/// The base score, which new versions write as a list; fails for several outputs.
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

/// A linear model: weights by feature, then the bias.
fn linear(base: f64, inside: BoosterModel, features: usize) -> Result<ModelBody, ModelError> {
    let weights = inside.weights.unwrap_or_default().0;
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

/// The settings for building trees.
struct Build {
    /// The weight of each tree, with `dart`.
    weights: Option<Packed<f32>>,
    unknown: f32,
    counts_rows: bool,
    /// Number of bytes that sets may still use.
    room: usize,
}

impl Build {
    fn ensemble(&mut self, base: f64, inside: BoosterModel) -> Result<ModelBody, ModelError> {
        let raw = inside.trees.map(|trees| trees.0).unwrap_or_default();
        if let Some(at) = inside.tree_info.0.iter().position(|&output| output != 0) {
            let output = inside.tree_info.0.get(at).copied().unwrap_or(0);
            let error = unsupported(UnsupportedPart::OtherOutput { output });
            return Err(in_tree(NAME, at, error));
        }
        if let Some(weights) = self.weights.as_ref().filter(|w| w.0.len() != raw.len()) {
            let rule = "one for each tree";
            return Err(list_length("weight_drop", weights.0.len(), raw.len(), rule));
        }
        let mut trees = Vec::with_capacity(raw.len());
        for (number, tree) in raw.into_iter().enumerate() {
            let built = self.tree(number, *tree);
            trees.push(built.map_err(|error| in_tree(NAME, number, error))?);
        }
        Ok(ModelBody::Trees(Ensemble::new(base, trees)?))
    }

    fn tree(&mut self, number: usize, raw: RawTree) -> Result<Tree, ModelError> {
        if !matches!(raw.tree_param.size_leaf_vector.trim(), "" | "0" | "1") {
            return Err(unsupported(UnsupportedPart::VectorLeaves));
        }
        let nodes = check_lengths(&raw)?;
        let weight = match &self.weights {
            None => 1.0,
            Some(weights) => weights.0.get(number).copied().map_or(1.0, f64::from),
        };
        let sets = Sets::new(&raw)?;
        let inner = raw.left_children.0.iter().filter(|&&left| left != LEAF).count();
        let mut walk = TreeWalk {
            splits: Vec::with_capacity(inner),
            leaves: Vec::with_capacity(nodes - inner),
            sets: Vec::new(),
            visited: vec![false; nodes],
            open: vec![(0, None)],
        };
        while let Some((node, parent)) = walk.open.pop() {
            walk.visit(node)?;
            let rows = match self.counts_rows {
                true => at(&raw.sum_hessian, node, 0.0).round() as u64,
                false => 0,
            };
            let left = at(&raw.left_children, node, LEAF);
            let child = if left == LEAF {
                let value = f64::from(at(&raw.split_conditions, node, NO_CONDITION).0) * weight;
                walk.leaves.push(Leaf { value, rows });
                Child::Leaf(walk.leaves.len() as u32 - 1)
            } else {
                let split = self.split(&raw, node, rows, &sets, &mut walk.sets)?;
                // In XGBoost listed categories go right, in our trees left.
                let sides_swapped = matches!(split.rule, SplitCondition::In(_));
                let this = walk.splits.len();
                let right = at(&raw.right_children, node, LEAF);
                let (left, right) = if sides_swapped { (right, left) } else { (left, right) };
                walk.splits.push(split);
                walk.open.push((right, Some((this, Side::Right))));
                walk.open.push((left, Some((this, Side::Left))));
                Child::Split(this as u32)
            };
            walk.set_child(parent, child);
        }
        drop(raw);
        Tree::with_sets(walk.splits, walk.leaves, walk.sets)
    }

    /// A split whose children are set later.
    fn split(
        &mut self,
        raw: &RawTree,
        node: i32,
        rows: u64,
        sets: &Sets,
        all: &mut Vec<Categories>,
    ) -> Result<Split, ModelError> {
        let default_left = raw.default_left.0.get(node as usize).is_some_and(|flag| flag.0);
        let (rule, missing_left) = match at(&raw.split_type, node, 0) {
            0 => {
                let threshold = at(&raw.split_conditions, node, NO_CONDITION).0;
                // No value is below the smallest number.
                if threshold.is_nan() || threshold == self.unknown || threshold == f32::NEG_INFINITY
                {
                    return Err(node_problem(NAME, NodeProblem::BadThreshold { node }));
                }
                (SplitCondition::AtMost(threshold.next_down()), default_left)
            }
            1 => {
                let ids = sets.of(raw, node)?;
                let bytes = ids.iter().max().map_or(0, |&id| id as usize / 8);
                self.room = self
                    .room
                    .checked_sub(bytes)
                    .ok_or_else(|| unsupported(UnsupportedPart::LargeCategories))?;
                all.push(Categories::new(ids.iter().copied())?);
                (SplitCondition::In(all.len() as u32 - 1), !default_left)
            }
            other => {
                let kind = other.to_string();
                return Err(unsupported(UnsupportedPart::SplitKind { kind }));
            }
        };
        let gain = f64::from(at(&raw.loss_changes, node, 0.0));
        Ok(Split {
            feature: at(&raw.split_indices, node, 0),
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

/// The replacement of a missing condition.
const NO_CONDITION: RawThreshold = RawThreshold(f32::NAN);

/// The left child of a leaf.
const LEAF: i32 = -1;

/// The entry of a node; lengths have been checked, so that only omitted arrays have no entry.
fn at<T: Copy>(list: &Packed<T>, node: i32, otherwise: T) -> T {
    usize::try_from(node).ok().and_then(|node| list.0.get(node)).copied().unwrap_or(otherwise)
}

/// The number of nodes, which is the length of each array that is present.
fn check_lengths(raw: &RawTree) -> Result<usize, ModelError> {
    let nodes = raw.left_children.0.len();
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

/// A walk over a tree.
struct TreeWalk {
    splits: Vec<Split>,
    leaves: Vec<Leaf>,
    sets: Vec<Categories>,
    visited: Vec<bool>,
    /// Nodes to visit, with their parent and side.
    open: Vec<(i32, Option<(usize, Side)>)>,
}

impl TreeWalk {
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

/// The ranges of categories, by node.
struct Sets(Vec<(u32, u32)>);

impl Sets {
    fn new(raw: &RawTree) -> Result<Sets, ModelError> {
        let nodes = &raw.categories_nodes.0;
        let (segments, sizes) = (raw.categories_segments.0.len(), raw.categories_sizes.0.len());
        for (list, length) in [("categories_segments", segments), ("categories_sizes", sizes)] {
            if length != nodes.len() {
                let rule = "as many as categories_nodes has";
                return Err(list_length(list, length, nodes.len(), rule));
            }
        }
        let mut all: Vec<(u32, u32)> = nodes.iter().copied().zip(0..).collect();
        all.sort_unstable();
        Ok(Sets(all))
    }

    fn of<'a>(&self, raw: &'a RawTree, node: i32) -> Result<&'a [u32], ModelError> {
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
