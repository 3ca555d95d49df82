//! Blends: a weighted sum of models, its weights learnt for the target metric.
//!
//! ```text
//! score = sum over members of w_m n(score of m)       n: normalised within the query
//! ```
//!
//! Members are learners, trained here one after the other, or models from files; any mixture of
//! trees, lines and nets goes ([`members`]). [`preset`] has the recipe that won the Yahoo challenge
//! (Burges, Svore, Bennett, Pastusiak and Wu, *Learning to Rank Using an Ensemble of
//! Lambda-Gradient Models*, 2011). The weights are learnt on the first validation set ([`weights`]),
//! on data that the members were not fitted to; where there is none, a part of the training
//! queries is held out for that, drawn by the seed, and the members train on the rest. If all
//! members come from files, the training data itself is there for the weights. With `weights=equal`
//! nothing is learnt: on a few hundred queries, weights follow the luck of the queries more than the
//! merit of the members. Then a part is held out only if some member looks at validation data.
//!
//! Members without a `metric=` of their own get the blend's, and member k (from 0) the seed plus k, so
//! that equal learners that draw differ. Checkpoints go to a folder for each member ([`nested`]).
//! Cost: that of the members, and of some thousand rankings of the validation data.

mod members;
mod nested;
mod preset;
#[cfg(test)]
mod tests;
mod weights;

use std::borrow::Cow;
use std::sync::Arc;

use rankwright_data::{Dataset, Random};
use rankwright_eval::{MetricSpec, ParamInfo, Params};
use rankwright_model::{Blend as BlendModel, Model, ModelBody, Normalise};
use rankwright_spec::SpecError;

use self::members::Member;
use crate::ensemble::target::Target;
use crate::ensemble::{from_one, info, tolerance};
use crate::error::LearnError;
use crate::session::{TrainRequest, TrainResult, ValidationSet};
use crate::trainer::{Trainer, Validation};

pub(crate) use members::tidy;
pub(crate) use nested::Nested;

/// Parameters of `blend`.
pub(crate) const BLEND_PARAMS: &[ParamInfo] = &[
    info(
        "members",
        "learners and model files, joined by +: lambdamart(trees=100)+ranksvm+file:a.model",
        preset::DEFAULT,
    ),
    info(
        "preset",
        "yahoo: 8 lambdamart, 2 lambdarank nets and 2 logistic models; further members come after",
        "none",
    ),
    info(
        "normalise",
        "members' scores within a query: none | min-max | standard | rank",
        "standard",
    ),
    info(
        "weights",
        "learn (for the metric, on validation data) | equal (the plain mean: safer on few queries)",
        "learn",
    ),
    info(
        "hold_out",
        "part of the training queries for the weights and stops, without validation data",
        "0.2",
    ),
    info(
        "repeats",
        "weights are means over so many searches, each on half of the queries; 1: one on all",
        "10",
    ),
    info("tolerance", "a move of a weight must raise the metric by more than this", "0.003"),
];

/// Reads `blend`.
pub(crate) fn read_blend(
    params: &Params<'_>,
    target: &MetricSpec,
) -> Result<Arc<dyn Trainer>, SpecError> {
    Target::check(target, params.name())?;
    let ways = Normalise::ALL.map(|way| (way.name(), way));
    let part = |x: f64| x > 0.0 && x < 1.0;
    let search = match params.choice("weights", &[("learn", true), ("equal", false)], true)? {
        true => Some(weights::Search {
            repeats: from_one(params, "repeats", 10)?,
            tolerance: tolerance(params, 3e-3)?,
        }),
        false => None,
    };
    if search.is_none() && (params.is_written("repeats") || params.is_written("tolerance")) {
        let why =
            "repeats and tolerance are for weights=learn; leave them out, or learn the weights";
        return Err(params.conflict(why));
    }
    Ok(Arc::new(Blend {
        members: members::read(params, target)?,
        normalise: params.choice("normalise", &ways, Normalise::Standard)?,
        hold_out: params.f64_in("hold_out", 0.2, part, "a number above 0 and below 1")?,
        search,
        target: target.clone(),
    }))
}

#[derive(Debug)]
struct Blend {
    members: Vec<Member>,
    normalise: Normalise,
    hold_out: f64,
    /// How weights are learnt; none: they are equal.
    search: Option<weights::Search>,
    target: MetricSpec,
}

/// Where members learn, and where their weights are learnt.
struct Parts<'a> {
    train: Cow<'a, Dataset>,
    /// Validation data that is no part of the request's.
    held: Option<Dataset>,
}

