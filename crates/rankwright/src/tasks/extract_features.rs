//! Features of candidates for many queries: feature data to train on, from an index.
//!
//! A row for each candidate of each query, labelled by the judgements. The feature set (specs of
//! the features, text analysis, first stage and number of candidates) is stored with the data:
//! inside of the file where its format can hold it, beside it otherwise (`OUT.features.toml`). A
//! training copies it into the model, where searches read it.

use std::path::{Path, PathBuf};

use rankwright_data::bytes::Input;
use rankwright_data::format::{Format, feature_set_path, write};
use rankwright_data::{DataError, SourceLocation};
use rankwright_search::{FeatureSeconds, FeatureSet, RowOptions, TrainingData, training_data};
use rankwright_spec::words::counted;
use serde::Serialize;

use super::candidates::open_index;
use super::context::RunningTask;
use super::eval::load_qrels;
use super::{
    CandidateOptions, Context, DataFiles, QueryFile, TaskError, TaskInputs, Warning, check_outputs,
    output_format,
};

/// The source of a feature set.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum FeatureSource {
    /// A feature set.
    Set(FeatureSet),
    /// A TOML file of a feature set.
    Toml(PathBuf),
    /// Feature data, with the feature set that it was computed with.
    Data(PathBuf),
}

impl FeatureSource {
    /// Reads a text: the path of a TOML file (`.toml`), the path of feature data, or a list of
    /// specs.
    ///
    /// ```
    /// use rankwright::tasks::FeatureSource;
    ///
    /// assert!(matches!(FeatureSource::parse("bm25, query-length")?, FeatureSource::Set(_)));
    /// assert!(matches!(FeatureSource::parse("my.toml")?, FeatureSource::Toml(_)));
    /// # Ok::<(), rankwright::tasks::TaskError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, TaskError> {
        match Path::new(text) {
            path if text.ends_with(".toml") => Ok(FeatureSource::Toml(path.to_owned())),
            path if path.is_file() => Ok(FeatureSource::Data(path.to_owned())),
            _ => Ok(FeatureSource::Set(FeatureSet::parse(text)?)),
        }
    }

    fn path(&self) -> Option<&Path> {
        match self {
            FeatureSource::Set(_) => None,
            FeatureSource::Toml(path) | FeatureSource::Data(path) => Some(path),
        }
    }

    fn load(&self, task: &mut RunningTask<'_>) -> Result<FeatureSet, TaskError> {
        match self {
            FeatureSource::Set(set) => Ok(set.clone()),
            FeatureSource::Toml(path) => {
                let input = Input::open(path)?;
                let text = std::str::from_utf8(&input.bytes).map_err(|_| {
                    let location = SourceLocation::file(&input.name);
                    DataError::malformed(location, "bytes that are no text", "UTF-8 text")
                })?;
                Ok(FeatureSet::from_toml(text)?)
            }
            FeatureSource::Data(path) => {
                let loaded = DataFiles::new([path]).load(None, task)?;
                let text = loaded.data.feature_set();
                let text = text.ok_or_else(|| TaskError::NoFeatureSet { data: path.clone() })?;
                Ok(FeatureSet::from_toml(text)?)
            }
        }
    }
}

impl Default for FeatureSource {
    fn default() -> Self {
        FeatureSource::Set(FeatureSet::new(vec!["default".to_owned()]))
    }
}

/// An index, queries, judgements, features, and the file for the data.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ExtractFeaturesRequest {
    /// Folder of the index.
    pub index: PathBuf,
    /// The queries.
    pub queries: QueryFile,
    /// File of judgements: the labels. Candidates without a judgement have label 0, queries without
    /// any are left out. All labels are 0 if no file is given.
    pub qrels: Option<PathBuf>,
    /// The features; the default set if not given.
    pub features: FeatureSource,
    /// The candidates.
    pub candidates: CandidateOptions,
    /// Whether to add judged documents that are not among the candidates.
    pub judged: bool,
    /// File for the data.
    pub out: PathBuf,
    /// The format to write; that of the file's extension if not given.
    pub format: Option<Format>,
}

