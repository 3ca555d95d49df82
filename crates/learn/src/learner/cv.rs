//! Cross validation by query: every query is tested once, by a model that has not seen it.
//!
//! The queries are shuffled by the seed and cut into folds of nearly equal size; for each fold a
//! model is trained on the queries of the other folds. For a learner that stops early (`stop=`) or
//! chooses among models, a part of these training queries is set aside as validation data
//! (`valid_part`). Other learners train on all training queries. Results are values per query,
//! so that learners can be compared query by query. The folds depend only on the number of queries
//! and the seed: two learners see the same folds.
//!
//! Cost: as many trainings as folds, one after the other (each uses all threads).

use std::fmt::Debug;

use rankwright_data::split::{Parts, folds};
use rankwright_data::{DEFAULT_SEED, DataError, Dataset, Random};
use rankwright_eval::{
    EvalOptions, Evaluation, Measure, MeasureResult, ScoredDataset, evaluate_models,
    measures_for_models, measures_without_boundary,
};
use rankwright_model::{ModelBody, ScoreMeaning, ScoreOptions};
use rankwright_spec::{above, params};
use serde::Serialize;

use super::LearnerSpec;
use crate::error::LearnError;
use crate::session::validation::measures_for;
use crate::session::{NoProgress, Progress, TrainRequest, TrainWarning, ValidationSet};
use crate::simd::Simd;
use crate::trainer::ValidationUse;

/// Any constant: keeps the random numbers that choose validation queries apart from those of
/// trainings with the same seed.
const VALIDATION_STREAM: u64 = 0x0a51_de00;

params! {
    /// The division of the queries in a cross validation.
    pub struct FoldParams {
        folds: usize = 5, 2.., "Number of folds by query, at least 2.";
        seed: u64 = DEFAULT_SEED, .., "Seed of the folds and the trainings.";
        valid_part: Option<f64> = None, above(0.0).below(1.0),
            "Fraction of each fold's training queries that decides on early stopping, for learners \
             that stop early or choose among models; the others train on all.";
    }
}

/// Options of cross validation.
#[derive(Clone)]
#[non_exhaustive]
pub struct CvOptions<'a> {
    /// Number of folds, seed, and the part of the training queries to validate on.
    pub division: FoldParams,
    /// Metrics to compute; the first one is used for early stopping and for choosing the model. If
    /// empty: those of [`LearnerSpec::measures_on`].
    pub metrics: Vec<Measure>,
    /// The instruction set to use.
    pub simd: Simd,
    /// Receives the progress events of each training.
    pub progress: &'a dyn Progress,
}

/// Five folds with the learner's own metrics.
impl Default for CvOptions<'_> {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl<'a> CvOptions<'a> {
    /// Five folds without a validation part.
    pub fn new(metrics: Vec<Measure>) -> Self {
        Self { division: FoldParams::default(), metrics, simd: Simd::Auto, progress: &NoProgress }
    }

    /// Sets the division of the queries.
    #[must_use]
    pub fn division(mut self, division: FoldParams) -> Self {
        self.division = division;
        self
    }

    /// Sets the number of folds.
    #[must_use]
    pub fn folds(mut self, folds: usize) -> Self {
        self.division.folds = folds;
        self
    }

    /// Sets the seed of the folds and of the trainings.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.division.seed = seed;
        self
    }

    /// Sets the fraction of each fold's training queries to validate on.
    #[must_use]
    pub fn valid_part(mut self, part: impl Into<Option<f64>>) -> Self {
        self.division.valid_part = part.into();
        self
    }

    /// Sets the instruction set to use.
    #[must_use]
    pub fn simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }

    /// Sets the receiver of progress events, which may also cancel.
    #[must_use]
    pub fn progress(mut self, progress: &'a dyn Progress) -> Self {
        self.progress = progress;
        self
    }
}

impl Debug for CvOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CvOptions").field("division", &self.division).finish_non_exhaustive()
    }
}

