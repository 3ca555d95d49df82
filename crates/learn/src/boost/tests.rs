//! Dropped trees and GOSS samples in whole trainings: compared with reference implementations, for
//! any number of threads, interrupted, stopped early and with a start model.

use std::sync::atomic::{AtomicUsize, Ordering};

use rankwright_data::Dataset;
use rankwright_data::format::{ReadOptions, read};
use rankwright_data::generate::LetorOptions;
use rankwright_eval::{Measure, MetricSpec, SourceKind};
use rankwright_model::{Ensemble, Leaf, Model, ModelBody, ScoreOptions, Tree};

use super::dropout::Dropout;
use super::goss::Goss;
use super::queries::{AllDerivatives, Pass, TrainingQueries};
use super::*;
use crate::Stop;
use crate::error::LearnError;
use crate::objective::{LambdaConfig, Squared};
use crate::session::validation::values;
use crate::session::{Checkpoints, Progress, TrainRequest, TrainResult, TrainingHistory};
use crate::simd::Simd;
use crate::tree::TreeConfig;

fn data(queries: usize, seed: u64) -> Dataset {
    LetorOptions { queries, documents: 25, seed }.generate().unwrap()
}

fn ndcg() -> Measure {
    MetricSpec::parse("ndcg@10").unwrap().resolve(SourceKind::Features).unwrap()
}

/// Small trees, with a rate so high that sampling begins with the third tree.
fn plain(trees: usize) -> BoostConfig {
    let tree = TreeConfig { leaves: 6, min_rows: 3, ..TreeConfig::default() };
    BoostConfig { trees, tree, rate: 0.5, ..BoostConfig::default() }
}

fn dart(trees: usize) -> BoostConfig {
    let dropout = Some(Dropout { share: 0.4, skip: 0.3, ..Dropout::default() });
    BoostConfig { dropout, ..plain(trees) }
}

fn goss(trees: usize) -> BoostConfig {
    BoostConfig { one_side: Some(Goss { top: 0.3, rest: 0.2 }), ..plain(trees) }
}

fn train(params: &BoostConfig, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
    let mut lambda = LambdaConfig::for_metric(MetricSpec::parse("ndcg@10").unwrap());
    lambda.simd = request.simd;
    BoostEngine::new(params.clone()).train(&mut lambda.check()?, request)
}

fn squared(params: &BoostConfig, request: &TrainRequest<'_>) -> Model {
    BoostEngine::new(params.clone()).train(&mut Squared, request).unwrap().model
}

fn ensemble(model: &Model) -> &Ensemble {
    match model.body() {
        ModelBody::Trees(ensemble) => ensemble,
        _ => panic!("no trees"),
    }
}

fn trees(model: &Model) -> &[Tree] {
    ensemble(model).trees()
}

fn scaled(tree: &Tree, by: f64) -> Tree {
    let leaves = tree.leaves().iter().map(|leaf| Leaf { value: leaf.value * by, ..*leaf });
    Tree::new(tree.splits().to_vec(), leaves.collect()).unwrap()
}

fn close(a: &Tree, b: &Tree) -> bool {
    let near = |(a, b): (&Leaf, &Leaf)| (a.value - b.value).abs() <= 1e-6 * b.value.abs() + 1e-7;
    let same =
        a.splits().iter().zip(b.splits()).all(|(a, b)| {
            (a.feature, a.rule, a.left, a.right) == (b.feature, b.rule, b.left, b.right)
        });
    same && a.leaves().len() == b.leaves().len() && a.leaves().iter().zip(b.leaves()).all(near)
}

