//! Several files whose common switch from old to new was interrupted, and cannot be finished.

use std::io;

/// The reason why an unfinished write of several files cannot be finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnfinishedWrite {
    /// The list of changes cannot be read as one.
    #[error("it is not a list of changes of this program")]
    NotAList,
    /// The list belongs neither to this user nor to the owner of the folder.
    #[error("it belongs to another user")]
    OtherUser,
    /// Another process holds the list and does not finish.
    #[error("another process has held it for {seconds} s")]
    InUse {
        /// The time that was waited.
        seconds: u64,
    },
    /// A new file is gone before it got its name.
    #[error(
        "the new content of {file} is not there any more, so that the files do not belong together"
    )]
    Missing {
        /// The file that should have it.
        file: String,
    },
    /// The system refuses one of the changes.
    #[error("{file} cannot be changed: {source}")]
    System {
        /// The file to be replaced or removed.
        file: String,
        /// The system's own error.
        source: io::Error,
    },
}

impl UnfinishedWrite {
    /// A remedy.
    pub(super) fn remedy(&self) -> &'static str {
        match self {
            UnfinishedWrite::InUse { .. } => "wait until that process ends",
            UnfinishedWrite::OtherUser => {
                "ask that user to read one of the files, which finishes the write; or remove the list \
                 and write the files again"
            }
            UnfinishedWrite::NotAList | UnfinishedWrite::Missing { .. } => {
                "remove the list and write the files again"
            }
            UnfinishedWrite::System { .. } => {
                "make it possible to replace that file, and read again; or remove the list and write \
                 the files again"
            }
        }
    }
}
