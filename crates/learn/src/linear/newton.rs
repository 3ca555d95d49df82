//! Trust region Newton method with steps by conjugate gradients: for smooth convex functions of
//! many variables whose hessian is available only as products with directions.
//!
//! Each step s minimises the quadratic model `g.s + s.Hs/2`, with gradient g and hessian H, within
//! a radius, the trust region (Steihaug 1983), and the radius grows or shrinks with how well the
//! model predicted the function (Lin, Weng and Keerthi, "Trust region Newton method for large-scale
//! logistic regression", 2008). The linear systems are solved roughly at first and more exactly as
//! the gradient falls, so that convergence is faster than linear at the end. A function value that
//! is infinite or NaN counts as a bad step; the search moves only to a better point.
//!
//! Cost of a step: one value, and a product with the hessian for each step of the conjugate
//! gradients. The thresholds and factors for the radius are those of Lin, Weng and Keerthi.

/// A twice differentiable function.
pub(super) trait SmoothFunction {
    /// Returns the value at a point and sets the gradient.
    fn value(&mut self, point: &[f64], gradient: &mut [f64]) -> f64;

    /// Sets `out` to the product of the hessian at the point of the last `value` and a direction.
    fn hessian_product(&mut self, direction: &[f64], out: &mut [f64]);
}

/// Outcome of a Newton step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NewtonStep {
    /// The new point is better than the one before.
    Moved,
    /// The step gave no improvement; the next one will be shorter.
    Stayed,
    /// The gradient is short enough, or no further improvement is possible.
    Converged,
}

/// A running search for the minimum.
#[derive(Debug, Clone)]
pub(super) struct NewtonSearch {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    /// Maximum length of the next step; `None` before the first.
    radius: Option<f64>,
}

/// Maximum number of products with the hessian in a step.
const MAX_PRODUCTS: usize = 500;
/// A step is accepted if the function falls by more than this fraction of the predicted reduction.
const MIN_REDUCTION: f64 = 1e-4;

impl NewtonSearch {
    /// Starts at a point; `radius` is that of an earlier search to resume, else `None`.
    pub(super) fn begin(
        function: &mut dyn SmoothFunction,
        point: Vec<f64>,
        radius: Option<f64>,
    ) -> Self {
        let mut gradient = vec![0.0; point.len()];
        let value = function.value(&point, &mut gradient);
        Self { point, value, gradient, radius }
    }

    /// The current point.
    pub(super) fn point(&self) -> &[f64] {
        &self.point
    }

    /// The function value at the current point.
    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// Maximum length of the next step; `None` before the first.
    pub(super) fn radius(&self) -> Option<f64> {
        self.radius
    }

    /// The length of the gradient.
    pub(super) fn gradient_norm(&self) -> f64 {
        norm(&self.gradient)
    }

    /// Takes one step. The search has converged when the gradient is shorter than `converged_norm`;
    /// `first_norm` is the length of the gradient at the start of the search, which decides how
    /// exactly the step is computed.
    pub(super) fn step(
        &mut self,
        function: &mut dyn SmoothFunction,
        converged_norm: f64,
        first_norm: f64,
    ) -> NewtonStep {
        let gradient_norm = self.gradient_norm();
        if gradient_norm <= converged_norm || !gradient_norm.is_finite() {
            return NewtonStep::Converged;
        }
        let radius = self.radius.unwrap_or(gradient_norm);
        // Falls with the gradient: roughly solved at first, more exactly later.
        let relative_tolerance =
            0.1_f64.min((gradient_norm / first_norm.max(gradient_norm)).sqrt());
        let (step, residual, at_boundary) =
            self.conjugate_gradients(function, radius, relative_tolerance * gradient_norm);
        let directional_derivative = dot(&self.gradient, &step);
        let predicted_reduction = -0.5 * (directional_derivative - dot(&step, &residual));
        let length = norm(&step);
        // A predicted reduction below the rounding error of the value cannot be measured.
        if predicted_reduction <= 1e-14 * self.value.abs() || length == 0.0 {
            return NewtonStep::Converged;
        }
        let trial: Vec<f64> = self.point.iter().zip(&step).map(|(x, s)| x + s).collect();
        let mut gradient = vec![0.0; trial.len()];
        let value = function.value(&trial, &mut gradient);
        let value = if value.is_nan() { f64::INFINITY } else { value };
        let reduction = self.value - value;
        let radius = if self.radius.is_none() { radius.min(length) } else { radius };
        let outcome = StepResult {
            length,
            reduction,
            predicted_reduction,
            directional_derivative,
            at_boundary,
        };
        self.radius = Some(next_radius(radius, outcome));
        if reduction > MIN_REDUCTION * predicted_reduction {
            (self.point, self.value, self.gradient) = (trial, value, gradient);
            return NewtonStep::Moved;
        }
        // The trial point is rejected: `hessian_product` needs the last evaluation at the kept
        // point.
        self.value = function.value(&self.point, &mut self.gradient);
        // A step below the rounding error of the point does not move it, and a shorter one will not
        // either.
        if length <= 1e-15 * norm(&self.point) { NewtonStep::Converged } else { NewtonStep::Stayed }
    }

