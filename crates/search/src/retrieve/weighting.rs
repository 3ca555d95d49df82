//! A weighting of terms: the score of a document from the frequencies of the query's terms.
//!
//! A score is the sum of a part for each matched term, a part that depends on the document alone,
//! and a constant of the query. So the cost of a document is the number of its matched terms. Terms
//! that the collection does not have are ignored. Each weighting has a file; it is both a first
//! stage and a feature.
//!
//! Notation of the formulas: q is a term of the query, tf its frequency in the document, |D| the
//! length of the document in terms, N the number of documents, avgdl their mean length, df the
//! number of documents with q, |C| the number of terms in all documents, cf the number of those
//! that are q, and p = cf / |C|.

use std::sync::Arc;

use rankwright_spec::ParamGroup;

use super::def::{FirstStageDef, FirstStageParams};
use super::max_score::{self, BoundedTerm, MaxScore};
use super::{Candidate, SearchBuffers, top};
use crate::SearchError;
use crate::filter::Filter;
use crate::index::{Impact, Index, Stat, TermPostings, TermStats, TextField};
use crate::terms::Terms;

/// A weighting: a first stage and a feature whose score is a sum over the terms of the query, given
/// by its parameters.
pub(crate) trait Weighting:
    ParamGroup + Default + Clone + std::fmt::Debug + Send + Sync + 'static
{
    /// The definition as a first stage.
    const FIRST_STAGE: &'static FirstStageDef;
    /// Statistics of a document that the formula reads besides its length.
    const STATS: &'static [Stat] = &[];
    /// Whether the weights of a query's terms are scaled to a vector of length 1.
    const UNIT_QUERY: bool = false;

    /// The only statistic of a document that [`Self::matched_part`] may depend on.
    const SHRINKS_WITH: Stat = Stat::Length;

    /// The name of the text field.
    fn field(&self) -> &str;

    /// The weight of a term in the query, and the statistic of the term that
    /// [`Self::matched_part`] needs, such as its idf.
    fn term_weight(&self, term: &QueryTerm) -> TermWeight;

    /// The part of the score for a matched term of weight 1; `statistic` is that of
    /// [`TermWeight`]. It is not negative, grows with the frequency `tf` and shrinks with
    /// [`Self::SHRINKS_WITH`]: upper bounds rely on this.
    fn matched_part(
        &self,
        statistic: f64,
        tf: f64,
        mean_length: f64,
        document: &DocumentStats,
    ) -> f64;

    /// The part of every document's score for one occurrence of a term in the query.
    fn constant_part(&self, _collection_share: f64) -> f64 {
        0.0
    }

    /// The part of a document's score for one occurrence of a term in the query, matched or not.
    fn document_part(&self, _document: &DocumentStats) -> f64 {
        0.0
    }

    /// An upper bound of [`Self::document_part`] over documents of at least this length.
    fn document_bound(&self, _min_length: f64) -> f64 {
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
    /// Share of the term among all terms of the collection: cf / |C|.
    pub(super) collection_share: f64,
}

/// The weight of a query's term, and a statistic of the term that the formula of a weighting needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TermWeight {
    pub(super) weight: f64,
    pub(super) statistic: f64,
}

/// Statistics of a document in a text field; besides the length, those that [`Weighting::STATS`]
/// does not name are 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentStats {
    /// Number of terms.
    pub(super) length: f64,
    /// Number of different terms.
    pub(super) distinct: f64,
    /// Euclidean length of the vector of 1 + ln(tf).
    pub(super) norm: f64,
}

/// The idf of BM25: ln(1 + (N - df + 0.5) / (df + 0.5)).
pub(crate) fn bm25_idf(documents: f64, df: f64) -> f64 {
    (1.0 + (documents - df + 0.5) / (df + 0.5)).ln()
}

/// Inverse document frequency: ln((N + 1) / (df + 0.5)), which is always above 0.
pub(crate) fn idf(documents: f64, df: f64) -> f64 {
    ((documents + 1.0) / (df + 0.5)).ln()
}

