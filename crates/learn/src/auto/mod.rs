//! Automatic choice: trains candidates of every family on folds and blends the best of them.
//!
//! ```text
//! score = sum over members of w_m n(mean score of m's fold models)     n: standardised in the query
//! ```
//!
//! The queries are divided into folds. For each fold a candidate is trained on the other folds but
//! one, keeps its best round on that one, and scores the fold itself: these *out-of-fold* scores
//! come from models that have seen neither the query nor its validation data, so that they do not
//! flatter. After the first fold the worse half of the candidates is dropped, except the best one
//! of each family ([`plan`]). The weights of the others are chosen on their out-of-fold scores by
//! ensemble selection ([`select`]), and the members are the means of the models of all folds, so
//! that every query has been used. Validation data is one more part of the training data: its
//! queries are divided into folds with all others.
//!
//! The estimate that is reported ([`AutoReport::estimate`]) repeats the choice of weights for each
//! fold without its queries.
//!
//! If the data is so large that the choice is made on a sample of its queries, the members are
//! trained once more, on the queries of all folds of the whole data but one, on which they keep
//! their best round. Each model is a member of a [`NestedTraining`], which
//! keeps checkpoints and resumes. A candidate that cannot be trained on the data is left out; if
//! none can be trained, the error of the first one is that of the training. Cost: candidates of the
//! first fold, and about half of them for each other fold.

mod candidate;
mod choice;
mod members;
mod plan;
mod report;
mod select;
mod serve;
#[cfg(test)]
mod tests;
mod weigh;

use std::borrow::Cow;

use rankwright_data::split::folds;
use rankwright_data::{Dataset, Random};
use rankwright_eval::MetricSpec;
use rankwright_model::{Blend as BlendModel, Model, ModelBody, Normalise};
use rankwright_spec::{Auto as AutoValue, Spec, SpecError, above, choices, param_groups, params};

use self::candidate::CandidateLearner;
use self::choice::Choice;
use self::plan::AutoPlan;
use self::serve::Student;
use crate::blend::{MembersText, member_texts};
use crate::ensemble::target::TargetMetric;
use crate::error::LearnError;
use crate::learner::{
    AcceptedInputs, DeclaredLearner, Learner, LearnerDef, LearnerSpec, TargetOptions, TargetParams,
    Tuning,
};
use crate::session::{NestedTraining, TrainRequest, TrainResult, TrainWarning, appended};
use crate::trainer::{Trainer, ValidationUse};

pub use plan::AutoEffort;
pub use report::{AutoCandidate, AutoReport, AutoServed};

choices! {
    /// The model of an automatic training.
    pub enum AutoServe {
        /// The blend itself.
        Blend = "blend",
        /// One LambdaMART of at most 500 trees that has learned from the blend.
        Fast = "fast",
    }
}

params! {
    /// Parameters of the automatic choice.
    pub struct AutoParams {
        effort: AutoEffort = AutoEffort::Normal, ..,
            "Number of candidates and folds: 5 and 3 (quick), 12 and 5 (normal), 19 and 8 (thorough).";
        candidates: MembersText = MembersText::default(), ..,
            "Learners to choose from, joined by +; auto: those of the effort.";
        folds: AutoValue<usize> = AutoValue::Auto, 3..,
            "Number of folds; auto: by the effort.";
        pull: f64 = 0.3, 0.0..=1.0,
            "Pull of the weights toward the plain mean of all members; 1: the plain mean.";
        minutes: Option<f64> = None, above(0.0),
            "Time for all trainings: candidates of effort=thorough that do not fit are left out; \
             none: no limit.";
        serve: AutoServe = AutoServe::Blend, ..,
            "The model: the blend, or one lambdamart of at most 500 trees that learns from it \
             (fast).";
    }
    /// Builder methods for the parameters of the automatic choice.
    pub trait AutoOptions: auto_params;
}

param_groups! {
    /// Automatic choice: a blend of the best learners of every family, chosen on folds.
    pub struct Auto {
        auto: AutoParams, AutoOptions::auto_params;
        // The metric that members and weights are chosen for.
        target: TargetParams, TargetOptions::target_params;
    }
}

crate::learner::learners![Auto];

impl DeclaredLearner for Auto {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "auto",
        help: "A blend of the best learners of every family, chosen on folds (Caruana 2004).",
        example: "auto(effort=quick, candidates=ranksvm+mart(trees=20)+lambdamart(trees=20))",
        accepts: AcceptedInputs {
            pairs: true,
            pairs_alone: false,
            start: false,
            validation: true,
            missing: true,
            positions: false,
        },
        tuning: Tuning::without_rounds(&["pull=choice(0.1,0.3,0.6,1)"]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let target = self.target.metric.spec()?;
        TargetMetric::check(&target, Self::DEF.name)?;
        let named = member_texts(&self.auto.candidates);
        // Read once here, so that a mistake is reported before any data is read.
        let learners = named.iter().flatten().map(|text| self.learner(text));
        learners.collect::<Result<Vec<_>, _>>()?;
        if self.auto.serve == AutoServe::Fast {
            self.learner(serve::STUDENT)?;
        }
        Ok(Box::new(AutoTrainer { params: self.clone(), named, target }))
    }
}

