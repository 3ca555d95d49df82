//! `demo`: the main job end to end, with data made on the spot.
//!
//! This second form generates MSLR-shaped data in three parts (to train on, to stop by, to test
//! on), writes down a line as a person might, trains MART, RankMART and LambdaMART, and compares
//! all on the test queries with significance. Everything follows from the seed.

use std::path::{Path, PathBuf};

use rankwright::data::format::{Format, write};
use rankwright::data::generate::LetorOptions;
use rankwright::data::{DataError, Dataset, write_scores};
use rankwright::eval::compare::{Comparison, Test};
use rankwright::eval::stats::Correction;
use rankwright::eval::table::comparison_table;
use rankwright::eval::{Evaluation, Measure, MetricSpec, ScoredDataset, SourceKind};
use rankwright::learn::{Job, LearnerSpec, Outcome, WatchedSet};
use rankwright::model::{Kind, Model, ScoreOptions};
use serde_json::{Value, json};

use crate::compare::{TestArgs, compare_systems, json_of};
use crate::failure::Failure;
use crate::measures::conventions;
use crate::output::Output;
use crate::progress::timed;

/// Generate data, train MART, RankMART and LambdaMART, and compare them with a line made by hand.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Keep the data, the models and their scores in this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Number of queries to train on; a third of it decides on stopping, half of it is tested on
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u32).range(3..))]
    queries: u32,
    /// Seed of the data and the trainings
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Who competes: name, file, learner. The line weighs BM25 of body, title, URL and whole
/// document, PageRank, the quality score and the clicks.
const SYSTEMS: [[&str; 3]; 4] = [
    [
        "line by hand",
        "line",
        "linear(weights=22:0.03/72:0.06/97:0.05/122:0.03/130:0.000008/132:0.006/134:0.02)",
    ],
    ["MART", "mart", "mart(trees=150, leaves=31, stop=25)"],
    ["RankMART", "rankmart", "rankmart(trees=150, leaves=31, stop=25)"],
    ["LambdaMART", "lambdamart", "lambdamart(trees=150, leaves=31, stop=25)"],
];

const METRICS: [&str; 4] = ["ndcg@10", "ap", "err@10", "p@10"];

/// The three parts of the data. Seeds are samples of one world, so each part has its own.
struct Parts {
    train: Dataset,
    valid: Dataset,
    test: Dataset,
    seconds: f64,
}

/// A competitor and how it did.
struct System {
    name: &'static str,
    learner: LearnerSpec,
    outcome: Outcome,
    seconds: f64,
    evaluation: Evaluation,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let measures = METRICS
        .map(|text| MetricSpec::parse(text).and_then(|spec| spec.resolve(SourceKind::Features)));
    let measures = measures.into_iter().collect::<Result<Vec<Measure>, _>>()?;
    let parts = generate(args, out)?;
    let mut systems = Vec::new();
    for [name, file, spec] in SYSTEMS {
        let system = compete(args, name, spec, &parts, &measures, out)?;
        if let Some(folder) = &args.out {
            keep(folder, file, &system.outcome.model, &parts.test)?;
        }
        systems.push(system);
    }
    let evaluations: Vec<(String, Evaluation)> =
        systems.iter().map(|s| (s.name.to_owned(), s.evaluation.clone())).collect();
    let tests = TestArgs::new(Test::Randomisation, Correction::Holm);
    let comparison = compare_systems(&evaluations, &tests, out)?;
    out.result(
        || document(args, &parts, &systems, json_of(&comparison, &evaluations)),
        || text(args, &parts, &systems, &comparison),
    )
}

/// Makes the data and, where asked for, keeps it.
fn generate(args: &Args, out: &Output) -> Result<Parts, Failure> {
    let part = |queries: u32, more: u64| {
        let seed = args.seed.wrapping_add(more);
        LetorOptions { queries: queries as usize, documents: 120, seed }.generate()
    };
    let (made, seconds) = timed(out, "generating", || {
        let (few, half) = (args.queries / 3, (args.queries / 2).max(2));
        Ok::<_, DataError>((part(args.queries, 0)?, part(few, 1)?, part(half, 2)?))
    });
    let (train, valid, test) = made?;
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder)
            .map_err(|e| DataError::io("make the folder", folder.display().to_string(), e))?;
        for (name, data) in [("train", &train), ("valid", &valid), ("test", &test)] {
            write(data, &folder.join(format!("{name}.txt")), Format::Letor)?;
        }
    }
    Ok(Parts { train, valid, test, seconds })
}

