//! Click models: how probable a click is at each rank of a result page, fitted to a log.
//!
//! A model is a file with its parameters, its formula and its definition, and a line in
//! [`CLICK_MODELS`]. Chuklin, Markov and de Rijke, "Click Models for Web Search" (2015), describe
//! all of them. [`evaluate`](FittedClickModel::evaluate) measures a fitted model on another log.

mod cascade;
mod ccm;
mod chain;
mod cm;
mod ctr;
mod dbn;
mod dcm;
mod def;
mod evaluate;
mod examination;
mod pbm;
mod ratio;
#[cfg(test)]
mod tests;
mod ubm;

use std::fmt;
use std::sync::Arc;

use rankwright_spec::{Spec, SpecError, json_by_text};

pub use ccm::Ccm;
pub use cm::Cascade;
pub use ctr::{DocumentCtr, GlobalCtr, RankCtr};
pub use dbn::{Dbn, Sdbn};
pub use dcm::Dcm;
pub use def::{ClickModelDef, NamedParameter, ParameterIndex};
pub use evaluate::ClickModelEvaluation;
pub use pbm::Pbm;
pub use ubm::Ubm;

use crate::pages::Pages;
use def::PageProbabilities;

/// All click models.
pub static CLICK_MODELS: [&ClickModelDef; 10] = [
    &ctr::GLOBAL,
    &ctr::RANK,
    &ctr::DOCUMENT,
    &pbm::DEF,
    &cm::DEF,
    &ubm::DEF,
    &dcm::DEF,
    &ccm::DEF,
    &dbn::DBN,
    &dbn::SDBN,
];

/// A click model with its parameters, ready to be fitted.
///
/// ```
/// use rankwright_clicks::{ClickModel, Impression, Pages};
///
/// let log = [Impression::new("q", ["a", "b"]).clicked([1]), Impression::new("q", ["b", "a"])];
/// let fitted = ClickModel::parse("ubm(iterations=20)")?.fit(&Pages::collect(&log));
/// assert_eq!(fitted.spec(), "ubm(iterations=20)");
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
#[derive(Clone)]
pub struct ClickModel {
    def: &'static ClickModelDef,
    spec: String,
    fit: FitFunction,
}

json_by_text!(ClickModel, |model: &ClickModel| model.spec().to_owned(), ClickModel::parse);

/// Fits a click model to pages.
type FitFunction = Arc<dyn Fn(&Pages) -> Box<dyn PageProbabilities> + Send + Sync>;

impl ClickModel {
    /// Reads a spec such as `ubm(iterations=50)`.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let spec = Spec::parse(text)?;
        let def = CLICK_MODELS.iter().find(|def| def.name == spec.name).ok_or_else(|| {
            let known: Vec<&str> = CLICK_MODELS.iter().map(|def| def.name).collect();
            SpecError::unknown("click model", &spec.name, &known)
        })?;
        def.read(&spec)
    }

    /// The declaration of the model.
    pub fn def(&self) -> &'static ClickModelDef {
        self.def
    }

    /// The spec, with the parameters that differ from their defaults.
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// Fits the model to the pages of a log. The result is the same on any number of threads.
    pub fn fit(&self, pages: &Pages) -> FittedClickModel {
        FittedClickModel { spec: self.spec.clone(), probabilities: (self.fit)(pages) }
    }
}

/// The user browsing model, `ubm`, with its default parameters.
impl Default for ClickModel {
    fn default() -> Self {
        def::click_model(Ubm::default())
    }
}

impl fmt::Debug for ClickModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClickModel").field(&self.spec).finish()
    }
}

/// The examination of each rank under the position-based model without a prior.
pub(crate) fn fit_examination(pages: &Pages, iterations: u32) -> Vec<f64> {
    pbm::fit_examination(pages, iterations)
}

/// A click model with fitted parameters.
pub struct FittedClickModel {
    spec: String,
    probabilities: Box<dyn PageProbabilities>,
}

impl FittedClickModel {
    /// The spec of the model.
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// The fitted parameters.
    pub fn parameters(&self) -> Vec<NamedParameter> {
        self.probabilities.parameters()
    }
}

impl fmt::Debug for FittedClickModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FittedClickModel").field(&self.spec).finish()
    }
}
