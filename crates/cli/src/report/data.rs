//! `report data`: what a data set looks like.

use std::path::PathBuf;

use rankwright::data::DEFAULT_SEED;
use rankwright::report::data::{DataOptions, DataReport};

use crate::compare::short_name;
use crate::failure::Failure;
use crate::input::{ReadArgs, name_of, not_over_an_input};
use crate::output::Output;
use crate::page::PageArgs;
use crate::progress::timed;

/// Describe a data set on a page: labels, sizes of queries, what each feature tells about
/// relevance, features that say the same, what is missing or odd.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Data files; several are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Metric of the single-feature rankers
    #[arg(long, short, value_name = "SPEC", default_value = "ndcg@10")]
    metric: String,
    /// Features shown in charts, by how much they tell about relevance
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=50))]
    top: u32,
    /// Documents on which features are compared with each other
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(2..))]
    sample: u32,
    /// Seed of that sample
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let inputs = args.data.iter().chain(&args.read.pairs).map(PathBuf::as_path);
    not_over_an_input(&args.page.out, inputs)?;
    let (loaded, _) = args.read.read(&args.data, out)?;
    let options = DataOptions {
        metric: args.metric.clone(),
        top: args.top as usize,
        sample: args.sample as usize,
        seed: args.seed,
        ..DataOptions::default()
    };
    let name = name_of(&args.data);
    let title = format!("Data set {}", short_name(&name));
    let data = &loaded.data;
    let (report, _) = timed(out, "looking at features", || DataReport::new(&title, data, &options));
    let facts = [
        ("Data", name),
        ("Format", loaded.format.info().name.to_owned()),
        ("Absent features are", data.absent().name().to_owned()),
    ];
    let facts = facts.map(|(what, text)| (what.to_owned(), text)).to_vec();
    let report = report?.with_facts(facts);
    args.page.finish(&report.page(), &report, out)
}
