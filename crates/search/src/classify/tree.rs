//! A decision tree (CART: Breiman, Friedman, Olshen, Stone 1984) with Gini's impurity.
//!
//! A split sends a vector to the left if one of its features is at most a threshold. The impurity
//! of documents with the class shares p is G = 1 - sum of p²; the best split has the lowest mean of
//! both sides' impurities, weighted by their documents. Thresholds are halfway between neighbouring
//! values; a feature that a vector does not have is 0. Of equally good splits the lowest feature
//! wins, then the lowest threshold. As in scikit-learn, a node of several classes is also split if
//! no split lowers the impurity, since a later one may (as for the exclusive or of two features).
//!
//! The score of a class is its share of the training documents in the leaf. Growth ends in leaves
//! of one class, at the given depth, or where one side would have fewer than `min_rows` documents.
//! Cost: the terms of all documents are sorted once for each level of the tree.

use rankwright_data::Random;

use super::{ClassNames, ClassifyError, SparseVector, TrainedClassifier};

/// Limits on the growth of a decision tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrowthLimits {
    /// Maximum number of splits above a leaf; `None` for no limit.
    pub depth: Option<u32>,
    /// Minimum number of training documents in a leaf.
    pub min_rows: u32,
}

impl Default for GrowthLimits {
    fn default() -> Self {
        GrowthLimits { depth: None, min_rows: 1 }
    }
}

/// A trained decision tree.
///
/// ```
/// use rankwright_search::classify::{DecisionTree, GrowthLimits, SparseVector, TrainedClassifier};
///
/// let points = [[1.0, 5.0], [2.0, 1.0], [3.0, 9.0]].map(|p| SparseVector::dense(&p));
/// let points = points.into_iter().collect::<Result<Vec<_>, _>>()?;
/// let tree = DecisionTree::fit(&points, &["low", "low", "high"], GrowthLimits::default())?;
/// assert_eq!(tree.leaves(), 2);
/// assert_eq!(tree.decide(&SparseVector::dense(&[2.6, 0.0])?).class, "high");
/// # Ok::<(), rankwright_search::classify::ClassifyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct DecisionTree {
    classes: Vec<String>,
    nodes: TreeNodes,
}

impl DecisionTree {
    /// Grows a tree on labelled vectors; `classes` has the class of each vector.
    pub fn fit<S: AsRef<str>>(
        documents: &[SparseVector],
        classes: &[S],
        limits: GrowthLimits,
    ) -> Result<DecisionTree, ClassifyError> {
        let ClassNames { names, numbers } = ClassNames::new(documents.len(), classes)?;
        let labelled = LabelledRows { documents, numbers: &numbers, classes: names.len() };
        let rows = (0..documents.len() as u32).collect();
        let nodes = labelled.grow(rows, limits, None);
        Ok(DecisionTree { classes: names, nodes })
    }

    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        self.nodes.leaves()
    }
}

impl TrainedClassifier for DecisionTree {
    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn class_scores(&self, vector: &SparseVector) -> Vec<f64> {
        self.nodes.leaf(vector).to_vec()
    }
}

/// A node of a tree; children come after their parents.
#[derive(Debug, Clone)]
enum ClassNode {
    Split {
        term: u32,
        /// Values up to this go to the left.
        threshold: f64,
        left: usize,
        right: usize,
    },
    /// The share of each class.
    Leaf(Vec<f64>),
}

/// The nodes of a tree; the first is the root.
#[derive(Debug, Clone)]
pub(super) struct TreeNodes(Vec<ClassNode>);

impl TreeNodes {
    /// The class shares of the leaf that a vector reaches.
    pub(super) fn leaf(&self, vector: &SparseVector) -> &[f64] {
        let mut node = 0;
        loop {
            match &self.0[node] {
                ClassNode::Leaf(shares) => return shares,
                ClassNode::Split { term, threshold, left, right } => {
                    let goes_left = value_of(vector, *term) <= *threshold;
                    node = if goes_left { *left } else { *right };
                }
            }
        }
    }

    fn leaves(&self) -> usize {
        self.0.iter().filter(|node| matches!(node, ClassNode::Leaf(_))).count()
    }
}

