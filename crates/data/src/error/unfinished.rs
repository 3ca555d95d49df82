//! Reasons why an interrupted write of several files (see `store/switch.rs`) cannot be finished.

use std::io;

/// The reason why an unfinished write of several files cannot be finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnfinishedWrite {
    /// The file with the name of a list of changes has another content.
    #[error("it is not a list of changes of this program")]
    NotAList,
    /// The list belongs neither to this user nor to the owner of the folder.
    #[error("it belongs to another user")]
    OtherUser,
    /// Another process has the list locked and does not finish.
    #[error("another process has held it for {seconds} s")]
    InUse {
        /// The time that was waited.
        seconds: u64,
    },
    /// The temporary file with the new content of a file was removed before it got its final name.
    #[error("the new content of {file} no longer exists, so that old and new files may be mixed")]
    Missing {
        /// The file that should have the new content.
        file: String,
    },
    /// The operating system refuses one of the changes.
    #[error("{file} cannot be changed: {source}")]
    System {
        /// The file to be replaced or removed.
        file: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl UnfinishedWrite {
    /// A remedy: what the user can do about the problem.
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
