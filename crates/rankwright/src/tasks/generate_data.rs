//! Generated data: feature data, or a store of documents with queries and judgements.

use std::path::PathBuf;

use rankwright_data::format::{Format, write};
use rankwright_data::generate::{HomepagesOptions, LetorOptions, StoreOptions};
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::split_data::make_folder;
use super::{Context, TaskError, Warning, output_format};

/// Options of feature data to generate.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GenerateLetorRequest {
    /// Sizes and seed.
    #[serde(default)]
    pub options: LetorOptions,
    /// The file to write.
    pub out: PathBuf,
    /// The format to write; that of the file's extension if not given.
    pub format: Option<Format>,
}

impl GenerateLetorRequest {
    /// Writes the data in the format of the file's extension.
    pub fn new(options: LetorOptions, out: impl Into<PathBuf>) -> Self {
        GenerateLetorRequest { options, out: out.into(), format: None }
    }
}

/// The result of generating feature data.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct GenerateLetorResult {
    /// The file.
    pub out: PathBuf,
    /// The seed.
    pub seed: u64,
    /// Number of rows.
    pub rows: usize,
    /// Number of queries.
    pub queries: usize,
    /// Number of features.
    pub features: usize,
    /// Seconds of the steps.
    pub seconds: GenerateSeconds,
    /// Warnings about the written format.
    pub warnings: Vec<Warning>,
}

/// Seconds of the steps of generating data.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct GenerateSeconds {
    /// Generating.
    pub generate: f64,
    /// Writing.
    pub write: f64,
}

/// Generates feature data and writes it.
pub fn generate_letor(
    request: &GenerateLetorRequest,
    context: &Context<'_>,
) -> Result<GenerateLetorResult, TaskError> {
    let mut task = RunningTask::new(context);
    let format = output_format(&request.out, request.format)?;
    // Features of LETOR text have numbers and no names.
    let (data, generate) = task.step("generating", || match format {
        Format::Letor => request.options.generate(),
        _ => request.options.generate_named(),
    })?;
    let name = format!("writing {}", request.out.display());
    let (write_warnings, seconds) = task.step(&name, || write(&data, &request.out, format))?;
    task.warn_of(&write_warnings);
    Ok(GenerateLetorResult {
        out: request.out.clone(),
        seed: request.options.seed,
        rows: data.rows(),
        queries: data.queries(),
        features: data.columns(),
        seconds: GenerateSeconds { generate, write: seconds },
        warnings: task.into_warnings(),
    })
}

/// Options of a store of documents to generate.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GenerateStoreRequest {
    /// Sizes and seed.
    #[serde(default)]
    pub options: StoreOptions,
    /// Folder to write documents, queries and judgements into; created if needed.
    pub out: PathBuf,
}

impl GenerateStoreRequest {
    /// Writes the store into this folder.
    pub fn new(options: StoreOptions, out: impl Into<PathBuf>) -> Self {
        GenerateStoreRequest { options, out: out.into() }
    }
}

/// The result of generating a store.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct GenerateStoreResult {
    /// The folder.
    pub out: PathBuf,
    /// The seed.
    pub seed: u64,
    /// Number of documents.
    pub records: usize,
    /// Number of queries.
    pub queries: usize,
    /// Number of judgements.
    pub judgements: usize,
    /// Seconds of the steps.
    pub seconds: GenerateSeconds,
    /// Warnings; none so far.
    pub warnings: Vec<Warning>,
}

/// Generates a store of documents with queries and judgements, and writes it.
pub fn generate_store(
    request: &GenerateStoreRequest,
    context: &Context<'_>,
) -> Result<GenerateStoreResult, TaskError> {
    let task = RunningTask::new(context);
    let (store, generate) = task.step("generating", || request.options.generate())?;
    make_folder(&request.out)?;
    let name = format!("writing into {}", request.out.display());
    let (_, seconds) = task.step(&name, || store.write(&request.out))?;
    Ok(GenerateStoreResult {
        out: request.out.clone(),
        seed: request.options.seed,
        records: store.documents.len(),
        queries: store.queries.len(),
        judgements: store.qrels.lists().documents(),
        seconds: GenerateSeconds { generate, write: seconds },
        warnings: task.into_warnings(),
    })
}

/// Options of a web of homepages to generate.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GenerateHomepagesRequest {
    /// Sizes and seed.
    #[serde(default)]
    pub options: HomepagesOptions,
    /// Folder to write pages, queries and judgements into; created if needed.
    pub out: PathBuf,
}

impl GenerateHomepagesRequest {
    /// Writes the pages into this folder.
    pub fn new(options: HomepagesOptions, out: impl Into<PathBuf>) -> Self {
        GenerateHomepagesRequest { options, out: out.into() }
    }
}

/// The result of generating a web of homepages.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct GenerateHomepagesResult {
    /// The folder.
    pub out: PathBuf,
    /// The seed.
    pub seed: u64,
    /// Number of pages.
    pub pages: usize,
    /// Number of queries.
    pub queries: usize,
    /// Seconds of the steps.
    pub seconds: GenerateSeconds,
    /// Warnings; none so far.
    pub warnings: Vec<Warning>,
}

/// Generates a web of homepages with queries and judgements, and writes it.
pub fn generate_homepages(
    request: &GenerateHomepagesRequest,
    context: &Context<'_>,
) -> Result<GenerateHomepagesResult, TaskError> {
    let task = RunningTask::new(context);
    let (web, generate) = task.step("generating", || request.options.generate())?;
    make_folder(&request.out)?;
    let name = format!("writing into {}", request.out.display());
    let (_, seconds) = task.step(&name, || web.write(&request.out))?;
    Ok(GenerateHomepagesResult {
        out: request.out.clone(),
        seed: request.options.seed,
        pages: web.pages.len(),
        queries: web.queries.len(),
        seconds: GenerateSeconds { generate, write: seconds },
        warnings: task.into_warnings(),
    })
}
