//! The boosting loop.
//!
//! Each round computes the derivatives query by query, quantises them (rounds them to integers),
//! grows a tree, computes its leaf values and adds it to the scores; then metrics on the validation
//! data are computed, the history is extended, and a checkpoint is written when one is due. The
//! model depends on data, parameters and seed only.

use std::time::Instant;

use rankwright_data::Dataset;
use rankwright_model::{Ensemble, Header, Model, ModelBody, ScoreOptions, Tree};

use super::dart::Dart;
use super::goss::Goss;
use super::params::BoostConfig;
use super::queries::{AllDerivatives, QueryPass, TrainingQueries};
use super::scores::{add_leaves, add_tree};
use super::start::{StartMember, StartScale, StartState, body_with_start};
use super::validation_scores::{ValidationScores, add_scores};
use super::values::{ValueInput, leaf_values};
use super::{line_search, sample};
use crate::bias::{ClickCorrection, RoundBias};
use crate::bins::Binned;
use crate::error::LearnError;
use crate::objective::Objective;
use crate::session::{
    Iteration, PhaseSeconds, RoundPlan, RoundStatus, Session, Snapshot, TrainRequest, TrainResult,
};
use crate::tree::{Grow, GrowInput, Grower, GrownRows, GrownTree, Scales};

/// Boosting of trees with given parameters on any objective.
#[derive(Debug)]
pub(crate) struct BoostEngine {
    params: BoostConfig,
    /// The correction of clicks for position bias.
    correction: ClickCorrection,
}

impl BoostEngine {
    /// Creates the engine from a configuration of checked parameters.
    pub(crate) fn new(params: BoostConfig) -> Self {
        Self { params, correction: ClickCorrection::default() }
    }

    /// Sets the correction of clicks for position bias.
    pub(crate) fn corrected(self, correction: ClickCorrection) -> Self {
        Self { correction, ..self }
    }

    /// Trains a model.
    pub(crate) fn train(
        &self,
        objective: &mut dyn Objective,
        request: &TrainRequest<'_>,
    ) -> Result<TrainResult, LearnError> {
        // The training runs on a thread of the pool: a thread outside the pool would only wait in
        // every parallel loop instead of taking part.
        let mut result = None;
        rayon::scope(|_| result = Some(self.train_in_pool(objective, request)));
        result.ok_or(LearnError::Internal { invariant: "a training runs inside the pool" })?
    }

    /// Bins the data and runs the loop.
    fn train_in_pool(
        &self,
        objective: &mut dyn Objective,
        request: &TrainRequest<'_>,
    ) -> Result<TrainResult, LearnError> {
        if request.train.rows() == 0 {
            return Err(LearnError::EmptyData);
        }
        let started = Instant::now();
        let categorical = &self.params.tree.categorical;
        let binned = Binned::with_categories(
            request.train,
            self.params.bins,
            categorical,
            request.collective,
        )?;
        let bin_seconds = started.elapsed().as_secs_f64();
        let mut grower = Grower::new(&binned, &self.params.tree, request.collective, request.simd);
        self.train_with(objective, request, &mut grower, bin_seconds)
    }

    /// The loop itself, with a given grower of trees.
    pub(crate) fn train_with(
        &self,
        objective: &mut dyn Objective,
        request: &TrainRequest<'_>,
        grower: &mut dyn Grow,
        bin_seconds: f64,
    ) -> Result<TrainResult, LearnError> {
        let plan = RoundPlan {
            unit: "tree",
            max_rounds: self.params.trees,
            stop: self.params.stop,
            auto_patience: None,
            bin_seconds,
            parameters: parameters(&self.params, request) + &self.correction.text,
        };
        let (mut session, saved) = Session::begin(request, plan)?;
        if !self.params.chosen.is_empty() {
            session.add_note("auto", &self.params.chosen);
        }
        let mut run = BoostRun::begin(self, objective, request, &session, saved)?;
        let has_other_objective = request
            .start
            .is_some_and(|start| start.header().objective != session.header().objective);
        if has_other_objective && run.start_trees > 0 {
            session.add_note(START_TREES_NOTE, &run.start_trees.to_string());
        }
        grower.begin(&run.trees);
        let mut status = if session.is_over() { RoundStatus::Over } else { RoundStatus::Continue };
        while status == RoundStatus::Continue {
            let iteration = run.round(session.done(), objective, grower)?;
            status = session.end_round(iteration, &|| run.snapshot())?;
        }
        let kept_rounds = session.kept_rounds().rounds;
        let body = run.model(kept_rounds)?;
        session.set_position_bias(run.bias.factors(kept_rounds));
        if objective.has_notes() {
            run.refresh_for(&body, objective)?;
            objective.notes().iter().for_each(|(key, text)| session.add_note(key, text));
        }
        session.finish_with(body, status != RoundStatus::Cancelled)
    }
}

