//! The part of a net that a checkpoint keeps: its parameters, the optimiser's state, moving means
//! of batch norm and the number of finished mini-batches. Every random draw depends only on seed
//! and mini-batch, so nothing else is needed to resume with the same bits.

use super::export::MovingStats;
use super::norm::BatchStats;
use super::optimiser::Optimiser;
use super::shape::{HiddenNorm, NetShape};
use crate::error::{LearnError, StateProblem};

/// The state of a net in training.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NetState {
    pub(super) parameters: Vec<f32>,
    pub(super) optimiser: Optimiser,
    pub(super) moving_stats: MovingStats,
    /// Number of finished mini-batches.
    pub(super) batches: u64,
}

impl NetState {
    /// The state as bytes, little-endian: the number of mini-batches, the optimiser's two powers, a
    /// byte that says whether there are moving means, then all 32-bit floats one after another.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.batches.to_le_bytes().to_vec();
        self.optimiser.powers.iter().for_each(|power| bytes.extend(power.to_le_bytes()));
        bytes.push(u8::from(!self.moving_stats.0.is_empty()));
        let floats = [&self.parameters, &self.optimiser.first, &self.optimiser.second];
        let stats = self.moving_stats.0.iter().flat_map(|stats| [&stats.means, &stats.variances]);
        for float in floats.into_iter().chain(stats).flatten() {
            bytes.extend(float.to_le_bytes());
        }
        bytes
    }

    /// Restores the bytes of [`to_bytes`](Self::to_bytes) for a net of this shape.
    pub(super) fn restore(&mut self, shape: &NetShape, bytes: &[u8]) -> Result<(), LearnError> {
        let mut remaining = bytes;
        self.batches = u64::from_le_bytes(take(&mut remaining)?);
        for power in &mut self.optimiser.powers {
            *power = f64::from_le_bytes(take(&mut remaining)?);
        }
        let [has_moving_stats] = take(&mut remaining)?;
        if has_moving_stats != 0 {
            let stats = |norm: HiddenNorm, outputs: usize| match norm {
                HiddenNorm::Batch => BatchStats {
                    means: vec![0.0; outputs],
                    variances: vec![0.0; outputs],
                    inverses: Vec::new(),
                },
                _ => BatchStats::default(),
            };
            let layers = shape.layers.iter();
            self.moving_stats =
                MovingStats(layers.map(|layer| stats(layer.norm, layer.outputs)).collect());
        }
        let floats = [&mut self.parameters, &mut self.optimiser.first, &mut self.optimiser.second];
        let stats = self.moving_stats.0.iter_mut();
        let stats = stats.flat_map(|stats| [&mut stats.means, &mut stats.variances]);
        for float in floats.into_iter().chain(stats).flatten() {
            *float = f32::from_le_bytes(take(&mut remaining)?);
        }
        if remaining.is_empty() { Ok(()) } else { Err(wrong_length()) }
    }
}

/// Splits off the first `N` of the remaining bytes.
fn take<const N: usize>(remaining: &mut &[u8]) -> Result<[u8; N], LearnError> {
    let (first, later) = remaining.split_first_chunk::<N>().ok_or_else(wrong_length)?;
    *remaining = later;
    Ok(*first)
}

/// The error of a state with too few or too many bytes: it is that of another net or learner.
fn wrong_length() -> LearnError {
    StateProblem::OtherLearner.into()
}

#[cfg(test)]
mod tests {
    use rankwright_model::Activation;

    use super::*;
    use crate::net::optimiser::OptimiserKind;

    /// The state of a net after one step; different for each seed.
    fn state(shape: &NetShape, seed: u64, with_moving_stats: bool) -> NetState {
        let (momentum, decay) = (0.0, 0.1);
        let mut optimiser =
            Optimiser::new(OptimiserKind::Adam, momentum, decay, shape.parameter_count);
        let (mut parameters, gradient) =
            (shape.initial_parameters(seed), shape.initial_parameters(seed + 1));
        optimiser.step(shape, &mut parameters, &gradient, 0.1);
        let means = vec![0.5, -1.0, 3.0];
        let stats = BatchStats { variances: means.clone(), means, inverses: Vec::new() };
        let moving_stats =
            if with_moving_stats { vec![stats, BatchStats::default()] } else { Vec::new() };
        NetState { parameters, optimiser, moving_stats: MovingStats(moving_stats), batches: seed }
    }

    #[test]
    fn a_state_is_restored_and_damage_is_an_error() {
        let shape = NetShape::new(4, &[3], HiddenNorm::Batch, Activation::Relu);
        for with_moving_stats in [false, true] {
            let saved = state(&shape, 1, with_moving_stats);
            let mut restored = state(&shape, 7, false);
            let bytes = saved.to_bytes();
            restored.restore(&shape, &bytes).unwrap();
            assert_eq!(saved, restored);
            for wrong in [&bytes[..bytes.len() - 1], &[], &[&bytes[..], &[0]].concat()] {
                let error = restored.restore(&shape, wrong).unwrap_err().to_string();
                assert!(error.contains("another learner"), "{error}");
            }
        }
    }
}
