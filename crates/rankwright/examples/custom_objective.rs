//! A custom objective: one function on one query.
//!
//! `cargo run -p rankwright --example custom_objective`
#![allow(clippy::print_stdout)]

use rankwright::data::generate::LetorOptions;
use rankwright::eval::SourceKind;
use rankwright::learn::LearnError;
use rankwright::learn::objective::{Derivatives, Objective, ObjectiveBuffers, QueryView};
use rankwright::prelude::*;

/// Log-cosh of score - label, with the same total weight for each query, whatever its length:
/// L = 1/n * sum of log(cosh(s - y)).
#[derive(Debug)]
struct LogCosh;

impl Objective for LogCosh {
    fn derivatives(
        &self,
        query: &QueryView<'_>,
        _work: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        let share = 1.0 / query.scores.len().max(1) as f64;
        let documents = query.labels.iter().zip(query.scores);
        let derivatives = out.gradient.iter_mut().zip(out.hessian.iter_mut());
        for ((label, score), (gradient, hessian)) in documents.zip(derivatives) {
            let slope = (score - label).tanh();
            // Negative for a document whose score should rise.
            *gradient = (share * slope) as f32;
            *hessian = (share * (1.0 - slope * slope)) as f32;
        }
        Ok(())
    }
}

fn main() -> Result<(), LearnError> {
    let (labels, scores) = ([2.0, 0.0, 1.0], [0.5, 0.5, 1.0]);
    let (mut gradient, mut hessian, mut memory) = ([0.0; 3], [0.0; 3], [0; 3]);
    let mut out =
        Derivatives { gradient: &mut gradient, hessian: &mut hessian, memory: &mut memory };
    LogCosh.derivatives(
        &QueryView::new(&labels, &scores),
        &mut ObjectiveBuffers::default(),
        &mut out,
    )?;
    println!("label score gradient hessian");
    for i in 0..labels.len() {
        println!("{:5} {:5} {:8.4} {:7.4}", labels[i], scores[i], gradient[i], hessian[i]);
    }

    let data = LetorOptions { queries: 60, documents: 40, seed: 1 }.generate()?;
    let metric = MetricSpec::parse("ndcg@10")?.resolve(SourceKind::Features)?;
    let request = TrainRequest::new(&data).metrics([metric]).evaluate_training(true);
    let result = Booster::new().trees(30).train(&mut LogCosh, &request)?;
    println!("ndcg@10 on the training data");
    let values: Vec<f64> = result.history.iterations.iter().map(|i| i.values[0][0]).collect();
    assert!(values.last() > values.first(), "{values:?}");
    for iteration in result.history.iterations.iter().step_by(10) {
        println!("after {:2} trees: {:.4}", iteration.number, iteration.values[0][0]);
    }
    Ok(())
}
