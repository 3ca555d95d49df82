//! The boosting loop.
//!
//! Each round: derivatives by query, whole numbers, a tree, leaf values, new scores; then metrics
//! on what is watched, the record, a checkpoint when one is due. The model depends on data,
//! parameters and seed only.

use std::fmt::Debug;
use std::time::Instant;

use rankwright_data::Dataset;
use rankwright_eval::Measure;
use rankwright_model::{Ensemble, Header, Model, ModelBody, ScoreOptions, Tree};

use super::checkpoint::{Checkpoints, Saver, State, fingerprint, hexadecimal};
use super::dart::Dart;
use super::one_side::OneSide;
use super::params::BoostParams;
use super::queries::{AllDerivatives, Pass, Queries};
use super::record::{Iteration, Phases, Record};
use super::scores::{add_leaves, add_tree};
use super::start::Origin;
use super::values::{ValueInput, leaf_values};
use super::watch::{Decider, Watch, values};
use super::{line, sample};
use crate::bins::Binned;
use crate::collective::{Collective, Local};
use crate::error::LearnError;
use crate::objective::Objective;
use crate::rounds::{header, record};
use crate::simd::Simd;
use crate::tree::{Grow, Grower, Grown, GrownRows, Input, Scales};

/// A data set whose metrics are watched.
#[derive(Debug, Clone)]
pub struct WatchedSet<'a> {
    /// Its name in the record.
    pub name: String,
    /// The data.
    pub data: &'a Dataset,
}

/// Someone who looks on while trees are added.
pub trait Observer: Sync {
    /// The first tree is about to grow (features are in bins), or the first round to begin; `done`
    /// of them are there already when a checkpoint was found.
    fn started(&self, _record: &Record, _done: usize) {}

    /// A tree was added, or another round was done.
    fn added(&self, _record: &Record) {}

    /// A checkpoint could not be written. One that was due: training goes on. The one of a training
    /// that is to stop: its trees are in the outcome, and nowhere else.
    fn not_saved(&self, _error: &LearnError) {}

    /// Whether to stop now; asked after every tree or round.
    fn wants_to_stop(&self) -> bool {
        false
    }
}

/// Looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}

/// What to train on and around it.
pub struct Job<'a> {
    /// Training data.
    pub train: &'a Dataset,
    /// Validation data; the first set decides on stopping.
    pub valid: Vec<WatchedSet<'a>>,
    /// Metrics to watch; the first one decides.
    pub metrics: Vec<Measure>,
    /// Whether to watch the training data too.
    pub watch_training: bool,
    /// Seed of everything random.
    pub seed: u64,
    /// A model to start from.
    pub start: Option<&'a Model>,
    /// How validation data is met with the training data's features, and the training data with
    /// the start model's.
    pub features: ScoreOptions,
    /// Where to save on the way.
    pub checkpoints: Option<Checkpoints>,
    /// Someone who looks on.
    pub observer: &'a dyn Observer,
    /// The learner as a canonical spec, for the model's header.
    pub learner: String,
    /// The objective as a spec, for the model's header.
    pub objective: String,
    /// Which machine code to run.
    pub simd: Simd,
    /// The other processes.
    pub collective: &'a dyn Collective,
}

impl<'a> Job<'a> {
    /// Training data and defaults for everything else.
    pub fn new(train: &'a Dataset) -> Self {
        Self {
            train,
            valid: Vec::new(),
            metrics: Vec::new(),
            watch_training: false,
            seed: 1,
            start: None,
            features: ScoreOptions::default(),
            checkpoints: None,
            observer: &Silent,
            learner: String::new(),
            objective: String::new(),
            simd: Simd::Auto,
            collective: &Local,
        }
    }
}

impl Debug for Job<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").field("learner", &self.learner).field("seed", &self.seed).finish()
    }
}

/// What came out of a training.
#[derive(Debug)]
pub struct Outcome {
    /// The model: all trees, or the best number of them when stopping was asked for; of other
    /// learners that which was chosen on validation data, where they do that.
    pub model: Model,
    /// What happened.
    pub record: Record,
    /// False when the observer wanted to stop before the end.
    pub finished: bool,
}

/// Trains boosted trees.
#[derive(Debug)]
pub struct Booster {
    params: BoostParams,
}

impl Booster {
    /// Takes parameters that make sense.
    pub fn new(params: BoostParams) -> Result<Self, LearnError> {
        params.check()?;
        Ok(Self { params })
    }

    /// Trains a model.
    pub fn train(
        &self,
        objective: &mut dyn Objective,
        job: &Job<'_>,
    ) -> Result<Outcome, LearnError> {
        // Inside the pool, so that this thread works too instead of waiting for the others.
        let mut result = None;
        rayon::scope(|_| result = Some(self.train_in_pool(objective, job)));
        result.unwrap_or_else(|| Err(LearnError::unfit("training did not run", "report this")))
    }

