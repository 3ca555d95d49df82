//! The target `position_bias` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rankwright_fuzz::targets::position_bias(bytes));
