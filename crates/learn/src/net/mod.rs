//! Neural learners: RankNet, LambdaRank, ListNet, ListMLE, softmax and ApproxNDCG over a
//! multi-layer net or a linear scorer, by our own back-propagation.
//!
//! [`learners`] declares the learners, [`loss`] passes queries to an objective, [`train`] is the
//! loop of epochs. A mini-batch goes through [`passes`], which cuts it into blocks of rows
//! ([`block`]); layers are made of [`matrix`] products, [`norm`] and [`activation`], their sizes
//! are in [`shape`]. [`optimiser`] and [`schedule`] turn gradients into steps, [`draws`] are the
//! random numbers of noise and dropout, [`state`] is the part of a net that a checkpoint keeps and
//! [`export`] makes a model.
//!
//! Results are the same bits on any number of threads: blocks and the order in which their
//! gradients are added do not depend on it, and random draws depend only on mini-batch and block.

mod activation;
mod block;
mod draws;
mod export;
pub(crate) mod learners;
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

pub use params::{NetActivation, NetOptimiser, NetOptions, NetParams, NetSchedule};
pub use shape::HiddenNorm;
