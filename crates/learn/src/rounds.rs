//! Rounds of any learner: watching, stopping, the record and checkpoints, written once.
//!
//! After each round the learner gives its model so far; it scores what is watched, and the metrics
//! go to the record. The first metric on the first validation set decides: its best model is kept
//! (the earliest among equals), and with `stop` rounds without a better one the training is over.
//! Without validation data the last model counts.
//!
//! A checkpoint is an ordinary model file, as in boosting: the model that would be given if training
//! ended there, and as a note in its header the record and the learner's own bytes, from which it
//! goes on as if nothing had happened.

use std::time::Instant;

use rankwright_data::Dataset;
use rankwright_eval::Measure;
use rankwright_model::{Header, Model, ModelBody, ScoreOptions};

use crate::boost::checkpoint::{Saver, State, fingerprint, load};
use crate::boost::watch::{Decider, check_sets, values};
use crate::boost::{Iteration, Job, Outcome, Phases, Record};
use crate::error::LearnError;

/// Whether to train on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Go {
    /// There may be another round.
    On,
    /// Validation has not improved for long enough: finish.
    Over,
    /// Someone wants to stop: finish, with `false`. What was done is saved.
    Interrupted,
}

/// The rounds of one training.
pub(crate) struct Rounds<'a> {
    job: &'a Job<'a>,
    header: Header,
    record: Record,
    decider: Option<Decider>,
    /// Whether the last model is given even where there is validation data.
    last: bool,
    /// The model to give.
    kept: Option<ModelBody>,
    saver: Option<Saver<'a>>,
    fingerprint: u64,
    begun: Instant,
    /// Seconds of training before this process.
    before: f64,
    lap: Instant,
}

impl<'a> Rounds<'a> {
    /// Begins, or goes on: then the learner's bytes of the checkpoint are given too. `unit` is what
    /// a round is called; `stop` the rounds without improvement on the first validation set after
    /// which training is over (`None`: it runs to the end).
    pub(crate) fn begin(
        job: &'a Job<'a>,
        unit: &'static str,
        stop: Option<usize>,
    ) -> Result<(Self, Option<Vec<u8>>), LearnError> {
        let decides = job.metrics.first().filter(|_| !job.valid.is_empty());
        let decider = decides.map(|measure| Decider {
            set: usize::from(job.watch_training),
            better: measure.metric().better(),
            stop,
        });
        if stop.is_some() && decider.is_none() {
            return Err(LearnError::unfit(
                "stop= needs validation data and a metric",
                "give --valid DATA, or leave stop= out",
            ));
        }
        check_sets(&job.valid, &job.metrics)?;
        let mut record = record(job);
        record.unit = unit.to_owned();
        let mark = match &job.checkpoints {
            Some(_) => fingerprint(job.train, &about(job)),
            None => 0,
        };
        let found = match &job.checkpoints {
            Some(options) => load(&options.file(), mark)?,
            None => None,
        };
        let (mut kept, mut bytes) = (None, None);
        if let Some((model, mut state)) = found {
            bytes = Some(state.learner()?);
            state.restore(&mut record);
            kept = Some(model.into_parts().1);
        }
        record.best = decider.and_then(|decider| decider.best(&record));
        let done = record.iterations.len();
        job.observer.started(&record, done);
        let rounds = Self {
            job,
            header: header(job),
            before: record.train_seconds,
            record,
            decider,
            last: false,
            kept,
            saver: job.checkpoints.as_ref().map(|options| Saver::new(options, done)),
            fingerprint: mark,
            begun: Instant::now(),
            lap: Instant::now(),
        };
        Ok((rounds, bytes))
    }

    /// Gives the last model at the end, whatever validation says: for learners whose rounds lead to
    /// one best point.
    pub(crate) fn keeping_last(mut self) -> Self {
        self.last = true;
        self
    }

    /// Rounds done so far.
    pub(crate) fn done(&self) -> usize {
        self.record.iterations.len()
    }

    /// Whether the rounds done so far (by a checkpoint) are enough already.
    pub(crate) fn is_over(&self) -> bool {
        self.decider.is_some_and(|decider| decider.is_over(&self.record))
    }

    /// After a round: scores the watched sets with the model so far, records, remembers the best
    /// model; saves a checkpoint when due (`state` gives the learner's bytes).
    pub(crate) fn add(
        &mut self,
        loss: Option<f64>,
        model: impl FnOnce() -> Result<ModelBody, LearnError>,
        state: &dyn Fn() -> Vec<u8>,
    ) -> Result<Go, LearnError> {
        let mut seconds = Phases { learn: lap(&mut self.lap), ..Phases::default() };
        let model = Model::new(self.header.clone(), model()?)?;
        let values = self.values(&model)?;
        seconds.evaluate = lap(&mut self.lap);
        let number = self.done() + 1;
        let loss = loss.filter(|loss| loss.is_finite());
        let iteration = Iteration { number, leaves: None, loss, step: None, values, seconds };
        self.record.iterations.push(iteration);
        self.record.best = self.decider.and_then(|decider| decider.best(&self.record));
        if self.last || self.record.best.is_none_or(|best| best == number) {
            self.kept = Some(model.into_parts().1);
        }
        self.record.train_seconds = self.before + self.begun.elapsed().as_secs_f64();
        self.job.observer.added(&self.record);
        if self.is_over() {
            return Ok(Go::Over);
        }
        if self.job.observer.wants_to_stop() {
            self.interrupt(state);
            return Ok(Go::Interrupted);
        }
        let due = self.saver.as_ref().is_some_and(|saver| saver.is_due(number));
        if due && let Err(error) = self.save(state) {
            // The model is still here; the next save may find room.
            self.job.observer.not_saved(&error);
        }
        Ok(Go::On)
    }