    fn train_in_pool(
        &self,
        objective: &mut dyn Objective,
        job: &Job<'_>,
    ) -> Result<Outcome, LearnError> {
        if job.train.rows() == 0 {
            return Err(LearnError::unfit("the training data has no rows", "give some"));
        }
        let started = Instant::now();
        let categorical = &self.params.tree.categorical;
        let binned =
            Binned::with_categories(job.train, self.params.bins, categorical, job.collective)?;
        let bin_seconds = started.elapsed().as_secs_f64();
        let mut grower = Grower::new(&binned, &self.params.tree, job.collective, job.simd);
        self.train_with(objective, job, &mut grower, bin_seconds)
    }

    /// The loop itself, with whatever grows the trees.
    pub(crate) fn train_with(
        &self,
        objective: &mut dyn Objective,
        job: &Job<'_>,
        grower: &mut dyn Grow,
        bin_seconds: f64,
    ) -> Result<Outcome, LearnError> {
        let mut run = Run::begin(&self.params, objective, job, bin_seconds)?;
        grower.begin(&run.trees);
        job.observer.started(&run.record, run.record.iterations.len());
        let begun = Instant::now();
        let before = run.record.train_seconds;
        let mut finished = true;
        while !run.is_over() {
            run.round(objective, grower)?;
            run.record.train_seconds = before + begun.elapsed().as_secs_f64();
            job.observer.added(&run.record);
            if job.observer.wants_to_stop() && !run.is_over() {
                finished = false;
                break;
            }
            if let Err(error) = run.save(false) {
                // The trees are still here; the next save may find room.
                job.observer.not_saved(&error);
            }
        }
        if !finished && let Err(error) = run.save(true) {
            // The trees are still here: whoever asked has them, and is told that they are not saved.
            job.observer.not_saved(&error);
        }
        run.finish(finished)
    }
}

/// The state of a training.
struct Run<'a> {
    params: &'a BoostParams,
    job: &'a Job<'a>,
    queries: Queries<'a>,
    header: Header,
    base: f64,
    /// Trees of the start model, then new ones, as they were grown.
    trees: Vec<Tree>,
    start: usize,
    /// Of the training data; without the dropped trees while a tree is grown.
    scores: Vec<f64>,
    dart: Option<Dart>,
    derivatives: AllDerivatives,
    watch: Watch<'a>,
    decider: Option<Decider>,
    record: Record,
    saver: Option<Saver<'a>>,
    fingerprint: u64,
}

impl<'a> Run<'a> {
    fn begin(
        params: &'a BoostParams,
        objective: &mut dyn Objective,
        job: &'a Job<'a>,
        bin_seconds: f64,
    ) -> Result<Self, LearnError> {
        let queries = Queries::new(job.train, &*objective);
        let base = objective.prepare(&queries.documents(&[]))?;
        let fingerprint = match &job.checkpoints {
            Some(_) => fingerprint(job.train, &about(params, job)),
            None => 0,
        };
        let mut record = Record { bin_seconds, unit: "tree".to_owned(), ..record(job) };
        let Origin { base, mut trees, start, dropped } =
            Origin::find(params.trees, job, fingerprint, base, &mut record)?;
        let header = header(job);
        // Trees that may be dropped are added one by one.
        let below = if params.dropout.is_some() { start } else { trees.len() };
        let so_far = Ensemble::new(base, trees.iter().take(below).cloned().collect())?;
        let so_far = Model::new(header.clone(), ModelBody::Trees(so_far))?;
        let mut scores = so_far.score(job.train, ScoreOptions::default())?;
        let mut watch = Watch::new(&job.valid, &job.metrics, &so_far, job.features)?;
        let new = |dropout| Dart::new(dropout, params.rate, job.seed, scores.clone());
        let mut dart = params.dropout.map(new);
        let rounds = record.iterations.len();
        if let Some(dart) = &mut dart
            && trees.len() > start
        {
            let bytes = dropped.unwrap_or_default();
            let (grown, all) = dart.restore(&trees[start..], &bytes, rounds)?;
            trees.truncate(start);
            trees.extend(grown);
            dart.rescore(&all, &header, job.train, &mut scores)?;
            watch.change(&all, dart.unit())?;
        }
        trees.truncate(start + rounds);
        let decider =
            job.metrics.first().filter(|_| !job.valid.is_empty()).map(|measure| Decider {
                set: usize::from(job.watch_training),
                better: measure.metric().better(),
                stop: params.stop,
            });
        record.best = decider.and_then(|decider| decider.best(&record));
        if params.stop.is_some() && decider.is_none() {
            return Err(LearnError::unfit(
                "stop= needs validation data and a metric",
                "give --valid DATA, or leave stop= out",
            ));
        }
        let rows = job.train.rows();
        Ok(Self {
            params,
            job,
            queries,
            header,
            base,
            trees,
            start,
            scores,
            dart,
            derivatives: AllDerivatives { gradient: vec![0.0; rows], hessian: vec![0.0; rows] },
            watch,
            decider,
            saver: job.checkpoints.as_ref().map(|o| Saver::new(o, record.iterations.len())),
            record,
            fingerprint,
        })
    }

