//! `compare`: several models or score files on one data set, or several runs, with significance.

mod systems;

use rankwright::eval::compare::{CompareOptions, Test};
use rankwright::eval::stats::Correction;
use rankwright::eval::table::{comparison_details, comparison_table};
use rankwright::eval::{Evaluation, conventions, tie_notes};
use rankwright::report::comparison::ComparisonReport;
use rankwright::tasks::{WithPage, compare_systems};

use crate::declared::help;
use crate::failure::Failure;
use crate::measures::ReportArgs;
use crate::output::{Output, TableStyle, document};
use crate::page::ExtraPage;
use crate::progress::run_task;
pub(crate) use systems::SystemArgs;

/// Compare models on one data set (`DATA MODEL MODEL...`; models are recognised by content), score
/// files for it (`--scores A --scores B DATA...`), both together, or runs (`--qrels QRELS RUN
/// RUN...`). The first system is the baseline unless another is named: models in their order, then
/// score files.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    systems: SystemArgs,
    /// Show every number: differences, intervals, p-values, effect sizes, wins and losses
    #[arg(long)]
    details: bool,
    #[command(flatten)]
    report: ReportArgs,
    #[command(flatten)]
    page: ExtraPage,
}

/// Options of the significance test.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TestArgs {
    #[arg(long, value_name = "NAME", help = help::<CompareOptions>("baseline"))]
    baseline: Option<String>,
    #[arg(long, value_name = "TEST", help = help::<CompareOptions>("test"))]
    #[arg(default_value_t = CompareOptions::default().test)]
    test: Test,
    #[arg(long, value_name = "RULE", help = help::<CompareOptions>("correction"))]
    #[arg(default_value_t = CompareOptions::default().correction)]
    correction: Correction,
    #[arg(long, value_name = "P", help = help::<CompareOptions>("alpha"))]
    #[arg(default_value_t = CompareOptions::default().alpha)]
    alpha: f64,
    #[arg(long, value_name = "N", help = help::<CompareOptions>("samples"))]
    #[arg(default_value_t = CompareOptions::default().samples)]
    samples: usize,
    #[arg(long, value_name = "N", help = help::<CompareOptions>("seed"))]
    #[arg(default_value_t = CompareOptions::default().seed)]
    seed: u64,
}

impl TestArgs {
    /// The options in the library's form.
    pub(crate) fn options(&self) -> CompareOptions {
        CompareOptions::default()
            .baseline(self.baseline.clone())
            .test(self.test)
            .correction(self.correction)
            .alpha(self.alpha)
            .seed(self.seed)
            .samples(self.samples)
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let request = args.systems.request()?;
    args.page.check(&request, out)?;
    args.report.check(args.page.html.as_deref(), &request, out)?;
    let result = run_task(out, |context| compare_systems(&request, context))?;
    let named: Vec<(&str, &Evaluation)> =
        result.systems.iter().map(|(n, e)| (n.as_str(), e)).collect();
    args.report.write(&named, &request)?;
    // The report takes the result.
    let result_document = document(&result)?;
    let report = match args.page.html {
        Some(_) => run_task(out, |context| result.into_detailed_report(&request, &[], context))?,
        None => result.into_report(&request)?,
    };
    let page = args.page.write(|| report.page(), &request, out)?;
    out.show(&WithPage { result: &result_document, page }, |_| text(args, &report))
}

/// The table and, in plain text, the queries won and lost.
fn text(args: &Args, report: &ComparisonReport) -> String {
    let mut table = match args.details {
        true => comparison_details(report.comparison()),
        false => comparison_table(report.comparison()),
    };
    let results = report.systems().first().map_or(&[][..], |(_, e)| &e.results);
    table.notes.extend(conventions(results));
    table.notes.extend(tie_notes(report.systems().iter().map(|(name, e)| (name.as_str(), e))));
    if results.iter().any(|result| result.weighted) {
        table.notes.push(WEIGHTED.into());
    }
    let drawn = args.report.table.draw(&table);
    let queries = match args.report.table {
        TableStyle::Text => report.per_query_text(WIDTH),
        TableStyle::Markdown | TableStyle::Latex => String::new(),
    };
    match queries.is_empty() {
        true => drawn,
        false => format!("{drawn}\n{queries}"),
    }
}

/// Width of the text on queries, in characters: that of a usual terminal.
const WIDTH: usize = 80;

/// Note for weighted queries.
const WEIGHTED: &str = "values are weighted by query; differences and tests count each query once";
