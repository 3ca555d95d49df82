//! AdaRank (Xu and Li, *AdaRank: A Boosting Algorithm for Information Retrieval*, SIGIR 2007): a
//! linear model whose weights are found by boosting a metric over queries.
//!
//! ```text
//! P(q) = w_q / sum of w                                  at the start
//! h = the feature with the largest sum of P(q) E(q, h)   E: metric of q ranked by h alone
//! alpha = 1/2 ln(sum of P (1 + E) / sum of P (1 - E))
//! f = f + alpha h,   P(q) = w_q exp(-E(q, f)) / Z
//! ```
//!
//! w_q is the weight of query q, f the model so far, and Z makes the P sum to 1. Since the P sum to
//! 1, alpha is 1/2 ln((1 + r) / (1 - r)) with r the sum of P E.
//!
//! A weak ranker is one feature, by descending values and, with `directions=both`, by ascending
//! ones too (then its alpha is subtracted from the weight). E must be a metric from 0 to 1 of which
//! higher values are better: NDCG, AP, ERR, RR and others. Once the best feature is in the model,
//! boosting P alone would choose it forever, because more of the same feature changes no ranking;
//! so a feature is kept only if it improves the metric of the whole model by more than `tolerance`,
//! and is otherwise suspended (not tried again) until another one is kept. When all are suspended,
//! training ends.
//!
//! Cost: one ranking of the data for each feature and direction at the start, then one for each
//! try; if the metric has a cut-off, only the first ranks are sorted. Queries that the metric skips
//! are ignored; data where the metric skips every query is an error. Constant features and queries
//! of a single document have no effect on the choice; if no feature improves the metric, the model
//! keeps the first choice.

use rankwright_eval::compare::Better;
use rankwright_eval::{MetricSpec, SourceKind};
use rankwright_spec::{Conflict, SpecError, choices, param_groups, params};
use rayon::prelude::*;

use super::columns::QueryColumns;
use super::target::TargetMetric;
use super::{TransformedData, float_state};
use crate::error::LearnError;
use crate::exp::exp;
use crate::learner::{
    AcceptedInputs, DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning,
};
use crate::session::{RoundPlan, RoundStatus, Session, Stop, TrainRequest, TrainResult};
use crate::trainer::{Trainer, ValidationUse};
use crate::transform::{TRANSFORM_SPACE, TransformOptions, TransformParams};

choices! {
    /// The directions in which a feature may rank.
    pub enum Directions {
        /// By falling and by rising values.
        Both = "both",
        /// By falling values alone.
        Falling = "falling",
    }
}

params! {
    /// Parameters of AdaRank.
    pub struct AdaRankParams {
        rounds: usize = 500, 1.., "Maximum number of features added.";
        directions: Directions = Directions::Both, ..,
            "Directions in which a feature may rank: by falling values only (falling), or by \
             rising values too (both).";
        tolerance: f64 = 0.0, 0.0..,
            "A feature is added only if it raises the metric on the training data by more than \
             this.";
        stop: Stop = Stop::Auto, ..,
            "Number of rounds without improvement on validation data after which training stops; \
             auto: all rounds are trained. With validation data, the best number of rounds is kept; \
             none: all are kept.";
    }
    /// Builder methods for the parameters of AdaRank.
    pub trait AdaRankOptions: ada_rank_params;
}

param_groups! {
    /// AdaRank: a linear model whose features are boosted on the queries that a metric is low for.
    pub struct AdaRank {
        boost: AdaRankParams, AdaRankOptions::ada_rank_params;
        features: TransformParams, TransformOptions::transform_params;
        // The metric that is maximised.
        target: TargetParams, TargetOptions::target_params;
    }
}

