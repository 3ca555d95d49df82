//! A custom feature: the price of an item compared with the budget of the shopper.
//!
//! The index holds the feature, so that training and serving compute it with the same code.
//!
//! `cargo run -p rankwright --example custom_feature`
#![allow(clippy::print_stdout)]

use std::sync::Arc;

use rankwright::prelude::*;
use rankwright::search::{
    CandidateStatistics, Feature, FeatureDef, FeatureParams, FieldKind, NumberField, SearchError,
    SearchRequest, Value,
};
use rankwright::spec::params;

params! {
    /// Parameters of the feature `within-budget`.
    pub struct BudgetParams {
        field: String = "price".to_owned(), .., "Number field of prices.";
    }
}

static WITHIN_BUDGET: FeatureDef = FeatureDef {
    name: "within-budget",
    help: "1 if the price is not above the query's budget, else 0; missing without a budget.",
    example: "within-budget(field=price)",
    field: Some(FieldKind::Number),
    ..FeatureDef::of_params::<BudgetParams>()
};

/// The feature, prepared for an index: it holds the prices of all items.
struct WithinBudget(NumberField);

impl FeatureParams for BudgetParams {
    fn build(&self, index: &Index) -> Result<Box<dyn Feature>, SearchError> {
        Ok(Box::new(WithinBudget(index.number_field(&self.field)?)))
    }
}

impl Feature for WithinBudget {
    fn values(
        &self,
        statistics: &CandidateStatistics<'_>,
        out: &mut [f64],
    ) -> Result<(), SearchError> {
        let given = statistics.query().fields.iter().find(|(name, _)| name == "budget");
        // Values that are not written are missing.
        let Some((_, Value::Number(budget))) = given else { return Ok(()) };
        for (value, price) in out.iter_mut().zip(statistics.numbers(&self.0)?) {
            *value = f64::from(price <= *budget);
        }
        Ok(())
    }
}

/// Items: id, title, price.
const ITEMS: [(&str, &str, f64); 8] = [
    ("a", "red running shoe", 120.0),
    ("b", "running shoe", 60.0),
    ("c", "blue running shoe", 45.0),
    ("d", "desk lamp", 25.0),
    ("e", "desk lamp with a shade", 140.0),
    ("f", "floor lamp", 80.0),
    ("g", "coat for the rain", 95.0),
    ("h", "warm winter coat", 210.0),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let items = || {
        ITEMS.map(|(id, title, price)| Document::new(id).with("title", title).with("price", price))
    };
    let index = Arc::new(Index::in_memory(items())?.with_feature(&WITHIN_BUDGET)?);

    // Shoppers buy the item that they searched for, if its price is within their budget.
    let asked = [
        ("q1", "running shoe", 50.0),
        ("q2", "running shoe", 100.0),
        ("q3", "desk lamp", 30.0),
        ("q4", "coat", 100.0),
    ];
    let bought = asked.iter().flat_map(|(query, text, budget)| {
        ITEMS.iter().map(move |(id, title, price)| {
            let is_match = text.split(' ').all(|word| title.contains(word));
            (*query, *id, f64::from(is_match && price <= budget))
        })
    });
    let qrels = Qrels::from_lists(QueryLists::from_rows("bought", bought)?);
    let queries = asked.map(|(id, text, budget)| Query::new(id, text).with("budget", budget));
    let set = FeatureSet::parse("bm25(field=title), within-budget(field=price)")?;
    let rows = training_data(
        Arc::clone(&index),
        queries.to_vec(),
        Some(&qrels),
        &set,
        &RowOptions::default(),
    )?;
    let model = RankSvm::new().fit(&rows.data)?.model;

    let ranker = Ranker::new(index, &model)?;
    for (budget, expected) in [(50.0, "c"), (150.0, "a")] {
        let request = SearchRequest::new("red running shoe").query_field("budget", budget);
        let best = &ranker.search(&request)?.documents[0];
        println!("a red running shoe for {budget}: {}", best.title);
        assert_eq!(best.id, expected);
    }

    // An index without the feature cannot serve the model.
    let refused = Ranker::new(Index::in_memory(items())?, &model).unwrap_err();
    println!("{refused}");
    assert!(matches!(refused, SearchError::ModelFeatures(_)));
    Ok(())
}