impl Auto {
    /// A candidate: its spec, with the metric of the choice if it names none.
    fn learner(&self, text: &str) -> Result<LearnerSpec, SpecError> {
        let mut spec = Spec::parse(text)?;
        if matches!(spec.name.as_str(), "auto" | "blend") {
            return Err(SpecError::BadValue {
                name: Self::DEF.name.to_owned(),
                key: "candidates".to_owned(),
                value: text.to_owned(),
                expected: "learners that are no blends, such as lambdamart+ranksvm".to_owned(),
            });
        }
        if spec.get("metric").is_none() {
            spec = spec.with("metric", self.target.metric.as_str());
        }
        LearnerSpec::from_spec(spec)
    }
}

/// An automatic choice with checked parameters.
#[derive(Debug)]
struct AutoTrainer {
    params: Auto,
    /// The candidates that the spec names; `None` for those of the effort.
    named: Option<Vec<String>>,
    target: MetricSpec,
}

impl Trainer for AutoTrainer {
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let pool = pooled(request)?;
        let auto = &self.params.auto;
        let plan = self.plan(&pool);
        // The queries of validation data are training data here.
        let outer = TrainRequest { valid: Vec::new(), ..request.clone() };
        let mut nested = NestedTraining::begin(&outer, "model")?;
        let sample = sampled(&pool, plan.choice_queries, request.seed)?;
        let mut choice = Choice {
            target: self.target_on(&sample)?,
            folds: folds(sample.queries(), plan.folds, request.seed)?,
            data: &sample,
            candidates: self.candidates(&plan, &pool)?,
        };
        let mut finished = choice.train(&mut nested, request, &plan)?;
        let mut weighing = choice.weigh(&plan, auto.pull, request.seed, finished)?;
        weighing.report.metric = self.target.to_string();
        weighing.report.learner = self.repeated(&choice, &plan)?;
        let body = if finished && auto.serve == AutoServe::Fast {
            let learner = self.params.learner(serve::STUDENT)?;
            let student = choice.student(&learner, &weighing.weights, &mut nested)?;
            let Student { model, served } = student;
            finished = served.is_some();
            weighing.report.served = served;
            model.into_parts().1
        } else {
            let members = match finished && sample.queries() < pool.queries() {
                false => choice.fold_members(&weighing.weights)?,
                true => {
                    let (members, all) =
                        choice.members_of_all(&weighing.weights, &pool, &mut nested, request)?;
                    finished = all;
                    members
                }
            };
            ModelBody::Blend(BlendModel::new(Normalise::Standard, members)?)
        };
        let mut result = nested.finish(body, finished)?;
        if finished {
            result = with_learner(result, &weighing.report.learner)?;
            result.choice = Some(weighing.report);
        }
        let unused = validation_problem(request);
        result.warnings.extend(unused.map(|reason| TrainWarning::ValidationNotUsed { reason }));
        let (mut header, body) = result.model.into_parts();
        (header.queries, header.rows) = (pool.queries() as u64, pool.rows() as u64);
        result.model = Model::new(header, body)?;
        Ok(result)
    }

    fn objective(&self) -> String {
        self.target.to_string()
    }

    fn accepts_pairs(&self) -> bool {
        true
    }

    fn rounds(&self) -> Option<(usize, &'static str)> {
        let auto = &self.params.auto;
        let (lists, folds) = plan::of_effort(auto.effort, auto.minutes.is_some());
        let of_effort = || lists.iter().map(|list| list.len()).sum();
        let candidates = self.named.as_ref().map_or_else(of_effort, Vec::len);
        let student = usize::from(auto.serve == AutoServe::Fast);
        Some((candidates * auto.folds.or(folds) + student, "model"))
    }

    fn validation_use(&self) -> ValidationUse {
        // Without validation data, nothing is missing: the folds take its place.
        ValidationUse::Ignored
    }
}

