//! Any text, read as a filter: what parses prints back to itself and is applied to a small index or
//! refused; every error points at a place in the text.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use rankwright::search::{Document, Filter, FilterExpression, Index, SearchError};

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let document = Document::new("1")
        .with("title", "blue train")
        .with("price", 3.5)
        .with("date", "2024-05-31")
        .with("url", "https://a.org/b");
    Index::in_memory([document]).expect("the documents are valid")
});

fuzz_target!(|text: &str| {
    let parsed = FilterExpression::parse(text);
    match &parsed {
        Ok(expression) => {
            let printed = expression.to_string();
            let again = FilterExpression::parse(&printed).map(|again| again.to_string());
            assert_eq!(again.as_ref(), Ok(&printed));
        }
        Err(error) => {
            assert!(error.position <= text.chars().count());
            assert_eq!(error.pointer().lines().count(), 2);
        }
    }
    match Filter::new(&INDEX, text) {
        Ok(filter) => assert!(filter.documents() <= 1),
        Err(SearchError::Filter(error)) => assert!(error.position <= text.chars().count()),
        Err(error) => panic!("{error}"),
    }
});
