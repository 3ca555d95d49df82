//! Whole trainings with dropped trees (DART) and with queries sampled by their gradients (GOSS):
//! compared with reference implementations, for any number of threads, interrupted, stopped early
//! and with a start model.

use std::sync::atomic::{AtomicUsize, Ordering};

use rankwright_data::format::{ReadOptions, read};
use rankwright_data::generate::LetorOptions;
use rankwright_data::{Dataset, FeatureNames};
use rankwright_eval::{Measure, MetricSpec, SourceKind};
use rankwright_model::{
    Child, Ensemble, Header, Leaf, Linear, MatchBy, Model, ModelBody, PredictionKind, ScoreOptions,
    Side, Split, SplitCondition, Tree,
};

use super::dropout::Dropout;
use super::goss::Goss;
use super::queries::{AllDerivatives, QueryPass, TrainingQueries};
use super::*;
use crate::Stop;
use crate::error::LearnError;
use crate::learner::LearnerSpec;
use crate::objective::{LambdaConfig, Squared};
use crate::session::validation::values;
use crate::session::{Checkpoints, Progress, TrainRequest, TrainResult, TrainingHistory};
use crate::simd::Simd;
use crate::tree::TreeConfig;

/// Generated data of 25 documents per query.
fn data(queries: usize, seed: u64) -> Dataset {
    LetorOptions { queries, documents: 25, seed }.generate().unwrap()
}

fn ndcg() -> Measure {
    MetricSpec::parse("ndcg@10").unwrap().resolve(SourceKind::Features).unwrap()
}

/// Small trees, with a rate of 1/2, so that GOSS samples from the third tree on (the first 1/rate
/// trees use all queries).
fn default_config(trees: usize) -> BoostConfig {
    let tree = TreeConfig { leaves: 6, min_rows: 3, ..TreeConfig::default() };
    BoostConfig { trees, tree, rate: 0.5, ..BoostConfig::default() }
}

/// The default configuration with dropped trees.
fn dart(trees: usize) -> BoostConfig {
    let dropout = Some(Dropout { probability: 0.4, skip: 0.3, ..Dropout::default() });
    BoostConfig { dropout, ..default_config(trees) }
}

/// The default configuration with queries sampled by their gradients.
fn goss(trees: usize) -> BoostConfig {
    BoostConfig { goss: Some(Goss { top: 0.3, rest: 0.2 }), ..default_config(trees) }
}

/// Trains on the lambdas of NDCG@10.
fn train(params: &BoostConfig, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
    let mut lambda = LambdaConfig::for_metric(MetricSpec::parse("ndcg@10").unwrap());
    lambda.simd = request.simd;
    BoostEngine::new(params.clone()).train(&mut lambda.check()?, request)
}

/// The model trained on squared error.
fn train_squared(params: &BoostConfig, request: &TrainRequest<'_>) -> Model {
    BoostEngine::new(params.clone()).train(&mut Squared, request).unwrap().model
}

/// The ensemble of a tree model.
fn ensemble(model: &Model) -> &Ensemble {
    match model.body() {
        ModelBody::Trees(ensemble) => ensemble,
        _ => panic!("no trees"),
    }
}

fn trees(model: &Model) -> &[Tree] {
    ensemble(model).trees()
}

/// A tree with its leaf values multiplied by a factor.
fn scaled(tree: &Tree, factor: f64) -> Tree {
    let leaves = tree.leaves().iter().map(|leaf| Leaf { value: leaf.value * factor, ..*leaf });
    Tree::new(tree.splits().to_vec(), leaves.collect()).unwrap()
}

/// Whether two trees have the same splits and nearly the same leaf values.
fn nearly_equal(a: &Tree, b: &Tree) -> bool {
    let near = |(a, b): (&Leaf, &Leaf)| (a.value - b.value).abs() <= 1e-6 * b.value.abs() + 1e-7;
    let same_splits =
        a.splits().iter().zip(b.splits()).all(|(a, b)| {
            (a.feature, a.rule, a.left, a.right) == (b.feature, b.rule, b.left, b.right)
        });
    let same_count = a.leaves().len() == b.leaves().len();
    same_splits && same_count && a.leaves().iter().zip(b.leaves()).all(near)
}

