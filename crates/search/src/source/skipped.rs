//! Documents that were skipped because they cannot be read.

use rankwright_data::{DataError, SourceLocation};
use serde::Serialize;

use crate::error::SearchError;

/// A document that was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SkippedDocument {
    /// The location of the document.
    pub location: SourceLocation,
    /// The reason why it cannot be read.
    pub reason: String,
}

/// The documents that were skipped: their number, and the first of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct SkippedDocuments {
    /// The number of skipped documents.
    pub documents: u64,
    /// The first skipped documents, at most [`SkippedDocuments::KEPT`].
    pub first: Vec<SkippedDocument>,
}

impl SkippedDocuments {
    /// Maximum number of documents whose location and reason are kept.
    pub const KEPT: usize = 100;

    /// Counts the document that an error is about; false if the error is not about one document.
    pub(super) fn add(&mut self, error: &SearchError) -> bool {
        let SearchError::Data(error) = error else { return false };
        let DataError::Malformed { location, found, expected, .. } = &**error else { return false };
        self.documents += 1;
        if self.first.len() < Self::KEPT {
            let reason = format!("found {found}, expected {expected}");
            self.first.push(SkippedDocument { location: (**location).clone(), reason });
        }
        true
    }
}
