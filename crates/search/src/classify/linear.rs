//! Linear classifiers, one class against the others: the support vector machine with the squared
//! hinge loss, and logistic regression.
//!
//! With y = 1 for the documents of a class and -1 for the others, a class has the weights w and the
//! intercept b that minimise, as in LIBLINEAR (Fan et al. 2008),
//!
//! ```text
//! 1/2 (|w|² + b²) + c (sum over documents of loss(y (w·x + b)))
//! squared hinge   loss(z) = max(0, 1 - z)²
//! logistic        loss(z) = ln(1 + exp(-z))
//! ```
//!
//! The minimum is unique. Newton's method finds it: conjugate gradients solve for the step, and the
//! step is halved until the function falls enough. The search ends when the gradient has fallen to
//! a millionth of the first. Cost: a few dozen passes over the terms of the documents for each
//! class.
//!
//! With two classes one problem is solved, and the scores of the first class are those of the
//! second negated. Scores of a support vector machine are w·x + b; those of logistic regression are
//! probabilities, divided by their sum.

use rayon::prelude::*;

use super::trained::shares;
use super::{ClassNames, ClassifyError, SparseVector, TrainedClassifier};

/// Maximum number of Newton steps.
const MAX_STEPS: usize = 200;
/// Maximum number of conjugate gradient steps for a Newton step.
const MAX_CG_STEPS: usize = 500;
/// The search ends when the norm of the gradient is this fraction of the first.
const TOLERANCE: f64 = 1e-6;
/// The function must fall by at least this fraction of the decrease that the gradient predicts for
/// a step.
const SUFFICIENT_DECREASE: f64 = 1e-4;
/// Maximum number of times a step is halved.
const MAX_HALVINGS: usize = 40;

/// The loss of a linear classifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinearClassLoss {
    /// max(0, 1 - z)².
    SquaredHinge,
    /// ln(1 + exp(-z)).
    Logistic,
}

impl LinearClassLoss {
    /// The loss of z, and its first and second derivative.
    fn at(self, z: f64) -> [f64; 3] {
        match self {
            Self::SquaredHinge => {
                let gap = (1.0 - z).max(0.0);
                [gap * gap, -2.0 * gap, if gap > 0.0 { 2.0 } else { 0.0 }]
            }
            Self::Logistic => {
                // exp of a number that is not above 0 cannot overflow.
                let exp = (-z.abs()).exp();
                // The probabilities of both signs of y; that of the wrong one is small if z > 0.
                let (large, small) = (1.0 / (1.0 + exp), exp / (1.0 + exp));
                let of_wrong_sign = if z > 0.0 { small } else { large };
                [exp.ln_1p() + (-z).max(0.0), -of_wrong_sign, large * small]
            }
        }
    }
}

/// A trained linear classifier.
///
/// ```
/// use rankwright_search::classify::{LinearClassifier, LinearClassLoss, SparseVector, TrainedClassifier};
///
/// let points = [[1.0, 0.9], [0.9, 1.0], [0.2, 0.3], [0.3, 0.2]].map(|p| SparseVector::dense(&p));
/// let points = points.into_iter().collect::<Result<Vec<_>, _>>()?;
/// let classes = ["art", "art", "law", "law"];
/// let svm = LinearClassifier::fit(&points, &classes, 2, LinearClassLoss::SquaredHinge, 10.0)?;
/// assert_eq!(svm.decide(&SparseVector::dense(&[0.8, 0.85])?).class, "art");
/// # Ok::<(), rankwright_search::classify::ClassifyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LinearClassifier {
    loss: LinearClassLoss,
    classes: Vec<String>,
    /// The weights of each problem, then its intercept: a problem for each class, one for the
    /// second of two classes, or none for a single class.
    problems: Vec<Vec<f64>>,
    /// The value of the minimised function, for each problem.
    objectives: Vec<f64>,
}