impl Trainer for Blend {
    fn train(&self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let parts = self.parts(request)?;
        let mut nested = Nested::begin(request, "member");
        let (models, finished) = self.models(request, &parts, &mut nested)?;
        let weights = match &self.search {
            Some(search) if finished => self.weights(search, request, &parts, &models)?,
            // Asked for, or someone wants to stop: what there is, in equal parts.
            _ => vec![1.0 / models.len() as f64; models.len()],
        };
        let kind = ModelBody::Blend(BlendModel::new(self.normalise, weighted(weights, models))?);
        nested.finish(kind, finished)
    }

    fn objective(&self) -> String {
        self.target.to_string()
    }

    fn takes_pairs(&self) -> bool {
        self.members.iter().all(|member| match member {
            Member::Learner(learner) => learner.takes_pairs(),
            Member::File(_) => true,
        })
    }

    fn rounds(&self) -> Option<(usize, &'static str)> {
        Some((self.members.len(), "member"))
    }

    fn validation(&self) -> Validation {
        Validation::Welcome
    }

    fn sampled_queries(&self, data: &Dataset) -> usize {
        let of_member = |member: &Member| match member {
            Member::Learner(learner) => learner.sampled_queries(data).unwrap_or(0),
            Member::File(_) => 0,
        };
        self.members.iter().map(of_member).max().unwrap_or(0)
    }
}

impl Blend {
    /// The request's data as it is, or with a part of the queries held out.
    fn parts<'a>(&self, request: &TrainRequest<'a>) -> Result<Parts<'a>, LearnError> {
        let looks = |member: &Member| match member {
            Member::Learner(learner) => self.search.is_some() || learner.uses_validation(),
            Member::File(_) => false,
        };
        if !request.valid.is_empty() || !self.members.iter().any(looks) {
            return Ok(Parts { train: Cow::Borrowed(request.train), held: None });
        }
        let queries = request.train.queries();
        let mut order: Vec<usize> = (0..queries).collect();
        Random::new(request.seed ^ 0x6865_6c64_206f_7574, 0).shuffle(&mut order);
        let count = (self.hold_out * queries as f64).round() as usize;
        if count == 0 || count >= queries {
            return Err(LearnError::HoldOut { aside: count.to_string(), queries });
        }
        let mut train = order.split_off(count);
        train.sort_unstable();
        order.sort_unstable();
        let [train, held] = [train, order].map(|queries| request.train.select_queries(&queries));
        Ok(Parts { train: Cow::Owned(train), held: Some(held) })
    }

    /// All members, trained or read; false where someone wants to stop.
    fn models(
        &self,
        request: &TrainRequest<'_>,
        parts: &Parts<'_>,
        nested: &mut Nested<'_>,
    ) -> Result<(Vec<Model>, bool), LearnError> {
        let mut models = Vec::with_capacity(self.members.len());
        for (number, member) in self.members.iter().enumerate() {
            let learner = match member {
                Member::File(path) => {
                    let model = members::load(path)?;
                    nested.add(&model, 0.0)?;
                    models.push(model);
                    continue;
                }
                Member::Learner(learner) => learner,
            };
            let mut inner = nested.request(&parts.train);
            if let Some(held) = &parts.held {
                inner.valid = vec![ValidationSet { name: "held out".to_owned(), data: held }];
            }
            inner.seed = request.seed.wrapping_add(number as u64);
            let (model, finished) = nested.train(learner, inner)?;
            models.push(model);
            if !finished {
                return Ok((models, false));
            }
        }
        Ok((models, true))
    }

    /// The weights of the members, learnt.
    fn weights(
        &self,
        search: &weights::Search,
        request: &TrainRequest<'_>,
        parts: &Parts<'_>,
        models: &[Model],
    ) -> Result<Vec<f64>, LearnError> {
        let given = request.valid.first().map(|set| set.data);
        let data = parts.held.as_ref().or(given).unwrap_or(request.train);
        let mut scores = vec![0.0; data.rows() * models.len()];
        for (number, model) in models.iter().enumerate() {
            let mut of_model = model.score(data, request.features)?;
            for query in 0..data.queries() {
                self.normalise.apply(&mut of_model[data.query_rows(query)]);
            }
            let column = scores.iter_mut().skip(number).step_by(models.len());
            column.zip(of_model).for_each(|(to, score)| *to = score);
        }
        let target = Target::new(data, &self.target)?;
        search.weights(&target, &scores, models.len(), request.seed)
    }
}

/// Members with a weight; all of them where none has one.
fn weighted(weights: Vec<f64>, models: Vec<Model>) -> Vec<(f64, Model)> {
    let any = weights.iter().any(|weight| *weight != 0.0);
    weights.into_iter().zip(models).filter(|(weight, _)| !any || *weight != 0.0).collect()
}
