//! Progress of reading a log, for bars and messages of a program.

/// The part of a log that was read so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogProgress {
    /// The files are read.
    Reading {
        /// Number of bytes so far; of a compressed file those of its content.
        bytes: u64,
        /// Number of bytes of all files; `None` if one is a stream or compressed.
        total: Option<u64>,
    },
    /// All files are read, and clicks are joined with their impressions.
    Joining {
        /// Number of impressions so far.
        impressions: u64,
    },
    /// The log is read.
    Finished,
}

/// Number of impressions between two reports of a join.
const REPORT_IMPRESSIONS: u64 = 1 << 16;

/// Counts impressions and reports some of them.
pub(super) struct JoinProgress<'a> {
    pub(super) watch: &'a mut dyn FnMut(LogProgress),
    pub(super) impressions: u64,
}

impl JoinProgress<'_> {
    pub(super) fn add(&mut self) {
        self.impressions += 1;
        if self.impressions.is_multiple_of(REPORT_IMPRESSIONS) {
            (self.watch)(LogProgress::Joining { impressions: self.impressions });
        }
    }
}