impl AutoTrainer {
    /// The metric on the data of the choice. Pairs without labels have no metric to choose by.
    fn target_on<'a>(&self, data: &'a Dataset) -> Result<TargetMetric<'a>, LearnError> {
        match TargetMetric::new(data, &self.target) {
            Err(LearnError::NoMetricValue { .. }) if data.pairs().is_some() => {
                let learner = Auto::DEF.name.to_owned();
                Err(LearnError::PairsUnsupported { learner, labelled: false })
            }
            result => result,
        }
    }

    /// The plan for this data.
    fn plan(&self, pool: &Dataset) -> AutoPlan {
        let auto = &self.params.auto;
        let (candidates, folds) = (self.named.clone(), auto.folds.given());
        let plan = AutoPlan::new(pool, auto.effort, candidates, folds, auto.minutes);
        AutoPlan { is_distilled: auto.serve == AutoServe::Fast, ..plan }
    }

    /// The learner that repeats this training: with a limit of time, its candidates are those that
    /// were kept.
    fn repeated(&self, choice: &Choice<'_>, plan: &AutoPlan) -> Result<String, LearnError> {
        if self.params.auto.minutes.is_none() {
            return Ok(self.params.spec().to_string());
        }
        let kept = choice.candidates.iter().filter(|candidate| candidate.is_running());
        let kept: Vec<&str> = kept.map(|candidate| candidate.text.as_str()).collect();
        let mut params = self.params.clone();
        params.auto.minutes = None;
        params.auto.candidates = MembersText::new(kept.join("+"));
        params.auto.folds = AutoValue::Given(plan.folds);
        // The members are printed in their canonical form when they are read.
        Ok(LearnerSpec::parse(&params.spec().to_string())?.to_string())
    }

    /// The candidates of the plan; those that cannot be trained on this kind of data have failed.
    fn candidates(
        &self,
        plan: &AutoPlan,
        pool: &Dataset,
    ) -> Result<Vec<CandidateLearner>, LearnError> {
        let mut candidates = Vec::new();
        for text in &plan.candidates {
            let learner = self.params.learner(text)?;
            let is_unsupported = pool.pairs().is_some() && !learner.accepts_pairs();
            let failure = is_unsupported.then(|| LearnError::PairsUnsupported {
                learner: learner.def().name.to_owned(),
                labelled: pool.is_labelled(),
            });
            candidates.push(CandidateLearner { failure, ..CandidateLearner::new(text, learner) });
        }
        match !candidates.iter().any(CandidateLearner::is_running) {
            true => Err(LearnError::PairsUnsupported {
                learner: Auto::DEF.name.to_owned(),
                labelled: pool.is_labelled(),
            }),
            false => Ok(candidates),
        }
    }
}

/// The training data, followed by the first validation set.
fn pooled<'a>(request: &TrainRequest<'a>) -> Result<Cow<'a, Dataset>, LearnError> {
    let train = request.train;
    if !train.is_labelled() {
        return Err(match train.pairs() {
            Some(_) => {
                let learner = Auto::DEF.name.to_owned();
                LearnError::PairsUnsupported { learner, labelled: false }
            }
            None => LearnError::ObjectiveNeedsLabels,
        });
    }
    let Some(valid) = request.valid.first() else {
        return Ok(Cow::Borrowed(train));
    };
    if validation_problem(request).is_some() {
        return Ok(Cow::Borrowed(train));
    }
    Ok(Cow::Owned(appended(train, valid.data, request.features)?))
}

/// The result with another learner in the header of its model.
fn with_learner(result: TrainResult, learner: &str) -> Result<TrainResult, LearnError> {
    let (mut header, body) = result.model.into_parts();
    learner.clone_into(&mut header.learner);
    Ok(TrainResult { model: Model::new(header, body)?, ..result })
}

/// The reason why the queries of the first validation set cannot be used for training, if there is
/// one.
fn validation_problem(request: &TrainRequest<'_>) -> Option<&'static str> {
    let (train, valid) = (request.train, request.valid.first()?.data);
    match (train.pairs().is_some(), valid.pairs().is_some()) {
        _ if !valid.is_labelled() => Some("it has no labels"),
        (true, false) => Some("it has no preference pairs, and the training data has some"),
        (false, true) => Some("it has preference pairs, and the training data has none"),
        _ => None,
    }
}

/// This many of the queries, drawn by the seed, in their order.
fn sampled(pool: &Dataset, queries: usize, seed: u64) -> Result<Cow<'_, Dataset>, LearnError> {
    // Any constant: keeps this draw apart from other random numbers of the seed.
    const SAMPLE_SEED: u64 = 0x6175_746f_2073;
    if queries >= pool.queries() {
        return Ok(Cow::Borrowed(pool));
    }
    let mut order: Vec<usize> = (0..pool.queries()).collect();
    Random::new(seed ^ SAMPLE_SEED, 0).shuffle(&mut order);
    order.truncate(queries);
    order.sort_unstable();
    Ok(Cow::Owned(pool.select_queries(&order)?))
}
