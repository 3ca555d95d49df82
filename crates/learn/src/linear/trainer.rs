//! Training of linear models: transforms, the search for the best weights, and the model.
//!
//! c is the weight of the loss relative to the penalty on the weights. With one value of c, a round
//! is a step of Newton's method and the last weights are the result: the loss is convex, so there
//! is one minimum. With several values, a round is a value of c, from the smallest up, each
//! starting from the weights of the one before; the first metric on the first validation set
//! chooses. An interrupted training resumes from the last step, or the last value of c.

use std::borrow::Cow;

use rankwright_data::Dataset;
use rankwright_model::{GRADES_NOTE, Model, ModelBody, ScoreOptions, THRESHOLDS_NOTE, Transforms};
use rankwright_spec::SpecError;

use super::fold_transforms;
use super::logistic_pairs::{LogisticPairs, MAX_DOCUMENTS};
use super::loss::{ConvexLoss, MarginLoss};
use super::newton::{NewtonSearch, NewtonStep};
use super::ordinal::CumulativeLogitLoss;
use super::pairs::click_pair_sources;
use super::path::{PathPosition, Solver};
use super::pointwise::{BinaryMarginLoss, LeastSquares, normalised_weights};
use super::problem::{DesignMatrix, Problem};
use super::ranksvm::RankSvmLoss;
use super::ridge;
use crate::bias::{
    BiasCorrection, BiasParams, are_rates, click_factors, corrected_rates, given_factors,
};
use crate::error::LearnError;
use crate::objective::{Objective, Ordinal, TrainingDocuments, slashed};
use crate::session::{RoundPlan, RoundStatus, Session, result_without_rounds};
use crate::session::{TrainRequest, TrainResult};
use crate::trainer::{Trainer, ValidationUse};
use crate::transform::{TransformParams, any_missing, transformed};

/// The loss of a linear learner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LinearLoss {
    /// Squared error on the labels.
    Regression { l2: f64 },
    /// A margin loss of binary relevance; labels from `rel` on are relevant.
    BinaryMargin { margin_loss: MarginLoss, rel: f64 },
    /// The cumulative logit of the grades.
    Ordinal,
    /// A hinge of preferences.
    RankSvm { margin_loss: MarginLoss, norm_query: bool },
    /// The logistic loss of preferences.
    LogisticPairs { norm_query: bool },
}

/// Options of the search for the smallest loss.
#[derive(Debug, Clone)]
pub(super) struct LinearFit {
    /// Values of c (the weight of the loss relative to the penalty), in rising order.
    pub(super) c_values: Vec<f64>,
    /// Maximum number of steps of Newton's method, for each c.
    pub(super) steps: usize,
    /// The search ends if the norm of the gradient has fallen to this fraction of the first.
    pub(super) tolerance: f64,
    pub(super) transform: TransformParams,
}

/// Trains a linear learner.
#[derive(Debug)]
pub(super) struct LinearTrainer {
    pub(super) loss: LinearLoss,
    pub(super) fit: LinearFit,
    /// The correction of clicks for position bias.
    pub(super) bias: BiasParams,
}

/// The training data with its transformed features.
struct LinearData<'a> {
    request: &'a TrainRequest<'a>,
    transforms: Transforms,
    /// Transformed values, row by row.
    values: Vec<f32>,
    /// Whether the data has missing values.
    missing: bool,
}

impl LinearData<'_> {
    /// The transformed features, for the losses.
    fn design(&self) -> DesignMatrix<'_> {
        DesignMatrix { data: self.request.train, values: &self.values, simd: self.request.simd }
    }

    /// The model of these weights of transformed features.
    fn model(&self, weights: &[f64], intercept: f64) -> Result<ModelBody, LearnError> {
        fold_transforms::model(&self.transforms, weights, intercept, self.missing)
    }
}

