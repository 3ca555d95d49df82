//! The reference implementation of oblivious trees: every split test is evaluated on every row of
//! every leaf, by floating-point sums. A grown leaf is a group of rows with a value of its own; it
//! may stand at several positions, which are the nodes of the last level of the full tree.

use proptest::prelude::*;
use rankwright_data::{Dataset, Random};
use rankwright_model::{Child, Side, Split, SplitCondition};

use crate::bins::Binned;
use crate::collective::SingleProcess;
use crate::simd::Simd;
use crate::tree::grow::{Grow, GrowInput, Grower, GrownRows};
use crate::tree::{Direction, GrownLeaf, GrownTree, Growth, Scales, TreeConfig};

/// A split test of the reference implementation.
#[derive(Debug, Clone, Copy)]
struct ReferenceSplit {
    feature: u32,
    /// Last bin on the left.
    bin: usize,
    /// The side of missing values.
    missing: Side,
    /// The increase of the structure score over all leaves: twice the gain.
    increase: f64,
}

/// The levels that the reference implementation has grown.
struct ReferenceLevels<'a> {
    data: &'a Dataset,
    binned: &'a Binned,
    params: &'a TreeConfig,
    gradient: &'a [f32],
    hessian: &'a [f32],
    /// The rows of each grown leaf.
    nodes: Vec<Vec<usize>>,
    /// The index of the grown leaf at each position of the last level, left to right.
    positions: Vec<usize>,
    levels: Vec<ReferenceSplit>,
}

impl ReferenceLevels<'_> {
    fn goes_left(&self, test: ReferenceSplit, row: usize) -> bool {
        let bins = self.binned.feature(test.feature);
        let value = self.data.matrix().get(row, test.feature as usize);
        match value.is_nan() {
            true => test.missing == Side::Left,
            false => bins.bin(value) <= test.bin,
        }
    }

    /// The structure score G^2 / (H + l2) of some rows; `None` if a leaf must not have so few rows
    /// or so small a hessian.
    fn structure_score(&self, rows: &[usize]) -> Option<f64> {
        let g: f64 = rows.iter().map(|row| f64::from(self.gradient[*row])).sum();
        let h: f64 = rows.iter().map(|row| f64::from(self.hessian[*row])).sum();
        let enough =
            rows.len() as u64 >= self.params.min_rows && h >= self.params.min_hessian && h > 0.0;
        enough.then(|| g * g / (h + self.params.l2))
    }

    /// The rows that a test sends left, and those that it sends right.
    fn sides(&self, test: ReferenceSplit, rows: &[usize]) -> (Vec<usize>, Vec<usize>) {
        rows.iter().copied().partition(|row| self.goes_left(test, *row))
    }

    /// The increase of the structure score by a test in a leaf; `None` if the leaf is not split.
    fn increase(&self, test: ReferenceSplit, rows: &[usize]) -> Option<f64> {
        let unsplit_score = self.structure_score(rows)?;
        let (left, right) = self.sides(test, rows);
        let split_score = self.structure_score(&left)? + self.structure_score(&right)?;
        let increase = split_score - unsplit_score;
        // Smaller increases are rounding errors, as in the fast implementation.
        (increase > 1e-10 * unsplit_score).then_some(increase)
    }

    /// The best test for the next level; `None` if no test gains enough.
    fn best(&self) -> Option<ReferenceSplit> {
        let mut best: Option<ReferenceSplit> = None;
        for feature in 0..self.data.columns() as u32 {
            let bins = self.binned.feature(feature);
            for missing in [Side::Right, Side::Left] {
                if missing == Side::Left && !bins.missing {
                    continue;
                }
                for bin in 0..bins.value_bins() {
                    let test = ReferenceSplit { feature, bin, missing, increase: 0.0 };
                    let increases = self.nodes.iter().filter_map(|rows| self.increase(test, rows));
                    let increase: f64 = increases.sum();
                    if increase > best.map_or(0.0, |best| best.increase) {
                        best = Some(ReferenceSplit { increase, ..test });
                    }
                }
            }
        }
        best.filter(|best| best.increase / 2.0 > self.params.min_gain)
    }

    fn grow(&mut self) {
        for _ in 0..self.params.levels() {
            let Some(test) = self.best() else { break };
            self.levels.push(test);
            let mut right_of: Vec<Option<usize>> = vec![None; self.nodes.len()];
            for (leaf, right_of) in right_of.iter_mut().enumerate() {
                if self.increase(test, &self.nodes[leaf]).is_some() {
                    let (left, right) = self.sides(test, &self.nodes[leaf]);
                    *right_of = Some(self.nodes.len());
                    self.nodes[leaf] = left;
                    self.nodes.push(right);
                }
            }
            // A leaf that was not split stands at both positions.
            let children = |leaf: &usize| [*leaf, right_of[*leaf].unwrap_or(*leaf)];
            self.positions = self.positions.iter().flat_map(children).collect();
        }
    }
}

