//! The systems of a comparison: models and score files on one data set, or runs.
//!
//! What they are evaluated on is kept, so that a report can show documents.

use std::path::PathBuf;

use rankwright::eval::compare::Comparison;
use rankwright::eval::{EvalOptions, Evaluation, QuerySource};
use rankwright::report::comparison::ComparisonReport;
use rankwright::tasks::{CompareInput, CompareRequest, CompareSources};

use super::TestArgs;
use crate::failure::Failure;
use crate::input::ReadArgs;
use crate::measures::MetricArgs;
use crate::output::Output;
use crate::progress::timed;

/// What is compared, and how.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SystemArgs {
    /// Feature data and models, or runs (with --qrels); all files of data are one data set
    #[arg(value_name = "DATA|MODEL|RUN", required = true)]
    inputs: Vec<PathBuf>,
    /// Judgements for the runs
    #[arg(long, value_name = "QRELS", conflicts_with_all = ["scores", "format", "absent", "columns", "pairs"])]
    qrels: Option<PathBuf>,
    /// Scores for the data, one number a line; repeat it for each system
    #[arg(long, value_name = "FILE")]
    scores: Vec<PathBuf>,
    /// Pass over features that a model does not know
    #[arg(long, conflicts_with = "qrels")]
    ignore_extra: bool,
    #[command(flatten)]
    metrics: MetricArgs,
    #[command(flatten)]
    pub(crate) tests: TestArgs,
    #[command(flatten)]
    read: ReadArgs,
}

impl SystemArgs {
    /// The request to compare, as the library takes it.
    pub(crate) fn request(&self) -> Result<CompareRequest, Failure> {
        let input = match &self.qrels {
            Some(qrels) => CompareInput::Runs { runs: self.inputs.clone(), qrels: qrels.clone() },
            None => CompareInput::Data {
                files: self.read.files(&self.inputs)?,
                scores: self.scores.clone(),
                ignore_extra: self.ignore_extra,
            },
        };
        let request = CompareRequest::new(input).metrics(self.metrics.specs()?);
        Ok(request.depth(self.metrics.depth()).options(self.tests.options()))
    }

    /// The comparison as a report.
    pub(crate) fn report(
        &self,
        systems: Vec<(String, Evaluation)>,
        comparison: Comparison,
        data_name: &str,
    ) -> Result<ComparisonReport, Failure> {
        let title = format!("Comparison on {}", short_name(data_name));
        let report = ComparisonReport::from_comparison(&title, systems, comparison)?;
        // Of the usual metrics this one tells queries apart best; else the first asked for counts.
        Ok(match self.metrics.metrics.is_empty() {
            true => report.with_main("ndcg@10")?,
            false => report,
        })
    }

    /// Adds what only the documents show: cut-offs, sizes and the changes within these queries.
    pub(crate) fn add_query_details(
        &self,
        report: ComparisonReport,
        data_name: &str,
        sources: &CompareSources,
        queries: &[String],
        out: &Output,
    ) -> Result<ComparisonReport, Failure> {
        let what = match sources {
            CompareSources::Runs { .. } => "Judgements",
            _ => "Data",
        };
        let facts = vec![(what.to_owned(), data_name.to_owned())];
        let sources = sources.queries()?;
        let sources: Vec<&dyn QuerySource> = sources.iter().map(|source| &**source).collect();
        let options = EvalOptions::default().depth(self.metrics.depth());
        let (report, _) = timed(out, "evaluating at every cut-off", || {
            report.with_facts(facts).with_sources(&sources, queries, options)
        });
        Ok(report?)
    }
}

/// The end of a path, for a title; what is no path stays as it is.
pub(crate) fn short_name(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().filter(|end| !end.is_empty()).unwrap_or(name)
}
