//! Any bytes, read as a model file: a model that can be used and written again, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rankwright_fuzz::model;

fuzz_target!(|bytes: &[u8]| model(bytes));
