//! Any bytes, read as a run, and evaluated against judgements of the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rankwright_fuzz::lists;

fuzz_target!(|bytes: &[u8]| {
    let (run, qrels) = bytes.split_at(bytes.len() / 2);
    lists(run, qrels);
});
