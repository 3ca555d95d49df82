//! The plan of an automatic training: candidates, folds and selections, all from the effort and the
//! size of the data, so that the same data, spec and seed always give the same model.
//!
//! Candidates are of four families that make different errors: linear models, boosted trees, nets,
//! and others. Cheap candidates come first, so that a training with a limit of time trains them
//! before the limit is reached.

use rankwright_data::Dataset;
use rankwright_data::split::MIN_FOLDS;
use rankwright_spec::choices;

choices! {
    /// The effort of an automatic training.
    pub enum AutoEffort {
        /// Five candidates and three folds.
        Quick = "quick",
        /// Twelve candidates and five folds.
        Normal = "normal",
        /// Nineteen candidates and eight folds; every candidate is trained on all folds.
        Thorough = "thorough",
    }
}

/// Candidates of every effort.
const QUICK: &[&str] = &["ranksvm", "mart", "rankmart", "lambdamart", "xendcg"];

/// Further candidates of `effort=normal` and `effort=thorough`.
const NORMAL: &[&str] = &[
    "pairwise-logistic",
    "coordinate-ascent",
    "rankboost",
    "random-forest",
    "yetirank",
    "lambdamart(growth=oblivious, depth=4, rate=0.1)",
    "ranknet(layers=32)",
];

/// Further candidates of `effort=thorough`.
const THOROUGH: &[&str] = &[
    "lambdamart(leaves=15, rate=0.05)",
    "xendcg(growth=oblivious, depth=4, rate=0.1)",
    "xendcg(leaves=15, rate=0.05)",
    "rankmart(leaves=15, rate=0.05)",
    "mart(growth=oblivious, depth=4, rate=0.1)",
    "yetirank(growth=oblivious, depth=4, rate=0.1)",
    "lambdarank(layers=32)",
];

/// Learners whose cost grows faster than the data; they are left out above [`SLOW_ROWS`] rows.
const SLOW: &[&str] = &["coordinate-ascent", "rankboost", "random-forest", "ranknet", "lambdarank"];
/// The largest number of rows on which slow learners are candidates.
const SLOW_ROWS: usize = 300_000;

/// The choice is made on at most this number of rows, whole queries drawn by the seed.
const CHOICE_ROWS: usize = 600_000;

/// Lists of candidates and the number of folds of an effort. A training with a limit of time has
/// all candidates.
pub(super) fn of_effort(
    effort: AutoEffort,
    is_limited: bool,
) -> (&'static [&'static [&'static str]], usize) {
    let all: &[&[&str]] = &[QUICK, NORMAL, THOROUGH];
    let (lists, folds) = match effort {
        AutoEffort::Quick => (1, 3),
        AutoEffort::Normal => (2, 5),
        AutoEffort::Thorough => (3, 8),
    };
    (if is_limited { all } else { &all[..lists] }, folds)
}

/// The plan of an automatic training.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AutoPlan {
    /// Specs of the candidates, cheap ones first.
    pub(super) candidates: Vec<String>,
    /// Number of folds.
    pub(super) folds: usize,
    /// Number of the queries on which the choice is made.
    pub(super) choice_queries: usize,
    /// Whether the worse half of the candidates is dropped after the first fold.
    pub(super) halve: bool,
    /// Number of random halves of the queries on which members are selected.
    pub(super) selections: usize,
    /// Number of picks of a selection.
    pub(super) picks: usize,
    /// Seconds that the trainings may take; `None` for no limit.
    pub(super) seconds: Option<f64>,
    /// Whether a student of the blend is trained after the choice.
    pub(super) is_distilled: bool,
    /// The share of all rows on which the choice is made.
    pub(super) choice_share: f64,
}

impl AutoPlan {
    /// The plan for this data. `candidates` and `folds` replace those of the effort. With a limit of
    /// minutes the candidates are those of the largest effort, and time alone drops some of them.
    pub(super) fn new(
        data: &Dataset,
        effort: AutoEffort,
        candidates: Option<Vec<String>>,
        folds: Option<usize>,
        minutes: Option<f64>,
    ) -> Self {
        let (rows, queries) = (data.rows(), data.queries());
        let is_given = candidates.is_some();
        let (lists, default_folds) = of_effort(effort, minutes.is_some());
        let is_affordable = |spec: &&&str| {
            rows <= SLOW_ROWS || !SLOW.iter().any(|name| spec.split('(').next() == Some(name))
        };
        let affordable = || {
            let all = lists.iter().copied().flatten();
            all.filter(is_affordable).map(|spec| (*spec).to_owned()).collect()
        };
        let rows_of_query = (rows as f64 / queries.max(1) as f64).max(1.0);
        let choice_queries = ((CHOICE_ROWS as f64 / rows_of_query) as usize).clamp(1, queries);
        let folds = folds.unwrap_or(default_folds).min(choice_queries).max(MIN_FOLDS);
        Self {
            candidates: candidates.unwrap_or_else(affordable),
            folds,
            choice_queries,
            halve: effort != AutoEffort::Thorough && !is_given && minutes.is_none(),
            selections: if effort == AutoEffort::Quick { 10 } else { 20 },
            picks: 20,
            is_distilled: false,
            seconds: minutes.map(|minutes| 60.0 * minutes),
            choice_share: choice_queries as f64 / queries.max(1) as f64,
        }
    }

    /// The number of trainings of the size of a fold that a candidate needs after the first fold:
    /// those of the other folds, and one on all data if the choice is made on a sample.
    pub(super) fn trainings_after_first_fold(&self) -> f64 {
        let of_all = if self.choice_share < 1.0 { 1.0 / self.choice_share } else { 0.0 };
        (self.folds - 1) as f64 + of_all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::LearnerSpec;
    use rankwright_data::generate::LetorOptions;

    #[test]
    fn the_effort_and_the_size_of_the_data_decide() {
        let data = LetorOptions { queries: 20, documents: 5, seed: 1 }.generate().unwrap();
        let plan = |effort| AutoPlan::new(&data, effort, None, None, None);
        let counts = [AutoEffort::Quick, AutoEffort::Normal, AutoEffort::Thorough].map(|effort| {
            let plan = plan(effort);
            (plan.candidates.len(), plan.folds, plan.halve)
        });
        assert_eq!(counts, [(5, 3, true), (12, 5, true), (19, 8, false)]);
        assert_eq!(plan(AutoEffort::Normal).choice_queries, 20);
        let few = LetorOptions { queries: 4, documents: 5, seed: 1 }.generate().unwrap();
        assert_eq!(AutoPlan::new(&few, AutoEffort::Normal, None, None, None).folds, 4);
        let timed = AutoPlan::new(&data, AutoEffort::Normal, None, None, Some(2.0));
        assert_eq!((timed.candidates.len(), timed.folds, timed.halve), (19, 5, false));
        assert_eq!((timed.seconds, timed.trainings_after_first_fold()), (Some(120.0), 4.0));
    }

    #[test]
    fn every_candidate_is_a_spec() {
        for spec in [QUICK, NORMAL, THOROUGH].concat() {
            LearnerSpec::parse(spec).unwrap();
        }
    }
}
