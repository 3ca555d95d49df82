//! Scores of an ensemble whose trees come, go and change their weight (DART; what is dropped and
//! what a tree weighs is said in [`dropout`](super::dropout)).
//!
//! Floating-point sums remember the order of their additions: a tree taken out and put back would
//! leave other bits than it found, and a resumed training others than one that ran through. So
//! leaf values are whole numbers of a unit, a power of two 2^32 times below the largest leaf of
//! the first tree that moves anything; all sums stay below 2^53 units and are exact, in any
//! order. A tree keeps the values it was grown with; what counts is their product with its weight,
//! rounded to whole units. What a start model gives lies below, stays, and is never dropped.
//!
//! Dropped trees are found again by bins ([`Routes`](crate::tree::Routes)): leaf numbers of all
//! trees would take rows x trees x 2 bytes, several times the bins themselves, to save a few
//! look-ups for the tenth part of the trees. One pass gives both what a row loses while they are
//! gone and what they bring back, as their new weights are known before the new tree is. Cost of a
//! round: two look-ups a row, dropped tree and split passed, and three numbers a row in memory.
//!
//! A tree without leaves other than 0 has no unit and needs none. A training whose leaves grow
//! two million times as large as the first is an error, which names the rate.

use rankwright_data::Dataset;
use rankwright_model::{Ensemble, Header, Leaf, Model, ModelBody, ScoreOptions, Tree};
use rayon::prelude::*;

use super::dropout::Dropout;
use super::scores::add_tree;
use crate::error::LearnError;
use crate::tree::{Grown, GrownRows, Routes};

/// Rows that one task leads through all dropped trees.
const CHUNK: usize = 1 << 12;
/// How far below the first tree's largest leaf the unit lies, as a power of two.
const UNIT_BITS: i32 = 32;
/// Sums of whole numbers are exact up to here.
const MOST: f64 = (1_u64 << 53) as f64;

/// Scores as a part that stays and a whole number of units.
#[derive(Debug)]
pub(crate) struct UnitScores {
    below: Vec<f64>,
    units: Vec<f64>,
}

impl UnitScores {
    /// Scores to which nothing was added yet.
    pub(crate) fn new(below: Vec<f64>) -> Self {
        Self { units: vec![0.0; below.len()], below }
    }

    /// Adds what trees with leaves in units (see [`Dart::change`]) give to rows of data.
    pub(crate) fn add(
        &mut self,
        trees: &[Tree],
        header: &Header,
        data: &Dataset,
        options: ScoreOptions,
    ) -> Result<(), LearnError> {
        let trees = ModelBody::Trees(Ensemble::new(0.0, trees.to_vec())?);
        let moves = Model::new(header.clone(), trees)?.score(data, options)?;
        self.units.iter_mut().zip(moves).for_each(|(units, more)| *units += more);
        Ok(())
    }

    /// Writes the scores.
    pub(crate) fn write(&self, unit: f64, scores: &mut [f64]) {
        let parts = self.below.iter().zip(&self.units);
        scores.iter_mut().zip(parts).for_each(|(to, (below, units))| *to = below + units * unit);
    }
}

/// The weights of the trees, and the scores of the training data.
#[derive(Debug)]
pub(crate) struct Dart {
    dropout: Dropout,
    rate: f64,
    seed: u64,
    /// 0 until a tree moves anything.
    unit: f64,
    weights: Vec<f64>,
    layers: UnitScores,
    /// What the dropped trees bring back, in units.
    back: Vec<f64>,
    /// How the dropped trees change, in units, for other data.
    changed: Vec<Tree>,
    /// No sum of units exceeds this.
    bound: f64,
}

impl Dart {
    /// Begins with the scores of the start model, or of none.
    pub(crate) fn new(dropout: Dropout, rate: f64, seed: u64, below: Vec<f64>) -> Self {
        Self {
            dropout,
            rate,
            seed,
            unit: 0.0,
            weights: Vec::new(),
            back: vec![0.0; below.len()],
            layers: UnitScores::new(below),
            changed: Vec::new(),
            bound: 0.0,
        }
    }

    /// What one unit is worth.
    pub(crate) fn unit(&self) -> f64 {
        self.unit
    }

