//! Learners by name: a spec such as `lambdamart(trees=500, metric=err@20)` to a trained model.
//!
//! [`LEARNERS`] is the one table: it feeds the command line's help, and a test walks it. A spec is
//! checked whole when it is parsed, down to the objective; only what names features of the data
//! (`monotone`, `interactions`, `weights`) waits until the data is there. A boosted learner is a set of boosting
//! parameters ([`params`]) and an objective ([`objective`]); [`linear`] is a line of given
//! weights; every other learner is a [`Trainer`], read by a function of its own folder. [`cv`]
//! trains any of them on folds of queries.

mod constraints;
mod cv;
mod linear;
mod monotone;
mod objective;
mod params;
mod registry;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

use rankwright_data::Dataset;
use rankwright_eval::{Measure, MetricSpec, ParamInfo, Params, SourceKind};
use rankwright_model::Model;
use rankwright_spec::{Spec, SpecError};

use self::constraints::Constraints;
use self::linear::Given;
use self::monotone::Monotone;
use self::registry::Family;
use crate::blend;
use crate::boost::{BoostParams, Booster};
use crate::error::LearnError;
use crate::objective::{DEFAULT_METRIC, parse_objective};
use crate::session::{TrainRequest, TrainResult};
use crate::trainer::{Trainer, Validation};

pub use cv::{CvOptions, CvResult, FoldResult, cross_validate};
pub use registry::LEARNERS;

/// One learner, as the help shows it.
#[derive(Debug, Clone, Copy)]
pub struct LearnerInfo {
    /// Name in a spec.
    pub name: &'static str,
    /// One line: what it learns, and from whom.
    pub doc: &'static str,
    /// A spec that runs.
    pub example: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    family: Family,
}

/// A learner by its text, checked.
///
/// ```
/// use rankwright_data::generate::LetorOptions;
/// use rankwright_learn::{TrainRequest, LearnerSpec};
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
    /// Only what was written, in the table's order.
    spec: Spec,
    info: &'static LearnerInfo,
    target: MetricSpec,
    plan: Plan,
}

/// Boosting parameters of a learner whose trees are grown otherwise than by gradients of its loss.
pub(crate) fn boosting(params: &Params<'_>) -> Result<BoostParams, SpecError> {
    params::read(params, false)
}

/// What a spec comes to.
#[derive(Debug, Clone)]
enum Plan {
    Boosted {
        params: Box<BoostParams>,
        monotone: Monotone,
        constraints: Constraints,
        objective: Spec,
    },
    Given(Given),
    Other(Arc<dyn Trainer>),
}

impl LearnerSpec {
    /// Reads and checks a learner.
    pub fn parse(text: &str) -> Result<Self, LearnError> {
        Ok(Self::from_spec(Spec::parse(text)?)?)
    }

    /// Checks a learner.
    pub fn from_spec(mut spec: Spec) -> Result<Self, SpecError> {
        let info = find(&spec.name)?;
        if spec.cutoff.is_some() {
            let why =
                "a learner takes no cut-off; write it with the metric, such as metric=ndcg@10";
            return Err(SpecError::Conflict { name: spec.name, why: why.to_owned() });
        }
        refuse_linear_leaves(&spec, info)?;
        spec.args.sort_by_key(|(key, _)| info.params.iter().position(|p| p.name == key));
        let params = Params::new(&spec, info.params, &[])?;
        let target = MetricSpec::parse(params.text("metric").unwrap_or(DEFAULT_METRIC))?;
        let plan = match info.family {
            Family::Given => Plan::Given(Given::read(&params)?),
            Family::Other(read) => Plan::Other(read(&params, &target)?),
            family => {
                let objective = objective::spec(family, &params, &target)?;
                parse_objective(&objective).map_err(|error| in_learner(error, &objective, info))?;
                Plan::Boosted {
                    params: Box::new(params::read(&params, matches!(family, Family::Tree))?),
                    monotone: Monotone::read(&params)?,
                    constraints: Constraints::read(&params)?,
                    objective,
                }
            }
        };
        let tidy = |(key, value): &(String, String)| (key.clone(), tidy(key, value, &target));
        let args = spec.args.iter().map(tidy).collect();
        Ok(Self { spec: Spec { args, ..spec }, info, target, plan })
    }

