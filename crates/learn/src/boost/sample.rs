//! Samples of the queries and features of a tree.
//!
//! A query is drawn by the hash of (seed, iteration, query), not by a sequential random stream: the
//! draw does not depend on the other queries, on threads or on the point at which a run was
//! resumed. The features of a tree are the first ones of a seeded shuffle, at least one.

use rankwright_data::Random;

/// Any constant ("Queries!" in ASCII): keeps this stream of random numbers apart from the others.
const QUERY_STREAM: u64 = 0x5175_6572_6965_7321;
/// The same for features ("Features" in ASCII).
const FEATURE_STREAM: u64 = 0x4665_6174_7572_6573;

/// The multiplicity of each of `count` queries for one tree, 1 or 0; `None` if all are used.
pub(crate) fn queries(
    fraction: f64,
    seed: u64,
    iteration: usize,
    count: usize,
) -> Option<Vec<f32>> {
    if fraction >= 1.0 || count == 0 {
        return None;
    }
    let draw = |query: usize| Random::new(seed ^ QUERY_STREAM, stream_of(iteration, query)).unit();
    let draws: Vec<f64> = (0..count).map(draw).collect();
    let mut multiplicities: Vec<f32> = draws.iter().map(|d| f32::from(*d < fraction)).collect();
    if !multiplicities.contains(&1.0) {
        // A tree needs at least one query.
        let lowest_draw = (0..count).min_by(|a, b| draws[*a].total_cmp(&draws[*b]));
        lowest_draw.into_iter().for_each(|query| multiplicities[query] = 1.0);
    }
    Some(multiplicities)
}

/// For each of `count` features, whether one tree may use it; `None` if all may be used.
pub(crate) fn features(
    fraction: f64,
    seed: u64,
    iteration: usize,
    count: usize,
) -> Option<Vec<bool>> {
    if fraction >= 1.0 || count == 0 {
        return None;
    }
    let mut order: Vec<usize> = (0..count).collect();
    Random::new(seed ^ FEATURE_STREAM, iteration as u64).shuffle(&mut order);
    let sampled = ((fraction * count as f64).round() as usize).clamp(1, count);
    let mut flags = vec![false; count];
    order.into_iter().take(sampled).for_each(|feature| flags[feature] = true);
    Some(flags)
}

/// One number that identifies an iteration and a query: a stream of random numbers of its own.
pub(super) fn stream_of(iteration: usize, query: usize) -> u64 {
    (iteration as u64) << 40 ^ query as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_the_given_fraction_is_drawn_anew_for_each_tree() {
        assert_eq!(queries(1.0, 1, 0, 10), None);
        let first = queries(0.3, 7, 0, 10_000).unwrap();
        let count = first.iter().filter(|times| **times == 1.0).count();
        assert!((2800..3200).contains(&count), "{count}");
        assert_ne!(Some(first), queries(0.3, 7, 1, 10_000));
        assert!(queries(1e-9, 7, 0, 3).unwrap().contains(&1.0));
        // Half of 9 is rounded to 5.
        let half = features(0.5, 7, 0, 9).unwrap();
        assert_eq!(half.iter().filter(|f| **f).count(), 5);
        assert_eq!(features(0.01, 7, 0, 9).unwrap().iter().filter(|f| **f).count(), 1);
    }
}
