//! A blend: `score = w_1 n(s_1) + w_2 n(s_2) + ...`, a weighted sum of the scores `s_i` of other
//! models (the members), added in f64 in the order of the members.
//!
//! Scores of different models have different scales, so the normalisation `n` ([`Normalise`]) may
//! first bring each member's scores within a query to a common scale; each member may have a
//! normalisation of its own. Members are whole models: the features of a member are matched with
//! those of the blend by name or id, as the features of a model are matched with those of data. A
//! blend of blends would only be a longer sum and is rejected.
//!
//! A term that overflows counts as the largest finite number, so that a score is never NaN. Cost:
//! that of scoring with each member; the normalisation by rank also sorts each query.

use serde::{Serialize, Serializer};

use crate::error::ModelError;
use crate::model::{BodyKind, Model, ModelBody};
use crate::problem::{BlendProblem, ModelParameter};

/// The normalisation of a member's scores within each query. Equal scores stay equal, and a list
/// whose scores are all equal (one document, for example) becomes zeros, except under `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Normalise {
    /// No normalisation.
    #[default]
    None,
    /// (s - min) / (max - min), for a score `s`: from 0 to 1.
    MinMax,
    /// (s - mean) / deviation, with the standard deviation that divides by the number of documents.
    Standard,
    /// The fraction of the query's other documents with a lower score, ties counting half: from 0
    /// to 1.
    Rank,
}

/// Serialised as its name.
impl Serialize for Normalise {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Normalise {
    /// All normalisations.
    pub const ALL: [Normalise; 4] =
        [Normalise::None, Normalise::MinMax, Normalise::Standard, Normalise::Rank];

    /// The name in specs and reports.
    pub fn name(self) -> &'static str {
        match self {
            Normalise::None => "none",
            Normalise::MinMax => "min-max",
            Normalise::Standard => "standard",
            Normalise::Rank => "rank",
        }
    }

    /// The normalisation in words, to follow "scores are": "standardised within each query".
    pub fn in_words(self) -> &'static str {
        match self {
            Normalise::None => "added as they are",
            Normalise::MinMax => "scaled to 0 to 1 within each query",
            Normalise::Standard => "standardised within each query",
            Normalise::Rank => "replaced by ranks within each query",
        }
    }

    /// Normalises the scores of one query. An infinite score counts as the finite number nearest to
    /// it, NaN as 0.
    ///
    /// ```
    /// use rankwright_model::Normalise;
    ///
    /// let mut scores = [3.0, 1.0, 1.0, 2.0];
    /// Normalise::MinMax.apply(&mut scores);
    /// assert_eq!(scores, [1.0, 0.0, 0.0, 0.5]);
    /// Normalise::Rank.apply(&mut scores);
    /// assert_eq!(scores, [1.0, 0.5 / 3.0, 0.5 / 3.0, 2.0 / 3.0]);
    /// ```
    pub fn apply(self, scores: &mut [f64]) {
        self.apply_with(scores, &mut Vec::new());
    }

    /// Like `apply`; `order` is a reusable buffer for sorting (score, index of the document).
    pub(crate) fn apply_with(self, scores: &mut [f64], order: &mut Vec<(f64, u32)>) {
        if self == Normalise::None {
            return;
        }
        scores.iter_mut().for_each(|score| *score = finite(*score));
        let (mut low, mut high) = (f64::MAX, f64::MIN);
        for &score in scores.iter() {
            // Not `f64::min` and `max`, which may return either of 0 and -0.
            low = if score < low { score } else { low };
            high = if score > high { score } else { high };
        }
        // Checked here: the mean of equal numbers, rounded, may be another number, and then their
        // standard deviation would not be 0.
        if low >= high {
            return scores.fill(0.0);
        }
        match self {
            Normalise::None => {}
            Normalise::MinMax => {
                // Halves, as the difference of two scores may overflow.
                let (low, width) = (low / 2.0, high / 2.0 - low / 2.0);
                // If half the difference underflows to 0, the scores count as equal.
                let scaled = |score: f64| finite((score / 2.0 - low) / width);
                scores.iter_mut().for_each(|score| *score = scaled(*score));
            }
            Normalise::Standard => standardise(scores, low.abs().max(high.abs())),
            Normalise::Rank => replace_by_ranks(scores, order),
        }
    }
}

/// The nearest finite number; 0 for NaN.
fn finite(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score.clamp(f64::MIN, f64::MAX) }
}

/// Standardises scores whose absolute values are at most `size`; they are divided by it so that no
/// square overflows.
fn standardise(scores: &mut [f64], size: f64) {
    scores.iter_mut().for_each(|score| *score /= size);
    let n = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / n;
    let squares: f64 = scores.iter().map(|score| (score - mean) * (score - mean)).sum();
    let deviation = (squares / n).sqrt();
    // Differences so small that their squares underflow count as 0.
    let scale = if deviation > 0.0 { 1.0 / deviation } else { 0.0 };
    scores.iter_mut().for_each(|score| *score = finite((*score - mean) * scale));
}

