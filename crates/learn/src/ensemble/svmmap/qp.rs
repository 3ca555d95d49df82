//! The small quadratic programme of a cutting-plane method, solved by pairs of variables.
//!
//! ```text
//! maximise sum of a_k d_k - 1/2 sum of a_k a_l G_kl    with a_k >= 0 and sum of a_k <= C
//! ```
//!
//! a_k is the weight of plane k, d_k its loss and G_kl the inner product of the gradients of the
//! planes k and l. The slope of a weight is the derivative of this objective by it. The slack, C
//! minus the sum of the weights, is one more variable, of slope 0, so that the sum is always C and
//! a step moves weight from one variable to another: from the one with the lowest slope to the one
//! with the highest, up to the maximum along that direction or until the weight is used up
//! (sequential minimal optimisation, Platt 1998). It ends when no two slopes differ by more than
//! the tolerance; then the objective is within C times the tolerance of its maximum.
//!
//! If planes are nearly linear combinations of others, steps by pairs zigzag and converge slowly.
//! After a number of them all weights above 0 are changed at once, to the best weights with the
//! others at 0 (`newton.rs`), and steps by pairs continue from there, which also give weight to
//! planes of weight 0.
//!
//! Cost: O(planes) for a step of a pair, O(planes^3) for a step of all. Without planes there is
//! nothing to solve.

use super::newton::NewtonSystem;

/// Planes, their inner products, and the weights found so far.
#[derive(Debug, Clone)]
pub(super) struct QuadraticProgram {
    /// C: the maximum sum of the weights.
    c: f64,
    losses: Vec<f64>,
    /// Inner products, row by row; the length of each row is its index plus one.
    products: Vec<Vec<f64>>,
    weights: Vec<f64>,
}

/// Maximum number of steps by pairs, for each plane, before all weights are changed at once.
const PAIR_STEPS: usize = 20_000;
/// Maximum number of steps by pairs, for each plane, after a change of all weights; few are enough,
/// as giving weight to a plane of weight 0 takes one step.
const FURTHER_PAIR_STEPS: usize = 10;
/// Maximum number of changes of all weights at once, for each plane.
const MAX_JOINT_STEPS: usize = 100;
/// A second derivative up to this counts as 0.
const MIN_CURVATURE: f64 = 1e-300;
/// The fraction of C below which the remaining slack is a rounding error.
const MIN_SLACK: f64 = 1e-12;

impl QuadraticProgram {
    /// The programme without planes.
    pub(super) fn new(c: f64) -> Self {
        Self { c, losses: Vec::new(), products: Vec::new(), weights: Vec::new() }
    }

    /// Adds a plane with its loss and its inner products with the planes before it and itself.
    pub(super) fn add(&mut self, loss: f64, products: Vec<f64>) {
        self.losses.push(loss);
        self.products.push(products);
        self.weights.push(0.0);
    }

    /// Weights of the planes.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Restores the weights of an earlier solution.
    pub(super) fn set_weights(&mut self, weights: &[f64]) {
        self.weights.copy_from_slice(weights);
    }

    /// G_kl.
    fn product(&self, k: usize, l: usize) -> f64 {
        self.products[k.max(l)][k.min(l)]
    }

    /// The value of the objective.
    #[cfg(test)]
    pub(super) fn value(&self) -> f64 {
        let linear: f64 = self.losses.iter().zip(&self.weights).map(|(loss, a)| loss * a).sum();
        let square = |k: usize| self.weights[k] * self.product_with_sum(k);
        linear - 0.5 * (0..self.losses.len()).map(square).sum::<f64>()
    }

    /// The inner product of a plane with the weighted sum of all.
    fn product_with_sum(&self, k: usize) -> f64 {
        (0..self.losses.len()).map(|l| self.product(k, l) * self.weights[l]).sum()
    }

    /// Improves the weights until no two slopes differ by more than the tolerance.
    pub(super) fn solve(&mut self, tolerance: f64) {
        self.solve_after(PAIR_STEPS, tolerance);
    }

    /// Like [`solve`](Self::solve), with at most this number of steps by pairs for each plane
    /// before the first change of all weights.
    fn solve_after(&mut self, pair_steps: usize, tolerance: f64) {
        let planes = self.losses.len();
        let mut is_solved = self.solve_by_pairs(tolerance, pair_steps * planes);
        for _ in 0..MAX_JOINT_STEPS * planes {
            if is_solved {
                return;
            }
            // Each step that does not reach the maximum sets one more weight to 0.
            for _ in 0..=planes {
                if self.joint_step(tolerance) {
                    break;
                }
            }
            is_solved = self.solve_by_pairs(tolerance, FURTHER_PAIR_STEPS * planes);
        }
    }

