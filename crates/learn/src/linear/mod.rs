//! Linear models: a weight for each feature, learnt by minimising a convex loss.
//!
//! | learner | loss | file |
//! |---|---|---|
//! | `linear-regression` | squared error on the labels, ridge | `ridge.rs`, `pointwise.rs` |
//! | `logistic`, `linear-svm` | logistic, (squared) hinge, of binary relevance | `pointwise.rs` |
//! | `ordinal` | cumulative logit of the grades | `ordinal.rs` |
//! | `ranksvm` | squared hinge or hinge of preferences | `ranksvm.rs`, `counting.rs` |
//! | `pairwise-logistic` | logistic loss of preferences | `logistic_pairs.rs` |
//!
//! All but the first are solved by the same Newton method (`newton.rs`) over the same passes over
//! the data (`problem.rs`, `kernel.rs`); `path.rs` takes the steps of that method one by one, for
//! one value of c (the weight of the loss relative to the penalty) after another; `trainer.rs`
//! trains; `fold_transforms.rs` folds the transforms of features into the weights and makes the
//! model; `learners/` declares the learners. Sums are f64, added in an order that depends on the
//! data alone.

mod counting;
pub(crate) mod fold_transforms;
mod kernel;
pub(crate) mod learners;
mod logistic_pairs;
mod loss;
mod newton;
mod ordinal;
mod pairs;
mod params;
mod path;
mod pointwise;
mod problem;
mod ranksvm;
mod ridge;
#[cfg(test)]
mod tests;
mod trainer;

pub use params::{SolverOptions, SolverParams};
pub(crate) use ranksvm::{PAIR_HINGE, PAIR_SQUARED_HINGE};
