//! The first stage: the n best documents of a query, exactly.
//!
//! The full scan reads every posting of the query's terms, term by term in the order of the query,
//! and adds the contribution of each posting to the sum of its document. A weighting is a first
//! stage whose score is a sum over the terms in one field, with an upper bound for each term
//! (`weighting.rs`): all but `bm25f`. If n is small compared with the number of matching documents,
//! it skips documents that cannot be among the best n (`max_score.rs`); the result is the same to
//! the last bit. A query without terms (empty, or only stop words) finds nothing. Cost of the full
//! scan: all postings of the terms.
//!
//! Each first stage has a file with its parameters, its formula and its [`FirstStageDef`], and a
//! line in [`FIRST_STAGES`].

mod absolute_discount;
mod bm25;
mod bm25f;
mod buffers;
mod candidate;
mod cosine;
mod def;
mod dirichlet;
mod jelinek_mercer;
mod max_score;
mod top;
mod weighting;

pub use absolute_discount::AbsoluteDiscount;
pub use bm25::Bm25;
pub use bm25f::{Bm25f, PerField};
pub use buffers::SearchBuffers;
pub use candidate::Candidate;
pub use cosine::Cosine;
pub use def::{FirstStageDef, FirstStageParams};
pub use dirichlet::Dirichlet;
pub use jelinek_mercer::JelinekMercer;

pub(crate) use bm25f::WeightedField;
pub(crate) use weighting::{DocumentColumns, QueryWeighting, Weighting, bm25_idf, idf};

use std::sync::Arc;

use rankwright_spec::{Spec, SpecError, check_params, json_by_text, write_spec};

use crate::error::SearchError;
use crate::filter::Filter;
use crate::index::Index;
use crate::terms::Terms;
use def::SharedStage;

/// All first stages.
pub static FIRST_STAGES: &[&FirstStageDef] = &[
    &bm25::FIRST_STAGE,
    &bm25f::FIRST_STAGE,
    &cosine::FIRST_STAGE,
    &dirichlet::FIRST_STAGE,
    &jelinek_mercer::FIRST_STAGE,
    &absolute_discount::FIRST_STAGE,
];

/// The features that are scores of weightings, which are first stages too.
pub(crate) mod features {
    pub(crate) use super::absolute_discount::FEATURE as ABSOLUTE_DISCOUNT;
    pub(crate) use super::bm25::FEATURE as BM25;
    pub(crate) use super::cosine::FEATURE as COSINE;
    pub(crate) use super::dirichlet::FEATURE as DIRICHLET;
    pub(crate) use super::jelinek_mercer::FEATURE as JELINEK_MERCER;
}

/// A first stage of retrieval, from a spec or from typed parameters.
///
/// ```
/// use rankwright_search::{Bm25, FirstStage};
///
/// let stage = FirstStage::parse("bm25( k1=0.9, b=0.75 )")?;
/// assert_eq!(stage.to_string(), "bm25(k1=0.9)");
/// assert_eq!(stage, FirstStage::new(Bm25::default().k1(0.9))?);
/// assert!(FirstStage::parse("bm52").unwrap_err().to_string().contains("did you mean `bm25`?"));
/// assert!(FirstStage::new(Bm25::default().b(2.0)).is_err());
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FirstStage {
    /// The name, and only the parameters that differ from the defaults: equal stages have equal
    /// specs.
    spec: Spec,
    params: SharedStage,
}

json_by_text!(FirstStage, FirstStage::to_string, FirstStage::parse);

impl FirstStage {
    /// The first stage with these parameters; an error if a parameter is out of range.
    pub fn new<P: FirstStageParams>(params: P) -> Result<Self, SpecError> {
        check_params(&params, P::def().name)?;
        Ok(Self { spec: write_spec(P::def().name, &params), params: Arc::new(params) })
    }

    /// Reads a spec, such as `bm25(k1=0.9)`.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let spec = Spec::parse(text)?;
        let def = FIRST_STAGES.iter().find(|def| def.name == spec.name).ok_or_else(|| {
            let known: Vec<&str> = FIRST_STAGES.iter().map(|def| def.name).collect();
            SpecError::unknown("first stage", &spec.name, &known)
        })?;
        def.read(&spec)
    }
}

impl PartialEq for FirstStage {
    fn eq(&self, other: &Self) -> bool {
        self.spec == other.spec
    }
}

impl Default for FirstStage {
    fn default() -> Self {
        Self { spec: Spec::new(Bm25::def().name), params: Arc::new(Bm25::default()) }
    }
}

impl std::fmt::Display for FirstStage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.spec.fmt(f)
    }
}

impl Index {
    /// The best `n` documents of a query, in order; fewer if fewer match.
    pub fn retrieve(
        &self,
        query: &Terms,
        stage: &FirstStage,
        n: usize,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Candidate>, SearchError> {
        if let Some(filter) = filter {
            self.check_filter(filter.index())?;
        }
        // No document is counted yet; the first stage counts those with a term of the query.
        buffers.set_matching(0);
        match n {
            0 => Ok(Vec::new()),
            n => self.catch_damage(|| stage.params.best(self, query, n, filter, buffers)),
        }
    }

    /// Every document that a first stage finds for a query, with its score, in no order.
    pub(crate) fn retrieve_all(
        &self,
        query: &Terms,
        stage: &FirstStage,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Candidate>, SearchError> {
        if let Some(filter) = filter {
            self.check_filter(filter.index())?;
        }
        self.catch_damage(|| stage.params.score(self, query, filter, buffers))
    }
}
