//! The ids of all documents, in memory: the id of a document number, and the number of an id by
//! binary search.
//!
//! Numbers are positions in the index and have no meaning outside of it. Documents of equal score
//! are ordered by id (the larger id first, as in run files), so that results do not depend on the
//! segments of the index.

use rankwright_data::Strings;

/// Ids by document number.
#[derive(Debug, Default)]
pub(crate) struct DocumentIds {
    /// The id of each document.
    texts: Strings,
    /// Documents that are not deleted, ascending by id.
    sorted: Vec<u32>,
    /// The index of each document in `sorted`; 0 for deleted documents.
    ranks: Vec<u32>,
}

impl DocumentIds {
    /// Takes the ids of all documents; `is_alive` is false for deleted documents.
    pub(crate) fn new(texts: Strings, is_alive: impl Fn(u32) -> bool) -> Self {
        let mut sorted: Vec<u32> = (0..texts.len() as u32).filter(|&doc| is_alive(doc)).collect();
        sorted.sort_unstable_by(|&a, &b| texts.get(a as usize).cmp(texts.get(b as usize)));
        let mut ranks = vec![0; texts.len()];
        for (rank, &doc) in sorted.iter().enumerate() {
            ranks[doc as usize] = rank as u32;
        }
        Self { texts, sorted, ranks }
    }

    /// The id of a document.
    pub(crate) fn get(&self, doc: u32) -> &str {
        self.texts.get(doc as usize)
    }

    /// The document with an id, if there is one that is not deleted.
    pub(crate) fn find(&self, id: &str) -> Option<u32> {
        let found = self.sorted.binary_search_by(|&doc| self.get(doc).cmp(id));
        found.ok().and_then(|rank| self.sorted.get(rank)).copied()
    }

    /// An id that two documents have which are not deleted: the index is damaged.
    pub(crate) fn repeated(&self) -> Option<&str> {
        let pair = self.sorted.windows(2).find(|pair| self.get(pair[0]) == self.get(pair[1]));
        pair.map(|pair| self.get(pair[0]))
    }

    /// The position of a document among all documents that are not deleted, ascending by id.
    pub(crate) fn rank(&self, doc: u32) -> u32 {
        self.ranks[doc as usize]
    }

    /// Documents that are not deleted, ascending by id.
    pub(crate) fn sorted(&self) -> &[u32] {
        &self.sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_found_by_id_unless_deleted() {
        let mut texts = Strings::default();
        ["c", "a", "b"].iter().for_each(|id| texts.push(id));
        let ids = DocumentIds::new(texts, |doc| doc != 2);
        assert_eq!((ids.find("a"), ids.find("b"), ids.find("c")), (Some(1), None, Some(0)));
        assert_eq!((ids.rank(1), ids.rank(0)), (0, 1));
        assert_eq!(ids.sorted(), [1, 0]);
        assert_eq!(ids.repeated(), None);
    }

    #[test]
    fn an_id_that_two_documents_have_is_found_unless_one_is_deleted() {
        let texts = || {
            let mut texts = Strings::default();
            ["b", "a", "b"].iter().for_each(|id| texts.push(id));
            texts
        };
        assert_eq!(DocumentIds::new(texts(), |_| true).repeated(), Some("b"));
        assert_eq!(DocumentIds::new(texts(), |doc| doc != 0).repeated(), None);
    }
}
