//! The search for the best weights along a path: Newton's method for each value of c (the weight of
//! the loss relative to the penalty), and for each c with each width of a smoothed loss, always
//! started from the result of the search before.
//!
//! A [`Solver`] takes one step at a time, and its [`PathPosition`] is all that is needed to resume
//! later with the same bits.

use super::loss::ConvexLoss;
use super::newton::{NewtonSearch, NewtonStep, SmoothFunction};
use super::problem::Problem;
use super::trainer::LinearFit;
use crate::error::{LearnError, StateProblem};

/// The position of a search on its path, which a checkpoint keeps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PathPosition {
    /// Index of the current value of c, from 0.
    c_index: usize,
    /// Index of the current width of smoothing, from 0.
    width_index: usize,
    /// Steps taken for this c.
    steps: usize,
    /// The maximum length of the next step; `None` at the start of a width.
    radius: Option<f64>,
    /// The weights, then the extra parameters (an intercept, thresholds).
    pub(super) point: Vec<f64>,
}

impl PathPosition {
    /// The position as bytes: eight for each number.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let radius = self.radius.unwrap_or(f64::NAN).to_bits();
        let numbers = [self.c_index as u64, self.width_index as u64, self.steps as u64, radius];
        let point = self.point.iter().map(|x| x.to_bits());
        numbers.into_iter().chain(point).flat_map(u64::to_le_bytes).collect()
    }

    /// Reads a position with this number of parameters; `None` if the bytes do not hold such a
    /// position.
    fn from_bytes(bytes: &[u8], parameters: usize) -> Option<Self> {
        let (words, incomplete) = bytes.as_chunks::<8>();
        let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let [c_index, width_index, steps, radius, point @ ..] = words.as_slice() else {
            return None;
        };
        if !incomplete.is_empty() || point.len() != parameters {
            return None;
        }
        Some(Self {
            c_index: *c_index as usize,
            width_index: *width_index as usize,
            steps: *steps as usize,
            radius: Some(f64::from_bits(*radius)).filter(|radius| !radius.is_nan()),
            point: point.iter().map(|x| f64::from_bits(*x)).collect(),
        })
    }
}

/// The outcome of one step of a search.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepOutcome {
    /// The function value after the step.
    pub(super) value: f64,
    /// Whether the point changed.
    pub(super) moved: bool,
    /// Whether the step was the last for its value of c.
    pub(super) ends_c: bool,
}

/// A running search along the path.
pub(super) struct Solver<'a, L: ConvexLoss> {
    fit: &'a LinearFit,
    problem: Problem<'a, L>,
    smoothing_widths: &'static [f64],
    position: PathPosition,
    /// The search of the current c and smoothing width; `None` before its first step.
    search: Option<NewtonSearch>,
    /// The length of the gradient at weights of 0, for c = 1: the scale of the tolerance.
    first_norm: f64,
}

impl<'a, L: ConvexLoss> Solver<'a, L> {
    /// Starts at weights of 0, or resumes from the bytes of a position.
    pub(super) fn begin(
        fit: &'a LinearFit,
        mut problem: Problem<'a, L>,
        position: Option<&[u8]>,
    ) -> Result<Self, LearnError> {
        let mut point = vec![0.0; problem.columns()];
        point.extend(problem.loss.extra_parameters());
        let smoothing_widths = problem.loss.smoothing_widths();
        problem.loss.set_smoothing_width(smoothing_widths[0]);
        let mut gradient = vec![0.0; point.len()];
        problem.c = 1.0;
        problem.value(&point, &mut gradient);
        let first_norm = super::newton::norm(&gradient);
        let position = match position {
            None => PathPosition { c_index: 0, width_index: 0, steps: 0, radius: None, point },
            Some(bytes) => PathPosition::from_bytes(bytes, point.len())
                .filter(|position| position.width_index < smoothing_widths.len())
                .ok_or(StateProblem::OtherLearner)?,
        };
        Ok(Self { fit, problem, smoothing_widths, position, search: None, first_norm })
    }

    /// The current position.
    pub(super) fn position(&self) -> &PathPosition {
        &self.position
    }

    /// Whether every value of c is finished.
    pub(super) fn is_over(&self) -> bool {
        self.position.c_index >= self.fit.c_values.len()
    }

    /// Takes a step; `None` when the search is finished.
    pub(super) fn next(&mut self) -> Option<StepOutcome> {
        let c = *self.fit.c_values.get(self.position.c_index)?;
        let Self { problem, position, .. } = self;
        let mut search = match self.search.take() {
            Some(search) => search,
            None => {
                problem.c = c;
                problem.loss.set_smoothing_width(self.smoothing_widths[position.width_index]);
                NewtonSearch::begin(problem, position.point.clone(), position.radius)
            }
        };
        let first_norm = c * self.first_norm;
        let step = search.step(problem, self.fit.tolerance * first_norm, first_norm);
        position.steps += 1;
        position.radius = search.radius();
        position.point.copy_from_slice(search.point());
        let value = search.value();
        let out_of_steps = position.steps >= self.fit.steps;
        if step == NewtonStep::Converged || out_of_steps {
            position.radius = None;
            position.width_index += 1;
        } else {
            self.search = Some(search);
        }
        let ends_c = out_of_steps || position.width_index >= self.smoothing_widths.len();
        if ends_c {
            position.c_index += 1;
            (position.width_index, position.steps) = (0, 0);
        }
        Some(StepOutcome { value, moved: step == NewtonStep::Moved, ends_c })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_back_as_it_was() {
        for radius in [None, Some(0.25)] {
            let point = vec![1.5, -0.0, 1e-300];
            let position = PathPosition { c_index: 2, width_index: 1, steps: 7, radius, point };
            let bytes = position.to_bytes();
            assert_eq!(PathPosition::from_bytes(&bytes, 3), Some(position));
            assert_eq!(PathPosition::from_bytes(&bytes, 4), None);
            assert_eq!(PathPosition::from_bytes(&bytes[1..], 3), None);
        }
    }
}
