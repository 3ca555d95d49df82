//! Relevance labels from clicks, for training without judgements.
//!
//! ```text
//! coec   clicks / sum over the impressions of the click rate of their rank
//! sdbn   attraction x satisfaction of the simplified DBN: the probability that the document is
//!        clicked and satisfies, once examined; 0 for a document without a click
//! ips    mean over the impressions of click x w(rank),  w(rank) = 1 / examination(rank)
//! dr     m + mean over the impressions of (click - examination(rank) m) x w(rank)
//! ```
//!
//! COEC (clicks over expected clicks, Zhang and Jones 2007) is 1 for a document that is clicked as
//! often as others at its ranks. `ips` (Joachims, Swaminathan and Schnabel 2017) estimates the
//! probability of a click on the examined document, and needs the examination of each rank from
//! [`position_bias`](crate::bias::position_bias). Its weights w are limited by `clip` only if that
//! is given. `dr` (doubly robust, Oosterhuis 2023) corrects the relevance m that a regression on
//! features predicts by what clicks say beyond it: it is right if either the examination or the
//! regression is. Without a clip it equals `ips` for documents that were shown; with one, m takes
//! the place of what was cut off, and ranks of unknown examination have w = 0. With
//! `unshown=keep` (`labelled_rows.rs`), documents that were never shown have the label m.

use rankwright_spec::{check_params, choices, params};
use serde::Serialize;

use crate::error::ClicksError;
use crate::model::{ClickModel, NamedParameter};
use crate::pages::Pages;
use crate::rank_table::{RankCell, RankTable};

pub use crate::labelled_rows::{LabelledRows, LabelledRowsForm, UnshownRows};

choices! {
    /// A source of labels.
    pub enum LabelSource {
        /// Clicks over expected clicks.
        Coec = "coec",
        /// The simplified DBN.
        Sdbn = "sdbn",
        /// Inverse propensity scores.
        Ips = "ips",
        /// Inverse propensity scores that correct a regression on features.
        Dr = "dr",
    }
}

params! {
    /// Options of labels from clicks.
    pub struct ClickLabelOptions {
        clip: Option<f64> = None, 1.0.., "Largest weight of a click (ips, dr); no limit if not given.";
        grades: Option<u32> = None, 2..=1000,
            "Cut labels into this many grades: 0 for labels of 0 or less, the others in groups of equal size.";
    }
}

/// The label of a pair of query and document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClickLabel {
    /// The query.
    pub query: String,
    /// The document.
    pub document: String,
    /// The label.
    pub value: f64,
    /// Number of impressions of the document for the query.
    pub shown: u64,
    /// Number of impressions in which it was clicked.
    pub clicked: u64,
    /// The rank, from 1, at which it was shown most often; the first of them if there are several.
    pub rank: u32,
}

/// A source of labels with its inputs.
///
/// ```
/// use rankwright_clicks::labels::{ClickLabels, LabelSource};
/// use rankwright_clicks::{Impression, Pages};
///
/// let pages = Pages::collect(&[Impression::new("q", ["a", "b"]).clicked([2])]);
/// let bias = [Some(1.0), Some(0.5)];
/// let labels = ClickLabels::new(LabelSource::Ips).examination(&bias).of_pages(&pages)?;
/// assert_eq!((labels[1].value, labels[1].rank), (2.0, 2));
/// # Ok::<(), rankwright_clicks::ClicksError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ClickLabels<'a> {
    source: LabelSource,
    examination: &'a [Option<f64>],
    relevance: &'a [f64],
    clip: Option<f64>,
}

impl<'a> ClickLabels<'a> {
    /// Labels of this source.
    pub fn new(source: LabelSource) -> Self {
        Self { source, examination: &[], relevance: &[], clip: None }
    }

    /// Sets the examination of each rank relative to rank 1, which `ips` and `dr` need.
    #[must_use]
    pub fn examination(mut self, examination: &'a [Option<f64>]) -> Self {
        self.examination = examination;
        self
    }

