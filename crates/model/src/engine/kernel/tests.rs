//! Tests that both kernels give the same bytes.

use proptest::prelude::*;

use super::*;
use crate::simd::Avx2;

/// Number of rows for the steps of trees.
const N: usize = 64;

/// Values with many ties, and special ones.
fn value() -> impl Strategy<Value = f32> {
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, 1e-36];
    prop_oneof![
        3 => (-40_i32..40).prop_map(|v| v as f32 / 4.0),
        1 => prop::sample::select(special.to_vec()),
    ]
}

/// The results of all steps of a kernel. `bytes` are the ranks of `N` rows, then the content of two
/// slots; `threshold_rank` and `low_leaf` are as in [`Kernel`].
fn run<K: Kernel>(
    kernel: K,
    bytes: &[u8],
    values: &[f32],
    thresholds: &[f32],
    [threshold_rank, low_leaf]: [u8; 2],
) -> Vec<Vec<u8>> {
    let bytes_from = |from: usize| -> [u8; N] { bytes[from..from + N].try_into().unwrap() };
    let values: &[f32; ROWS_PER_REGISTER] = values.first_chunk().unwrap();
    let ranks = bytes_from(0).map(|byte| byte as i8);
    let mut pair = [0; N];
    kernel.leaf_pair(&ranks, threshold_rank as i8, low_leaf, &mut pair);
    let mut slots = Box::new(Aligned([[0; N]; SLOTS]));
    // Any two slots, of which the left one is also the target.
    (slots.0[3], slots.0[SLOTS - 1]) = (bytes_from(N), bytes_from(2 * N));
    kernel.select_child(&ranks, threshold_rank as i8, &mut slots, [3, SLOTS - 1, 3]);
    let mut level = bytes_from(N);
    kernel.oblivious_level(&ranks, threshold_rank as i8, 1 << (low_leaf % 8), &mut level);
    kernel.prefetch(values);
    // With a negative limit only NaN is missing.
    let (count, mask) = (kernel.count_below(thresholds, values), kernel.missing_mask(values, -1.0));
    let block: [f32; BLOCK_THRESHOLDS] = std::array::from_fn(|i| thresholds[i % thresholds.len()]);
    let flipped = kernel.flip_sign(&count, &mask, threshold_rank).map(|rank| rank as u8);
    vec![
        pair.to_vec(),
        slots.0[3].to_vec(),
        level.to_vec(),
        count.to_vec(),
        values.iter().map(|value| kernel.count_below_one(&block, *value)).collect(),
        mask.to_vec(),
        kernel.missing_mask(values, 0.25).to_vec(),
        flipped.to_vec(),
    ]
}

#[target_feature(enable = "avx2,popcnt")]
fn run_avx2(
    avx2: Avx2,
    bytes: &[u8],
    values: &[f32],
    thresholds: &[f32],
    rank_and_leaf: [u8; 2],
) -> Vec<Vec<u8>> {
    run(avx2, bytes, values, thresholds, rank_and_leaf)
}

proptest! {
    #[test]
    fn avx2_gives_the_bytes_of_the_portable_kernel(
        bytes in proptest::collection::vec(any::<u8>(), 3 * N),
        values in proptest::collection::vec(value(), ROWS_PER_REGISTER),
        thresholds in proptest::collection::vec(value(), 1..255),
        rank_and_leaf in any::<[u8; 2]>(),
    ) {
        // `low_leaf + 1` is a leaf number, at most 255.
        let rank_and_leaf = [rank_and_leaf[0], rank_and_leaf[1].min(254)];
        if let Some(avx2) = Avx2::detect() {
            // SAFETY: the token proves that AVX2 is available.
            let with_avx2 = unsafe { run_avx2(avx2, &bytes, &values, &thresholds, rank_and_leaf) };
            prop_assert_eq!(with_avx2, run(Portable, &bytes, &values, &thresholds, rank_and_leaf));
        }
    }
}
