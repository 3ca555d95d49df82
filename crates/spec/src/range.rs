//! Ranges of parameters: Rust's own (`1..=255`, `0.0..`, `..`), and `above(0.0)` for an open start.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeToInclusive};

use crate::def::RangeDef;

/// A range as a parameter declares it.
pub trait ParamRange {
    /// The limits as numbers.
    fn def(&self) -> RangeDef;
}

/// A range that begins above a number.
///
/// ```
/// use rankwright_spec::{ParamRange, above};
///
/// assert!(above(0.0).up_to(1.0).def().contains(1.0));
/// assert!(!above(0.0).def().contains(0.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Above {
    range: RangeDef,
}

/// All numbers above this one.
pub fn above(min: f64) -> Above {
    Above { range: RangeDef { min: Some(min), min_excluded: true, ..RangeDef::default() } }
}

impl Above {
    /// The same range, up to and including a number.
    #[must_use]
    pub fn up_to(self, max: f64) -> Self {
        Self { range: RangeDef { max: Some(max), ..self.range } }
    }

    /// The same range, below a number.
    #[must_use]
    pub fn below(self, max: f64) -> Self {
        Self { range: RangeDef { max: Some(max), max_excluded: true, ..self.range } }
    }
}

impl ParamRange for Above {
    fn def(&self) -> RangeDef {
        self.range
    }
}

impl ParamRange for RangeFull {
    fn def(&self) -> RangeDef {
        RangeDef::default()
    }
}

/// Implements [`ParamRange`] for Rust's ranges of a number type that fits an `f64`.
macro_rules! ranges {
    ($($number:ty),*) => { $(
        impl ParamRange for RangeFrom<$number> {
            fn def(&self) -> RangeDef {
                RangeDef { min: Some(f64::from(self.start)), ..RangeDef::default() }
            }
        }

        impl ParamRange for RangeInclusive<$number> {
            fn def(&self) -> RangeDef {
                let (min, max) = (Some(f64::from(*self.start())), Some(f64::from(*self.end())));
                RangeDef { min, max, ..RangeDef::default() }
            }
        }

        impl ParamRange for RangeToInclusive<$number> {
            fn def(&self) -> RangeDef {
                RangeDef { max: Some(f64::from(self.end)), ..RangeDef::default() }
            }
        }

        impl ParamRange for Range<$number> {
            fn def(&self) -> RangeDef {
                let (min, max) = (Some(f64::from(self.start)), Some(f64::from(self.end)));
                RangeDef { min, max, max_excluded: true, ..RangeDef::default() }
            }
        }
    )* };
}

ranges!(u32, i32, f64);
