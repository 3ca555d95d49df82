//! Simulated users: clicks on a ranking whose grades are known.
//!
//! A user examines ranks by one of the models below and clicks an examined document with the
//! probability of its grade,
//!
//! ```text
//! P(click | examined, grade) = noise + (1 - noise) (2^grade - 1) / (2^max - 1)
//! ```
//!
//! or with the probability that `click` gives for each grade: `click=.1/.4/1` for 0, 1 and 2, so that
//! max is 2. The examination of rank r, to the power of eta, is
//!
//! ```text
//! exam=inverse    1 / r
//! exam=ultra      .68 .61 .48 .34 .28 .20 .11 .10 .08 .06, and .06 below rank 10: the values of the
//!                 toolbox ULTRA (Tran, Yates and Ai 2021), from eye tracking (Joachims et al. 2005)
//! exam=geometric  .8^(r - 1)
//! ```
//!
//! - `pbm`: each rank is examined with its probability, independent of other clicks.
//! - `cascade`: ranks are examined in turn until the first click.
//! - `dbn`: ranks in turn; after a click the user is satisfied with the grade's share
//!   (2^grade - 1) / (2^max - 1), and leaves; otherwise goes on with probability `continuation`.
//! - `trust`: as `pbm`, and a document is clicked more often the higher it stands (trust bias,
//!   Agarwal et al. 2019): a click of probability c has the probability c + (1 - c) trust / r.

use rankwright_data::Random;
use rankwright_spec::{
    Slashed, Spec, SpecError, choices, json_by_text, params, read_spec, write_spec,
};

choices! {
    /// A model of how users examine a page.
    pub enum Examine {
        /// Each rank with its own probability.
        Positions = "pbm",
        /// In turn until the first click.
        Cascade = "cascade",
        /// In turn until a clicked document satisfies.
        Dbn = "dbn",
        /// As `pbm`, with more clicks on top documents.
        Trust = "trust",
    }
}

choices! {
    /// The examination of ranks.
    pub enum ExaminationCurve {
        /// 1 / rank.
        Inverse = "inverse",
        /// The values of the toolbox ULTRA.
        Ultra = "ultra",
        /// .8 to the power of the ranks above.
        Geometric = "geometric",
    }
}

/// The examination of ranks 1 to 10 in the toolbox ULTRA; lower ranks have the last value.
const ULTRA: [f64; 10] = [0.68, 0.61, 0.48, 0.34, 0.28, 0.20, 0.11, 0.10, 0.08, 0.06];

impl ExaminationCurve {
    /// The examination of a rank, from 0.
    fn at(self, rank: usize) -> f64 {
        match self {
            Self::Inverse => 1.0 / (rank + 1) as f64,
            Self::Ultra => ULTRA[rank.min(ULTRA.len() - 1)],
            Self::Geometric => 0.8_f64.powf(rank as f64),
        }
    }
}

params! {
    /// The parameters of simulated users; some are used by one model only.
    pub struct UserParams {
        exam: ExaminationCurve = ExaminationCurve::Inverse, ..,
            "Examination of rank r before eta: inverse is 1/r, ultra .68 .61 .48 ... .06, geometric .8^(r-1).";
        eta: f64 = 1.0, 0.0.., "Strength of position bias: the power of the examination.";
        click: Option<Slashed<f64>> = None, 0.0..=1.0,
            "Probability of a click on an examined document of grade 0, 1, ..., such as .1/.4/1; instead of noise and max.";
        noise: f64 = 0.1, 0.0..=1.0, "Probability of a click on an examined document of grade 0.";
        max: u32 = 4, 1..=30, "Largest grade.";
        continuation: f64 = 0.9, 0.0..=1.0, "Probability to go on to the next rank (dbn).";
        trust: f64 = 0.5, 0.0..=1.0, "Additional share of clicks on irrelevant documents at rank 1 (trust).";
    }
}

/// Simulated users: a model with its parameters.
///
/// ```
/// use rankwright_clicks::simulate::SimulatedUser;
/// use rankwright_data::Random;
///
/// let user = SimulatedUser::parse("pbm(eta=2, noise=0.05)")?;
/// let clicked = user.clicks(&[4.0, 0.0, 2.0], &mut Random::new(1, 0));
/// assert_eq!(clicked.len(), 3);
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedUser {
    examine: Examine,
    params: UserParams,
}

json_by_text!(SimulatedUser, SimulatedUser::spec, SimulatedUser::parse);

/// Users by the position-based model, `pbm`, with its default parameters.
impl Default for SimulatedUser {
    fn default() -> Self {
        Self::new(Examine::default(), UserParams::default())
    }
}

impl SimulatedUser {
    /// Users of a model with these parameters.
    pub fn new(examine: Examine, params: UserParams) -> Self {
        Self { examine, params }
    }

