//! The state of a training in a checkpoint, for learners whose state is a list of 64-bit floats
//! (AdaRank, coordinate ascent, SVM-map): the floats one after another, little-endian.

use crate::error::{LearnError, StateProblem};

/// The bytes of a state.
pub(crate) fn write(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The state from its bytes; an error if their number is no multiple of eight.
pub(crate) fn read(bytes: &[u8]) -> Result<Vec<f64>, LearnError> {
    match bytes.as_chunks() {
        (numbers, []) => Ok(numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()),
        _ => Err(unreadable()),
    }
}

/// The error for a state that no training of this learner could have written, such as one with
/// another number of floats.
pub(crate) fn unreadable() -> LearnError {
    StateProblem::OtherLearner.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back_bit_for_bit() {
        let numbers = [0.1, -0.0, f64::INFINITY, 1e-310];
        let back = read(&write(&numbers)).unwrap();
        assert!(numbers.iter().zip(&back).all(|(a, b)| a.to_bits() == b.to_bits()));
        assert!(read(&[1, 2, 3]).is_err());
        assert!(read(&[]).unwrap().is_empty());
    }
}
