//! The distribution of a feature's values, by label.
//!
//! Each label's documents are counted in the same bins and shown as shares, so that the lines of
//! labels of different frequency can be compared. A feature of up to twelve different values has a
//! bin for each value; others have twenty bins of equal width between the 0.5% and the 99.5%
//! quantile of the sampled rows, and values beyond are counted in the outer bins. Where the two
//! quantiles are equal, the bins go from the least to the greatest finite value. Missing values are
//! in no bin. A feature of categories has a bin for each of its twelve most frequent categories, with
//! their texts.
//!
//! More than six labels are shown as two groups: below 1, and 1 or more. Cost O(rows) per feature.
//! Edge cases: a feature that is always missing has no bins.

use std::sync::Arc;

use rankwright_data::{Dataset, DatasetSummary};
use rankwright_spec::visible;

use super::{DataReport, column, signed};
use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping, Series, SeriesColour};
use crate::page::{ChoiceControl, PageBlock, Section};

/// Maximum number of different values for which each value has its bin.
const VALUES: usize = 12;
/// Number of bins of a feature with more different values.
const BINS: usize = 20;
/// Maximum number of labels for which each label has its line.
const LABELS: usize = 6;

/// Bins of a feature and the share of each label's documents in them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spread {
    pub(super) column: usize,
    pub(super) bins: Bins,
    /// The texts of categories, for a feature of categories; a value is the place of its text.
    pub(super) categories: Option<Arc<[String]>>,
    /// Name of each label and its share in each bin, among the label's documents that have a value.
    pub(super) shares: Vec<(String, Vec<f64>)>,
}

/// The bins that values are counted in.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Bins {
    /// One bin for each of these values, ascending.
    Values(Vec<f32>),
    /// [`BINS`] bins of equal width between these two values; the outer bins also have all values
    /// beyond.
    Range(f64, f64),
}

impl Bins {
    fn len(&self) -> usize {
        match self {
            Bins::Values(values) => values.len(),
            Bins::Range(..) => BINS,
        }
    }

    /// The index of the bin of a value; none for a missing value.
    fn bin_of(&self, value: f32) -> Option<usize> {
        match self {
            Bins::Values(values) => values.iter().position(|v| *v == value),
            Bins::Range(low, high) => {
                let position = (f64::from(value) - low) / (high - low) * BINS as f64;
                // Casts from floats saturate, which puts values outside the range into the outer
                // bins.
                (!position.is_nan()).then_some((position as usize).min(BINS - 1))
            }
        }
    }

    /// The middle of each bin.
    pub(super) fn centres(&self) -> Vec<f64> {
        match self {
            Bins::Values(values) => values.iter().map(|v| f64::from(*v)).collect(),
            Bins::Range(low, high) => {
                let width = (high - low) / BINS as f64;
                (0..BINS).map(|bin| low + width * (bin as f64 + 0.5)).collect()
            }
        }
    }
}

impl Spread {
    /// Counts the values of the feature in column `c`; the bins are derived from the rows in
    /// `sample`.
    pub(super) fn of(
        data: &Dataset,
        summary: &DatasetSummary,
        c: usize,
        sample: &[usize],
    ) -> Spread {
        let categories = data.categories(c).cloned();
        let bins = match &categories {
            // Categories are numbered from the most frequent one on.
            Some(texts) => Bins::Values((0..texts.len().min(VALUES)).map(|n| n as f32).collect()),
            None => bins(data, c, sample),
        };
        let groups = groups(summary);
        let mut counts = vec![vec![0_usize; bins.len()]; groups.len()];
        // The documents of each label that have a value, in a bin or not.
        let mut totals = vec![0_usize; groups.len()];
        for (value, &label) in column(data, c).zip(data.labels()) {
            let group = groups.iter().position(|(_, low, high)| *low <= label && label <= *high);
            if let Some(total) = group.and_then(|g| totals.get_mut(g)).filter(|_| !value.is_nan()) {
                *total += 1;
            }
            let cell = group.and_then(|g| counts.get_mut(g)?.get_mut(bins.bin_of(value)?));
            if let Some(cell) = cell {
                *cell += 1;
            }
        }
        let share = |(counts, total): (Vec<usize>, usize)| {
            let total = total.max(1) as f64;
            counts.into_iter().map(|count| count as f64 / total).collect()
        };
        let names = groups.into_iter().map(|(name, _, _)| name);
        let shares = names.zip(counts.into_iter().zip(totals).map(share)).collect();
        Spread { column: c, bins, categories, shares }
    }
}

impl Spread {
    /// The text of a category, or a number.
    pub(super) fn value_text(&self, value: f32) -> String {
        let text = self.categories.as_ref().and_then(|texts| texts.get(value as usize));
        text.map_or_else(|| value.to_string(), |text| visible::one_line(text).into_owned())
    }
}

