//! Whole training runs: reproducible to the bit, and better than chance.

use rankwright_data::format::{ReadOptions, read};
use rankwright_data::generate::LetorOptions;
use rankwright_eval::{MetricSpec, ScoredDataset, SourceKind};
use rankwright_model::{Activation, ModelBody, ScoreOptions};

use super::super::export::{self, MovingStats};
use super::super::shape::HiddenNorm;
use super::*;
use crate::boost::tests::StopAtRound;
use crate::error::LearnError;
use crate::learner::LearnerSpec;
use crate::session::{Checkpoints, TrainRequest, TrainResult, ValidationSet};

fn letor(queries: usize, seed: u64) -> Dataset {
    LetorOptions { queries, documents: 25, seed }.generate().unwrap()
}

fn train(text: &str, request: TrainRequest<'_>) -> Result<TrainResult, LearnError> {
    LearnerSpec::parse(text).unwrap().train(request)
}

fn ndcg(result: &TrainResult, data: &Dataset) -> f64 {
    let scores = result.model.score(data, ScoreOptions::default()).unwrap();
    let measure = MetricSpec::parse("ndcg@10").unwrap().resolve(SourceKind::Features).unwrap();
    ScoredDataset::new(data, &scores).unwrap().evaluate(&[measure]).unwrap().results[0].value
}

/// Parameters of a short training with dropout and noise.
const RANDOMISED: &str = "layers=12/6, epochs=3, batch=5, dropout=0.2, noise=0.1";

/// The spec of a learner with the parameters [`RANDOMISED`] and more, whose text starts with a
/// comma.
fn randomised(learner: &str, more: &str) -> String {
    format!("{learner}({RANDOMISED}{more})")
}

#[test]
fn the_number_of_threads_does_not_change_the_model() {
    let data = letor(23, 1);
    let bytes = |text: &str, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| train(text, TrainRequest::new(&data)).unwrap().model.to_bytes())
    };
    let mut specs: Vec<String> = nets().map(|name| randomised(name, "")).collect();
    specs.push(randomised("listnet", ", norm=layer"));
    specs.push(randomised("ranknet", ", norm=batch, activation=gelu, optimiser=sgd"));
    specs.push(randomised("ranknet", ", factored=false"));
    specs.push("ranknet(layers=6, epochs=2, update=pair, dropout=0.2)".to_owned());
    for text in specs {
        let one = bytes(&text, 1);
        for threads in [3, 4] {
            assert!(one == bytes(&text, threads), "{text} on {threads} threads");
        }
    }
}

/// Of two documents in every query the first is better with this probability. The scores of a net
/// that learns it differ by the logit of the probability.
#[test]
fn nets_learn_soft_targets() {
    let queries = 40;
    let values = (0..queries).flat_map(|_| [1.0, 0.0]).collect();
    let labels = (0..queries).flat_map(|_| [1.0, 0.0]).collect();
    let plain = labelled_data(&vec![2; queries], 1, values, labels);
    for learner in ["ranknet", "lambdarank(metric=ndcg)"] {
        let difference = |probability: f64| {
            let line =
                |query: usize| format!("{query} {} {} {probability}\n", 2 * query, 2 * query + 1);
            let data =
                with_probabilities(plain.clone(), &(0..queries).map(line).collect::<String>());
            let spec = LearnerSpec::parse(learner).unwrap();
            let spec = ["layers=0", "transform=none", "epochs=300", "rate=0.05", "batch=40"]
                .into_iter()
                .filter_map(|text| text.split_once('='))
                .fold(spec, |spec, (key, value)| spec.with_parameter(key, value).unwrap());
            let model = spec.train(TrainRequest::new(&data)).unwrap().model;
            let scores = model.predict(&data).unwrap();
            scores[0] - scores[1]
        };
        for (probability, tolerance) in [(0.75_f64, 0.15), (0.5, 0.05), (0.2, 0.15)] {
            let logit = (probability / (1.0 - probability)).ln();
            let found = difference(probability);
            assert!((found - logit).abs() < tolerance, "{learner} {probability}: {found} {logit}");
        }
    }
}