/// The value of a feature, 0 if the vector does not have it.
fn value_of(vector: &SparseVector, term: u32) -> f64 {
    let terms = vector.terms();
    let found = terms.binary_search_by_key(&term, |(term, _)| *term);
    found.map_or(0.0, |index| f64::from(terms[index].1))
}

/// Features that are drawn for each split.
pub(super) struct DrawnFeatures {
    /// Number of features for a split.
    pub(super) count: usize,
    pub(super) random: Random,
}

/// Labelled vectors that trees are grown on.
#[derive(Clone, Copy)]
pub(super) struct LabelledRows<'a> {
    pub(super) documents: &'a [SparseVector],
    /// The number of the class of each document.
    pub(super) numbers: &'a [u32],
    /// Number of classes.
    pub(super) classes: usize,
}

/// A term of a document in a node.
#[derive(Debug, Clone, Copy)]
struct TermEntry {
    term: u32,
    value: f32,
    class: u32,
}

/// A possible split.
#[derive(Debug, Clone, Copy)]
struct ClassSplit {
    /// The sum over both sides of (sum of squared class counts) / documents; high if pure.
    purity: f64,
    term: u32,
    threshold: f64,
}

impl LabelledRows<'_> {
    /// Grows a tree on rows, which may occur several times. Each split chooses among all features,
    /// or among those that are drawn.
    pub(super) fn grow(
        &self,
        rows: Vec<u32>,
        limits: GrowthLimits,
        mut drawn: Option<DrawnFeatures>,
    ) -> TreeNodes {
        let mut nodes = vec![ClassNode::Leaf(Vec::new())];
        let mut open = vec![(0, rows, 0)];
        while let Some((node, rows, depth)) = open.pop() {
            let counts = self.counts(&rows);
            let may_split = limits.depth.is_none_or(|most| depth < most)
                && counts.iter().filter(|count| **count > 0).count() > 1;
            let split = match may_split {
                true => self.best_split(&rows, &counts, limits.min_rows, drawn.as_mut()),
                false => None,
            };
            let Some(ClassSplit { term, threshold, .. }) = split else {
                let all = rows.len() as f64;
                let shares = counts.iter().map(|count| f64::from(*count) / all);
                nodes[node] = ClassNode::Leaf(shares.collect());
                continue;
            };
            let goes_left = |row: &u32| value_of(&self.documents[*row as usize], term) <= threshold;
            let (left_rows, right_rows): (Vec<u32>, Vec<u32>) =
                rows.into_iter().partition(goes_left);
            let (left, right) = (nodes.len(), nodes.len() + 1);
            nodes.extend([ClassNode::Leaf(Vec::new()), ClassNode::Leaf(Vec::new())]);
            nodes[node] = ClassNode::Split { term, threshold, left, right };
            open.push((right, right_rows, depth + 1));
            open.push((left, left_rows, depth + 1));
        }
        TreeNodes(nodes)
    }

    /// Number of rows of each class.
    fn counts(&self, rows: &[u32]) -> Vec<u32> {
        let mut counts = vec![0; self.classes];
        rows.iter().for_each(|row| counts[self.numbers[*row as usize] as usize] += 1);
        counts
    }

    /// The best split of rows; `None` if no feature varies among them, or all splits leave too few
    /// rows on a side.
    fn best_split(
        &self,
        rows: &[u32],
        counts: &[u32],
        min_rows: u32,
        drawn: Option<&mut DrawnFeatures>,
    ) -> Option<ClassSplit> {
        let entries = self.entries(rows);
        let Some(drawn) = drawn else { return best_of_entries(entries, counts, min_rows) };
        let mut terms: Vec<u32> = entries.iter().map(|entry| entry.term).collect();
        terms.sort_unstable();
        terms.dedup();
        drawn.random.shuffle(&mut terms);
        // If none of the drawn features allows a split, as many others are tried.
        terms.chunks_mut(drawn.count.max(1)).find_map(|chosen| {
            chosen.sort_unstable();
            let is_chosen = |entry: &&TermEntry| chosen.binary_search(&entry.term).is_ok();
            let entries = entries.iter().filter(is_chosen).copied().collect();
            best_of_entries(entries, counts, min_rows)
        })
    }

    /// The terms of rows.
    fn entries(&self, rows: &[u32]) -> Vec<TermEntry> {
        let mut entries = Vec::new();
        for &row in rows {
            let class = self.numbers[row as usize];
            let terms = self.documents[row as usize].terms().iter();
            entries.extend(terms.map(|&(term, value)| TermEntry { term, value, class }));
        }
        entries
    }
}

