//! Learning rate schedules.
//!
//! Over the first `warmup` epochs the rate rises linearly from near 0. Then `constant` keeps it;
//! `cosine` lets it fall to 0 at the last epoch along half a wave (Loshchilov and Hutter, 2017);
//! `step` multiplies it by `drop` every `drop_every` epochs, counted from the start. The rate
//! changes from mini-batch to mini-batch, not only from epoch to epoch.

/// The change of the learning rate after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RateDecay {
    /// Does not change.
    Constant,
    /// Falls to 0 along a cosine.
    Cosine,
    /// Multiplied by `drop` every `every` epochs.
    Step {
        /// The factor.
        drop: f64,
        /// Number of epochs between two multiplications.
        every: f64,
    },
}

/// A learning rate schedule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Schedule {
    /// The learning rate after the warm-up, before it decays.
    pub(super) rate: f64,
    pub(super) decay_rule: RateDecay,
    /// Number of warm-up epochs.
    pub(super) warmup: f64,
    /// Number of all epochs.
    pub(super) epochs: f64,
}

impl Schedule {
    /// The learning rate of a mini-batch, numbered from 0 over all epochs.
    pub(super) fn rate_at(&self, batch: u64, batches_per_epoch: usize) -> f32 {
        let per_epoch = batches_per_epoch.max(1) as f64;
        let epoch = batch as f64 / per_epoch;
        let warmup_factor =
            if epoch < self.warmup { (batch + 1) as f64 / (self.warmup * per_epoch) } else { 1.0 };
        let decay_factor = match self.decay_rule {
            RateDecay::Constant => 1.0,
            RateDecay::Cosine => {
                let decay_epochs = (self.epochs - self.warmup).max(1.0 / per_epoch);
                let progress = ((epoch - self.warmup) / decay_epochs).clamp(0.0, 1.0);
                0.5 * (1.0 + (std::f64::consts::PI * progress).cos())
            }
            RateDecay::Step { drop, every } => drop.powi((epoch / every) as i32),
        };
        (self.rate * warmup_factor.min(1.0) * decay_factor) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(decay_rule: RateDecay, warmup: f64) -> Schedule {
        Schedule { rate: 0.5, decay_rule, warmup, epochs: 10.0 }
    }

    #[test]
    fn the_warm_up_rises_to_the_rate_and_stays() {
        // Two epochs of four mini-batches.
        let with_warmup = schedule(RateDecay::Constant, 2.0);
        let rates: Vec<f32> = (0..12).map(|batch| with_warmup.rate_at(batch, 4)).collect();
        assert_eq!(rates[0], 0.5 / 8.0);
        assert!(rates[..8].windows(2).all(|w| w[0] < w[1]));
        assert!(rates[7..].iter().all(|rate| *rate == 0.5));
        assert_eq!(schedule(RateDecay::Constant, 0.0).rate_at(0, 4), 0.5);
    }

    #[test]
    fn the_cosine_ends_near_zero_and_steps_drop() {
        let cosine = schedule(RateDecay::Cosine, 0.0);
        assert_eq!(cosine.rate_at(0, 100), 0.5);
        assert!((cosine.rate_at(500, 100) - 0.25).abs() < 1e-6);
        assert!(cosine.rate_at(999, 100) < 1e-4);
        let step = schedule(RateDecay::Step { drop: 0.1, every: 3.0 }, 0.0);
        assert_eq!(step.rate_at(299, 100), 0.5);
        assert!((step.rate_at(300, 100) - 0.05).abs() < 1e-7);
        assert!((step.rate_at(600, 100) - 0.005).abs() < 1e-8);
    }
}
