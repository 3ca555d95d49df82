//! `clicks labels`: feature data with labels from clicks.

use std::path::{Path, PathBuf};

use rankwright::clicks::labels::{ClickLabelOptions, LabelSource};
use rankwright::data::format::Format;
use rankwright::spec::words::counted;
use rankwright::tasks::{
    DataFiles, LabelClicksRequest, LabelClicksResult, UnshownRows, label_clicks,
};

use super::examination::ExaminationArgs;
use super::{ClickLogArgs, choice};
use crate::declared::{help, value};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

/// Write feature data with labels from clicks: one row for each document of a query that the log
/// shows, with the number of impressions as weight and the most frequent rank as position.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    log: ClickLogArgs,
    /// Source of labels: coec (clicks over expected clicks), sdbn (simplified DBN), ips (clicks
    /// divided by the examination of their rank) or dr (doubly robust: ips that corrects a
    /// regression on features)
    #[arg(long, value_name = "NAME", default_value = LabelSource::default().name(), value_parser = choice::<LabelSource>)]
    from: LabelSource,
    /// Feature data of the documents, joined by the ids of query and document; it needs no labels
    #[arg(long, value_name = "DATA", required = true)]
    features: Vec<PathBuf>,
    #[command(flatten)]
    examination: ExaminationArgs,
    #[arg(
        long,
        value_name = "X",
        value_parser = value::<ClickLabelOptions, f64>("clip"),
        help = help::<ClickLabelOptions>("clip")
    )]
    clip: Option<f64>,
    #[arg(
        long,
        value_name = "N",
        value_parser = value::<ClickLabelOptions, u32>("grades"),
        help = help::<ClickLabelOptions>("grades")
    )]
    grades: Option<u32>,
    /// Rows that the log does not show: drop, or keep, with label and weight 0 (dr: with the label
    /// of the regression and weight 1)
    #[arg(long, value_name = "RULE", default_value = UnshownRows::default().name(), value_parser = choice::<UnshownRows>)]
    unshown: UnshownRows,
    /// Feature data to write; the extension gives the format
    #[arg(long, value_name = "DATA")]
    out: PathBuf,
    /// Format to write (see `list formats`)
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    out.check_not_stdout(&args.out)?;
    let format = args.to.as_deref().map(Format::from_name).transpose()?;
    let features = DataFiles::new(&args.features);
    let request = LabelClicksRequest::new(args.log.files(), features)
        .out(&args.out)
        .source(args.from)
        .examination(args.examination.source())
        .bias(args.examination.options())
        .clip(args.clip)
        .grades(args.grades)
        .unshown(args.unshown)
        .format(format);
    let result = run_task(out, |context| label_clicks(&request, context))?;
    out.show(&result, |result| text(&args.out, result))
}

fn text(file: &Path, result: &LabelClicksResult) -> String {
    let mut text = format!(
        "{}: {} of {} by {}, from {}; {} with a click, mean label {:.4}, largest {:.4}\n",
        file.display(),
        counted(result.rows, "row"),
        counted(result.queries, "query"),
        result.source,
        counted(result.counts.impressions as usize, "impression"),
        result.clicked,
        result.mean_label,
        result.max_label
    );
    if result.unshown > 0 {
        let treatment = if result.rows > result.shown { "kept" } else { "left out" };
        let rows = counted(result.unshown, "row");
        text += &format!("{rows} of the data that the log does not show: {treatment}\n");
    }
    if let Some(clip) = result.clip {
        let ranks = counted(result.clipped_ranks, "rank");
        text += &format!("weights of clicks are at most {clip}, which limits those of {ranks}\n");
    }
    text
}
