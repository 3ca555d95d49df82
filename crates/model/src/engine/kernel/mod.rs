//! The innermost steps of the select network, on 32 rows at a time: in plain Rust ([`Portable`]),
//! and with AVX2 intrinsics (`avx2.rs`), since the compiler does not vectorise all steps well.
//!
//! Both give the same bytes; a test compares them. Everything else is written once, over
//! [`Kernel`].

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;

/// Number of rows that are handled together: the bytes of an AVX2 register.
pub(crate) const REGISTER: usize = 32;
/// Number of thresholds in a block.
pub(crate) const BLOCK: usize = 16;

/// A byte for each of 32 rows.
pub(crate) type Bytes = [u8; REGISTER];
/// A rank for each of 32 rows, with its sign bit flipped.
pub(crate) type Ranks = [i8; REGISTER];
/// The leaf numbers that leaves and nodes hold, for `N` rows.
pub(crate) type Slots<const N: usize> = Aligned<[[u8; N]; SLOTS]>;

/// Bytes aligned so that no 32 of them cross a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub(crate) struct Aligned<T>(pub(crate) T);

/// Number of slots: one for each leaf, and for the pairs, of which there are at most half as many.
pub(crate) const SLOTS: usize = 512;

/// The steps. Those of trees are for `N` rows, a multiple of [`REGISTER`]. A kernel is a value, so
/// that one that needs certain instructions can be the proof that they are available.
pub(crate) trait Kernel: Copy {
    /// Sets `out` to `low`, or one more if the rank is above.
    fn pair<const N: usize>(self, ranks: &[i8; N], above: i8, low: u8, out: &mut [u8; N]);
    /// Sets the slot `to` (the third) to the second if the rank is above, else to the first.
    fn pick<const N: usize>(self, ranks: &[i8; N], above: i8, slots: &mut Slots<N>, of: [usize; 3]);
    /// Adds the bits of `bit` if the rank is above.
    fn level<const N: usize>(self, ranks: &[i8; N], above: i8, bit: u8, out: &mut [u8; N]);
    /// Starts loading values into the cache.
    fn prefetch(self, values: &[f32]);
    /// The number of thresholds, at most 255, that lie below each value.
    fn count(self, thresholds: &[f32], values: &[f32; REGISTER]) -> Bytes;
    /// The number of thresholds of a block that lie below a value.
    fn count_one(self, block: &[f32; BLOCK], value: f32) -> u8;
    /// All bits set if a value is NaN or its absolute value is at most `least`.
    fn missing_mask(self, values: &[f32; REGISTER], least: f32) -> Bytes;
    /// The ranks with those that the mask marks replaced by `missing`, and the sign bit flipped.
    fn flip_sign(self, ranks: &Bytes, mask: &Bytes, missing: u8) -> Ranks;
}

/// Plain Rust, for any processor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

impl Kernel for Portable {
    #[inline(always)]
    fn pair<const N: usize>(self, ranks: &[i8; N], above: i8, low: u8, out: &mut [u8; N]) {
        for (out, rank) in out.iter_mut().zip(ranks) {
            *out = low + u8::from(*rank > above);
        }
    }

    #[inline(always)]
    fn pick<const N: usize>(
        self,
        ranks: &[i8; N],
        above: i8,
        slots: &mut Slots<N>,
        of: [usize; 3],
    ) {
        let [left, right, to] = of.map(|slot| slot % SLOTS);
        let mut picked = slots.0[left];
        for ((out, rank), right) in picked.iter_mut().zip(ranks).zip(&slots.0[right]) {
            *out = if *rank > above { *right } else { *out };
        }
        slots.0[to] = picked;
    }

    #[inline(always)]
    fn level<const N: usize>(self, ranks: &[i8; N], above: i8, bit: u8, out: &mut [u8; N]) {
        for (out, rank) in out.iter_mut().zip(ranks) {
            *out |= if *rank > above { bit } else { 0 };
        }
    }

    #[inline(always)]
    fn prefetch(self, _values: &[f32]) {}

    #[inline(always)]
    fn count(self, thresholds: &[f32], values: &[f32; REGISTER]) -> Bytes {
        let mut counts = [0_u8; REGISTER];
        for threshold in thresholds {
            for (count, value) in counts.iter_mut().zip(values) {
                *count += u8::from(threshold < value);
            }
        }
        counts
    }

    #[inline(always)]
    fn count_one(self, block: &[f32; BLOCK], value: f32) -> u8 {
        block.iter().map(|threshold| u8::from(*threshold < value)).sum()
    }

    #[inline(always)]
    fn missing_mask(self, values: &[f32; REGISTER], least: f32) -> Bytes {
        let mut mask = [0; REGISTER];
        for (mask, value) in mask.iter_mut().zip(values) {
            *mask = u8::from(value.is_nan() | (value.abs() <= least)).wrapping_neg();
        }
        mask
    }

    #[inline(always)]
    fn flip_sign(self, ranks: &Bytes, mask: &Bytes, missing: u8) -> Ranks {
        let mut flipped = [0; REGISTER];
        for ((out, rank), mask) in flipped.iter_mut().zip(ranks).zip(mask) {
            *out = ((rank & !mask | missing & mask) ^ 0x80) as i8;
        }
        flipped
    }
}
