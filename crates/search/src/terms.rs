//! The words of a query as terms: different ones in order of first appearance, and how often each.

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
    /// The query as places in `terms`.
    sequence: Vec<usize>,
    /// Where each word of it stands, removed words counted.
    places: Vec<usize>,
}

impl Terms {
    /// Analyses a query. Stop words may leave nothing of it.
    pub fn new(text: &str, analysis: &Analysis) -> Self {
        let mut found = Self::default();
        for (term, place) in analysis.words(text) {
            let known = found.terms.iter().position(|(known, _)| *known == term);
            let at = known.unwrap_or_else(|| {
                found.terms.push((term, 0));
                found.terms.len() - 1
            });
            found.terms[at].1 += 1;
            found.sequence.push(at);
            found.places.push(place);
        }
        found
    }

    /// Terms, repeated ones included.
    pub fn length(&self) -> usize {
        self.sequence.len()
    }

    /// Whether nothing is left of the query.
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

    /// The query as places among the different terms.
    pub(crate) fn sequence(&self) -> &[usize] {
        &self.sequence
    }

    /// Where each word of the query stands, removed words counted.
    pub(crate) fn places(&self) -> &[usize] {
        &self.places
    }
}