/// Trains one system and measures it on the test queries.
fn compete(
    args: &Args,
    name: &'static str,
    spec: &str,
    parts: &Parts,
    measures: &[Measure],
    out: &Output,
) -> Result<System, Failure> {
    let learner = LearnerSpec::parse(spec)?;
    let watched = WatchedSet { name: "valid".into(), data: &parts.valid };
    let job = Job {
        valid: vec![watched],
        seed: args.seed,
        simd: crate::simd()?,
        ..Job::new(&parts.train)
    };
    let (outcome, seconds) = timed(out, &format!("training {name}"), || learner.train(job));
    let outcome = outcome?;
    let scores = outcome.model.score(&parts.test, ScoreOptions::default())?;
    let evaluation = ScoredDataset::new(&parts.test, &scores)?.evaluate(measures)?;
    Ok(System { name, learner, outcome, seconds, evaluation })
}

fn keep(folder: &Path, file: &str, model: &Model, test: &Dataset) -> Result<(), Failure> {
    model.save(&folder.join(format!("{file}.model")))?;
    let scores = model.score(test, ScoreOptions::default())?;
    Ok(write_scores(&folder.join(format!("{file}.scores")), &scores)?)
}

fn trees(system: &System) -> usize {
    match system.outcome.model.kind() {
        Kind::Trees(ensemble) => ensemble.trees().len(),
        _ => 0,
    }
}

fn document(args: &Args, parts: &Parts, systems: &[System], comparison: Value) -> Value {
    let data = |data: &Dataset| json!({ "queries": data.queries(), "rows": data.rows(), "features": data.columns() });
    let system = |system: &System| {
        json!({
            "system": system.name,
            "learner": system.learner.to_string(),
            "trees": trees(system),
            "seconds": system.seconds,
        })
    };
    let mut document = comparison;
    document["data"] = json!({
        "train": data(&parts.train),
        "valid": data(&parts.valid),
        "test": data(&parts.test),
        "seed": args.seed,
    });
    document["trainings"] = systems.iter().map(system).collect();
    document
}

fn text(args: &Args, parts: &Parts, systems: &[System], comparison: &Comparison) -> String {
    let Parts { train, valid, test, seconds } = parts;
    let mut table = comparison_table(comparison);
    if let Some(first) = systems.first() {
        table.notes.extend(conventions(&first.evaluation.results));
    }
    let trained: Vec<String> = systems
        .iter()
        .map(|s| format!("{:13} {:3} trees {:5.1} s  {}", s.name, trees(s), s.seconds, s.learner))
        .collect();
    format!(
        "Generated {} documents of {} queries with {} features in {seconds:.1} s (synthetic; seed \
         {}):\n{} queries to train on, {} to stop by, {} to test on.\n\n{}\n\nOn the test \
         queries:\n\n{}\n{}",
        train.rows() + valid.rows() + test.rows(),
        train.queries() + valid.queries() + test.queries(),
        train.columns(),
        args.seed,
        train.queries(),
        valid.queries(),
        test.queries(),
        trained.join("\n"),
        table.to_text(),
        next(args.out.as_deref())
    )
}

/// What to try next.
fn next(kept: Option<&Path>) -> String {
    let Some(folder) = kept else {
        return "Next: `rankwright demo --out kept` keeps data and models; `rankwright list \
                learners` tells what else there is."
            .into();
    };
    let folder = folder.display();
    format!(
        "Kept in {folder}: train.txt, valid.txt, test.txt, and a .model and .scores file for each. \
         Next:\n  \
         rankwright model inspect {folder}/lambdamart.model\n  \
         rankwright compare {folder}/test.txt {folder}/mart.model {folder}/lambdamart.model --details\n  \
         rankwright train {folder}/train.txt --valid {folder}/valid.txt --learner \
         'lambdamart(trees=500, rate=0.05, stop=50)' --out {folder}/mine.model"
    )
}