    /// Sets the relevance of each pair, in the order of the log's pairs, that a regression
    /// predicts; `dr` needs it.
    #[must_use]
    pub fn relevance(mut self, relevance: &'a [f64]) -> Self {
        self.relevance = relevance;
        self
    }

    /// Limits the weights 1 / examination.
    #[must_use]
    pub fn clip(mut self, clip: Option<f64>) -> Self {
        self.clip = clip;
        self
    }

    /// The labels of all pairs of a log, in the order of its pairs.
    pub fn of_pages(&self, pages: &Pages) -> Result<Vec<ClickLabel>, ClicksError> {
        check_params(&ClickLabelOptions { clip: self.clip, grades: None }, "labels")?;
        let table = RankTable::new(pages);
        let values: Vec<f64> = match self.source {
            LabelSource::Coec => coec(&table),
            LabelSource::Sdbn => sdbn(pages, &table)?,
            LabelSource::Ips => self.ips(&table)?,
            LabelSource::Dr => self.dr(&table)?,
        };
        let labels = pages.named_pairs().zip(values).zip(table.by_pair());
        Ok(labels
            .map(|(((query, document), value), cells)| label(query, document, value, cells))
            .collect())
    }

    /// The examination of a rank, from 0, and the weight of a click there; `None` if the
    /// examination is not known, or 0.
    fn weight(&self, rank: u32) -> Option<(f64, f64)> {
        let known = self.examination.get(rank as usize).copied().flatten();
        let examination = known.filter(|value| *value > 0.0)?;
        Some((examination, (1.0 / examination).min(self.clip.unwrap_or(f64::INFINITY))))
    }

    fn ips(&self, table: &RankTable) -> Result<Vec<f64>, ClicksError> {
        let label = |cells: &[RankCell]| {
            let mut sum = 0.0;
            // Without a click, the label is 0 whatever the weight of the rank.
            for cell in cells.iter().filter(|cell| cell.clicked > 0.0) {
                let rank = cell.rank as usize + 1;
                let (_, weight) =
                    self.weight(cell.rank).ok_or(ClicksError::NoExamination { rank })?;
                sum += cell.clicked * weight;
            }
            Ok(sum / shown(cells))
        };
        table.by_pair().map(label).collect()
    }

    fn dr(&self, table: &RankTable) -> Result<Vec<f64>, ClicksError> {
        let label = |cells: &[RankCell]| {
            let predicted = cells.first().and_then(|cell| self.relevance.get(cell.pair as usize));
            let predicted = *predicted.ok_or(ClicksError::NoFeatures)?;
            let correction: f64 = cells
                .iter()
                .filter_map(|cell| Some((cell, self.weight(cell.rank)?)))
                .map(|(cell, (examination, weight))| {
                    weight * (cell.clicked - cell.shown * examination * predicted)
                })
                .sum();
            Ok(predicted + correction / shown(cells))
        };
        table.by_pair().map(label).collect()
    }
}

/// Number of impressions of a pair.
fn shown(cells: &[RankCell]) -> f64 {
    cells.iter().map(|cell| cell.shown).sum()
}

fn label(query: &str, document: &str, value: f64, cells: &[RankCell]) -> ClickLabel {
    // `max_by` takes the last of equal ones, so the ranks are visited from the last one up.
    let most = cells.iter().rev().max_by(|one, other| one.shown.total_cmp(&other.shown));
    ClickLabel {
        query: query.to_owned(),
        document: document.to_owned(),
        value,
        shown: shown(cells) as u64,
        clicked: cells.iter().map(|cell| cell.clicked).sum::<f64>() as u64,
        rank: most.map_or(1, |cell| cell.rank + 1),
    }
}

