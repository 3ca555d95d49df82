//! Blends: a weighted sum of models, its weights learnt for the blend's metric.
//!
//! ```text
//! score = sum over members of w_m n(score of m)       n: normalised within the query
//! ```
//!
//! Members are learners, trained here one after the other, or models from files; trees, linear
//! models and neural nets can be combined ([`members`]). [`preset`] has members modelled on the
//! winner of the Yahoo challenge (Burges, Svore, Bennett, Pastusiak and Wu, *Learning to Rank Using
//! an Ensemble of Lambda-Gradient Models*, 2011). The weights are learnt ([`weights`]) on data that
//! the members were not fitted to: the first validation set, or without validation data a part of
//! the training queries, which is drawn by the seed and held out; the members then train on the
//! other queries. If all members come from files, the weights are learnt on the training data
//! itself.
//!
//! With `weights=equal` the weights are not learnt: on a few hundred queries, learnt weights depend
//! more on the sample of queries than on the quality of the members. Then queries are held out only
//! if a member needs validation data, or chooses among whole models by it, as nets do; boosted
//! trees keep the best of their rounds by validation data, but do not require it.
//!
//! Members without a `metric=` of their own get that of the blend, and member k (from 0) gets the
//! seed plus k, so that equal learners with random draws differ. Checkpoints go to a folder for
//! each member ([`NestedTraining`]). Cost: that of the members, plus a few thousand rankings of the
//! validation data.

mod members;
mod preset;
#[cfg(test)]
mod tests;
mod weights;

use std::borrow::Cow;
use std::path::PathBuf;

use rankwright_data::{Dataset, Random};
use rankwright_eval::MetricSpec;
use rankwright_model::{Blend as BlendModel, Model, ModelBody, Normalise};
use rankwright_spec::{SpecError, above, choices, param_groups, params};

use self::members::BlendMember;
use crate::ensemble::target::TargetMetric;
use crate::error::LearnError;
use crate::learner::{
    AcceptedInputs, DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning,
};
use crate::session::{NestedTraining, TrainRequest, TrainResult, ValidationSet};
use crate::trainer::{Trainer, ValidationUse};

pub use members::MembersText;
pub(crate) use members::member_texts;
pub use preset::BlendPreset;

choices! {
    /// The weights of a blend.
    pub enum BlendWeights {
        /// Learnt for the metric on validation data.
        Learn = "learn",
        /// Equal: the unweighted mean, safer on few queries.
        Equal = "equal",
    }
}

choices! {
    /// The normalisation of members' scores within a query.
    pub enum BlendNormalise {
        /// Mean 0, standard deviation 1.
        Standard = "standard",
        /// Scores as they are.
        None = "none",
        /// Scaled to 0..1.
        MinMax = "min-max",
        /// Ranks.
        Rank = "rank",
    }
}

params! {
    /// Parameters of a blend.
    pub struct BlendParams {
        members: MembersText = MembersText::default(), ..,
            "Learners and model files, joined by +: lambdamart(trees=100)+ranksvm+file:a.model; \
             auto: those of the preset, or lambdamart+lambdarank+ranksvm.";
        preset: BlendPreset = BlendPreset::None, ..,
            "Members that are added before the named ones; yahoo: 8 lambdamart, 2 lambdarank, \
             2 logistic.";
        normalise: BlendNormalise = BlendNormalise::Standard, ..,
            "Normalisation of members' scores within a query.";
        weights: BlendWeights = BlendWeights::Learn, ..,
            "Weights: learnt for the metric on validation data, or equal (the unweighted mean: safer on \
             few queries).";
        hold_out: f64 = 0.2, above(0.0).below(1.0),
            "Fraction of the training queries that is held out for weights and early stopping if \
             there is no validation data.";
        repeats: usize = 10, 1..,
            "Number of searches, each on half of the queries; the weights are their means; 1: one \
             search on all queries.", requires "weights=learn";
        tolerance: f64 = 0.003, 0.0..,
            "A change of a weight must raise the metric by more than this.",
            requires "weights=learn";
    }
    /// Builder methods for the parameters of a blend.
    pub trait BlendOptions: blend_params;
}

