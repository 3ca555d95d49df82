//! Labels as a few classes, the lowest first; each has its colour in the plots by label.
//!
//! Up to 8 different labels are a class each. More different labels (clicks, prices) are divided
//! into 5 ranges of equal width. Cost O(labels).

use std::collections::BTreeSet;

/// Maximum number of different labels for which each label is a class.
const MAX_LABELS: usize = 8;
/// Number of classes if there are more different labels.
const RANGES: usize = 5;

/// A partition of labels into classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Classes {
    /// Name of each class, the lowest first.
    pub names: Vec<String>,
    /// The lowest label of each class.
    lowest: Vec<f64>,
}

impl Classes {
    /// The classes of these labels.
    ///
    /// ```
    /// use rankwright_report::training::Classes;
    ///
    /// let classes = Classes::of(&[0.0, 2.0, 1.0, 0.0]);
    /// assert_eq!(classes.names, ["0", "1", "2"]);
    /// assert_eq!(classes.class(2.0), 2);
    /// ```
    pub fn of(labels: &[f64]) -> Classes {
        let mut distinct: BTreeSet<OrderedLabel> = BTreeSet::new();
        for label in labels {
            // Adding 0 makes -0 and 0 the same label.
            distinct.insert(OrderedLabel(label + 0.0));
            if distinct.len() > MAX_LABELS {
                return Classes::ranges(labels);
            }
        }
        let lowest: Vec<f64> = distinct.into_iter().map(|label| label.0).collect();
        Classes { names: lowest.iter().map(f64::to_string).collect(), lowest }
    }

    /// Classes of equal width.
    fn ranges(labels: &[f64]) -> Classes {
        let low = labels.iter().copied().fold(f64::INFINITY, f64::min);
        let high = labels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let edge = |i: usize| low + (high - low) * (i as f64 / RANGES as f64);
        let name = |i: usize| format!("{:.3} to {:.3}", edge(i), edge(i + 1));
        Classes { names: (0..RANGES).map(name).collect(), lowest: (0..RANGES).map(edge).collect() }
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no labels at all.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The index of the class of a label.
    pub fn class(&self, label: f64) -> usize {
        self.lowest.partition_point(|lowest| *lowest <= label).saturating_sub(1)
    }
}

/// A label ordered by value; labels of a data set are never NaN.
#[derive(Debug, PartialEq, Clone, Copy)]
struct OrderedLabel(f64);

impl Eq for OrderedLabel {}

impl PartialOrd for OrderedLabel {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedLabel {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_labels_become_ranges_of_equal_width() {
        let labels: Vec<f64> = (0..=100).map(f64::from).collect();
        let classes = Classes::of(&labels);
        assert_eq!(classes.names[0], "0.000 to 20.000");
        assert_eq!([0.0, 19.9, 20.0, 99.0, 100.0].map(|l| classes.class(l)), [0, 0, 1, 4, 4]);
    }

    #[test]
    fn no_labels_one_label_and_two_zeros_are_fine() {
        assert!(Classes::of(&[]).is_empty());
        assert_eq!(Classes::of(&[1.0, 1.0]).len(), 1);
        assert_eq!(Classes::of(&[0.0, -0.0]).names, ["0"]);
        assert_eq!(Classes::of(&[-1.0, 3.0]).class(3.0), 1);
    }
}
