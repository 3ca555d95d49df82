//! Writes our models as XGBoost's JSON.

use std::fmt::{Display, Write};

use rankwright_data::FeatureNames;

use super::{NAME, unsupported};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::interchange::UnsupportedPart;
use crate::interchange::common::{in_tree, json_string};
use crate::model::{Model, ModelBody};
use crate::tree::{Child, Leaf, Side, Split, SplitCondition, Tree};

/// The number that XGBoost writes as the parent of the root.
const NO_PARENT: i64 = i32::MAX as i64;

/// Writes a model of trees or a linear model, in the form of XGBoost 2.1.
pub(crate) fn write(model: &Model) -> Result<Vec<u8>, ModelError> {
    let features = &model.header().features;
    let base = match model.body() {
        ModelBody::Trees(ensemble) => ensemble.base(),
        // The bias is written with the weights.
        _ => 0.0,
    };
    // Writing to a String cannot fail.
    let mut out = String::from("{\"learner\":{\"attributes\":{},");
    list(&mut out, "feature_names", names(features));
    list(&mut out, "feature_types", types(model));
    out.push_str("\"gradient_booster\":{\"model\":{");
    match model.body() {
        ModelBody::Trees(ensemble) => {
            write_trees(&mut out, ensemble, features.len())?;
            out.push_str("]},\"name\":\"gbtree\"},");
        }
        ModelBody::Linear(linear) => {
            let weights = linear.weights().iter().copied().chain([linear.bias()]);
            let weights = weights.map(|weight| to_f32("a weight", weight));
            list(&mut out, "weights", weights.collect::<Result<Vec<_>, _>>()?);
            out.push_str("\"boosted_rounds\":1},\"name\":\"gblinear\"},");
        }
        _ => return Err(unsupported(UnsupportedPart::of_model(model))),
    }
    let base = to_f32("the base score", base)?;
    let _ = write!(
        out,
        "\"learner_model_param\":{{\"base_score\":\"{base}\",\"boost_from_average\":\"1\",\
         \"num_class\":\"0\",\"num_feature\":\"{}\",\"num_target\":\"1\"}},\"objective\":\
         {{\"name\":\"reg:squarederror\",\"reg_loss_param\":{{\"scale_pos_weight\":\"1\"}}}}}},\
         \"version\":[2,1,0]}}",
        features.len()
    );
    Ok(out.into_bytes())
}

/// A number of 32 bits, written so that it is never read as a whole number.
struct Float32(f32);

impl Display for Float32 {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self.0 {
            f32::INFINITY => f.write_str("Infinity"),
            number => write!(f, "{number:?}"),
        }
    }
}

/// A number rounded to 32 bits; fails if it is out of their range. `name` is for the message.
fn to_f32(name: &'static str, value: f64) -> Result<Float32, ModelError> {
    match value as f32 {
        rounded if rounded.is_finite() => Ok(Float32(rounded)),
        _ => Err(unsupported(UnsupportedPart::Beyond32Bits { name, value })),
    }
}

/// Quoted names; empty for ids that count from 0.
fn names(features: &FeatureNames) -> Vec<String> {
    match features {
        FeatureNames::Ids { first: 0, .. } => Vec::new(),
        _ => features.iter().map(|name| json_string(&name)).collect(),
    }
}

/// The type of each feature, `"q"` (a quantity) or `"c"` (categories); empty if none has
/// categories.
fn types(model: &Model) -> Vec<&'static str> {
    let ModelBody::Trees(ensemble) = model.body() else { return Vec::new() };
    let mut types = Vec::new();
    for split in ensemble.trees().iter().flat_map(Tree::splits) {
        if matches!(split.rule, SplitCondition::In(_)) {
            types.resize(model.header().features.len(), "\"q\"");
            if let Some(feature_type) = types.get_mut(split.feature as usize) {
                *feature_type = "\"c\"";
            }
        }
    }
    types
}

/// Writes the parameters and the trees of a booster `gbtree`.
fn write_trees(out: &mut String, ensemble: &Ensemble, features: usize) -> Result<(), ModelError> {
    let count = ensemble.trees().len();
    let _ = write!(
        out,
        "\"gbtree_model_param\":{{\"num_parallel_tree\":\"1\",\"num_trees\":\"{count}\"}},"
    );
    list(out, "iteration_indptr", 0..=count);
    list(out, "tree_info", (0..count).map(|_| 0));
    out.push_str("\"trees\":[");
    for (number, tree) in ensemble.trees().iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        let written = write_tree(out, number, tree, features);
        written.map_err(|error| in_tree(NAME, number, error))?;
    }
    Ok(())
}