/// The paper's loop, each round from scratch: a tree is fitted to the ensemble without the dropped
/// trees, and then the new tree and the dropped ones are scaled.
#[test]
fn dropout_equals_the_loop_of_the_paper() {
    let train_on = data(20, 3);
    for scale in [DropScale::Tree, DropScale::Forest] {
        let dropout = Dropout { probability: 0.4, skip: 0.3, max_dropped: 3, scale };
        let params = BoostConfig { dropout: Some(dropout), ..default_config(12) };
        let found = train_squared(&params, &TrainRequest::new(&train_on));
        let base = ensemble(&found).base();
        let mut reference: Vec<Tree> = Vec::new();
        for round in 0..12 {
            // 1 is the default seed of a request.
            let dropped = dropout.dropped(1, round, round);
            let kept = reference.iter().enumerate().filter(|(tree, _)| !dropped.contains(tree));
            let kept = Ensemble::new(base, kept.map(|(_, tree)| tree.clone()).collect()).unwrap();
            let start = Model::new(found.header().clone(), ModelBody::Trees(kept)).unwrap();
            let request = TrainRequest::new(&train_on).start(&start);
            let with_new_tree = train_squared(&default_config(1), &request);
            let (dropped_factor, new_factor) = dropout.factors(dropped.len(), params.rate);
            for tree in dropped {
                reference[tree] = scaled(&reference[tree], dropped_factor);
            }
            reference.push(scaled(trees(&with_new_tree).last().unwrap(), new_factor));
        }
        for (number, (found, expected)) in trees(&found).iter().zip(&reference).enumerate() {
            assert!(
                nearly_equal(found, expected),
                "{scale:?}, tree {number}: {found:?} {expected:?}"
            );
        }
    }
}

#[test]
fn a_multiplicity_has_the_effect_of_a_query_weight() {
    let dataset = data(24, 5);
    let goss = Goss { top: 0.25, rest: 0.25 };
    // At a rate above 1, GOSS samples from the first tree on.
    for newton in [Newton::PerDocument, Newton::CrossLeaf, Newton::Joint] {
        let mut params = BoostConfig { rate: 2.0, newton, goss: Some(goss), ..default_config(1) };
        // Rows of weight 0 are still counted as rows.
        params.tree.min_rows = 1;
        let found = train(&params, &TrainRequest::new(&dataset)).unwrap().model;
        let lambda = LambdaConfig::for_metric(MetricSpec::parse("ndcg@10").unwrap());
        let lambda = lambda.check().unwrap();
        let mut queries = TrainingQueries::new(&dataset, &lambda);
        let (zeros, zeros_f32) = (vec![0.0; dataset.rows()], vec![0.0; dataset.rows()]);
        let mut all = AllDerivatives { gradient: zeros_f32.clone(), hessian: zeros_f32 };
        // The objective's seed for the first tree, as boosting computes it from the default seed 1.
        let seed = 1_u64.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let pass = QueryPass { objective: &lambda, scores: &zeros, seed, multiplicities: None };
        queries.derivatives(pass, &mut all).unwrap();
        let multiplicities = goss.multiplicities(&queries.gradient_sums(&all), 1, 0);
        // 6 of the 18 queries that are not kept are sampled: each counts three times.
        assert_eq!(multiplicities.iter().filter(|multiplicity| **multiplicity == 3.0).count(), 6);

        let weighted = with_query_weights(&dataset, &multiplicities);
        let without_goss = BoostConfig { goss: None, ..params };
        let reference = train(&without_goss, &TrainRequest::new(&weighted)).unwrap().model;
        for (query, _) in
            multiplicities.iter().enumerate().filter(|(_, multiplicity)| **multiplicity > 0.0)
        {
            for row in dataset.query_rows(query) {
                let row = dataset.matrix().row(row);
                let (score, expected) = (found.score_row(row), reference.score_row(row));
                let error = (score - expected).abs();
                assert!(error <= 1e-6 * expected.abs(), "{newton:?}: {score} {expected}");
            }
        }
    }
}

