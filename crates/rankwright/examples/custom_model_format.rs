//! A custom model format: linear models as lines of `feature TAB weight`, the bias in the first
//! one.
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
    detect: |bytes| bytes.starts_with(b"bias\t"),
    read,
    write: Some(write),
};

fn read(bytes: &[u8]) -> Result<Model, ModelError> {
    let invalid = |problem| ModelError::InvalidFile { format: "Weights", tree: None, problem };
    let text = std::str::from_utf8(bytes)
        .map_err(|error| invalid(FileProblem::NotUtf8 { byte: error.valid_up_to() }))?;
    let pair = |(number, line): (usize, &str)| -> Result<(String, f64), ModelError> {
        let pair = line
            .split_once('\t')
            .and_then(|(name, weight)| Some((name.to_owned(), weight.parse().ok()?)));
        pair.ok_or_else(|| {
            invalid(FileProblem::BadValue {
                name: "the text",
                line: Some(number + 1),
                found: line.to_owned(),
                expected: "feature, tab, weight",
            })
        })
    };
    let mut lines = text.lines().enumerate();
    let (_, bias) = pair(lines.next().unwrap_or((0, "")))?;
    let pairs = lines.map(pair).collect::<Result<Vec<_>, _>>()?;
    let (names, weights): (Vec<String>, Vec<f64>) = pairs.into_iter().unzip();
    let header = Header::new(FeatureNames::from_names(names), Absent::Zero);
    // The constructors check the rest: finite weights, names that differ.
    Model::new(header, ModelBody::Linear(Linear::new(bias, weights)?))
}

fn write(model: &Model) -> Result<Vec<u8>, ModelError> {
    // `bodies` above says that only linear models are passed.
    let ModelBody::Linear(linear) = model.body() else {
        return Err(ModelError::Internal { invariant: "only bodies of the format are written" });
    };
    let mut text = format!("bias\t{}\n", linear.bias());
    for (name, weight) in model.header().features.iter().zip(linear.weights()) {
        text.push_str(&format!("{name}\t{weight}\n"));
    }
    Ok(text.into_bytes())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names = FeatureNames::from_names(vec!["bm25".to_owned(), "pagerank".to_owned()]);
    let linear = ModelBody::Linear(Linear::new(0.5, vec![1.5, -0.25])?);
    let model = Model::new(Header::new(names, Absent::Zero), linear)?;

    let bytes = model.to_bytes_as(&WEIGHTS)?;
    print!("{}", String::from_utf8_lossy(&bytes));
    assert_eq!(Model::from_bytes_as(&bytes, &WEIGHTS)?, model);

    let broken = Model::from_bytes_as(b"bias\t0\nbm25 1.5\n", &WEIGHTS).unwrap_err();
    println!("a line without a tab: {broken}");
    Ok(())
}
