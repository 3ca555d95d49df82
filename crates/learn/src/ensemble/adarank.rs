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
//! try; a choice is O(queries x features). P changes only when a feature is kept, so the order of
//! the tries until then is known, and several are ranked at once, each from the current ranking
//! ([`steps`](super::steps)). Queries that the metric skips are ignored; data where the metric
//! skips every query is an error. Constant features and queries of a single document have no effect
//! on the choice; if no feature improves the metric, the model keeps the first choice.

use std::cmp::Ordering;

use rankwright_eval::compare::Better;
use rankwright_eval::{MetricSpec, SourceKind};
use rankwright_spec::{Conflict, SpecError, choices, param_groups, params};
use rayon::prelude::*;

use super::columns::QueryColumns;
use super::steps::{CurrentRanking, Step, StepValues};
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
/// The largest number of tries that are ranked at once. The tries after the one that is kept are in
/// vain, so the number starts at 1 and doubles.
const MAX_BATCH: usize = 8;
/// Number of features whose rankings are evaluated at once at the start.
const START_BATCH: usize = 16;

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

impl WeakRanker {
    /// The step that adds this ranker to a model with a weight.
    fn step(&self, alpha: f64) -> Step {
        Step { column: self.column, factor: alpha * self.sign }
    }
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
    /// The ranking by the model so far.
    current: CurrentRanking,
    /// Metric of the model so far.
    value: f64,
}