/// The note of a header that has the number of the first trees that a start model with another
/// objective has grown.
pub(super) const START_TREES_NOTE: &str = "start_trees";

/// The state of a training.
struct BoostRun<'a> {
    params: &'a BoostConfig,
    request: &'a TrainRequest<'a>,
    queries: TrainingQueries<'a>,
    /// The constant part of every score.
    base: f64,
    /// The start model if it is not a tree model.
    start_model: Option<StartMember>,
    header: Header,
    /// Trees of the start model, then new ones, as they were grown (before DART reweights them).
    trees: Vec<Tree>,
    /// Number of trees of the start model.
    start_trees: usize,
    /// Scores of the training data; without the dropped trees while a tree is grown.
    scores: Vec<f64>,
    /// `None` if no trees are dropped.
    dart: Option<Dart>,
    /// The factors of positions.
    bias: RoundBias,
    derivatives: AllDerivatives,
    validation: ValidationScores<'a>,
}

impl<'a> BoostRun<'a> {
    /// The state before the first round, or after the rounds of the checkpoint `saved`.
    fn begin(
        engine: &'a BoostEngine,
        objective: &mut dyn Objective,
        request: &'a TrainRequest<'a>,
        session: &Session<'a>,
        mut saved: Option<Snapshot>,
    ) -> Result<Self, LearnError> {
        let params = &engine.params;
        let ClickCorrection { clicks, mut bias, .. } = engine.correction.clone();
        let mut queries = TrainingQueries::with_clicks(request.train, &*objective, clicks);
        let base = objective.prepare(&queries.documents(&[]))?;
        let rounds = session.done();
        if let Some(saved) = &mut saved {
            let state = saved.learner_state.take();
            saved.learner_state = bias.restore(state, rounds, &mut queries)?;
        }
        let StartState { base, mut trees, start_trees, model: start_model, dart_state } =
            StartState::find(request, saved, rounds, base)?;
        let header = session.header();
        // The first trees are scored together with the start model. The others, those of a
        // checkpoint, are added one by one if they may be dropped, or if the start model is not a
        // tree model: as during training, so that a resumed training has the same bits.
        let first_trees = match (params.dropout.is_some(), &start_model) {
            (false, None) => trees.len(),
            _ => start_trees,
        };
        let ensemble = Ensemble::new(base, trees.iter().take(first_trees).cloned().collect())?;
        let body = body_with_start(start_model.as_ref(), header, ensemble)?;
        let model = Model::new(header.clone(), body)?;
        let mut scores = model.score(request.train, ScoreOptions::default())?;
        let mut validation = ValidationScores::new(
            &request.valid,
            (&request.metrics, &request.metric_labels),
            &model,
            request.features,
        )?;
        if params.dropout.is_none() {
            for tree in &trees[first_trees..] {
                add_scores(tree, header, request.train, ScoreOptions::default(), &mut scores)?;
                validation.add(tree)?;
            }
        }
        let new_dart = |dropout| Dart::new(dropout, params.rate, request.seed, scores.clone());
        let mut dart = params.dropout.map(new_dart);
        if let Some(dart) = &mut dart
            && trees.len() > start_trees
        {
            let state = dart_state.unwrap_or_default();
            let (grown, weighted_units) = dart.restore(&trees[start_trees..], &state, rounds)?;
            trees.truncate(start_trees);
            trees.extend(grown);
            dart.rescore(&weighted_units, header, request.train, &mut scores)?;
            validation.add_units(&weighted_units, dart.unit())?;
        }
        trees.truncate(start_trees + rounds);
        let rows = request.train.rows();
        let derivatives = AllDerivatives { gradient: vec![0.0; rows], hessian: vec![0.0; rows] };
        Ok(Self {
            params,
            request,
            queries,
            base,
            start_model,
            header: header.clone(),
            trees,
            start_trees,
            scores,
            dart,
            bias,
            derivatives,
            validation,
        })
    }