/// The data with a weight for each query.
fn with_query_weights(data: &Dataset, weights: &[f32]) -> Dataset {
    let queries = data.query_of_rows();
    let weighted = Dataset::builder()
        .matrix(data.matrix().clone())
        .labels(data.labels())
        .query_ids(&queries)
        .query_weights(queries.iter().map(|query| weights[*query as usize]));
    weighted.build().unwrap()
}

#[test]
fn goss_that_keeps_all_queries_equals_training_without_goss() {
    let dataset = data(20, 5);
    let all = BoostConfig { goss: Some(Goss { top: 0.5, rest: 0.5 }), ..default_config(5) };
    let request = TrainRequest::new(&dataset);
    let model_bytes = |params: &BoostConfig| train(params, &request).unwrap().model.to_bytes();
    assert!(model_bytes(&all) == model_bytes(&default_config(5)));
    let sampled = train(&goss(5), &request).unwrap().model;
    let rows_of = |tree: &Tree| tree.leaves().iter().map(|leaf| leaf.rows).sum::<u64>();
    let rows: Vec<u64> = trees(&sampled).iter().map(rows_of).collect();
    let all = dataset.rows() as u64;
    assert_eq!(rows[..2], [all, all], "the first 1/rate trees use all queries");
    // Each later tree uses three of ten queries, those with the largest gradients, and two sampled
    // from the others: about half of the rows.
    assert!(rows[2..].iter().all(|rows| (all / 4..all * 3 / 4).contains(rows)), "{rows:?}");
}

/// Configurations that combine the options of boosting.
fn combined_configs() -> Vec<BoostConfig> {
    let forest = Dropout { scale: DropScale::Forest, probability: 0.6, skip: 0.0, max_dropped: 2 };
    vec![
        BoostConfig { sample_queries: 0.7, sample_features: 0.7, ..dart(9) },
        BoostConfig { newton: Newton::Joint, dropout: Some(forest), ..goss(9) },
        BoostConfig { newton: Newton::CrossLeaf, line_search: true, ..goss(6) },
        BoostConfig { dropout: dart(1).dropout, ..goss(9) },
    ]
}

#[test]
fn threads_and_simd_do_not_change_the_model() {
    let dataset = data(30, 11);
    for params in combined_configs() {
        let model_bytes = |threads: usize, simd: Simd| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let request = TrainRequest::new(&dataset).simd(simd);
            pool.install(|| train(&params, &request).unwrap().model.to_bytes())
        };
        let expected = model_bytes(1, Simd::Auto);
        for threads in [2, 3, 8] {
            assert!(model_bytes(threads, Simd::Auto) == expected, "{threads} threads: {params:?}");
        }
        assert!(model_bytes(2, Simd::Portable) == expected, "portable code: {params:?}");
    }
}

/// Cancels a training when its history has a number of rounds, those before a resumption included.
pub(crate) struct StopAtRound {
    rounds: usize,
    finished: AtomicUsize,
}

impl StopAtRound {
    pub(crate) fn new(rounds: usize) -> Self {
        Self { rounds, finished: AtomicUsize::new(0) }
    }
}

impl Progress for StopAtRound {
    fn round_finished(&self, history: &TrainingHistory) {
        self.finished.store(history.iterations.len(), Ordering::Relaxed);
    }

    fn should_stop(&self) -> bool {
        self.finished.load(Ordering::Relaxed) >= self.rounds
    }
}

