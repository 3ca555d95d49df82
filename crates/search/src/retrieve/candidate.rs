//! A document of a ranking, bound to its index.

use crate::index::IndexId;

/// A document of a ranking: its number in the index that found it, and its score.
///
/// It can be used only with that index: other indexes return an error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The number of the document in the index.
    pub(crate) doc: u32,
    pub(crate) index: IndexId,
    /// The score.
    pub score: f64,
}

impl Candidate {
    /// Whether both are the same document, with any scores.
    pub(crate) fn is_same(&self, other: &Candidate) -> bool {
        self.doc == other.doc && self.index == other.index
    }
}