/// Groups of labels: name, lowest label, highest label.
fn groups(summary: &DatasetSummary) -> Vec<(String, f64, f64)> {
    if summary.labels.len() <= LABELS {
        let group = |(label, _): &(f64, usize)| (format!("label {label}"), *label, *label);
        return summary.labels.iter().map(group).collect();
    }
    vec![
        ("label below 1".to_owned(), f64::NEG_INFINITY, 1.0_f64.next_down()),
        ("label 1 or more".to_owned(), 1.0, f64::INFINITY),
    ]
}

/// The bins of the feature in column `c`.
fn bins(data: &Dataset, c: usize, sample: &[usize]) -> Bins {
    let mut distinct: Vec<f32> = Vec::new();
    for value in column(data, c).filter(|value| !value.is_nan()) {
        if !distinct.contains(&value) {
            distinct.push(value);
            if distinct.len() > VALUES {
                break;
            }
        }
    }
    distinct.sort_by(f32::total_cmp);
    if distinct.len() <= VALUES {
        return Bins::Values(distinct);
    }
    let mut values: Vec<f32> = sample.iter().map(|&row| data.matrix().get(row, c)).collect();
    values.retain(|value| value.is_finite());
    values.sort_by(f32::total_cmp);
    let quantile = |share: f64| {
        let position = (share * values.len().saturating_sub(1) as f64).round() as usize;
        values.get(position).copied().map_or(f64::NAN, f64::from)
    };
    let (low, high) = (quantile(0.005), quantile(0.995));
    if low < high {
        return Bins::Range(low, high);
    }
    let finite = || column(data, c).filter(|value| value.is_finite());
    let least = finite().fold(f32::INFINITY, f32::min);
    let greatest = finite().fold(f32::NEG_INFINITY, f32::max);
    Bins::Range(f64::from(least), f64::from(greatest))
}

/// The section: a choice of features with a chart each.
pub(super) fn section(report: &DataReport) -> Section {
    let group = |(index, spread): (usize, &Spread)| {
        let tau = report.relations.get(spread.column).map(|r| r.tau);
        let name = format!("{} (tau with the label: {})", report.name(spread.column), signed(tau));
        (name, vec![PageBlock::Chart(chart(report, spread, index + 1))])
    };
    let choice = PageBlock::Choice {
        id: "spread-feature".to_owned(),
        label: "Feature".to_owned(),
        groups: report.spreads.iter().enumerate().map(group).collect(),
        control: ChoiceControl::List,
    };
    let title = "Distribution of values by label".to_owned();
    Section { id: "spread".to_owned(), title, blocks: vec![choice] }
}

/// The chart of a feature: bars for single values, lines for ranges. `number` makes its id unique.
fn chart(report: &DataReport, spread: &Spread, number: usize) -> Chart {
    let name = report.name(spread.column);
    let of = spread.shares.len();
    let colour = |step: usize| SeriesColour::Ordinal { step, of };
    let shares = spread.shares.iter().enumerate();
    let body = match &spread.bins {
        Bins::Values(values) => Body::Bars(Bars {
            categories: values.iter().map(|value| spread.value_text(*value)).collect(),
            series: shares
                .map(|(step, (name, shares))| bar_series(name, shares, colour(step)))
                .collect(),
            grouping: Grouping::Beside,
            horizontal: false,
        }),
        Bins::Range(..) => {
            let centres = spread.bins.centres();
            let line = |(step, (name, shares)): (usize, &(String, Vec<f64>))| Series {
                name: name.clone(),
                points: centres.iter().copied().zip(shares.iter().copied()).collect(),
                colour: colour(step),
                ..Series::default()
            };
            Body::Lines(shares.map(line).collect())
        }
    };
    let bins_note = match (&spread.bins, &spread.categories) {
        (Bins::Values(_), Some(texts)) if texts.len() > VALUES => {
            format!(" The {VALUES} most frequent of {} categories are shown.", texts.len())
        }
        (Bins::Values(_), _) => String::new(),
        (Bins::Range(..), _) => {
            " There are twenty bins of equal width; the first and the last also count all values \
             beyond them."
                .to_owned()
        }
    };
    Chart {
        id: format!("spread-{number}"),
        title: format!("Values of feature {name} by label"),
        caption: format!(
            "The share of each label's documents by value: where the distributions differ, the \
             feature helps to distinguish the labels.{bins_note} Missing values are left out."
        ),
        x: Axis { label: format!("Feature {name}"), ..Axis::default() },
        y: Axis { label: "Share of the label's documents".to_owned(), ..Axis::default() },
        body,
    }
}

fn bar_series(name: &str, shares: &[f64], colour: SeriesColour) -> BarSeries {
    BarSeries { name: name.to_owned(), values: shares.to_vec(), colour, ..BarSeries::default() }
}
