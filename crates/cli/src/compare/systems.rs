//! The systems of a comparison as arguments: models and score files on one data set, or runs.

use std::path::PathBuf;

use rankwright::model::MatchBy;
use rankwright::tasks::{CompareInput, CompareRequest};

use super::TestArgs;
use crate::declared::choices;
use crate::failure::Failure;
use crate::input::{ReadArgs, match_options};
use crate::measures::MetricArgs;

/// The systems to compare.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SystemArgs {
    /// Feature data and models, or runs (with --qrels); several data files are one data set
    #[arg(value_name = "DATA|MODEL|RUN", required = true)]
    inputs: Vec<PathBuf>,
    /// Judgements for the runs
    #[arg(long, value_name = "QRELS", conflicts_with_all = ["scores", "format", "absent", "columns", "pairs"])]
    qrels: Option<PathBuf>,
    /// Scores for the data: one number per line, or a table with ids (CSV, TSV, JSON lines, Parquet, Arrow); repeat it for each system
    #[arg(long, value_name = "FILE")]
    scores: Vec<PathBuf>,
    /// Ignore features that a model does not know
    #[arg(long, conflicts_with = "qrels")]
    ignore_extra: bool,
    /// Rule that matches the features of the data with those of the model
    #[arg(long, value_parser = choices::<MatchBy>(), default_value = MatchBy::default().name(), conflicts_with = "qrels")]
    match_by: MatchBy,
    #[command(flatten)]
    metrics: MetricArgs,
    #[command(flatten)]
    pub(crate) tests: TestArgs,
    #[command(flatten)]
    read: ReadArgs,
}

impl SystemArgs {
    /// The comparison request in the library's form.
    pub(crate) fn request(&self) -> Result<CompareRequest, Failure> {
        let input = match &self.qrels {
            Some(qrels) => CompareInput::runs(&self.inputs, qrels),
            None => CompareInput::Data {
                data: self.read.files(&self.inputs)?.into(),
                models: Vec::new(),
                scores: self.scores.iter().map(Into::into).collect(),
                matching: match_options(self.match_by, self.ignore_extra),
            },
        };
        let request = CompareRequest::new(input).metrics(self.metrics.specs()?);
        Ok(request.depth(self.metrics.depth()).options(self.tests.options()))
    }
}
