//! Coordinate ascent (Metzler and Croft, *Linear Feature-Based Models for Information Retrieval*,
//! Information Retrieval 10, 2007): a linear model whose weights are changed one by one as long as
//! the metric itself improves.
//!
//! The search is in [`coordinate_search`](super::coordinate_search). It ends in a local maximum,
//! where no change of a single weight improves the metric by more than `tolerance`; so it starts
//! again from random weights, `restarts` times in all, and the best weights on the training data
//! are kept. The order of the weights is shuffled for each pass. All random draws are determined by
//! seed, restart and pass.
//!
//! A pass changes each weight once; its cost is at most features x 31 rankings of the data (up to
//! 31 steps are tried for a weight). Data where no query has a metric value is an error; constant
//! features keep a weight that changes no order.

use rankwright_data::Random;
use rankwright_eval::MetricSpec;
use rankwright_spec::{SpecError, param_groups, params};

use super::coordinate_search::{CoordinateSearch, WeightPoint};
use super::target::TargetMetric;
use super::{TransformedData, float_state};
use crate::error::LearnError;
use crate::learner::{
    AcceptedInputs, DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning,
};
use crate::session::{RoundPlan, RoundStatus, Session, TrainRequest, TrainResult};
use crate::trainer::{Trainer, ValidationUse};
use crate::transform::{TRANSFORM_SPACE, TransformOptions, TransformParams};

params! {
    /// Parameters of coordinate ascent.
    pub struct CoordinateAscentParams {
        restarts: usize = 3, 1..,
            "Number of starts: the first from equal weights, the others from random ones.";
        passes: usize = 25, 1.., "Maximum number of passes over all weights, for each start.";
        tolerance: f64 = 0.0005, 0.0..,
            "A change of a weight must raise the metric by more than this.";
    }
    /// Builder methods for the parameters of coordinate ascent.
    pub trait CoordinateAscentOptions: coordinate_ascent_params;
}

param_groups! {
    /// Coordinate ascent: a linear model whose weights are changed one at a time while a metric
    /// improves.
    pub struct CoordinateAscent {
        ascent: CoordinateAscentParams, CoordinateAscentOptions::coordinate_ascent_params;
        features: TransformParams, TransformOptions::transform_params;
        // The metric that is maximised.
        target: TargetParams, TargetOptions::target_params;
    }
}

impl DeclaredLearner for CoordinateAscent {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "coordinate-ascent",
        help: "A linear model whose weights are changed one at a time while a metric improves (Metzler and Croft 2007).",
        example: "coordinate-ascent(restarts=2, passes=3, metric=ndcg@10)",
        accepts: AcceptedInputs {
            pairs: false,
            pairs_alone: false,
            start: false,
            validation: true,
            missing: false,
            positions: false,
        },
        tuning: Tuning::without_rounds(&[
            "restarts=choice(1,2,3,5), tolerance=log(0.0001,0.005)",
            TRANSFORM_SPACE,
        ]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let target = self.target.metric.spec()?;
        TargetMetric::check(&target, Self::DEF.name)?;
        Ok(Box::new(CoordinateTrainer {
            restarts: self.ascent.restarts,
            passes: self.ascent.passes,
            tolerance: self.ascent.tolerance,
            transform: self.features.clone(),
            target,
        }))
    }
}

/// Any constant: keeps the random order of weights apart from other random numbers of the seed.
const ORDER_SEED: u64 = 0x6f72_6465_7273;
/// Any constant: keeps the random start weights apart from other random numbers of the seed.
const START_SEED: u64 = 0x7374_6172_7473;

/// Trains a linear model by coordinate ascent.
#[derive(Debug)]
struct CoordinateTrainer {
    restarts: usize,
    passes: usize,
    tolerance: f64,
    transform: TransformParams,
    target: MetricSpec,
}

/// The state of a training, which a checkpoint keeps.
#[derive(Debug, Clone, PartialEq)]
struct AscentState {
    /// Number of the current start, from 0.
    restart: usize,
    /// Number of passes since the last start.
    pass: usize,
    /// The weights after the last pass, or at the start.
    current: WeightPoint,
    /// The best weights of all starts so far.
    best: WeightPoint,
}

