//! An ascent direction of a small concave quadratic function, g'x - 1/2 x'Hx, without bounds.
//!
//! g is the gradient at x = 0, H minus the hessian, ' the transpose. H x = g is solved by Gaussian
//! elimination with pivots from the diagonal, the largest first, which for a positive semidefinite
//! H are the largest entries of all. Once the remaining pivots are only rounding errors, the
//! function has no curvature along the remaining variables: it increases without bound or is
//! constant.
//!
//! Cost: O(n^3). Without variables the direction is empty.

/// Pivots below this fraction of the first one are rounding errors.
const MIN_PIVOT: f64 = 1e-13;

/// The linear system H x = g of a Newton step, after some steps of elimination.
pub(super) struct NewtonSystem {
    /// H, row by row.
    hessian: Vec<Vec<f64>>,
    /// g.
    gradient: Vec<f64>,
    /// The variable at each position of both: pivots are moved to the front.
    order: Vec<usize>,
}

impl NewtonSystem {
    /// The system of H, row by row, and g.
    pub(super) fn new(hessian: Vec<Vec<f64>>, gradient: Vec<f64>) -> Self {
        let order = (0..gradient.len()).collect();
        Self { hessian, gradient, order }
    }

    /// The step to the maximum; or, if there is none, a direction along which the function is flat
    /// (not curved) and rises by more than the tolerance.
    pub(super) fn ascent(mut self, tolerance: f64) -> Vec<f64> {
        let variables = self.gradient.len();
        let pivots = self.eliminate();
        let steepest = (pivots..variables)
            .max_by(|&a, &b| self.gradient[a].abs().total_cmp(&self.gradient[b].abs()));
        let rising = steepest.filter(|&k| self.gradient[k].abs() > tolerance);
        let mut solution = vec![0.0; variables];
        if let Some(k) = rising {
            solution[k] = self.gradient[k].signum();
            self.gradient[..pivots].fill(0.0);
        }
        for k in (0..pivots).rev() {
            let known: f64 = (k + 1..variables).map(|l| self.hessian[k][l] * solution[l]).sum();
            solution[k] = (self.gradient[k] - known) / self.hessian[k][k];
        }
        let mut direction = vec![0.0; variables];
        self.order.iter().zip(solution).for_each(|(&variable, x)| direction[variable] = x);
        direction
    }

    /// Brings the system into triangular form; returns the number of pivots that were used.
    fn eliminate(&mut self) -> usize {
        let variables = self.gradient.len();
        let mut min_pivot = 0.0;
        for k in 0..variables {
            let diagonal =
                |&a: &usize, &b: &usize| self.hessian[a][a].total_cmp(&self.hessian[b][b]);
            let Some(pivot) = (k..variables).max_by(diagonal) else { return k };
            if k == 0 {
                min_pivot = MIN_PIVOT * self.hessian[pivot][pivot];
            }
            if self.hessian[pivot][pivot] <= min_pivot {
                return k;
            }
            self.swap(k, pivot);
            let (rows_above, rows_below) = self.hessian.split_at_mut(k + 1);
            let pivot_row = &rows_above[k];
            for (row, l) in rows_below.iter_mut().zip(k + 1..) {
                let factor = row[k] / pivot_row[k];
                row.iter_mut().zip(pivot_row).for_each(|(x, y)| *x -= factor * y);
                self.gradient[l] -= factor * self.gradient[k];
            }
        }
        variables
    }

    /// Exchanges two variables.
    fn swap(&mut self, a: usize, b: usize) {
        self.hessian.swap(a, b);
        self.hessian.iter_mut().for_each(|row| row.swap(a, b));
        self.gradient.swap(a, b);
        self.order.swap(a, b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_to_the_maximum_solves_the_equations() {
        let hessian = vec![vec![2.0, 1.0], vec![1.0, 3.0]];
        let found = NewtonSystem::new(hessian, vec![4.0, 7.0]).ascent(1e-9);
        assert!((found[0] - 1.0).abs() < 1e-12 && (found[1] - 2.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn a_flat_direction_is_taken_if_it_rises() {
        // The function is curved along x + y and flat along x - y.
        let hessian = || vec![vec![1.0, 1.0], vec![1.0, 1.0]];
        let rising = NewtonSystem::new(hessian(), vec![1.0, 3.0]).ascent(1e-9);
        assert_eq!(rising, [-1.0, 1.0]);
        // The gradient has no part along x - y: the step to a maximum.
        let to_maximum = NewtonSystem::new(hessian(), vec![2.0, 2.0]).ascent(1e-9);
        assert_eq!(to_maximum.iter().sum::<f64>(), 2.0);
        assert!(NewtonSystem::new(Vec::new(), Vec::new()).ascent(1e-9).is_empty());
    }
}
