//! Tests that both kernels give the same bytes.

use proptest::prelude::*;

use super::*;
use crate::simd::Avx2;

const N: usize = 64;

fn value() -> impl Strategy<Value = f32> {
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, 1e-36];
    prop_oneof![
        3 => (-40_i32..40).prop_map(|v| v as f32 / 4.0),
        1 => prop::sample::select(special.to_vec()),
    ]
}

/// The results of all steps. The bytes are ranks, then the content of two slots; `above` and `low`
/// as in [`Kernel`].
fn run<K: Kernel>(
    kernel: K,
    bytes: &[u8],
    values: &[f32],
    thresholds: &[f32],
    [above, low]: [u8; 2],
) -> Vec<Vec<u8>> {
    let bytes_from = |from: usize| -> [u8; N] { bytes[from..from + N].try_into().unwrap() };
    let values: &[f32; REGISTER] = values.first_chunk().unwrap();
    let ranks = bytes_from(0).map(|byte| byte as i8);
    let mut pair = [0; N];
    kernel.pair(&ranks, above as i8, low, &mut pair);
    let mut slots = Box::new(Aligned([[0; N]; SLOTS]));
    (slots.0[3], slots.0[SLOTS - 1]) = (bytes_from(N), bytes_from(2 * N));
    kernel.pick(&ranks, above as i8, &mut slots, [3, SLOTS - 1, 3]);
    let mut level = bytes_from(N);
    kernel.level(&ranks, above as i8, 1 << (low % 8), &mut level);
    kernel.prefetch(values);
    let (count, mask) = (kernel.count(thresholds, values), kernel.missing_mask(values, -1.0));
    let block: [f32; BLOCK] = std::array::from_fn(|i| thresholds[i % thresholds.len()]);
    let flipped = kernel.flip_sign(&count, &mask, above).map(|rank| rank as u8);
    vec![
        pair.to_vec(),
        slots.0[3].to_vec(),
        level.to_vec(),
        count.to_vec(),
        values.iter().map(|value| kernel.count_one(&block, *value)).collect(),
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
    above_and_low: [u8; 2],
) -> Vec<Vec<u8>> {
    run(avx2, bytes, values, thresholds, above_and_low)
}

proptest! {
    #[test]
    fn avx2_gives_the_bytes_of_plain_rust(
        bytes in proptest::collection::vec(any::<u8>(), 3 * N),
        values in proptest::collection::vec(value(), REGISTER),
        thresholds in proptest::collection::vec(value(), 1..255),
        above_and_low in any::<[u8; 2]>(),
    ) {
        // `low + 1` is a leaf number, at most 255.
        let above_and_low = [above_and_low[0], above_and_low[1].min(254)];
        if let Some(avx2) = Avx2::detect() {
            // SAFETY: the token proves that AVX2 is available.
            let with_avx2 = unsafe { run_avx2(avx2, &bytes, &values, &thresholds, above_and_low) };
            prop_assert_eq!(with_avx2, run(Portable, &bytes, &values, &thresholds, above_and_low));
        }
    }
}