impl LinearClassifier {
    /// Trains on vectors of features below `features`; `classes` has the class of each vector, and
    /// `c` is the weight of the losses.
    pub fn fit<S: AsRef<str>>(
        documents: &[SparseVector],
        classes: &[S],
        features: usize,
        loss: LinearClassLoss,
        c: f64,
    ) -> Result<LinearClassifier, ClassifyError> {
        let ClassNames { names, numbers } = ClassNames::new(documents.len(), classes)?;
        let positives: Vec<u32> = match names.len() {
            1 => Vec::new(),
            2 => vec![1],
            count => (0..count as u32).collect(),
        };
        let solve = |positive: u32| {
            let sign = |class: &u32| if *class == positive { 1.0 } else { -1.0 };
            let signs = numbers.iter().map(sign).collect();
            LinearProblem { documents, signs, features, loss, c }.solve()
        };
        let solved: Vec<(Vec<f64>, f64)> = positives.into_par_iter().map(solve).collect();
        let (problems, objectives) = solved.into_iter().unzip();
        Ok(LinearClassifier { loss, classes: names, problems, objectives })
    }

    /// The value of the minimised function for each class; of two classes only for the second, and
    /// of a single class for none.
    pub fn objectives(&self) -> &[f64] {
        &self.objectives
    }
}

impl TrainedClassifier for LinearClassifier {
    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn class_scores(&self, vector: &SparseVector) -> Vec<f64> {
        let margins = self.problems.iter().map(|weights| margin(weights, vector));
        let margins: Vec<f64> = match (&self.problems[..], self.classes.len()) {
            ([], _) => return vec![1.0],
            ([one], 2) => [-margin(one, vector), margin(one, vector)].to_vec(),
            _ => margins.collect(),
        };
        match self.loss {
            LinearClassLoss::SquaredHinge => margins,
            LinearClassLoss::Logistic => {
                shares(margins.iter().map(|margin| 1.0 / (1.0 + (-margin).exp())).collect())
            }
        }
    }
}

/// w·x + b; the intercept is the last of the weights.
fn margin(weights: &[f64], vector: &SparseVector) -> f64 {
    let Some((intercept, weights)) = weights.split_last() else { return 0.0 };
    let known = vector.terms().iter().filter_map(|(term, value)| {
        weights.get(*term as usize).map(|weight| weight * f64::from(*value))
    });
    known.sum::<f64>() + intercept
}

/// The problem of one class against the others.
struct LinearProblem<'a> {
    documents: &'a [SparseVector],
    /// y of each document.
    signs: Vec<f64>,
    features: usize,
    loss: LinearClassLoss,
    c: f64,
}

/// The minimised function at a point, its gradient, and c times the second derivative of each
/// document's loss.
struct LinearPoint {
    value: f64,
    gradient: Vec<f64>,
    curvatures: Vec<f64>,
}

impl LinearProblem<'_> {
    fn at(&self, weights: &[f64]) -> LinearPoint {
        let mut value = 0.5 * dot(weights, weights);
        let mut gradient = weights.to_vec();
        let mut curvatures = Vec::with_capacity(self.documents.len());
        for (document, sign) in self.documents.iter().zip(&self.signs) {
            let [loss, slope, curvature] = self.loss.at(sign * margin(weights, document));
            value += self.c * loss;
            add_document(&mut gradient, document, self.c * slope * sign);
            curvatures.push(self.c * curvature);
        }
        LinearPoint { value, gradient, curvatures }
    }

    /// The product of the matrix of second derivatives with a direction.
    fn hessian_product(&self, curvatures: &[f64], direction: &[f64]) -> Vec<f64> {
        let mut product = direction.to_vec();
        for (document, curvature) in self.documents.iter().zip(curvatures) {
            if *curvature > 0.0 {
                add_document(&mut product, document, curvature * margin(direction, document));
            }
        }
        product
    }

    /// The approximate Newton step, by conjugate gradients.
    fn newton_step(&self, point: &LinearPoint, tolerance: f64) -> Vec<f64> {
        let mut step = vec![0.0; point.gradient.len()];
        let mut residual: Vec<f64> = point.gradient.iter().map(|g| -g).collect();
        let mut direction = residual.clone();
        let mut squared = dot(&residual, &residual);
        for _ in 0..MAX_CG_STEPS {
            if squared.sqrt() <= tolerance {
                break;
            }
            let product = self.hessian_product(&point.curvatures, &direction);
            let length = squared / dot(&direction, &product);
            add_scaled(&mut step, length, &direction);
            add_scaled(&mut residual, -length, &product);
            let next = dot(&residual, &residual);
            let ratio = next / squared;
            direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + ratio * *d);
            squared = next;
        }
        step
    }

    /// The weights and the intercept at the minimum, and its value.
    fn solve(&self) -> (Vec<f64>, f64) {
        let mut weights = vec![0.0; self.features + 1];
        let mut point = self.at(&weights);
        let first_norm = norm(&point.gradient);
        for _ in 0..MAX_STEPS {
            let gradient_norm = norm(&point.gradient);
            if gradient_norm <= TOLERANCE * first_norm {
                break;
            }
            // Far from the minimum a rough Newton step is enough; near it the step must be exact.
            let precision = (gradient_norm / first_norm).sqrt().min(0.1);
            let step = self.newton_step(&point, precision * gradient_norm);
            let Some((moved, lower)) = self.line_search(&weights, &point, &step) else { break };
            (weights, point) = (moved, lower);
        }
        (weights, point.value)
    }

    /// The first of the step, half of it, and so on, that lowers the function enough; `None` if
    /// rounding allows no decrease.
    fn line_search(
        &self,
        weights: &[f64],
        point: &LinearPoint,
        step: &[f64],
    ) -> Option<(Vec<f64>, LinearPoint)> {
        let slope = dot(&point.gradient, step);
        let mut length = 1.0;
        for _ in 0..MAX_HALVINGS {
            let mut moved = weights.to_vec();
            add_scaled(&mut moved, length, step);
            let found = self.at(&moved);
            if found.value <= point.value + SUFFICIENT_DECREASE * length * slope {
                return Some((moved, found));
            }
            length *= 0.5;
        }
        None
    }
}

