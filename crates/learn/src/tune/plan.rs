//! The plan of a search: all trials are drawn and checked before anything runs. A trial is the
//! learner with one set of parameters; a rung trains some of the trials for a number of rounds.

use rankwright_data::{DEFAULT_SEED, Dataset};
use rankwright_eval::{Measure, MetricSpec, SourceKind};
use rankwright_spec::{SpecError, choices, params};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::error::TuneError;
use super::presets::{default_space, depends_on, tuning};
use super::rungs::{Rung, halving};
use super::space::{Range, Space};
use super::trial::Trial;
use crate::error::LearnError;
use crate::learner::{FoldParams, LearnerSpec};
use crate::session::measures_on;
use crate::trainer::ValidationUse;

/// The data on which trials are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum TuneData {
    /// Validation data; learners that can stop early also stop by it.
    Valid,
    /// Folds of the training queries. The value is the metric over all queries, each scored by the
    /// model that was not trained on it.
    Folds {
        /// Number of folds, at least 2.
        count: usize,
        /// Fraction of each fold's training queries that is used for early stopping, for learners
        /// that use validation data; `None` for none.
        #[serde(default)]
        valid_part: Option<f64>,
    },
}

impl Default for TuneData {
    /// Five folds, without early stopping: the defaults of [`FoldParams`].
    fn default() -> Self {
        let FoldParams { folds: count, valid_part, .. } = FoldParams::default();
        Self::Folds { count, valid_part }
    }
}

choices! {
    /// The method of a search.
    pub enum TuneMethod {
        /// Trains every trial completely.
        Random = "random",
        /// Trains all trials for a few rounds, the best third for three times as many rounds, and
        /// so on.
        Halving = "halving",
    }
}

params! {
    /// Size, method and seed of a search: the fields of [`TuneSettings`] that are numbers or names.
    pub struct TuneParams {
        trials: usize = 30, 1..=100_000,
            "Number of trials, including trial 0 (the learner as given).";
        method: TuneMethod = TuneMethod::Random, .., "Method of the search.";
        seed: u64 = DEFAULT_SEED, .., "Seed of the draws, the folds and the trainings.";
    }
}

/// Settings of a search.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TuneSettings {
    /// The search space; `None` for the learner's default space.
    pub space: Option<Space>,
    /// Number of trials, including trial 0 (the learner as given).
    pub trials: usize,
    /// The method of the search.
    pub method: TuneMethod,
    /// Metric to optimise; `None` for the metric of the learner.
    pub metric: Option<Measure>,
    /// Seed of the draws, the folds and the trainings.
    pub seed: u64,
    /// The data on which trials are evaluated.
    pub evaluated_on: TuneData,
}

impl TuneSettings {
    /// Thirty trials of random search in the learner's default space: the defaults of
    /// [`TuneParams`].
    pub fn new(evaluated_on: TuneData) -> Self {
        let TuneParams { trials, method, seed } = TuneParams::default();
        Self { space: None, trials, method, metric: None, seed, evaluated_on }
    }

    /// The space that is searched for a learner if `space` is `None`. Without early stopping and
    /// successive halving, it contains the number of rounds.
    pub fn default_space(&self, learner: &LearnerSpec) -> Result<Space, LearnError> {
        let stopping = self.method == TuneMethod::Halving || self.evaluated_on == TuneData::Valid;
        default_space(learner, stopping)
    }

    /// Sets the search space.
    #[must_use]
    pub fn space(mut self, space: impl Into<Option<Space>>) -> Self {
        self.space = space.into();
        self
    }

    /// Sets the number of trials, including trial 0.
    #[must_use]
    pub fn trials(mut self, trials: usize) -> Self {
        self.trials = trials;
        self
    }

    /// Sets the method of the search.
    #[must_use]
    pub fn method(mut self, method: TuneMethod) -> Self {
        self.method = method;
        self
    }

    /// Sets the metric to optimise.
    #[must_use]
    pub fn metric(mut self, metric: impl Into<Option<Measure>>) -> Self {
        self.metric = metric.into();
        self
    }

