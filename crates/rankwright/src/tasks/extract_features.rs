//! Features of candidates for many queries: feature data to train on, from an index.
//!
//! A row for each candidate of each query, labelled by the judgements. The feature set (specs of
//! the features, text analysis, first stage and number of candidates) is stored with the data:
//! inside of the file where its format can hold it, beside it otherwise (`OUT.features.toml`). A
//! training copies it into the model, where searches read it.

use std::path::{Path, PathBuf};

use rankwright_data::bytes::Input;
use rankwright_data::format::{Format, feature_set_path};
use rankwright_data::{DataError, SourceLocation};
use rankwright_search::{FeatureSet, RowOptions, SearchError, TrainingData, training_data};
use rankwright_spec::words::counted;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::context::RunningTask;
use super::convert_data::DataOutput;
use super::paths::check_used;
use super::sources::short_or_object;
use super::{
    CandidateOptions, Context, DataFiles, IndexSource, QrelsSource, QueriesSource, TaskError,
    TaskInputs, Warning, check_outputs,
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

/// The forms of [`FeatureSource`] in JSON beside a text, which is a list of specs.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FeatureSourceObject {
    Set(FeatureSet),
    Toml(PathBuf),
    Data(PathBuf),
}

impl From<FeatureSourceObject> for FeatureSource {
    fn from(object: FeatureSourceObject) -> Self {
        match object {
            FeatureSourceObject::Set(set) => FeatureSource::Set(set),
            FeatureSourceObject::Toml(path) => FeatureSource::Toml(path),
            FeatureSourceObject::Data(path) => FeatureSource::Data(path),
        }
    }
}

impl Serialize for FeatureSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let object = match self.clone() {
            FeatureSource::Set(set) if set == FeatureSet::new(set.features.clone()) => {
                return serializer.serialize_str(&set.features.join(", "));
            }
            FeatureSource::Set(set) => FeatureSourceObject::Set(set),
            FeatureSource::Toml(path) => FeatureSourceObject::Toml(path),
            FeatureSource::Data(path) => FeatureSourceObject::Data(path),
        };
        object.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FeatureSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "specs of features, or an object with `set`, `toml` or `data`";
        let texts =
            |texts: Vec<String>| FeatureSet::parse(&texts.join(", ")).map(FeatureSource::Set);
        short_or_object::<_, FeatureSourceResult, _>(deserializer, expected, texts)?
            .map_err(de::Error::custom)
    }
}

/// The source that an object names.
#[derive(Deserialize)]
#[serde(transparent)]
struct FeatureSourceResult(FeatureSourceObject);

impl From<FeatureSourceResult> for Result<FeatureSource, SearchError> {
    fn from(FeatureSourceResult(object): FeatureSourceResult) -> Self {
        Ok(object.into())
    }
}

impl Default for FeatureSource {
    fn default() -> Self {
        FeatureSource::Set(FeatureSet::new(vec!["default".to_owned()]))
    }
}

/// An index, queries, judgements, features, and the file for the data.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExtractFeaturesRequest {
    /// The index.
    pub index: IndexSource,
    /// The queries.
    pub queries: QueriesSource,
    /// Judgements: the labels. Candidates without a judgement have label 0, queries without
    /// any are left out. All labels are 0 without judgements.
    pub qrels: Option<QrelsSource>,
    /// The features; the default set if not given.
    #[serde(default)]
    pub features: FeatureSource,
    /// The candidates.
    #[serde(default)]
    pub candidates: CandidateOptions,
    /// Whether to add judged documents that are not among the candidates.
    #[serde(default)]
    pub judged: bool,
    /// File for the data; if not given, the result alone has it.
    pub out: Option<PathBuf>,
    /// The format to write; that of the file's extension if not given.
    pub format: Option<Format>,
}

impl TaskInputs for ExtractFeaturesRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let qrels = self.qrels.as_ref().and_then(QrelsSource::path).into_iter();
        let files = qrels.chain(self.queries.path()).chain(self.features.path());
        files.chain(self.index.path()).map(Path::to_owned).collect()
    }
}

impl ExtractFeaturesRequest {
    /// Computes the default features of the candidates, without labels.
    pub fn new(index: impl Into<IndexSource>, queries: impl Into<QueriesSource>) -> Self {
        ExtractFeaturesRequest {
            index: index.into(),
            queries: queries.into(),
            qrels: None,
            features: FeatureSource::default(),
            candidates: CandidateOptions::new(),
            judged: false,
            out: None,
            format: None,
        }
    }

    /// Sets the file for the data.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }

    /// Takes the labels from judgements.
    pub fn qrels(mut self, qrels: impl Into<QrelsSource>) -> Self {
        self.qrels = Some(qrels.into());
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

/// The feature data, and the files that were written.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ExtractFeaturesResult {
    /// File of the data, if one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
    /// File of the feature set: that of the data, or the one beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<PathBuf>,
    /// The data with its counts; its warnings are among those below.
    #[serde(flatten)]
    pub result: TrainingData,
    /// Warnings about queries, the filter and the written format.
    pub warnings: Vec<Warning>,
}

/// Computes features of the candidates of many queries, and writes them as feature data.
pub fn extract_features(
    request: &ExtractFeaturesRequest,
    context: &Context<'_>,
) -> Result<ExtractFeaturesResult, TaskError> {
    let mut task = RunningTask::new(context);
    check_used(request.judged && request.qrels.is_none(), "judged", "there are no judgements")?;
    let out = DataOutput::new(request.out.as_deref(), request.format, request)?;
    let set_file = request.out.as_deref().map(feature_set_path);
    let set = request.features.load(&mut task)?;
    // The features may read files, too: runs and word vectors.
    let outputs = request.out.as_deref().into_iter().chain(set_file.as_deref());
    check_outputs(outputs, set.files().iter().map(PathBuf::as_path))?;
    let queries = request.queries.load(&mut task)?;
    let qrels = match &request.qrels {
        Some(source) => Some(source.load(&mut task)?),
        None => None,
    };
    let index = request.index.open(&task)?;
    let filter = request.candidates.make_filter(&index)?;
    let options = RowOptions::new()
        .first_stage(request.candidates.first_stage.clone())
        .candidates(request.candidates.count)
        .judged(request.judged)
        .syntax(request.candidates.syntax)
        .filter(filter.as_ref());
    let step = format!("computing features for {}", counted(queries.len(), "query"));
    let work = || training_data(index, queries, qrels.as_deref(), &set, &options);
    let (mut result, _) = task.step(&step, work)?;
    task.warn_of_search(std::mem::take(&mut result.warnings));
    out.write(&result.data, &mut task)?;
    Ok(ExtractFeaturesResult {
        out: request.out.clone(),
        set: set_file.filter(|file| file.is_file()).or_else(|| request.out.clone()),
        result,
        warnings: task.into_warnings(),
    })
}
