//! Learners: `LambdaMart::new().trees(500)` in a program, `lambdamart(trees=500)` as a spec.
//!
//! A [`Learner`] is a struct of parameters with a declaration ([`LearnerDef`]); [`LEARNERS`] lists
//! all declarations and feeds help, documentation and tests. A [`LearnerSpec`] is a checked
//! learner, read from a spec or made from a [`Learner`] that a program built; only the names of
//! features are checked later, with the data. [`cv`] cross-validates a learner.

mod cv;
mod def;
mod linear;
mod registry;
mod target;
#[cfg(test)]
mod tests;
mod text;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

use rankwright_data::Dataset;
use rankwright_eval::{Measure, MetricSpec, SourceKind};
use rankwright_model::Model;
use rankwright_spec::{Conflict, Spec, SpecError, TextValue, check_params, json_by_text};

use crate::boost::BoostParams;
use crate::error::LearnError;
use crate::objective::{DEFAULT_METRIC, GoalText, KeptMetric};
use crate::session::{
    LabelParams, LabelWeights, LabelsText, MetricLabels, TrainRequest, TrainResult, TrainWarning,
    measures_on,
};
use crate::trainer::{Trainer, ValidationUse};

pub use cv::{CvOptions, CvResult, FoldParams, FoldResult, cross_validate};
pub use def::{AcceptedInputs, DeclaredLearner, Learner, LearnerDef, Tuning};
pub use linear::{FixedWeights, FixedWeightsOptions, FixedWeightsParams, WeightsText};
pub(crate) use registry::learners;
pub use registry::{LEARNERS, find_learner};
pub use target::{TargetOptions, TargetParams};
pub use text::LearnerText;

/// The spec of the learner that trains where none is named.
pub const DEFAULT_LEARNER: &str = "lambdamart";

/// A learner with checked parameters, read from a spec or made in a program.
///
/// ```
/// use rankwright_data::generate::LetorOptions;
/// use rankwright_learn::{LearnerSpec, TrainRequest};
///
/// let learner = LearnerSpec::parse("lambdamart(leaves=7,trees=5, metric=err@10)")?;
/// assert_eq!(learner.to_string(), "lambdamart(trees=5, leaves=7, metric=err@10)");
/// let data = LetorOptions { queries: 20, documents: 30, seed: 1 }.generate()?;
/// let result = learner.train(TrainRequest::new(&data))?;
/// assert_eq!(result.history.iterations.len(), 5);
///
/// let wrong = LearnerSpec::parse("lamdamart").unwrap_err().to_string();
/// assert!(wrong.contains("did you mean `lambdamart`?"));
/// # Ok::<(), rankwright_learn::LearnError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LearnerSpec {
    learner: Arc<dyn Learner>,
    /// Parameters that differ from their defaults.
    spec: Spec,
    /// Names of the parameters that were given, defaults included.
    given: Vec<String>,
    /// The metric of reports, early stopping and model selection.
    target: MetricSpec,
    /// A trainer that answers questions about the learner. A training changes its trainer (the
    /// objective `huber` computes its width from the data), so that each training makes its own.
    trainer: Arc<dyn Trainer>,
}

json_by_text!(LearnerSpec, LearnerSpec::to_string, LearnerSpec::parse);

impl LearnerSpec {
    /// Reads and checks a learner.
    pub fn parse(text: &str) -> Result<Self, LearnError> {
        Ok(Self::from_spec(Spec::parse(text)?)?)
    }

    /// Checks a learner whose spec is already split into name and parameters.
    pub fn from_spec(spec: Spec) -> Result<Self, SpecError> {
        let def = find_learner(&spec.name)?;
        Self::read(def, spec, |spec| def.read(spec))
    }

    /// The same learner with one parameter set to another value.
    pub fn with_parameter(&self, name: &str, value: impl Into<String>) -> Result<Self, SpecError> {
        self.with_spec(self.canonical().clone().with(name, value))
    }

    /// The same learner with the parameters of another spec. Unlike with
    /// [`from_spec`](Self::from_spec), the learner need not be one of [`LEARNERS`].
    pub(crate) fn with_spec(&self, spec: Spec) -> Result<Self, SpecError> {
        Self::read(self.def(), spec, |spec| self.learner.with_spec(spec))
    }

