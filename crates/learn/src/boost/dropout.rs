//! Dropout of DART: the trees dropped in a round, and their weights afterwards (Rashmi and
//! Gilad-Bachrach, *DART: Dropouts meet Multiple Additive Regression Trees*, 2015).
//!
//! In a round, each tree grown so far is dropped with probability `share`; if none is drawn, one
//! tree is dropped, as in the paper. With probability `skip` the round drops none and is one of
//! plain boosting. At most `most` are dropped, a random subset of those drawn. The new tree is
//! fitted to the residual without the k dropped trees, so together with them it would overshoot;
//! therefore all k + 1 are scaled. With `tree`, the new tree gets the size of one dropped tree: it
//! is multiplied by 1/(k + rate) in addition to the rate, they by k/(k + rate). That is the paper's
//! 1/(k + 1) and k/(k + 1) at rate 1, and XGBoost's rule otherwise. With `forest`, the new tree
//! gets the size of all dropped trees together: all are multiplied by 1/(1 + rate).
//!
//! Draws are determined by seed and round, so the weights at any round are a function of these and
//! need not be stored. Cost over all rounds: O(trees^2) draws, microseconds each round.

use rankwright_data::Random;
use rankwright_spec::choices;

choices! {
    /// The scale of the new tree and of the dropped ones.
    pub enum DropScale {
        /// The new tree gets the size of one dropped tree.
        Tree = "tree",
        /// The new tree gets the size of all dropped trees together.
        Forest = "forest",
    }
}

/// Parameters of dropping trees (DART).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dropout {
    /// Probability of dropping each tree.
    pub(crate) share: f64,
    /// Probability that a round drops none.
    pub(crate) skip: f64,
    /// Largest number of trees dropped in a round; 0 for no limit.
    pub(crate) most: usize,
    /// The scale of the new tree and of the dropped ones.
    pub(crate) scale: DropScale,
}

#[cfg(test)]
impl Default for Dropout {
    fn default() -> Self {
        Self { share: 0.1, skip: 0.5, most: 50, scale: DropScale::Tree }
    }
}

impl Dropout {
    /// The trees that a round drops, ascending, out of `trees`.
    pub(crate) fn dropped(&self, seed: u64, round: usize, trees: usize) -> Vec<usize> {
        let mut random = Random::new(seed ^ 0x4472_6f70_5472_6565, round as u64);
        if trees == 0 || random.unit() < self.skip {
            return Vec::new();
        }
        let mut dropped: Vec<usize> = (0..trees).filter(|_| random.unit() < self.share).collect();
        if dropped.is_empty() {
            dropped.push(random.below(trees));
        }
        if self.most > 0 && dropped.len() > self.most {
            random.shuffle(&mut dropped);
            dropped.truncate(self.most);
            dropped.sort_unstable();
        }
        dropped
    }

    /// The factors of the dropped trees and of the new one, for this number of dropped trees.
    pub(crate) fn factors(&self, dropped: usize, rate: f64) -> (f64, f64) {
        let k = dropped as f64;
        match (dropped, self.scale) {
            (0, _) => (1.0, 1.0),
            (_, DropScale::Tree) => (k / (k + rate), 1.0 / (k + rate)),
            (_, DropScale::Forest) => (1.0 / (1.0 + rate), 1.0 / (1.0 + rate)),
        }
    }

    /// The weight of each tree after this many rounds.
    pub(crate) fn weights(&self, rate: f64, seed: u64, rounds: usize) -> Vec<f64> {
        let mut weights = Vec::with_capacity(rounds);
        for round in 0..rounds {
            let dropped = self.dropped(seed, round, round);
            let (of_dropped, of_new) = self.factors(dropped.len(), rate);
            dropped.into_iter().for_each(|tree| weights[tree] *= of_dropped);
            weights.push(of_new);
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALWAYS: Dropout = Dropout { share: 0.3, skip: 0.0, most: 0, scale: DropScale::Tree };

    #[test]
    fn about_the_share_asked_for_is_dropped_and_at_least_one() {
        let count = |dropout: Dropout| {
            let of_round = |round| dropout.dropped(5, round, 100).len();
            (0..200).map(of_round).collect::<Vec<_>>()
        };
        let mean = count(ALWAYS).iter().sum::<usize>() as f64 / 200.0;
        assert!((28.0..32.0).contains(&mean), "{mean}");
        assert!(count(Dropout { share: 0.0, ..ALWAYS }).iter().all(|dropped| *dropped == 1));
        let skipped = count(Dropout { skip: 0.6, ..ALWAYS });
        let skipped = skipped.iter().filter(|dropped| **dropped == 0).count();
        assert!((100..140).contains(&skipped), "{skipped}");
        assert!(count(Dropout { most: 4, ..ALWAYS }).iter().all(|dropped| *dropped == 4));
        assert!(count(Dropout { share: 1.0, ..ALWAYS }).iter().all(|dropped| *dropped == 100));
        assert!(ALWAYS.dropped(5, 0, 0).is_empty());
        assert_eq!(ALWAYS.dropped(5, 3, 100), ALWAYS.dropped(5, 3, 100));
        assert_ne!(ALWAYS.dropped(5, 3, 100), ALWAYS.dropped(5, 4, 100));
        assert_ne!(ALWAYS.dropped(5, 3, 100), ALWAYS.dropped(6, 3, 100));
    }

    #[test]
    fn every_tree_is_as_likely_when_there_is_a_limit() {
        let limited = Dropout { most: 4, ..ALWAYS };
        let mut counts = [0; 20];
        for round in 0..2000 {
            limited.dropped(9, round, 20).into_iter().for_each(|tree| counts[tree] += 1);
        }
        assert!(counts.iter().all(|count| (300..500).contains(count)), "{counts:?}");
    }

    #[test]
    fn scaling_keeps_the_size_of_what_was_dropped() {
        // The paper: at rate 1 the new tree weighs 1/(k+1), the dropped ones k/(k+1).
        assert_eq!(ALWAYS.factors(3, 1.0), (0.75, 0.25));
        let forest = Dropout { scale: DropScale::Forest, ..ALWAYS };
        assert_eq!(forest.factors(3, 1.0), (0.5, 0.5));
        assert_eq!(ALWAYS.factors(0, 0.1), (1.0, 1.0));
        // The new tree, times the rate, makes up for the reduction of the dropped trees: the sum
        // stays 4.
        for dropout in [ALWAYS, forest] {
            let (of_dropped, of_new) = dropout.factors(4, 0.2);
            let size = 4.0 * of_dropped + 0.2 * 4.0 * of_new;
            assert!((size - 4.0).abs() < 1e-12, "{size}");
        }
    }

    #[test]
    fn weights_of_fewer_rounds_are_those_that_were_there_then() {
        let dropout = Dropout { skip: 0.4, ..ALWAYS };
        let mut weights = Vec::new();
        for round in 0..40 {
            assert_eq!(weights, dropout.weights(0.1, 3, round));
            let dropped = dropout.dropped(3, round, round);
            let (of_dropped, of_new) = dropout.factors(dropped.len(), 0.1);
            dropped.into_iter().for_each(|tree| weights[tree] *= of_dropped);
            weights.push(of_new);
        }
        assert!(weights.iter().all(|weight| *weight > 0.0 && *weight <= 1.0));
    }
}