    fn is_over(&self) -> bool {
        self.record.iterations.len() >= self.params.trees
            || self.decider.is_some_and(|decider| decider.is_over(&self.record))
    }

    /// Adds one tree.
    fn round(
        &mut self,
        objective: &mut dyn Objective,
        grower: &mut dyn Grow,
    ) -> Result<(), LearnError> {
        let job = self.job;
        let number = self.record.iterations.len();
        let mut clock = Clock::new();
        if let Some(dart) = &mut self.dart {
            let trees = self.trees.get(self.start..).unwrap_or_default();
            dart.drop(trees, grower.as_rows(), &mut self.scores)?;
        }
        objective.refresh(&self.queries.documents(&self.scores))?;
        let mut draw = Draw::new(self.params, job, number);
        self.derive(&*objective, &mut draw, number)?;
        let sampled = draw.queries.as_deref();
        let pass = Pass { objective: &*objective, scores: &self.scores, seed: draw.seed, sampled };
        let mut seconds = Phases { derivatives: clock.lap(), ..Phases::default() };
        let AllDerivatives { gradient, hessian } = &self.derivatives;
        let scales = Scales::of(gradient, hessian, job.collective)?;
        let (sample, features) = (draw.rows.as_deref(), draw.features.as_deref());
        let before = grower.times();
        let grown = grower.grow(Input { gradient, hessian, scales: &scales, sample, features })?;
        let spent = grower.times().since(before);
        seconds.histograms = spent.histograms.as_secs_f64();
        seconds.partition = spent.partition.as_secs_f64();
        seconds.quantise = (clock.lap() - seconds.histograms - seconds.partition).max(0.0);
        let from = ValueInput {
            params: self.params,
            derivatives: &self.derivatives,
            scales: &scales,
            collective: job.collective,
        };
        let rows = grower.as_rows();
        let mut steps = leaf_values(&grown, rows, from, &mut self.queries, pass)?;
        let mut step = None;
        if self.params.line_search {
            let mut moves = vec![0.0; self.scores.len()];
            add_leaves(&grown, rows, &steps, &mut moves);
            let found = line::search(&mut self.queries, pass, &moves, &mut self.derivatives)?;
            steps.iter_mut().for_each(|value| *value *= found);
            step = Some(found);
        }
        let tree = tree(&grown, &steps, self.params.rate)?;
        let leaves = Some(tree.leaves().len());
        self.add(tree, (&grown, rows), sampled)?;
        seconds.leaves = clock.lap();
        self.add_to_watched()?;
        let (loss, values) = self.watched(&*objective, draw.seed)?;
        seconds.evaluate = clock.lap();
        let number = number + 1;
        self.record.iterations.push(Iteration { number, leaves, loss, step, values, seconds });
        self.record.best = self.decider.and_then(|decider| decider.best(&self.record));
        Ok(())
    }

    /// The derivatives of the queries that this tree sees.
    fn derive(
        &mut self,
        objective: &dyn Objective,
        draw: &mut Draw,
        number: usize,
    ) -> Result<(), LearnError> {
        let sampled = draw.queries.as_deref();
        let pass = Pass { objective, scores: &self.scores, seed: draw.seed, sampled };
        self.queries.derivatives(pass, &mut self.derivatives)?;
        let one_side = self.params.one_side.filter(|_| OneSide::begins(self.params.rate, number));
        if let Some(one_side) = one_side {
            let sums = self.queries.gradient_sums(&self.derivatives);
            let counts = one_side.counts(&sums, self.job.seed, number);
            self.queries.count(&counts, &mut self.derivatives);
            draw.see(Some(counts), self.job.train);
        }
        Ok(())
    }

