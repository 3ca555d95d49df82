//! The arguments that give the examination of ranks.

use std::path::PathBuf;

use rankwright::clicks::bias::{BiasEstimator, BiasOptions};
use rankwright::tasks::ExaminationSource;

use super::choice;
use crate::declared::{help, value};

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
        default_value = BiasEstimator::Em.name(),
        value_parser = choice::<BiasEstimator>,
        conflicts_with = "bias"
    )]
    bias_estimator: BiasEstimator,
    #[arg(
        long,
        value_name = "N",
        default_value_t = BiasOptions::default().min_shown,
        value_parser = value::<BiasOptions, u64>("min_shown"),
        conflicts_with = "bias",
        help = help::<BiasOptions>("min_shown")
    )]
    min_shown: u64,
    #[arg(
        long,
        value_name = "NAME",
        default_value_t = BiasOptions::default().random_ranker,
        conflicts_with = "bias",
        help = help::<BiasOptions>("random_ranker")
    )]
    random_ranker: String,
}

impl ExaminationArgs {
    pub(crate) fn source(&self) -> ExaminationSource {
        match &self.bias {
            Some(file) => ExaminationSource::File(file.clone()),
            None => ExaminationSource::Estimator(self.bias_estimator),
        }
    }

    /// The options of the estimator.
    pub(crate) fn options(&self) -> BiasOptions {
        BiasOptions::default().min_shown(self.min_shown).random_ranker(self.random_ranker.as_str())
    }
}
