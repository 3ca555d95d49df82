//! `bias=ips`: inverse propensity scores (Joachims, Swaminathan and Schnabel, "Unbiased
//! learning-to-rank with biased feedback", WSDM 2017).
//!
//! A click at position k, a label above 0, counts by the weight 1 / examination(k): a document that
//! is seen half as often as the first is clicked half as often. What the weight multiplies depends
//! on the loss:
//!
//! - pairs (`pair-logistic`, `lambda`, the ranking SVM, RankNet): every pair in which the clicked
//!   document is the better one, as in the paper's propensity SVM-rank. The other document of the
//!   pair has weight 1, even if it was clicked too (graded feedback).
//! - lists (`softmax`, `xendcg`): the gain of the clicked document in the target, which is divided
//!   by the sum of the gains without weights, so that a query whose only click is at a rarely seen
//!   position counts more than others; the softmax of the scores is not weighted.
//! - squared errors (`squared`, `query-rmse`): the label itself, which becomes click / examination.
//!   This is the minimiser of the unbiased pointwise risk of Saito et al. (WSDM 2020).
//!
//! Labels that are not all whole numbers are *click rates* of several impressions. A clicked
//! document is then no better than one with fewer clicks that was seen less often, so that the
//! weight of a click cannot correct the order: every loss sees click rate / examination in place of
//! the label, by its gain where the loss has gains, and no weights.
//!
//! Documents without a click need no examination. A click at a position whose examination is not
//! known is an error. The weights are used as they are unless `bias_clip` is given.

use rankwright_data::Dataset;
use rankwright_model::BiasFactors;

use super::clicks::{CorrectedClicks, RowClickWeights};
use super::examination::GivenExamination;
use super::positions::positions_of;
use super::{BiasCorrection, BiasParams};
use crate::error::LearnError;
use crate::objective::{Objective, RelevanceScale};

/// Whether labels are click rates of several impressions: some label is no whole number.
pub(crate) fn are_rates(data: &Dataset) -> bool {
    data.labels().iter().any(|label| label.fract() != 0.0)
}

/// Click rate / examination of each row, in place of its label.
pub(crate) fn corrected_rates(params: &BiasParams, data: &Dataset) -> Result<Vec<f64>, LearnError> {
    let factors = click_factors(params, data)?;
    Ok(data.labels().iter().zip(factors).map(|(label, factor)| label * factor).collect())
}

/// The weight of each row: 1 / examination of its position if it was clicked, otherwise 1.
pub(crate) fn click_factors(params: &BiasParams, data: &Dataset) -> Result<Vec<f64>, LearnError> {
    let examination = GivenExamination::new(params)?;
    let positions = positions_of(data, BiasCorrection::Ips)?;
    let weight = |(label, position): (&f64, &u32)| {
        if *label <= 0.0 {
            return Ok(1.0);
        }
        let alpha = examination.alpha(*position);
        let alpha = alpha.ok_or(LearnError::ExaminationUnknown { position: *position })?;
        Ok(1.0 / examination.clipped(alpha))
    };
    data.labels().iter().zip(positions).map(weight).collect()
}

/// The examination of positions, for the header of a model; `None` without a correction.
pub(crate) fn given_factors(params: &BiasParams) -> Result<Option<BiasFactors>, LearnError> {
    match params.bias {
        BiasCorrection::None => Ok(None),
        _ => Ok(Some(GivenExamination::new(params)?.factors(params))),
    }
}

/// The corrections of an objective.
pub(super) fn corrected(
    params: &BiasParams,
    data: &Dataset,
    objective: &dyn Objective,
) -> Result<CorrectedClicks, LearnError> {
    let scale = objective.relevance_scale();
    if scale == Some(RelevanceScale::Signed) || are_rates(data) {
        // A loss without gains takes the order of its labels alone.
        let scale = scale.unwrap_or(RelevanceScale::Signed);
        let labels = corrected_rates(params, data)?.into_iter().map(|rate| scale.label(rate));
        return Ok(CorrectedClicks {
            labels: Some(labels.collect()),
            ..CorrectedClicks::default()
        });
    }
    let factors = click_factors(params, data)?;
    let worse = vec![1.0; factors.len()];
    let weights = Some(RowClickWeights { better: factors, worse });
    Ok(CorrectedClicks { weights, ..CorrectedClicks::default() })
}
