//! The k nearest neighbours (Manning, Raghavan, Schütze 2008, 14.3): a vector belongs to the class
//! that most of the k nearest labelled documents have.
//!
//! Documents are stored as postings, so that the cost of a query is the postings of its terms. Of
//! the documents that share no term with the query, the nearest k are known beforehand: for the
//! Euclidean distance those with the shortest vectors, for the cosine the first k, as all are
//! equally near. Documents at exactly the same distance are taken in the order given. With fewer
//! than k documents all of them vote.
//!
//! Of classes with equally many votes, the class of the nearest neighbour wins, and if these
//! neighbours are exactly as near, the class whose name sorts first; the decision is marked as a
//! tie.

use std::collections::HashMap;

use super::{ClassNames, ClassifyError, Decision, Distance, SparseVector};

/// Labelled documents for the search of nearest neighbours.
///
/// ```
/// use rankwright_search::classify::{Distance, Knn, SparseVector};
/// let points = [[0.0, 1.0], [0.0, 2.0], [3.0, 0.0]].map(|p| SparseVector::dense(&p));
/// let points = points.into_iter().collect::<Result<Vec<_>, _>>()?;
/// let knn = Knn::fit(&points, &["up", "up", "right"], 3, Distance::Euclidean)?;
/// let vector = SparseVector::dense(&[2.0, 0.0])?;
/// assert_eq!(knn.classify(&vector).class, "up");
/// assert_eq!(knn.neighbours(&vector)[0].document, 2);
/// # Ok::<(), rankwright_search::classify::ClassifyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Knn {
    distance: Distance,
    k: usize,
    /// Classes in order of name.
    classes: Vec<String>,
    /// The class of each document, as an index into `classes`.
    class_of: Vec<u32>,
    /// The squared length of each document's vector.
    squared_lengths: Vec<f64>,
    /// All documents, in the order of their distance from a query that shares no term with them.
    by_length: Vec<u32>,
    /// For each term the documents that have it, ascending, and its weight there.
    postings: HashMap<u32, Vec<(u32, f32)>>,
}

/// A labelled document near a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour<'a> {
    /// The number of the document, in the order given to [`Knn::fit`], from 0.
    pub document: usize,
    /// The class of the document.
    pub class: &'a str,
    /// The distance between the document and the query.
    pub distance: f64,
}

impl Knn {
    /// Stores labelled documents; `classes` has the class of each document.
    pub fn fit<S: AsRef<str>>(
        documents: &[SparseVector],
        classes: &[S],
        k: usize,
        distance: Distance,
    ) -> Result<Knn, ClassifyError> {
        if k == 0 {
            return Err(ClassifyError::NoNeighbours);
        }
        let ClassNames { names, numbers } = ClassNames::new(documents.len(), classes)?;
        let mut postings: HashMap<u32, Vec<(u32, f32)>> = HashMap::new();
        for (number, document) in documents.iter().enumerate() {
            for (term, weight) in document.terms() {
                postings.entry(*term).or_default().push((number as u32, *weight));
            }
        }
        let squared_lengths: Vec<f64> =
            documents.iter().map(SparseVector::squared_length).collect();
        let mut by_length: Vec<u32> = (0..documents.len() as u32).collect();
        if distance == Distance::Euclidean {
            let length = |d: &u32| squared_lengths[*d as usize];
            by_length.sort_by(|a, b| length(a).total_cmp(&length(b)));
        }
        Ok(Knn {
            distance,
            k,
            classes: names,
            class_of: numbers,
            squared_lengths,
            by_length,
            postings,
        })
    }