/// Replaces scores (at least two) by the fractions that [`Normalise::Rank`] describes; `order` is a
/// buffer for (score, index of the document).
fn replace_by_ranks(scores: &mut [f64], order: &mut Vec<(f64, u32)>) {
    order.clear();
    order.extend(scores.iter().zip(0..).map(|(&score, index)| (score, index)));
    // Adding 0 makes -0 into 0: both are equal, but not for `total_cmp`.
    order.sort_unstable_by(|a, b| (a.0 + 0.0).total_cmp(&(b.0 + 0.0)));
    let other_documents = (scores.len() - 1) as f64;
    // Number of documents with a lower score.
    let mut below = 0;
    for ties in order.chunk_by(|a, b| a.0 == b.0) {
        let rank = (below as f64 + (ties.len() - 1) as f64 / 2.0) / other_documents;
        ties.iter().for_each(|&(_, index)| scores[index as usize] = rank);
        below += ties.len();
    }
}

/// Adds the term of one member to the sum of a blend.
#[inline(always)]
pub(crate) fn add_term(sum: f64, weight: f64, score: f64) -> f64 {
    sum + finite(weight * finite(score))
}

/// A weighted sum of models.
///
/// ```
/// use rankwright_data::{Absent, FeatureNames};
/// use rankwright_model::{Blend, Header, ModelBody, Linear, Model, Normalise};
///
/// let header = Header::new(FeatureNames::Ids { first: 1, count: 1 }, Absent::Zero);
/// let linear = |weight| Model::new(header.clone(), ModelBody::Linear(Linear::new(0.0, vec![weight])?));
/// let members = vec![(0.75, linear(100.0)?), (0.25, linear(-1.0)?)];
/// let blend = Blend::new(Normalise::MinMax, members)?;
/// let model = Model::new(header.clone(), ModelBody::Blend(blend))?;
/// // The first document: 0.75 x 0 + 0.25 x 1; the second: 0.75 x 1 + 0.25 x 0.
/// assert_eq!(model.score_query(&[&[1.0], &[3.0]]), [0.25, 0.75]);
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Blend {
    /// The normalisation of each member.
    normalisations: Vec<Normalise>,
    members: Vec<(f64, Model)>,
}

impl Blend {
    /// Makes a blend of at least one member, none of them a blend; weights must be finite. All
    /// members have the same normalisation.
    pub fn new(normalise: Normalise, members: Vec<(f64, Model)>) -> Result<Blend, ModelError> {
        Blend::checked(vec![normalise; members.len()], members)
    }

    /// The sum of two models, not normalised: for example of the model that boosting started from,
    /// and the trees that it added. If `start` is a blend, its members become members of the sum
    /// and keep their normalisations.
    ///
    /// ```
    /// use rankwright_data::{Absent, FeatureNames};
    /// use rankwright_model::{Blend, Ensemble, Header, Linear, Model, ModelBody};
    ///
    /// let header = Header::new(FeatureNames::Ids { first: 1, count: 1 }, Absent::Zero);
    /// let linear = ModelBody::Linear(Linear::new(0.0, vec![2.0])?);
    /// let start = Model::new(header.clone(), linear)?;
    /// let trees = Model::new(header.clone(), ModelBody::Trees(Ensemble::new(0.5, vec![])?))?;
    /// let sum = Model::new(header, ModelBody::Blend(Blend::sum(start, trees)?))?;
    /// assert_eq!(sum.score_row(&[3.0]), 6.5);
    /// # Ok::<(), rankwright_model::ModelError>(())
    /// ```
    pub fn sum(start: Model, added: Model) -> Result<Blend, ModelError> {
        Blend::sum_with_weight(1.0, start, added)
    }

    /// The sum of `weight` times the scores of `start`, and of the scores of `added`: like
    /// [`sum`](Self::sum), for a start model whose scores have another scale than those of the
    /// added model.
    ///
    /// ```
    /// use rankwright_data::{Absent, FeatureNames};
    /// use rankwright_model::{Blend, Ensemble, Header, Linear, Model, ModelBody};
    ///
    /// let header = Header::new(FeatureNames::Ids { first: 1, count: 1 }, Absent::Zero);
    /// let linear = ModelBody::Linear(Linear::new(0.0, vec![2.0])?);
    /// let start = Model::new(header.clone(), linear)?;
    /// let trees = Model::new(header.clone(), ModelBody::Trees(Ensemble::new(0.5, vec![])?))?;
    /// let sum = Blend::sum_with_weight(0.5, start, trees)?;
    /// let sum = Model::new(header, ModelBody::Blend(sum))?;
    /// assert_eq!(sum.score_row(&[3.0]), 3.5);
    /// assert!(sum.added_trees().is_some());
    /// # Ok::<(), rankwright_model::ModelError>(())
    /// ```
    pub fn sum_with_weight(weight: f64, start: Model, added: Model) -> Result<Blend, ModelError> {
        let (header, body) = start.into_parts();
        let (mut normalisations, mut members) = match body {
            ModelBody::Blend(blend) => (blend.normalisations, blend.members),
            body => (vec![Normalise::None], vec![(1.0, Model::new(header, body)?)]),
        };
        members.iter_mut().for_each(|(of_member, _)| *of_member *= weight);
        normalisations.push(Normalise::None);
        members.push((1.0, added));
        Blend::checked(normalisations, members)
    }

