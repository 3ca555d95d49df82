//! Dropout of DART: the trees dropped in a round, and their weights afterwards (Rashmi and
//! Gilad-Bachrach, *DART: Dropouts meet Multiple Additive Regression Trees*, 2015).
//!
//! In a round, each tree grown so far is dropped with probability `probability`; if none is drawn,
//! one tree is dropped, as in the paper. With probability `skip` a round drops no tree, as in
//! boosting without dropout. At most `max_dropped` are dropped, a random subset of those drawn. The
//! new tree is fitted to the ensemble without the k dropped trees, so together with them it would
//! overshoot; therefore all k + 1 trees are scaled. With scale `tree`, the new tree gets the size
//! of one dropped tree: it is multiplied by 1/(k + rate) in addition to the learning rate, the
//! dropped ones by k/(k + rate). That is the paper's 1/(k + 1) and k/(k + 1) at rate 1, and
//! XGBoost's rule otherwise. With scale `forest`, the new tree gets the size of all dropped trees
//! together: all are multiplied by 1/(1 + rate).
//!
//! Draws are determined by seed and round, so the weights of trees after any round are a function
//! of seed and round, and need not be stored. Cost over all rounds: O(trees^2) draws, microseconds
//! each round.

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

/// Any constant ("DropTree" in ASCII): keeps this stream of random numbers apart from the others.
const STREAM: u64 = 0x4472_6f70_5472_6565;

/// Parameters of dropping trees (DART).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dropout {
    /// Probability of dropping each tree.
    pub(crate) probability: f64,
    /// Probability that a round drops no tree.
    pub(crate) skip: f64,
    /// Largest number of trees dropped in a round; 0 for no limit.
    pub(crate) max_dropped: usize,
    /// The scale of the new tree and of the dropped ones.
    pub(crate) scale: DropScale,
}

#[cfg(test)]
impl Default for Dropout {
    fn default() -> Self {
        Self { probability: 0.1, skip: 0.5, max_dropped: 50, scale: DropScale::Tree }
    }
}

impl Dropout {
    /// The numbers of the trees that a round drops out of the first `trees` trees, ascending;
    /// rounds and trees are numbered from 0.
    pub(crate) fn dropped(&self, seed: u64, round: usize, trees: usize) -> Vec<usize> {
        let mut random = Random::new(seed ^ STREAM, round as u64);
        if trees == 0 || random.unit() < self.skip {
            return Vec::new();
        }
        let is_dropped = |_: &usize| random.unit() < self.probability;
        let mut dropped: Vec<usize> = (0..trees).filter(is_dropped).collect();
        if dropped.is_empty() {
            dropped.push(random.below(trees));
        }
        if self.max_dropped > 0 && dropped.len() > self.max_dropped {
            random.shuffle(&mut dropped);
            dropped.truncate(self.max_dropped);
            dropped.sort_unstable();
        }
        dropped
    }

    /// The factor of the dropped trees and that of the new tree, for this number of dropped trees.
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
            let (dropped_factor, new_factor) = self.factors(dropped.len(), rate);
            dropped.into_iter().for_each(|tree| weights[tree] *= dropped_factor);
            weights.push(new_factor);
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Drops trees in every round.
    const ALWAYS: Dropout =
        Dropout { probability: 0.3, skip: 0.0, max_dropped: 0, scale: DropScale::Tree };

    #[test]
    fn trees_are_dropped_with_the_given_probability_and_at_least_one() {
        let dropped_by_round = |dropout: Dropout| {
            let of_round = |round| dropout.dropped(5, round, 100).len();
            (0..200).map(of_round).collect::<Vec<_>>()
        };
        let mean = dropped_by_round(ALWAYS).iter().sum::<usize>() as f64 / 200.0;
        assert!((28.0..32.0).contains(&mean), "{mean}");
        let none_drawn = dropped_by_round(Dropout { probability: 0.0, ..ALWAYS });
        assert!(none_drawn.iter().all(|dropped| *dropped == 1));
        let skipped = dropped_by_round(Dropout { skip: 0.6, ..ALWAYS });
        let skipped = skipped.iter().filter(|dropped| **dropped == 0).count();
        assert!((100..140).contains(&skipped), "{skipped}");
        let limited = dropped_by_round(Dropout { max_dropped: 4, ..ALWAYS });
        assert!(limited.iter().all(|dropped| *dropped == 4));
        let all_drawn = dropped_by_round(Dropout { probability: 1.0, ..ALWAYS });
        assert!(all_drawn.iter().all(|dropped| *dropped == 100));
        assert!(ALWAYS.dropped(5, 0, 0).is_empty());
        assert_eq!(ALWAYS.dropped(5, 3, 100), ALWAYS.dropped(5, 3, 100));
        assert_ne!(ALWAYS.dropped(5, 3, 100), ALWAYS.dropped(5, 4, 100));
        assert_ne!(ALWAYS.dropped(5, 3, 100), ALWAYS.dropped(6, 3, 100));
    }

    #[test]
    fn every_tree_is_equally_likely_to_be_dropped_when_there_is_a_limit() {
        let limited = Dropout { max_dropped: 4, ..ALWAYS };
        let mut counts = [0; 20];
        for round in 0..2000 {
            limited.dropped(9, round, 20).into_iter().for_each(|tree| counts[tree] += 1);
        }
        assert!(counts.iter().all(|count| (300..500).contains(count)), "{counts:?}");
    }

    #[test]
    fn scaling_keeps_the_total_size_of_the_dropped_trees() {
        // The paper: at rate 1 the new tree weighs 1/(k+1), the dropped ones k/(k+1).
        assert_eq!(ALWAYS.factors(3, 1.0), (0.75, 0.25));
        let forest = Dropout { scale: DropScale::Forest, ..ALWAYS };
        assert_eq!(forest.factors(3, 1.0), (0.5, 0.5));
        assert_eq!(ALWAYS.factors(0, 0.1), (1.0, 1.0));
        // Four dropped trees of size 1, and a new tree of size 4 times the rate 0.2: after scaling,
        // the sum of all sizes is 4 again.
        for dropout in [ALWAYS, forest] {
            let (dropped_factor, new_factor) = dropout.factors(4, 0.2);
            let size = 4.0 * dropped_factor + 0.2 * 4.0 * new_factor;
            assert!((size - 4.0).abs() < 1e-12, "{size}");
        }
    }

    #[test]
    fn the_weights_of_any_round_are_those_of_a_training_that_stops_there() {
        let dropout = Dropout { skip: 0.4, ..ALWAYS };
        let mut weights = Vec::new();
        for round in 0..40 {
            assert_eq!(weights, dropout.weights(0.1, 3, round));
            let dropped = dropout.dropped(3, round, round);
            let (dropped_factor, new_factor) = dropout.factors(dropped.len(), 0.1);
            dropped.into_iter().for_each(|tree| weights[tree] *= dropped_factor);
            weights.push(new_factor);
        }
        assert!(weights.iter().all(|weight| *weight > 0.0 && *weight <= 1.0));
    }
}