    /// Whether someone wants to stop; for learners with long rounds. Those that then end within a
    /// round call [`interrupt`](Self::interrupt) before they finish.
    pub(crate) fn wants_to_stop(&self) -> bool {
        self.job.observer.wants_to_stop()
    }

    /// Saves a checkpoint before its time: after the last whole round.
    pub(crate) fn interrupt(&mut self, state: &dyn Fn() -> Vec<u8>) {
        if let Err(error) = self.save(state) {
            // Whoever asked has the model, and is told that it is not saved.
            self.job.observer.not_saved(&error);
        }
    }

    /// The best model (where there is validation data), else the last.
    pub(crate) fn finish(mut self, finished: bool) -> Result<Outcome, LearnError> {
        let kind = self.kept.take().ok_or_else(|| {
            LearnError::unfit(
                format!("training ended before its first {}", self.record.unit),
                "give it more time",
            )
        })?;
        self.record.train_seconds = self.before + self.begun.elapsed().as_secs_f64();
        Ok(Outcome { model: Model::new(self.header, kind)?, record: self.record, finished })
    }

    /// Each metric on each watched set.
    fn values(&self, model: &Model) -> Result<Vec<Vec<f64>>, LearnError> {
        let of = |data: &Dataset, options: ScoreOptions| {
            values(data, &model.score(data, options)?, &self.job.metrics)
        };
        let training = self.job.watch_training.then_some(self.job.train).into_iter();
        let mut all = training
            .map(|data| of(data, ScoreOptions::default()))
            .collect::<Result<Vec<_>, _>>()?;
        for set in &self.job.valid {
            all.push(of(set.data, self.job.features)?);
        }
        Ok(all)
    }

    fn save(&mut self, state: &dyn Fn() -> Vec<u8>) -> Result<(), LearnError> {
        let (Some(saver), Some(kept)) = (&mut self.saver, &self.kept) else { return Ok(()) };
        let done = self.record.iterations.len();
        let state = State::of_rounds(self.fingerprint, &self.record, &state());
        saver.save(Model::new(self.header.clone(), kept.clone())?, &state, done)
    }
}

/// Seconds since the last lap.
fn lap(last: &mut Instant) -> f64 {
    let now = Instant::now();
    let seconds = (now - *last).as_secs_f64();
    *last = now;
    seconds
}

/// The header of a model trained by this job.
pub(crate) fn header(job: &Job<'_>) -> Header {
    let mut header = Header::new(job.train.features().clone(), job.train.absent());
    header.learner.clone_from(&job.learner);
    header.objective.clone_from(&job.objective);
    if let Some(measure) = job.metrics.first() {
        header.metric = measure.to_string();
        header.conventions = measure.convention().to_owned();
    }
    header.seed = job.seed;
    header.queries = job.train.queries() as u64;
    header.rows = job.train.rows() as u64;
    header
}

/// What a learner without rounds gives: the model, and a record of what was watched.
pub(crate) fn outcome(job: &Job<'_>, kind: ModelBody) -> Result<Outcome, LearnError> {
    let model = Model::new(header(job), kind)?;
    Ok(Outcome { model, record: record(job), finished: true })
}

/// A record without rounds: the sets and metrics of a job.
pub(crate) fn record(job: &Job<'_>) -> Record {
    let training = job.watch_training.then(|| "training".to_owned());
    let valid = job.valid.iter().map(|set| set.name.clone());
    Record {
        sets: training.into_iter().chain(valid).collect(),
        metrics: job.metrics.iter().map(Measure::to_string).collect(),
        conventions: job.metrics.iter().map(|m| m.convention().to_owned()).collect(),
        ..Record::default()
    }
}

/// Raised whenever the same data, parameters and seed give other models than before.
const ALGORITHM: u32 = 1;

