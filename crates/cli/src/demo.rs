//! `demo`: the main job end to end, with data made on the spot.
//!
//! This first form generates MSLR-shaped data, ranks it by single features and by a line through
//! several that a person might write down, and compares them with significance.

use std::path::PathBuf;

use rankwright::data::format::{Format, write};
use rankwright::data::generate::LetorOptions;
use rankwright::data::{DataError, Dataset, write_scores};
use rankwright::eval::compare::Test;
use rankwright::eval::stats::Correction;
use rankwright::eval::table::comparison_table;
use rankwright::eval::{
    EvalOptions, Evaluation, Measure, MetricSpec, ScoredDataset, SourceKind, evaluate,
};
use serde_json::json;

use crate::compare::{TestArgs, compare_systems, json_of};
use crate::failure::Failure;
use crate::measures::conventions;
use crate::output::Output;
use crate::progress::timed;

/// Generate data, rank it by single features and by a hand-made line, and compare the rankings.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Keep the data and the score files in this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Number of queries
    #[arg(long, value_name = "N", default_value_t = 500)]
    queries: usize,
    /// Seed of the data
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// A ranker by hand: weights on features, each with the name it has in MSLR's list.
struct Line {
    name: &'static str,
    file: &'static str,
    /// Feature id and weight.
    weights: &'static [(usize, f64)],
}

const LINES: [Line; 5] = [
    Line { name: "BM25 of the body (feature 22)", file: "bm25-body", weights: &[(22, 1.0)] },
    Line { name: "BM25 of the title (feature 72)", file: "bm25-title", weights: &[(72, 1.0)] },
    Line { name: "PageRank (feature 130)", file: "pagerank", weights: &[(130, 1.0)] },
    Line { name: "clicks (feature 134)", file: "clicks", weights: &[(134, 1.0)] },
    Line {
        name: "hand-made line",
        file: "line",
        weights: &[
            (22, 0.03),
            (72, 0.06),
            (97, 0.05),
            (122, 0.03),
            (130, 0.000_008),
            (132, 0.006),
            (134, 0.02),
        ],
    },
];

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let options = LetorOptions { queries: args.queries, documents: 120, seed: args.seed };
    let (data, seconds) = timed(out, "generating", || options.generate());
    let data = data?;
    let measures = ["ndcg@10", "ap", "err@10", "p@10"]
        .map(|text| MetricSpec::parse(text).and_then(|spec| spec.resolve(SourceKind::Features)));
    let measures = measures.into_iter().collect::<Result<Vec<Measure>, _>>()?;
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder)
            .map_err(|e| DataError::io("make the folder", folder.display().to_string(), e))?;
        write(&data, &folder.join("data.txt"), Format::Letor)?;
    }
    let mut systems = Vec::new();
    for line in &LINES {
        let scores = score(&data, line);
        systems.push((line.name.to_owned(), measure(&data, &scores, &measures)?));
        if let Some(folder) = &args.out {
            write_scores(&folder.join(format!("{}.scores", line.file)), &scores)?;
        }
    }
    let tests = TestArgs::new(Test::Randomisation, Correction::Holm);
    let comparison = compare_systems(&systems, &tests, out)?;
    out.result(
        || {
            let mut document = json_of(&comparison, &systems);
            document["data"] = json!({
                "queries": data.queries(), "rows": data.rows(), "features": data.columns(),
                "seed": args.seed,
            });
            document
        },
        || {
            let mut table = comparison_table(&comparison);
            if let Some((_, first)) = systems.first() {
                table.notes.extend(conventions(&first.results));
            }
            let (rows, queries, features) = (data.rows(), data.queries(), data.columns());
            let kept = match &args.out {
                Some(folder) => format!("\nKept in {}: data.txt and a score file for each.", folder.display()),
                None => String::new(),
            };
            format!(
                "Generated {rows} documents of {queries} queries with {features} features in {seconds:.1} s \
                 (synthetic; seed {}).\nRankings by one feature each, and by a line that a person might write:\n\n{}{kept}",
                args.seed,
                table.to_text()
            )
        },
    )
}

fn score(data: &Dataset, line: &Line) -> Vec<f64> {
    let of_row = |row: usize| {
        let term = |(id, weight): &(usize, f64)| {
            let value = data.features().column(&id.to_string()).map(|c| data.matrix().get(row, c));
            weight * f64::from(value.unwrap_or(0.0))
        };
        line.weights.iter().map(term).sum()
    };
    (0..data.rows()).map(of_row).collect()
}

fn measure(data: &Dataset, scores: &[f64], measures: &[Measure]) -> Result<Evaluation, Failure> {
    Ok(evaluate(&ScoredDataset::new(data, scores)?, measures, EvalOptions::default())?)
}
