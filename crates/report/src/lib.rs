//! Reports on data sets, trainings, comparisons of systems, click logs and explanations of
//! rankings, as one self-contained HTML file, as SVG files with their numbers as CSV and JSON, and
//! as text.
//!
//! Data flows down this list:
//!
//! - [`chart`]: plots as data, drawn as SVG or in the terminal, with their numbers as CSV and JSON;
//! - [`page`]: sections of text, charts, tables and drawings, written as HTML;
//! - [`lecture`]: pictures of lectures on learning to rank;
//! - a folder for each report, which computes its numbers and lays out a [`Page`].
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]

pub mod chart;
#[cfg(feature = "clicks")]
pub mod clicks;
pub mod comparison;
pub mod data;
mod error;
mod error_kind;
pub mod explanation;
pub mod interleaving;
mod known;
pub mod lecture;
mod metric_axis;
pub mod page;
mod serialise;
pub mod training;
mod warning;

pub use chart::Chart;
pub use error::ReportError;
pub use known::KnownNames;
pub use page::{ChoiceControl, Page, PageBlock, Section};
pub use warning::ReportWarning;
