//! Neural learners: RankNet, LambdaRank, ListNet, ListMLE, softmax and ApproxNDCG over a multi-layer
//! net or a linear scorer, by our own back-propagation.
//!
//! [`params`] reads a spec, [`loss`] says which objective a learner has, [`train`] is the loop of
//! epochs. A mini-batch goes through [`passes`], which cuts it into blocks of rows ([`block`]); layers
//! are made of [`matrix`] products, [`norm`] and [`activation`], their sizes are told by [`shape`].
//! [`optimiser`] and [`schedule`] make steps of gradients, [`draws`] are noise and dropout, [`state`]
//! is what a checkpoint keeps and [`export`] makes a model.
//!
//! The same bits come out on any number of threads: blocks and the order in which their gradients
//! are added do not depend on it, and draws are named by mini-batch and block.

mod activation;
mod block;
mod draws;
mod export;
mod loss;
mod matrix;
mod norm;
mod optimiser;
mod params;
mod passes;
mod schedule;
mod shape;
#[cfg(test)]
mod speed;
mod state;
#[cfg(test)]
mod tests;
mod train;

use std::sync::Arc;

use rankwright_eval::{MetricSpec, Params};
use rankwright_spec::SpecError;

use self::loss::Learner;
use self::train::NetTrainer;
use crate::trainer::Trainer;

pub(crate) use loss::{FACTORED, SOFTMAX_TARGET};
pub(crate) use params::NET;

type Read = Result<Arc<dyn Trainer>, SpecError>;

fn read(learner: Learner, params: &Params<'_>, target: &MetricSpec) -> Read {
    Ok(Arc::new(NetTrainer::read(learner, params, target)?))
}

/// Reads `ranknet`.
pub(crate) fn read_ranknet(params: &Params<'_>, target: &MetricSpec) -> Read {
    read(Learner::RankNet, params, target)
}

/// Reads `lambdarank`.
pub(crate) fn read_lambdarank(params: &Params<'_>, target: &MetricSpec) -> Read {
    read(Learner::LambdaRank, params, target)
}

/// Reads `listnet`.
pub(crate) fn read_listnet(params: &Params<'_>, target: &MetricSpec) -> Read {
    read(Learner::ListNet, params, target)
}

/// Reads `listmle`.
pub(crate) fn read_listmle(params: &Params<'_>, target: &MetricSpec) -> Read {
    read(Learner::ListMle, params, target)
}

/// Reads `softmax`.
pub(crate) fn read_softmax(params: &Params<'_>, target: &MetricSpec) -> Read {
    read(Learner::Softmax, params, target)
}

/// Reads `approxndcg`.
pub(crate) fn read_approxndcg(params: &Params<'_>, target: &MetricSpec) -> Read {
    read(Learner::ApproxNdcg, params, target)
}
