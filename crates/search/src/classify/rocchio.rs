//! Rocchio's classifier (Rocchio 1971; Manning, Raghavan, Schütze 2008, 14.2): the centroid of a
//! class is the mean of its documents, and a vector belongs to the class whose centroid is nearest.
//!
//! Centroids are stored by term, so that the cost of a vector is its terms times the classes that
//! have them; distances come from lengths and inner products, d² = |x|² + |c|² - 2 x·c, whose error
//! near 0 is about 1e-8 of the lengths. Of classes at exactly the same distance the one whose name
//! sorts first wins, and the decision is marked as a tie. A single class always wins. A vector of
//! zeros has the cosine 0 with all centroids, which is such a tie.

use std::collections::HashMap;

use super::{ClassNames, ClassifyError, Decision, Distance, SparseVector, cosine};

/// The centroids of classes.
///
/// ```
/// use rankwright_search::classify::{Distance, Rocchio, SparseVector};
/// let points = [[0.9, 1.0], [1.0, 0.9], [0.2, 0.3], [0.3, 0.2]].map(|p| SparseVector::dense(&p));
/// let points = points.into_iter().collect::<Result<Vec<_>, _>>()?;
/// let rocchio = Rocchio::fit(&points, &["art", "art", "law", "law"], Distance::Euclidean)?;
/// let decision = rocchio.classify(&SparseVector::dense(&[0.8, 0.85])?);
/// assert_eq!((decision.class, decision.ties), ("art", false));
/// # Ok::<(), rankwright_search::classify::ClassifyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rocchio {
    distance: Distance,
    /// Classes in order of name, so that of equally near classes the first one wins.
    classes: Vec<String>,
    /// The squared length of each class's centroid.
    squared_lengths: Vec<f64>,
    /// For each term the classes whose centroid has it, ascending, and its weight there.
    weights: HashMap<u32, Vec<(u32, f64)>>,
}

impl Rocchio {
    /// Computes the centroids of labelled documents; `classes` has the class of each document.
    pub fn fit<S: AsRef<str>>(
        documents: &[SparseVector],
        classes: &[S],
        distance: Distance,
    ) -> Result<Rocchio, ClassifyError> {
        let ClassNames { names, numbers } = ClassNames::new(documents.len(), classes)?;
        let mut counts = vec![0.0; names.len()];
        // First the sums of the weights, then the means.
        let mut weights: HashMap<u32, Vec<(u32, f64)>> = HashMap::new();
        for (document, &class) in documents.iter().zip(&numbers) {
            counts[class as usize] += 1.0;
            for &(term, weight) in document.terms() {
                let row = weights.entry(term).or_default();
                match row.binary_search_by_key(&class, |(class, _)| *class) {
                    Ok(index) => row[index].1 += f64::from(weight),
                    Err(index) => row.insert(index, (class, f64::from(weight))),
                }
            }
        }
        let mut terms: Vec<u32> = weights.keys().copied().collect();
        // The order of a hash map is random; sums must not depend on it.
        terms.sort_unstable();
        let mut squared_lengths = vec![0.0; names.len()];
        for term in terms {
            for (class, weight) in weights.get_mut(&term).into_iter().flatten() {
                *weight /= counts[*class as usize];
                squared_lengths[*class as usize] += *weight * *weight;
            }
        }
        Ok(Rocchio { distance, classes: names, squared_lengths, weights })
    }

    /// The distance by which the nearest centroid is found.
    pub(super) fn distance(&self) -> Distance {
        self.distance
    }

