//! Parameters that linear learners share.
//!
//! The defaults of c (the weight of the loss relative to the penalty) and of l2 gave good results
//! on the validation parts of MQ2008, MQ2007 and a sample of MSLR-WEB; as losses are means, the
//! best values do not grow with the data.

use rankwright_spec::{Conflict, Slashed, above, params};

use super::trainer::{LinearFit, LinearLoss, LinearTrainer};
use crate::bias::BiasParams;
use crate::transform::TransformParams;

params! {
    /// Parameters of Newton's method.
    pub struct SolverParams {
        steps: usize = 100, 1.., "Maximum number of steps of Newton's method, for each c.";
        tolerance: f64 = 0.0001, above(0.0).below(1.0),
            "Training stops when the norm of the gradient has fallen to this fraction of the \
             first.";
    }
    /// Builder methods for the parameters of Newton's method.
    pub trait SolverOptions: solver_params;
}

/// Fails if the values of c do not ascend: the search for each c starts from the weights found for
/// the next smaller one.
pub(super) fn check_ascending(c: &Slashed<f64>) -> Result<(), Conflict> {
    match c.0.is_sorted_by(|a, b| a < b) {
        true => Ok(()),
        false => Err(Conflict::BadValue {
            key: "c",
            value: c.to_string(),
            expected: "ascending values, such as c=1/10/100".to_owned(),
        }),
    }
}

/// The trainer of a linear learner.
pub(super) fn trainer(
    loss: LinearLoss,
    c: Vec<f64>,
    solver: &SolverParams,
    transform: &TransformParams,
) -> LinearTrainer {
    let fit = LinearFit {
        c_values: c,
        steps: solver.steps,
        tolerance: solver.tolerance,
        transform: transform.clone(),
    };
    LinearTrainer { loss, fit, bias: BiasParams::default() }
}
