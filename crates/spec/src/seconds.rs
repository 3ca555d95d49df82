//! Durations as numbers of seconds in JSON, for fields `#[serde(with = "...")]`.

use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;

/// Writes a duration as a number of seconds.
pub fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

/// Reads a duration from a number of seconds. Numbers beyond the longest duration are that one: as a
/// number it is rounded up.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(from)?;
    match seconds >= Duration::MAX.as_secs_f64() {
        true => Ok(Duration::MAX),
        false => Duration::try_from_secs_f64(seconds).map_err(Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_they_are_written() {
        let of_json = |text: &str| {
            let mut json = serde_json::Deserializer::from_str(text);
            deserialize(&mut json)
        };
        for time in [Duration::ZERO, Duration::from_millis(1500), Duration::MAX] {
            let mut text = Vec::new();
            serialize(&time, &mut serde_json::Serializer::new(&mut text)).unwrap();
            assert_eq!(of_json(std::str::from_utf8(&text).unwrap()).unwrap(), time);
        }
        assert!(of_json("-1").is_err() && of_json("\"1\"").is_err());
    }
}
