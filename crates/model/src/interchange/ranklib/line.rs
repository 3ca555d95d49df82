//! Reads linear models: `1:0.5 2:-0.25`, where id 0 has the constant if the ranker has one.

use super::{feature_id, invalid, shown};
use crate::error::ModelError;
use crate::interchange::common::java_number;
use crate::linear::Linear;
use crate::model::ModelBody;

/// The largest feature id; a linear model holds a weight for every id up to the largest one named.
const LARGEST: usize = 1 << 19;

/// Reads the weights, and the largest feature id.
pub(super) fn read(text: &str, constant: bool) -> Result<(ModelBody, usize), ModelError> {
    let mut lines = text.lines().filter(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with("##")
    });
    let line = lines.next().ok_or_else(|| invalid("no weights", "a line of id:weight"))?;
    if let Some(more) = lines.next() {
        return Err(invalid(format!("'{}' after the weights", shown(more)), "one line"));
    }
    // Text after a hash is a comment.
    let line = line.split('#').next().unwrap_or("");
    let mut bias = None;
    let mut weights: Vec<Option<f64>> = Vec::new();
    for pair in line.split_ascii_whitespace() {
        let parts = pair.split_once(':');
        let weight = parts.and_then(|(_, weight)| java_number(weight).parse::<f64>().ok());
        let (Some((id, _)), Some(weight)) = (parts, weight) else {
            return Err(invalid(format!("the weight '{}'", shown(pair)), "id:weight"));
        };
        let slot = match id {
            "0" if constant => &mut bias,
            id => {
                let id = feature_id(id)? as usize;
                if id > LARGEST {
                    let expected = format!("ids up to {LARGEST} in a line of weights");
                    return Err(invalid(format!("a weight for feature {id}"), &expected));
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
            return Err(invalid(format!("two weights for feature {id}"), "one for each"));
        }
    }
    let largest = weights.len();
    let weights = weights.into_iter().map(|weight| weight.unwrap_or(0.0)).collect();
    Ok((ModelBody::Linear(Linear::new(bias.unwrap_or(0.0), weights)?), largest))
}

/// The same linear model for `count` features; those without a weight get 0.
pub(super) fn padded(line: &Linear, count: usize) -> Result<Linear, ModelError> {
    let mut weights = line.weights().to_vec();
    weights.resize(count, 0.0);
    Linear::new(line.bias(), weights)
}
