//! One learner with several shrinkages (learning rates): the trainings of
//! [`ShrinkageReport`](rankwright_report::training::ShrinkageReport).
//!
//! Every training has the same data, seed and parameters except for `rate`. The best number of
//! rounds of each is chosen on the first validation set, on which the models are also compared.

use rankwright_data::DEFAULT_SEED;
use rankwright_eval::{Measure, ScoredDataset, measures_for_model};
use rankwright_learn::simd::Simd;
use rankwright_learn::{
    LearnerSpec, Progress, TrainRequest, TrainResult, TrainWarning, TrainingHistory, ValidationSet,
};
use rankwright_model::{Model, ModelBody, ScoreOptions};
use rankwright_report::ReportWarning;
use rankwright_report::training::{NamedData, ShrinkageInput, ShrinkageReport, ShrinkageRun};

use crate::ExperimentError;
use crate::held_out::hold_out;

/// A learner, the rates to train it with, and data to train and validate it on.
///
/// ```
/// use rankwright_data::generate::LetorOptions;
/// use rankwright_experiment::ShrinkageRequest;
/// use rankwright_learn::{LearnerSpec, NoProgress};
/// use rankwright_report::training::NamedData;
///
/// let data = LetorOptions { queries: 30, documents: 10, seed: 1 }.generate()?;
/// let learner = LearnerSpec::parse("mart(trees=5, leaves=4)")?;
/// let train = NamedData { name: "train.txt", data: &data };
/// let request = ShrinkageRequest::new(learner, train).rates(vec![1.0, 0.1]);
/// let report = request.run(|_| NoProgress)?.expect("nothing stops it");
/// assert_eq!(report.runs.len(), 2);
/// assert_eq!(report.warnings.len(), 1, "6 of 30 queries are held out to validate on");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ShrinkageRequest<'a> {
    /// The learner; its rate is replaced.
    pub learner: LearnerSpec,
    /// The learning rates.
    pub rates: Vec<f64>,
    /// Training data.
    pub train: NamedData<'a>,
    /// Validation sets; the first one determines the best round. If empty, a fifth of the training
    /// queries, drawn by the seed, is held out.
    pub valid: Vec<NamedData<'a>>,
    /// The metric to compute after each round; `None` for the metric of the learner.
    pub measure: Option<Measure>,
    /// Seed of every training, and of the held-out queries.
    pub seed: u64,
    /// Options of scoring validation data with the model.
    pub score: ScoreOptions,
    /// The SIMD instruction set to use.
    pub simd: Simd,
}

impl<'a> ShrinkageRequest<'a> {
    /// The rates of a request that names none.
    pub const DEFAULT_RATES: [f64; 4] = [1.0, 0.5, 0.1, 0.01];

    /// A request with the default rates and settings.
    pub fn new(learner: LearnerSpec, train: NamedData<'a>) -> Self {
        Self {
            learner,
            rates: Self::DEFAULT_RATES.to_vec(),
            train,
            valid: Vec::new(),
            measure: None,
            seed: DEFAULT_SEED,
            score: ScoreOptions::default(),
            simd: Simd::Auto,
        }
    }

    /// Sets the learning rates.
    #[must_use]
    pub fn rates(mut self, rates: Vec<f64>) -> Self {
        self.rates = rates;
        self
    }

    /// Sets the validation sets; the first one determines the best round.
    #[must_use]
    pub fn valid(mut self, sets: Vec<NamedData<'a>>) -> Self {
        self.valid = sets;
        self
    }

    /// Sets the metric to compute after each round; `None` for the metric of the learner.
    #[must_use]
    pub fn measure(mut self, measure: impl Into<Option<Measure>>) -> Self {
        self.measure = measure.into();
        self
    }

    /// Sets the seed of every training, and of the held-out queries.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the options of scoring validation data with the model.
    #[must_use]
    pub fn score(mut self, options: ScoreOptions) -> Self {
        self.score = options;
        self
    }

