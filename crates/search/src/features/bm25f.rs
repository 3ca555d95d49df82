//! BM25F as a feature; the formula, with its order of additions, is that of the first stage
//! (`retrieve/bm25f.rs`), so that a candidate has the score of the first stage to the bit.
//!
//! Cost: terms x fields for each candidate. If some text field has the weight 0, the documents with
//! a term are counted anew for each query, from the postings of the other fields.

use super::Feature;
use super::def::FeatureDef;
use super::statistics::{CandidateStatistics, Needs};
use crate::error::SearchError;
use crate::index::{Index, TermPostings};
use crate::params::read_params;
use crate::retrieve::{Bm25f, WeightedField, bm25_idf};

pub(super) static BM25F: FeatureDef = FeatureDef {
    name: "bm25f",
    help: "BM25 over fields of different weight.",
    example: "bm25f(weights=title:3+text:1)",
    is_default: false,
    ..FeatureDef::of::<Bm25f>(|index, spec| {
        let params: Bm25f = read_params(spec)?;
        let fields = params.fields(index)?;
        Ok(Box::new(Bm25fFeature { params, fields }))
    })
};

/// The feature: BM25F with these parameters on the text fields of an index.
struct Bm25fFeature {
    params: Bm25f,
    /// The fields with a weight above 0.
    fields: Vec<WeightedField>,
}

impl Feature for Bm25fFeature {
    fn needs(&self) -> Needs {
        let fields = self.fields.iter().map(WeightedField::text_field);
        fields.fold(Needs::default(), Needs::frequencies)
    }

    fn values(
        &self,
        statistics: &CandidateStatistics<'_>,
        out: &mut [f64],
    ) -> Result<(), SearchError> {
        let (index, terms) = (statistics.index, statistics.terms);
        let found = self.fields.iter().map(|field| statistics.text_field(field.text_field()));
        let found: Vec<_> = found.collect::<Result<_, _>>()?;
        let idfs = terms.distinct().map(|term| self.idf(index, term));
        let idfs: Vec<f64> = idfs.collect::<Result<_, _>>()?;
        for ((candidate, value), &doc) in out.iter_mut().enumerate().zip(statistics.docs) {
            let mut frequencies = vec![0.0; idfs.len()];
            for (field, found) in self.fields.iter().zip(&found) {
                // A field without terms may have the divisor 0.
                let tfs = frequencies.iter_mut().zip(statistics.tfs(found, candidate));
                for (sum, tf) in tfs.filter(|(_, tf)| *tf > 0) {
                    *sum += field.frequency(index, doc, tf);
                }
            }
            let parts = terms.counts().zip(&idfs).zip(frequencies);
            let matched = parts.filter(|(_, f)| *f > 0.0);
            let parts = matched.map(|((count, &idf), f)| self.params.part(count, idf, f));
            *value = parts.fold(0.0, |sum, part| sum + part);
        }
        Ok(())
    }
}

impl Bm25fFeature {
    /// The idf of a term, by the documents that have it in a field with a weight above 0.
    fn idf(&self, index: &Index, term: &str) -> Result<f64, SearchError> {
        let all = index.all_text();
        let documents = match self.fields.as_slice() {
            fields if fields.len() == index.fields_of(all).len() => {
                index.term_stats(all, term)?.documents as usize
            }
            [only] => index.term_stats(only.text_field(), term)?.documents as usize,
            fields => documents_with(index, fields, term)?,
        };
        Ok(bm25_idf(index.documents() as f64, documents as f64))
    }
}

/// Number of documents that have a term in one of the fields.
fn documents_with(
    index: &Index,
    fields: &[WeightedField],
    term: &str,
) -> Result<usize, SearchError> {
    let (mut docs, mut postings) = (Vec::new(), TermPostings::default());
    for field in fields {
        index.read_postings(field.text_field(), term, &mut postings)?;
        docs.extend_from_slice(&postings.docs);
    }
    docs.sort_unstable();
    docs.dedup();
    Ok(docs.len())
}