    /// The kind of the model that boosting started from, if this blend has the form of a sum of
    /// such a model and of trees ([`Blend::sum`]): the last member is trees with weight 1, which
    /// are not normalised. `learner` is the learner in the model's header: a blend that the learner
    /// `blend` made is no such sum, whatever its form. Without a learner, a blend of trees alone is
    /// no such sum, since trees that are added to trees make one model of trees.
    pub(crate) fn start_of_sum(&self, learner: &str) -> Option<BodyKind> {
        let learner = learner.split('(').next().unwrap_or_default().trim();
        let ((weight, added), start) = self.members.split_last()?;
        let is_sum = *weight == 1.0
            && added.body().kind() == BodyKind::Trees
            && self.normalisations.last() == Some(&Normalise::None)
            && learner != "blend";
        match start {
            _ if !is_sum => None,
            [] => None,
            [(_, model)] if self.normalisations.first() == Some(&Normalise::None) => {
                let kind = match model.body() {
                    // A linear model of transformed features.
                    ModelBody::Net(net) if net.layers().len() == 1 => BodyKind::Linear,
                    body => body.kind(),
                };
                (kind != BodyKind::Trees).then_some(kind)
            }
            _ if learner.is_empty() && self.is_of_trees_alone() => None,
            _ => Some(BodyKind::Blend),
        }
    }

    /// Whether all members are trees that are added as they are, with weight 1.
    fn is_of_trees_alone(&self) -> bool {
        self.common_normalisation() == Some(Normalise::None)
            && self
                .members
                .iter()
                .all(|(weight, member)| *weight == 1.0 && member.body().kind() == BodyKind::Trees)
    }

    /// This blend with another last member, of weight 1.
    pub(crate) fn with_last_member(&self, member: Model) -> Result<Blend, ModelError> {
        let mut members = self.members.clone();
        members.pop();
        members.push((1.0, member));
        Blend::checked(self.normalisations.clone(), members)
    }

    /// Makes a blend whose members have their own normalisations, as many as there are members.
    pub(crate) fn checked(
        normalisations: Vec<Normalise>,
        members: Vec<(f64, Model)>,
    ) -> Result<Blend, ModelError> {
        if members.is_empty() {
            return Err(ModelError::InvalidBlend(BlendProblem::NoMembers));
        }
        for (member, (weight, model)) in members.iter().enumerate() {
            ModelError::check_finite(ModelParameter::MemberWeight { member }, *weight)?;
            if matches!(model.body(), ModelBody::Blend(_)) {
                return Err(ModelError::InvalidBlend(BlendProblem::NestedBlend { member }));
            }
        }
        debug_assert_eq!(normalisations.len(), members.len(), "a normalisation for each member");
        Ok(Blend { normalisations, members })
    }

    /// The normalisation of each member's scores within a query, in the order of the members.
    pub fn normalisations(&self) -> &[Normalise] {
        &self.normalisations
    }

    /// The normalisation that all members have in common; `None` if they differ.
    pub fn common_normalisation(&self) -> Option<Normalise> {
        let first = *self.normalisations.first()?;
        self.normalisations.iter().all(|other| *other == first).then_some(first)
    }

    /// Weights and models, in the order in which they are added.
    pub fn members(&self) -> &[(f64, Model)] {
        &self.members
    }

    /// The blend with each member replaced by the result of `change`, which is called with the
    /// number of the member (from 0) and the member.
    pub(crate) fn map_members(
        self,
        change: impl FnMut((usize, Model)) -> Result<Model, ModelError>,
    ) -> Result<Blend, ModelError> {
        let (weights, models): (Vec<f64>, Vec<Model>) = self.members.into_iter().unzip();
        let models = models.into_iter().enumerate().map(change);
        let models = models.collect::<Result<Vec<_>, _>>()?;
        Blend::checked(self.normalisations, weights.into_iter().zip(models).collect())
    }

