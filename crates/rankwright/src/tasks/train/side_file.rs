//! The side file of a model, `MODEL.log.json`: the result of the training, with its inputs and
//! environment.

use std::path::{Path, PathBuf};

use rankwright_data::store::{write_atomic, write_together};
use rankwright_learn::TrainingLog;
use rankwright_spec::visible;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{TrainModelRequest, TrainModelResult};
use crate::tasks::{DataSource, TaskError};

/// The content of the side file.
#[derive(Serialize)]
struct SideFile<'a> {
    #[serde(flatten)]
    result: &'a TrainModelResult,
    data: Vec<PathBuf>,
    validation: Vec<PathBuf>,
    conventions: &'a [String],
    threads: usize,
    version: &'static str,
}

/// Writes the side file; nothing if the model is not an ordinary file.
pub(super) fn write(
    request: &TrainModelRequest,
    out: &Path,
    result: &TrainModelResult,
) -> Result<(), TaskError> {
    if !out.is_file() {
        return Ok(());
    }
    let content = SideFile {
        result,
        data: request.data.names(),
        validation: request.valid.iter().flat_map(DataSource::names).collect(),
        conventions: &result.history.conventions,
        threads: rayon::current_num_threads(),
        version: env!("CARGO_PKG_VERSION"),
    };
    let text = serde_json::to_value(&content).map_err(|error| TaskError::Internal {
        invariant: format!("a training can be written as JSON ({error})"),
    })?;
    let path = TrainingLog::path_of(out);
    let text = format!("{text:#}\n");
    Ok(write_atomic(&path, |file| file.write_all(visible::json(&text).as_bytes()))?)
}

/// Removes the log of an earlier training beside a model that was written without a log of its own.
/// A file that is no such log stays. A log that cannot be removed does no harm: it records the
/// SHA-256 of its own model, by which readers tell that it belongs to another one.
pub(in crate::tasks) fn remove_old_log(model: &Path) {
    if let Ok(Some(_)) = TrainingLog::read_for_model(model) {
        let _ = write_together([(TrainingLog::path_of(model), None)]);
    }
}

/// SHA-256 in hexadecimal.
pub(in crate::tasks) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The largest memory of this process so far, in bytes, if the system reports it.
pub(super) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1024)
}