/// Writes the arrays and the parameters of a tree; `features` is the number of features.
fn write_tree(
    out: &mut String,
    number: usize,
    tree: &Tree,
    features: usize,
) -> Result<(), ModelError> {
    let nodes = NodeArrays::new(tree)?;
    let _ = write!(out, "{{\"id\":{number},");
    list(out, "base_weights", nodes.conditions.iter().map(|_| "0.0"));
    list(out, "categories", nodes.categories);
    list(out, "categories_nodes", nodes.set_nodes);
    list(out, "categories_segments", nodes.set_begins);
    list(out, "categories_sizes", nodes.set_sizes);
    list(out, "default_left", nodes.default_left.iter().map(|&left| u8::from(left)));
    list(out, "left_children", nodes.left);
    list(out, "loss_changes", nodes.gains);
    list(out, "parents", nodes.parents);
    list(out, "right_children", nodes.right);
    list(out, "split_indices", nodes.features);
    list(out, "split_type", nodes.types);
    list(out, "sum_hessian", nodes.rows);
    let count = nodes.conditions.len();
    list(out, "split_conditions", nodes.conditions);
    let _ = write!(
        out,
        "\"tree_param\":{{\"num_deleted\":\"0\",\"num_feature\":\"{features}\",\"num_nodes\":\
         \"{count}\",\"size_leaf_vector\":\"1\"}}}}"
    );
    Ok(())
}

/// The arrays of a tree, with an entry for each node; those of sets have one for each set.
#[derive(Default)]
struct NodeArrays {
    left: Vec<i64>,
    right: Vec<i64>,
    parents: Vec<i64>,
    features: Vec<u32>,
    /// The threshold of a split, the value of a leaf.
    conditions: Vec<Float32>,
    default_left: Vec<bool>,
    gains: Vec<Float32>,
    rows: Vec<Float32>,
    /// 1 for a split on categories, otherwise 0.
    types: Vec<u8>,
    /// The categories of all sets.
    categories: Vec<u32>,
    /// The node of each set.
    set_nodes: Vec<usize>,
    /// The index of each set's first category in `categories`.
    set_begins: Vec<usize>,
    set_sizes: Vec<usize>,
}

impl NodeArrays {
    /// Makes the arrays, nodes level by level: XGBoost needs the right child to be the node after
    /// the left one.
    fn new(tree: &Tree) -> Result<NodeArrays, ModelError> {
        let mut nodes = NodeArrays { parents: vec![NO_PARENT], ..NodeArrays::default() };
        let mut order = vec![tree.root()];
        let mut number = 0;
        while let Some(&node) = order.get(number) {
            match node {
                Child::Split(split) => {
                    let next = order.len() as i64;
                    nodes.parents.extend([number as i64; 2]);
                    nodes.left.push(next);
                    nodes.right.push(next + 1);
                    if let Some(found) = tree.splits().get(split as usize) {
                        order.extend(nodes.push_split(split as usize, number, found, tree)?);
                    }
                }
                Child::Leaf(leaf) => {
                    nodes.left.push(-1);
                    nodes.right.push(-1);
                    if let Some(leaf) = tree.leaves().get(leaf as usize) {
                        nodes.push_leaf(leaf)?;
                    }
                }
            }
            number += 1;
        }
        Ok(nodes)
    }

    /// Adds split `number` of our tree as node `node`, without its children, which are returned in
    /// XGBoost's order, left and right.
    fn push_split(
        &mut self,
        number: usize,
        node: usize,
        split: &Split,
        tree: &Tree,
    ) -> Result<[Child; 2], ModelError> {
        let mut children = [split.left, split.right];
        let mut default_left = split.missing == Side::Left;
        let mut condition = Float32(0.0);
        match split.rule {
            SplitCondition::AtMost(threshold) => condition = Float32(threshold.next_up()),
            SplitCondition::NonZeroAtMost(_) => {
                return Err(unsupported(UnsupportedPart::ZeroAsMissing { split: number }));
            }
            SplitCondition::In(set) => {
                // In XGBoost listed categories go right, in our trees left.
                children.reverse();
                default_left = !default_left;
                self.set_nodes.push(node);
                self.set_begins.push(self.categories.len());
                self.categories.extend(tree.sets().get(set as usize).iter().flat_map(|s| s.ids()));
                self.set_sizes.push(self.categories.len() - self.set_begins.last().unwrap_or(&0));
            }
        }
        self.gains.push(to_f32("a gain", split.gain)?);
        self.features.push(split.feature);
        self.conditions.push(condition);
        self.default_left.push(default_left);
        self.rows.push(Float32(split.rows as f32));
        self.types.push(u8::from(matches!(split.rule, SplitCondition::In(_))));
        Ok(children)
    }

    /// Adds a leaf.
    fn push_leaf(&mut self, leaf: &Leaf) -> Result<(), ModelError> {
        let value = to_f32("a leaf value", leaf.value)?;
        self.gains.push(Float32(0.0));
        self.features.push(0);
        self.conditions.push(value);
        self.default_left.push(false);
        self.rows.push(Float32(leaf.rows as f32));
        self.types.push(0);
        Ok(())
    }
}

/// Adds a key with a list of values, and a comma.
fn list<T: Display>(out: &mut String, key: &str, values: impl IntoIterator<Item = T>) {
    let _ = write!(out, "\"{key}\":[");
    for (number, value) in values.into_iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        let _ = write!(out, "{value}");
    }
    out.push_str("],");
}
