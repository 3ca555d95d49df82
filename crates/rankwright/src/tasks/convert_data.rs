//! Conversion of data: any format to any other.

use std::path::{Path, PathBuf};

use rankwright_data::SummaryWarning;
use rankwright_data::format::{FORMATS, Format, feature_set_path, write};
use serde::Serialize;

use super::context::RunningTask;
use super::{Context, DataFiles, TaskError, TaskInputs, Warning};

/// Data, and the file to write.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ConvertRequest {
    /// The data.
    pub data: DataFiles,
    /// The file to write.
    pub out: PathBuf,
    /// The format to write; that of the file's extension if not given.
    pub format: Option<Format>,
}

impl TaskInputs for ConvertRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.data.paths().map(Path::to_owned).collect()
    }
}

impl ConvertRequest {
    /// Writes the data in the format of the file's extension.
    pub fn new(data: DataFiles, out: impl Into<PathBuf>) -> Self {
        ConvertRequest { data, out: out.into(), format: None }
    }

    /// Sets the format to write.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }
}

/// The file that was written.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ConvertResult {
    /// The file.
    pub out: PathBuf,
    /// Name of its format.
    pub format: &'static str,
    /// Number of rows.
    pub rows: usize,
    /// Number of queries.
    pub queries: usize,
    /// Number of features.
    pub features: usize,
    /// Seconds of the steps.
    pub seconds: ConvertSeconds,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

/// Seconds of the steps of a conversion.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct ConvertSeconds {
    /// Reading the data.
    pub load: f64,
    /// Writing it.
    pub write: f64,
}

/// Reads data in any format and writes it in another.
pub fn convert_data(
    request: &ConvertRequest,
    context: &Context<'_>,
) -> Result<ConvertResult, TaskError> {
    let mut task = RunningTask::new(context);
    let out = &request.out;
    let format = output_format(out, request.format)?;
    request.check_files([out.as_path(), &feature_set_path(out)])?;
    let loaded = request.data.load(None, &mut task)?;
    let data = &loaded.data;
    let name = format!("writing {}", out.display());
    let (write_warnings, seconds) = task.step(&name, || write(data, out, format))?;
    task.warn_of(&write_warnings);
    if let Some(large) = SummaryWarning::of_large_values(data) {
        task.warn(Warning::Content(large));
    }
    Ok(ConvertResult {
        out: out.clone(),
        format: format.info().name,
        rows: data.rows(),
        queries: data.queries(),
        features: data.columns(),
        seconds: ConvertSeconds { load: loaded.seconds, write: seconds },
        warnings: task.into_warnings(),
    })
}

/// The format to write: the given one, or that of the path's extension.
pub fn output_format(path: &Path, requested: Option<Format>) -> Result<Format, TaskError> {
    requested.or_else(|| Format::from_path(path)).ok_or_else(|| {
        let extensions = FORMATS.iter().filter_map(|info| info.extensions.first().copied());
        TaskError::UnknownExtension { path: path.to_owned(), known: extensions.collect() }
    })
}
