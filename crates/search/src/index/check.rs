//! Checks of the files of an index, and of their content as tantivy reads it.

use std::path::{Path, PathBuf};

use rankwright_data::catch_panic;
use rayon::prelude::*;
use tantivy::{Directory as _, SegmentReader};

use super::layout::ID;
use crate::error::{IndexDamage, SearchError};

/// Runs code that reads tantivy's files; a panic caused by damage becomes an error.
pub(super) fn catch_damage<T>(
    path: &Path,
    work: impl FnOnce() -> Result<T, SearchError>,
) -> Result<T, SearchError> {
    match catch_panic(work) {
        Ok(result) => result,
        Err(message) => {
            Err(SearchError::Damaged { path: path.into(), damage: IndexDamage::Panic { message } })
        }
    }
}

/// Compares the files in use with the checksums at their ends. Bytes that changed on disk would
/// otherwise be read as other numbers, or as lengths that exceed the memory. Cost: one pass over
/// the files.
pub(super) fn check_files(path: &Path, index: &tantivy::Index) -> Result<(), SearchError> {
    let failed = |error: tantivy::TantivyError| SearchError::tantivy(path, &error);
    let metas = index.load_metas().map_err(failed)?;
    let mut files: Vec<PathBuf> = metas.list_segment_files().into_iter().collect();
    files.sort_unstable();
    let directory = index.directory();
    let check = |file: &PathBuf| -> Result<(), SearchError> {
        // The list also names optional files of a segment; if a required file is missing, opening
        // the segment fails later.
        if !directory.exists(file).map_err(|error| failed(error.into()))?
            || directory.validate_checksum(file).map_err(|error| failed(error.into()))?
        {
            return Ok(());
        }
        let damage = IndexDamage::Checksum { file: file.clone() };
        Err(SearchError::Damaged { path: path.into(), damage })
    };
    let checked: Vec<Result<(), SearchError>> = files.par_iter().map(check).collect();
    checked.into_iter().collect()
}

/// Checks that each document of a segment has an id, by comparing their numbers.
pub(super) fn check_documents(path: &Path, reader: &SegmentReader) -> Result<(), SearchError> {
    let failed = |error: tantivy::TantivyError| SearchError::tantivy(path, &error);
    let ids = reader.fast_fields().str(ID).map_err(failed)?;
    let (documents, ids) = (reader.max_doc(), ids.map_or(0, |ids| ids.ords().num_docs()));
    if documents == ids {
        return Ok(());
    }
    let damage = IndexDamage::SegmentIds { documents, ids };
    Err(SearchError::Damaged { path: path.into(), damage })
}
