//! The losses of net learners: an objective (see [`crate::objective`]), and the form in which
//! queries are passed to it: as whole lists, or pair by pair.
//!
//! | learner | objective |
//! |---|---|
//! | `ranknet` | `pair-logistic`, on whole queries or pair by pair |
//! | `lambdarank` | `lambda` for any metric whose change under a swap of two ranks is defined |
//! | `listnet` | `softmax(target=softmax)` |
//! | `softmax` | `softmax(target=gain)` or `target=label`; `target=noisy-gain` is `xendcg(terms=1)` |
//! | `listmle`, `approxndcg` | the objectives of these names |
//!
//! RankNet's gradient by the parameters of the net is a sum over pairs of lambda_ij (ds_i/dw -
//! ds_j/dw), with s the scores and w a parameter. Factored (Burges, MSR-TR-2010-82, section 2.1),
//! the lambdas of a document are added up first, and the net is evaluated once per document instead
//! of twice per pair. `factored=false` evaluates the net for each pair: the gradient is the same,
//! and the cost grows with the number of pairs instead of documents.
//!
//! A preference of weight p and its opposite of weight 1 - p together are a soft label: the cross
//! entropy with the target probability p. A pair of equal documents has the target probability 1/2.

use std::sync::Arc;

use rankwright_data::Dataset;
use rankwright_spec::SpecError;

use super::passes::{ListLoss, RowList, RowLists};
use crate::bias::PositionTerms;
use crate::boost::queries::SharedQueries;
use crate::error::LearnError;
use crate::objective::{
    Derivatives, DistilledObjective, DocumentPair, Objective, ObjectiveBuffers, ObjectiveParams,
    QueryView, Squared, TeacherTerm,
};
use crate::preferences::Preferences;
use crate::session::SoftTargets;

/// The loss of a net, and the form in which queries are passed to it.
#[derive(Debug)]
pub(super) struct NetLoss {
    pub(super) objective: Box<dyn Objective>,
    /// The objective as a spec.
    pub(super) text: String,
    /// Whether the objective is a loss of pairs.
    pub(super) pairwise: bool,
    /// Whether lambdas are added up by document first; if not (only for losses of pairs), the net
    /// is evaluated pair by pair.
    pub(super) factored: bool,
    /// Whether each pair is a mini-batch of its own.
    pub(super) pair_updates: bool,
    /// Whether pairs of equal labels count.
    pub(super) ties: bool,
    /// Whether the objective is mixed with the scores of a teacher.
    pub(super) distilled: bool,
}

impl NetLoss {
    /// A loss of whole lists.
    pub(super) fn listwise(objective: &impl ObjectiveParams) -> Result<Self, SpecError> {
        Ok(Self {
            objective: objective.build()?,
            text: objective.spec().to_string(),
            pairwise: false,
            factored: true,
            pair_updates: false,
            ties: false,
            distilled: false,
        })
    }

    /// A loss of pairs, factored.
    pub(super) fn pairwise(objective: &impl ObjectiveParams) -> Result<Self, SpecError> {
        Ok(Self { pairwise: true, ..Self::listwise(objective)? })
    }

    /// Whether the pairs of a query with this number of documents are sampled.
    pub(super) fn samples_pairs(&self, documents: usize) -> bool {
        self.factored && self.objective.samples_pairs(documents)
    }

    /// Whether the loss learns from preference pairs.
    pub(super) fn accepts_pairs(&self) -> bool {
        self.pairwise
    }

    /// Whether the loss learns from the scores of a teacher. These are for whole queries, so a loss
    /// that is passed pair by pair does not.
    pub(super) fn accepts_teacher(&self) -> bool {
        let has_term = self.objective.teacher_term() != TeacherTerm::Unsupported;
        has_term && self.factored && !self.pair_updates
    }

    /// Mixes the loss with the scores of a teacher.
    pub(super) fn distil(&mut self, targets: Arc<SoftTargets>) {
        let labels = std::mem::replace(&mut self.objective, Box::new(Squared));
        self.objective = Box::new(DistilledObjective::new(labels, targets));
        self.distilled = true;
    }

    /// Queries that influence the gradient, in their order; an error if there is nothing to learn
    /// from. Queries whose labels are all equal have no gradient under pairwise losses; listwise
    /// losses make their scores more equal. With `other_labels`, these columns take the place of the
    /// data's own labels; an empty list means that the labels are computed later (`bias=dr`), so
    /// that no query is left out because its labels are equal.
    pub(super) fn queries(
        &self,
        preferences: &Preferences<'_>,
        data: &Dataset,
        other_labels: Option<&[&[f64]]>,
    ) -> Result<Vec<usize>, LearnError> {
        if other_labels.is_none() {
            preferences.check().map_err(|error| match self.accepts_pairs() {
                true => error,
                false => LearnError::NothingToRank,
            })?;
        }
        let needs_different_labels = self.accepts_pairs() && !self.ties && !self.distilled;
        let differ = |column: &[f64], query: usize| {
            column[data.query_rows(query)].windows(2).any(|pair| pair[0] != pair[1])
        };
        let has_preferences = |query: usize| match other_labels {
            None => preferences.count(query) > 0,
            Some([]) => true,
            Some(columns) => columns.iter().any(|column| differ(column, query)),
        };
        let has_gradient = |query: &usize| {
            let weight = data.query_weights().map_or(1.0, |weights| weights[*query]);
            let has_terms = match preferences.explicit_pairs(*query) {
                Some(pairs) => !pairs.is_empty(),
                None => !needs_different_labels || has_preferences(*query),
            };
            weight > 0.0 && data.query_rows(*query).len() > 1 && has_terms
        };
        let queries: Vec<usize> = (0..data.queries()).filter(has_gradient).collect();
        if queries.is_empty() {
            let nothing_differs = needs_different_labels
                && data.pairs().is_none()
                && !(0..data.queries()).any(has_preferences);
            return Err(match nothing_differs {
                true => LearnError::NothingToRank,
                false => LearnError::ZeroWeights,
            });
        }
        Ok(queries)
    }