    /// One round: grows and adds the new tree with this number, counted from 0.
    fn round(
        &mut self,
        number: usize,
        objective: &mut dyn Objective,
        grower: &mut dyn Grow,
    ) -> Result<Iteration, LearnError> {
        let request = self.request;
        let mut clock = LapTimer::new();
        if let Some(dart) = &mut self.dart {
            let trees = self.trees.get(self.start_trees..).unwrap_or_default();
            dart.drop_trees(trees, grower.as_rows(), &mut self.scores)?;
        }
        self.bias.shift(&self.scores);
        objective.refresh(&self.queries.documents(self.bias.scores(&self.scores)))?;
        let mut sample = TreeSample::new(self.params, request, number);
        self.compute_derivatives(&*objective, &mut sample, number)?;
        let multiplicities = sample.multiplicities.as_deref();
        let pass = QueryPass {
            objective: &*objective,
            scores: self.bias.scores(&self.scores),
            seed: sample.seed,
            multiplicities,
        };
        let mut seconds = PhaseSeconds { derivatives: clock.lap(), ..PhaseSeconds::default() };
        let AllDerivatives { gradient, hessian } = &self.derivatives;
        let scales = Scales::of(gradient, hessian, request.collective)?;
        let (rows, features) = (sample.rows.as_deref(), sample.features.as_deref());
        let times_before = grower.times();
        let grown = grower.grow(GrowInput {
            gradient,
            hessian,
            scales: &scales,
            sample: rows,
            features,
        })?;
        let spent = grower.times().since(times_before);
        seconds.histograms = spent.histograms.as_secs_f64();
        seconds.partition = spent.partition.as_secs_f64();
        seconds.quantise = (clock.lap() - seconds.histograms - seconds.partition).max(0.0);
        let value_input = ValueInput {
            params: self.params,
            derivatives: &self.derivatives,
            scales: &scales,
            collective: request.collective,
        };
        let rows = grower.as_rows();
        // The value of each leaf before shrinkage.
        let mut leaf_values = leaf_values(&grown, rows, value_input, &mut self.queries, pass)?;
        // The step length of the line search.
        let mut step = None;
        if self.params.line_search {
            let mut direction = vec![0.0; self.scores.len()];
            add_leaves(&grown, rows, &leaf_values, &mut direction);
            let length =
                line_search::search(&mut self.queries, pass, &direction, &mut self.derivatives)?;
            leaf_values.iter_mut().for_each(|value| *value *= length);
            step = Some(length);
        }
        let tree = shrunk_tree(&grown, &leaf_values, self.params.rate)?;
        let leaves = Some(tree.leaves().len());
        self.add(tree, (&grown, rows), multiplicities)?;
        self.learn_pairs(&*objective, sample.seed)?;
        self.bias.end_round();
        seconds.leaves = clock.lap();
        self.add_to_validation()?;
        let (loss, values) = self.evaluate(&*objective, sample.seed)?;
        seconds.evaluate = clock.lap();
        Ok(Iteration { number: number + 1, leaves, loss, step, values, seconds })
    }

