//! The first stage: the n best documents of a query, exactly.
//!
//! Every posting of the query's terms is looked at, term by term in the order of the query, into one
//! sum a document; no document is skipped by a bound, so that any weighting will do and the list is
//! exact. A query of no terms (empty, or stop words alone) finds nothing. Cost: the postings of the
//! terms.

mod bm25f;
mod filter;
mod top;

pub use filter::Filter;

use rankwright_eval::{ParamInfo, Params};
use rankwright_spec::{Spec, SpecError};

use crate::error::SearchError;
use crate::index::{Index, TermHits, TextField};
use crate::terms::Terms;
use crate::weighting::{B, DELTA, DocumentColumns, K1, LAMBDA, MU, Weigher, Weighting};
use bm25f::Bm25f;

/// A document of a ranking: its number in the index, and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    pub(crate) doc: u32,
    /// The score.
    pub score: f64,
}

impl Candidate {
    /// Whether both are the same document.
    pub(crate) fn is_same(&self, other: &Candidate) -> bool {
        self.doc == other.doc
    }
}

/// One first stage of the table.
#[derive(Debug, Clone, Copy)]
pub struct FirstStageInfo {
    /// Name in specs.
    pub name: &'static str,
    /// One line.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// A spec that runs on any index.
    pub example: &'static str,
}

const FIELD: ParamInfo =
    ParamInfo { name: "field", doc: "a text field, or all of them as one", default: "all" };

/// Every first stage.
pub const FIRST_STAGES: &[FirstStageInfo] = &[
    FirstStageInfo {
        name: "bm25",
        doc: "Okapi BM25",
        params: &[K1, B, FIELD],
        example: "bm25(k1=0.9, b=0.4)",
    },
    FirstStageInfo {
        name: "bm25f",
        doc: "BM25 over fields of different weight",
        params: bm25f::PARAMS,
        example: "bm25f(k1=1.5)",
    },
    FirstStageInfo {
        name: "cosine",
        doc: "cosine of tf-idf vectors (lnc.ltc)",
        params: &[FIELD],
        example: "cosine",
    },
    FirstStageInfo {
        name: "dirichlet",
        doc: "query likelihood, Dirichlet smoothing",
        params: &[MU, FIELD],
        example: "dirichlet(mu=1000)",
    },
    FirstStageInfo {
        name: "jelinek-mercer",
        doc: "query likelihood, Jelinek-Mercer smoothing",
        params: &[LAMBDA, FIELD],
        example: "jelinek-mercer(lambda=0.3)",
    },
    FirstStageInfo {
        name: "absolute-discount",
        doc: "query likelihood, absolute discounting",
        params: &[DELTA, FIELD],
        example: "absolute-discount",
    },
];

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Weighting(Weighting, String),
    Bm25f(Bm25f),
}

/// A way to find documents, by spec.
///
/// ```
/// use rankwright_search::FirstStage;
///
/// assert_eq!(FirstStage::parse("bm25( k1=0.9 )")?.to_string(), "bm25(k1=0.9)");
/// assert!(FirstStage::parse("bm52").unwrap_err().to_string().contains("did you mean `bm25`?"));
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FirstStage {
    spec: Spec,
    kind: Kind,
}

impl FirstStage {
    /// Reads a spec.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let spec = Spec::parse(text)?;
        let info = FIRST_STAGES.iter().find(|info| info.name == spec.name).ok_or_else(|| {
            let known: Vec<&str> = FIRST_STAGES.iter().map(|info| info.name).collect();
            SpecError::unknown("first stage", &spec.name, &known)
        })?;
        let params = Params::new(&spec, info.params, &[])?;
        let kind = if info.name == "bm25f" {
            Kind::Bm25f(Bm25f::read(&params)?)
        } else {
            let field = params.text("field").unwrap_or("all").to_owned();
            Kind::Weighting(Weighting::read(&params)?, field)
        };
        Ok(Self { spec, kind })
    }
}

impl Default for FirstStage {
    fn default() -> Self {
        let weighting = Weighting::Bm25 { k1: 1.2, b: 0.75 };
        Self { spec: Spec::new("bm25"), kind: Kind::Weighting(weighting, "all".into()) }
    }
}

impl std::fmt::Display for FirstStage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.spec.fmt(f)
    }
}

/// Sums of documents while a query is looked at; kept from query to query.
#[derive(Debug, Default)]
pub struct SearchBuffers {
    sums: Vec<f64>,
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    hits: Vec<TermHits>,
    more: Vec<f64>,
}

impl SearchBuffers {
    fn start(&mut self, slots: usize) {
        self.sums.resize(slots, 0.0);
        self.is_touched.resize(slots, false);
        self.touched.clear();
    }

    #[inline]
    fn add(&mut self, doc: u32, value: f64) {
        let at = doc as usize;
        self.sums[at] += value;
        if !self.is_touched[at] {
            self.is_touched[at] = true;
            self.touched.push(doc);
        }
    }

    /// Takes the sums out, and leaves nothing behind.
    fn finish(&mut self, filter: Option<&Filter>, more: impl Fn(u32) -> f64) -> Vec<Candidate> {
        let mut scored = Vec::with_capacity(self.touched.len());
        for &doc in &self.touched {
            let sum = std::mem::take(&mut self.sums[doc as usize]);
            self.is_touched[doc as usize] = false;
            if filter.is_none_or(|filter| filter.passes(doc)) {
                scored.push(Candidate { doc, score: sum + more(doc) });
            }
        }
        self.touched.clear();
        scored
    }
}

impl Index {
    /// The best `n` documents of a query, in order; fewer where fewer match.
    pub fn retrieve(
        &self,
        query: &Terms,
        stage: &FirstStage,
        n: usize,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Candidate>, SearchError> {
        let scored = self.guard(|| match &stage.kind {
            Kind::Weighting(weighting, field) => {
                let text_field = self.text_field(field)?;
                self.weigh(query, *weighting, text_field, filter, buffers)
            }
            Kind::Bm25f(bm25f) => bm25f.score(self, query, filter, buffers),
        })?;
        top::best(self, scored, n)
    }

    fn weigh(
        &self,
        query: &Terms,
        weighting: Weighting,
        text_field: TextField,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Candidate>, SearchError> {
        let mut hits = std::mem::take(&mut buffers.hits);
        hits.resize_with(query.distinct().len().max(hits.len()), TermHits::default);
        for (term, hits) in query.distinct().zip(&mut hits) {
            self.hits(text_field, term, hits)?;
        }
        let stats: Vec<_> = hits.iter().take(query.distinct().len()).map(TermHits::stats).collect();
        let weigher = Weigher::new(weighting, self, text_field, query, &stats);
        let columns = DocumentColumns::new(self, text_field, &[weighting])?;
        buffers.start(self.slots());
        for (term, hits) in hits.iter().take(stats.len()).enumerate() {
            for (&doc, &tf) in hits.docs.iter().zip(&hits.tfs) {
                buffers.add(doc, weigher.matched(term, f64::from(tf), &columns.of(doc)));
            }
        }
        buffers.hits = hits;
        Ok(buffers.finish(filter, |doc| weigher.document(&columns.of(doc))))
    }
}