    /// Minimises the quadratic model until the residual `-g - Hs` is shorter than `tolerance`.
    /// Returns the step, the residual, and whether the step ended at the border of the trust
    /// region.
    fn conjugate_gradients(
        &self,
        function: &mut dyn SmoothFunction,
        radius: f64,
        tolerance: f64,
    ) -> (Vec<f64>, Vec<f64>, bool) {
        let n = self.point.len();
        let mut step = vec![0.0; n];
        let mut residual: Vec<f64> = self.gradient.iter().map(|g| -g).collect();
        let mut direction = residual.clone();
        let mut hessian_direction = vec![0.0; n];
        let mut square = dot(&residual, &residual);
        for _ in 0..MAX_PRODUCTS {
            if square.sqrt() <= tolerance {
                break;
            }
            function.hessian_product(&direction, &mut hessian_direction);
            let curvature = dot(&direction, &hessian_direction);
            let full_step = if curvature > 0.0 { square / curvature } else { f64::INFINITY };
            let to_boundary = boundary_distance(&step, &direction, radius);
            let step_size = full_step.min(to_boundary);
            add(&mut step, step_size, &direction);
            add(&mut residual, -step_size, &hessian_direction);
            if full_step >= to_boundary {
                return (step, residual, true);
            }
            let next_square = dot(&residual, &residual);
            let beta = next_square / square;
            square = next_square;
            direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + beta * *d);
        }
        (step, residual, false)
    }
}

/// The distance to the border along the direction, in units of its length: the larger root t of
/// |step + t direction| = radius.
fn boundary_distance(step: &[f64], direction: &[f64], radius: f64) -> f64 {
    let (sd, dd, ss) = (dot(step, direction), dot(direction, direction), dot(step, step));
    let remaining = (radius * radius - ss).max(0.0);
    let root = (sd * sd + dd * remaining).sqrt();
    // Of the two forms of the solution, the one without cancellation.
    if sd >= 0.0 { remaining / (sd + root) } else { (root - sd) / dd }
}

/// A step that was tried, and the change of the function.
#[derive(Debug, Clone, Copy)]
struct StepResult {
    length: f64,
    /// The function value before the step minus that after it.
    reduction: f64,
    /// The reduction of the quadratic model.
    predicted_reduction: f64,
    /// The product of gradient and step, below 0.
    directional_derivative: f64,
    /// Whether the step ended at the border of the trust region.
    at_boundary: bool,
}

/// The radius after a step: smaller if the model predicted too much, larger if it was accurate.
fn next_radius(radius: f64, step: StepResult) -> f64 {
    let StepResult { length, reduction, directional_derivative, .. } = step;
    // Along the step, the parabola that has the function's value and slope at the start and its
    // value at the end: its minimum as a multiple of the step.
    let square_coefficient = -reduction - directional_derivative;
    let multiple = match square_coefficient <= 0.0 {
        true => 4.0,
        false => (-0.5 * (directional_derivative / square_coefficient)).max(0.25),
    };
    let parabola_minimum = multiple * length;
    match reduction / step.predicted_reduction {
        ratio if ratio.is_nan() || ratio < MIN_REDUCTION => parabola_minimum.min(0.5 * radius),
        ratio if ratio < 0.25 => parabola_minimum.clamp(0.25 * radius, 0.5 * radius),
        ratio if ratio < 0.75 => parabola_minimum.clamp(0.25 * radius, 4.0 * radius),
        _ if step.at_boundary => 4.0 * radius,
        _ => radius.max(parabola_minimum.min(4.0 * radius)),
    }
}

