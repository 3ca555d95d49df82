//! `model inspect`: how a model was made, what it is made of, and which features matter.

mod parts;
mod show;

use std::path::{Path, PathBuf};

use rankwright::data::DEFAULT_SEED;
use rankwright::data::store::write_atomic;
use rankwright::eval::{Measure, SourceKind, metric_or_default};
use rankwright::learn::permutation::{Permutation, Plan};
use rankwright::model::draw::tree_svg;
use rankwright::model::{FeatureLoss, Model, ModelBody, ScoreOptions, Tree};
use serde_json::Value;

use crate::failure::Failure;
use crate::input::{ReadArgs, one_stdin};
use crate::output::Output;
use crate::progress::timed;

/// Show how a model was made, its trees, layers or members and the importance of its features; with
/// --data also by permutation.
#[derive(Debug, clap::Args)]
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
    /// Feature data with labels, for permutation importance
    #[arg(long, value_name = "DATA", num_args = 1..)]
    data: Vec<PathBuf>,
    /// The metric of permutation importance; that of the model's training, or ndcg@10, if not given
    #[arg(long, short, value_name = "SPEC", requires = "data")]
    metric: Option<String>,
    /// How often each feature is shuffled
    #[arg(long, value_name = "N", default_value_t = 5, requires = "data", value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Seed of the shuffling
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED, requires = "data")]
    seed: u64,
    /// Pass over features of the data that the model does not know
    #[arg(long, requires = "data")]
    ignore_extra: bool,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    one_stdin(args.data.iter().chain([&args.model]).map(PathBuf::as_path))?;
    if args.data.is_empty() && args.read.is_given() {
        return Err(Failure::usage("options for reading data need --data"));
    }
    let model = crate::models::load(&args.model)?;
    let tree = match args.tree.is_some() || args.svg.is_some() {
        true => Some(tree_of(&model, args.tree.unwrap_or(1) as usize)?),
        false => None,
    };
    if let (Some(path), Some((number, tree))) = (&args.svg, tree) {
        out.keeps_stdout_free(path)?;
        let title = format!("tree {number} of {}", args.model.display());
        let svg = tree_svg(tree, &model.header().features, &title);
        write_atomic(path, |to| to.write_all(svg.as_bytes()))?;
        if path == Path::new("-") {
            return Ok(());
        }
    }
    let permutation = match args.data.is_empty() {
        true => None,
        false => Some(permute(args, &model, out)?),
    };
    let inspection = show::Inspection {
        file: args.model.display().to_string(),
        header: model.header(),
        summary: match &permutation {
            None => model.summary(),
            Some(found) => model.summary().with_losses(&model, &losses(found)),
        },
        permutation: permutation.as_ref(),
        repeats: args.repeats,
        seed: args.seed,
        tree: tree.filter(|_| args.tree.is_some()),
    };
    let document = if out.json { inspection.json()? } else { Value::Null };
    out.result(|| document, || inspection.text())
}

/// The loss of each feature that was shuffled.
fn losses(found: &Permutation) -> Vec<(usize, FeatureLoss)> {
    let numbers = found.losses.iter().map(|(number, _)| *number);
    let loss = |number| {
        let (mean, spread) = found.of(number)?;
        Some((number, FeatureLoss { mean, spread }))
    };
    numbers.filter_map(loss).collect()
}

/// The tree of a number, from 1.
fn tree_of(model: &Model, number: usize) -> Result<(usize, &Tree), Failure> {
    let ModelBody::Trees(ensemble) = model.body() else {
        let kind = model.body().name();
        return Err(Failure::request(format!("this model is {kind} and has no trees to show")));
    };
    let tree = ensemble.trees().get(number - 1).map(|tree| (number, tree));
    tree.ok_or_else(|| {
        let count = ensemble.trees().len();
        Failure::request(format!("there is no tree {number}; the model has {count}, from 1 on"))
    })
}

fn permute(args: &Args, model: &Model, out: &Output) -> Result<Permutation, Failure> {
    let measure = measure_for(args.metric.as_deref(), model)?;
    let (loaded, _) = args.read.read_as(&args.data, Some(model.header().absent), out)?;
    let plan = Plan {
        repeats: args.repeats as usize,
        seed: args.seed,
        options: ScoreOptions { ignore_extra: args.ignore_extra, simd: crate::simd()? },
    };
    let (found, _) =
        timed(out, "shuffling features", || Permutation::new(model, &loaded.data, measure, plan));
    Ok(found?)
}

/// The metric asked for, or the one that training watched, or the usual one.
fn measure_for(asked: Option<&str>, model: &Model) -> Result<Measure, Failure> {
    Ok(metric_or_default(asked, SourceKind::Features, &model.header().metric)?)
}
