//! Exact Shapley values of tree ensembles: path-dependent TreeSHAP.
//!
//! Lundberg, Erion et al. (*From local explanations to global understanding with explainable AI for
//! trees*, 2020) define the score of a row of which only the features in S are known as the average
//! over the leaves that it may reach, each weighted by the rows that went there. For a leaf of
//! value v whose path tests the features 1..m let `z_i` be the fraction of (training or background)
//! rows that pass the splits on feature i, and `o_i` 1 if the explained row passes them all and 0
//! if not. The leaf then adds to feature i
//!
//! ```text
//! v (o_i - z_i) sum over S of |S|! (m - |S| - 1)! / m! prod_{j in S} o_j prod_{j not in S} z_j
//!   = v (o_i - z_i) integral from 0 to 1 of prod_{j != i} (o_j t + z_j (1 - t)) dt
//! ```
//!
//! where S runs over the sets of features other than i; the weights of these sets are beta
//! integrals. The integrand is a polynomial of degree m - 1, so Gauss-Legendre quadrature with m/2
//! nodes is exact, and every term is positive: no cancellation, while the usual unwinding of
//! polynomials divides by small numbers. At each quadrature node the product is carried down the
//! tree, the leaves' terms are summed on the way up, and the factor of a feature is divided out
//! where it was multiplied in. If a feature is tested again further down, its upper factor is
//! replaced by the product for both splits, and the part that the upper split would count for these
//! leaves is subtracted.
//!
//! Our own models, those of LightGBM and CatBoost, and those of XGBoost if a row's second
//! derivative is 1 (`reg:squarederror`), contain the rows at the leaves. XGBoost's other objectives
//! store sums of second derivatives, which our reader drops; RankLib and Solr store nothing. Such
//! trees need background documents.
//!
//! Cost: trees x leaves x quadrature nodes (half the number of features on a path), for eight
//! documents at a time. A document's numbers depend neither on the others nor on threads. A tree of
//! one leaf adds only to the base.

use rayon::prelude::*;

use super::error::ExplainError;
use super::paths::{PathNode, PathStep, Paths};
use super::quadrature::Quadrature;
use super::table::{Contributions, UsedFeatureRows};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::tree::{Side, Split, Tree};

/// Number of documents processed together.
const LANES: usize = 8;
/// Maximum number of values (levels x quadrature nodes) that a walk holds for a document; bounds
/// memory for very deep trees.
const MAX_WALK_VALUES: usize = 1 << 20;

/// An ensemble prepared for explanations.
#[derive(Debug)]
pub(super) struct TreeShap<'a> {
    ensemble: &'a Ensemble,
    /// The features that the trees test, ascending.
    features: Vec<usize>,
    trees: Vec<Paths>,
    /// The quadrature rule of n nodes at index n.
    rules: Vec<Quadrature>,
    base: f64,
}

/// The number of training rows at each leaf of each tree, as stored in the model.
pub(super) fn stored_leaf_rows(ensemble: &Ensemble) -> Result<Vec<Vec<f64>>, ExplainError> {
    let tree_rows = |(number, tree): (usize, &Tree)| {
        let rows: Vec<f64> = tree.leaves().iter().map(|leaf| leaf.rows as f64).collect();
        match tree.splits().is_empty() || rows.iter().any(|rows| *rows > 0.0) {
            true => Ok(rows),
            false => Err(ExplainError::NoCounts { tree: number }),
        }
    };
    ensemble.trees().iter().enumerate().map(tree_rows).collect()
}

/// The number of rows of a table that reach each leaf of each tree.
pub(super) fn count_leaf_rows(
    ensemble: &Ensemble,
    features: &[usize],
    table: &UsedFeatureRows,
) -> Vec<Vec<f64>> {
    let tree_rows = |tree: &Tree| {
        let mut rows = vec![0.0; tree.leaves().len()];
        for row in 0..table.rows {
            rows[tree.leaf_by(&|feature| value_in(features, table.row(row), feature))] += 1.0;
        }
        rows
    };
    ensemble.trees().par_iter().map(tree_rows).collect()
}

/// The value of a feature in a row of the used features.
fn value_in(features: &[usize], row: &[f32], feature: usize) -> f32 {
    features.binary_search(&feature).map_or(f32::NAN, |slot| row[slot])
}

