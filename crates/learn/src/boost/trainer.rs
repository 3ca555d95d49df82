//! [`BoostTrainer`]: the trainer of all learners of boosted trees. [`Booster`]: boosting with an
//! objective that the caller implements.

use rankwright_data::Dataset;
use rankwright_spec::{Conflict, SpecError, check_params, param_groups, write_spec};

use super::learners::BOOSTER;
use super::params::{BoostConfig, check_joint_newton_leaves};
use super::relevance::relevance_scores;
use super::train::BoostEngine;
use super::{BoostOptions, BoostParams, NewtonOptions, NewtonParams};
use crate::bias::{BiasCorrection, BiasParams, ClickCorrection, labels_with_bias};
use crate::error::LearnError;
use crate::learner::{LearnerDef, train_with};
use crate::objective::{
    DistilledObjective, LabelSum, LabelTerm, Objective, ObjectiveParams, ParsedObjective, Squared,
    TeacherTerm, label_terms,
};
use crate::session::{LabelParams, TrainRequest, TrainResult};
use crate::trainer::{Trainer, ValidationUse};
use crate::tree::{SizeDefaults, TreeConfig, TreeOptions, TreeParams};

/// A learner of boosted trees with checked parameters.
#[derive(Debug)]
pub(crate) struct BoostTrainer {
    def: &'static LearnerDef,
    boost: BoostParams,
    tree: TreeParams,
    newton: NewtonParams,
    bias: BiasParams,
    /// The objective for each column of `labels=`; `None` for the data's own labels alone.
    label_terms: Option<Vec<LabelTerm>>,
    objective: Box<dyn Objective>,
    /// The objective, written as a spec.
    objective_spec: String,
    /// Whether it learns from preference pairs.
    accepts_pairs: bool,
}

impl BoostTrainer {
    /// Boosting on the gradients of an objective. The parameters must be checked already, except
    /// those that contradict each other in the objective.
    pub(crate) fn new(
        def: &'static LearnerDef,
        boost: &BoostParams,
        tree: &TreeParams,
        objective: &impl ObjectiveParams,
    ) -> Result<Self, SpecError> {
        Ok(Self {
            def,
            boost: boost.clone(),
            tree: tree.clone(),
            newton: NewtonParams::default(),
            bias: BiasParams::default(),
            label_terms: None,
            objective: objective.build().map_err(|error| in_learner(error, def))?,
            objective_spec: objective.spec().to_string(),
            accepts_pairs: def.accepts.pairs,
        })
    }

    /// Boosting on the gradients of an objective that was read from a spec. It accepts preference
    /// pairs if the objective does.
    pub(crate) fn of_parsed(
        def: &'static LearnerDef,
        boost: &BoostParams,
        tree: &TreeParams,
        parsed: ParsedObjective,
    ) -> Self {
        Self {
            def,
            boost: boost.clone(),
            tree: tree.clone(),
            newton: NewtonParams::default(),
            bias: BiasParams::default(),
            label_terms: None,
            objective: parsed.objective,
            objective_spec: parsed.spec.to_string(),
            accepts_pairs: parsed.def.preferences,
        }
    }

    /// Boosting on the gradients of an objective of the caller, whose name is `name`. It does not
    /// accept preference pairs.
    pub(crate) fn of_objective(
        def: &'static LearnerDef,
        boost: &BoostParams,
        tree: &TreeParams,
        objective: Box<dyn Objective>,
        name: &str,
    ) -> Self {
        Self {
            def,
            boost: boost.clone(),
            tree: tree.clone(),
            newton: NewtonParams::default(),
            bias: BiasParams::default(),
            label_terms: None,
            objective,
            objective_spec: name.to_owned(),
            accepts_pairs: false,
        }
    }

    /// Sets whether preference pairs are accepted.
    pub(crate) fn accepting_pairs(self, accepts_pairs: bool) -> Self {
        Self { accepts_pairs, ..self }
    }

    /// Sets the parameters of the Newton step, which are the defaults otherwise.
    pub(crate) fn newton(self, newton: &NewtonParams) -> Self {
        Self { newton: newton.clone(), ..self }
    }

    /// Sets the correction of clicks for position bias, which is none otherwise. An error if the
    /// objective does not support it.
    pub(crate) fn bias(self, bias: &BiasParams) -> Result<Self, SpecError> {
        bias.check_objective(self.objective.as_ref(), self.def.name)?;
        Ok(Self { bias: bias.clone(), ..self })
    }

    /// Sets the columns of labels, which are the data's own labels otherwise. An error if the
    /// objective fits numbers such as thresholds to its labels, or if clicks are corrected.
    pub(crate) fn labels(self, labels: &LabelParams) -> Result<Self, SpecError> {
        let Some(weights) = labels.weights(self.def.name)? else { return Ok(self) };
        if self.bias.bias != BiasCorrection::None {
            return Err(SpecError::conflict(self.def.name, labels_with_bias()));
        }
        let terms = label_terms(&self.objective_spec, &weights, self.def.name)?;
        Ok(Self { label_terms: Some(terms), ..self })
    }

    /// The correction of the clicks of a request; `rate` is the learning rate.
    fn correction(
        &self,
        request: &TrainRequest<'_>,
        rate: f64,
    ) -> Result<ClickCorrection, LearnError> {
        let regress =
            |clicks| relevance_scores(request, self.def.name, &self.boost, &self.tree, clicks);
        ClickCorrection::new(&self.bias, request.train, self.objective.as_ref(), rate, regress)
    }
}

/// An error of an objective's parameters, with the name of the learner that the user wrote instead
/// of the objective's name.
fn in_learner(error: SpecError, def: &LearnerDef) -> SpecError {
    match error {
        SpecError::Conflict { conflict, .. } => SpecError::conflict(def.name, conflict),
        other => other,
    }
}