impl Trainer for CoordinateTrainer {
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let columns = request.train.columns();
        let target = TargetMetric::new(request.train, &self.target)?;
        let (inputs, query_columns) = TransformedData::by_column(&self.transform, &target)?;
        let search = CoordinateSearch {
            target: &target,
            columns: &query_columns,
            tolerance: self.tolerance,
            min_weight: f64::NEG_INFINITY,
        };
        let (mut session, saved) =
            Session::begin(request, RoundPlan::new("pass", usize::MAX, request))?;
        let state = match saved.and_then(|saved| saved.learner_state) {
            Some(saved) => AscentState::read(&float_state::read(&saved)?, columns)?,
            None => AscentState::begin(search.evaluate(start_weights(request.seed, 0, columns))?),
        };
        let finished = self.run(state, &search, request, &mut session, &inputs)?;
        Ok(inputs.with_weights(session.finish(finished)?))
    }

    fn objective(&self) -> String {
        self.target.to_string()
    }

    fn rounds(&self) -> Option<(usize, &'static str)> {
        Some((self.restarts * self.passes, "pass"))
    }

    fn validation_use(&self) -> ValidationUse {
        ValidationUse::ModelChoice
    }
}

impl CoordinateTrainer {
    /// Runs pass after pass, start after start; false if training was cancelled.
    fn run(
        &self,
        mut state: AscentState,
        search: &CoordinateSearch<'_, f32>,
        request: &TrainRequest<'_>,
        session: &mut Session<'_>,
        inputs: &TransformedData,
    ) -> Result<bool, LearnError> {
        let columns = search.columns.columns();
        while state.restart < self.restarts {
            let mut order: Vec<usize> = (0..columns).collect();
            // A number of its own for each restart and pass.
            let stream = (state.restart as u64) << 32 | state.pass as u64;
            Random::new(request.seed ^ ORDER_SEED, stream).shuffle(&mut order);
            let next = search.pass(&state.current, &order)?;
            let converged = next == state.current;
            state.current = next;
            state.pass += 1;
            if state.current.value > state.best.value {
                state.best = state.current.clone();
            }
            if converged || state.pass == self.passes {
                (state.restart, state.pass) = (state.restart + 1, 0);
                if state.restart < self.restarts {
                    let weights = start_weights(request.seed, state.restart, columns);
                    state.current = search.evaluate(weights)?;
                }
            }
            let loss = Some(-state.best.value);
            let model = || inputs.model(&state.best.weights);
            match session
                .end_round_with_model(loss, model, &|| float_state::write(&state.to_numbers()))?
            {
                RoundStatus::Continue => {}
                RoundStatus::Over => break,
                RoundStatus::Cancelled => return Ok(false),
            }
        }
        Ok(true)
    }
}

impl AscentState {
    /// The state before the first pass.
    fn begin(point: WeightPoint) -> Self {
        AscentState { restart: 0, pass: 0, best: point.clone(), current: point }
    }

    /// The state as numbers, for a checkpoint.
    fn to_numbers(&self) -> Vec<f64> {
        let mut all =
            vec![self.restart as f64, self.pass as f64, self.current.value, self.best.value];
        all.extend(&self.current.weights);
        all.extend(&self.best.weights);
        all
    }

    /// The state of numbers that [`to_numbers`](Self::to_numbers) gave.
    fn read(saved: &[f64], columns: usize) -> Result<Self, LearnError> {
        let (head, weights) = saved.split_at_checked(4).ok_or_else(float_state::unreadable)?;
        let ([restart, pass, current, best], true) = (head, weights.len() == 2 * columns) else {
            return Err(float_state::unreadable());
        };
        let point = |value: f64, weights: &[f64]| WeightPoint { weights: weights.to_vec(), value };
        let (current_weights, best_weights) = weights.split_at(columns);
        Ok(AscentState {
            restart: *restart as usize,
            pass: *pass as usize,
            current: point(*current, current_weights),
            best: point(*best, best_weights),
        })
    }
}