impl<'a> TreeShap<'a> {
    /// Prepares an ensemble; `features` are those that the trees test, ascending, and `leaf_rows`
    /// the number of rows at each leaf of each tree.
    pub(super) fn new(
        ensemble: &'a Ensemble,
        features: Vec<usize>,
        leaf_rows: &[Vec<f64>],
    ) -> Result<TreeShap<'a>, ExplainError> {
        let known = |split: &Split| features.binary_search(&(split.feature as usize)).is_ok();
        if !ensemble.trees().iter().all(|tree| tree.splits().iter().all(known)) {
            let invariant = "the features that an explainer uses are all that its trees test";
            return Err(ModelError::Internal { invariant }.into());
        }
        let slot = |feature: u32| features.partition_point(|known| *known < feature as usize);
        let trees = ensemble.trees().par_iter().zip(leaf_rows);
        let trees: Vec<Paths> = trees.map(|(tree, rows)| Paths::new(tree, rows, slot)).collect();
        for (number, tree) in trees.iter().enumerate() {
            let (depth, features) = (tree.depth, tree.features);
            if (depth + 1).saturating_mul(point_count(tree)) > MAX_WALK_VALUES {
                return Err(ExplainError::TooDeep { tree: number, depth, features });
            }
        }
        let max_points = trees.iter().map(point_count).max().unwrap_or(0);
        let mut rules = vec![Quadrature::default(); max_points + 1];
        for n in trees.iter().map(point_count) {
            if rules[n].points.len() < n {
                rules[n] = Quadrature::new(n);
            }
        }
        let base = trees.iter().fold(ensemble.base(), |sum, tree| sum + tree.base);
        Ok(TreeShap { ensemble, features, trees, rules, base })
    }

    pub(super) fn explain(&self, table: &UsedFeatureRows) -> Contributions {
        let blocks = (0..table.rows.div_ceil(LANES)).into_par_iter();
        let blocks = blocks.map_init(DocumentWalk::default, |walk, block| {
            let rows = block * LANES..table.rows.min((block + 1) * LANES);
            let lanes = 0..rows.len();
            walk.load(table, rows);
            for (tree, paths) in self.ensemble.trees().iter().zip(&self.trees) {
                walk.add(tree, paths, &self.rules[point_count(paths)]);
            }
            lanes.flat_map(|lane| walk.sums.iter().map(move |sum| sum[lane])).collect::<Vec<f64>>()
        });
        let values = blocks.collect::<Vec<_>>().concat();
        let score = |row: usize| {
            let row = table.row(row);
            self.ensemble.score_by(|feature| value_in(&self.features, row, feature))
        };
        let scores = (0..table.rows).into_par_iter().map(score).collect();
        Contributions { base: self.base, scores, values }
    }
}

/// Number of quadrature nodes of a tree.
fn point_count(tree: &Paths) -> usize {
    tree.features.div_ceil(2)
}

/// A depth-first walk of eight documents, the lanes, through trees. A level is a depth in the tree;
/// its entries are those of the node on the current path at this depth.
#[derive(Debug, Default)]
struct DocumentWalk {
    /// The documents' values of each feature.
    values: Vec<[f32; LANES]>,
    /// The contribution of each feature to the documents' scores.
    sums: Vec<[f64; LANES]>,
    /// The product of the factors on the path, at each quadrature node of each level.
    products: Vec<[f64; LANES]>,
    /// The sum of the terms of the visited leaves below, at each quadrature node of each level.
    totals: Vec<[f64; LANES]>,
    /// For each level the documents that pass all splits on its step's feature so far, a bit each.
    passing: Vec<u8>,
    /// For each level the documents that go left at its node's split, a bit each.
    lefts: Vec<u8>,
    /// For each level the index of the step that leads to its node.
    path: Vec<usize>,
}

impl DocumentWalk {
    /// Loads documents; lanes without one hold zeros, and their sums are never read.
    fn load(&mut self, table: &UsedFeatureRows, rows: std::ops::Range<usize>) {
        self.values.clear();
        self.values.resize(table.width, [0.0; LANES]);
        self.sums.clear();
        self.sums.resize(table.width, [0.0; LANES]);
        for (lane, row) in rows.enumerate() {
            for (values, value) in self.values.iter_mut().zip(table.row(row)) {
                values[lane] = *value;
            }
        }
    }

    /// Adds the contributions of a tree to each feature.
    fn add(&mut self, tree: &Tree, paths: &Paths, rule: &Quadrature) {
        let (n, levels) = (rule.points.len(), paths.depth + 1);
        self.products.resize(self.products.len().max(levels * n), [0.0; LANES]);
        self.totals.resize(self.totals.len().max(levels * n), [0.0; LANES]);
        self.passing.resize(self.passing.len().max(levels), 0);
        self.lefts.resize(self.lefts.len().max(levels), 0);
        self.path.resize(self.path.len().max(levels), 0);
        self.products[..n].fill([1.0; LANES]);
        self.passing[0] = u8::MAX;
        self.lefts[0] = self.goes_left(tree, paths.root);
        let mut level = 0;
        for (number, step) in paths.steps.iter().enumerate() {
            while level >= step.level as usize {
                self.leave(&paths.steps[self.path[level]], rule);
                level -= 1;
            }
            level = step.level as usize;
            self.path[level] = number;
            self.enter(step, rule);
            self.lefts[level] = self.goes_left(tree, step.node);
        }
        while level > 0 {
            self.leave(&paths.steps[self.path[level]], rule);
            level -= 1;
        }
    }