/// With one pair in all, a step after each pair is a step after each query.
#[test]
fn update_pair_takes_a_step_after_each_pair_in_a_drawn_order() {
    let data = |rows: usize| {
        let values = (0..rows).map(|row| [row as f32, (row * row) as f32]);
        // The better document first, as in a pair: sums then have the same order.
        let labels = (0..rows).map(|row| (rows - row) as f64);
        let data = rankwright_data::Dataset::builder().rows(values).labels(labels);
        data.query_ids(vec!["q"; rows]).build().unwrap()
    };
    let body = |data: &rankwright_data::Dataset, more: &str| {
        let text = format!("ranknet(layers=3, epochs=4, noise=0, {more})");
        train(&text, TrainRequest::new(data)).unwrap().model.into_parts().1
    };
    let (one_pair, six_pairs) = (data(2), data(4));
    assert_eq!(body(&one_pair, "update=pair"), body(&one_pair, "batch=1"));
    assert_ne!(body(&six_pairs, "update=pair"), body(&six_pairs, "batch=1"));
    // The order of the pairs is drawn: another seed visits them in another order.
    let letor = letor(20, 1);
    let text = "ranknet(update=pair, layers=8, epochs=3)";
    let bytes =
        |seed: u64| train(text, TrainRequest::new(&letor).seed(seed)).unwrap().model.to_bytes();
    assert!(bytes(1) == bytes(1) && bytes(1) != bytes(2));
    let trained = train(text, TrainRequest::new(&letor)).unwrap();
    assert!(ndcg(&trained, &letor) > 0.7, "{}", ndcg(&trained, &letor));
}

