//! Writes trees for the plugins, with an explicit stack.

use std::fmt::Write;

use super::{NAME, unsupported};
use crate::error::ModelError;
use crate::interchange::UnsupportedPart;
use crate::interchange::common::{in_tree, missing_matters, plain_threshold, side_of_zero};
use crate::model::{Model, ModelBody};
use crate::tree::{Child, Side, Tree};

/// Writes a model of trees.
pub(super) fn model(model: &Model) -> Result<Vec<u8>, ModelError> {
    let ModelBody::Trees(ensemble) = model.body() else {
        return Err(unsupported(UnsupportedPart::Body(model.body().kind())));
    };
    let names: Vec<String> = model
        .header()
        .features
        .iter()
        .map(|name| serde_json::Value::from(&*name).to_string())
        .collect();
    let learnt = missing_matters(model.header(), ensemble).is_some();
    let (base, trees) = (ensemble.base(), ensemble.trees());
    // The plugins need at least one tree.
    let first = (base != 0.0 || trees.is_empty()).then(|| Tree::constant(base, 0)).transpose()?;
    let mut out = String::new();
    for (number, tree) in first.iter().chain(trees).enumerate() {
        out.push_str(if number == 0 { "[\n" } else { ",\n" });
        write_tree(&mut out, tree, &names, learnt).map_err(|error| in_tree(NAME, number, error))?;
    }
    out.push_str("\n]\n");
    Ok(out.into_bytes())
}

/// A part of a tree that is still to be written.
enum Pending {
    Node { at: Child, id: usize, depth: usize },
    Text(&'static str),
}

fn write_tree(
    out: &mut String,
    tree: &Tree,
    names: &[String],
    learnt: bool,
) -> Result<(), ModelError> {
    let mut pending = vec![Pending::Node { at: tree.root(), id: 0, depth: 0 }];
    // Number of nodes numbered so far.
    let mut given = 1;
    while let Some(next) = pending.pop() {
        let (at, id, depth) = match next {
            Pending::Text(text) => {
                out.push_str(text);
                continue;
            }
            Pending::Node { at, id, depth } => (at, id, depth),
        };
        // Writing to a string cannot fail.
        let _ = match at {
            Child::Leaf(to) => {
                let value = tree.leaves().get(to as usize).ok_or(UNKNOWN_NODE)?.value;
                let value = narrow("a leaf value", value)?;
                write!(out, "{{\"nodeid\": {id}, \"leaf\": {value:?}}}")
            }
            Child::Split(to) => {
                let split = tree.splits().get(to as usize).ok_or(UNKNOWN_NODE)?;
                let threshold = plain_threshold(NAME, to as usize, split)?;
                let above = narrow("a threshold", f64::from(threshold.next_up()))?;
                let side = if learnt { split.missing } else { side_of_zero(threshold) };
                let (yes, no) = (given, given + 1);
                given += 2;
                let missing = if side == Side::Left { yes } else { no };
                let name = names.get(split.feature as usize).ok_or(UNNAMED)?;
                pending.push(Pending::Text("]}"));
                pending.push(Pending::Node { at: split.right, id: no, depth: depth + 1 });
                pending.push(Pending::Text(", "));
                pending.push(Pending::Node { at: split.left, id: yes, depth: depth + 1 });
                write!(
                    out,
                    "{{\"nodeid\": {id}, \"depth\": {depth}, \"split\": {name}, \"split_condition\": \
                     {above:?}, \"yes\": {yes}, \"no\": {no}, \"missing\": {missing}, \"children\": ["
                )
            }
        };
    }
    Ok(())
}

const UNNAMED: ModelError =
    ModelError::Internal { invariant: "every feature of a split has a name" };
const UNKNOWN_NODE: ModelError =
    ModelError::Internal { invariant: "a tree has the nodes that its splits name" };

/// A number of 32 bits; JSON has no infinite numbers.
fn narrow(name: &'static str, value: f64) -> Result<f32, ModelError> {
    match (value as f32).is_finite() {
        true => Ok(value as f32),
        false => Err(unsupported(UnsupportedPart::Beyond32Bits { name, value })),
    }
}
