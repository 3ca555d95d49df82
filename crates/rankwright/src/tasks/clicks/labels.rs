//! Feature data with labels from clicks: training data without judgements.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_clicks::LogFeatureRows;
use rankwright_clicks::bias::BiasOptions;
use rankwright_clicks::labels::{
    ClickLabelOptions, ClickLabels, LabelSource, LabelledRows, LabelledRowsForm, UnshownRows,
};
use rankwright_clicks::log::LogCounts;
use rankwright_clicks::regression::RelevanceModel;
use rankwright_data::Dataset;
use rankwright_data::format::{Format, feature_set_path, write};
use rankwright_spec::check_params;
use serde::{Deserialize, Serialize};

use super::LogSource;
use super::examination::{ExaminationSource, LogCollector};
use crate::tasks::context::RunningTask;
use crate::tasks::paths::check_used;
use crate::tasks::{Context, DataSource, ReadRules, TaskError, TaskInputs, Warning, output_format};

/// A click log, feature data of its documents, and the labels to make.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LabelClicksRequest {
    /// The log.
    pub log: LogSource,
    /// Feature data, joined with the log by the ids of query and document. It needs no labels.
    pub features: DataSource,
    /// The source of labels.
    #[serde(default)]
    pub source: LabelSource,
    /// The examination of ranks, for `ips` and `dr`.
    #[serde(default)]
    pub examination: ExaminationSource,
    /// Options of the examination if it is estimated.
    #[serde(default)]
    pub bias: BiasOptions,
    /// The largest weight 1 / examination, and the number of grades that labels are cut into.
    #[serde(default)]
    pub options: ClickLabelOptions,
    /// The treatment of rows that the log does not show.
    #[serde(default)]
    pub unshown: UnshownRows,
    /// The file to write; without one, the result has the data.
    pub out: Option<PathBuf>,
    /// The format to write; that of the file's extension if not given.
    pub format: Option<Format>,
}

impl TaskInputs for LabelClicksRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let others = self.features.paths().chain(self.examination.path());
        self.log.paths().chain(others).map(Path::to_owned).collect()
    }
}

impl LabelClicksRequest {
    /// Labels by clicks over expected clicks, without grades, for the rows that the log shows.
    pub fn new(log: impl Into<LogSource>, features: impl Into<DataSource>) -> Self {
        Self {
            log: log.into(),
            features: features.into(),
            source: LabelSource::default(),
            examination: ExaminationSource::default(),
            bias: BiasOptions::default(),
            options: ClickLabelOptions::default(),
            unshown: UnshownRows::default(),
            out: None,
            format: None,
        }
    }

    /// Sets the source of labels.
    pub fn source(mut self, source: LabelSource) -> Self {
        self.source = source;
        self
    }

    /// Sets the examination of ranks.
    pub fn examination(mut self, examination: ExaminationSource) -> Self {
        self.examination = examination;
        self
    }

    /// Sets the options of the examination if it is estimated: the name of the random ranker, and
    /// the impressions that link ranks.
    pub fn bias(mut self, options: BiasOptions) -> Self {
        self.bias = options;
        self
    }

    /// Sets the largest weight 1 / examination.
    pub fn clip(mut self, clip: Option<f64>) -> Self {
        self.options.clip = clip;
        self
    }

    /// Sets the number of grades.
    pub fn grades(mut self, grades: Option<u32>) -> Self {
        self.options.grades = grades;
        self
    }

    /// Sets the treatment of rows that the log does not show.
    pub fn unshown(mut self, unshown: UnshownRows) -> Self {
        self.unshown = unshown;
        self
    }

    /// Sets the file to write.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }

    /// Sets the format to write.
    pub fn format(mut self, format: Option<Format>) -> Self {
        self.format = format;
        self
    }
}

/// Labelled feature data, in a file or in memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LabelClicksResult {
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
    /// Name of its format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<&'static str>,
    /// The data, if no file was written. It is not part of the JSON form.
    #[serde(skip)]
    pub data: Option<Arc<Dataset>>,
    /// Name of the source of labels.
    pub source: &'static str,
    /// Number of rows.
    pub rows: usize,
    /// Number of queries.
    pub queries: usize,
    /// Number of rows that the log shows.
    pub shown: usize,
    /// Number of rows with a click.
    pub clicked: usize,
    /// Number of rows of the data that the log does not show; written only if requested.
    pub unshown: usize,
    /// The mean of the labels.
    pub mean_label: f64,
    /// The largest label.
    pub max_label: f64,
    /// The examination of each rank, by which `ips` and `dr` weight clicks; otherwise empty.
    pub examination: Vec<Option<f64>>,
    /// The largest weight of a click, if it was limited.
    pub clip: Option<f64>,
    /// Number of ranks whose weight was limited.
    pub clipped_ranks: usize,
    /// Counts of the log.
    pub counts: LogCounts,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

