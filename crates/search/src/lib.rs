//! Text in, ranking out: documents, an index, first-stage retrieval, features and re-ranking.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]

mod document;

pub use document::{Document, Query, Value};