impl DeclaredLearner for AdaRank {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "adarank",
        help: "A linear model whose features are boosted on the queries that a metric is low for (Xu and Li 2007).",
        example: "adarank(rounds=100, metric=ap)",
        accepts: AcceptedInputs {
            pairs: false,
            pairs_alone: false,
            start: false,
            validation: true,
            missing: false,
            positions: false,
        },
        tuning: Some(Tuning {
            space: &[
                "directions=choice(both,falling), tolerance=choice(0,0.0001,0.001)",
                TRANSFORM_SPACE,
            ],
            rounds_parameter: Some("rounds"),
            rounds_range: Some("logint(10,500)"),
            stop: Some("100"),
        }),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let target = self.target.metric.spec()?;
        TargetMetric::check(&target, Self::DEF.name)?;
        if target.resolve(SourceKind::Features)?.metric().better() == Better::Lower {
            let conflict = Conflict::UnsuitableMetric {
                metric: target.to_string(),
                reason: "lower values are better".to_owned(),
                expected: "a metric from 0 to 1, such as metric=ndcg@10",
            };
            return Err(SpecError::conflict(Self::DEF.name, conflict));
        }
        Ok(Box::new(AdaRankTrainer {
            rounds: self.boost.rounds,
            both_directions: self.boost.directions == Directions::Both,
            tolerance: self.boost.tolerance,
            stop: self.boost.stop,
            transform: self.features.clone(),
            target,
        }))
    }
}

/// A larger mean metric r counts as this one: the alpha of a perfect ranker would be infinite.
const MAX_MEAN: f64 = 1.0 - 1e-6;

/// Trains AdaRank.
#[derive(Debug)]
struct AdaRankTrainer {
    rounds: usize,
    both_directions: bool,
    tolerance: f64,
    stop: Stop,
    transform: TransformParams,
    target: MetricSpec,
}

/// A weak ranker: the column of a feature, and a sign: 1 to rank by falling values, -1 by rising
/// ones.
#[derive(Debug, Clone, Copy, PartialEq)]
struct WeakRanker {
    column: usize,
    sign: f64,
}

/// The state of a training: the features chosen so far, and the weights of the queries.
struct AdaRankState<'a> {
    target: &'a TargetMetric<'a>,
    columns: &'a QueryColumns<f32>,
    rankers: Vec<WeakRanker>,
    /// Metric by weak ranker and query; 0 for queries that the metric skips.
    ranker_values: Vec<Vec<f64>>,
    /// P: the weight of each query in the next choice; the weights sum to 1.
    normalised_weights: Vec<f64>,
    /// Choices so far: index of the weak ranker, and alpha.
    chosen: Vec<(usize, f64)>,
    /// For each weak ranker, whether it is suspended.
    suspended: Vec<bool>,
    /// Scores of the model so far.
    scores: Vec<f64>,
    /// Metric of the model so far.
    value: f64,
}

impl Trainer for AdaRankTrainer {
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let mut inputs = TransformedData::new(&self.transform, request.train)?;
        let columns = inputs.take_columns(request.train);
        let target = TargetMetric::new(request.train, &self.target)?;
        let (mut session, saved) =
            Session::begin(request, RoundPlan::new("round", self.rounds, request).stop(self.stop))?;
        let mut state = AdaRankState::new(&target, &columns, self.both_directions)?;
        if let Some(saved) = saved.and_then(|saved| saved.learner_state) {
            state.restore(&float_state::read(&saved)?)?;
        }
        let mut finished = true;
        while !session.is_over() {
            if !state.step(self.tolerance)? {
                break;
            }
            let loss = Some(1.0 - state.value);
            let model = || inputs.model(&state.weights());
            match session
                .end_round_with_model(loss, model, &|| float_state::write(&state.to_numbers()))?
            {
                RoundStatus::Continue => {}
                RoundStatus::Over => break,
                RoundStatus::Cancelled => {
                    finished = false;
                    break;
                }
            }
        }
        Ok(inputs.with_weights(session.finish(finished)?))
    }

    fn objective(&self) -> String {
        self.target.to_string()
    }

    fn rounds(&self) -> Option<(usize, &'static str)> {
        Some((self.rounds, "round"))
    }

    fn validation_use(&self) -> ValidationUse {
        ValidationUse::of_model_choice(self.stop)
    }
}

