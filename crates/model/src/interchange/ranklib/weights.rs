//! Reads linear models: `1:0.5 2:-0.25`, where id 0 has the bias if the ranker has one.

use super::{bad_value, feature_id, invalid, unexpected};
use crate::error::ModelError;
use crate::interchange::FileProblem;
use crate::interchange::common::java_number;
use crate::interchange::problem::excerpt;
use crate::linear::Linear;
use crate::model::ModelBody;

/// The largest feature id that is allowed. It bounds memory: a linear model has a weight for every
/// id up to the largest in the file.
const MAX_ID: usize = 1 << 19;

/// The meaning of the id 0 in the file of a ranker.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum IdZero {
    Bias,
    Invalid,
}

/// Reads the weights; returns the linear model and the largest feature id.
pub(super) fn read(text: &str, id_zero: IdZero) -> Result<(ModelBody, usize), ModelError> {
    let mut lines = text.lines().filter(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with("##")
    });
    let line = lines
        .next()
        .ok_or_else(|| invalid(FileProblem::CutOff { expected: "a line of id:weight" }))?;
    if let Some(more) = lines.next() {
        return Err(unexpected(format!("'{}' after the weights", excerpt(more)), "one line"));
    }
    // Text after a hash is a comment.
    let line = line.split('#').next().unwrap_or("");
    let mut bias = None;
    let mut weights: Vec<Option<f64>> = Vec::new();
    for pair in line.split_ascii_whitespace() {
        let parts = pair.split_once(':');
        let weight = parts.and_then(|(_, weight)| java_number(weight).parse::<f64>().ok());
        let (Some((id, _)), Some(weight)) = (parts, weight) else {
            return Err(bad_value("a weight", pair, "id:weight"));
        };
        let slot = match id {
            "0" if id_zero == IdZero::Bias => &mut bias,
            id => {
                let id = feature_id(id)? as usize;
                if id > MAX_ID {
                    let expected = "ids up to 524288 in a line of weights";
                    return Err(bad_value("a feature id", &id.to_string(), expected));
                }
                if weights.len() < id {
                    weights.resize(id, None);
                }
                match weights.get_mut(id - 1) {
                    Some(slot) => slot,
                    None => continue,
                }
            }
        };
        if slot.replace(weight).is_some() {
            let feature = id.to_owned();
            return Err(invalid(FileProblem::DuplicateWeight { feature }));
        }
    }
    let largest_id = weights.len();
    let weights = weights.into_iter().map(|weight| weight.unwrap_or(0.0)).collect();
    Ok((ModelBody::Linear(Linear::new(bias.unwrap_or(0.0), weights)?), largest_id))
}

/// The same linear model for `count` features; those without a weight get 0.
pub(super) fn padded(linear: &Linear, count: usize) -> Result<Linear, ModelError> {
    let mut weights = linear.weights().to_vec();
    weights.resize(count, 0.0);
    Linear::new(linear.bias(), weights)
}