/// Data of one query, with derivatives that are small integers: floating-point sums are exact.
struct ReferenceData {
    data: Dataset,
    gradient: Vec<f32>,
    hessian: Vec<f32>,
}

/// Random data: features 0 and 1 have 4 distinct values, the others 40; feature 1 has missing ones.
fn random_data(rows: usize, columns: usize, seed: u64) -> ReferenceData {
    let mut random = Random::new(seed, 0);
    let value = |random: &mut Random, feature: usize| match random.below(12) {
        0 if feature == 1 => f32::NAN,
        _ => random.below(if feature < 2 { 4 } else { 40 }) as f32,
    };
    let values: Vec<f32> =
        (0..rows * columns).map(|index| value(&mut random, index % columns)).collect();
    let gradient = (0..rows).map(|_| random.below(17) as f32 - 8.0).collect();
    let hessian = (0..rows).map(|_| 1.0 + random.below(4) as f32).collect();
    let data = Dataset::from_dense(values, columns, vec![0; rows], vec!["q"; rows]).unwrap();
    ReferenceData { data, gradient, hessian }
}

/// Parameters of an oblivious tree.
fn params(levels: usize, min_rows: u64, l2: f64) -> TreeConfig {
    let growth = Growth::Oblivious;
    TreeConfig { leaves: 1 << levels, min_rows, l2, growth, ..TreeConfig::default() }
}

/// The tree of the fast implementation and the rows of its grown leaves; checks that routes lead
/// each row to its leaf.
fn grown(
    sample: &ReferenceData,
    binned: &Binned,
    params: &TreeConfig,
) -> (GrownTree, Vec<Vec<usize>>) {
    let (gradient, hessian) = (&sample.gradient[..], &sample.hessian[..]);
    let scales = Scales::of(gradient, hessian, &SingleProcess).unwrap();
    let mut grower = Grower::new(binned, params, &SingleProcess, Simd::Auto);
    let input = GrowInput { gradient, hessian, scales: &scales, sample: None, features: None };
    let grown = grower.grow(input).unwrap();
    let rows_of = |leaf| grower.rows_of(leaf).iter().map(|row| *row as usize).collect();
    let rows: Vec<Vec<usize>> = grown.leaves.iter().map(rows_of).collect();
    let routes = grower.routes(&grown);
    for (leaf, rows) in rows.iter().enumerate() {
        assert!(rows.iter().all(|row| routes.leaf(*row) == leaf));
    }
    (grown, rows)
}