    /// Sets the SIMD instruction set to use.
    #[must_use]
    pub fn simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }

    /// Trains with every rate and compares the best models. `progress` makes a receiver of progress
    /// events for each training, which is dropped at its end. `None` if a receiver asked to stop.
    pub fn run<P: Progress>(
        &self,
        mut progress: impl FnMut(&LearnerSpec) -> P,
    ) -> Result<Option<ShrinkageReport>, ExperimentError> {
        let learners = Self::learners(&self.learner, &self.rates)?;
        let measure = match &self.measure {
            Some(measure) => measure.clone(),
            None => self.learner.measure()?,
        };
        let held_out = match self.valid.is_empty() {
            true => Some(hold_out(&self.train, self.seed)?),
            false => None,
        };
        let (train, valid) = match &held_out {
            Some(held_out) => (held_out.train(), vec![held_out.valid()]),
            None => (self.train, self.valid.clone()),
        };
        let input = ShrinkageInput {
            learner: self.learner.to_string(),
            train,
            valid,
            measure,
            seed: self.seed,
        };
        let (mut runs, mut warnings) = (Vec::new(), Vec::new());
        for (rate, learner) in self.rates.iter().zip(&learners) {
            let receiver = progress(learner);
            match self.train(&input, *rate, learner, &receiver)? {
                Some((run, run_warnings)) => {
                    let learner = learner.to_string();
                    let report_warning =
                        |warning| ReportWarning::Training { learner: learner.clone(), warning };
                    warnings.extend(run_warnings.into_iter().map(report_warning));
                    runs.push(run);
                }
                None => return Ok(None),
            }
        }
        let mut report = ShrinkageReport::new(&input, runs)?;
        report.warnings.extend(held_out.map(|held_out| held_out.warning()));
        report.warnings.extend(warnings);
        Ok(Some(report))
    }

    /// The learner with each rate, or the error in the rates or the learner.
    pub fn learners(
        learner: &LearnerSpec,
        rates: &[f64],
    ) -> Result<Vec<LearnerSpec>, ExperimentError> {
        let def = learner.def();
        if !def.params().iter().any(|param| param.name == "rate") {
            return Err(ExperimentError::NoRate { learner: def.name.to_owned() });
        }
        let mut learners = Vec::new();
        for (i, rate) in rates.iter().enumerate() {
            if !(rate.is_finite() && *rate > 0.0) {
                return Err(ExperimentError::BadRate { rate: *rate });
            }
            if rates[..i].contains(rate) {
                return Err(ExperimentError::RateTwice { rate: *rate });
            }
            let spec = learner.canonical().clone().with("rate", rate.to_string());
            learners.push(LearnerSpec::from_spec(spec)?);
        }
        Ok(learners)
    }

    /// Trains with one rate; `None` if the receiver of progress events asked to stop.
    fn train<'d>(
        &self,
        input: &ShrinkageInput<'d>,
        rate: f64,
        learner: &LearnerSpec,
        progress: &dyn Progress,
    ) -> Result<Option<(ShrinkageRun, Vec<TrainWarning>)>, ExperimentError> {
        let set = |set: &NamedData<'d>| ValidationSet::new(set.name, set.data);
        let request = TrainRequest::new(input.train.data)
            .validation_sets(input.valid.iter().map(set))
            .metrics([input.measure.clone()])
            .evaluate_training(true)
            .seed(self.seed)
            .features(self.score)
            .progress(progress)
            .simd(self.simd);
        let outcome = learner.train(request)?;
        if !outcome.finished {
            return Ok(None);
        }
        if outcome.history.iterations.is_empty() {
            return Err(ExperimentError::NoRounds { learner: learner.to_string() });
        }
        let TrainResult { model, history, mut warnings, .. } = outcome;
        // These are the same for every rate.
        warnings.retain(|warning| !warning.is_about_data());
        let Some(valid) = input.valid.first() else {
            return Err(ExperimentError::Internal { invariant: "there is a validation set" });
        };
        let best_model = best_model(model, &history)?;
        let measures = std::slice::from_ref(&input.measure);
        let measures = measures_for_model(measures, |rel| best_model.boundary(rel))?;
        let best = best_model.score(valid.data, self.score)?;
        let best = ScoredDataset::new(valid.data, &best)?.evaluate(&measures)?;
        Ok(Some((ShrinkageRun { rate, learner: learner.to_string(), history, best }, warnings)))
    }
}