/// The result of one fold.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct FoldResult {
    /// Numbers of the tested queries, from 0, ascending.
    pub queries: Vec<usize>,
    /// Number of queries trained on.
    pub trained: usize,
    /// Number of queries set aside for validation.
    pub validated: usize,
    /// Number of trees of the fold's model (0 for a model without trees).
    pub trees: usize,
    /// Each metric on the tested queries.
    pub results: Vec<MeasureResult>,
    /// Seconds of binning and training.
    pub seconds: f64,
    /// Warnings about the fold's model.
    pub warnings: Vec<TrainWarning>,
    /// Metrics that compare scores with the model's boundary between relevant and other documents,
    /// if the fold's model has no boundary: they were computed with their default threshold.
    pub without_boundary: Vec<String>,
}

/// The result of a cross validation.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CvResult {
    /// The folds.
    pub folds: Vec<FoldResult>,
    /// Each row's score by the model that was not trained on its query.
    pub scores: Vec<f64>,
    /// Each metric over all queries, with the value of each query. A metric that compares scores
    /// with the model's boundary between relevant and other documents takes that of each fold's
    /// model.
    pub pooled: Evaluation,
    /// False if a training was cancelled; then later folds are missing from `folds`, and the values
    /// of `pooled` are meaningless.
    pub finished: bool,
}

/// Cross-validates a learner.
///
/// ```
/// use rankwright_data::generate::LetorOptions;
/// use rankwright_learn::{CvOptions, LearnerSpec, cross_validate};
///
/// let data = LetorOptions { queries: 30, documents: 20, seed: 1 }.generate()?;
/// let learner = LearnerSpec::parse("tree(leaves=4)")?;
/// let options = CvOptions::new(vec![learner.measure()?]).folds(3);
/// let result = cross_validate(&learner, &data, &options)?;
/// assert_eq!(result.folds.iter().map(|fold| fold.queries.len()).sum::<usize>(), 30);
/// # Ok::<(), rankwright_learn::LearnError>(())
/// ```
pub fn cross_validate(
    learner: &LearnerSpec,
    data: &Dataset,
    options: &CvOptions<'_>,
) -> Result<CvResult, LearnError> {
    if learner.validation_use() == ValidationUse::Required && options.division.valid_part.is_none()
    {
        return Err(LearnError::MissingFoldValidation { learner: learner.to_string() });
    }
    let own = match options.metrics.is_empty() {
        true => Some(CvOptions { metrics: learner.measures_on(data)?, ..options.clone() }),
        false => None,
    };
    let options = own.as_ref().unwrap_or(options);
    let mut scores = vec![0.0; data.rows()];
    let (mut results, mut meanings) = (Vec::new(), Vec::new());
    let mut fold_of = vec![0; data.queries()];
    let mut finished = true;
    let tests = test_queries(data.queries(), options.division.folds, options.division.seed)?;
    for (number, test) in tests.into_iter().enumerate() {
        let train = (0..data.queries()).filter(|query| test.binary_search(query).is_err());
        let (train, valid) = match options.division.valid_part.filter(|_| learner.uses_validation())
        {
            Some(part) => set_aside(train.collect(), part, options.division.seed, number)?,
            None => (train.collect(), Vec::new()),
        };
        let fold = QueriesOfFold { number, train, valid, test };
        let (result, meaning, fold_finished) = fold.run(learner, data, options, &mut scores)?;
        result.queries.iter().for_each(|query| fold_of[*query] = number);
        results.push(result);
        meanings.push(meaning);
        finished = fold_finished;
        if !finished {
            break;
        }
    }
    let source = ScoredDataset::new(data, &scores)?;
    let with_ties = EvalOptions::default().tie_effect(true);
    let boundary_of = |meaning: &Option<ScoreMeaning>| {
        let meaning = meaning.clone();
        move |rel| meaning.as_ref().and_then(|meaning| meaning.boundary(rel))
    };
    let boundaries: Vec<_> = meanings.iter().map(boundary_of).collect();
    let models = measures_for_models(&options.metrics, &boundaries)?;
    let pooled = evaluate_models(&source, &models, &fold_of, with_ties)?;
    Ok(CvResult { folds: results, scores, pooled, finished })
}