    /// Reads the parameters of a declared learner from a spec by `read`, and checks them.
    fn read(
        def: &LearnerDef,
        spec: Spec,
        read: impl FnOnce(&Spec) -> Result<Arc<dyn Learner>, SpecError>,
    ) -> Result<Self, SpecError> {
        if let Some(cutoff) = spec.cutoff {
            return Err(SpecError::conflict(spec.name, Conflict::CutoffNotAllowed { cutoff }));
        }
        reject_linear_leaves(&spec, def)?;
        let learner = read(&spec)?;
        let given = spec.args.into_iter().map(|(key, _)| key).collect();
        Ok(Self { given, ..Self::checked(learner)? })
    }

    /// Checks a learner built by a program, for cross validation and tuning.
    ///
    /// ```
    /// use rankwright_learn::prelude::*;
    ///
    /// let learner = LearnerSpec::new(LambdaMart::new().trees(50).leaves(7))?;
    /// assert_eq!(learner.to_string(), "lambdamart(trees=50, leaves=7)");
    /// assert!(LearnerSpec::new(LambdaMart::new().rate(0.0)).is_err());
    /// # Ok::<(), rankwright_spec::SpecError>(())
    /// ```
    pub fn new(learner: impl Learner + 'static) -> Result<Self, SpecError> {
        Self::checked(Arc::new(learner))
    }

    /// Checks the parameters of a learner.
    fn checked(learner: Arc<dyn Learner>) -> Result<Self, SpecError> {
        let trainer = Arc::from(learner.trainer()?);
        let target = learner.params().text("metric");
        let target = MetricSpec::parse(target.as_deref().unwrap_or(DEFAULT_METRIC))?;
        let spec = learner.spec();
        let given = spec.args.iter().map(|(key, _)| key.clone()).collect();
        Ok(Self { learner, spec, given, target, trainer })
    }

    /// The spec: the parameters that differ from their defaults, in the order of the declaration.
    /// Parses back to itself.
    pub fn canonical(&self) -> &Spec {
        &self.spec
    }

    /// Whether a parameter was given, even with its default value.
    pub fn is_given(&self, key: &str) -> bool {
        self.given.iter().any(|given| given == key)
    }

    /// The learner with its parameters.
    pub fn learner(&self) -> &dyn Learner {
        &*self.learner
    }

