//! The target `requests` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rankwright_fuzz::targets::requests(bytes));