impl Trainer for BoostTrainer {
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let config = BoostConfig::for_request(
            request,
            self.def.name,
            &self.boost,
            &self.tree,
            &self.newton,
        )?;
        if let Some(terms) = self.label_terms.take() {
            self.objective = Box::new(LabelSum::new(terms, request.train)?);
        }
        self.objective.set_simd(request.simd);
        let correction = self.correction(request, config.rate)?;
        let engine = BoostEngine::new(config).corrected(correction);
        if let Some(targets) = &request.soft_targets {
            let labels = std::mem::replace(&mut self.objective, Box::new(Squared));
            self.objective = Box::new(DistilledObjective::new(labels, targets.clone()));
        }
        engine.train(self.objective.as_mut(), request)
    }

    fn objective(&self) -> String {
        self.objective_spec.clone()
    }

    fn accepts_pairs(&self) -> bool {
        self.accepts_pairs
    }

    fn accepts_start_model(&self) -> bool {
        true
    }

    fn accepts_teacher(&self) -> bool {
        self.bias.bias == BiasCorrection::None
            && self.label_terms.is_none()
            && self.objective.teacher_term() != TeacherTerm::Unsupported
    }

    fn supports_distributed(&self) -> bool {
        // Other corrections learn from all queries.
        matches!(self.bias.bias, BiasCorrection::None | BiasCorrection::Ips)
            && self.label_terms.is_none()
    }

    fn rounds(&self) -> Option<(usize, &'static str)> {
        Some((self.boost.trees, "tree"))
    }

    fn validation_use(&self) -> ValidationUse {
        ValidationUse::of_rounds(self.boost.stop, self.boost.trees)
    }

    fn queries_with_sampled_pairs(&self, data: &Dataset) -> usize {
        let is_sampled =
            |query: &usize| self.objective.samples_pairs(data.query_rows(*query).len());
        (0..data.queries()).filter(is_sampled).count()
    }

    fn max_leaves(&self) -> u64 {
        // Without a number of rows, `auto` is the value for large data, the largest one.
        let leaves = TreeConfig::new(&self.tree).leaves;
        (self.boost.trees as u64).saturating_mul(leaves as u64)
    }

    fn min_rows(&self, rows: u64) -> Option<u64> {
        Some(self.tree.min_rows.or(SizeDefaults::for_rows(rows).min_rows))
    }

    fn boosting(&self) -> Option<&BoostParams> {
        Some(&self.boost)
    }
}

param_groups! {
    /// Boosting with an objective that the caller implements.
    ///
    /// ```
    /// use rankwright_data::generate::LetorOptions;
    /// use rankwright_learn::objective::Squared;
    /// use rankwright_learn::prelude::*;
    ///
    /// let data = LetorOptions { queries: 20, documents: 20, seed: 1 }.generate()?;
    /// let result =
    ///     Booster::new().trees(5).leaves(7).train(&mut Squared, &data)?;
    /// assert_eq!(result.history.iterations.len(), 5);
    /// # Ok::<(), rankwright_learn::LearnError>(())
    /// ```
    pub struct Booster, check = check {
        boost: BoostParams, BoostOptions::boost_params;
        tree: TreeParams, TreeOptions::tree_params;
        newton: NewtonParams, NewtonOptions::newton_params;
    }
}

/// Rejects parameters that contradict each other.
fn check(params: &Booster) -> Result<(), Conflict> {
    check_joint_newton_leaves(&params.newton, &params.tree)
}

impl Booster {
    /// Boosting with its default parameters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trains boosted trees on an objective: with a data set, or with a request that has validation
    /// data and options. If the request has no metrics, ndcg@10 is computed. A learner for cross
    /// validation and tuning is made by [`Booster::objective`].
    pub fn train<'a>(
        &self,
        objective: &mut dyn Objective,
        request: impl Into<TrainRequest<'a>>,
    ) -> Result<TrainResult, LearnError> {
        check_params(self, BOOSTER.name)?;
        let spec = write_spec(BOOSTER.name, self).to_string();
        let mut trainer = BorrowedObjective { params: self, objective };
        train_with(&mut trainer, BOOSTER.name, spec, None, request.into())
    }
}

/// The trainer of [`Booster::train`], which borrows the objective.
#[derive(Debug)]
struct BorrowedObjective<'a> {
    params: &'a Booster,
    objective: &'a mut dyn Objective,
}

impl Trainer for BorrowedObjective<'_> {
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let Booster { boost, tree, newton } = self.params;
        let config = BoostConfig::for_request(request, BOOSTER.name, boost, tree, newton)?;
        self.objective.set_simd(request.simd);
        BoostEngine::new(config).train(self.objective, request)
    }

    fn objective(&self) -> String {
        "custom".to_owned()
    }

    fn accepts_pairs(&self) -> bool {
        true
    }

    fn accepts_start_model(&self) -> bool {
        true
    }

    fn supports_distributed(&self) -> bool {
        true
    }

    fn validation_use(&self) -> ValidationUse {
        ValidationUse::of_rounds(self.params.boost.stop, self.params.boost.trees)
    }

    fn queries_with_sampled_pairs(&self, data: &Dataset) -> usize {
        let is_sampled =
            |query: &usize| self.objective.samples_pairs(data.query_rows(*query).len());
        (0..data.queries()).filter(is_sampled).count()
    }

    fn min_rows(&self, rows: u64) -> Option<u64> {
        Some(self.params.tree.min_rows.or(SizeDefaults::for_rows(rows).min_rows))
    }

    fn boosting(&self) -> Option<&BoostParams> {
        Some(&self.params.boost)
    }
}
