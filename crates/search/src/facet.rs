//! Facets: the values of a field among the documents that a query matches, with the number of
//! documents that have each value.
//!
//! All documents that have a term of the query and pass the filter are counted, not only those that
//! are shown. A document with several values counts for each of them. Categories, links and
//! addresses are counted by value, numbers by number, dates by year. Cost: one pass over these
//! documents.

use std::collections::HashMap;

use serde::Serialize;
use time::OffsetDateTime;

use crate::error::SearchError;
use crate::index::Index;
use crate::retrieve::Candidate;
use crate::schema::FieldKind;

/// The most frequent values of a field among some documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Facet {
    /// The field.
    pub field: String,
    /// The most frequent values, the most frequent first; equally frequent ones in
    /// ascending order.
    pub values: Vec<FacetValue>,
    /// Number of further values, which are not in `values`.
    pub more: usize,
    /// Number of documents that have no value in the field.
    pub without: usize,
}

/// A value of a field, and the number of documents that have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FacetValue {
    /// The value.
    pub value: String,
    /// Number of documents.
    pub documents: usize,
}

impl Index {
    /// Checks that the values of a field can be counted; returns its kind.
    pub(crate) fn facet_kind(&self, field: &str) -> Result<FieldKind, SearchError> {
        match self.schema().kind(field) {
            None => Err(self.unknown_field(field, FieldKind::Category)),
            Some(kind @ (FieldKind::Text | FieldKind::Stored)) => {
                Err(SearchError::NoFacet { field: field.to_owned(), kind })
            }
            Some(kind) => Ok(kind),
        }
    }

    /// Counts the values of a field among some documents; keeps the `max_values` most frequent
    /// ones.
    pub(crate) fn facet(
        &self,
        field: &str,
        documents: &[Candidate],
        max_values: usize,
    ) -> Result<Facet, SearchError> {
        let kind = self.facet_kind(field)?;
        let (counted, without) = match kind {
            FieldKind::Number | FieldKind::Date => self.count_numbers(field, kind, documents)?,
            _ => self.count_texts(field, kind, documents)?,
        };
        let mut counted: Vec<(FacetKey, usize)> = counted;
        counted.sort_by(|(a, count_a), (b, count_b)| count_b.cmp(count_a).then_with(|| a.order(b)));
        let more = counted.len().saturating_sub(max_values);
        let values = counted.into_iter().take(max_values);
        let values = values.map(|(key, documents)| FacetValue { value: key.text(), documents });
        Ok(Facet { field: field.to_owned(), values: values.collect(), more, without })
    }

    /// The number of documents of each text, and the number of documents without one.
    fn count_texts(
        &self,
        field: &str,
        kind: FieldKind,
        documents: &[Candidate],
    ) -> Result<(Vec<(FacetKey, usize)>, usize), SearchError> {
        let values = self.field_values(field, kind)?;
        let mut counts = vec![0; values.len()];
        let mut without = 0;
        for candidate in documents {
            let mut values_of_doc = values.of(self.doc_of(candidate)?).to_vec();
            values_of_doc.sort_unstable();
            values_of_doc.dedup();
            without += usize::from(values_of_doc.is_empty());
            values_of_doc.into_iter().for_each(|value| counts[value as usize] += 1);
        }
        let counted = values.texts().zip(counts).filter(|(_, count)| *count > 0);
        let counted = counted.map(|(text, count)| (FacetKey::Text(text.to_owned()), count));
        Ok((counted.collect(), without))
    }

    /// The number of documents of each number or year, and the number of documents without one.
    fn count_numbers(
        &self,
        field: &str,
        kind: FieldKind,
        documents: &[Candidate],
    ) -> Result<(Vec<(FacetKey, usize)>, usize), SearchError> {
        let values = self.values(field, kind)?;
        // By the bits of the number, as `f64` cannot be a key.
        let mut counts: HashMap<u64, usize> = HashMap::new();
        let mut without = 0;
        for candidate in documents {
            match values[self.doc_of(candidate)? as usize] {
                missing if missing.is_nan() => without += 1,
                seconds if kind == FieldKind::Date => {
                    *counts.entry(year(seconds).to_bits()).or_default() += 1;
                }
                // Adding 0 makes -0 and 0 the same value.
                number => *counts.entry((number + 0.0).to_bits()).or_default() += 1,
            }
        }
        let counted = counts.into_iter();
        let counted = counted.map(|(bits, count)| (FacetKey::Number(f64::from_bits(bits)), count));
        Ok((counted.collect(), without))
    }
}

