//! `clicks`: click logs, from their content to position bias.

mod bias;
mod fit;
mod inspect;
mod pairs;

use std::path::PathBuf;

use rankwright::clicks::log::LogFormat;
use rankwright::tasks::ClickFiles;

use crate::declared::choice;
use crate::failure::Failure;
use crate::output::Output;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ClicksCommand {
    /// Count and describe a click log
    Inspect(inspect::Args),
    /// Turn clicks into preference pairs to train on
    Pairs(pairs::Args),
    /// Fit a click model to a log
    Fit(fit::Args),
    /// Estimate the position bias of a log
    Bias(bias::Args),
}

pub(crate) fn run(command: &ClicksCommand, out: &Output) -> Result<(), Failure> {
    match command {
        ClicksCommand::Inspect(args) => inspect::run(args, out),
        ClicksCommand::Pairs(args) => pairs::run(args, out),
        ClicksCommand::Fit(args) => fit::run(args, out),
        ClicksCommand::Bias(args) => bias::run(args, out),
    }
}

/// The log that a command reads.
#[derive(Debug, clap::Args)]
pub(crate) struct LogArgs {
    /// Click log: JSON lines of UBI, of Metarank or with lists of documents and clicks, or the log
    /// of Yandex' Relevance Prediction Challenge; several files are one log
    #[arg(value_name = "LOG", required = true)]
    log: Vec<PathBuf>,
    /// Format of the log: jsonl, yandex-log or yandex-pages; told by content if not given
    #[arg(long, value_name = "FORMAT", value_parser = choice::<LogFormat>)]
    format: Option<LogFormat>,
}

impl LogArgs {
    fn files(&self) -> ClickFiles {
        ClickFiles::new(&self.log).format(self.format)
    }
}