/// Makes feature data with labels from clicks, with the number of impressions as weight and the
/// most frequent rank as position of each row. Negative labels become 0.
pub fn label_clicks(
    request: &LabelClicksRequest,
    context: &Context<'_>,
) -> Result<LabelClicksResult, TaskError> {
    check_params(&request.options, "labels")?;
    check_params(&request.bias, "bias")?;
    let needs_examination = matches!(request.source, LabelSource::Ips | LabelSource::Dr);
    if !needs_examination {
        let reason = "labels of this source do not weight clicks";
        request.examination.check_unused(&request.bias, reason)?;
        check_used(request.options.clip.is_some(), "clip", reason)?;
    }
    let is_unused = request.format.is_some() && request.out.is_none();
    check_used(is_unused, "format", "no file is written")?;
    let out = request.out.as_deref();
    let format = out.map(|out| output_format(out, request.format)).transpose()?;
    let feature_set = out.map(feature_set_path);
    request.check_files(out.into_iter().chain(feature_set.as_deref()))?;
    let mut task = RunningTask::new(context);
    let mut collector = LogCollector::default();
    let random_ranker = &request.bias.random_ranker;
    let (counts, _) =
        request.log.read(&task, |impression| collector.add(impression, random_ranker))?;
    let log = collector.finish();
    let rules = ReadRules::default().labels_are_optional();
    let loaded = request.features.load(Some(rules), &mut task)?;
    let rows = LogFeatureRows::new(&loaded.data);
    let examination = match needs_examination {
        true => request.examination.examination(&request.bias, &log, Some(&rows), &task)?,
        false => Vec::new(),
    };
    let relevance = match request.source {
        LabelSource::Dr => {
            let features = rows.pair_features(&log.pages)?;
            let fit = || {
                let iterations = RelevanceModel::DEFAULT_ITERATIONS;
                let model = RelevanceModel::fit(&log.pages, features, &examination, iterations);
                Ok::<_, TaskError>(model)
            };
            Some(task.step("regressing relevance on features", fit)?.0)
        }
        _ => None,
    };
    let predicted = relevance.as_ref().map(|model| rows.relevance(&log.pages, model));
    let labels = ClickLabels::new(request.source)
        .examination(&examination)
        .relevance(predicted.as_deref().unwrap_or_default())
        .clip(request.options.clip)
        .of_pages(&log.pages)?;
    let labelled = LabelledRows::new(&labels, &rows)?;
    if labelled.unknown() > 0 {
        let (unknown, all) = (labelled.unknown(), labels.len());
        task.warn(Warning::UnknownLogDocuments { unknown, all });
    }
    let form = LabelledRowsForm {
        unshown: request.unshown,
        grades: request.options.grades,
        longest_page: log.pages.max_ranks(),
        relevance: relevance.as_ref(),
    };
    let data = labelled.data(&form)?;
    if let (Some(out), Some(format)) = (out, format) {
        let step = format!("writing {}", out.display());
        let (write_warnings, _) = task.step(&step, || write(&data, out, format))?;
        task.warn_of(&write_warnings);
    }
    let clip = request.options.clip.filter(|_| needs_examination);
    let is_clipped = |value: &f64| clip.is_some_and(|clip| *value > 0.0 && 1.0 / value > clip);
    Ok(LabelClicksResult {
        out: request.out.clone(),
        format: format.map(|format| format.info().name),
        source: request.source.name(),
        rows: data.rows(),
        queries: data.queries(),
        shown: labelled.shown(),
        clicked: labelled.clicked(),
        unshown: loaded.data.rows() - labelled.shown(),
        mean_label: data.labels().iter().sum::<f64>() / data.rows() as f64,
        max_label: data.labels().iter().copied().fold(0.0, f64::max),
        clipped_ranks: examination.iter().flatten().filter(|value| is_clipped(value)).count(),
        examination,
        clip,
        data: out.is_none().then(|| Arc::new(data)),
        counts,
        warnings: task.into_warnings(),
    })
}
