//! How a comparison is made: test, correction, level, samples, tolerance.

use std::fmt;
use std::str::FromStr;

use super::CompareError;
use crate::stats::{Correction, Sampling, StatsError};

/// The paired test that gives the p-values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Test {
    /// Student's paired t-test.
    T,
    /// Fisher's randomisation test.
    #[default]
    Randomisation,
    /// Bootstrap, shift method.
    Bootstrap,
    /// Exact sign test.
    Sign,
}

impl Test {
    /// Every test, in the order in which help lists them.
    pub const ALL: [Self; 4] = [Self::T, Self::Randomisation, Self::Bootstrap, Self::Sign];

    /// The name used in options and output.
    pub fn name(self) -> &'static str {
        match self {
            Self::T => "t",
            Self::Randomisation => "randomisation",
            Self::Bootstrap => "bootstrap",
            Self::Sign => "sign",
        }
    }

    /// Whether the test draws samples, so that seed and sample count matter.
    pub fn draws(self) -> bool {
        matches!(self, Self::Randomisation | Self::Bootstrap)
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Test {
    type Err = CompareError;

    fn from_str(name: &str) -> Result<Self, CompareError> {
        if name == "randomization" {
            return Ok(Self::Randomisation);
        }
        let known = Self::ALL.into_iter().find(|test| test.name() == name);
        known.ok_or_else(|| CompareError::UnknownTest { found: name.to_owned() })
    }
}

/// How a comparison is made; anyone can write one, [`CompareOptions::check`] makes it usable.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOptions {
    /// Name of the system that others are compared with; the first one if not given.
    pub baseline: Option<String>,
    /// The paired test.
    pub test: Test,
    /// Correction over the systems within a metric.
    pub correction: Correction,
    /// A corrected p-value up to this is significant.
    pub alpha: f64,
    /// Seed of tests that draw samples.
    pub seed: u64,
    /// Samples of tests that draw them.
    pub samples: usize,
    /// Per-query differences up to this size count as ties.
    pub tolerance: f64,
}

impl Default for CompareOptions {
    fn default() -> Self {
        let Sampling { samples, seed } = Sampling::default();
        Self {
            baseline: None,
            test: Test::default(),
            correction: Correction::default(),
            alpha: 0.05,
            seed,
            samples,
            tolerance: 0.0,
        }
    }
}

impl CompareOptions {
    /// Checks ranges once, so that [`compare`](super::compare()) can rely on them.
    pub fn check(self) -> Result<ValidCompareOptions, CompareError> {
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return Err(CompareError::Alpha { found: self.alpha });
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return Err(StatsError::Tolerance { found: self.tolerance }.into());
        }
        self.sampling().check()?;
        // The smallest p-value that B samples can give is 1 / (B + 1).
        if self.test.draws() && 1.0 / (self.samples as f64 + 1.0) > self.alpha {
            let (samples, alpha) = (self.samples, self.alpha);
            return Err(CompareError::TooFewSamples { samples, alpha });
        }
        Ok(ValidCompareOptions(self))
    }

    /// Samples and seed as the tests take them.
    pub(super) fn sampling(&self) -> Sampling {
        Sampling { samples: self.samples, seed: self.seed }
    }
}

/// Options whose ranges were checked.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidCompareOptions(CompareOptions);

impl ValidCompareOptions {
    /// The options that were checked.
    pub fn options(&self) -> &CompareOptions {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_names_parse_back_and_unknown_ones_list_the_known() {
        for test in Test::ALL {
            assert_eq!(test.to_string().parse(), Ok(test));
        }
        assert_eq!("randomization".parse(), Ok(Test::Randomisation));
        assert_eq!(
            "wilcoxon".parse::<Test>().unwrap_err().to_string(),
            "unknown test `wilcoxon`; expected one of: t, randomisation, bootstrap, sign"
        );
    }

    #[test]
    fn defaults_are_the_documented_ones() {
        let options = CompareOptions::default().check().unwrap();
        let options = options.options();
        assert_eq!((options.test, options.correction), (Test::Randomisation, Correction::Holm));
        assert_eq!((options.alpha, options.samples, options.tolerance), (0.05, 100_000, 0.0));
        assert_eq!(options.baseline, None);
    }

    #[test]
    fn options_out_of_range_are_refused() {
        let with = |change: fn(&mut CompareOptions)| {
            let mut options = CompareOptions::default();
            change(&mut options);
            options.check().unwrap_err()
        };
        assert_eq!(with(|o| o.alpha = 5.0), CompareError::Alpha { found: 5.0 });
        assert!(matches!(with(|o| o.alpha = f64::NAN), CompareError::Alpha { .. }));
        let tolerance = StatsError::Tolerance { found: -1.0 };
        assert_eq!(with(|o| o.tolerance = -1.0), CompareError::Option(tolerance));
        let samples = StatsError::Samples { found: 0 };
        assert_eq!(with(|o| o.samples = 0), CompareError::Option(samples));
    }

    #[test]
    fn samples_that_cannot_reach_alpha_are_refused_only_where_they_matter() {
        let few = CompareOptions { samples: 18, ..CompareOptions::default() };
        let expected = CompareError::TooFewSamples { samples: 18, alpha: 0.05 };
        assert_eq!(few.clone().check().unwrap_err(), expected);
        assert!(CompareOptions { samples: 19, ..few.clone() }.check().is_ok());
        assert!(CompareOptions { test: Test::T, ..few }.check().is_ok());
    }
}
