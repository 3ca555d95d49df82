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
/// Serialised, it is the entry of the first stage in the result of `list first-stages`.
#[derive(Clone, Copy)]
pub struct FirstStageDef {
    /// Name in specs.
    pub name: &'static str,
    /// One sentence of help.
    pub help: &'static str,
    /// A spec that runs on any index.
    pub example: &'static str,
    /// Returns the declarations of the parameters.
    pub(crate) params: fn() -> Vec<ParamDef>,
    /// Reads a spec with this name.
    pub(crate) read: fn(&Spec) -> Result<FirstStage, SpecError>,
}

impl FirstStageDef {
    /// A definition of which only the functions are filled in: each first stage adds its name, help
    /// and example.
    pub(super) const fn of<P: FirstStageParams>() -> Self {
        Self { name: "", help: "", example: "", params: param_defs::<P>, read: read::<P> }
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

fn param_defs<P: FirstStageParams>() -> Vec<ParamDef> {
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

    /// The best `n` of these documents, in order. By default all are scored; a first stage that
    /// knows upper bounds of its scores can skip documents that cannot be among the best.
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

/// The methods of [`FirstStageParams`] that can be called on a trait object.
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

/// The parameters of any first stage, shared between copies of a [`FirstStage`].
pub(super) type SharedStage = Arc<dyn AnyFirstStage>;
