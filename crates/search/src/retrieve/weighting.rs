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
use super::max_score::{self, BoundedTerm, MaxScore};
use super::{Candidate, SearchBuffers, top};
use crate::SearchError;
use crate::filter::Filter;
use crate::index::{Impact, Index, Stat, TermPostings, TermStats, TextField};
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

    /// The only statistic of a document that [`Self::matched`] may depend on.
    const SHRINKS_WITH: Stat = Stat::Length;

    /// The text field.
    fn field(&self) -> &str;

    /// The weight of a term in the query, and the statistic of the term that [`Self::matched`]
    /// needs, such as its idf.
    fn term(&self, term: &QueryTerm) -> (f64, f64);

    /// The contribution of a matched term, for a weight of 1. It is not negative, grows with the
    /// frequency and shrinks with [`Self::SHRINKS_WITH`], so that it has an upper bound.
    fn matched(&self, statistic: f64, tf: f64, mean_length: f64, document: &DocumentStats) -> f64;

    /// The contribution to every document for an occurrence of a term in the query.
    fn constant(&self, _share: f64) -> f64 {
        0.0
    }

    /// The contribution to a document for every occurrence of a term in the query, matched or not.
    fn document(&self, _document: &DocumentStats) -> f64 {
        0.0
    }

    /// The largest value of [`Self::document`] for a document that has at least this length.
    fn document_bound(&self, _least_length: f64) -> f64 {
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

    /// Number of different terms.
    pub(super) fn terms(&self) -> usize {
        self.terms.len()
    }

    /// The largest contribution of a term to a document with an impact.
    pub(super) fn bound(&self, term: usize, impact: &Impact) -> f64 {
        let least = impact.least;
        let document = DocumentStats { length: least, distinct: least, norm: least };
        self.matched(term, f64::from(impact.tf), &document)
    }

    /// The largest contribution to a document that does not depend on the matched terms.
    pub(super) fn document_bound(&self, least_length: f64) -> f64 {
        self.constant + self.known * self.weighting.document_bound(least_length)
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

    /// The values of one of these statistics.
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
        let matches = lists.stats.iter().map(|stats| stats.documents).sum();
        let mut found = None;
        if max_score::is_worthwhile(n, lists.stats.len(), matches) {
            found = self.best_by_bounds(index, field, query, n, &mut lists, filter)?;
            // The number of documents that match is needed where none passes the filter.
            found = found.filter(|found| !found.is_empty() || matches == 0);
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
    /// The scores of all documents: the full scan.
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
                buffers.add(doc, weights.matched(term, f64::from(tf), &columns.of(doc)));
            }
        }
        Ok(buffers.finish(filter, |doc| weights.document(&columns.of(doc))))
    }

    /// The documents that can be among the best n; `None` if a score is not a number.
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
        for place in 0..lists.stats.len() {
            let term = lists.terms[place];
            impacts.push(match index.cached_impacts(field, stat, term) {
                Some(impacts) => impacts,
                None => {
                    lists.read(index, field, place)?;
                    let postings = &lists.postings[place];
                    index.find_impacts(field, stat, term, postings, columns.column(stat))
                }
            });
        }
        let TermLists { terms, stats, postings, is_read } = lists;
        let bounded = postings.iter_mut().take(stats.len()).enumerate();
        let bounded = bounded.map(|(place, postings)| {
            let (documents, is_read) = (stats[place].documents, is_read[place]);
            let term = terms[place];
            BoundedTerm::new(place, term, postings, is_read, documents, &impacts[place], &weights)
        });
        let bounded = bounded.collect();
        let (weights, columns) = (&weights, &columns);
        MaxScore { index, field, weights, columns, filter, n }.candidates(bounded)
    }
}

impl<W: Weighting> WeightingStage for W {}

/// The postings of a query's different terms, with their statistics. A list is read when it is
/// needed; the statistics of a term that is not cached need it.
struct TermLists<'a> {
    terms: Vec<&'a str>,
    stats: Vec<TermStats>,
    /// At least one for each term; taken from the buffers.
    postings: Vec<TermPostings>,
    is_read: Vec<bool>,
}

impl<'a> TermLists<'a> {
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
        for place in 0..lists.terms.len() {
            let stats = match index.cached_stats(field, lists.terms[place]) {
                Some(stats) => stats,
                None => {
                    lists.read(index, field, place)?;
                    lists.postings[place].stats()
                }
            };
            lists.stats.push(stats);
        }
        Ok(lists)
    }

    /// Reads the postings of a term, unless that is done.
    fn read(&mut self, index: &Index, field: TextField, place: usize) -> Result<(), SearchError> {
        if !self.is_read[place] {
            index.read_postings(field, self.terms[place], &mut self.postings[place])?;
            self.is_read[place] = true;
        }
        Ok(())
    }

    fn read_all(&mut self, index: &Index, field: TextField) -> Result<(), SearchError> {
        (0..self.terms.len()).try_for_each(|place| self.read(index, field, place))
    }

    /// Gives the buffers back.
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
    fn the_documents_of_a_common_term_are_not_read_where_they_cannot_be_among_the_best() {
        let documents = (0..5_000).map(|number| {
            let text = if number % 100 == 0 { "common rare" } else { "common" };
            Document::new(format!("d{number}")).with("text", text)
        });
        let index = Index::in_memory(documents.collect::<Vec<_>>()).unwrap();
        let query = Terms::new("common rare", index.analysis());
        let mut buffers = SearchBuffers::default();
        // Caches the statistics and impacts of both terms.
        let best = index.retrieve(&query, &FirstStage::default(), 10, None, &mut buffers).unwrap();
        let mut lists = TermLists::open(&index, index.all(), &query, &mut buffers).unwrap();
        assert_eq!(lists.is_read, [false, false]);
        lists.postings.iter_mut().for_each(|list| *list = TermPostings::default());
        let stage = Bm25::default();
        let found = stage.best_by_bounds(&index, index.all(), &query, 10, &mut lists, None);
        let found = top::best(&index, found.unwrap().unwrap(), 10).unwrap();
        assert_eq!(found, best);
        let read: Vec<usize> = lists.postings.iter().map(|list| list.docs.len()).collect();
        assert_eq!(read, [0, 50], "only the rare term's documents are read");
    }
}
