//! Labels as a few classes, worst first: one colour each in the plots by label.
//!
//! Up to 8 different labels are a class each. More of them (clicks, prices) are divided into 5
//! ranges of equal width. One label alone is one class. Cost O(n).

use std::collections::BTreeSet;

/// Number of different labels up to which each is a class.
const MOST: usize = 8;
/// Number of ranges where there are more labels.
const RANGES: usize = 5;

/// A partition of labels into classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Classes {
    /// Name of each class, worst first.
    pub names: Vec<String>,
    /// The least label of each class.
    least: Vec<f64>,
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
        let mut met: BTreeSet<OrderedLabel> = BTreeSet::new();
        for label in labels {
            // 0 and -0 are one label.
            met.insert(OrderedLabel(label + 0.0));
            if met.len() > MOST {
                return Classes::ranges(labels);
            }
        }
        let least: Vec<f64> = met.into_iter().map(|label| label.0).collect();
        Classes { names: least.iter().map(f64::to_string).collect(), least }
    }

    fn ranges(labels: &[f64]) -> Classes {
        let low = labels.iter().copied().fold(f64::INFINITY, f64::min);
        let high = labels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let edge = |at: usize| low + (high - low) * (at as f64 / RANGES as f64);
        let name = |at: usize| format!("{:.3} to {:.3}", edge(at), edge(at + 1));
        Classes { names: (0..RANGES).map(name).collect(), least: (0..RANGES).map(edge).collect() }
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no labels at all.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The class of a label.
    pub fn class(&self, label: f64) -> usize {
        self.least.partition_point(|least| *least <= label).saturating_sub(1)
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
