//! The cosine between the words of the query and those of a web address (Joachims 2002).
//!
//! ```text
//! sum over terms of count(q) * count(u) / (|query| * |address|)
//! ```
//!
//! where the counts are those of a term in the query and in the address, and |.| is the Euclidean
//! length of the counts. The words of an address are its runs of letters and digits behind the
//! scheme (`https://`), without a `www` at its beginning, analysed as the text of the index. A
//! document without an address has no value; an address or a query without terms gives 0. Of
//! several addresses the first counts.

use std::sync::Arc;

use super::Feature;
use super::def::FeatureDef;
use super::fields::{FieldParams, field};
use super::statistics::CandidateStatistics;
use crate::error::SearchError;
use crate::index::{FieldValues, Index};
use crate::schema::FieldKind;
use crate::terms::Terms;

pub(super) static URL_COSINE: FeatureDef = FeatureDef {
    name: "url-cosine",
    help: "Cosine between the words of the query and those of the web address.",
    example: "url-cosine(field=url)",
    field: Some(FieldKind::Url),
    is_default: false,
    ..FeatureDef::of::<FieldParams>(|index, spec| {
        let field = field(index, spec, FieldKind::Url)?;
        let urls = index.field_values(&field, FieldKind::Url)?;
        Ok(Box::new(UrlCosine::new(index, urls)))
    })
};

/// The feature of a field of web addresses.
struct UrlCosine {
    urls: Arc<FieldValues>,
    /// The terms of each address, by its number in `urls`.
    terms: Vec<Terms>,
}

impl UrlCosine {
    fn new(index: &Index, urls: Arc<FieldValues>) -> Self {
        let terms_of = |url: &str| Terms::new(&words(url), index.analysis());
        let terms = urls.texts().map(terms_of).collect();
        Self { urls, terms }
    }
}

impl Feature for UrlCosine {
    fn values(
        &self,
        statistics: &CandidateStatistics<'_>,
        out: &mut [f64],
    ) -> Result<(), SearchError> {
        for (value, &doc) in out.iter_mut().zip(statistics.docs) {
            if let Some(&url) = self.urls.of(doc).first() {
                *value = cosine(statistics.terms, &self.terms[url as usize]);
            }
        }
        Ok(())
    }
}

/// The words of a web address, separated by spaces.
fn words(url: &str) -> String {
    let address = url.split_once("://").map_or(url, |(_, address)| address);
    let address = address.strip_prefix("www.").unwrap_or(address);
    address.replace(|c: char| !c.is_alphanumeric(), " ")
}

/// The cosine between the counts of two texts; 0 if one of them has no terms.
fn cosine(a: &Terms, b: &Terms) -> f64 {
    let count_in_b = |term: &str| {
        let mut known = b.distinct().zip(b.counts());
        known.find(|(other, _)| *other == term).map_or(0, |(_, count)| count)
    };
    let pairs = a.distinct().zip(a.counts()).map(|(term, count)| (count, count_in_b(term)));
    let dot: f64 = pairs.map(|(a, b)| f64::from(a) * f64::from(b)).sum();
    if dot == 0.0 { 0.0 } else { dot / (length(a) * length(b)) }
}

/// The Euclidean length of the counts of a text.
fn length(terms: &Terms) -> f64 {
    terms.counts().map(|count| f64::from(count).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_and_www_are_no_words_of_an_address() {
        let found = |url| words(url).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            found("https://www.a.org/blue-train_2?x=1"),
            ["a", "org", "blue", "train", "2", "x", "1"]
        );
        assert_eq!(found("blue/train.html"), ["blue", "train", "html"]);
        assert!(found("").is_empty());
    }
}
