//! From cells to one evaluation per learner: folds concatenated, seeds averaged. A cell is one
//! training run: data set x fold x learner x seed.
//!
//! The test queries of all folds form one list, fold by fold, which is evaluated together. The
//! value of a query is the mean over seeds; a query that a metric skips is skipped for every seed,
//! because that depends on labels alone. If the total of a metric is the unweighted mean over
//! queries, it has the confidence interval of the averaged values, which describes the variation
//! over queries, not over seeds: Student's t; or, where an end of that interval would be outside
//! the range of the metric, Student's t on the logit scale (on the logarithmic scale for a metric
//! without a highest value). Other totals (sums, geometric means, weighted queries) are averaged
//! over the seeds and have no interval.

use std::sync::Arc;

use rankwright_data::Dataset;
use rankwright_eval::stats::mean_interval_within;
use rankwright_eval::{
    Aggregate, Candidates, EvalError, Evaluation, MeasureResult, QuerySource, ScoredDataset,
    SourceKind, TieEffect,
};

use crate::ExperimentError;

/// The test parts of all folds with one learner's scores, as one list of queries.
pub(super) struct Pooled<'a> {
    folds: Vec<ScoredDataset<'a>>,
    /// For each query of the list, its fold and its index within the fold.
    queries: Vec<(usize, usize)>,
}

impl<'a> Pooled<'a> {
    /// Pools the test part and the scores of each fold.
    pub(super) fn new(
        tests: &'a [Arc<Dataset>],
        scores: &'a [Vec<f64>],
    ) -> Result<Self, ExperimentError> {
        if tests.len() != scores.len() {
            return Err(ExperimentError::Internal { invariant: "each fold has scores" });
        }
        let folds = tests.iter().zip(scores).map(|(test, scores)| ScoredDataset::new(test, scores));
        let folds = folds.collect::<Result<Vec<_>, _>>()?;
        let of_fold = |(fold, test): (usize, &Arc<Dataset>)| {
            (0..test.queries()).map(move |query| (fold, query))
        };
        Ok(Self { folds, queries: tests.iter().enumerate().flat_map(of_fold).collect() })
    }

    /// The fold of each query.
    pub(super) fn folds(&self) -> Vec<usize> {
        self.queries.iter().map(|(fold, _)| *fold).collect()
    }

    /// The fold of a query, and its index within the fold.
    fn find(&self, q: usize) -> (&ScoredDataset<'a>, usize) {
        let (fold, query) = self.queries[q];
        (&self.folds[fold], query)
    }
}

impl QuerySource for Pooled<'_> {
    fn len(&self) -> usize {
        self.queries.len()
    }

    fn id(&self, q: usize) -> &str {
        let (fold, query) = self.find(q);
        fold.id(query)
    }

    fn weight(&self, q: usize) -> f64 {
        let (fold, query) = self.find(q);
        fold.weight(query)
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Features
    }

    fn load<'b>(&'b self, q: usize, into: &mut Candidates<'b>) -> Result<(), EvalError> {
        let (fold, query) = self.find(q);
        fold.load(query, into)
    }
}

/// The mean over seeds of evaluations of the same queries with the same metrics.
pub(super) fn mean(seeds: &[Evaluation]) -> Result<Evaluation, ExperimentError> {
    let internal = |invariant| ExperimentError::Internal { invariant };
    let [first, others @ ..] = seeds else {
        return Err(internal("a learner has at least one seed"));
    };
    if others.is_empty() {
        return Ok(first.clone());
    }
    let of_metric = |(m, first_result): (usize, &MeasureResult)| {
        let results: Option<Vec<&MeasureResult>> =
            seeds.iter().map(|seed| seed.results.get(m)).collect();
        let results = results.ok_or(internal("all seeds have the same metrics"))?;
        mean_result(first_result, &results)
    };
    let results = first.results.iter().enumerate().map(of_metric).collect::<Result<_, _>>()?;
    Ok(Evaluation { queries: first.queries.clone(), results })
}

