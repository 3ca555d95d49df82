//! Training of any learner on data in memory.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwright::learn::{LearnerSpec, MemberStart, Progress, TrainingHistory};
use rankwright::tasks::{
    CheckpointOptions, Context, TeacherSource, TrainModelRequest, TrainingProgress, train_model,
};

use crate::errors::{OrRaise, json};
use crate::fields::Fields;
use crate::model::PyModel;
use crate::run::interruptible;

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
struct CallbackProgress {
    callback: Option<Py<PyAny>>,
    /// Whether the function asked to stop.
    stopped: AtomicBool,
    /// The exception of the function.
    raised: Mutex<Option<PyErr>>,
}

impl CallbackProgress {
    /// Calls the function with the name of the event and its JSON.
    fn call(&self, event: &str, payload: &str) {
        let Some(callback) = &self.callback else { return };
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

impl Progress for CallbackProgress {
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
        if let (Some(_), Some(round)) = (&self.callback, history.iterations.last()) {
            self.call("round", &serde_json::to_string(round).unwrap_or_default());
        }
    }

    fn should_stop(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl TrainingProgress for CallbackProgress {}

/// The request of the fields of a training.
fn request(fields: &Fields<'_>) -> PyResult<TrainModelRequest> {
    let data = fields.data_source("data")?.unwrap_or_default();
    let mut request = TrainModelRequest::new(fields.learner("learner")?, data);
    request.valid = fields.data_sources("valid")?;
    request.metrics = fields.metrics("metrics")?;
    request.eval_train = fields.or("evaluate_training", false)?;
    request.seed = fields.optional("seed")?;
    request.start = fields.model_source("start")?;
    request.bias = fields.optional("bias")?;
    request.matching = fields.matching()?;
    request.keep_stopped = true;
    let checkpoint: Option<(PathBuf, usize, Option<f64>)> = fields.optional("checkpoint")?;
    request.checkpoint = checkpoint.map(|(folder, rounds, seconds)| {
        let mut options = CheckpointOptions::new(folder);
        options.every_rounds = rounds;
        if let Some(seconds) = seconds {
            options.every = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        }
        options
    });
    if let Some(model) = fields.model_source("teacher")? {
        let mut teacher = TeacherSource::new(model);
        if let Some(weight) = fields.optional("teacher_weight")? {
            teacher = teacher.weight(weight);
        }
        teacher.unlabelled = fields.data_source("unlabelled")?;
        request.teacher = Some(teacher);
    }
    Ok(request)
}

/// Trains a learner. Returns the model, and the result and the history as JSON.
#[pyfunction]
#[pyo3(signature = (fields, callback, threads))]
pub(crate) fn train(
    py: Python<'_>,
    fields: Bound<'_, PyDict>,
    callback: Option<Py<PyAny>>,
    threads: usize,
) -> PyResult<(PyModel, String, String)> {
    let request = request(&Fields::new(fields))?;
    let (stopped, raised) = (AtomicBool::new(false), Mutex::new(None));
    let progress = CallbackProgress { callback, stopped, raised };
    let result = interruptible(py, threads, |cancel| {
        train_model(&request, &Context::default().cancel(cancel).training(&progress))
    });
    if let Some(error) = progress.raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let result = result?;
    let (text, history) = (json(py, &result)?, json(py, &result.history)?);
    Ok((PyModel::of(result.trained), text, history))
}
