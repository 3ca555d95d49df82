//! Learning to rank, from raw text, feature files and runs to numbers that can be trusted.
//!
//! [`tasks`] are whole jobs: a request in, a serialisable result out. The parts are crates of
//! their own; those with a feature in brackets can be left out:
//!
//! - [`data`]: data sets, judgements and runs, in every format; splits and generators;
//! - [`eval`]: the one order, every metric with its conventions, significance, tables;
//! - [`model`]: trees, linear models and nets that score documents, checked model files, drawings;
//! - [`spec`]: specs such as `lambdamart(leaves=31)`, and the declaration of parameters;
//! - `learn` (`train`): learners by name, boosted trees and their objectives, cross validation;
//! - `search` (`search`): collections of text, an index, first-stage retrieval, features,
//!   re-ranking;
//! - `report`, `experiment` (`report`): charts and pages of trainings, comparisons and data;
//!   experiments from a file.
//!
//! ```
//! use rankwright::data::generate::LetorOptions;
//! use rankwright::eval::{EvalOptions, MetricSpec, ScoredDataset, SourceKind, evaluate};
//!
//! let data = LetorOptions { queries: 50, documents: 40, seed: 1 }.generate()?;
//! // The simplest ranker there is: one feature, here the BM25 score of the title.
//! let scores: Vec<f64> = (0..data.rows()).map(|r| f64::from(data.matrix().get(r, 71))).collect();
//! let ndcg = MetricSpec::parse("ndcg@10")?.resolve(SourceKind::Features)?;
//! let found = evaluate(&ScoredDataset::new(&data, &scores)?, &[ndcg], EvalOptions::default())?;
//! let result = &found.results[0];
//! assert!(result.value > 0.3 && result.queries > 40);
//! println!("{} = {:.4} ({})", result.measure, result.value, result.convention);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod tasks;

/// Data sets, judgements and runs: formats in and out.
pub use rankwright_data as data;
/// Metrics, the one order, significance tests and tables.
pub use rankwright_eval as eval;
/// Experiments: a whole comparison from a file.
#[cfg(feature = "report")]
pub use rankwright_experiment as experiment;
/// Learners: boosted trees for every objective, linear models, nets; cross validation, tuning.
#[cfg(feature = "train")]
pub use rankwright_learn as learn;
/// Models: scoring, files, importance, drawings.
pub use rankwright_model as model;
/// Reports: charts, pages, explanations of rankings.
#[cfg(feature = "report")]
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