/// The mean over seeds of the results of one metric.
fn mean_result(
    first: &MeasureResult,
    seeds: &[&MeasureResult],
) -> Result<MeasureResult, ExperimentError> {
    let count = seeds.len() as f64;
    let values: Vec<Option<f64>> = (0..first.values.len())
        .map(|q| {
            let values = seeds.iter().map(|seed| seed.values.get(q).copied().flatten());
            values.sum::<Option<f64>>().map(|sum| sum / count)
        })
        .collect();
    let counted: Vec<f64> = values.iter().copied().flatten().collect();
    let is_unweighted_mean =
        matches!(first.measure.aggregate(), Aggregate::Mean) && !first.weighted;
    let (value, interval) = match is_unweighted_mean {
        true => {
            let mean = counted.iter().sum::<f64>() / counted.len() as f64;
            let range = first.measure.metric().range();
            let interval = mean_interval_within(&counted, 0.95, range).map_err(|source| {
                ExperimentError::NoInterval { metric: first.measure.to_string(), source }
            })?;
            (mean, interval)
        }
        false => (seeds.iter().map(|seed| seed.value).sum::<f64>() / count, None),
    };
    let queries = counted.len();
    Ok(MeasureResult {
        measure: first.measure.clone(),
        convention: first.convention.clone(),
        weighted: first.weighted,
        values,
        value,
        queries,
        ci95: interval.map(|interval| (interval.low, interval.high)),
        interval: interval.map(|interval| interval.method),
        ties: mean_ties(seeds),
    })
}

/// The mean effect of ties over the seeds, with the largest number of queries of a seed; `None` if
/// no seed has ties.
fn mean_ties(seeds: &[&MeasureResult]) -> Option<TieEffect> {
    let queries = seeds.iter().filter_map(|seed| seed.ties).map(|ties| ties.queries).max()?;
    // For a seed without ties, the lowest and the highest value are its value.
    let mean = |end: fn(&TieEffect) -> f64| {
        let values = seeds.iter().map(|seed| seed.ties.as_ref().map_or(seed.value, end));
        values.sum::<f64>() / seeds.len() as f64
    };
    Some(TieEffect::new(queries, mean(|ties| ties.low), mean(|ties| ties.high)))
}

#[cfg(test)]
mod tests {
    use rankwright_eval::{EvalOptions, MetricSpec, ScoredQueries, evaluate};

    use super::*;

    /// Reciprocal ranks of three queries of two documents each.
    fn evaluation(scores: &[f64]) -> Evaluation {
        let labels = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        let queries =
            ScoredQueries::new(&labels, scores, vec![0..2, 2..4, 4..6], vec!["a", "b", "c"]);
        let rr = MetricSpec::parse("rr").unwrap().resolve(SourceKind::Features).unwrap();
        evaluate(&queries.unwrap(), &[rr], EvalOptions::default().tie_effect(true)).unwrap()
    }

    #[test]
    fn the_effect_of_ties_is_the_mean_over_seeds() {
        // With the first seed all documents tie: the metric is 0.5 to 1. With the second no
        // relevant document does: 0.75.
        let seeds = [evaluation(&[1.0; 6]), evaluation(&[2.0, 1.0, 2.0, 1.0, 0.0, 0.0])];
        let ties = mean(&seeds).unwrap().results[0].ties.unwrap();
        assert_eq!((ties.queries, ties.low, ties.high), (2, 0.625, 0.875));
        let without_ties = [seeds[1].clone(), seeds[1].clone()];
        assert_eq!(mean(&without_ties).unwrap().results[0].ties, None);
    }

