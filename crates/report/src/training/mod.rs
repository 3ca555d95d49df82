//! Training report: learning curves, lambdas, labels by rank, forces, times, feature importance and
//! trees; and the reports on one learner with several shrinkages, and with two goals.
//!
//! [`TrainingReport::new`] takes a model and the data that it was trained on. A stage is the model
//! after a number of rounds (`stages`). Tree models are scored stage by stage, each stage once for
//! all parts of the report; facts that cannot be recomputed (time, curves of other learners) come
//! from the log of the training. Parts that do not apply to a model are left out, with a sentence
//! that gives the reason. [`TrainingReport::page`] lays out the page. Results do not depend on the
//! number of threads.

mod classes;
mod curves;
mod forces;
mod importance;
mod labels;
mod lambdas;
mod layout;
mod leaderboard;
mod omission_reason;
mod pair_sizes;
mod phases;
mod result;
mod shrinkage;
mod stages;
#[cfg(test)]
mod tests;
mod trade_off;
mod trees;

use rankwright_data::{DEFAULT_SEED, Dataset};
use rankwright_eval::metric::AccuracyParams;
use rankwright_eval::{
    EvalOptions, Evaluation, Measure, ScoredDataset, SourceKind, measures_for_model,
    measures_without_boundary, metric_or_default,
};
use rankwright_learn::{AutoReport, TrainingLog};
use rankwright_model::{Model, ScoreOptions};
use rankwright_spec::{check_params, params};
use serde::Serialize;

use crate::error::ReportError;
use crate::page::PageBlock;
use crate::warning::ReportWarning;

pub use classes::Classes;
pub use curves::{BestRound, Curve};
pub use forces::{DocumentForces, ForceRecorder, QueryForces, StageForces};
pub use importance::{Importances, PermutationData, ReportedImportance};
pub use labels::LabelRanks;
pub use lambdas::{LambdaRecorder, LambdaSizes, Lambdas};
pub use omission_reason::{OmissionReason, ReportPart};
pub use phases::PhaseTimes;
pub use shrinkage::{ShrinkageInput, ShrinkageReport, ShrinkageRun};
pub use stages::{StagedData, Stages, stage_numbers};
pub use trade_off::{TradeOffInput, TradeOffPoint, TradeOffReport, TradeOffSetting, TradeOffValue};
pub use trees::chosen_trees;

/// The origin of the learning curves of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CurveOrigin {
    /// The training log, for a model that has no earlier stages, such as a net.
    Log,
    /// The first trees of the model, evaluated again stage by stage.
    Trees,
}

/// A data set and its name.
#[derive(Debug, Clone, Copy)]
pub struct NamedData<'a> {
    /// Name on the page.
    pub name: &'a str,
    /// The data.
    pub data: &'a Dataset,
}

/// A model, the data of its training and the metrics to report.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TrainingRequest<'a> {
    /// Name of the model's file, and the model.
    pub model: (&'a str, &'a Model),
    /// The data that the model was trained on.
    pub train: NamedData<'a>,
    /// Validation sets; the first one determines the best round.
    pub valid: Vec<NamedData<'a>>,
    /// Metrics; the first one determines the best round. If empty: the metric of the model's
    /// training, or ndcg@10 if the model names none.
    pub measures: Vec<Measure>,
    /// The log of the training.
    pub log: Option<TrainingLog>,
}

impl<'a> TrainingRequest<'a> {
    /// A report on the training of a model, which has this name, on this data.
    pub fn new(model: (&'a str, &'a Model), train: NamedData<'a>) -> Self {
        Self { model, train, valid: Vec::new(), measures: Vec::new(), log: None }
    }

    /// Sets the validation sets; the first one determines the best round.
    #[must_use]
    pub fn valid(mut self, sets: Vec<NamedData<'a>>) -> Self {
        self.valid = sets;
        self
    }

    /// Sets the metrics; the first one determines the best round.
    #[must_use]
    pub fn measures(mut self, measures: Vec<Measure>) -> Self {
        self.measures = measures;
        self
    }

    /// Sets the log of the training.
    #[must_use]
    pub fn log(mut self, log: impl Into<Option<TrainingLog>>) -> Self {
        self.log = log.into();
        self
    }
}

