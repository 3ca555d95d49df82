//! The training loop: epochs of mini-batches.
//!
//! Each epoch visits the queries in an order of its own, drawn by seed and epoch; each mini-batch
//! of `batch` queries makes one step against the mean gradient of its queries (times their
//! weights). RankNet may instead visit all pairs in random order and make a step after each. After
//! each epoch the net is evaluated on the validation sets (and the training data if requested).

use rankwright_data::{Dataset, Random};
use rankwright_model::{Model, ModelBody, ScoreOptions, Transforms};
use rankwright_spec::{Conflict, SpecError};

use super::export::{self, MovingStats};
use super::loss::{NetLoss, PreparedLoss};
use super::matrix::NetMatrix;
use super::optimiser::Optimiser;
use super::params::{AUTO_PATIENCE, NetConfig, NetParams};
use super::passes::{PassBuffers, PassInput, RowLists, diverged};
use super::shape::NetShape;
use super::state::NetState;
use crate::bias::{BiasCorrection, BiasParams, ClickCorrection, RoundBias, labels_with_bias};
use crate::boost::BoostParams;
use crate::boost::queries::{AllDerivatives, QueryPass, TrainingQueries};
use crate::boost::relevance::relevance_scores;
use crate::error::LearnError;
use crate::objective::{DocumentPair, LabelSum, LabelTerm, label_terms};
use crate::preferences::Preferences;
use crate::session::{LabelParams, RoundPlan, RoundStatus, Session, header};
use crate::session::{TrainRequest, TrainResult};
use crate::trainer::{Trainer, ValidationUse};
use crate::transform::{TransformParams, transformed};
use crate::tree::TreeParams;

/// A net learner, ready to train.
#[derive(Debug)]
pub(super) struct NetTrainer {
    params: NetConfig,
    loss: NetLoss,
    bias: BiasParams,
    /// The objective for each column of `labels=`; `None` for the data's own labels alone.
    label_terms: Option<Vec<LabelTerm>>,
}

impl NetTrainer {
    /// A net of checked parameters with a loss.
    pub(super) fn new(net: &NetParams, transform: &TransformParams, loss: NetLoss) -> Self {
        let (params, bias) = (NetConfig::new(net, transform), BiasParams::default());
        Self { params, loss, bias, label_terms: None }
    }

    /// Sets the columns of labels, which are the data's own labels otherwise. An error if pairs are
    /// passed one by one, or clicks are corrected.
    pub(super) fn labels(self, labels: &LabelParams, learner: &str) -> Result<Self, SpecError> {
        let Some(weights) = labels.weights(learner)? else { return Ok(self) };
        if self.bias.bias != BiasCorrection::None {
            return Err(SpecError::conflict(learner, labels_with_bias()));
        }
        if !self.loss.factored || self.loss.pair_updates {
            let other = if self.loss.pair_updates { "update=pair" } else { "factored=false" };
            let (setting, other) = ("labels".to_owned(), other.to_owned());
            let reason = "the losses of several columns of labels are added up for whole queries";
            let conflict = Conflict::Incompatible { setting, other, reason };
            return Err(SpecError::conflict(learner, conflict));
        }
        let terms = label_terms(&self.loss.text, &weights, learner)?;
        Ok(Self { label_terms: Some(terms), ..self })
    }

    /// Sets the correction of clicks for position bias. An error if the loss does not support it.
    pub(super) fn bias(self, bias: &BiasParams, learner: &str) -> Result<Self, SpecError> {
        bias.check_objective(self.loss.objective.as_ref(), learner)?;
        Ok(Self { bias: bias.clone(), ..self })
    }
}

