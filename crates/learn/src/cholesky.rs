//! Symmetric linear systems by Cholesky's method, in a fixed order of operations: the same bits on
//! any number of threads. Cost O(n^3).

/// Solves `(A + ridge I) x = b` for a symmetric positive semi-definite A, by Cholesky's method. A
/// pivot of at most 1e-12 of A's largest diagonal entry counts as 0: then neither an equation nor
/// the ridge determines this unknown, and it is set to 0. `a` has the rows of A one after another;
/// only its lower triangle is read.
pub(crate) fn solve(mut a: Vec<f64>, mut b: Vec<f64>, ridge: f64) -> Vec<f64> {
    let n = b.len();
    let largest = (0..n).map(|i| a[i * n + i]).fold(0.0, f64::max);
    let min_pivot = largest * 1e-12;
    for i in 0..n {
        a[i * n + i] += ridge;
    }
    // A = L L^T: the lower triangle of `a` becomes L, column by column.
    for j in 0..n {
        for k in 0..j {
            let factor = a[j * n + k];
            for i in j..n {
                a[i * n + j] -= a[i * n + k] * factor;
            }
        }
        let pivot = a[j * n + j];
        let root = if pivot > min_pivot { pivot.sqrt() } else { 0.0 };
        for i in j..n {
            a[i * n + j] = if root > 0.0 { a[i * n + j] / root } else { 0.0 };
        }
    }
    // L y = b, from the first unknown to the last; `b` becomes y.
    for i in 0..n {
        let known: f64 = (0..i).map(|k| a[i * n + k] * b[k]).sum();
        let root = a[i * n + i];
        b[i] = if root > 0.0 { (b[i] - known) / root } else { 0.0 };
    }
    // L^T x = y, from the last unknown to the first; `b` becomes x.
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| a[k * n + i] * b[k]).sum();
        let root = a[i * n + i];
        b[i] = if root > 0.0 { (b[i] - known) / root } else { 0.0 };
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cholesky_solves_a_laplacian_with_a_ridge() {
        // The Laplacian of a graph of three nodes in a chain, with edges of weight 2 and 1.
        let a = vec![2.0, -2.0, 0.0, -2.0, 3.0, -1.0, 0.0, -1.0, 1.0];
        let b = vec![1.0, 0.5, -1.5];
        let x = solve(a.clone(), b.clone(), 0.1);
        for i in 0..3 {
            let row: f64 = (0..3).map(|k| a[i * 3 + k] * x[k]).sum::<f64>() + 0.1 * x[i];
            assert!((row - b[i]).abs() < 1e-12, "{x:?}");
        }
    }

    #[test]
    fn an_unknown_that_no_equation_determines_is_0() {
        assert_eq!(solve(vec![1.0, 0.0, 0.0, 0.0], vec![2.0, 3.0], 0.0), [2.0, 0.0]);
    }
}
