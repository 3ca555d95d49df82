//! Learning to rank, from raw text, feature files and runs to models, rankings and metrics.
//!
//! [`prelude`] has the items that most programs use; [`tasks`] are whole jobs: a request in, a
//! serialisable result out. The parts are separate crates; those with a feature in brackets are
//! optional:
//!
//! - [`data`]: data sets, judgements and runs, in every format; splits and generators;
//! - [`eval`]: the order of documents by score with one rule for ties, every metric with its
//!   conventions (treatment of ties, unjudged documents and so on), significance, tables;
//! - [`model`]: trees, linear models and nets that score documents, checked model files, drawings;
//! - [`spec`]: specs such as `lambdamart(leaves=31)`, and the declaration of parameters;
//! - `learn` (`train`): learners by name, boosted trees and their objectives, cross validation;
//! - `search` (`search`): collections of text, an index, first-stage retrieval, features,
//!   re-ranking;
//! - `clicks` (`clicks`): click logs, preferences, click models, position bias, interleaving;
//! - `report` (`explain` for explanations of rankings, `report` for charts and pages of trainings,
//!   comparisons and data);
//! - `experiment` (`experiment`): whole comparisons from a file.
//!
//! ```
//! # #[cfg(feature = "train")] {
//! use rankwright::prelude::*;
//!
//! // Rows of any order; ids of any kind.
//! let features = [[0.1, 3.0], [0.9, 1.0], [0.4, 2.0], [0.8, 0.0], [0.2, 5.0], [0.7, 4.0]];
//! let data = Dataset::from_rows(features, ["bm25", "age"])
//!     .labels([0, 2, 1, 1, 0, 1])
//!     .query_ids(["red", "red", "red", "blue", "blue", "blue"])
//!     .build()?;
//! let model = RankSvm::new().fit(&data)?.model;
//! let ndcg = evaluate(&model, &data, "ndcg@10")?;
//! assert_eq!(ndcg.get("ndcg@10"), Some(1.0));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]

mod evaluate;
pub mod prelude;
pub mod tasks;

pub use evaluate::evaluate;

/// Click logs: preferences, click models, position bias, interleaving, judges.
#[cfg(feature = "clicks")]
pub use rankwright_clicks as clicks;
/// Data sets, judgements and runs: formats in and out.
pub use rankwright_data as data;
/// Metrics, the order of documents by score, significance tests and tables.
pub use rankwright_eval as eval;
/// Experiments: a whole comparison from a file.
#[cfg(feature = "experiment")]
pub use rankwright_experiment as experiment;
/// Learners: boosted trees for every objective, linear models, nets; cross validation, tuning.
#[cfg(feature = "train")]
pub use rankwright_learn as learn;
/// Models: scoring, files, importance, drawings.
pub use rankwright_model as model;
/// Reports: charts, pages, explanations of rankings.
#[cfg(feature = "explain")]
pub use rankwright_report as report;
/// Text: collections, an index, first-stage retrieval, features, re-ranking, classifiers.
#[cfg(feature = "search")]
pub use rankwright_search as search;
/// Specs such as `lambdamart(leaves=31)`, and the declaration of parameters.
pub use rankwright_spec as spec;

/// The README's program, compiled and run as a test.
#[cfg(all(doctest, feature = "train"))]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The program of this crate's README, compiled as a test.
#[cfg(all(doctest, feature = "train"))]
#[doc = include_str!("../README.md")]
struct CrateReadme;
