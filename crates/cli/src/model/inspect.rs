//! `model inspect`: the training of a model, its parts, and the importance of its features.

mod parts;
mod show;

use std::path::{Path, PathBuf};

use clap::ArgGroup;
use rankwright::eval::MetricSpec;
use rankwright::learn::permutation::PermutationParams;
use rankwright::model::MatchBy;
use rankwright::tasks::{
    ImpurityRequest, InspectModelRequest, PermutationRequest, TaskInputs, inspect_model,
    write_drawing,
};

use crate::declared::{choices, help, value};
use crate::failure::Failure;
use crate::input::{ReadArgs, match_options};
use crate::output::Output;
use crate::progress::run_task;

/// Show the training of a model, its trees, layers or members, and the importance of its features;
/// with --data also by permutation, with --impurity also the impurity of a tree's splits.
#[derive(Debug, clap::Args)]
#[command(
    group(ArgGroup::new("shown_tree").args(["tree", "svg"]).multiple(true)),
    group(ArgGroup::new("some_data").args(["impurity", "data"]).multiple(true))
)]
pub(crate) struct Args {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Show a tree, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    tree: Option<u32>,
    /// Draw a tree (the first, or that of --tree) as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Show the impurity G of every split of that tree, computed from this feature data with
    /// labels, such as the training data
    #[arg(long, value_name = "DATA", num_args = 1.., requires = "shown_tree")]
    impurity: Vec<PathBuf>,
    /// Feature data with labels, for permutation importance
    #[arg(long, value_name = "DATA", num_args = 1..)]
    data: Vec<PathBuf>,
    /// The metric of permutation importance; that of the model's training, or ndcg@10, if not given
    #[arg(long, short, value_name = "SPEC", requires = "data")]
    metric: Option<String>,
    #[arg(
        long,
        value_name = "N",
        default_value_t = PermutationParams::default().repeats,
        requires = "data",
        value_parser = value::<PermutationParams, usize>("repeats"),
        help = help::<PermutationParams>("repeats")
    )]
    repeats: usize,
    #[arg(
        long,
        value_name = "N",
        default_value_t = PermutationParams::default().seed,
        requires = "data",
        help = help::<PermutationParams>("seed")
    )]
    seed: u64,
    /// Ignore features of the data that the model does not know
    #[arg(long, requires = "some_data")]
    ignore_extra: bool,
    /// Rule that matches the features of the data with those of the model
    #[arg(long, value_parser = choices::<MatchBy>(), default_value = MatchBy::default().name(), requires = "some_data")]
    match_by: MatchBy,
    #[command(flatten)]
    read: ReadArgs,
}

impl Args {
    fn request(&self) -> Result<InspectModelRequest, Failure> {
        let mut request = InspectModelRequest::new(&self.model);
        request.tree = self.tree.map(|number| number as usize);
        request.drawing = self.svg.is_some();
        let matching = match_options(self.match_by, self.ignore_extra);
        if !self.impurity.is_empty() {
            let data = self.read.files(&self.impurity)?;
            request.impurity = Some(ImpurityRequest::new(data).matching(matching));
        }
        if !self.data.is_empty() {
            let mut permutation = PermutationRequest::new(self.read.files(&self.data)?);
            permutation.metric = self.metric.as_deref().map(MetricSpec::parse).transpose()?;
            permutation.repeats = self.repeats;
            permutation.seed = self.seed;
            permutation.matching = matching;
            request.permutation = Some(permutation);
        }
        Ok(request)
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    if args.data.is_empty() && args.impurity.is_empty() && args.read.is_given() {
        let text = "options of reading data apply to --data and --impurity, which are not given";
        return Err(Failure::usage(text));
    }
    if let Some(path) = &args.svg {
        out.check_not_stdout(path)?;
    }
    let request = args.request()?;
    request.check_outputs(args.svg.as_deref())?;
    let result = run_task(out, |context| inspect_model(&request, context))?;
    if let (Some(path), Some(drawing)) = (&args.svg, &result.drawing) {
        write_drawing(path, drawing, &request)?;
        if path == Path::new("-") {
            return Ok(());
        }
    }
    out.show(&result, show::text)
}
