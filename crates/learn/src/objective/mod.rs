//! Objectives: what a learner makes small, seen one query at a time.
//!
//! An [`Objective`] is a pure function of one query: labels and scores in, first and second
//! derivatives out, into the caller's buffers. Threads, query weights, sampling and fixed-point
//! sums are written once, outside.

use std::fmt::Debug;

use crate::error::LearnError;
use crate::simd::Simd;

mod approxndcg;
mod def;
mod huber;
mod lambda;
mod listmle;
mod listwise;
mod logloss;
mod ordinal;
mod pointwise;
#[cfg(test)]
mod properties;
mod query_rmse;
mod softmax;
mod squared;
#[cfg(test)]
mod tests;
mod xendcg;
mod yeti;
#[cfg(test)]
mod yeti_reference;

pub use approxndcg::{ApproxNdcg, ApproxNdcgOptions, ApproxNdcgParams};
pub use def::{HessianKind, OBJECTIVES, ObjectiveDef, ObjectiveParams, parse_objective};
pub use huber::{Huber, HuberOptions, HuberParams, HuberWidth};
pub use lambda::{
    CutoffMode, DEFAULT_METRIC, Lambda, LambdaConfig, LambdaOptions, LambdaParams, PairChoice,
    PairOptions, PairParams, PairWeight, SAMPLED_PARTNERS, Scheme, TiedLabels, Weight,
};
pub use listmle::{ListMle, ListMleOptions, ListMleParams};
pub use logloss::{LogLoss, LogLossOptions, LogLossParams};
pub use ordinal::{Ordinal, OrdinalParams};
pub use query_rmse::{QueryRmse, QueryRmseParams};
pub use softmax::{Softmax, SoftmaxOptions, SoftmaxParams, SoftmaxTarget};
pub use squared::{Squared, SquaredParams};
pub use xendcg::{XeNdcg, XeNdcgOptions, XeNdcgParams};
pub use yeti::{Yeti, YetiOptions, YetiParams};

/// One query as an objective sees it. Slices have an entry for each document, in row order.
#[derive(Debug, Clone, Copy)]
pub struct QueryView<'a> {
    /// Number of the query in the training data; with `seed` it names the query's random draws.
    pub query: usize,
    /// Labels.
    pub labels: &'a [f64],
    /// Scores of the model so far.
    pub scores: &'a [f64],
    /// Weights of the documents; empty where all are 1. (The weight of the query itself is
    /// multiplied in by the caller.)
    pub weights: &'a [f32],
    /// Preference pairs given instead of labels, documents numbered within the query.
    pub pairs: Option<&'a [DocumentPair]>,
    /// Seed of this training and iteration: the same for all queries of an iteration.
    pub seed: u64,
}

impl<'a> QueryView<'a> {
    /// Query 0 with these labels and scores, nothing else.
    pub fn new(labels: &'a [f64], scores: &'a [f64]) -> Self {
        Self { query: 0, labels, scores, weights: &[], pairs: None, seed: 0 }
    }
}

/// One preference between two documents of a query, numbered within it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DocumentPair {
    /// The better document (either one of an equal pair).
    pub better: u32,
    /// The worse document.
    pub worse: u32,
    /// Weight, above 0 and finite.
    pub weight: f32,
    /// Whether the two are judged equal.
    pub equal: bool,
}

/// What one pair of documents pulls at their scores; see [`Objective::pair_lambdas`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairLambda {
    /// The document that is to rise, and its rank, both from 0.
    pub rises: (usize, usize),
    /// The document that is to fall, and its rank.
    pub falls: (usize, usize),
    /// The derivative of the pair's loss by the score of either, without its sign.
    pub size: f64,
}

/// Where the derivatives of one query go. Slices have an entry for each document; what they hold
/// at the start is undefined but for `memory`.
#[derive(Debug)]
pub struct Derivatives<'a> {
    /// First derivative of the loss by the score: below 0 for a document that should rise.
    pub gradient: &'a mut [f32],
    /// Second derivative, never below 0.
    pub hessian: &'a mut [f32],
    /// Keeps its content from one iteration to the next, 0 at the start: the order that the
    /// query had last time, for example. Results must not depend on it.
    pub memory: &'a mut [u32],
}