/// The queries that each of `count` folds tests, ascending. With three folds or more they are those
/// of [`folds`].
fn test_queries(queries: usize, count: usize, seed: u64) -> Result<Vec<Vec<usize>>, DataError> {
    match count {
        _ if count < 2 || count > queries => {
            Err(DataError::Folds { folds: count, queries, least: 2 })
        }
        // `folds` makes folds as LETOR has them, with one part to train on, one to validate on and
        // one to test, and so needs three folds or more.
        2 => {
            let halves = Parts::parse("first=0.5,second=0.5")?.split(queries, seed);
            Ok(halves.into_iter().map(|(_, half)| half).collect())
        }
        _ => Ok(folds(queries, count, seed)?.into_iter().map(|fold| fold.test).collect()),
    }
}

/// Splits the training queries of a fold at random into queries to train on and queries to validate
/// on, both ascending; `part` is the fraction to validate on and `fold` the number of the fold,
/// from 0.
fn set_aside(
    mut order: Vec<usize>,
    part: f64,
    seed: u64,
    fold: usize,
) -> Result<(Vec<usize>, Vec<usize>), LearnError> {
    let queries = order.len();
    let rejected = || LearnError::HoldOut { part, queries };
    if !(part > 0.0 && part < 1.0) {
        return Err(rejected());
    }
    Random::new(seed, VALIDATION_STREAM + fold as u64).shuffle(&mut order);
    let count = (part * order.len() as f64).round() as usize;
    if count == 0 || count == order.len() {
        return Err(rejected());
    }
    let mut train = order.split_off(count);
    let mut valid = order;
    valid.sort_unstable();
    train.sort_unstable();
    Ok((train, valid))
}

/// The three disjoint parts of a fold, as query numbers from 0.
struct QueriesOfFold {
    /// Number of the fold, from 0.
    number: usize,
    /// Queries to train on.
    train: Vec<usize>,
    /// Queries to validate on; empty if the learner uses no validation data.
    valid: Vec<usize>,
    /// Queries to test on.
    test: Vec<usize>,
}

impl QueriesOfFold {
    /// Trains a model, writes its scores of the tested queries into `scores` (one for each row of
    /// the data), and evaluates them. Also returns the meaning of the model's scores, and false if the
    /// training was cancelled.
    fn run(
        self,
        learner: &LearnerSpec,
        data: &Dataset,
        options: &CvOptions<'_>,
        scores: &mut [f64],
    ) -> Result<(FoldResult, Option<ScoreMeaning>, bool), LearnError> {
        let valid = data.select_queries(&self.valid)?;
        let train = data.select_queries(&self.train)?;
        let validation = (!self.valid.is_empty())
            .then(|| ValidationSet::new(format!("fold {}", self.number + 1), &valid));
        let request = TrainRequest::new(&train)
            .validation_sets(validation)
            .metrics(options.metrics.clone())
            .seed(options.division.seed)
            .simd(options.simd)
            .progress(options.progress);
        let result = learner.train(request)?;
        let test = data.select_queries(&self.test)?;
        let test_scores = result.model.score(&test, ScoreOptions::default())?;
        let metrics = measures_for(&result.model, &options.metrics)?;
        let without_boundary =
            measures_without_boundary(&options.metrics, |rel| result.model.boundary(rel));
        let without_boundary = without_boundary.map(Measure::to_string).collect();
        let rows = self.test.iter().flat_map(|query| data.query_rows(*query));
        rows.zip(&test_scores).for_each(|(row, score)| scores[row] = *score);
        let trees = match result.model.body() {
            ModelBody::Trees(ensemble) => ensemble.trees().len(),
            _ => 0,
        };
        let fold = FoldResult {
            trained: self.train.len(),
            validated: self.valid.len(),
            trees,
            results: ScoredDataset::new(&test, &test_scores)?.evaluate(&metrics)?.results,
            seconds: result.history.bin_seconds + result.history.train_seconds,
            warnings: result.warnings,
            without_boundary,
            queries: self.test,
        };
        Ok((fold, result.model.score_meaning(), result.finished))
    }
}
