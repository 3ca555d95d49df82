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
    let id = |(query, labels): (usize, &&[f64])| vec![format!("q{}", query + 1); labels.len()];
    let ids = labels.iter().enumerate().flat_map(id);
    let labels = labels.concat();
    Dataset::from_dense(vec![0.0; labels.len()], 1, labels, ids).unwrap()
}

/// A model of one tree with one leaf, with the name of this objective.
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

fn measures(specs: &[&str]) -> Vec<Measure> {
    let measure =
        |spec: &&str| MetricSpec::parse(spec).unwrap().resolve(SourceKind::Features).unwrap();
    specs.iter().map(measure).collect()
}

/// Whether the report has the log of the training.
#[derive(PartialEq)]
enum Log {
    Yes,
    No,
}

/// Whether the report has validation data.
#[derive(PartialEq)]
enum Validation {
    Yes,
    No,
}

/// The report on a training, with or without a log and validation data.
fn report(learner: &str, log: Log, validation: Validation) -> (TrainingReport, Model) {
    let (train, valid) = (data(1), data(2));
    let learner = LearnerSpec::parse(learner).unwrap();
    let request = TrainRequest::new(&train).evaluate_training(true);
    let request = match learner.uses_validation() || validation == Validation::Yes {
        true => request.validation(&valid),
        false => request,
    };
    let outcome = learner.train(request).unwrap();
    let log = (log == Log::Yes).then_some(TrainingLog {
        history: outcome.history,
        load_seconds: 0.5,
        threads: Some(2),
        sha256: None,
        choice: None,
    });
    let valid = NamedData { name: "valid", data: &valid };
    let request = TrainingRequest {
        model: ("m.model", &outcome.model),
        train: NamedData { name: "train", data: &train },
        valid: (validation == Validation::Yes).then_some(valid).into_iter().collect(),
        measures: measures(&["ndcg@10", "ap"]),
        log,
    };
    let report = TrainingReport::new(&request, &TrainingOptions::default()).unwrap();
    (report, outcome.model)
}

/// All charts of a page, including those in choices.
fn charts(page: &Page) -> Vec<crate::chart::Chart> {
    fn collect(blocks: &[PageBlock], all: &mut Vec<crate::chart::Chart>) {
        for block in blocks {
            match block {
                PageBlock::Chart(chart) => all.push(chart.clone()),
                PageBlock::Choice { groups, .. } => {
                    groups.iter().for_each(|(_, blocks)| collect(blocks, all));
                }
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    page.sections.iter().for_each(|section| collect(&section.blocks, &mut all));
    all
}

#[test]
fn a_report_on_lambdamart_has_every_part() {
    let learner = "lambdamart(trees=8, leaves=6, min_rows=5, stop=none)";
    let (report, model) = report(learner, Log::Yes, Validation::Yes);
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
    // The values of the last stage are those of the whole model, on training and validation data.
    for (set, data) in [data(1), data(2)].iter().enumerate() {
        let scores = model.score(data, ScoreOptions::default()).unwrap();
        let found = ScoredDataset::new(data, &scores).unwrap();
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

/// Regression: the page did not say that equal scores decide a metric.
#[test]
fn the_page_names_metrics_that_equal_scores_decide() {
    let tied = |report: &TrainingReport| {
        let lines = report.page().conventions;
        lines.into_iter().filter(|line| line.starts_with("ties: train: ")).collect::<Vec<_>>()
    };
    let (coarse, _) = report("mart(trees=1, leaves=2)", Log::No, Validation::No);
    let lines = tied(&coarse);
    assert!(lines.iter().any(|line| line.contains("equal scores decide ndcg@10")), "{lines:?}");
}

#[test]
fn parts_that_do_not_apply_are_left_out_with_a_reason() {
    let (mart, _) = report("mart(trees=3, leaves=4)", Log::No, Validation::No);
    let reason = mart.lambdas.as_ref().unwrap_err();
    assert!(matches!(reason, OmissionReason::NoPairObjective { learner, .. } if learner == "mart"));
    assert!(reason.to_string().contains("mart does not learn from"), "{reason}");
    assert_eq!(mart.phases.as_ref().unwrap_err(), &OmissionReason::NoLog);
    assert!(mart.curves[0].best.is_none() && mart.trees.is_ok());
    assert_eq!(mart.page().sections.len(), 7);
    let (linear, _) = report("linear-regression", Log::No, Validation::No);
    assert!(linear.curves.is_empty() && linear.trees.is_err());
    let json = to_value(&linear).unwrap();
    assert_eq!(json["curves_from"], serde_json::Value::Null);
    let reason = "This part is left out: the model has no trees (its kind is net).";
    assert_eq!(json["trees"]["left_out"], reason);
    assert_eq!(linear.labels.counts.len(), 1);
    assert!(linear.importance.features.iter().take(20).all(|feature| feature.drop.is_some()));
    assert_eq!(linear.page().sections.len(), 7);
}

#[test]
fn other_learners_have_the_curves_of_their_log() {
    let (net, _) = report("ranknet(epochs=3, layers=4)", Log::Yes, Validation::Yes);
    assert!(net.curves_from == Some(CurveOrigin::Log) && net.lambdas.is_ok());
    assert_eq!((net.stages.unit.as_str(), net.curves[0].rounds.len()), ("epoch", 3));
    let page = net.page();
    // The net has no earlier stages, so that the axis of the bars has pairs and no epochs.
    let shares = charts(&page).into_iter().find(|chart| chart.id == "lambda-pair-share").unwrap();
    assert!(matches!(shares.body, crate::chart::Body::Bars(_)));
    assert_eq!(shares.x.label, "pair of labels");
    assert!(charts(&page).iter().any(|chart| chart.id == "time-total"));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let json = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let learner = "lambdamart(trees=4, leaves=5, min_rows=5)";
        pool.install(|| to_value(report(learner, Log::No, Validation::Yes).0).unwrap())
    };
    assert_eq!(json(1), json(3));
}