    /// Whether a score depends on the other documents of its query.
    pub(crate) fn is_listwise(&self) -> bool {
        self.normalisations.iter().any(|normalise| *normalise != Normalise::None)
            || self.members.iter().any(|(_, member)| member.is_listwise())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Header, Linear};
    use proptest::prelude::*;
    use rankwright_data::{Absent, FeatureNames};

    fn applied(normalise: Normalise, scores: &[f64]) -> Vec<f64> {
        let mut scores = scores.to_vec();
        normalise.apply(&mut scores);
        scores
    }

    #[test]
    fn each_normalisation_follows_its_formula() {
        let scores = [1.0, 5.0, 3.0, 3.0];
        assert_eq!(applied(Normalise::None, &scores), scores);
        assert_eq!(applied(Normalise::MinMax, &scores), [0.0, 1.0, 0.5, 0.5]);
        assert_eq!(applied(Normalise::Rank, &scores), [0.0, 1.0, 0.5, 0.5]);
        // Mean 3, standard deviation sqrt((4 + 4 + 0 + 0) / 4).
        let root2 = 2.0_f64.sqrt();
        for (found, exact) in
            applied(Normalise::Standard, &scores).iter().zip([-root2, root2, 0.0, 0.0])
        {
            assert!((found - exact).abs() < 1e-15, "{found} {exact}");
        }
        assert_eq!(applied(Normalise::Rank, &[0.0, -0.0, 1.0]), [0.25, 0.25, 1.0]);
    }

    #[test]
    fn equal_scores_become_zeros() {
        for normalise in &Normalise::ALL[1..] {
            assert_eq!(applied(*normalise, &[0.1; 3]), [0.0; 3]);
            assert_eq!(applied(*normalise, &[7.0]), [0.0]);
            assert_eq!(applied(*normalise, &[f64::INFINITY; 2]), [0.0; 2]);
            assert!(applied(*normalise, &[]).is_empty());
        }
    }

    #[test]
    fn huge_and_infinite_scores_are_normalised_too() {
        let wide = [f64::NEG_INFINITY, f64::INFINITY, 0.0];
        assert_eq!(applied(Normalise::MinMax, &wide), [0.0, 1.0, 0.5]);
        assert_eq!(applied(Normalise::Rank, &wide), [0.0, 1.0, 0.5]);
        // With M for the largest finite number: -M, M, 0 have mean 0 and deviation M sqrt(2/3).
        let standard = applied(Normalise::Standard, &wide);
        assert!((standard[1] - 1.5_f64.sqrt()).abs() < 1e-15, "{standard:?}");
    }

    #[test]
    fn invalid_members_are_refused_with_a_reason() {
        let header = Header::new(FeatureNames::Ids { first: 1, count: 1 }, Absent::Zero);
        let linear = || {
            let linear = ModelBody::Linear(Linear::new(0.0, vec![1.0]).unwrap());
            Model::new(header.clone(), linear).unwrap()
        };
        let refusal = |members| Blend::new(Normalise::None, members).unwrap_err().to_string();
        assert!(refusal(vec![]).contains("without members"));
        assert!(refusal(vec![(f64::NAN, linear())]).contains("the weight of member 0 is NaN"));
        let blend = Blend::new(Normalise::None, vec![(1.0, linear())]).unwrap();
        let blend = Model::new(header.clone(), ModelBody::Blend(blend)).unwrap();
        assert!(
            refusal(vec![(1.0, linear()), (1.0, blend)]).contains("member 1 is a blend itself")
        );
    }

    proptest! {
        #[test]
        fn normalising_keeps_the_order_and_makes_no_nan(
            scores in proptest::collection::vec(prop::num::f64::ANY, 0..20),
        ) {
            let scores: Vec<f64> = scores.into_iter().map(finite).collect();
            for normalise in Normalise::ALL {
                let found = applied(normalise, &scores);
                for (a, x) in scores.iter().zip(&found) {
                    prop_assert!(x.is_finite(), "{normalise:?}: {found:?}");
                    for (b, y) in scores.iter().zip(&found) {
                        prop_assert!(a > b || x <= y, "{normalise:?} of {scores:?}: {found:?}");
                    }
                }
            }
        }

        #[test]
        fn ranks_count_lower_scores_and_half_of_the_ties(
            scores in proptest::collection::vec(0..6_i32, 2..20),
        ) {
            let scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
            let found = applied(Normalise::Rank, &scores);
            let all_equal = scores.iter().all(|score| *score == scores[0]);
            for (score, rank) in scores.iter().zip(found) {
                let below = scores.iter().filter(|other| *other < score).count() as f64;
                let ties = scores.iter().filter(|other| *other == score).count() as f64 - 1.0;
                let expected = (below + ties / 2.0) / (scores.len() - 1) as f64;
                prop_assert_eq!(rank, if all_equal { 0.0 } else { expected });
            }
        }
    }
}
