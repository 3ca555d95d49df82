//! Discounts: the weight of a rank, relative to rank 1.
//!
//! | name | discount of rank r = 1, 2, ... |
//! |---|---|
//! | `log2` | 1 / log2(r + 1) |
//! | `letor` | 1 at the ranks 1 and 2, then 1 / log2(r): LETOR's evaluation scripts |
//! | `zipf` | 1 / r |
//! | `none` | 1 |

use std::sync::OnceLock;

use rankwright_spec::choices;

choices! {
    /// The discount of ranks.
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum Discount {
        /// 1 / log2(rank + 1).
        Log2 = "log2",
        /// 1 at ranks 1 and 2, then 1 / log2(rank).
        Letor = "letor",
        /// 1 / rank.
        Zipf = "zipf",
        /// 1 everywhere.
        None = "none",
    }
}

/// Number of arguments for which 1 / log2 is computed once.
const TABLE_SIZE: usize = 4096;

impl Discount {
    /// The discount of a rank, counted from 0.
    #[inline]
    pub fn at(self, rank: usize) -> f64 {
        match self {
            Discount::Log2 => inverse_log(rank + 2),
            Discount::Letor => inverse_log((rank + 1).max(2)),
            Discount::Zipf => 1.0 / (rank as f64 + 1.0),
            Discount::None => 1.0,
        }
    }
}

/// 1 / log2(x) for x >= 2.
#[inline]
fn inverse_log(x: usize) -> f64 {
    static TABLE: OnceLock<Vec<f64>> = OnceLock::new();
    let table = TABLE.get_or_init(|| (0..TABLE_SIZE).map(|x| 1.0 / (x as f64).log2()).collect());
    table.get(x).copied().unwrap_or_else(|| 1.0 / (x as f64).log2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_ranks_have_the_documented_weights() {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(close(Discount::Log2.at(0), 1.0) && close(Discount::Log2.at(2), 0.5));
        let letor: Vec<f64> = (0..4).map(|r| Discount::Letor.at(r)).collect();
        assert!(close(letor[0], 1.0) && close(letor[1], 1.0) && close(letor[3], 0.5));
        assert!(close(Discount::Zipf.at(3), 0.25));
        assert_eq!(Discount::None.at(9), 1.0);
    }

    #[test]
    fn discounts_are_the_same_within_and_beyond_the_table() {
        for r in TABLE_SIZE - 5..TABLE_SIZE + 5 {
            assert_eq!(Discount::Log2.at(r), 1.0 / (r as f64 + 2.0).log2());
        }
    }
}
