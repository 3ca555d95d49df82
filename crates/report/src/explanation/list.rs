//! Features that distinguish the documents of a list.
//!
//! A feature that adds the same to the score of all documents cannot change their order, so the
//! mean of its contribution over the list is subtracted from each contribution. `spread` is the
//! mean absolute value of these centred contributions; `agreement` is Kendall's tau-b between them
//! and the scores: 1 if the feature alone would give the same order, -1 if the reverse. A list of
//! fewer than two documents, or a feature that adds the same to all, has no agreement. Cost:
//! documents x log documents for each feature.

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
    /// The mean absolute difference between the feature's contribution to a document and its mean
    /// contribution over the list.
    pub spread: f64,
    /// Kendall's tau-b between the feature's contributions and the scores.
    pub agreement: Option<f64>,
}

/// The effects of all features, the largest spread first.
pub(super) fn effects(
    explanation: &Explanation,
    names: &[String],
) -> Result<Vec<Effect>, ReportError> {
    let tau = MetricSpec::parse("kendall")?.resolve(SourceKind::Features)?;
    let means = explanation.means();
    let of_feature = |(f, feature): (usize, &String)| {
        let documents = 0..explanation.documents();
        let centred: Vec<f64> =
            documents.map(|document| explanation.contributions(document)[f] - means[f]).collect();
        let sum: f64 = centred.iter().map(|contribution| contribution.abs()).sum();
        let spread = sum / centred.len().max(1) as f64;
        let agreement = agreement(&tau, &explanation.scores, &centred)?;
        Ok(Effect { feature: feature.clone(), spread, agreement })
    };
    let mut effects: Vec<Effect> =
        names.par_iter().enumerate().map(of_feature).collect::<Result<_, ReportError>>()?;
    effects.sort_by(|a, b| b.spread.total_cmp(&a.spread));
    Ok(effects)
}

/// Kendall's tau-b between scores and centred contributions, if all of them are finite.
fn agreement(tau: &Measure, scores: &[f64], centred: &[f64]) -> Result<Option<f64>, EvalError> {
    if scores.len() < 2 || !scores.iter().chain(centred).all(|number| number.is_finite()) {
        return Ok(None);
    }
    tau.of(scores, centred)
}
