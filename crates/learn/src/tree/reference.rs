//! The reference implementation of the grower: the same trees from 64-bit floating-point sums.
//!
//! The sums of every leaf are added row by row and feature by feature, with row counts; every split
//! is tried by direct computation. No packing, no stored histograms, no subtraction, no threads. A
//! model trained with the reference implementation must rank as well; on small data the splits are
//! the same.

use std::ops::Range;

use rankwright_model::{Child, Side, Split, SplitCondition};

use super::TreeConfig;
use super::grow::{Grow, GrowInput, GrowTimes, GrownRows};
use super::grown::{GrownLeaf, GrownTree};
use super::routes::Routes;
use super::split::ValueLimits;
use crate::bins::{Binned, PackedFeature};
use crate::error::LearnError;

/// Grows trees by sums over rows, without histograms.
pub(crate) struct ReferenceGrower<'a> {
    binned: &'a Binned,
    params: &'a TreeConfig,
    /// The rows of the last tree, grouped by leaf.
    rows: Vec<u32>,
}

/// Sums of gradients and hessians, and the number of rows.
#[derive(Clone, Copy, Default)]
struct Sums {
    g: f64,
    h: f64,
    rows: u64,
}

impl Sums {
    fn add(self, other: Sums) -> Sums {
        Sums { g: self.g + other.g, h: self.h + other.h, rows: self.rows + other.rows }
    }

    fn subtract(self, other: Sums) -> Sums {
        Sums { g: self.g - other.g, h: self.h - other.h, rows: self.rows - other.rows }
    }
}

/// The best split of a leaf.
struct ReferenceBest {
    gain: f64,
    /// The number of the column of bytes that holds the feature.
    column: usize,
    packing: PackedFeature,
    /// Last bin on the left.
    bin: usize,
    /// The side of missing values.
    missing: Side,
}

/// A leaf while the tree grows.
struct ReferenceLeaf {
    /// The range of the leaf's rows in the grower's rows.
    range: Range<usize>,
    /// The best split; `None` if the leaf is not to be split.
    best: Option<ReferenceBest>,
    /// The split above it and the side of the leaf there; `None` for the root.
    parent: Option<(usize, Side)>,
}

impl<'a> ReferenceGrower<'a> {
    pub(crate) fn new(binned: &'a Binned, params: &'a TreeConfig) -> Self {
        Self { binned, params, rows: (0..binned.rows() as u32).collect() }
    }

    /// The structure score G^2 / (H + l2) of a side; `None` if the side is too small.
    fn structure_score(&self, sums: Sums) -> Option<f64> {
        let is_large_enough =
            sums.rows >= self.params.min_rows && sums.h >= self.params.min_hessian;
        (is_large_enough && sums.h > 0.0).then(|| sums.g * sums.g / (sums.h + self.params.l2))
    }

    /// The best split of the rows in a range; `None` if no split gains enough.
    fn best(&self, range: Range<usize>, input: &GrowInput<'_>) -> Option<ReferenceBest> {
        let rows = &self.rows[range];
        let sums_of = |row: &u32| {
            let row = *row as usize;
            Sums { g: input.gradient[row].into(), h: input.hessian[row].into(), rows: 1 }
        };
        let total = rows.iter().map(sums_of).fold(Sums::default(), Sums::add);
        let unsplit_score = self.structure_score(total)?;
        let mut best: Option<ReferenceBest> = None;
        for (number, column) in self.binned.columns().iter().enumerate() {
            for &packing in &column.features {
                let bins = self.binned.feature(packing.feature);
                let mut cells = vec![Sums::default(); bins.all_bins()];
                for row in rows {
                    let bin = self.binned.bin(*row as usize, number, packing);
                    cells[bin] = cells[bin].add(sums_of(row));
                }
                for missing in [Side::Right, Side::Left] {
                    let mut left = Sums::default();
                    if missing == Side::Left {
                        if !bins.missing {
                            continue;
                        }
                        left = cells[bins.value_bins()];
                    }
                    for (bin, cell) in cells[..bins.value_bins()].iter().enumerate() {
                        left = left.add(*cell);
                        let sides = (
                            self.structure_score(left),
                            self.structure_score(total.subtract(left)),
                        );
                        let (Some(l), Some(r)) = sides else { continue };
                        let gain = (l + r - unsplit_score) / 2.0;
                        let is_lower = |b: &ReferenceBest| packing.feature < b.packing.feature;
                        if best
                            .as_ref()
                            .is_none_or(|b| gain > b.gain || (gain == b.gain && is_lower(b)))
                        {
                            best =
                                Some(ReferenceBest { gain, column: number, packing, bin, missing });
                        }
                    }
                }
            }
        }
        // A gain of less than 1e-10 of the score is rounding error; the fast grower's limit is half
        // of this.
        best.filter(|best| best.gain > self.params.min_gain && best.gain > 1e-10 * unsplit_score)
    }
}

