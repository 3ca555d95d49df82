//! Any bytes, read as a model of any system: a model that can be used and written, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rankwright_fuzz::interchange;

fuzz_target!(|bytes: &[u8]| interchange(bytes));
