//! Helpers shared by the tests.

// Each file uses only some helpers; skipped tests are reported on standard error.
#![allow(dead_code, clippy::print_stderr)]

pub(crate) mod trec;

use std::path::PathBuf;

use rankwright_eval::{Measure, MetricSpec, SourceKind};

/// A folder of the data sets for tests; prints that the test is skipped if it is missing.
pub(crate) fn data(folder: &str) -> Option<PathBuf> {
    let path = std::env::var_os("RANKWRIGHT_DATA").map(|root| PathBuf::from(root).join(folder));
    let found = path.filter(|p| p.is_dir());
    if found.is_none() {
        eprintln!("skipped: RANKWRIGHT_DATA does not lead to a folder {folder}");
    }
    found
}

/// A measure for feature data.
pub(crate) fn measure(spec: &str) -> Measure {
    let spec = MetricSpec::parse(spec).unwrap_or_else(|e| panic!("{spec}: {e}"));
    spec.resolve(SourceKind::Features).unwrap()
}

/// The value of a metric for one query.
pub(crate) fn value(spec: &str, scores: &[f64], labels: &[f64]) -> f64 {
    measure(spec).of(scores, labels).unwrap().unwrap()
}

/// Scores of `n` rows that fall from row to row, so that labels by row are in rank order.
pub(crate) fn falling(n: usize) -> Vec<f64> {
    (0..n).map(|i| -(i as f64)).collect()
}
