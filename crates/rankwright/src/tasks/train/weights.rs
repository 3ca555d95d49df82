//! Weights of a linear model by feature name, largest first.
//!
//! Weights of raw values cannot be compared with each other where features have different ranges;
//! those of the values that the learner received (such as standardised ones) can. Both are given
//! where both are known.

use rankwright_model::{Model, ModelBody};
use serde::Serialize;

/// The weight of one feature of a linear model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FeatureWeight {
    /// Name of the feature.
    pub feature: String,
    /// Weight of the value that the learner received.
    pub weight: f64,
    /// Weight of the raw value.
    pub raw: Option<f64>,
}

/// All weights, the largest first; equal ones in the order of the features. None for models that
/// are not linear. `learnt` are the weights of the values that the learner received; empty if these
/// are the raw values.
pub(super) fn of_model(model: &Model, learnt: &[f64]) -> Option<Vec<FeatureWeight>> {
    let raw = match model.body() {
        ModelBody::Linear(linear) => Some(linear.weights()),
        _ => None,
    };
    let learnt = if learnt.is_empty() { raw? } else { learnt };
    let names = &model.header().features;
    let weight = |(column, learnt): (usize, &f64)| FeatureWeight {
        feature: names.name(column).into_owned(),
        weight: *learnt,
        raw: raw.and_then(|raw| raw.get(column)).copied(),
    };
    let mut all: Vec<FeatureWeight> = learnt.iter().enumerate().map(weight).collect();
    all.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    Some(all).filter(|all| !all.is_empty())
}