    /// Sets the seed of the draws, the folds and the trainings.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}

/// Maximum number of trials of a search.
const MAX_TRIALS: usize = 100_000;

/// A search whose trials are drawn and checked.
///
/// ```
/// use rankwright_data::generate::LetorOptions;
/// use rankwright_learn::LearnerSpec;
/// use rankwright_learn::tune::{TuneData, Space, TuneJob, TunePlan, TuneSettings};
///
/// let learner = LearnerSpec::parse("mart(trees=5)")?;
/// let space = Space::parse("leaves=int(2,8), rate=log(0.1,1)")?;
/// let folds = TuneData::Folds { count: 2, valid_part: None };
/// let settings = TuneSettings::new(folds).space(space).trials(3);
/// let plan = TunePlan::new(&learner, settings)?;
/// assert_eq!(plan.specs()[0].to_string(), "mart(trees=5)");
/// let data = LetorOptions { queries: 20, documents: 15, seed: 1 }.generate()?;
/// let result = plan.run(&TuneJob::new(&data))?;
/// assert!(result.best().is_some());
/// # Ok::<(), rankwright_learn::LearnError>(())
/// ```
#[derive(Debug, Clone)]
pub struct TunePlan {
    /// The learner as given.
    learner: LearnerSpec,
    pub(super) settings: TuneSettings,
    /// The metric to optimise.
    pub(super) measure: Measure,
    space: Space,
    /// The learner of each trial.
    specs: Vec<LearnerSpec>,
    /// The value of `stop` that the search adds to the learner; `None` if it adds none.
    added_stop: Option<String>,
    rungs: Vec<Rung>,
    /// The parameter by which successive halving sets the number of rounds; `None` for random
    /// search.
    rounds_parameter: Option<&'static str>,
}

impl TunePlan {
    /// Draws and checks every trial. With validation data, learners that can stop early get `stop=`
    /// unless their spec has it.
    pub fn new(learner: &LearnerSpec, settings: TuneSettings) -> Result<Self, LearnError> {
        if !learner.learns() {
            return Err(TuneError::NothingToTune { learner: learner.to_string() }.into());
        }
        if !(1..=MAX_TRIALS).contains(&settings.trials) {
            return Err(TuneError::Trials { trials: settings.trials, most: MAX_TRIALS }.into());
        }
        if let TuneData::Folds { count: count @ (0 | 1), .. } = settings.evaluated_on {
            return Err(TuneError::Folds { folds: count }.into());
        }
        let is_halving = settings.method == TuneMethod::Halving;
        let space = match &settings.space {
            // A space built by a program has not been checked yet.
            Some(space) => Space::parse(&space.to_string())?,
            None => settings.default_space(learner)?,
        };
        let base = with_early_stopping(learner, &space, settings.evaluated_on)?;
        let (rounds_parameter, rungs) = match is_halving {
            true => halving_rungs(&base, &space, settings.trials)?,
            false => (None, vec![Rung { trials: settings.trials, rounds: None }]),
        };
        check_range_ends(&base, &space)?;
        let specs = draw_trials(&base, &space, &settings)?;
        let measure = match &settings.metric {
            Some(measure) => measure.clone(),
            None => learner.measure()?,
        };
        let added_stop = base.canonical().get("stop").filter(|_| !learner.is_given("stop"));
        let added_stop = added_stop.map(str::to_owned);
        let learner = learner.clone();
        Ok(Self { learner, settings, measure, space, specs, added_stop, rungs, rounds_parameter })
    }

    /// The same plan for trials that are evaluated on this data: if no metric was given and the
    /// data has no labels, preference accuracy decides.
    pub fn for_data(mut self, evaluated: &Dataset) -> Result<Self, LearnError> {
        if self.settings.metric.is_none() {
            let own = vec![self.measure.clone()];
            self.measure = measures_on(evaluated, || Ok(own))?.pop().unwrap_or(self.measure);
        }
        Ok(self)
    }

    /// The learner as given, without early stopping that the search adds.
    pub fn given_learner(&self) -> &LearnerSpec {
        &self.learner
    }

    /// The settings.
    pub fn settings(&self) -> &TuneSettings {
        &self.settings
    }

    /// The search space.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The learner of each trial.
    pub fn specs(&self) -> &[LearnerSpec] {
        &self.specs
    }

