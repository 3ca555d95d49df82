//! Objectives: the losses that learners minimise, evaluated one query at a time.
//!
//! An [`Objective`] is a pure function of one query: its input is labels and scores, its output
//! gradients and hessians in the caller's buffers. Threads, query weights, sampling and fixed-point
//! sums are handled once, by the caller.

use std::fmt::Debug;

use crate::bias::BiasCorrection;
use crate::error::LearnError;
use crate::simd::Simd;

mod approxndcg;
mod def;
mod distilled;
mod huber;
mod label_sum;
mod lambda;
mod listmle;
mod listwise;
mod logloss;
mod ordinal;
mod pair_loss;
mod pointwise;
#[cfg(test)]
mod properties;
mod query_rmse;
mod softmax;
mod squared;
#[cfg(test)]
mod tests;
mod text;
mod xendcg;
mod yeti;
#[cfg(test)]
mod yeti_reference;

pub use rankwright_eval::DEFAULT_METRIC;

pub use approxndcg::{ApproxNdcg, ApproxNdcgOptions, ApproxNdcgParams};
pub(crate) use def::ParsedObjective;
pub use def::{HessianKind, ObjectiveDef, ObjectiveParams, find_objective, parse_objective};
pub(crate) use distilled::DistilledObjective;
pub use distilled::TeacherTerm;
pub use huber::{Huber, HuberOptions, HuberParams, HuberWidth};
pub(crate) use label_sum::{LabelSum, LabelTerm, label_column, label_terms};
pub use lambda::{
    CutoffMode, GoalText, KeptMetric, Lambda, LambdaConfig, LambdaOptions, LambdaParams,
    LambdaPreset, PairChoice, PairOptions, PairParams, SAMPLED_PARTNERS, TiedLabels, WeightScheme,
    WeightSchemeName, WeightSource,
};
pub use listmle::{ListMle, ListMleOptions, ListMleParams};
pub use logloss::{LogLoss, LogLossOptions, LogLossParams};
pub use ordinal::{Ordinal, OrdinalParams};
pub use pair_loss::{PAIR_LOSSES, PairLossDef, find_pair_loss};
pub use query_rmse::{QueryRmse, QueryRmseParams};
pub use softmax::{Softmax, SoftmaxOptions, SoftmaxParams, SoftmaxTarget};
pub use squared::{Squared, SquaredParams};
pub use text::ObjectiveText;
pub use xendcg::{XeNdcg, XeNdcgOptions, XeNdcgParams};
pub use yeti::{Yeti, YetiOptions, YetiParams};

/// The builder methods of all objectives, for a glob import.
pub mod options {
    pub use super::{
        ApproxNdcgOptions as _, HuberOptions as _, LambdaOptions as _, ListMleOptions as _,
        LogLossOptions as _, PairOptions as _, SoftmaxOptions as _, XeNdcgOptions as _,
        YetiOptions as _,
    };
}

/// Lists the declarations of all objectives as `OBJECTIVES`, and converts the parameters of each
/// into an [`ObjectiveText`], so that builder methods that take an objective take them.
macro_rules! objectives {
    ($($params:ident),* $(,)?) => {
        /// The declarations of all objectives. The list serialises, like
        /// [`LEARNERS`](crate::LEARNERS).
        pub static OBJECTIVES: &[&ObjectiveDef] = &[$( $params::DEF ),*];

        $( impl rankwright_spec::IntoParam<ObjectiveText> for $params {
            fn into_param(self) -> ObjectiveText {
                ObjectiveText::new(ObjectiveParams::spec(&self).to_string())
            }
        } )*
    };
}

objectives![
    SquaredParams,
    QueryRmseParams,
    LogLossParams,
    HuberParams,
    OrdinalParams,
    PairParams,
    LambdaParams,
    YetiParams,
    XeNdcgParams,
    SoftmaxParams,
    ListMleParams,
    ApproxNdcgParams,
];

/// The input of an objective: one query. Slices have an entry for each document, in row order.
#[derive(Debug, Clone, Copy)]
pub struct QueryView<'a> {
    /// Number of the query in the training data, from 0; with `seed` it determines the query's
    /// random draws.
    pub query: usize,
    /// Labels.
    pub labels: &'a [f64],
    /// Scores of the model so far.
    pub scores: &'a [f64],
    /// Weights of the documents; empty if all are 1. (The caller multiplies the derivatives by the
    /// weight of the query itself.)
    pub weights: &'a [f32],
    /// Explicit preference pairs, which replace the pairs that follow from labels; `None` if the
    /// data has none. Documents are numbered within the query, from 0.
    pub pairs: Option<&'a [DocumentPair]>,
    /// Seed of this training and iteration: the same for all queries of an iteration.
    pub seed: u64,
    /// Weights that correct clicks for the positions at which documents were shown; `None` if
    /// clicks are not corrected.
    pub click_weights: Option<ClickWeights<'a>>,
    /// The labels of a metric that is kept (`goal=keep(...)`), if `labels` are those of another
    /// column: pairs whose swap changes that metric by more than its tolerance then have no weight.
    pub kept_labels: Option<&'a [f64]>,
}

