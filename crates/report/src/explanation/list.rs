//! Features that distinguish the documents of a list.
//!
//! A feature that adds the same to all documents cannot change their order, so the mean of its
//! contribution over the list is subtracted first. `spread` is the mean absolute value of the rest;
//! `agreement` is Kendall's tau-b between the rest and the scores: 1 if the feature alone would
//! give the same order, -1 if the reverse. A list of fewer than two documents, or a feature that
//! adds the same to all, has no agreement. Cost: documents x log documents for each feature.

use rankwright_eval::{EvalError, Measure, MetricSpec, SourceKind};
use rankwright_model::Explanation;
use rayon::prelude::*;
use serde::Serialize;

use crate::error::ReportError;

/// The effect of one feature on the order of a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// The name of the feature.
    pub feature: String,
    /// The mean absolute value of its contribution less the list's mean.
    pub spread: f64,
    /// Kendall's tau-b between its contribution and the scores.
    pub agreement: Option<f64>,
}

/// The effects of all features, the largest spread first.
pub(super) fn effects(found: &Explanation, names: &[String]) -> Result<Vec<Effect>, ReportError> {
    let tau = MetricSpec::parse("kendall")?.resolve(SourceKind::Features)?;
    let means = found.means();
    let of_feature = |(slot, feature): (usize, &String)| {
        let documents = 0..found.documents();
        let parts: Vec<f64> =
            documents.map(|document| found.contributions(document)[slot] - means[slot]).collect();
        let spread = parts.iter().map(|part| part.abs()).sum::<f64>() / parts.len().max(1) as f64;
        let agreement = agreement(&tau, &found.scores, &parts)?;
        Ok(Effect { feature: feature.clone(), spread, agreement })
    };
    let mut effects: Vec<Effect> =
        names.par_iter().enumerate().map(of_feature).collect::<Result<_, ReportError>>()?;
    effects.sort_by(|a, b| b.spread.total_cmp(&a.spread));
    Ok(effects)
}

fn agreement(tau: &Measure, scores: &[f64], parts: &[f64]) -> Result<Option<f64>, EvalError> {
    if scores.len() < 2 || !scores.iter().chain(parts).all(|number| number.is_finite()) {
        return Ok(None);
    }
    tau.of(scores, parts)
}