impl<'a> AdaRankState<'a> {
    /// The state before the first choice: ranks all queries by each weak ranker alone.
    fn new(
        target: &'a TargetMetric<'a>,
        columns: &'a QueryColumns<f32>,
        both_directions: bool,
    ) -> Result<Self, LearnError> {
        let signs: &[f64] = if both_directions { &[1.0, -1.0] } else { &[1.0] };
        let column_rankers =
            |column| signs.iter().map(move |sign| WeakRanker { column, sign: *sign });
        let rankers: Vec<WeakRanker> = (0..columns.columns()).flat_map(column_rankers).collect();
        let zeros = vec![0.0; target.data().rows()];
        let mut ranker_values: Vec<Vec<f64>> = Vec::with_capacity(rankers.len());
        let mut skipped = vec![true; target.data().queries()];
        for column in 0..columns.columns() {
            let values = target.step_values(&zeros, columns, column, signs)?;
            check_range(&values)?;
            for (skipped, query_values) in skipped.iter_mut().zip(&values) {
                *skipped &= query_values.first().is_none_or(|value| value.is_none());
            }
            let values_of_ranker =
                |number: usize| values.iter().map(|query| query[number].unwrap_or(0.0)).collect();
            ranker_values.extend((0..signs.len()).map(values_of_ranker));
        }
        let has_value = |query: usize| !skipped[query];
        let weight = |query| if has_value(query) { target.weight(query) } else { 0.0 };
        Ok(Self {
            target,
            columns,
            ranker_values,
            normalised_weights: normalised((0..skipped.len()).map(weight).collect()),
            chosen: Vec::new(),
            suspended: vec![false; rankers.len()],
            rankers,
            scores: zeros,
            value: f64::NEG_INFINITY,
        })
    }

    /// Tries weak rankers, the best one first, until one is kept; false if none is kept.
    fn step(&mut self, tolerance: f64) -> Result<bool, LearnError> {
        while let Some((number, r)) = self.best() {
            let alpha = alpha(r);
            let values = self.values_with(number, alpha)?;
            let value = self.target.total(values.iter().copied());
            // The first choice is always kept.
            if self.chosen.is_empty() || value > self.value + tolerance {
                self.keep((number, alpha), &values);
                return Ok(true);
            }
            self.suspended[number] = true;
        }
        Ok(false)
    }

    /// The index of the best weak ranker that is not suspended, for the current query weights, and
    /// its r; `None` if all are suspended.
    fn best(&self) -> Option<(usize, f64)> {
        let mean_value = |number: usize| {
            let pairs = self.ranker_values[number].iter().zip(&self.normalised_weights);
            pairs.map(|(value, weight)| weight * value).sum::<f64>()
        };
        let all: Vec<f64> = (0..self.rankers.len()).into_par_iter().map(mean_value).collect();
        let active = all.into_iter().enumerate().filter(|(number, _)| !self.suspended[*number]);
        active.fold(None, |best: Option<(usize, f64)>, (number, r)| match best {
            Some((_, best_r)) if best_r >= r => best,
            _ => Some((number, r)),
        })
    }

    /// The metric of each query after adding a weak ranker; `None` for queries that the metric
    /// skips.
    fn values_with(&self, number: usize, alpha: f64) -> Result<Vec<Option<f64>>, LearnError> {
        let WeakRanker { column, sign } = self.rankers[number];
        let all = self.target.step_values(&self.scores, self.columns, column, &[alpha * sign])?;
        Ok(all.into_iter().map(|values| values.first().copied().flatten()).collect())
    }

