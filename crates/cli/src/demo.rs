//! `demo`: all steps from text to a better ranking, on a generated shop of music records.

use std::path::{Path, PathBuf};

use rankwright::eval::table::comparison_table;
use rankwright::eval::{conventions, tie_notes};
use rankwright::tasks::{DemoParams, DemoRequest, DemoResult, demo};

use crate::declared::{help, value};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_training;

/// Generate a shop of music records, index it, and train rankers to beat BM25 and a linear model
/// with weights set by hand.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Keep the records, the index, the data, the models, the runs and two HTML reports in this
    /// folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[arg(long, value_name = "N", help = help::<DemoParams>("records"))]
    #[arg(default_value_t = DemoParams::default().records)]
    #[arg(value_parser = value::<DemoParams, usize>("records"))]
    records: usize,
    #[arg(long, value_name = "N", help = help::<DemoParams>("queries"))]
    #[arg(default_value_t = DemoParams::default().queries)]
    #[arg(value_parser = value::<DemoParams, usize>("queries"))]
    queries: usize,
    #[arg(long, value_name = "N", help = help::<DemoParams>("seed"))]
    #[arg(default_value_t = DemoParams::default().seed)]
    seed: u64,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let mut request =
        DemoRequest::new().records(args.records).queries(args.queries).seed(args.seed);
    request.out = args.out.clone();
    let result = run_training(out, |context| demo(&request, context))?;
    out.show(&result, |result| text(result, args.out.as_deref()))
}

/// The steps with their times, the comparison, and commands to try; `kept` is the folder of the
/// files, if they are kept.
fn text(result: &DemoResult, kept: Option<&Path>) -> String {
    let DemoResult { store, systems, candidates, .. } = result;
    let mut table = comparison_table(&result.comparison);
    if let Some(first) = systems.first() {
        table.notes.extend(conventions(&first.evaluation.results));
    }
    table.notes.extend(tie_notes(systems.iter().map(|system| (system.name, &system.evaluation))));
    let trained: Vec<String> = systems
        .iter()
        .filter(|system| !system.learner.is_empty())
        .map(|s| format!("{:13} {:5.1} s  {}", s.name, s.train_seconds, s.learner))
        .collect();
    format!(
        "A synthetic shop of music records (seed {}): {} records, generated in {:.1} s and indexed in {:.1} s.\n\
         {} queries for training, {} for early stopping, {} for testing; {} features of {} candidates \
         in {:.1} s.\n\n{}\n\nThe {} test queries, {candidates} candidates of BM25 re-ranked:\n\n{}\n{}",
        store.seed,
        store.records,
        store.seconds.generate,
        store.seconds.index,
        store.queries.train,
        store.queries.valid,
        store.queries.test,
        store.features,
        store.rows.train + store.rows.valid,
        store.seconds.features,
        trained.join("\n"),
        store.queries.test,
        table.to_text(),
        next_commands(result, kept)
    )
}

/// Commands to try next.
fn next_commands(result: &DemoResult, kept: Option<&Path>) -> String {
    let Some(folder) = kept else {
        return "Next: `rankwright demo --out kept` keeps all files, to search and inspect them; \
                `rankwright list learners` and `list features` show all learners and features."
            .into();
    };
    let folder = folder.display();
    let query = &result.example_query;
    let fields = result.example_fields.iter();
    let fields = fields.map(|(name, value)| format!(" --query-field {name}={value}"));
    let fields: String = fields.collect();
    let pages: Vec<String> = result.pages.iter().map(|page| page.display().to_string()).collect();
    format!(
        "Kept in {folder}; open {} in a browser. Next:\n  \
         rankwright search {folder}/index '{query}'{fields} --model {folder}/lambdamart.model --explain -k 3\n  \
         rankwright model inspect {folder}/lambdamart.model\n  \
         rankwright compare --qrels {folder}/test.qrels.txt {folder}/bm25.run {folder}/lambdamart.run --details\n  \
         rankwright train {folder}/train.rwd --valid {folder}/valid.rwd --learner ranksvm --out \
         {folder}/mine.model",
        pages.join(" and ")
    )
}