    /// The spec with only what was written, in the table's order, values in their plain form.
    /// Parses back to itself.
    pub fn canonical(&self) -> &Spec {
        &self.spec
    }

    /// The learner's entry in the table.
    pub fn info(&self) -> &'static LearnerInfo {
        self.info
    }

    /// The metric to aim at and to watch: `metric=` in the spec, else ndcg@10.
    pub fn target(&self) -> &MetricSpec {
        &self.target
    }

    /// Boosting parameters, where trees are boosted.
    pub fn boosting(&self) -> Option<&BoostParams> {
        match &self.plan {
            Plan::Boosted { params, .. } => Some(params),
            _ => None,
        }
    }

    /// How many rounds a training has at most, and what they are called ("tree", "epoch", ...).
    /// `None` for what is trained in one go or not at all: there is nothing to save on the way.
    pub fn rounds(&self) -> Option<(usize, &'static str)> {
        match &self.plan {
            Plan::Boosted { params, .. } => Some((params.trees, "tree")),
            Plan::Given(_) => None,
            Plan::Other(trainer) => trainer.rounds(),
        }
    }

    /// Whether anything is learnt from data.
    pub fn learns(&self) -> bool {
        !matches!(self.plan, Plan::Given(_))
    }

    /// Whether validation data has a say in the model: by stopping, or by choosing.
    pub fn uses_validation(&self) -> bool {
        self.validation() != Validation::Ignored
    }

    pub(crate) fn validation(&self) -> Validation {
        match &self.plan {
            Plan::Boosted { params, .. } if params.stop.is_some() => Validation::Needed,
            Plan::Boosted { .. } | Plan::Given(_) => Validation::Ignored,
            Plan::Other(trainer) => trainer.validation(),
        }
    }

    /// Whether it learns from preference pairs.
    pub fn takes_pairs(&self) -> bool {
        match &self.plan {
            Plan::Other(trainer) => trainer.takes_pairs(),
            _ => matches!(self.info.family, Family::RankMart | Family::LambdaMart),
        }
    }

    /// How many queries of the data have so many documents that not every pair of them is visited
    /// in training: each document meets
    /// [`SAMPLED_PARTNERS`](crate::objective::SAMPLED_PARTNERS) others instead, drawn by the seed
    /// (for each tree, where trees are boosted). 0 for learners without pairs, and for data with preferences of its own.
    ///
    /// ```
    /// use rankwright_data::generate::LetorOptions;
    /// use rankwright_learn::LearnerSpec;
    ///
    /// let data = LetorOptions { queries: 3, documents: 30, seed: 1 }.generate()?;
    /// assert_eq!(LearnerSpec::parse("rankmart")?.sampled_queries(&data)?, 0);
    /// # Ok::<(), rankwright_learn::LearnError>(())
    /// ```
    pub fn sampled_queries(&self, data: &Dataset) -> Result<usize, LearnError> {
        if data.pairs().is_some() {
            return Ok(0);
        }
        let objective = match &self.plan {
            Plan::Boosted { objective, .. } => objective,
            Plan::Given(_) => return Ok(0),
            Plan::Other(trainer) => return Ok(trainer.sampled_queries(data)),
        };
        let objective = parse_objective(objective)?;
        let sampled = |query: &usize| objective.samples_pairs(data.query_rows(*query).len());
        Ok((0..data.queries()).filter(sampled).count())
    }

    /// The model that needs no data: a line whose weights name the features. `None` for learners
    /// that have something to learn.
    pub fn without_data(&self) -> Option<Result<Model, LearnError>> {
        match &self.plan {
            Plan::Given(given) => Some(given.alone(self)),
            _ => None,
        }
    }

    /// Trains on the request's data. The request's learner and objective are filled in, and where it has
    /// no metrics, the target is watched.
    pub fn train(&self, mut request: TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        request.learner = self.to_string();
        if request.metrics.is_empty() {
            request.metrics.push(self.measure()?);
        }
        if request.train.pairs().is_some() && !self.takes_pairs() {
            return Err(LearnError::PairsUnsupported { learner: self.info.name.to_owned() });
        }
        match &self.plan {
            Plan::Given(given) => given.train(&request),
            Plan::Other(trainer) => {
                request.objective = trainer.objective();
                self.train_other(trainer.as_ref(), &request)
            }
            Plan::Boosted { params, monotone, constraints, objective } => {
                request.objective = objective.to_string();
                let mut params = (**params).clone();
                params.tree.monotone =
                    monotone.columns(request.train.features(), self.info.name)?;
                constraints.apply(&mut params.tree, request.train.features(), self.info.name)?;
                let mut objective = parse_objective(objective)?;
                objective.set_simd(request.simd);
                Booster::new(params)?.train(objective.as_mut(), &request)
            }
        }
    }

    /// Trains what is no boosted ensemble, after the checks that all of them need.
    fn train_other(
        &self,
        trainer: &dyn Trainer,
        request: &TrainRequest<'_>,
    ) -> Result<TrainResult, LearnError> {
        if request.start.is_some() {
            return Err(LearnError::StartUnsupported { learner: self.info.name.to_owned() });
        }
        if request.train.rows() == 0 {
            return Err(LearnError::EmptyData);
        }
        if trainer.validation() == Validation::Needed && request.valid.is_empty() {
            return Err(LearnError::MissingValidation { learner: self.to_string() });
        }
        let started = Instant::now();
        // Inside the pool, so that this thread works too instead of waiting for the others.
        let mut result = None;
        rayon::scope(|_| result = Some(trainer.train(request)));
        let result = result.unwrap_or_else(|| {
            Err(LearnError::Internal { invariant: "a training runs inside the pool" })
        });
        let mut result = result?;
        if result.history.train_seconds == 0.0 {
            result.history.train_seconds = started.elapsed().as_secs_f64();
        }
        Ok(result)
    }

    /// The target, settled for feature data.
    pub fn measure(&self) -> Result<Measure, LearnError> {
        Ok(self.target.resolve(SourceKind::Features)?)
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

fn find(name: &str) -> Result<&'static LearnerInfo, SpecError> {
    LEARNERS.iter().find(|info| info.name == name).ok_or_else(|| {
        let known: Vec<&str> = LEARNERS.iter().map(|info| info.name).collect();
        SpecError::unknown("learner", name, &known)
    })
}

