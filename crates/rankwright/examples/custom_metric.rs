//! A custom metric: evaluated, and used for early stopping of a training.
//!
//! `cargo run -p rankwright --example custom_metric`
#![allow(clippy::print_stdout)]

use rankwright::data::generate::LetorOptions;
use rankwright::eval::{Conventions, EvalError, RankedList, SourceKind};
use rankwright::prelude::*;

/// Share of queries whose first document has a label of 2 or more.
#[derive(Debug)]
struct GoodFirst;

impl Metric for GoodFirst {
    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        Ok(list.labels().first().map(|label| f64::from(*label >= 2.0)))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let good_first =
        Measure::custom("good-first", GoodFirst, Conventions::of(SourceKind::Features));
    // One list by hand: the best score belongs to label 3.
    assert_eq!(good_first.of(&[0.1, 0.9, 0.5], &[0.0, 3.0, 1.0])?, Some(1.0));

    let make = |queries, seed| LetorOptions { queries, documents: 30, seed }.generate();
    let (train, valid, test) = (make(80, 1)?, make(60, 2)?, make(60, 3)?);
    let request = TrainRequest::new(&train).validation(&valid).metrics([good_first.clone()]);
    let result = LambdaMart::new().trees(200).leaves(15).stop(25).fit(request)?;
    let best = result.history.best.ok_or("no validation data")?;
    println!("kept {best} of {} trees", result.history.iterations.len());

    let found = evaluate(&result.model, &test, good_first)?;
    let value = found.get("good-first").ok_or("no value")?;
    println!("good-first = {value:.4} over {} queries", found.results[0].queries);
    assert!(value > 0.5, "{value}");
    Ok(())
}
