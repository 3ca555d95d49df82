//! The terms of a query: the different terms in order of first appearance, and their counts.

use crate::analysis::Analysis;

/// The terms of a query.
///
/// ```
/// use rankwright_search::{Analysis, Terms};
///
/// let terms = Terms::new("to be or not to rank", &Analysis::parse("plain")?);
/// assert_eq!(terms.length(), 6);
/// assert_eq!(terms.distinct().collect::<Vec<_>>(), ["to", "be", "or", "not", "rank"]);
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terms {
    /// Different terms with their counts.
    terms: Vec<(String, u32)>,
    /// The terms of the query in order, repeated ones too, as indices into `terms`.
    sequence: Vec<usize>,
    /// The position of each term of `sequence` among all words, including removed ones.
    positions: Vec<usize>,
}

impl Terms {
    /// Analyses a query. If it has only stop words, no term remains.
    pub fn new(text: &str, analysis: &Analysis) -> Self {
        let mut found = Self::default();
        for (term, position) in analysis.terms_with_positions(text) {
            let known = found.terms.iter().position(|(known, _)| *known == term);
            let number = known.unwrap_or_else(|| {
                found.terms.push((term, 0));
                found.terms.len() - 1
            });
            found.terms[number].1 += 1;
            found.sequence.push(number);
            found.positions.push(position);
        }
        found
    }

    /// Number of terms, including repeated ones.
    pub fn length(&self) -> usize {
        self.sequence.len()
    }

    /// Whether the query has no terms.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Different terms, in order of first appearance.
    pub fn distinct(&self) -> impl ExactSizeIterator<Item = &str> {
        self.terms.iter().map(|(term, _)| term.as_str())
    }

    /// Number of occurrences of each of the different terms.
    pub(crate) fn counts(&self) -> impl ExactSizeIterator<Item = u32> {
        self.terms.iter().map(|(_, count)| *count)
    }

    /// The terms of the query in order, repeated ones too, as indices of the different terms.
    pub(crate) fn sequence(&self) -> &[usize] {
        &self.sequence
    }

    /// The position of each term of the query among all words, including removed ones.
    pub(crate) fn positions(&self) -> &[usize] {
        &self.positions
    }
}
