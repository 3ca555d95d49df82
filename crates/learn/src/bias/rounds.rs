//! The correction of a training: what stays the same, and the factors that each round learns.

use rankwright_data::Dataset;
use rankwright_model::BiasFactors;

use super::clicks::CorrectedClicks;
use super::doubly_robust::AffineClicks;
use super::examination::GivenExamination;
use super::pair_factors::PairFactors;
use super::positions::PositionIndex;
use super::terms::PositionTerms;
use super::{BiasCorrection, BiasParams, weights};
use crate::boost::queries::{AllDerivatives, QueryPass, TrainingQueries};
use crate::error::{LearnError, StateProblem};
use crate::objective::Objective;

/// The correction that a training starts with.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClickCorrection {
    /// Labels and weights of the first round.
    pub(crate) clicks: CorrectedClicks,
    /// The factors, and how they are learned.
    pub(crate) bias: RoundBias,
    /// The parameters as text, for the fingerprint of checkpoints; empty without a correction.
    pub(crate) text: String,
}

impl ClickCorrection {
    /// The correction of checked parameters for a data set. `rate` is the factor of the steps of
    /// `bias=gam`. `regress`, for `bias=dr`, trains a regression on the labels and weights that it
    /// gets, and returns the regression's score of each row.
    pub(crate) fn new(
        params: &BiasParams,
        data: &Dataset,
        objective: &dyn Objective,
        rate: f64,
        regress: impl FnOnce(CorrectedClicks) -> Result<Vec<f64>, LearnError>,
    ) -> Result<Self, LearnError> {
        if data.pairs().is_some()
            && !matches!(params.bias, BiasCorrection::None | BiasCorrection::Gam)
        {
            return Err(LearnError::BiasOfPairs { bias: params.bias.name() });
        }
        let index = || PositionIndex::new(data, params.bias);
        let mut clicks = CorrectedClicks::default();
        let factors = match params.bias {
            BiasCorrection::None => return Ok(Self::default()),
            BiasCorrection::Gam => {
                FactorSource::Terms(PositionTerms::new(index()?, params.bias_l2, rate))
            }
            BiasCorrection::Pairwise => {
                let factors = PairFactors::new(index()?, params.bias_norm);
                clicks.weights = Some(factors.row_weights());
                FactorSource::Pairs(factors)
            }
            BiasCorrection::Ips => {
                clicks = weights::corrected(params, data, objective)?;
                FactorSource::Given(GivenExamination::new(params)?.factors(params))
            }
            BiasCorrection::Dr => {
                let affine = AffineClicks::new(params, data)?;
                let invariant = "doubly robust labels are for objectives of relevance";
                let scale = objective.relevance_scale();
                let scale = scale.ok_or(LearnError::Internal { invariant })?;
                clicks = affine.corrected(&regress(affine.regression())?, scale);
                FactorSource::Given(affine.factors(params))
            }
        };
        let bias = RoundBias { factors, rounds: Vec::new() };
        Ok(Self { clicks, bias, text: format!(" {params:?}") })
    }
}

/// The factors of the positions.
#[derive(Debug, Clone, Default)]
enum FactorSource {
    /// There is no correction.
    #[default]
    Off,
    /// They are given and do not change.
    Given(BiasFactors),
    /// Terms that are added to scores.
    Terms(PositionTerms),
    /// Factors of pair losses.
    Pairs(PairFactors),
}

/// The factors of a training in rounds, with those of every round so far: the model that is
/// returned may have fewer rounds than were trained.
#[derive(Debug, Clone, Default)]
pub(crate) struct RoundBias {
    factors: FactorSource,
    /// The learned numbers after each round.
    rounds: Vec<Vec<f64>>,
}

impl RoundBias {
    /// The terms of positions, if there are any.
    pub(crate) fn terms(&self) -> Option<&PositionTerms> {
        match &self.factors {
            FactorSource::Terms(terms) => Some(terms),
            _ => None,
        }
    }

    /// Whether factors of pairs are learned.
    pub(crate) fn has_pair_factors(&self) -> bool {
        matches!(self.factors, FactorSource::Pairs(_))
    }

    /// Adds the terms of positions to the scores of all rows, for [`scores`](Self::scores).
    pub(crate) fn shift(&mut self, scores: &[f64]) {
        if let FactorSource::Terms(terms) = &mut self.factors {
            terms.shift(scores);
        }
    }

