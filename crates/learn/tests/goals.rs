//! Several goals at once: weighted sums of metrics, and a metric that is kept before another.

use rankwright_data::Dataset;
use rankwright_data::generate::LetorOptions;
use rankwright_learn::KeptReason;
use rankwright_learn::prelude::*;

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
    assert!(matches!(history.kept.as_ref().unwrap().reason, KeptReason::BestOnValidation { .. }));
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