    /// Computes the derivatives of the queries that the tree with this number is grown from. With
    /// GOSS, which samples queries by their gradients, this also sets the sampled queries.
    fn compute_derivatives(
        &mut self,
        objective: &dyn Objective,
        sample: &mut TreeSample,
        number: usize,
    ) -> Result<(), LearnError> {
        let multiplicities = sample.multiplicities.as_deref();
        let scores = self.bias.scores(&self.scores);
        let pass = QueryPass { objective, scores, seed: sample.seed, multiplicities };
        self.queries.derivatives(pass, &mut self.derivatives)?;
        self.bias.learn_terms(&self.derivatives, sample.rows.as_deref());
        let goss = self.params.goss.filter(|_| Goss::is_active(self.params.rate, number));
        if let Some(goss) = goss {
            let sums = self.queries.gradient_sums(&self.derivatives);
            let multiplicities = goss.multiplicities(&sums, self.request.seed, number);
            self.queries.apply_multiplicities(&multiplicities, &mut self.derivatives);
            sample.set_queries(Some(multiplicities), self.request.train);
        }
        Ok(())
    }

    /// Learns the factors of pairs, if there are any, from the scores with the last tree.
    fn learn_pairs(&mut self, objective: &dyn Objective, seed: u64) -> Result<(), LearnError> {
        let pass = QueryPass { objective, scores: &self.scores, seed, multiplicities: None };
        self.bias.learn_pairs(&mut self.queries, pass)
    }

    /// Adds a tree to the scores of the training data and to the ensemble. `grown` is the same tree
    /// with the rows of its leaves; `multiplicities` are those of the sampled queries.
    fn add(
        &mut self,
        tree: Tree,
        grown: (&GrownTree, &dyn GrownRows),
        multiplicities: Option<&[f32]>,
    ) -> Result<(), LearnError> {
        let data = self.request.train;
        let tree = match &mut self.dart {
            Some(dart) => dart.add(&tree, grown, (data, multiplicities), &mut self.scores)?,
            None => {
                let values = grown.0.values(tree.leaves().iter().map(|leaf| leaf.value));
                add_tree(grown, &values, data, multiplicities, &mut self.scores);
                tree
            }
        };
        self.trees.push(tree);
        Ok(())
    }

    /// Adds the changes of this round to the scores of the validation data: the last tree and, with
    /// DART, the new weights of the dropped trees.
    fn add_to_validation(&mut self) -> Result<(), LearnError> {
        match (&self.dart, self.trees.last()) {
            (Some(dart), _) => self.validation.add_units(dart.changes(), dart.unit()),
            (None, Some(tree)) => self.validation.add(tree),
            (None, None) => Ok(()),
        }
    }

    /// The trees of this training, without those of a start model.
    fn new_trees(&self) -> &[Tree] {
        self.trees.get(self.start_trees..).unwrap_or_default()
    }

    /// The loss of the training data divided by its number of rows, and for each data set the value
    /// of each metric: first the training data if it is to be evaluated (otherwise there is no loss
    /// either), then each validation set.
    fn evaluate(
        &mut self,
        objective: &dyn Objective,
        seed: u64,
    ) -> Result<(Option<f64>, Vec<Vec<f64>>), LearnError> {
        let mut all = self.validation.values()?;
        if !self.request.evaluate_training {
            return Ok((None, all));
        }
        let request = self.request;
        let labels = &request.metric_labels;
        all.insert(0, labels.values(request.train, &self.scores, &request.metrics)?);
        self.bias.shift(&self.scores);
        let scores = self.bias.scores(&self.scores);
        let pass = QueryPass { objective, scores, seed, multiplicities: None };
        let loss = self.queries.loss(pass)?;
        Ok((loss.map(|loss| loss / self.scores.len() as f64), all))
    }

    /// Refreshes the objective with the scores of the model that is returned, which may have fewer
    /// trees than were grown.
    fn refresh_for(
        &self,
        body: &ModelBody,
        objective: &mut dyn Objective,
    ) -> Result<(), LearnError> {
        let model = Model::new(self.header.clone(), body.clone())?;
        let scores = model.score(self.request.train, ScoreOptions::default())?;
        objective.refresh(&self.queries.documents(&scores))
    }

    /// The model after this many rounds: the start model and the first new trees.
    fn model(&self, rounds: usize) -> Result<ModelBody, LearnError> {
        body_with_start(self.start_model.as_ref(), &self.header, self.ensemble(rounds)?)
    }