/// What was asked for, as text: a checkpoint of anything else is refused.
fn about(job: &Job<'_>) -> String {
    let metrics: Vec<String> = job.metrics.iter().map(Measure::to_string).collect();
    let valid: Vec<(&str, u64)> =
        job.valid.iter().map(|set| (set.name.as_str(), fingerprint(set.data, ""))).collect();
    let (learner, seed, watched) = (&job.learner, job.seed, job.watch_training);
    format!("rounds {ALGORITHM} {learner} {seed} {metrics:?} {valid:?} {watched}")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::boost::{Checkpoints, Observer, WatchedSet};
    use rankwright_data::generate::LetorOptions;
    use rankwright_eval::{MetricSpec, SourceKind};
    use rankwright_model::Linear;

    fn data(seed: u64) -> Dataset {
        LetorOptions { queries: 8, documents: 15, seed }.generate().unwrap()
    }

    fn measure() -> Measure {
        MetricSpec::parse("ndcg@5").unwrap().resolve(SourceKind::Features).unwrap()
    }

    /// A line that looks at one feature.
    fn line(columns: usize, feature: usize) -> Result<ModelBody, LearnError> {
        let mut weights = vec![0.0; columns];
        weights[feature] = 1.0;
        Ok(ModelBody::Linear(Linear::new(0.0, weights)?))
    }

    /// Learner bytes of these tests: the number of rounds done.
    fn run(job: &Job<'_>, rounds: usize, stop: Option<usize>, last: bool) -> Outcome {
        let (mut all, from) = Rounds::begin(job, "round", stop).unwrap();
        if last {
            all = all.keeping_last();
        }
        let first = from.map_or(0, |bytes| usize::from(bytes[0]));
        assert_eq!(first, all.done());
        for round in first..rounds {
            let model = || line(job.train.columns(), round);
            match all.add(Some(round as f64), model, &|| vec![round as u8 + 1]).unwrap() {
                Go::On => {}
                Go::Over => break,
                Go::Interrupted => return all.finish(false).unwrap(),
            }
        }
        all.finish(true).unwrap()
    }

    #[test]
    fn the_best_model_is_kept_where_there_is_validation_data() {
        let (train, valid) = (data(1), data(2));
        let job = || Job { metrics: vec![measure()], ..Job::new(&train) };
        let plain = run(&job(), 6, None, false);
        assert_eq!(plain.record.best, None);
        assert_eq!(*plain.model.body(), line(train.columns(), 5).unwrap());
        let watched = WatchedSet { name: "valid".into(), data: &valid };
        let job = Job { valid: vec![watched], ..job() };
        let outcome = run(&job, 20, None, false);
        let values: Vec<f64> = outcome.record.iterations.iter().map(|i| i.values[0][0]).collect();
        let most = values.iter().copied().fold(0.0, f64::max);
        let best = outcome.record.best.unwrap();
        assert_eq!(values.iter().position(|v| *v == most), Some(best - 1));
        assert_eq!(*outcome.model.body(), line(train.columns(), best - 1).unwrap());
        let stopped = run(&job, 20, Some(2), false).record.iterations.len();
        assert!(stopped < 20);
        let last = run(&job, 20, None, true);
        assert_eq!(*last.model.body(), line(train.columns(), 19).unwrap());
        assert_eq!((outcome.record.unit.as_str(), last.record.best), ("round", Some(best)));
    }

    /// Stops after some rounds.
    struct After(usize, AtomicUsize);

    impl Observer for After {
        fn wants_to_stop(&self) -> bool {
            self.1.fetch_add(1, Ordering::Relaxed) + 1 >= self.0
        }
    }

    #[test]
    fn an_interrupted_training_goes_on_where_it_was() {
        let (train, valid) = (data(1), data(2));
        let folder = tempfile::tempdir().unwrap();
        let job = || {
            let watched = WatchedSet { name: "valid".into(), data: &valid };
            Job { metrics: vec![measure()], valid: vec![watched], ..Job::new(&train) }
        };
        let whole = run(&job(), 12, None, false);
        let checkpoints = Checkpoints::new(folder.path());
        let observer = After(5, AtomicUsize::new(0));
        let checkpoints = || Some(checkpoints.clone());
        let first = Job { observer: &observer, checkpoints: checkpoints(), ..job() };
        let part = run(&first, 12, None, false);
        assert!(!part.finished);
        assert_eq!(part.record.iterations.len(), 5);
        let second = run(&Job { checkpoints: checkpoints(), ..job() }, 12, None, false);
        assert_eq!(second.model.to_bytes(), whole.model.to_bytes());
        assert_eq!(second.record.best, whole.record.best);
        let other = Job { checkpoints: checkpoints(), seed: 9, ..job() };
        let error = Rounds::begin(&other, "round", None).err().unwrap().to_string();
        assert!(error.contains("belongs to a training with other data"), "{error}");
    }

    #[test]
    fn stopping_needs_validation_data() {
        let train = data(1);
        let job = Job { metrics: vec![measure()], ..Job::new(&train) };
        let error = Rounds::begin(&job, "epoch", Some(3)).err().unwrap().to_string();
        assert!(error.contains("--valid"), "{error}");
        let (none, _) = Rounds::begin(&job, "epoch", None).unwrap();
        assert!(none.finish(true).unwrap_err().to_string().contains("before its first epoch"));
    }
}
