//! The definition of a first stage: name, help, example, parameters, and its constructor.

use std::fmt;
use std::sync::Arc;

use rankwright_spec::{ParamDef, ParamGroup, Spec, SpecError};
use serde::{Serialize, Serializer};

use super::{Candidate, FirstStage, SearchBuffers, top};
use crate::error::SearchError;
use crate::filter::Filter;
use crate::index::Index;
use crate::params::read_params;
use crate::terms::Terms;

/// The declaration of a first stage, for help, documentation and other languages.
///
/// It serialises to its entry in the list of first stages.
#[derive(Clone, Copy)]
pub struct FirstStageDef {
    /// Name in specs.
    pub name: &'static str,
    /// One sentence of help.
    pub help: &'static str,
    /// A spec that runs on any index.
    pub example: &'static str,
    pub(crate) params: fn() -> Vec<ParamDef>,
    pub(crate) read: fn(&Spec) -> Result<FirstStage, SpecError>,
}

impl FirstStageDef {
    /// A definition without a name; the file of a first stage fills in the rest.
    pub(super) const fn of<P: FirstStageParams>() -> Self {
        Self { name: "", help: "", example: "", params: defs::<P>, read: read::<P> }
    }

    /// The declarations of the parameters.
    pub fn params(&self) -> Vec<ParamDef> {
        (self.params)()
    }

    /// The first stage of a spec with this name.
    pub(super) fn read(&self, spec: &Spec) -> Result<FirstStage, SpecError> {
        (self.read)(spec)
    }
}

fn defs<P: FirstStageParams>() -> Vec<ParamDef> {
    P::default().defs()
}

fn read<P: FirstStageParams>(spec: &Spec) -> Result<FirstStage, SpecError> {
    FirstStage::new(read_params::<P>(spec)?)
}

impl fmt::Debug for FirstStageDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FirstStageDef").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Serialize for FirstStageDef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct FirstStageDescription<'a> {
            name: &'a str,
            help: &'a str,
            example: &'a str,
            parameters: Vec<ParamDef>,
        }
        let Self { name, help, example, .. } = *self;
        FirstStageDescription { name, help, example, parameters: self.params() }
            .serialize(serializer)
    }
}

/// The parameters of a first stage, with its scoring function.
///
/// [`Bm25`](crate::Bm25), [`Bm25f`](crate::Bm25f), [`Cosine`](crate::Cosine),
/// [`Dirichlet`](crate::Dirichlet), [`JelinekMercer`](crate::JelinekMercer) and
/// [`AbsoluteDiscount`](crate::AbsoluteDiscount) are such parameters.
pub trait FirstStageParams: ParamGroup + Default + fmt::Debug + Send + Sync + 'static {
    /// The definition.
    fn def() -> &'static FirstStageDef;

    /// A score for every document that has a term of the query and passes the filter.
    #[doc(hidden)]
    fn score(
        &self,
        index: &Index,
        query: &Terms,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Candidate>, SearchError>;

    /// The best `n` of these documents, in order. A first stage that knows upper bounds of its scores
    /// skips documents that cannot be among them.
    #[doc(hidden)]
    fn best(
        &self,
        index: &Index,
        query: &Terms,
        n: usize,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Candidate>, SearchError> {
        top::best(index, self.score(index, query, filter, buffers)?, n)
    }
}

/// Parameters of any first stage.
pub(super) trait AnyFirstStage: fmt::Debug + Send + Sync {
    /// See [`FirstStageParams::score`].
    fn score(
        &self,
        index: &Index,
        query: &Terms,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Candidate>, SearchError>;

    /// See [`FirstStageParams::best`].
    fn best(
        &self,
        index: &Index,
        query: &Terms,
        n: usize,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Candidate>, SearchError>;
}

impl<P: FirstStageParams> AnyFirstStage for P {
    fn score(
        &self,
        index: &Index,
        query: &Terms,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Candidate>, SearchError> {
        FirstStageParams::score(self, index, query, filter, buffers)
    }

    fn best(
        &self,
        index: &Index,
        query: &Terms,
        n: usize,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Vec<Candidate>, SearchError> {
        FirstStageParams::best(self, index, query, n, filter, buffers)
    }
}

/// Parameters of any first stage, shared.
pub(super) type SharedStage = Arc<dyn AnyFirstStage>;