/// Weights of clicks. A document has two, as its label can be above that of some documents and
/// below that of others.
#[derive(Debug, Clone, Copy)]
pub struct ClickWeights<'a> {
    /// The weight of each document's pairs with documents of lower labels, and of its gain in the
    /// target of a list.
    pub better: &'a [f64],
    /// The weight of each document's pairs with documents of higher labels.
    pub worse: &'a [f64],
}

/// The meaning of a label to an objective that takes estimates of relevance as labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelevanceScale {
    /// The label is the relevance, of either sign.
    Signed,
    /// The label is the gain of a document, at least 0.
    Linear,
    /// The gain is 2^label - 1.
    Exponential,
    /// The gain is e^label - 1.
    Natural,
}

impl RelevanceScale {
    /// The label whose gain is this relevance; a relevance below 0 counts as 0, except with
    /// `Signed`.
    ///
    /// ```
    /// use rankwright_learn::objective::RelevanceScale;
    ///
    /// assert_eq!(RelevanceScale::Exponential.label(3.0), 2.0);
    /// assert_eq!(RelevanceScale::Linear.label(-3.0), 0.0);
    /// assert_eq!(RelevanceScale::Signed.label(-3.0), -3.0);
    /// ```
    pub fn label(self, relevance: f64) -> f64 {
        match self {
            Self::Signed => relevance,
            Self::Linear => relevance.max(0.0),
            Self::Exponential => (1.0 + relevance.max(0.0)).log2(),
            Self::Natural => relevance.max(0.0).ln_1p(),
        }
    }
}

impl<'a> QueryView<'a> {
    /// Query 0 with these labels and scores, without weights or pairs.
    pub fn new(labels: &'a [f64], scores: &'a [f64]) -> Self {
        let (query, seed, click_weights, kept_labels) = (0, 0, None, None);
        let (weights, pairs) = (&[][..], None);
        Self { query, labels, scores, weights, pairs, seed, click_weights, kept_labels }
    }

    /// The weight of a document's gain: 1 if clicks are not corrected.
    fn gain_weight(&self, document: usize) -> f64 {
        self.click_weights.map_or(1.0, |weights| weights.better[document])
    }
}

/// One preference between two documents of a query, numbered within it from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DocumentPair {
    /// The better document; of an equal pair, either one.
    pub better: u32,
    /// The worse document; of an equal pair, the other one.
    pub worse: u32,
    /// Weight, above 0 and finite.
    pub weight: f32,
    /// Whether the two are judged equal.
    pub equal: bool,
}

/// A document of a query and its rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankedDocument {
    /// Number of the document within the query, from 0.
    pub document: usize,
    /// Rank of the document by score, from 0.
    pub rank: usize,
}

/// The lambda of one pair of documents; see [`Objective::pair_lambdas`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairLambda {
    /// The document whose score the pair pushes up.
    pub pushed_up: RankedDocument,
    /// The document whose score the pair pushes down.
    pub pushed_down: RankedDocument,
    /// The absolute derivative of the pair's loss by the score of either document.
    pub size: f64,
}

/// Output buffers for the derivatives of one query. Slices have an entry for each document; their
/// initial content is undefined, except that of `cache`.
#[derive(Debug)]
pub struct Derivatives<'a> {
    /// First derivative of the loss by the score: below 0 for a document that should rise.
    pub gradient: &'a mut [f32],
    /// Second derivative, never below 0.
    pub hessian: &'a mut [f32],
    /// Numbers that the objective may keep from one iteration to the next, initially 0: for example
    /// the order of the query in the previous iteration, which makes sorting faster. Empty if there
    /// is no cache. Results must not depend on the cache.
    pub cache: &'a mut [u32],
}

/// Buffers that one thread keeps from query to query, so that nothing is allocated after the first
/// queries.
#[derive(Debug, Default)]
pub struct ObjectiveBuffers {
    lambda: lambda::LambdaBuffers,
    listmle: listmle::ListMleBuffers,
    approxndcg: approxndcg::ApproxNdcgBuffers,
    yeti: yeti::YetiBuffers,
    distilled: distilled::DistilledBuffers,
    label_sum: label_sum::LabelSumBuffers,
    /// Buffers of one number for each document, for the other objectives.
    numbers: [Vec<f64>; 3],
}

/// All documents of the training data, for values that depend on all of them, such as the initial
/// score.
#[derive(Debug, Clone, Copy)]
pub struct TrainingDocuments<'a> {
    /// Labels of all rows.
    pub labels: &'a [f64],
    /// Weight of each row, multiplied by the query's weight; empty if all are 1.
    pub weights: &'a [f32],
    /// Scores of all rows so far; empty before training.
    pub scores: &'a [f64],
}

