//! A model has the same bytes for any number of threads, for AVX2 and portable code, and after any
//! interruption.

use rankwright_data::Dataset;
use rankwright_data::generate::LetorOptions;
use rankwright_eval::{MetricSpec, SourceKind};
use rankwright_learn::objective::LambdaConfig;
use rankwright_learn::prelude::*;
use rankwright_learn::simd::Simd;
use rankwright_learn::{Checkpoints, LearnError, Newton, ValidationSet};

use crate::stop_at_round::StopAtRound;

fn data() -> Dataset {
    LetorOptions { queries: 50, documents: 60, seed: 11 }.generate().unwrap()
}

fn params(newton: Newton) -> Booster {
    Booster::new().trees(8).leaves(31).sample_queries(0.8).sample_features(0.7).newton(newton)
}

fn train(params: Booster, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
    let mut lambda = LambdaConfig::for_metric(MetricSpec::parse("ndcg@10").unwrap());
    lambda.simd = request.simd;
    params.train(&mut lambda.check()?, request)
}

fn bytes(data: &Dataset, threads: usize, simd: Simd, newton: Newton) -> Vec<u8> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let request = TrainRequest::new(data).simd(simd);
    pool.install(|| train(params(newton), &request).unwrap().model.to_bytes())
}

#[test]
fn threads_and_instruction_sets_do_not_change_a_byte() {
    let data = data();
    for newton in [Newton::PerDocument, Newton::CrossLeaf, Newton::Joint] {
        let one = bytes(&data, 1, Simd::Auto, newton);
        for threads in [2, 3, 8] {
            assert!(bytes(&data, threads, Simd::Auto, newton) == one, "{threads} threads");
        }
        assert!(bytes(&data, 2, Simd::Portable, newton) == one, "portable code");
    }
}

#[test]
fn a_resumed_training_gives_the_same_bytes() {
    let (data, valid) =
        (data(), LetorOptions { queries: 10, documents: 60, seed: 12 }.generate().unwrap());
    let metric = MetricSpec::parse("ndcg@10").unwrap().resolve(SourceKind::Features).unwrap();
    let valid = vec![ValidationSet::new("valid", &valid)];
    let folder = tempfile::tempdir().unwrap();
    let request = TrainRequest::new(&data).validation_sets(valid).metrics([metric]);
    let uninterrupted = train(params(Newton::PerDocument), &request).unwrap();
    let checkpoints = Checkpoints::new(folder.path().join("a")).every_rounds(1);
    for trees in [1, 3, 4, 7] {
        let progress = StopAtRound::new(trees);
        let request = TrainRequest::new(&data)
            .checkpoints(checkpoints.clone())
            .progress(&progress)
            .validation_sets(request.valid.clone())
            .metrics(request.metrics.clone());
        let interrupted = train(params(Newton::PerDocument), &request).unwrap();
        assert!(!interrupted.finished);
        assert_eq!(interrupted.history.iterations.len(), trees);
    }
    let request = request.checkpoints(checkpoints.clone());
    let resumed = train(params(Newton::PerDocument), &request).unwrap();
    assert!(resumed.finished);
    assert!(resumed.model.to_bytes() == uninterrupted.model.to_bytes());
    let metric_values = |result: &TrainResult| {
        result.history.iterations.iter().map(|i| i.values.clone()).collect::<Vec<_>>()
    };
    assert_eq!(metric_values(&resumed), metric_values(&uninterrupted));

    // Fewer trees than were saved: as if only those had been trained.
    let three_trees = params(Newton::PerDocument).trees(3);
    let from_nothing = train(three_trees.clone(), &TrainRequest::new(&data)).unwrap();
    let from_saved = train(three_trees, &request).unwrap();
    assert_eq!(from_saved.history.iterations.len(), 3);
    let trees = |result: &TrainResult| match result.model.body() {
        rankwright_model::ModelBody::Trees(ensemble) => ensemble.trees().to_vec(),
        _ => Vec::new(),
    };
    assert_eq!(trees(&from_saved), trees(&from_nothing));

    let other_seed = request.seed(2);
    let error = train(params(Newton::PerDocument), &other_seed).unwrap_err().to_string();
    assert!(error.contains("belongs to a training with other data"), "{error}");
}

#[test]
fn a_training_with_a_metric_without_a_value_can_be_resumed() {
    let data = data();
    let metric = MetricSpec::parse("ap(rel=99)").unwrap().resolve(SourceKind::Features).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::new(folder.path()).every_rounds(1);
    let progress = StopAtRound::new(2);
    let request = TrainRequest::new(&data)
        .metrics([metric])
        .evaluate_training(true)
        .checkpoints(checkpoints)
        .progress(&progress);
    assert!(!train(params(Newton::PerDocument), &request).unwrap().finished);
    let resumed =
        train(params(Newton::PerDocument), &request.progress(&rankwright_learn::NoProgress));
    assert!(resumed.unwrap().history.iterations[0].values[0][0].is_nan());
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let data = data();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("checkpoint.model"), "RANKWRIGHT MODEL 1\n{").unwrap();
    let request = TrainRequest::new(&data).checkpoints(Checkpoints::new(folder.path()));
    let error = train(params(Newton::PerDocument), &request).unwrap_err().to_string();
    assert!(error.contains("is damaged"), "{error}");
}
