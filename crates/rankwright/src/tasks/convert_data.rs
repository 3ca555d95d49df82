//! Conversion of data: any format to any other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_data::format::{FORMATS, Format, feature_set_path, write};
use rankwright_data::{Dataset, SummaryWarning};
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::paths::check_used;
use super::{Context, DataSource, TaskError, TaskInputs, Warning};

/// Data, and the file to write.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ConvertRequest {
    /// The data.
    pub data: DataSource,
    /// The file to write; if not given, the result alone has the data.
    pub out: Option<PathBuf>,
    /// The format to write; that of the file's extension if not given.
    pub format: Option<Format>,
}

impl TaskInputs for ConvertRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.data.paths().map(Path::to_owned).collect()
    }
}

impl ConvertRequest {
    /// Reads the data; [`out`](Self::out) is the file to write.
    pub fn new(data: impl Into<DataSource>) -> Self {
        ConvertRequest { data: data.into(), out: None, format: None }
    }

    /// Sets the file to write, in the format of its extension.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }

    /// Sets the format to write.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }
}

/// The data, and the file that was written.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ConvertResult {
    /// The file, if one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
    /// Name of its format; that of the data without a file.
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
    /// The data itself.
    #[serde(skip)]
    pub data: Arc<Dataset>,
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
    let out = DataOutput::new(request.out.as_deref(), request.format, request)?;
    let loaded = request.data.load(None, &mut task)?;
    let data = &loaded.data;
    let seconds = out.write(data, &mut task)?;
    if let Some(large) = SummaryWarning::of_large_values(data) {
        task.warn(Warning::Content(large));
    }
    Ok(ConvertResult {
        out: request.out.clone(),
        format: out.format().map_or(loaded.format_name(), |format| format.info().name),
        rows: data.rows(),
        queries: data.queries(),
        features: data.columns(),
        seconds: ConvertSeconds { load: loaded.seconds, write: seconds },
        warnings: task.into_warnings(),
        data: loaded.data,
    })
}

/// The file that a task writes feature data to, if it writes any.
pub(super) struct DataOutput<'a>(Option<(&'a Path, Format)>);

impl<'a> DataOutput<'a> {
    /// Checks the file: its format, and that neither it nor the feature set beside it would be
    /// written over a file that is read. A format without a file is an error.
    pub(super) fn new(
        out: Option<&'a Path>,
        format: Option<Format>,
        request: &impl TaskInputs,
    ) -> Result<Self, TaskError> {
        let Some(path) = out else {
            check_used(format.is_some(), "format", "no file is written")?;
            request.check_files([])?;
            return Ok(DataOutput(None));
        };
        let format = output_format(path, format)?;
        request.check_files([path, feature_set_path(path).as_path()])?;
        Ok(DataOutput(Some((path, format))))
    }

    /// The format of the file, if there is one.
    pub(super) fn format(&self) -> Option<Format> {
        self.0.map(|(_, format)| format)
    }

    /// Writes the data if there is a file; returns the seconds that it took.
    pub(super) fn write(
        &self,
        data: &Dataset,
        task: &mut RunningTask<'_>,
    ) -> Result<f64, TaskError> {
        let Some((path, format)) = self.0 else { return Ok(0.0) };
        let step = format!("writing {}", path.display());
        let (warnings, seconds) = task.step(&step, || write(data, path, format))?;
        task.warn_of(&warnings);
        Ok(seconds)
    }
}

/// The format to write: the given one, or that of the path's extension.
pub fn output_format(path: &Path, requested: Option<Format>) -> Result<Format, TaskError> {
    requested.or_else(|| Format::from_path(path)).ok_or_else(|| {
        let extensions = FORMATS.iter().filter_map(|info| info.extensions.first().copied());
        TaskError::UnknownExtension { path: path.to_owned(), known: extensions.collect() }
    })
}