/// The paper's loop, each round from scratch: a tree is fitted to the ensemble without the dropped
/// trees, and then all of those are scaled.
#[test]
fn dropping_is_fitting_to_the_others_and_scaling() {
    let train_on = data(20, 3);
    for scale in [DropScale::Tree, DropScale::Forest] {
        let dropout = Dropout { share: 0.4, skip: 0.3, most: 3, scale };
        let params = BoostConfig { dropout: Some(dropout), ..plain(12) };
        let found = squared(&params, &TrainRequest::new(&train_on));
        let base = ensemble(&found).base();
        let mut slow: Vec<Tree> = Vec::new();
        for round in 0..12 {
            let dropped = dropout.dropped(1, round, round);
            let kept = slow.iter().enumerate().filter(|(tree, _)| !dropped.contains(tree));
            let kept = Ensemble::new(base, kept.map(|(_, tree)| tree.clone()).collect()).unwrap();
            let start = Model::new(found.header().clone(), ModelBody::Trees(kept)).unwrap();
            let one = squared(&plain(1), &TrainRequest::new(&train_on).start(&start));
            let (of_dropped, of_new) = dropout.factors(dropped.len(), params.rate);
            dropped.iter().for_each(|tree| slow[*tree] = scaled(&slow[*tree], of_dropped));
            slow.push(scaled(trees(&one).last().unwrap(), of_new));
        }
        for (number, (found, slow)) in trees(&found).iter().zip(&slow).enumerate() {
            assert!(close(found, slow), "{scale:?}, tree {number}: {found:?} {slow:?}");
        }
    }
}

#[test]
fn a_multiplicity_equals_a_query_weight() {
    let rows = data(24, 5);
    let side = Goss { top: 0.25, rest: 0.25 };
    // The rate is so high that the first tree is sampled already.
    for newton in [Newton::PerDocument, Newton::CrossLeaf, Newton::Joint] {
        let mut params = BoostConfig { rate: 2.0, newton, one_side: Some(side), ..plain(1) };
        // Rows of weight 0 are still counted as rows.
        params.tree.min_rows = 1;
        let found = train(&params, &TrainRequest::new(&rows)).unwrap().model;
        let lambda = LambdaConfig::for_metric(MetricSpec::parse("ndcg@10").unwrap());
        let lambda = lambda.check().unwrap();
        let mut queries = TrainingQueries::new(&rows, &lambda);
        let zeros = vec![0.0; rows.rows()];
        let mut all =
            AllDerivatives { gradient: vec![0.0; rows.rows()], hessian: vec![0.0; rows.rows()] };
        let seed = 1_u64.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let pass = Pass { objective: &lambda, scores: &zeros, seed, sampled: None };
        queries.derivatives(pass, &mut all).unwrap();
        let multiplicities = side.multiplicities(&queries.gradient_sums(&all), 1, 0);
        assert_eq!(multiplicities.iter().filter(|multiplicity| **multiplicity == 3.0).count(), 6);

        let weighted = with_query_weights(&rows, &multiplicities);
        let plain = BoostConfig { one_side: None, ..params };
        let slow = train(&plain, &TrainRequest::new(&weighted)).unwrap().model;
        for (query, _) in
            multiplicities.iter().enumerate().filter(|(_, multiplicity)| **multiplicity > 0.0)
        {
            for row in rows.query_rows(query) {
                let row = rows.matrix().row(row);
                let (found, slow) = (found.score_row(row), slow.score_row(row));
                assert!((found - slow).abs() <= 1e-6 * slow.abs(), "{newton:?}: {found} {slow}");
            }
        }
    }
}

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
fn all_queries_by_their_gradients_are_all_queries() {
    let rows = data(20, 5);
    let all = BoostConfig { one_side: Some(Goss { top: 0.5, rest: 0.5 }), ..plain(5) };
    let of =
        |params: &BoostConfig| train(params, &TrainRequest::new(&rows)).unwrap().model.to_bytes();
    assert!(of(&all) == of(&plain(5)));
    let some = train(&goss(5), &TrainRequest::new(&rows)).unwrap().model;
    let seen = |tree: &Tree| tree.leaves().iter().map(|leaf| leaf.rows).sum::<u64>();
    let seen: Vec<u64> = trees(&some).iter().map(seen).collect();
    let all = rows.rows() as u64;
    assert_eq!(seen[..2], [all, all], "the first 1/rate trees see everything");
    // Afterwards three queries of ten by gradient and two sampled.
    assert!(seen[2..].iter().all(|seen| (all / 4..all * 3 / 4).contains(seen)), "{seen:?}");
}

/// Configurations that combine each option with others.
fn combined_configs() -> Vec<BoostConfig> {
    let forest = Dropout { scale: DropScale::Forest, share: 0.6, skip: 0.0, most: 2 };
    vec![
        BoostConfig { sample_queries: 0.7, sample_features: 0.7, ..dart(9) },
        BoostConfig { newton: Newton::Joint, dropout: Some(forest), ..goss(9) },
        BoostConfig { newton: Newton::CrossLeaf, line_search: true, ..goss(6) },
        BoostConfig { dropout: dart(1).dropout, ..goss(9) },
    ]
}

