//! Training of any learner on data in memory.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pyo3::prelude::*;
use rankwright::eval::{Measure, MetricSpec, SourceKind};
use rankwright::learn::{
    Checkpoints, LearnError, LearnerSpec, MemberStart, Progress, TrainRequest, TrainingHistory,
    ValidationSet,
};
use rankwright::tasks::{TaskError, list_learners};

use crate::dataset::PyDataset;
use crate::errors::{OrRaise, json};
use crate::model::PyModel;
use crate::run::interruptible;

/// All learners with their parameters, as JSON: the one table of declarations.
#[pyfunction]
pub(crate) fn learners(py: Python<'_>) -> PyResult<String> {
    json(py, &list_learners())
}

/// The name of a learner's spec, and its parameters that differ from their defaults.
#[pyfunction]
pub(crate) fn learner_parameters(
    py: Python<'_>,
    spec: &str,
) -> PyResult<(String, Vec<(String, String)>)> {
    let learner = LearnerSpec::parse(spec).or_raise(py)?;
    let canonical = learner.canonical().clone();
    Ok((canonical.name, canonical.args))
}

/// Sends the events of a training to a Python function, and stops the training if that raises or
/// returns true.
struct CallbackProgress<'a> {
    callback: Option<&'a Py<PyAny>>,
    cancel: &'a AtomicBool,
    /// Whether the function asked to stop.
    stopped: AtomicBool,
    /// The exception of the function.
    raised: &'a Mutex<Option<PyErr>>,
    checkpoint_error: &'a Mutex<Option<String>>,
}

impl CallbackProgress<'_> {
    /// Calls the function with the name of the event and its JSON.
    fn call(&self, event: &str, payload: &str) {
        let Some(callback) = self.callback else { return };
        if self.should_stop() {
            return;
        }
        let answer = Python::attach(|py| {
            let answer = callback.call1(py, (event, payload))?;
            answer.bind(py).is_truthy()
        });
        match answer {
            Ok(false) => {}
            Ok(true) => self.stopped.store(true, Ordering::Relaxed),
            Err(error) => {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                self.stopped.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl Progress for CallbackProgress<'_> {
    fn started(&self, history: &TrainingHistory, done: usize) {
        if self.callback.is_some() {
            let empty = TrainingHistory { iterations: Vec::new(), ..history.clone() };
            let text = serde_json::to_string(&(empty, done)).unwrap_or_default();
            self.call("started", &text);
        }
    }

    fn member_started(&self, member: &MemberStart<'_>) {
        if self.callback.is_some() {
            let MemberStart { learner, planned, leaders, .. } = member;
            let text = serde_json::to_string(&(learner, planned, leaders)).unwrap_or_default();
            self.call("member", &text);
        }
    }

    fn round_finished(&self, history: &TrainingHistory) {
        if let (Some(_), Some(round)) = (self.callback, history.iterations.last()) {
            self.call("round", &serde_json::to_string(round).unwrap_or_default());
        }
    }

    fn checkpoint_failed(&self, error: &LearnError) {
        *self.checkpoint_error.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(error.to_string());
    }

    fn should_stop(&self) -> bool {
        self.cancel.load(Ordering::Relaxed) || self.stopped.load(Ordering::Relaxed)
    }
}

/// Trains a learner. Returns the model, the result (history, warnings, whether it finished) as
/// JSON, and the error of a checkpoint that could not be written.
#[pyfunction]
#[pyo3(signature = (spec, data, *, valid, metrics, evaluate_training, seed, start, checkpoint, callback, threads))]
#[allow(clippy::too_many_arguments, reason = "called by the Python package only")]
pub(crate) fn train(
    py: Python<'_>,
    spec: &str,
    data: &PyDataset,
    valid: Vec<(String, PyRef<'_, PyDataset>)>,
    metrics: Vec<String>,
    evaluate_training: bool,
    seed: Option<u64>,
    start: Option<&PyModel>,
    checkpoint: Option<(PathBuf, usize, f64)>,
    callback: Option<Py<PyAny>>,
    threads: usize,
) -> PyResult<(PyModel, String, Option<String>)> {
    let learner = LearnerSpec::parse(spec).or_raise(py)?;
    let measure = |text: &String| -> Result<Measure, TaskError> {
        Ok(MetricSpec::parse(text)?.resolve(SourceKind::Features)?)
    };
    let metrics: Vec<Measure> =
        metrics.iter().map(measure).collect::<Result<_, _>>().or_raise(py)?;
    let checkpoints = checkpoint.map(|(folder, rounds, seconds)| {
        let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Checkpoints::new(folder).every_rounds(rounds).every(time)
    });
    let valid: Vec<_> = valid.iter().map(|(name, set)| (name.clone(), set.data.clone())).collect();
    let (data, start) = (data.data.clone(), start.map(|start| start.model.clone()));
    let (raised, checkpoint_error) = (Mutex::new(None), Mutex::new(None));
    let result = interruptible(py, threads, |cancel| {
        let progress = CallbackProgress {
            callback: callback.as_ref(),
            cancel,
            stopped: AtomicBool::new(false),
            raised: &raised,
            checkpoint_error: &checkpoint_error,
        };
        let sets = valid.iter().map(|(name, data)| ValidationSet::new(name, data));
        let mut request = TrainRequest::new(&data)
            .validation_sets(sets)
            .metrics(metrics)
            .evaluate_training(evaluate_training)
            .start(start.as_deref())
            .checkpoints(checkpoints)
            .progress(&progress);
        if let Some(seed) = seed {
            request = request.seed(seed);
        }
        learner.train(request)
    });
    if let Some(error) = raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let result = result?;
    let text = json(py, &result)?;
    let checkpoint_error = checkpoint_error.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((PyModel::of(result.model), text, checkpoint_error))
}
