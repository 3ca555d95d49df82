//! The k nearest neighbours (Manning, Raghavan, Schütze 2008, 14.3): a vector belongs to the class
//! that most of the k nearest labelled documents have.
//!
//! Documents are kept as inverted lists, so that a query costs the postings of its terms: of the
//! documents that share no term with it, the nearest k are known beforehand (the shortest ones,
//! or for the cosine any). Documents at exactly the same distance are taken in the order given.
//! With fewer than k documents all of them vote.
//!
//! Classes with equally many votes: the one with the nearest neighbour wins, and if these are
//! exactly as near, the one whose name sorts first; the decision says that there was a tie.

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
    class_of: Vec<u32>,
    squared_lengths: Vec<f64>,
    /// All documents in the order of distance for a query that shares no term with them.
    by_length: Vec<u32>,
    /// For each term the documents that have it, ascending, and its weight there.
    postings: HashMap<u32, Vec<(u32, f32)>>,
}

/// A labelled document near a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour<'a> {
    /// Its number, in the order given.
    pub document: usize,
    /// Its class.
    pub class: &'a str,
    /// Its distance.
    pub distance: f64,
}

impl Knn {
    /// Stores labelled documents.
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

    /// The class of most of the k nearest documents; ties are described above.
    pub fn classify(&self, vector: &SparseVector) -> Decision<'_> {
        let neighbours = self.neighbours(vector);
        // Votes and distance of the nearest neighbour, by class; neighbours come nearest first.
        let mut votes = vec![(0usize, f64::INFINITY); self.classes.len()];
        for neighbour in &neighbours {
            let (count, nearest) = &mut votes[self.class_of[neighbour.document] as usize];
            *count += 1;
            *nearest = nearest.min(neighbour.distance);
        }
        let most = votes.iter().map(|(count, _)| *count).max().unwrap_or(0);
        let tied = || self.classes.iter().zip(&votes).filter(|(_, (count, _))| *count == most);
        // The minimum takes the first of equals, and classes are in order of name.
        let winner = tied().min_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
        Decision {
            class: winner.map_or(&self.classes[0], |(class, _)| class),
            ties: tied().count() > 1,
            value: most as f64 / neighbours.len() as f64,
        }
    }

    /// The share of the k nearest that each class has, in order of class name; they sum to 1.
    pub fn scores(&self, vector: &SparseVector) -> Vec<(&str, f64)> {
        self.shares(&self.nearest(vector, None))
    }

    /// The scores without one of the labelled documents: needed for the score of a labelled
    /// document itself, which would otherwise be its own nearest neighbour and reveal its label.
    /// All 0 if there is no other document.
    pub fn scores_without(&self, vector: &SparseVector, document: usize) -> Vec<(&str, f64)> {
        self.shares(&self.nearest(vector, Some(document)))
    }

    fn shares(&self, neighbours: &[Neighbour<'_>]) -> Vec<(&str, f64)> {
        let mut counts = vec![0usize; self.classes.len()];
        for neighbour in neighbours {
            counts[self.class_of[neighbour.document] as usize] += 1;
        }
        let all = neighbours.len().max(1) as f64;
        self.classes.iter().zip(counts).map(|(class, n)| (&**class, n as f64 / all)).collect()
    }

    fn nearest(&self, vector: &SparseVector, without: Option<usize>) -> Vec<Neighbour<'_>> {
        let mut dots = vec![0f64; self.class_of.len()];
        let mut seen = vec![false; self.class_of.len()];
        let mut candidates = Vec::new();
        for (term, weight) in vector.terms() {
            for (document, other) in self.postings.get(term).into_iter().flatten() {
                let at = *document as usize;
                dots[at] += f64::from(*weight) * f64::from(*other);
                if !std::mem::replace(&mut seen[at], true) {
                    candidates.push(at);
                }
            }
        }
        let others = self.by_length.iter().map(|d| *d as usize).filter(|d| !seen[*d]);
        candidates.extend(others.filter(|d| Some(*d) != without).take(self.k));
        let own = vector.squared_length();
        let mut found: Vec<(f64, usize)> = candidates
            .into_iter()
            .filter(|d| Some(*d) != without)
            .map(|d| (self.distance.of(own, self.squared_lengths[d], dots[d]), d))
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
    fn the_worked_example_gives_history_for_3_and_chemistry_for_5() {
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
        let of = |k| Knn::fit(&documents, &classes, k, Distance::Euclidean).unwrap();
        let (three, five) = (of(3), of(5));
        assert_eq!(three.classify(&vector).class, "history");
        assert_eq!(five.classify(&vector).class, "chemistry");
        assert!(!three.classify(&vector).ties && !five.classify(&vector).ties);
        assert_eq!(five.scores(&vector), [("chemistry", 0.6), ("history", 0.4)]);
        let order: Vec<usize> = five.neighbours(&vector).iter().map(|n| n.document).collect();
        assert_eq!(order, [6, 7, 1, 0, 2]);
        let four = of(4);
        let four = four.classify(&vector);
        assert_eq!((four.class, four.ties, four.value), ("history", true, 0.5));
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
        fn neighbours_equal_those_by_looking_at_every_document(
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
            let mut every: Vec<(f64, usize)> = documents.iter().enumerate().map(|(i, d)| {
                let (a, b) = (query.squared_length(), d.squared_length());
                (distance.of(a, b, query.dot(d)), i)
            }).collect();
            every.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            every.truncate(k);
            let found: Vec<(f64, usize)> =
                knn.neighbours(&query).iter().map(|n| (n.distance, n.document)).collect();
            prop_assert_eq!(found, every);
        }
    }
}
