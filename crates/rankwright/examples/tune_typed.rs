//! Typed tuning: a typed learner, a typed space, folds of queries.
//!
//! `cargo run -p rankwright --example tune_typed`
#![allow(clippy::print_stdout)]

use rankwright::data::generate::LetorOptions;
use rankwright::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = LetorOptions { queries: 60, documents: 20, seed: 1 }.generate()?;
    let learner = LearnerSpec::new(LambdaMart::new().trees(20).leaves(2))?;
    let space = Space::new().int("leaves", 4..=15).log("rate", 0.05..=0.3);
    let folds = TuneData::Folds { count: 3, valid_part: None };
    let settings = TuneSettings::new(folds).space(space).trials(6);
    let plan = TunePlan::new(&learner, settings)?;
    let result = plan.run(&TuneJob::new(&data))?;
    let (first, best) = (result.trial_0().ok_or("no trial")?, result.best().ok_or("no trial")?);
    println!("given: {} has {:.4}", first.spec, first.value.ok_or("trial 0 failed")?);
    println!("best:  {} has {:.4}", best.spec, best.value.ok_or("no value")?);
    assert!(best.value >= first.value);

    // The best learner, trained on all of the data.
    let model = plan.learner(best)?.train(TrainRequest::new(&data))?.model;
    println!("trained again: {}", model.header().learner);
    assert_eq!(model.header().learner, best.spec);
    Ok(())
}