    /// The declaration of the learner.
    pub fn def(&self) -> &'static LearnerDef {
        self.learner.def()
    }

    /// The metric of reports, early stopping and model selection, which some learners also
    /// optimise: `metric=` in the spec, else ndcg@10.
    pub fn target(&self) -> &MetricSpec {
        &self.target
    }

    /// The metrics of reports, early stopping and model selection, resolved for data with features:
    /// the metric of [`target`](Self::target), preceded by the one that `goal=keep(...)` names if
    /// the learner has that goal.
    ///
    /// ```
    /// use rankwright_learn::LearnerSpec;
    ///
    /// let learner = LearnerSpec::parse("lambdamart(metric=p@5, goal=keep(ndcg@10, 0.005))")?;
    /// let measures = learner.measures()?;
    /// assert_eq!(measures.iter().map(|m| m.to_string()).collect::<Vec<_>>(), ["ndcg@10", "p@5"]);
    /// # Ok::<(), rankwright_learn::LearnError>(())
    /// ```
    pub fn measures(&self) -> Result<Vec<Measure>, LearnError> {
        let kept = kept_metric(&*self.learner)?.map(|kept| kept.metric);
        let specs = kept.iter().chain([&self.target]);
        let resolved = specs.map(|spec| spec.resolve(SourceKind::Features));
        Ok(resolved.collect::<Result<_, SpecError>>()?)
    }

    /// The metrics of a training if none is given: [`measures`](Self::measures), or preference
    /// accuracy if the data that they would be computed on has no labels.
    pub fn measures_on(&self, evaluated: &Dataset) -> Result<Vec<Measure>, LearnError> {
        measures_on(evaluated, || self.measures())
    }

    /// The metric of [`target`](Self::target), resolved for data with features.
    pub fn measure(&self) -> Result<Measure, LearnError> {
        Ok(self.target.resolve(SourceKind::Features)?)
    }

    /// The value of a parameter as a spec writes it, given or default; `None` if the learner has no
    /// such parameter.
    ///
    /// ```
    /// use rankwright_learn::LearnerSpec;
    ///
    /// let learner = LearnerSpec::parse("lambdamart(leaves=15)")?;
    /// assert_eq!(learner.parameter("leaves").as_deref(), Some("15"));
    /// assert_eq!(learner.parameter("trees").as_deref(), Some("300"));
    /// # Ok::<(), rankwright_learn::LearnError>(())
    /// ```
    pub fn parameter(&self, name: &str) -> Option<String> {
        self.learner.params().text(name)
    }

    /// The objective as a spec, as the header of the model has it: `huber(alpha=0.8)`.
    pub fn objective(&self) -> String {
        self.trainer.objective()
    }

    /// The parameters of boosting; `None` for learners that do not boost trees by gradients.
    pub fn boosting(&self) -> Option<&BoostParams> {
        self.trainer.boosting()
    }

    /// The maximum number of rounds of a training and the word for one round ("tree", "epoch");
    /// `None` for learners without rounds.
    pub fn rounds(&self) -> Option<(usize, &'static str)> {
        self.trainer.rounds()
    }

    /// The largest number of leaves that all trees of the model together can have; 0 for learners
    /// without trees.
    ///
    /// ```
    /// use rankwright_learn::LearnerSpec;
    ///
    /// let bags = LearnerSpec::parse("bagging(learner=mart(trees=100), bags=5)")?;
    /// assert_eq!(bags.max_leaves(), 5 * 100 * 31);
    /// assert_eq!(LearnerSpec::parse("ranksvm")?.max_leaves(), 0);
    /// # Ok::<(), rankwright_learn::LearnError>(())
    /// ```
    pub fn max_leaves(&self) -> u64 {
        self.trainer.max_leaves()
    }

    /// Whether the learner learns from data; `false` if its model is given by its parameters.
    pub fn learns(&self) -> bool {
        self.trainer.model_without_data().is_none()
    }

    /// Whether validation data changes the model: by early stopping, or by choosing a model.
    pub fn uses_validation(&self) -> bool {
        self.validation_use() != ValidationUse::Ignored
    }

    /// The use of validation data.
    pub fn validation_use(&self) -> ValidationUse {
        self.trainer.validation_use()
    }

    /// Whether the learner can train on preference pairs.
    pub fn accepts_pairs(&self) -> bool {
        self.trainer.accepts_pairs()
    }

    /// Whether the learner can start from a model.
    pub fn accepts_start_model(&self) -> bool {
        self.trainer.accepts_start_model()
    }

    /// Whether the learner can learn from the scores of a teacher.
    ///
    /// ```
    /// use rankwright_learn::LearnerSpec;
    ///
    /// assert!(LearnerSpec::parse("lambdamart")?.accepts_teacher());
    /// assert!(!LearnerSpec::parse("rankboost")?.accepts_teacher());
    /// # Ok::<(), rankwright_learn::LearnError>(())
    /// ```
    pub fn accepts_teacher(&self) -> bool {
        self.trainer.accepts_teacher()
    }

    /// The number of queries with so many documents that training does not visit every pair: each
    /// document is paired with [`SAMPLED_PARTNERS`](crate::objective::SAMPLED_PARTNERS) others
    /// instead, drawn by the seed (for each tree, if trees are boosted). 0 for learners without
    /// pairs, and for data with preferences of its own.
    ///
    /// ```
    /// use rankwright_data::generate::LetorOptions;
    /// use rankwright_learn::LearnerSpec;
    ///
    /// let data = LetorOptions { queries: 3, documents: 30, seed: 1 }.generate()?;
    /// assert_eq!(LearnerSpec::parse("rankmart")?.queries_with_sampled_pairs(&data), 0);
    /// # Ok::<(), rankwright_learn::LearnError>(())
    /// ```
    pub fn queries_with_sampled_pairs(&self, data: &Dataset) -> usize {
        match data.pairs() {
            Some(_) => 0,
            None => self.trainer.queries_with_sampled_pairs(data),
        }
    }

    /// The model of a learner that needs no training data: a linear model whose given weights name
    /// the features. `None` for learners that learn from data.
    pub fn model_without_data(&self) -> Option<Result<Model, LearnError>> {
        self.trainer.model_without_data()
    }

    /// Files that a training reads besides its data: the members of a blend.
    ///
    /// ```
    /// use rankwright_learn::LearnerSpec;
    ///
    /// let blend = LearnerSpec::parse("blend(members=ranksvm+file:a.model)")?;
    /// assert_eq!(blend.files(), [std::path::Path::new("a.model")]);
    /// # Ok::<(), rankwright_learn::LearnError>(())
    /// ```
    pub fn files(&self) -> Vec<PathBuf> {
        self.trainer.files()
    }

    /// The warnings about this learner and the data of a request that are known before the
    /// training, such as pairs that will be sampled. The result of the training has them too.
    pub fn warnings_about(
        &self,
        request: &TrainRequest<'_>,
    ) -> Result<Vec<TrainWarning>, LearnError> {
        let mut request = request.clone();
        request.fill_metric(self.parameter("metric").as_deref())?;
        Ok(TrainWarning::about_data(&*self.trainer, self.def().name, &request))
    }

    /// Trains. If the request has no metrics, that of [`target`](Self::target) is computed.
    pub fn train(&self, request: TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        train(&*self.learner, request)
    }
}

