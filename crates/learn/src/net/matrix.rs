//! Matrix products by the crate `gemm`: the only file of this folder with unsafe code.
//!
//! A [`NetMatrix`] is a slice seen row by row, or its transpose; nothing is copied. [`multiply`]
//! runs on the calling thread only: we manage threads ourselves, so that the order of additions
//! does not depend on their number. `gemm` chooses its instructions by the processor (fused
//! multiply-add where the processor has it), so the last bits of a product may differ from one kind
//! of processor to another, but not from run to run. Tests compare with a triple loop.

/// A view of numbers as a matrix.
#[derive(Debug, Clone, Copy)]
pub(super) struct NetMatrix<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    /// Distance in `values` from a row to the next.
    row_step: usize,
    /// Distance in `values` from a column to the next.
    column_step: usize,
}

impl<'a> NetMatrix<'a> {
    /// A matrix of consecutive rows; an incomplete last row is left out.
    pub(super) fn by_rows(values: &'a [f32], columns: usize) -> Self {
        let rows = values.len().checked_div(columns).unwrap_or(0);
        Self { values, rows, columns, row_step: columns, column_step: 1 }
    }

    /// A row, of a matrix that is not transposed.
    pub(super) fn row(&self, row: usize) -> &'a [f32] {
        &self.values[row * self.row_step..row * self.row_step + self.columns]
    }

    /// The transpose.
    pub(super) fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_step: self.column_step,
            column_step: self.row_step,
            ..self
        }
    }
}

/// Sets `into` (rows of `a` by columns of `b`, row by row) to the product of `a` and `b`.
///
/// # Panics
///
/// If the sizes do not match: a bug in the calling code, never a property of the data.
pub(super) fn multiply(a: NetMatrix<'_>, b: NetMatrix<'_>, into: &mut [f32]) {
    assert_eq!(a.columns, b.rows, "inner sizes of a product");
    assert_eq!(into.len(), a.rows * b.columns, "size of a product");
    if a.columns == 0 || into.is_empty() {
        into.fill(0.0);
        return;
    }
    let (into_column_step, read_into, into_factor, product_factor) = (1, false, 0.0, 1.0);
    let (conjugate_into, conjugate_a, conjugate_b) = (false, false, false);
    // SAFETY: `by_rows` and `transposed` make matrices whose last element, at (rows - 1) * row_step
    // + (columns - 1) * column_step, lies within `values`; `into` has a.rows * b.columns elements
    // in rows of b.columns, which was checked, and as a mutable slice overlaps with neither.
    // `read_into` is false, so what `into` held is not read.
    unsafe {
        gemm::gemm(
            a.rows,
            b.columns,
            a.columns,
            into.as_mut_ptr(),
            into_column_step,
            b.columns as isize,
            read_into,
            a.values.as_ptr(),
            a.column_step as isize,
            a.row_step as isize,
            b.values.as_ptr(),
            b.column_step as isize,
            b.row_step as isize,
            into_factor,
            product_factor,
            conjugate_into,
            conjugate_a,
            conjugate_b,
            gemm::Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rankwright_data::Random;

    /// The product by its definition, in 64 bits.
    fn reference(a: NetMatrix<'_>, b: NetMatrix<'_>) -> Vec<f64> {
        let element = |m: &NetMatrix<'_>, row: usize, column: usize| {
            f64::from(m.values[row * m.row_step + column * m.column_step])
        };
        let product = |i: usize, j: usize| {
            (0..a.columns).map(|k| element(&a, i, k) * element(&b, k, j)).sum()
        };
        (0..a.rows)
            .flat_map(|i| (0..b.columns).map(move |j| (i, j)))
            .map(|(i, j)| product(i, j))
            .collect()
    }

    /// A matrix of these sizes, its numbers stored row by row or, if `transposed`, column by
    /// column.
    fn matrix(values: &[f32], rows: usize, columns: usize, transposed: bool) -> NetMatrix<'_> {
        // Written out, because an empty slice has no rows to count.
        match transposed {
            false => NetMatrix { values, rows, columns, row_step: columns, column_step: 1 },
            true => NetMatrix { values, rows, columns, row_step: 1, column_step: rows },
        }
    }

    proptest! {
        #[test]
        fn products_are_those_of_the_triple_loop(
            m in 0_usize..70, n in 0_usize..70, k in 0_usize..150, transposed in any::<[bool; 2]>(), seed: u64,
        ) {
            let mut random = Random::new(seed, 1);
            let mut numbers = |count: usize| -> Vec<f32> {
                (0..count).map(|_| random.normal() as f32).collect()
            };
            let (left, right) = (numbers(m * k), numbers(k * n));
            let (a, b) = (matrix(&left, m, k, transposed[0]), matrix(&right, k, n, transposed[1]));
            let mut into = vec![f32::NAN; m * n];
            multiply(a, b, &mut into);
            for (found, expected) in into.iter().zip(reference(a, b)) {
                prop_assert!((f64::from(*found) - expected).abs() < 1e-4, "{found} {expected}");
            }
        }
    }

    #[test]
    fn a_transpose_is_seen_without_copying() {
        // Rows (1, 2, 3) and (4, 5, 6): the product holds the dot products of the columns.
        let (values, mut into) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0; 9]);
        let a = NetMatrix::by_rows(&values, 3);
        multiply(a.transposed(), a, &mut into);
        assert_eq!(into, [17.0, 22.0, 27.0, 22.0, 29.0, 36.0, 27.0, 36.0, 45.0]);
    }
}
