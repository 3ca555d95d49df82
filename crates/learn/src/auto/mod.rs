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
//! trained once more, on all of the data. Each model is a member of a [`NestedTraining`], which
//! keeps checkpoints and resumes. A candidate that cannot be trained on the data is left out; if
//! none can be trained, the error of the first one is that of the training. Cost: candidates of the
//! first fold, and about half of them for each other fold.

mod plan;
mod report;
mod select;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use rankwright_data::split::{Fold, folds};
use rankwright_data::{Dataset, Random};
use rankwright_eval::MetricSpec;
use rankwright_model::{
    Blend as BlendModel, Header, Linear, Matching, Model, ModelBody, Normalise,
};
use rankwright_spec::{Auto as AutoValue, Spec, SpecError, param_groups, params};

use self::plan::AutoPlan;
use self::select::EnsembleSelection;
use crate::blend::{MembersText, member_texts};
use crate::ensemble::bagging::mean_of_trees;
use crate::ensemble::target::TargetMetric;
use crate::error::LearnError;
use crate::learner::{
    AcceptedInputs, DeclaredLearner, LearnerDef, LearnerSpec, TargetOptions, TargetParams, Tuning,
};
use crate::session::{NestedTraining, TrainRequest, TrainResult, TrainWarning, ValidationSet};
use crate::trainer::{Trainer, ValidationUse};

pub use plan::AutoEffort;
pub use report::{AutoCandidate, AutoReport};

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
        let given = member_texts(&self.auto.candidates);
        // Read once here, so that a mistake is reported before any data is read.
        let learners = given.iter().flatten().map(|text| self.learner(text));
        learners.collect::<Result<Vec<_>, _>>()?;
        Ok(Box::new(AutoTrainer { params: self.clone(), given, target }))
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
    /// The candidates that are named; `None` for those of the effort.
    given: Option<Vec<String>>,
    target: MetricSpec,
}

/// A candidate during the choice.
struct CandidateLearner {
    learner: LearnerSpec,
    /// The models of the folds so far.
    models: Vec<Model>,
    /// Scores of the rows of tested queries, standardised within each query; 0 elsewhere.
    scores: Vec<f64>,
    /// Whether it is dropped after the first fold.
    is_dropped: bool,
    failure: Option<LearnError>,
}

impl CandidateLearner {
    fn is_running(&self) -> bool {
        !self.is_dropped && self.failure.is_none()
    }
}

impl Trainer for AutoTrainer {
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let pool = pooled(request)?;
        let auto = &self.params.auto;
        let plan = AutoPlan::new(&pool, auto.effort, self.given.clone(), auto.folds.given());
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
        let members = match finished && sample.queries() < pool.queries() {
            false => choice.fold_members(&weighing.weights)?,
            true => {
                let (members, all) =
                    choice.members_of_all(&weighing.weights, &pool, &mut nested, request)?;
                finished = all;
                members
            }
        };
        let body = ModelBody::Blend(BlendModel::new(Normalise::Standard, members)?);
        let mut result = nested.finish(body, finished)?;
        weighing.report.metric = self.target.to_string();
        result.choice = finished.then_some(weighing.report);
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
        let effort = self.params.auto.effort;
        let candidates =
            self.given.as_ref().map_or_else(|| effort.candidates().count(), |given| given.len());
        Some((candidates * self.params.auto.folds.or(effort.folds()), "model"))
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
            let (models, scores) = (Vec::new(), Vec::new());
            candidates.push(CandidateLearner {
                learner,
                models,
                scores,
                is_dropped: false,
                failure,
            });
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
        return Err(LearnError::ObjectiveNeedsLabels);
    }
    let Some(valid) = request.valid.first() else {
        return Ok(Cow::Borrowed(train));
    };
    if validation_problem(request).is_some() {
        return Ok(Cow::Borrowed(train));
    }
    let header = Header::new(train.features().clone(), train.absent());
    let matching = Matching::new(&header, valid.data.features(), request.features.matching)?;
    let numbered;
    let added = match train.table_columns() {
        // The numbers of categories are those of the training data.
        Some(columns) => {
            numbered = valid.data.clone().with_categories(columns);
            &numbered
        }
        None => valid.data,
    };
    Ok(Cow::Owned(train.append(added, |feature| matching.column(feature))?))
}

