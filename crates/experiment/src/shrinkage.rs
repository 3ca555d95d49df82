//! One learner with several shrinkages (rates of learning): the trainings of
//! [`ShrinkageReport`](rankwright_report::training::ShrinkageReport).
//!
//! Every training has the same data, seed and parameters but for `rate`. The best number of rounds of
//! each is chosen on the validation data itself.

use rankwright_eval::{Measure, ScoredDataset};
use rankwright_learn::simd::Simd;
use rankwright_learn::{
    LearnerSpec, Progress, TrainRequest, TrainResult, TrainingHistory, ValidationSet,
};
use rankwright_model::{Model, ModelBody, ScoreOptions};
use rankwright_report::training::{NamedData, ShrinkageInput, ShrinkageReport, ShrinkageRun};

use crate::ExperimentError;

/// A learner, the data to train and validate it on, and how to train it.
#[derive(Debug, Clone)]
pub struct ShrinkageRequest<'a> {
    /// The learner; its rate is replaced.
    pub learner: LearnerSpec,
    /// Training data.
    pub train: NamedData<'a>,
    /// Validation data.
    pub valid: NamedData<'a>,
    /// The metric to watch.
    pub measure: Measure,
    /// Seed of every training.
    pub seed: u64,
    /// How the validation data is matched with the model.
    pub score: ScoreOptions,
    /// Which machine code to run.
    pub simd: Simd,
}

impl ShrinkageRequest<'_> {
    /// The learner with another rate.
    pub fn with_rate(&self, rate: f64) -> Result<LearnerSpec, ExperimentError> {
        let info = self.learner.info();
        if !info.params.iter().any(|param| param.name == "rate") {
            return Err(ExperimentError::NoRate { learner: info.name.to_owned() });
        }
        let spec = self.learner.canonical().clone().with("rate", rate.to_string());
        Ok(LearnerSpec::from_spec(spec)?)
    }

    /// Trains with a rate; `None` where the progress wanted to stop.
    pub fn train(
        &self,
        rate: f64,
        progress: &dyn Progress,
    ) -> Result<Option<ShrinkageRun>, ExperimentError> {
        let learner = self.with_rate(rate)?;
        let valid = ValidationSet { name: self.valid.name.to_owned(), data: self.valid.data };
        let outcome = learner.train(TrainRequest {
            valid: vec![valid],
            metrics: vec![self.measure.clone()],
            watch_training: true,
            seed: self.seed,
            features: self.score,
            progress,
            simd: self.simd,
            ..TrainRequest::new(self.train.data)
        })?;
        if !outcome.finished {
            return Ok(None);
        }
        if outcome.history.iterations.is_empty() {
            return Err(ExperimentError::NoRounds { learner: learner.to_string() });
        }
        let TrainResult { model, history, .. } = outcome;
        let best = best_model(model, &history)?.score(self.valid.data, self.score)?;
        let best = ScoredDataset::new(self.valid.data, &best)?
            .evaluate(std::slice::from_ref(&self.measure))?;
        Ok(Some(ShrinkageRun { rate, learner: learner.to_string(), history, best }))
    }

    /// Compares the best models of trainings.
    pub fn report(&self, runs: Vec<ShrinkageRun>) -> Result<ShrinkageReport, ExperimentError> {
        let input = ShrinkageInput {
            learner: self.learner.to_string(),
            train: self.train,
            valid: self.valid,
            measure: self.measure.clone(),
            seed: self.seed,
        };
        Ok(ShrinkageReport::new(&input, runs)?)
    }
}

/// The model of the best number of trees; other learners have chosen it already.
fn best_model(model: Model, history: &TrainingHistory) -> Result<Model, ExperimentError> {
    let (header, kind) = model.into_parts();
    let kind = match (kind, history.best) {
        (ModelBody::Trees(ensemble), Some(best)) => ModelBody::Trees(ensemble.truncated(best)),
        (kind, _) => kind,
    };
    Ok(Model::new(header, kind)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::generate::LetorOptions;
    use rankwright_learn::NoProgress;
    use rankwright_report::chart::{Body, Chart};
    use rankwright_report::page::Block;

    fn report(learner: &str, rates: &[f64]) -> Result<ShrinkageReport, ExperimentError> {
        let data = LetorOptions { queries: 60, documents: 20, seed: 4 }.generate().unwrap();
        let (train, valid) = data.hold_out(0.2, 1).unwrap();
        let learner = LearnerSpec::parse(learner).unwrap();
        let request = ShrinkageRequest {
            measure: learner.measure().unwrap(),
            learner,
            train: NamedData { name: "train", data: &train },
            valid: NamedData { name: "valid", data: &valid },
            seed: 1,
            score: ScoreOptions::default(),
            simd: Simd::Auto,
        };
        let runs = rates.iter().map(|rate| request.train(*rate, &NoProgress));
        let runs: Result<Vec<_>, _> = runs.collect();
        request.report(runs?.into_iter().flatten().collect())
    }

    #[test]
    fn each_rate_has_its_curve_and_the_best_value_is_that_of_its_best_round() {
        let found = report("lambdamart(trees=15, leaves=6, min_rows=5)", &[1.0, 0.1]).unwrap();
        for run in &found.runs {
            let curve = run.curve(1);
            let most = curve.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert_eq!((curve.len(), run.value()), (15, most));
            assert_eq!(curve[run.rounds() - 1], most);
        }
        // One tree alone ranks the same whatever part of its step is taken.
        assert_eq!(found.runs[0].curve(0)[0], found.runs[1].curve(0)[0]);
        assert_ne!(found.runs[0].curve(0), found.runs[1].curve(0));
        assert_eq!(found.runs[1].learner, "lambdamart(trees=15, rate=0.1, leaves=6, min_rows=5)");
        let page = found.page();
        let charts = page.sections.iter().flat_map(|section| &section.blocks);
        let lines = charts.filter_map(|block| match block {
            Block::Chart(Chart { body: Body::Lines(lines), .. }) => Some(lines.len()),
            _ => None,
        });
        assert_eq!(lines.collect::<Vec<_>>(), [2, 2]);
        assert_eq!(found.table().rows.len(), 2);
        assert_eq!(found.json()["runs"][1]["validation"].as_array().unwrap().len(), 15);
        let json = found.json();
        let versus = |run: usize| json["runs"][run]["versus_best"].is_object();
        assert!(!versus(found.best) && versus(1 - found.best));
    }

    #[test]
    fn one_rate_is_not_compared_and_learners_without_rate_are_refused() {
        let found = report("mart(trees=3, leaves=4)", &[0.5]).unwrap();
        assert!(found.comparison.is_none());
        let error = report("linear-regression", &[0.5]).unwrap_err();
        assert!(
            matches!(error, ExperimentError::NoRate { learner } if learner == "linear-regression")
        );
    }
}
