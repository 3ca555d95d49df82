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
    let order = list.order();
    let (first, second) = (order[0], order[1]);
    println!("scores {:.4} and {:.4}", list.scores[first], list.scores[second]);

    let reasons = list.why(first, second);
    println!("feature  adds to the lead");
    for (feature, share) in reasons.iter().take(5) {
        println!("{:>7}  {share:+.4}", names[*feature]);
    }
    // The shares add up to the difference of the scores.
    let sum: f64 = reasons.iter().map(|(_, share)| share).sum();
    assert!((sum - (list.scores[first] - list.scores[second])).abs() < 1e-9);
    Ok(())
}
