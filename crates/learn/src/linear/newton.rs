//! Trust region Newton method with steps by conjugate gradients: for smooth convex functions of
//! many unknowns whose hessian is available only as products with directions.
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
const MOST_PRODUCTS: usize = 500;
/// A step is accepted if the function falls by this part of the predicted reduction.
const ENOUGH: f64 = 1e-4;

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
    pub(super) fn slope(&self) -> f64 {
        length(&self.gradient)
    }

    /// Takes one step. The search has converged when the gradient is shorter than `floor`; `first`
    /// is the length of the gradient at the start of the search, which decides how exactly the step
    /// is computed.
    pub(super) fn step(&mut self, function: &mut dyn Smooth, floor: f64, first: f64) -> NewtonStep {
        let slope = self.slope();
        if slope <= floor || !slope.is_finite() {
            return NewtonStep::Converged;
        }
        let radius = self.radius.unwrap_or(slope);
        let loose = 0.1_f64.min((slope / first.max(slope)).sqrt());
        let (step, rest, at_border) = self.inner(function, radius, loose * slope);
        let along = dot(&self.gradient, &step);
        let foretold = -0.5 * (along - dot(&step, &rest));
        let size = length(&step);
        // A reduction below the rounding error is not worth a step.
        if foretold <= 1e-14 * self.value.abs() || size == 0.0 {
            return NewtonStep::Converged;
        }
        let trial: Vec<f64> = self.point.iter().zip(&step).map(|(x, s)| x + s).collect();
        let mut gradient = vec![0.0; trial.len()];
        let value = function.value(&trial, &mut gradient);
        let value = if value.is_nan() { f64::INFINITY } else { value };
        let fallen = self.value - value;
        let before = if self.radius.is_none() { radius.min(size) } else { radius };
        self.radius = Some(next_radius(before, size, fallen, foretold, along, at_border));
        if fallen > ENOUGH * foretold {
            (self.point, self.value, self.gradient) = (trial, value, gradient);
            return NewtonStep::Moved;
        }
        // The function must be evaluated last at the point that is kept.
        self.value = function.value(&self.point, &mut self.gradient);
        if size <= 1e-15 * length(&self.point) { NewtonStep::Converged } else { NewtonStep::Stayed }
    }

    /// Returns the step, the residual `-g - Hs`, and whether it ended at the border of the trust
    /// region.
    fn inner(
        &self,
        function: &mut dyn Smooth,
        radius: f64,
        enough: f64,
    ) -> (Vec<f64>, Vec<f64>, bool) {
        let n = self.point.len();
        let mut step = vec![0.0; n];
        let mut rest: Vec<f64> = self.gradient.iter().map(|g| -g).collect();
        let mut direction = rest.clone();
        let mut curved = vec![0.0; n];
        let mut square = dot(&rest, &rest);
        for _ in 0..MOST_PRODUCTS {
            if square.sqrt() <= enough {
                break;
            }
            function.hessian_product(&direction, &mut curved);
            let bend = dot(&direction, &curved);
            let far = if bend > 0.0 { square / bend } else { f64::INFINITY };
            let to_border = border(&step, &direction, radius);
            let go = far.min(to_border);
            add(&mut step, go, &direction);
            add(&mut rest, -go, &curved);
            if far >= to_border {
                return (step, rest, true);
            }
            let next = dot(&rest, &rest);
            let keep = next / square;
            square = next;
            direction.iter_mut().zip(&rest).for_each(|(d, r)| *d = r + keep * *d);
        }
        (step, rest, false)
    }
}

/// The distance to the border along the direction: the larger root of |step + t direction| =
/// radius.
fn border(step: &[f64], direction: &[f64], radius: f64) -> f64 {
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
    fallen: f64,
    foretold: f64,
    along: f64,
    at_border: bool,
) -> f64 {
    // The minimum of the parabola through both values and the slope, in units of the step.
    let rise = -fallen - along;
    let bottom = if rise <= 0.0 { 4.0 } else { (-0.5 * (along / rise)).max(0.25) };
    let bottom = bottom * size;
    match fallen / foretold {
        part if part.is_nan() || part < ENOUGH => bottom.min(0.5 * radius),
        part if part < 0.25 => bottom.clamp(0.25 * radius, 0.5 * radius),
        part if part < 0.75 => bottom.clamp(0.25 * radius, 4.0 * radius),
        _ if at_border => 4.0 * radius,
        _ => radius.max(bottom.min(4.0 * radius)),
    }
}

/// Length of a vector.
pub(super) fn length(a: &[f64]) -> f64 {
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
    struct Bowl(Vec<f64>, Vec<f64>);

    impl Smooth for Bowl {
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
    struct Fenced(Vec<f64>);

    impl Smooth for Fenced {
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
        let first = search.slope();
        let mut last = search.value();
        for steps in 1..200 {
            if search.step(function, 1e-10 * first, first) == NewtonStep::Converged {
                return (search.point().to_vec(), steps);
            }
            assert!(search.value() <= last, "no step may rise");
            last = search.value();
        }
        panic!("no end: {search:?}");
    }

    #[test]
    fn a_bowl_is_left_at_its_bottom() {
        let mut bowl = Bowl(vec![1.0, 10.0, 1e4, 1e-3], vec![1.0, -5.0, 300.0, 0.0]);
        let (x, steps) = run(&mut bowl, vec![0.0; 4]);
        for (found, expected) in x.iter().zip([1.0, -0.5, 0.03, 0.0]) {
            assert!((found - expected).abs() < 1e-6, "{x:?}");
        }
        assert!(steps < 30, "{steps}");
    }

    #[test]
    fn a_function_with_a_fence_is_searched_inside() {
        let (x, _) = run(&mut Fenced::default(), vec![-30.0, 5.0]);
        assert!((x[0] - 2.0_f64.ln()).abs() < 1e-6 && x[1].abs() < 1e-2, "{x:?}");
    }

    #[test]
    fn a_search_that_is_gone_on_with_takes_the_same_steps() {
        let make = || Bowl(vec![1.0, 7.0, 900.0], vec![3.0, 1.0, 1.0]);
        let (mut one, mut two) = (make(), make());
        let mut whole = NewtonSearch::begin(&mut one, vec![9.0; 3], None);
        let first = whole.slope();
        assert_eq!(whole.step(&mut one, 0.0, first), NewtonStep::Moved);
        let mut again = NewtonSearch::begin(&mut two, whole.point().to_vec(), whole.radius());
        assert_eq!(whole.step(&mut one, 0.0, first), again.step(&mut two, 0.0, first));
        assert_eq!(whole.point(), again.point());
    }

    #[test]
    fn the_border_is_met() {
        for (step, direction) in [([0.0, 0.0], [3.0, 4.0]), ([1.0, 0.5], [-2.0, 0.1])] {
            let t = border(&step, &direction, 2.0);
            let end: Vec<f64> = step.iter().zip(direction).map(|(s, d)| s + t * d).collect();
            assert!((length(&end) - 2.0).abs() < 1e-12 && t > 0.0);
        }
    }

    #[test]
    fn nothing_to_gain_is_seen_at_once() {
        let mut flat = Bowl(vec![1.0], vec![0.0]);
        let mut search = NewtonSearch::begin(&mut flat, vec![0.0], None);
        assert_eq!(search.step(&mut flat, 0.0, 0.0), NewtonStep::Converged);
    }
}
