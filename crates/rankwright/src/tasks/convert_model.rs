//! Conversion of models: from the file of one system to that of another.

use std::path::{Path, PathBuf};

use rankwright_data::bytes::Input;
use rankwright_data::store::write_atomic;
use rankwright_model::{Model, ModelFormat};
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::{Context, ModelSource, TaskError, TaskInputs, Warning};

/// A model, and the file to write.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ConvertModelRequest {
    /// The model, of any known system.
    pub model: ModelSource,
    /// Name of the format to write, such as `rankwright` or `lightgbm`.
    pub to: String,
    /// The file to write; if not given, the result alone has the content.
    pub out: Option<PathBuf>,
    /// Number of the first feature, for a model whose features have numbers and no names.
    pub first_feature: Option<u32>,
}

impl TaskInputs for ConvertModelRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.model.path().map(Path::to_owned).into_iter().collect()
    }
}

impl ConvertModelRequest {
    /// Converts a model to another format.
    pub fn new(model: impl Into<ModelSource>, to: impl Into<String>) -> Self {
        let (model, to) = (model.into(), to.into());
        ConvertModelRequest { model, to, out: None, first_feature: None }
    }

    /// Sets the file to write.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }

    /// Numbers the features from this number on.
    pub fn first_feature(mut self, number: impl Into<Option<u32>>) -> Self {
        self.first_feature = number.into();
        self
    }
}

/// The converted model.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ConvertModelResult {
    /// Name of the format that was read.
    pub from: &'static str,
    /// Name of the format of the content.
    pub to: &'static str,
    /// Number of features.
    pub features: usize,
    /// Size of the content, in bytes.
    pub bytes: usize,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
    /// The content of the file.
    #[serde(skip)]
    pub content: Vec<u8>,
}

/// Reads a model of any known system and writes it for another. A model that the other format
/// cannot express is an error.
pub fn convert_model(
    request: &ConvertModelRequest,
    context: &Context<'_>,
) -> Result<ConvertModelResult, TaskError> {
    let mut task = RunningTask::new(context);
    request.check_files(request.out.as_deref())?;
    let to = ModelFormat::find(&request.to)?;
    let step = format!("reading {}", request.model.name());
    let ((mut model, from), _) = task.step(&step, || read(request))?;
    if let Some(first) = request.first_feature {
        model = renumbered(model, first)?;
    }
    let bytes = model.to_bytes_as(to)?;
    if let Some(out) = &request.out {
        write_atomic(out, |file| file.write_all(&bytes))?;
    }
    if to != ModelFormat::own() {
        lost_parts(&model, to).into_iter().for_each(|warning| task.warn(warning));
    }
    Ok(ConvertModelResult {
        from: from.name,
        to: to.name,
        features: model.header().features.len(),
        bytes: bytes.len(),
        warnings: task.into_warnings(),
        content: bytes,
    })
}

fn read(request: &ConvertModelRequest) -> Result<(Model, &'static ModelFormat), TaskError> {
    let path = match &request.model {
        ModelSource::File(path) => path,
        ModelSource::Memory { value, .. } => return Ok(((**value).clone(), ModelFormat::own())),
    };
    let input = Input::open(path)?;
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
