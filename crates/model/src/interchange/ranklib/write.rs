//! Writes a model for RankLib. Each tag is on a line of its own, without indentation: RankLib joins
//! the trimmed lines before it reads them, and a deep tree would be mostly spaces.

use std::fmt::Write;

use rankwright_data::FeatureNames;

use super::{FEATURE_COMMENT, NAME, unsupported};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::interchange::UnsupportedPart;
use crate::interchange::common::{
    as_threshold, for_java, in_tree, in_written_tree, json_string, missing_matters,
};
use crate::linear::Linear;
use crate::model::{Model, ModelBody};
use crate::tree::{Child, Tree};

/// Writes a model of trees or a linear model.
pub(super) fn model(model: &Model) -> Result<Vec<u8>, ModelError> {
    let features = &model.header().features;
    let mut out = String::new();
    match model.body() {
        ModelBody::Trees(ensemble) => {
            if let Some((number, split)) = missing_matters(model.header(), ensemble) {
                let error = unsupported(UnsupportedPart::MissingSide { split });
                return Err(in_tree(NAME, number, error));
            }
            write_head(&mut out, "LambdaMART", features);
            write_trees(&mut out, ensemble)?;
        }
        ModelBody::Linear(linear) => {
            let with_bias = linear.bias() != 0.0;
            let ranker = if with_bias { "Linear Regression" } else { "Coordinate Ascent" };
            write_head(&mut out, ranker, features);
            write_weights(&mut out, linear, with_bias);
        }
        _ => return Err(unsupported(UnsupportedPart::of_model(model))),
    }
    Ok(out.into_bytes())
}

/// Adds a line; writing to a string cannot fail.
macro_rules! line {
    ($out:expr, $($text:tt)*) => {{
        let _ = writeln!($out, $($text)*);
    }};
}

/// Writes the comments at the beginning: the ranker, and the names of features if they have some.
fn write_head(out: &mut String, ranker: &str, features: &FeatureNames) {
    line!(out, "## {ranker}");
    if matches!(features, FeatureNames::Ids { first: 1, .. }) {
        return;
    }
    for (number, name) in features.iter().enumerate() {
        let name = json_string(&name);
        line!(out, "## {FEATURE_COMMENT}{} = {name}", number + 1);
    }
}

/// Writes the line of `id:weight`; the bias has the id 0.
fn write_weights(out: &mut String, linear: &Linear, with_bias: bool) {
    let bias = with_bias.then(|| format!("0:{}", for_java(linear.bias())));
    let weights = linear.weights().iter().enumerate();
    let weights = weights.map(|(number, &weight)| format!("{}:{}", number + 1, for_java(weight)));
    let pairs: Vec<String> = bias.into_iter().chain(weights).collect();
    line!(out, "{}", pairs.join(" "));
}

/// Writes the trees; a base score becomes a first tree of one leaf.
fn write_trees(out: &mut String, ensemble: &Ensemble) -> Result<(), ModelError> {
    let (base, trees) = (ensemble.base(), ensemble.trees());
    let base_tree =
        (base != 0.0 || trees.is_empty()).then(|| Tree::constant(base, 0)).transpose()?;
    line!(out, "## No. of trees = {}\n\n<ensemble>", trees.len() + base_tree.iter().len());
    for (number, tree) in base_tree.iter().chain(trees).enumerate() {
        line!(out, "<tree id=\"{}\" weight=\"1.0\">", number + 1);
        let has_base_tree = base_tree.is_some();
        write_tree(out, tree)
            .map_err(|error| in_written_tree(NAME, number, has_base_tree, error))?;
        line!(out, "</tree>");
    }
    line!(out, "</ensemble>");
    Ok(())
}

/// A part of a tree that is still to be written.
enum PendingNode {
    /// A node, and the attribute of its tag with a space before it; empty for the root.
    Node(Child, &'static str),
    /// The end of a split.
    End,
}

fn write_tree(out: &mut String, tree: &Tree) -> Result<(), ModelError> {
    let mut pending = vec![PendingNode::Node(tree.root(), "")];
    while let Some(next) = pending.pop() {
        let (child, attribute) = match next {
            PendingNode::End => {
                line!(out, "</split>");
                continue;
            }
            PendingNode::Node(child, attribute) => (child, attribute),
        };
        line!(out, "<split{attribute}>");
        match child {
            Child::Leaf(number) => {
                let value = tree.leaf(number).value;
                if value.abs() > f64::from(f32::MAX) {
                    let name = "a leaf value";
                    return Err(unsupported(UnsupportedPart::Beyond32Bits { name, value }));
                }
                line!(out, "<output>{}</output>\n</split>", for_java(value));
            }
            Child::Split(number) => {
                let split = tree.split(number);
                let threshold = as_threshold(NAME, number as usize, split)?;
                line!(out, "<feature>{}</feature>", u64::from(split.feature) + 1);
                line!(out, "<threshold>{}</threshold>", for_java(threshold));
                pending.push(PendingNode::End);
                pending.push(PendingNode::Node(split.right, " pos=\"right\""));
                pending.push(PendingNode::Node(split.left, " pos=\"left\""));
            }
        }
    }
    Ok(())
}