#[test]
fn a_resumed_training_gives_the_same_bytes() {
    let (dataset, valid) = (data(30, 11), data(10, 12));
    let start = train(&default_config(3), &TrainRequest::new(&data(12, 13))).unwrap().model;
    for (number, params) in combined_configs().into_iter().enumerate() {
        // All rounds are kept, so that a model can be compared with its checkpoint.
        let params = BoostConfig { stop: Stop::None, ..params };
        let request = || {
            TrainRequest::new(&dataset)
                .validation(&valid)
                .metrics([ndcg()])
                .evaluate_training(true)
                // Every second configuration has a start model.
                .start(Some(&start).filter(|_| number % 2 == 1))
        };
        let uninterrupted = train(&params, &request()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::new(folder.path()).every_rounds(1);
        let checkpoints = || Some(checkpoints.clone());
        for count in [1, 2, 4, 5] {
            let progress = StopAtRound::new(count);
            let request = request().checkpoints(checkpoints()).progress(&progress);
            let interrupted = train(&params, &request).unwrap();
            let rounds = interrupted.history.iterations.len();
            assert_eq!((interrupted.finished, rounds), (false, count));
            // The checkpoint is the model of the interrupted training, with its weights then.
            let file = Model::load(checkpoints().unwrap().file()).unwrap();
            assert_eq!(trees(&file), trees(&interrupted.model));
        }
        let resumed = train(&params, &request().checkpoints(checkpoints())).unwrap();
        assert!(resumed.model.to_bytes() == uninterrupted.model.to_bytes(), "{params:?}");
        let expected = uninterrupted.history.iterations.iter();
        for (resumed, expected) in resumed.history.iterations.iter().zip(expected) {
            assert_eq!((&resumed.values, resumed.loss), (&expected.values, expected.loss));
        }
        // A request for fewer trees than the checkpoint has gives the model of a training with that
        // number of trees.
        let fewer = BoostConfig { trees: 3, ..params.clone() };
        let without_checkpoint = train(&fewer, &request()).unwrap().model.to_bytes();
        let from_checkpoint = train(&fewer, &request().checkpoints(checkpoints())).unwrap();
        assert!(from_checkpoint.model.to_bytes() == without_checkpoint, "{params:?}");
    }
}

#[test]
fn a_checkpoint_without_its_leaf_values_is_rejected() {
    let dataset = data(10, 11);
    let folder = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::new(folder.path()).every_rounds(1);
    let request = || TrainRequest::new(&dataset).checkpoints(checkpoints.clone());
    train(&dart(4), &request()).unwrap();
    let (mut header, body) = Model::load(checkpoints.file()).unwrap().into_parts();
    let note = header.notes.get_mut("checkpoint").unwrap();
    // The learner's state, the last entry of the note, is cut off after some characters.
    let key = "\"learner\":\"";
    let state_start = note.find(key).unwrap() + key.len();
    for kept in [0, 8, 16, 48] {
        let mut header = header.clone();
        let note = header.notes.get_mut("checkpoint").unwrap();
        note.truncate(state_start + kept);
        note.push_str("\"}");
        Model::new(header, body.clone()).unwrap().save(checkpoints.file()).unwrap();
        let error = train(&dart(4), &request()).unwrap_err().to_string();
        assert!(error.contains("do not fit its trees"), "{error}");
    }
}

#[test]
fn the_model_of_the_best_round_is_the_ensemble_after_that_round() {
    let (dataset, valid) = (data(30, 1), data(25, 2));
    let request = TrainRequest::new(&dataset).validation(&valid).metrics([ndcg()]);
    let stopped = train(&BoostConfig { stop: Stop::After(4), ..dart(60) }, &request).unwrap();
    let best = stopped.history.best.unwrap();
    assert_eq!(stopped.history.iterations.len(), best + 4);
    let dart = |trees| BoostConfig { stop: Stop::None, ..dart(trees) };
    let only = train(&dart(best), &request).unwrap();
    assert!(stopped.model.to_bytes() == only.model.to_bytes());
    let more = train(&dart(best + 4), &request).unwrap();
    assert_ne!(trees(&more.model)[..best], *trees(&only.model), "later rounds change trees");
    // The values recorded in each round equal those of the models of that many rounds.
    for (number, iteration) in more.history.iterations.iter().enumerate() {
        let model = train(&dart(number + 1), &request).unwrap().model;
        let scores = model.score(&valid, ScoreOptions::default()).unwrap();
        assert_eq!(values(&valid, &scores, &[ndcg()]).unwrap(), iteration.values[0]);
    }
}

#[test]
fn trees_of_a_start_model_are_never_dropped() {
    let dataset = data(20, 4);
    let start = train(&default_config(4), &TrainRequest::new(&dataset)).unwrap().model;
    let all = Dropout { probability: 1.0, skip: 0.0, max_dropped: 0, scale: DropScale::Tree };
    let params = BoostConfig { dropout: Some(all), ..default_config(6) };
    let model = train(&params, &TrainRequest::new(&dataset).start(&start)).unwrap().model;
    assert_eq!(trees(&model)[..4], *trees(&start));
    assert_eq!(trees(&model).len(), 10);
}

/// A start model of every kind but trees: linear, a net, and blends with and without normalisation.
fn non_tree_start_models(dataset: &Dataset) -> Vec<Model> {
    [
        "linear-regression",
        "ranknet(epochs=2, layers=4)",
        "blend(members=linear-regression+tree(leaves=4), weights=equal, normalise=none)",
        "blend(members=linear-regression+tree(leaves=4), weights=equal, normalise=rank)",
    ]
    .map(|spec| LearnerSpec::parse(spec).unwrap().train(TrainRequest::new(dataset)).unwrap().model)
    .into()
}

#[test]
fn a_start_model_of_any_kind_is_where_boosting_begins() {
    let (dataset, valid) = (data(20, 4), data(10, 5));
    for start in non_tree_start_models(&dataset) {
        let kind = start.body().name();
        let request =
            TrainRequest::new(&dataset).validation(&valid).metrics([ndcg()]).start(&start);
        let params = BoostConfig { stop: Stop::None, ..default_config(6) };
        let found = train(&params, &request).unwrap();
        // The model scores as the start model plus its trees, and the history says the same.
        let ModelBody::Blend(blend) = found.model.body() else { panic!("{kind}: no sum") };
        let added = &blend.members().last().unwrap().1;
        assert_eq!(trees(added).len(), 6);
        let options = ScoreOptions::default();
        let [sum, start_scores, tree_scores] =
            [&found.model, &start, added].map(|model| model.score(&valid, options).unwrap());
        for ((sum, start), trees) in sum.iter().zip(start_scores).zip(tree_scores) {
            assert!((sum - start - trees).abs() < 1e-12, "{kind}: {sum} {start} {trees}");
        }
        let last = found.history.iterations.last().unwrap();
        assert_eq!(values(&valid, &sum, &[ndcg()]).unwrap(), last.values[0]);
        // The model is the same after being saved. Its first tree is grown from the derivatives at
        // the start model's scores: without a start model the first tree is another one.
        assert_eq!(Model::from_bytes(&found.model.to_bytes()).unwrap(), found.model);
        let without = train(&params, &TrainRequest::new(&dataset)).unwrap().model;
        assert_ne!(trees(added)[0], trees(&without)[0], "{kind}");
    }
}

#[test]
fn a_training_with_a_start_model_of_any_kind_resumes_to_the_same_bytes() {
    let (dataset, valid) = (data(20, 4), data(10, 5));
    for start in non_tree_start_models(&dataset) {
        for params in [default_config(6), dart(6), goss(6)] {
            let params = BoostConfig { stop: Stop::None, ..params };
            let request =
                || TrainRequest::new(&dataset).validation(&valid).metrics([ndcg()]).start(&start);
            let uninterrupted = train(&params, &request()).unwrap().model.to_bytes();
            let folder = tempfile::tempdir().unwrap();
            let checkpoints = || Some(Checkpoints::new(folder.path()).every_rounds(1));
            for count in [2, 4] {
                let progress = StopAtRound::new(count);
                let request = request().checkpoints(checkpoints()).progress(&progress);
                assert!(!train(&params, &request).unwrap().finished);
            }
            let resumed = train(&params, &request().checkpoints(checkpoints())).unwrap();
            assert!(resumed.model.to_bytes() == uninterrupted, "{params:?}");
        }
    }
}

#[test]
fn a_start_model_can_be_matched_by_position() {
    let dataset = data(12, 4);
    let columns = dataset.columns();
    let names = FeatureNames::Named((0..columns).map(|column| format!("f{column}")).collect());
    for start in non_tree_start_models(&dataset) {
        let request = TrainRequest::new(&dataset).start(&start);
        let expected = train(&default_config(3), &request).unwrap().model;
        let renamed = start.clone().renamed_by_position(&names).unwrap();
        let refused = train(&default_config(3), &TrainRequest::new(&dataset).start(&renamed));
        assert!(refused.unwrap_err().to_string().contains("names"));
        let mut options = ScoreOptions::default();
        options.matching = options.matching.by(MatchBy::Position);
        let request = TrainRequest::new(&dataset).start(&renamed).features(options);
        let found = train(&default_config(3), &request).unwrap().model;
        let [found, expected] = [found, expected].map(|model| model.predict(&dataset).unwrap());
        assert_eq!(found, expected);
    }
}

/// Start models whose probability of relevance is 3/4 for a value of 1 and 1/4 for a value of -1, and
/// the scores of the log-loss that have these probabilities.
fn models_of_probabilities(data: &Dataset) -> Vec<(&'static str, Model)> {
    let log_odds = 3f64.ln();
    let header = |objective: &str, notes: &[(&str, &str)]| {
        let mut header = Header::new(data.features().clone(), data.absent());
        header.objective = objective.to_owned();
        header.notes = notes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        header
    };
    let linear = |bias, weight| ModelBody::Linear(Linear::new(bias, vec![weight]).unwrap());
    let split = Split {
        feature: 0,
        rule: SplitCondition::AtMost(0.0),
        missing: Side::Left,
        left: Child::Leaf(0),
        right: Child::Leaf(1),
        gain: 1.0,
        rows: 8,
    };
    let tree = |size: f64| {
        let leaf = |value| Leaf { value, rows: 4 };
        let tree = Tree::new(vec![split], vec![leaf(-size), leaf(size)]).unwrap();
        ModelBody::Trees(Ensemble::new(0.0, vec![tree]).unwrap())
    };
    let lightgbm = [("from", "lightgbm"), ("objective", "binary sigmoid:2")];
    let ordinal = [("grades", "0/1"), ("thresholds", "5")];
    [
        ("logistic", header("logistic", &[]), linear(0.0, log_odds)),
        ("logloss", header("logloss", &[]), tree(0.5 * log_odds)),
        ("lightgbm", header("", &lightgbm), tree(0.5 * log_odds)),
        (
            "xgboost",
            header("", &[("from", "xgboost"), ("objective", "binary:logistic")]),
            tree(log_odds),
        ),
        ("ordinal", header("ordinal", &ordinal), linear(5.0, log_odds)),
    ]
    .map(|(name, header, body)| (name, Model::new(header, body).unwrap()))
    .into()
}

/// Three of the four documents with the value 1 are relevant, and one of those with -1: a start model
/// that says so has no gradient left, so that the trees that are added are 0.
#[test]
fn boosting_on_probabilities_begins_at_the_probabilities_of_the_start_model() {
    let rows = [1.0, 1.0, 1.0, 0.0].map(|label| ("a", label, &[1.0][..]));
    let others = [1.0, 0.0, 0.0, 0.0].map(|label| ("b", label, &[-1.0][..]));
    let data = crate::ensemble::test_support::rows(&[rows, others].concat());
    let exact: Vec<f64> = [0.75; 4].into_iter().chain([0.25; 4]).collect();
    for (name, start) in models_of_probabilities(&data) {
        for loss in ["logloss", "ordinal"] {
            let learner = format!("mart(loss={loss}, trees=2, min_rows=1, min_hessian=0, l2=0)");
            let learner = LearnerSpec::parse(&learner).unwrap();
            let model = learner.train(TrainRequest::new(&data).start(&start)).unwrap().model;
            let model = Model::from_bytes(&model.to_bytes()).unwrap();
            let scores = model.predict(&data).unwrap();
            let found = model.predictions(&scores, PredictionKind::Probability, None).unwrap();
            for (found, exact) in found.iter().zip(&exact) {
                assert!((found - exact).abs() < 1e-4, "{name}, {loss}: {found} {exact}");
            }
        }
        // Other losses take the scores as they are.
        let learner = LearnerSpec::parse("lambdamart(trees=1, min_rows=9)").unwrap();
        let model = learner.train(TrainRequest::new(&data).start(&start)).unwrap().model;
        let [found, exact] = [&model, &start].map(|model| model.predict(&data).unwrap());
        for (found, exact) in found.iter().zip(exact) {
            assert!((found - exact).abs() < 1e-6, "{name}: {found} {exact}");
        }
    }
}

#[test]
fn a_checkpoint_of_other_columns_of_labels_is_refused() {
    let plain = data(4, 4);
    let clicks: Vec<f64> = plain.labels().iter().map(|label| 4.0 - label).collect();
    let with = |clicks: Vec<f64>| {
        let sales = clicks.iter().map(|label| label + 1.0).collect();
        let data = plain.clone().with_label_column("clicks", clicks).unwrap();
        data.with_label_column("sales", sales).unwrap()
    };
    let (data, other) = (with(clicks), with(plain.labels().to_vec()));
    for learner in ["lambdamart(trees=3", "ranknet(epochs=3, layers=2"] {
        let folder = tempfile::tempdir().unwrap();
        let train = |data: &Dataset, labels: &str| {
            let learner = LearnerSpec::parse(&format!("{learner}, labels={labels})")).unwrap();
            let checkpoints = Some(Checkpoints::new(folder.path()).every_rounds(1));
            learner.train(TrainRequest::new(data).checkpoints(checkpoints))
        };
        let first = train(&data, "clicks:1").unwrap().model;
        assert_eq!(train(&data, "clicks:1").unwrap().model, first);
        let refused = [
            train(&data, "sales:1"),
            train(&data, "clicks:1+sales:1"),
            train(&data, "label:1"),
            train(&other, "clicks:1"),
        ];
        for (number, result) in refused.into_iter().enumerate() {
            let error = result.unwrap_err().to_string();
            assert!(error.contains("belongs to a training with other"), "{number}: {error}");
        }
    }
}

#[test]
fn leaves_far_larger_than_those_of_the_first_tree_are_an_error_and_zeros_are_not() {
    let dataset = data(6, 4);
    // Equal labels: all leaves are 0, and there is no unit.
    let equal_labels =
        crate::ensemble::test_support::rows(&[("a", 0.0, &[1.0]), ("a", 0.0, &[2.0])]);
    let model = train(&dart(5), &TrainRequest::new(&equal_labels)).unwrap().model;
    assert!(trees(&model).iter().flat_map(Tree::leaves).all(|leaf| leaf.value == 0.0));
    // A rate above 2 diverges under squared error.
    let dropout = Some(Dropout { skip: 0.95, ..Dropout::default() });
    let diverging = BoostConfig { rate: 50.0, dropout, ..default_config(60) };
    let request = TrainRequest::new(&dataset);
    let error = BoostEngine::new(diverging).train(&mut Squared, &request).unwrap_err();
    assert!(error.to_string().contains("leaf values have grown"), "{error}");
    assert!(error.help().unwrap().contains("lower the learning rate"));
}

#[test]
fn on_real_data_the_options_rank_about_as_well_as_boosting_without_them() {
    let Some(root) = std::env::var_os("RANKWRIGHT_DATA").map(std::path::PathBuf::from) else {
        println!("skipped: RANKWRIGHT_DATA is not set");
        return;
    };
    let fold_parts = |numbers: &[usize]| {
        let files: Vec<_> =
            numbers.iter().map(|n| root.join("mq2008").join(format!("S{n}.txt"))).collect();
        read(&files, &ReadOptions::default()).unwrap().data
    };
    let (train_on, test_on) = (fold_parts(&[1, 2, 3]), fold_parts(&[5]));
    let ndcg_with = |options: &str| {
        let text = format!("lambdamart(trees=100, leaves=15, rate=0.1{options})");
        let model =
            crate::LearnerSpec::parse(&text).unwrap().train(TrainRequest::new(&train_on)).unwrap();
        let scores = model.model.score(&test_on, ScoreOptions::default()).unwrap();
        values(&test_on, &scores, &[ndcg()]).unwrap()[0]
    };
    let without_options = ndcg_with("");
    for options in [", drop_trees=0.1", ", drop_trees=0.1, drop_scale=forest", ", goss_top=0.2"] {
        let found = ndcg_with(options);
        println!("{options}: {found:.4}, without options {without_options:.4}");
        assert!(
            found > without_options - 0.03,
            "{options}: {found}, without options {without_options}"
        );
    }
}
