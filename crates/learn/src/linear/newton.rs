//! Trust region Newton method with steps by conjugate gradients: for smooth convex functions of
//! many variables whose hessian is available only as products with directions.
//!
//! Each step minimises the quadratic model `g.s + s.Hs/2` within a radius (Steihaug 1983), and the
//! radius grows or shrinks with how well the model predicted the function (Lin, Weng and Keerthi,
//! *Trust region Newton method for large-scale logistic regression*, 2008). The linear systems are
//! solved roughly at first and more exactly as the gradient falls, so that convergence is faster
//! than linear at the end. A function value that is infinite or NaN counts as a bad step; the
//! search moves only to a better point.
//!
//! Cost of a step: one value, and a product with the hessian for each step of the conjugate
//! gradients.

/// A twice differentiable function.
pub(super) trait Smooth {
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
    /// No further improvement is possible.
    Converged,
}

/// A running search for the minimum.
#[derive(Debug, Clone)]
pub(super) struct NewtonSearch {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    radius: Option<f64>,
}

/// Maximum number of products with the hessian in a step.
const MAX_PRODUCTS: usize = 500;
/// A step is accepted if the function falls by this part of the predicted reduction.
const MIN_REDUCTION: f64 = 1e-4;

impl NewtonSearch {
    /// Starts at a point; `radius` is that of an earlier search that is resumed.
    pub(super) fn begin(function: &mut dyn Smooth, point: Vec<f64>, radius: Option<f64>) -> Self {
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
        function: &mut dyn Smooth,
        converged_norm: f64,
        first_norm: f64,
    ) -> NewtonStep {
        let gradient_norm = self.gradient_norm();
        if gradient_norm <= converged_norm || !gradient_norm.is_finite() {
            return NewtonStep::Converged;
        }
        let radius = self.radius.unwrap_or(gradient_norm);
        let relative_tolerance =
            0.1_f64.min((gradient_norm / first_norm.max(gradient_norm)).sqrt());
        let (step, residual, at_boundary) =
            self.conjugate_gradients(function, radius, relative_tolerance * gradient_norm);
        let directional_derivative = dot(&self.gradient, &step);
        let predicted = -0.5 * (directional_derivative - dot(&step, &residual));
        let size = norm(&step);
        // A reduction below the rounding error is not worth a step.
        if predicted <= 1e-14 * self.value.abs() || size == 0.0 {
            return NewtonStep::Converged;
        }
        let trial: Vec<f64> = self.point.iter().zip(&step).map(|(x, s)| x + s).collect();
        let mut gradient = vec![0.0; trial.len()];
        let value = function.value(&trial, &mut gradient);
        let value = if value.is_nan() { f64::INFINITY } else { value };
        let reduction = self.value - value;
        let before = if self.radius.is_none() { radius.min(size) } else { radius };
        self.radius = Some(next_radius(
            before,
            size,
            reduction,
            predicted,
            directional_derivative,
            at_boundary,
        ));
        if reduction > MIN_REDUCTION * predicted {
            (self.point, self.value, self.gradient) = (trial, value, gradient);
            return NewtonStep::Moved;
        }
        // The function must be evaluated last at the point that is kept.
        self.value = function.value(&self.point, &mut self.gradient);
        if size <= 1e-15 * norm(&self.point) { NewtonStep::Converged } else { NewtonStep::Stayed }
    }

    /// Returns the step, the residual `-g - Hs`, and whether it ended at the border of the trust
    /// region.
    fn conjugate_gradients(
        &self,
        function: &mut dyn Smooth,
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
            let next = dot(&residual, &residual);
            let beta = next / square;
            square = next;
            direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + beta * *d);
        }
        (step, residual, false)
    }
}

/// The distance to the border along the direction: the larger root of |step + t direction| =
/// radius.
fn boundary_distance(step: &[f64], direction: &[f64], radius: f64) -> f64 {
    let (sd, dd, ss) = (dot(step, direction), dot(direction, direction), dot(step, step));
    let left = (radius * radius - ss).max(0.0);
    let root = (sd * sd + dd * left).sqrt();
    // The form of the root without cancellation.
    if sd >= 0.0 { left / (sd + root) } else { (root - sd) / dd }
}