    /// The classes, in order of name.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The nearest class; of several classes exactly as near, the one whose name sorts first.
    pub fn classify(&self, vector: &SparseVector) -> Decision<'_> {
        let mut best = Decision { class: "", ties: false, value: f64::INFINITY };
        for (class, value) in self.distances(vector) {
            if value < best.value {
                best = Decision { class, ties: false, value };
            } else if value == best.value {
                best.ties = true;
            }
        }
        best
    }

    /// The distance to each class's centroid, in order of class name.
    pub fn distances(&self, vector: &SparseVector) -> Vec<(&str, f64)> {
        self.compare(vector, |own, centroid, dot| self.distance.of(own, centroid, dot))
    }

    /// The cosine with each class's centroid, in -1..=1, in order of class name; the same for
    /// every [`Distance`], so that it can serve as a feature.
    pub fn scores(&self, vector: &SparseVector) -> Vec<(&str, f64)> {
        self.compare(vector, cosine)
    }

    /// A value for each class, computed from the squared lengths of the vector and of the centroid,
    /// and from their inner product.
    fn compare(
        &self,
        vector: &SparseVector,
        value: impl Fn(f64, f64, f64) -> f64,
    ) -> Vec<(&str, f64)> {
        let mut dots = vec![0.0; self.classes.len()];
        for (term, weight) in vector.terms() {
            for (class, mean) in self.weights.get(term).into_iter().flatten() {
                dots[*class as usize] += f64::from(*weight) * mean;
            }
        }
        let squared_length = vector.squared_length();
        let classes = self.classes.iter().zip(&self.squared_lengths).zip(dots);
        classes
            .map(|((class, centroid), dot)| (&**class, value(squared_length, *centroid, dot)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn points<const N: usize>(points: [[f32; 2]; N]) -> Vec<SparseVector> {
        points.iter().map(|p| SparseVector::dense(p).unwrap()).collect()
    }

    fn point(x: f32, y: f32) -> SparseVector {
        SparseVector::dense(&[x, y]).unwrap()
    }

    #[test]
    fn distances_are_those_computed_by_hand() {
        // The centroids are (0.95, 0.95) and (0.25, 0.25); the distances from (0.8, 0.85) are
        // sqrt(0.15² + 0.1²) and sqrt(0.55² + 0.6²).
        let documents = points([[1.0, 0.9], [0.9, 1.0], [0.2, 0.3], [0.3, 0.2]]);
        let classes = ["chemistry", "chemistry", "history", "history"];
        let rocchio = Rocchio::fit(&documents, &classes, Distance::Euclidean).unwrap();
        let vector = point(0.8, 0.85);
        let found = rocchio.distances(&vector);
        assert_eq!(found.iter().map(|(class, _)| *class).collect::<Vec<_>>(), rocchio.classes());
        assert!((found[0].1 - 0.1803).abs() < 5e-5 && (found[1].1 - 0.8139).abs() < 5e-5);
        let decision = rocchio.classify(&vector);
        assert_eq!((decision.class, decision.ties), ("chemistry", false));
        assert_eq!(decision.value, found[0].1);
    }

    #[test]
    fn equal_centroids_tie_and_the_first_name_wins() {
        // Both centroids are (0.6, 0.6).
        let chemistry = [[1.0, 0.9], [0.9, 1.0], [0.2, 0.3], [0.3, 0.2]];
        let history = [[1.0, 0.3], [0.9, 0.2], [0.3, 1.0], [0.2, 0.9]];
        for names in [["chemistry", "history"], ["history", "chemistry"]] {
            for distance in [Distance::Euclidean, Distance::Cosine] {
                let documents = [points(chemistry), points(history)].concat();
                let classes: Vec<&str> = (0..8).map(|i| names[i / 4]).collect();
                let rocchio = Rocchio::fit(&documents, &classes, distance).unwrap();
                let decision = rocchio.classify(&point(0.4, 1.0));
                assert_eq!((decision.class, decision.ties), ("chemistry", true));
                let found = rocchio.distances(&point(0.4, 1.0));
                assert_eq!(found[0].1, found[1].1);
            }
        }
        let documents = [points(chemistry), points(history)].concat();
        let classes = ["c", "c", "c", "c", "h", "h", "h", "h"];
        let rocchio = Rocchio::fit(&documents, &classes, Distance::Euclidean).unwrap();
        // From (0.4, 1) to (0.6, 0.6).
        let squared_distance = 0.2f64 * 0.2 + 0.4 * 0.4;
        let found = rocchio.distances(&point(0.4, 1.0))[0].1;
        assert!((found - squared_distance.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn scores_are_cosines_for_every_distance() {
        let documents = points([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0]]);
        for distance in [Distance::Euclidean, Distance::Cosine] {
            let rocchio = Rocchio::fit(&documents, &["x", "y", "minus"], distance).unwrap();
            let scores = rocchio.scores(&point(5.0, 0.0));
            assert_eq!(scores, [("minus", -1.0), ("x", 1.0), ("y", 0.0)]);
            assert!(rocchio.scores(&SparseVector::default()).iter().all(|(_, s)| *s == 0.0));
        }
        let rocchio = Rocchio::fit(&documents, &["x", "y", "minus"], Distance::Cosine).unwrap();
        let decision = rocchio.classify(&SparseVector::default());
        assert_eq!((decision.class, decision.ties, decision.value), ("minus", true, 1.0));
    }

    /// As a trained classifier, the nearest class has the highest score by either distance: here a
    /// long vector in the direction of one class is nearer to the centroid of the other.
    #[test]
    fn class_scores_follow_the_distance() {
        use crate::classify::TrainedClassifier;
        let documents = points([[1.0, 0.0], [4.0, 3.0]]);
        let vector = point(4.0, 0.0);
        for (distance, expected) in
            [(Distance::Cosine, [1.0, 0.8]), (Distance::Euclidean, [-3.0, -3.0])]
        {
            let rocchio = Rocchio::fit(&documents, &["x", "y"], distance).unwrap();
            let found = rocchio.class_scores(&vector);
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-7), "{found:?}");
        }
        let rocchio = Rocchio::fit(&documents, &["x", "y"], Distance::Euclidean).unwrap();
        let far = rocchio.class_scores(&point(5.0, 0.0));
        assert!(far[1] > far[0], "{far:?}");
    }

    #[test]
    fn a_single_class_always_wins_and_documents_are_needed() {
        let documents = points([[1.0, 0.0]]);
        let rocchio = Rocchio::fit(&documents, &["only"], Distance::Cosine).unwrap();
        let decision = rocchio.classify(&point(-1.0, 0.0));
        assert_eq!((decision.class, decision.ties, decision.value), ("only", false, 2.0));
        let none = Rocchio::fit::<&str>(&[], &[], Distance::Cosine).unwrap_err();
        assert_eq!(none, ClassifyError::Empty);
        let error = Rocchio::fit(&documents, &["a", "b"], Distance::Cosine).unwrap_err();
        assert_eq!(error, ClassifyError::Lengths { documents: 1, classes: 2 });
    }

    proptest! {
        #[test]
        fn distances_equal_those_to_centroids_written_out(
            rows in prop::collection::vec((prop::array::uniform4(-2f32..2.0), 0usize..3), 1..20),
            vector in prop::array::uniform4(-2f32..2.0),
        ) {
            let documents: Vec<SparseVector> =
                rows.iter().map(|(p, _)| SparseVector::dense(p).unwrap()).collect();
            let classes: Vec<&str> = rows.iter().map(|(_, c)| ["a", "b", "c"][*c]).collect();
            let rocchio = Rocchio::fit(&documents, &classes, Distance::Euclidean).unwrap();
            for (class, found) in rocchio.distances(&SparseVector::dense(&vector).unwrap()) {
                let members: Vec<&[f32; 4]> = rows.iter().zip(&classes)
                    .filter(|(_, c)| **c == class).map(|((p, _), _)| p).collect();
                let squared: f64 = (0..4).map(|i| {
                    let sum: f64 = members.iter().map(|p| f64::from(p[i])).sum();
                    let difference = sum / members.len() as f64 - f64::from(vector[i]);
                    difference * difference
                }).sum();
                prop_assert!((found - squared.sqrt()).abs() < 1e-6);
            }
        }
    }
}
