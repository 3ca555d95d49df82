//! `clicks pairs`: preference pairs from a click log.

use std::path::{Path, PathBuf};

use rankwright::clicks::{PairOptions, PreferenceRule};
use rankwright::spec::words::counted;
use rankwright::tasks::{ClickPairsRequest, ClickPairsResult, click_pairs};

use super::ClickLogArgs;
use crate::declared::{choices, value};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

/// Turn clicks into preference pairs to train on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    log: ClickLogArgs,
    /// Rules. Skip rules prefer documents of lower ranks only, so that they always oppose the order
    /// that was shown
    #[arg(
        long,
        value_name = "RULE,...",
        value_delimiter = ',',
        default_value = PreferenceRule::default().name(),
        value_parser = choices::<PreferenceRule>()
    )]
    rule: Vec<PreferenceRule>,
    /// Leave out pairs of fewer impressions
    #[arg(
        long,
        value_name = "N",
        default_value_t = PairOptions::default().min_count,
        value_parser = value::<PairOptions, u64>("min_count")
    )]
    min: u64,
    /// File of pairs for `train --pairs`: query, better and worse document, and the number of
    /// impressions as weight
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    out.check_not_stdout(&args.out)?;
    let request = ClickPairsRequest::new(args.log.files())
        .rules(args.rule.iter().copied())
        .min_count(args.min)
        .out(&args.out);
    let result = run_task(out, |context| click_pairs(&request, context))?;
    out.show(&result, |result| text(&args.out, result))
}

fn text(file: &Path, result: &ClickPairsResult) -> String {
    let same_document = match result.same_document {
        0 => String::new(),
        count => format!(", {count} left out as of one document shown twice"),
    };
    format!(
        "{}: {} of {} by {}, from {}; {} contradict another, {} left out as too rare{same_document}\n",
        file.display(),
        counted(result.pairs, "pair"),
        counted(result.queries, "query"),
        result.rules.join(", "),
        counted(result.counts.impressions as usize, "impression"),
        result.contradicted,
        result.too_rare
    )
}
