//! Errors of the library as Python exceptions: a class for each kind, made by `rankwright.errors`.

use pyo3::prelude::*;
use rankwright::tasks::{ErrorReport, TaskError};

/// The kind of a panic, which is a bug in the library.
const PANIC: &str = "panic";

/// The exception of an error.
pub(crate) fn exception(py: Python<'_>, error: &TaskError) -> PyErr {
    let ErrorReport { kind, message, help, .. } = ErrorReport::from(error);
    of_kind(py, kind, &message, help.as_deref())
}

/// The exception of a panic with this message.
pub(crate) fn panic_exception(py: Python<'_>, message: &str) -> PyErr {
    of_kind(py, PANIC, &format!("this is a bug in rankwright: {message}"), None)
}

/// An exception of a kind that the library does not know: `kind` in the words of the Python package.
pub(crate) fn of_kind(py: Python<'_>, kind: &str, message: &str, help: Option<&str>) -> PyErr {
    let module = py.import("rankwright.errors");
    match module.and_then(|module| module.call_method1("of_kind", (kind, message, help))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Turns the errors of any crate of the library into exceptions.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception of the error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<TaskError>> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error.into()))
    }
}

/// The JSON text of a result of the library.
pub(crate) fn json<T: serde::Serialize + ?Sized>(py: Python<'_>, value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| of_kind(py, "internal", &error.to_string(), None))
}

/// The kinds of errors of the library's own types, for the classes of `rankwright.errors`.
#[pyfunction]
pub(crate) fn error_kinds() -> Vec<&'static str> {
    let lists = [
        TaskError::KINDS,
        rankwright::data::DataError::KINDS,
        rankwright::eval::EvalError::KINDS,
        rankwright::eval::compare::CompareError::KINDS,
        rankwright::model::ModelError::KINDS,
        rankwright::learn::LearnError::KINDS,
        rankwright::search::SearchError::KINDS,
        rankwright::report::ReportError::KINDS,
        rankwright::experiment::ExperimentError::KINDS,
        rankwright::clicks::ClicksError::KINDS,
        rankwright::spec::SpecError::KINDS,
        &[PANIC],
    ];
    let mut kinds: Vec<&str> = lists.concat();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}