#[test]
fn threads_and_machine_code_change_nothing() {
    let rows = data(30, 11);
    for params in combined_configs() {
        let of = |threads: usize, simd: Simd| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let request = TrainRequest::new(&rows).simd(simd);
            pool.install(|| train(&params, &request).unwrap().model.to_bytes())
        };
        let one = of(1, Simd::Auto);
        for threads in [2, 3, 8] {
            assert!(of(threads, Simd::Auto) == one, "{threads} threads: {params:?}");
        }
        assert!(of(2, Simd::Portable) == one, "portable code: {params:?}");
    }
}

/// Stops the training after a number of rounds.
pub(crate) struct StopAfter(usize, AtomicUsize);

impl StopAfter {
    pub(crate) fn after(rounds: usize) -> Self {
        Self(rounds, AtomicUsize::new(0))
    }
}

impl Progress for StopAfter {
    fn round_finished(&self, history: &TrainingHistory) {
        self.1.store(history.iterations.len(), Ordering::Relaxed);
    }

    fn should_stop(&self) -> bool {
        self.1.load(Ordering::Relaxed) >= self.0
    }
}

#[test]
fn a_resumed_training_gives_the_same_bytes() {
    let (rows, valid) = (data(30, 11), data(10, 12));
    let start = train(&plain(3), &TrainRequest::new(&data(12, 13))).unwrap().model;
    for (number, params) in combined_configs().into_iter().enumerate() {
        // All rounds are kept, so that a model can be compared with its checkpoint.
        let params = BoostConfig { stop: Stop::None, ..params };
        let request = || {
            TrainRequest::new(&rows)
                .validation(&valid)
                .metrics([ndcg()])
                .evaluate_training(true)
                .start(Some(&start).filter(|_| number % 2 == 1))
        };
        let whole = train(&params, &request()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::new(folder.path()).every_rounds(1);
        let checkpoints = || Some(checkpoints.clone());
        for count in [1, 2, 4, 5] {
            let progress = StopAfter::after(count);
            let request = request().checkpoints(checkpoints()).progress(&progress);
            let part = train(&params, &request).unwrap();
            assert_eq!((part.finished, part.history.iterations.len()), (false, count));
            // The file holds the model with its weights at that moment.
            let file = Model::load(checkpoints().unwrap().file()).unwrap();
            assert_eq!(trees(&file), trees(&part.model));
        }
        let resumed = train(&params, &request().checkpoints(checkpoints())).unwrap();
        assert!(resumed.model.to_bytes() == whole.model.to_bytes(), "{params:?}");
        for (resumed, whole) in resumed.history.iterations.iter().zip(&whole.history.iterations) {
            assert_eq!((&resumed.values, resumed.loss), (&whole.values, whole.loss));
        }
        // Fewer trees than were saved: as if only those had been trained; training can continue
        // from there.
        let few = BoostConfig { trees: 3, ..params.clone() };
        let short = train(&few, &request()).unwrap();
        let saved = train(&few, &request().checkpoints(checkpoints())).unwrap();
        assert!(saved.model.to_bytes() == short.model.to_bytes(), "{params:?}");
    }
}

#[test]
fn a_checkpoint_without_its_leaf_values_is_rejected() {
    let rows = data(10, 11);
    let folder = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::new(folder.path()).every_rounds(1);
    let request = || TrainRequest::new(&rows).checkpoints(checkpoints.clone());
    train(&dart(4), &request()).unwrap();
    let (mut header, kind) = Model::load(checkpoints.file()).unwrap().into_parts();
    let note = header.notes.get_mut("checkpoint").unwrap();
    let from = note.find("\"learner\":\"").unwrap() + 11;
    for cut in [0, 8, 16, 48] {
        let mut header = header.clone();
        let note = header.notes.get_mut("checkpoint").unwrap();
        note.truncate(from + cut);
        note.push_str("\"}");
        Model::new(header, kind.clone()).unwrap().save(checkpoints.file()).unwrap();
        let error = train(&dart(4), &request()).unwrap_err().to_string();
        assert!(error.contains("do not fit its trees"), "{error}");
    }
}

#[test]
fn the_best_iteration_is_the_ensemble_as_it_was_then() {
    let (rows, valid) = (data(30, 1), data(25, 2));
    let request = TrainRequest::new(&rows).validation(&valid).metrics([ndcg()]);
    let stopped = train(&BoostConfig { stop: Stop::After(4), ..dart(60) }, &request).unwrap();
    let best = stopped.history.best.unwrap();
    assert_eq!(stopped.history.iterations.len(), best + 4);
    let dart = |trees| BoostConfig { stop: Stop::None, ..dart(trees) };
    let only = train(&dart(best), &request).unwrap();
    assert!(stopped.model.to_bytes() == only.model.to_bytes());
    let more = train(&dart(best + 4), &request).unwrap();
    assert_ne!(trees(&more.model)[..best], *trees(&only.model), "later rounds change trees");
    // The values recorded in each round equal those of the models of that many rounds.
    for (at, iteration) in more.history.iterations.iter().enumerate() {
        let then = train(&dart(at + 1), &request).unwrap().model;
        let scores = then.score(&valid, ScoreOptions::default()).unwrap();
        assert_eq!(values(&valid, &scores, &[ndcg()]).unwrap(), iteration.values[0]);
    }
}

#[test]
fn trees_of_a_start_model_are_never_dropped() {
    let rows = data(20, 4);
    let start = train(&plain(4), &TrainRequest::new(&rows)).unwrap().model;
    let all = Dropout { share: 1.0, skip: 0.0, most: 0, scale: DropScale::Tree };
    let params = BoostConfig { dropout: Some(all), ..plain(6) };
    let model = train(&params, &TrainRequest::new(&rows).start(&start)).unwrap().model;
    assert_eq!(trees(&model)[..4], *trees(&start));
    assert_eq!(trees(&model).len(), 10);
}

#[test]
fn leaves_that_outgrow_the_first_tree_are_an_error_and_zeros_are_none() {
    let rows = data(6, 4);
    // Equal labels: all leaves are 0, and there is no unit.
    let blank = crate::ensemble::test_support::rows(&[("a", 0.0, &[1.0]), ("a", 0.0, &[2.0])]);
    let model = train(&dart(5), &TrainRequest::new(&blank)).unwrap().model;
    assert!(trees(&model).iter().flat_map(Tree::leaves).all(|leaf| leaf.value == 0.0));
    // A rate above 2 diverges under squared error.
    let dropout = Some(Dropout { skip: 0.95, ..Dropout::default() });
    let wild = BoostConfig { rate: 50.0, dropout, ..plain(60) };
    let error = BoostEngine::new(wild).train(&mut Squared, &TrainRequest::new(&rows)).unwrap_err();
    assert!(error.to_string().contains("leaf values have grown"), "{error}");
    assert!(error.help().unwrap().contains("lower the learning rate"));
}

#[test]
fn on_real_data_the_options_rank_about_as_well_as_plain_boosting() {
    let Some(root) = std::env::var_os("RANKWRIGHT_DATA").map(std::path::PathBuf::from) else {
        println!("skipped: RANKWRIGHT_DATA is not set");
        return;
    };
    let part = |numbers: &[usize]| {
        let files: Vec<_> =
            numbers.iter().map(|n| root.join("mq2008").join(format!("S{n}.txt"))).collect();
        read(&files, &ReadOptions::default()).unwrap().data
    };
    let (train_on, test_on) = (part(&[1, 2, 3]), part(&[5]));
    let of = |options: &str| {
        let text = format!("lambdamart(trees=100, leaves=15, rate=0.1{options})");
        let model =
            crate::LearnerSpec::parse(&text).unwrap().train(TrainRequest::new(&train_on)).unwrap();
        let scores = model.model.score(&test_on, ScoreOptions::default()).unwrap();
        values(&test_on, &scores, &[ndcg()]).unwrap()[0]
    };
    let plain = of("");
    for options in [", drop_trees=0.1", ", drop_trees=0.1, drop_scale=forest", ", goss_top=0.2"] {
        let found = of(options);
        println!("{options}: {found:.4}, plain {plain:.4}");
        assert!(found > plain - 0.03, "{options}: {found}, plain {plain}");
    }
}
