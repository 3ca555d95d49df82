//! A data set from values in memory, a model, and scores.
//!
//! `cargo run -p rankwright --example from_memory`
#![allow(clippy::print_stdout)]

use rankwright::prelude::*;

/// Shop items shown for a search: words in common with it, price, and whether it was sold.
const SHOWN: [(&str, &str, f32, f32, u32); 9] = [
    ("shoes", "red boot", 1.0, 80.0, 0),
    ("lamp", "desk lamp", 2.0, 25.0, 1),
    ("shoes", "running shoe", 2.0, 60.0, 2),
    ("shoes", "shoe polish", 1.0, 8.0, 0),
    ("lamp", "lamp oil", 1.0, 6.0, 0),
    ("mug", "tea mug", 2.0, 9.0, 2),
    ("mug", "mug holder", 1.0, 19.0, 0),
    ("shoes", "sandal", 0.0, 30.0, 0),
    ("lamp", "floor lamp", 2.0, 120.0, 0),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Rows of a query need not be adjacent, and ids can be of any type.
    let data = Dataset::from_rows(SHOWN.map(|item| [item.2, item.3]), ["words", "price"])
        .labels(SHOWN.map(|item| item.4))
        .query_ids(SHOWN.map(|item| item.0))
        .doc_ids(SHOWN.map(|item| item.1))
        .build()?;
    println!("{} rows of {} queries", data.rows(), data.queries());

    let model = RankSvm::new().c(1.0).fit(&data)?.model;
    // Scores are in the order of the data set; this restores the order of the rows above.
    let scores = data.to_source_order(&model.predict(&data)?)?;
    for (item, score) in SHOWN.iter().zip(&scores) {
        println!("{:6}  {:13} {score:7.3}", item.0, item.1);
    }
    assert!(scores[2] > scores[0], "the running shoe was bought");

    let found = evaluate(&model, &data, "ndcg@10")?;
    let ndcg = found.get("ndcg@10").ok_or("no value")?;
    println!("ndcg@10 = {ndcg:.4}");
    assert!(ndcg > 0.8);
    Ok(())
}
