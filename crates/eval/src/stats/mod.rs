//! Significance tests and intervals on per-query values.
//!
//! Two systems are judged on the same queries, so every test here is paired and works on the
//! differences d_i = system_i - baseline_i, checked once by [`Paired::new`]. One file per test:
//!
//! | file | question it answers |
//! |---|---|
//! | `t_test` | is the mean difference 0, if differences are roughly normal? |
//! | `randomisation` | is it 0, assuming only that the systems could be exchanged in each query? |
//! | `bootstrap` | where may the mean difference lie, and is 0 plausible? |
//! | `sign` | does one system win more queries than a fair coin would? |
//! | `wins` | how many queries are won, tied, lost? |
//! | `effect` | how large is the mean difference in units of its standard deviation? |
//! | `interval` | where may the mean of one system lie? |
//! | `correction` | which differences stay significant if several systems are compared at once? |
//!
//! On the choice of a test: Smucker, Allan and Carterette (CIKM 2007) found that randomisation,
//! bootstrap and t-test agree closely on retrieval metrics and that the sign test does not.
//!
//! Sampling tests are seeded, run in parallel over blocks of samples with a random generator each,
//! and give the same bits on any number of threads. Differences smaller than the rounding of the
//! values themselves are 0, so that two systems which differ only by the order of float additions
//! are the same system.

mod bootstrap;
mod correction;
mod effect;
mod error;
mod interval;
mod paired;
mod randomisation;
mod sampling;
mod sign;
mod student;
mod t_test;
mod wins;

pub use bootstrap::{Bootstrap, bootstrap};
pub use correction::Correction;
pub use effect::effect_size;
pub use error::StatsError;
pub(crate) use error::check_values;
pub use interval::{Interval, IntervalMethod, mean_interval, mean_interval_within};
pub use paired::Paired;
pub use randomisation::{Randomisation, randomisation_test};
pub use sampling::{MAX_SAMPLES, Sampling};
pub use sign::{SignTest, sign_test};
pub use student::t_critical;
pub use t_test::{TTest, t_test};
pub use wins::{Wins, wins};

/// Twelve queries shared by the tests of this folder; the reference values quoted there were
/// computed by SciPy 1.17.1 on these lists, called `a` and `b`, with `d = a - b`.
#[cfg(test)]
mod sample {
    use super::Paired;

    pub(super) const A: [f64; 12] =
        [0.62, 0.48, 0.91, 0.33, 0.75, 0.50, 0.27, 0.88, 0.66, 0.41, 0.59, 0.70];
    pub(super) const B: [f64; 12] =
        [0.55, 0.48, 0.84, 0.39, 0.61, 0.42, 0.30, 0.79, 0.66, 0.28, 0.47, 0.73];

    pub(super) fn pairs() -> Paired {
        Paired::new(&A, &B).unwrap()
    }

    /// Differences as given, against a baseline of zeros.
    pub(super) fn differences(d: &[f64]) -> Paired {
        Paired::new(d, &vec![0.0; d.len()]).unwrap()
    }

    /// Runs `f` in pools of 1, 2 and 3 threads and returns the three results.
    pub(super) fn in_pools<T: Send>(f: impl Fn() -> T + Sync) -> Vec<T> {
        [1, 2, 3]
            .into_iter()
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(&f)
            })
            .collect()
    }

    /// Checks that two numbers agree up to a relative error.
    pub(super) fn close(found: f64, expected: f64, relative: f64) {
        let error = (found - expected).abs();
        assert!(error <= relative * expected.abs(), "found {found}, expected {expected}");
    }
}
