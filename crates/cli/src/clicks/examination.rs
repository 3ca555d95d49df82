//! The arguments that give the examination of ranks.

use std::path::PathBuf;

use rankwright::clicks::bias::BiasEstimator;
use rankwright::tasks::ExaminationSource;

use super::choice;

/// The examination of ranks: from a file, or estimated from the log.
#[derive(Debug, clap::Args)]
pub(crate) struct ExaminationArgs {
    /// Examination of each rank: what `clicks bias --json` prints, or lines of rank and examination
    #[arg(long, value_name = "FILE")]
    bias: Option<PathBuf>,
    /// Estimator of the examination if no file is given (see `clicks bias`)
    #[arg(
        long,
        value_name = "NAME",
        default_value = "em",
        value_parser = choice::<BiasEstimator>,
        conflicts_with = "bias"
    )]
    bias_estimator: BiasEstimator,
}

impl ExaminationArgs {
    pub(crate) fn source(&self) -> ExaminationSource {
        match &self.bias {
            Some(file) => ExaminationSource::File(file.clone()),
            None => ExaminationSource::Estimator(self.bias_estimator),
        }
    }
}
