//! `explain`: why a list stands as it does.

use std::path::PathBuf;

use rankwright::data::{DEFAULT_SEED, Dataset};
use rankwright::model::{ExplainOptions, Model};
use rankwright::report::explanation::{ExplainRequest, Explanation, explain};
use serde_json::json;

use crate::failure::Failure;
use crate::input::{ReadArgs, name_of, one_stdin, open};
use crate::models::tell_matching;
use crate::output::Output;
use crate::page::{ExtraPage, document};
use crate::progress::timed;

/// Explain a ranking: what each feature adds to each document's score (Shapley values: exact for
/// trees and lines, sampled for nets), which features tell the list apart, and why one document is
/// above another. Without --query: what moves scores in the whole data set.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Feature data; several files are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// The query whose list is explained
    #[arg(long, value_name = "ID")]
    query: Option<String>,
    /// Only this document of the query, by id or by its row in the data, from 0; may be given again
    #[arg(long, value_name = "ID", requires = "query")]
    doc: Vec<String>,
    /// Why is document A above document B? By id or row, as --doc
    #[arg(long, num_args = 2, value_names = ["A", "B"], requires = "query")]
    pair: Option<Vec<String>>,
    /// Features shown in each table; JSON and page have more
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Data whose documents contributions are relative to, such as the training data; without it
    /// trees go by the rows they were trained on, lines by a document of zeros, other models by DATA
    #[arg(long, value_name = "DATA")]
    background: Option<PathBuf>,
    /// How scores go with this feature; may be given again
    #[arg(long, value_name = "FEATURE")]
    dependence: Vec<String>,
    /// Curves of single documents in each dependence
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=100))]
    curves: u16,
    /// Orders of exchange that contributions of nets are averaged over
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    permutations: u32,
    /// Seed of every sample
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// Pass over features that the model does not know
    #[arg(long)]
    ignore_extra: bool,
    #[command(flatten)]
    page: ExtraPage,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    if args.read.pairs.is_some() {
        return Err(Failure::usage("--pairs does not apply: scores do not depend on preferences"));
    }
    let inputs = || args.data.iter().chain([&args.model]).chain(&args.background);
    one_stdin(inputs().map(PathBuf::as_path))?;
    args.page.check(inputs().map(PathBuf::as_path), out)?;
    let model = crate::models::load(&args.model)?;
    let data = read(args, &args.data, &model, out)?;
    let background = match &args.background {
        Some(file) => Some(read(args, std::slice::from_ref(file), &model, out)?),
        None => None,
    };
    let lacking = tell_matching(&model, &data, args.ignore_extra, out)?;
    let found = request(args, &model, &data, background.as_ref(), out)?;
    let mut json = document(&found)?;
    json["features_not_in_data"] = json!(lacking);
    args.page.finish(|| found.page(), &mut json, out)?;
    out.result(|| json, || found.to_text(args.top, !args.doc.is_empty()))
}

/// Reads data as the model takes it.
fn read(args: &Args, files: &[PathBuf], model: &Model, out: &Output) -> Result<Dataset, Failure> {
    let (inputs, _) = open(files, out)?;
    let (loaded, _) = args.read.read_opened(inputs, Some(model.header().absent), out)?;
    Ok(loaded.data)
}

fn request(
    args: &Args,
    model: &Model,
    data: &Dataset,
    background: Option<&Dataset>,
    out: &Output,
) -> Result<Explanation, Failure> {
    let pair = match args.pair.as_deref() {
        Some([a, b]) => Some([a.as_str(), b.as_str()]),
        _ => None,
    };
    let (model_name, data_name) = (args.model.display().to_string(), name_of(&args.data));
    let background_name = args.background.as_ref().map(|file| file.display().to_string());
    let options = ExplainOptions {
        seed: args.seed,
        permutations: args.permutations as usize,
        ignore_extra: args.ignore_extra,
    };
    let request = ExplainRequest {
        model: (&model_name, model),
        data: (&data_name, data),
        background: background_name.as_deref().zip(background),
        query: args.query.as_deref(),
        documents: &args.doc,
        pair,
        dependence: &args.dependence,
        curves: usize::from(args.curves),
        options,
    };
    let (found, _) = timed(out, "explaining", || explain(&request));
    Ok(found?)
}
