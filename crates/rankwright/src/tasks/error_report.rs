//! An error as every program reports it.

use serde::Serialize;

use super::TaskError;

/// An error with a stable name, for programs: the `error` of a JSON document, an exception, the body
/// of an HTTP answer. Each program may replace the help by advice in its own words.
///
/// ```
/// use rankwright::tasks::{ErrorReport, TaskError};
///
/// let report = ErrorReport::from(&TaskError::NoSystems);
/// assert_eq!(report.kind, "no-systems");
/// let report = report.with_help("give at least one model".to_owned());
/// let json = serde_json::to_value(&report)?;
/// assert_eq!(json["help"], "give at least one model");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ErrorReport {
    /// A name that programs can rely on.
    pub kind: &'static str,
    /// The description of the error: a value or a file, and what is wrong with it.
    pub message: String,
    /// A remedy; `None` if there is none.
    pub help: Option<String>,
}

impl ErrorReport {
    /// An error that only the program has, such as wrong usage.
    pub fn new(kind: &'static str, message: impl Into<String>) -> Self {
        ErrorReport { kind, message: message.into(), help: None }
    }

    /// Replaces the remedy.
    pub fn with_help(mut self, help: impl Into<Option<String>>) -> Self {
        self.help = help.into();
        self
    }
}

impl From<&TaskError> for ErrorReport {
    fn from(error: &TaskError) -> Self {
        ErrorReport::new(error.kind(), error.to_string()).with_help(error.help())
    }
}

#[cfg(test)]
mod tests {
    use rankwright_data::{DataError, FileDamage};
    use rankwright_model::ModelError;

    use super::*;

    #[test]
    fn the_report_has_kind_message_and_help_of_the_innermost_error() {
        let damage = FileDamage::HeaderChecksum;
        let error = DataError::Damaged { file: "a.rwd".into(), damage };
        let (message, help) = (error.to_string(), error.help());
        let report = ErrorReport::from(&TaskError::from(error));
        assert_eq!((report.kind, &report.message, &report.help), ("damaged", &message, &help));
        let unknown = ModelError::UnknownFeatures { count: 1, names: "f9".into() };
        let report = ErrorReport::from(&TaskError::from(unknown.in_file("m")));
        assert_eq!(report.kind, "unknown-features");
        assert!(report.message.contains("m") && report.message.contains("f9"), "{report:?}");
    }
}
