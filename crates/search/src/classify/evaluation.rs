//! The quality of classification decisions, measured against the true classes.
//!
//! For a class, precision P is the share of correct decisions among the documents assigned to it,
//! recall R the share of correct decisions among the documents that belong to it, and
//! F1 = 2PR / (P + R). Macro F1 is the mean F1 of the classes, micro F1 the F1 of the counts added
//! up over the classes; with one class per document micro F1 equals the accuracy. A quotient
//! with the denominator 0 is 0. The classes are all that occur, as a true class or in a decision.

use serde::Serialize;

/// A confusion matrix: the number of documents for each pair of true and decided class.
///
/// ```
/// use rankwright_search::classify::ConfusionMatrix;
/// let found = ConfusionMatrix::new([("art", "art"), ("art", "law"), ("law", "law"), ("law", "law")]);
/// assert_eq!(found.accuracy(), 0.75);
/// assert_eq!(found.confusion()[0], [1, 1]); // art: one as art, one as law
/// assert_eq!(found.per_class()[1].recall, 1.0);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfusionMatrix {
    /// The classes, in order of name.
    classes: Vec<String>,
    /// Rows are true classes, columns decided classes.
    confusion: Vec<Vec<u64>>,
}

/// The quality of the decisions on one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassScore {
    /// The class.
    pub class: String,
    /// Share of correct decisions among the documents assigned to the class.
    pub precision: f64,
    /// Share of correct decisions among the documents that belong to the class.
    pub recall: f64,
    /// The harmonic mean of precision and recall.
    pub f1: f64,
    /// Number of documents that belong to the class.
    #[serde(rename = "documents")]
    pub count: u64,
}

impl ConfusionMatrix {
    /// Counts pairs (true class, decided class).
    pub fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> ConfusionMatrix {
        let pairs: Vec<(&str, &str)> = pairs.into_iter().collect();
        let mut classes: Vec<&str> =
            pairs.iter().flat_map(|(truth, decided)| [*truth, *decided]).collect();
        classes.sort_unstable();
        classes.dedup();
        let number = |class: &str| classes.partition_point(|name| *name < class);
        let mut confusion = vec![vec![0; classes.len()]; classes.len()];
        for (truth, decided) in &pairs {
            confusion[number(truth)][number(decided)] += 1;
        }
        ConfusionMatrix { classes: classes.into_iter().map(str::to_owned).collect(), confusion }
    }

    /// The classes, in order of name.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Number of documents of a true class (row) that were assigned to a class (column).
    pub fn confusion(&self) -> &[Vec<u64>] {
        &self.confusion
    }

    /// The share of correct decisions; 0 without decisions.
    pub fn accuracy(&self) -> f64 {
        ratio(self.correct(), self.total())
    }

    /// Precision, recall and F1 of each class, in order of name.
    pub fn per_class(&self) -> Vec<ClassScore> {
        let classes = self.classes.iter().zip(&self.confusion).enumerate();
        classes
            .map(|(number, (class, row))| {
                let (correct, count) = (row[number], row.iter().sum::<u64>());
                let decided = self.confusion.iter().map(|row| row[number]).sum::<u64>();
                let (precision, recall) = (ratio(correct, decided), ratio(correct, count));
                // 2PR / (P + R) in terms of counts, which is also correct if P and R are 0.
                let f1 = ratio(2 * correct, decided + count);
                ClassScore { class: class.clone(), precision, recall, f1, count }
            })
            .collect()
    }

    /// The mean F1 of the classes; 0 without classes.
    pub fn macro_f1(&self) -> f64 {
        let sum: f64 = self.per_class().iter().map(|score| score.f1).sum();
        if self.classes.is_empty() { 0.0 } else { sum / self.classes.len() as f64 }
    }

    /// F1 of the counts added up over the classes.
    pub fn micro_f1(&self) -> f64 {
        // A wrong decision is a false positive of the decided class and a false negative of the
        // true class.
        let wrong = self.total() - self.correct();
        ratio(2 * self.correct(), 2 * self.correct() + 2 * wrong)
    }

    /// Number of decisions.
    fn total(&self) -> u64 {
        self.confusion.iter().flatten().sum()
    }

    /// Number of correct decisions.
    fn correct(&self) -> u64 {
        self.confusion.iter().enumerate().map(|(number, row)| row[number]).sum()
    }
}

/// A quotient; 0 if the denominator is 0.
fn ratio(numerator: u64, denominator: u64) -> f64 {
    if denominator == 0 { 0.0 } else { numerator as f64 / denominator as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_computed_by_hand() {
        let pairs = [("a", "a"), ("a", "a"), ("a", "b"), ("b", "a"), ("b", "b"), ("c", "b")];
        let found = ConfusionMatrix::new(pairs);
        assert_eq!(found.classes(), ["a", "b", "c"]);
        assert_eq!(found.confusion(), [vec![2, 1, 0], vec![1, 1, 0], vec![0, 1, 0]]);
        let scores = found.per_class();
        let scores_of =
            |i: usize| (scores[i].precision, scores[i].recall, scores[i].f1, scores[i].count);
        assert_eq!(scores_of(0), (2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 3));
        assert_eq!(scores_of(1), (1.0 / 3.0, 1.0 / 2.0, 2.0 / 5.0, 2));
        assert_eq!(scores_of(2), (0.0, 0.0, 0.0, 1), "never decided for: 0, not a division by 0");
        assert!((found.macro_f1() - (2.0 / 3.0 + 0.4) / 3.0).abs() < 1e-15);
        assert_eq!((found.accuracy(), found.micro_f1()), (0.5, 0.5));
    }

    #[test]
    fn without_decisions_all_scores_are_0() {
        let found = ConfusionMatrix::new([]);
        assert_eq!((found.accuracy(), found.macro_f1(), found.micro_f1()), (0.0, 0.0, 0.0));
        assert!(found.per_class().is_empty());
    }
}
