//! BM25F (Robertson, Zaragoza and Taylor 2004): the frequencies in all fields are added to one
//! weighted frequency, before saturation.
//!
//! ```text
//! f     = sum over fields of weight * tf / (1 - b + b * length / mean length)
//! score = sum over terms of count * idf * f (k1 + 1) / (f + k1)
//! ```
//!
//! where count is the number of occurrences of the term in the query; weight, tf, b and the lengths
//! are those of the field; and idf is that of BM25, with the documents that have the term in any
//! field. A field of weight 0 counts neither for f nor for idf.

use rankwright_spec::{Auto, ParamKind, ParamValue, RangeDef, ValueError, params};

use super::def::{FirstStageDef, FirstStageParams};
use super::weighting::bm25_idf;
use super::{Candidate, SearchBuffers};
use crate::error::SearchError;
use crate::filter::Filter;
use crate::index::{Index, TermPostings, TextField};
use crate::terms::Terms;

params! {
    /// BM25 over fields of different weight.
    pub struct Bm25f {
        k1: f64 = 1.2, 0.0.., "Saturation of the term frequency; larger values count further occurrences more.";
        b: PerField = PerField::All(0.75), 0.0..=1.0,
            "Strength of the normalisation by field length: a number, or title:0.5+text:0.75; fields that are not named have 0.75.";
        weights: Auto<PerField> = Auto::Auto, 0.0..,
            "Weights of fields: title:3+text:1; fields that are not named have 1. auto: 2 for a field `title`.";
    }
}

pub(super) static FIRST_STAGE: FirstStageDef = FirstStageDef {
    name: "bm25f",
    help: "BM25 over fields of different weight.",
    example: "bm25f(k1=1.5)",
    ..FirstStageDef::of::<Bm25f>()
};

/// A parameter by field: one number for all fields, or numbers for named fields.
#[derive(Debug, Clone, PartialEq)]
pub enum PerField {
    /// The number of all fields.
    All(f64),
    /// Numbers by the name of the field; a spec writes `title:2+text:1`.
    Fields(Vec<(String, f64)>),
}

impl PerField {
    /// The names of the named fields.
    fn names(&self) -> impl Iterator<Item = &str> {
        let fields = match self {
            Self::All(_) => &[],
            Self::Fields(fields) => fields.as_slice(),
        };
        fields.iter().map(|(name, _)| name.as_str())
    }

    /// The number of a field; `default` if only other fields are named.
    fn of_field(&self, name: &str, default: f64) -> f64 {
        match self {
            Self::All(number) => *number,
            Self::Fields(fields) => {
                let named = fields.iter().find(|(field, _)| field == name);
                named.map_or(default, |(_, number)| *number)
            }
        }
    }
}

impl ParamValue for PerField {
    fn kind() -> ParamKind {
        ParamKind::ByName { of: Box::new(ParamKind::Number) }
    }

    fn read(text: &str, range: &RangeDef) -> Result<Self, ValueError> {
        if let Ok(number) = text.parse::<f64>() {
            return Ok(Self::All(number));
        }
        let parts = text.split('+').map(|part| {
            let (name, number) = part.trim().rsplit_once(':')?;
            Some((name.trim().to_owned(), number.trim().parse::<f64>().ok()?))
        });
        let parts: Option<Vec<_>> = parts.collect();
        parts.map(Self::Fields).ok_or_else(|| ValueError::Expected(Self::kind().expected(range)))
    }

    fn write(&self) -> String {
        match self {
            Self::All(number) => number.write(),
            Self::Fields(fields) => {
                let parts =
                    fields.iter().map(|(name, number)| format!("{name}:{}", number.write()));
                parts.collect::<Vec<_>>().join("+")
            }
        }
    }

    fn in_range(&self, range: &RangeDef) -> bool {
        match self {
            Self::All(number) => number.in_range(range),
            Self::Fields(fields) => fields.iter().all(|(_, number)| number.in_range(range)),
        }
    }
}

