//! Routes: the leaf of a tree that a row reaches, by its bins.
//!
//! A tree grown from a sample of the queries changes the scores of all rows. Rows outside the
//! sample are routed by the bytes of the columns that the tree splits on: the bytes of a column lie
//! side by side and rarely miss the cache, while the values of a feature lie one row of the matrix
//! apart. Cost: two look-ups for each row and split on its path.

use rankwright_model::{Child, Split, SplitCondition};

use super::grown::Grown;
use super::partition::{left_bytes, left_bytes_of_set};
use crate::bins::{Binned, CELLS};

/// The routing tables of one tree.
#[derive(Debug)]
pub(crate) struct Routes<'a> {
    nodes: Vec<RoutingNode<'a>>,
}

#[derive(Debug)]
struct RoutingNode<'a> {
    /// The bytes of the split's column, by row.
    column: &'a [u8],
    /// For each value of the byte, 1 if it goes left.
    left: [u8; CELLS],
    /// The right child, then the left child.
    children: [Child; 2],
}

impl<'a> Routes<'a> {
    /// Builds the routes of a tree that was grown on these bins.
    pub(crate) fn new(binned: &'a Binned, grown: &Grown) -> Self {
        // Leaves of the tree that share a value lead to one grown leaf.
        let grown_leaf = |child: Child| match (child, &grown.tree_leaves) {
            (Child::Leaf(end), Some(tree_leaves)) => Child::Leaf(tree_leaves[end as usize].leaf),
            _ => child,
        };
        let node = |split: &Split| {
            let (column, packing) = binned.column_of(split.feature)?;
            let bins = binned.feature(split.feature)?;
            let left = match split.rule {
                SplitCondition::In(set) => {
                    let (set, all) = (grown.sets.get(set as usize)?, bins.categories.as_ref()?);
                    let mut bytes = [0; CELLS];
                    for (byte, category) in bytes.iter_mut().zip(all) {
                        *byte = u8::from(set.contains(*category as f32));
                    }
                    left_bytes_of_set(packing, &bytes)
                }
                SplitCondition::AtMost(threshold) | SplitCondition::NonZeroAtMost(threshold) => {
                    let last = bins.bounds.partition_point(|bound| *bound < threshold);
                    left_bytes(packing, bins, last, split.missing)
                }
            };
            let children = [grown_leaf(split.right), grown_leaf(split.left)];
            Some(RoutingNode { column: binned.column(column), left, children })
        };
        let nodes: Vec<RoutingNode<'_>> = grown.splits.iter().filter_map(node).collect();
        debug_assert_eq!(nodes.len(), grown.splits.len(), "each split is on a feature with bins");
        Self { nodes }
    }

    /// The index of a row's grown leaf.
    pub(crate) fn leaf(&self, row: usize) -> usize {
        let mut number = 0;
        while let Some(node) = self.nodes.get(number) {
            let left = node.left[usize::from(node.column[row])];
            match node.children[usize::from(left) & 1] {
                Child::Split(next) => number = next as usize,
                Child::Leaf(leaf) => return leaf as usize,
            }
        }
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
        let mut value = |at: usize| match at % 7 {
            0 => f32::NAN,
            _ => random.below(if at % columns < 3 { 5 } else { 1000 }) as f32,
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
        assert_eq!(Routes::new(&binned, &Grown::numeric(Vec::new(), Vec::new())).leaf(3), 0);
    }
}