/// Buffers that one thread keeps from query to query, so that nothing is allocated once warm.
#[derive(Debug, Default)]
pub struct ObjectiveBuffers {
    lambda: lambda::LambdaWork,
    list: listmle::ListWork,
    approx: approxndcg::ApproxWork,
    yeti: yeti::YetiWork,
    /// For whoever needs a few numbers for each document.
    numbers: [Vec<f64>; 3],
}

/// All documents of the training data, for what is settled once: the best constant, the grades.
#[derive(Debug, Clone, Copy)]
pub struct TrainingDocuments<'a> {
    /// Labels of all rows.
    pub labels: &'a [f64],
    /// Weight of each row, the query's weight multiplied in; empty where all are 1.
    pub weights: &'a [f32],
    /// Scores of all rows so far; empty before training.
    pub scores: &'a [f64],
}

/// What a learner makes small. One function is required.
pub trait Objective: Debug + Send + Sync {
    /// The derivatives of the loss of one query by the scores of its documents.
    fn derivatives(
        &self,
        query: &QueryView<'_>,
        work: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError>;

    /// The loss of one query, for those objectives that have one (what the history of a training shows).
    fn loss(
        &self,
        _query: &QueryView<'_>,
        _work: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        Ok(None)
    }

    /// Looks at the data before training: settles what depends on all of it, refuses what does not
    /// fit. Gives the constant that training starts from.
    fn prepare(&mut self, _all: &TrainingDocuments<'_>) -> Result<f64, LearnError> {
        Ok(0.0)
    }

    /// Called before each tree with the scores so far; whatever it settles must depend on its
    /// arguments alone, so that a resumed run goes on as before.
    fn refresh(&mut self, _all: &TrainingDocuments<'_>) -> Result<(), LearnError> {
        Ok(())
    }

    /// Tells the second derivative of each pair loss of one query to `visit(i, j, h)`, i and j
    /// being documents of the query: what the exact Newton steps need. False: no pairs here.
    fn pair_hessians(
        &self,
        _query: &QueryView<'_>,
        _work: &mut ObjectiveBuffers,
        _visit: &mut dyn FnMut(usize, usize, f64),
    ) -> Result<bool, LearnError> {
        Ok(false)
    }

    /// Tells the first derivative of each pair loss of one query: what each lambda is a sum of.
    /// False: no pairs here.
    fn pair_lambdas(
        &self,
        _query: &QueryView<'_>,
        _work: &mut ObjectiveBuffers,
        _visit: &mut dyn FnMut(PairLambda),
    ) -> Result<bool, LearnError> {
        Ok(false)
    }

    /// Whether a query of so many documents has too many pairs to visit all, so that they are
    /// sampled.
    fn samples_pairs(&self, _documents: usize) -> bool {
        false
    }

    /// Chooses the machine code of the kernels, for those objectives that have any.
    fn set_simd(&mut self, _simd: Simd) {}

    /// How much work a query of so many documents is, for an even share among threads.
    fn cost(&self, documents: usize) -> u64 {
        documents as u64
    }
}

/// Checks that all slices of a query have an entry for each document.
fn check_shape(query: &QueryView<'_>, out: &Derivatives<'_>) -> Result<(), LearnError> {
    let n = query.scores.len();
    let optional = |len: usize| len == 0 || len == n;
    let whole = out.gradient.len() == n
        && out.hessian.len() == n
        && optional(out.memory.len())
        && optional(query.weights.len())
        && (query.labels.len() == n || query.pairs.is_some() && query.labels.is_empty());
    if whole {
        return Ok(());
    }
    Err(LearnError::QueryLengths {
        scores: n,
        labels: query.labels.len(),
        weights: query.weights.len(),
        room: out.gradient.len().min(out.hessian.len()),
    })
}
