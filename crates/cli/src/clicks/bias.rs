//! `clicks bias`: the position bias of a click log.

use rankwright::clicks::bias::{BiasEstimator, BiasOptions};
use rankwright::data::DEFAULT_SEED;
use rankwright::eval::table::{Align, Cell, Table};
use rankwright::tasks::{EstimateBiasRequest, EstimateBiasResult, estimate_bias};

use super::{LogArgs, choice};
use crate::declared::help;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

/// Estimate the position bias of a log.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    log: LogArgs,
    /// Estimators: em, allpairs, adjacent, swap, or click-rate, which corrects nothing
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        default_value = "em,allpairs,adjacent,swap,click-rate",
        value_parser = choice::<BiasEstimator>
    )]
    estimator: Vec<BiasEstimator>,
    #[arg(long, help = help::<BiasOptions>("min_shown"), value_name = "N", default_value_t = BiasOptions::default().min_shown, value_parser = clap::value_parser!(u64).range(1..))]
    min_shown: u64,
    #[arg(long, help = help::<BiasOptions>("samples"), value_name = "N", default_value_t = BiasOptions::default().samples)]
    samples: u32,
    #[arg(long, help = help::<BiasOptions>("seed"), value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let options =
        BiasOptions::default().min_shown(args.min_shown).samples(args.samples).seed(args.seed);
    let request = EstimateBiasRequest::new(args.log.files())
        .estimators(args.estimator.iter().copied())
        .options(options);
    let result = run_task(out, |context| estimate_bias(&request, context))?;
    out.show(&result, text)
}

fn text(result: &EstimateBiasResult) -> String {
    let names = result.estimates.iter().map(|bias| bias.estimator);
    let mut table =
        Table::new(std::iter::once("rank").chain(names).map(|name| (name, Align::Right)));
    let ranks = result.estimates.iter().map(|bias| bias.examination.len()).max().unwrap_or(0);
    for rank in 0..ranks {
        let mut row = vec![Cell::new((rank + 1).to_string())];
        for bias in &result.estimates {
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
    let disagreement = result.disagreement.map_or(String::new(), |difference| {
        format!("Largest difference between the estimators that correct for relevance: {difference:.3}\n")
    });
    format!(
        "{}\nExamination relative to rank 1, with 95 % intervals. -: no documents link the rank.\n{disagreement}",
        table.to_text()
    )
}
