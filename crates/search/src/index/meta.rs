//! The description of an index: the file `rankwright.json` in its folder.
//!
//! An index is a folder with this file and one or more folders `generation-N`, each a whole tantivy
//! index. The file names the generation in use. A build writes a new generation and then replaces
//! the file, atomically; a build that is killed before that leaves the old generation in use.

use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::{Path, PathBuf};

use rankwright_data::bytes::read_whole;
use rankwright_data::store;
use serde::{Deserialize, Serialize};

use crate::analysis::Analysis;
use crate::error::{IndexDamage, SearchError};
use crate::schema::Schema;

/// The version of the folder's format.
const VERSION: u32 = 3;
/// The version of indexes whose analysis keeps stop words with accents, if accents are replaced.
/// Indexes whose language has no such words still have this version, so that older programs read them.
const KEEPS_ACCENTED_STOP_WORDS: u32 = 2;
/// The name of the file.
const FILE: &str = "rankwright.json";

/// The content of `rankwright.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Meta {
    /// The version of the folder's format.
    pub(crate) rankwright_index: u32,
    /// The number of the generation in use.
    pub(crate) generation: u64,
    /// The analysis, as a spec.
    pub(crate) analysis: String,
    /// The fields.
    pub(crate) schema: Schema,
}

impl Meta {
    /// The description of an index whose generation in use is `generation`.
    pub(crate) fn new(generation: u64, analysis: &Analysis, schema: Schema) -> Self {
        let rankwright_index = match analysis.has_accented_stop_words() {
            true => VERSION,
            false => KEEPS_ACCENTED_STOP_WORDS,
        };
        Self { rankwright_index, generation, analysis: analysis.to_string(), schema }
    }

    /// The analysis of the index.
    pub(crate) fn analysis(&self) -> Result<Analysis, SearchError> {
        let analysis = Analysis::parse(&self.analysis)?;
        Ok(match self.rankwright_index == KEEPS_ACCENTED_STOP_WORDS {
            true => analysis.keeping_accented_stop_words(),
            false => analysis,
        })
    }

    /// Reads the file of an index; `None` if there is no index.
    pub(crate) fn read(folder: &Path) -> Result<Option<Meta>, SearchError> {
        let path = folder.join(FILE);
        let file = match std::fs::File::open(&path) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(None),
            Err(error) => {
                return Err(SearchError::access(folder, error));
            }
        };
        let text = read_whole(&path.display().to_string(), file)?;
        let meta: Meta = serde_json::from_slice(&text).map_err(|error| SearchError::Damaged {
            path: folder.into(),
            damage: IndexDamage::Description { message: error.to_string() },
        })?;
        if !(KEEPS_ACCENTED_STOP_WORDS..=VERSION).contains(&meta.rankwright_index) {
            let (found, known) = (meta.rankwright_index, VERSION);
            return Err(SearchError::IndexVersion { path: folder.into(), found, known });
        }
        Ok(Some(meta))
    }

    /// Whether the file exists, readable or not.
    pub(crate) fn exists(folder: &Path) -> bool {
        folder.join(FILE).is_file()
    }

    /// Writes the file: from then on its generation is the one in use.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), SearchError> {
        store::write_atomic(folder.join(FILE), |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            writeln!(out)
        })?;
        Ok(())
    }

    /// The folder of the generation in use.
    pub(crate) fn folder(&self, index: &Path) -> PathBuf {
        generation_folder(index, self.generation)
    }
}

/// The folder of a generation.
pub(crate) fn generation_folder(index: &Path, number: u64) -> PathBuf {
    index.join(format!("generation-{number}"))
}

/// The numbers of all generations in an index's folder, in use or not.
pub(crate) fn generations(index: &Path) -> Vec<u64> {
    let entries = std::fs::read_dir(index).into_iter().flatten().flatten();
    let numbers = entries
        .filter_map(|entry| entry.file_name().to_str()?.strip_prefix("generation-")?.parse().ok());
    numbers.collect()
}

/// Temporary files of `rankwright.json` whose writer was killed.
pub(crate) fn temporary_files(index: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(index).into_iter().flatten().flatten();
    let temporary = entries.filter(|entry| store::is_temporary_name(&entry.file_name()));
    temporary.map(|entry| entry.path()).collect()
}

/// Files of a generation that tantivy was writing when its process was killed. Tantivy names such a
/// file `.tmp` and six letters or digits, and renames it when it is complete.
pub(crate) fn unfinished_files(generation: &Path) -> Vec<PathBuf> {
    let is_unfinished = |name: &str| {
        name.strip_prefix(".tmp")
            .is_some_and(|end| end.len() == 6 && end.bytes().all(|b| b.is_ascii_alphanumeric()))
    };
    let entries = std::fs::read_dir(generation).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_unfinished));
    files.map(|entry| entry.path()).collect()
}
