//! The boosting loop.
//!
//! Each round: derivatives by query, quantised derivatives, a tree, leaf values, new scores; then
//! metrics on the validation data, the history, and a checkpoint when one is due. The model depends
//! on data, parameters and seed only.

use std::time::Instant;

use rankwright_data::Dataset;
use rankwright_model::{Ensemble, Header, Model, ModelBody, ScoreOptions, Tree};

use super::dart::Dart;
use super::goss::Goss;
use super::params::BoostConfig;
use super::queries::{AllDerivatives, QueryPass, TrainingQueries};
use super::scores::{add_leaves, add_tree};
use super::start::{StartState, with_start};
use super::validation_scores::{ValidationScores, add_scores};
use super::values::{ValueInput, leaf_values};
use super::{line_search, sample};
use crate::bins::Binned;
use crate::error::LearnError;
use crate::objective::Objective;
use crate::session::validation::values;
use crate::session::{
    Iteration, PhaseSeconds, RoundPlan, RoundStatus, Session, Snapshot, TrainRequest, TrainResult,
};
use crate::tree::{Grow, GrowInput, Grower, Grown, GrownRows, Scales};

/// Boosting of trees with given parameters on any objective.
#[derive(Debug)]
pub(crate) struct BoostEngine {
    params: BoostConfig,
}

impl BoostEngine {
    /// Creates the engine from a configuration of checked parameters.
    pub(crate) fn new(params: BoostConfig) -> Self {
        Self { params }
    }

    /// Trains a model.
    pub(crate) fn train(
        &self,
        objective: &mut dyn Objective,
        request: &TrainRequest<'_>,
    ) -> Result<TrainResult, LearnError> {
        // Inside the pool, so that this thread works too instead of waiting for the others.
        let mut result = None;
        rayon::scope(|_| result = Some(self.train_in_pool(objective, request)));
        result.ok_or(LearnError::Internal { invariant: "a training runs inside the pool" })?
    }

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
            parameters: parameters(&self.params, request),
        };
        let (mut session, saved) = Session::begin(request, plan)?;
        if !self.params.chosen.is_empty() {
            session.add_note("auto", &self.params.chosen);
        }
        let mut run = BoostRun::begin(&self.params, objective, request, &session, saved)?;
        grower.begin(&run.trees);
        let mut status = if session.is_over() { RoundStatus::Over } else { RoundStatus::Continue };
        while status == RoundStatus::Continue {
            let iteration = run.round(session.done(), objective, grower)?;
            status = session.end_round(iteration, &|| run.snapshot())?;
        }
        let trees = session.kept().rounds;
        session.finish_with(run.model(trees)?, status != RoundStatus::Cancelled)
    }
}

/// The state of a training.
struct BoostRun<'a> {
    params: &'a BoostConfig,
    request: &'a TrainRequest<'a>,
    queries: TrainingQueries<'a>,
    /// The constant part of every score.
    base: f64,
    /// The start model if it is no tree model.
    start_model: Option<Model>,
    header: Header,
    /// Trees of the start model, then new ones, as they were grown.
    trees: Vec<Tree>,
    /// Number of trees of the start model.
    start: usize,
    /// Scores of the training data; without the dropped trees while a tree is grown.
    scores: Vec<f64>,
    /// `None` if no trees are dropped.
    dart: Option<Dart>,
    derivatives: AllDerivatives,
    validation: ValidationScores<'a>,
}

