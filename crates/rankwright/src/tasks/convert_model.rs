//! Conversion of models: from the file of one system to that of another.

use std::path::PathBuf;

use rankwright_data::bytes::Input;
use rankwright_data::store::write_atomic;
use rankwright_model::{Model, ModelFormat};
use serde::Serialize;

use super::context::RunningTask;
use super::{Context, TaskError, TaskInputs, Warning};

/// A model, and the file to write.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ConvertModelRequest {
    /// File of the model, of any known system.
    pub model: PathBuf,
    /// Name of the format to write, such as `rankwright` or `lightgbm`.
    pub to: String,
    /// The file to write.
    pub out: PathBuf,
    /// Number of the first feature, for a model whose features have numbers and no names.
    pub first_feature: Option<u32>,
}

impl TaskInputs for ConvertModelRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        vec![self.model.clone()]
    }
}

impl ConvertModelRequest {
    /// Converts a model to another format.
    pub fn new(model: impl Into<PathBuf>, to: impl Into<String>, out: impl Into<PathBuf>) -> Self {
        let (model, to, out) = (model.into(), to.into(), out.into());
        ConvertModelRequest { model, to, out, first_feature: None }
    }
}

/// The model that was written.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ConvertModelResult {
    /// Name of the format that was read.
    pub from: &'static str,
    /// Name of the format that was written.
    pub to: &'static str,
    /// Number of features.
    pub features: usize,
    /// Size of the file that was written, in bytes.
    pub bytes: usize,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

/// Reads a model of any known system and writes it for another. A model that the other format
/// cannot express is an error.
pub fn convert_model(
    request: &ConvertModelRequest,
    context: &Context<'_>,
) -> Result<ConvertModelResult, TaskError> {
    let mut task = RunningTask::new(context);
    request.check_files([request.out.as_path()])?;
    let to = ModelFormat::find(&request.to)?;
    let step = format!("reading {}", request.model.display());
    let ((mut model, from), _) = task.step(&step, || read(request))?;
    if let Some(first) = request.first_feature {
        model = renumbered(model, first)?;
    }
    let bytes = model.to_bytes_as(to)?;
    write_atomic(&request.out, |file| file.write_all(&bytes))?;
    if to != ModelFormat::own() {
        lost_parts(&model, to).into_iter().for_each(|warning| task.warn(warning));
    }
    Ok(ConvertModelResult {
        from: from.name,
        to: to.name,
        features: model.header().features.len(),
        bytes: bytes.len(),
        warnings: task.into_warnings(),
    })
}

fn read(request: &ConvertModelRequest) -> Result<(Model, &'static ModelFormat), TaskError> {
    let input = Input::open(&request.model)?;
    let model = Model::from_bytes(&input.bytes).map_err(|error| error.in_file(&input.name))?;
    let format = ModelFormat::detect(&input.bytes);
    Ok((model, format.ok_or(TaskError::NoModel { file: input.name })?))
}

/// A warning for each part of a model that other formats than Rankwright's cannot hold.
fn lost_parts(model: &Model, to: &'static ModelFormat) -> Vec<Warning> {
    let header = model.header();
    let mut lost = Vec::new();
    if header.feature_set.is_some() {
        lost.push(Warning::FeatureSetLost { format: to.name });
    }
    if let Some(columns) = &header.table_columns {
        let categories = columns.all_categories().map(|(name, _)| name.to_owned()).collect();
        lost.push(Warning::TableColumnsLost { format: to.name, categories });
    }
    lost
}

/// The same model with its features numbered from `first`.
fn renumbered(model: Model, first: u32) -> Result<Model, TaskError> {
    let (mut header, body) = model.into_parts();
    match header.number_from(first) {
        true => Ok(Model::new(header, body)?),
        false => Err(TaskError::FeaturesHaveNames),
    }
}