fn coec(table: &RankTable) -> Vec<f64> {
    let mut totals = vec![(0.0, 0.0); table.ranks];
    for cell in &table.cells {
        let (shown, clicks) = &mut totals[cell.rank as usize];
        *shown += cell.shown;
        *clicks += cell.clicked;
    }
    let label = |cells: &[RankCell]| {
        let expected: f64 = cells
            .iter()
            .map(|cell| {
                let (shown, clicks) = totals[cell.rank as usize];
                cell.shown * clicks / shown
            })
            .sum();
        let clicks: f64 = cells.iter().map(|cell| cell.clicked).sum();
        // Without expected clicks, no document was ever clicked at these ranks.
        if expected > 0.0 { clicks / expected } else { 0.0 }
    };
    table.by_pair().map(label).collect()
}

/// Labels by the simplified DBN. Its prior gives a document without a click an attraction above 0,
/// the more so the less often it was shown; such a document has the label 0 here.
fn sdbn(pages: &Pages, table: &RankTable) -> Result<Vec<f64>, ClicksError> {
    let parameters = ClickModel::parse("sdbn")?.fit(pages).parameters();
    let values = |name: &str| {
        let found = parameters.iter().find(|parameter: &&NamedParameter| parameter.name == name);
        let invariant = "the simplified DBN has the attraction and satisfaction of every pair";
        let values = found.map(|parameter| parameter.values.as_slice());
        let of_pairs = values.filter(|values| values.len() == table.by_pair().count());
        of_pairs.ok_or(ClicksError::Internal { invariant })
    };
    let both = values("attraction")?.iter().zip(values("satisfaction")?);
    let label = |((attraction, satisfaction), cells): ((&f64, &f64), &[RankCell])| {
        let was_clicked = cells.iter().any(|cell| cell.clicked > 0.0);
        if was_clicked { attraction * satisfaction } else { 0.0 }
    };
    Ok(both.zip(table.by_pair()).map(label).collect())
}

