//! A custom learner: the single best feature, with a parameter, a declaration and a spec.
//!
//! It is trained, cross-validated, tuned and printed like the learners of the crate:
//! `cargo run -p rankwright --example custom_learner`.
#![allow(clippy::print_stdout)]

use rankwright::data::Dataset;
use rankwright::data::generate::LetorOptions;
use rankwright::eval::ScoredDataset;
use rankwright::learn::prelude::*;
use rankwright::learn::tune::{Space, TuneData, TuneJob, TunePlan, TuneSettings};
use rankwright::learn::{
    CvOptions, DeclaredLearner, LearnError, LearnerDef, TargetOptions, TargetParams, Trainer,
};
use rankwright::model::{Linear, ModelBody};
use rankwright::spec::{SpecError, param_groups, params};

params! {
    /// Parameters of the best feature.
    pub struct BestFeatureParams {
        first: usize = 136, 1.., "Number of features that are tried, from the first on.";
    }
    /// Builder methods for the parameters of the best feature.
    pub trait BestFeatureOptions: best_feature_params;
}

param_groups! {
    /// The feature that ranks the training data best.
    pub struct BestFeature {
        own: BestFeatureParams, BestFeatureOptions::best_feature_params;
        target: TargetParams, TargetOptions::target_params;
    }
}

impl DeclaredLearner for BestFeature {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "best-feature",
        help: "The feature that ranks the training data best.",
        example: "best-feature(first=20)",
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        Ok(Box::new(BestFeatureTrainer { first: self.own.first }))
    }
}

/// The learner, ready to train.
#[derive(Debug)]
struct BestFeatureTrainer {
    first: usize,
}

impl BestFeatureTrainer {
    /// The first metric of the request, on the training data ranked by one feature.
    fn value(request: &TrainRequest<'_>, column: usize) -> Result<f64, LearnError> {
        let data = request.train;
        let scores: Vec<f64> =
            (0..data.rows()).map(|row| f64::from(data.matrix().get(row, column))).collect();
        let found = ScoredDataset::new(data, &scores)?.evaluate(&request.metrics)?;
        Ok(found.results[0].value)
    }
}

impl Trainer for BestFeatureTrainer {
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let data = request.train;
        let mut best = (0, f64::NEG_INFINITY);
        for column in 0..self.first.min(data.columns()) {
            let value = Self::value(request, column)?;
            if value > best.1 {
                best = (column, value);
            }
        }
        let mut weights = vec![0.0; data.columns()];
        weights[best.0] = 1.0;
        // The request knows the features, the feature set, the spec and the seed for the header.
        request.result(ModelBody::Linear(Linear::new(0.0, weights)?))
    }

    fn objective(&self) -> String {
        String::new()
    }
}

fn main() -> Result<(), LearnError> {
    let data: Dataset = LetorOptions { queries: 60, documents: 40, seed: 1 }.generate()?;
    let learner = BestFeature::default().first(100).metric("ap");
    let model = learner.fit(&data)?.model;
    println!("{} trained a {} model", model.header().learner, model.body().name());
    assert_eq!(model.header().learner, "best-feature(first=100, metric=ap)");

    let spec = LearnerSpec::new(learner)?;
    let options = CvOptions::default();
    let result = cross_validate(&spec, &data, &options)?;
    let pooled = &result.pooled.results[0];
    println!("{} on queries that it has not seen: {:.4}", pooled.measure, pooled.value);
    assert!(pooled.value > 0.3);

    let space = Space::new().int("first", 10..=136);
    let folds = TuneData::Folds { count: 3, valid_part: None };
    let settings = TuneSettings::new(folds).space(space).trials(4);
    let tuned = TunePlan::new(&spec, settings)?.run(&TuneJob::new(&data))?;
    let best = tuned.best().expect("trial 0 is the learner as given");
    println!("best of 4 trials: {}", best.spec);
    assert!(best.spec.to_string().starts_with("best-feature(first="));
    Ok(())
}