impl Trainer for NetTrainer {
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let data = request.train;
        if data.columns() == 0 {
            return Err(LearnError::NoFeatures);
        }
        let preferences = Preferences::new(data);
        if let Some(targets) = &request.soft_targets {
            self.loss.distil(targets.clone());
        }
        // With `bias=dr`, the labels are estimates that are computed below.
        let columns = match &self.label_terms {
            Some(terms) => {
                Some(terms.iter().map(|term| term.labels(data)).collect::<Result<_, _>>()?)
            }
            None => (self.bias.bias == BiasCorrection::Dr).then(Vec::new),
        };
        let training_queries = self.loss.queries(&preferences, data, columns.as_deref())?;
        if let Some(terms) = self.label_terms.take() {
            self.loss.objective = Box::new(LabelSum::new(terms, data)?);
        }
        self.loss.objective.set_simd(request.simd);
        let objective = self.loss.objective.as_ref();
        let regress = |clicks| {
            let (boost, tree) = (BoostParams::default(), TreeParams::default());
            relevance_scores(request, &request.learner, &boost, &tree, clicks)
        };
        let ClickCorrection { clicks, bias, .. } =
            ClickCorrection::new(&self.bias, data, objective, TERM_RATE, regress)?;
        let queries = TrainingQueries::with_clicks(data, objective, clicks);
        self.loss.objective.prepare(&queries.documents(&[]))?;
        let transforms = self.params.transform.fit(data)?;
        let inputs = transformed(data, &transforms);
        let shape = NetShape::new(
            data.columns(),
            &self.params.hidden,
            self.params.norm,
            self.params.activation,
        );
        let state = NetState {
            parameters: shape.initial_parameters(request.seed),
            optimiser: Optimiser::new(
                self.params.method,
                self.params.momentum,
                self.params.decay,
                shape.parameter_count,
            ),
            moving_stats: MovingStats::default(),
            batches: 0,
        };
        let mut run = NetRun {
            params: &self.params,
            loss: &self.loss,
            request,
            preferences,
            queries,
            training_queries,
            inputs: NetMatrix::by_rows(&inputs, data.columns()),
            transforms,
            passes: PassBuffers::new(shape.clone()),
            shape,
            lists: RowLists::default(),
            state,
            bias,
        };
        run.train()
    }

    fn objective(&self) -> String {
        self.loss.text.clone()
    }

    fn accepts_pairs(&self) -> bool {
        self.loss.accepts_pairs()
    }

    fn accepts_teacher(&self) -> bool {
        let is_plain = self.bias.bias == BiasCorrection::None && self.label_terms.is_none();
        is_plain && self.loss.accepts_teacher()
    }

    fn rounds(&self) -> Option<(usize, &'static str)> {
        Some((self.params.epochs, "epoch"))
    }

    fn validation_use(&self) -> ValidationUse {
        ValidationUse::of_model_choice(self.params.stop)
    }

    fn queries_with_sampled_pairs(&self, data: &Dataset) -> usize {
        let sampled = |query: &usize| self.loss.samples_pairs(data.query_rows(*query).len());
        (0..data.queries()).filter(sampled).count()
    }
}

/// The state of a running training, with its data and buffers.
struct NetRun<'a> {
    params: &'a NetConfig,
    loss: &'a NetLoss,
    request: &'a TrainRequest<'a>,
    preferences: Preferences<'a>,
    queries: TrainingQueries<'a>,
    /// Queries that influence the gradient.
    training_queries: Vec<usize>,
    inputs: NetMatrix<'a>,
    transforms: Transforms,
    shape: NetShape,
    passes: PassBuffers,
    lists: RowLists,
    state: NetState,
    /// The correction of clicks for position bias, with the terms or factors that are learned.
    bias: RoundBias,
}

/// The documents of one step.
#[derive(Clone, Copy)]
enum MiniBatch<'a> {
    /// All documents of these queries.
    Queries(&'a [usize]),
    /// One pair of documents, and before it the number of its query.
    Pair(usize, DocumentPair),
}

impl MiniBatch<'_> {
    /// Number of queries.
    fn queries(&self) -> usize {
        match self {
            MiniBatch::Queries(queries) => queries.len(),
            MiniBatch::Pair(..) => 1,
        }
    }
}

/// The learning rate of the terms of positions (`bias=gam`), which take a Newton step after each
/// epoch.
const TERM_RATE: f64 = 0.3;

/// Any constant: keeps the random order of queries apart from other random numbers of the seed.
const ORDER_SEED: u64 = 0x6570_6f63_6873_2121;
/// Any constant: keeps noise and dropout apart from other random numbers of the seed.
const NOISE_SEED: u64 = 0x6e6f_6973_6520_2121;

/// The seed of an epoch for the objective. The odd factor, 2^64 divided by the golden ratio, keeps
/// the epochs of neighbouring seeds apart.
fn objective_seed(request: &TrainRequest<'_>, epoch: usize) -> u64 {
    request.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(epoch as u64)
}