    /// Adds a choice (index of the weak ranker, and alpha); `values` are the metric of each query
    /// after that.
    fn keep(&mut self, choice: (usize, f64), values: &[Option<f64>]) {
        self.chosen.push(choice);
        let WeakRanker { column, sign } = self.rankers[choice.0];
        self.columns.add_column(&mut self.scores, choice.1 * sign, column);
        self.value = self.target.total(values.iter().copied());
        self.suspended.fill(false);
        let weight = |(query, value): (usize, &Option<f64>)| {
            value.map_or(0.0, |value| self.target.weight(query) * exp(-value))
        };
        self.normalised_weights = normalised(values.iter().enumerate().map(weight).collect());
    }

    /// The weight of each feature in the linear model.
    fn weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.columns.columns()];
        for (number, alpha) in &self.chosen {
            let WeakRanker { column, sign } = self.rankers[*number];
            weights[column] += alpha * sign;
        }
        weights
    }

    /// The choices as numbers, for a checkpoint.
    fn to_numbers(&self) -> Vec<f64> {
        self.chosen.iter().flat_map(|(number, alpha)| [*number as f64, *alpha]).collect()
    }

    /// Restores saved choices by making them again in their order, so that sums have the same bits.
    fn restore(&mut self, saved: &[f64]) -> Result<(), LearnError> {
        for [number, alpha] in saved.as_chunks().0 {
            let number = *number as usize;
            if number >= self.rankers.len() {
                return Err(float_state::unreadable());
            }
            let values = self.values_with(number, *alpha)?;
            self.keep((number, *alpha), &values);
        }
        Ok(())
    }
}

/// The weight of a weak ranker whose mean metric is `r`; 0 if `r` is 0.
fn alpha(r: f64) -> f64 {
    let r = r.clamp(-MAX_MEAN, MAX_MEAN);
    0.5 * ((1.0 + r) / (1.0 - r)).ln()
}

/// Weights divided by their sum.
fn normalised(mut weights: Vec<f64>) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    weights
}

