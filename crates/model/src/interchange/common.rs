//! Code shared by the readers and writers of tree formats: assembling trees from single nodes, and
//! the split conditions that other systems support.
//!
//! Other systems number nodes in their own order, or nest them. [`assemble`] walks such nodes from
//! the root with an explicit stack (so that depth does not matter) and numbers splits in the order
//! in which it visits them, so that children come after parents. It visits each node once. If it
//! visits more nodes than there are, some node was reached twice (a cycle, or a node with two
//! parents), which is an error.

use rankwright_data::Absent;
use rankwright_spec::visible;

use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::header::Header;
use crate::interchange::{FileProblem, NodeProblem, UnsupportedPart};
use crate::tree::{ABOUT_ZERO, Child, Leaf, Side, Split, SplitCondition, Tree};

/// Maximum number of trees of a model in another system's format. A tree needs some 100 bytes in
/// memory even without nodes, more than in a file; this limit keeps the memory of reading near the
/// file's size.
pub(super) const MAX_TREES: usize = 1 << 17;

/// All feature numbers of a foreign model (a model in another system's format) are below this.
pub(super) const MAX_FEATURES: usize = 1 << 24;

/// A node of a foreign tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ForeignNode {
    /// A leaf.
    Leaf(Leaf),
    /// A split at a threshold, with two children.
    Split {
        /// Number of the feature, from 0.
        feature: u32,
        /// Values at most this go left.
        threshold: f32,
        /// The side of missing values.
        missing: Side,
        /// Number of the left child, as the file numbers nodes.
        left: u32,
        /// Number of the right child.
        right: u32,
        /// Number of training rows that reached the split.
        rows: u64,
    },
}

/// Makes a tree of at most `max_nodes` nodes, from the node `root` down; `node_at` looks a node up
/// by its number in the file.
pub(super) fn assemble(
    format: &'static str,
    root: u32,
    max_nodes: usize,
    mut node_at: impl FnMut(u32) -> Result<ForeignNode, ModelError>,
) -> Result<Tree, ModelError> {
    let (mut splits, mut leaves): (Vec<Split>, Vec<Leaf>) = (Vec::new(), Vec::new());
    // Nodes to visit, each with its parent's split and the side there.
    let mut pending: Vec<(u32, Option<(usize, Side)>)> = vec![(root, None)];
    while let Some((number, parent)) = pending.pop() {
        if splits.len() + leaves.len() >= max_nodes {
            return Err(node_problem(format, NodeProblem::ReachedTwice { node: number.into() }));
        }
        let child = match node_at(number)? {
            ForeignNode::Leaf(leaf) => {
                leaves.push(leaf);
                Child::Leaf(leaves.len() as u32 - 1)
            }
            ForeignNode::Split { feature, threshold, missing, left, right, rows } => {
                let split_number = splits.len();
                let rule = SplitCondition::AtMost(threshold);
                // The children are not known yet; they are set later.
                let (unset, gain) = (Child::Leaf(0), 0.0);
                let split = Split { feature, rule, missing, left: unset, right: unset, gain, rows };
                splits.push(split);
                pending.push((right, Some((split_number, Side::Right))));
                pending.push((left, Some((split_number, Side::Left))));
                Child::Split(split_number as u32)
            }
        };
        match parent.and_then(|(parent, side)| Some((splits.get_mut(parent)?, side))) {
            Some((parent, Side::Left)) => parent.left = child,
            Some((parent, Side::Right)) => parent.right = child,
            None => {}
        }
    }
    // Growing by doubling may have left half of the capacity unused.
    splits.shrink_to_fit();
    leaves.shrink_to_fit();
    Tree::new(splits, leaves)
}

/// Adds the format and the number of a tree to an error.
pub(super) fn in_tree(format: &'static str, number: usize, error: ModelError) -> ModelError {
    let tree = Some(number);
    match error {
        ModelError::InvalidFile { format, problem, .. } => {
            ModelError::InvalidFile { format, tree, problem }
        }
        ModelError::Unsupported { format, part, .. } => {
            ModelError::Unsupported { format, tree, part }
        }
        other => {
            let problem = FileProblem::Model(Box::new(other));
            ModelError::InvalidFile { format, tree, problem }
        }
    }
}

/// Adds the format and the number of a tree to an error of writing the tree that is `number` in the
/// file. If the base score is written as the first tree of the file, the other trees have another
/// number in the model, and an error of the first one belongs to no tree.
pub(super) fn in_written_tree(
    format: &'static str,
    number: usize,
    has_base_tree: bool,
    error: ModelError,
) -> ModelError {
    match number.checked_sub(usize::from(has_base_tree)) {
        Some(number) => in_tree(format, number, error),
        None => error,
    }
}

/// The error for a problem with the nodes of a tree.
pub(super) fn node_problem(format: &'static str, problem: NodeProblem) -> ModelError {
    ModelError::invalid_file(format, FileProblem::Node(problem))
}

