//! Random numbers that are the same on every machine and in every version: xoshiro256++ (Blackman,
//! Vigna 2018) seeded by SplitMix64. The conversions from bits to numbers are in this file, so that
//! neither an update of a library nor the `libm` of a machine changes a number.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The seed of every random choice for which no seed is given.
pub const DEFAULT_SEED: u64 = 1;

/// A seeded stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The random numbers for a seed and a stream number, such as the number of a query. Streams
    /// are independent of each other: it does not matter how many others are used, or by which
    /// thread.
    pub fn new(seed: u64, stream: u64) -> Self {
        // The odd factor (2^64 divided by the golden ratio) spreads small stream numbers.
        let mixed = splitmix(splitmix(seed) ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Random(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// Uniform in 0 <= x < 1, with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in 0..n; 0 for n = 0. The bias is below n / 2^64.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// Approximately normal with mean 0 and variance 1: the sum of twelve uniform numbers minus six
    /// (Irwin-Hall distribution). Always between -6 and 6, and the same on every machine, since it
    /// is computed by additions and divisions by powers of two only.
    pub fn normal(&mut self) -> f64 {
        (0..3)
            .map(|_| {
                let bits = self.0.next_u64();
                // Each draw gives four 16-bit uniform numbers.
                (0..4).map(|i| (bits >> (16 * i) & 0xffff) as f64).sum::<f64>() / 65536.0
            })
            .sum::<f64>()
            - 6.0
            // The mean of a 16-bit uniform number is 0.5 - 0.5 / 65536.
            + 6.0 / 65536.0
    }

    /// Puts a slice into random order (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i + 1);
            items.swap(i, j);
        }
    }
}

/// One step of SplitMix64 (Steele, Lea, Flood 2014), with its constants.
fn splitmix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_draws_have_mean_0_and_variance_1() {
        let mut random = Random::new(7, 1);
        let n = 200_000;
        let draws: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64;
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
        assert!((0..1000).all(|_| random.below(3) < 3));
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn a_stream_never_changes_between_versions() {
        let mut random = Random::new(42, 3);
        // Recorded once; they must never change.
        let recorded = [96, 46, 924];
        assert_eq!([random.below(1000), random.below(1000), random.below(1000)], recorded);
    }
}