/// The model with its best number of trees. Models that are not trees are returned unchanged: their
/// training keeps the best round.
fn best_model(model: Model, history: &TrainingHistory) -> Result<Model, ExperimentError> {
    let (header, body) = model.into_parts();
    let body = match (body, history.best) {
        (ModelBody::Trees(ensemble), Some(best)) => ModelBody::Trees(ensemble.truncated(best)),
        (body, _) => body,
    };
    Ok(Model::new(header, body)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::generate::LetorOptions;
    use rankwright_learn::NoProgress;
    use rankwright_report::chart::{Body, Chart};
    use rankwright_report::page::PageBlock;

    fn report(learner: &str, rates: &[f64]) -> Result<ShrinkageReport, ExperimentError> {
        let data = LetorOptions { queries: 60, documents: 20, seed: 4 }.generate().unwrap();
        let request = ShrinkageRequest {
            rates: rates.to_vec(),
            ..ShrinkageRequest::new(
                LearnerSpec::parse(learner).unwrap(),
                NamedData { name: "all", data: &data },
            )
        };
        Ok(request.run(|_| NoProgress)?.unwrap())
    }

    #[test]
    fn each_rate_has_its_curve_and_the_best_value_is_that_of_its_best_round() {
        let found = report("lambdamart(trees=15, leaves=6, min_rows=5)", &[1.0, 0.2]).unwrap();
        for run in &found.runs {
            let curve = run.curve(1);
            let highest = curve.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert_eq!((curve.len(), run.value()), (15, highest));
            assert_eq!(curve[run.rounds() - 1], highest);
        }
        // A single tree gives the same ranking for every rate.
        assert_eq!(found.runs[0].curve(0)[0], found.runs[1].curve(0)[0]);
        assert_ne!(found.runs[0].curve(0), found.runs[1].curve(0));
        assert_eq!(found.runs[1].learner, "lambdamart(trees=15, rate=0.2, leaves=6, min_rows=5)");
        let page = found.page();
        let charts = page.sections.iter().flat_map(|section| &section.blocks);
        let lines = charts.filter_map(|block| match block {
            PageBlock::Chart(Chart { body: Body::Lines(lines), .. }) => Some(lines.len()),
            _ => None,
        });
        assert_eq!(lines.collect::<Vec<_>>(), [2, 2]);
        assert_eq!(found.table().rows.len(), 2);
        let json = serde_json::to_value(&found).unwrap();
        assert_eq!(json["runs"][1]["validation"].as_array().unwrap().len(), 15);
        let is_compared = |run: usize| json["runs"][run]["versus_best"].is_object();
        assert!(!is_compared(found.best) && is_compared(1 - found.best));
    }

    #[test]
    fn one_rate_is_not_compared_and_learners_without_a_rate_are_rejected() {
        let found = report("mart(trees=3, leaves=4)", &[0.5]).unwrap();
        assert!(found.comparison.is_none());
        let error = report("linear-regression", &[0.5]).unwrap_err();
        assert!(
            matches!(error, ExperimentError::NoRate { learner } if learner == "linear-regression")
        );
    }

    #[test]
    fn rates_must_be_above_0_and_different() {
        let error = |rates: &[f64]| report("mart(trees=3, leaves=4)", rates).unwrap_err();
        assert!(matches!(error(&[0.5, 0.0]), ExperimentError::BadRate { rate: 0.0 }));
        assert!(matches!(error(&[f64::NAN]), ExperimentError::BadRate { .. }));
        assert!(matches!(error(&[0.5, 0.5]), ExperimentError::RateTwice { rate: 0.5 }));
    }

    #[test]
    fn each_validation_set_has_a_curve_and_the_first_is_used_for_early_stopping() {
        let data = |seed| LetorOptions { queries: 20, documents: 10, seed }.generate().unwrap();
        let (train, one, two) = (data(1), data(2), data(3));
        let request = ShrinkageRequest {
            rates: vec![0.5],
            valid: vec![
                NamedData { name: "one", data: &one },
                NamedData { name: "two", data: &two },
            ],
            ..ShrinkageRequest::new(
                LearnerSpec::parse("mart(trees=4, leaves=4)").unwrap(),
                NamedData { name: "train", data: &train },
            )
        };
        let found = request.run(|_| NoProgress).unwrap().unwrap();
        assert_eq!(found.sets, ["train", "one", "two"]);
        assert_eq!(found.warnings, []);
        let run = &found.runs[0];
        assert_ne!(run.curve(1), run.curve(2));
        assert_eq!(run.value(), run.curve(1)[run.rounds() - 1]);
        let ids: Vec<String> = found.page().sections.into_iter().map(|s| s.id).collect();
        assert_eq!(ids, ["valid", "valid-2", "train", "values"]);
    }
}
