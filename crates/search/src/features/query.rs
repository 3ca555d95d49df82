//! Features of the query alone: all documents of a query have the same value. They tell easy
//! queries from hard ones.
//!
//! `query-scope` (He and Ounis 2004) is -ln(n/N) where n of N documents have a term of the query;
//! `query-clarity` is their simplified clarity score, the sum over the different terms q of
//! P(q|Q) log2(P(q|Q) / P(q|C)), where P(q|Q) and P(q|C) are the shares of q among the terms of the
//! query and of the collection. Both use all text fields together. A query without a term that the
//! collection has gets 0.
//!
//! `query-number` is a number that the file of queries has in a column of its own, such as the
//! number of times that users asked the query; it is missing where the file has none.

use rankwright_spec::{SpecError, params};

use super::column::signed_log;
use super::def::{Build, FeatureDef};
use super::statistics::{CandidateStatistics, Needs};
use super::{Feature, TermSummary};
use crate::error::SearchError;
use crate::index::{Index, TextField};
use crate::params::read_params;
use crate::retrieve::idf;
use crate::schema::number_of;

params! {
    /// The empty parameters of a feature of the query.
    pub struct NoParams {}
}

params! {
    /// Parameters of a feature of the query that summarises one value per term.
    pub struct QuerySummaryParams {
        stat: TermSummary = TermSummary::Sum, .., "Summary over the terms.";
    }
}

params! {
    /// Parameters of the feature `query-number`.
    pub struct QueryNumberParams {
        field: String = String::new(), .., "Field of the queries: a column or key of their file.";
        log: bool = false, .., "ln(1 + |x|) with the sign of x.";
    }
}

/// A definition of a feature of the query without parameters.
const fn of_query(build: Build) -> FeatureDef {
    FeatureDef::of::<NoParams>(build)
}

pub(super) static QUERY_LENGTH: FeatureDef = FeatureDef {
    name: "query-length",
    help: "Number of terms of the query.",
    example: "query-length",
    ..of_query(|index, spec| {
        read_params::<NoParams>(spec)?;
        Ok(build(index, QueryKind::Length))
    })
};

pub(super) static QUERY_IDF: FeatureDef = FeatureDef {
    name: "query-idf",
    help: "Idf of the query's terms.",
    example: "query-idf(stat=max)",
    star_values: Some(("stat", &["sum", "max", "mean"])),
    ..FeatureDef::of::<QuerySummaryParams>(|index, spec| {
        let params: QuerySummaryParams = read_params(spec)?;
        Ok(build(index, QueryKind::Idf(params.stat)))
    })
};

pub(super) static QUERY_SCOPE: FeatureDef = FeatureDef {
    name: "query-scope",
    help: "-ln of the share of documents with a term of the query (He and Ounis).",
    example: "query-scope",
    ..of_query(|index, spec| {
        read_params::<NoParams>(spec)?;
        Ok(build(index, QueryKind::Scope))
    })
};

pub(super) static QUERY_CLARITY: FeatureDef = FeatureDef {
    name: "query-clarity",
    help: "Simplified clarity score (He and Ounis).",
    example: "query-clarity",
    ..of_query(|index, spec| {
        read_params::<NoParams>(spec)?;
        Ok(build(index, QueryKind::Clarity))
    })
};

pub(super) static QUERY_NUMBER: FeatureDef = FeatureDef {
    name: "query-number",
    help: "A number of the query, such as its frequency, from a column of the file of queries.",
    example: "query-number(field=frequency, log=true)",
    is_default: false,
    ..FeatureDef::of::<QueryNumberParams>(|_, spec| {
        let QueryNumberParams { field, log } = read_params(spec)?;
        if field.is_empty() {
            let (name, key) = (spec.name.clone(), "field".to_owned());
            let expected = "a column of the file of queries".to_owned();
            return Err(SpecError::MissingKey { name, key, expected }.into());
        }
        Ok(Box::new(QueryNumber { field, log }))
    })
};

/// The feature: a number field of the query.
struct QueryNumber {
    field: String,
    log: bool,
}

impl Feature for QueryNumber {
    fn query_fields(&self) -> Vec<String> {
        vec![self.field.clone()]
    }

    fn values(
        &self,
        statistics: &CandidateStatistics<'_>,
        out: &mut [f64],
    ) -> Result<(), SearchError> {
        let mut fields = statistics.query.fields.iter();
        let value = fields.find(|(name, _)| *name == self.field).map(|(_, value)| value);
        let number = value.and_then(number_of).unwrap_or(f64::NAN);
        out.fill(if self.log { signed_log(number) } else { number });
        Ok(())
    }
}

fn build(index: &Index, kind: QueryKind) -> Box<dyn Feature> {
    Box::new(QueryFeature { text_field: index.all_text(), kind })
}

/// The number that is computed from the query.
#[derive(Debug, Clone, Copy, PartialEq)]
enum QueryKind {
    Length,
    Idf(TermSummary),
    Scope,
    Clarity,
}

/// A feature of the query, over all text fields.
#[derive(Debug, Clone, Copy)]
struct QueryFeature {
    text_field: TextField,
    kind: QueryKind,
}

impl Feature for QueryFeature {
    fn needs(&self) -> Needs {
        Needs::default().frequencies(self.text_field)
    }

    fn values(
        &self,
        statistics: &CandidateStatistics<'_>,
        out: &mut [f64],
    ) -> Result<(), SearchError> {
        let value = self.value(statistics)?;
        out.fill(value);
        Ok(())
    }
}

impl QueryFeature {
    /// The value for all documents of the query.
    fn value(&self, statistics: &CandidateStatistics<'_>) -> Result<f64, SearchError> {
        let documents = statistics.index.documents() as f64;
        let text_field = statistics.text_field(self.text_field)?;
        Ok(match self.kind {
            QueryKind::Length => statistics.terms.length() as f64,
            QueryKind::Idf(summary) => {
                let known = text_field.stats.iter().filter(|stats| stats.documents > 0);
                let idfs: Vec<f64> =
                    known.map(|stats| idf(documents, stats.documents as f64)).collect();
                summary.of(&idfs, idfs.len())
            }
            QueryKind::Scope => match statistics.matching()? {
                0 => 0.0,
                matching => -(matching as f64 / documents).ln(),
            },
            QueryKind::Clarity => {
                let collection_length = statistics.index.terms(self.text_field) as f64;
                let length = statistics.terms.length() as f64;
                let terms = statistics.terms.counts().zip(&text_field.stats);
                let known = terms.filter(|(_, stats)| stats.occurrences > 0);
                known
                    .map(|(count, stats)| {
                        let in_query = f64::from(count) / length;
                        let ratio = in_query * collection_length / stats.occurrences as f64;
                        in_query * ratio.log2()
                    })
                    .sum()
            }
        })
    }
}
