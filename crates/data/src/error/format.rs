//! Reasons why the format of a file cannot be detected or is not supported.

use super::Remedy;
use crate::format::{Format, format_names};

/// The reason why a file cannot be read as feature data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatProblem {
    /// The file is of a format that is known but not supported.
    #[error("this is {}", kind.description())]
    Unsupported {
        /// The format.
        kind: UnsupportedFormat,
    },
    /// The file is binary and of no known format.
    #[error("this is a binary file of an unknown format")]
    UnknownBinary,
    /// The first line of the file is of no known format.
    #[error("this is no ranking data: the first line has no known format")]
    UnknownText,
    /// The file is one JSON array.
    #[error("this is a JSON array, not one object per line")]
    JsonArray,
    /// The file is a list of scores.
    #[error("this file has one number per line; it is not feature data")]
    Scores,
    /// The file is a TREC run.
    #[error("this is a TREC run, not feature data")]
    Run,
    /// The file holds judgements.
    #[error("this is a file of judgements (qrels), not feature data")]
    Qrels,
    /// Two files of one data set have different formats.
    #[error("this is {}, but {first} is {}", found.info().name, expected.info().name)]
    Different {
        /// The format of this file.
        found: Format,
        /// The first file of the data set.
        first: String,
        /// Its format.
        expected: Format,
    },
    /// A cache is given together with another file.
    #[error("a cache is a whole data set and cannot be joined with {first}")]
    SecondCache {
        /// The first file.
        first: String,
    },
    /// The file is not a cache.
    #[error("this is not a Rankwright cache: it does not start with RWDATA")]
    NotACache,
}

/// A format that is detected in order to refuse it with advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnsupportedFormat {
    /// Parquet with an encrypted footer.
    EncryptedParquet,
    /// Feather of version 1.
    FeatherV1,
    /// A zip archive.
    Zip,
    /// HDF5.
    Hdf5,
    /// A NumPy array.
    NumPy,
    /// A file compressed with bzip2.
    Bzip2,
    /// A file compressed with xz.
    Xz,
    /// UTF-16 text.
    Utf16,
}

impl UnsupportedFormat {
    /// The format in words.
    fn description(self) -> &'static str {
        match self {
            Self::EncryptedParquet => "Parquet with an encrypted footer",
            Self::FeatherV1 => "Feather of version 1",
            Self::Zip => "a zip archive (or a spreadsheet, or .npz)",
            Self::Hdf5 => "HDF5",
            Self::NumPy => "a NumPy array",
            Self::Bzip2 => "compressed with bzip2",
            Self::Xz => "compressed with xz",
            Self::Utf16 => "UTF-16 text",
        }
    }

    fn remedy(self) -> Remedy {
        Remedy::from(match self {
            Self::EncryptedParquet => "write it again without encryption",
            Self::FeatherV1 => "write it again as Feather version 2 (Arrow IPC)",
            Self::Zip => "unpack it, or export it as CSV",
            Self::Hdf5 => "export it as Parquet or CSV",
            Self::NumPy => "export it as Parquet or CSV, with qid and label",
            Self::Bzip2 | Self::Xz => "decompress it, or compress it with gzip or zstd",
            Self::Utf16 => "save it as UTF-8",
        })
    }
}

impl FormatProblem {
    /// A remedy: what the user can do about the problem.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Unsupported { kind } => kind.remedy(),
            Self::UnknownBinary | Self::UnknownText => {
                format!("the formats are {}", format_names()).into()
            }
            Self::JsonArray => "write one object per line, for instance with `jq -c '.[]'`".into(),
            Self::Scores => Remedy::EvaluateScores,
            Self::Run | Self::Qrels => Remedy::EvaluateRun { formats: format_names() },
            Self::Different { .. } => {
                "all files of one data set must have the same format; convert one of them".into()
            }
            Self::SecondCache { .. } => Remedy::OneCache,
            Self::NotACache => Remedy::WriteCache,
        }
    }

    /// The remedy as text, in terms of this library.
    pub fn help(&self) -> Option<String> {
        Some(self.remedy().to_string())
    }
}
