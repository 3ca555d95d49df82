//! Scores of an ensemble whose trees are dropped, restored and reweighted (DART; the choice of
//! dropped trees and the weights are in [`dropout`](super::dropout)).
//!
//! Floating-point sums depend on the order of their additions: removing a tree and adding it back
//! would change bits of the score, and a resumed training would differ from an uninterrupted one.
//! So leaf values are integer multiples of a *unit*: the largest leaf value of the first tree with
//! a leaf value other than 0, rounded down to a power of two, divided by 2^32. All sums stay below
//! 2^53 units and are exact, in any order. A tree keeps the values it was grown with; it adds to
//! the scores the product of these values and its weight, rounded to whole units. The scores of a
//! start model are kept apart, stay constant, and are never dropped.
//!
//! The leaves of dropped trees are found by bins ([`Routes`](crate::tree::Routes)): storing leaf
//! numbers of all trees would take rows x trees x 2 bytes, several times the bins themselves, to
//! save a few look-ups for a tenth of the trees. One pass computes both the score a row loses while
//! the trees are dropped and the score they add when restored, because their new weights are known
//! before the new tree is. Cost of a round: two look-ups for each row, dropped tree and split on
//! the path, and three numbers per row in memory.
//!
//! A tree whose leaves are all 0 has no unit and needs none. If leaves grow two million times
//! (2^53 / 2^32) as large as those of the first tree, training fails with an error that advises a
//! lower learning rate.

use rankwright_data::Dataset;
use rankwright_model::{Ensemble, Header, Leaf, Model, ModelBody, ScoreOptions, Tree};
use rayon::prelude::*;

use super::dropout::Dropout;
use super::scores::add_tree;
use crate::error::{LearnError, NotFiniteValue, StateProblem};
use crate::tree::{GrownRows, GrownTree, Routes};

/// Number of rows that one task routes through all dropped trees.
const CHUNK_ROWS: usize = 1 << 12;
/// Ratio of the first tree's largest leaf to the unit, as a power of two.
const UNIT_BITS: i32 = 32;
/// Sums of integers in 64-bit floats are exact up to this limit.
const MAX_EXACT: f64 = (1_u64 << 53) as f64;

/// Scores as a constant part and an integer number of units.
#[derive(Debug)]
pub(crate) struct UnitScores {
    /// The constant part of each row's score: that of the start model or the base score.
    constant: Vec<f64>,
    /// The number of units of each row: integers, stored as floats.
    units: Vec<f64>,
}

impl UnitScores {
    /// Scores that consist of the constant part only.
    pub(crate) fn new(constant: Vec<f64>) -> Self {
        Self { units: vec![0.0; constant.len()], constant }
    }

    /// Adds the scores that trees give to the rows of data; the leaf values of the trees are
    /// numbers of units (see [`Dart::changes`]).
    pub(crate) fn add(
        &mut self,
        trees: &[Tree],
        header: &Header,
        data: &Dataset,
        options: ScoreOptions,
    ) -> Result<(), LearnError> {
        let trees = ModelBody::Trees(Ensemble::new(0.0, trees.to_vec())?);
        let changes = Model::new(header.clone(), trees)?.score(data, options)?;
        self.units.iter_mut().zip(changes).for_each(|(units, change)| *units += change);
        Ok(())
    }

    /// Writes the scores as ordinary numbers to `scores`; `unit` is the value of one unit.
    pub(crate) fn write(&self, unit: f64, scores: &mut [f64]) {
        let parts = self.constant.iter().zip(&self.units);
        scores
            .iter_mut()
            .zip(parts)
            .for_each(|(score, (constant, units))| *score = constant + units * unit);
    }
}

/// The weights of the trees, and the scores of the training data.
#[derive(Debug)]
pub(crate) struct Dart {
    dropout: Dropout,
    rate: f64,
    seed: u64,
    /// The unit; 0 until a tree has a leaf other than 0.
    unit: f64,
    /// The weight of each new tree.
    weights: Vec<f64>,
    unit_scores: UnitScores,
    /// For each row, the number of units that the dropped trees add when they are restored.
    restored: Vec<f64>,
    /// The changes of the last round, as trees whose leaf values are numbers of units: the scores
    /// of other data are updated by adding the scores of these trees.
    changes: Vec<Tree>,
    /// Upper bound of every row's number of units: the sum of the largest leaves of all trees.
    bound: f64,
}

impl Dart {
    /// The state before the first round; `constant` is the score of each row by the start model, or
    /// the base score.
    pub(crate) fn new(dropout: Dropout, rate: f64, seed: u64, constant: Vec<f64>) -> Self {
        Self {
            dropout,
            rate,
            seed,
            unit: 0.0,
            weights: Vec::new(),
            restored: vec![0.0; constant.len()],
            unit_scores: UnitScores::new(constant),
            changes: Vec::new(),
            bound: 0.0,
        }
    }

    /// The value of one unit.
    pub(crate) fn unit(&self) -> f64 {
        self.unit
    }

