//! A classifier after training, whatever its kind.

use std::fmt::Debug;

use super::{Decision, Distance, Knn, Rocchio, SparseVector};

/// A classifier that was trained on labelled vectors.
pub trait TrainedClassifier: Debug + Send + Sync {
    /// The classes, in order of name.
    fn classes(&self) -> &[String];

    /// A score for each class, in the order of [`classes`](Self::classes); higher is better.
    fn class_scores(&self, vector: &SparseVector) -> Vec<f64>;

    /// The value of each class that the decision compares, in the order of
    /// [`classes`](Self::classes): its score, unless the classifier decides by distance.
    fn class_values(&self, vector: &SparseVector) -> Vec<f64> {
        self.class_scores(vector)
    }

    /// The class with the highest score, which is the value of the decision; of equal scores, the
    /// class whose name sorts first.
    fn decide(&self, vector: &SparseVector) -> Decision<'_> {
        let mut best = Decision { class: "", ties: false, value: f64::NEG_INFINITY };
        for (number, (class, value)) in
            self.classes().iter().zip(self.class_scores(vector)).enumerate()
        {
            if number == 0 || value > best.value {
                best = Decision { class, ties: false, value };
            } else if value == best.value {
                best.ties = true;
            }
        }
        best
    }
}

/// Rocchio decides by distance; its scores are cosines with the centroids, or the Euclidean distances
/// from them with a minus sign.
impl TrainedClassifier for Rocchio {
    fn classes(&self) -> &[String] {
        self.classes()
    }

    fn class_scores(&self, vector: &SparseVector) -> Vec<f64> {
        match self.distance() {
            Distance::Cosine => self.scores(vector).into_iter().map(|(_, score)| score).collect(),
            Distance::Euclidean => {
                self.distances(vector).into_iter().map(|(_, distance)| -distance).collect()
            }
        }
    }

    fn class_values(&self, vector: &SparseVector) -> Vec<f64> {
        self.distances(vector).into_iter().map(|(_, distance)| distance).collect()
    }

    fn decide(&self, vector: &SparseVector) -> Decision<'_> {
        self.classify(vector)
    }
}

/// The scores are shares of the neighbours.
impl TrainedClassifier for Knn {
    fn classes(&self) -> &[String] {
        self.classes()
    }

    fn class_scores(&self, vector: &SparseVector) -> Vec<f64> {
        self.scores(vector).into_iter().map(|(_, score)| score).collect()
    }

    fn decide(&self, vector: &SparseVector) -> Decision<'_> {
        self.classify(vector)
    }
}

/// Numbers divided by their sum; equal shares if the sum is 0.
pub(super) fn shares(mut numbers: Vec<f64>) -> Vec<f64> {
    let (sum, count) = (numbers.iter().sum::<f64>(), numbers.len() as f64);
    let share = |number: f64| if sum > 0.0 { number / sum } else { 1.0 / count };
    numbers.iter_mut().for_each(|number| *number = share(*number));
    numbers
}
