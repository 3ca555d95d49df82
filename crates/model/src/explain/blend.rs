//! Explanations of a blend: those of its members, by their weights.
//!
//! Without normalisation the score is a weighted sum, and Shapley values of a sum are the sums of
//! Shapley values. With min-max or standard scores each member's scores go through a linear
//! function that is the same for all documents of the list: the member's contributions are
//! multiplied by the slope of that function, and its base is replaced by the function's value at
//! the base. Ranks are not linear: the member's contributions to a document are scaled by
//! `(n(score) - n(base)) / (score - base)`, where n interpolates the list's points (score, rank)
//! linearly. In every case the base and the contributions sum to the score.
//!
//! A list whose scores are all equal (one document, for example) is normalised to zeros, to which
//! no feature adds anything.

use super::ExplainMethod;
use super::table::{Contributions, UsedFeatureRows};
use crate::blend::{Normalise, add_term};

/// A blend prepared for explanations.
#[derive(Debug)]
pub(super) struct BlendShap<'a> {
    pub(super) members: Vec<WeightedMember<'a>>,
}

/// A member with a weight other than 0.
#[derive(Debug)]
pub(super) struct WeightedMember<'a> {
    pub(super) weight: f64,
    /// The normalisation of its scores within a query.
    pub(super) normalise: Normalise,
    pub(super) method: ExplainMethod<'a>,
    /// The index of each of the member's used features among those of the blend.
    pub(super) columns: Vec<usize>,
}

impl BlendShap<'_> {
    pub(super) fn explain(&self, table: &UsedFeatureRows) -> Contributions {
        let mut sum = Contributions {
            base: 0.0,
            scores: vec![0.0; table.rows],
            values: vec![0.0; table.values.len()],
        };
        for member in &self.members {
            let parts = member.method.explain(&table.select(&member.columns));
            let mut normalised = parts.scores.clone();
            member.normalise.apply(&mut normalised);
            let effect = NormalisationEffect::new(member.normalise, &parts, &normalised);
            sum.base += member.weight * effect.base;
            let member_width = member.columns.len();
            for (row, score) in normalised.iter().enumerate() {
                sum.scores[row] = add_term(sum.scores[row], member.weight, *score);
                let slope = member.weight * effect.slopes[row];
                let sum_row = &mut sum.values[row * table.width..(row + 1) * table.width];
                let member_row = &parts.values[row * member_width..];
                for (column, value) in member.columns.iter().zip(member_row) {
                    sum_row[*column] += slope * value;
                }
            }
        }
        sum
    }
}

/// The effect of normalisation on a member's base, and on its contributions for each document.
struct NormalisationEffect {
    /// The member's base after normalisation.
    base: f64,
    /// The factor of the contributions to each document.
    slopes: Vec<f64>,
}

impl NormalisationEffect {
    /// The effect on a member with these contributions; `normalised` are its scores after
    /// normalisation.
    fn new(normalise: Normalise, parts: &Contributions, normalised: &[f64]) -> NormalisationEffect {
        if normalise == Normalise::None {
            return NormalisationEffect { base: parts.base, slopes: vec![1.0; normalised.len()] };
        }
        // Each document's score before and after normalisation.
        let mut points: Vec<(f64, f64)> =
            parts.scores.iter().copied().zip(normalised.iter().copied()).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (Some(&low), Some(&high)) = (points.first(), points.last()) else {
            return NormalisationEffect { base: 0.0, slopes: Vec::new() };
        };
        if low.0 >= high.0 {
            return NormalisationEffect { base: 0.0, slopes: vec![0.0; normalised.len()] };
        }
        if normalise != Normalise::Rank {
            let slope = (high.1 - low.1) / (high.0 - low.0);
            let base = low.1 + slope * (parts.base - low.0);
            return NormalisationEffect { base, slopes: vec![slope; normalised.len()] };
        }
        let base = interpolate(&points, parts.base);
        let slope = |(score, rank): (&f64, &f64)| {
            let distance = score - parts.base;
            if distance == 0.0 { 0.0 } else { (rank - base) / distance }
        };
        let slopes = parts.scores.iter().zip(normalised).map(slope).collect();
        NormalisationEffect { base, slopes }
    }
}

/// The value at `x` of the linear interpolation of points (x, y), sorted by x; constant outside
/// them.
fn interpolate(points: &[(f64, f64)], x: f64) -> f64 {
    let after = points.partition_point(|point| point.0 <= x);
    match (after.checked_sub(1).map(|before| points[before]), points.get(after)) {
        (None, None) => 0.0,
        (None, Some(next)) => next.1,
        (Some(last), None) => last.1,
        (Some(last), Some(next)) => last.1 + (x - last.0) / (next.0 - last.0) * (next.1 - last.1),
    }
}
