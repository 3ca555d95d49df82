//! Report on a data set: labels, sizes of queries, and the relation of each feature to relevance.

use rankwright_report::data::{DataOptions, DataReport};
use serde::{Serialize, Serializer};

use super::context::Running;
use super::paths::short_name;
use super::{Context, DataFiles, TaskError, Warning, file_label};

/// Data, and options of the report.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReportDataRequest {
    /// The data.
    pub data: DataFiles,
    /// Metric, number of features shown, sample and seed.
    pub options: DataOptions,
}

impl ReportDataRequest {
    /// Reports on this data with the default options.
    pub fn new(data: DataFiles) -> Self {
        ReportDataRequest { data, options: DataOptions::default() }
    }

    /// Sets the options.
    pub fn options(mut self, options: DataOptions) -> Self {
        self.options = options;
        self
    }
}

/// A report on a data set with its warnings.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ReportDataResult {
    /// The report. Its `warnings` are about the content of the data.
    #[serde(flatten)]
    pub report: DataReport,
    /// Recoverable problems while reading; serialised as `notes`, one sentence each.
    #[serde(rename = "notes", serialize_with = "sentences")]
    pub warnings: Vec<Warning>,
}

/// Reports on a data set.
pub fn report_data(
    request: &ReportDataRequest,
    context: &Context<'_>,
) -> Result<ReportDataResult, TaskError> {
    let mut task = Running::new(context);
    let loaded = request.data.load(None, &mut task)?;
    let label = file_label(&request.data.files);
    let title = format!("Data set {}", short_name(&label));
    let (report, _) = task
        .step("analysing features", || DataReport::new(&title, &loaded.data, &request.options))?;
    let facts = [
        ("Data", label),
        ("Format", loaded.format.info().name.to_owned()),
        ("Absent features are", loaded.data.absent().name().to_owned()),
    ];
    let facts = facts.map(|(name, text)| (name.to_owned(), text));
    let report = report.with_facts(facts.to_vec());
    Ok(ReportDataResult { report, warnings: task.into_warnings() })
}

fn sentences<S: Serializer>(warnings: &[Warning], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(warnings.iter().map(ToString::to_string))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_tells_what_the_reader_met() {
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
        assert_eq!(json["notes"].as_array().unwrap().len(), result.warnings.len());
        assert_eq!(json["notes"][0], result.warnings[0].to_string());
        let facts = result.report.page().facts;
        assert_eq!(facts[0], ("Data".to_owned(), file.display().to_string()));
        assert_eq!(facts[2], ("Absent features are".to_owned(), "zero".to_owned()));
    }
}
