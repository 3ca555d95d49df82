//! The position of values along an axis, and the tick labels.
//!
//! One type serves numbers (evenly or by powers of ten) and names, so that every chart has the same
//! two axes. Ticks of a linear axis are multiples of 1, 2 or 5 times a power of ten; those of a
//! logarithmic one are powers of ten, with 2 and 5 between them if the axis is short.
//!
//! Edge cases: without any value a linear axis goes from 0 to 1 and a logarithmic one from 1 to 10;
//! a single value is given room on both sides; a fixed range whose ends are not finite, equal or in
//! the wrong order is ignored; a value outside the ends is placed at the nearer end.
//!
//! The factors 1e-9 below allow for rounding errors in multiples of the tick step.

use super::number::by_step;
use super::{Axis, Scale};

/// Maximum number of ticks of a linear axis; only extreme values reach it.
const MAX_TICKS: usize = 200;

/// The place of the two ends of an axis of numbers whose range is not fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AxisEnds {
    /// At the smallest and the largest value.
    AtValues,
    /// At the next tick below the smallest and above the largest value.
    AtTicks,
}

/// An axis with its two ends and its ticks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AxisSpan {
    low: f64,
    high: f64,
    scale: Scale,
    /// Whether the low end is at the top or to the right.
    reversed: bool,
    /// Value and label of each tick.
    pub(crate) ticks: Vec<(f64, String)>,
}

impl AxisSpan {
    /// An axis of numbers for these values, with about `count` ticks.
    pub(crate) fn numbers(
        axis: &Axis,
        values: impl IntoIterator<Item = f64>,
        count: usize,
        ends: AxisEnds,
    ) -> AxisSpan {
        let log = axis.scale == Scale::Log;
        let usable = |v: &f64| v.is_finite() && (!log || *v > 0.0);
        let fixed = axis.range.filter(|(a, b)| usable(a) && usable(b) && a < b);
        let value_range = values
            .into_iter()
            .filter(usable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let (mut low, mut high) = fixed.unwrap_or_else(|| with_room(value_range, log));
        // Moves the ends back to the limits, but not so far that a value beyond a limit is hidden.
        let clamp = |low: &mut f64, high: &mut f64| {
            if let Some((least, most)) = axis.limits {
                let (from, to) = (low.max(least), high.min(most));
                if from < to {
                    (*low, *high) = (from.min(value_range.0), to.max(value_range.1));
                }
            }
        };
        let extend_to_ticks = ends == AxisEnds::AtTicks && fixed.is_none();
        let ticks = if log {
            if extend_to_ticks {
                low = power(low.log10().floor() as i32);
                high = power(high.log10().ceil() as i32);
                clamp(&mut low, &mut high);
            }
            log_ticks(low, high, count)
        } else {
            let step = step(high - low, count);
            if extend_to_ticks {
                low = (low / step + 1e-9).floor() * step;
                high = (high / step - 1e-9).ceil() * step;
                clamp(&mut low, &mut high);
            }
            let mut ticks = linear_ticks(low, high, step);
            add_limits(&mut ticks, axis.limits, (low, high), step);
            ticks
        };
        AxisSpan { low, high, scale: axis.scale, reversed: axis.reversed, ticks }
    }

    /// An axis of names from left to right, the `i`-th of them at value `i`; only every `every`-th
    /// name is a tick.
    pub(crate) fn names_across(names: &[String], every: usize) -> AxisSpan {
        Self::names(names, every, false)
    }

    /// An axis of names from top to bottom, the `i`-th of them at value `i`.
    pub(crate) fn names_down(names: &[String]) -> AxisSpan {
        Self::names(names, 1, true)
    }

    fn names(names: &[String], every: usize, reversed: bool) -> AxisSpan {
        let ticks = names.iter().enumerate().step_by(every.max(1));
        AxisSpan {
            low: -0.5,
            high: names.len().max(1) as f64 - 0.5,
            scale: Scale::Linear,
            reversed,
            ticks: ticks.map(|(i, name)| (i as f64, name.clone())).collect(),
        }
    }

    /// The low and the high end.
    pub(crate) fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Whether a value can be placed on this axis.
    pub(crate) fn can_show(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }

    /// The position of a value from 0 (low end) to 1 (high end); mirrored on a reversed axis.
    pub(crate) fn fraction(&self, value: f64) -> f64 {
        let fraction = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        let fraction = if fraction.is_nan() { 0.0 } else { fraction.clamp(0.0, 1.0) };
        if self.reversed { 1.0 - fraction } else { fraction }
    }
}

/// The ends with room on both sides of a single value; a default range if there is no value.
fn with_room((low, high): (f64, f64), log: bool) -> (f64, f64) {
    if low > high {
        return if log { (1.0, 10.0) } else { (0.0, 1.0) };
    }
    // Ends closer than this cannot be told apart after conversion to pixels.
    if high - low > 1e-12 * high.abs().max(low.abs()) {
        return (low, high);
    }
    if log {
        return (low / 2.0, high * 2.0);
    }
    let room = if low == 0.0 { 0.5 } else { 0.1 * low.abs() };
    (low - room, high + room)
}

/// The tick step: 1, 2 or 5 times a power of ten, so that `width` has at most about `count` ticks.
fn step(width: f64, count: usize) -> f64 {
    let raw = width / count.max(1) as f64;
    let base = 10f64.powf(raw.log10().floor());
    // 0.999: a step that is too small by a rounding error only is taken as well.
    let found = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * base).find(|s| *s >= raw * 0.999);
    found.filter(|s| s.is_finite() && *s > 0.0).unwrap_or(1.0)
}

