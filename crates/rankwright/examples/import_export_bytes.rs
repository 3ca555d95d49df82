//! Reads models of other systems from bytes and writes them to bytes, without files.
//!
//! `cargo run -p rankwright --example import_export_bytes`
#![allow(clippy::print_stdout)]

use rankwright::data::generate::LetorOptions;
use rankwright::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = LetorOptions { queries: 40, documents: 20, seed: 1 }.generate()?;
    let model = LambdaMart::new().trees(20).leaves(7).fit(&data)?.model;
    let own = model.to_bytes();
    println!("{:10} {:7} bytes", "rankwright", own.len());
    assert_eq!(Model::from_bytes(&own)?, model);

    for name in ["lightgbm", "ranklib"] {
        let format = ModelFormat::find(name)?;
        let bytes = model.to_bytes_as(format)?;
        // The format is detected by content.
        let back = Model::from_bytes(&bytes)?;
        let options = ScoreOptions::from(MatchOptions::default().ignore_extra(true));
        let (ours, theirs) = (model.predict(&data)?, back.score(&data, options)?);
        let pairs = ours.iter().zip(&theirs);
        let largest = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!("{:10} {:7} bytes, scores differ by at most {largest:.1e}", name, bytes.len());
        assert!(largest < 1e-4);
    }

    let broken = Model::from_bytes(&own[..own.len() / 2]).unwrap_err();
    println!("half a file: {broken}");
    Ok(())
}