impl Trainer for LinearTrainer {
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let mixed;
        let mut request = Cow::Borrowed(request);
        if let Some(targets) = request.soft_targets.clone() {
            // The squared errors from the label and from the soft label add up, apart from a
            // constant, to the squared error from their weighted mean.
            let data = request.train;
            mixed = data.clone().with_labels(targets.mixed_labels(data.labels()))?;
            request.to_mut().train = &mixed;
        }
        let request = &*request;
        let data = request.train;
        if data.columns() == 0 {
            return Err(LearnError::NoFeatures);
        }
        let transforms = self.fit.transform.fit(data)?;
        let values = transformed(data, &transforms);
        let inputs = LinearData { request, transforms, values, missing: any_missing(data) };
        match self.loss {
            LinearLoss::Regression { l2 } => self.regression(&inputs, l2),
            LinearLoss::BinaryMargin { margin_loss, rel } => {
                self.search(&inputs, BinaryMarginLoss::new(data, rel, margin_loss)?)
            }
            LinearLoss::Ordinal => self.search(&inputs, CumulativeLogitLoss::new(data)?),
            LinearLoss::RankSvm { margin_loss, norm_query } => {
                let (data, clicks) = self.corrected(data)?;
                let pair_sources = click_pair_sources(&data, norm_query, clicks.as_deref())?;
                self.search(&inputs, RankSvmLoss { pair_sources, margin_loss })
            }
            LinearLoss::LogisticPairs { norm_query } => {
                let (data, clicks) = self.corrected(data)?;
                let pair_sources = click_pair_sources(&data, norm_query, clicks.as_deref())?;
                self.search(&inputs, LogisticPairs::new(&data, pair_sources, request.seed))
            }
        }
    }

    fn objective(&self) -> String {
        match self.loss {
            LinearLoss::Regression { .. } => "squared".to_owned(),
            LinearLoss::BinaryMargin { margin_loss, rel } => {
                format!("{}(rel={rel})", name_of(margin_loss))
            }
            LinearLoss::Ordinal => "ordinal".to_owned(),
            LinearLoss::RankSvm { margin_loss, .. } => format!("pair-{}", name_of(margin_loss)),
            LinearLoss::LogisticPairs { .. } => "pair-logistic".to_owned(),
        }
    }

    fn accepts_pairs(&self) -> bool {
        matches!(self.loss, LinearLoss::RankSvm { .. } | LinearLoss::LogisticPairs { .. })
    }

    fn accepts_teacher(&self) -> bool {
        matches!(self.loss, LinearLoss::Regression { .. })
    }

    fn rounds(&self) -> Option<(usize, &'static str)> {
        match (self.loss, self.fit.c_values.len()) {
            (LinearLoss::Regression { .. }, _) => None,
            (_, 1) => Some((self.fit.steps, STEP_ROUND)),
            (_, values) => Some((values, C_ROUND)),
        }
    }

    fn validation_use(&self) -> ValidationUse {
        if self.fit.c_values.len() > 1 { ValidationUse::Required } else { ValidationUse::Ignored }
    }

    fn queries_with_sampled_pairs(&self, data: &Dataset) -> usize {
        let large = |query: &usize| data.query_rows(*query).len() > MAX_DOCUMENTS;
        match self.loss {
            LinearLoss::LogisticPairs { .. } => (0..data.queries()).filter(large).count(),
            _ => 0,
        }
    }
}

/// The name of a round with one value of c.
const STEP_ROUND: &str = "step";
/// The name of a round with several values of c.
const C_ROUND: &str = "value of c";

/// The name of a margin loss in an objective's spec.
fn name_of(margin_loss: MarginLoss) -> &'static str {
    match margin_loss {
        MarginLoss::Squared => "squared-hinge",
        MarginLoss::Hinge(_) => "hinge",
        MarginLoss::Logistic => "logistic",
    }
}