/// The best split by the features of these entries, of documents with these counts of classes.
fn best_of_entries(
    mut entries: Vec<TermEntry>,
    counts: &[u32],
    min_rows: u32,
) -> Option<ClassSplit> {
    entries.sort_unstable_by(|a, b| a.term.cmp(&b.term).then(a.value.total_cmp(&b.value)));
    let mut best: Option<ClassSplit> = None;
    for group in entries.chunk_by(|a, b| a.term == b.term) {
        let found = SplitScan::new(counts, min_rows).run(group);
        best = match (best, found) {
            (Some(best), Some(found)) if !found.is_better(&best) => Some(best),
            (best, found) => found.or(best),
        };
    }
    best
}

impl ClassSplit {
    fn is_better(&self, other: &ClassSplit) -> bool {
        match self.purity.total_cmp(&other.purity) {
            std::cmp::Ordering::Equal => self.term < other.term,
            order => order.is_gt(),
        }
    }
}

/// A pass over the values of one feature in rising order.
struct SplitScan {
    /// Number of documents of each class on the left.
    left: Vec<u32>,
    /// Number of documents of each class on the right.
    right: Vec<u32>,
    min_rows: u32,
    /// The last value that was moved to the left.
    last: Option<f32>,
    /// The purity and the threshold of the best split so far.
    best: Option<(f64, f64)>,
}

impl SplitScan {
    /// All documents, by their counts, are on the right.
    fn new(counts: &[u32], min_rows: u32) -> Self {
        let left = vec![0; counts.len()];
        SplitScan { left, right: counts.to_vec(), min_rows, last: None, best: None }
    }

