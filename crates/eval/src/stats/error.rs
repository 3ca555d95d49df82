//! Errors of tests and intervals.

use rankwright_spec::words::counted;

use super::MAX_SAMPLES;

/// The reason why a test or an interval was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// The two lists of a paired test have different lengths.
    #[error(
        "the system has {} and the baseline {baseline}; expected one value of each for the same \
         queries",
        counted(*.system, "per-query value")
    )]
    LengthMismatch {
        /// Number of values of the system.
        system: usize,
        /// Number of values of the baseline.
        baseline: usize,
    },
    /// A value is NaN, infinite, or has an absolute value of 1e100 or more.
    #[error(
        "value {value} at position {position} cannot be tested; expected a finite number whose \
         absolute value is below 1e100"
    )]
    NotFinite {
        /// Position in the list, from 0.
        position: usize,
        /// The value.
        value: f64,
    },
    /// The number of samples is 0 or above [`MAX_SAMPLES`].
    #[error("the number of samples is {found}; expected 1 to {MAX_SAMPLES}")]
    Samples {
        /// The given number.
        found: usize,
    },
    /// A confidence level outside 0..1.
    #[error("the confidence level is {found}; expected a number between 0 and 1, such as 0.95")]
    Level {
        /// The given level.
        found: f64,
    },
    /// A tolerance that is negative, infinite or not a number.
    #[error("the tolerance is {found}; expected 0 or a finite positive number, such as 0.001")]
    Tolerance {
        /// The given tolerance.
        found: f64,
    },
    /// The name of a correction is not known.
    #[error("unknown correction `{found}`; expected one of: holm, bonferroni, none")]
    UnknownCorrection {
        /// The name given.
        found: String,
    },
}

impl StatsError {
    /// A remedy, if there is one.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::NotFinite { .. } => Some("leave out queries that have no value".to_owned()),
            // The messages of the other errors say enough.
            _ => None,
        }
    }
}

/// Absolute values from this one on are rejected. Sums of squares of smaller values are far from
/// overflow for any number of queries.
const VALUE_LIMIT: f64 = 1e100;

/// Refuses the first value that is not a finite number of reasonable size.
pub(crate) fn check_values(values: &[f64]) -> Result<(), StatsError> {
    match values.iter().position(|v| v.is_nan() || v.abs() >= VALUE_LIMIT) {
        Some(position) => {
            let value = values.get(position).copied().unwrap_or(f64::NAN);
            Err(StatsError::NotFinite { position, value })
        }
        None => Ok(()),
    }
}

/// Refuses a level that is not strictly between 0 and 1.
pub(super) fn check_level(level: f64) -> Result<(), StatsError> {
    if level > 0.0 && level < 1.0 { Ok(()) } else { Err(StatsError::Level { found: level }) }
}

/// Refuses a tolerance that is negative, infinite or NaN.
pub(super) fn check_tolerance(tolerance: f64) -> Result<(), StatsError> {
    if tolerance >= 0.0 && tolerance.is_finite() {
        Ok(())
    } else {
        Err(StatsError::Tolerance { found: tolerance })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_was_found_and_what_to_do() {
        let error = check_values(&[0.5, f64::NAN]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "value NaN at position 1 cannot be tested; expected a finite number whose absolute \
             value is below 1e100"
        );
        assert!(check_values(&[1e100]).is_err());
        assert!(check_values(&[f64::NEG_INFINITY]).is_err());
        assert!(check_values(&[-1e99, 0.0]).is_ok());
    }

    #[test]
    fn levels_and_tolerances_out_of_range_are_refused() {
        for level in [0.0, 1.0, -0.1, 95.0, f64::NAN] {
            assert!(check_level(level).is_err(), "{level}");
        }
        for tolerance in [-1e-9, f64::NAN, f64::INFINITY] {
            assert!(check_tolerance(tolerance).is_err(), "{tolerance}");
        }
        assert!(check_level(0.95).is_ok() && check_tolerance(0.0).is_ok());
    }
}