/// Cuts labels into grades from 0 to `grades` - 1: labels of 0 or less have grade 0, and the others
/// are cut into groups of equal size by their order. Equal labels have one grade, that of the first
/// of them in the order.
///
/// ```
/// use rankwright_clicks::labels::grades;
/// assert_eq!(grades(&[0.0, 0.1, 0.9, 0.5, -0.2, 0.4], 3), [0.0, 1.0, 2.0, 2.0, 0.0, 1.0]);
/// ```
pub fn grades(labels: &[f64], grades: u32) -> Vec<f64> {
    let mut positive: Vec<f64> = labels.iter().copied().filter(|label| *label > 0.0).collect();
    positive.sort_by(f64::total_cmp);
    let groups = f64::from(grades.saturating_sub(1));
    let grade = |label: &f64| {
        if *label <= 0.0 || groups == 0.0 {
            return 0.0;
        }
        let below = positive.partition_point(|other| other < label);
        (below as f64 / positive.len() as f64 * groups).floor() + 1.0
    };
    labels.iter().map(grade).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impression::Impression;

    fn values(labels: &[ClickLabel]) -> Vec<(&str, f64)> {
        labels.iter().map(|label| (label.document.as_str(), label.value)).collect()
    }

    /// Rank 1 has 3 clicks of 4, rank 2 has 1 of 4.
    fn pages() -> Pages {
        Pages::collect(&[
            Impression::new("q", ["a", "b"]).clicked([1]),
            Impression::new("q", ["a", "b"]).clicked([1, 2]),
            Impression::new("q", ["b", "a"]).clicked([1]),
            Impression::new("q", ["b", "a"]),
        ])
    }

    #[test]
    fn labels_are_those_worked_out_by_hand() {
        let coec = ClickLabels::new(LabelSource::Coec).of_pages(&pages()).unwrap();
        // Expected clicks of either document: 2 x 3/4 + 2 x 1/4 = 2.
        assert_eq!(values(&coec), [("a", 1.0), ("b", 1.0)]);
        assert_eq!((coec[0].shown, coec[0].clicked, coec[0].rank), (4, 2, 1));
        let bias = [Some(1.0), Some(0.25)];
        let ips = ClickLabels::new(LabelSource::Ips).examination(&bias);
        // a: 2 clicks at rank 1; b: one at rank 1 and one at rank 2, which counts 4.
        assert_eq!(values(&ips.of_pages(&pages()).unwrap()), [("a", 0.5), ("b", 1.25)]);
        let clipped = ips.clip(Some(2.0)).of_pages(&pages()).unwrap();
        assert_eq!(values(&clipped), [("a", 0.5), ("b", 0.75)]);
        for wrong in [0.5, f64::NAN, f64::INFINITY] {
            let error = ips.clip(Some(wrong)).of_pages(&pages()).unwrap_err();
            assert_eq!(error.kind(), "bad-value", "{error}");
        }
        let unknown = [Some(1.0), None];
        let error = ips.examination(&unknown).of_pages(&pages()).unwrap_err();
        assert!(error.to_string().contains("rank 2"), "{error}");
        // A rank without a click needs no examination.
        let top = Pages::collect(&[Impression::new("q", ["a", "b"]).clicked([1])]);
        let top = ips.examination(&unknown).of_pages(&top).unwrap();
        assert_eq!(values(&top), [("a", 1.0), ("b", 0.0)]);
        let sdbn = ClickLabels::new(LabelSource::Sdbn).of_pages(&pages()).unwrap();
        assert!(sdbn.iter().all(|label| (0.0..1.0).contains(&label.value)));
    }

    /// `c` was shown once, `b` often, both without a click: neither is better than the other.
    #[test]
    fn documents_without_a_click_have_the_sdbn_label_and_the_grade_0() {
        let mut log = vec![Impression::new("q", ["a", "b"]).clicked([1]); 30];
        log.push(Impression::new("q", ["c", "a"]).clicked([2]));
        let found = ClickLabels::new(LabelSource::Sdbn).of_pages(&Pages::collect(&log)).unwrap();
        let values: Vec<f64> = found.iter().map(|label| label.value).collect();
        assert!(values[0] > 0.5, "{values:?}");
        assert_eq!(values[1..], [0.0, 0.0]);
        assert_eq!(grades(&values, 3), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn a_doubly_robust_label_puts_the_regression_where_weights_are_cut_off() {
        let bias = [Some(1.0), Some(0.25)];
        let dr = ClickLabels::new(LabelSource::Dr).examination(&bias).relevance(&[0.4, 0.8]);
        assert_eq!(values(&dr.of_pages(&pages()).unwrap()), [("a", 0.5), ("b", 1.25)]);
        // b: .8 + ((1 - 2 x .8) x 1 + (1 - 2 x .25 x .8) x 2) / 4 = .8 + (-.6 + 1.2) / 4.
        let clipped = values(&dr.clip(Some(2.0)).of_pages(&pages()).unwrap())[1].1;
        assert!((clipped - 0.95).abs() < 1e-12, "{clipped}");
        // Rank 2 says nothing: .8 + (1 - 2 x .8) / 4.
        let unknown = [Some(1.0)];
        let first_only = values(&dr.examination(&unknown).of_pages(&pages()).unwrap())[1].1;
        assert!((first_only - 0.65).abs() < 1e-12, "{first_only}");
        let missing = ClickLabels::new(LabelSource::Dr).of_pages(&pages()).unwrap_err();
        assert!(matches!(missing, ClicksError::NoFeatures), "{missing}");
    }

    #[test]
    fn grades_of_equal_labels_are_equal_and_few_labels_give_few_grades() {
        assert_eq!(grades(&[0.3, 0.3, 0.3, 0.0], 5), [1.0, 1.0, 1.0, 0.0]);
        assert_eq!(grades(&[0.1, 0.2, 0.3, 0.4], 5), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(grades(&[0.1, 0.2], 1), [0.0, 0.0]);
        assert_eq!(grades(&[0.1, 0.0], 2), [1.0, 0.0]);
        assert!(grades(&[], 3).is_empty());
    }
}
