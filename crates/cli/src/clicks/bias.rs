//! `clicks bias`: the position bias of a click log.

use std::path::PathBuf;

use rankwright::clicks::bias::{BiasEstimator, BiasOptions, PositionBias};
use rankwright::eval::table::{Align, Cell, Table};
use rankwright::spec::words::counted;
use rankwright::tasks::{DataFiles, EstimateBiasRequest, EstimateBiasResult, estimate_bias};

use super::{ClickLogArgs, choice};
use crate::declared::{help, value};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

/// Estimate the position bias of a log.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    log: ClickLogArgs,
    #[command(flatten)]
    bias: BiasArgs,
    /// Estimate the bias also for the pages of each value of an attribute: device, ranker or
    /// session
    #[arg(long, value_name = "ATTRIBUTE")]
    by: Option<String>,
}

/// Estimators of position bias and their options.
#[derive(Debug, clap::Args)]
pub(crate) struct BiasArgs {
    /// Estimators: em, regression-em, allpairs, adjacent, swap, randomised, or click-rate, which
    /// corrects nothing; if not given, all that the log and --features allow
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = choice::<BiasEstimator>)]
    estimator: Vec<BiasEstimator>,
    /// Feature data of the documents, for regression-em; joined by the ids of query and document
    #[arg(long, value_name = "DATA")]
    features: Vec<PathBuf>,
    #[arg(
        long,
        value_name = "N",
        default_value_t = BiasOptions::default().min_shown,
        value_parser = value::<BiasOptions, u64>("min_shown"),
        help = help::<BiasOptions>("min_shown")
    )]
    min_shown: u64,
    #[arg(
        long,
        value_name = "N",
        default_value_t = BiasOptions::default().samples,
        value_parser = value::<BiasOptions, u32>("samples"),
        help = help::<BiasOptions>("samples")
    )]
    samples: u32,
    #[arg(long, value_name = "N", default_value_t = BiasOptions::default().seed, help = help::<BiasOptions>("seed"))]
    seed: u64,
    #[arg(
        long,
        value_name = "NAME",
        default_value_t = BiasOptions::default().random_ranker,
        help = help::<BiasOptions>("random_ranker")
    )]
    random_ranker: String,
}

impl BiasArgs {
    pub(crate) fn estimators(&self) -> impl Iterator<Item = BiasEstimator> {
        self.estimator.iter().copied()
    }

    pub(crate) fn options(&self) -> BiasOptions {
        BiasOptions::default()
            .min_shown(self.min_shown)
            .samples(self.samples)
            .seed(self.seed)
            .random_ranker(self.random_ranker.as_str())
    }

    pub(crate) fn features(&self) -> Option<DataFiles> {
        (!self.features.is_empty()).then(|| DataFiles::new(&self.features))
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let mut request = EstimateBiasRequest::new(args.log.files())
        .estimators(args.bias.estimators())
        .options(args.bias.options());
    if let Some(features) = args.bias.features() {
        request = request.features(features);
    }
    if let Some(attribute) = &args.by {
        request = request.by(attribute.as_str());
    }
    let result = run_task(out, |context| estimate_bias(&request, context))?;
    out.show(&result, text)
}

fn text(result: &EstimateBiasResult) -> String {
    let mut text = estimates(&result.estimates, result.disagreement);
    for group in &result.groups {
        text += &format!(
            "\n{} {}: {}\n{}",
            group.attribute,
            group.value.as_deref().unwrap_or("(none)"),
            counted(group.impressions as usize, "impression"),
            estimates(&group.estimates, group.disagreement)
        );
    }
    text
}

/// The table of estimates, refusals, and the disagreement.
fn estimates(all: &[PositionBias], disagreement: Option<f64>) -> String {
    let shown: Vec<&PositionBias> = all.iter().filter(|bias| bias.refusal.is_none()).collect();
    let names = shown.iter().map(|bias| bias.estimator);
    let mut table =
        Table::new(std::iter::once("rank").chain(names).map(|name| (name, Align::Right)));
    let ranks = shown.iter().map(|bias| bias.examination.len()).max().unwrap_or(0);
    for rank in 0..ranks {
        let mut row = vec![Cell::new((rank + 1).to_string())];
        for bias in &shown {
            let value = bias.examination.get(rank).copied().flatten();
            let interval = bias.ci95.get(rank).copied().flatten();
            row.push(Cell::new(match (value, interval) {
                (None, _) => "-".to_owned(),
                (Some(value), None) => format!("{value:.3}"),
                (Some(value), Some([low, high])) => format!("{value:.3} ({low:.2} to {high:.2})"),
            }));
        }
        table.rows.push(row);
    }
    let refused = all.iter().filter_map(|bias| Some((bias.estimator, bias.refusal.as_ref()?)));
    let refusals: String =
        refused.map(|(name, reason)| format!("{name} has no estimate: {reason}.\n")).collect();
    let disagreement = disagreement.map_or(String::new(), |difference| {
        format!("Largest difference between the estimators that correct for relevance: {difference:.3}\n")
    });
    format!(
        "{}\nExamination: how likely users look at a rank, relative to rank 1 (1.000), with 95 % intervals.\n-: no estimate, since the documents at this rank were never or too seldom shown at a rank that has one.\n{refusals}{disagreement}",
        table.to_text()
    )
}