    /// Calls `pass` with the rows of these queries: once with whole lists, or if not factored, with
    /// lists of two documents, several times if there are many. `lists` is a buffer.
    pub(super) fn pass_rows(
        &self,
        queries: &[usize],
        data: &Dataset,
        preferences: &Preferences<'_>,
        lists: &mut RowLists,
        mut pass: impl FnMut(&RowLists) -> Result<(), LearnError>,
    ) -> Result<(), LearnError> {
        lists.clear();
        for &query in queries {
            let rows = data.query_rows(query);
            if self.factored {
                lists.push(query, rows.map(|row| row as u32), None);
                continue;
            }
            let first_row = rows.start as u32;
            self.each_pair(query, data, preferences, &mut |pair| {
                let rows = [first_row + pair.better, first_row + pair.worse];
                lists.push(query, rows.into_iter(), Some(pair));
                if lists.rows.len() < MAX_ROWS {
                    return Ok(());
                }
                pass(lists)?;
                lists.clear();
                Ok(())
            })?;
        }
        pass(lists)
    }

    /// Every pair of these queries, with its query.
    pub(super) fn pairs(
        &self,
        queries: &[usize],
        data: &Dataset,
        preferences: &Preferences<'_>,
    ) -> Result<Vec<(u32, DocumentPair)>, LearnError> {
        let mut all = Vec::new();
        for &query in queries {
            self.each_pair(query, data, preferences, &mut |pair| {
                all.push((query as u32, pair));
                Ok(())
            })?;
        }
        Ok(all)
    }

    /// Calls `visit` with every pair of a query, from its preferences or else from its labels.
    fn each_pair(
        &self,
        query: usize,
        data: &Dataset,
        preferences: &Preferences<'_>,
        visit: &mut dyn FnMut(DocumentPair) -> Result<(), LearnError>,
    ) -> Result<(), LearnError> {
        if let Some(pairs) = preferences.explicit_pairs(query) {
            return pairs.iter().try_for_each(|pair| visit(*pair));
        }
        let labels = data.query(query).labels;
        for (i, first) in labels.iter().enumerate() {
            for (j, second) in labels.iter().enumerate().skip(i + 1) {
                let equal = first == second;
                if equal && !self.ties {
                    continue;
                }
                let (better, worse) = if first < second { (j, i) } else { (i, j) };
                let (better, worse) = (better as u32, worse as u32);
                visit(DocumentPair { better, worse, weight: 1.0, equal })?;
            }
        }
        Ok(())
    }
}

/// Maximum number of rows in one pass when going pair by pair; limits the memory of a pass.
const MAX_ROWS: usize = 1 << 16;

/// The loss on the training data in one epoch.
pub(super) struct PreparedLoss<'a> {
    /// Labels, weights and preferences of the queries.
    pub(super) shared_queries: SharedQueries<'a>,
    pub(super) objective: &'a dyn Objective,
    pub(super) data: &'a Dataset,
    /// Terms of positions, which are added to scores.
    pub(super) terms: Option<&'a PositionTerms>,
    /// The seed of this epoch, for objectives that draw random numbers.
    pub(super) seed: u64,
}

impl ListLoss for PreparedLoss<'_> {
    fn list_derivatives(
        &self,
        list: &RowList,
        scores: &[f64],
        buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        let Some(pair) = list.pair else {
            let rows = self.data.query_rows(list.query);
            let shifted: Option<Vec<f64>> = self.terms.map(|terms| {
                scores.iter().zip(rows).map(|(score, row)| score + terms.of_row(row)).collect()
            });
            let scores = shifted.as_deref().unwrap_or(scores);
            let view = self.shared_queries.view_with_scores(list.query, scores, self.seed);
            return self.shared_queries.query_derivatives(&view, self.objective, buffers, out);
        };
        let first_row = self.data.query_rows(list.query).start;
        let weight = |document: u32| {
            self.data.row_weights().map_or(1.0, |weights| weights[first_row + document as usize])
        };
        let weights = [weight(pair.better), weight(pair.worse)];
        let pairs = [DocumentPair { better: 0, worse: 1, ..pair }];
        let view = QueryView {
            query: list.query,
            labels: &[],
            scores,
            weights: &weights,
            pairs: Some(&pairs),
            seed: self.seed,
            click_weights: None,
            kept_labels: None,
        };
        self.shared_queries.query_derivatives(&view, self.objective, buffers, out)
    }
}