impl GrownRows for ReferenceGrower<'_> {
    fn rows_of(&self, leaf: &GrownLeaf) -> &[u32] {
        &self.rows[leaf.range.clone()]
    }

    fn routes(&self, grown: &GrownTree) -> Routes<'_> {
        Routes::new(self.binned, grown)
    }
}

impl Grow for ReferenceGrower<'_> {
    fn grow(&mut self, input: GrowInput<'_>) -> Result<GrownTree, LearnError> {
        self.rows = match input.sample {
            Some(sample) => sample.to_vec(),
            None => (0..self.binned.rows() as u32).collect(),
        };
        let all = 0..self.rows.len();
        let best = self.best(all.clone(), &input);
        let mut nodes = vec![ReferenceLeaf { range: all, best, parent: None }];
        let mut splits: Vec<Split> = Vec::new();
        while nodes.len() < self.params.leaves {
            let gain =
                |node: &ReferenceLeaf| node.best.as_ref().map_or(f64::NEG_INFINITY, |b| b.gain);
            // The leaf with the largest gain; the first of equals, because `max_by` returns the
            // last one.
            let leaf = (0..nodes.len())
                .rev()
                .max_by(|a, b| gain(&nodes[*a]).total_cmp(&gain(&nodes[*b])))
                .unwrap();
            let Some(best) = nodes[leaf].best.take() else { break };
            let bins = self.binned.feature(best.packing.feature);
            let is_left = |row: &u32| {
                let bin = self.binned.bin(*row as usize, best.column, best.packing);
                if bin == bins.value_bins() { best.missing == Side::Left } else { bin <= best.bin }
            };
            let range = nodes[leaf].range.clone();
            let (left, right): (Vec<u32>, Vec<u32>) =
                self.rows[range.clone()].iter().copied().partition(is_left);
            let middle = range.start + left.len();
            self.rows[range.start..middle].copy_from_slice(&left);
            self.rows[middle..range.end].copy_from_slice(&right);
            let (right_leaf, split) = (nodes.len() as u32, splits.len());
            if let Some((parent, side)) = nodes[leaf].parent {
                match side {
                    Side::Left => splits[parent].left = Child::Split(split as u32),
                    Side::Right => splits[parent].right = Child::Split(split as u32),
                }
            }
            let majority = if left.len() >= right.len() { Side::Left } else { Side::Right };
            splits.push(Split {
                feature: best.packing.feature,
                rule: SplitCondition::AtMost(
                    bins.bounds.get(best.bin).copied().unwrap_or(f32::INFINITY),
                ),
                missing: if bins.missing { best.missing } else { majority },
                left: Child::Leaf(leaf as u32),
                right: Child::Leaf(right_leaf),
                gain: best.gain,
                rows: range.len() as u64,
            });
            for (side, range) in
                [(Side::Left, range.start..middle), (Side::Right, middle..range.end)]
            {
                let best = self.best(range.clone(), &input);
                let node = ReferenceLeaf { range, best, parent: Some((split, side)) };
                match side {
                    Side::Left => nodes[leaf] = node,
                    Side::Right => nodes.push(node),
                }
            }
        }
        let leaf = |node: ReferenceLeaf| GrownLeaf {
            rows: node.range.len() as u64,
            range: node.range,
            buffer: 0,
            limits: ValueLimits::NONE,
        };
        Ok(GrownTree::numeric(splits, nodes.into_iter().map(leaf).collect()))
    }

    fn times(&self) -> GrowTimes {
        GrowTimes::default()
    }

    fn as_rows(&self) -> &dyn GrownRows {
        self
    }
}