param_groups! {
    /// A blend: a weighted sum of models, weights learnt on validation data.
    pub struct Blend {
        blend: BlendParams, BlendOptions::blend_params;
        // The metric that the weights are learnt for.
        target: TargetParams, TargetOptions::target_params;
    }
}

crate::learner::learners![Blend];

impl DeclaredLearner for Blend {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "blend",
        help: "A weighted sum of models, weights learnt on validation data (Burges 2011).",
        example: "blend(members=lambdamart(trees=30)+ranksvm+random-forest(trees=30))",
        accepts: AcceptedInputs {
            pairs: true,
            pairs_alone: false,
            start: false,
            validation: true,
            missing: true,
            positions: false,
        },
        tuning: Tuning::without_rounds(&[
            "normalise=choice(none,min-max,standard,rank), weights=choice(learn,equal)",
        ]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let target = self.target.metric.spec()?;
        TargetMetric::check(&target, Self::DEF.name)?;
        let blend = &self.blend;
        let search = weights::WeightSearch { repeats: blend.repeats, tolerance: blend.tolerance };
        Ok(Box::new(BlendTrainer {
            members: members::members(&blend.members, blend.preset, &self.target.metric)?,
            normalise: match blend.normalise {
                BlendNormalise::Standard => Normalise::Standard,
                BlendNormalise::None => Normalise::None,
                BlendNormalise::MinMax => Normalise::MinMax,
                BlendNormalise::Rank => Normalise::Rank,
            },
            hold_out: blend.hold_out,
            search: (blend.weights == BlendWeights::Learn).then_some(search),
            target,
        }))
    }
}

/// Any constant: keeps the random choice of held-out queries apart from other random numbers of the
/// seed.
const HOLD_OUT_SEED: u64 = 0x6865_6c64_206f_7574;

/// A blend with checked parameters.
#[derive(Debug)]
struct BlendTrainer {
    members: Vec<BlendMember>,
    normalise: Normalise,
    /// Fraction of the training queries to hold out if there is no validation data.
    hold_out: f64,
    /// The search for weights; `None` for equal weights.
    search: Option<weights::WeightSearch>,
    /// The metric that the weights are learnt for.
    target: MetricSpec,
}

/// The data on which members are trained, and the data held out for their weights.
struct BlendSplit<'a> {
    train: Cow<'a, Dataset>,
    /// Validation data that is held out of the training data; `None` if nothing is held out.
    held_out: Option<Dataset>,
}

impl Trainer for BlendTrainer {
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let split = self.split(request)?;
        let mut nested = NestedTraining::begin(request, "member")?;
        let (models, finished) = self.models(request, &split, &mut nested)?;
        let weights = match &self.search {
            Some(search) if finished => self.weights(search, request, &split, &models)?,
            // Equal weights were requested, or training was cancelled: the members trained so far
            // get equal weights.
            _ => vec![1.0 / models.len() as f64; models.len()],
        };
        let body =
            ModelBody::Blend(BlendModel::new(self.normalise, weighted_members(weights, models))?);
        nested.finish(body, finished)
    }

    fn objective(&self) -> String {
        self.target.to_string()
    }

    fn accepts_pairs(&self) -> bool {
        self.members.iter().all(|member| match member {
            BlendMember::Learner(learner) => learner.accepts_pairs(),
            BlendMember::File(_) => true,
        })
    }

    fn files(&self) -> Vec<PathBuf> {
        let file = |member: &BlendMember| match member {
            BlendMember::Learner(_) => None,
            BlendMember::File(path) => Some(path.clone()),
        };
        self.members.iter().filter_map(file).collect()
    }

    fn rounds(&self) -> Option<(usize, &'static str)> {
        Some((self.members.len(), "member"))
    }

    fn validation_use(&self) -> ValidationUse {
        ValidationUse::ModelChoice
    }

    fn queries_with_sampled_pairs(&self, data: &Dataset) -> usize {
        let sampled_queries = |member: &BlendMember| match member {
            BlendMember::Learner(learner) => learner.queries_with_sampled_pairs(data),
            BlendMember::File(_) => 0,
        };
        self.members.iter().map(sampled_queries).max().unwrap_or(0)
    }

    fn max_leaves(&self) -> u64 {
        let leaves = |member: &BlendMember| match member {
            BlendMember::Learner(learner) => learner.max_leaves(),
            BlendMember::File(_) => 0,
        };
        self.members.iter().map(leaves).fold(0, u64::saturating_add)
    }
}

