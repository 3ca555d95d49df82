//! Fast random numbers for noise on inputs and dropout.
//!
//! Eight xorshift generators (Marsaglia, 2003) side by side, in a loop that is vectorised; good
//! enough for noise, and some twenty times faster than [`Random`], which seeds them. The draws of a
//! block of rows depend only on the seed and the number of the block, so that neither the number of
//! threads nor an interruption changes them.
//!
//! Noise is the sum of four bytes, scaled to mean 0 and variance 1: nearly normal, never beyond
//! 3.46.

use rankwright_data::Random;

/// Number of generators side by side.
const LANES: usize = 8;

/// The states of eight random number generators.
#[derive(Debug, Clone)]
pub(super) struct RandomLanes([u32; LANES]);

impl RandomLanes {
    /// The generators of a seed and a number, for example that of a block of rows.
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let mut random = Random::new(seed, number);
        // A xorshift generator with state 0 stays at 0.
        Self(std::array::from_fn(|_| 1 + random.below(u32::MAX as usize) as u32))
    }

    /// The next random number of each generator; 13, 17 and 5 are shifts of Marsaglia's list.
    #[inline(always)]
    fn next(&mut self) -> [u32; LANES] {
        for x in &mut self.0 {
            *x ^= *x << 13;
            *x ^= *x >> 17;
            *x ^= *x << 5;
        }
        self.0
    }

    /// Adds noise of this standard deviation.
    pub(super) fn add_noise(&mut self, values: &mut [f32], deviation: f32) {
        // The variance of a byte is (256^2 - 1) / 12, its mean 127.5: for the sum of four bytes
        // 21,845 and 510.
        let scale = deviation / 21_845_f32.sqrt();
        for chunk in values.chunks_mut(LANES) {
            let drawn = self.next().map(|x| {
                // The sum of the four bytes of x: first of two bytes in each half.
                let two_sums = (x & 0x00ff_00ff) + (x >> 8 & 0x00ff_00ff);
                (((two_sums & 0xffff) + (two_sums >> 16)) as i32 - 510) as f32 * scale
            });
            for (value, noise) in chunk.iter_mut().zip(drawn) {
                *value += noise;
            }
        }
    }

    /// Sets values and derivatives to 0 with probability `rate`, and scales up the others to
    /// compensate.
    pub(super) fn apply_dropout(&mut self, rate: f32, values: &mut [f32], derivatives: &mut [f32]) {
        let kept_factor = 1.0 / (1.0 - rate);
        // Each value gets a random number of 24 bits, and is dropped if that is below this one.
        let min_kept = (rate * (1 << 24) as f32) as i32;
        for (values, derivatives) in values.chunks_mut(LANES).zip(derivatives.chunks_mut(LANES)) {
            let is_kept = |x: u32| (x >> 8) as i32 >= min_kept;
            let factors = self.next().map(|x| if is_kept(x) { kept_factor } else { 0.0 });
            for ((value, derivative), factor) in values.iter_mut().zip(derivatives).zip(factors) {
                *value *= factor;
                *derivative *= factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_has_mean_zero_and_the_given_deviation() {
        let mut values = vec![1.0; 300_001];
        RandomLanes::new(5, 7).add_noise(&mut values, 0.5);
        let n = values.len() as f64;
        let mean = values.iter().map(|v| f64::from(*v)).sum::<f64>() / n;
        let variance = values.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / n;
        assert!((mean - 1.0).abs() < 0.005 && (variance - 0.25).abs() < 0.003, "{mean} {variance}");
        // Neighbouring values are not correlated.
        let neighbours = values.windows(2).map(|w| f64::from((w[0] - 1.0) * (w[1] - 1.0)));
        assert!((neighbours.sum::<f64>() / n).abs() < 0.003);
    }

    #[test]
    fn dropout_keeps_the_mean_and_drops_the_given_fraction() {
        let (mut values, mut derivatives) = (vec![2.0; 100_003], vec![1.0; 100_003]);
        RandomLanes::new(5, 8).apply_dropout(0.3, &mut values, &mut derivatives);
        let dropped = values.iter().filter(|v| **v == 0.0).count() as f64 / values.len() as f64;
        assert!((dropped - 0.3).abs() < 0.01, "{dropped}");
        assert!(values.iter().zip(&derivatives).all(|(v, s)| *v == 2.0 * s));
        assert!(values.iter().all(|v| *v == 0.0 || (v - 2.0 / 0.7).abs() < 1e-6));
    }

    #[test]
    fn draws_depend_on_seed_and_number_alone() {
        let noise = |seed: u64, number: u64| {
            let mut values = [0.0; 20];
            RandomLanes::new(seed, number).add_noise(&mut values, 1.0);
            values
        };
        assert_eq!(noise(1, 1), noise(1, 1));
        assert!(noise(1, 1) != noise(1, 2) && noise(1, 1) != noise(2, 1));
    }
}