    /// The derivative of the objective by each weight.
    fn slopes(&self) -> Vec<f64> {
        (0..self.losses.len()).map(|k| self.losses[k] - self.product_with_sum(k)).collect()
    }

    /// C minus the sum of the weights.
    fn slack(&self) -> f64 {
        self.c - self.weights.iter().sum::<f64>()
    }

    /// Takes steps by pairs; returns whether they ended within the tolerance.
    fn solve_by_pairs(&mut self, tolerance: f64, steps: usize) -> bool {
        let mut slopes = self.slopes();
        for _ in 0..steps {
            let slack = self.slack();
            // The variables that gain and lose weight; `None` is the slack.
            let (mut up, mut highest) = (None, 0.0);
            let (mut down, mut lowest) = (None, if slack > 0.0 { 0.0 } else { f64::INFINITY });
            for (k, &slope) in slopes.iter().enumerate() {
                if slope > highest {
                    (up, highest) = (Some(k), slope);
                }
                if self.weights[k] > 0.0 && slope < lowest {
                    (down, lowest) = (Some(k), slope);
                }
            }
            if highest - lowest <= tolerance || up == down {
                return true;
            }
            let product = |a: Option<usize>, b: Option<usize>| match (a, b) {
                (Some(a), Some(b)) => self.product(a, b),
                _ => 0.0,
            };
            let curvature = product(up, up) + product(down, down) - 2.0 * product(up, down);
            let available = down.map_or(slack, |k| self.weights[k]);
            // Along a direction without curvature the objective rises linearly as far as possible.
            let step = match curvature > MIN_CURVATURE {
                true => ((highest - lowest) / curvature).min(available),
                false => available,
            };
            for (k, slope) in slopes.iter_mut().enumerate() {
                *slope -= step * (product(up, Some(k)) - product(down, Some(k)));
            }
            if let Some(k) = up {
                self.weights[k] += step;
            }
            if let Some(k) = down {
                // Exactly 0 if all of the weight moves: no rounding remainder that is moved again
                // and again.
                self.weights[k] = if step == available { 0.0 } else { self.weights[k] - step };
            }
        }
        self.losses.is_empty()
    }

    /// Moves all weights above 0 and the slack towards their best values, until one of them reaches
    /// 0. Returns whether the maximum was reached, or only one variable is above 0.
    fn joint_step(&mut self, tolerance: f64) -> bool {
        let slopes = self.slopes();
        let slack = self.slack();
        let mut used: Vec<usize> =
            (0..self.weights.len()).filter(|&k| self.weights[k] > 0.0).collect();
        // The variable that gives up the weight that all others gain: the slack, or the largest
        // weight.
        let donor = match slack > MIN_SLACK * self.c {
            true => None,
            false => {
                let largest = |&a: &usize, &b: &usize| self.weights[a].total_cmp(&self.weights[b]);
                let Some(donor) = used.iter().copied().max_by(largest) else { return true };
                used.retain(|&k| k != donor);
                Some(donor)
            }
        };
        let product = |k: usize, l: usize| match donor {
            Some(p) => {
                self.product(k, l) - self.product(k, p) - self.product(p, l) + self.product(p, p)
            }
            None => self.product(k, l),
        };
        let hessian: Vec<Vec<f64>> =
            used.iter().map(|&k| used.iter().map(|&l| product(k, l)).collect()).collect();
        let slope = |k: usize| slopes[k] - donor.map_or(0.0, |p| slopes[p]);
        let gradient: Vec<f64> = used.iter().map(|&k| slope(k)).collect();
        let direction = NewtonSystem::new(hessian.clone(), gradient.clone()).ascent(tolerance);

        let increase: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
        if increase <= 0.0 {
            return true;
        }
        let row_product =
            |row: &Vec<f64>| row.iter().zip(&direction).map(|(h, d)| h * d).sum::<f64>();
        let curvature: f64 =
            hessian.iter().zip(&direction).map(|(row, d)| d * row_product(row)).sum();
        let best_step = if curvature > 0.0 { increase / curvature } else { f64::INFINITY };
        let donor_change = -direction.iter().sum::<f64>();
        let others = used.iter().map(|&k| Some(k)).zip(direction);
        let changes: Vec<(Option<usize>, f64)> =
            std::iter::once((donor, donor_change)).chain(others).collect();
        self.advance(&changes, best_step)
    }