    /// Begins a round: subtracts the trees that this round drops from the scores, and computes
    /// their new weights. `trees` are the existing trees, as they were grown.
    pub(crate) fn drop_trees(
        &mut self,
        trees: &[Tree],
        rows: &dyn GrownRows,
        scores: &mut [f64],
    ) -> Result<(), LearnError> {
        let round = self.weights.len();
        let dropped = self.dropout.dropped(self.seed, round, trees.len());
        let (factor_of_dropped, factor_of_new) = self.dropout.factors(dropped.len(), self.rate);
        self.weights.push(factor_of_new);
        self.changes.clear();
        let mut dropped_trees = Vec::with_capacity(dropped.len());
        for tree in dropped {
            let old = self.weights[tree];
            self.weights[tree] = old * factor_of_dropped;
            let weights = (old, self.weights[tree]);
            let tree = &trees[tree];
            dropped_trees.push(DroppedTree::new(tree, weights, self.unit, rows));
            self.changes.push(change(tree, weights, self.unit)?);
        }
        if dropped_trees.is_empty() {
            return Ok(());
        }
        let restored = self.restored.par_chunks_mut(CHUNK_ROWS);
        let chunks = self.unit_scores.units.par_chunks_mut(CHUNK_ROWS).zip(restored);
        chunks.enumerate().for_each(|(chunk, (units, restored))| {
            restored.fill(0.0);
            for dropped in &dropped_trees {
                let rows = units.iter_mut().zip(&mut *restored);
                for (row_in_chunk, (units, restored)) in rows.enumerate() {
                    let row = chunk * CHUNK_ROWS + row_in_chunk;
                    let (old, new) = dropped.leaves[dropped.routes.leaf(row)];
                    *units -= old;
                    *restored += new;
                }
            }
        });
        self.unit_scores.write(self.unit, scores);
        Ok(())
    }

    /// Ends a round: adds a newly grown tree, and restores the dropped ones with their new weights.
    /// Returns the tree to be kept, its leaves rounded to whole units. `multiplicities` are those
    /// of the sampled queries, see [`add_tree`].
    pub(crate) fn add(
        &mut self,
        tree: &Tree,
        (grown, rows): (&GrownTree, &dyn GrownRows),
        (data, multiplicities): (&Dataset, Option<&[f32]>),
        scores: &mut [f64],
    ) -> Result<Tree, LearnError> {
        let tree = self.rounded_to_units(tree)?;
        if !self.changes.is_empty() {
            let restored = self.unit_scores.units.par_iter_mut().zip(&self.restored);
            restored.for_each(|(units, restored)| *units += restored);
        }
        let invariant = "a round begins with the trees that it drops";
        let weight = *self.weights.last().ok_or(LearnError::Internal { invariant })?;
        let values = grown.values(units(&tree, weight, self.unit));
        add_tree((grown, rows), &values, data, multiplicities, &mut self.unit_scores.units);
        self.unit_scores.write(self.unit, scores);
        self.changes.push(change(&tree, (0.0, weight), self.unit)?);
        Ok(tree)
    }

    /// The changes of the ensemble in the last round, as trees whose scores, in units, are to be
    /// added to those of other data.
    pub(crate) fn changes(&self) -> &[Tree] {
        &self.changes
    }

    /// The first trees, multiplied by the weights that they have after this many rounds.
    pub(crate) fn weighted(&self, trees: &[Tree], rounds: usize) -> Result<Vec<Tree>, LearnError> {
        let weights = self.dropout.weights(self.rate, self.seed, rounds);
        let weighted = |(tree, weight): (&Tree, f64)| {
            with_values(tree, units(tree, weight, self.unit).map(|units| units * self.unit))
        };
        trees.iter().zip(weights).map(weighted).collect()
    }

    /// The state that a checkpoint stores for resuming: the unit, and the leaves of all trees as
    /// they were grown, in units.
    pub(crate) fn to_bytes(&self, trees: &[Tree]) -> Vec<u8> {
        let leaves = trees.iter().flat_map(|tree| units(tree, 1.0, self.unit));
        let in_units = leaves.flat_map(|units| (units as i64).to_le_bytes());
        self.unit.to_le_bytes().into_iter().chain(in_units).collect()
    }

    /// Resumes from the bytes of [`Dart::to_bytes`] and the weighted trees of a checkpoint, of
    /// which the first `rounds` are used. Returns these trees in two forms: as they were grown; and
    /// multiplied by their weights with leaves in units, to be added to the scores of any data.
    pub(crate) fn restore(
        &mut self,
        trees: &[Tree],
        bytes: &[u8],
        rounds: usize,
    ) -> Result<(Vec<Tree>, Vec<Tree>), LearnError> {
        let bad_state = || LearnError::from(StateProblem::LeavesDoNotFit);
        let (numbers, rest) = bytes.as_chunks::<8>();
        let (unit, leaves) = numbers.split_first().ok_or_else(bad_state)?;
        let unit = f64::from_le_bytes(*unit);
        let count: usize = trees.iter().map(|tree| tree.leaves().len()).sum();
        // A power of two has no bits outside its exponent, which is in the upper 12 bits.
        let is_power_of_two = unit.is_normal() && unit.to_bits() << 12 == 0 && unit > 0.0;
        if leaves.len() != count || !rest.is_empty() || !(is_power_of_two || unit == 0.0) {
            return Err(bad_state());
        }
        self.unit = unit;
        self.weights = self.dropout.weights(self.rate, self.seed, rounds);
        let mut leaves = leaves.iter();
        let grown: Result<Vec<Tree>, LearnError> = trees
            .iter()
            .take(rounds)
            .map(|tree| {
                let tree_leaves = leaves.by_ref().take(tree.leaves().len());
                with_values(tree, tree_leaves.map(|units| i64::from_le_bytes(*units) as f64 * unit))
            })
            .collect();
        let grown = grown?;
        grown.iter().try_for_each(|tree| self.extend_bound(tree))?;
        let weighted = grown.iter().zip(&self.weights);
        let weighted_units = weighted.map(|(tree, weight)| change(tree, (0.0, *weight), unit));
        let weighted_units = weighted_units.collect::<Result<_, LearnError>>()?;
        Ok((grown, weighted_units))
    }