    /// The scores that the loss is computed from: those of the last [`shift`](Self::shift) if there
    /// are terms of positions, else `scores`.
    pub(crate) fn scores<'s>(&'s self, scores: &'s [f64]) -> &'s [f64] {
        self.terms().map_or(scores, PositionTerms::shifted)
    }

    /// Learns the terms of positions from the derivatives of a round; `rows` are those of the
    /// sampled queries, `None` for all.
    pub(crate) fn learn_terms(&mut self, derivatives: &AllDerivatives, rows: Option<&[u32]>) {
        if let FactorSource::Terms(terms) = &mut self.factors {
            terms.step(&derivatives.gradient, &derivatives.hessian, rows);
        }
    }

    /// Learns the factors of pairs from the scores after a round, and sets the weights of the
    /// queries.
    pub(crate) fn learn_pairs(
        &mut self,
        queries: &mut TrainingQueries<'_>,
        pass: QueryPass<'_>,
    ) -> Result<(), LearnError> {
        if let FactorSource::Pairs(factors) = &mut self.factors {
            let (better, worse) = queries.pair_losses(pass)?;
            factors.update(&better, &worse);
            queries.set_click_weights(factors.row_weights());
        }
        Ok(())
    }

    /// Keeps the factors of a finished round.
    pub(crate) fn end_round(&mut self) {
        let values = self.values().map(<[f64]>::to_vec);
        self.rounds.extend(values);
    }

    /// The learned numbers; `None` if nothing is learned.
    fn values(&self) -> Option<&[f64]> {
        match &self.factors {
            FactorSource::Off | FactorSource::Given(_) => None,
            FactorSource::Terms(terms) => Some(terms.values()),
            FactorSource::Pairs(factors) => Some(factors.values()),
        }
    }

    /// The factors after this many rounds, for the header of a model; `None` without a correction.
    pub(crate) fn factors(&self, rounds: usize) -> Option<BiasFactors> {
        let values = rounds.checked_sub(1).and_then(|last| self.rounds.get(last));
        let values = values.map_or_else(|| self.values().unwrap_or_default(), Vec::as_slice);
        match &self.factors {
            FactorSource::Off => None,
            FactorSource::Given(factors) => Some(factors.clone()),
            FactorSource::Terms(terms) => Some(terms.factors(values)),
            FactorSource::Pairs(factors) => Some(factors.factors(values)),
        }
    }

    /// The state of a checkpoint: the factors of all rounds, followed by `learner`, the state of the
    /// learner. It is `learner` alone if nothing is learned.
    pub(crate) fn join_state(&self, learner: Option<Vec<u8>>) -> Option<Vec<u8>> {
        if self.values().is_none() {
            return learner;
        }
        let numbers = self.rounds.iter().flatten();
        let bytes: Vec<u8> = numbers.flat_map(|number| number.to_le_bytes()).collect();
        let length = (bytes.len() as u64).to_le_bytes();
        Some([&length[..], &bytes, &learner.unwrap_or_default()].concat())
    }

    /// Restores the factors of the first `rounds` rounds from the state of a checkpoint, and sets
    /// the weights of the queries; returns the state of the learner.
    pub(crate) fn restore(
        &mut self,
        state: Option<Vec<u8>>,
        rounds: usize,
        queries: &mut TrainingQueries<'_>,
    ) -> Result<Option<Vec<u8>>, LearnError> {
        let (Some(width), Some(state)) = (self.values().map(<[f64]>::len), &state) else {
            return Ok(state);
        };
        let damaged = || LearnError::from(StateProblem::OtherLearner);
        let (length, rest) = state.split_first_chunk::<8>().ok_or_else(damaged)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| damaged())?;
        let (bytes, learner) = rest.split_at_checked(length).ok_or_else(damaged)?;
        let (numbers, odd) = bytes.as_chunks::<8>();
        let numbers: Vec<f64> = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        if !odd.is_empty() || numbers.len() < rounds * width {
            return Err(damaged());
        }
        let kept = numbers.chunks_exact(width.max(1)).take(rounds);
        self.rounds = kept.map(<[f64]>::to_vec).collect();
        if let Some(last) = self.rounds.last() {
            match &mut self.factors {
                FactorSource::Off | FactorSource::Given(_) => {}
                FactorSource::Terms(terms) => terms.set(last),
                FactorSource::Pairs(factors) => {
                    factors.set(last);
                    queries.set_click_weights(factors.row_weights());
                }
            }
        }
        Ok((!learner.is_empty()).then(|| learner.to_vec()))
    }
}