/// The reason why the queries of the first validation set cannot be trained on like the others.
fn validation_problem(request: &TrainRequest<'_>) -> Option<&'static str> {
    let (train, valid) = (request.train, request.valid.first()?.data);
    match (train.pairs().is_some(), valid.pairs().is_some()) {
        _ if !valid.is_labelled() => Some("it has no labels"),
        (true, false) => Some("the training data has preference pairs, and it has none"),
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

/// The candidates on the data of the choice.
struct Choice<'a> {
    data: &'a Dataset,
    target: TargetMetric<'a>,
    folds: Vec<Fold>,
    candidates: Vec<CandidateLearner>,
}

/// Weights of the candidates, and the report on them.
struct Weighing {
    weights: Vec<f64>,
    report: AutoReport,
}

impl Choice<'_> {
    /// Trains all candidates on the first fold and the better ones on the others. Returns false if
    /// training was cancelled.
    fn train(
        &mut self,
        nested: &mut NestedTraining<'_>,
        request: &TrainRequest<'_>,
        plan: &AutoPlan,
    ) -> Result<bool, LearnError> {
        for number in 0..self.folds.len() {
            if !self.train_fold(number, nested, request)? {
                return Ok(false);
            }
            if number == 0 && plan.halve {
                self.drop_worse_half()?;
            }
        }
        if self.candidates.iter().any(CandidateLearner::is_running) {
            return Ok(true);
        }
        let failures = self.candidates.iter_mut().find_map(|candidate| candidate.failure.take());
        Err(failures.unwrap_or(LearnError::Internal {
            invariant: "the best candidate of the first fold is not dropped",
        }))
    }

    /// Trains the running candidates for one fold, and scores its test queries.
    fn train_fold(
        &mut self,
        number: usize,
        nested: &mut NestedTraining<'_>,
        request: &TrainRequest<'_>,
    ) -> Result<bool, LearnError> {
        let fold = &self.folds[number];
        let [train, valid, test] =
            [&fold.train, &fold.valid, &fold.test].map(|queries| self.data.select_queries(queries));
        let (train, valid, test) = (train?, valid?, test?);
        // On few queries, none of those for validation may have a metric value.
        let can_validate = request.metrics.first().is_none_or(|metric| {
            let values = crate::session::validation::values(
                &valid,
                &vec![0.0; valid.rows()],
                std::slice::from_ref(metric),
            );
            values.is_ok_and(|values| values.iter().all(|value| !value.is_nan()))
        });
        for candidate in self.candidates.iter_mut().filter(|candidate| candidate.is_running()) {
            let mut own = nested.request(&train);
            if can_validate {
                let name = format!("fold {}", number + 1);
                own.valid = vec![ValidationSet::new(name, &valid)];
            }
            own.seed = request.seed.wrapping_add(number as u64);
            let model = match nested.train(&candidate.learner, own) {
                Ok((model, false)) => {
                    // So that a training that is cancelled at once has a model, too.
                    candidate.models.push(model);
                    return Ok(false);
                }
                Ok((model, true)) => model,
                Err(error) if error.is_about_data() => {
                    candidate.failure = Some(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let scores = standard_scores(&model, &test, request)?;
            candidate.scores.resize(self.data.rows(), 0.0);
            let rows = fold.test.iter().flat_map(|query| self.data.query_rows(*query));
            rows.zip(scores).for_each(|(row, score)| candidate.scores[row] = score);
            candidate.models.push(model);
        }
        Ok(true)
    }

    /// The metric of rankings of the queries with `used`, higher is better.
    fn totals(&self, used: Vec<bool>, rankings: &[&[f64]]) -> Result<Vec<f64>, LearnError> {
        let fill = |query: usize, ranking: usize, scores: &mut [f64]| {
            scores.copy_from_slice(&rankings[ranking][self.data.query_rows(query)]);
        };
        self.target.restricted_to(used).totals(rankings.len(), fill)
    }

    /// For each query, whether it is one of these.
    fn flags(&self, queries: &[usize]) -> Vec<bool> {
        let mut flags = vec![false; self.data.queries()];
        queries.iter().for_each(|query| flags[*query] = true);
        flags
    }

    /// Drops the worse half of the candidates on the first fold, except the best of each family.
    fn drop_worse_half(&mut self) -> Result<(), LearnError> {
        let running: Vec<usize> = (0..self.candidates.len())
            .filter(|index| self.candidates[*index].is_running())
            .collect();
        let rankings: Vec<&[f64]> =
            running.iter().map(|index| self.candidates[*index].scores.as_slice()).collect();
        let values = self.totals(self.flags(&self.folds[0].test), &rankings)?;
        if values.iter().any(|value| value.is_nan()) {
            // No test query of this fold has a metric value.
            return Ok(());
        }
        let mut order: Vec<usize> = (0..running.len()).collect();
        order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
        let kept = running.len().div_ceil(2);
        let mut families = Vec::new();
        for (rank, position) in order.into_iter().enumerate() {
            let candidate = &mut self.candidates[running[position]];
            let family = Family::of(&candidate.learner);
            let is_best_of_family = !families.contains(&family);
            families.push(family);
            candidate.is_dropped = rank >= kept && !is_best_of_family;
        }
        Ok(())
    }

    /// The weight of each candidate, and the report. If training was cancelled, the candidates with
    /// a model get equal weights.
    fn weigh(
        &self,
        plan: &AutoPlan,
        pull: f64,
        seed: u64,
        finished: bool,
    ) -> Result<Weighing, LearnError> {
        let members: Vec<usize> = (0..self.candidates.len())
            .filter(|index| match finished {
                true => self.candidates[*index].is_running(),
                false => !self.candidates[*index].models.is_empty(),
            })
            .collect();
        if members.is_empty() {
            return Err(LearnError::Cancelled { unit: "model".to_owned() });
        }
        let mut weights = vec![0.0; self.candidates.len()];
        let mut report = AutoReport {
            metric: String::new(),
            folds: self.folds.len(),
            queries: self.data.queries(),
            candidates: Vec::new(),
            estimate: f64::NAN,
            mean: f64::NAN,
        };
        if !finished {
            members.iter().for_each(|index| weights[*index] = 1.0 / members.len() as f64);
            return Ok(Weighing { weights, report });
        }
        let scores: Vec<Vec<f64>> =
            members.iter().map(|index| self.candidates[*index].scores.clone()).collect();
        let selection =
            EnsembleSelection { selections: plan.selections, picks: plan.picks, pull, seed };
        let all = vec![true; self.data.queries()];
        let chosen = selection.weights(&self.target, &scores, &all)?;
        members.iter().zip(&chosen).for_each(|(index, weight)| weights[*index] = *weight);
        // Weights that are chosen without a fold score the queries of this fold.
        let mut estimated = vec![0.0; self.data.rows()];
        for fold in &self.folds {
            let mut used = all.clone();
            fold.test.iter().for_each(|query| used[*query] = false);
            let weights = selection.weights(&self.target, &scores, &used)?;
            for row in fold.test.iter().flat_map(|query| self.data.query_rows(*query)) {
                let terms = weights.iter().zip(&scores).map(|(weight, of)| weight * of[row]);
                estimated[row] = terms.sum();
            }
        }
        let mean: Vec<f64> =
            (0..self.data.rows()).map(|row| scores.iter().map(|of| of[row]).sum()).collect();
        let totals = self.totals(all, &[&estimated, &mean])?;
        (report.estimate, report.mean) = (totals[0], totals[1]);
        report.candidates = self.report_candidates(&weights)?;
        Ok(Weighing { weights, report })
    }

    /// The candidates of the report, each evaluated on the folds that it was trained for.
    fn report_candidates(&self, weights: &[f64]) -> Result<Vec<AutoCandidate>, LearnError> {
        let mut rows = Vec::new();
        for (candidate, weight) in self.candidates.iter().zip(weights) {
            let folds = candidate.models.len();
            let queries: Vec<usize> =
                self.folds.iter().take(folds).flat_map(|fold| fold.test.iter().copied()).collect();
            let value = match folds {
                0 => None,
                _ => self.totals(self.flags(&queries), &[&candidate.scores])?.first().copied(),
            };
            rows.push(AutoCandidate {
                learner: candidate.learner.to_string(),
                value: value.filter(|value| !value.is_nan()),
                folds,
                weight: *weight,
                failure: candidate.failure.as_ref().map(ToString::to_string),
            });
        }
        Ok(rows)
    }

    /// The members of the blend: for each candidate with a weight, the mean of its fold models.
    fn fold_members(&mut self, weights: &[f64]) -> Result<Vec<(f64, Model)>, LearnError> {
        let mut members = Vec::new();
        for (candidate, weight) in self.candidates.iter_mut().zip(weights) {
            if *weight > 0.0 {
                let models = std::mem::take(&mut candidate.models);
                members.extend(weighted_mean(models, *weight)?);
            }
        }
        Ok(members)
    }

    /// The members of the blend, trained on all data, of which one fold keeps the best rounds. The
    /// returned bool is false if training was cancelled; then later members are missing.
    fn members_of_all(
        &self,
        weights: &[f64],
        pool: &Dataset,
        nested: &mut NestedTraining<'_>,
        request: &TrainRequest<'_>,
    ) -> Result<(Vec<(f64, Model)>, bool), LearnError> {
        let fold = folds(pool.queries(), self.folds.len(), request.seed)?.swap_remove(0);
        let mut queries = [fold.train, fold.test].concat();
        queries.sort_unstable();
        let (train, valid) = (pool.select_queries(&queries)?, pool.select_queries(&fold.valid)?);
        let mut members = Vec::new();
        for (candidate, weight) in self.candidates.iter().zip(weights) {
            if *weight == 0.0 {
                continue;
            }
            let mut own = nested.request(&train);
            own.valid = vec![ValidationSet::new("held out", &valid)];
            let (model, finished) = nested.train(&candidate.learner, own)?;
            members.push((*weight, model));
            if !finished {
                return Ok((members, false));
            }
        }
        Ok((members, true))
    }
}

/// The scores of a model, standardised within each query.
fn standard_scores(
    model: &Model,
    data: &Dataset,
    request: &TrainRequest<'_>,
) -> Result<Vec<f64>, LearnError> {
    let mut scores = model.score(data, request.features)?;
    for query in 0..data.queries() {
        Normalise::Standard.apply(&mut scores[data.query_rows(query)]);
    }
    Ok(scores)
}

/// The models of one learner as members that share the weight: trees and linear models become one
/// model, the mean of all.
fn weighted_mean(models: Vec<Model>, weight: f64) -> Result<Vec<(f64, Model)>, LearnError> {
    let count = models.len() as f64;
    let header = models.first().map(|model| model.header().clone());
    let header = header.ok_or(LearnError::Internal { invariant: "a member has fold models" })?;
    if models.iter().all(|model| matches!(model.body(), ModelBody::Trees(_))) {
        let body = ModelBody::Trees(mean_of_trees(models)?);
        return Ok(vec![(weight, Model::new(header, body)?)]);
    }
    let linear = |model: &Model| match model.body() {
        ModelBody::Linear(linear) => Some(linear.clone()),
        _ => None,
    };
    let all: Option<Vec<Linear>> = models.iter().map(linear).collect();
    if let Some(all) = all {
        let columns = header.features.len();
        let of = |column: usize| all.iter().map(|one| one.weights()[column]).sum::<f64>() / count;
        let bias = all.iter().map(Linear::bias).sum::<f64>() / count;
        let body = ModelBody::Linear(Linear::new(bias, (0..columns).map(of).collect())?);
        return Ok(vec![(weight, Model::new(header, body)?)]);
    }
    Ok(models.into_iter().map(|model| (weight / count, model)).collect())
}

/// The family of a learner. Members of different families make different errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Linear,
    BoostedTrees,
    Net,
    Other,
}

impl Family {
    fn of(learner: &LearnerSpec) -> Self {
        let is_in = |list: &[&LearnerDef]| list.iter().any(|def| def.name == learner.def().name);
        if learner.boosting().is_some() {
            Self::BoostedTrees
        } else if is_in(crate::linear::learners::LEARNERS) {
            Self::Linear
        } else if is_in(crate::net::learners::LEARNERS) {
            Self::Net
        } else {
            Self::Other
        }
    }
}
