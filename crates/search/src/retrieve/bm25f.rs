//! BM25F (Robertson, Zaragoza and Taylor 2004): fields add to one frequency before it saturates.
//!
//! For a term: f = sum over fields of weight * tf / (1 - b + b * length / mean length), each by its
//! field; the score is the sum of count * idf * f (k1 + 1) / (f + k1), with BM25's idf over documents
//! that have the term in any of the fields. A field of weight 0 counts neither for f nor for idf.

use rankwright_eval::{ParamInfo, Params};
use rankwright_spec::SpecError;

use crate::error::SearchError;
use crate::index::{Index, TermHits, TextField};
use crate::retrieve::{Candidate, Filter, SearchBuffers};
use crate::terms::Terms;
use crate::weighting::{K1, bm25_idf, read_k1};

pub(super) const PARAMS: &[ParamInfo] = &[
    K1,
    ParamInfo {
        name: "b",
        doc: "how much long fields are held back: a number, or title:0.5+text:0.75",
        default: "0.75",
    },
    ParamInfo {
        name: "weights",
        doc: "weights of fields: title:3+text:1; others keep 1",
        default: "title:2",
    },
];

/// The parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bm25f {
    k1: f64,
    b: Vec<(String, f64)>,
    default_b: f64,
    weights: Vec<(String, f64)>,
    /// Weights were written, so that their fields must exist.
    strict: bool,
}

impl Bm25f {
    pub(super) fn read(params: &Params<'_>) -> Result<Self, SpecError> {
        let text = params.text("b").unwrap_or("0.75");
        let is_share = |v: &f64| (0.0..=1.0).contains(v);
        let (default_b, b) = match text.parse::<f64>() {
            Ok(number) if is_share(&number) => (number, Vec::new()),
            _ => (0.75, by_field(params, "b", text, is_share)?),
        };
        let text = params.text("weights").unwrap_or("title:2");
        let weights = by_field(params, "weights", text, |v| *v >= 0.0)?;
        Ok(Self {
            k1: read_k1(params)?,
            b,
            default_b,
            weights,
            strict: params.is_written("weights"),
        })
    }

    /// Scores every document that has a term of the query.
    pub(super) fn score(
        &self,
        index: &Index,
        query: &Terms,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Candidate>, SearchError> {
        let fields = self.fields(index)?;
        let mut hits = TermHits::default();
        let mut frequency = std::mem::take(&mut buffers.more);
        frequency.resize(index.slots(), 0.0);
        let mut found: Vec<u32> = Vec::new();
        buffers.start(index.slots());
        for (term, count) in query.distinct().zip(query.counts()) {
            found.clear();
            for &(field, weight, b) in &fields {
                let text_field = TextField(field);
                index.hits(text_field, term, &mut hits)?;
                let (lengths, mean) = (index.lengths(text_field), index.mean_length(text_field));
                for (&doc, &tf) in hits.docs.iter().zip(&hits.tfs) {
                    let slot = &mut frequency[doc as usize];
                    if *slot == 0.0 {
                        found.push(doc);
                    }
                    let length = lengths[doc as usize] / mean;
                    *slot += weight * f64::from(tf) / (1.0 - b + b * length);
                }
            }
            let idf = bm25_idf(index.documents() as f64, found.len() as f64);
            for &doc in &found {
                let f = std::mem::take(&mut frequency[doc as usize]);
                buffers.add(doc, f64::from(count) * (idf * (f * (self.k1 + 1.0) / (f + self.k1))));
            }
        }
        buffers.more = frequency;
        Ok(buffers.finish(filter, |_| 0.0))
    }

    /// Text fields with weight and b.
    fn fields(&self, index: &Index) -> Result<Vec<(usize, f64, f64)>, SearchError> {
        if self.strict {
            for (name, _) in self.weights.iter().chain(&self.b) {
                index.text_field(name)?;
            }
        }
        let of = |list: &[(String, f64)], name: &str, default: f64| {
            list.iter().find(|(field, _)| field == name).map_or(default, |(_, value)| *value)
        };
        let fields = index.fields_of(index.all()).iter().map(|&field| {
            let name = index.field_name(field);
            (field, of(&self.weights, name, 1.0), of(&self.b, name, self.default_b))
        });
        Ok(fields.filter(|(_, weight, _)| *weight > 0.0).collect())
    }
}

/// Reads `title:2+text:1`.
fn by_field(
    params: &Params<'_>,
    key: &str,
    text: &str,
    legal: impl Fn(&f64) -> bool,
) -> Result<Vec<(String, f64)>, SpecError> {
    let parts = text.split('+').map(|part| {
        let (name, number) = part.trim().rsplit_once(':')?;
        let number = number.trim().parse::<f64>().ok().filter(|v| v.is_finite() && legal(v))?;
        Some((name.trim().to_owned(), number))
    });
    let parts: Option<Vec<_>> = parts.collect();
    parts.ok_or_else(|| params.bad(key, text, "numbers by field, like title:2+text:1"))
}
