//! Scores of validation data, updated by every new tree. With DART, which drops trees and adds them
//! back, scores are kept in units: integer multiples of a power of two, so that sums are exact in
//! any order (see [`dart`](super::dart)).

use rankwright_data::Dataset;
use rankwright_eval::Measure;
use rankwright_model::{Ensemble, Header, Model, ModelBody, ScoreOptions, Tree};

use super::dart::UnitScores;
use crate::error::LearnError;
use crate::session::validation::check_sets;
use crate::session::{MetricLabels, ValidationSet};

/// Validation sets and their scores.
#[derive(Debug)]
pub(crate) struct ValidationScores<'a> {
    sets: Vec<ScoredSet<'a>>,
    /// The metrics that are computed on each set.
    measures: &'a [Measure],
    /// The labels by which they are computed.
    labels: &'a MetricLabels,
    /// The header of the model that is trained.
    header: Header,
    options: ScoreOptions,
}

/// One data set and its scores.
#[derive(Debug)]
struct ScoredSet<'a> {
    data: &'a Dataset,
    scores: Vec<f64>,
    /// The scores in units; `None` if no trees are dropped.
    unit_scores: Option<UnitScores>,
}

impl<'a> ValidationScores<'a> {
    /// Scores the sets with the model so far, after checking that the metric used for early
    /// stopping has a value on each.
    pub(crate) fn new(
        sets: &'a [ValidationSet<'a>],
        (measures, labels): (&'a [Measure], &'a MetricLabels),
        model: &Model,
        options: ScoreOptions,
    ) -> Result<Self, LearnError> {
        check_sets(sets, measures, labels)?;
        let score = |set: &'a ValidationSet<'a>| {
            let scores = model.score(set.data, options)?;
            Ok(ScoredSet { data: set.data, scores, unit_scores: None })
        };
        let sets = sets.iter().map(score).collect::<Result<Vec<_>, LearnError>>()?;
        Ok(Self { sets, measures, labels, header: model.header().clone(), options })
    }

    /// Adds a new tree to all scores.
    pub(crate) fn add(&mut self, tree: &Tree) -> Result<(), LearnError> {
        if self.sets.is_empty() {
            return Ok(());
        }
        for ScoredSet { data, scores, .. } in &mut self.sets {
            add_scores(tree, &self.header, data, self.options, scores)?;
        }
        Ok(())
    }

    /// Adds trees whose leaf values are numbers of units to all scores; `unit` is the value of one
    /// unit.
    pub(crate) fn add_units(&mut self, trees: &[Tree], unit: f64) -> Result<(), LearnError> {
        for ScoredSet { data, scores, unit_scores } in &mut self.sets {
            let unit_scores = unit_scores.get_or_insert_with(|| UnitScores::new(scores.clone()));
            unit_scores.add(trees, &self.header, data, self.options)?;
            unit_scores.write(unit, scores);
        }
        Ok(())
    }

    /// For each validation set, the value of each metric.
    pub(crate) fn values(&self) -> Result<Vec<Vec<f64>>, LearnError> {
        let of_set = |set: &ScoredSet<'_>| self.labels.values(set.data, &set.scores, self.measures);
        self.sets.iter().map(of_set).collect()
    }
}

/// Adds the values of one tree to the scores of a data set.
pub(crate) fn add_scores(
    tree: &Tree,
    header: &Header,
    data: &Dataset,
    options: ScoreOptions,
    scores: &mut [f64],
) -> Result<(), LearnError> {
    let body = ModelBody::Trees(Ensemble::new(0.0, vec![tree.clone()])?);
    let values = Model::new(header.clone(), body)?.score(data, options)?;
    scores.iter_mut().zip(values).for_each(|(score, value)| *score += value);
    Ok(())
}
