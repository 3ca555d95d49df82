//! Writes a model for Solr's model store; trees are written without recursion, as they may be deep.

use std::fmt::Write;

use super::{LINEAR, NAME, PACKAGE, THRESHOLD_OFFSET, TREES, unsupported};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::interchange::UnsupportedPart;
use crate::interchange::common::{
    as_threshold, for_java, in_written_tree, json_string, missing_matters,
};
use crate::model::{Model, ModelBody};
use crate::tree::{Child, Side, Split, Tree};

/// Writes a model of trees or a linear model without a bias.
pub(super) fn model(model: &Model) -> Result<Vec<u8>, ModelError> {
    let mut names = Vec::with_capacity(model.header().features.len());
    for name in model.header().features.iter() {
        names.push(json_string(&name));
    }
    let class = match model.body() {
        ModelBody::Trees(_) => TREES,
        ModelBody::Linear(_) => LINEAR,
        _ => return Err(unsupported(UnsupportedPart::of_model(model))),
    };
    let mut out = format!(
        "{{\n  \"class\": \"{PACKAGE}{class}\",\n  \"name\": \"rankwright\",\n  \"features\": ["
    );
    for (number, name) in names.iter().enumerate() {
        put(&mut out, format_args!("{}{{\"name\": {name}}}", separator(number)));
    }
    out.push_str("\n  ],\n  \"params\": {\n");
    match model.body() {
        ModelBody::Trees(ensemble) => {
            let missing_values_matter = missing_matters(model.header(), ensemble).is_some();
            write_trees(&mut out, ensemble, &names, missing_values_matter)?;
        }
        ModelBody::Linear(linear) if linear.bias() != 0.0 => {
            return Err(unsupported(UnsupportedPart::Bias { bias: linear.bias() }));
        }
        ModelBody::Linear(linear) => {
            out.push_str("    \"weights\": {");
            for (number, (name, weight)) in names.iter().zip(linear.weights()).enumerate() {
                check_32_bits("a weight", *weight)?;
                put(&mut out, format_args!("{}{name}: {weight:?}", separator(number)));
            }
            out.push_str("\n    }\n");
        }
        ModelBody::Net(_) | ModelBody::Blend(_) => {}
    }
    out.push_str("  }\n}\n");
    Ok(out.into_bytes())
}

/// Appends text; writing to a string cannot fail.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// The text before entry `number` of a list, from 0.
fn separator(number: usize) -> &'static str {
    if number == 0 { "\n      " } else { ",\n      " }
}

/// Checks that a value fits the 32 bits of Solr's numbers.
fn check_32_bits(name: &'static str, value: f64) -> Result<(), ModelError> {
    match value.abs() <= f64::from(f32::MAX) {
        true => Ok(()),
        false => Err(unsupported(UnsupportedPart::Beyond32Bits { name, value })),
    }
}

/// Writes the parameters of a model of trees; `names` are the names of features as JSON strings.
/// The side of missing values is written only if it matters to the model.
fn write_trees(
    out: &mut String,
    ensemble: &Ensemble,
    names: &[String],
    missing_values_matter: bool,
) -> Result<(), ModelError> {
    if missing_values_matter {
        out.push_str("    \"isNullSameAsZero\": false,\n");
    }
    out.push_str("    \"trees\": [");
    let (base, trees) = (ensemble.base(), ensemble.trees());
    check_32_bits("the base score", base)?;
    let base_tree = (base != 0.0).then(|| Tree::constant(base, 0)).transpose()?;
    for (number, tree) in base_tree.iter().chain(trees).enumerate() {
        put(out, format_args!("{}{{\"weight\": \"1\", \"root\": ", separator(number)));
        let written = write_tree(out, tree, names, missing_values_matter);
        written.map_err(|error| in_written_tree(NAME, number, base_tree.is_some(), error))?;
        out.push('}');
    }
    out.push_str("\n    ]\n");
    Ok(())
}

/// A part of a tree that is still to be written.
enum Pending {
    Node(Child),
    Text(&'static str),
}

/// Writes the root of a tree and all nodes below it.
fn write_tree(
    out: &mut String,
    tree: &Tree,
    names: &[String],
    missing_values_matter: bool,
) -> Result<(), ModelError> {
    let mut pending = vec![Pending::Node(tree.root())];
    while let Some(next) = pending.pop() {
        match next {
            Pending::Text(text) => out.push_str(text),
            Pending::Node(Child::Leaf(number)) => {
                let value = tree.leaf(number).value;
                check_32_bits("a leaf value", value)?;
                put(out, format_args!("{{\"value\": \"{}\"}}", for_java(value)));
            }
            Pending::Node(Child::Split(number)) => {
                let split = tree.split(number);
                let name = names.get(split.feature as usize).map_or("\"\"", String::as_str);
                let threshold = for_java(threshold_for_solr(number as usize, split)?);
                put(out, format_args!("{{\"feature\": {name}, \"threshold\": \"{threshold}\", "));
                match split.missing {
                    _ if !missing_values_matter => {}
                    Side::Left => out.push_str("\"missing\": \"left\", "),
                    Side::Right => out.push_str("\"missing\": \"right\", "),
                }
                out.push_str("\"left\": ");
                let following = [
                    Pending::Node(split.left),
                    Pending::Text(", \"right\": "),
                    Pending::Node(split.right),
                    Pending::Text("}"),
                ];
                pending.extend(following.into_iter().rev());
            }
        }
    }
    Ok(())
}

/// The number that becomes the split's threshold when Solr adds 1e-6; `number` is that of the
/// split, for messages.
fn threshold_for_solr(number: usize, split: &Split) -> Result<f32, ModelError> {
    let threshold = as_threshold(NAME, number, split)?;
    let near = (f64::from(threshold) - f64::from(THRESHOLD_OFFSET)) as f32;
    let candidates = [near, near.next_up(), near.next_down(), threshold];
    candidates
        .into_iter()
        .find(|candidate| candidate + THRESHOLD_OFFSET == threshold)
        .ok_or_else(|| unsupported(UnsupportedPart::Threshold { split: number, threshold }))
}