    /// Reads a spec such as `pbm(eta=1, noise=0.1)`.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let spec = Spec::parse(text)?;
        let found = Examine::ALL.iter().find(|(name, _)| *name == spec.name);
        let (_, examine) = found.ok_or_else(|| {
            let known: Vec<&str> = Examine::ALL.iter().map(|(name, _)| *name).collect();
            SpecError::unknown("simulated user", &spec.name, &known)
        })?;
        Ok(Self { examine: *examine, params: read_spec(&spec)? })
    }

    /// The spec, with the parameters that differ from their defaults.
    pub fn spec(&self) -> String {
        write_spec(self.examine.name(), &self.params).to_string()
    }

    /// The probability that rank `rank` (from 0) is examined, under models in which it does not
    /// depend on other clicks; 1 under the others, in which users examine ranks until they leave.
    pub fn examination(&self, rank: usize) -> f64 {
        match self.examine {
            Examine::Positions | Examine::Trust => {
                let examination = self.params.exam.at(rank);
                // A power takes longer than all other steps of a draw.
                let eta = self.params.eta;
                if eta == 1.0 { examination } else { examination.powf(eta) }
            }
            Examine::Cascade | Examine::Dbn => 1.0,
        }
    }

    /// The share (2^grade - 1) / (2^max - 1), at most 1.
    fn relevance(&self, grade: f64) -> f64 {
        let max = match &self.params.click {
            // If only grade 0 has a probability, every higher grade satisfies fully.
            Some(Slashed(by_grade)) => by_grade.len().saturating_sub(1).max(1) as f64,
            None => f64::from(self.params.max),
        };
        let max = max.exp2() - 1.0;
        ((grade.max(0.0).exp2() - 1.0) / max).min(1.0)
    }

    /// The probability of a click on an examined document of this grade at a rank, from 0. A grade
    /// above the last one with a probability of its own has that of the last one.
    pub fn click(&self, rank: usize, grade: f64) -> f64 {
        let noise = self.params.noise;
        let click = match &self.params.click {
            Some(Slashed(by_grade)) => {
                let last = by_grade.len().saturating_sub(1);
                // The conversion is saturating: a negative grade becomes 0.
                by_grade.get((grade as usize).min(last)).copied().unwrap_or(0.0)
            }
            None => noise + (1.0 - noise) * self.relevance(grade),
        };
        match self.examine {
            Examine::Trust => click + (1.0 - click) * self.params.trust / (rank + 1) as f64,
            _ => click,
        }
    }

    /// Draws the clicks of one user on documents with these grades, the first rank first.
    pub fn clicks(&self, grades: &[f64], random: &mut Random) -> Vec<bool> {
        let mut clicked = vec![false; grades.len()];
        for (rank, (grade, clicked)) in grades.iter().zip(&mut clicked).enumerate() {
            let is_examined = random.unit() < self.examination(rank);
            *clicked = is_examined && random.unit() < self.click(rank, *grade);
            let leaves = match self.examine {
                Examine::Positions | Examine::Trust => false,
                Examine::Cascade => *clicked,
                Examine::Dbn => {
                    let is_satisfied = *clicked && random.unit() < self.relevance(*grade);
                    is_satisfied || random.unit() >= self.params.continuation
                }
            };
            if leaves {
                break;
            }
        }
        clicked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The click rates of 40,000 users by rank.
    fn rates(spec: &str, grades: &[f64]) -> Vec<f64> {
        let user = SimulatedUser::parse(spec).unwrap();
        let mut counts = vec![0.0; grades.len()];
        for stream in 0..40_000 {
            let clicked = user.clicks(grades, &mut Random::new(3, stream));
            counts
                .iter_mut()
                .zip(clicked)
                .for_each(|(c, clicked)| *c += f64::from(u8::from(clicked)));
        }
        counts.into_iter().map(|count| count / 40_000.0).collect()
    }

    #[test]
    fn click_rates_are_those_of_the_formulas() {
        let close = |found: Vec<f64>, expected: &[f64]| {
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 0.01, "{found} {expected}");
            }
        };
        // Grade 1 of at most 2: (2 - 1) / (4 - 1) = 1/3, so a click has probability .1 + .9 / 3 =
        // .4.
        close(rates("pbm(max=2)", &[1.0, 2.0, 0.0]), &[0.4, 0.5, 0.1 / 3.0]);
        close(rates("pbm(max=2, eta=0)", &[0.0, 0.0, 2.0]), &[0.1, 0.1, 1.0]);
        close(rates("cascade(max=2)", &[1.0, 2.0, 2.0]), &[0.4, 0.6, 0.0]);
        // Rank 2 after a click that did not satisfy (2/3) or none, and a continuation of .5.
        let second = 0.5 * (0.4 * 2.0 / 3.0 + 0.6);
        close(rates("dbn(max=2, continuation=0.5)", &[1.0, 2.0]), &[0.4, second]);
        // The last grade of `click` is the largest one, and always satisfies.
        let spec = "dbn(click=0/.4/1, continuation=1)";
        close(rates(spec, &[1.0, 2.0, 2.0]), &[0.4, 0.4 * 2.0 / 3.0 + 0.6, 0.0]);
        // Trust at rank 1: .1 + .9 * .5 = .55; at rank 2 .1 + .9 * .25 = .325.
        close(rates("trust(max=2, eta=0)", &[0.0, 0.0]), &[0.55, 0.325]);
        close(rates("pbm(click=.1/.4/1)", &[2.0, 1.0, 0.0, 9.0]), &[1.0, 0.2, 0.1 / 3.0, 0.25]);
        close(rates("pbm(exam=ultra, click=0/1)", &[1.0, 1.0, 1.0]), &[0.68, 0.61, 0.48]);
        let squares = [0.68 * 0.68, 0.61 * 0.61];
        close(rates("pbm(exam=ultra, eta=2, click=0/1)", &[1.0, 1.0]), &squares);
        close(rates("pbm(exam=geometric, click=0/1)", &[1.0, 1.0, 1.0]), &[1.0, 0.8, 0.64]);
    }

    #[test]
    fn an_unknown_user_lists_the_known_ones() {
        let error = SimulatedUser::parse("pmb").unwrap_err().to_string();
        assert!(error.contains("pbm"), "{error}");
        assert!(SimulatedUser::parse("pbm(noise=2)").is_err());
        assert!(SimulatedUser::parse("pbm(click=.1/2)").is_err());
        let spec = "pbm(exam=ultra, click=0.1/0.4/1)";
        assert_eq!(SimulatedUser::parse(spec).unwrap().spec(), spec);
        assert!((SimulatedUser::parse(spec).unwrap().examination(11) - 0.06).abs() < 1e-12);
    }
}
