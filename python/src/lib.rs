//! The native module of the Python package `rankwright`.
//!
//! It converts types and calls the library; nothing is computed here. Arrays are passed by the
//! buffer protocol, frames by the Arrow C stream interface, results as JSON text of the structs
//! that the library serialises. `errors.rs` maps errors to exceptions, `run.rs` runs work outside
//! of the interpreter lock. The package in `rankwright/` is the interface for people.

mod arrays;
mod arrow_frames;
mod clicks;
mod dataset;
mod errors;
mod evaluation;
mod fields;
mod inputs;
mod model;
mod reports;
mod requests;
mod run;
mod search;
mod sources;
mod tasks;
mod training;

use pyo3::prelude::*;

/// The native module.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::clicks::label_clicks;
    #[pymodule_export]
    use crate::dataset::PyDataset;
    #[pymodule_export]
    use crate::errors::error_kinds;
    #[pymodule_export]
    use crate::evaluation::{PyEvaluation, compare, cv, evaluate, tune};
    #[pymodule_export]
    use crate::model::{PyModel, model_formats};
    #[pymodule_export]
    use crate::reports::{
        generate_letor, lecture, report_clicks, report_comparison, report_data, report_shrinkage,
        report_trade_off, report_training,
    };
    #[pymodule_export]
    use crate::requests::{list, run_request};
    #[pymodule_export]
    use crate::run::panic_for_tests;
    #[pymodule_export]
    use crate::search::PyIndex;
    #[pymodule_export]
    use crate::tasks::run_task;
    #[pymodule_export]
    use crate::training::{learner_parameters, train};

    use super::*;

    /// Adds the version of the package.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
