//! Writes trees for the learning-to-rank plugins of Elasticsearch and OpenSearch, without
//! recursion, as trees may be deep.

use std::fmt::Write;

use super::{NAME, unsupported};
use crate::error::ModelError;
use crate::interchange::UnsupportedPart;
use crate::interchange::common::{
    as_threshold, in_written_tree, json_string, missing_matters, side_of_zero,
};
use crate::model::{Model, ModelBody};
use crate::tree::{Child, Side, Tree};

/// Writes a model of trees.
pub(super) fn model(model: &Model) -> Result<Vec<u8>, ModelError> {
    let ModelBody::Trees(ensemble) = model.body() else {
        return Err(unsupported(UnsupportedPart::of_model(model)));
    };
    let names: Vec<String> =
        model.header().features.iter().map(|name| json_string(&name)).collect();
    let missing_values_matter = missing_matters(model.header(), ensemble).is_some();
    let (base, trees) = (ensemble.base(), ensemble.trees());
    // The plugins need at least one tree.
    let base_tree =
        (base != 0.0 || trees.is_empty()).then(|| Tree::constant(base, 0)).transpose()?;
    to_f32("the base score", base)?;
    let mut out = String::new();
    for (number, tree) in base_tree.iter().chain(trees).enumerate() {
        out.push_str(if number == 0 { "[\n" } else { ",\n" });
        let written = write_tree(&mut out, tree, &names, missing_values_matter);
        written.map_err(|error| in_written_tree(NAME, number, base_tree.is_some(), error))?;
    }
    out.push_str("\n]\n");
    Ok(out.into_bytes())
}

/// A part of a tree that is still to be written.
enum Pending {
    Node { node: Child, id: usize, depth: usize },
    Text(&'static str),
}

/// Writes a tree; `names` are the names of features as JSON strings. Unless missing values matter
/// to the model, they are written as going to the side of a 0, because most versions of the plugins
/// count a missing value as 0.
fn write_tree(
    out: &mut String,
    tree: &Tree,
    names: &[String],
    missing_values_matter: bool,
) -> Result<(), ModelError> {
    let mut pending = vec![Pending::Node { node: tree.root(), id: 0, depth: 0 }];
    // The next id that no node has.
    let mut next_id = 1;
    while let Some(next) = pending.pop() {
        let (node, id, depth) = match next {
            Pending::Text(text) => {
                out.push_str(text);
                continue;
            }
            Pending::Node { node, id, depth } => (node, id, depth),
        };
        // Writing to a string cannot fail.
        let _ = match node {
            Child::Leaf(number) => {
                let value = tree.leaves().get(number as usize).ok_or(UNKNOWN_NODE)?.value;
                let value = to_f32("a leaf value", value)?;
                write!(out, "{{\"nodeid\": {id}, \"leaf\": {value:?}}}")
            }
            Child::Split(number) => {
                let split = tree.splits().get(number as usize).ok_or(UNKNOWN_NODE)?;
                let threshold = as_threshold(NAME, number as usize, split)?;
                // Values below the condition go to `yes`: the next float above the threshold.
                let split_condition = to_f32("a threshold", f64::from(threshold.next_up()))?;
                let side =
                    if missing_values_matter { split.missing } else { side_of_zero(threshold) };
                let (yes, no) = (next_id, next_id + 1);
                next_id += 2;
                let missing = if side == Side::Left { yes } else { no };
                let name = names.get(split.feature as usize).ok_or(NO_NAME)?;
                pending.push(Pending::Text("]}"));
                pending.push(Pending::Node { node: split.right, id: no, depth: depth + 1 });
                pending.push(Pending::Text(", "));
                pending.push(Pending::Node { node: split.left, id: yes, depth: depth + 1 });
                write!(
                    out,
                    "{{\"nodeid\": {id}, \"depth\": {depth}, \"split\": {name}, \"split_condition\": \
                     {split_condition:?}, \"yes\": {yes}, \"no\": {no}, \"missing\": {missing}, \"children\": ["
                )
            }
        };
    }
    Ok(())
}

/// An error that no valid model can cause.
const NO_NAME: ModelError =
    ModelError::Internal { invariant: "every feature of a split has a name" };
/// An error that no valid model can cause.
const UNKNOWN_NODE: ModelError =
    ModelError::Internal { invariant: "a tree has the nodes that its splits name" };

/// A value rounded to 32 bits, which must be finite, as JSON has no infinite numbers; `name` is for
/// the message.
fn to_f32(name: &'static str, value: f64) -> Result<f32, ModelError> {
    match (value as f32).is_finite() {
        true => Ok(value as f32),
        false => Err(unsupported(UnsupportedPart::Beyond32Bits { name, value })),
    }
}