/// Values and labels of the multiples of `step` between the ends.
fn linear_ticks(low: f64, high: f64, step: f64) -> Vec<(f64, String)> {
    let first = (low / step - 1e-9).ceil();
    let positions = (0..MAX_TICKS).map(|i| (first + i as f64) * step);
    let inside = positions.take_while(|v| *v <= high + 1e-9 * (high - low));
    inside.map(|v| (v, by_step(v, step))).collect()
}

/// Adds a tick at an end that is a limit, such as rank 1, unless there is one already; ticks closer
/// to it than half a step are removed.
fn add_limits(
    ticks: &mut Vec<(f64, String)>,
    limits: Option<(f64, f64)>,
    (low, high): (f64, f64),
    step: f64,
) {
    let Some((least, most)) = limits else { return };
    for (end, limit) in [(low, least), (high, most)] {
        if end != limit || ticks.iter().any(|(tick, _)| (tick - end).abs() < 1e-9 * step) {
            continue;
        }
        ticks.retain(|(tick, _)| (tick - end).abs() >= 0.5 * step);
        ticks.push((end, super::number::short(end)));
    }
    ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
}

/// Values and labels of the powers of ten between the ends: every n-th of them if there are more
/// than `count`, and 2 and 5 times each of them if there are few.
fn log_ticks(low: f64, high: f64, count: usize) -> Vec<(f64, String)> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = (last - first).max(1) as usize;
    let every = decades.div_ceil(count.max(1)).max(1);
    let multiples: &[f64] = if decades * 3 <= count.max(3) { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let powers = (first..=last).step_by(every);
    let positions = powers.flat_map(|p| multiples.iter().map(move |m| m * power(p)));
    let slack = 1.0 + 1e-9;
    let inside = positions.filter(|v| *v * slack >= low && *v <= high * slack);
    inside.map(|v| (v, super::number::short(v))).collect()
}

/// A power of ten.
fn power(exponent: i32) -> f64 {
    10f64.powi(exponent)
}

#[cfg(test)]
mod tests {
    use super::AxisEnds::{AtTicks, AtValues};
    use super::*;

