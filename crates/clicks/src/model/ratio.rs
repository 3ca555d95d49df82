//! A probability that is estimated from successes and trials, which may be expected numbers.

use std::ops::AddAssign;

/// Successes among trials.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Ratio {
    pub(super) successes: f64,
    pub(super) trials: f64,
}

impl Ratio {
    /// Adds trials, and the successes among them.
    pub(super) fn add(&mut self, successes: f64, trials: f64) {
        self.successes += successes;
        self.trials += trials;
    }

    /// The estimated probability with `prior` imaginary successes and as many failures. Without any
    /// trial it is 0.5.
    pub(super) fn estimate(self, prior: f64) -> f64 {
        let trials = self.trials + 2.0 * prior;
        if trials > 0.0 { (self.successes + prior) / trials } else { 0.5 }
    }
}

impl AddAssign for Ratio {
    fn add_assign(&mut self, other: Self) {
        self.add(other.successes, other.trials);
    }
}

/// The estimates of several probabilities.
pub(super) fn estimates(ratios: &[Ratio], prior: f64) -> Vec<f64> {
    ratios.iter().map(|ratio| ratio.estimate(prior)).collect()
}

/// Adds up vectors of ratios in their order, so that the sum is the same on any number of threads.
pub(super) fn sum(parts: impl IntoIterator<Item = Vec<Ratio>>, len: usize) -> Vec<Ratio> {
    let mut total = vec![Ratio::default(); len];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
    }
    total
}
