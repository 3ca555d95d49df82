//! Tests of automatic trainings as a whole.

use super::*;
use crate::ensemble::test_support::trains_reproducibly;
use rankwright_data::bytes::Input;
use rankwright_data::generate::LetorOptions;

fn data(queries: usize, seed: u64) -> Dataset {
    LetorOptions { queries, documents: 15, seed }.generate().unwrap()
}

const SMALL: &str = "auto(effort=quick, candidates=ranksvm+mart(trees=12)+xendcg(trees=12)+\
                     ranknet(epochs=3, layers=4))";

#[test]
fn members_are_blended_and_the_estimate_is_near_the_truth() {
    let (train, test) = (data(90, 1), data(200, 2));
    let learner = LearnerSpec::parse(SMALL).unwrap();
    let result = learner.train(TrainRequest::new(&train)).unwrap();
    let report = result.choice.unwrap();
    assert_eq!((report.folds, report.queries, report.candidates.len()), (3, 90, 4));
    let weights: f64 = report.candidates.iter().map(|candidate| candidate.weight).sum();
    assert!((weights - 1.0).abs() < 1e-9, "{report:?}");
    assert!(report.candidates.iter().all(|candidate| candidate.folds == 3), "{report:?}");
    // The trees of all folds are one member. Models with transforms of their own, which differ from
    // fold to fold, are three.
    let ModelBody::Blend(blend) = result.model.body() else { panic!("no blend") };
    assert_eq!(blend.members().len(), 2 + 2 * 3);
    let target = TargetMetric::new(&test, &MetricSpec::parse("ndcg@10").unwrap()).unwrap();
    let scores = result.model.score(&test, Default::default()).unwrap();
    let fill = |query: usize, _: usize, to: &mut [f64]| {
        to.copy_from_slice(&scores[test.query_rows(query)]);
    };
    let value = target.totals(1, fill).unwrap()[0];
    // 90 queries tell the metric to about 0.03, and the mean of three folds is better than one.
    assert!((value - report.estimate).abs() < 0.1, "{value} {}", report.estimate);
    let best = report.candidates.iter().filter_map(|candidate| candidate.value).fold(0.0, f64::max);
    assert!(report.estimate > best - 0.02, "{report:?}");
}

#[test]
fn the_worse_half_is_dropped_but_not_the_best_of_a_family() {
    let train = data(40, 3);
    let mut auto = AutoTrainer {
        params: Auto::new(),
        given: None,
        target: MetricSpec::parse("ndcg@10").unwrap(),
    };
    let plan = AutoPlan {
        candidates: ["mart(trees=2)", "rankmart(trees=2)", "lambdamart(trees=2)", "ranksvm"]
            .map(str::to_owned)
            .into(),
        folds: 3,
        choice_queries: 40,
        halve: true,
        selections: 2,
        picks: 3,
    };
    let request = TrainRequest::new(&train);
    let mut nested = NestedTraining::begin(&request, "model").unwrap();
    let mut choice = Choice {
        target: TargetMetric::new(&train, &auto.target).unwrap(),
        folds: folds(40, 3, 1).unwrap(),
        data: &train,
        candidates: auto.candidates(&plan, &train).unwrap(),
    };
    assert!(choice.train(&mut nested, &request, &plan).unwrap());
    let kept: Vec<bool> = choice.candidates.iter().map(CandidateLearner::is_running).collect();
    assert!(kept[3], "the only linear candidate stays");
    assert!((2..4).contains(&kept.iter().filter(|kept| **kept).count()), "{kept:?}");
    let trained: Vec<usize> = choice.candidates.iter().map(|c| c.models.len()).collect();
    assert!(trained.iter().zip(&kept).all(|(count, kept)| *count == if *kept { 3 } else { 1 }));
    assert!(auto.train(&TrainRequest::new(&data(12, 1))).is_ok());
}

#[test]
fn validation_data_is_one_more_part_of_the_training_data() {
    let (train, valid) = (data(12, 1), data(9, 2));
    let both = train.append(&valid, Some).unwrap();
    let learner = LearnerSpec::parse("auto(candidates=mart(trees=3)+ranksvm, folds=3)").unwrap();
    let one = learner.train(TrainRequest::new(&train).validation(&valid)).unwrap();
    let two = learner.train(TrainRequest::new(&both)).unwrap();
    assert_eq!(one.choice, two.choice);
    assert_eq!(one.model.body(), two.model.body());
}

#[test]
fn a_candidate_that_cannot_be_trained_is_left_out_with_its_reason() {
    // Labels above 1 and no label 0: a classifier has one class only.
    let data = data(20, 1);
    let labels: Vec<f64> = data.labels().iter().map(|label| label + 1.0).collect();
    let names: Vec<String> = (0..data.columns()).map(|c| format!("f{c}")).collect();
    let rows = (0..data.rows()).map(|row| data.matrix().row(row));
    let ids = data.query_of_rows();
    let data = Dataset::from_rows(rows, names).labels(labels).query_ids(ids).build().unwrap();
    let learner = LearnerSpec::parse("auto(candidates=logistic+mart(trees=3), folds=3)").unwrap();
    let report = learner.train(TrainRequest::new(&data)).unwrap().choice.unwrap();
    assert!(report.candidates[0].failure.as_ref().unwrap().contains("every document"));
    assert_eq!((report.candidates[0].weight, report.candidates[1].weight), (0.0, 1.0));
    let only = LearnerSpec::parse("auto(candidates=logistic, folds=3)").unwrap();
    let error = only.train(TrainRequest::new(&data)).unwrap_err().to_string();
    assert!(error.contains("every document"), "{error}");
}