/// The weights of a start, numbered from 0: equal for the first, random for the others.
fn start_weights(seed: u64, restart: usize, columns: usize) -> Vec<f64> {
    if restart == 0 {
        return vec![1.0; columns];
    }
    let mut random = Random::new(seed ^ START_SEED, restart as u64);
    (0..columns).map(|_| 2.0 * random.unit() - 1.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::test_support::{rows, trains_reproducibly};
    use crate::learner::LearnerSpec;
    use rankwright_data::generate::LetorOptions;
    use rankwright_eval::{ScoredDataset, SourceKind};
    use rankwright_model::ScoreOptions;

    #[test]
    fn the_metric_on_the_training_data_rises() {
        let data = LetorOptions { queries: 20, documents: 15, seed: 2 }.generate().unwrap();
        let data = data.select_queries(&(0..20).collect::<Vec<_>>()).unwrap();
        let learner = LearnerSpec::parse("coordinate-ascent(metric=ap, restarts=1, passes=2)");
        let result = learner.unwrap().train(TrainRequest::new(&data)).unwrap();
        let losses: Vec<f64> = result.history.iterations.iter().filter_map(|i| i.loss).collect();
        assert!(losses.windows(2).all(|pair| pair[1] <= pair[0]), "{losses:?}");
        let scores = result.model.score(&data, ScoreOptions::default()).unwrap();
        let ap = MetricSpec::parse("ap").unwrap().resolve(SourceKind::Features).unwrap();
        let value = ScoredDataset::new(&data, &scores).unwrap().evaluate(&[ap]).unwrap();
        let value = value.results[0].value;
        assert!((value + losses.last().unwrap()).abs() < 1e-3, "{value} {losses:?}");
        assert!(value > 0.8, "{value}");
    }

    #[test]
    fn more_passes_and_more_starts_give_higher_values() {
        let data = LetorOptions { queries: 30, documents: 20, seed: 8 }.generate().unwrap();
        // The metric on the training data, and the bytes of the model.
        let value = |restarts: usize, passes: usize| {
            let text =
                format!("coordinate-ascent(restarts={restarts}, passes={passes}, metric=ap)");
            let result =
                LearnerSpec::parse(&text).unwrap().train(TrainRequest::new(&data)).unwrap();
            (-result.history.iterations.last().unwrap().loss.unwrap(), result.model.to_bytes())
        };
        let (one_pass, one_model) = value(1, 1);
        let (three_passes, three_model) = value(1, 3);
        let (four_starts, _) = value(4, 1);
        assert!(three_passes > one_pass, "{one_pass} {three_passes}");
        assert!(four_starts >= one_pass, "{one_pass} {four_starts}");
        assert_ne!(one_model, three_model);
    }

    #[test]
    fn the_seed_determines_the_starts() {
        let start = |seed, restart| start_weights(seed, restart, 3);
        assert_eq!(start(1, 0), [1.0; 3]);
        assert_eq!(start(1, 1), start(1, 1));
        assert_ne!(start(1, 1), start(2, 1));
        assert_ne!(start(1, 1), start(1, 2));
    }

    #[test]
    fn a_state_is_read_back_and_damaged_ones_are_rejected() {
        let point = |value| WeightPoint { weights: vec![0.25, -0.75], value };
        let state = AscentState { restart: 2, pass: 3, current: point(0.5), best: point(0.75) };
        let saved = state.to_numbers();
        assert_eq!(AscentState::read(&saved, 2).unwrap(), state);
        assert!(
            AscentState::read(&saved, 3).is_err() && AscentState::read(&saved[..3], 2).is_err()
        );
    }

    #[test]
    fn bad_parameters_and_data_without_a_relevant_document_are_refused() {
        let parse = |text: &str| LearnerSpec::parse(text).unwrap_err().to_string();
        assert!(parse("coordinate-ascent(restarts=0)").contains("from 1 on"));
        assert!(parse("coordinate-ascent(metric=mae)").contains("metric=ndcg@10"));
        let irrelevant = rows(&[("a", 0.0, &[0.0]), ("a", 0.0, &[1.0])]);
        let learner = LearnerSpec::parse("coordinate-ascent").unwrap();
        let error = learner.train(TrainRequest::new(&irrelevant)).unwrap_err().to_string();
        assert!(error.contains("no query of the training data has a value"), "{error}");
    }

    #[test]
    fn threads_and_an_interruption_change_nothing() {
        trains_reproducibly("coordinate-ascent(restarts=2, passes=2, tolerance=0.02)");
    }
}