impl<'a> BoostRun<'a> {
    fn begin(
        params: &'a BoostConfig,
        objective: &mut dyn Objective,
        request: &'a TrainRequest<'a>,
        session: &Session<'a>,
        saved: Option<Snapshot>,
    ) -> Result<Self, LearnError> {
        let queries = TrainingQueries::new(request.train, &*objective);
        let base = objective.prepare(&queries.documents(&[]))?;
        let rounds = session.done();
        let StartState { base, mut trees, start, model: start_model, dart_bytes } =
            StartState::find(request, saved, rounds, base)?;
        let header = session.header();
        // Trees that may be dropped are added one by one; so are those after another start model,
        // as during training, so that a resumed training has the same bits.
        let fixed_trees = match (params.dropout.is_some(), &start_model) {
            (false, None) => trees.len(),
            _ => start,
        };
        let so_far = Ensemble::new(base, trees.iter().take(fixed_trees).cloned().collect())?;
        let so_far = with_start(start_model.as_ref(), header, so_far)?;
        let so_far = Model::new(header.clone(), so_far)?;
        let mut scores = so_far.score(request.train, ScoreOptions::default())?;
        let mut validation =
            ValidationScores::new(&request.valid, &request.metrics, &so_far, request.features)?;
        if params.dropout.is_none() {
            for tree in &trees[fixed_trees..] {
                add_scores(tree, header, request.train, ScoreOptions::default(), &mut scores)?;
                validation.add(tree)?;
            }
        }
        let new_dart = |dropout| Dart::new(dropout, params.rate, request.seed, scores.clone());
        let mut dart = params.dropout.map(new_dart);
        if let Some(dart) = &mut dart
            && trees.len() > start
        {
            let bytes = dart_bytes.unwrap_or_default();
            let (grown, in_units) = dart.restore(&trees[start..], &bytes, rounds)?;
            trees.truncate(start);
            trees.extend(grown);
            dart.rescore(&in_units, header, request.train, &mut scores)?;
            validation.add_units(&in_units, dart.unit())?;
        }
        trees.truncate(start + rounds);
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
            start,
            scores,
            dart,
            derivatives,
            validation,
        })
    }

    /// Adds the tree with this number, counted from 0.
    fn round(
        &mut self,
        number: usize,
        objective: &mut dyn Objective,
        grower: &mut dyn Grow,
    ) -> Result<Iteration, LearnError> {
        let request = self.request;
        let mut clock = LapTimer::new();
        if let Some(dart) = &mut self.dart {
            let trees = self.trees.get(self.start..).unwrap_or_default();
            dart.drop(trees, grower.as_rows(), &mut self.scores)?;
        }
        objective.refresh(&self.queries.documents(&self.scores))?;
        let mut sample = TreeSample::new(self.params, request, number);
        self.compute_derivatives(&*objective, &mut sample, number)?;
        let sampled = sample.queries.as_deref();
        let pass =
            QueryPass { objective: &*objective, scores: &self.scores, seed: sample.seed, sampled };
        let mut seconds = PhaseSeconds { derivatives: clock.lap(), ..PhaseSeconds::default() };
        let AllDerivatives { gradient, hessian } = &self.derivatives;
        let scales = Scales::of(gradient, hessian, request.collective)?;
        let (rows, features) = (sample.rows.as_deref(), sample.features.as_deref());
        let before = grower.times();
        let grown = grower.grow(GrowInput {
            gradient,
            hessian,
            scales: &scales,
            sample: rows,
            features,
        })?;
        let spent = grower.times().since(before);
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
        let mut steps = leaf_values(&grown, rows, value_input, &mut self.queries, pass)?;
        let mut step = None;
        if self.params.line_search {
            let mut direction = vec![0.0; self.scores.len()];
            add_leaves(&grown, rows, &steps, &mut direction);
            let found =
                line_search::search(&mut self.queries, pass, &direction, &mut self.derivatives)?;
            steps.iter_mut().for_each(|value| *value *= found);
            step = Some(found);
        }
        let tree = shrunk_tree(&grown, &steps, self.params.rate)?;
        let leaves = Some(tree.leaves().len());
        self.add(tree, (&grown, rows), sampled)?;
        seconds.leaves = clock.lap();
        self.add_to_validation()?;
        let (loss, values) = self.evaluate(&*objective, sample.seed)?;
        seconds.evaluate = clock.lap();
        Ok(Iteration { number: number + 1, leaves, loss, step, values, seconds })
    }

    /// The derivatives of the queries that this tree is grown from.
    fn compute_derivatives(
        &mut self,
        objective: &dyn Objective,
        sample: &mut TreeSample,
        number: usize,
    ) -> Result<(), LearnError> {
        let sampled = sample.queries.as_deref();
        let pass = QueryPass { objective, scores: &self.scores, seed: sample.seed, sampled };
        self.queries.derivatives(pass, &mut self.derivatives)?;
        let goss = self.params.goss.filter(|_| Goss::is_active(self.params.rate, number));
        if let Some(goss) = goss {
            let sums = self.queries.gradient_sums(&self.derivatives);
            let multiplicities = goss.multiplicities(&sums, self.request.seed, number);
            self.queries.apply_multiplicities(&multiplicities, &mut self.derivatives);
            sample.set_queries(Some(multiplicities), self.request.train);
        }
        Ok(())
    }

    /// Adds a tree to the scores and to the ensemble.
    fn add(
        &mut self,
        tree: Tree,
        grown: (&Grown, &dyn GrownRows),
        sampled: Option<&[f32]>,
    ) -> Result<(), LearnError> {
        let data = self.request.train;
        let tree = match &mut self.dart {
            Some(dart) => dart.add(&tree, grown, (data, sampled), &mut self.scores)?,
            None => {
                let values = grown.0.values(tree.leaves().iter().map(|leaf| leaf.value));
                add_tree(grown, &values, data, sampled, &mut self.scores);
                tree
            }
        };
        self.trees.push(tree);
        Ok(())
    }

    /// Adds the changes of this round to the scores of the validation data: the last tree and, if
    /// trees were dropped, their new weights.
    fn add_to_validation(&mut self) -> Result<(), LearnError> {
        match (&self.dart, self.trees.last()) {
            (Some(dart), _) => self.validation.add_units(dart.changed(), dart.unit()),
            (None, Some(tree)) => self.validation.add(tree),
            (None, None) => Ok(()),
        }
    }

    /// The trees of this training, without those of a start model.
    fn new_trees(&self) -> &[Tree] {
        self.trees.get(self.start..).unwrap_or_default()
    }

    /// The mean loss on the training data, and by data set the value of each metric: on the
    /// training data if it is to be evaluated (otherwise there is no loss either), then on each
    /// validation set.
    fn evaluate(
        &mut self,
        objective: &dyn Objective,
        seed: u64,
    ) -> Result<(Option<f64>, Vec<Vec<f64>>), LearnError> {
        let mut all = self.validation.values()?;
        if !self.request.evaluate_training {
            return Ok((None, all));
        }
        all.insert(0, values(self.request.train, &self.scores, &self.request.metrics)?);
        let pass = QueryPass { objective, scores: &self.scores, seed, sampled: None };
        let loss = self.queries.loss(pass)?;
        Ok((loss.map(|loss| loss / self.scores.len() as f64), all))
    }

    /// The model of this many new trees: the start model, if it is no tree model, and the trees.
    fn model(&self, trees: usize) -> Result<ModelBody, LearnError> {
        with_start(self.start_model.as_ref(), &self.header, self.ensemble(trees)?)
    }

    /// The start model's trees and this many new ones.
    fn ensemble(&self, trees: usize) -> Result<Ensemble, LearnError> {
        let new = match &self.dart {
            Some(dart) => dart.weighted(self.new_trees(), trees)?,
            None => self.new_trees().iter().take(trees).cloned().collect(),
        };
        let trees = self.trees.iter().take(self.start).cloned().chain(new).collect();
        Ok(Ensemble::new(self.base, trees)?)
    }

    /// The content of a checkpoint.
    fn snapshot(&self) -> Result<Snapshot, LearnError> {
        Ok(Snapshot {
            model: ModelBody::Trees(self.ensemble(self.new_trees().len())?),
            start: self.start,
            bytes: self.dart.as_ref().map(|dart| dart.to_bytes(self.new_trees())),
        })
    }
}

