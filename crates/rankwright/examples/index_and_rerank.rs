//! Documents in memory, an index, features, a model, and a better order than BM25's.
//!
//! `cargo run -p rankwright --example index_and_rerank`
#![allow(clippy::print_stdout)]

use std::sync::Arc;

use rankwright::prelude::*;

/// Recipes: id, title, stars.
const RECIPES: [(&str, &str, f64); 10] = [
    ("a", "tomato soup", 4.8),
    ("b", "tomato soup with too much tomato", 1.2),
    ("c", "cold tomato soup", 3.9),
    ("d", "onion soup", 4.5),
    ("e", "onion tart", 4.7),
    ("f", "tomato tart", 2.0),
    ("g", "onion soup from onion and onion", 1.5),
    ("h", "apple tart", 4.9),
    ("i", "apple tart with apple and apple", 1.1),
    ("j", "apple soup", 1.9),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let documents = RECIPES
        .map(|(id, title, stars)| Document::new(id).with("title", title).with("stars", stars));
    let index = Arc::new(Index::in_memory(documents)?);
    let first = Ranker::first_stage(Arc::clone(&index))?;

    // Users prefer recipes that match and have many stars.
    let queries = ["tomato soup", "onion soup", "onion tart", "apple soup", "tomato tart"];
    let judged = queries.iter().flat_map(|query| {
        RECIPES.iter().map(move |(id, title, stars)| {
            let words = query.split(' ').filter(|word| title.contains(word)).count();
            (*query, *id, if *stars > 3.0 { words as f64 } else { 0.0 })
        })
    });
    let qrels = Qrels::from_lists(QueryLists::from_rows("judged", judged)?);
    let set =
        FeatureSet::parse("bm25(field=title), matched-ratio(field=title), number(field=stars)")?;
    let asked = queries.map(|text| Query::new(text, text)).to_vec();
    let rows =
        training_data(Arc::clone(&index), asked, Some(&qrels), &set, &RowOptions::default())?;
    println!("{} rows of {} queries, {} features", rows.rows, rows.queries, rows.features);

    // The model records features, analysis and first stage, so the ranker needs nothing else.
    let model = RankSvm::new().fit(&rows.data)?.model;
    let ranker = Ranker::new(index, &model)?;
    for (name, ranker) in [("BM25", &first), ("BM25 and a model", &ranker)] {
        println!("{name}:");
        for hit in ranker.rank("apple tart", 3)? {
            println!("  {:32} {:.3}", hit.title, hit.score);
        }
    }
    assert_eq!(ranker.rank("apple tart", 1)?[0].id, "h");
    Ok(())
}