    /// Adds the trees of a checkpoint, with leaves in units, to the scores of the training data.
    pub(crate) fn rescore(
        &mut self,
        trees: &[Tree],
        header: &Header,
        data: &Dataset,
        scores: &mut [f64],
    ) -> Result<(), LearnError> {
        self.unit_scores.add(trees, header, data, ScoreOptions::default())?;
        self.unit_scores.write(self.unit, scores);
        Ok(())
    }

    /// A grown tree with its leaves rounded to whole units; the first tree with a leaf other than 0
    /// determines the unit.
    fn rounded_to_units(&mut self, tree: &Tree) -> Result<Tree, LearnError> {
        if self.unit == 0.0 {
            let values = tree.leaves().iter().map(|leaf| leaf.value.abs());
            let largest = values.fold(0.0, f64::max);
            // Below this limit a unit would not be a normal number; such leaves are treated as 0.
            if largest > f64::MIN_POSITIVE * (1_u64 << UNIT_BITS) as f64 {
                // Only the exponent is kept.
                let power_of_two = f64::from_bits(largest.to_bits() & (0x7ff << 52));
                self.unit = power_of_two / (1_u64 << UNIT_BITS) as f64;
            }
        }
        let unit = self.unit;
        let in_units =
            |leaf: &Leaf| if unit == 0.0 { 0.0 } else { rounded(leaf.value / unit) * unit };
        let tree = with_values(tree, tree.leaves().iter().map(in_units))?;
        self.extend_bound(&tree)?;
        Ok(tree)
    }

    /// Adds the largest leaf of a tree to the upper bound of sums; an error if sums would no longer
    /// be exact.
    fn extend_bound(&mut self, tree: &Tree) -> Result<(), LearnError> {
        let larger = |largest: f64, units: f64| largest.max(units.abs());
        self.bound += units(tree, 1.0, self.unit).fold(0.0, larger);
        if self.bound <= MAX_EXACT {
            return Ok(());
        }
        Err(NotFiniteValue::LeafValues.into())
    }
}

/// A dropped tree.
struct DroppedTree<'a> {
    /// Maps rows to leaves.
    routes: Routes<'a>,
    /// The value of each leaf before and after the tree is reweighted, in units.
    leaves: Vec<(f64, f64)>,
}

impl<'a> DroppedTree<'a> {
    /// A tree whose weight changes from `old` to `new`.
    fn new(tree: &Tree, (old, new): (f64, f64), unit: f64, rows: &'a dyn GrownRows) -> Self {
        let numeric = GrownTree::numeric(tree.splits().to_vec(), Vec::new());
        let grown = GrownTree { sets: tree.sets().to_vec(), ..numeric };
        let leaves = units(tree, old, unit).zip(units(tree, new, unit)).collect();
        Self { routes: rows.routes(&grown), leaves }
    }
}

/// The leaves of a tree times its weight, in whole units.
fn units(tree: &Tree, weight: f64, unit: f64) -> impl Iterator<Item = f64> {
    // The first division is exact: leaves are integer multiples of the unit.
    let in_units =
        move |leaf: &Leaf| if unit == 0.0 { 0.0 } else { rounded(leaf.value / unit * weight) };
    tree.leaves().iter().map(in_units)
}

/// The nearest integer; never -0, whose sign a checkpoint does not keep.
fn rounded(value: f64) -> f64 {
    value.round() + 0.0
}

/// A tree whose leaf values are the changes, in units, of this tree's leaves when its weight
/// changes from `old` to `new`.
fn change(tree: &Tree, (old, new): (f64, f64), unit: f64) -> Result<Tree, LearnError> {
    let leaves = units(tree, old, unit).zip(units(tree, new, unit)).map(|(old, new)| new - old);
    with_values(tree, leaves)
}

/// A tree with other leaf values.
fn with_values(tree: &Tree, values: impl Iterator<Item = f64>) -> Result<Tree, LearnError> {
    let leaves = tree.leaves().iter().zip(values).map(|(leaf, value)| Leaf { value, ..*leaf });
    Ok(Tree::with_sets(tree.splits().to_vec(), leaves.collect(), tree.sets().to_vec())?)
}
