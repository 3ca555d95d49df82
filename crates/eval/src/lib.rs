//! Rankwright's evaluation: the order of documents by score, which all crates share; metrics, each
//! with its conventions stated (how ties, unjudged documents and so on are treated); per-query
//! results; and the change of a metric when two ranks are swapped.
//!
//! Data flows down this list:
//!
//! - [`Candidates`]: one query's documents, from a [`QuerySource`];
//! - [`Orderer`]: their order by score, with a [`TiePolicy`] for equal scores;
//! - [`RankedList`]: one ranked query, the input of a [`Metric`];
//! - [`MetricSpec`], resolved to a [`Measure`]: a metric with all conventions filled in;
//! - [`evaluate()`] and [`evaluate_slices()`]: all queries in parallel, an [`Evaluation`] out;
//! - [`SwapDelta`]: the change of a metric under a swap, for lambda learners;
//! - [`stats`]: significance tests and intervals on per-query values;
//! - [`compare`]: systems against a baseline on any metrics;
//! - [`table`]: the result as text, Markdown or LaTeX.
//!
//! ```
//! use rankwright_eval::of_ranking;
//!
//! // labels in the order of the ranking
//! let ndcg = of_ranking("ndcg@5", &[3.0, 1.0, 0.0, 2.0, 0.0])?;
//! assert_eq!(ndcg.map(|v| (v * 1e4).round()), Some(9500.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]

mod boundary;
pub mod compare;
mod convention;
mod discount;
mod error;
mod error_kind;
mod evaluate;
mod features;
mod footnotes;
mod gain;
mod judge;
mod list;
pub mod metric;
mod order;
mod per_query;
mod rank_sum;
mod slices;
mod source;
pub mod stats;
mod swap;
pub mod table;
mod top_order;

pub use boundary::{
    evaluate_models, measures_for_model, measures_for_models, measures_without_boundary,
    name_boundary_of_each_model,
};
pub use convention::{Blank, Conventions, Missing, ScoreWidth, Unjudged};
pub use discount::Discount;
pub use error::{DocumentList, EvalError, LabelLimit};
pub use evaluate::{EvalOptions, Evaluation, MeasureResult, TieEffect, evaluate};
pub use features::ScoredDataset;
pub use footnotes::{conventions, footnotes, shared_footnotes, tie_notes};
pub use gain::{Gain, GainTable};
pub use judge::JudgedRun;
pub use list::{Candidates, ListBuffers, PreferenceScores, RankedList, sort_labels};
pub use metric::{
    Aggregate, BoundaryText, DEFAULT_METRIC, DefaultMetrics, METRICS, Measure, Metric, MetricDef,
    MetricSpec, MetricText, PREFERENCE_METRIC, PRESETS, PresetDef, ToMeasures, metric_or_default,
    metrics_or_default, of_ranking, parse_metrics, usual_metrics,
};
pub use order::{OrderRule, Orderer, Rows, TiePolicy};
pub use per_query::PerQueryTable;
pub use rank_sum::{QueryValue, RankSum};
pub use slices::evaluate_slices;
pub use source::{QuerySource, ScoredQueries, SourceKind};
pub use swap::{Factors, SwapDelta};
pub use top_order::TopOrderer;