/// Checks a learner and trains it.
fn train(learner: &dyn Learner, request: TrainRequest<'_>) -> Result<TrainResult, LearnError> {
    let mut trainer = learner.trainer()?;
    let (spec, metric) = (learner.spec().to_string(), learner.params().text("metric"));
    let mut request = request;
    if let Some(kept) = kept_metric(learner)? {
        let own_metric = metric.as_deref().unwrap_or(DEFAULT_METRIC);
        let [first, second] = [kept.metric, MetricSpec::parse(own_metric)?];
        if request.metrics.is_empty() {
            let metrics = [&first, &second].map(|spec| spec.resolve(SourceKind::Features));
            request.metrics = metrics.into_iter().collect::<Result<_, SpecError>>()?;
        }
        // If the request has other metrics, its first one alone decides, without the tolerance.
        let names: Vec<String> = request.metrics.iter().map(ToString::to_string).collect();
        if names.starts_with(&[first.to_string(), second.to_string()]) {
            request.tolerance = Some(kept.tolerance);
        }
    }
    if let Some(weights) = label_weights(learner)? {
        let keeps_first = request.tolerance.is_some();
        request.metric_labels = MetricLabels { weights: Some(weights), keeps_first };
    }
    train_with(&mut *trainer, learner.def().name, spec, metric.as_deref(), request)
}

/// The metric that a learner keeps before its own (`goal=keep(...)`); `None` if it keeps none.
fn kept_metric(learner: &dyn Learner) -> Result<Option<KeptMetric>, SpecError> {
    match learner.params().text("goal") {
        None => Ok(None),
        Some(text) => {
            let kept = GoalText::from_text(&text).kept();
            kept.map_err(|error| error.at(learner.def().name, "goal", &text))
        }
    }
}

/// The columns of labels that a learner trains on; `None` for the data's own labels alone.
fn label_weights(learner: &dyn Learner) -> Result<Option<LabelWeights>, SpecError> {
    match learner.params().text("labels") {
        None => Ok(None),
        Some(text) => {
            let labels = LabelParams { labels: LabelsText::from_text(&text) };
            labels.weights(learner.def().name)
        }
    }
}

/// Checks whether a trainer can meet a request, and trains; `learner` is the name of the learner,
/// `spec` its spec and `metric` its own metric.
pub(crate) fn train_with(
    trainer: &mut dyn Trainer,
    learner: &'static str,
    spec: String,
    metric: Option<&str>,
    request: TrainRequest<'_>,
) -> Result<TrainResult, LearnError> {
    let name = || learner.to_owned();
    let with_unlabelled;
    let mut request = request;
    request.learner = spec;
    request.objective = trainer.objective();
    request.fill_metric(metric)?;
    if request.train.pairs().is_some() && !trainer.accepts_pairs() {
        let labelled = has_different_labels(request.train);
        // Some learners take pairs or not, depending on their parameters, such as those of bagging.
        let is_by_parameters = LEARNERS.iter().any(|def| def.name == learner && def.accepts.pairs);
        let learner = if is_by_parameters { request.learner.clone() } else { name() };
        return Err(LearnError::PairsUnsupported { learner, labelled });
    }
    if request.start.is_some() && !trainer.accepts_start_model() {
        return Err(LearnError::StartModelUnsupported { learner: name() });
    }
    let processes = request.collective.size();
    if processes > 1 && (!trainer.supports_distributed() || request.teacher.is_some()) {
        return Err(LearnError::CollectiveUnsupported { learner: name(), processes });
    }
    if request.train.rows() == 0 && trainer.model_without_data().is_none() {
        return Err(LearnError::EmptyData);
    }
    if trainer.validation_use() == ValidationUse::Required && request.valid.is_empty() {
        return Err(LearnError::MissingValidation { learner: request.learner });
    }
    if let Some(teacher) = request.teacher.take() {
        if !trainer.accepts_teacher() {
            return Err(LearnError::TeacherUnsupported { learner: name() });
        }
        check_params(&teacher.params, "teacher")?;
        // Without weight, the training is that without a teacher, to the byte.
        if teacher.params.teacher_weight > 0.0 {
            let (data, targets) = teacher.targets(request.train, request.features)?;
            with_unlabelled = data;
            request.train = &with_unlabelled;
            request.soft_targets = Some(targets);
            request.teacher = Some(teacher);
        }
    }
    // With several processes, the queries of this one may weigh nothing.
    if processes <= 1 && trainer.model_without_data().is_none() && weighs_nothing(request.train) {
        return Err(LearnError::ZeroWeights);
    }
    let about_data = TrainWarning::about_data(trainer, learner, &request);
    let started = Instant::now();
    // Train inside rayon's thread pool: a caller outside the pool would block in each parallel
    // loop, and every loop would hand its work over to the pool anew.
    let mut result = None;
    rayon::scope(|_| result = Some(trainer.train(&request)));
    let mut result = result
        .ok_or(LearnError::Internal { invariant: "a training runs inside the thread pool" })??;
    // Trainers without rounds leave the time to be set here.
    if result.history.train_seconds == 0.0 {
        result.history.train_seconds = started.elapsed().as_secs_f64();
    }
    if trainer.model_without_data().is_none() {
        let min_rows = trainer.min_rows(request.train.rows() as u64);
        result.add_warnings(&request, min_rows)?;
    }
    result.warnings.extend(about_data);
    Ok(result)
}

