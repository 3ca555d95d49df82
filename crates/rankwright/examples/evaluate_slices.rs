//! Computes metrics of slices: scores, labels and query ids.
//!
//! `cargo run -p rankwright --example evaluate_slices`
#![allow(clippy::print_stdout)]

use rankwright::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scores = [2.1, 0.3, 1.7, 0.2, 0.9, 0.4];
    let labels = [3.0, 0.0, 1.0, 0.0, 2.0, 0.0];
    let queries = [17, 4, 17, 4, 4, 17];
    let found = evaluate_slices(&scores, &labels, &queries, "ndcg@10, ap, rr")?;
    for result in &found.results {
        println!("{:8} {:.4}  ({})", result.measure, result.value, result.convention);
    }
    assert_eq!(found.get("rr"), Some(1.0));

    // The value of each query by its id.
    for (query, value) in found.per_query("ndcg@10").into_iter().flatten() {
        println!("query {query:3} ndcg@10 {:.4}", value.ok_or("a query without a value")?);
    }
    assert_eq!(found.get_query("ndcg@10", "17"), Some(1.0));
    Ok(())
}