    /// Moves the scores by a tree, and keeps it.
    fn add(
        &mut self,
        tree: Tree,
        grown: (&Grown, &dyn GrownRows),
        sampled: Option<&[f32]>,
    ) -> Result<(), LearnError> {
        let data = self.job.train;
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

    /// Moves the scores of what is watched by the last tree.
    fn add_to_watched(&mut self) -> Result<(), LearnError> {
        match (&self.dart, self.trees.last()) {
            (Some(dart), _) => self.watch.change(dart.changed(), dart.unit()),
            (None, Some(tree)) => self.watch.add(tree),
            (None, None) => Ok(()),
        }
    }

    /// The trees of this training, without those of a start model.
    fn new_trees(&self) -> &[Tree] {
        self.trees.get(self.start..).unwrap_or_default()
    }

    /// The mean loss on the training data and the metrics on what is watched.
    fn watched(
        &mut self,
        objective: &dyn Objective,
        seed: u64,
    ) -> Result<(Option<f64>, Vec<Vec<f64>>), LearnError> {
        let mut all = self.watch.values()?;
        if !self.job.watch_training {
            return Ok((None, all));
        }
        all.insert(0, values(self.job.train, &self.scores, &self.job.metrics)?);
        let pass = Pass { objective, scores: &self.scores, seed, sampled: None };
        let loss = self.queries.loss(pass)?;
        Ok((loss.map(|loss| loss / self.scores.len() as f64), all))
    }

    fn model(&self, trees: usize) -> Result<Model, LearnError> {
        let new = match &self.dart {
            Some(dart) => dart.weighted(self.new_trees(), trees)?,
            None => self.new_trees().iter().take(trees).cloned().collect(),
        };
        let trees = self.trees.iter().take(self.start).cloned().chain(new).collect();
        let kind = ModelBody::Trees(Ensemble::new(self.base, trees)?);
        Ok(Model::new(self.header.clone(), kind)?)
    }

    /// Saves a checkpoint if one is due, or anyway.
    fn save(&mut self, anyway: bool) -> Result<(), LearnError> {
        let trees = self.record.iterations.len();
        match &self.saver {
            Some(saver) if anyway || saver.is_due(trees) => {}
            _ => return Ok(()),
        }
        let state = State {
            fingerprint: self.fingerprint,
            start: self.start,
            iterations: self.record.iterations.clone(),
            train_seconds: self.record.train_seconds,
            learner: self.dart.as_ref().map(|dart| hexadecimal(&dart.to_bytes(self.new_trees()))),
        };
        let model = self.model(trees)?;
        match &mut self.saver {
            Some(saver) => saver.save(model, &state, trees),
            None => Ok(()),
        }
    }

    fn finish(self, finished: bool) -> Result<Outcome, LearnError> {
        let trees = match (self.params.stop, self.record.best) {
            (Some(_), Some(best)) => best,
            _ => self.record.iterations.len(),
        };
        Ok(Outcome { model: self.model(trees)?, record: self.record, finished })
    }
}

/// What is drawn for one tree.
struct Draw {
    seed: u64,
    /// How often each query counts; `None` is once.
    queries: Option<Vec<f32>>,
    /// Rows of the queries that count.
    rows: Option<Vec<u32>>,
    features: Option<Vec<bool>>,
}

impl Draw {
    fn new(params: &BoostParams, job: &Job<'_>, number: usize) -> Self {
        let data = job.train;
        let queries = sample::queries(params.sample_queries, job.seed, number, data.queries());
        let features = sample::features(params.sample_features, job.seed, number, data.columns());
        let seed = job.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number as u64);
        let mut draw = Self { seed, queries: None, rows: None, features };
        draw.see(queries, data);
        draw
    }

    /// Settles which queries count.
    fn see(&mut self, queries: Option<Vec<f32>>, data: &Dataset) {
        self.rows = queries.as_ref().map(|counts| {
            let drawn = counts.iter().enumerate().filter(|(_, times)| **times > 0.0);
            drawn.flat_map(|(query, _)| data.query_rows(query)).map(|row| row as u32).collect()
        });
        self.queries = queries;
    }
}

/// The grown tree with its leaf values, shrunk.
fn tree(grown: &Grown, steps: &[f64], rate: f64) -> Result<Tree, LearnError> {
    let values: Vec<f64> = steps.iter().map(|step| step * rate).collect();
    Ok(grown.tree(&values)?)
}

/// Raised whenever the same data, parameters and seed give other trees than before: a checkpoint of
/// another algorithm is not carried on.
const ALGORITHM: u32 = 1;

/// What was asked for, as text: a checkpoint of anything else is refused.
fn about(params: &BoostParams, job: &Job<'_>) -> String {
    let metrics: Vec<String> = job.metrics.iter().map(Measure::to_string).collect();
    let valid: Vec<(&str, u64)> =
        job.valid.iter().map(|set| (set.name.as_str(), fingerprint(set.data, ""))).collect();
    let start = job.start.map(|model| xxhash_rust::xxh3::xxh3_64(&model.to_bytes()));
    // The number of trees may grow: a finished training can be carried on.
    let params = BoostParams { trees: 0, ..params.clone() };
    let watched = job.watch_training;
    let (objective, seed) = (&job.objective, job.seed);
    format!(
        "algorithm {ALGORITHM} {params:?} {objective} {seed} {metrics:?} {valid:?} {watched} {start:?}"
    )
}

/// Seconds since the last lap.
struct Clock(Instant);

impl Clock {
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
