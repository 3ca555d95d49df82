//! Reports on data sets, trainings, comparisons of systems, click logs and explanations of
//! rankings, as one self-contained HTML file, as SVG files with their numbers as CSV and JSON, and
//! as text.
//!
//! Data flows down this list:
//!
//! - [`chart`]: plots as data, drawn as SVG or in the terminal, with their numbers as CSV and JSON;
//! - [`page`]: sections of text, charts, tables and drawings, written as HTML;
//! - [`lecture`]: pictures for lectures on learning to rank;
//! - a folder for each report, which computes its numbers and lays out a [`Page`].
//!
//! Without the feature `charts` there are only the numbers and texts of explanations. The feature
//! `training` adds reports on trainings; only these need the crate `rankwright-learn`.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]

#[cfg(feature = "charts")]
pub mod chart;
#[cfg(all(feature = "charts", feature = "clicks"))]
pub mod clicks;
#[cfg(feature = "charts")]
pub mod comparison;
#[cfg(feature = "charts")]
pub mod data;
mod error;
mod error_kind;
pub mod explanation;
#[cfg(feature = "charts")]
pub mod interleaving;
mod known;
#[cfg(feature = "charts")]
pub mod lecture;
#[cfg(feature = "charts")]
mod metric_axis;
#[cfg(feature = "charts")]
pub mod page;
mod serialise;
#[cfg(all(feature = "charts", feature = "training"))]
pub mod training;
#[cfg(feature = "charts")]
mod warning;

#[cfg(feature = "charts")]
pub use chart::Chart;
pub use error::ReportError;
pub use known::KnownNames;
#[cfg(feature = "charts")]
pub use page::{ChoiceControl, Page, PageBlock, Section};
#[cfg(feature = "charts")]
pub use warning::ReportWarning;
