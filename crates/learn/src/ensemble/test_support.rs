//! Shared code of the tests of these learners.

use std::sync::atomic::{AtomicUsize, Ordering};

use rankwright_data::Dataset;
use rankwright_data::generate::LetorOptions;

use crate::learner::LearnerSpec;
use crate::session::{Checkpoints, Progress, TrainRequest};

/// A data set from rows of (query, label, features).
pub(crate) fn rows(rows: &[(&str, f64, &[f32])]) -> Dataset {
    Dataset::builder()
        .rows(rows.iter().map(|(.., features)| features))
        .labels(rows.iter().map(|(_, label, _)| label))
        .query_ids(rows.iter().map(|(query, ..)| query))
        .build()
        .unwrap()
}

/// Stops a training after some rounds.
struct StopAfter(usize, AtomicUsize);

impl Progress for StopAfter {
    fn should_stop(&self) -> bool {
        self.1.fetch_add(1, Ordering::Relaxed) + 1 >= self.0
    }
}

/// Trains on one thread, on three, on eight, and with an interruption: the model has the same bytes
/// each time. With another seed it differs only if the learner makes random draws.
pub(crate) fn trains_reproducibly(learner: &str) {
    let [train, valid] =
        [3, 4].map(|seed| LetorOptions { queries: 14, documents: 16, seed }.generate().unwrap());
    let learner = LearnerSpec::parse(learner).unwrap();
    let request = || TrainRequest::new(&train).validation(&valid);
    let on_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| learner.train(request()).unwrap().model.to_bytes())
    };
    let whole = on_threads(1);
    for threads in [3, 8] {
        assert!(whole == on_threads(threads), "{learner}: threads change the model");
    }
    let folder = tempfile::tempdir().unwrap();
    let checkpoints = || Some(Checkpoints::new(folder.path()));
    let progress = StopAfter(2, AtomicUsize::new(0));
    let interrupted = request().progress(&progress).checkpoints(checkpoints());
    let part = learner.train(interrupted).unwrap();
    assert!(!part.finished, "{learner} has fewer than three rounds");
    let rest = learner.train(request().checkpoints(checkpoints())).unwrap();
    assert!(
        rest.finished && rest.model.to_bytes() == whole,
        "{learner}: a pause changes the model"
    );
}