    /// The documents that go left at a node, a bit each; none at a leaf.
    fn goes_left(&self, tree: &Tree, node: PathNode) -> u8 {
        let PathNode::Split { number, slot } = node else { return 0 };
        let split = &tree.splits()[number as usize];
        let lanes = self.values[slot as usize].iter().enumerate();
        lanes.fold(0, |mask, (lane, value)| {
            mask | u8::from(split.side(*value, tree.sets()) == Side::Left) << lane
        })
    }

    /// Goes down to a node: multiplies the products by the factor of the step's feature, which
    /// replaces that of the step above on the same feature.
    fn enter(&mut self, step: &PathStep, rule: &Quadrature) {
        let (level, n) = (step.level as usize, rule.points.len());
        let lefts = self.lefts[level - 1];
        // Masks of the documents that go to this node from its parent, that passed the splits on
        // the feature before this step, and that pass them with this step.
        let goes = if step.is_left { lefts } else { !lefts };
        let before = self.passing[step.level_above as usize];
        let now = before & goes;
        self.passing[level] = now;
        // 0: still passing, 1: no longer passing, 2: not passing since a split further up.
        let case =
            lanes(|lane| usize::from(now >> lane & 1 == 0) + usize::from(before >> lane & 1 == 0));
        // The products at the parent, and those at this node.
        let (above, here) = self.products.split_at_mut(level * n);
        let above = &above[(level - 1) * n..];
        let totals = &mut self.totals[level * n..(level + 1) * n];
        for (q, total) in totals.iter_mut().enumerate() {
            let (passes, fails) = factors(step.fraction, rule.points[q]);
            let (passed, failed) = factors_above(step, rule.points[q]);
            let ratios = [passes / passed, fails / passed, fails * inverse(failed)];
            here[q] = lanes(|lane| above[q][lane] * ratios[case[lane]]);
            *total = match step.node {
                PathNode::Split { .. } => [0.0; LANES],
                PathNode::Leaf(value) => lanes(|lane| here[q][lane] * (rule.weights[q] * value)),
            };
        }
    }

    /// Goes up from a node: the leaves below it count for the step's feature, no longer for the
    /// step above on the same feature, and are added to the parent.
    fn leave(&mut self, step: &PathStep, rule: &Quadrature) {
        let (level, n) = (step.level as usize, rule.points.len());
        let (now, before) = (self.passing[level], self.passing[step.level_above as usize]);
        // The totals at the parent, and those at this node.
        let (above, here) = self.totals.split_at_mut(level * n);
        let above = &mut above[(level - 1) * n..];
        // The totals of the leaves below, divided by the factor of this step, and by that of the
        // step above on the same feature.
        let (mut own, mut upper) = ([0.0; LANES], [0.0; LANES]);
        // 1 for documents that do not pass with this step, and for those that did not before.
        let fails = lanes(|lane| usize::from(now >> lane & 1 == 0));
        let failed = lanes(|lane| usize::from(before >> lane & 1 == 0));
        for q in 0..n {
            let (total, t) = (here[q], rule.points[q]);
            let inverses = inverse_factors(step.fraction, t);
            own = lanes(|lane| own[lane] + total[lane] * inverses[fails[lane]]);
            if step.level_above > 0 {
                let inverses = inverse_factors(step.fraction_above, t);
                upper = lanes(|lane| upper[lane] + total[lane] * inverses[failed[lane]]);
            }
            // The root has no step that would use its totals.
            if level > 1 {
                above[q] = lanes(|lane| above[q][lane] + total[lane]);
            }
        }
        // `o - z` in the formula, for documents that pass and for those that do not.
        let changes = [1.0 - step.fraction, -step.fraction];
        let changes_above = [1.0 - step.fraction_above, -step.fraction_above];
        let sum = &mut self.sums[step.slot as usize];
        *sum = lanes(|lane| {
            sum[lane]
                + (own[lane] * changes[fails[lane]] - upper[lane] * changes_above[failed[lane]])
        });
    }
}

/// Makes a value for each lane.
#[inline(always)]
fn lanes<T>(value: impl Fn(usize) -> T) -> [T; LANES] {
    std::array::from_fn(value)
}

/// The factor of a feature at the quadrature node `t`, for documents that pass its splits and for
/// those that do not; `fraction` is the fraction of rows that pass them.
#[inline(always)]
fn factors(fraction: f64, t: f64) -> (f64, f64) {
    let unknown = fraction * (1.0 - t);
    (unknown + t, unknown)
}

/// The inverse of each of the two factors.
#[inline(always)]
fn inverse_factors(fraction: f64, t: f64) -> [f64; 2] {
    let (passes, fails) = factors(fraction, t);
    [1.0 / passes, inverse(fails)]
}

/// The factors that a step replaces; 1 if its feature is new on the path.
#[inline(always)]
fn factors_above(step: &PathStep, t: f64) -> (f64, f64) {
    if step.level_above == 0 { (1.0, 1.0) } else { factors(step.fraction_above, t) }
}

/// 1 / factor; 0 for a factor of 0, because all products below it are 0.
#[inline(always)]
fn inverse(factor: f64) -> f64 {
    if factor > 0.0 { 1.0 / factor } else { 0.0 }
}
