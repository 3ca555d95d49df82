//! Features of the document alone: lengths, numbers, dates, addresses, links; and category matches.

use std::sync::Arc;

use crate::document::Value;
use crate::error::SearchError;
use crate::features::Feature;
use crate::features::evidence::{Evidence, Needs};
use crate::index::{Index, Labels};
use crate::terms::Terms;

/// A number of each document, known beforehand.
pub(super) struct Column(pub(super) Arc<Vec<f64>>);

impl Feature for Column {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn values(&self, evidence: &Evidence<'_>, out: &mut [f64]) -> Result<(), SearchError> {
        for (slot, &doc) in out.iter_mut().zip(evidence.docs) {
            *slot = self.0[doc as usize];
        }
        Ok(())
    }
}

/// ln(1 + |x|) with the sign of x.
pub(super) fn signed_log(value: f64) -> f64 {
    value.abs().ln_1p().copysign(value)
}

/// exp(-ln 2 * age / half-life): 1 today, half of it a half-life ago. Dates to come count as today;
/// a missing date stays missing.
pub(super) fn recency(seconds: f64, now: f64, half_life_days: f64) -> f64 {
    if seconds.is_nan() {
        return f64::NAN;
    }
    let days = ((now - seconds) / 86_400.0).max(0.0);
    (-std::f64::consts::LN_2 * days / half_life_days).exp()
}

/// Whether a document's category is the query's, or is named in its words.
///
/// A query with a field of the category's name matches by that value; otherwise a category matches when
/// all of its terms are in the query. 1 or 0.
pub(super) struct CategoryMatch {
    field: String,
    labels: Arc<Labels>,
    /// The terms of each label.
    terms: Vec<Vec<String>>,
}

impl CategoryMatch {
    pub(super) fn new(index: &Index, field: &str, labels: Arc<Labels>) -> Self {
        let of = |label: usize| Terms::new(labels.name(label as u32), index.analysis());
        let terms = (0..labels.len()).map(of).map(|t| t.distinct().map(str::to_owned).collect());
        Self { field: field.to_owned(), terms: terms.collect(), labels }
    }

    fn matches(&self, evidence: &Evidence<'_>) -> Vec<bool> {
        let given = evidence.query.fields.iter().find(|(name, _)| *name == self.field);
        let wanted: Option<Vec<String>> = given.map(|(_, value)| match value {
            Value::Text(text) => vec![text.clone()],
            Value::Texts(texts) => texts.clone(),
            Value::Number(number) => vec![number.to_string()],
        });
        let in_query = |term: &String| evidence.terms.distinct().any(|known| known == term);
        let labels = self.terms.iter().enumerate().map(|(label, terms)| match &wanted {
            Some(wanted) => wanted.iter().any(|name| name == self.labels.name(label as u32)),
            None => !terms.is_empty() && terms.iter().all(in_query),
        });
        labels.collect()
    }
}

impl Feature for CategoryMatch {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn values(&self, evidence: &Evidence<'_>, out: &mut [f64]) -> Result<(), SearchError> {
        let matches = self.matches(evidence);
        for (slot, &doc) in out.iter_mut().zip(evidence.docs) {
            let labels = self.labels.of(doc);
            *slot = f64::from(labels.iter().any(|&label| matches[label as usize]));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recency_halves_with_each_half_life() {
        let day = 86_400.0;
        assert_eq!(recency(0.0, 0.0, 365.0), 1.0);
        assert!((recency(0.0, 365.0 * day, 365.0) - 0.5).abs() < 1e-12);
        assert_eq!(recency(9.0 * day, 0.0, 365.0), 1.0);
        assert!(recency(f64::NAN, 0.0, 365.0).is_nan());
    }

    #[test]
    fn logarithms_keep_the_sign() {
        assert_eq!(signed_log(0.0), 0.0);
        assert_eq!(signed_log(-1.0), -signed_log(1.0));
    }
}