impl LinearTrainer {
    /// Sets the correction of clicks for position bias; only weights of pairs are supported.
    pub(super) fn bias(self, bias: &BiasParams, learner: &str) -> Result<Self, SpecError> {
        bias.check_one_of(&[BiasCorrection::Ips], learner)?;
        Ok(Self { bias: bias.clone(), ..self })
    }

    /// The data whose labels decide which document of a pair is better, and the weight of each
    /// document as the better one: click rates become corrected labels, clicks become weights.
    fn corrected<'a>(
        &self,
        data: &'a Dataset,
    ) -> Result<(Cow<'a, Dataset>, Option<Vec<f64>>), LearnError> {
        match self.bias.bias {
            BiasCorrection::None => Ok((Cow::Borrowed(data), None)),
            bias if data.pairs().is_some() => Err(LearnError::BiasOfPairs { bias: bias.name() }),
            _ if are_rates(data) => {
                let labels = corrected_rates(&self.bias, data)?;
                Ok((Cow::Owned(data.clone().with_labels(labels)?), None))
            }
            _ => Ok((Cow::Borrowed(data), Some(click_factors(&self.bias, data)?))),
        }
    }

    /// Least squares: the normal equations, or conjugate gradients where there are many features.
    fn regression(&self, inputs: &LinearData<'_>, l2: f64) -> Result<TrainResult, LearnError> {
        let data = inputs.request.train;
        let normalised_weights = normalised_weights(data)?;
        let point = match data.columns() <= ridge::MAX_COLUMNS {
            true => ridge::fit(inputs.design(), &normalised_weights, l2),
            false => least_squares(inputs, normalised_weights, l2),
        };
        let (weights, intercept) = (&point[..data.columns()], point[data.columns()]);
        let mut result = result_without_rounds(inputs.request, inputs.model(weights, intercept)?)?;
        result.history.weights = fold_transforms::weights(result.model.body(), &inputs.transforms);
        Ok(result)
    }

    /// Searches for the best weights of a loss, for each value of c.
    fn search<L: ConvexLoss>(
        &self,
        inputs: &LinearData<'_>,
        loss: L,
    ) -> Result<TrainResult, LearnError> {
        let one_c = self.fit.c_values.len() == 1;
        let round_name = if one_c { STEP_ROUND } else { C_ROUND };
        let (session, state) =
            Session::begin(inputs.request, RoundPlan::new(round_name, usize::MAX, inputs.request))?;
        let mut session = if one_c { session.keeping_last() } else { session };
        session.set_position_bias(given_factors(&self.bias)?);
        let problem = Problem::new(inputs.design(), loss);
        let bytes = state.and_then(|state| state.learner_state);
        let mut solver = Solver::begin(&self.fit, problem, bytes.as_deref())?;
        let mut saved = solver.position().clone();
        while let Some(step) = solver.next() {
            // With one c, a step without improvement is not a round, unless it is the last step and
            // there is no round yet.
            let ends_round = if one_c { step.moved || solver.is_over() } else { step.ends_c };
            if one_c && !step.moved && session.done() > 0 {
                continue;
            }
            if !ends_round {
                // After an interruption, the current value of c is started again from its
                // beginning.
                if session.done() > 0 && session.should_stop() {
                    session.save_before_cancelling(&|| saved.to_bytes());
                    let finished = false;
                    return session.finish(finished);
                }
                continue;
            }
            saved.clone_from(solver.position());
            let model = || self.model(inputs, &saved);
            match session.end_round_with_model(Some(step.value), model, &|| saved.to_bytes())? {
                RoundStatus::Cancelled if !solver.is_over() => {
                    let finished = false;
                    return session.finish(finished);
                }
                _ => {}
            }
        }
        let finished = true;
        let mut result = session.finish(finished)?;
        result.history.weights = fold_transforms::weights(result.model.body(), &inputs.transforms);
        self.with_notes(result, inputs, &saved)
    }

    /// The model of the weights at a position.
    fn model(
        &self,
        inputs: &LinearData<'_>,
        position: &PathPosition,
    ) -> Result<ModelBody, LearnError> {
        let (weights, extra_parameters) = position.point.split_at(inputs.request.train.columns());
        let intercept = match self.loss {
            LinearLoss::BinaryMargin { .. } => extra_parameters[0],
            _ => 0.0,
        };
        inputs.model(weights, intercept)
    }

    /// Records in the header what the weights alone do not show: the chosen c, the thresholds.
    fn with_notes(
        &self,
        result: TrainResult,
        inputs: &LinearData<'_>,
        last: &PathPosition,
    ) -> Result<TrainResult, LearnError> {
        let TrainResult { model, history, finished, warnings, choice } = result;
        let (mut header, body) = model.into_parts();
        // Rounds count from 1.
        let chosen_c = history.best.and_then(|best| self.fit.c_values.get(best - 1));
        let one_c = self.fit.c_values.len() == 1;
        if !one_c {
            let invariant = "validation data chooses among several values of c";
            let chosen_c = chosen_c.ok_or(LearnError::Internal { invariant })?;
            header.notes.insert("c".to_owned(), chosen_c.to_string());
        }
        let mut model = Model::new(header, body)?;
        if self.loss == LinearLoss::Ordinal {
            let last_thresholds = &last.point[inputs.request.train.columns()..];
            let (grades, thresholds) = match one_c {
                true => (grades(inputs.request.train)?, last_thresholds.to_vec()),
                // The last thresholds are those of the last c, which need not be the chosen one.
                false => fitted_thresholds(&model, inputs.request)?,
            };
            let (mut header, body) = model.into_parts();
            header.notes.insert(GRADES_NOTE.to_owned(), slashed(&grades));
            header.notes.insert(THRESHOLDS_NOTE.to_owned(), slashed(&thresholds));
            model = Model::new(header, body)?;
        }
        Ok(TrainResult { model, history, finished, warnings, choice })
    }
}