/// A weighting prepared for one query and one text field.
#[derive(Debug)]
pub(crate) struct QueryWeighting<'w, W> {
    weighting: &'w W,
    mean_length: f64,
    /// Weight and statistic of each different term.
    terms: Vec<TermWeight>,
    /// Number of terms of the query that the collection has, including repeated ones.
    known_terms: f64,
    /// The part of the score that is the same for every document.
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
        let collection_length = index.terms(field) as f64;
        let mut terms = Vec::with_capacity(stats.len());
        let (mut known_terms, mut constant, mut squared_norm) = (0.0, 0.0, 0.0_f64);
        for (count, stats) in query.counts().zip(stats) {
            if stats.documents == 0 {
                terms.push(TermWeight { weight: 0.0, statistic: 1.0 });
                continue;
            }
            let (count, df) = (f64::from(count), stats.documents as f64);
            let collection_share = stats.occurrences as f64 / collection_length;
            let term = QueryTerm { count, documents, df, collection_share };
            known_terms += count;
            constant += count * weighting.constant_part(collection_share);
            let term = weighting.term_weight(&term);
            terms.push(term);
            squared_norm += term.weight * term.weight;
        }
        if W::UNIT_QUERY && squared_norm > 0.0 {
            terms.iter_mut().for_each(|term| term.weight /= squared_norm.sqrt());
        }
        let mean_length = index.mean_length(field);
        QueryWeighting { weighting, mean_length, terms, known_terms, constant }
    }

    /// The part of a document's score for a matched term.
    #[inline]
    pub(crate) fn matched_part(&self, term: usize, tf: f64, document: &DocumentStats) -> f64 {
        let TermWeight { weight, statistic } = self.terms[term];
        weight * self.weighting.matched_part(statistic, tf, self.mean_length, document)
    }

    /// Number of different terms.
    pub(super) fn terms(&self) -> usize {
        self.terms.len()
    }

    /// The largest part of a score for a term in the documents of an impact.
    pub(super) fn bound(&self, term: usize, impact: &Impact) -> f64 {
        // The formula reads only one of the statistics: `Weighting::SHRINKS_WITH`.
        let Impact { min_stat, .. } = *impact;
        let document = DocumentStats { length: min_stat, distinct: min_stat, norm: min_stat };
        self.matched_part(term, f64::from(impact.tf), &document)
    }

    /// An upper bound of [`Self::document_part`] over documents of at least this length.
    pub(super) fn document_bound(&self, min_length: f64) -> f64 {
        self.constant + self.known_terms * self.weighting.document_bound(min_length)
    }

    /// The part of a document's score that does not depend on its matched terms.
    pub(crate) fn document_part(&self, document: &DocumentStats) -> f64 {
        self.constant + self.known_terms * self.weighting.document_part(document)
    }
}

/// The columns of the statistics that a weighting reads, for one text field.
pub(crate) struct DocumentColumns {
    lengths: Arc<Vec<f64>>,
    distinct: Option<Arc<Vec<f64>>>,
    norms: Option<Arc<Vec<f64>>>,
}

impl DocumentColumns {
    /// The columns of the length and of [`Weighting::STATS`].
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

    /// The column of one of these statistics.
    fn column(&self, stat: Stat) -> &[f64] {
        let column = match stat {
            Stat::Distinct => self.distinct.as_ref(),
            Stat::Norm => self.norms.as_ref(),
            Stat::Length | Stat::Words | Stat::Entropy => None,
        };
        column.unwrap_or(&self.lengths)
    }

