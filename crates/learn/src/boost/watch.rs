//! Watching metrics while trees (or other rounds) are added, and knowing when to stop.
//!
//! Scores of each watched data set are kept and moved by every new tree. The first metric on the
//! first validation set decides: the number of trees with the best value is remembered (the
//! earliest among equals), and training stops when `stop` trees have not improved it.

use rankwright_data::Dataset;
use rankwright_eval::compare::Better;
use rankwright_eval::{Measure, ScoredDataset};
use rankwright_model::{Ensemble, Header, Model, ModelBody, ScoreOptions, Tree};

use super::dart::Layers;
use super::record::Record;
use super::train::WatchedSet;
use crate::error::LearnError;

/// Validation data and its scores.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    sets: Vec<Set<'a>>,
    measures: &'a [Measure],
    header: Header,
    options: ScoreOptions,
}

/// One data set and its scores.
#[derive(Debug)]
struct Set<'a> {
    data: &'a Dataset,
    scores: Vec<f64>,
    /// What the scores are made of, where trees are dropped.
    layers: Option<Layers>,
}

impl<'a> Watch<'a> {
    /// Scores the sets with the model so far, once the deciding metric is known to have a value on
    /// each.
    pub(crate) fn new(
        sets: &'a [WatchedSet<'a>],
        measures: &'a [Measure],
        model: &Model,
        options: ScoreOptions,
    ) -> Result<Self, LearnError> {
        check_sets(sets, measures)?;
        let score = |set: &'a WatchedSet<'a>| {
            let scores = model.score(set.data, options)?;
            Ok(Set { data: set.data, scores, layers: None })
        };
        let sets = sets.iter().map(score).collect::<Result<Vec<_>, LearnError>>()?;
        Ok(Self { sets, measures, header: model.header().clone(), options })
    }

    /// Moves all scores by a new tree.
    pub(crate) fn add(&mut self, tree: &Tree) -> Result<(), LearnError> {
        if self.sets.is_empty() {
            return Ok(());
        }
        let alone = ModelBody::Trees(Ensemble::new(0.0, vec![tree.clone()])?);
        let alone = Model::new(self.header.clone(), alone)?;
        for Set { data, scores, .. } in &mut self.sets {
            let moves = alone.score(data, self.options)?;
            scores.iter_mut().zip(moves).for_each(|(score, more)| *score += more);
        }
        Ok(())
    }

    /// Moves all scores by trees with leaves in units, of which each is worth so much.
    pub(crate) fn change(&mut self, trees: &[Tree], unit: f64) -> Result<(), LearnError> {
        for Set { data, scores, layers } in &mut self.sets {
            let layers = layers.get_or_insert_with(|| Layers::new(scores.clone()));
            layers.add(trees, &self.header, data, self.options)?;
            layers.write(unit, scores);
        }
        Ok(())
    }

    /// Each metric on each set.
    pub(crate) fn values(&self) -> Result<Vec<Vec<f64>>, LearnError> {
        let of_set = |set: &Set<'_>| values(set.data, &set.scores, self.measures);
        self.sets.iter().map(of_set).collect()
    }
}

/// Makes sure that the deciding metric has a value on each set.
pub(crate) fn check_sets(sets: &[WatchedSet<'_>], measures: &[Measure]) -> Result<(), LearnError> {
    let Some(first) = measures.first() else { return Ok(()) };
    for WatchedSet { name, data } in sets {
        // Whether there is a value is for the labels to say, not for the scores.
        let values = values(data, &vec![0.0; data.rows()], std::slice::from_ref(first))?;
        if values.first().is_none_or(|value| value.is_nan()) {
            return Err(LearnError::unfit(
                format!("no query of {name} has a value for {first}"),
                "give validation data with relevant documents, or leave it out",
            ));
        }
    }
    Ok(())
}

/// The metrics of one scored data set.
pub(crate) fn values(
    data: &Dataset,
    scores: &[f64],
    measures: &[Measure],
) -> Result<Vec<f64>, LearnError> {
    let evaluation = ScoredDataset::new(data, scores)?.evaluate(measures)?;
    Ok(evaluation.results.iter().map(|result| result.value).collect())
}

/// Follows the deciding value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decider {
    /// Which of the watched sets decides.
    pub(crate) set: usize,
    pub(crate) better: Better,
    pub(crate) stop: Option<usize>,
}

impl Decider {
    /// The number of rounds at the best value so far.
    pub(crate) fn best(&self, record: &Record) -> Option<usize> {
        let value = |at: usize| record.iterations[at].values.get(self.set)?.first().copied();
        let mut best: Option<(usize, f64)> = None;
        for at in 0..record.iterations.len() {
            let Some(value) = value(at) else { continue };
            let wins = best.is_none_or(|(_, most)| match self.better {
                Better::Higher => value > most,
                Better::Lower => value < most,
            });
            if wins {
                best = Some((at + 1, value));
            }
        }
        best.map(|(trees, _)| trees)
    }

    /// Whether it is time to stop.
    pub(crate) fn is_over(&self, record: &Record) -> bool {
        match (self.stop, record.best) {
            (Some(patience), Some(best)) => record.iterations.len() >= best + patience,
            _ => false,
        }
    }
}
