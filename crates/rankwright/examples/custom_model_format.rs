//! A custom model format: linear models as lines of `feature TAB weight`.
//!
//! Formats of the library are the same: a folder with such a value, and a line in the table.
//!
//! `cargo run -p rankwright --example custom_model_format`
#![allow(clippy::print_stdout)]

use rankwright::data::{Absent, FeatureNames};
use rankwright::model::{
    BodyKind, FileProblem, Header, Linear, Model, ModelBody, ModelError, ModelFormat,
};

static WEIGHTS: ModelFormat = ModelFormat {
    name: "weights",
    system: "Weights",
    reads: "lines of feature and weight",
    writes: "lines of feature and weight",
    extensions: &["tsv"],
    bodies: &[BodyKind::Linear],
    scores: "the same bits",
    detect: |bytes| bytes.starts_with(b"feature\tweight\n"),
    read,
    write: Some(write),
};

fn read(bytes: &[u8]) -> Result<Model, ModelError> {
    let invalid = |problem| ModelError::InvalidFile { format: "Weights", tree: None, problem };
    let text = std::str::from_utf8(bytes)
        .map_err(|error| invalid(FileProblem::NotUtf8 { byte: error.valid_up_to() }))?;
    let (mut names, mut weights) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate().skip(1) {
        let wrong = || {
            invalid(FileProblem::BadValue {
                name: "the text",
                line: Some(number + 1),
                found: line.to_owned(),
                expected: "feature, tab, weight",
            })
        };
        let (name, weight) = line.split_once('\t').ok_or_else(wrong)?;
        names.push(name.to_owned());
        weights.push(weight.parse().map_err(|_| wrong())?);
    }
    let header = Header::new(FeatureNames::from_names(names), Absent::Zero);
    // The constructors check the rest: finite weights, names that differ.
    Model::new(header, ModelBody::Linear(Linear::new(0.0, weights)?))
}

fn write(model: &Model) -> Result<Vec<u8>, ModelError> {
    let weights = model.weights().unwrap_or_default();
    let mut text = String::from("feature\tweight\n");
    for (name, weight) in model.header().features.iter().zip(weights) {
        text.push_str(&format!("{name}\t{weight}\n"));
    }
    Ok(text.into_bytes())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names = FeatureNames::from_names(vec!["bm25".to_owned(), "pagerank".to_owned()]);
    let linear = ModelBody::Linear(Linear::new(0.0, vec![1.5, -0.25])?);
    let model = Model::new(Header::new(names, Absent::Zero), linear)?;

    let bytes = model.to_bytes_as(&WEIGHTS)?;
    print!("{}", String::from_utf8_lossy(&bytes));
    assert_eq!(Model::from_bytes_as(&bytes, &WEIGHTS)?, model);

    let broken = Model::from_bytes_as(b"feature\tweight\nbm25 1.5\n", &WEIGHTS).unwrap_err();
    println!("a line without a tab: {broken}");
    Ok(())
}
