//! Several goals at once: weighted sums of metrics and of columns of labels, and a metric that is kept
//! before another.

use rankwright_data::Dataset;
use rankwright_data::generate::LetorOptions;
use rankwright_eval::ScoredDataset;
use rankwright_learn::KeptReason;
use rankwright_learn::prelude::*;
use rankwright_model::{Model, ScoreOptions};

/// A hundred queries of two documents that a model tells apart by one feature. The first document
/// is excellent (4) in 30 queries and useless (0) in the others; the second one is always fair (1).
fn conflict() -> Dataset {
    let label = |row: usize| match row % 2 {
        0 if row / 2 < 30 => 4.0,
        0 => 0.0,
        _ => 1.0,
    };
    Dataset::builder()
        .rows((0..200).map(|row| [f32::from(u8::from(row % 2 == 0))]))
        .labels((0..200).map(label))
        .query_ids((0..200).map(|row| row / 2))
        .build()
        .unwrap()
}

/// Whether lambdas of `metric` rank the document that is sometimes excellent first.
fn excellent_first(metric: &str) -> bool {
    let text = format!(
        "lambdamart(trees=5, leaves=2, min_rows=1, metric={metric}, norm_gap=false, norm_query=false)"
    );
    let result = LearnerSpec::parse(&text).unwrap().train((&conflict()).into()).unwrap();
    result.model.score_row(&[1.0]) > result.model.score_row(&[0.0])
}

/// Ranking the first document first is worth 0.3 by P(rel=4)@1 and 0.3 by P(rel=1)@1, the second
/// one 0 and 1: with weights w and 1 the first is better if 0.3 w + 0.3 > 1, that is w > 2.33.
#[test]
fn of_two_goals_in_conflict_the_weights_decide_as_computed() {
    for (weight, expected) in [(0.5, false), (2.2, false), (2.5, true), (9.0, true)] {
        let metric = format!("p(rel=4)@1:{weight}+p(rel=1)@1:1");
        assert_eq!(excellent_first(&metric), expected, "{metric}");
    }
    assert!(excellent_first("p(rel=4)@1") && !excellent_first("p(rel=1)@1"));
}

/// Validation keeps the round by the same rule as the lambdas: the best of the second metric among
/// rounds within the tolerance of the best of the first one.
#[test]
fn validation_keeps_the_first_metric_within_the_tolerance() {
    let [train, valid] =
        [1, 2].map(|seed| LetorOptions { queries: 40, documents: 20, seed }.generate().unwrap());
    let text = "lambdamart(trees=60, leaves=8, metric=p@5, goal=keep(ndcg@10, 0.01))";
    let learner = LearnerSpec::parse(text).unwrap();
    let result = learner.train(TrainRequest::new(&train).validation(&valid)).unwrap();
    let history = &result.history;
    assert_eq!(history.metrics, ["ndcg@10", "p@5"]);
    let values: Vec<(f64, f64)> =
        history.iterations.iter().map(|round| (round.values[0][0], round.values[0][1])).collect();
    let kept = values[history.best.unwrap() - 1];
    let highest = values.iter().map(|value| value.0).fold(0.0, f64::max);
    assert!(kept.0 >= highest - 0.01, "{kept:?} {highest}");
    let best_of_first_metric = *values.iter().find(|value| value.0 == highest).unwrap();
    assert!(kept.1 >= best_of_first_metric.1, "{kept:?} {best_of_first_metric:?}");
    let KeptReason::BestOnValidation { metric, value, .. } = &history.kept.as_ref().unwrap().reason
    else {
        panic!("validation data decides");
    };
    assert_eq!((metric.as_str(), *value), ("p@5 with ndcg@10 kept within 0.01", kept.1));
    assert_eq!(result.model.header().learner, text);
    // With other metrics, the first of them decides, as without a goal.
    let ap = LearnerSpec::parse("lambdamart(metric=ap)").unwrap().measure().unwrap();
    let other = TrainRequest::new(&train).validation(&valid).metrics([ap]);
    let history = learner.train(other).unwrap().history;
    let values: Vec<f64> = history.iterations.iter().map(|round| round.values[0][0]).collect();
    let best = values.iter().copied().fold(0.0, f64::max);
    assert_eq!(values[history.best.unwrap() - 1], best);
}

