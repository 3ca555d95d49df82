//! Gauss-Legendre quadrature on 0..1: `n` nodes and weights that integrate every polynomial of
//! degree up to `2n - 1` exactly.
//!
//! The nodes are the roots of the Legendre polynomial `P_n`, found by Newton's method from the
//! usual first guess `cos(pi (i - 1/4) / (n + 1/2))`; the cosine is our own sum of a series, so
//! that the bits are the same on every machine. Cost: n^2 for a rule of n nodes. `n = 0` is the
//! empty rule.

/// The nodes and weights of a quadrature rule.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Quadrature {
    /// The nodes: between 0 and 1, ends excluded, ascending.
    pub(super) points: Vec<f64>,
    /// The weights: above 0, with sum 1.
    pub(super) weights: Vec<f64>,
}

impl Quadrature {
    /// The rule of `n` nodes.
    pub(super) fn new(n: usize) -> Quadrature {
        let mut rule = Quadrature { points: vec![0.0; n], weights: vec![0.0; n] };
        // The nodes are symmetric: one half is computed.
        for i in 0..n.div_ceil(2) {
            let (x, slope) = root(n, i);
            let weight = 1.0 / ((1.0 - x * x) * slope * slope);
            (rule.points[i], rule.points[n - 1 - i]) = ((1.0 - x) / 2.0, (1.0 + x) / 2.0);
            (rule.weights[i], rule.weights[n - 1 - i]) = (weight, weight);
        }
        rule
    }
}

/// The root number `i` of `P_n`, from 0 and from the right, with the derivative there.
fn root(n: usize, i: usize) -> (f64, f64) {
    let mut x = cos(std::f64::consts::PI * (i as f64 + 0.75) / (n as f64 + 0.5));
    // Each step doubles the correct digits; the last steps change only the last bits.
    for _ in 0..8 {
        let (value, slope) = legendre(n, x);
        x -= value / slope;
    }
    (x, legendre(n, x).1)
}

/// `P_n` and its derivative at a point inside -1..1, by the three-term recurrence.
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (0.0, 1.0);
    for k in 0..n {
        let k = k as f64;
        (before, value) = (value, ((2.0 * k + 1.0) * x * value - k * before) / (k + 1.0));
    }
    (value, n as f64 * (before - x * value) / (1.0 - x * x))
}

/// The cosine of an angle from 0 to pi, exact to ten digits and more.
fn cos(angle: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..16 {
        let k = f64::from(2 * k);
        term *= -angle * angle / (k * (k - 1.0));
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_rules_are_those_of_textbooks() {
        assert_eq!(Quadrature::new(0), Quadrature::default());
        assert_eq!(Quadrature::new(1), Quadrature { points: vec![0.5], weights: vec![1.0] });
        let two = Quadrature::new(2);
        let first_node = 0.5 - 0.5 / 3.0_f64.sqrt();
        assert!((two.points[0] - first_node).abs() < 1e-15 && (two.weights[0] - 0.5).abs() < 1e-15);
    }

    #[test]
    fn powers_below_twice_the_number_of_nodes_are_integrated_exactly() {
        for n in 1..=80 {
            let rule = Quadrature::new(n);
            assert!(rule.points.is_sorted_by(|a, b| a < b), "{n}");
            for power in 0..2 * n {
                let terms = rule.points.iter().zip(&rule.weights);
                let sum: f64 = terms.map(|(t, weight)| weight * t.powi(power as i32)).sum();
                let exact = 1.0 / (power + 1) as f64;
                assert!((sum - exact).abs() < 1e-13, "{n} points, power {power}: {sum} {exact}");
            }
        }
    }
}