/// Asserts that splits form a full tree, stored level by level, with one split test for each level.
fn assert_full(splits: &[Split], leaves: usize) {
    assert_eq!(splits.len() + 1, leaves);
    for (number, split) in splits.iter().enumerate() {
        let level = (number + 1).ilog2();
        let first_of_level = &splits[(1 << level) - 1];
        assert_eq!((split.feature, split.rule), (first_of_level.feature, first_of_level.rule));
        assert_eq!(split.missing, first_of_level.missing);
        let child = |side: usize| match 2 * number + 1 + side {
            child if child < splits.len() => Child::Split(child as u32),
            child => Child::Leaf((child - splits.len()) as u32),
        };
        assert_eq!((split.left, split.right), (child(0), child(1)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn trees_are_those_of_the_reference(
        rows in 1_usize..80, columns in 1_usize..5, seed: u64, levels in 0_usize..5,
        min_rows in 0_u64..12, l2 in prop_oneof![Just(0.0), Just(2.0)],
    ) {
        let sample = random_data(rows, columns, seed);
        let binned = Binned::new(&sample.data, 255, &SingleProcess).unwrap();
        let params = params(levels, min_rows, l2);
        let (grown, leaves) = grown(&sample, &binned, &params);
        let mut reference = ReferenceLevels {
            data: &sample.data,
            binned: &binned,
            params: &params,
            gradient: &sample.gradient,
            hessian: &sample.hessian,
            nodes: vec![(0..rows).collect()],
            positions: vec![0],
            levels: Vec::new(),
        };
        reference.grow();
        prop_assert_eq!(&leaves, &reference.nodes);
        let tree_leaves = grown.tree_leaves.as_ref().unwrap();
        let positions: Vec<usize> =
            tree_leaves.iter().map(|tree_leaf| tree_leaf.grown_leaf as usize).collect();
        prop_assert_eq!(&positions, &reference.positions);
        assert_full(&grown.splits, tree_leaves.len());
        for (level, test) in reference.levels.iter().enumerate() {
            let splits = &grown.splits[(1 << level) - 1..(2 << level) - 1];
            let bins = binned.feature(test.feature);
            let bound = bins.bounds.get(test.bin).copied().unwrap_or(f32::INFINITY);
            let expected = (test.feature, SplitCondition::AtMost(bound));
            prop_assert_eq!((splits[0].feature, splits[0].rule), expected);
            prop_assert!(!bins.missing || splits[0].missing == test.missing);
            // The gains of the splits of a level add up to the gain of its test.
            let gain: f64 = splits.iter().map(|split| split.gain).sum();
            let expected = test.increase / 2.0;
            prop_assert!((gain - expected).abs() <= 1e-9 * gain, "{} {}", gain, expected);
        }
        // Every leaf of the model has the number of rows that reach it.
        let values = vec![0.0; leaves.len()];
        let tree = grown.tree(&values).unwrap();
        let mut counts = vec![0_u64; tree.leaves().len()];
        (0..rows).for_each(|row| counts[tree.leaf_of(sample.data.matrix().row(row))] += 1);
        let stored: Vec<u64> = tree.leaves().iter().map(|leaf| leaf.rows).collect();
        prop_assert_eq!(stored, counts);
        let fewest_rows = leaves.iter().map(Vec::len).min().unwrap_or(0) as u64;
        prop_assert!(leaves.len() == 1 || fewest_rows >= min_rows);
    }
}

#[test]
fn the_search_with_penalties_gives_the_tree_of_the_search_without() {
    // An l1 penalty this small has no effect, but selects the search that handles penalties.
    let sample = random_data(300, 4, 5);
    let binned = Binned::new(&sample.data, 255, &SingleProcess).unwrap();
    let (unpenalised, _) = grown(&sample, &binned, &params(4, 3, 1.0));
    let tiny_l1 = TreeConfig { l1: 1e-300, ..params(4, 3, 1.0) };
    let (penalised, _) = grown(&sample, &binned, &tiny_l1);
    assert_eq!(unpenalised.splits, penalised.splits);
}

#[test]
fn the_score_never_falls_with_a_feature_that_is_constrained_to_rise() {
    let sample = random_data(400, 3, 9);
    let binned = Binned::new(&sample.data, 255, &SingleProcess).unwrap();
    let monotone = vec![(2, Direction::Rising)];
    let params = TreeConfig { monotone, ..params(4, 5, 0.0) };
    let (grown, rows) = grown(&sample, &binned, &params);
    let newton_step = |rows: &Vec<usize>| {
        let sum = |values: &[f32]| rows.iter().map(|row| f64::from(values[*row])).sum::<f64>();
        -sum(&sample.gradient) / sum(&sample.hessian)
    };
    let limited = rows.iter().zip(&grown.leaves);
    let value = |(rows, leaf): (&Vec<usize>, &GrownLeaf)| {
        newton_step(rows).clamp(leaf.limits.low, leaf.limits.high)
    };
    let values: Vec<f64> = limited.map(value).collect();
    let tree = grown.tree(&values).unwrap();
    assert!(tree.splits().iter().any(|split| split.feature == 2));
    for row in 0..400 {
        // The score of the row with every value of feature 2.
        let mut row = sample.data.matrix().row(row).to_vec();
        let mut last = f64::NEG_INFINITY;
        for value in 0..41 {
            row[2] = value as f32;
            let score = tree.value(&row);
            assert!(score >= last - 1e-12);
            last = score;
        }
    }
}