#[test]
fn goals_that_cannot_be_kept_are_refused() {
    let error = |text: &str| LearnerSpec::parse(text).unwrap_err().to_string();
    assert!(error("lambdamart(goal=keep(ndcg@10))").contains("keep(ndcg@10, 0.005)"));
    assert!(error("lambdamart(goal=keep(ndcg@10, -1))").contains("keep(ndcg@10, 0.005)"));
    assert!(error("lambdamart(goal=keep(kendall, 0.1))").contains("kendall"));
    assert!(error("lambdamart(goal=keep(ap, 0.1), weight=loss2)").contains("weight=swap"));
    assert!(error("lambdamart(metric=ndcg@10:1+kendall:1)").contains("kendall"));
}

/// Generated data with clicks that contradict the judgements, more or less.
fn clicked(seed: u64) -> Dataset {
    let data = LetorOptions { queries: 40, documents: 15, seed }.generate().unwrap();
    let clicks = data.labels().iter().enumerate();
    let clicks = clicks.map(|(row, label)| ((4.0 - label) + (row % 3) as f64).min(4.0)).collect();
    data.with_label_column("clicks", clicks).unwrap()
}

/// NDCG@10 of a model by a column of labels.
fn ndcg(model: &Model, data: &Dataset, column: &str) -> f64 {
    let scores = model.score(data, ScoreOptions::default()).unwrap();
    let labels = data.label_column(column).unwrap();
    let scored = ScoredDataset::new(data, &scores).unwrap().labels(labels).unwrap();
    scored.evaluate("ndcg@10").unwrap().results[0].value
}

fn fit(text: &str, data: &Dataset) -> TrainResult {
    LearnerSpec::parse(text).unwrap().train(TrainRequest::new(data)).unwrap()
}

/// Every learner of an objective: from relevance to clicks, one rises and the other falls.
#[test]
fn weights_move_every_learner_from_one_column_to_the_other() {
    let (train, test) = (clicked(1), clicked(2));
    for learner in [
        "lambdamart(trees=30, leaves=6",
        "lambdamart(trees=30, leaves=6, newton=cross-leaf",
        "rankmart(trees=30, leaves=6",
        "xendcg(trees=30, leaves=6",
        "mart(trees=30, leaves=6",
        "yetirank(trees=30, leaves=6",
        "boosting(objective=softmax, trees=30, leaves=6",
        "ranknet(layers=0, epochs=10",
        "lambdarank(layers=0, epochs=10",
        "softmax(layers=0, epochs=10",
        "listnet(layers=0, epochs=10",
    ] {
        let values: Vec<[f64; 2]> = ["label:1", "label:1+clicks:1", "clicks:1"]
            .map(|labels| {
                let model = fit(&format!("{learner}, labels={labels})"), &train).model;
                ["label", "clicks"].map(|column| ndcg(&model, &test, column))
            })
            .into();
        assert!(values[0][0] > values[2][0] + 0.05, "{learner}: {values:?}");
        assert!(values[2][1] > values[0][1] + 0.05, "{learner}: {values:?}");
        let between = |goal: usize| {
            let (low, high) =
                (values[0][goal].min(values[2][goal]), values[0][goal].max(values[2][goal]));
            (low - 0.03..=high + 0.03).contains(&values[1][goal])
        };
        assert!(between(0) && between(1), "{learner}: {values:?}");
    }
}

/// One column alone is the training on data whose labels it is, to the byte.
#[test]
fn one_other_column_is_the_training_on_its_labels() {
    let train = clicked(1);
    let swapped =
        train.clone().with_labels(train.label_column("clicks").unwrap().to_vec()).unwrap();
    for learner in
        ["lambdamart(trees=5, leaves=6", "mart(trees=5, leaves=6", "ranknet(layers=4, epochs=3"]
    {
        let other = fit(&format!("{learner}, labels=clicks:1)"), &train).model;
        let own = fit(&format!("{learner})"), &swapped).model;
        assert_eq!(other.body(), own.body(), "{learner}");
    }
    assert_eq!(
        fit("mart(trees=2, labels=label:1)", &train).model.to_bytes(),
        fit("mart(trees=2)", &train).model.to_bytes()
    );
}

