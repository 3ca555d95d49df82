//! A weighting of terms: the score of a document from the frequencies of the query's terms.
//!
//! For a query of terms q with counts, a document of length |D| with frequency tf(q), N documents
//! of mean length avgdl, df(q) documents with the term, |C| terms in all, of which cf(q) are the
//! term (p = cf / |C|), a score is the sum over matched terms, plus a part that depends on the
//! document alone, plus a constant of the query, so that the cost of a document is its matched
//! terms. Terms that the collection does not have are ignored. Each weighting is a file; it is both
//! a first stage and a feature.

use std::sync::Arc;

use rankwright_spec::ParamGroup;

use super::def::{FirstStageDef, FirstStageParams};
use super::{Candidate, SearchBuffers};
use crate::SearchError;
use crate::filter::Filter;
use crate::index::{Index, Stat, TermPostings, TermStats, TextField};
use crate::terms::Terms;

/// The parameters of a weighting, with its formula.
pub(crate) trait Weighting:
    ParamGroup + Default + Clone + std::fmt::Debug + Send + Sync + 'static
{
    /// The definition as a first stage.
    const FIRST_STAGE: &'static FirstStageDef;
    /// Statistics of a document that the formula reads besides the length.
    const STATS: &'static [Stat] = &[];
    /// Whether the weights of a query's terms are scaled to a vector of length 1.
    const UNIT_QUERY: bool = false;

    /// The text field.
    fn field(&self) -> &str;

    /// The weight of a term in the query, and the statistic of the term that [`Self::matched`]
    /// needs, such as its idf.
    fn term(&self, term: &QueryTerm) -> (f64, f64);

    /// The contribution of a matched term, for a weight of 1.
    fn matched(&self, statistic: f64, tf: f64, mean_length: f64, document: &DocumentStats) -> f64;

    /// The contribution to every document for an occurrence of a term in the query.
    fn constant(&self, _share: f64) -> f64 {
        0.0
    }

    /// The contribution to a document for every occurrence of a term in the query, matched or not.
    fn document(&self, _document: &DocumentStats) -> f64 {
        0.0
    }
}

/// A term of a query in a collection that has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueryTerm {
    /// Number of occurrences in the query.
    pub(super) count: f64,
    /// Number of documents of the collection.
    pub(super) documents: f64,
    /// Number of documents with the term.
    pub(super) df: f64,
    /// Share of the term among all terms of the collection.
    pub(super) share: f64,
}

/// Statistics of a document; those that a weighting does not name are 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentStats {
    pub(super) length: f64,
    pub(super) distinct: f64,
    pub(super) norm: f64,
}

/// ln(1 + (N - df + 0.5) / (df + 0.5)).
pub(crate) fn bm25_idf(documents: f64, df: f64) -> f64 {
    (1.0 + (documents - df + 0.5) / (df + 0.5)).ln()
}

/// ln((N + 1) / (df + 0.5)), which is always above 0.
pub(crate) fn idf(documents: f64, df: f64) -> f64 {
    ((documents + 1.0) / (df + 0.5)).ln()
}

/// A weighting prepared for one query and one text field.
#[derive(Debug)]
pub(crate) struct QueryWeighting<'w, W> {
    weighting: &'w W,
    mean_length: f64,
    /// Weight and statistic of each term.
    terms: Vec<(f64, f64)>,
    /// Number of terms of the query that the collection has, including repeated ones.
    known: f64,
    constant: f64,
}

impl<'w, W: Weighting> QueryWeighting<'w, W> {
    /// Computes weight and statistic of each term of the query.
    pub(crate) fn new(
        weighting: &'w W,
        index: &Index,
        field: TextField,
        query: &Terms,
        stats: &[TermStats],
    ) -> Self {
        let documents = index.documents() as f64;
        let all = index.terms(field) as f64;
        let mut terms = Vec::with_capacity(stats.len());
        let (mut known, mut constant, mut norm) = (0.0, 0.0, 0.0_f64);
        for (count, stats) in query.counts().zip(stats) {
            if stats.documents == 0 {
                terms.push((0.0, 1.0));
                continue;
            }
            let (count, df) = (f64::from(count), stats.documents as f64);
            let term = QueryTerm { count, documents, df, share: stats.occurrences as f64 / all };
            known += count;
            constant += count * weighting.constant(term.share);
            let (weight, statistic) = weighting.term(&term);
            terms.push((weight, statistic));
            norm += weight * weight;
        }
        if W::UNIT_QUERY && norm > 0.0 {
            terms.iter_mut().for_each(|(weight, _)| *weight /= norm.sqrt());
        }
        QueryWeighting { weighting, mean_length: index.mean_length(field), terms, known, constant }
    }

    /// The contribution of a matched term.
    #[inline]
    pub(crate) fn matched(&self, term: usize, tf: f64, document: &DocumentStats) -> f64 {
        let (weight, statistic) = self.terms[term];
        weight * self.weighting.matched(statistic, tf, self.mean_length, document)
    }

    /// The contribution to a document that does not depend on the matched terms.
    pub(crate) fn document(&self, document: &DocumentStats) -> f64 {
        self.constant + self.known * self.weighting.document(document)
    }
}

/// The statistics that a weighting reads, for one text field.
pub(crate) struct DocumentColumns {
    lengths: Arc<Vec<f64>>,
    distinct: Option<Arc<Vec<f64>>>,
    norms: Option<Arc<Vec<f64>>>,
}

impl DocumentColumns {
    /// The statistics that this weighting names.
    pub(crate) fn of_weighting<W: Weighting>(
        index: &Index,
        field: TextField,
    ) -> Result<Self, SearchError> {
        let column = |stat| W::STATS.contains(&stat).then(|| index.stat(field, stat)).transpose();
        Ok(Self {
            lengths: index.lengths(field).clone(),
            distinct: column(Stat::Distinct)?,
            norms: column(Stat::Norm)?,
        })
    }

    /// The statistics of one document.
    #[inline]
    pub(crate) fn of(&self, doc: u32) -> DocumentStats {
        let at = |column: &Option<Arc<Vec<f64>>>| {
            column.as_ref().map_or(0.0, |column| column[doc as usize])
        };
        DocumentStats {
            length: self.lengths[doc as usize],
            distinct: at(&self.distinct),
            norm: at(&self.norms),
        }
    }
}

impl<W: Weighting> FirstStageParams for W {
    fn def() -> &'static FirstStageDef {
        W::FIRST_STAGE
    }

    fn score(
        &self,
        index: &Index,
        query: &Terms,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Candidate>, SearchError> {
        let field = index.text_field(self.field())?;
        let mut postings = std::mem::take(&mut buffers.postings);
        postings.resize_with(query.distinct().len().max(postings.len()), TermPostings::default);
        for (term, postings) in query.distinct().zip(&mut postings) {
            index.read_postings(field, term, postings)?;
        }
        let stats: Vec<_> =
            postings.iter().take(query.distinct().len()).map(TermPostings::stats).collect();
        let weights = QueryWeighting::new(self, index, field, query, &stats);
        let columns = DocumentColumns::of_weighting::<W>(index, field)?;
        buffers.start(index);
        for (term, postings) in postings.iter().take(stats.len()).enumerate() {
            for (&doc, &tf) in postings.docs.iter().zip(&postings.tfs) {
                buffers.add(doc, weights.matched(term, f64::from(tf), &columns.of(doc)));
            }
        }
        buffers.postings = postings;
        Ok(buffers.finish(filter, |doc| weights.document(&columns.of(doc))))
    }
}
