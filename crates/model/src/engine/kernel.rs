//! The innermost steps of the select network, on 32 rows at a time: as plain Rust, and once more with
//! AVX2, which the compiler does not find by itself in all of them.
//!
//! Both give the same bytes; a test compares them. Everything else is written once, over [`Kernel`].

/// Rows that are handled together: the bytes of a register with AVX2.
pub(crate) const REGISTER: usize = 32;
/// Thresholds in a block.
pub(crate) const BLOCK: usize = 16;

/// A byte for each of some rows.
pub(crate) type Bytes = [u8; REGISTER];
/// A rank for each of some rows, with its top bit turned.
pub(crate) type Ranks = [i8; REGISTER];
/// What leaves and nodes hold, for `N` rows.
pub(crate) type Slots<const N: usize> = Aligned<[[u8; N]; SLOTS]>;

/// Bytes of which no 32 lie across two cache lines.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub(crate) struct Aligned<T>(pub(crate) T);

/// Slots: one for each leaf, and for the pairs, of which there are at most half as many.
pub(crate) const SLOTS: usize = 512;

/// The steps. Those of trees are for `N` rows, a multiple of [`REGISTER`].
pub(crate) trait Kernel {
    /// `low`, or one more where the rank is above.
    fn pair<const N: usize>(ranks: &[i8; N], above: i8, low: u8, out: &mut [u8; N]);
    /// Fills the slot `to` (the third) with the second where the rank is above, else with the first.
    fn pick<const N: usize>(ranks: &[i8; N], above: i8, slots: &mut Slots<N>, of: [usize; 3]);
    /// Adds the bits of `bit` where the rank is above.
    fn level<const N: usize>(ranks: &[i8; N], above: i8, bit: u8, out: &mut [u8; N]);
    /// Says that some values will be wanted soon.
    fn soon(values: &[f32]);
    /// How many thresholds, at most 255, lie below each value.
    fn count(thresholds: &[f32], values: &[f32; REGISTER]) -> Bytes;
    /// How many thresholds of a block lie below a value.
    fn count_one(block: &[f32; BLOCK], value: f32) -> u8;
    /// All bits where a value is NaN or its size at most `least`.
    fn gone(values: &[f32; REGISTER], least: f32) -> Bytes;
    /// Ranks, or `missing` where they are gone; then the top bit is turned.
    fn turned(ranks: &Bytes, gone: &Bytes, missing: u8) -> Ranks;
}

/// For any processor.
#[derive(Debug)]
pub(crate) struct Portable;

impl Kernel for Portable {
    #[inline(always)]
    fn pair<const N: usize>(ranks: &[i8; N], above: i8, low: u8, out: &mut [u8; N]) {
        for (out, rank) in out.iter_mut().zip(ranks) {
            *out = low + u8::from(*rank > above);
        }
    }

    #[inline(always)]
    fn pick<const N: usize>(ranks: &[i8; N], above: i8, slots: &mut Slots<N>, of: [usize; 3]) {
        let [left, right, to] = of.map(|slot| slot % SLOTS);
        let mut picked = slots.0[left];
        for ((out, rank), right) in picked.iter_mut().zip(ranks).zip(&slots.0[right]) {
            *out = if *rank > above { *right } else { *out };
        }
        slots.0[to] = picked;
    }

    #[inline(always)]
    fn level<const N: usize>(ranks: &[i8; N], above: i8, bit: u8, out: &mut [u8; N]) {
        for (out, rank) in out.iter_mut().zip(ranks) {
            *out |= if *rank > above { bit } else { 0 };
        }
    }

    #[inline(always)]
    fn soon(_values: &[f32]) {}

    #[inline(always)]
    fn count(thresholds: &[f32], values: &[f32; REGISTER]) -> Bytes {
        let mut counts = [0_u8; REGISTER];
        for threshold in thresholds {
            for (count, value) in counts.iter_mut().zip(values) {
                *count += u8::from(threshold < value);
            }
        }
        counts
    }

    #[inline(always)]
    fn count_one(block: &[f32; BLOCK], value: f32) -> u8 {
        block.iter().map(|threshold| u8::from(*threshold < value)).sum()
    }

    #[inline(always)]
    fn gone(values: &[f32; REGISTER], least: f32) -> Bytes {
        let mut gone = [0; REGISTER];
        for (gone, value) in gone.iter_mut().zip(values) {
            *gone = u8::from(value.is_nan() | (value.abs() <= least)).wrapping_neg();
        }
        gone
    }

