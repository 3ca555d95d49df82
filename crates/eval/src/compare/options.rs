//! Options of a comparison: test, correction of p-values, significance level, samples, tolerance.

use std::fmt;
use std::str::FromStr;

use rankwright_data::DEFAULT_SEED;
use rankwright_spec::words::counted;
use rankwright_spec::{above, check_params, choices, params};

use super::CompareError;
use crate::stats::{Correction, Sampling};

choices! {
    /// The paired test that gives the p-values.
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum Test {
        /// Fisher's randomisation test.
        Randomisation = "randomisation",
        /// Student's paired t-test.
        T = "t",
        /// Bootstrap test by the shift method, which samples the differences shifted to mean 0.
        Bootstrap = "bootstrap",
        /// Exact sign test.
        Sign = "sign",
    }
}

impl Test {
    /// Whether the test draws samples, so that seed and sample count matter.
    pub fn draws_samples(self) -> bool {
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
        let known = Self::ALL.iter().find(|(known, _)| *known == name);
        let unknown = || CompareError::UnknownTest { found: name.to_owned() };
        known.map(|(_, test)| *test).ok_or_else(unknown)
    }
}

params! {
    /// Options of a comparison; [`CompareOptions::check`] makes them usable.
    ///
    /// ```
    /// use rankwright_eval::compare::{CompareOptions, Test};
    ///
    /// let options = CompareOptions::default().baseline("bm25").test(Test::T).alpha(0.01);
    /// assert!(options.check().is_ok());
    /// ```
    pub struct CompareOptions {
        baseline: Option<String> = None, ..,
            "Name of the system that the others are compared with; the first if not given.";
        test: Test = Test::Randomisation, .., "Paired test of the per-query differences: t, randomisation, bootstrap or sign.";
        correction: Correction = Correction::Holm, ..,
            "Correction of the p-values over the systems of a metric: holm, bonferroni or none.";
        alpha: f64 = 0.05, above(0.0).below(1.0), "Largest corrected p-value that is significant.";
        seed: u64 = DEFAULT_SEED, .., "Seed of the samples.";
        samples: usize = 100_000, 1..=100_000_000, "Number of samples of the randomisation test and the bootstrap.";
        tolerance: f64 = 0.0, 0.0.., "Largest difference in a query that counts as a tie.";
    }
}

impl CompareOptions {
    /// Checks ranges once, so that [`compare`](super::compare()) can rely on them.
    pub fn check(self) -> Result<ValidCompareOptions, CompareError> {
        check_params(&self, "compare")?;
        // The smallest p-value that a number B of samples can give is 1 / (B + 1).
        if self.test.draws_samples() && 1.0 / (self.samples as f64 + 1.0) > self.alpha {
            let (samples, alpha) = (self.samples, self.alpha);
            return Err(CompareError::TooFewSamples { samples, alpha });
        }
        Ok(ValidCompareOptions(self))
    }

    /// The test in words: `randomisation test with 100000 samples, seed 1, exact where fewer
    /// assignments exist`.
    pub fn test_in_words(&self) -> String {
        let sampled = format!("{}, seed {}", counted(self.samples, "sample"), self.seed);
        match self.test {
            Test::T => "paired t-test".to_owned(),
            Test::Sign => format!("sign test, differences up to {} are ties", self.tolerance),
            Test::Randomisation => {
                format!("randomisation test with {sampled}, exact where fewer assignments exist")
            }
            Test::Bootstrap => format!("bootstrap test with {sampled}"),
        }
    }

    /// The number of samples and the seed, for the tests that draw samples.
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
    fn test_names_parse_back_and_the_error_for_unknown_ones_lists_them() {
        for &(_, test) in Test::ALL {
            assert_eq!(test.to_string().parse(), Ok(test));
        }
        assert_eq!("randomization".parse(), Ok(Test::Randomisation));
        assert_eq!(
            "wilcoxon".parse::<Test>().unwrap_err().to_string(),
            "unknown test `wilcoxon`; expected one of: randomisation, t, bootstrap, sign"
        );
    }

    #[test]
    fn defaults_are_the_documented_ones() {
        let options = CompareOptions::default().check().unwrap();
        let options = options.options();
        assert_eq!((options.test, options.correction), (Test::Randomisation, Correction::Holm));
        assert_eq!((options.alpha, options.samples, options.tolerance), (0.05, 100_000, 0.0));
        assert_eq!(options.baseline, None);
        assert_eq!(options.sampling(), Sampling::default());
    }

    #[test]
    fn options_out_of_range_are_refused() {
        let refused = |options: CompareOptions| options.check().unwrap_err().to_string();
        let options = CompareOptions::default;
        assert_eq!(
            refused(options().alpha(5.0)),
            "`compare`: alpha=5 is not allowed; expected a number above 0, below 1"
        );
        assert!(refused(options().alpha(f64::NAN)).contains("alpha=NaN"));
        assert!(refused(options().tolerance(-1.0)).contains("tolerance=-1"));
        assert!(refused(options().samples(0)).contains("a whole number from 1 to 100000000"));
    }

    #[test]
    fn too_few_samples_are_refused_only_for_tests_that_draw_samples() {
        let few = CompareOptions::default().samples(18);
        let expected = CompareError::TooFewSamples { samples: 18, alpha: 0.05 };
        assert_eq!(few.clone().check().unwrap_err(), expected);
        assert!(few.clone().samples(19).check().is_ok());
        assert!(few.test(Test::T).check().is_ok());
    }
}