/// A loss that a learner minimises. Only [`derivatives`](Objective::derivatives) is required.
pub trait Objective: Debug + Send + Sync {
    /// The derivatives of the loss of one query by the scores of its documents.
    fn derivatives(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError>;

    /// The loss of one query, shown in the training history; `None` if the objective has no loss.
    fn loss(
        &self,
        _query: &QueryView<'_>,
        _buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        Ok(None)
    }

    /// Called with all data before training: computes values that depend on all of it, and rejects
    /// data that the objective does not support. Returns the initial score, the constant that
    /// minimises the loss.
    fn prepare(&mut self, _all: &TrainingDocuments<'_>) -> Result<f64, LearnError> {
        Ok(0.0)
    }

    /// Called before each tree with the scores so far, to update values that depend on all data.
    /// They must be a function of the arguments alone, so that a resumed training gives the same
    /// model.
    fn refresh(&mut self, _all: &TrainingDocuments<'_>) -> Result<(), LearnError> {
        Ok(())
    }

    /// Whether the header of a model records [`notes`](Self::notes) of this objective.
    fn has_notes(&self) -> bool {
        false
    }

    /// Notes for the header of the finished model, by name; called after a
    /// [`refresh`](Self::refresh) with the final scores.
    fn notes(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Calls `visit(i, j, h)` with the second derivative h of each pair loss of one query, i and j
    /// being documents of the query: input of the Newton steps `cross-leaf` and `joint` of boosted
    /// trees. Returns false if the objective has no pairs.
    fn pair_hessians(
        &self,
        _query: &QueryView<'_>,
        _buffers: &mut ObjectiveBuffers,
        _visit: &mut dyn FnMut(usize, usize, f64),
    ) -> Result<bool, LearnError> {
        Ok(false)
    }

    /// Calls `visit` with the first derivative of each pair loss of one query: the terms whose sum
    /// is the lambda of a document. Returns false if the objective has no pairs.
    fn pair_lambdas(
        &self,
        _query: &QueryView<'_>,
        _buffers: &mut ObjectiveBuffers,
        _visit: &mut dyn FnMut(PairLambda),
    ) -> Result<bool, LearnError> {
        Ok(false)
    }

    /// Calls `visit(better, worse, loss)` with the loss of each pair of one query that is no tie,
    /// with all its weights, but not divided by the score difference (`norm_gap`). Returns false if
    /// the objective has no pairs.
    fn pair_losses(
        &self,
        _query: &QueryView<'_>,
        _buffers: &mut ObjectiveBuffers,
        _visit: &mut dyn FnMut(usize, usize, f64),
    ) -> Result<bool, LearnError> {
        Ok(false)
    }

    /// Whether clicks can be corrected for position bias in this way: `pairwise` needs
    /// [`pair_losses`](Self::pair_losses), `ips` needs [`QueryView::click_weights`] or labels that
    /// are signed relevance, `dr` needs a [`relevance_scale`](Self::relevance_scale). `gam` adds
    /// terms of positions to the scores, so every objective supports it.
    fn supports_bias(&self, bias: BiasCorrection) -> bool {
        matches!(bias, BiasCorrection::None | BiasCorrection::Gam)
    }

    /// The meaning of a label that is an estimate of relevance; `None` if labels must be grades.
    fn relevance_scale(&self) -> Option<RelevanceScale> {
        None
    }

    /// The form in which the objective learns from the scores of a teacher.
    fn teacher_term(&self) -> TeacherTerm {
        TeacherTerm::Unsupported
    }

    /// Whether a query of this many documents has too many pairs to visit all, so that they are
    /// sampled.
    fn samples_pairs(&self, _documents: usize) -> bool {
        false
    }

    /// Sets the SIMD instruction set of the kernels, if the objective has any.
    fn set_simd(&mut self, _simd: Simd) {}

    /// The cost of a query of this many documents in any unit, for balancing the load of threads.
    fn cost(&self, documents: usize) -> u64 {
        documents as u64
    }
}

/// Numbers separated by slashes, as notes of a header have them; each reads back to the same bits.
pub(crate) fn slashed(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join("/")
}

/// Checks that all slices of a query have an entry for each document; those that may be empty may
/// be empty here too.
fn check_shape(query: &QueryView<'_>, out: &Derivatives<'_>) -> Result<(), LearnError> {
    let n = query.scores.len();
    let is_empty_or_complete = |len: usize| len == 0 || len == n;
    let click_weights = query.click_weights;
    let complete = out.gradient.len() == n
        && out.hessian.len() == n
        && is_empty_or_complete(out.cache.len())
        && is_empty_or_complete(query.weights.len())
        && click_weights
            .is_none_or(|weights| weights.better.len() == n && weights.worse.len() == n)
        && (query.labels.len() == n || query.pairs.is_some() && query.labels.is_empty());
    if complete {
        return Ok(());
    }
    Err(LearnError::QueryLengths {
        scores: n,
        labels: query.labels.len(),
        weights: query.weights.len(),
        derivatives: out.gradient.len().min(out.hessian.len()),
    })
}
