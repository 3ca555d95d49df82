//! Rungs: the number of trials (learners with one set of parameters each) and of training rounds of
//! each step of a search.
//!
//! Random search has one rung: all trials, trained completely. Successive halving of n trials of a
//! learner with R rounds has rungs k = 0 .. s with
//!
//! ```text
//! trials(k) = floor(n / 3^k), at least 1        rounds(k) = ceil(R / 3^(s - k))
//! ```
//!
//! (Jamieson and Talwalkar 2016, algorithm 1, with eta = 3 and the budget in rounds). s is the
//! largest number with 3^s <= n and 3^s <= R, at most 3: the metric after fewer than a 27th of the
//! rounds says little about the final metric. Trial 0 (the learner as given) always reaches the
//! last rung, as the other trials are compared with it.

/// After a rung, one in this number of trials continues.
const ETA: usize = 3;
/// Largest number of rungs after the first.
const MAX_HALVINGS: u32 = 3;

/// A step of a search: a number of trials, trained for a number of rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rung {
    /// Maximum number of trials; after the first rung, trial 0 comes in addition.
    pub trials: usize,
    /// Maximum number of rounds; `None` for the number in the learner's spec.
    pub rounds: Option<usize>,
}

/// The rungs of successive halving, for a learner with this number of rounds.
pub(super) fn halving(trials: usize, rounds: usize) -> Vec<Rung> {
    let power = |k: u32| ETA.pow(k);
    let last = (0..=MAX_HALVINGS).rev().find(|s| power(*s) <= trials.min(rounds)).unwrap_or(0);
    let rung = |k: u32| Rung {
        trials: (trials / power(k)).max(1),
        rounds: Some(rounds.div_ceil(power(last - k))).filter(|_| k < last),
    };
    (0..=last).map(rung).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The trials and rounds of each rung.
    fn rungs(trials: usize, rounds: usize) -> Vec<(usize, usize)> {
        let pair = |rung: &Rung| (rung.trials, rung.rounds.unwrap_or(rounds));
        halving(trials, rounds).iter().map(pair).collect()
    }

    #[test]
    fn each_rung_has_a_third_of_the_trials_and_three_times_the_rounds() {
        assert_eq!(rungs(27, 270), [(27, 10), (9, 30), (3, 90), (1, 270)]);
        assert_eq!(rungs(100, 300), [(100, 12), (33, 34), (11, 100), (3, 300)]);
        assert_eq!(rungs(10, 300), [(10, 34), (3, 100), (1, 300)]);
    }

    #[test]
    fn few_trials_or_rounds_have_fewer_rungs() {
        assert_eq!(rungs(2, 300), [(2, 300)]);
        assert_eq!(rungs(1, 1), [(1, 1)]);
        assert_eq!(rungs(30, 5), [(30, 2), (10, 5)]);
    }
}
