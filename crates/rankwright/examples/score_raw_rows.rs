//! Raw rows of a service, with texts and times, scored by a model that was trained on a table.
//!
//! `cargo run -p rankwright --example score_raw_rows`
#![allow(clippy::print_stdout)]

use rankwright::data::bytes::Input;
use rankwright::data::format::{ReadOptions, Roles, read_inputs};
use rankwright::data::{DataError, RowCell};
use rankwright::prelude::*;

/// A log of searches: people like one brand, and what is cheap.
fn log() -> String {
    let mut text = String::from("search,stars,brand,price,added\n");
    for row in 0..400 {
        let (brand, price, day) = (row * 7 % 5, row * 13 % 90, row * 3 % 28 + 1);
        let stars = 2 * usize::from(brand == 3) + usize::from(price < 30);
        text += &format!("s{},{stars},brand {brand},{price}.5,2026-03-{day:02}\n", row / 20);
    }
    text
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let roles = Roles::parse("qid=search, label=stars")?;
    let options = ReadOptions::new().roles(roles);
    let data = read_inputs(vec![Input::from_bytes("log.csv", log().into())?], &options)?.data;
    let model = LambdaMart::new().trees(30).leaves(4).min_rows(5).fit(&data)?.model;

    // The model has all that turns a row into features.
    let columns = model.header().table_columns.clone().ok_or("the model is not of a table")?;
    let encoder = columns.row_encoder();
    let score = |brand: &str, price: f64, added: RowCell<'_>| -> Result<f64, DataError> {
        let row = [("brand", brand.into()), ("price", price.into()), ("added", added)];
        Ok(model.score_row(&encoder.encode(row)?))
    };
    let liked = score("brand 3", 10.5, "2026-03-08".into())?;
    // 2026-03-08 in microseconds since 1970.
    let same = score("brand 3", 10.5, RowCell::Time(20_520 * 86_400_000_000))?;
    let unknown = score("a brand that is new", 10.5, "2026-03-08".into())?;
    println!("brand 3: {liked:.3}, a new brand: {unknown:.3}");
    assert_eq!(liked, same);
    assert!(liked > unknown);
    assert!(encoder.encode([("colour", "red".into())]).is_err());
    Ok(())
}
