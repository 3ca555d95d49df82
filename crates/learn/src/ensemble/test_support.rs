//! Shared code of the tests of the learners of this folder.

use rankwright_data::Dataset;
use rankwright_data::generate::LetorOptions;

use crate::learner::LearnerSpec;
use crate::session::test_support::StopAfterRounds;
use crate::session::{Checkpoints, TrainRequest};

/// A data set from rows of (query, label, features).
pub(crate) fn rows(rows: &[(&str, f64, &[f32])]) -> Dataset {
    Dataset::builder()
        .rows(rows.iter().map(|(.., features)| features))
        .labels(rows.iter().map(|(_, label, _)| label))
        .query_ids(rows.iter().map(|(query, ..)| query))
        .build()
        .unwrap()
}

/// Checks that training on one, two, three and eight threads, and with an interruption, gives a
/// model of the same bytes each time.
pub(crate) fn trains_reproducibly(learner: &str) {
    let [train, valid] =
        [3, 4].map(|seed| LetorOptions { queries: 14, documents: 16, seed }.generate().unwrap());
    trains_reproducibly_on(learner, &train, &valid);
}

/// The same with given data.
pub(crate) fn trains_reproducibly_on(learner: &str, train: &Dataset, valid: &Dataset) {
    let learner = LearnerSpec::parse(learner).unwrap();
    let request = || TrainRequest::new(train).validation(valid);
    let on_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| learner.train(request()).unwrap().model.to_bytes())
    };
    let uninterrupted = on_threads(1);
    for threads in [2, 3, 8] {
        assert!(uninterrupted == on_threads(threads), "{learner}: threads change the model");
    }
    let folder = tempfile::tempdir().unwrap();
    let checkpoints = || Some(Checkpoints::new(folder.path()));
    let progress = StopAfterRounds::new(2);
    let request_to_stop = request().progress(&progress).checkpoints(checkpoints());
    let interrupted = learner.train(request_to_stop).unwrap();
    assert!(!interrupted.finished, "{learner} has fewer than three rounds");
    let resumed = learner.train(request().checkpoints(checkpoints())).unwrap();
    let same_model = resumed.model.to_bytes() == uninterrupted;
    assert!(resumed.finished && same_model, "{learner}: an interruption changes the model");
}