/// The value that chooses the round is the weighted mean over the columns; a kept metric is that of
/// the data's own labels.
#[test]
fn validation_follows_the_same_columns() {
    let (train, valid) = (clicked(1), clicked(2));
    let text = "lambdamart(trees=20, leaves=6, labels=label:1+clicks:3)";
    let learner = LearnerSpec::parse(text).unwrap();
    let result = learner.train(TrainRequest::new(&train).validation(&valid)).unwrap();
    let history = &result.history;
    let kept = history.iterations[history.best.unwrap() - 1].values[0][0];
    let of = |column: &str| ndcg(&result.model, &valid, column);
    assert!((kept - (of("label") + 3.0 * of("clicks")) / 4.0).abs() < 1e-9, "{kept}");
    assert!(history.conventions[0].ends_with(" labels=label:1+clicks:3"), "{history:?}");
    assert!(result.model.header().learner.contains("labels=label:1+clicks:3"));
    let text = "lambdamart(trees=20, leaves=6, goal=keep(ndcg@10, 0.01), labels=clicks:1)";
    let learner = LearnerSpec::parse(text).unwrap();
    let result = learner.train(TrainRequest::new(&train).validation(&valid)).unwrap();
    let history = &result.history;
    let values = &history.iterations[history.best.unwrap() - 1].values[0];
    let found = ["label", "clicks"].map(|column| ndcg(&result.model, &valid, column));
    assert!((values[0] - found[0]).abs() < 1e-9 && (values[1] - found[1]).abs() < 1e-9);
    let highest = history.iterations.iter().map(|round| round.values[0][0]).fold(0.0, f64::max);
    assert!(values[0] >= highest - 0.01, "{values:?} {highest}");
    // Kept relevance costs clicks, and clicks alone cost relevance.
    let alone = fit("lambdamart(trees=20, leaves=6, labels=clicks:1)", &train).model;
    assert!(found[0] > ndcg(&alone, &valid, "label") + 0.02, "{found:?}");
    assert!(ndcg(&alone, &valid, "clicks") > found[1], "{found:?}");
}

#[test]
fn labels_travel_through_folds_and_interruptions_and_threads() {
    let data = clicked(3);
    let learner = LearnerSpec::parse("mart(trees=4, leaves=4, labels=label+clicks:0.5)").unwrap();
    let found = cross_validate(&learner, &data, &CvOptions::new(vec![learner.measure().unwrap()]));
    assert!(found.is_ok(), "{:?}", found.err());
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| learner.train(TrainRequest::new(&data)).unwrap().model.to_bytes())
    };
    assert!(bytes(1) == bytes(2) && bytes(1) == bytes(3));
}

#[test]
fn labels_that_cannot_be_mixed_are_refused_with_the_reason() {
    let error = |text: &str| LearnerSpec::parse(text).unwrap_err().to_string();
    assert!(error("lambdamart(labels=label:0)").contains("weights above 0"));
    assert!(error("lambdamart(labels=a+a)").contains("each once"));
    assert!(error("mart(loss=ordinal, labels=label+clicks)").contains("thresholds"));
    assert!(error("lambdamart(bias=gam, labels=label+clicks)").contains("bias"));
    assert!(error("ranknet(update=pair, labels=label+clicks)").contains("whole queries"));
    assert!(error("ranksvm(labels=label+clicks)").contains("labels"));
    let data = clicked(1);
    let train = |text: &str, request: TrainRequest<'_>| {
        LearnerSpec::parse(text).unwrap().train(request).unwrap_err()
    };
    let missing = train("mart(labels=label+sales)", TrainRequest::new(&data));
    assert_eq!(missing.kind(), "label-column-missing");
    assert!(missing.to_string().contains("label, clicks"), "{missing}");
    let plain = LetorOptions { queries: 5, documents: 10, seed: 1 }.generate().unwrap();
    let request = TrainRequest::new(&data).validation(&plain);
    assert_eq!(train("mart(labels=label+clicks)", request).kind(), "label-column-missing");
}
