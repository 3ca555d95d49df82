//! Scoring with one model on one thread: `score-bench MODEL DATA`, for `bench/score.py`.
//!
//! Prints one JSON object: milliseconds to load the model and to make it ready, microseconds a
//! document in batch (best of some passes over all rows), and microseconds for lists of 120, 30 and
//! 1 documents (median and 99th percentile over many lists). Buffers are warm, as in a server.
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::time::Instant;

use rankwright_data::format;
use rankwright_model::{MatchBy, MatchOptions, Model, ScoreBuffers, ScoreOptions, Scorer};

/// As in our command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Passes over the whole data.
const PASSES: usize = 5;
/// Lists timed for each length.
const LISTS: usize = 2000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [model, data] = words.as_slice() else {
        return Err("usage: score-bench MODEL DATA".into());
    };
    let started = Instant::now();
    let model = Model::load(Path::new(model))?;
    let load = started.elapsed().as_secs_f64() * 1e3;
    let data = format::read(&[data], &Default::default())?.data;
    let started = Instant::now();
    // LightGBM's model numbers the features that the generated data names.
    let matching = MatchOptions::default().by(MatchBy::Position);
    let options = ScoreOptions::default().matching(matching);
    let scorer = model.scorer_for(data.features(), options)?;
    let prepare = started.elapsed().as_secs_f64() * 1e3;
    let mut work = ScoreBuffers::default();
    let (values, rows) = (data.matrix().values(), data.rows());
    let mut scores = vec![0.0; rows];
    let mut batch = f64::INFINITY;
    for _ in 0..PASSES {
        let started = Instant::now();
        scorer.score_query(values, &mut scores, &mut work)?;
        batch = batch.min(started.elapsed().as_secs_f64() * 1e6 / rows as f64);
    }
    let mut fields = vec![
        format!("\"engine\": \"{}\"", scorer.engine()),
        format!("\"load_ms\": {load:.3}"),
        format!("\"prepare_ms\": {prepare:.3}"),
        format!("\"batch_us\": {batch:.4}"),
    ];
    for length in [120, 30, 1] {
        let (median, p99) = lists(&scorer, values, length, &mut work)?;
        fields.push(format!("\"list_{length}\": [{median:.3}, {p99:.3}]"));
    }
    println!("{{{}}}", fields.join(", "));
    Ok(())
}

/// Median and 99th percentile of the microseconds for lists of a length.
fn lists(
    scorer: &Scorer,
    values: &[f32],
    length: usize,
    work: &mut ScoreBuffers,
) -> Result<(f64, f64), Box<dyn std::error::Error>> {
    let width = length * scorer.columns();
    let mut scores = vec![0.0; length];
    let mut times = Vec::with_capacity(LISTS);
    for list in values.chunks_exact(width).cycle().take(LISTS) {
        let started = Instant::now();
        scorer.score_query(list, &mut scores, work)?;
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    let at = |part: f64| times.get((times.len() as f64 * part) as usize).copied().unwrap_or(0.0);
    Ok((at(0.5), at(0.99)))
}