impl TrainingRequest<'_> {
    /// The data sets: the training data, then validation sets.
    fn sets(&self) -> Vec<NamedData<'_>> {
        std::iter::once(self.train).chain(self.valid.iter().copied()).collect()
    }

    /// The requested metrics, or else the metric of the training. Those that compare scores with a
    /// boundary take the model's own, if it has one.
    fn measures_or_default(&self) -> Result<Vec<Measure>, ReportError> {
        let model = self.model.1;
        let measures = match self.measures.is_empty() {
            false => self.measures.clone(),
            true => {
                vec![metric_or_default(None, SourceKind::Features, &model.header().metric)?]
            }
        };
        Ok(measures_for_model(&measures, |rel| model.boundary(rel))?)
    }

    /// Warnings about the log, about data that the model was not trained on, and about metrics that
    /// compare scores with a boundary that the model does not have.
    fn warnings(&self, measures: &[Measure]) -> Vec<ReportWarning> {
        let lacking = measures_without_boundary(measures, |rel| self.model.1.boundary(rel));
        let no_boundary = |measure: &Measure| ReportWarning::NoBoundary {
            metric: measure.to_string(),
            threshold: AccuracyParams::DEFAULT_THRESHOLD,
        };
        let mut warnings: Vec<_> = lacking.map(no_boundary).collect();
        if self.log.is_none() {
            warnings.push(ReportWarning::NoLog);
        }
        let (header, data) = (self.model.1.header(), self.train.data);
        let trained = (header.queries as usize, header.rows as usize);
        let found = (data.queries(), data.rows());
        if trained.1 > 0 && trained != found {
            let data = self.train.name.to_owned();
            warnings.push(ReportWarning::OtherData { data, trained, found });
        }
        warnings
    }
}

params! {
    /// Options of a training report that are numbers.
    #[derive(Copy, Eq)]
    pub struct TrainingReportParams {
        points: usize = 100, 2..=1000,
            "Maximum number of points of the learning curves: numbers of trees after which the model \
             is evaluated; curves from the log do not depend on it.";
        trees: usize = 3, 0..=50,
            "Number of trees to draw, spread evenly from the first to the last.";
        seed: u64 = DEFAULT_SEED, .., "Seed of all random choices: sampled queries, shuffles.";
    }
}

/// Options of a training report.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TrainingOptions {
    /// Maximum number of stages (points of the learning curve), 2 to 1000.
    pub points: usize,
    /// The query whose forces are shown; if not given, the report chooses one.
    pub query: Option<String>,
    /// Number of trees to draw, up to 50.
    pub trees: usize,
    /// Seed of all random choices: sampled queries, permutations.
    pub seed: u64,
    /// Options of scoring data with the model.
    pub score: ScoreOptions,
}

impl Default for TrainingOptions {
    fn default() -> Self {
        let TrainingReportParams { points, trees, seed } = TrainingReportParams::default();
        Self { points, query: None, trees, seed, score: ScoreOptions::default() }
    }
}

impl TrainingOptions {
    /// Sets the largest number of stages (points of the learning curve); 2 at least.
    pub fn points(mut self, points: usize) -> Self {
        self.points = points;
        self
    }

    /// Sets the query whose forces are shown; `None` lets the report choose one.
    pub fn query(mut self, query: Option<String>) -> Self {
        self.query = query;
        self
    }

    /// Sets the number of trees to draw.
    pub fn trees(mut self, trees: usize) -> Self {
        self.trees = trees;
        self
    }

    /// Sets the seed of all random choices.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the options of scoring data with the model.
    pub fn score(mut self, score: ScoreOptions) -> Self {
        self.score = score;
        self
    }
}

