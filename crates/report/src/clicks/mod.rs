//! Click report: a click log, its position bias and the fit of click models, on one page.
//!
//! The report draws numbers that it is given: the summary of a log, estimates of its position bias,
//! and measurements of fitted click models. A part without numbers is left out.

mod bias;
mod fits;
mod queries;
mod rates;
#[cfg(test)]
mod tests;

use rankwright_clicks::LogSummary;
use rankwright_clicks::bias::PositionBias;
use rankwright_clicks::model::ClickModelEvaluation;
use rankwright_spec::words::counted;
use serde::Serialize;

use crate::page::Page;

/// A report on a click log.
///
/// ```
/// use rankwright_clicks::log::LogCounts;
/// use rankwright_clicks::{Impression, LogSummaryBuilder};
/// use rankwright_report::clicks::ClickReport;
///
/// let mut log = LogSummaryBuilder::default();
/// log.add(&Impression::new("cat", ["a", "b"]).clicked([2]));
/// let report = ClickReport::new("Made up", log.finish(LogCounts::default()));
/// assert_eq!(serde_json::to_value(&report)?["queries"], 1);
/// assert_eq!(report.page().sections[0].title, "Click rates");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize)]
pub struct ClickReport {
    /// Title of the report.
    title: String,
    #[serde(skip)]
    facts: Vec<(String, String)>,
    /// Counts, click rates by rank, queries, and ranks that documents link.
    #[serde(flatten)]
    summary: LogSummary,
    /// The position bias by each estimator.
    bias: Vec<PositionBias>,
    /// The fit of each click model.
    click_models: Vec<ClickModelFit>,
}

/// The fit of a click model to a log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClickModelFit {
    /// The spec of the model.
    pub model: String,
    /// The fit to the log that it was fitted to.
    pub fitted: ClickModelEvaluation,
    /// The fit to another log.
    pub test: Option<ClickModelEvaluation>,
}

impl ClickModelFit {
    /// The fit that counts: that to the other log, if there is one.
    fn main(&self) -> &ClickModelEvaluation {
        self.test.as_ref().unwrap_or(&self.fitted)
    }
}

impl ClickReport {
    /// A report on the log of this summary, without bias and click models.
    pub fn new(title: impl Into<String>, summary: LogSummary) -> Self {
        let title = title.into();
        Self { title, facts: Vec::new(), summary, bias: Vec::new(), click_models: Vec::new() }
    }

    /// Sets facts about the origin of the report.
    #[must_use]
    pub fn with_facts(mut self, facts: Vec<(String, String)>) -> Self {
        self.facts = facts;
        self
    }

    /// Sets estimates of the position bias.
    #[must_use]
    pub fn with_bias(mut self, bias: Vec<PositionBias>) -> Self {
        self.bias = bias;
        self
    }

    /// Sets the fits of click models.
    #[must_use]
    pub fn with_click_models(mut self, fits: Vec<ClickModelFit>) -> Self {
        self.click_models = fits;
        self
    }

    /// The report as a page.
    pub fn page(&self) -> Page {
        let sections = [
            Some(rates::section(&self.summary)),
            bias::section(&self.bias),
            fits::section(&self.click_models),
            Some(queries::section(&self.summary)),
        ];
        Page {
            title: self.title.clone(),
            summary: self.sentence(),
            facts: self.facts.clone(),
            conventions: Vec::new(),
            sections: sections.into_iter().flatten().collect(),
        }
    }

    /// The summary of the page.
    fn sentence(&self) -> String {
        let (summary, counts) = (&self.summary, &self.summary.counts);
        let mut text = format!(
            "{} of {} with {}.",
            counted(counts.impressions as usize, "impression"),
            counted(summary.queries, "query"),
            counted(counts.clicks as usize, "click")
        );
        if summary.linked_ranks.len() > 1 {
            text +=
                " Documents do not link all ranks, so that the bias of some cannot be compared.";
        }
        if let Some(best) = fits::best(&self.click_models) {
            text += &format!(" Of the click models, {} has the highest likelihood.", best.model);
        }
        text
    }
}

/// A line of a chart over ranks from 1 on; a rank without a value is a gap. The band is left out if
/// a rank with a value has no interval.
fn rank_series(
    name: &str,
    values: &[Option<f64>],
    bands: &[Option<[f64; 2]>],
) -> crate::chart::Series {
    let points =
        (1..).zip(values).map(|(rank, value)| (f64::from(rank), value.unwrap_or(f64::NAN)));
    let points: Vec<(f64, f64)> = points.collect();
    let is_complete = bands.len() == values.len()
        && values.iter().zip(bands).all(|(value, band)| value.is_none() || band.is_some());
    let band = |(value, band): (&Option<f64>, &Option<[f64; 2]>)| match (value, band) {
        (Some(_), Some([low, high])) => (*low, *high),
        _ => (f64::NAN, f64::NAN),
    };
    crate::chart::Series {
        name: name.to_owned(),
        points,
        band: match is_complete {
            true => values.iter().zip(bands).map(band).collect(),
            false => Vec::new(),
        },
        ..crate::chart::Series::default()
    }
}
