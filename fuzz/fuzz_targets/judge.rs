//! The target `judge` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rankwright_fuzz::targets::judge(bytes));