/// Adds a multiple of a document, and of the constant 1 of the intercept.
fn add_document(sums: &mut [f64], document: &SparseVector, factor: f64) {
    for (term, value) in document.terms() {
        if let Some(sum) = sums.get_mut(*term as usize) {
            *sum += factor * f64::from(*value);
        }
    }
    if let Some(intercept) = sums.last_mut() {
        *intercept += factor;
    }
}

fn add_scaled(sums: &mut [f64], factor: f64, numbers: &[f64]) {
    sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += factor * number);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(numbers: &[f64]) -> f64 {
    dot(numbers, numbers).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(rows: &[[f32; 2]]) -> Vec<SparseVector> {
        rows.iter().map(|row| SparseVector::dense(row).unwrap()).collect()
    }

    #[test]
    fn derivatives_of_the_losses_equal_finite_differences() {
        for loss in [LinearClassLoss::SquaredHinge, LinearClassLoss::Logistic] {
            for z in [-30.0, -1.5, 0.0, 0.3, 4.0, 40.0] {
                let h = 1e-5;
                let [_, slope, curvature] = loss.at(z);
                let [above, below] = [loss.at(z + h), loss.at(z - h)];
                assert!((slope - (above[0] - below[0]) / (2.0 * h)).abs() < 1e-5, "{loss:?} {z}");
                assert!((curvature - (above[1] - below[1]) / (2.0 * h)).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn the_gradient_is_0_at_the_solution() {
        let documents = points(&[[1.0, 0.2], [0.4, 0.9], [-0.3, 0.5], [0.1, -1.0], [0.6, 0.6]]);
        for loss in [LinearClassLoss::SquaredHinge, LinearClassLoss::Logistic] {
            let signs = vec![1.0, -1.0, 1.0, -1.0, -1.0];
            let problem = LinearProblem { documents: &documents, signs, features: 2, loss, c: 3.0 };
            let (weights, value) = problem.solve();
            assert!(norm(&problem.at(&weights).gradient) < 1e-4, "{loss:?}");
            let mut moved = weights.clone();
            moved[0] += 1e-3;
            assert!(problem.at(&moved).value > value);
        }
    }

    #[test]
    fn two_classes_are_one_problem_and_one_class_is_none() {
        let documents = points(&[[1.0, 0.0], [0.0, 1.0], [0.1, 0.9]]);
        let fit = |classes: &[&str], loss| {
            LinearClassifier::fit(&documents, classes, 2, loss, 10.0).unwrap()
        };
        let two = fit(&["a", "b", "b"], LinearClassLoss::Logistic);
        assert_eq!(two.objectives().len(), 1);
        let scores = two.class_scores(&documents[0]);
        assert!((scores[0] + scores[1] - 1.0).abs() < 1e-12 && scores[0] > 0.5);
        let three = fit(&["a", "b", "c"], LinearClassLoss::SquaredHinge);
        assert_eq!(three.objectives().len(), 3);
        let one = fit(&["a", "a", "a"], LinearClassLoss::SquaredHinge);
        assert_eq!((one.decide(&documents[1]).class, one.objectives().len()), ("a", 0));
    }
}
