//! The definition of a click model: name, help, example, parameters, and its fitting.

use std::fmt;
use std::sync::Arc;

use rankwright_spec::{ParamDef, ParamGroup, Spec, SpecError, read_spec, write_spec};
use serde::Serialize;

use super::ClickModel;
use crate::pages::{DistinctPage, Pages};

/// The declaration of a click model, for help, documentation and other languages.
#[derive(Clone, Copy)]
pub struct ClickModelDef {
    /// Name in specs.
    pub name: &'static str,
    /// One sentence of help.
    pub help: &'static str,
    /// A spec that fits any log.
    pub example: &'static str,
    pub(super) params: fn() -> Vec<ParamDef>,
    pub(super) read: fn(&Spec) -> Result<ClickModel, SpecError>,
}

impl ClickModelDef {
    /// A definition of which only the functions are filled in: each click model adds its name, help
    /// and example.
    pub(super) const fn of<P: ClickModelParams>() -> Self {
        Self { name: "", help: "", example: "", params: param_defs::<P>, read: read::<P> }
    }

    /// The declarations of the parameters.
    pub fn params(&self) -> Vec<ParamDef> {
        (self.params)()
    }

    /// The click model of a spec with this name.
    pub(super) fn read(&self, spec: &Spec) -> Result<ClickModel, SpecError> {
        (self.read)(spec)
    }
}

impl fmt::Debug for ClickModelDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClickModelDef").field("name", &self.name).finish_non_exhaustive()
    }
}

fn param_defs<P: ClickModelParams>() -> Vec<ParamDef> {
    P::default().defs()
}

fn read<P: ClickModelParams>(spec: &Spec) -> Result<ClickModel, SpecError> {
    Ok(click_model(read_spec::<P>(spec)?))
}

/// The click model with these parameters, which are in their ranges.
pub(super) fn click_model<P: ClickModelParams>(params: P) -> ClickModel {
    let spec = write_spec(P::DEF.name, &params).to_string();
    ClickModel { def: P::DEF, spec, fit: Arc::new(move |pages| params.fit(pages)) }
}

/// The parameters of a click model, which can be fitted to pages.
pub(super) trait ClickModelParams: ParamGroup + Default + Send + Sync + 'static {
    /// The definition of the click model.
    const DEF: &'static ClickModelDef;

    /// Fits the model to the pages of a log.
    fn fit(&self, pages: &Pages) -> Box<dyn PageProbabilities>;
}

/// A fitted click model: the click probabilities of pages.
pub(super) trait PageProbabilities: Send + Sync {
    /// The probability of a click at each rank of a page with these pairs.
    fn marginal(&self, pairs: &[u32], out: &mut Vec<f64>);

    /// The probability of a click at each rank, given the clicks above it.
    fn conditional(&self, page: &DistinctPage<'_>, out: &mut Vec<f64>);

    /// The fitted parameters.
    fn parameters(&self) -> Vec<NamedParameter>;
}

/// The values of a parameter of a fitted click model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedParameter {
    /// The usual name: `attraction`, `satisfaction`, `examination`, `continuation`, ...
    pub name: &'static str,
    /// The meaning of the values' positions.
    pub index: ParameterIndex,
    /// The values.
    pub values: Vec<f64>,
}

/// The meaning of the positions of a parameter's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ParameterIndex {
    /// A single value.
    Single,
    /// A value for each rank, the first rank first.
    Rank,
    /// A value for each rank and each rank of the last click above it (0: none), sorted by both.
    RankAndLastClick,
    /// A value for each pair of a query and a document, in the order of `Pages::named_pairs`.
    Pair,
}

impl NamedParameter {
    pub(super) fn single(name: &'static str, value: f64) -> Self {
        Self { name, index: ParameterIndex::Single, values: vec![value] }
    }

    pub(super) fn by_rank(name: &'static str, values: Vec<f64>) -> Self {
        Self { name, index: ParameterIndex::Rank, values }
    }

    pub(super) fn by_rank_and_last_click(name: &'static str, values: Vec<f64>) -> Self {
        Self { name, index: ParameterIndex::RankAndLastClick, values }
    }

    pub(super) fn by_pair(name: &'static str, values: Vec<f64>) -> Self {
        Self { name, index: ParameterIndex::Pair, values }
    }
}
