//! Search: documents, an index, first-stage retrieval, features and re-ranking.
//!
//! [`Documents`] reads collections of many formats; [`build_index`] and [`Index`] make them
//! searchable; a [`FirstStage`] finds candidates, an [`Extractor`] computes their features, and a
//! [`Ranker`] combines both with a model.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]

mod analysis;
pub mod classify;
mod document;
mod error;
mod error_kind;
mod facet;
mod features;
mod filter;
mod index;
pub mod links;
mod order;
mod params;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod queries;
mod query_syntax;
mod ranker;
mod retrieve;
mod run;
mod schema;
mod search;
mod snippet;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod source;
mod suggest;
mod terms;
mod training_data;
mod warning;

pub use analysis::{Analysis, LanguageParams, PlainParams};
pub use document::{Document, Query, Value};
pub use error::{
    DocumentProblem, FeatureSetProblem, IndexDamage, IndexObject, SearchError, TermStatistic,
};
pub use facet::{Facet, FacetValue};
pub use features::{
    CandidateStatistics, DEFAULT_CANDIDATES, Extractor, FEATURE_VERSION, FEATURES, Feature,
    FeatureDef, FeatureParams, FeatureRows, FeatureSet, Needs,
};
pub use filter::{
    ConditionOrigin, Filter, FilterError, FilterExpression, FilterHint, FilterProblem,
};
pub use index::{
    BuildOptions, BuildReport, Existing, Index, NumberField, TermStats, TextField, build_index,
};
pub use queries::{QueryOptions, TopicPart, read_queries, read_queries_with};
pub use query_syntax::{ParsedQuery, QuerySyntax, UnreadCondition};
pub use ranker::{DEFAULT_DOCUMENTS, Ranker, RankerBuilder, Ranking};
pub use retrieve::{
    AbsoluteDiscount, Bm25, Bm25f, Candidate, Cosine, Dirichlet, FIRST_STAGES, FirstStage,
    FirstStageDef, FirstStageParams, JelinekMercer, PerField, SearchBuffers,
};
pub use run::RunResult;
pub use schema::{FieldDef, FieldKind, Schema};
pub use search::{FeatureValues, Hit, SearchRequest, SearchResult};
pub use snippet::Snippet;
pub use source::{DocumentFormat, Documents, SkippedDocument, SkippedDocuments};
pub use terms::Terms;
pub use training_data::{FeatureSeconds, RowOptions, TrainingData, training_data};
pub use warning::{CountedIds, SearchWarning};