impl NetRun<'_> {
    /// Trains all epochs, resuming from a checkpoint if there is one.
    fn train(&mut self) -> Result<TrainResult, LearnError> {
        let plan = RoundPlan::new("epoch", self.params.epochs, self.request)
            .stop(self.params.stop)
            .auto_patience(AUTO_PATIENCE);
        let (mut session, saved) = Session::begin(self.request, plan)?;
        let saved = saved.and_then(|saved| saved.learner_state);
        let saved = self.bias.restore(saved, session.done(), &mut self.queries)?;
        if let Some(bytes) = saved {
            self.state.restore(&self.shape, &bytes)?;
        }
        let mut finished = true;
        while !session.is_over() {
            let epoch = session.done();
            self.epoch(epoch)?;
            self.learn_bias(epoch)?;
            let loss = if self.request.evaluate_training { self.mean_loss(epoch)? } else { None };
            let state = || self.bias.join_state(Some(self.state.to_bytes())).unwrap_or_default();
            match session.end_round_with_model(loss, || self.model_body(), &state)? {
                RoundStatus::Continue => {}
                RoundStatus::Over => break,
                RoundStatus::Cancelled => {
                    finished = false;
                    break;
                }
            }
        }
        session.set_position_bias(self.bias.factors(session.kept_rounds().rounds));
        session.finish(finished)
    }

    /// Learns the correction of clicks from the scores after an epoch: the factors of pairs
    /// (`bias=pairwise`) or the terms of positions (`bias=gam`). Does nothing without these.
    fn learn_bias(&mut self, epoch: usize) -> Result<(), LearnError> {
        if self.bias.has_pair_factors() {
            let scores = self.training_scores()?;
            let objective = self.loss.objective.as_ref();
            let seed = objective_seed(self.request, epoch);
            let pass = QueryPass { objective, scores: &scores, seed, multiplicities: None };
            self.bias.learn_pairs(&mut self.queries, pass)?;
        }
        if self.bias.terms().is_some() {
            let scores = self.training_scores()?;
            self.bias.shift(&scores);
            let pass = QueryPass {
                objective: self.loss.objective.as_ref(),
                scores: self.bias.scores(&scores),
                seed: objective_seed(self.request, epoch),
                multiplicities: None,
            };
            let zeros = vec![0.0; scores.len()];
            let mut derivatives = AllDerivatives { gradient: zeros.clone(), hessian: zeros };
            self.queries.derivatives(pass, &mut derivatives)?;
            self.bias.learn_terms(&derivatives, None);
        }
        self.bias.end_round();
        Ok(())
    }

    /// The scores of the training data under the current net.
    fn training_scores(&self) -> Result<Vec<f64>, LearnError> {
        let model = Model::new(header(self.request), self.model_body()?)?;
        Ok(model.score(self.request.train, ScoreOptions::default())?)
    }

    /// Visits all queries, or all pairs, once; epochs count from 0.
    fn epoch(&mut self, epoch: usize) -> Result<(), LearnError> {
        let mut random = Random::new(self.request.seed ^ ORDER_SEED, epoch as u64);
        if self.loss.pair_updates {
            let queries = &self.training_queries;
            let mut pairs = self.loss.pairs(queries, self.request.train, &self.preferences)?;
            random.shuffle(&mut pairs);
            for (query, pair) in &pairs {
                self.step(MiniBatch::Pair(*query as usize, *pair), epoch, pairs.len())?;
            }
        } else {
            let mut order = self.training_queries.clone();
            random.shuffle(&mut order);
            let batches = order.len().div_ceil(self.params.batch);
            for batch in order.chunks(self.params.batch) {
                self.step(MiniBatch::Queries(batch), epoch, batches)?;
            }
        }
        match self.state.parameters.iter().all(|number| number.is_finite()) {
            true => Ok(()),
            false => Err(diverged()),
        }
    }

    /// Makes one step by the gradient of a mini-batch; the epoch has `batches` mini-batches.
    fn step(
        &mut self,
        batch: MiniBatch<'_>,
        epoch: usize,
        batches: usize,
    ) -> Result<(), LearnError> {
        let Self {
            params, loss, request, preferences, queries, passes, lists, state, bias, ..
        } = self;
        let prepared_loss = PreparedLoss {
            shared_queries: queries.shared(),
            objective: loss.objective.as_ref(),
            data: request.train,
            terms: bias.terms(),
            seed: objective_seed(request, epoch),
        };
        passes.parameter_gradient.fill(0.0);
        let mut input = PassInput {
            parameters: &state.parameters,
            data: self.inputs,
            loss: &prepared_loss,
            scale: 1.0 / batch.queries() as f32,
            noise_levels: params.noise_levels,
            draw_seed: request.seed ^ NOISE_SEED,
            // A mini-batch that is passed pair by pair has several passes: up to 2^16 of them have
            // different numbers.
            pass_number: state.batches << 16,
        };
        match batch {
            MiniBatch::Queries(batch) => {
                loss.pass_rows(batch, request.train, preferences, lists, |lists| {
                    passes.add_gradient(lists, input)?;
                    input.pass_number += 1;
                    Ok(())
                })?;
            }
            MiniBatch::Pair(query, pair) => {
                let first_row = request.train.query_rows(query).start as u32;
                lists.clear();
                let rows = [first_row + pair.better, first_row + pair.worse];
                lists.push(query, rows.into_iter(), Some(pair));
                passes.add_gradient(lists, input)?;
            }
        }
        if self.shape.has_batch_norm() {
            state.moving_stats.add(&passes.stats);
        }
        let rate = params.schedule.rate_at(state.batches, batches);
        state.optimiser.step(&self.shape, &mut state.parameters, &passes.parameter_gradient, rate);
        state.batches += 1;
        Ok(())
    }

    /// The current net as a model.
    fn model_body(&self) -> Result<ModelBody, LearnError> {
        export::model_body(
            &self.shape,
            &self.state.parameters,
            &self.state.moving_stats,
            &self.transforms,
        )
    }

    /// The loss of the training data under the current net divided by its number of rows; `None` if
    /// the objective has no loss.
    fn mean_loss(&mut self, epoch: usize) -> Result<Option<f64>, LearnError> {
        let scores = self.training_scores()?;
        self.bias.shift(&scores);
        let seed = objective_seed(self.request, epoch);
        let pass = QueryPass {
            objective: self.loss.objective.as_ref(),
            scores: self.bias.scores(&scores),
            seed,
            multiplicities: None,
        };
        let loss = self.queries.loss(pass)?;
        Ok(loss.map(|loss| loss / scores.len() as f64))
    }
}
