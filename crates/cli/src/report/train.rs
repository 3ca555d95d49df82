//! `report train`: how a model learnt.

use std::path::{Path, PathBuf};

use rankwright::data::Dataset;
use rankwright::eval::{Measure, MetricSpec, SourceKind, expand};
use rankwright::model::{Model, ScoreOptions};
use rankwright::report::training::{
    NamedData, TrainingInput, TrainingLog, TrainingOptions, TrainingReport,
};
use rankwright::spec::words::counted;

use crate::failure::Failure;
use crate::input::{ReadArgs, name_of, not_over_an_input, one_stdin, open};
use crate::models::tell_matching;
use crate::output::Output;
use crate::page::PageArgs;
use crate::progress::timed;

/// Show how a model learnt: learning curves, lambdas, labels over ranks, forces on a list, time,
/// feature importance and trees. The log beside the model (MODEL.log.json) tells what cannot be
/// computed again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The data that it was trained on; several files are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Validation data; repeated files are one data set
    #[arg(long, value_name = "DATA")]
    valid: Vec<PathBuf>,
    /// A metric; may be repeated, and the first decides what is best. That of the model's training,
    /// or ndcg@10, if not given
    #[arg(long = "metric", short, value_name = "SPEC")]
    metrics: Vec<String>,
    /// The query of the forces picture; one that shows something if not given
    #[arg(long, value_name = "ID")]
    query: Option<String>,
    /// Stages of the training to look at, at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=1000))]
    points: u32,
    /// How many trees to draw, from the first to the last
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=50))]
    trees: u32,
    /// Seed of what is drawn at random: queries to look at, shuffles
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Pass over features of the data that the model does not know
    #[arg(long)]
    ignore_extra: bool,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let inputs = || [&args.model].into_iter().chain(&args.data).chain(&args.valid);
    one_stdin(inputs().chain(&args.read.pairs).map(PathBuf::as_path))?;
    not_over_an_input(&args.page.out, inputs().map(PathBuf::as_path))?;
    let model = crate::models::load(&args.model)?;
    let measures = measures(&args.metrics, &model)?;
    let log = log_of(&args.model, out);
    let train = read(args, &args.data, &args.read, &model, out)?;
    let valid = match args.valid.is_empty() {
        true => None,
        false => {
            let alone = ReadArgs { pairs: None, ..args.read.clone() };
            Some(read(args, &args.valid, &alone, &model, out)?)
        }
    };
    let (train_name, valid_name) = set_names(&args.data, &args.valid);
    tell_other_data(&model, &train, &train_name, out);
    let model_name = file_name(&args.model);
    let input = TrainingInput {
        model: (&model_name, &model),
        train: NamedData { name: &train_name, data: &train },
        valid: valid.as_ref().map(|data| NamedData { name: &valid_name, data }),
        measures,
        log,
    };
    let options = TrainingOptions {
        points: args.points as usize,
        query: args.query.clone(),
        trees: args.trees as usize,
        seed: args.seed,
        score: score_options(args)?,
    };
    let what = "looking at the training";
    let (report, _) = timed(out, what, || TrainingReport::new(&input, &options));
    let report = report?;
    args.page.finish(&report.page(), report.json(), out)
}

/// The log beside the model, where there is one that can be read; the report does without.
fn log_of(model: &Path, out: &Output) -> Option<TrainingLog> {
    let found = TrainingLog::beside(model);
    match &found {
        Ok(Some(_)) => {}
        Ok(None) => {
            let path = TrainingLog::path_of(model);
            out.note(format!("there is no {}: times are left out", path.display()));
        }
        Err(error) => out.note(format!("{error}; the report does without the log")),
    }
    found.ok().flatten()
}

/// Says so where the data is not what the model was trained on.
fn tell_other_data(model: &Model, data: &Dataset, name: &str, out: &Output) {
    let header = model.header();
    let trained = (header.queries as usize, header.rows as usize);
    if trained.1 > 0 && trained != (data.queries(), data.rows()) {
        out.note(format!(
            "the model was trained on {} and {}, and {name} has {} and {}: what is \
             shown goes by {name}",
            counted(trained.0, "query"),
            counted(trained.1, "document"),
            data.queries(),
            data.rows()
        ));
    }
}

fn score_options(args: &Args) -> Result<ScoreOptions, Failure> {
    Ok(ScoreOptions { ignore_extra: args.ignore_extra, simd: crate::simd()? })
}

/// A data set read as the model takes it.
fn read(
    args: &Args,
    files: &[PathBuf],
    read: &ReadArgs,
    model: &Model,
    out: &Output,
) -> Result<Dataset, Failure> {
    let (inputs, _) = open(files, out)?;
    let (loaded, _) = read.read_opened(inputs, Some(model.header().absent), out)?;
    tell_matching(model, &loaded.data, args.ignore_extra, out)?;
    Ok(loaded.data)
}

/// The metrics asked for, or the one that training watched, or the usual one.
fn measures(texts: &[String], model: &Model) -> Result<Vec<Measure>, Failure> {
    let mut measures = Vec::new();
    for text in texts {
        for spec in expand(text)? {
            measures.push(spec.resolve(SourceKind::Features)?);
        }
    }
    if measures.is_empty() {
        // A header may come from anywhere; what is no metric there is not the user's fault.
        let trained = MetricSpec::parse(&model.header().metric);
        let spec = trained.or_else(|_| MetricSpec::parse("ndcg@10"))?;
        measures.push(spec.resolve(SourceKind::Features)?);
    }
    Ok(measures)
}

/// What the training and the validation data are called: by their files, where that tells them
/// apart.
pub(super) fn set_names(data: &[PathBuf], valid: &[PathBuf]) -> (String, String) {
    let name = |files: &[PathBuf]| -> String {
        name_of(&files.iter().map(|path| file_name(path)).collect::<Vec<_>>())
    };
    match (name(data), name(valid)) {
        (data, valid) if data == valid => {
            (format!("{data} (training)"), format!("{valid} (validation)"))
        }
        names => names,
    }
}

/// The name of a file without its folder.
fn file_name(path: &Path) -> String {
    match path.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => path.display().to_string(),
    }
}