    /// The statistics of one document.
    #[inline]
    pub(crate) fn of(&self, doc: u32) -> DocumentStats {
        let value = |column: &Option<Arc<Vec<f64>>>| {
            column.as_ref().map_or(0.0, |column| column[doc as usize])
        };
        DocumentStats {
            length: self.lengths[doc as usize],
            distinct: value(&self.distinct),
            norm: value(&self.norms),
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
        let mut lists = TermLists::open(index, field, query, buffers)?;
        lists.read_all(index, field)?;
        let found = self.score_all(index, field, query, &lists, filter, buffers);
        lists.close(buffers);
        found
    }

    fn best(
        &self,
        index: &Index,
        query: &Terms,
        n: usize,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Candidate>, SearchError> {
        let field = index.text_field(self.field())?;
        let mut lists = TermLists::open(index, field, query, buffers)?;
        let postings = lists.stats.iter().map(|stats| stats.documents).sum();
        let mut found = None;
        if max_score::is_worthwhile(n, lists.stats.len(), postings) {
            found = self.best_by_bounds(index, field, query, n, &mut lists, filter)?;
            // If no document passes the filter, the full scan counts the documents that match.
            found = found.filter(|found| !found.is_empty() || postings == 0);
        }
        let scored = match found {
            Some(found) => {
                buffers.set_matching(found.len());
                found
            }
            None => {
                lists.read_all(index, field)?;
                self.score_all(index, field, query, &lists, filter, buffers)?
            }
        };
        lists.close(buffers);
        top::best(index, scored, n)
    }
}

/// The steps of a weighting as a first stage.
trait WeightingStage: Weighting {
    /// The scores of all documents that match and pass the filter: the full scan.
    fn score_all(
        &self,
        index: &Index,
        field: TextField,
        query: &Terms,
        lists: &TermLists<'_>,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Candidate>, SearchError> {
        let weights = QueryWeighting::new(self, index, field, query, &lists.stats);
        let columns = DocumentColumns::of_weighting::<Self>(index, field)?;
        buffers.start(index);
        for (term, postings) in lists.postings.iter().take(lists.stats.len()).enumerate() {
            for (&doc, &tf) in postings.docs.iter().zip(&postings.tfs) {
                buffers.add(doc, weights.matched_part(term, f64::from(tf), &columns.of(doc)));
            }
        }
        Ok(buffers.finish(filter, |doc| weights.document_part(&columns.of(doc))))
    }

    /// The documents that can be among the best n, by MaxScore; `None` if a score is not a number.
    fn best_by_bounds(
        &self,
        index: &Index,
        field: TextField,
        query: &Terms,
        n: usize,
        lists: &mut TermLists<'_>,
        filter: Option<&Filter>,
    ) -> Result<Option<Vec<Candidate>>, SearchError> {
        let weights = QueryWeighting::new(self, index, field, query, &lists.stats);
        let columns = DocumentColumns::of_weighting::<Self>(index, field)?;
        let stat = Self::SHRINKS_WITH;
        let mut impacts = Vec::with_capacity(lists.stats.len());
        for i in 0..lists.stats.len() {
            let term = lists.terms[i];
            impacts.push(match index.cached_impacts(field, stat, term) {
                Some(impacts) => impacts,
                None => {
                    lists.read(index, field, i)?;
                    let postings = &lists.postings[i];
                    index.find_impacts(field, stat, term, postings, columns.column(stat))
                }
            });
        }
        let TermLists { terms, stats, postings, is_read } = lists;
        let bounded = postings.iter_mut().take(stats.len()).enumerate();
        let bounded = bounded.map(|(i, postings)| {
            let (documents, is_read) = (stats[i].documents, is_read[i]);
            BoundedTerm::new(i, terms[i], postings, is_read, documents, &impacts[i], &weights)
        });
        let bounded = bounded.collect();
        let (weights, columns) = (&weights, &columns);
        MaxScore { index, field, weights, columns, filter, n }.candidates(bounded)
    }
}

impl<W: Weighting> WeightingStage for W {}

/// The postings of a query's different terms, with their statistics. The postings of a term are
/// read when they are needed; statistics that are not cached need them.
struct TermLists<'a> {
    terms: Vec<&'a str>,
    stats: Vec<TermStats>,
    /// The postings of each term, and perhaps more lists, which are not used; taken from the
    /// buffers.
    postings: Vec<TermPostings>,
    /// Whether the postings of each term were read.
    is_read: Vec<bool>,
}

impl<'a> TermLists<'a> {
    /// Finds the statistics of each term.
    fn open(
        index: &Index,
        field: TextField,
        query: &'a Terms,
        buffers: &mut SearchBuffers,
    ) -> Result<Self, SearchError> {
        let terms: Vec<&str> = query.distinct().collect();
        let mut postings = std::mem::take(&mut buffers.postings);
        postings.resize_with(terms.len().max(postings.len()), TermPostings::default);
        let (stats, is_read) = (Vec::with_capacity(terms.len()), vec![false; terms.len()]);
        let mut lists = Self { terms, stats, postings, is_read };
        for i in 0..lists.terms.len() {
            let stats = match index.cached_stats(field, lists.terms[i]) {
                Some(stats) => stats,
                None => {
                    lists.read(index, field, i)?;
                    lists.postings[i].stats()
                }
            };
            lists.stats.push(stats);
        }
        Ok(lists)
    }

    /// Reads the postings of the term with index `i`, unless they were read already.
    fn read(&mut self, index: &Index, field: TextField, i: usize) -> Result<(), SearchError> {
        if !self.is_read[i] {
            index.read_postings(field, self.terms[i], &mut self.postings[i])?;
            self.is_read[i] = true;
        }
        Ok(())
    }

    fn read_all(&mut self, index: &Index, field: TextField) -> Result<(), SearchError> {
        (0..self.terms.len()).try_for_each(|i| self.read(index, field, i))
    }

    /// Returns the postings to the buffers, so that the next query reuses their memory.
    fn close(self, buffers: &mut SearchBuffers) {
        buffers.postings = self.postings;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieve::Bm25;
    use crate::{Document, FirstStage};

    #[test]
    fn the_documents_of_a_common_term_are_not_read_if_they_cannot_be_among_the_best() {
        let documents = (0..5_000).map(|number| {
            let text = if number % 100 == 0 { "common rare" } else { "common" };
            Document::new(format!("d{number}")).with("text", text)
        });
        let index = Index::in_memory(documents.collect::<Vec<_>>()).unwrap();
        let query = Terms::new("common rare", index.analysis());
        let mut buffers = SearchBuffers::default();
        // Caches the statistics and impacts of both terms.
        let best = index.retrieve(&query, &FirstStage::default(), 10, None, &mut buffers).unwrap();
        let mut lists = TermLists::open(&index, index.all_text(), &query, &mut buffers).unwrap();
        assert_eq!(lists.is_read, [false, false]);
        lists.postings.iter_mut().for_each(|list| *list = TermPostings::default());
        let stage = Bm25::default();
        let found = stage.best_by_bounds(&index, index.all_text(), &query, 10, &mut lists, None);
        let found = top::best(&index, found.unwrap().unwrap(), 10).unwrap();
        assert_eq!(found, best);
        let read: Vec<usize> = lists.postings.iter().map(|list| list.docs.len()).collect();
        assert_eq!(read, [0, 50], "only the rare term's documents are read");
    }
}
