//! Routes: the leaf of a tree that a row reaches, by its bins.
//!
//! A tree grown from a sample of the queries changes the scores of all rows. Rows outside the
//! sample are routed by the bytes that hold their bins, of the columns that the tree splits on: the
//! bytes of a column lie side by side and rarely miss the cache, while the values of a feature lie
//! one row of the matrix apart. Cost: two look-ups for each row and split on its path.

use rankwright_model::{Child, Split, SplitCondition};

use super::grown::GrownTree;
use super::partition::{left_bytes, left_bytes_of_set};
use crate::bins::{Binned, CELLS};

/// The routing tables of one tree.
#[derive(Debug)]
pub(crate) struct Routes<'a> {
    /// One node for each split, in the order of the splits; the first is the root.
    nodes: Vec<RoutingNode<'a>>,
}

/// One split as a look-up table.
#[derive(Debug)]
struct RoutingNode<'a> {
    /// The byte of each row in the split's column.
    column: &'a [u8],
    /// For each value of the byte, 1 if rows with this byte go left, else 0.
    goes_left: [u8; CELLS],
    /// The right child, then the left child: indexed by `goes_left`.
    children: [Child; 2],
}

impl<'a> Routes<'a> {
    /// Builds the routes of a tree that was grown on these bins.
    pub(crate) fn new(binned: &'a Binned, grown: &GrownTree) -> Self {
        // Leaves of the finished tree that share a value are one grown leaf.
        let grown_leaf = |child: Child| match (child, &grown.tree_leaves) {
            (Child::Leaf(tree_leaf), Some(tree_leaves)) => {
                Child::Leaf(tree_leaves[tree_leaf as usize].grown_leaf)
            }
            _ => child,
        };
        let node = |split: &Split| {
            let (column, packing) = binned.column_of(split.feature)?;
            let bins = binned.feature(split.feature);
            let goes_left = match split.rule {
                SplitCondition::In(set) => {
                    let set = grown.sets.get(set as usize)?;
                    let mut bin_set = [0; CELLS];
                    for (in_set, category) in bin_set.iter_mut().zip(bins.categories.as_ref()?) {
                        *in_set = u8::from(set.contains(*category as f32));
                    }
                    left_bytes_of_set(packing, &bin_set)
                }
                SplitCondition::AtMost(threshold) | SplitCondition::NonZeroAtMost(threshold) => {
                    // The threshold is the bound of the last bin on the left.
                    let last_left = bins.bounds.partition_point(|bound| *bound < threshold);
                    left_bytes(packing, bins, last_left, split.missing)
                }
            };
            let children = [grown_leaf(split.right), grown_leaf(split.left)];
            Some(RoutingNode { column: binned.column(column), goes_left, children })
        };
        let nodes: Vec<RoutingNode<'_>> = grown.splits.iter().filter_map(node).collect();
        assert_eq!(nodes.len(), grown.splits.len(), "each split is on a feature with bins");
        Self { nodes }
    }

    /// The index of a row's grown leaf.
    pub(crate) fn leaf(&self, row: usize) -> usize {
        let mut split = 0;
        while let Some(node) = self.nodes.get(split) {
            let goes_left = node.goes_left[usize::from(node.column[row])];
            match node.children[usize::from(goes_left) & 1] {
                Child::Split(next) => split = next as usize,
                Child::Leaf(leaf) => return leaf as usize,
            }
        }
        // A tree without splits is one leaf.
        debug_assert!(self.nodes.is_empty(), "every child of a split exists");
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::SingleProcess;
    use crate::simd::Simd;
    use crate::tree::grow::{Grow, GrowInput, Grower, GrownRows};
    use crate::tree::{Scales, TreeConfig};
    use rankwright_data::{Dataset, Random};

    #[test]
    fn every_row_is_routed_to_the_leaf_that_holds_it() {
        let mut random = Random::new(8, 0);
        let (rows, columns) = (1500, 6);
        // Every seventh value is missing; half of the features have 5 distinct values.
        let mut value = |index: usize| match index % 7 {
            0 => f32::NAN,
            _ => random.below(if index % columns < 3 { 5 } else { 1000 }) as f32,
        };
        let values: Vec<f32> = (0..rows * columns).map(&mut value).collect();
        let labels = (0..rows).map(|_| random.below(5));
        let data = Dataset::from_dense(values, columns, labels, vec!["q"; rows]).unwrap();
        let gradient: Vec<f32> = data.labels().iter().map(|label| 0.5 - *label as f32).collect();
        let hessian = vec![1.0; gradient.len()];
        let binned = Binned::new(&data, 255, &SingleProcess).unwrap();
        let scales = Scales::of(&gradient, &hessian, &SingleProcess).unwrap();
        let params = TreeConfig { leaves: 40, ..TreeConfig::default() };
        let mut grower = Grower::new(&binned, &params, &SingleProcess, Simd::Auto);
        let (gradient, hessian, scales) = (&gradient[..], &hessian[..], &scales);
        let input = GrowInput { gradient, hessian, scales, sample: None, features: None };
        let grown = grower.grow(input).unwrap();
        let routes = grower.routes(&grown);
        for (number, leaf) in grown.leaves.iter().enumerate() {
            assert!(grower.rows_of(leaf).iter().all(|row| routes.leaf(*row as usize) == number));
        }
        assert_eq!(Routes::new(&binned, &GrownTree::numeric(Vec::new(), Vec::new())).leaf(3), 0);
    }
}
