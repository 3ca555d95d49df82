//! Samples of randomised tests: their number, the seed, and a random generator for each block of
//! samples.
//!
//! Samples are cut into blocks of fixed size; block b draws from its own Xoshiro256++ seeded from
//! (seed, b). Threads take whole blocks, so which thread runs a block cannot change its draws.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use rankwright_data::DEFAULT_SEED;
use rayon::prelude::*;

use super::StatsError;

/// Maximum number of samples of a test.
pub const MAX_SAMPLES: usize = 100_000_000;

/// Number of samples and seed of a randomised test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// Number of samples, 1 to [`MAX_SAMPLES`].
    pub samples: usize,
    /// Seed; the same seed gives the same p-value on any machine and number of threads.
    pub seed: u64,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { samples: 100_000, seed: DEFAULT_SEED }
    }
}

impl Sampling {
    /// Refuses a number of samples that is 0 or above [`MAX_SAMPLES`].
    pub fn check(&self) -> Result<(), StatsError> {
        if (1..=MAX_SAMPLES).contains(&self.samples) {
            Ok(())
        } else {
            Err(StatsError::Samples { found: self.samples })
        }
    }

    /// Calls `work` for every block in parallel with its generator and its number of samples; the
    /// results are in block order.
    pub(super) fn blocks<T, F>(&self, block_size: usize, work: F) -> Vec<T>
    where
        T: Send,
        F: Fn(Xoshiro256PlusPlus, usize) -> T + Sync,
    {
        let blocks = self.samples.div_ceil(block_size);
        (0..blocks)
            .into_par_iter()
            .map(|block| {
                let size = block_size.min(self.samples - block * block_size);
                work(generator(self.seed, block as u64), size)
            })
            .collect()
    }
}

/// The generator of one block. Its state is filled by SplitMix64 from a number that is mixed from
/// seed and block; the mixer is a bijection, so no two blocks of a seed start from the same number.
fn generator(seed: u64, block: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(mix(mix(seed) ^ block))
}

/// Stafford's 13th variant of the 64-bit finaliser of MurmurHash3: a bijection that spreads bits.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rand_xoshiro::rand_core::Rng;

    use super::*;

    #[test]
    fn blocks_cover_all_samples_and_draw_differently() {
        let sampling = Sampling { samples: 1000, seed: 7 };
        let drawn = sampling.blocks(64, |mut rng, size| (size, rng.next_u64()));
        assert_eq!(drawn.iter().map(|(size, _)| size).sum::<usize>(), 1000);
        assert_eq!(drawn.len(), 16);
        assert_eq!(drawn.iter().map(|(_, draw)| draw).collect::<HashSet<_>>().len(), 16);
    }

    #[test]
    fn sample_counts_out_of_range_are_refused() {
        for samples in [0, MAX_SAMPLES + 1] {
            let error = Sampling { samples, seed: 1 }.check().unwrap_err();
            assert_eq!(error, StatsError::Samples { found: samples });
        }
        assert!(Sampling::default().check().is_ok());
    }
}
