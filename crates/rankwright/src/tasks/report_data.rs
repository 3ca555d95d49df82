//! Report on a data set: labels, sizes of queries, and the relation of each feature to relevance.

use std::path::{Path, PathBuf};

use rankwright_report::data::{DataOptions, DataReport};
use rankwright_spec::check_params;
use serde::{Deserialize, Serialize, Serializer};

use super::context::RunningTask;
use super::paths::short_name;
use super::{Context, DataSource, TaskError, TaskInputs, Warning};

/// Data, and options of the report.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ReportDataRequest {
    /// The data.
    pub data: DataSource,
    /// Metric, number of features shown, sample and seed.
    #[serde(default)]
    pub options: DataOptions,
}

impl ReportDataRequest {
    /// Reports on this data with the default options.
    pub fn new(data: impl Into<DataSource>) -> Self {
        ReportDataRequest { data: data.into(), options: DataOptions::default() }
    }

    /// Sets the options.
    pub fn options(mut self, options: DataOptions) -> Self {
        self.options = options;
        self
    }
}

impl TaskInputs for ReportDataRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.data.paths().map(Path::to_owned).collect()
    }
}

/// A report on a data set. Serialised as the numbers of the report, with all warnings.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReportDataResult {
    /// The report.
    pub report: DataReport,
    /// Recoverable problems while reading, then warnings about the content of the data.
    pub warnings: Vec<Warning>,
}

impl Serialize for ReportDataResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.report.result_with(&self.warnings).serialize(serializer)
    }
}

/// Reports on a data set.
pub fn report_data(
    request: &ReportDataRequest,
    context: &Context<'_>,
) -> Result<ReportDataResult, TaskError> {
    let mut task = RunningTask::new(context);
    check_params(&request.options, "report on data")?;
    let loaded = request.data.load(None, &mut task)?;
    let label = request.data.label();
    let name = request.data.source_name();
    let title = format!("Data set {}", if name.is_file { short_name(&label) } else { &label });
    let (report, _) = task
        .step("analysing features", || DataReport::new(&title, &loaded.data, &request.options))?;
    let facts = [
        ("Data", label),
        ("Format", loaded.format_name().to_owned()),
        ("Absent features are", loaded.data.absent().name().to_owned()),
    ];
    let facts = facts.map(|(name, text)| (name.to_owned(), text));
    let report = report.with_facts(facts.to_vec());
    // The page shows these warnings itself.
    report.warnings().into_iter().for_each(|warning| task.keep_silently(Warning::Content(warning)));
    Ok(ReportDataResult { report, warnings: task.into_warnings() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::DataFiles;

    #[test]
    fn the_report_lists_warnings_of_the_reader_and_of_the_content() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        std::fs::write(&file, "1 qid:1 1:0.5 2:2\n\n0 qid:1 1:1 2:1\n").unwrap();
        let request = ReportDataRequest::new(DataFiles::new([&file]));
        let result = report_data(&request, &Context::default()).unwrap();
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!(
            (json["title"].as_str(), json["rows"].as_u64()),
            (Some("Data set a.txt"), Some(2))
        );
        let kinds: Vec<&str> = result.warnings.iter().map(Warning::kind).collect();
        assert_eq!(kinds, ["blank-lines", "sorted-by-label"]);
        assert_eq!(json["warnings"], serde_json::to_value(&result.warnings).unwrap());
        assert!(json.get("notes").is_none());
        let facts = result.report.page().facts;
        assert_eq!(facts[0], ("Data".to_owned(), file.display().to_string()));
        assert_eq!(facts[2], ("Absent features are".to_owned(), "zero".to_owned()));
    }
}
