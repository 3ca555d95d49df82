//! Corrections for several comparisons at once: Holm and Bonferroni.
//!
//! For m p-values p_i, the corrected ones p'_i are
//!
//! - Bonferroni: p'_i = min(1, m p_i);
//! - Holm: with the p-values sorted ascending, p'_(i) = min(1, max over j <= i of (m - j + 1)
//!   p_(j)), which is never above Bonferroni's.
//!
//! Both bound the probability of any false rejection, whatever the dependence between the tests.
//! Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
//! Statistics 1979.
//!
//! Cost O(m log m). Edge cases: no or one p-value stays as it is; equal p-values stay equal.

use std::fmt;
use std::str::FromStr;

use rankwright_spec::choices;

use super::StatsError;

choices! {
    /// The correction of p-values of several comparisons.
    ///
    /// ```
    /// use rankwright_eval::stats::Correction;
    /// assert_eq!(Correction::Bonferroni.adjust(&[0.01, 0.5, 0.02]), [0.03, 1.0, 0.06]);
    /// assert_eq!(Correction::Holm.adjust(&[0.01, 0.5, 0.02]), [0.03, 0.5, 0.04]);
    /// assert_eq!("holm".parse(), Ok(Correction::Holm));
    /// ```
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum Correction {
        /// Holm's step-down procedure.
        Holm = "holm",
        /// Every p-value times the number of comparisons.
        Bonferroni = "bonferroni",
        /// No correction.
        None = "none",
    }
}

impl Correction {
    /// The correction in words: "Holm correction".
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Holm => "Holm correction",
            Self::Bonferroni => "Bonferroni correction",
            Self::None => "no correction",
        }
    }

    /// Corrected p-values, in the order given.
    pub fn adjust(self, p: &[f64]) -> Vec<f64> {
        match self {
            Self::Holm => holm(p),
            Self::Bonferroni => p.iter().map(|value| (value * p.len() as f64).min(1.0)).collect(),
            Self::None => p.to_vec(),
        }
    }
}

fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![0.0; p.len()];
    // The largest corrected value so far.
    let mut largest: f64 = 0.0;
    for (rank, &i) in order.iter().enumerate() {
        largest = largest.max((p[i] * (p.len() - rank) as f64).min(1.0));
        adjusted[i] = largest;
    }
    adjusted
}

impl fmt::Display for Correction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Correction {
    type Err = StatsError;

    fn from_str(name: &str) -> Result<Self, StatsError> {
        let known = Self::ALL.iter().find(|(known, _)| *known == name);
        let unknown = || StatsError::UnknownCorrection { found: name.to_owned() };
        known.map(|(_, correction)| *correction).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const P: [f64; 5] = [0.01, 0.04, 0.03, 0.005, 0.6];

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        let same = found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-12);
        assert!(same, "found {found:?}, expected {expected:?}");
    }

    #[test]
    fn corrections_equal_those_of_r() {
        // p.adjust(p, "holm"); p.adjust(p, "bonferroni")
        assert_close(&Correction::Holm.adjust(&P), &[0.04, 0.09, 0.09, 0.025, 0.6]);
        assert_close(&Correction::Bonferroni.adjust(&P), &[0.05, 0.2, 0.15, 0.025, 1.0]);
        assert_close(&Correction::None.adjust(&P), &P);
    }

    #[test]
    fn no_or_one_p_value_is_left_alone() {
        for &(_, correction) in Correction::ALL {
            assert!(correction.adjust(&[]).is_empty());
            assert_eq!(correction.adjust(&[0.03]), [0.03]);
        }
    }

    #[test]
    fn names_parse_back_and_the_error_for_unknown_ones_lists_them() {
        for &(_, correction) in Correction::ALL {
            assert_eq!(correction.to_string().parse(), Ok(correction));
        }
        let message = "fdr".parse::<Correction>().unwrap_err().to_string();
        assert_eq!(message, "unknown correction `fdr`; expected one of: holm, bonferroni, none");
    }

    proptest! {
        #[test]
        fn holm_lies_between_the_uncorrected_and_the_bonferroni_value(
            p in prop::collection::vec(0.0..=1.0f64, 0..12)
        ) {
            let holm = Correction::Holm.adjust(&p);
            let bonferroni = Correction::Bonferroni.adjust(&p);
            for i in 0..p.len() {
                prop_assert!(p[i] <= holm[i] && holm[i] <= bonferroni[i] && bonferroni[i] <= 1.0);
            }
        }

        #[test]
        fn corrections_keep_the_order_of_p_values(
            p in prop::collection::vec(0.0..=1.0f64, 2..12)
        ) {
            for &(_, correction) in Correction::ALL {
                let adjusted = correction.adjust(&p);
                for i in 0..p.len() {
                    for j in 0..p.len() {
                        prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
                    }
                }
            }
        }
    }
}