/// The year of a time in seconds since 1970.
fn year(seconds: f64) -> f64 {
    let date = OffsetDateTime::from_unix_timestamp(seconds as i64);
    date.map_or(f64::NAN, |date| f64::from(date.year()))
}

/// A value that is counted.
enum FacetKey {
    Text(String),
    Number(f64),
}

impl FacetKey {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }

    /// The order among equally frequent values.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Number(_), Self::Text(_)) => std::cmp::Ordering::Less,
            (Self::Text(_), Self::Number(_)) => std::cmp::Ordering::Greater,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BuildOptions, Document, Ranker, Schema, SearchRequest, Value};

    fn ranker() -> Ranker {
        let rows: [(&str, &[&str], Option<f64>, &str); 4] = [
            ("red shoe", &["red", "shoe"], Some(20.0), "2023-04-01"),
            ("red hat", &["red", "hat", "red"], Some(20.0), "2024-05-01"),
            ("blue shoe", &["blue", "shoe"], None, "2024-06-01"),
            ("green car", &["green"], Some(7.5), "2020-01-01"),
        ];
        let documents = rows.iter().enumerate().map(|(number, (title, tags, price, day))| {
            let tags = tags.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>();
            let document = Document::new(number.to_string()).with("title", *title);
            let document = document.with("tags", Value::Texts(tags)).with("day", *day);
            Ok(price.map_or(document.clone(), |price| document.with("price", price)))
        });
        let schema = Schema::parse("tags:category, day:date").unwrap();
        let options = BuildOptions::new().schema(schema);
        let documents: Vec<_> = documents.collect();
        Ranker::first_stage(Index::in_memory_with(documents, &options).unwrap().0).unwrap()
    }

    #[test]
    fn values_of_all_matching_documents_are_counted() {
        let ranker = ranker();
        let request = SearchRequest::new("shoe hat").top(1);
        let request = request.facet("tags").facet("price").facet("day");
        let result = ranker.search(&request).unwrap();
        assert_eq!((result.documents.len(), result.matching), (1, Some(3)));
        let values = |facet: &Facet| {
            let values = facet.values.iter().map(|v| format!("{} {}", v.value, v.documents));
            values.collect::<Vec<_>>().join(", ")
        };
        let shown: Vec<String> = result.facets.iter().map(values).collect();
        assert_eq!(shown, ["red 2, shoe 2, blue 1, hat 1", "20 2", "2024 2, 2023 1"]);
        assert_eq!((result.facets[1].without, result.facets[0].more), (1, 0));
        let one_value = ranker.search(&request.facet_values(1)).unwrap();
        let tags = &one_value.facets[0];
        assert_eq!((values(tags), tags.more), ("red 2".to_owned(), 3));
    }

    #[test]
    fn a_facet_needs_a_field_with_values() {
        let ranker = ranker();
        let error_text = |field: &str| {
            ranker.search(&SearchRequest::new("shoe").facet(field)).unwrap_err().to_string()
        };
        assert_eq!(
            error_text("title"),
            "the values of the field `title` cannot be counted: it is text"
        );
        assert!(error_text("colour").starts_with("the index has no category field `colour`"));
    }

    #[test]
    fn a_filter_restricts_the_counted_documents() {
        let ranker = ranker();
        let filter = crate::Filter::new(ranker.index(), "price:*").unwrap();
        let request = SearchRequest::new("shoe hat").filter(Some(&filter)).facet("tags");
        let result = ranker.search(&request).unwrap();
        let red = &result.facets[0].values[0];
        assert_eq!((red.value.as_str(), red.documents, result.matching), ("red", 2, Some(2)));
    }
}
