//! `clicks`: click logs, from their content to position bias.

mod bias;
mod convert;
mod counts;
mod evaluate;
mod examination;
mod fit;
mod inspect;
mod labels;
mod pairs;
mod simulate;

use std::path::PathBuf;

use rankwright::clicks::log::{
    BotLimits, DroppedPart, LogColumns, LogFormat, LogOptions, TimeSpan,
};
use rankwright::tasks::ClickFiles;

pub(crate) use bias::BiasArgs;

pub(crate) use crate::declared::choice;
use crate::declared::value;
use crate::failure::Failure;
use crate::output::Output;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum ClicksCommand {
    /// Count and describe a click log
    Inspect(inspect::Args),
    /// Write a log in another format
    Convert(convert::Args),
    /// Count clicks as numbers of documents and queries
    Counts(counts::Args),
    /// Turn clicks into preference pairs to train on
    Pairs(pairs::Args),
    /// Fit a click model to a log
    Fit(fit::Args),
    /// Estimate the position bias of a log
    Bias(bias::Args),
    /// Write feature data with labels from clicks
    Labels(labels::Args),
    /// Simulate users that click on rankings of labelled data
    Simulate(simulate::Args),
    /// Estimate the value that models would have, from the log of another ranker
    Evaluate(evaluate::Args),
}

pub(crate) fn run(command: &ClicksCommand, out: &Output) -> Result<(), Failure> {
    match command {
        ClicksCommand::Inspect(args) => inspect::run(args, out),
        ClicksCommand::Convert(args) => convert::run(args, out),
        ClicksCommand::Counts(args) => counts::run(args, out),
        ClicksCommand::Pairs(args) => pairs::run(args, out),
        ClicksCommand::Fit(args) => fit::run(args, out),
        ClicksCommand::Bias(args) => bias::run(args, out),
        ClicksCommand::Labels(args) => labels::run(args, out),
        ClicksCommand::Simulate(args) => simulate::run(args, out),
        ClicksCommand::Evaluate(args) => evaluate::run(args, out),
    }
}

/// The click log that a command reads.
#[derive(Debug, clap::Args)]
pub(crate) struct ClickLogArgs {
    /// Click log: JSON lines of UBI, of Metarank or with lists of documents and clicks, a table
    /// (CSV, TSV, JSON lines, Parquet) of shown documents or of pages, or the log of Yandex'
    /// Relevance Prediction Challenge; several files are one log
    #[arg(value_name = "LOG", required = true)]
    click_log: Vec<PathBuf>,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// The heading of the options that all commands on logs share.
const HEADING: &str = "Options of the log";

/// Options of reading a log.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReadingArgs {
    /// Format of the log: jsonl, csv, tsv, parquet, yandex-log or yandex-pages; told by content if
    /// not given
    #[arg(long, value_name = "FORMAT", value_parser = choice::<LogFormat>)]
    format: Option<LogFormat>,
    /// Roles of columns, such as `query=keyword, document=sku, click=bought`. Roles: impression,
    /// session, user, query, document, position, click, click_time, time, ranker, propensity,
    /// device, ignore; guessed by name if not given
    #[arg(long, help_heading = HEADING, value_name = "ROLE=COLUMN,...", value_parser = columns)]
    columns: Option<LogColumns>,
    /// Events that are taken as clicks, such as `purchase`; `click` and its variants if not given
    #[arg(long, help_heading = HEADING, value_name = "NAME,...", value_delimiter = ',')]
    event: Vec<String>,
    /// Make sessions of users and times: a session ends after this long without an impression or a
    /// click, such as 30m
    #[arg(long, help_heading = HEADING, value_name = "TIME", value_parser = choice::<TimeSpan>)]
    session_gap: Option<TimeSpan>,
    /// Leave out repeated clicks on a document, early ones (before their impression), or the
    /// impressions of bots
    #[arg(long, help_heading = HEADING, value_name = "PART,...", value_delimiter = ',', value_parser = choice::<DroppedPart>)]
    drop: Vec<DroppedPart>,
    /// Impressions above which a user, or a session without user, is a bot
    #[arg(long, help_heading = HEADING, value_name = "N", default_value_t = BotLimits::default().impressions, value_parser = value::<BotLimits, u64>("impressions"))]
    bot_impressions: u64,
    /// Mean seconds between at least ten impressions of a user below which it is a bot
    #[arg(long, help_heading = HEADING, value_name = "SECONDS", default_value_t = BotLimits::default().seconds, value_parser = value::<BotLimits, f64>("seconds"))]
    bot_seconds: f64,
}

impl ReadingArgs {
    /// A log of these files that is read with the options.
    pub(crate) fn files(&self, files: &[PathBuf]) -> ClickFiles {
        ClickFiles::new(files).format(self.format).options(self.options())
    }

    fn options(&self) -> LogOptions {
        let bots = BotLimits::default().impressions(self.bot_impressions).seconds(self.bot_seconds);
        LogOptions::default()
            .columns(self.columns.clone().unwrap_or_default())
            .events(&self.event)
            .session_gap(self.session_gap)
            .drop(self.drop.iter().copied())
            .bots(bots)
    }
}

impl ClickLogArgs {
    pub(crate) fn files(&self) -> ClickFiles {
        self.like(&self.click_log)
    }

    /// Another log that is read with the same options.
    pub(crate) fn like(&self, files: &[PathBuf]) -> ClickFiles {
        self.reading.files(files)
    }
}

fn columns(text: &str) -> Result<LogColumns, String> {
    LogColumns::parse(text).map_err(|error| error.to_string())
}
