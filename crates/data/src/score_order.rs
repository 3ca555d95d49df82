//! The comparison of scores that every ranking is made by.

/// An integer that ascends as the score descends: the key by which documents are sorted, highest
/// score first. -0.0 and 0.0 have the same key.
///
/// ```
/// use rankwright_data::descending_key;
///
/// assert!(descending_key(2.0) < descending_key(0.5));
/// assert_eq!(descending_key(-0.0), descending_key(0.0));
/// ```
pub fn descending_key(score: f64) -> u64 {
    // Adding 0.0 turns -0.0 into 0.0.
    let bits = (score + 0.0).to_bits();
    if bits >> 63 == 1 { bits } else { !(bits | (1 << 63)) }
}