/// Rejects metrics with values outside 0 to 1 on this data.
fn check_range(values: &[Vec<Option<f64>>]) -> Result<(), LearnError> {
    // A difference of 1e-9 is a rounding error.
    let outside = |value: &&f64| !(-1e-9..=1.0 + 1e-9).contains(*value);
    match values.iter().flatten().flatten().find(outside) {
        None => Ok(()),
        Some(value) => Err(LearnError::MetricOutOfRange { value: *value }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::test_support::{rows, trains_reproducibly};
    use crate::learner::LearnerSpec;
    use rankwright_data::Dataset;
    use rankwright_model::ModelBody;

    /// Three queries of two documents, one of them relevant; RR is 1 or 1/2. Feature 1 ranks the
    /// queries a and b correctly, feature 2 only c (in b its values are equal).
    fn three_queries() -> Dataset {
        rows(&[
            ("a", 1.0, &[1.0, 0.0]),
            ("a", 0.0, &[0.0, 1.0]),
            ("b", 1.0, &[1.0, 0.5]),
            ("b", 0.0, &[0.0, 0.5]),
            ("c", 1.0, &[0.0, 1.0]),
            ("c", 0.0, &[0.2, 0.0]),
        ])
    }

    #[test]
    fn two_rounds_have_the_weights_worked_out_by_hand() {
        // Round 1, query weights 1/3 each: feature 1 has E = 1, 1, 1/2 and r = 5/6; feature 2 has
        // 1/2, 1/2 (equal scores count as the worst order), 1 and r = 2/3. So feature 1 is chosen,
        // with alpha = 1/2 ln(11/6 / (1/6)).
        let data = three_queries();
        let spec = "adarank(metric=rr, rounds=2, transform=none, directions=falling)";
        let one_round = LearnerSpec::parse("adarank(metric=rr, rounds=1, transform=none)").unwrap();
        let first_alpha = 0.5 * 11.0_f64.ln();
        let model = one_round.train(TrainRequest::new(&data)).unwrap().model;
        let ModelBody::Linear(weights) = model.body() else { panic!("not a linear model") };
        assert!((weights.weights()[0] - first_alpha).abs() < 1e-12 && weights.weights()[1] == 0.0);
        // Then the query weights are e^-1, e^-1, e^-1/2 divided by their sum; feature 1 would
        // change nothing and is suspended; feature 2 has r = (1/2 + 1/2 + x) / (2 + x) with x =
        // e^1/2 (all three weights times e).
        let x = 0.5_f64.exp();
        let r = (1.0 + x) / (2.0 + x);
        let second_alpha = 0.5 * ((1.0 + r) / (1.0 - r)).ln();
        let result = LearnerSpec::parse(spec).unwrap().train(TrainRequest::new(&data)).unwrap();
        let ModelBody::Linear(weights) = result.model.body() else { panic!("not a linear model") };
        assert_eq!(result.history.iterations.len(), 2);
        assert!((weights.weights()[0] - first_alpha).abs() < 1e-12, "{weights:?}");
        assert!((weights.weights()[1] - second_alpha).abs() < 1e-12, "{weights:?}");
        // Weights 1.199 and 0.920: query a keeps its order and that of c is reversed, so all are
        // correct.
        assert_eq!(result.history.iterations[1].loss, Some(0.0));
    }

    #[test]
    fn a_feature_that_ranks_backwards_gets_a_negative_weight() {
        let data = rows(&[("a", 1.0, &[0.0]), ("a", 0.0, &[1.0]), ("a", 0.0, &[2.0])]);
        let train = |text: &str| {
            let model =
                LearnerSpec::parse(text).unwrap().train(TrainRequest::new(&data)).unwrap().model;
            (model.score_row(&[0.0]), model.score_row(&[2.0]))
        };
        let (relevant, irrelevant) = train("adarank(metric=ap)");
        assert!(relevant > irrelevant);
        let (relevant, irrelevant) = train("adarank(metric=ap, directions=falling)");
        assert!(relevant < irrelevant);
    }

    #[test]
    fn metrics_out_of_range_and_data_without_a_relevant_document_are_refused() {
        let parse = |text: &str| LearnerSpec::parse(text).unwrap_err().to_string();
        assert!(parse("adarank(metric=rmse)").contains("metric=ndcg@10"));
        assert!(parse("adarank(metric=inversions)").contains("metric=ndcg@10"));
        assert!(parse("adarank(rounds=0)").contains("rounds=0"));
        assert!(parse("adarank(tolerance=-1)").contains("tolerance=-1"));
        let train_error = |text: &str, data: &Dataset| {
            LearnerSpec::parse(text)
                .unwrap()
                .train(TrainRequest::new(data))
                .unwrap_err()
                .to_string()
        };
        let graded = rows(&[("a", 3.0, &[0.0]), ("a", 0.0, &[1.0])]);
        assert!(train_error("adarank(metric=dcg)", &graded).contains("from 0 to 1"));
        let irrelevant = rows(&[("a", 0.0, &[0.0]), ("a", 0.0, &[1.0])]);
        let error = train_error("adarank", &irrelevant);
        let expected = "no query of the training data has a value for ndcg@10";
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn constant_features_and_missing_values_give_a_model() {
        let nan = f32::NAN;
        let data =
            rows(&[("a", 1.0, &[nan, 5.0]), ("a", 0.0, &[1.0, 5.0]), ("a", 2.0, &[nan, 5.0])]);
        let spec = LearnerSpec::parse("adarank").unwrap();
        let model = spec.train(TrainRequest::new(&data)).unwrap().model;
        assert!(model.score_row(&[nan, 5.0]).is_finite());
    }

    #[test]
    fn threads_and_an_interruption_change_nothing() {
        trains_reproducibly("adarank(metric=ap, rounds=12)");
    }
}