    #[inline(always)]
    fn turned(ranks: &Bytes, gone: &Bytes, missing: u8) -> Ranks {
        let mut turned = [0; REGISTER];
        for ((out, rank), gone) in turned.iter_mut().zip(ranks).zip(gone) {
            *out = ((rank & !gone | missing & gone) ^ 0x80) as i8;
        }
        turned
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{BLOCK, Bytes, Kernel, REGISTER, Ranks, SLOTS, Slots};

    /// For processors with AVX2. To be called only where they have it: whoever names this type
    /// stands in a function compiled for AVX2.
    #[derive(Debug)]
    pub(crate) struct Avx2;

    #[inline(always)]
    fn load<T>(bytes: &[T; REGISTER]) -> __m256i {
        const { assert!(size_of::<T>() == 1) };
        // SAFETY: 32 bytes that need not be aligned; AVX2 is there, as for all of this module.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store<T>(out: &mut [T; REGISTER], bytes: __m256i) {
        const { assert!(size_of::<T>() == 1) };
        // SAFETY: as in `load`; any bits are a value of `u8` and `i8`, the only types in use.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), bytes) }
    }

    /// Four times eight numbers of 32 bits, all within 0 to 255 or -1, as bytes in their order.
    ///
    /// # Safety
    /// The processor must have AVX2.
    #[inline(always)]
    unsafe fn narrow([a, b, c, d]: [__m256i; 4]) -> __m256i {
        // SAFETY: the caller knows that AVX2 is there.
        unsafe {
            let bytes = _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
            // Packing goes by halves of a register: put the quarters in their order.
            _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
        }
    }

    impl Kernel for Avx2 {
        #[inline(always)]
        fn pair<const N: usize>(ranks: &[i8; N], above: i8, low: u8, out: &mut [u8; N]) {
            // SAFETY: see the type.
            unsafe {
                let (above, low) = (_mm256_set1_epi8(above), _mm256_set1_epi8(low as i8));
                for (out, ranks) in out.as_chunks_mut().0.iter_mut().zip(ranks.as_chunks().0) {
                    let mask = _mm256_cmpgt_epi8(load(ranks), above);
                    store(out, _mm256_sub_epi8(low, mask));
                }
            }
        }

        #[inline(always)]
        fn pick<const N: usize>(ranks: &[i8; N], above: i8, slots: &mut Slots<N>, of: [usize; 3]) {
            // Slots are numbered below that anyway; so the compiler knows it too.
            let [left, right, to] = of.map(|slot| slot % SLOTS);
            // SAFETY: see the type.
            unsafe {
                let above = _mm256_set1_epi8(above);
                for (piece, ranks) in ranks.as_chunks().0.iter().enumerate() {
                    let mask = _mm256_cmpgt_epi8(load(ranks), above);
                    let left = load(&slots.0[left].as_chunks().0[piece]);
                    let right = load(&slots.0[right].as_chunks().0[piece]);
                    let picked = _mm256_blendv_epi8(left, right, mask);
                    store(&mut slots.0[to].as_chunks_mut().0[piece], picked);
                }
            }
        }

        #[inline(always)]
        fn level<const N: usize>(ranks: &[i8; N], above: i8, bit: u8, out: &mut [u8; N]) {
            // SAFETY: see the type.
            unsafe {
                let (above, bit) = (_mm256_set1_epi8(above), _mm256_set1_epi8(bit as i8));
                for (out, ranks) in out.as_chunks_mut().0.iter_mut().zip(ranks.as_chunks().0) {
                    let mask = _mm256_cmpgt_epi8(load(ranks), above);
                    let all = _mm256_or_si256(load(out), _mm256_and_si256(mask, bit));
                    store(out, all);
                }
            }
        }

        #[inline(always)]
        fn soon(values: &[f32]) {
            // SAFETY: a hint may name any address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().cast()) }
        }

        #[inline(always)]
        fn count(thresholds: &[f32], values: &[f32; REGISTER]) -> Bytes {
            let mut out = [0; REGISTER];
            // SAFETY: see the type; the four loads are within the 32 values.
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
                store(&mut out, narrow(counts));
            }
            out
        }

        #[inline(always)]
        fn count_one(block: &[f32; BLOCK], value: f32) -> u8 {
            // SAFETY: see the type; the two loads are the 16 values.
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
        fn gone(values: &[f32; REGISTER], least: f32) -> Bytes {
            let mut out = [0; REGISTER];
            // SAFETY: see the type; the four loads are within the 32 values.
            unsafe {
                let sign = _mm256_set1_ps(-0.0);
                let least = _mm256_set1_ps(least);
                let eight = |eight: usize| {
                    let size =
                        _mm256_andnot_ps(sign, _mm256_loadu_ps(values.as_ptr().add(8 * eight)));
                    // Not greater: NaN too. All bits as 32 bits, of which bytes keep one.
                    let gone = _mm256_cmp_ps::<_CMP_NGT_UQ>(size, least);
                    _mm256_srli_epi32::<24>(_mm256_castps_si256(gone))
                };
                store(&mut out, narrow([eight(0), eight(1), eight(2), eight(3)]));
            }
            out
        }

        #[inline(always)]
        fn turned(ranks: &Bytes, gone: &Bytes, missing: u8) -> Ranks {
            let mut out = [0; REGISTER];
            // SAFETY: see the type.
            unsafe {
                let missing = _mm256_set1_epi8(missing as i8);
                let ranks = _mm256_blendv_epi8(load(ranks), missing, load(gone));
                store(&mut out, _mm256_xor_si256(ranks, _mm256_set1_epi8(i8::MIN)));
            }
            out
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simd::Simd;

    const N: usize = 64;

    fn value() -> impl Strategy<Value = f32> {
        let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, 1e-36];
        prop_oneof![
            3 => (-40_i32..40).prop_map(|v| v as f32 / 4.0),
            1 => prop::sample::select(special.to_vec()),
        ]
    }

    /// What the steps make of some bytes and values.
    fn run<K: Kernel>(
        bytes: &[u8],
        values: &[f32],
        few: &[f32],
        [above, low]: [u8; 2],
    ) -> Vec<Vec<u8>> {
        let at = |from: usize| -> [u8; N] { bytes[from..from + N].try_into().unwrap() };
        let values: &[f32; REGISTER] = values.first_chunk().unwrap();
        let ranks = at(0).map(|byte| byte as i8);
        let mut pair = [0; N];
        K::pair(&ranks, above as i8, low, &mut pair);
        let mut slots = Box::new(Aligned([[0; N]; SLOTS]));
        (slots.0[3], slots.0[SLOTS - 1]) = (at(N), at(2 * N));
        K::pick(&ranks, above as i8, &mut slots, [3, SLOTS - 1, 3]);
        let mut level = at(N);
        K::level(&ranks, above as i8, 1 << (low % 8), &mut level);
        K::soon(values);
        let (count, gone) = (K::count(few, values), K::gone(values, -1.0));
        let block: [f32; BLOCK] = std::array::from_fn(|at| few[at % few.len()]);
        let turned = K::turned(&count, &gone, above).map(|rank| rank as u8);
        vec![
            pair.to_vec(),
            slots.0[3].to_vec(),
            level.to_vec(),
            count.to_vec(),
            values.iter().map(|value| K::count_one(&block, *value)).collect(),
            gone.to_vec(),
            K::gone(values, 0.25).to_vec(),
            turned.to_vec(),
        ]
    }

    #[target_feature(enable = "avx2,popcnt")]
    fn run_avx2(bytes: &[u8], values: &[f32], few: &[f32], numbers: [u8; 2]) -> Vec<Vec<u8>> {
        run::<Avx2>(bytes, values, few, numbers)
    }

    proptest! {
        #[test]
        fn avx2_gives_the_bytes_of_plain_rust(
            bytes in proptest::collection::vec(any::<u8>(), 3 * N),
            values in proptest::collection::vec(value(), REGISTER),
            few in proptest::collection::vec(value(), 1..255),
            numbers in any::<[u8; 2]>(),
        ) {
            // Numbers of leaves end at 255.
            let numbers = [numbers[0], numbers[1].min(254)];
            if Simd::Auto.avx2() {
                // SAFETY: `Simd::avx2` has asked the processor.
                let wide = unsafe { run_avx2(&bytes, &values, &few, numbers) };
                prop_assert_eq!(wide, run::<Portable>(&bytes, &values, &few, numbers));
            }
        }
    }
}
