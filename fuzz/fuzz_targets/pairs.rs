//! Any bytes, read as preference pairs of a small data set.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rankwright_fuzz::pairs;

fuzz_target!(|bytes: &[u8]| pairs(bytes));
