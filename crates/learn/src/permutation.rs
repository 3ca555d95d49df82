//! Permutation importance: the amount by which a metric gets worse when the values of one feature
//! are shuffled among all rows (Breiman, Random Forests, 2001, section 10). This amount is called
//! the drop of the metric.
//!
//! The feature's column is shuffled as a whole, across queries, `repeats` times. The random orders
//! depend on (seed, feature, repeat) alone, so that neither threads nor the other features change a
//! digit. The drop is `value - value with the shuffled column` (with the opposite sign for metrics
//! where lower is better); its mean and its standard deviation over the repeats are reported. A
//! feature that is not in the data has a drop of exactly 0. Cost: features x repeats x (scoring +
//! evaluating), in parallel over features.

use rankwright_data::{DEFAULT_SEED, Dataset, Random};
use rankwright_eval::compare::Better;
use rankwright_eval::{BoundaryText, Measure, ScoredDataset};
use rankwright_model::{Model, ScoreOptions};
use rankwright_spec::{check_params, params};
use rayon::prelude::*;

use crate::error::LearnError;

/// The amount by which a metric gets worse when one feature is shuffled, for each feature that the
/// model uses.
///
/// ```
/// use rankwright_data::generate::LetorOptions;
/// use rankwright_eval::{MetricSpec, SourceKind};
/// use rankwright_learn::{TrainRequest, LearnerSpec};
/// use rankwright_model::ScoreOptions;
/// use rankwright_learn::permutation::{PermutationImportance, PermutationPlan};
///
/// let data = LetorOptions { queries: 20, documents: 20, seed: 1 }.generate()?;
/// let learner = LearnerSpec::parse("lambdamart(trees=5, leaves=4)")?;
/// let model = learner.train(TrainRequest::new(&data))?.model;
/// let ndcg = MetricSpec::parse("ndcg@10")?.resolve(SourceKind::Features)?;
/// let plan = PermutationPlan::new().repeats(2).seed(1);
/// let found = PermutationImportance::new(&model, &data, ndcg, plan)?;
/// assert_eq!(found.drops.len(), model.used_features().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PermutationImportance {
    /// The measure: a metric with its parameters.
    pub measure: Measure,
    /// The measure's value on the unshuffled data.
    pub value: f64,
    /// The number of each feature and the drop of the metric in each repeat, ascending by feature.
    pub drops: Vec<(usize, Vec<f64>)>,
}

params! {
    /// Parameters of the shuffling that are numbers.
    #[derive(Copy, Eq)]
    pub struct PermutationParams {
        repeats: usize = 5, 1..=1_000_000, "Number of shuffles of each feature.";
        seed: u64 = DEFAULT_SEED, .., "Seed of the shuffling.";
    }
}

/// Parameters of the shuffling, and the rule of scoring.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PermutationPlan {
    /// Number of times each feature is shuffled, at least 1.
    pub repeats: usize,
    /// Seed of the shuffling.
    pub seed: u64,
    /// Options for scoring the data with the model.
    pub options: ScoreOptions,
}

impl Default for PermutationPlan {
    /// Five repeats with the default seed.
    fn default() -> Self {
        let PermutationParams { repeats, seed } = PermutationParams::default();
        PermutationPlan { repeats, seed, options: ScoreOptions::default() }
    }
}

impl PermutationPlan {
    /// Five repeats with the default seed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of times each feature is shuffled, at least 1.
    #[must_use]
    pub fn repeats(mut self, repeats: usize) -> Self {
        self.repeats = repeats;
        self
    }

    /// Sets the seed of the shuffling.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the options for scoring the data with the model.
    #[must_use]
    pub fn options(mut self, options: ScoreOptions) -> Self {
        self.options = options;
        self
    }
}

impl PermutationImportance {
    /// The importance of every feature that the model uses.
    pub fn new(
        model: &Model,
        data: &Dataset,
        measure: Measure,
        plan: PermutationPlan,
    ) -> Result<PermutationImportance, LearnError> {
        PermutationImportance::of_features(model, data, measure, plan, model.used_features())
    }

    /// The importance of some features only; their drops equal those of
    /// [`PermutationImportance::new`].
    pub fn of_features(
        model: &Model,
        data: &Dataset,
        measure: Measure,
        plan: PermutationPlan,
        mut features: Vec<usize>,
    ) -> Result<PermutationImportance, LearnError> {
        let PermutationPlan { repeats, seed, options: _ } = plan;
        check_params(&PermutationParams { repeats, seed }, "permutation importance")?;
        features.sort_unstable();
        features.dedup();
        let measure = measure.with_boundary(BoundaryText::Number, |rel| model.boundary(rel))?;
        let value = metric_value(data, &model.score(data, plan.options)?, &measure)?;
        if value.is_nan() {
            return Err(LearnError::MetricUndefined {
                metric: measure.to_string(),
                convention: measure.convention().to_owned(),
            });
        }
        let drops: Result<Vec<_>, LearnError> = features
            .into_par_iter()
            .map(|feature| {
                let drop = |repeat| {
                    let order = shuffled_rows(data.rows(), feature, repeat, plan);
                    let scores = model.score_permuted(data, plan.options, feature, &order)?;
                    let shuffled_value = metric_value(data, &scores, &measure)?;
                    Ok(match measure.metric().better() {
                        Better::Lower => shuffled_value - value,
                        _ => value - shuffled_value,
                    })
                };
                Ok((feature, (0..plan.repeats).map(drop).collect::<Result<_, LearnError>>()?))
            })
            .collect();
        Ok(PermutationImportance { measure, value, drops: drops? })
    }

    /// Mean and standard deviation of the metric's drop for a feature over the repeats; `None` for
    /// a feature that was not shuffled, and `None` as deviation if there was only one repeat.
    pub fn mean_and_deviation(&self, feature: usize) -> Option<(f64, Option<f64>)> {
        let index = self.drops.binary_search_by_key(&feature, |(feature, _)| *feature).ok()?;
        let drops = &self.drops[index].1;
        let n = drops.len() as f64;
        let mean = drops.iter().sum::<f64>() / n;
        let squares: f64 = drops.iter().map(|drop| (drop - mean) * (drop - mean)).sum();
        Some((mean, (drops.len() > 1).then(|| (squares / (n - 1.0)).sqrt())))
    }
}

/// All rows in a random order, drawn for one feature and one repeat.
fn shuffled_rows(rows: usize, feature: usize, repeat: usize, plan: PermutationPlan) -> Vec<u32> {
    let mut order: Vec<u32> = (0..rows as u32).collect();
    // A stream of random numbers for each feature and repeat.
    let stream = (feature as u64) << 32 | repeat as u64;
    Random::new(plan.seed, stream).shuffle(&mut order);
    order
}

/// The value of a measure on data with these scores; NaN if it has none.
fn metric_value(data: &Dataset, scores: &[f64], measure: &Measure) -> Result<f64, LearnError> {
    let found = ScoredDataset::new(data, scores)?.evaluate(std::slice::from_ref(measure))?;
    Ok(found.results.first().map_or(f64::NAN, |result| result.value))
}
