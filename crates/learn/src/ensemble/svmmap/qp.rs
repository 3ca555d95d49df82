//! The small quadratic programme of a cutting-plane method, solved by pairs.
//!
//! ```text
//! maximise sum of a_k d_k - 1/2 sum of a_k a_l G_kl    with a_k >= 0 and sum of a_k <= C
//! ```
//!
//! The room that is left below C is one more variable without loss or gradient, so that the sum is
//! always C and a step moves weight from one variable to another: from that with the lowest
//! slope to that with the highest, as far as the slope rises or the weight lasts (sequential
//! minimal optimisation, Platt 1998). It ends when no two slopes differ by more than the
//! tolerance; then the objective is within C times the tolerance of the best.
//!
//! Cost: O(planes) a step. No planes: nothing to do.

/// Planes, their inner products, and the weights found so far.
#[derive(Debug, Clone)]
pub(super) struct Programme {
    c: f64,
    losses: Vec<f64>,
    /// Inner products, row by row; each row as long as its number plus one.
    products: Vec<Vec<f64>>,
    weights: Vec<f64>,
}

/// Steps at most, for each plane.
const STEPS: usize = 20_000;

impl Programme {
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

    /// Puts back the weights of an earlier solution.
    pub(super) fn set_weights(&mut self, weights: &[f64]) {
        self.weights.copy_from_slice(weights);
    }

    fn product(&self, k: usize, l: usize) -> f64 {
        self.products[k.max(l)][k.min(l)]
    }

    /// The value of the objective.
    #[cfg(test)]
    pub(super) fn value(&self) -> f64 {
        let gain: f64 = self.losses.iter().zip(&self.weights).map(|(loss, a)| loss * a).sum();
        let of_plane = |k: usize| self.weights[k] * self.weighted(k);
        gain - 0.5 * (0..self.losses.len()).map(of_plane).sum::<f64>()
    }

    /// The inner product of a plane with the weighted sum of all.
    fn weighted(&self, k: usize) -> f64 {
        (0..self.losses.len()).map(|l| self.product(k, l) * self.weights[l]).sum()
    }

    /// Improves the weights until no slopes differ by more than the tolerance.
    pub(super) fn solve(&mut self, tolerance: f64) {
        let planes = self.losses.len();
        let mut slopes: Vec<f64> = (0..planes).map(|k| self.losses[k] - self.weighted(k)).collect();
        for _ in 0..STEPS * planes {
            let room = self.c - self.weights.iter().sum::<f64>();
            // `None` is the room that is left.
            let (mut up, mut most) = (None, 0.0);
            let (mut down, mut least) = (None, if room > 0.0 { 0.0 } else { f64::INFINITY });
            for (k, &slope) in slopes.iter().enumerate() {
                if slope > most {
                    (up, most) = (Some(k), slope);
                }
                if self.weights[k] > 0.0 && slope < least {
                    (down, least) = (Some(k), slope);
                }
            }
            if most - least <= tolerance || up == down {
                break;
            }
            let product = |a: Option<usize>, b: Option<usize>| match (a, b) {
                (Some(a), Some(b)) => self.product(a, b),
                _ => 0.0,
            };
            let curvature = product(up, up) + product(down, down) - 2.0 * product(up, down);
            let available = down.map_or(room, |k| self.weights[k]);
            let step = match curvature > 1e-300 {
                true => ((most - least) / curvature).min(available),
                false => available,
            };
            for (k, slope) in slopes.iter_mut().enumerate() {
                *slope -= step * (product(up, Some(k)) - product(down, Some(k)));
            }
            if let Some(k) = up {
                self.weights[k] += step;
            }
            if let Some(k) = down {
                // Exactly 0 where all of it goes: no crumbs that are moved again and again.
                self.weights[k] = if step == available { 0.0 } else { self.weights[k] - step };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn programme(c: f64, planes: &[(f64, Vec<f64>)]) -> Programme {
        let mut programme = Programme::new(c);
        for (number, (loss, plane)) in planes.iter().enumerate() {
            let dot = |other: &Vec<f64>| plane.iter().zip(other).map(|(a, b)| a * b).sum();
            let products = planes[..=number].iter().map(|(_, other)| dot(other)).collect();
            programme.add(*loss, products);
        }
        programme
    }

    #[test]
    fn one_plane_by_hand() {
        // max a - a^2: a = 1/2, or C where that is less.
        let planes = [(1.0, vec![1.0, 1.0])];
        let mut wide = programme(10.0, &planes);
        wide.solve(1e-9);
        assert!((wide.weights()[0] - 0.5).abs() < 1e-9 && (wide.value() - 0.25).abs() < 1e-9);
        let mut narrow = programme(0.25, &planes);
        narrow.solve(1e-9);
        assert_eq!(narrow.weights(), [0.25]);
        let mut none = Programme::new(1.0);
        none.solve(1e-9);
        assert_eq!(none.value(), 0.0);
    }

    proptest! {
        #[test]
        fn the_primal_value_of_the_solution_is_that_of_the_programme(
            planes in proptest::collection::vec(
                (0.0..1.0_f64, proptest::collection::vec(-1.0..1.0_f64, 3)), 1..9),
            c in 0.1..20.0_f64,
        ) {
            let mut programme = programme(c, &planes);
            programme.solve(1e-7);
            prop_assert!(programme.weights().iter().all(|a| *a >= 0.0));
            prop_assert!(programme.weights().iter().sum::<f64>() <= c * (1.0 + 1e-9));
            // w = sum of a_k g_k; the slack is the most that a plane is violated.
            let w: Vec<f64> = (0..3)
                .map(|i| programme.weights().iter().zip(&planes).map(|(a, (_, g))| a * g[i]).sum())
                .collect();
            let dot = |g: &Vec<f64>| g.iter().zip(&w).map(|(a, b)| a * b).sum::<f64>();
            let slack = planes.iter().map(|(loss, g)| loss - dot(g)).fold(0.0, f64::max);
            let primal = 0.5 * dot(&w) + c * slack;
            prop_assert!((primal - programme.value()).abs() < 1e-5 * (1.0 + c), "{primal}");
        }
    }
}
