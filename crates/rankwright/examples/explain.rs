//! Explains why one document is ranked above another.
//!
//! `cargo run -p rankwright --example explain`
#![allow(clippy::print_stdout)]

use rankwright::data::generate::LetorOptions;
use rankwright::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = LetorOptions { queries: 60, documents: 20, seed: 1 }.generate()?;
    let model = LambdaMart::new().trees(30).leaves(7).fit(&data)?.model;
    let explainer = Explainer::new(&model, ExplainOptions::default())?;
    let names = explainer.names();

    // The two best documents of the first query.
    let list = explainer.explain(&data, &[0])?.remove(0);
    let mut order: Vec<usize> = (0..list.documents()).collect();
    order.sort_by(|a, b| list.scores[*b].total_cmp(&list.scores[*a]));
    let (first, second) = (order[0], order[1]);
    println!("scores {:.4} and {:.4}", list.scores[first], list.scores[second]);

    let lead = list.difference(first, second);
    let mut features: Vec<usize> = (0..lead.len()).collect();
    features.sort_by(|a, b| lead[*b].abs().total_cmp(&lead[*a].abs()));
    println!("feature  adds to the lead");
    for feature in features.iter().take(5) {
        println!("{:>7}  {:+.4}", names[*feature], lead[*feature]);
    }
    // Contributions add up to the difference of the scores.
    let sum: f64 = lead.iter().sum();
    assert!((sum - (list.scores[first] - list.scores[second])).abs() < 1e-9);
    Ok(())
}
