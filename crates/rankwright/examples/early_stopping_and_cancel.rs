//! Early stopping on validation data, progress, and cancellation from another thread.
//!
//! `cargo run -p rankwright --example early_stopping_and_cancel`
#![allow(clippy::print_stdout)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rankwright::data::generate::LetorOptions;
use rankwright::learn::TrainingHistory;
use rankwright::prelude::*;

/// Prints every tenth round.
struct Printer;

impl Progress for Printer {
    fn round_finished(&self, history: &TrainingHistory) {
        if let Some(round) = history.iterations.last().filter(|round| round.number % 10 == 0) {
            println!("tree {:3}  valid ndcg@10 {:.4}", round.number, round.values[0][0]);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let make = |queries, seed| LetorOptions { queries, documents: 30, seed }.generate();
    let (train, valid) = (make(80, 1)?, make(40, 2)?);

    // Stops after 20 trees without a better value, and keeps the best number of trees.
    let learner = LambdaMart::new().trees(1000).leaves(15).stop(20);
    let request = TrainRequest::new(&train).validation(&valid).progress(&Printer);
    let stopped = learner.fit(request)?;
    let best = stopped.history.best.ok_or("no validation data")?;
    println!("grew {} trees, kept the best {best}", stopped.history.iterations.len());
    assert!(best > 0 && stopped.history.iterations.len() < 1000);

    // A flag is the simplest receiver of progress events: once set, it ends the training.
    let cancel = AtomicBool::new(false);
    let endless = LambdaMart::new().trees(1_000_000);
    let cancelled = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(300));
            cancel.store(true, Ordering::Relaxed);
        });
        endless.fit(TrainRequest::new(&train).progress(&cancel))
    })?;
    println!("cancelled after {} trees", cancelled.history.iterations.len());
    assert!(!cancelled.finished);
    // The trees trained so far are a model.
    assert_eq!(cancelled.model.predict(&valid)?.len(), valid.rows());
    Ok(())
}
