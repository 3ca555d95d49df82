//! Report on a comparison of systems: query by query, at every cut-off, document by document.

use std::path::PathBuf;

use rankwright_eval::{DEFAULT_METRIC, EvalOptions, QuerySource};
use rankwright_report::comparison::ComparisonReport;
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::paths::{check_used, short_name};
use super::{
    CompareInput, CompareRequest, CompareResult, CompareSources, Context, TaskError, TaskInputs,
    Warning, compare_systems,
};

/// Systems to compare, and queries to show.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ReportComparisonRequest {
    /// The systems, the metrics and the test.
    pub comparison: CompareRequest,
    /// Ids of queries whose documents are shown; a few informative ones if empty.
    #[serde(default)]
    pub queries: Vec<String>,
}

impl TaskInputs for ReportComparisonRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.comparison.inputs()
    }
}

impl ReportComparisonRequest {
    /// Reports on a comparison, with a few informative queries.
    pub fn new(comparison: CompareRequest) -> Self {
        ReportComparisonRequest { comparison, queries: Vec::new() }
    }

    /// Shows the documents of these queries.
    pub fn queries(mut self, ids: Vec<String>) -> Self {
        self.queries = ids;
        self
    }
}

/// A comparison report with its warnings.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ReportComparisonResult {
    /// The report.
    #[serde(flatten)]
    pub report: ComparisonReport,
    /// Warnings about files, features and queries.
    pub warnings: Vec<Warning>,
}

/// Compares systems and reports on every query.
pub fn report_comparison(
    request: &ReportComparisonRequest,
    context: &Context<'_>,
) -> Result<ReportComparisonResult, TaskError> {
    let result = compare_systems(&request.comparison, context)?;
    let warnings = result.warnings.clone();
    let report = result.into_detailed_report(&request.comparison, &request.queries, context)?;
    Ok(ReportComparisonResult { report, warnings })
}

impl CompareResult {
    /// The report on the comparison of this request, without documents. The main metric is the
    /// first requested one, or the default metric if none is requested.
    pub fn into_report(self, request: &CompareRequest) -> Result<ComparisonReport, TaskError> {
        report(self, request).map(|(report, _)| report)
    }

    /// The report with the parts that need documents: cut-offs, sizes of queries, and the changes
    /// within these queries; within a few informative ones if none is named.
    pub fn into_detailed_report(
        self,
        request: &CompareRequest,
        queries: &[String],
        context: &Context<'_>,
    ) -> Result<ComparisonReport, TaskError> {
        let (report, sources) = report(self, request)?;
        if matches!(sources, CompareSources::Unknown) {
            let reason = "the documents of evaluations are not known";
            check_used(!queries.is_empty(), "queries", reason)?;
            return Ok(report);
        }
        let sources = sources.queries()?;
        let sources: Vec<&dyn QuerySource> = sources.iter().map(|source| &**source).collect();
        let options = EvalOptions::default().depth(request.depth);
        let work = || report.with_sources(&sources, queries, options);
        Ok(RunningTask::new(context).step("evaluating at every cut-off", work)?.0)
    }
}

/// The report without documents, and the documents behind the evaluations.
fn report(
    result: CompareResult,
    request: &CompareRequest,
) -> Result<(ComparisonReport, CompareSources), TaskError> {
    let CompareResult { systems, comparison, data_name, sources, .. } = result;
    let is_file = match &request.input {
        CompareInput::Data { data, .. } => data.files().is_some(),
        CompareInput::Runs { qrels, .. } => qrels.path().is_some(),
        CompareInput::Evaluations { .. } => false,
    };
    let title =
        format!("Comparison on {}", if is_file { short_name(&data_name) } else { &data_name });
    let report = ComparisonReport::from_comparison(&title, systems, comparison)?;
    // Of the usual metrics, the default metric distinguishes queries best. Data without labels does
    // not have it.
    let has_default = report
        .systems()
        .first()
        .is_some_and(|(_, evaluation)| evaluation.result(DEFAULT_METRIC).is_some());
    let report = match request.metrics.is_empty() && has_default {
        true => report.with_main(DEFAULT_METRIC)?,
        false => report,
    };
    let source_label = match sources {
        CompareSources::Runs { .. } => "Judgements",
        CompareSources::Data { .. } => "Data",
        CompareSources::Unknown => return Ok((report, sources)),
    };
    Ok((report.with_facts(vec![(source_label.to_owned(), data_name)]), sources))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::CompareInput;
    use rankwright_eval::MetricSpec;

    const QRELS: &str = "a 0 x 1\na 0 y 0\nb 0 x 0\nb 0 y 1\n";
    /// A run with the relevant document of each query first.
    const GOOD: &str = "a 0 x 1 2 g\na 0 y 2 1 g\nb 0 y 1 2 g\nb 0 x 2 1 g\n";
    /// A run with the relevant document of each query last, and a query without judgements.
    const BAD: &str = "a 0 y 1 2 b\na 0 x 2 1 b\nb 0 x 1 2 b\nb 0 y 2 1 b\nc 0 x 1 1 b\n";

    fn request(folder: &std::path::Path) -> CompareRequest {
        let write_file = |name: &str, text: &str| {
            std::fs::write(folder.join(name), text).unwrap();
            folder.join(name)
        };
        let runs = vec![write_file("good.run", GOOD), write_file("bad.run", BAD)];
        CompareRequest::new(CompareInput::runs(runs, write_file("q.txt", QRELS)))
    }

    #[test]
    fn the_report_has_the_comparison_the_documents_and_the_warnings() {
        let folder = tempfile::tempdir().unwrap();
        let request =
            ReportComparisonRequest::new(request(folder.path())).queries(vec!["b".into()]);
        let result = report_comparison(&request, &Context::default()).unwrap();
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!(json["title"], "Comparison on q.txt");
        assert_eq!(json["per_query"]["metric"], "ndcg@10");
        assert_eq!(json["changes"][0]["query"], "b");
        assert_eq!(json["warnings"][0]["kind"], "unjudged-queries");
        let qrels = folder.path().join("q.txt").display().to_string();
        assert_eq!(result.report.page().facts[0], ("Judgements".to_owned(), qrels));
    }

    #[test]
    fn the_first_metric_asked_for_is_the_main_one() {
        let folder = tempfile::tempdir().unwrap();
        let metrics = vec![MetricSpec::parse("rr").unwrap(), MetricSpec::parse("ndcg@10").unwrap()];
        let request = request(folder.path()).metrics(metrics);
        let result = compare_systems(&request, &Context::default()).unwrap();
        let json = serde_json::to_value(result.into_report(&request).unwrap()).unwrap();
        assert_eq!(json["per_query"]["metric"], "rr");
        assert!(json.get("changes").is_none());
    }
}
