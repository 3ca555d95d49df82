//! Times of a query in one warm process: of the first stage, of the features, and of all steps with
//! a model.
//!
//! `text-bench INDEX QUERIES MODEL CANDIDATES`: the queries of three different terms that find at
//! least so many candidates, each ranked several times; the best time of each counts. Prints JSON:
//! medians over queries in milliseconds.
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rankwright_model::Model;
use rankwright_search::{
    Extractor, FeatureSet, FirstStage, Index, Query, QueryOptions, Ranker, SearchBuffers, Terms,
    read_queries,
};

type Failure = Box<dyn std::error::Error>;

const REPEATS: usize = 5;
const TERMS: usize = 3;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [index, queries, model, candidates] = words.as_slice() else {
        return Err("usage: text-bench INDEX QUERIES MODEL CANDIDATES".into());
    };
    let candidates: usize = candidates.parse()?;
    let index = Arc::new(Index::open(index)?);
    let model = Model::load(Path::new(model))?;
    let queries = read_queries(Path::new(queries), QueryOptions::default())?;
    let builder =
        || Ranker::builder(index.clone()).first_stage(FirstStage::default()).candidates(candidates);
    let first = builder().build()?;
    let reranker = builder().model(&model).build()?;
    let set = FeatureSet::new(reranker.features().to_vec());
    let extractor = Extractor::new(index.clone(), &set)?;
    let mut buffers = SearchBuffers::default();
    let mut times: [Vec<f64>; 3] = Default::default();
    for query in &queries {
        let terms = Terms::new(&query.text, index.analysis());
        if terms.distinct().len() != TERMS {
            continue;
        }
        let found = first.rank_query(query, None, &mut buffers)?.documents;
        if found.len() < candidates {
            continue;
        }
        let mut rank = |ranker: &Ranker, query: &Query| {
            best(|| ranker.rank_query(query, None, &mut buffers).map(|_| ()).map_err(Failure::from))
        };
        times[0].push(rank(&first, query)?);
        times[2].push(rank(&reranker, query)?);
        times[1].push(best(|| Ok(extractor.rows(query, &terms, &found).map(|_| ())?))?);
    }
    let counted = times[0].len();
    let [first, features, all] = times.map(median);
    println!(
        "{{\"queries\": {counted}, \"features\": {}, \"first_ms\": {first:.3}, \"features_ms\": \
         {features:.3}, \"all_ms\": {all:.3}}}",
        set.features.len()
    );
    Ok(())
}

/// Milliseconds of the best of several runs.
fn best(mut work: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = Instant::now();
        work()?;
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(best)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
