//! Any bytes, read as judgements, and a small run evaluated against them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rankwright_fuzz::lists;

fuzz_target!(|bytes: &[u8]| lists(b"q Q0 d 1 2.5 t\nq Q0 e 2 1.5 t\n", bytes));