    /// The best threshold of the feature of these entries, which are sorted by value; documents
    /// without an entry have the value 0.
    fn run(mut self, entries: &[TermEntry]) -> Option<ClassSplit> {
        let mut zeros = self.right.clone();
        entries.iter().for_each(|entry| zeros[entry.class as usize] -= 1);
        let (negative, positive) = entries.split_at(entries.partition_point(|e| e.value < 0.0));
        negative.iter().for_each(|entry| self.step(entry.value, entry.class, 1));
        for (class, count) in zeros.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.step(0.0, class as u32, *count);
        }
        positive.iter().for_each(|entry| self.step(entry.value, entry.class, 1));
        let term = entries.first()?.term;
        self.best.map(|(purity, threshold)| ClassSplit { purity, term, threshold })
    }

    /// Moves documents of a value to the left; before a new value, tries the threshold below it.
    fn step(&mut self, value: f32, class: u32, count: u32) {
        if let Some(last) = self.last
            && last < value
        {
            self.try_threshold(last, value);
        }
        self.last = Some(value);
        self.left[class as usize] += count;
        self.right[class as usize] -= count;
    }

    /// Tries the split halfway between two neighbouring values.
    fn try_threshold(&mut self, below: f32, above: f32) {
        let sides = [&self.left, &self.right].map(|counts| counts.iter().sum::<u32>());
        if sides.iter().any(|rows| *rows < self.min_rows.max(1)) {
            return;
        }
        let squares = |counts: &[u32]| -> f64 {
            counts.iter().map(|count| f64::from(*count) * f64::from(*count)).sum()
        };
        let purity =
            squares(&self.left) / f64::from(sides[0]) + squares(&self.right) / f64::from(sides[1]);
        if self.best.is_none_or(|(best, _)| purity > best) {
            self.best = Some((purity, 0.5 * (f64::from(below) + f64::from(above))));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vectors<const N: usize>(rows: &[[f32; N]]) -> Vec<SparseVector> {
        rows.iter().map(|row| SparseVector::dense(row).unwrap()).collect()
    }

    /// The feature and the threshold of each split, parents before their children.
    fn splits(tree: &DecisionTree) -> Vec<(u32, f64)> {
        let splits = tree.nodes.0.iter().filter_map(|node| match node {
            ClassNode::Split { term, threshold, .. } => Some((*term, *threshold)),
            ClassNode::Leaf(_) => None,
        });
        splits.collect()
    }

    #[test]
    fn the_first_split_is_the_one_with_the_lowest_impurity() {
        // x1 <= 3.5 leaves (3 a, 0 b) and (0 a, 3 b), with the purity 9/3 + 9/3; x0 <= 0.5 leaves
        // (2, 1) and (1, 2): 5/3 + 5/3.
        let documents =
            vectors(&[[0.0, 1.0], [1.0, 2.0], [0.0, 3.0], [1.0, 4.0], [0.0, 5.0], [1.0, 6.0]]);
        let classes = ["a", "a", "a", "b", "b", "b"];
        let tree = DecisionTree::fit(&documents, &classes, GrowthLimits::default()).unwrap();
        assert_eq!((splits(&tree), tree.leaves()), (vec![(1, 3.5)], 2));
        let limits = GrowthLimits { min_rows: 4, ..GrowthLimits::default() };
        let none = DecisionTree::fit(&documents, &classes, limits).unwrap();
        assert_eq!(none.class_scores(&documents[0]), [0.5, 0.5]);
        assert!(none.decide(&documents[0]).ties && none.decide(&documents[0]).class == "a");
    }

    #[test]
    fn zeros_are_between_negative_and_positive_values() {
        let documents = vectors(&[[-2.0], [-1.0], [0.0], [0.0], [3.0]]);
        let classes = ["n", "n", "z", "z", "p"];
        let tree = DecisionTree::fit(&documents, &classes, GrowthLimits::default()).unwrap();
        let mut thresholds: Vec<f64> = splits(&tree).iter().map(|(_, t)| *t).collect();
        thresholds.sort_by(f64::total_cmp);
        assert_eq!(thresholds, [-0.5, 1.5]);
    }

    #[test]
    fn the_exclusive_or_needs_a_split_without_gain() {
        let documents = vectors(&[[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]);
        let classes = ["same", "other", "other", "same"];
        let tree = DecisionTree::fit(&documents, &classes, GrowthLimits::default()).unwrap();
        let found: Vec<&str> = documents.iter().map(|d| tree.decide(d).class).collect();
        assert_eq!(found, classes);
        let limits = GrowthLimits { depth: Some(1), min_rows: 1 };
        assert_eq!(DecisionTree::fit(&documents, &classes, limits).unwrap().leaves(), 2);
    }

    proptest! {
        #[test]
        fn the_root_split_equals_that_of_a_search_over_all_thresholds(
            rows in prop::collection::vec((prop::array::uniform3(-3i8..4), 0u32..3), 2..25),
        ) {
            let dense: Vec<[f32; 3]> = rows.iter().map(|(p, _)| p.map(f32::from)).collect();
            let documents = vectors(&dense);
            let numbers: Vec<u32> = rows.iter().map(|(_, class)| *class).collect();
            let labelled = LabelledRows { documents: &documents, numbers: &numbers, classes: 3 };
            let all: Vec<u32> = (0..rows.len() as u32).collect();
            let found = labelled.best_split(&all, &labelled.counts(&all), 1, None);
            let mut best: Option<f64> = None;
            let columns: [Vec<f32>; 3] =
                std::array::from_fn(|term| dense.iter().map(|point| point[term]).collect());
            for column in &columns {
                for threshold in -4..4 {
                    let threshold = f32::from(threshold as i8) + 0.5;
                    let (left, right): (Vec<u32>, Vec<u32>) =
                        all.iter().partition(|row| column[**row as usize] <= threshold);
                    if left.is_empty() || right.is_empty() {
                        continue;
                    }
                    let purity: f64 = [left, right].iter().map(|side| {
                        let squares: u32 = labelled.counts(side).iter().map(|n| n * n).sum();
                        f64::from(squares) / side.len() as f64
                    }).sum();
                    best = Some(best.map_or(purity, |best| best.max(purity)));
                }
            }
            prop_assert_eq!(found.is_some(), best.is_some());
            if let (Some(found), Some(best)) = (found, best) {
                prop_assert!((found.purity - best).abs() < 1e-12);
            }
        }
    }
}