    /// Takes the trees that this round drops out of the scores. `trees` are those there are, as
    /// they were grown.
    pub(crate) fn drop(
        &mut self,
        trees: &[Tree],
        rows: &dyn GrownRows,
        scores: &mut [f64],
    ) -> Result<(), LearnError> {
        let round = self.weights.len();
        let dropped = self.dropout.dropped(self.seed, round, trees.len());
        let (of_dropped, of_new) = self.dropout.factors(dropped.len(), self.rate);
        self.weights.push(of_new);
        self.changed.clear();
        let mut ways = Vec::with_capacity(dropped.len());
        for tree in dropped {
            let was = self.weights[tree];
            self.weights[tree] = was * of_dropped;
            let tree_is = (was, self.weights[tree]);
            let Some(tree) = trees.get(tree) else { continue };
            ways.push(DroppedTree::new(tree, tree_is, self.unit, rows));
            self.changed.push(change(tree, tree_is, self.unit)?);
        }
        if ways.is_empty() {
            return Ok(());
        }
        let chunks = self.layers.units.par_chunks_mut(CHUNK).zip(self.back.par_chunks_mut(CHUNK));
        chunks.enumerate().for_each(|(chunk, (units, back))| {
            back.fill(0.0);
            for way in &ways {
                for (at, (units, back)) in units.iter_mut().zip(&mut *back).enumerate() {
                    let (was, is) = way.leaves[way.routes.leaf(chunk * CHUNK + at)];
                    *units -= was;
                    *back += is;
                }
            }
        });
        self.layers.write(self.unit, scores);
        Ok(())
    }

    /// Adds a tree that was just grown, and puts the dropped ones back with their new weights.
    /// Gives the tree as it is to be kept, its leaves whole units.
    pub(crate) fn add(
        &mut self,
        tree: &Tree,
        (grown, rows): (&Grown, &dyn GrownRows),
        (data, sampled): (&Dataset, Option<&[f32]>),
        scores: &mut [f64],
    ) -> Result<Tree, LearnError> {
        let tree = self.in_units(tree)?;
        if !self.changed.is_empty() {
            let back = self.layers.units.par_iter_mut().zip(&self.back);
            back.for_each(|(units, back)| *units += back);
        }
        let weight = self.weights.last().copied().unwrap_or(1.0);
        let values = grown.values(units(&tree, weight, self.unit));
        add_tree((grown, rows), &values, data, sampled, &mut self.layers.units);
        self.layers.write(self.unit, scores);
        self.changed.push(change(&tree, (0.0, weight), self.unit)?);
        Ok(tree)
    }

    /// How the last round changed the ensemble, in units: trees whose scores are to be added.
    pub(crate) fn changed(&self) -> &[Tree] {
        &self.changed
    }

    /// The trees as they count after so many rounds.
    pub(crate) fn weighted(&self, trees: &[Tree], rounds: usize) -> Result<Vec<Tree>, LearnError> {
        let weights = self.dropout.weights(self.rate, self.seed, rounds);
        let weighted = |(tree, weight): (&Tree, f64)| {
            with_values(tree, units(tree, weight, self.unit).map(|units| units * self.unit))
        };
        trees.iter().zip(weights).map(weighted).collect()
    }

    /// The bytes from which a checkpoint goes on: the unit, and the leaves of all trees as they
    /// were grown, in units.
    pub(crate) fn to_bytes(&self, trees: &[Tree]) -> Vec<u8> {
        let leaves = trees.iter().flat_map(|tree| units(tree, 1.0, self.unit));
        let whole = leaves.flat_map(|units| (units as i64).to_le_bytes());
        self.unit.to_le_bytes().into_iter().chain(whole).collect()
    }

    /// Goes on from such bytes and the weighted trees of a checkpoint, of which the first `rounds`
    /// count. Gives these as they were grown, and how all of them are to be added to the scores
    /// of any data, in units.
    pub(crate) fn restore(
        &mut self,
        trees: &[Tree],
        bytes: &[u8],
        rounds: usize,
    ) -> Result<(Vec<Tree>, Vec<Tree>), LearnError> {
        let wrong =
            || LearnError::CheckpointState { problem: "holds leaves that do not fit its trees" };
        let (numbers, rest) = bytes.as_chunks::<8>();
        let (unit, leaves) = numbers.split_first().ok_or_else(wrong)?;
        let unit = f64::from_le_bytes(*unit);
        let count: usize = trees.iter().map(|tree| tree.leaves().len()).sum();
        // A power of two has no bits but those of its exponent.
        let legal = unit == 0.0 || (unit.is_normal() && unit.to_bits() << 12 == 0 && unit > 0.0);
        if leaves.len() != count || !rest.is_empty() || !legal {
            return Err(wrong());
        }
        self.unit = unit;
        self.weights = self.dropout.weights(self.rate, self.seed, rounds);
        let mut leaves = leaves.iter();
        let grown: Result<Vec<Tree>, LearnError> = trees
            .iter()
            .take(rounds)
            .map(|tree| {
                let own = leaves.by_ref().take(tree.leaves().len());
                with_values(tree, own.map(|units| i64::from_le_bytes(*units) as f64 * unit))
            })
            .collect();
        let grown = grown?;
        grown.iter().try_for_each(|tree| self.count(tree))?;
        let all = grown.iter().zip(&self.weights);
        let all = all.map(|(tree, weight)| change(tree, (0.0, *weight), unit));
        let all = all.collect::<Result<_, LearnError>>()?;
        Ok((grown, all))
    }