/// The largest f32 that is at most this threshold: for f32 values, `x <= threshold` is `x <=
/// at_most(threshold)`.
pub(super) fn at_most(threshold: f64) -> f32 {
    let near = threshold as f32;
    if f64::from(near) > threshold { near.next_down() } else { near }
}

/// The largest f32 below a threshold `t`: for f32 values, `x < t` is `x <= below(t)`. `None` for
/// -inf.
pub(super) fn below(threshold: f64) -> Option<f32> {
    let floor = at_most(threshold);
    match f64::from(floor) == threshold {
        true if threshold == f64::NEG_INFINITY => None,
        true => Some(floor.next_down()),
        // NaN stays NaN, which the tree rejects.
        false => Some(floor),
    }
}

/// The side to which a threshold sends a 0.
pub(super) fn side_of_zero(threshold: f32) -> Side {
    if 0.0 <= threshold { Side::Left } else { Side::Right }
}

/// The threshold of a split, for formats that have no other conditions; `number` is that of the
/// split, for messages. A condition that counts 0 as missing is equal to a comparison with the
/// threshold alone if missing values and all values that count as 0 go to the same side.
pub(super) fn as_threshold(
    format: &'static str,
    number: usize,
    split: &Split,
) -> Result<f32, ModelError> {
    let refuse = |part| Err(ModelError::unsupported(format, part));
    match split.rule {
        SplitCondition::AtMost(threshold) => Ok(threshold),
        SplitCondition::NonZeroAtMost(threshold)
            if split.missing == side_of_zero(threshold)
                && !(-ABOUT_ZERO..ABOUT_ZERO).contains(&threshold) =>
        {
            Ok(threshold)
        }
        SplitCondition::NonZeroAtMost(_) => {
            refuse(UnsupportedPart::ZeroAsMissing { split: number })
        }
        SplitCondition::In(_) => refuse(UnsupportedPart::Categories { split: number }),
    }
}

/// The numbers of the first tree and of its first split (from 0) whose side of missing values
/// matters and is not the side of a 0: a system that counts missing values as 0 would give other
/// scores for such a model. `None` if there is no such split.
///
/// The side matters if the feature had missing values in training. If it had none, our own learners
/// choose the side with more rows, so a split that sends missing values to the side with fewer rows
/// shows that its feature had some. In models of other or unknown learners, and in those that take
/// absent values as missing, the side always counts as one that matters.
pub(super) fn missing_matters(header: &Header, ensemble: &Ensemble) -> Option<(usize, usize)> {
    let unknown = header.learner.is_empty() || header.absent == Absent::Missing;
    let mut had_missing = vec![unknown; ensemble.features()];
    // Every split, with the number of its tree, the tree, and its own number.
    let splits = || {
        let trees = ensemble.trees().iter().enumerate();
        trees.flat_map(|(tree_number, tree)| {
            let splits = tree.splits().iter().enumerate();
            splits.map(move |(number, split)| (tree_number, tree, number, split))
        })
    };
    for (_, tree, _, split) in splits() {
        let rows = |child| match child {
            Child::Split(number) => tree.split(number).rows,
            Child::Leaf(number) => tree.leaf(number).rows,
        };
        let majority = if rows(split.left) >= rows(split.right) { Side::Left } else { Side::Right };
        if let Some(had_missing) = had_missing.get_mut(split.feature as usize) {
            *had_missing |= split.missing != majority;
        }
    }
    let mut mattering = splits().filter(|(_, _, _, split)| {
        let zero_side = split.rule.threshold().map(side_of_zero);
        zero_side != Some(split.missing) && had_missing.get(split.feature as usize) == Some(&true)
    });
    mattering.next().map(|(tree_number, _, number, _)| (tree_number, number))
}

/// A number in Java's notation without the letter of its type at the end (`0.5f` becomes `0.5`).
pub(super) fn java_number(text: &str) -> &str {
    let text = text.trim();
    let bare = text.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(text);
    // A text that ends in one of these letters without a digit before is a word, such as `inf`.
    let is_number = bare.ends_with(|c: char| c.is_ascii_digit() || c == '.');
    if is_number { bare } else { text }
}

/// A number in a form that Java reads.
pub(super) fn for_java(value: impl Into<f64> + std::fmt::Debug + Copy) -> String {
    match value.into() {
        f64::INFINITY => "Infinity".into(),
        f64::NEG_INFINITY => "-Infinity".into(),
        _ => format!("{value:?}"),
    }
}

