//! Explanation of a ranking: the contribution of each feature to the scores of a query's documents.

use std::path::{Path, PathBuf};

use rankwright_data::Dataset;
use rankwright_model::{ExplainOptions, Model};
use rankwright_report::explanation::{ExplanationRequest, RankingExplanation, explain};
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::paths::check_used;
use super::{
    Context, DataSource, ModelSource, ReadRules, TaskError, TaskInputs, Warning, matching,
};

/// A model, data, and the explanations to compute.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExplainRequest {
    /// The model.
    pub model: ModelSource,
    /// The data.
    pub data: DataSource,
    /// Background data: contributions are relative to the mean score of its documents. If not
    /// given: for trees the rows that they were trained on, for linear models a document of zeros,
    /// for nets and blends the data itself.
    pub background: Option<DataSource>,
    /// Id of the query; a sample of the whole data set is explained if not given.
    pub query: Option<String>,
    /// Documents of the query, by id or row number from 0; all of them if none is named.
    #[serde(default)]
    pub documents: Vec<String>,
    /// Two documents of the query; explains why the first is ranked above the second.
    pub pair: Option<[String; 2]>,
    /// Names of the features whose partial dependence is computed.
    #[serde(default)]
    pub dependence: Vec<String>,
    /// Number of curves of single documents in each partial dependence.
    #[serde(default)]
    pub curves: usize,
    /// Seed, permutations for nets, and whether to ignore features that the model does not know.
    #[serde(default)]
    pub options: ExplainOptions,
}

impl ExplainRequest {
    /// Explains the scores of a sample of the whole data set.
    pub fn new(model: impl Into<ModelSource>, data: impl Into<DataSource>) -> Self {
        ExplainRequest {
            model: model.into(),
            data: data.into(),
            background: None,
            query: None,
            documents: Vec::new(),
            pair: None,
            dependence: Vec::new(),
            curves: 0,
            options: ExplainOptions::default(),
        }
    }

    /// Explains the ranking of this query.
    pub fn query(mut self, id: impl Into<String>) -> Self {
        self.query = Some(id.into());
        self
    }

    /// Explains why the first of two documents of the query is ranked above the second.
    pub fn pair(mut self, above: impl Into<String>, below: impl Into<String>) -> Self {
        self.pair = Some([above.into(), below.into()]);
        self
    }
}

impl TaskInputs for ExplainRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let background = self.background.iter().flat_map(DataSource::paths);
        let data = self.data.paths().chain(background);
        self.model.path().into_iter().chain(data).map(Path::to_owned).collect()
    }
}

/// Contributions of features to scores.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ExplainResult {
    /// The explanation.
    #[serde(flatten)]
    pub explanation: RankingExplanation,
    /// Features that scores depend on and the data lacks.
    pub features_not_in_data: Vec<String>,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

/// Explains a ranking.
pub fn explain_ranking(
    request: &ExplainRequest,
    context: &Context<'_>,
) -> Result<ExplainResult, TaskError> {
    let mut task = RunningTask::new(context);
    request.check_files([])?;
    let mut data = request.background.iter().chain([&request.data]);
    check_used(
        data.any(DataSource::has_pair_file),
        "pairs",
        "scores do not depend on preferences",
    )?;
    let model = request.model.load()?;
    let rules = Some(ReadRules::of_model(&model).matched(request.options.matching));
    let data = request.data.load(rules.clone(), &mut task)?.data;
    let background = match &request.background {
        Some(source) => Some(source.load(rules, &mut task)?.data),
        None => None,
    };
    let missing = matching::check(&model, &data, request.options.matching, &mut task)?;
    let (explanation, _) =
        task.step("explaining", || explanation(request, &model, &data, background.as_deref()))?;
    Ok(ExplainResult { explanation, features_not_in_data: missing, warnings: task.into_warnings() })
}

/// Computes the explanation of loaded data.
fn explanation(
    request: &ExplainRequest,
    model: &Model,
    data: &Dataset,
    background: Option<&Dataset>,
) -> Result<RankingExplanation, TaskError> {
    let (model_name, data_name) = (request.model.name(), request.data.label());
    let background_name = request.background.as_ref().map(DataSource::label);
    let pair = request.pair.as_ref().map(|[above, below]| [above.as_str(), below.as_str()]);
    let explained = ExplanationRequest::new((&model_name, model), (&data_name, data))
        .background(background_name.as_deref().zip(background))
        .query(request.query.as_deref())
        .documents(&request.documents)
        .pair(pair)
        .dependence(&request.dependence)
        .curves(request.curves)
        .options(request.options);
    Ok(explain(&explained)?)
}