/// Length of a vector.
pub(super) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// The dot product.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Adds a multiple of `b` to `a`.
fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(x, y)| *x += factor * y);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of a_i x_i^2 / 2 - b_i x_i, with a and b given.
    struct Quadratic(Vec<f64>, Vec<f64>);

    impl SmoothFunction for Quadratic {
        fn value(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
            for i in 0..x.len() {
                gradient[i] = self.0[i] * x[i] - self.1[i];
            }
            (0..x.len()).map(|i| 0.5 * self.0[i] * x[i] * x[i] - self.1[i] * x[i]).sum()
        }

        fn hessian_product(&mut self, d: &[f64], out: &mut [f64]) {
            for i in 0..d.len() {
                out[i] = self.0[i] * d[i];
            }
        }
    }

    /// e^x - 2x + y^4, infinite from x = 3 on, with its minimum at x = ln 2, y = 0; keeps the point
    /// of the last value.
    #[derive(Default)]
    struct LimitedDomain(Vec<f64>);

    impl SmoothFunction for LimitedDomain {
        fn value(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
            self.0 = x.to_vec();
            gradient[0] = x[0].exp() - 2.0;
            gradient[1] = 4.0 * x[1].powi(3);
            if x[0] < 3.0 { x[0].exp() - 2.0 * x[0] + x[1].powi(4) } else { f64::INFINITY }
        }

        fn hessian_product(&mut self, d: &[f64], out: &mut [f64]) {
            out[0] = self.0[0].exp() * d[0];
            out[1] = 12.0 * self.0[1].powi(2) * d[1];
        }
    }

    /// The minimum, and the number of steps to it.
    fn minimise(function: &mut dyn SmoothFunction, start: Vec<f64>) -> (Vec<f64>, usize) {
        let mut search = NewtonSearch::begin(function, start, None);
        let first_norm = search.gradient_norm();
        let mut last = search.value();
        for steps in 1..200 {
            if search.step(function, 1e-10 * first_norm, first_norm) == NewtonStep::Converged {
                return (search.point().to_vec(), steps);
            }
            assert!(search.value() <= last, "no step may raise the value");
            last = search.value();
        }
        panic!("the search does not converge: {search:?}");
    }

    #[test]
    fn a_quadratic_function_is_minimised() {
        let mut quadratic = Quadratic(vec![1.0, 10.0, 1e4, 1e-3], vec![1.0, -5.0, 300.0, 0.0]);
        let (x, steps) = minimise(&mut quadratic, vec![0.0; 4]);
        // The minimum is at b_i / a_i.
        for (found, expected) in x.iter().zip([1.0, -0.5, 0.03, 0.0]) {
            assert!((found - expected).abs() < 1e-6, "{x:?}");
        }
        assert!(steps < 30, "{steps}");
    }

    #[test]
    fn a_function_with_a_limited_domain_is_minimised_inside() {
        let (x, _) = minimise(&mut LimitedDomain::default(), vec![-30.0, 5.0]);
        assert!((x[0] - 2.0_f64.ln()).abs() < 1e-6 && x[1].abs() < 1e-2, "{x:?}");
    }

    #[test]
    fn a_resumed_search_takes_the_same_steps() {
        let quadratic = || Quadratic(vec![1.0, 7.0, 900.0], vec![3.0, 1.0, 1.0]);
        let (mut function, mut same_function) = (quadratic(), quadratic());
        let mut search = NewtonSearch::begin(&mut function, vec![9.0; 3], None);
        let first_norm = search.gradient_norm();
        assert_eq!(search.step(&mut function, 0.0, first_norm), NewtonStep::Moved);
        let (point, radius) = (search.point().to_vec(), search.radius());
        let mut resumed = NewtonSearch::begin(&mut same_function, point, radius);
        let step = search.step(&mut function, 0.0, first_norm);
        assert_eq!(step, resumed.step(&mut same_function, 0.0, first_norm));
        assert_eq!(search.point(), resumed.point());
    }

    #[test]
    fn the_boundary_distance_ends_on_the_boundary() {
        for (step, direction) in [([0.0, 0.0], [3.0, 4.0]), ([1.0, 0.5], [-2.0, 0.1])] {
            let t = boundary_distance(&step, &direction, 2.0);
            let end: Vec<f64> = step.iter().zip(direction).map(|(s, d)| s + t * d).collect();
            assert!((norm(&end) - 2.0).abs() < 1e-12 && t > 0.0);
        }
    }

    #[test]
    fn a_search_that_starts_at_the_minimum_has_converged() {
        let mut square = Quadratic(vec![1.0], vec![0.0]);
        let mut search = NewtonSearch::begin(&mut square, vec![0.0], None);
        assert_eq!(search.step(&mut square, 0.0, 0.0), NewtonStep::Converged);
    }
}
