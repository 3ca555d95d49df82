//! A custom objective with a parameter: one function on one query, trained,
//! cross-validated and tuned.
//!
//! `cargo run -p rankwright --example custom_objective`
#![allow(clippy::print_stdout)]

use rankwright::data::generate::LetorOptions;
use rankwright::learn::LearnError;
use rankwright::learn::objective::{Derivatives, Objective, ObjectiveBuffers, QueryView};
use rankwright::prelude::*;
use rankwright::spec::{above, check_params, params};

params! {
    /// Log-cosh of (score - label) / width, with the same total weight for each query, whatever its
    /// length: L = 1/n * sum of w^2 log(cosh((s - y) / w)).
    pub struct LogCosh {
        width: f64 = 1.0, above(0.0), "Difference up to which the loss is nearly squared error.";
    }
}

impl Objective for LogCosh {
    fn derivatives(
        &self,
        query: &QueryView<'_>,
        _buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        let share = 1.0 / query.scores.len().max(1) as f64;
        let documents = query.labels.iter().zip(query.scores);
        let derivatives = out.gradient.iter_mut().zip(out.hessian.iter_mut());
        for ((label, score), (gradient, hessian)) in documents.zip(derivatives) {
            let slope = ((score - label) / self.width).tanh();
            // Negative for a document whose score should rise.
            *gradient = (share * self.width * slope) as f32;
            *hessian = (share * (1.0 - slope * slope)) as f32;
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let loss = LogCosh { width: 0.5 };
    check_params(&loss, "log-cosh")?;
    let error = check_params(&LogCosh { width: 0.0 }, "log-cosh").unwrap_err();
    println!("{error}");

    let (labels, scores) = ([2.0, 0.0, 1.0], [0.5, 0.5, 1.0]);
    let (mut gradient, mut hessian, mut cache) = ([0.0; 3], [0.0; 3], [0; 3]);
    let mut out = Derivatives { gradient: &mut gradient, hessian: &mut hessian, cache: &mut cache };
    loss.derivatives(
        &QueryView::new(&labels, &scores),
        &mut ObjectiveBuffers::default(),
        &mut out,
    )?;
    println!("label score gradient hessian");
    for i in 0..labels.len() {
        println!("{:5} {:5} {:8.4} {:7.4}", labels[i], scores[i], gradient[i], hessian[i]);
    }

    let data = LetorOptions { queries: 60, documents: 40, seed: 1 }.generate()?;
    let learner = Booster::new().trees(30).objective("log-cosh", move || loss.clone());
    let result = learner.fit(TrainRequest::new(&data).evaluate_training(true))?;
    assert_eq!(result.model.header().objective, "log-cosh");
    println!("ndcg@10 on the training data");
    // The first set is the training data, and the first metric ndcg@10, as none was named.
    let values: Vec<f64> = result.history.iterations.iter().map(|i| i.values[0][0]).collect();
    assert!(values.last() > values.first(), "{values:?}");
    for iteration in result.history.iterations.iter().step_by(10) {
        println!("after {:2} trees: {:.4}", iteration.number, iteration.values[0][0]);
    }

    // The learner can do what others can: here, cross validation and tuning.
    let learner = LearnerSpec::new(learner)?;
    let options = CvOptions::default().folds(3);
    let found = cross_validate(&learner, &data, &options)?;
    println!("in cross validation: {:.4}", found.pooled.results[0].value);
    assert!(found.pooled.results[0].value > values[0], "better than the first tree");

    let folds = TuneData::Folds { count: 3, valid_part: None };
    let space = Space::new().int("leaves", 2..=15);
    let plan = TunePlan::new(&learner, TuneSettings::new(folds).space(space).trials(3))?;
    let tuned = plan.run(&TuneJob::new(&data))?;
    let best = tuned.best().ok_or("no trial")?;
    println!("tuned: {}", best.spec);
    let model = plan.learner(best)?.train(TrainRequest::new(&data))?.model;
    assert_eq!(model.header().objective, "log-cosh");
    Ok(())
}