/// The radius after a step: smaller if the model predicted too much, larger if it was accurate.
fn next_radius(
    radius: f64,
    size: f64,
    reduction: f64,
    predicted: f64,
    directional_derivative: f64,
    at_boundary: bool,
) -> f64 {
    // The minimum of the parabola through both values and the slope, in units of the step.
    let rise = -reduction - directional_derivative;
    let parabola_minimum =
        if rise <= 0.0 { 4.0 } else { (-0.5 * (directional_derivative / rise)).max(0.25) };
    let parabola_minimum = parabola_minimum * size;
    match reduction / predicted {
        part if part.is_nan() || part < MIN_REDUCTION => parabola_minimum.min(0.5 * radius),
        part if part < 0.25 => parabola_minimum.clamp(0.25 * radius, 0.5 * radius),
        part if part < 0.75 => parabola_minimum.clamp(0.25 * radius, 4.0 * radius),
        _ if at_boundary => 4.0 * radius,
        _ => radius.max(parabola_minimum.min(4.0 * radius)),
    }
}

/// Length of a vector.
pub(super) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn add(to: &mut [f64], times: f64, what: &[f64]) {
    to.iter_mut().zip(what).for_each(|(x, y)| *x += times * y);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// sum of a_i x_i^2 / 2 - b_i x_i.
    struct Quadratic(Vec<f64>, Vec<f64>);

    impl Smooth for Quadratic {
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

    /// e^x - 2x + y^4, defined for x < 3 only.
    #[derive(Default)]
    struct LimitedDomain(Vec<f64>);

    impl Smooth for LimitedDomain {
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

    fn run(function: &mut dyn Smooth, from: Vec<f64>) -> (Vec<f64>, usize) {
        let mut search = NewtonSearch::begin(function, from, None);
        let first_norm = search.gradient_norm();
        let mut last = search.value();
        for steps in 1..200 {
            if search.step(function, 1e-10 * first_norm, first_norm) == NewtonStep::Converged {
                return (search.point().to_vec(), steps);
            }
            assert!(search.value() <= last, "no step may rise");
            last = search.value();
        }
        panic!("no end: {search:?}");
    }

    #[test]
    fn a_quadratic_function_is_minimised() {
        let mut quadratic = Quadratic(vec![1.0, 10.0, 1e4, 1e-3], vec![1.0, -5.0, 300.0, 0.0]);
        let (x, steps) = run(&mut quadratic, vec![0.0; 4]);
        for (found, expected) in x.iter().zip([1.0, -0.5, 0.03, 0.0]) {
            assert!((found - expected).abs() < 1e-6, "{x:?}");
        }
        assert!(steps < 30, "{steps}");
    }

    #[test]
    fn a_function_with_a_limited_domain_is_minimised_inside() {
        let (x, _) = run(&mut LimitedDomain::default(), vec![-30.0, 5.0]);
        assert!((x[0] - 2.0_f64.ln()).abs() < 1e-6 && x[1].abs() < 1e-2, "{x:?}");
    }

    #[test]
    fn a_resumed_search_takes_the_same_steps() {
        let make = || Quadratic(vec![1.0, 7.0, 900.0], vec![3.0, 1.0, 1.0]);
        let (mut one, mut two) = (make(), make());
        let mut whole = NewtonSearch::begin(&mut one, vec![9.0; 3], None);
        let first_norm = whole.gradient_norm();
        assert_eq!(whole.step(&mut one, 0.0, first_norm), NewtonStep::Moved);
        let mut again = NewtonSearch::begin(&mut two, whole.point().to_vec(), whole.radius());
        assert_eq!(whole.step(&mut one, 0.0, first_norm), again.step(&mut two, 0.0, first_norm));
        assert_eq!(whole.point(), again.point());
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
        let mut flat = Quadratic(vec![1.0], vec![0.0]);
        let mut search = NewtonSearch::begin(&mut flat, vec![0.0], None);
        assert_eq!(search.step(&mut flat, 0.0, 0.0), NewtonStep::Converged);
    }
}