/// Other programs fit a line in each leaf; whoever asks for that should hear that it is not there,
/// not that a word is unknown.
fn refuse_linear_leaves(spec: &Spec, info: &LearnerInfo) -> Result<(), SpecError> {
    let trees = info.params.iter().any(|param| param.name == "leaves");
    match ["linear_tree", "linear_leaves"].iter().find(|key| trees && spec.get(key).is_some()) {
        None => Ok(()),
        Some(key) => Err(SpecError::Conflict {
            name: spec.name.clone(),
            why: format!(
                "{key}: leaves with a line in them are not built, a leaf is one number; leave it out"
            ),
        }),
    }
}

/// Whoever wrote `lambdamart` should read of `lambdamart`, not of the objective inside it.
fn in_learner(error: SpecError, objective: &Spec, info: &LearnerInfo) -> SpecError {
    let rename = |name: String| match name == objective.name {
        true => info.name.to_owned(),
        false => name,
    };
    match error {
        SpecError::BadValue { name, key, value, expected } => {
            SpecError::BadValue { name: rename(name), key, value, expected }
        }
        SpecError::Conflict { name, why } => SpecError::Conflict { name: rename(name), why },
        other => other,
    }
}

/// A value in its plain form: numbers short, switches as true and false, metrics as they print.
fn tidy(key: &str, value: &str, target: &MetricSpec) -> String {
    match (key, value) {
        ("metric", _) => target.to_string(),
        ("members" | "learner", _) => blend::tidy(value),
        ("weights" | "monotone" | "interactions" | "feature_cost" | "categorical", _) => {
            value.split_whitespace().collect()
        }
        (_, list) if list.contains('/') && !list.contains('(') => {
            let parts = list.split('/').map(|part| tidy(key, part.trim(), target));
            parts.collect::<Vec<_>>().join("/")
        }
        (_, "yes" | "on") => "true".to_owned(),
        (_, "no" | "off") => "false".to_owned(),
        _ => match value.parse::<f64>() {
            Ok(0.0) => "0".to_owned(),
            Ok(number) if (1e-5..1e15).contains(&number.abs()) => number.to_string(),
            Ok(number) => format!("{number:e}"),
            Err(_) => value.to_owned(),
        },
    }
}