mod tests {
    use super::*;
    use crate::boost::{BoostConfig, BoostEngine};
    use crate::collective::SingleProcess;
    use crate::objective::LambdaConfig;
    use crate::session::TrainRequest;
    use rankwright_data::Dataset;
    use rankwright_data::generate::LetorOptions;
    use rankwright_eval::{EvalOptions, MetricSpec, ScoredDataset, SourceKind, evaluate};
    use rankwright_model::{Model, ModelBody, ScoreOptions};

    fn data(queries: usize, seed: u64) -> Dataset {
        LetorOptions { queries, documents: 60, seed }.generate().unwrap()
    }

    fn ndcg(model: &Model, data: &Dataset) -> f64 {
        let scores = model.score(data, ScoreOptions::default()).unwrap();
        let metric = MetricSpec::parse("ndcg@10").unwrap().resolve(SourceKind::Features).unwrap();
        let source = ScoredDataset::new(data, &scores).unwrap();
        evaluate(&source, &[metric], EvalOptions::default()).unwrap().results[0].value
    }

    /// The grower that trains a model.
    #[derive(Clone, Copy, PartialEq)]
    enum Implementation {
        Fast,
        Reference,
    }
    use Implementation::{Fast, Reference};

    fn train(data: &Dataset, params: &BoostConfig, implementation: Implementation) -> Model {
        let lambda = LambdaConfig::for_metric(MetricSpec::parse("ndcg@10").unwrap());
        let mut objective = lambda.check().unwrap();
        let booster = BoostEngine::new(params.clone());
        let request = TrainRequest::new(data);
        if implementation == Fast {
            return booster.train(&mut objective, &request).unwrap().model;
        }
        let binned = Binned::new(data, params.bins, &SingleProcess).unwrap();
        let mut reference = ReferenceGrower::new(&binned, &params.tree);
        booster.train_with(&mut objective, &request, &mut reference, 0.0).unwrap().model
    }

    /// NDCG@10 of models by the fast grower minus that by the reference, as the mean of five data
    /// sets.
    fn difference(leaves: usize, trees: usize) -> f64 {
        let tree = TreeConfig { leaves, min_rows: 5, ..TreeConfig::default() };
        let params = BoostConfig { trees, tree, ..BoostConfig::default() };
        let of_seed = |seed: u64| {
            let (train_on, test_on) = (data(80, seed), data(60, seed + 100));
            let ndcg_of =
                |implementation| ndcg(&train(&train_on, &params, implementation), &test_on);
            ndcg_of(Fast) - ndcg_of(Reference)
        };
        (1..=5).map(of_seed).sum::<f64>() / 5.0
    }

    #[test]
    fn integer_sums_rank_as_well_as_floating_point_ones_at_31_leaves() {
        let difference = difference(31, 12);
        assert!(difference.abs() <= 0.0005, "{difference}");
    }

    #[test]
    fn integer_sums_rank_as_well_as_floating_point_ones_at_255_leaves() {
        let difference = difference(255, 6);
        assert!(difference.abs() <= 0.0005, "{difference}");
    }

    #[test]
    fn on_small_data_the_grower_and_its_reference_grow_the_same_tree() {
        let data = data(12, 9);
        let tree = TreeConfig { leaves: 15, min_rows: 3, l2: 0.5, ..TreeConfig::default() };
        let params = BoostConfig { trees: 1, tree, ..BoostConfig::default() };
        let splits = |model: &Model| match model.body() {
            ModelBody::Trees(trees) => trees.trees()[0].splits().to_vec(),
            _ => Vec::new(),
        };
        let fast = splits(&train(&data, &params, Fast));
        let slow = splits(&train(&data, &params, Reference));
        assert_eq!(fast.len(), slow.len());
        for (fast, slow) in fast.iter().zip(&slow) {
            assert_eq!((fast.feature, fast.rule), (slow.feature, slow.rule));
            assert_eq!((fast.left, fast.right, fast.rows), (slow.left, slow.right, slow.rows));
            assert!((fast.gain - slow.gain).abs() <= 1e-3 * slow.gain, "{fast:?} {slow:?}");
        }
    }
}
