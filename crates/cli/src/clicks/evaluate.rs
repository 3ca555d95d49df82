//! `clicks evaluate`: the value that models would have, from the log of another ranker.

use std::path::PathBuf;

use rankwright::clicks::off_policy::{
    OffPolicyOptions, PropensityKind, ResampledUnit, ValueEstimator,
};
use rankwright::eval::MetricSpec;
use rankwright::eval::table::{Align, Cell, Table};
use rankwright::model::MatchBy;
use rankwright::tasks::{
    DataFiles, EvaluateClicksRequest, EvaluateClicksResult, ModelValue, evaluate_clicks,
};

use super::examination::ExaminationArgs;
use super::{ReadingArgs, choice};
use crate::declared::{choices, help, value};
use crate::failure::Failure;
use crate::input::match_options;
use crate::output::Output;
use crate::progress::run_task;

/// Estimate the value that models would have from the clicks on other rankings, with intervals.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Click log, in any format of `clicks`
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// Models; others are compared with the first
    #[arg(value_name = "MODEL", required = true)]
    models: Vec<PathBuf>,
    /// Feature data that the models rank, joined by the ids of query and document; it needs no
    /// labels
    #[arg(long, value_name = "DATA", required = true)]
    features: Vec<PathBuf>,
    #[arg(
        long,
        value_name = "NAME",
        default_value = ValueEstimator::default().name(),
        value_parser = choice::<ValueEstimator>,
        help = help::<OffPolicyOptions>("estimator")
    )]
    estimator: ValueEstimator,
    #[arg(
        long,
        value_name = "KIND",
        default_value = PropensityKind::default().name(),
        value_parser = choice::<PropensityKind>,
        help = help::<OffPolicyOptions>("propensity")
    )]
    propensity: PropensityKind,
    /// Metric, a sum over ranks: dcg, p or rbp
    #[arg(long, short, value_name = "SPEC", default_value = EvaluateClicksRequest::DEFAULT_METRIC)]
    metric: String,
    #[command(flatten)]
    examination: ExaminationArgs,
    #[arg(
        long,
        value_name = "X",
        value_parser = value::<OffPolicyOptions, f64>("clip"),
        help = help::<OffPolicyOptions>("clip")
    )]
    clip: Option<f64>,
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = OffPolicyOptions::default().min_overlap,
        value_parser = value::<OffPolicyOptions, f64>("min_overlap"),
        help = help::<OffPolicyOptions>("min_overlap")
    )]
    min_overlap: f64,
    #[arg(
        long,
        value_name = "UNIT",
        default_value = ResampledUnit::default().name(),
        value_parser = choice::<ResampledUnit>,
        help = help::<OffPolicyOptions>("unit")
    )]
    unit: ResampledUnit,
    #[arg(
        long,
        value_name = "N",
        default_value_t = OffPolicyOptions::default().samples,
        value_parser = value::<OffPolicyOptions, u32>("samples"),
        help = help::<OffPolicyOptions>("samples")
    )]
    samples: u32,
    #[arg(long, value_name = "N", default_value_t = OffPolicyOptions::default().seed, help = help::<OffPolicyOptions>("seed"))]
    seed: u64,
    /// Ignore features that the models do not know
    #[arg(long)]
    ignore_extra: bool,
    /// Rule that matches the features of the data with those of the models
    #[arg(long, value_parser = choices::<MatchBy>(), default_value = MatchBy::default().name())]
    match_by: MatchBy,
    #[command(flatten)]
    reading: ReadingArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let mut options = OffPolicyOptions::default()
        .estimator(args.estimator)
        .propensity(args.propensity)
        .min_overlap(args.min_overlap)
        .unit(args.unit)
        .samples(args.samples)
        .seed(args.seed);
    options.clip = args.clip;
    let log = args.reading.files(std::slice::from_ref(&args.log));
    let features = DataFiles::new(&args.features);
    let metric = MetricSpec::parse(&args.metric)?;
    let request = EvaluateClicksRequest::new(log, &args.models, features)
        .metric(metric)
        .matching(match_options(args.match_by, args.ignore_extra))
        .examination(args.examination.source())
        .bias(args.examination.options())
        .options(options);
    let result = run_task(out, |context| evaluate_clicks(&request, context))?;
    out.show(&result, text)
}

fn text(result: &EvaluateClicksResult) -> String {
    let names = [&result.metric, "95 % interval", "difference", "overlap", "effective sample"];
    let columns = names.map(|name| (name.to_owned(), Align::Right));
    let model = std::iter::once(("model".to_owned(), Align::Left));
    let mut table = Table::new(model.chain(columns));
    for model in &result.models {
        table.rows.push(row(model));
    }
    let logged = result.models.first().map_or(0.0, |model| model.value.logged);
    let clip = result.clip.map_or(String::new(), |clip| {
        let largest = result.models.iter().map(|model| model.value.largest_weight);
        let largest = largest.fold(0.0, f64::max);
        format!("Weights of clicks are at most {clip}; the largest is {largest:.2}.\n")
    });
    format!(
        "{}\nEstimated by {} (propensity={}); the logged pages have {logged:.4}.\n{clip}",
        table.to_text(),
        result.estimator,
        result.propensity
    )
}

fn row(model: &ModelValue) -> Vec<Cell> {
    let interval = |ci95: Option<[f64; 2]>| {
        ci95.map_or(String::new(), |[low, high]| format!("{low:.4} to {high:.4}"))
    };
    let difference = model.difference.map_or("-".to_owned(), |difference| {
        match interval(model.difference_ci95).as_str() {
            "" => format!("{difference:+.4}"),
            interval => format!("{difference:+.4} ({interval})"),
        }
    });
    let value = &model.value;
    let cells = [
        model.model.clone(),
        format!("{:.4}", value.value),
        interval(value.ci95),
        difference,
        format!("{:.3}", value.overlap),
        format!("{:.1}", value.effective_sample),
    ];
    cells.map(Cell::new).to_vec()
}
