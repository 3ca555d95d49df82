//! The linear model with weights given in the spec; nothing is learnt.
//!
//! With data, the weights must name features of the data, and the model has all features of the
//! data; without data, the model has the features that the weights name.

use rankwright_data::Absent;
use rankwright_eval::SourceKind;
use rankwright_model::{Header, Linear, Model, ModelBody};
use rankwright_spec::{
    ParamKind, ParamValue, RangeDef, SpecError, TextValue, ValueError, param_groups, params,
    write_spec,
};

use super::{DeclaredLearner, LearnerDef, TargetOptions, TargetParams};
use crate::error::LearnError;
use crate::session::{TrainRequest, TrainResult, result_without_rounds};
use crate::trainer::Trainer;
use crate::tree::trim_around;

/// Weights by feature name or id: `22:0.03/72:0.06`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WeightsText(String);

impl WeightsText {
    /// The name or id and the weight of each feature.
    fn weights(&self) -> Result<Vec<(String, f64)>, ValueError> {
        let expected =
            || ValueError::Expected("weights by feature, such as 22:0.03/72:0.06".into());
        Linear::parse_weights(&self.0).map_err(|_| expected())
    }
}

impl ParamValue for WeightsText {
    fn kind() -> ParamKind {
        ParamKind::Text
    }

    fn read(text: &str, _: &RangeDef) -> Result<Self, ValueError> {
        let value = Self::from_text(text);
        value.check()?;
        Ok(value)
    }

    fn write(&self) -> String {
        self.0.clone()
    }

    fn check(&self) -> Result<(), ValueError> {
        match self.is_absent() {
            true => Ok(()),
            false => self.weights().map(drop),
        }
    }

    fn is_absent(&self) -> bool {
        self.0.is_empty()
    }
}

impl TextValue for WeightsText {
    fn from_text(text: &str) -> Self {
        Self(trim_around(text, "/"))
    }
}

params! {
    /// Weights given by the user.
    pub struct FixedWeightsParams {
        weights: WeightsText = WeightsText::default(), ..,
            "Weights by feature name or id, separated by slashes: 22:0.03/72:0.06.";
        bias: f64 = 0.0, .., "Constant that is added to every score.";
    }
    /// Builder methods for given weights.
    pub trait FixedWeightsOptions: fixed_weights_params;
}

param_groups! {
    /// A linear model of given weights: nothing is learnt.
    pub struct FixedWeights {
        linear: FixedWeightsParams, FixedWeightsOptions::fixed_weights_params;
        // The metric of reports.
        target: TargetParams, TargetOptions::target_params;
    }
}

super::learners![FixedWeights];

impl DeclaredLearner for FixedWeights {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "linear",
        help: "A linear model with given weights: nothing is learnt; a hand-tuned baseline.",
        example: "linear(weights=22:0.03/72:0.06, bias=0)",
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let weights = self.linear.weights.weights();
        let weights = weights.map_err(|e| e.at("linear", "weights", &self.linear.weights.0))?;
        Ok(Box::new(FixedWeightsTrainer { learner: self.clone(), weights }))
    }
}

/// Given weights, read and checked.
#[derive(Debug)]
struct FixedWeightsTrainer {
    learner: FixedWeights,
    /// The name or id and the weight of each feature.
    weights: Vec<(String, f64)>,
}

impl FixedWeightsTrainer {
    /// The model over the features that the weights name.
    fn model_of_named_features(&self) -> Result<Model, LearnError> {
        let names = Linear::names_of(&self.weights)?;
        let linear = Linear::from_weights(&names, self.learner.linear.bias, &self.weights)?;
        let mut header = Header::new(names, Absent::Zero);
        header.learner = write_spec(FixedWeights::DEF.name, &self.learner).to_string();
        let measure = self.learner.target.metric.spec()?.resolve(SourceKind::Features)?;
        header.metric = measure.to_string();
        header.conventions = measure.convention().to_owned();
        Ok(Model::new(header, ModelBody::Linear(linear))?)
    }
}

impl Trainer for FixedWeightsTrainer {
    /// The model over all features of the data.
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let names = request.train.features();
        let linear = Linear::from_weights(names, self.learner.linear.bias, &self.weights)?;
        result_without_rounds(request, ModelBody::Linear(linear))
    }

    fn objective(&self) -> String {
        String::new()
    }

    fn model_without_data(&self) -> Option<Result<Model, LearnError>> {
        Some(self.model_of_named_features())
    }
}
