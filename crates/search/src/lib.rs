//! Text in, ranking out: documents, an index, first-stage retrieval, features and re-ranking.
//!
//! [`Documents`] reads collections of many forms; [`build_index`] and [`Index`] keep them searchable;
//! a [`FirstStage`] finds candidates, an [`Extractor`] computes features of them, and a [`Ranker`] puts
//! both and a model together.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]

mod analysis;
pub mod classify;
mod dataset;
mod document;
mod error;
mod features;
mod index;
pub mod links;
mod order;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod queries;
mod ranker;
mod retrieve;
mod schema;
mod snippet;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod source;
mod terms;
mod weighting;

pub use analysis::{ANALYSIS_PARAMS, Analysis};
pub use dataset::RowOptions;
pub use document::{Document, Query, Value};
pub use error::SearchError;
pub use features::{Extractor, FEATURE_VERSION, FEATURES, FeatureInfo, FeatureRows, FeatureSet};
pub use index::{BuildOptions, BuildReport, Existing, Index, Oddities, TextField, build_index};
pub use queries::{QueryOptions, TopicPart, read_queries};
pub use ranker::{FEATURES_NOTE, Ranker, Ranking, to_run};
pub use retrieve::{Candidate, FIRST_STAGES, Filter, FirstStage, FirstStageInfo, SearchBuffers};
pub use schema::{FieldDef, FieldKind, Schema};
pub use snippet::Snippet;
pub use source::{DocumentFormat, Documents};
pub use terms::Terms;
