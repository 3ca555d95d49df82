//! `clicks fit`: a click model, fitted to a log.

use std::path::PathBuf;

use rankwright::clicks::ClickModel;
use rankwright::clicks::model::{ClickModelEvaluation, ParameterIndex};
use rankwright::eval::table::{Align, Cell, Table};
use rankwright::tasks::{FitClickModelRequest, FitClickModelResult, fit_click_model};

use super::ClickLogArgs;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

/// Fit a click model to a log.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    log: ClickLogArgs,
    /// The click model, such as `ubm(iterations=50, prior=1)`. See `list click-models`
    #[arg(long, value_name = "SPEC", default_value_t = ClickModel::default().spec().to_owned())]
    model: String,
    /// Another log to measure the fitted model on
    #[arg(long, value_name = "LOG")]
    test: Vec<PathBuf>,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let mut request =
        FitClickModelRequest::new(args.log.files()).model(ClickModel::parse(&args.model)?);
    if !args.test.is_empty() {
        request = request.test(args.log.like(&args.test));
    }
    let result = run_task(out, |context| fit_click_model(&request, context))?;
    out.show(&result, text)
}

/// The perplexities of each rank, on the log that was fitted and on the test log.
fn rank_table(fitted: &ClickModelEvaluation, test: Option<&ClickModelEvaluation>) -> Table {
    let logs = [("", Some(fitted)), ("test ", test)];
    let logs = || logs.iter().filter_map(|(name, fit)| Some((*name, (*fit)?)));
    let names = ["perplexity", "conditional perplexity"];
    let columns: Vec<String> =
        logs().flat_map(|(log, _)| names.map(|name| format!("{log}{name}"))).collect();
    let columns = std::iter::once("rank").chain(columns.iter().map(String::as_str));
    let mut table = Table::new(columns.map(|name| (name, Align::Right)));
    let ranks = logs().map(|(_, fit)| fit.perplexity_by_rank.len()).max().unwrap_or(0);
    for rank in 0..ranks {
        let values = logs().flat_map(|(_, fit)| {
            let by_rank = [&fit.perplexity_by_rank, &fit.conditional_perplexity_by_rank];
            by_rank.map(|values| values.get(rank).map(|value| format!("{value:.4}")))
        });
        let cells =
            std::iter::once((rank + 1).to_string()).chain(values.map(Option::unwrap_or_default));
        table.rows.push(cells.map(Cell::new).collect());
    }
    table
}

fn text(result: &FitClickModelResult) -> String {
    let names = ["log", "impressions", "log-likelihood", "perplexity", "conditional perplexity"];
    let align = |name| (name, if name == "log" { Align::Left } else { Align::Right });
    let mut table = Table::new(names.map(align));
    let mut row = |log: &str, fit: &ClickModelEvaluation| {
        let cells = [
            log.to_owned(),
            fit.impressions.to_string(),
            format!("{:.4}", fit.log_likelihood),
            format!("{:.4}", fit.perplexity),
            format!("{:.4}", fit.conditional_perplexity),
        ];
        table.rows.push(cells.map(Cell::new).to_vec());
    };
    row("fitted", &result.fitted);
    if let Some(test) = &result.test {
        row("test", test);
    }
    let ranks = rank_table(&result.fitted, result.test.as_ref());
    let mut text = format!("{}\n\n{}\n{}", result.model, table.to_text(), ranks.to_text());
    for parameter in &result.parameters {
        let values: Vec<String> =
            parameter.values.iter().map(|value| format!("{value:.4}")).collect();
        match parameter.index {
            ParameterIndex::Single => {
                text += &format!("\n{}: {}", parameter.name, values.join(" "))
            }
            ParameterIndex::Rank => {
                text += &format!("\n{} by rank: {}", parameter.name, values.join(" "));
            }
            _ => {
                text +=
                    &format!("\n{}: {} values; --json prints them", parameter.name, values.len())
            }
        }
    }
    text + "\n"
}
