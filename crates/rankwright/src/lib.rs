//! Learning to rank, from raw text, feature files and runs to numbers that can be trusted.
//!
//! This crate only re-exports; each part has its own:
//!
//! - [`data`]: data sets, judgements and runs, in every format; splits and generators;
//! - [`eval`]: the one order, every metric with its conventions, significance, tables;
//! - [`learn`]: learners by name, boosted trees and their objectives, cross validation;
//! - [`model`]: trees, lines and nets that score documents, checked model files, pictures of trees;
//! - [`report`]: charts and pages of trainings, comparisons and data;
//! - [`experiment`]: a whole comparison from a file: planned, run, resumed, reported;
//! - [`search`]: collections of text, an index, first-stage retrieval, features, re-ranking.
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

/// Data sets, judgements and runs: formats in and out.
pub use rankwright_data as data;
/// Metrics, the one order, significance tests and tables.
pub use rankwright_eval as eval;
/// Experiments: a comparison of learners from a file, and one learner with several shrinkages.
pub use rankwright_experiment as experiment;
/// Learners: boosted trees for every objective, cross validation.
pub use rankwright_learn as learn;
/// Models: scoring, files, importance, drawings.
pub use rankwright_model as model;
/// Reports: charts, pages, explanations of rankings.
pub use rankwright_report as report;
/// Text: collections, an index, first-stage retrieval, features, re-ranking, classifiers.
pub use rankwright_search as search;

/// Specs such as `lambdamart(leaves=31)`, and the declaration of parameters.
pub use rankwright_spec as spec;

/// The README's program, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