    /// The learner of trial 0: the given learner, with early stopping added where it is possible.
    pub fn trial_0(&self) -> &LearnerSpec {
        // There is at least one trial.
        &self.specs[0]
    }

    /// The early stopping that the search adds to the learner: the value of the parameter `stop`;
    /// `None` if it adds none.
    pub fn added_stop(&self) -> Option<&str> {
        self.added_stop.as_deref()
    }

    /// The learner of a trial, to train it again.
    pub fn learner(&self, trial: &Trial) -> Result<&LearnerSpec, LearnError> {
        let known = self.specs.get(trial.trial).filter(|spec| spec.to_string() == trial.spec);
        known.ok_or(LearnError::Internal { invariant: "a trial is one of the plan" })
    }

    /// The rungs of the search.
    pub fn rungs(&self) -> &[Rung] {
        &self.rungs
    }

    /// The metric to optimise.
    pub fn measure(&self) -> &Measure {
        &self.measure
    }

    /// Whether a trial needs validation data to be trained.
    pub fn needs_validation(&self) -> bool {
        self.specs.iter().any(|spec| spec.validation_use() == ValidationUse::Required)
    }

    /// A trial's learner with at most `limit` rounds, or with those of its spec if that is `None`.
    pub(super) fn learner_with_limit(
        &self,
        trial: usize,
        limit: Option<usize>,
    ) -> Result<LearnerSpec, LearnError> {
        let learner = self
            .specs
            .get(trial)
            .ok_or(LearnError::Internal { invariant: "a trial is one of the plan" })?;
        Ok(match limit.zip(self.rounds_parameter) {
            None => learner.clone(),
            Some((limit, parameter)) => {
                learner.with_spec(learner.canonical().clone().with(parameter, limit.to_string()))?
            }
        })
    }

    /// Names and values of the settings that identify this search, except the data and the number
    /// of trials.
    pub(super) fn identity(&self) -> Vec<(&'static str, String)> {
        let evaluated_on = match self.settings.evaluated_on {
            TuneData::Valid => "validation data".to_owned(),
            TuneData::Folds { count, valid_part: None } => format!("{count} folds"),
            TuneData::Folds { count, valid_part: Some(part) } => {
                format!("{count} folds, {part} of their queries are used for early stopping")
            }
        };
        vec![
            ("learner", self.trial_0().to_string()),
            ("space", self.space.to_string()),
            ("method", self.settings.method.name().to_owned()),
            ("metric", format!("{} ({})", self.measure, self.measure.convention())),
            ("seed", self.settings.seed.to_string()),
            ("evaluated on", evaluated_on),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ]
    }
}

/// The JSON form of a plan: the learner and the settings, from which the trials are drawn anew.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFields {
    learner: LearnerSpec,
    #[serde(default)]
    space: Option<Space>,
    #[serde(default)]
    metric: Option<MetricSpec>,
    #[serde(default)]
    evaluated_on: TuneData,
    #[serde(default)]
    options: TuneParams,
}

impl Serialize for TunePlan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let TuneSettings { space, trials, method, metric, seed, evaluated_on } =
            self.settings.clone();
        let metric = metric.map(|measure| MetricSpec::parse(&measure.to_string())).transpose();
        let metric = metric.map_err(ser::Error::custom)?;
        let options = TuneParams { trials, method, seed };
        let learner = self.learner.clone();
        PlanFields { learner, space, metric, evaluated_on, options }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TunePlan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let PlanFields { learner, space, metric, evaluated_on, options } =
            PlanFields::deserialize(deserializer)?;
        let TuneParams { trials, method, seed } = options;
        let resolve = |metric: MetricSpec| metric.resolve(SourceKind::Features);
        let metric = metric.map(resolve).transpose().map_err(de::Error::custom)?;
        let settings = TuneSettings { space, trials, method, metric, seed, evaluated_on };
        TunePlan::new(&learner, settings).map_err(de::Error::custom)
    }
}