/// A report on the training of a model.
///
/// ```
/// use rankwright_data::generate::LetorOptions;
/// use rankwright_learn::{TrainRequest, LearnerSpec};
/// use rankwright_report::training::{NamedData, TrainingRequest, TrainingOptions, TrainingReport};
///
/// let data = LetorOptions { queries: 20, documents: 20, seed: 1 }.generate()?;
/// let learner = LearnerSpec::parse("lambdamart(trees=5, leaves=4)")?;
/// let model = learner.train(TrainRequest::new(&data))?.model;
/// let train = NamedData { name: "train.txt", data: &data };
/// let request = TrainingRequest::new(("my.model", &model), train);
/// let report = TrainingReport::new(&request, &TrainingOptions::default())?;
/// assert_eq!(report.stages.numbers, [0, 1, 2, 3, 4, 5]);
/// assert_eq!(report.page().sections.len(), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct TrainingReport {
    /// Name and text of facts about the origin of the report.
    pub facts: Vec<(String, String)>,
    /// Warnings for the reader.
    pub warnings: Vec<ReportWarning>,
    /// Name of the model's file.
    pub name: String,
    /// The stages that were computed: the model after some numbers of rounds.
    pub stages: Stages,
    /// A curve for each metric.
    pub curves: Vec<Curve>,
    /// The origin of the curves; `None` if there are none.
    pub curves_from: Option<CurveOrigin>,
    /// Number of rounds of the training, if the model keeps only the first rounds.
    pub trained_rounds: Option<usize>,
    /// Values of the whole model on each data set: the training data, then validation data.
    pub values: Vec<(String, Evaluation)>,
    /// Lambdas by pair of labels and by rank.
    pub lambdas: ReportPart<Lambdas>,
    /// Shares of the labels at each rank, and mean ranks of the labels.
    pub labels: LabelRanks,
    /// Forces on one query's list.
    pub forces: ReportPart<QueryForces>,
    /// Time per phase.
    pub phases: ReportPart<PhaseTimes>,
    /// The candidates of an automatic training; `None` for other learners.
    pub choice: Option<AutoReport>,
    /// Importance of features.
    pub importance: Importances,
    /// Drawings of trees, with the numbers of the trees.
    pub trees: ReportPart<Vec<(usize, PageBlock)>>,
}

impl TrainingReport {
    /// Computes the report of a model and its data.
    pub fn new(
        request: &TrainingRequest<'_>,
        options: &TrainingOptions,
    ) -> Result<TrainingReport, ReportError> {
        let TrainingOptions { points, trees, seed, .. } = *options;
        check_params(&TrainingReportParams { points, trees, seed }, "report on training")?;
        let TrainingRequest { model: (name, model), train, valid, log, .. } = request;
        let measures = request.measures_or_default()?;
        let Some(first) = measures.first() else {
            return Err(ReportError::NoMetric);
        };
        let sets = request.sets();
        let values = whole_model(model, &sets, &measures, options.score)?;
        let history = log.as_ref().map(|log| &log.history);
        // The number of rounds in the log, and the name of a round.
        let rounds = log.as_ref().map_or((0, "round"), |log| {
            (
                log.history.iterations.len(),
                if log.history.unit.is_empty() { "round" } else { &log.history.unit },
            )
        });
        let best = history.filter(|_| !valid.is_empty()).and_then(|history| history.best);
        let stages = Stages::of(model, options.points, best, rounds);
        let results = StageResults::new(request, options, &measures, &values, &stages)?;
        let (curves, origin) = if stages.has_earlier_stages {
            let names: Vec<&str> = sets.iter().map(|set| set.name).collect();
            let deciding_set = (!valid.is_empty()).then_some(1);
            let values = &results.values;
            let curves = Curve::measured(&measures, &stages, &names, values, deciding_set);
            (curves, CurveOrigin::Trees)
        } else {
            (history.map(Curve::from_log).unwrap_or_default(), CurveOrigin::Log)
        };
        let curves_from = (!curves.is_empty()).then_some(origin);
        let trained_rounds = history.map(|history| history.iterations.len());
        let permuted = valid.first().unwrap_or(train);
        let permuted = (permuted.name, permuted.data);
        Ok(TrainingReport {
            facts: layout::facts(request),
            warnings: request.warnings(&measures),
            name: (*name).to_owned(),
            curves,
            curves_from,
            trained_rounds: trained_rounds
                .filter(|rounds| stages.has_earlier_stages && *rounds > stages.last()),
            values,
            lambdas: results.lambdas.map(LambdaRecorder::finish),
            labels: results.labels,
            forces: results.forces.map(ForceRecorder::finish),
            phases: phase_times(log.as_ref()),
            choice: log.as_ref().and_then(|log| log.choice.clone()),
            importance: Importances::new(model, permuted, first, options.seed, options.score)?,
            trees: trees::drawings(model, options.trees),
            stages,
        })
    }