    /// The classes, in order of name.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The k nearest documents, nearest first.
    pub fn neighbours(&self, vector: &SparseVector) -> Vec<Neighbour<'_>> {
        self.nearest(vector, None)
    }

    /// The class of most of the k nearest documents; of classes with equally many, the class of the
    /// nearest of them.
    pub fn classify(&self, vector: &SparseVector) -> Decision<'_> {
        let neighbours = self.neighbours(vector);
        // The votes for each class, and the distance of its nearest neighbour.
        let mut votes = vec![(0usize, f64::INFINITY); self.classes.len()];
        for neighbour in &neighbours {
            let (count, nearest) = &mut votes[self.class_of[neighbour.document] as usize];
            *count += 1;
            *nearest = nearest.min(neighbour.distance);
        }
        let most_votes = votes.iter().map(|(count, _)| *count).max().unwrap_or(0);
        let tied =
            || self.classes.iter().zip(&votes).filter(|(_, (count, _))| *count == most_votes);
        // The minimum takes the first of equals, and classes are in order of name.
        let winner = tied().min_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
        Decision {
            class: winner.map_or(&self.classes[0], |(class, _)| class),
            ties: tied().count() > 1,
            value: most_votes as f64 / neighbours.len() as f64,
        }
    }

    /// The share of each class among the k nearest documents, in order of class name; the shares
    /// sum to 1.
    pub fn scores(&self, vector: &SparseVector) -> Vec<(&str, f64)> {
        self.class_shares(&self.nearest(vector, None))
    }

    /// The scores without one of the labelled documents, by its number. Needed to score a labelled
    /// document, which would otherwise be its own nearest neighbour and reveal its class. All 0 if
    /// there is no other document.
    pub fn scores_without(&self, vector: &SparseVector, document: usize) -> Vec<(&str, f64)> {
        self.class_shares(&self.nearest(vector, Some(document)))
    }

    /// The share of each class among neighbours.
    fn class_shares(&self, neighbours: &[Neighbour<'_>]) -> Vec<(&str, f64)> {
        let mut counts = vec![0usize; self.classes.len()];
        for neighbour in neighbours {
            counts[self.class_of[neighbour.document] as usize] += 1;
        }
        let votes = neighbours.len().max(1) as f64;
        self.classes.iter().zip(counts).map(|(class, n)| (&**class, n as f64 / votes)).collect()
    }

    /// The k nearest documents, nearest first, without the document `excluded`.
    fn nearest(&self, vector: &SparseVector, excluded: Option<usize>) -> Vec<Neighbour<'_>> {
        // The inner product with each document.
        let mut dots = vec![0f64; self.class_of.len()];
        let mut shares_term = vec![false; self.class_of.len()];
        let mut candidates = Vec::new();
        for (term, weight) in vector.terms() {
            for (document, other) in self.postings.get(term).into_iter().flatten() {
                let document = *document as usize;
                dots[document] += f64::from(*weight) * f64::from(*other);
                if !std::mem::replace(&mut shares_term[document], true) {
                    candidates.push(document);
                }
            }
        }
        let without_shared_term =
            self.by_length.iter().map(|d| *d as usize).filter(|d| !shares_term[*d]);
        candidates.extend(without_shared_term.filter(|d| Some(*d) != excluded).take(self.k));
        let squared_length = vector.squared_length();
        let mut found: Vec<(f64, usize)> = candidates
            .into_iter()
            .filter(|d| Some(*d) != excluded)
            .map(|d| (self.distance.of(squared_length, self.squared_lengths[d], dots[d]), d))
            .collect();
        let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if found.len() > self.k {
            found.select_nth_unstable_by(self.k - 1, order);
            found.truncate(self.k);
        }
        found.sort_unstable_by(order);
        let neighbour = |(distance, document): (f64, usize)| {
            let class = &*self.classes[self.class_of[document] as usize];
            Neighbour { document, class, distance }
        };
        found.into_iter().map(neighbour).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vectors<const N: usize>(points: &[[f32; N]]) -> Vec<SparseVector> {
        points.iter().map(|p| SparseVector::dense(p).unwrap()).collect()
    }

    #[test]
    fn three_and_five_neighbours_of_a_point_give_different_classes() {
        // The distances from (0.4, 1): 0.1 (document 6), 0.22 (7), 0.5 (1), 0.61 (0), 0.73 (2), ...
        let documents = vectors(&[
            [1.0, 0.9],
            [0.9, 1.0],
            [0.2, 0.3],
            [0.3, 0.2],
            [1.0, 0.3],
            [0.9, 0.2],
            [0.3, 1.0],
            [0.2, 0.9],
        ]);
        let classes: Vec<&str> =
            (0..8).map(|i| if i < 4 { "chemistry" } else { "history" }).collect();
        let vector = SparseVector::dense(&[0.4, 1.0]).unwrap();
        let fit = |k| Knn::fit(&documents, &classes, k, Distance::Euclidean).unwrap();
        let (three, five) = (fit(3), fit(5));
        assert_eq!(three.classify(&vector).class, "history");
        assert_eq!(five.classify(&vector).class, "chemistry");
        assert!(!three.classify(&vector).ties && !five.classify(&vector).ties);
        assert_eq!(five.scores(&vector), [("chemistry", 0.6), ("history", 0.4)]);
        let order: Vec<usize> = five.neighbours(&vector).iter().map(|n| n.document).collect();
        assert_eq!(order, [6, 7, 1, 0, 2]);
        let four = fit(4);
        let decision = four.classify(&vector);
        assert_eq!((decision.class, decision.ties, decision.value), ("history", true, 0.5));
    }

    #[test]
    fn ties_go_to_the_nearest_and_then_to_the_first_name() {
        let documents = vectors(&[[1.0, 0.0], [4.0, 0.0], [0.0, 1.0], [0.0, 3.0]]);
        let classes = ["z", "a", "b", "a"];
        let vector = SparseVector::dense(&[0.5, 0.0]).unwrap();
        let knn = Knn::fit(&documents, &classes, 2, Distance::Euclidean).unwrap();
        let decision = knn.classify(&vector);
        assert_eq!((decision.class, decision.ties), ("z", true), "the nearest, not the first name");
        let origin = SparseVector::default();
        let decision = knn.classify(&origin);
        assert_eq!((decision.class, decision.ties), ("b", true), "as near: the first name");
    }

    #[test]
    fn a_class_may_have_an_empty_name() {
        let documents = vectors(&[[1.0], [2.0], [2.1]]);
        let knn = Knn::fit(&documents, &["", "x", "x"], 3, Distance::Euclidean).unwrap();
        let decision = knn.classify(&documents[0]);
        assert_eq!((decision.class, decision.ties), ("x", false));
        let knn = Knn::fit(&documents, &["", "x", "x"], 2, Distance::Euclidean).unwrap();
        let decision = knn.classify(&documents[0]);
        assert_eq!((decision.class, decision.ties), ("", true));
    }

    #[test]
    fn fewer_documents_than_k_all_vote_and_none_is_refused() {
        let documents = vectors(&[[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]]);
        let knn = Knn::fit(&documents, &["x", "y", "y"], 10, Distance::Cosine).unwrap();
        let scores = knn.scores(&documents[0]);
        assert_eq!(scores, [("x", 1.0 / 3.0), ("y", 2.0 / 3.0)]);
        assert_eq!(knn.scores_without(&documents[0], 0), [("x", 0.0), ("y", 1.0)]);
        let one = Knn::fit(&documents[..1], &["x"], 1, Distance::Cosine).unwrap();
        assert_eq!(one.scores_without(&documents[0], 0), [("x", 0.0)]);
        let zero = Knn::fit(&documents, &["x", "y", "y"], 0, Distance::Cosine).unwrap_err();
        assert_eq!(zero, ClassifyError::NoNeighbours);
        let none = Knn::fit::<&str>(&[], &[], 1, Distance::Cosine).unwrap_err();
        assert_eq!(none, ClassifyError::Empty);
    }

    proptest! {
        #[test]
        fn neighbours_equal_those_of_a_search_over_all_documents(
            // Only a few values, so that zeros, equal documents and equal distances are common.
            rows in prop::collection::vec(prop::array::uniform5(-1i8..3), 1..30),
            vector in prop::array::uniform5(-1i8..3),
            k in 1usize..8,
            euclidean: bool,
        ) {
            let distance = if euclidean { Distance::Euclidean } else { Distance::Cosine };
            let dense = |p: &[i8; 5]| SparseVector::dense(&p.map(f32::from)).unwrap();
            let documents: Vec<SparseVector> = rows.iter().map(dense).collect();
            let classes = vec!["c"; rows.len()];
            let knn = Knn::fit(&documents, &classes, k, distance).unwrap();
            let query = dense(&vector);
            let mut expected: Vec<(f64, usize)> = documents.iter().enumerate().map(|(i, d)| {
                let (a, b) = (query.squared_length(), d.squared_length());
                (distance.of(a, b, query.dot(d)), i)
            }).collect();
            expected.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            expected.truncate(k);
            let found: Vec<(f64, usize)> =
                knn.neighbours(&query).iter().map(|n| (n.distance, n.document)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