impl BlendTrainer {
    /// The request's data unchanged, or divided into data to train on and held-out queries.
    fn split<'a>(&self, request: &TrainRequest<'a>) -> Result<BlendSplit<'a>, LearnError> {
        let uses_held_out = |member: &BlendMember| match member {
            BlendMember::Learner(learner) => {
                let uses = [ValidationUse::ModelChoice, ValidationUse::Required];
                self.search.is_some() || uses.contains(&learner.validation_use())
            }
            BlendMember::File(_) => false,
        };
        if !request.valid.is_empty() || !self.members.iter().any(uses_held_out) {
            return Ok(BlendSplit { train: Cow::Borrowed(request.train), held_out: None });
        }
        let queries = request.train.queries();
        let mut order: Vec<usize> = (0..queries).collect();
        Random::new(request.seed ^ HOLD_OUT_SEED, 0).shuffle(&mut order);
        let count = (self.hold_out * queries as f64).round() as usize;
        if count == 0 || count >= queries {
            return Err(LearnError::HoldOut { part: self.hold_out, queries });
        }
        let mut train = order.split_off(count);
        let mut held_out = order;
        train.sort_unstable();
        held_out.sort_unstable();
        let [train, held_out] =
            [train, held_out].map(|queries| request.train.select_queries(&queries));
        let (train, held_out) = (train?, held_out?);
        Ok(BlendSplit { train: Cow::Owned(train), held_out: Some(held_out) })
    }

    /// The models of the members, trained or read from files. The returned bool is false if
    /// training was cancelled; then later members are missing.
    fn models(
        &self,
        request: &TrainRequest<'_>,
        split: &BlendSplit<'_>,
        nested: &mut NestedTraining<'_>,
    ) -> Result<(Vec<Model>, bool), LearnError> {
        let mut models = Vec::with_capacity(self.members.len());
        for (number, member) in self.members.iter().enumerate() {
            let learner = match member {
                BlendMember::File(path) => {
                    let model = members::load(path, request.train, request.features.matching)?;
                    nested.add_to_history(&model, 0.0)?;
                    models.push(model);
                    continue;
                }
                BlendMember::Learner(learner) => learner,
            };
            let mut member_request = nested.request(&split.train);
            if let Some(held_out) = &split.held_out {
                member_request.valid = vec![ValidationSet::new("held out", held_out)];
            }
            member_request.seed = request.seed.wrapping_add(number as u64);
            let (model, finished) = nested.train(learner, member_request)?;
            models.push(model);
            if !finished {
                return Ok((models, false));
            }
        }
        Ok((models, true))
    }

    /// Learns the weights of the members: on the held-out queries, else on the first validation
    /// set, else on the training data.
    fn weights(
        &self,
        search: &weights::WeightSearch,
        request: &TrainRequest<'_>,
        split: &BlendSplit<'_>,
        models: &[Model],
    ) -> Result<Vec<f64>, LearnError> {
        let validation_data = request.valid.first().map(|set| set.data);
        let data = split.held_out.as_ref().or(validation_data).unwrap_or(request.train);
        // The scores of all models for the first row, then for the second, and so on.
        let mut scores = vec![0.0; data.rows() * models.len()];
        for (number, model) in models.iter().enumerate() {
            let mut model_scores = model.score(data, request.features)?;
            for query in 0..data.queries() {
                self.normalise.apply(&mut model_scores[data.query_rows(query)]);
            }
            let column = scores.iter_mut().skip(number).step_by(models.len());
            column.zip(model_scores).for_each(|(to, score)| *to = score);
        }
        let target = TargetMetric::new(data, &self.target)?;
        search.weights(&target, &scores, models.len(), request.seed)
    }
}

/// The models with their weights, without models of weight 0; all of them if every weight is 0.
fn weighted_members(weights: Vec<f64>, models: Vec<Model>) -> Vec<(f64, Model)> {
    let all_zero = weights.iter().all(|weight| *weight == 0.0);
    weights.into_iter().zip(models).filter(|(weight, _)| all_zero || *weight != 0.0).collect()
}
