//! The columns of labels that a learner trains on (`labels=relevance:1+clicks:0.2`), their weights,
//! and metrics over them.
//!
//! The value of a metric over several columns is the weighted mean of its values on each column, so
//! that it stays on the metric's scale. A kept metric (`goal=keep(...)`) is computed on the data's
//! own labels alone.

use std::fmt;

use rankwright_data::{Dataset, MAIN_LABEL};
use rankwright_eval::{Measure, ScoredDataset};
use rankwright_spec::{
    ParamKind, ParamValue, RangeDef, Spec, SpecError, TextValue, ValueError, params,
};

use crate::error::LearnError;
use crate::objective::label_column;

/// Columns of labels with their weights: `relevance:1+clicks:0.2`.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelWeights(Vec<(String, f64)>);

params! {
    /// The columns of labels that a learner trains on.
    pub struct LabelParams {
        labels: LabelsText = LabelsText::default(), ..,
            "Columns of labels with their weights, such as label:1+clicks:0.2; label is the data's own.";
    }
    /// Builder method for the columns of labels.
    pub trait LabelOptions: label_params;
}

impl LabelWeights {
    /// Reads columns and weights; a column without a weight has weight 1.
    ///
    /// ```
    /// use rankwright_learn::LabelWeights;
    ///
    /// let weights = LabelWeights::parse("label+clicks:0.2")?;
    /// assert_eq!(weights.columns().collect::<Vec<_>>(), [("label", 1.0), ("clicks", 0.2)]);
    /// assert_eq!(weights.to_string(), "label:1+clicks:0.2");
    /// assert!(LabelWeights::parse("label:-1").is_err());
    /// # Ok::<(), rankwright_spec::ValueError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let expected = || ValueError::Expected(EXPECTED.to_owned());
        let mut columns: Vec<(String, f64)> = Vec::new();
        for part in text.split('+') {
            let (name, weight) = part.rsplit_once(':').unwrap_or((part, "1"));
            let weight = weight.trim().parse().ok().filter(|w: &f64| w.is_finite() && *w > 0.0);
            let (name, weight) = (name.trim().to_owned(), weight.ok_or_else(expected)?);
            if name.is_empty() || columns.iter().any(|(other, _)| *other == name) {
                return Err(expected());
            }
            columns.push((name, weight));
        }
        Ok(Self(columns))
    }

    /// The columns that a learner was trained on, by its spec; `None` for the data's own labels
    /// alone, and for a text that is no spec.
    pub fn of_learner(spec: &str) -> Option<Self> {
        let spec = Spec::parse(spec).ok()?;
        Self::parse(spec.get("labels")?).ok().filter(|weights| !weights.is_default())
    }

    /// The columns and their weights.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, weight)| (name.as_str(), *weight))
    }

    /// Whether only the data's own labels count.
    pub(crate) fn is_default(&self) -> bool {
        matches!(self.0.as_slice(), [(name, _)] if name == MAIN_LABEL)
    }
}

/// The form of the parameter, for messages.
const EXPECTED: &str =
    "columns of labels, each once, with weights above 0, such as label:1+clicks:0.2";

impl fmt::Display for LabelWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut plus = "";
        for (name, weight) in &self.0 {
            write!(f, "{plus}{name}:{weight}")?;
            plus = "+";
        }
        Ok(())
    }
}

/// The parameter `labels`: columns of labels with their weights, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelsText(String);

impl Default for LabelsText {
    fn default() -> Self {
        Self(MAIN_LABEL.to_owned())
    }
}

impl LabelsText {
    /// The columns and their weights.
    ///
    /// ```
    /// use rankwright_learn::LabelsText;
    /// use rankwright_spec::TextValue;
    ///
    /// let weights = LabelsText::from_text("relevance:1+clicks:0.2").weights()?;
    /// assert_eq!(weights.columns().nth(1), Some(("clicks", 0.2)));
    /// # Ok::<(), rankwright_spec::ValueError>(())
    /// ```
    pub fn weights(&self) -> Result<LabelWeights, ValueError> {
        LabelWeights::parse(&self.0)
    }
}

impl ParamValue for LabelsText {
    fn kind() -> ParamKind {
        ParamKind::Text
    }

    fn read(text: &str, _: &RangeDef) -> Result<Self, ValueError> {
        let weights = LabelWeights::parse(text)?;
        Ok(if weights.is_default() { Self::default() } else { Self(weights.to_string()) })
    }

    fn write(&self) -> String {
        self.0.clone()
    }

    fn check(&self) -> Result<(), ValueError> {
        self.weights().map(|_| ())
    }
}

impl TextValue for LabelsText {
    fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl LabelParams {
    /// The weights of the columns; `None` if only the data's own labels count.
    pub(crate) fn weights(&self, learner: &str) -> Result<Option<LabelWeights>, SpecError> {
        let weights = self.labels.weights();
        let weights = weights.map_err(|e| e.at(learner, "labels", &self.labels.write()))?;
        Ok(Some(weights).filter(|weights| !weights.is_default()))
    }
}

/// The labels on which the metrics of a training are computed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MetricLabels {
    /// The columns with their weights; `None` for the data's own labels.
    pub(crate) weights: Option<LabelWeights>,
    /// Whether the first metric is that of `goal=keep(...)`, which is computed on the data's own
    /// labels.
    pub(crate) keeps_first: bool,
}

impl MetricLabels {
    /// The value of each metric on one scored data set; NaN if no query has a value on one of the
    /// columns.
    pub(crate) fn values(
        &self,
        data: &Dataset,
        scores: &[f64],
        measures: &[Measure],
    ) -> Result<Vec<f64>, LearnError> {
        let Some(weights) = &self.weights else { return values(data, scores, measures) };
        let (kept, mixed) = measures.split_at(usize::from(self.keeps_first).min(measures.len()));
        let mut all = match kept {
            [] => Vec::new(),
            kept => values(data, scores, kept)?,
        };
        if mixed.is_empty() {
            return Ok(all);
        }
        let total: f64 = weights.columns().map(|(_, weight)| weight).sum();
        let mut sums = vec![0.0; mixed.len()];
        for (name, weight) in weights.columns() {
            let scored = ScoredDataset::new(data, scores)?.labels(label_column(data, name)?)?;
            let found = scored.evaluate(mixed)?;
            let found = sums.iter_mut().zip(&found.results);
            found.for_each(|(sum, result)| *sum += weight / total * result.value);
        }
        all.extend(sums);
        Ok(all)
    }

    /// The end of the convention text of the metric with this number, from 0, such as
    /// ` labels=label:1+clicks:0.2`; empty if the metric is computed on the data's own labels.
    pub(crate) fn convention_suffix(&self, number: usize) -> String {
        match &self.weights {
            Some(weights) if number > 0 || !self.keeps_first => format!(" labels={weights}"),
            _ => String::new(),
        }
    }
}

/// The value of each metric on the data's own labels; NaN if no query has a value.
pub(crate) fn values(
    data: &Dataset,
    scores: &[f64],
    measures: &[Measure],
) -> Result<Vec<f64>, LearnError> {
    let evaluation = ScoredDataset::new(data, scores)?.evaluate(measures)?;
    Ok(evaluation.results.iter().map(|result| result.value).collect())
}