    /// Puts restored trees into the scores of the training data.
    pub(crate) fn rescore(
        &mut self,
        trees: &[Tree],
        header: &Header,
        data: &Dataset,
        scores: &mut [f64],
    ) -> Result<(), LearnError> {
        self.layers.add(trees, header, data, ScoreOptions::default())?;
        self.layers.write(self.unit, scores);
        Ok(())
    }

    /// A grown tree with its leaves rounded to units, which the first one settles.
    fn in_units(&mut self, tree: &Tree) -> Result<Tree, LearnError> {
        if self.unit == 0.0 {
            let most = tree.leaves().iter().fold(0.0_f64, |most, leaf| most.max(leaf.value.abs()));
            // Below this a unit would be no normal number; such leaves are as good as 0.
            if most > f64::MIN_POSITIVE * (1_u64 << UNIT_BITS) as f64 {
                let exponent = f64::from_bits(most.to_bits() & (0x7ff << 52));
                self.unit = exponent / (1_u64 << UNIT_BITS) as f64;
            }
        }
        let unit = self.unit;
        let whole = |leaf: &Leaf| if unit == 0.0 { 0.0 } else { rounded(leaf.value / unit) * unit };
        let tree = with_values(tree, tree.leaves().iter().map(whole))?;
        self.count(&tree)?;
        Ok(tree)
    }

    /// Counts a tree into what no sum can exceed.
    fn count(&mut self, tree: &Tree) -> Result<(), LearnError> {
        let largest = |most: f64, units: f64| most.max(units.abs());
        self.bound += units(tree, 1.0, self.unit).fold(0.0, largest);
        if self.bound <= MOST {
            return Ok(());
        }
        Err(LearnError::not_finite(
            "leaf values have grown two million times as large as those of the first tree",
            "the rate may be too large, or min_hessian and l2 too small",
        ))
    }
}

/// A dropped tree: where its rows are, and what its leaves were and are, in units.
struct DroppedTree<'a> {
    routes: Routes<'a>,
    leaves: Vec<(f64, f64)>,
}

impl<'a> DroppedTree<'a> {
    fn new(tree: &Tree, (was, is): (f64, f64), unit: f64, rows: &'a dyn GrownRows) -> Self {
        let plain = Grown::plain(tree.splits().to_vec(), Vec::new());
        let grown = Grown { sets: tree.sets().to_vec(), ..plain };
        let leaves = units(tree, was, unit).zip(units(tree, is, unit)).collect();
        Self { routes: rows.routes(&grown), leaves }
    }
}

/// The leaves of a tree times its weight, in whole units.
fn units(tree: &Tree, weight: f64, unit: f64) -> impl Iterator<Item = f64> {
    // The first division is exact: leaves are whole units.
    let of = move |leaf: &Leaf| if unit == 0.0 { 0.0 } else { rounded(leaf.value / unit * weight) };
    tree.leaves().iter().map(of)
}

/// The nearest whole number; never -0, whose sign a checkpoint does not keep.
fn rounded(value: f64) -> f64 {
    value.round() + 0.0
}

/// What a tree adds, in units, when its weight changes.
fn change(tree: &Tree, (was, is): (f64, f64), unit: f64) -> Result<Tree, LearnError> {
    let leaves = units(tree, was, unit).zip(units(tree, is, unit)).map(|(was, is)| is - was);
    with_values(tree, leaves)
}

/// A tree with other leaf values.
fn with_values(tree: &Tree, values: impl Iterator<Item = f64>) -> Result<Tree, LearnError> {
    let leaves = tree.leaves().iter().zip(values).map(|(leaf, value)| Leaf { value, ..*leaf });
    Ok(Tree::with_sets(tree.splits().to_vec(), leaves.collect(), tree.sets().to_vec())?)
}