/// A text field with its parameters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightedField {
    /// Its index in the text fields of the index.
    field: usize,
    weight: f64,
    b: f64,
}

impl WeightedField {
    /// The field of the index.
    pub(crate) fn text_field(&self) -> TextField {
        TextField(self.field)
    }

    /// The weighted frequency of a term that a document has `tf` times in this field.
    pub(crate) fn frequency(&self, index: &Index, doc: u32, tf: u32) -> f64 {
        let field = self.text_field();
        let relative_length = index.lengths(field)[doc as usize] / index.mean_length(field);
        self.weight * f64::from(tf) / (1.0 - self.b + self.b * relative_length)
    }
}

impl FirstStageParams for Bm25f {
    fn def() -> &'static FirstStageDef {
        &FIRST_STAGE
    }

    fn score(
        &self,
        index: &Index,
        query: &Terms,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Candidate>, SearchError> {
        let fields = self.fields(index)?;
        let mut postings = TermPostings::default();
        let mut frequencies = std::mem::take(&mut buffers.frequencies);
        frequencies.resize(index.max_doc(), 0.0);
        // The documents that have the current term.
        let mut docs: Vec<u32> = Vec::new();
        buffers.start(index);
        for (term, count) in query.distinct().zip(query.counts()) {
            docs.clear();
            for field in &fields {
                index.read_postings(field.text_field(), term, &mut postings)?;
                for (&doc, &tf) in postings.docs.iter().zip(&postings.tfs) {
                    let frequency = &mut frequencies[doc as usize];
                    if *frequency == 0.0 {
                        docs.push(doc);
                    }
                    *frequency += field.frequency(index, doc, tf);
                }
            }
            let idf = bm25_idf(index.documents() as f64, docs.len() as f64);
            for &doc in &docs {
                let f = std::mem::take(&mut frequencies[doc as usize]);
                buffers.add(doc, self.part(count, idf, f));
            }
        }
        buffers.frequencies = frequencies;
        Ok(buffers.finish(filter, |_| 0.0))
    }
}

impl Bm25f {
    /// The part of a term in the score of a document: the term occurs `count` times in the query
    /// and has the weighted frequency `f` in the document, above 0.
    pub(crate) fn part(&self, count: u32, idf: f64, f: f64) -> f64 {
        f64::from(count) * (idf * (f * (self.k1 + 1.0) / (f + self.k1)))
    }

    /// The text fields with a weight above 0. Named fields must exist.
    pub(crate) fn fields(&self, index: &Index) -> Result<Vec<WeightedField>, SearchError> {
        let weights = self.weights.clone().given();
        for name in self.b.names().chain(weights.iter().flat_map(PerField::names)) {
            index.text_field(name)?;
        }
        let weights = weights.unwrap_or_else(|| PerField::Fields(vec![("title".to_owned(), 2.0)]));
        let fields = index.fields_of(index.all_text()).iter().map(|&field| {
            let name = index.field_name(field);
            let (weight, b) = (weights.of_field(name, 1.0), self.b.of_field(name, 0.75));
            WeightedField { field, weight, b }
        });
        Ok(fields.filter(|field| field.weight > 0.0).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::FirstStage;

    #[test]
    fn numbers_by_field_print_as_they_are_read() {
        let text = "bm25f(b=title:0.5+text:1, weights=title:3)";
        assert_eq!(FirstStage::parse(text).unwrap().to_string(), text);
        assert_eq!(FirstStage::parse("bm25f(b=0.4)").unwrap().to_string(), "bm25f(b=0.4)");
        for wrong in
            ["bm25f(b=2)", "bm25f(b=title:2)", "bm25f(weights=title)", "bm25f(weights=a:-1)"]
        {
            let error = FirstStage::parse(wrong).unwrap_err().to_string();
            assert!(error.contains("is not allowed; expected"), "{error}");
        }
    }
}