/// The grades of the training data.
fn grades(data: &Dataset) -> Result<Vec<f64>, LearnError> {
    Ok(CumulativeLogitLoss::new(data)?.into_grades())
}

/// The grades, and the thresholds that fit best to the scores of a model on the training data.
fn fitted_thresholds(
    model: &Model,
    request: &TrainRequest<'_>,
) -> Result<(Vec<f64>, Vec<f64>), LearnError> {
    let data = request.train;
    let weights: Vec<f32> = normalised_weights(data)?.iter().map(|weight| *weight as f32).collect();
    let scores = model.score(data, ScoreOptions::default())?;
    let all = TrainingDocuments { labels: data.labels(), weights: &weights, scores: &scores };
    let mut ordinal = Ordinal::default();
    ordinal.prepare(&all)?;
    ordinal.refresh(&all)?;
    Ok((ordinal.grades().to_vec(), ordinal.thresholds().to_vec()))
}

/// Ridge regression of many features, by conjugate gradients.
fn least_squares(inputs: &LinearData<'_>, normalised_weights: Vec<f64>, l2: f64) -> Vec<f64> {
    let data = inputs.request.train;
    let mut problem = Problem::new(inputs.design(), LeastSquares { data, normalised_weights });
    problem.penalty = l2;
    let mut search = NewtonSearch::begin(&mut problem, vec![0.0; data.columns() + 1], None);
    let first_norm = search.gradient_norm();
    for _ in 0..MAX_STEPS {
        let converged_norm = LEAST_SQUARES_TOLERANCE * first_norm;
        if search.step(&mut problem, converged_norm, first_norm) == NewtonStep::Converged {
            break;
        }
    }
    search.point().to_vec()
}

/// [`least_squares`] ends if the norm of the gradient has fallen to this fraction of the first.
const LEAST_SQUARES_TOLERANCE: f64 = 1e-9;
/// Maximum number of steps of [`least_squares`]; a quadratic function needs few.
const MAX_STEPS: usize = 100;
