//! Lambda and YetiLoss objectives in whole trainings: the same bytes on any number of threads, with
//! portable code and after an interruption, on data with many equal scores and on real data.

use std::path::Path;

use rankwright_data::format::{ReadOptions, read};
use rankwright_data::{Dataset, Random};
use rankwright_learn::simd::Simd;
use rankwright_learn::{Checkpoints, LearnerSpec, TrainRequest, ValidationSet};

use crate::stop_at_round::StopAtRound;

/// The beginnings of the specs of learners, to which trees, leaves and the closing bracket are
/// added.
const LEARNERS: &[&str] = &[
    "yetirank(",
    "yetirank(metric=ndcg, samples=1, noise=0.2",
    "yetirank(metric=dcg@5, samples=3, newton=cross-leaf",
    "yetirank(metric=ap, newton=joint, sample_queries=0.7",
    "yetirank(metric=rr, samples=30, noise=3, goss_top=0.3, rate=0.5",
    "yetirank(metric=err@10, drop_trees=0.4, drop_skip=0",
    "yetirank(metric=rbp, growth=oblivious, depth=3",
    "yetirank(metric=p@5, sample_features=0.5",
    "yetirank(metric=recall@3",
    "yetirank(metric=success@2",
    "lambdamart(weight=loss2",
    "lambdamart(weight=loss2, metric=ndcg, norm_gap=false, norm_query=false, newton=cross-leaf",
    "lambdamart(weight=loss2++",
    "lambdamart(weight=loss2++, mu=2, metric=dcg@5, cut=hard, newton=joint",
    "lambdamart(weight=gap, metric=p@5",
    "lambdamart(weight=gap, metric=p@3, truncation=8, sample_queries=0.6",
    "lambdamart(pairs=coherent, metric=ndcg@3",
    "lambdamart(pairs=coherent, metric=ap@2, newton=joint",
    "lambdamart(pairs=coherent, metric=err@5, truncation=2, drop_trees=0.4, drop_skip=0",
    "lambdamart(pairs=coherent, weight=loss2, metric=ndcg@2, growth=oblivious, depth=3",
    "lambdamart(pairs=coherent, weight=loss2++, metric=ndcg@2, goss_top=0.3, rate=0.5",
    "lambdamart(pairs=coherent, weight=gap, metric=p@2, truncation=4, newton=cross-leaf",
];

/// The learner of a spec that begins with `start`.
fn learner(start: &str, trees: usize) -> LearnerSpec {
    let comma = if start.ends_with('(') { "" } else { ", " };
    let text = format!("{start}{comma}trees={trees}, leaves=9, min_rows=4)");
    LearnerSpec::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Three features of four values each, so that many documents of a query are identical and
/// always have equal scores; queries of 1 to 60 documents, some of one label.
fn data_with_equal_scores() -> Dataset {
    let mut random = Random::new(8, 0);
    let (mut values, mut labels, mut queries) = (Vec::new(), Vec::new(), Vec::new());
    for query in 0..40 {
        let (size, one_label) = (1 + random.below(60), random.below(8) == 0);
        for _ in 0..size {
            let row = [0; 3].map(|_| random.below(4) as f32);
            let relevance = f64::from(row[0]) + 0.7 * f64::from(row[1]) + random.normal();
            values.extend(row);
            labels.push(if one_label { 1.0 } else { (relevance - 1.0).floor().clamp(0.0, 4.0) });
            queries.push(format!("q{query}"));
        }
    }
    Dataset::from_dense(values, 3, labels, queries).unwrap()
}

/// Bytes of the model, trained on this number of threads; metrics of the validation data are
/// computed.
fn bytes(
    learner: &LearnerSpec,
    valid: &Dataset,
    threads: usize,
    request: TrainRequest<'_>,
) -> Vec<u8> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let valid = vec![ValidationSet::new("valid", valid)];
    pool.install(|| learner.train(request.validation_sets(valid)).unwrap().model.to_bytes())
}

/// Checks that the model has the same bytes on one and on other numbers of threads, with portable
/// code and after two interruptions.
fn check_bytes(start: &str, data: &Dataset, valid: &Dataset, trees: usize, all_threads: &[usize]) {
    let learner = learner(start, trees);
    let one_thread = bytes(&learner, valid, 1, TrainRequest::new(data));
    for &threads in all_threads {
        let other = bytes(&learner, valid, threads, TrainRequest::new(data));
        assert!(other == one_thread, "{learner}: {threads} threads");
    }
    let portable = TrainRequest::new(data).simd(Simd::Portable);
    assert!(bytes(&learner, valid, 2, portable) == one_thread, "{learner}: portable code");
    let folder = tempfile::tempdir().unwrap();
    let checkpoints = || Some(Checkpoints::new(folder.path()).every_rounds(1));
    for (trees, threads) in [(1, 3), (trees - 2, 1)] {
        let progress = StopAtRound::new(trees);
        let request = TrainRequest::new(data).progress(&progress).checkpoints(checkpoints());
        bytes(&learner, valid, threads, request);
        assert_eq!(progress.rounds_done(), trees, "{learner}");
    }
    let resumed = TrainRequest::new(data).checkpoints(checkpoints());
    assert!(bytes(&learner, valid, 2, resumed) == one_thread, "{learner}: two interruptions");
    let other_seed = bytes(&learner, valid, 2, TrainRequest::new(data).seed(77));
    assert!(other_seed != one_thread, "{learner}: the seed is in the header");
}

#[test]
fn threads_instruction_sets_and_interruptions_do_not_change_a_byte_where_scores_are_equal() {
    let data = data_with_equal_scores();
    for start in LEARNERS {
        check_bytes(start, &data, &data, 5, &[2, 3, 8]);
    }
}

#[test]
fn threads_instruction_sets_and_interruptions_do_not_change_a_byte_on_real_data() {
    let Some(root) = std::env::var_os("RANKWRIGHT_DATA") else {
        println!("skipped: RANKWRIGHT_DATA is not set");
        return;
    };
    let part = |numbers: &[u32]| {
        let path = |n: &u32| Path::new(&root).join("mq2008").join(format!("S{n}.txt"));
        let files: Vec<_> = numbers.iter().map(path).collect();
        read(&files, &ReadOptions::default()).unwrap().data
    };
    let (data, valid) = (part(&[1, 2, 3]), part(&[4]));
    for start in LEARNERS {
        check_bytes(start, &data, &valid, 4, &[2, 3, 8]);
    }
}

#[test]
fn models_of_different_weights_and_pairs_differ() {
    let data = data_with_equal_scores();
    let mut all_scores: Vec<Vec<u8>> = Vec::new();
    for start in [
        "lambdamart(metric=ndcg@3",
        "lambdamart(metric=ndcg@3, weight=loss2",
        "lambdamart(metric=ndcg@3, weight=loss2++",
        "lambdamart(metric=ndcg@3, weight=loss2++, mu=1",
        "lambdamart(metric=ndcg@3, pairs=coherent",
        "lambdamart(metric=p@3",
        "lambdamart(metric=p@3, weight=gap",
        "yetirank(metric=ndcg@3",
        "yetirank(metric=ndcg@3, noise=0.3",
        "yetirank(metric=ap",
    ] {
        let model = learner(start, 3).train(TrainRequest::new(&data)).unwrap().model;
        let scores = model.score(&data, Default::default()).unwrap();
        let scores: Vec<u8> = scores.iter().flat_map(|score| score.to_le_bytes()).collect();
        assert!(!all_scores.contains(&scores), "{start} gives the scores of another learner");
        all_scores.push(scores);
    }
}