#[test]
fn a_resumed_training_gives_the_same_model_as_an_uninterrupted_one() {
    let (data, valid) = (letor(20, 1), letor(10, 2));
    let request = || {
        let validation_set = ValidationSet::new("valid", &valid);
        TrainRequest::new(&data).validation_sets([validation_set])
    };
    for more in [", norm=batch, optimiser=adam", ", norm=layer, optimiser=sgd, stop=none", ""] {
        let text = randomised("lambdarank", more).replace("epochs=3", "epochs=6");
        let uninterrupted = train(&text, request()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = || Some(Checkpoints::new(folder.path()));
        for epochs in [1, 2, 5] {
            let progress = StopAtRound::new(epochs);
            let request = request().progress(&progress).checkpoints(checkpoints());
            let interrupted = train(&text, request).unwrap();
            assert!(!interrupted.finished && interrupted.history.iterations.len() == epochs);
        }
        let resumed = train(&text, request().checkpoints(checkpoints())).unwrap();
        assert!(resumed.finished, "{text}");
        assert!(resumed.model.to_bytes() == uninterrupted.model.to_bytes(), "{text}");
        assert_eq!(resumed.history.best, uninterrupted.history.best);
    }
}

#[test]
fn the_same_seed_gives_the_same_model_and_another_seed_another() {
    let data = letor(15, 1);
    let text = randomised("softmax", "");
    let model = |seed: u64| train(&text, TrainRequest::new(&data).seed(seed)).unwrap().model;
    assert!(model(1).to_bytes() == model(1).to_bytes());
    assert!(model(1).body() != model(2).body());
}

/// Every learner is much better than chance on unseen data, linear or not.
#[test]
fn every_learner_is_better_than_chance_on_unseen_data() {
    let (data, test) = (letor(120, 1), letor(60, 2));
    let mut random = Random::new(1, 1);
    let scores: Vec<f64> = (0..test.rows()).map(|_| random.unit()).collect();
    let measure = MetricSpec::parse("ndcg@10").unwrap().resolve(SourceKind::Features).unwrap();
    let by_chance =
        ScoredDataset::new(&test, &scores).unwrap().evaluate(&[measure]).unwrap().results[0].value;
    for name in nets() {
        for layers in ["0", "24/12"] {
            let text = format!("{name}(layers={layers}, epochs=12, rate=0.005)");
            let result = train(&text, TrainRequest::new(&data)).unwrap();
            let reached = ndcg(&result, &test);
            assert!(reached > by_chance + 0.12, "{text}: {reached}, by chance {by_chance}");
        }
    }
}

#[test]
fn the_reported_training_loss_falls() {
    let data = letor(40, 1);
    for name in ["ranknet", "listnet", "listmle", "softmax", "approxndcg"] {
        let text = format!("{name}(layers=16, epochs=8, noise=0)");
        let history =
            train(&text, TrainRequest::new(&data).evaluate_training(true)).unwrap().history;
        let losses: Vec<f64> = history.iterations.iter().map(|i| i.loss.unwrap()).collect();
        assert!(losses[7] < losses[0], "{name}: {losses:?}");
        assert_eq!((history.unit.as_str(), losses.len()), ("epoch", 8));
    }
}

#[test]
fn validation_data_chooses_the_epoch_and_stops_the_training() {
    let (data, valid) = (letor(20, 1), letor(10, 2));
    let request = || {
        let validation_set = ValidationSet::new("valid", &valid);
        TrainRequest::new(&data).validation_sets([validation_set])
    };
    let text = "lambdarank(layers=32, epochs=40, rate=0.05, schedule=constant, stop=3)";
    let result = train(text, request()).unwrap();
    let history = &result.history;
    let best = history.best.unwrap();
    assert!(history.iterations.len() == best + 3 && best < 37, "{best}");
    assert_eq!(ndcg(&result, &valid), history.iterations[best - 1].values[0][0]);
    let error = train(text, TrainRequest::new(&data)).unwrap_err().to_string();
    assert!(error.contains("needs validation data"), "{error}");
}

/// The model is exported after a single batch, so that the statistics of batch norm that are folded
/// into the model are those of the batch that is scored.
#[test]
fn an_exported_net_gives_the_scores_of_training() {
    let data = data(&[30, 200], 5, 8);
    for norm in [HiddenNorm::None, HiddenNorm::Layer, HiddenNorm::Batch] {
        for activation in [Activation::Relu, Activation::Gelu, Activation::Tanh] {
            let fixture =
                NetFixture::new("listnet", &data, NetShape::new(5, &[9, 4], norm, activation));
            let mut passes = PassBuffers::new(fixture.shape.clone());
            let mut lists = RowLists::default();
            lists.push(0, 0..230, None);
            let mut scores = Vec::new();
            fixture.with_input(|input, _| scores = passes.score(&lists, input));
            let mut moving_stats = MovingStats::default();
            moving_stats.add(&passes.stats);
            let transforms = rankwright_model::Transforms::identity(5);
            let body =
                export::model_body(&fixture.shape, &fixture.parameters, &moving_stats, &transforms)
                    .unwrap();
            let ModelBody::Net(net) = body else { panic!("no net") };
            for (row, score) in scores.iter().enumerate() {
                let found = net.score_row(data.matrix().row(row));
                assert!((found - score).abs() < 1e-4, "{norm:?} {activation:?}: {found} {score}");
            }
        }
    }
}

#[test]
fn every_learner_learns_beside_missing_and_constant_features() {
    let (sizes, rows) = ([20_usize; 6], 120);
    let mut random = Random::new(3, 3);
    let labels: Vec<f64> = (0..rows).map(|_| random.below(3) as f64).collect();
    let values = labels.iter().enumerate().flat_map(|(row, label)| {
        let sometimes_missing = if row % 3 == 0 { f32::NAN } else { *label as f32 };
        [sometimes_missing, 4.0, f32::NAN, *label as f32 + random.normal() as f32]
    });
    let data = labelled_data(&sizes, 4, values.collect(), labels);
    for name in nets() {
        let result =
            train(&format!("{name}(layers=8, epochs=20, rate=0.02)"), TrainRequest::new(&data));
        assert!(ndcg(&result.unwrap(), &data) > 0.8, "{name}");
    }
}

/// MQ2008, fold 1: every learner reaches an NDCG@10 of 0.60 on the test part, more than the best
/// single feature.
#[test]
fn every_learner_beats_single_features_on_mq2008() {
    let Some(root) = std::env::var_os("RANKWRIGHT_DATA").map(std::path::PathBuf::from) else {
        println!("skipped: RANKWRIGHT_DATA is not set");
        return;
    };
    let part = |numbers: &[usize]| {
        let files: Vec<_> =
            numbers.iter().map(|n| root.join("mq2008").join(format!("S{n}.txt"))).collect();
        read(&files, &ReadOptions::default()).unwrap().data
    };
    let (data, valid, test) = (part(&[1, 2, 3]), part(&[4]), part(&[5]));
    for name in nets() {
        let validation_set = ValidationSet::new("valid", &valid);
        let request = TrainRequest::new(&data).validation_sets([validation_set]);
        let result = train(name, request).unwrap();
        let reached = ndcg(&result, &test);
        println!("{name}: ndcg@10 {reached:.4} after {:?} epochs", result.history.best);
        assert!(reached > 0.60, "{name}: {reached}");
    }
}