/// The learner with `stop=` added, if it can stop early by validation data and neither its spec nor
/// the space sets `stop`.
fn with_early_stopping(
    learner: &LearnerSpec,
    space: &Space,
    evaluated_on: TuneData,
) -> Result<LearnerSpec, LearnError> {
    let is_set = learner.is_given("stop") || space.get("stop").is_some();
    let stop = tuning(learner).and_then(|tuning| tuning.stop);
    match stop.filter(|_| evaluated_on == TuneData::Valid && !is_set) {
        Some(stop) => Ok(learner.with_spec(learner.canonical().clone().with("stop", stop))?),
        None => Ok(learner.clone()),
    }
}

/// The parameter by which successive halving sets the number of rounds, and the rungs.
fn halving_rungs(
    base: &LearnerSpec,
    space: &Space,
    trials: usize,
) -> Result<(Option<&'static str>, Vec<Rung>), LearnError> {
    let name = base.def().name;
    let parameter = tuning(base).and_then(|tuning| tuning.rounds_parameter);
    let (Some(parameter), Some((rounds, _))) = (parameter, base.rounds()) else {
        return Err(TuneError::NoRounds { learner: name.to_owned() }.into());
    };
    match space.get(parameter) {
        None => Ok((Some(parameter), halving(trials, rounds))),
        Some(_) => Err(TuneError::ResourceInSpace { resource: parameter }.into()),
    }
}

/// Rejects a space with a value that the learner does not accept, even if no trial drew it.
fn check_range_ends(base: &LearnerSpec, space: &Space) -> Result<(), LearnError> {
    for (name, range) in space.parameters() {
        for value in range.representative_values() {
            let spec = base.canonical().clone().with(name, value);
            match base.with_spec(spec) {
                // Conflicts between values are checked on the drawn trials.
                Ok(_) | Err(SpecError::Conflict { .. } | SpecError::MissingKey { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(other) = depends_on(base, name) {
            check_dependent(base, space, (name, range), &other)?;
        }
    }
    Ok(())
}

/// Rejects a parameter that depends on the parameter `other` and has no effect under any value that
/// the space or the learner has for `other`.
fn check_dependent(
    base: &LearnerSpec,
    space: &Space,
    (name, range): (&str, &Range),
    other: &str,
) -> Result<(), LearnError> {
    let values_of_other = space.get(other).map(Range::representative_values).unwrap_or_default();
    let other_specs =
        values_of_other.into_iter().map(|value| base.canonical().clone().with(other, value));
    let other_specs =
        other_specs.chain(Some(base.canonical().clone()).filter(|_| space.get(other).is_none()));
    let mut rejected = None;
    for spec in other_specs {
        for value in range.representative_values() {
            match base.with_spec(spec.clone().with(name, value)) {
                Ok(_) => return Ok(()),
                Err(error) => rejected = Some(error),
            }
        }
    }
    rejected.map_or(Ok(()), |error| Err(error.into()))
}

/// The learner of each trial. A drawn parameter that has no effect with the other values of its
/// trial is left out.
fn draw_trials(
    base: &LearnerSpec,
    space: &Space,
    settings: &TuneSettings,
) -> Result<Vec<LearnerSpec>, LearnError> {
    let draw_trial = |trial: usize| {
        let mut spec = base.canonical().clone();
        let drawn = if trial > 0 { space.draw(settings.seed, trial) } else { Vec::new() };
        let (dependent, independent): (Vec<_>, Vec<_>) =
            drawn.into_iter().partition(|(name, _)| depends_on(base, name).is_some());
        for (name, value) in independent {
            spec = spec.with(&name, value);
        }
        for (name, value) in dependent {
            let extended = spec.clone().with(&name, value);
            match base.with_spec(extended.clone()) {
                Err(SpecError::Conflict { .. }) => {}
                _ => spec = extended,
            }
        }
        let text = spec.to_string();
        let learner = base.with_spec(spec).map_err(|error| TuneError::BadTrial {
            trial,
            learner: text.clone(),
            error,
        })?;
        let no_validation =
            matches!(settings.evaluated_on, TuneData::Folds { valid_part: None, .. });
        match learner.validation_use() == ValidationUse::Required && no_validation {
            false => Ok(learner),
            true => Err(LearnError::MissingFoldValidation { learner: learner.to_string() }),
        }
    };
    (0..settings.trials).map(draw_trial).collect()
}