    /// Number of rounds at the best value of the first metric on validation data.
    pub fn best(&self) -> Option<usize> {
        self.curves.first().and_then(|curve| curve.best).map(|best| best.rounds)
    }
}

/// The measures of the whole model on each set.
fn whole_model(
    model: &Model,
    sets: &[NamedData<'_>],
    measures: &[Measure],
    options: ScoreOptions,
) -> Result<Vec<(String, Evaluation)>, ReportError> {
    let measure = |set: &NamedData<'_>| {
        let scores = model.score(set.data, options)?;
        let source = ScoredDataset::new(set.data, &scores)?;
        let options = EvalOptions::default().tie_effect(true);
        let found = rankwright_eval::evaluate(&source, measures, options)?;
        Ok((set.name.to_owned(), found))
    };
    sets.iter().map(measure).collect()
}

/// The times per phase, or the reason why there are none.
fn phase_times(log: Option<&TrainingLog>) -> ReportPart<PhaseTimes> {
    PhaseTimes::new(log.ok_or(OmissionReason::NoLog)?).ok_or(OmissionReason::NoTimes)
}

/// Results collected while the stages are computed.
struct StageResults<'a> {
    /// `values[stage][set][measure]`.
    values: Vec<Vec<Vec<f64>>>,
    lambdas: ReportPart<LambdaRecorder<'a>>,
    labels: LabelRanks,
    forces: ReportPart<ForceRecorder<'a>>,
}

impl<'a> StageResults<'a> {
    /// Computes all stages; `values` are the evaluations of the whole model.
    fn new(
        request: &'a TrainingRequest<'_>,
        options: &TrainingOptions,
        measures: &[Measure],
        values: &[(String, Evaluation)],
        stages: &Stages,
    ) -> Result<StageResults<'a>, ReportError> {
        let (model, data) = (request.model.1, request.train.data);
        let (header, classes) = (model.header(), Classes::of(data.labels()));
        let (Some((_, evaluation)), Some(first)) = (values.first(), measures.first()) else {
            return Err(ReportError::Internal { invariant: "a model is evaluated on its data" });
        };
        let training = (header.objective.as_str(), header.seed);
        let mut results = StageResults {
            values: Vec::new(),
            lambdas: LambdaRecorder::new(model, data, classes.clone(), options.seed)?,
            labels: LabelRanks::new(classes),
            forces: ForceRecorder::new(
                data,
                training,
                first,
                options.query.as_deref(),
                evaluation,
            )?,
        };
        let sets = std::iter::once(&request.train).chain(&request.valid);
        let staged = sets.map(|set| StagedData::new(model, set.data, options.score));
        let mut staged = staged.collect::<Result<Vec<_>, ReportError>>()?;
        let lambda_stages = LambdaRecorder::selected_stages(stages);
        let force_stages = ForceRecorder::selected_stages(stages);
        for &stage in &stages.numbers {
            staged.iter_mut().for_each(|set| set.advance(stage));
            let measured = staged.iter().map(|set| measured(set, measures));
            results.values.push(measured.collect::<Result<_, _>>()?);
            let Some(scores) = staged.first().map(StagedData::scores) else { continue };
            results.labels.add(data, scores, header.seed)?;
            if let (Ok(lambdas), true) = (&mut results.lambdas, lambda_stages.contains(&stage)) {
                lambdas.add(stage, scores)?;
            }
            if let (Ok(forces), true) = (&mut results.forces, force_stages.contains(&stage)) {
                forces.add(stage, scores)?;
            }
        }
        Ok(results)
    }
}

/// The value of each measure at the current stage of a data set.
fn measured(set: &StagedData<'_>, measures: &[Measure]) -> Result<Vec<f64>, ReportError> {
    let found = ScoredDataset::new(set.data(), set.scores())?.evaluate(measures)?;
    Ok(found.results.iter().map(|result| result.value).collect())
}