/// The queries, rows and features sampled for one tree.
struct TreeSample {
    /// The seed of the objective's random numbers.
    seed: u64,
    /// The multiplicity of each query; `None` if all are 1.
    queries: Option<Vec<f32>>,
    /// Rows of the queries with a multiplicity above 0; `None` for all rows.
    rows: Option<Vec<u32>>,
    /// For each feature, whether the tree may use it; `None` for all.
    features: Option<Vec<bool>>,
}

impl TreeSample {
    fn new(params: &BoostConfig, request: &TrainRequest<'_>, number: usize) -> Self {
        let data = request.train;
        let queries = sample::queries(params.sample_queries, request.seed, number, data.queries());
        let features =
            sample::features(params.sample_features, request.seed, number, data.columns());
        let seed = request.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number as u64);
        let mut sample = Self { seed, queries: None, rows: None, features };
        sample.set_queries(queries, data);
        sample
    }

    /// Sets the sampled queries and their rows.
    fn set_queries(&mut self, queries: Option<Vec<f32>>, data: &Dataset) {
        self.rows = queries.as_ref().map(|multiplicities| {
            let drawn = multiplicities.iter().enumerate().filter(|(_, times)| **times > 0.0);
            drawn.flat_map(|(query, _)| data.query_rows(query)).map(|row| row as u32).collect()
        });
        self.queries = queries;
    }
}

/// The grown tree with its leaf values multiplied by the rate.
fn shrunk_tree(grown: &Grown, steps: &[f64], rate: f64) -> Result<Tree, LearnError> {
    let values: Vec<f64> = steps.iter().map(|step| step * rate).collect();
    Ok(grown.tree(&values)?)
}

/// Version of the algorithm, raised whenever the same data, parameters and seed give different
/// trees than before: a checkpoint of another version is not resumed.
const ALGORITHM_VERSION: u32 = 1;

/// The parameters as text, by which a checkpoint of another training is recognised.
fn parameters(params: &BoostConfig, request: &TrainRequest<'_>) -> String {
    // The number of trees may grow: a finished training can be continued.
    let params = BoostConfig { trees: 0, ..params.clone() };
    format!("algorithm {ALGORITHM_VERSION} {params:?} {}", request.objective)
}

/// A stop watch that gives the seconds since its last lap.
struct LapTimer(Instant);

impl LapTimer {
    fn new() -> Self {
        Self(Instant::now())
    }

    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let seconds = (now - self.0).as_secs_f64();
        self.0 = now;
        seconds
    }
}
