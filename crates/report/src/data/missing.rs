//! Facts to know before training: warnings, constant features, missing values.

use rankwright_data::FeatureSummary;

use super::DataReport;
use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping};
use crate::page::{PageBlock, Section};

/// Maximum number of features in the chart, and of names in a sentence.
const SHOWN: usize = 30;

/// The warnings of [`DatasetSummary`](rankwright_data::DatasetSummary), and constant features by
/// name.
pub(super) fn warnings(report: &DataReport) -> Section {
    let summary = &report.summary;
    let warnings = summary.warnings();
    let mut texts: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    let constant = summary.features.iter().filter(|f| f.is_constant(summary.rows));
    let constant: Vec<&str> = constant.map(|feature| feature.name.as_str()).collect();
    if !constant.is_empty() {
        texts.push(format!("Constant features, which cannot help to rank: {}.", listed(&constant)));
    }
    if texts.is_empty() {
        texts.push("No problems were found.".to_owned());
    }
    let blocks = texts.into_iter().map(PageBlock::Text).collect();
    Section { id: "warnings".to_owned(), title: "Warnings before training".to_owned(), blocks }
}

/// Names separated by commas; a long list is cut.
fn listed(names: &[&str]) -> String {
    match names.get(..SHOWN).filter(|_| names.len() > SHOWN) {
        Some(first) => format!("{} and {} more", first.join(", "), names.len() - SHOWN),
        None => names.join(", "),
    }
}

/// Features with missing values, the one with the most first.
pub(super) fn features(report: &DataReport) -> Vec<&FeatureSummary> {
    let mut found: Vec<&FeatureSummary> =
        report.summary.features.iter().filter(|f| f.missing > 0).collect();
    // A stable sort: features with equal counts keep the order of the columns.
    found.sort_by_key(|feature| std::cmp::Reverse(feature.missing));
    found
}

/// The section: a bar for each feature with missing values.
pub(super) fn section(report: &DataReport) -> Section {
    let features = features(report);
    let rows = report.summary.rows.max(1) as f64;
    let title = "Missing values".to_owned();
    let section = |blocks| Section { id: "missing".to_owned(), title, blocks };
    if features.is_empty() {
        let text = "No feature has a missing value. (Features that are absent from a sparse row count \
                    as 0, unless they were read as missing.)";
        return section(vec![PageBlock::Text(text.to_owned())]);
    }
    let shown = features.get(..SHOWN).unwrap_or(&features);
    let chart = Chart {
        id: "missing-chart".to_owned(),
        title: "Share of documents without a value".to_owned(),
        caption: format!(
            "Features with missing values: {} of {}. At most {SHOWN} are shown, the most missing \
             first.",
            features.len(),
            report.summary.features.len()
        ),
        x: Axis { label: "Feature".to_owned(), ..Axis::default() },
        y: Axis { label: "Share missing".to_owned(), range: Some((0.0, 1.0)), ..Axis::default() },
        body: Body::Bars(Bars {
            categories: shown.iter().map(|feature| feature.name.clone()).collect(),
            series: vec![BarSeries {
                name: "missing".to_owned(),
                values: shown.iter().map(|feature| feature.missing as f64 / rows).collect(),
                ..BarSeries::default()
            }],
            grouping: Grouping::Beside,
            horizontal: true,
        }),
    };
    section(vec![PageBlock::Chart(chart)])
}