    /// Changes weights, and the slack (`None`), along a direction: by the best step, or until one
    /// of them reaches 0. Returns whether it was the best step.
    fn advance(&mut self, changes: &[(Option<usize>, f64)], best_step: f64) -> bool {
        let slack = self.slack();
        let current = |k: Option<usize>| k.map_or(slack, |k| self.weights[k]);
        let falling = changes.iter().filter(|(_, change)| *change < 0.0);
        let limits = falling.map(|&(k, change)| (k, current(k) / -change));
        let (step, used_up) = match limits.min_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((k, limit)) if limit <= best_step => (limit, Some(k)),
            Some(_) => (best_step, None),
            None => return true,
        };
        for &(k, change) in changes {
            let Some(k) = k else { continue };
            let weight = (self.weights[k] + step * change).max(0.0);
            self.weights[k] = if used_up == Some(Some(k)) { 0.0 } else { weight };
        }
        used_up.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The programme of planes, each given by its loss and its gradient.
    fn program(c: f64, planes: &[(f64, Vec<f64>)]) -> QuadraticProgram {
        let mut program = QuadraticProgram::new(c);
        for (number, (loss, plane)) in planes.iter().enumerate() {
            let dot = |other: &Vec<f64>| plane.iter().zip(other).map(|(a, b)| a * b).sum();
            let products = planes[..=number].iter().map(|(_, other)| dot(other)).collect();
            program.add(*loss, products);
        }
        program
    }

    #[test]
    fn one_plane_has_the_solution_worked_out_by_hand() {
        // max a - a^2: a = 1/2, or C if that is less.
        let planes = [(1.0, vec![1.0, 1.0])];
        let mut large_c = program(10.0, &planes);
        large_c.solve(1e-9);
        assert!((large_c.weights()[0] - 0.5).abs() < 1e-9);
        assert!((large_c.value() - 0.25).abs() < 1e-9);
        let mut small_c = program(0.25, &planes);
        small_c.solve(1e-9);
        assert_eq!(small_c.weights(), [0.25]);
        let mut without_planes = QuadraticProgram::new(1.0);
        without_planes.solve(1e-9);
        assert_eq!(without_planes.value(), 0.0);
    }

    /// The duality gap: the distance of the primal value from that of the programme, which is the
    /// dual; 0 at the optimum.
    fn duality_gap(program: &QuadraticProgram, c: f64, planes: &[(f64, Vec<f64>)]) -> f64 {
        let weights = program.weights();
        // w = sum of a_k g_k; the slack is the largest violation of a plane.
        let w: Vec<f64> =
            (0..3).map(|i| weights.iter().zip(planes).map(|(a, (_, g))| a * g[i]).sum()).collect();
        let dot = |g: &Vec<f64>| g.iter().zip(&w).map(|(a, b)| a * b).sum::<f64>();
        let slack = planes.iter().map(|(loss, g)| loss - dot(g)).fold(0.0, f64::max);
        (0.5 * dot(&w) + c * slack - program.value()).abs()
    }

    #[test]
    fn planes_that_steps_by_pairs_zigzag_on_are_solved() {
        // The first assertion below checks that steps by pairs alone do not solve these planes.
        let solution_with_slack = [
            (0.53, vec![0.52, 0.38, -0.14]),
            (0.77, vec![-0.62, -0.14, -0.82]),
            (0.9, vec![0.39, 0.6, -0.41]),
            (0.12, vec![0.92, 0.95, 0.94]),
            (0.4, vec![-0.54, -0.3, -0.68]),
        ];
        let solution_without_slack = [
            (0.61, vec![0.96, -0.46, -0.08]),
            (0.69, vec![0.98, 0.7, -0.94]),
            (0.24, vec![-0.98, 0.49, 0.57]),
            (0.41, vec![-0.04, 0.14, 0.2]),
            (0.98, vec![-0.97, -0.38, -0.02]),
        ];
        for (c, planes) in [(15.0, solution_with_slack), (18.0, solution_without_slack)] {
            let mut by_pairs = program(c, &planes);
            assert!(!by_pairs.solve_by_pairs(1e-7, 100_000), "a harder programme is needed");
            let mut solved = program(c, &planes);
            solved.solve(1e-7);
            assert!(duality_gap(&solved, c, &planes) < 1e-7 * (1.0 + c));
        }
    }

    proptest! {
        #[test]
        fn the_primal_value_of_the_solution_is_that_of_the_programme(
            planes in proptest::collection::vec(
                (0.0..1.0_f64, proptest::collection::vec(-1.0..1.0_f64, 3)), 1..9),
            c in 0.1..20.0_f64,
            // With few steps by pairs most progress comes from changes of all weights.
            pair_steps in prop_oneof![Just(PAIR_STEPS), Just(1)],
        ) {
            let mut program = program(c, &planes);
            program.solve_after(pair_steps, 1e-7);
            prop_assert!(program.weights().iter().all(|a| *a >= 0.0));
            prop_assert!(program.weights().iter().sum::<f64>() <= c * (1.0 + 1e-9));
            let gap = duality_gap(&program, c, &planes);
            prop_assert!(gap < 1e-5 * (1.0 + c), "{gap}");
        }
    }
}