/// A text as a JSON string, without control characters.
pub(super) fn json_string(text: &str) -> String {
    visible::json(&serde_json::Value::from(text).to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(value: f64) -> ForeignNode {
        ForeignNode::Leaf(Leaf { value, rows: 0 })
    }

    fn split(left: u32, right: u32) -> ForeignNode {
        let (feature, threshold, missing, rows) = (0, 0.5, Side::Left, 3);
        ForeignNode::Split { feature, threshold, missing, left, right, rows }
    }

    /// The tree of nodes that are numbered by their index, with the root first.
    fn assembled(nodes: &[ForeignNode]) -> Result<Tree, ModelError> {
        assemble("Test", 0, nodes.len(), |number| {
            let node = nodes.get(number as usize).copied();
            let problem = NodeProblem::NoSuchNode { node: number.into() };
            node.ok_or_else(|| node_problem("Test", problem))
        })
    }

    #[test]
    fn nodes_in_any_order_become_a_tree() {
        let tree = assembled(&[split(3, 1), leaf(1.0), leaf(2.0), split(2, 4), leaf(4.0)]).unwrap();
        assert_eq!((tree.splits().len(), tree.depth()), (2, 2));
        assert_eq!((tree.value(&[0.0]), tree.value(&[1.0])), (2.0, 1.0));
        assert_eq!(assembled(&[leaf(7.0)]).unwrap().value(&[]), 7.0);
    }

    #[test]
    fn a_cycle_or_a_node_with_two_parents_is_an_error_and_a_long_chain_is_none() {
        for nodes in [
            vec![split(0, 0)],
            vec![split(1, 1), leaf(0.0)],
            vec![split(1, 2), split(0, 2), leaf(0.0)],
            vec![split(1, 9), leaf(0.0)],
        ] {
            assert!(assembled(&nodes).is_err(), "{nodes:?}");
        }
        // A chain: even numbers are splits, odd numbers and the last one leaves.
        let depth: u32 = 300_000;
        let node = |number: u32| match number {
            last if last == 2 * depth => Ok(leaf(1.0)),
            odd if odd % 2 == 1 => Ok(leaf(0.0)),
            even => Ok(split(even + 1, even + 2)),
        };
        assert_eq!(assemble("Test", 0, usize::MAX, node).unwrap().depth(), depth as usize);
    }

    #[test]
    fn a_threshold_between_two_f32_values_becomes_the_lower_one() {
        for value in [0.1_f32, -0.1, 0.0, 1e-45, f32::MAX, f32::MIN] {
            let exact = f64::from(value);
            assert_eq!(at_most(exact), value);
            assert_eq!(below(exact), Some(value.next_down()));
            let above = exact.next_up();
            assert_eq!((at_most(above), below(above)), (value, Some(value)));
        }
        assert_eq!((at_most(1e300), at_most(-1e300)), (f32::MAX, f32::NEG_INFINITY));
        assert_eq!((below(f64::NEG_INFINITY), below(f64::INFINITY)), (None, Some(f32::MAX)));
        assert!(below(f64::NAN).unwrap().is_nan());
    }

    #[test]
    fn missing_values_matter_if_the_learner_had_some() {
        use crate::interchange::test_support::{names, small_tree};
        // A tree with these rows at its leaves, which sends missing values right.
        let matters = |header: &Header, [a, b, c]: [u64; 3]| {
            let tree = small_tree([Side::Right, Side::Right]);
            let mut splits = tree.splits().to_vec();
            (splits[0].rows, splits[1].rows) = (a + b + c, b + c);
            let leaf = |(leaf, rows): (&Leaf, u64)| Leaf { value: leaf.value, rows };
            let leaves = tree.leaves().iter().zip([a, b, c]).map(leaf).collect();
            let trees = vec![Tree::new(splits, leaves).unwrap()];
            missing_matters(header, &Ensemble::new(0.0, trees).unwrap())
        };
        let mut header = Header::new(names(), Absent::Zero);
        // 0 goes left at the first split and right at the second; missing values go right.
        let first = Some((0, 0));
        assert_eq!(matters(&header, [1, 2, 3]), first, "the learner is unknown");
        header.learner = "lambdamart()".into();
        assert_eq!(matters(&header, [1, 2, 3]), None, "missing values go with the majority");
        assert_eq!(matters(&header, [9, 2, 3]), first, "missing values go with the minority");
        let only_second = "only the second feature had some, and sends them like a 0";
        assert_eq!(matters(&header, [1, 3, 2]), None, "{only_second}");
        header.absent = Absent::Missing;
        assert_eq!(matters(&header, [1, 2, 3]), first, "absent values are missing");
        let as_zeros = Ensemble::new(0.0, vec![small_tree([Side::Left, Side::Right])]).unwrap();
        assert_eq!(missing_matters(&header, &as_zeros), None, "missing values go like a 0");
    }

    #[test]
    fn numbers_are_read_and_written_as_java_does() {
        for (text, value) in [
            ("0.5f", 0.5_f64),
            (" 1F ", 1.0),
            ("10.d", 10.0),
            ("1e-7", 1e-7),
            ("-Infinity", f64::NEG_INFINITY),
        ] {
            assert_eq!(java_number(text).parse::<f64>().unwrap(), value);
            assert_eq!(for_java(value).parse::<f64>().unwrap(), value);
        }
        assert_eq!((java_number("inf"), java_number("f")), ("inf", "f"));
        assert_eq!((for_java(0.1_f32), for_java(f32::INFINITY)), ("0.1".into(), "Infinity".into()));
    }
}
