//! The checkpoint format of the learners of this folder: 64-bit floats, little-endian.

use crate::error::{LearnError, StateProblem};

/// The bytes of numbers.
pub(crate) fn write(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The numbers of bytes; an error if there are not eight bytes for each.
pub(crate) fn read(bytes: &[u8]) -> Result<Vec<f64>, LearnError> {
    match bytes.as_chunks() {
        (numbers, []) => Ok(numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()),
        _ => Err(unreadable()),
    }
}

/// The error for a state that no training of this learner could have written.
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
