//! The examination of positions (the probability that a document there is looked at), given with
//! the learner.
//!
//! Clicks follow the affine model of trust bias (Vardasbi, Oosterhuis and de Rijke, CIKM 2020):
//!
//! ```text
//! P(click | document, position k) = alpha_k P(relevant | document) + beta_k
//! ```
//!
//! alpha is the parameter `examination`, beta the parameter `click_noise`; with beta = 0 this is
//! the position-based model. An examination relative to the first position is enough: a common
//! factor only scales the estimates of relevance. An examination of 0 means that it is not known.
//! `bias_clip` raises small values of alpha where they are divisors; without it none is changed.

use rankwright_model::{BiasColumn, BiasFactors};
use rankwright_spec::Slashed;

use super::BiasParams;
use crate::error::LearnError;

/// Examination and click noise of positions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GivenExamination {
    /// alpha of the positions from 1 on.
    alpha: Vec<f64>,
    /// beta of the positions from 1 on; 0 for further ones.
    beta: Vec<f64>,
    /// The smallest alpha in a divisor.
    clip: Option<f64>,
}

impl GivenExamination {
    /// The examination that the parameters give.
    pub(super) fn new(params: &BiasParams) -> Result<Self, LearnError> {
        let values = |list: &Option<Slashed<f64>>| list.as_ref().map(|list| list.0.clone());
        let missing = LearnError::ExaminationMissing { bias: params.bias.name() };
        Ok(Self {
            alpha: values(&params.examination).ok_or(missing)?,
            beta: values(&params.click_noise).unwrap_or_default(),
            clip: params.bias_clip,
        })
    }

    /// alpha of a position; `None` if alpha is not known.
    pub(super) fn alpha(&self, position: u32) -> Option<f64> {
        at(&self.alpha, position).filter(|alpha| *alpha > 0.0)
    }

    /// beta of a position.
    pub(super) fn beta(&self, position: u32) -> f64 {
        at(&self.beta, position).unwrap_or(0.0)
    }

    /// An examination as a divisor: raised to the clip.
    pub(super) fn clipped(&self, examination: f64) -> f64 {
        self.clip.map_or(examination, |clip| examination.max(clip))
    }

    /// alpha and beta of the positions whose alpha is known, for the header of a model.
    pub(super) fn factors(&self, params: &BiasParams) -> BiasFactors {
        let positions: Vec<u32> =
            (1..=self.alpha.len() as u32).filter(|p| self.alpha(*p).is_some()).collect();
        let alpha = positions.iter().filter_map(|position| self.alpha(*position)).collect();
        let mut columns = vec![BiasColumn::new("examination", alpha)];
        if params.click_noise.is_some() {
            let beta = positions.iter().map(|position| self.beta(*position)).collect();
            columns.push(BiasColumn::new("click noise", beta));
        }
        BiasFactors::new(params.bias.name(), positions, columns).clip(self.clip)
    }
}

/// The value of a position, counted from 1.
fn at(values: &[f64], position: u32) -> Option<f64> {
    values.get((position as usize).checked_sub(1)?).copied()
}