    #[test]
    fn the_value_of_a_query_is_the_mean_over_seeds_and_skipped_queries_stay_skipped() {
        // Reciprocal ranks 1 and 1/2, then 1/2 and 1/2; the third query has no relevant document.
        let seeds = [
            evaluation(&[2.0, 1.0, 2.0, 1.0, 0.0, 0.0]),
            evaluation(&[1.0, 2.0, 2.0, 1.0, 0.0, 0.0]),
        ];
        let found = mean(&seeds).unwrap();
        assert_eq!(found.results[0].values, [Some(0.75), Some(0.5), None]);
        assert_eq!((found.results[0].value, found.results[0].queries), (0.625, 2));
        // Student's t for two values, 0.625 -+ 12.7062 * 0.125, would exceed the range 0 to 1, so
        // the interval is computed on the logit scale: 0.5108 -+ 1.5883 / (0.625 * 0.375).
        let (low, high) = found.results[0].ci95.unwrap();
        assert!((low - 0.001_897).abs() < 1e-5 && (high - 0.999_317).abs() < 1e-5, "{low} {high}");
    }

    #[test]
    fn the_total_of_weighted_queries_is_the_mean_of_the_totals_and_has_no_interval() {
        let (labels, scores) = ([1.0, 0.0, 0.0, 1.0], [2.0, 1.0, 2.0, 1.0]);
        let queries = ScoredQueries::new(&labels, &scores, vec![0..2, 2..4], vec!["a", "b"]);
        let queries = queries.unwrap().with_weights(&[3.0, 1.0]).unwrap();
        let rr = MetricSpec::parse("rr").unwrap().resolve(SourceKind::Features).unwrap();
        let seed = evaluate(&queries, &[rr], EvalOptions::default()).unwrap();
        let found = mean(&[seed.clone(), seed]).unwrap();
        // Reciprocal ranks 1 and 1/2 with weights 3 and 1; the unweighted mean would be 0.75.
        let result = &found.results[0];
        assert_eq!((result.value, result.ci95, result.weighted), (0.875, None, true));
    }

    #[test]
    fn values_without_an_interval_are_an_error() {
        let mut seed = evaluation(&[2.0, 1.0, 2.0, 1.0, 0.0, 0.0]);
        seed.results[0].values[1] = Some(f64::NAN);
        let error = mean(&[seed.clone(), seed]).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("no interval of the mean of rr: value NaN"), "{message}");
    }

    #[test]
    fn the_mean_over_one_seed_is_its_evaluation() {
        let seed = evaluation(&[2.0, 1.0, 2.0, 1.0, 0.0, 0.0]);
        let found = mean(std::slice::from_ref(&seed)).unwrap();
        assert_eq!(found.results[0].values, seed.results[0].values);
        assert_eq!(found.results[0].ci95, seed.results[0].ci95);
        assert!(mean(&[]).is_err());
    }

    #[test]
    fn folds_are_evaluated_as_one_list_of_queries() {
        use rankwright_data::generate::LetorOptions;
        let whole = LetorOptions { queries: 9, documents: 8, seed: 3 }.generate().unwrap();
        let scores: Vec<f64> =
            (0..whole.rows()).map(|row| f64::from(whole.matrix().get(row, 70))).collect();
        let ndcg = MetricSpec::parse("ndcg@5").unwrap().resolve(SourceKind::Features).unwrap();
        let together = ScoredDataset::new(&whole, &scores)
            .unwrap()
            .evaluate(std::slice::from_ref(&ndcg))
            .unwrap();
        let folds = [(0..4).collect::<Vec<_>>(), (4..9).collect()];
        let tests: Vec<Arc<Dataset>> =
            folds.iter().map(|queries| Arc::new(whole.select_queries(queries).unwrap())).collect();
        let rows = tests[0].rows();
        let scores_of_folds = [scores[..rows].to_vec(), scores[rows..].to_vec()];
        let pooled = Pooled::new(&tests, &scores_of_folds).unwrap();
        let found = evaluate(&pooled, &[ndcg], EvalOptions::default()).unwrap();
        assert_eq!(found.queries, together.queries);
        assert_eq!(found.results[0].values, together.results[0].values);
        assert_eq!(found.results[0].value, together.results[0].value);
    }
}
