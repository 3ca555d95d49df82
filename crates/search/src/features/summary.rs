//! Summaries of the values of several terms as one number.

use rankwright_spec::choices;

choices! {
    /// The kind of summary of the values of several terms.
    pub enum TermSummary {
        /// Their sum.
        Sum = "sum",
        /// The smallest.
        Min = "min",
        /// The largest.
        Max = "max",
        /// Their mean.
        Mean = "mean",
        /// Their variance.
        Variance = "variance",
    }
}

impl TermSummary {
    /// The summary of `count` values: the given ones, and zeros for the others; 0 if `count` is 0.
    pub(super) fn of(self, values: &[f64], count: usize) -> f64 {
        let has_zeros = count > values.len();
        let sum: f64 = values.iter().sum();
        let n = count.max(values.len()) as f64;
        if n == 0.0 {
            return 0.0;
        }
        let fold = |zero: Option<f64>, f: fn(f64, f64) -> f64| {
            values.iter().copied().chain(zero).reduce(f).unwrap_or(0.0)
        };
        match self {
            TermSummary::Sum => sum,
            TermSummary::Mean => sum / n,
            TermSummary::Min => fold(has_zeros.then_some(0.0), f64::min),
            TermSummary::Max => fold(has_zeros.then_some(0.0), f64::max),
            TermSummary::Variance => {
                let mean = sum / n;
                let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
                (squares + (n - values.len() as f64) * mean * mean) / n
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_count_absent_terms_as_zeros() {
        // Of the values 1, 3, 0 and 0.
        let of = |summary: TermSummary| summary.of(&[1.0, 3.0], 4);
        assert_eq!(of(TermSummary::Sum), 4.0);
        assert_eq!(of(TermSummary::Mean), 1.0);
        assert_eq!(of(TermSummary::Min), 0.0);
        assert_eq!(of(TermSummary::Max), 3.0);
        assert_eq!(of(TermSummary::Variance), 1.5);
        assert_eq!(TermSummary::Min.of(&[], 0), 0.0);
        assert_eq!(TermSummary::Min.of(&[2.0, 1.0], 2), 1.0);
    }
}