impl Trainer for AdaRankTrainer {
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let target = TargetMetric::new(request.train, &self.target)?;
        let (inputs, columns) = TransformedData::by_column(&self.transform, &target)?;
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
        let current = target.rank(vec![0.0; target.layout().len()])?;
        let mut ranker_values: Vec<Vec<f64>> = Vec::with_capacity(rankers.len());
        let mut skipped = vec![true; target.data().queries()];
        for batch in rankers.chunks(START_BATCH * signs.len()) {
            let steps: Vec<Step> = batch.iter().map(|ranker| ranker.step(1.0)).collect();
            let values = target.step_values(&current, columns, &steps)?;
            check_range(&values)?;
            for number in (0..steps.len()).step_by(signs.len()) {
                let of_query = skipped.iter_mut().zip(values.of_step(number));
                of_query.for_each(|(skipped, value)| *skipped &= value.is_none());
            }
            let values_of_ranker =
                |number| values.of_step(number).map(|value| value.unwrap_or(0.0)).collect();
            ranker_values.extend((0..steps.len()).map(values_of_ranker));
        }
        let has_value = |query: usize| !skipped[query];
        let weight = |query| if has_value(query) { target.weight(query) } else { 0.0 };
        Ok(Self {
            target,
            columns,
            ranker_values,
            normalised_weights: normalised((0..skipped.len()).map(weight).collect()),
            chosen: Vec::new(),
            rankers,
            current,
            value: f64::NEG_INFINITY,
        })
    }

    /// Tries weak rankers, the best one first, until one is kept; false if none is kept.
    fn step(&mut self, tolerance: f64) -> Result<bool, LearnError> {
        let choices = self.choices();
        let (mut remaining, mut batch_size) = (choices.as_slice(), 1);
        while !remaining.is_empty() {
            let (batch, later) = remaining.split_at(batch_size.min(remaining.len()));
            let values = self.values_with(batch)?;
            let totals = self.target.step_totals(&values);
            for (number, (choice, value)) in batch.iter().zip(totals).enumerate() {
                // The first choice is always kept.
                if self.chosen.is_empty() || value > self.value + tolerance {
                    self.keep(*choice, value, values.of_step(number))?;
                    return Ok(true);
                }
            }
            (remaining, batch_size) = (later, (2 * batch_size).min(MAX_BATCH));
        }
        Ok(false)
    }

    /// All weak rankers with their alpha, for the current query weights, best first; of equally
    /// good ones the first.
    fn choices(&self) -> Vec<(usize, f64)> {
        let mean_value = |values: &Vec<f64>| {
            let pairs = values.iter().zip(&self.normalised_weights);
            pairs.map(|(value, weight)| weight * value).sum::<f64>()
        };
        let means: Vec<f64> = self.ranker_values.par_iter().map(mean_value).collect();
        let mut choices: Vec<(usize, f64)> = means.into_iter().enumerate().collect();
        choices.sort_by(|(_, a), (_, b)| b.partial_cmp(a).unwrap_or(Ordering::Equal));
        choices.into_iter().map(|(number, r)| (number, alpha(r))).collect()
    }

    /// The metric of each query after adding each of these choices to the model.
    fn values_with(&self, choices: &[(usize, f64)]) -> Result<StepValues, LearnError> {
        let step = |(number, alpha): &(usize, f64)| self.rankers[*number].step(*alpha);
        let steps: Vec<Step> = choices.iter().map(step).collect();
        self.target.step_values(&self.current, self.columns, &steps)
    }

    /// Adds a choice (index of the weak ranker, and alpha); `value` and `values` are the metric and
    /// that of each query after that.
    fn keep(
        &mut self,
        choice: (usize, f64),
        value: f64,
        values: impl Iterator<Item = Option<f64>>,
    ) -> Result<(), LearnError> {
        self.chosen.push(choice);
        let Step { column, factor } = self.rankers[choice.0].step(choice.1);
        let mut scores = self.current.scores().to_vec();
        self.columns.add_column(&mut scores, factor, column);
        self.current = self.target.rank(scores)?;
        self.value = value;
        let weight = |(query, value): (usize, Option<f64>)| {
            value.map_or(0.0, |value| self.target.weight(query) * exp(-value))
        };
        self.normalised_weights = normalised(values.enumerate().map(weight).collect());
        Ok(())
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
            let choice = (number, *alpha);
            let values = self.values_with(&[choice])?;
            let value = self.target.total(values.of_step(0));
            self.keep(choice, value, values.of_step(0))?;
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
fn check_range(values: &StepValues) -> Result<(), LearnError> {
    // A difference of 1e-9 is a rounding error.
    let outside = |value: &f64| !(-1e-9..=1.0 + 1e-9).contains(value);
    match values.all().flatten().find(outside) {
        None => Ok(()),
        Some(value) => Err(LearnError::MetricOutOfRange { value }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::test_support::{rows, trains_reproducibly};
    use crate::learner::LearnerSpec;
    use rankwright_data::Dataset;
    use rankwright_data::generate::LetorOptions;
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

    /// The metric of each query, each ranked whole, by the weighted sum of some columns.
    fn whole_ranking(target: &TargetMetric<'_>, weights: &[(usize, f64)]) -> Vec<Option<f64>> {
        let matrix = target.data().matrix();
        let values = target.values(1, |query, _, to| {
            for (to, row) in to.iter_mut().zip(target.data().query_rows(query)) {
                let term =
                    |(column, weight): &(usize, f64)| weight * f64::from(matrix.get(row, *column));
                *to = weights.iter().map(term).fold(0.0, |sum, term| sum + term);
            }
        });
        values.unwrap().concat()
    }

    /// AdaRank as the head of this file has it, a try at a time: the columns chosen, with their
    /// weights.
    fn reference(target: &TargetMetric<'_>, rounds: usize, tolerance: f64) -> Vec<(usize, f64)> {
        let columns = 0..target.data().columns();
        let rankers: Vec<(usize, f64)> =
            columns.flat_map(|column| [(column, 1.0), (column, -1.0)]).collect();
        let ranker_values: Vec<Vec<Option<f64>>> =
            rankers.iter().map(|ranker| whole_ranking(target, &[*ranker])).collect();
        let weight =
            |(query, value): (usize, &Option<f64>)| value.map_or(0.0, |_| target.weight(query));
        let mut p = normalised(ranker_values[0].iter().enumerate().map(weight).collect());
        let (mut chosen, mut best_value) = (Vec::new(), f64::NEG_INFINITY);
        'rounds: for _ in 0..rounds {
            let mut suspended = vec![false; rankers.len()];
            while suspended.iter().any(|suspended| !suspended) {
                let r = |number: usize| {
                    let values = ranker_values[number].iter().zip(&p);
                    values.map(|(value, p)| p * value.unwrap_or(0.0)).sum::<f64>()
                };
                let active = (0..rankers.len()).filter(|number| !suspended[*number]);
                let best = active.reduce(|a, b| if r(b) > r(a) { b } else { a }).unwrap();
                let (column, sign) = rankers[best];
                let mut tried = chosen.clone();
                tried.push((column, alpha(r(best)) * sign));
                let values = whole_ranking(target, &tried);
                let value = target.total(values.iter().copied());
                if chosen.is_empty() || value > best_value + tolerance {
                    let weight = |(query, value): (usize, &Option<f64>)| {
                        value.map_or(0.0, |value| target.weight(query) * exp(-value))
                    };
                    p = normalised(values.iter().enumerate().map(weight).collect());
                    (chosen, best_value) = (tried, value);
                    continue 'rounds;
                }
                suspended[best] = true;
            }
            break;
        }
        chosen
    }

    #[test]
    fn the_choices_are_those_of_whole_rankings_one_at_a_time() {
        let data = LetorOptions { queries: 12, documents: 14, seed: 6 }.generate().unwrap();
        for (metric, tolerance) in [("ndcg@5", 0.0), ("ap", 0.0), ("ndcg(ties=mean)@3", 0.002)] {
            let target = TargetMetric::new(&data, &MetricSpec::parse(metric).unwrap()).unwrap();
            let values = data.matrix().values();
            let columns = QueryColumns::new(target.layout(), values, data.columns());
            let mut state = AdaRankState::new(&target, &columns, true).unwrap();
            let rounds = (0..6).take_while(|_| state.step(tolerance).unwrap()).count();
            assert!(rounds > 2, "{metric}");
            let step = |(number, alpha): &(usize, f64)| state.rankers[*number].step(*alpha);
            let found: Vec<(usize, f64)> =
                state.chosen.iter().map(step).map(|step| (step.column, step.factor)).collect();
            assert_eq!(found, reference(&target, 6, tolerance), "{metric}");
        }
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