impl TaskInputs for ExtractFeaturesRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let qrels = self.qrels.as_deref().into_iter();
        let files = qrels.chain([self.queries.path.as_path()]).chain(self.features.path());
        files.chain([self.index.as_path()]).map(Path::to_owned).collect()
    }
}

impl ExtractFeaturesRequest {
    /// Computes the default features of the candidates, without labels.
    pub fn new(index: impl Into<PathBuf>, queries: QueryFile, out: impl Into<PathBuf>) -> Self {
        ExtractFeaturesRequest {
            index: index.into(),
            queries,
            qrels: None,
            features: FeatureSource::default(),
            candidates: CandidateOptions::new(),
            judged: false,
            out: out.into(),
            format: None,
        }
    }

    /// Takes the labels from a file of judgements.
    pub fn qrels(mut self, file: impl Into<PathBuf>) -> Self {
        self.qrels = Some(file.into());
        self
    }

    /// Sets the features.
    pub fn features(mut self, features: FeatureSource) -> Self {
        self.features = features;
        self
    }

    /// Sets first stage, filter and number of candidates.
    pub fn candidates(mut self, candidates: CandidateOptions) -> Self {
        self.candidates = candidates;
        self
    }

    /// Sets whether to add judged documents that are not among the candidates.
    pub fn judged(mut self, judged: bool) -> Self {
        self.judged = judged;
        self
    }

    /// Sets the format to write.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }
}

/// The feature data that was written.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ExtractFeaturesResult {
    /// File of the data.
    pub out: PathBuf,
    /// File of the feature set: that of the data, or the one beside it.
    pub set: PathBuf,
    /// Number of queries with rows.
    pub queries: usize,
    /// Number of rows.
    pub rows: usize,
    /// Number of features.
    pub features: usize,
    /// Seconds of the steps.
    pub seconds: FeatureSeconds,
    /// Warnings about queries, the filter and the written format.
    pub warnings: Vec<Warning>,
}

/// Computes features of the candidates of many queries, and writes them as feature data.
pub fn extract_features(
    request: &ExtractFeaturesRequest,
    context: &Context<'_>,
) -> Result<ExtractFeaturesResult, TaskError> {
    let mut task = RunningTask::new(context);
    let out = &request.out;
    let set_file = feature_set_path(out);
    let outputs = [out.as_path(), &set_file];
    request.check_files(outputs)?;
    let format = output_format(out, request.format)?;
    let set = request.features.load(&mut task)?;
    // The features may read files, too: runs and word vectors.
    check_outputs(outputs, set.files().iter().map(PathBuf::as_path))?;
    let queries = request.queries.load(&mut task)?;
    let qrels = match &request.qrels {
        Some(path) => Some(load_qrels(path, &mut task)?),
        None => None,
    };
    let index = open_index(&request.index, &task)?;
    let filter = request.candidates.make_filter(&index)?;
    let options = RowOptions::new()
        .first_stage(request.candidates.first_stage.clone())
        .candidates(request.candidates.count)
        .judged(request.judged)
        .syntax(request.candidates.syntax)
        .filter(filter.as_ref());
    let step = format!("computing features for {}", counted(queries.len(), "query"));
    let work = || training_data(index, queries, qrels.as_ref(), &set, &options);
    let TrainingData { data, queries, rows, features, seconds, warnings, .. } =
        task.step(&step, work)?.0;
    task.warn_of_search(warnings);
    let step = format!("writing {}", out.display());
    let (write_warnings, _) = task.step(&step, || write(&data, out, format))?;
    task.warn_of(&write_warnings);
    Ok(ExtractFeaturesResult {
        out: out.clone(),
        set: if set_file.is_file() { set_file } else { out.clone() },
        queries,
        rows,
        features,
        seconds,
        warnings: task.into_warnings(),
    })
}
