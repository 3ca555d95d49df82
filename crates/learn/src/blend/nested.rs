//! Trainings within a training: the members of a blend, the bags of a bagging.
//!
//! To whoever looks on, a member is a round: the record has its own metrics on the validation data
//! once it is trained. Checkpoints of each go to a folder below that of the outer training,
//! `member-1` and so on, and its finished model to `done` in there, with a fingerprint of data,
//! learner and seed. A training that goes on takes finished members from there and goes on within
//! the one that was interrupted. Where saving was not asked for, finished models are written when
//! someone wants to stop, and not before.

use std::time::{Duration, Instant};

use rankwright_data::Dataset;
use rankwright_eval::Measure;
use rankwright_model::{Model, ModelBody};

use crate::boost::checkpoint::{Saver, State, fingerprint, load};
use crate::boost::watch::values;
use crate::boost::{Checkpoints, Iteration, Job, Observer, Outcome, Phases, Record};
use crate::error::LearnError;
use crate::learner::LearnerSpec;
use crate::rounds::{header, record};

/// The outer training.
pub(crate) struct Nested<'a> {
    job: &'a Job<'a>,
    record: Record,
    begun: Instant,
    /// Finished models that are not written yet, and where they would go.
    pending: Vec<(Checkpoints, u64, Model)>,
}

/// What the outer training's observer hears of a member.
struct Within<'a>(&'a dyn Observer);

impl Observer for Within<'_> {
    fn not_saved(&self, error: &LearnError) {
        self.0.not_saved(error);
    }

    fn wants_to_stop(&self) -> bool {
        self.0.wants_to_stop()
    }
}

impl<'a> Nested<'a> {
    /// Begins; `unit` is what a member is called.
    pub(crate) fn begin(job: &'a Job<'a>, unit: &str) -> Self {
        let record = Record { unit: unit.to_owned(), ..record(job) };
        let is_there = |number: &usize| {
            job.checkpoints.as_ref().is_some_and(|c| c.member(*number).done().file().exists())
        };
        job.observer.started(&record, (0..).take_while(is_there).count());
        Self { job, record, begun: Instant::now(), pending: Vec::new() }
    }

    /// The outer job with other training data.
    pub(crate) fn job<'b>(&self, train: &'b Dataset) -> Job<'b>
    where
        'a: 'b,
    {
        Job {
            valid: self.job.valid.clone(),
            metrics: self.job.metrics.clone(),
            seed: self.job.seed,
            features: self.job.features,
            observer: self.job.observer,
            simd: self.job.simd,
            collective: self.job.collective,
            ..Job::new(train)
        }
    }

    /// Trains the next member, or takes it from where it was saved; false where someone wants to
    /// stop.
    pub(crate) fn train(
        &mut self,
        learner: &LearnerSpec,
        job: Job<'_>,
    ) -> Result<(Model, bool), LearnError> {
        let started = Instant::now();
        let within = Within(self.job.observer);
        let job = Job { observer: &within, ..job };
        let (model, whole) = self.trained(learner, job)?;
        if whole {
            self.add(&model, started.elapsed().as_secs_f64())?;
        }
        // A member that is done just now leaves nothing to go on from but itself.
        if !whole || self.job.observer.wants_to_stop() {
            self.write_pending();
        }
        Ok((model, whole))
    }

    fn trained(
        &mut self,
        learner: &LearnerSpec,
        mut job: Job<'_>,
    ) -> Result<(Model, bool), LearnError> {
        let Some(outer) = &self.job.checkpoints else {
            let outcome = learner.train(job)?;
            return Ok((outcome.model, outcome.finished));
        };
        let member = outer.member(self.record.iterations.len());
        let done = member.done();
        let mark = fingerprint(job.train, &about(learner, &job));
        if let Some((model, _)) = load(&done.file(), mark)? {
            return Ok((without_note(model)?, true));
        }
        job.checkpoints = learner.rounds().map(|_| member);
        let outcome = learner.train(job)?;
        if outcome.finished {
            self.pending.push((done, mark, outcome.model.clone()));
            if outer.every_trees > 0 || outer.every < Duration::MAX {
                self.write_pending();
            }
        }
        Ok((outcome.model, outcome.finished))
    }

    /// Another member is there, trained or read: tells the record of it.
    pub(crate) fn add(&mut self, model: &Model, seconds: f64) -> Result<(), LearnError> {
        let mut all = Vec::with_capacity(self.job.valid.len());
        let sets = self.job.valid.iter().map(|set| (set.data, self.job.features));
        let training = self.job.watch_training.then_some((self.job.train, Default::default()));
        for (data, options) in training.into_iter().chain(sets) {
            all.push(values(data, &model.score(data, options)?, &self.job.metrics)?);
        }
        self.record.iterations.push(Iteration {
            number: self.record.iterations.len() + 1,
            leaves: None,
            loss: None,
            step: None,
            values: all,
            seconds: Phases { learn: seconds, ..Phases::default() },
        });
        self.record.train_seconds = self.begun.elapsed().as_secs_f64();
        self.job.observer.added(&self.record);
        Ok(())
    }

    /// Writes the finished models that are not written yet.
    fn write_pending(&mut self) {
        for (place, mark, model) in self.pending.drain(..) {
            let state = State::of_rounds(mark, &Record::default(), &[]);
            if let Err(error) = Saver::new(&place, 0).save(model, &state, 0) {
                // The model is still here.
                self.job.observer.not_saved(&error);
            }
        }
    }

    /// What the outer training gives.
    pub(crate) fn finish(self, kind: ModelBody, finished: bool) -> Result<Outcome, LearnError> {
        let mut record = self.record;
        record.train_seconds = self.begun.elapsed().as_secs_f64();
        Ok(Outcome { model: Model::new(header(self.job), kind)?, record, finished })
    }
}

/// What was asked for, as text.
fn about(learner: &LearnerSpec, job: &Job<'_>) -> String {
    let metrics: Vec<String> = job.metrics.iter().map(Measure::to_string).collect();
    let valid: Vec<(&str, u64)> =
        job.valid.iter().map(|set| (set.name.as_str(), fingerprint(set.data, ""))).collect();
    format!("member {learner} {} {metrics:?} {valid:?}", job.seed)
}

/// The model as it was before the checkpoint's note came into its header.
fn without_note(model: Model) -> Result<Model, LearnError> {
    let (mut header, kind) = model.into_parts();
    header.notes.remove("checkpoint");
    Ok(Model::new(header, kind)?)
}
