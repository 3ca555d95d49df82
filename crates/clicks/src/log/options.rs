//! Options of reading a log: its columns, its events, sessions, and the clicks and impressions to
//! leave out.

use std::path::PathBuf;

use rankwright_spec::{ParamKind, ParamValue, RangeDef, ValueError, choices, json_by_text, params};

use serde::{Deserialize, Serialize};

use super::LogFormat;
use super::columns::LogColumns;

choices! {
    /// Clicks or impressions of a log that can be left out.
    pub enum DroppedPart {
        /// Clicks on a document of a page that was clicked before.
        Repeated = "repeated",
        /// Clicks that are older than their impression.
        Early = "early",
        /// Impressions of users, or of sessions without users, that are too many or too fast for a
        /// person.
        Bots = "bots",
    }
}

params! {
    /// The limits beyond which a user, or a session without a user, is taken for a bot.
    pub struct BotLimits {
        impressions: u64 = 1000, 1.., "Number of impressions above which a user is a bot.";
        seconds: f64 = 1.0, 0.0.., "Mean seconds between the impressions of a user, of at least 10, below which it is a bot.";
    }
}

/// A time span in seconds, written `30m`, `90s`, `2h`, `1d` or as a number of seconds.
///
/// ```
/// use rankwright_clicks::log::TimeSpan;
/// use rankwright_spec::{ParamValue, RangeDef};
///
/// let half_hour = TimeSpan::read("30m", &RangeDef::default())?;
/// assert_eq!((half_hour.seconds, half_hour.write()), (1800.0, "30m".to_owned()));
/// # Ok::<(), rankwright_spec::ValueError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeSpan {
    /// The seconds, above 0.
    pub seconds: f64,
}

json_by_text!(TimeSpan, TimeSpan::write, |text: &str| {
    let span = TimeSpan::read(text, &RangeDef::default());
    span.map_err(|error| error.at("log", "session_gap", text))
});

/// Units of durations in seconds, the largest first.
const UNITS: [(&str, f64); 4] = [("d", 86_400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];

impl ParamValue for TimeSpan {
    fn kind() -> ParamKind {
        ParamKind::Text
    }

    fn read(text: &str, _: &RangeDef) -> Result<Self, ValueError> {
        let text = text.trim();
        let with_unit = |(unit, seconds): &(&str, f64)| Some((text.strip_suffix(unit)?, *seconds));
        let (number, unit) = UNITS.iter().find_map(with_unit).unwrap_or((text, 1.0));
        let seconds = number.trim().parse::<f64>().ok().map(|number| number * unit);
        let expected = || ValueError::Expected("a duration above 0 such as 30m, 90s or 2h".into());
        let seconds = seconds.filter(|seconds| *seconds > 0.0 && seconds.is_finite());
        seconds.map(|seconds| Self { seconds }).ok_or_else(expected)
    }

    fn write(&self) -> String {
        let divides = |(_, unit): &&(&str, f64)| self.seconds % unit == 0.0;
        match UNITS.iter().find(divides) {
            Some((name, unit)) => format!("{}{name}", self.seconds / unit),
            None => format!("{}s", self.seconds),
        }
    }
}

/// Options of reading a log.
///
/// ```
/// use rankwright_clicks::log::{DroppedPart, LogOptions};
///
/// let options = LogOptions::default().drop([DroppedPart::Early]).events(["purchase"]);
/// assert_eq!(options.events, ["purchase"]);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LogOptions {
    /// The format; `None`: told by the content of each file.
    pub format: Option<LogFormat>,
    /// Roles of columns that are given instead of guessed.
    pub columns: LogColumns,
    /// Names of the events that are taken as clicks; none: `click` and its usual variants.
    pub events: Vec<String>,
    /// The longest time without an impression or a click within a session. Sessions are then made
    /// of the users and times of the log; `None`: those that the log names.
    pub session_gap: Option<TimeSpan>,
    /// The clicks and impressions to leave out.
    pub dropped: Vec<DroppedPart>,
    /// The limits of bots.
    pub bots: BotLimits,
    /// Bytes of records that are held in memory to join them; `None`: a quarter of the memory that
    /// an input may take. Beyond that, records go to temporary files.
    pub max_join_bytes: Option<u64>,
    /// The folder of temporary files; `None`: that of the system.
    pub scratch_folder: Option<PathBuf>,
}

impl LogOptions {
    /// Sets the format.
    #[must_use]
    pub fn format(mut self, format: Option<LogFormat>) -> Self {
        self.format = format;
        self
    }

    /// Sets roles of columns.
    #[must_use]
    pub fn columns(mut self, columns: LogColumns) -> Self {
        self.columns = columns;
        self
    }

    /// Sets the names of the events that are taken as clicks.
    #[must_use]
    pub fn events(mut self, events: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.events = events.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the longest time without an impression or a click within a session.
    #[must_use]
    pub fn session_gap(mut self, gap: Option<TimeSpan>) -> Self {
        self.session_gap = gap;
        self
    }

    /// Sets the clicks and impressions to leave out.
    #[must_use]
    pub fn drop(mut self, parts: impl IntoIterator<Item = DroppedPart>) -> Self {
        self.dropped = parts.into_iter().collect();
        self
    }

    /// Sets the limits of bots.
    #[must_use]
    pub fn bots(mut self, bots: BotLimits) -> Self {
        self.bots = bots;
        self
    }

    /// Sets the bytes of records that are held in memory.
    #[must_use]
    pub fn max_join_bytes(mut self, bytes: u64) -> Self {
        self.max_join_bytes = Some(bytes);
        self
    }

    /// Sets the folder of temporary files.
    #[must_use]
    pub fn scratch_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.scratch_folder = Some(folder.into());
        self
    }

    pub(super) fn drops(&self, part: DroppedPart) -> bool {
        self.dropped.contains(&part)
    }

    /// Whether an event of this name is a click.
    pub(super) fn is_click(&self, event: &str) -> bool {
        match self.events.as_slice() {
            [] => matches!(event, "click" | "result_click" | "item_click" | "product_click"),
            names => names.iter().any(|name| name == event),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_and_print_as_they_are_read() {
        for (text, seconds) in
            [("30m", 1800.0), ("90s", 90.0), ("1.5h", 5400.0), ("2d", 172_800.0), ("7", 7.0)]
        {
            let read = TimeSpan::read(text, &RangeDef::default()).unwrap();
            assert_eq!(read.seconds, seconds, "{text}");
            assert_eq!(TimeSpan::read(&read.write(), &RangeDef::default()), Ok(read));
        }
        for text in ["", "m", "-3m", "0", "1w", "inf", "nan"] {
            assert!(TimeSpan::read(text, &RangeDef::default()).is_err(), "{text}");
        }
    }
}
