//! The target `tune_log` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rankwright_fuzz::targets::tune_log(bytes));
