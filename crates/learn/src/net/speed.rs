//! Measures the time of an epoch, and the time saved by factoring RankNet; ignored by default. Run
//! it with `cargo test --release -p rankwright-learn net::speed -- --ignored --nocapture
//! --test-threads 1`.

use std::time::Instant;

use rankwright_data::Dataset;
use rankwright_data::generate::LetorOptions;

use super::tests::data;
use crate::learner::LearnerSpec;
use crate::session::TrainRequest;

/// Seconds of an epoch: the difference between a long training and a short one, so that transforms
/// and other fixed costs do not count; the best of three repeats. The spec has the word EPOCHS
/// where the number of epochs belongs.
fn epoch_seconds(spec: &str, data: &Dataset, epochs: usize) -> f64 {
    let training_seconds = |epochs: usize| {
        let text = spec.replace("EPOCHS", &epochs.to_string());
        let learner = LearnerSpec::parse(&text).unwrap();
        let repeats = (0..3).map(|_| {
            let started = Instant::now();
            learner.train(TrainRequest::new(data)).unwrap();
            started.elapsed().as_secs_f64()
        });
        repeats.fold(f64::INFINITY, f64::min)
    };
    (training_seconds(1 + epochs) - training_seconds(1)) / epochs as f64
}

#[test]
#[ignore = "a measurement"]
fn factoring_saves_more_the_longer_the_lists() {
    println!("documents  pair by pair [ms]  factored [ms]  speed-up");
    let mut last_speed_up = 0.0;
    for documents in [10, 20, 50, 100, 200, 400] {
        let data = data(&vec![documents; 2000 / documents], 136, 1);
        let epoch_milliseconds = |factored: bool, epochs: usize| {
            let spec = format!("ranknet(factored={factored}, epochs=EPOCHS, batch=4)");
            1e3 * epoch_seconds(&spec, &data, epochs)
        };
        let (pairs, factored) = (epoch_milliseconds(false, 1), epoch_milliseconds(true, 20));
        let speed_up = pairs / factored;
        println!("{documents:9}  {pairs:17.1}  {factored:13.2}  {speed_up:8.1}");
        assert!(speed_up > last_speed_up, "the speed-up does not grow");
        last_speed_up = speed_up;
    }
}

#[test]
#[ignore = "a measurement"]
fn speed_of_an_epoch_of_each_learner() {
    let data = LetorOptions { queries: 1000, documents: 120, seed: 1 }.generate().unwrap();
    println!("{} rows of {} features", data.rows(), data.columns());
    for spec in [
        "ranknet(epochs=EPOCHS)",
        "lambdarank(epochs=EPOCHS)",
        "listnet(epochs=EPOCHS)",
        "listmle(epochs=EPOCHS)",
        "softmax(epochs=EPOCHS)",
        "approxndcg(epochs=EPOCHS)",
        "softmax(epochs=EPOCHS, layers=0)",
        "softmax(epochs=EPOCHS, noise=0)",
        "softmax(epochs=EPOCHS, norm=layer)",
        "softmax(epochs=EPOCHS, norm=batch)",
        "softmax(epochs=EPOCHS, activation=gelu)",
        "softmax(epochs=EPOCHS, layers=1024/512/256)",
    ] {
        let seconds = epoch_seconds(spec, &data, 2);
        println!("{:7.1} ms  {spec}", 1e3 * seconds);
    }
}
