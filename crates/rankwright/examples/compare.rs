//! Compares two models on the same queries, with a significance test of the difference.
//!
//! `cargo run -p rankwright --example compare`
#![allow(clippy::print_stdout)]

use rankwright::data::generate::LetorOptions;
use rankwright::eval::table::comparison_table;
use rankwright::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let make = |queries, seed| LetorOptions { queries, documents: 30, seed }.generate();
    let (train, test) = (make(100, 1)?, make(100, 2)?);
    let tree = RegressionTree::new().leaves(6).fit(&train)?.model;
    let trees = LambdaMart::new().trees(60).leaves(15).fit(&train)?.model;

    let mut systems = Vec::new();
    for (name, model) in [("one tree", &tree), ("LambdaMART", &trees)] {
        systems.push((name.to_owned(), evaluate(model, &test, "ndcg@10, ap")?));
    }
    // Queries are paired by id; the first system is the baseline.
    let comparison = compare_evaluations(&systems, &CompareOptions::default())?;
    println!("{}", comparison_table(&comparison).to_text());

    let vs_baseline =
        comparison.metrics[0].systems[1].vs_baseline.as_ref().ok_or("no comparison")?;
    println!(
        "LambdaMART is better on {} queries, equal on {}, worse on {}; p = {:.5}",
        vs_baseline.counts.wins, vs_baseline.counts.ties, vs_baseline.counts.losses, vs_baseline.p
    );
    assert!(vs_baseline.difference > Some(0.0) && vs_baseline.p < 0.05);
    Ok(())
}
