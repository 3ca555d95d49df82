//! Tests of automatic trainings as a whole.

use super::*;
use crate::ensemble::test_support::trains_reproducibly;
use rankwright_data::bytes::Input;
use rankwright_data::generate::LetorOptions;

fn data(queries: usize, seed: u64) -> Dataset {
    LetorOptions { queries, documents: 15, seed }.generate().unwrap()
}

/// A report without times, which differ from run to run.
fn without_seconds(report: Option<AutoReport>) -> AutoReport {
    let mut report = report.unwrap();
    report.candidates.iter_mut().for_each(|candidate| candidate.seconds = 0.0);
    report
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
    assert!(report.candidates.is_sorted_by(|a, b| a.value >= b.value), "{report:?}");
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
    // The standard error of the metric on 90 queries is about 0.03, and the mean of the models of
    // three folds is better than one model.
    assert!((value - report.estimate).abs() < 0.1, "{value} {}", report.estimate);
    let best = report.candidates.iter().filter_map(|candidate| candidate.value).fold(0.0, f64::max);
    assert!(report.estimate > best - 0.02, "{report:?}");
}

#[test]
fn the_worse_half_is_dropped_but_not_the_best_of_a_family() {
    let train = data(40, 3);
    let mut auto = AutoTrainer {
        params: Auto::new(),
        named: None,
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
        is_distilled: false,
        seconds: None,
        choice_share: 1.0,
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
    assert_eq!(without_seconds(one.choice), without_seconds(two.choice));
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
    // The candidate without a value is the last one, although it was the first to be trained.
    assert!(report.candidates[1].failure.as_ref().unwrap().contains("every document"));
    assert_eq!((report.candidates[1].weight, report.candidates[0].weight), (0.0, 1.0));
    let only = LearnerSpec::parse("auto(candidates=logistic, folds=3)").unwrap();
    let error = only.train(TrainRequest::new(&data)).unwrap_err().to_string();
    assert!(error.contains("every document"), "{error}");
}

#[test]
fn the_choice_on_a_sample_trains_the_members_on_all_queries() {
    let train = data(30, 5);
    let mut auto = AutoTrainer {
        params: Auto::new(),
        named: Some(vec!["mart(trees=3)".to_owned(), "ranksvm".to_owned()]),
        target: MetricSpec::parse("ndcg@10").unwrap(),
    };
    let sample = sampled(&train, 10, 7).unwrap();
    assert_eq!(sample.queries(), 10);
    assert_eq!(sampled(&train, 10, 7).unwrap(), sample);
    assert_ne!(sampled(&train, 10, 8).unwrap(), sample);
    let request = TrainRequest::new(&train);
    let plan = AutoPlan::new(&sample, AutoEffort::Quick, auto.named.clone(), None, None);
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

/// Neither validation data nor candidates are left out silently.
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
    let failure = report.candidates[1].failure.as_ref().unwrap();
    assert!(failure.contains("mart") && report.candidates[0].failure.is_none(), "{failure}");
}

#[test]
fn the_number_of_rounds_is_that_of_the_plan() {
    let train = data(40, 3);
    for (name, effort) in AutoEffort::ALL {
        for given in [None, Some(vec!["mart".to_owned(), "ranksvm".to_owned()])] {
            let candidates =
                given.as_ref().map(|given| format!(", candidates={}", given.join("+")));
            let text = format!("auto(effort={name}{})", candidates.unwrap_or_default());
            let plan = AutoPlan::new(&train, *effort, given, None, None);
            let rounds = LearnerSpec::parse(&text).unwrap().rounds();
            assert_eq!(rounds, Some((plan.candidates.len() * plan.folds, "model")), "{text}");
        }
    }
}

/// The spec of the report trains the same bytes again, and a limit that nothing fits into still
/// trains one candidate on all folds.
#[test]
fn a_limit_of_time_records_a_spec_that_repeats_the_training() {
    let train = data(20, 6);
    let candidates = "ranksvm+mart(trees=3)+xendcg(trees=3)";
    for (minutes, least, most) in [(1e-9, 1, 1), (60.0, 3, 3), (0.004, 1, 3)] {
        let text = format!("auto(candidates={candidates}, folds=3, minutes={minutes})");
        let timed = LearnerSpec::parse(&text).unwrap();
        let first = timed.train(TrainRequest::new(&train)).unwrap();
        let report = first.choice.unwrap();
        let kept = report.candidates.iter().filter(|c| c.folds == 3).count();
        assert!((least..=most).contains(&kept), "{minutes}: {report:?}");
        assert!(!report.learner.contains("minutes"), "{}", report.learner);
        let repeated = LearnerSpec::parse(&report.learner).unwrap();
        let second = repeated.train(TrainRequest::new(&train)).unwrap();
        assert!(second.model.to_bytes() == first.model.to_bytes(), "{minutes}");
        assert_eq!(second.choice.unwrap().learner, report.learner);
    }
}

#[test]
fn an_interruption_of_a_training_with_a_limit_changes_nothing() {
    trains_reproducibly(
        "auto(candidates=mart(trees=3)+ranksvm+xendcg(trees=3), folds=3, minutes=60)",
    );
}

#[test]
fn serving_fast_is_one_lambdamart_near_the_blend() {
    let (train, test) = (data(120, 1), data(200, 2));
    let text = "auto(candidates=ranksvm+mart(trees=40)+xendcg(trees=40), folds=3, serve=fast)";
    let result = LearnerSpec::parse(text).unwrap().train(TrainRequest::new(&train)).unwrap();
    let ModelBody::Trees(trees) = result.model.body() else { panic!("no trees") };
    assert!((1..=500).contains(&trees.trees().len()));
    let served = result.choice.unwrap().served.unwrap();
    assert_eq!((served.queries, served.learner.as_str()), (40, "lambdamart(trees=500)"));
    let blend = LearnerSpec::parse(&text.replace(", serve=fast", "")).unwrap();
    let blend = blend.train(TrainRequest::new(&train)).unwrap();
    assert!(blend.choice.unwrap().served.is_none());
    let value = |model: &Model| {
        let target = TargetMetric::new(&test, &MetricSpec::parse("ndcg@10").unwrap()).unwrap();
        let scores = model.score(&test, Default::default()).unwrap();
        let fill = |query: usize, _: usize, to: &mut [f64]| {
            to.copy_from_slice(&scores[test.query_rows(query)]);
        };
        target.totals(1, fill).unwrap()[0]
    };
    let (student, blend) = (value(&result.model), value(&blend.model));
    assert!(student > blend - 0.03, "{student} {blend}");
}

#[test]
fn a_fast_model_is_the_same_on_any_threads() {
    trains_reproducibly("auto(candidates=mart(trees=3)+ranksvm, folds=3, serve=fast)");
}

/// Few queries, long lists, labels of one grade and missing values train or give an error with the
/// reason.
#[test]
fn unusual_data_trains_or_is_refused_with_the_reason() {
    let quick =
        LearnerSpec::parse("auto(candidates=ranksvm+mart(trees=5)+xendcg(trees=5))").unwrap();
    let train = |data: &Dataset| quick.train(TrainRequest::new(data));
    let twenty = train(&data(20, 1)).unwrap().choice.unwrap();
    assert_eq!((twenty.folds, twenty.queries), (5, 20));
    assert!(twenty.estimate.is_finite() && twenty.ci95.is_some());
    // Fewer queries than folds.
    assert_eq!(train(&data(4, 1)).unwrap().choice.unwrap().folds, 4);
    let long = LetorOptions { queries: 6, documents: 1100, seed: 3 }.generate().unwrap();
    assert!(train(&long).unwrap().choice.unwrap().estimate.is_finite());
    let all = data(20, 1);
    let equal = all.clone().with_labels(vec![1.0; all.rows()]).unwrap();
    let estimate = train(&equal).map(|result| result.choice.unwrap().estimate);
    // Every ranking of equal grades is ideal: the candidates of pairs cannot be trained, and the
    // others have the value 1.
    assert!(estimate.as_ref().is_ok_and(|value| *value == 1.0), "{estimate:?}");
    let zero = all.clone().with_labels(vec![0.0; all.rows()]).unwrap();
    let message = train(&zero).unwrap_err().to_string();
    assert!(message.contains("no relevant documents"), "{message}");
    let missing: Vec<Vec<f32>> = (0..all.rows())
        .map(|row| {
            let values = all.matrix().row(row).iter().enumerate();
            values.map(|(c, v)| if (row + c) % 3 == 0 { f32::NAN } else { *v }).collect()
        })
        .collect();
    let names: Vec<String> = (0..all.columns()).map(|c| format!("f{c}")).collect();
    let missing = Dataset::from_rows(&missing, names).labels(all.labels().to_vec());
    let missing = missing.query_ids(all.query_of_rows()).build().unwrap();
    assert!(train(&missing).unwrap().choice.unwrap().estimate.is_finite());
}

#[test]
fn categories_of_a_table_train_and_pairs_without_labels_are_refused() {
    let mut text = "qid,label,colour,price\n".to_owned();
    for row in 0..60 {
        let colour = ["red", "blue", "green"][row % 3];
        text += &format!("{},{},{colour},{}\n", row / 6, usize::from(row % 3 == 1), row % 7);
    }
    let table = Dataset::read_bytes(text.into_bytes()).unwrap();
    assert!(table.table_columns().is_some(), "colour is a category");
    let learner = LearnerSpec::parse("auto(candidates=ranksvm+mart(trees=5), folds=3)").unwrap();
    let report = learner.train(TrainRequest::new(&table)).unwrap().choice.unwrap();
    assert!(report.estimate.is_finite(), "{report:?}");
    let rows: [(usize, usize); 2] = [(0, 1), (3, 2)];
    let pairs = Dataset::from_rows([[0.1_f32], [0.2], [0.3], [0.4]], ["a"])
        .query_ids(["q", "q", "r", "r"])
        .pairs(rows)
        .build()
        .unwrap();
    let error = learner.train(TrainRequest::new(&pairs)).unwrap_err();
    assert_eq!(error.kind(), "pairs-unsupported", "{error}");
}
