//! Types that a server, a Python module or a worker of a cluster shares between threads.

use rankwright::data::DataError;
use rankwright::eval::{EvalError, Measure, MetricSpec};
use rankwright::model::{Explainer, Model, ModelError, Scorer};
use rankwright::prelude::*;
use rankwright::tasks::{Context, TaskError};

fn shared<T: Send + Sync>() {}

#[test]
fn data_models_and_requests_can_be_shared_between_threads() {
    shared::<Dataset>();
    shared::<Model>();
    shared::<Scorer>();
    shared::<Explainer<'static>>();
    shared::<Measure>();
    shared::<MetricSpec>();
    shared::<Context<'static>>();
}

#[cfg(feature = "train")]
#[test]
fn learners_and_trainings_can_be_shared_between_threads() {
    shared::<LearnerSpec>();
    shared::<TrainRequest<'static>>();
    shared::<TrainResult>();
    shared::<LambdaMart>();
    shared::<RankNet>();
}

#[cfg(feature = "search")]
#[test]
fn indexes_and_rankers_can_be_shared_between_threads() {
    shared::<rankwright::search::Index>();
    shared::<rankwright::search::Ranker>();
}

#[test]
fn errors_can_leave_their_thread() {
    shared::<DataError>();
    shared::<ModelError>();
    shared::<EvalError>();
    shared::<TaskError>();
}
