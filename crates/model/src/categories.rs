//! A set of categories of a feature, stored as a bit for each category.
//!
//! A category is a whole number from 0 on. The category of a feature value is the whole part of the
//! value: 2.7 is category 2, -0.5 is category 0. Values of -1 and below, infinite values and NaN
//! are in no set.

use crate::error::ModelError;
use crate::problem::TreeProblem;

/// All categories are below this number, 2^24: an f32 cannot represent every larger whole number.
const MAX_CATEGORIES: u32 = 1 << 24;

/// A set of categories: those that go left at a split.
///
/// ```
/// use rankwright_model::Categories;
///
/// let set = Categories::new([1, 70])?;
/// assert!(set.contains(70.9) && !set.contains(2.0) && !set.contains(-1.0));
/// assert!(set.ids().eq([1, 70]));
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Categories {
    /// A bit for each category, 64 to a word; the last word is not 0, so that equal sets compare
    /// equal.
    words: Vec<u64>,
}

impl Categories {
    /// The set of these categories.
    pub fn new(ids: impl IntoIterator<Item = u32>) -> Result<Categories, ModelError> {
        let mut words = Vec::new();
        for id in ids {
            if id >= MAX_CATEGORIES {
                let problem = TreeProblem::Category { category: id };
                return Err(ModelError::InvalidTree(problem));
            }
            let word = id as usize / 64;
            if words.len() <= word {
                words.resize(word + 1, 0);
            }
            words[word] |= 1 << (id % 64);
        }
        Ok(Categories { words })
    }

    /// Whether a value's category is in the set.
    pub fn contains(&self, value: f32) -> bool {
        // Comparisons are false for NaN.
        if !(value > -1.0 && value < MAX_CATEGORIES as f32) {
            return false;
        }
        let id = value as u32;
        let word = self.words.get(id as usize / 64).copied().unwrap_or(0);
        word >> (id % 64) & 1 == 1
    }

    /// The categories, ascending.
    pub fn ids(&self) -> impl Iterator<Item = u32> {
        let words = self.words.iter().enumerate();
        words.flat_map(|(index, word)| {
            let set_bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            set_bits.map(move |bit| (index * 64 + bit) as u32)
        })
    }

    /// The bits, 64 to a word.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// A set from its bits, 64 to a word; the last word must not be 0, so that a set has only one
    /// form.
    pub(crate) fn from_words(words: Vec<u64>) -> Result<Categories, ModelError> {
        if words.len() > MAX_CATEGORIES as usize / 64 || words.last() == Some(&0) {
            let problem = TreeProblem::SetWords { words: words.len() };
            return Err(ModelError::InvalidTree(problem));
        }
        Ok(Categories { words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_part_counts_and_values_without_a_category_are_in_no_set() {
        let all = Categories::new(0..200).unwrap();
        for value in [0.0, -0.0, -0.9, 0.9, 199.5] {
            assert!(all.contains(value), "{value}");
        }
        for value in [-1.0, 200.0, 3e9, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert!(!all.contains(value), "{value}");
        }
        assert!(Categories::new([MAX_CATEGORIES]).is_err());
        assert!(!Categories::default().contains(0.0));
    }

    #[test]
    fn a_set_is_read_back_from_its_words_and_zeros_at_the_end_are_refused() {
        let set = Categories::new([3, 64, 129]).unwrap();
        assert_eq!(Categories::from_words(set.words().to_vec()).unwrap(), set);
        assert!(set.ids().eq([3, 64, 129]));
        assert!(Categories::from_words(vec![1, 0]).is_err());
    }
}
