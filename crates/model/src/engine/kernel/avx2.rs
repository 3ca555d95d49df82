//! The kernel with the instructions of AVX2. Every function takes an [`Avx2`], the proof that the
//! processor has these instructions.

use std::arch::x86_64::*;

use super::{BLOCK_THRESHOLDS, Bytes, Kernel, ROWS_PER_REGISTER, Ranks, SLOTS, Slots};
use crate::simd::Avx2;

/// Types of one byte for which every bit pattern is a valid value.
trait Byte {}
impl Byte for u8 {}
impl Byte for i8 {}

impl Avx2 {
    #[inline(always)]
    fn load<T: Byte>(self, bytes: &[T; ROWS_PER_REGISTER]) -> __m256i {
        const { assert!(size_of::<T>() == 1) };
        // SAFETY: 32 bytes that need not be aligned; `self` proves that AVX2 is available.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store<T: Byte>(self, out: &mut [T; ROWS_PER_REGISTER], bytes: __m256i) {
        const { assert!(size_of::<T>() == 1) };
        // SAFETY: as in `load`; every bit pattern is a valid `Byte`.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), bytes) }
    }

    /// Four times eight numbers of 32 bits, each from 0 to 255, as 32 bytes in the same order.
    #[inline(always)]
    fn narrow(self, [a, b, c, d]: [__m256i; 4]) -> __m256i {
        // SAFETY: `self` proves that AVX2 is available.
        unsafe {
            let bytes = _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
            // Packing works on the halves of a register separately; this restores the order.
            _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
        }
    }
}

impl Kernel for Avx2 {
    #[inline(always)]
    fn leaf_pair<const N: usize>(
        self,
        ranks: &[i8; N],
        threshold_rank: i8,
        low_leaf: u8,
        out: &mut [u8; N],
    ) {
        // SAFETY: `self` proves that AVX2 is available.
        unsafe {
            let (threshold_rank, low_leaf) =
                (_mm256_set1_epi8(threshold_rank), _mm256_set1_epi8(low_leaf as i8));
            for (out, ranks) in out.as_chunks_mut().0.iter_mut().zip(ranks.as_chunks().0) {
                let mask = _mm256_cmpgt_epi8(self.load(ranks), threshold_rank);
                self.store(out, _mm256_sub_epi8(low_leaf, mask));
            }
        }
    }

    #[inline(always)]
    fn select_child<const N: usize>(
        self,
        ranks: &[i8; N],
        threshold_rank: i8,
        slots: &mut Slots<N>,
        left_right_target: [usize; 3],
    ) {
        // Slot numbers are always below `SLOTS`; the remainder tells the compiler so.
        let [left, right, target] = left_right_target.map(|slot| slot % SLOTS);
        // SAFETY: `self` proves that AVX2 is available.
        unsafe {
            let threshold_rank = _mm256_set1_epi8(threshold_rank);
            for (chunk, ranks) in ranks.as_chunks().0.iter().enumerate() {
                let mask = _mm256_cmpgt_epi8(self.load(ranks), threshold_rank);
                let left = self.load(&slots.0[left].as_chunks().0[chunk]);
                let right = self.load(&slots.0[right].as_chunks().0[chunk]);
                let picked = _mm256_blendv_epi8(left, right, mask);
                self.store(&mut slots.0[target].as_chunks_mut().0[chunk], picked);
            }
        }
    }

    #[inline(always)]
    fn oblivious_level<const N: usize>(
        self,
        ranks: &[i8; N],
        threshold_rank: i8,
        bit: u8,
        out: &mut [u8; N],
    ) {
        // SAFETY: `self` proves that AVX2 is available.
        unsafe {
            let (threshold_rank, bit) =
                (_mm256_set1_epi8(threshold_rank), _mm256_set1_epi8(bit as i8));
            for (out, ranks) in out.as_chunks_mut().0.iter_mut().zip(ranks.as_chunks().0) {
                let mask = _mm256_cmpgt_epi8(self.load(ranks), threshold_rank);
                let all = _mm256_or_si256(self.load(out), _mm256_and_si256(mask, bit));
                self.store(out, all);
            }
        }
    }

    #[inline(always)]
    fn prefetch(self, values: &[f32]) {
        // SAFETY: a prefetch hint may have any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().cast()) }
    }

    #[inline(always)]
    fn count_below(self, thresholds: &[f32], values: &[f32; ROWS_PER_REGISTER]) -> Bytes {
        let mut out = [0; ROWS_PER_REGISTER];
        // SAFETY: `self` proves that AVX2 is available; the four loads are within the 32 values.
        unsafe {
            let load_eight = |group: usize| _mm256_loadu_ps(values.as_ptr().add(8 * group));
            let values = [load_eight(0), load_eight(1), load_eight(2), load_eight(3)];
            let mut counts = [_mm256_setzero_si256(); 4];
            for threshold in thresholds {
                let threshold = _mm256_set1_ps(*threshold);
                for group in 0..4 {
                    // A true comparison is -1 as a whole number: subtracting it counts one.
                    let below = _mm256_cmp_ps::<_CMP_LT_OQ>(threshold, values[group]);
                    counts[group] = _mm256_sub_epi32(counts[group], _mm256_castps_si256(below));
                }
            }
            self.store(&mut out, self.narrow(counts));
        }
        out
    }

    #[inline(always)]
    fn count_below_one(self, block: &[f32; BLOCK_THRESHOLDS], value: f32) -> u8 {
        // SAFETY: `self` proves that AVX2 is available; the two loads are the 16 values.
        unsafe {
            let value = _mm256_set1_ps(value);
            let below = |group: usize| {
                let thresholds = _mm256_loadu_ps(block.as_ptr().add(8 * group));
                _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(thresholds, value))
            };
            (below(0).count_ones() + below(1).count_ones()) as u8
        }
    }

    #[inline(always)]
    fn missing_mask(self, values: &[f32; ROWS_PER_REGISTER], limit: f32) -> Bytes {
        let mut out = [0; ROWS_PER_REGISTER];
        // SAFETY: `self` proves that AVX2 is available; the four loads are within the 32 values.
        unsafe {
            let sign = _mm256_set1_ps(-0.0);
            let limit = _mm256_set1_ps(limit);
            let eight = |group: usize| {
                let values = _mm256_loadu_ps(values.as_ptr().add(8 * group));
                let magnitudes = _mm256_andnot_ps(sign, values);
                // "Not greater" includes NaN. A mask has all 32 bits set; a byte keeps eight of
                // them.
                let missing = _mm256_cmp_ps::<_CMP_NGT_UQ>(magnitudes, limit);
                _mm256_srli_epi32::<24>(_mm256_castps_si256(missing))
            };
            self.store(&mut out, self.narrow([eight(0), eight(1), eight(2), eight(3)]));
        }
        out
    }

    #[inline(always)]
    fn flip_sign(self, ranks: &Bytes, missing_mask: &Bytes, missing_rank: u8) -> Ranks {
        let mut out = [0; ROWS_PER_REGISTER];
        // SAFETY: `self` proves that AVX2 is available.
        unsafe {
            let missing = _mm256_set1_epi8(missing_rank as i8);
            let ranks = _mm256_blendv_epi8(self.load(ranks), missing, self.load(missing_mask));
            self.store(&mut out, _mm256_xor_si256(ranks, _mm256_set1_epi8(i8::MIN)));
        }
        out
    }
}
