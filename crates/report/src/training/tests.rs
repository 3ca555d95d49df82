//! Tests of the whole report on small data, and helpers of the other tests.

use rankwright_data::generate::LetorOptions;
use rankwright_data::{Absent, Dataset, FeatureNames};
use rankwright_eval::{Measure, MetricSpec, ScoredDataset, SourceKind};
use rankwright_learn::{LearnerSpec, TrainRequest};
use rankwright_model::{Ensemble, Header, Model, ModelBody, ScoreOptions, Tree};
use serde_json::to_value;

use super::*;
use crate::page::Page;

/// Queries `q1`, `q2`, ... with these labels; their only feature is 0.
pub(super) fn lists(labels: &[&[f64]]) -> Dataset {
    let id = |(at, labels): (usize, &&[f64])| vec![format!("q{}", at + 1); labels.len()];
    let ids = labels.iter().enumerate().flat_map(id);
    let labels = labels.concat();
    Dataset::from_dense(vec![0.0; labels.len()], 1, labels, ids).unwrap()
}

/// One tree of one leaf, made by this objective.
pub(super) fn constant_model(objective: &str) -> Model {
    let mut header = Header::new(FeatureNames::Ids { first: 1, count: 1 }, Absent::Zero);
    header.objective = objective.to_owned();
    header.learner = "learner(x=1)".to_owned();
    let trees = vec![Tree::constant(0.5, 1).unwrap()];
    Model::new(header, ModelBody::Trees(Ensemble::new(0.0, trees).unwrap())).unwrap()
}

fn data(seed: u64) -> Dataset {
    LetorOptions { queries: 40, documents: 20, seed }.generate().unwrap()
}

fn measures(texts: &[&str]) -> Vec<Measure> {
    let one = |text: &&str| MetricSpec::parse(text).unwrap().resolve(SourceKind::Features).unwrap();
    texts.iter().map(one).collect()
}

fn report(learner: &str, log: bool, valid: bool) -> (TrainingReport, Model) {
    let (train, held) = (data(1), data(2));
    let learner = LearnerSpec::parse(learner).unwrap();
    let request = TrainRequest::new(&train).evaluate_training(true);
    let request = match learner.uses_validation() || valid {
        true => request.validation(&held),
        false => request,
    };
    let outcome = learner.train(request).unwrap();
    let log = log.then_some(TrainingLog {
        history: outcome.history,
        load_seconds: 0.5,
        threads: Some(2),
    });
    let input = TrainingRequest {
        model: ("m.model", &outcome.model),
        train: NamedData { name: "train", data: &train },
        valid: valid.then_some(NamedData { name: "valid", data: &held }).into_iter().collect(),
        measures: measures(&["ndcg@10", "ap"]),
        log,
    };
    let report = TrainingReport::new(&input, &TrainingOptions::default()).unwrap();
    (report, outcome.model)
}

fn charts(page: &Page) -> Vec<crate::chart::Chart> {
    fn of(blocks: &[PageBlock], into: &mut Vec<crate::chart::Chart>) {
        for block in blocks {
            match block {
                PageBlock::Chart(chart) => into.push(chart.clone()),
                PageBlock::Choice { groups, .. } => {
                    groups.iter().for_each(|(_, blocks)| of(blocks, into));
                }
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    page.sections.iter().for_each(|section| of(&section.blocks, &mut all));
    all
}

#[test]
fn a_report_on_lambdamart_has_every_part() {
    let (report, model) =
        report("lambdamart(trees=8, leaves=6, min_rows=5, stop=none)", true, true);
    let page = report.page();
    let ids: Vec<&str> = page.sections.iter().map(|section| section.id.as_str()).collect();
    assert_eq!(ids, ["curve", "lambdas", "labels", "forces", "time", "importance", "trees"]);
    let charts = charts(&page);
    let mut names: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "ids are unique");
    for wanted in [
        "curve-1",
        "curve-2",
        "lambda-pair-share",
        "lambda-rank-size",
        "labels-at-0",
        "labels-mean-rank",
        "forces-at-8",
        "time-rounds",
        "importance-permutation",
    ] {
        assert!(names.contains(&wanted), "{wanted} is not among {names:?}");
    }
    assert!(charts.iter().all(|chart| !chart.caption.is_empty() && !chart.title.is_empty()));
    // The last stage is the model.
    for (set, held) in [data(1), data(2)].iter().enumerate() {
        let scores = model.score(held, ScoreOptions::default()).unwrap();
        let found = ScoredDataset::new(held, &scores).unwrap();
        let found = found.evaluate(measures(&["ndcg@10", "ap"])).unwrap();
        for (curve, result) in report.curves.iter().zip(&found.results) {
            assert_eq!(curve.sets[set].1.last(), Some(&result.value));
        }
    }
    let json = to_value(&report).unwrap();
    assert_eq!(json["curves"][0]["rounds"], serde_json::json!([0, 1, 2, 3, 4, 5, 6, 7, 8]));
    let shares = json["lambdas"]["by_pair"]["shares"][3].as_array().unwrap();
    let sum: f64 = shares.iter().map(|share| share.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9);
}

#[test]
fn parts_that_do_not_apply_are_left_out_with_a_reason() {
    let (mart, _) = report("mart(trees=3, leaves=4)", false, false);
    let reason = mart.lambdas.as_ref().unwrap_err();
    assert!(matches!(reason, LeftOut::NoPairObjective { learner, .. } if learner == "mart"));
    assert!(reason.to_string().contains("mart does not learn from"), "{reason}");
    assert_eq!(mart.phases.as_ref().unwrap_err(), &LeftOut::NoLog);
    assert!(mart.curves[0].best.is_none() && mart.trees.is_ok());
    assert_eq!(mart.page().sections.len(), 7);
    let (line, _) = report("linear-regression", false, false);
    assert!(line.curves.is_empty() && line.trees.is_err() && line.from_log);
    assert_eq!(line.labels.counts.len(), 1);
    assert!(line.importance.features.iter().take(20).all(|feature| feature.loss.is_some()));
    assert_eq!(line.page().sections.len(), 7);
}

#[test]
fn other_learners_have_the_curves_of_their_log() {
    let (net, _) = report("ranknet(epochs=3, layers=4)", true, true);
    assert!(net.from_log && net.lambdas.is_ok());
    assert_eq!((net.stages.unit.as_str(), net.curves[0].rounds.len()), ("epoch", 3));
    let page = net.page();
    assert!(charts(&page).iter().any(|chart| chart.id == "lambda-pair-share"));
    assert!(charts(&page).iter().any(|chart| chart.id == "time-total"));
}

#[test]
fn threads_change_nothing() {
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            to_value(report("lambdamart(trees=4, leaves=5, min_rows=5)", false, true).0).unwrap()
        })
    };
    assert_eq!(of(1), of(3));
}
