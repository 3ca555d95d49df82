//! The line that someone tuned by hand: weights given in the spec, nothing learnt.
//!
//! With data, the weights must name features of it and the model has all of them; without, the
//! weights themselves say which features there are.

use rankwright_data::Absent;
use rankwright_eval::Params;
use rankwright_model::{Header, Linear, Model, ModelBody};
use rankwright_spec::SpecError;

use super::LearnerSpec;
use crate::error::LearnError;
use crate::session::empty_history;
use crate::session::{TrainRequest, TrainResult};

/// A bias and weights by feature.
#[derive(Debug, Clone)]
pub(super) struct Given {
    bias: f64,
    weights: Vec<(String, f64)>,
}

impl Given {
    /// Reads `weights=` and `bias=`.
    pub(super) fn read(params: &Params<'_>) -> Result<Self, SpecError> {
        const EXPECTED: &str = "weights by feature, such as 22:0.03/72:0.06";
        let text = params.text("weights").ok_or_else(|| SpecError::MissingKey {
            name: params.name().to_owned(),
            key: "weights".to_owned(),
            expected: EXPECTED.to_owned(),
        })?;
        let weights = Linear::parse_weights(text);
        let weights = weights.map_err(|_| params.bad("weights", text, EXPECTED))?;
        Ok(Self { bias: params.f64("bias", 0.0)?, weights })
    }

    /// The line over the features that the weights name.
    pub(super) fn alone(&self, learner: &LearnerSpec) -> Result<Model, LearnError> {
        let names = Linear::names_of(&self.weights)?;
        let line = Linear::from_weights(&names, self.bias, &self.weights)?;
        let mut header = Header::new(names, Absent::Zero);
        header.learner = learner.to_string();
        let measure = learner.measure()?;
        header.metric = measure.to_string();
        header.conventions = measure.convention().to_owned();
        Ok(Model::new(header, ModelBody::Linear(line))?)
    }

    /// The line over all features of the data.
    pub(super) fn train(&self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        if request.start.is_some() {
            return Err(LearnError::StartUnsupported { learner: "linear".to_owned() });
        }
        let names = request.train.features().clone();
        let line = Linear::from_weights(&names, self.bias, &self.weights)?;
        let mut header = Header::new(names, request.train.absent());
        header.learner.clone_from(&request.learner);
        if let Some(measure) = request.metrics.first() {
            header.metric = measure.to_string();
            header.conventions = measure.convention().to_owned();
        }
        let history = empty_history(request);
        let model = Model::new(header, ModelBody::Linear(line))?;
        Ok(TrainResult { model, history, finished: true })
    }
}
