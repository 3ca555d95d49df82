//! Helpers to serialise results.

use serde::{Serialize, Serializer};

#[cfg(all(feature = "charts", feature = "training"))]
use crate::training::ReportPart;

/// Serialises pairs of a name and a value as a map; if a name occurs twice, its last value counts.
#[cfg(all(feature = "charts", feature = "training"))]
pub(crate) fn as_map<S, V>(pairs: &[(String, V)], serializer: S) -> Result<S::Ok, S::Error>
where
    S: Serializer,
    V: Serialize,
{
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

/// Serialises a part of a report, or `{"left_out": ...}` with the reason.
#[cfg(all(feature = "charts", feature = "training"))]
pub(crate) fn or_reason<S, T>(part: &ReportPart<T>, serializer: S) -> Result<S::Ok, S::Error>
where
    S: Serializer,
    T: Serialize,
{
    match part {
        Ok(part) => part.serialize(serializer),
        Err(reason) => serializer.collect_map([("left_out", reason.to_string())]),
    }
}

/// Serialises a value as the shortest number that reads back to the same f32; null if not finite.
pub(crate) fn short_f32<S: Serializer>(value: &f32, serializer: S) -> Result<S::Ok, S::Error> {
    shortest(*value).serialize(serializer)
}

/// The number with the shortest decimal text that reads back to the same f32; none if not finite.
pub(crate) fn shortest(value: f32) -> Option<f64> {
    value.to_string().parse::<f64>().ok().filter(|value| value.is_finite())
}
