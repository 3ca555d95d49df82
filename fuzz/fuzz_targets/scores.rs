//! Any bytes, read as a score file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rankwright::data::bytes::Input;
use rankwright::data::read_scores;

fuzz_target!(|bytes: &[u8]| {
    let input = Input::raw("scores", bytes.to_vec());
    if let Ok(scores) = read_scores(&input) {
        assert!(scores.iter().all(|score| !score.is_nan()));
    }
});
