//! A sparse vector: pairs of a term's number and its weight, sorted by term, each term once, no
//! zeros.
//!
//! Products and lengths are `f64` sums in the order of terms, so that equal vectors always give
//! exactly equal results. A dense point is a vector whose terms are the numbers of the coordinates.

use super::ClassifyError;

/// A sparse vector.
///
/// ```
/// use rankwright_search::classify::SparseVector;
/// let a = SparseVector::new(vec![(7, 1.0), (2, 3.0), (7, 1.0)])?;
/// assert_eq!(a.terms(), [(2, 3.0), (7, 2.0)]);
/// let b = SparseVector::dense(&[0.0, 0.0, 2.0])?;
/// assert_eq!(a.dot(&b), 6.0);
/// # Ok::<(), rankwright_search::classify::ClassifyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseVector(Vec<(u32, f32)>);

impl SparseVector {
    /// A vector of pairs (term, weight) in any order; the weights of a repeated term are added, and
    /// terms of weight 0 dropped.
    pub fn new(mut pairs: Vec<(u32, f32)>) -> Result<SparseVector, ClassifyError> {
        // Stable, so that repeated weights are added in the order given.
        pairs.sort_by_key(|(term, _)| *term);
        pairs.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.1 += later.1;
            }
            same
        });
        if let Some(&(term, weight)) = pairs.iter().find(|(_, weight)| !weight.is_finite()) {
            return Err(ClassifyError::NotFinite { term, weight });
        }
        pairs.retain(|(_, weight)| *weight != 0.0);
        Ok(SparseVector(pairs))
    }

    /// A vector of finite weights of terms, in ascending order of the terms; zeros are dropped.
    pub(super) fn of_sorted(pairs: impl Iterator<Item = (u32, f32)>) -> SparseVector {
        let pairs: Vec<(u32, f32)> = pairs.filter(|(_, weight)| *weight != 0.0).collect();
        debug_assert!(pairs.iter().all(|(_, weight)| weight.is_finite()), "weights are finite");
        debug_assert!(pairs.is_sorted_by(|a, b| a.0 < b.0), "terms ascend");
        SparseVector(pairs)
    }

    /// A dense point; its terms are the coordinates 0, 1, ...
    pub fn dense(point: &[f32]) -> Result<SparseVector, ClassifyError> {
        if u32::try_from(point.len()).is_err() {
            return Err(ClassifyError::TooLarge { what: "coordinates", count: point.len() });
        }
        SparseVector::new(point.iter().enumerate().map(|(i, x)| (i as u32, *x)).collect())
    }

    /// The terms and their weights, sorted by term.
    pub fn terms(&self) -> &[(u32, f32)] {
        &self.0
    }

    /// The inner product.
    pub fn dot(&self, other: &SparseVector) -> f64 {
        let mut sum = 0.0;
        let mut others = other.0.iter().peekable();
        for &(term, weight) in &self.0 {
            while others.next_if(|(other, _)| *other < term).is_some() {}
            if let Some((_, other)) = others.next_if(|(other, _)| *other == term) {
                sum += f64::from(weight) * f64::from(*other);
            }
        }
        sum
    }

    /// The inner product with itself.
    pub fn squared_length(&self) -> f64 {
        self.0.iter().map(|(_, weight)| f64::from(*weight) * f64::from(*weight)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_sorted_added_up_and_without_zeros() {
        let vector = SparseVector::new(vec![(9, 1.0), (1, 2.0), (9, -1.0), (4, 0.0)]).unwrap();
        assert_eq!(vector.terms(), [(1, 2.0)]);
        assert_eq!(vector.squared_length(), 4.0);
        assert_eq!(SparseVector::default().dot(&vector), 0.0);
    }

    #[test]
    fn weights_that_are_not_finite_are_refused() {
        let error = SparseVector::dense(&[1.0, f32::INFINITY]).unwrap_err();
        assert_eq!(error, ClassifyError::NotFinite { term: 1, weight: f32::INFINITY });
        assert!(SparseVector::new(vec![(3, f32::NAN)]).is_err());
        assert!(SparseVector::new(vec![(3, f32::MAX), (3, f32::MAX)]).is_err());
    }
}
