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
    let factors = click_factors(params, data)?;
    if objective.relevance_scale() == Some(RelevanceScale::Signed) {
        let labels = data.labels().iter().zip(&factors).map(|(label, factor)| label * factor);
        return Ok(CorrectedClicks {
            labels: Some(labels.collect()),
            ..CorrectedClicks::default()
        });
    }
    let worse = vec![1.0; factors.len()];
    let weights = Some(RowClickWeights { better: factors, worse });
    Ok(CorrectedClicks { weights, ..CorrectedClicks::default() })
}
