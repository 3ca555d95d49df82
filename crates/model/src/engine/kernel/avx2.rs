//! The kernel with the instructions of AVX2. Every function takes an [`Avx2`], the proof that the
//! processor has these instructions.

use std::arch::x86_64::*;

use super::{BLOCK, Bytes, Kernel, REGISTER, Ranks, SLOTS, Slots};
use crate::simd::Avx2;

/// Types of one byte of which any bits are a value.
trait Byte {}
impl Byte for u8 {}
impl Byte for i8 {}

impl Avx2 {
    #[inline(always)]
    fn load<T: Byte>(self, bytes: &[T; REGISTER]) -> __m256i {
        const { assert!(size_of::<T>() == 1) };
        // SAFETY: 32 bytes that need not be aligned; `self` proves that AVX2 is available.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store<T: Byte>(self, out: &mut [T; REGISTER], bytes: __m256i) {
        const { assert!(size_of::<T>() == 1) };
        // SAFETY: as in `load`; any bits are a value of a `Byte`.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), bytes) }
    }

    /// Four times eight numbers of 32 bits, each from 0 to 255, as 32 bytes in the same order.
    #[inline(always)]
    fn narrow(self, [a, b, c, d]: [__m256i; 4]) -> __m256i {
        // SAFETY: `self` proves that AVX2 is available.
        unsafe {
            let bytes = _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
            // Packing works on halves of a register: put the quarters in their order.
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
        of: [usize; 3],
    ) {
        // Slot numbers are always below `SLOTS`; the remainder tells the compiler so.
        let [left, right, to] = of.map(|slot| slot % SLOTS);
        // SAFETY: `self` proves that AVX2 is available.
        unsafe {
            let threshold_rank = _mm256_set1_epi8(threshold_rank);
            for (chunk, ranks) in ranks.as_chunks().0.iter().enumerate() {
                let mask = _mm256_cmpgt_epi8(self.load(ranks), threshold_rank);
                let left = self.load(&slots.0[left].as_chunks().0[chunk]);
                let right = self.load(&slots.0[right].as_chunks().0[chunk]);
                let picked = _mm256_blendv_epi8(left, right, mask);
                self.store(&mut slots.0[to].as_chunks_mut().0[chunk], picked);
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
    fn count(self, thresholds: &[f32], values: &[f32; REGISTER]) -> Bytes {
        let mut out = [0; REGISTER];
        // SAFETY: `self` proves that AVX2 is available; the four loads are within the 32 values.
        unsafe {
            let at = |eight: usize| _mm256_loadu_ps(values.as_ptr().add(8 * eight));
            let values = [at(0), at(1), at(2), at(3)];
            let mut counts = [_mm256_setzero_si256(); 4];
            for threshold in thresholds {
                let threshold = _mm256_set1_ps(*threshold);
                for eight in 0..4 {
                    let below = _mm256_cmp_ps::<_CMP_LT_OQ>(threshold, values[eight]);
                    counts[eight] = _mm256_sub_epi32(counts[eight], _mm256_castps_si256(below));
                }
            }
            self.store(&mut out, self.narrow(counts));
        }
        out
    }

    #[inline(always)]
    fn count_one(self, block: &[f32; BLOCK], value: f32) -> u8 {
        // SAFETY: `self` proves that AVX2 is available; the two loads are the 16 values.
        unsafe {
            let value = _mm256_set1_ps(value);
            let below = |eight: usize| {
                let thresholds = _mm256_loadu_ps(block.as_ptr().add(8 * eight));
                _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(thresholds, value))
            };
            (below(0).count_ones() + below(1).count_ones()) as u8
        }
    }

    #[inline(always)]
    fn missing_mask(self, values: &[f32; REGISTER], limit: f32) -> Bytes {
        let mut out = [0; REGISTER];
        // SAFETY: `self` proves that AVX2 is available; the four loads are within the 32 values.
        unsafe {
            let sign = _mm256_set1_ps(-0.0);
            let limit = _mm256_set1_ps(limit);
            let eight = |eight: usize| {
                let size = _mm256_andnot_ps(sign, _mm256_loadu_ps(values.as_ptr().add(8 * eight)));
                // "Not greater" includes NaN. The masks have all 32 bits set; the bytes keep eight
                // of them.
                let missing = _mm256_cmp_ps::<_CMP_NGT_UQ>(size, limit);
                _mm256_srli_epi32::<24>(_mm256_castps_si256(missing))
            };
            self.store(&mut out, self.narrow([eight(0), eight(1), eight(2), eight(3)]));
        }
        out
    }

    #[inline(always)]
    fn flip_sign(self, ranks: &Bytes, mask: &Bytes, missing: u8) -> Ranks {
        let mut out = [0; REGISTER];
        // SAFETY: `self` proves that AVX2 is available.
        unsafe {
            let missing = _mm256_set1_epi8(missing as i8);
            let ranks = _mm256_blendv_epi8(self.load(ranks), missing, self.load(mask));
            self.store(&mut out, _mm256_xor_si256(ranks, _mm256_set1_epi8(i8::MIN)));
        }
        out
    }
}
