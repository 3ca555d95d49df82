//! Training on data larger than most: 10 million rows of 50 features.
//!
//! Ignored by default, as it writes 2.1 GB and takes minutes:
//! `cargo test --release -p rankwright-cli --test command large -- --ignored --nocapture`.

#![cfg(target_os = "linux")]

use std::process::{Child, Command};
use std::time::Duration;

use rankwright::data::{Dataset, Random, format};

const ROWS: usize = 10_000_000;
const FEATURES: usize = 50;
const DOCUMENTS: usize = 100;

/// Data whose labels depend on the first three features.
fn data() -> Dataset {
    let mut random = Random::new(1, 0);
    let mut values = Vec::with_capacity(ROWS * FEATURES);
    let mut labels = Vec::with_capacity(ROWS);
    for _ in 0..ROWS {
        let start = values.len();
        values.extend((0..FEATURES).map(|_| random.unit() as f32));
        let relevance = f64::from(values[start] + values[start + 1] * values[start + 2]);
        labels.push((relevance * 2.0 + random.unit()).floor());
    }
    let query_ids = (0..ROWS).map(|row| row / DOCUMENTS);
    Dataset::from_dense(values, FEATURES, labels, query_ids).unwrap()
}

/// The largest memory of a running process so far, in bytes.
fn peak(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

#[test]
#[ignore = "writes 2.1 GB and takes minutes"]
fn ten_million_rows_train_in_bounded_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.rwd");
    format::write(&data(), &path, format::Format::Cache).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_rankwright"))
        .args(["train", "large.rwd", "--learner", "lambdamart(trees=10)", "--out", "model"])
        .arg("--quiet")
        .current_dir(folder.path())
        .spawn()
        .unwrap();
    let mut most = 0;
    let status = loop {
        most = most.max(peak(&child).unwrap_or(0));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(status.success());
    println!("peak {} MiB, {} bytes a row", most >> 20, most / ROWS as u64);
    // Two bytes per value in bins, about 60 more bytes per row, and never the 200 of the values.
    assert!(most < 230 * ROWS as u64, "{most} bytes");
}