#[test]
fn the_choice_on_a_sample_trains_the_members_on_all_queries() {
    let train = data(30, 5);
    let mut auto = AutoTrainer {
        params: Auto::new(),
        given: Some(vec!["mart(trees=3)".to_owned(), "ranksvm".to_owned()]),
        target: MetricSpec::parse("ndcg@10").unwrap(),
    };
    let sample = sampled(&train, 10, 7).unwrap();
    assert_eq!(sample.queries(), 10);
    assert_eq!(sampled(&train, 10, 7).unwrap(), sample);
    assert_ne!(sampled(&train, 10, 8).unwrap(), sample);
    let request = TrainRequest::new(&train);
    let plan = AutoPlan::new(&sample, AutoEffort::Quick, auto.given.clone(), None);
    let mut nested = NestedTraining::begin(&request, "model").unwrap();
    let choice = Choice {
        target: TargetMetric::new(&sample, &auto.target).unwrap(),
        folds: folds(10, 3, 7).unwrap(),
        data: &sample,
        candidates: auto.candidates(&plan, &train).unwrap(),
    };
    let (members, finished) =
        choice.members_of_all(&[0.25, 0.75], &train, &mut nested, &request).unwrap();
    assert!(finished && members.len() == 2);
    assert!(members.iter().all(|(_, model)| model.header().queries == 20));
    assert!(auto.train(&request).is_ok());
}

#[test]
fn threads_and_an_interruption_change_nothing() {
    trains_reproducibly("auto(candidates=mart(trees=3)+ranksvm+xendcg(trees=3), folds=3)");
}

#[test]
fn specs_are_checked_before_training() {
    let error = |text: &str| LearnerSpec::parse(text).unwrap_err().to_string();
    assert!(error("auto(candidates=auto(effort=quick)+mart)").contains("candidates"));
    assert!(error("auto(candidates=blend(members=mart))").contains("candidates"));
    assert!(error("auto(candidates=nothing)").contains("nothing"));
    assert!(error("auto(folds=2)").contains("from 3 on"));
    assert!(error("auto(effort=much)").contains("quick"));
}

/// Both were left out without a word.
#[test]
fn validation_data_and_candidates_that_do_not_fit_are_reported() {
    let (train, valid) = (data(20, 1), data(9, 2));
    let learner =
        LearnerSpec::parse("auto(candidates=mart(trees=3)+rankmart(trees=3), folds=3)").unwrap();
    let used = learner.train(TrainRequest::new(&train).validation(&valid)).unwrap();
    assert!(used.trained_on_validation() && used.warnings.is_empty());
    assert_eq!(used.model.header().queries, 29);
    // In every query, a row of the highest label is preferred to one of the lowest.
    let mut pairs = String::new();
    for query in 0..train.queries() {
        let (rows, query) = (train.query_rows(query), train.query(query));
        let by_label = |a: &usize, b: &usize| train.labels()[*a].total_cmp(&train.labels()[*b]);
        let (low, high) = (rows.clone().min_by(by_label), rows.max_by(by_label));
        pairs += &format!("{} {} {}\n", query.id, high.unwrap(), low.unwrap());
    }
    let input = Input::raw("pairs", pairs.into_bytes());
    let with_pairs = train.clone().with_pairs(&input).unwrap().0;
    let result = learner.train(TrainRequest::new(&with_pairs).validation(&valid)).unwrap();
    assert!(!result.trained_on_validation());
    assert_eq!(result.warnings[0].kind(), "validation-not-used");
    assert_eq!(result.model.header().queries, 20);
    let report = result.choice.unwrap();
    assert_eq!(report.candidates.len(), 2);
    let failure = report.candidates[0].failure.as_ref().unwrap();
    assert!(failure.contains("mart") && report.candidates[1].failure.is_none(), "{failure}");
}

#[test]
fn the_number_of_rounds_is_that_of_the_plan() {
    let train = data(40, 3);
    for (name, effort) in AutoEffort::ALL {
        for given in [None, Some(vec!["mart".to_owned(), "ranksvm".to_owned()])] {
            let candidates =
                given.as_ref().map(|given| format!(", candidates={}", given.join("+")));
            let text = format!("auto(effort={name}{})", candidates.unwrap_or_default());
            let plan = AutoPlan::new(&train, *effort, given, None);
            let rounds = LearnerSpec::parse(&text).unwrap().rounds();
            assert_eq!(rounds, Some((plan.candidates.len() * plan.folds, "model")), "{text}");
        }
    }
}
