//! Features of the frequencies of the query's terms in a text field.
//!
//! A document without a match has 0.

use rankwright_spec::{Spec, params};

use super::def::{Build, FeatureDef};
use super::fields::{TextFieldParams, text_field};
use super::statistics::{CandidateStatistics, Needs, TextFieldStatistics};
use super::{Feature, TermSummary};
use crate::error::SearchError;
use crate::index::{Index, TextField};
use crate::params::read_params;
use crate::retrieve::idf;
use crate::schema::FieldKind;

params! {
    /// Parameters of a feature that summarises one value per term.
    pub struct SummaryParams {
        field: String = "all".to_owned(), .., "Text field; all: every text field as one.";
        stat: TermSummary = TermSummary::Sum, .., "Summary over the terms.";
    }
}

/// All values of [`TermSummary`], for `stat=*`.
const STATS: &[&str] = &["sum", "min", "max", "mean", "variance"];

/// A definition of a feature with [`SummaryParams`].
const fn summarised(build: Build) -> FeatureDef {
    FeatureDef {
        field: Some(FieldKind::Text),
        star_values: Some(("stat", STATS)),
        ..FeatureDef::of::<SummaryParams>(build)
    }
}

/// A definition of a feature of a text field without further parameters.
pub(super) const fn of_text(build: Build) -> FeatureDef {
    FeatureDef { field: Some(FieldKind::Text), ..FeatureDef::of::<TextFieldParams>(build) }
}

pub(super) static TF: FeatureDef = FeatureDef {
    name: "tf",
    help: "Frequencies of the query's terms.",
    example: "tf(field=title, stat=max)",
    ..summarised(|index, spec| summary(index, spec, |tf, _, _| tf, Combine::Summary))
};

pub(super) static IDF: FeatureDef = FeatureDef {
    name: "idf",
    help: "Idf of the matched terms, idf = ln((N+1)/(df+0.5)).",
    example: "idf(field=title)",
    ..summarised(|index, spec| summary(index, spec, |_, _, term| term.idf, Combine::MatchedSummary))
};

pub(super) static TF_IDF: FeatureDef = FeatureDef {
    name: "tf-idf",
    help: "Frequency times idf of the query's terms.",
    example: "tf-idf(field=title, stat=mean)",
    ..summarised(|index, spec| summary(index, spec, |tf, _, term| tf * term.idf, Combine::Summary))
};

pub(super) static MATCHED: FeatureDef = FeatureDef {
    name: "matched",
    help: "Number of different terms of the query that occur.",
    example: "matched(field=title)",
    ..of_text(|index, spec| sum(index, spec, |_, _, _| 1.0))
};

pub(super) static MATCHED_RATIO: FeatureDef = FeatureDef {
    name: "matched-ratio",
    help: "Share of the query's different terms that occur.",
    example: "matched-ratio(field=title)",
    ..of_text(|index, spec| {
        let field = text_field(index, spec)?;
        Ok(Box::new(FrequencyFeature { field, value: |_, _, _| 1.0, combine: Combine::Share }))
    })
};

/// A feature of the frequencies in a text field.
pub(super) struct FrequencyFeature {
    field: TextField,
    value: TermValue,
    combine: Combine,
}

/// The value of a matched term, from its frequency in the document, the length of the document and
/// the numbers of the term.
pub(super) type TermValue = fn(f64, f64, &TermNumbers) -> f64;

/// Numbers of a term over all documents, in one text field.
pub(super) struct TermNumbers {
    /// ln((N+1)/(df+0.5)), which is always above 0.
    pub(super) idf: f64,
    /// |C| / cf: the number of all terms divided by the number of occurrences of this term.
    pub(super) rarity: f64,
}

/// The way in which the values of the matched terms become the value of the feature.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Combine {
    /// The sum of the values.
    Sum,
    /// A summary in which terms that do not occur count as 0.
    Summary(TermSummary),
    /// A summary of the matched terms only.
    MatchedSummary(TermSummary),
    /// The number of matched terms as a share of the query's different terms.
    Share,
}

/// A feature that is the sum of a value over matched terms.
pub(super) fn sum(
    index: &Index,
    spec: &Spec,
    value: TermValue,
) -> Result<Box<dyn Feature>, SearchError> {
    let field = text_field(index, spec)?;
    Ok(Box::new(FrequencyFeature { field, value, combine: Combine::Sum }))
}

/// A feature that is a summary of a value over terms, with [`SummaryParams`].
fn summary(
    index: &Index,
    spec: &Spec,
    value: TermValue,
    combine: fn(TermSummary) -> Combine,
) -> Result<Box<dyn Feature>, SearchError> {
    let params: SummaryParams = read_params(spec)?;
    let field = index.text_field(&params.field)?;
    Ok(Box::new(FrequencyFeature { field, value, combine: combine(params.stat) }))
}

impl Feature for FrequencyFeature {
    fn needs(&self) -> Needs {
        Needs::default().frequencies(self.field)
    }

    fn values(
        &self,
        statistics: &CandidateStatistics<'_>,
        out: &mut [f64],
    ) -> Result<(), SearchError> {
        let found = statistics.text_field(self.field)?;
        let terms = term_numbers(statistics, self.field, found);
        let lengths = statistics.index.lengths(self.field);
        let mut values = Vec::new();
        for (candidate, out) in out.iter_mut().enumerate() {
            let length = lengths[statistics.docs[candidate] as usize];
            let matched = statistics.tfs(found, candidate).zip(&terms).filter(|(tf, _)| *tf > 0);
            values.clear();
            values.extend(matched.map(|(tf, term)| (self.value)(f64::from(tf), length, term)));
            *out = self.combine.of(&values, statistics.terms.distinct().len());
        }
        Ok(())
    }
}

/// The numbers of each different term of the query.
fn term_numbers(
    statistics: &CandidateStatistics<'_>,
    field: TextField,
    found: &TextFieldStatistics,
) -> Vec<TermNumbers> {
    let documents = statistics.index.documents() as f64;
    let collection_length = statistics.index.terms(field) as f64;
    let terms = found.stats.iter().map(|stats| TermNumbers {
        idf: idf(documents, stats.documents as f64),
        rarity: collection_length / (stats.occurrences as f64).max(1.0),
    });
    terms.collect()
}

impl Combine {
    /// The value for a document, from the values of its matched terms; `terms` is the number of
    /// different terms of the query.
    fn of(self, values: &[f64], terms: usize) -> f64 {
        match self {
            Combine::Summary(summary) => summary.of(values, terms),
            Combine::MatchedSummary(summary) => summary.of(values, values.len()),
            Combine::Share if terms > 0 => values.len() as f64 / terms as f64,
            Combine::Sum | Combine::Share => values.iter().sum(),
        }
    }
}