    fn labels(span: &AxisSpan) -> Vec<&str> {
        span.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    fn log() -> Axis {
        Axis { scale: Scale::Log, ..Axis::default() }
    }

    #[test]
    fn linear_ends_move_out_to_whole_steps() {
        let span = AxisSpan::numbers(&Axis::default(), [0.31, 0.58], 6, AtTicks);
        assert_eq!(labels(&span), ["0.30", "0.35", "0.40", "0.45", "0.50", "0.55", "0.60"]);
        assert!((span.fraction(0.45) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_single_value_gets_room() {
        let (low, high) = AxisSpan::numbers(&Axis::default(), [3.0, 3.0], 5, AtValues).ends();
        assert!(low < 3.0 && 3.0 < high);
        let (low, high) = AxisSpan::numbers(&log(), [3.0], 5, AtValues).ends();
        assert!(0.0 < low && low < 3.0 && 3.0 < high);
    }

    #[test]
    fn without_values_the_axis_has_default_ends() {
        assert_eq!(AxisSpan::numbers(&Axis::default(), [f64::NAN], 5, AtTicks).ends(), (0.0, 1.0));
        assert_eq!(AxisSpan::numbers(&log(), [0.0, -1.0], 5, AtTicks).ends(), (1.0, 10.0));
    }

    #[test]
    fn a_log_axis_puts_powers_of_ten_evenly_and_has_no_place_for_zero() {
        let span = AxisSpan::numbers(&log(), [1.0, 1000.0], 6, AtTicks);
        assert_eq!(labels(&span), ["1", "10", "100", "1000"]);
        assert!((span.fraction(10.0) - 1.0 / 3.0).abs() < 1e-12);
        assert!(!span.can_show(0.0) && span.can_show(0.1));
    }

    #[test]
    fn a_fixed_range_is_kept_unless_its_ends_are_equal() {
        let axis = Axis { range: Some((0.0, 1.0)), ..Axis::default() };
        assert_eq!(AxisSpan::numbers(&axis, [0.4, 7.0], 5, AtTicks).ends(), (0.0, 1.0));
        let axis = Axis { range: Some((1.0, 1.0)), ..Axis::default() };
        assert_eq!(AxisSpan::numbers(&axis, [0.0, 5.0], 5, AtTicks).ends(), (0.0, 5.0));
    }

    #[test]
    fn ends_do_not_pass_the_limits_of_the_quantity() {
        let metric = Axis { limits: Some((0.0, 1.0)), ..Axis::default() };
        assert_eq!(AxisSpan::numbers(&metric, [0.91, 0.99], 6, AtTicks).ends().1, 1.0);
        let span = AxisSpan::numbers(&metric, [0.1, 0.97], 3, AtTicks);
        assert_eq!(span.ends(), (0.0, 1.0));
        assert_eq!(labels(&span), ["0.0", "0.5", "1.0"]);
        let ranks = Axis { limits: Some((1.0, f64::INFINITY)), reversed: true, ..Axis::default() };
        let span = AxisSpan::numbers(&ranks, [2.0, 38.0], 5, AtTicks);
        assert_eq!((span.ends(), labels(&span)), ((1.0, 40.0), vec!["1", "10", "20", "30", "40"]));
        assert_eq!((span.fraction(1.0), span.fraction(40.0)), (1.0, 0.0));
        // A value beyond a limit is still shown.
        assert!(AxisSpan::numbers(&metric, [0.5, 1.5], 5, AtTicks).ends().1 >= 1.5);
        let ratio = Axis { limits: Some((1.0, 100.0)), ..log() };
        assert_eq!(AxisSpan::numbers(&ratio, [3.0, 40.0], 5, AtTicks).ends(), (1.0, 100.0));
        let (low, high) = AxisSpan::numbers(&ratio, [0.5, 400.0], 5, AtTicks).ends();
        assert!(low <= 0.5 && high >= 400.0, "{low} {high}");
    }

    #[test]
    fn extreme_values_do_not_hang_or_overflow() {
        for values in [[-1e300, 1e300], [1e-300, 2e-300], [1e15, 1e15 + 1.0]] {
            let span = AxisSpan::numbers(&Axis::default(), values, 6, AtTicks);
            assert!(span.ticks.len() <= 200);
            assert!((0.0..=1.0).contains(&span.fraction(values[1])));
        }
    }

    #[test]
    fn each_name_is_in_the_middle_of_its_share_of_the_axis() {
        let names = ["a", "b", "c"].map(str::to_owned);
        assert!((AxisSpan::names_across(&names, 1).fraction(1.0) - 0.5).abs() < 1e-12);
        assert!(AxisSpan::names_down(&names).fraction(0.0) > 0.8);
        assert_eq!(labels(&AxisSpan::names_across(&names, 2)), ["a", "c"]);
    }
}