/// Whether all rows have weight 0: their own, or that of their query.
fn weighs_nothing(data: &Dataset) -> bool {
    let has_weight = |weight: &f32| *weight > 0.0;
    (0..data.queries()).all(|query| {
        let of_query = data.query_weights().map_or(1.0, |weights| weights[query]);
        let rows = data.row_weights().map(|weights| &weights[data.query_rows(query)]);
        !has_weight(&of_query) || rows.is_some_and(|rows| !rows.iter().any(has_weight))
    })
}

/// Whether two documents have different labels. Data without labels has the same label everywhere.
fn has_different_labels(data: &Dataset) -> bool {
    data.labels().windows(2).any(|pair| pair[0] != pair[1])
}

/// Training of a learner built by a program.
pub trait Fit: Learner {
    /// Trains on a data set, or on a request with validation data and options.
    ///
    /// ```
    /// use rankwright_data::generate::LetorOptions;
    /// use rankwright_learn::prelude::*;
    ///
    /// let [train, valid] = [1, 2].map(|seed| LetorOptions { queries: 20, documents: 20, seed });
    /// let (train, valid) = (train.generate()?, valid.generate()?);
    /// let linear = RankSvm::new().c(3.0).fit(&train)?;
    /// let trees = LambdaMart::new().stop(5).fit(TrainRequest::new(&train).validation(&valid))?;
    /// assert!(trees.history.best.is_some() && linear.finished);
    /// # Ok::<(), rankwright_learn::LearnError>(())
    /// ```
    fn fit<'a>(&self, request: impl Into<TrainRequest<'a>>) -> Result<TrainResult, LearnError>;
}

impl<L: Learner> Fit for L {
    fn fit<'a>(&self, request: impl Into<TrainRequest<'a>>) -> Result<TrainResult, LearnError> {
        train(self, request.into())
    }
}

impl fmt::Display for LearnerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

impl FromStr for LearnerSpec {
    type Err = LearnError;

    fn from_str(text: &str) -> Result<Self, LearnError> {
        Self::parse(text)
    }
}

/// Rejects the parameters by which other programs fit linear models in the leaves of trees: the
/// error says that these are not supported, not that the parameter is unknown.
fn reject_linear_leaves(spec: &Spec, def: &LearnerDef) -> Result<(), SpecError> {
    let grows_trees = || def.params().iter().any(|param| param.name == "leaves");
    let is_given = |key: &&&str| spec.get(key).is_some() && grows_trees();
    match ["linear_tree", "linear_leaves"].iter().find(is_given) {
        None => Ok(()),
        Some(key) => {
            let reason = "a leaf is one number; linear models in leaves are not built";
            let conflict = Conflict::NotSupported { setting: (*key).to_owned(), reason };
            Err(SpecError::conflict(&spec.name, conflict))
        }
    }
}