    /// The start model's trees and the new trees of this many rounds.
    fn ensemble(&self, rounds: usize) -> Result<Ensemble, LearnError> {
        let new = match &self.dart {
            Some(dart) => dart.weighted(self.new_trees(), rounds)?,
            None => self.new_trees().iter().take(rounds).cloned().collect(),
        };
        let trees = self.trees.iter().take(self.start_trees).cloned().chain(new).collect();
        Ok(Ensemble::new(self.base, trees)?)
    }

    /// The content of a checkpoint.
    fn snapshot(&self) -> Result<Snapshot, LearnError> {
        Ok(Snapshot {
            model: ModelBody::Trees(self.ensemble(self.new_trees().len())?),
            start_trees: self.start_trees,
            learner_state: {
                let dart = self.dart.as_ref().map(|dart| dart.to_bytes(self.new_trees()));
                self.bias.join_state(dart)
            },
        })
    }
}

/// The seed of the objective's random numbers, for the tree with this number, from 0.
pub(crate) fn objective_seed(seed: u64, tree: usize) -> u64 {
    // Any large odd constant, so that the seeds of two trainings do not overlap.
    seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(tree as u64)
}

/// The queries, rows and features sampled for one tree.
struct TreeSample {
    /// The seed of the objective's random numbers.
    seed: u64,
    /// The multiplicity of each query: the factor of its derivatives, 0 if it is not in the sample;
    /// `None` if all are 1.
    multiplicities: Option<Vec<f32>>,
    /// Rows of the queries with a multiplicity above 0; `None` for all rows.
    rows: Option<Vec<u32>>,
    /// For each feature, whether the tree may use it; `None` for all.
    features: Option<Vec<bool>>,
}

impl TreeSample {
    /// The sample for the tree with this number, from 0.
    fn new(params: &BoostConfig, request: &TrainRequest<'_>, number: usize) -> Self {
        let data = request.train;
        let multiplicities =
            sample::queries(params.sample_queries, request.seed, number, data.queries());
        let features =
            sample::features(params.sample_features, request.seed, number, data.columns());
        let seed = objective_seed(request.seed, number);
        let mut sample = Self { seed, multiplicities: None, rows: None, features };
        sample.set_queries(multiplicities, data);
        sample
    }

    /// Sets the sampled queries, by their multiplicities, and their rows.
    fn set_queries(&mut self, multiplicities: Option<Vec<f32>>, data: &Dataset) {
        self.rows = multiplicities.as_ref().map(|multiplicities| {
            let sampled = multiplicities.iter().enumerate().filter(|(_, times)| **times > 0.0);
            sampled.flat_map(|(query, _)| data.query_rows(query)).map(|row| row as u32).collect()
        });
        self.multiplicities = multiplicities;
    }
}

/// The grown tree with its leaf values multiplied by the learning rate.
fn shrunk_tree(grown: &GrownTree, values: &[f64], rate: f64) -> Result<Tree, LearnError> {
    let shrunk: Vec<f64> = values.iter().map(|value| value * rate).collect();
    Ok(grown.tree(&shrunk)?)
}

/// Version of the algorithm; to be raised whenever the same data, parameters and seed give other
/// trees than before: a checkpoint of another version is not resumed.
const ALGORITHM_VERSION: u32 = 1;

/// The parameters as text, from which the fingerprint of a checkpoint is computed: a checkpoint of
/// a training with other parameters is rejected.
fn parameters(params: &BoostConfig, request: &TrainRequest<'_>) -> String {
    // The number of trees may grow: a finished training can be continued.
    let params = BoostConfig { trees: 0, ..params.clone() };
    let scale = StartScale::of(request);
    let scale = (scale != StartScale::UNCHANGED).then(|| format!(" start {scale:?}"));
    let scale = scale.unwrap_or_default();
    format!("algorithm {ALGORITHM_VERSION} {params:?} {}{scale}", request.objective)
}

/// A stop watch for consecutive phases; it holds the start of the current phase.
struct LapTimer(Instant);

impl LapTimer {
    fn new() -> Self {
        Self(Instant::now())
    }

    /// The seconds since the last call, or since the start.
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let seconds = (now - self.0).as_secs_f64();
        self.0 = now;
        seconds
    }
}
