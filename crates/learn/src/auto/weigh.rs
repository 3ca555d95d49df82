//! The weights of the candidates in the blend, and the report on them.

use rankwright_eval::{Measure, ScoredDataset};

use super::choice::Choice;
use super::plan::AutoPlan;
use super::report::{AutoCandidate, AutoReport};
use super::select::EnsembleSelection;
use crate::error::LearnError;

/// Weights of the candidates, and the report on them.
pub(super) struct Weighing {
    pub(super) weights: Vec<f64>,
    pub(super) report: AutoReport,
}

impl Choice<'_> {
    /// The weight of each candidate, and the report. If training was cancelled, the candidates with
    /// a model get equal weights.
    pub(super) fn weigh(
        &self,
        plan: &AutoPlan,
        pull: f64,
        seed: u64,
        finished: bool,
    ) -> Result<Weighing, LearnError> {
        let members: Vec<usize> = (0..self.candidates.len())
            .filter(|index| match finished {
                true => self.candidates[*index].is_running(),
                false => !self.candidates[*index].models.is_empty(),
            })
            .collect();
        if members.is_empty() {
            return Err(LearnError::Cancelled { unit: "model".to_owned() });
        }
        let mut weights = vec![0.0; self.candidates.len()];
        let mut report = AutoReport::new(self.folds.len(), self.data.queries());
        if !finished {
            members.iter().for_each(|index| weights[*index] = 1.0 / members.len() as f64);
            return Ok(Weighing { weights, report });
        }
        let scores: Vec<Vec<f64>> =
            members.iter().map(|index| self.candidates[*index].scores.clone()).collect();
        let selection =
            EnsembleSelection { selections: plan.selections, picks: plan.picks, pull, seed };
        let all = vec![true; self.data.queries()];
        let chosen = selection.weights(&self.target, &scores, &all)?;
        members.iter().zip(&chosen).for_each(|(index, weight)| weights[*index] = *weight);
        // Weights that are chosen without a fold score the queries of this fold.
        let mut estimated = vec![0.0; self.data.rows()];
        for fold in &self.folds {
            let mut used = all.clone();
            fold.test.iter().for_each(|query| used[*query] = false);
            let weights = selection.weights(&self.target, &scores, &used)?;
            for row in fold.test.iter().flat_map(|query| self.data.query_rows(*query)) {
                let terms =
                    weights.iter().zip(&scores).map(|(weight, scores)| weight * scores[row]);
                estimated[row] = terms.sum();
            }
        }
        let mean: Vec<f64> =
            (0..self.data.rows()).map(|row| scores.iter().map(|one| one[row]).sum()).collect();
        let totals = self.totals(all, &[&estimated, &mean])?;
        (report.estimate, report.mean) = (totals[0], totals[1]);
        report.ci95 = self.interval(&estimated, self.folds.len())?;
        report.candidates = self.report_candidates(&weights)?;
        Ok(Weighing { weights, report })
    }

    /// The out-of-fold scores of the blend with these weights.
    pub(super) fn blended(&self, weights: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.data.rows()];
        for (candidate, weight) in self.candidates.iter().zip(weights) {
            if *weight > 0.0 {
                let scores = sum.iter_mut().zip(&candidate.scores);
                scores.for_each(|(sum, score)| *sum += weight * score);
            }
        }
        sum
    }

    /// The candidates of the report, each evaluated on the folds that it was trained for.
    fn report_candidates(&self, weights: &[f64]) -> Result<Vec<AutoCandidate>, LearnError> {
        let mut rows = Vec::new();
        for (candidate, weight) in self.candidates.iter().zip(weights) {
            let folds = candidate.models.len();
            let queries = self.test_queries(folds);
            let value = match folds {
                0 => None,
                _ => self.totals(self.flags(&queries), &[&candidate.scores])?.first().copied(),
            };
            rows.push(AutoCandidate {
                learner: candidate.learner.to_string(),
                value: value.filter(|value| !value.is_nan()),
                ci95: match folds {
                    0 => None,
                    _ => self.interval(&candidate.scores, folds)?,
                },
                folds,
                weight: *weight,
                seconds: candidate.seconds,
                failure: candidate.failure.as_ref().map(ToString::to_string),
            });
        }
        // The metric of a blend is one of which higher is better.
        let value = |row: &AutoCandidate| row.value.unwrap_or(f64::NEG_INFINITY);
        rows.sort_by(|a, b| value(b).total_cmp(&value(a)));
        Ok(rows)
    }

    /// The test queries of the first folds.
    fn test_queries(&self, folds: usize) -> Vec<usize> {
        self.folds.iter().take(folds).flat_map(|fold| fold.test.iter().copied()).collect()
    }

    /// The 95 % interval of the metric on the test queries of the first folds; `None` if they are
    /// too few.
    fn interval(&self, scores: &[f64], folds: usize) -> Result<Option<(f64, f64)>, LearnError> {
        let mut queries = self.test_queries(folds);
        queries.sort_unstable();
        let data = self.data.select_queries(&queries)?;
        let rows = queries.iter().flat_map(|query| self.data.query_rows(*query));
        let scores: Vec<f64> = rows.map(|row| scores[row]).collect();
        let measure: &Measure = self.target.measure();
        let evaluation =
            ScoredDataset::new(&data, &scores)?.evaluate(std::slice::from_ref(measure))?;
        Ok(evaluation.results.first().and_then(|result| result.ci95))
    }
}
