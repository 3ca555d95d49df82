//! Writers of click logs, one file a format.
//!
//! A writer takes one impression after another. Parts of impressions that the format cannot hold
//! are left out and counted ([`LostPart`]). Formats that join clicks by the id of their impression
//! need one: impressions without an id get their number in the log, from 1. The log of Yandex'
//! challenge needs sessions and times.

mod json;
mod metarank;
#[cfg(feature = "columnar")]
mod parquet;
mod table;
mod ubi;
mod yandex;

use std::io::{self, Write};

use rankwright_data::DataError;
use rankwright_spec::choices;
use rankwright_spec::visible::one_line;
use serde::Serialize;

use crate::impression::Impression;

choices! {
    /// A format in which click logs are written.
    pub enum LogTarget {
        /// UBI 1.3: JSON lines of queries, each followed by its events.
        Ubi = "ubi",
        /// Metarank: JSON lines of rankings, each followed by its interactions.
        Metarank = "metarank",
        /// JSON lines of pages with lists of documents and clicks.
        Lists = "lists",
        /// A Parquet file of pages with lists of documents and clicks.
        Parquet = "parquet",
        /// The log of Yandex' Relevance Prediction Challenge: a line for each page and click.
        YandexLog = "yandex-log",
        /// Records of pages as in Yandex' Relevance Prediction Challenge.
        YandexPages = "yandex-pages",
        /// A table with columns separated by commas, and a row for each shown document.
        Csv = "csv",
        /// A table with columns separated by tabs, and a row for each shown document.
        Tsv = "tsv",
    }
}

choices! {
    /// A part of impressions that a format cannot hold.
    pub enum LostPart {
        /// Ids of impressions.
        Ids = "ids",
        /// Sessions.
        Sessions = "sessions",
        /// Users.
        Users = "users",
        /// Times of impressions.
        Times = "times",
        /// Times of clicks.
        ClickTimes = "click-times",
        /// The order of clicks that is not that of the ranks.
        ClickOrder = "click-order",
        /// Further clicks on a document that was clicked before.
        RepeatedClicks = "repeated-clicks",
        /// Rankers.
        Rankers = "rankers",
        /// Devices.
        Devices = "devices",
        /// Propensities.
        Propensities = "propensities",
    }
}

impl LostPart {
    /// Whether an impression has this part.
    fn is_in(self, page: &Impression) -> bool {
        let has_repeated = || {
            let mut clicked: Vec<usize> = page.clicks.iter().map(|click| click.index).collect();
            clicked.sort_unstable();
            clicked.windows(2).any(|pair| pair.first() == pair.last())
        };
        match self {
            LostPart::Ids => !page.id.is_empty(),
            LostPart::Sessions => !page.session.is_empty(),
            LostPart::Users => !page.user.is_empty(),
            LostPart::Times => page.time.is_some(),
            LostPart::ClickTimes => page.clicks.iter().any(|click| click.time.is_some()),
            LostPart::ClickOrder => !page.clicks.is_sorted_by_key(|click| click.index),
            LostPart::RepeatedClicks => page.clicks.len() > 1 && has_repeated(),
            LostPart::Rankers => !page.ranker.is_empty(),
            LostPart::Devices => !page.device.is_empty(),
            LostPart::Propensities => !page.propensities.is_empty(),
        }
    }
}

impl LogTarget {
    /// The parts that the format cannot hold.
    fn cannot_hold(self) -> &'static [LostPart] {
        use LostPart::*;
        match self {
            LogTarget::Ubi | LogTarget::Metarank => &[],
            LogTarget::Parquet => &[ClickTimes, ClickOrder, RepeatedClicks],
            // Each clicked document has a time; without times clicks have no order.
            LogTarget::Lists | LogTarget::Csv | LogTarget::Tsv => &[ClickOrder, RepeatedClicks],
            LogTarget::YandexLog => &[Ids, Users, Rankers, Devices, Propensities],
            LogTarget::YandexPages => {
                &[Ids, Sessions, Users, Times, ClickTimes, Rankers, Devices, Propensities]
            }
        }
    }

    /// Whether impressions need an id.
    fn needs_id(self) -> bool {
        matches!(self, LogTarget::Ubi | LogTarget::Metarank | LogTarget::Csv | LogTarget::Tsv)
    }
}

/// The reason why an impression is not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogWriteError {
    /// The output failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The format is not part of this build.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A query or document has a character that separates records in the format.
    #[error("'{}' cannot be written as {}: it is empty or has a separator of the format", one_line(.text), target.name())]
    Separator {
        /// The format.
        target: LogTarget,
        /// The query or the document.
        text: String,
    },
}

impl LogWriteError {
    /// A remedy that holds for every caller; `None` if there is none.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Io(_) => None,
            Self::Data(error) => error.help(),
            Self::Separator { .. } => Some("write another format, such as lists".to_owned()),
        }
    }
}

impl From<LogWriteError> for io::Error {
    fn from(error: LogWriteError) -> Self {
        match error {
            LogWriteError::Io(error) => error,
            other => io::Error::other(other.to_string()),
        }
    }
}

/// The number of impressions of which a part was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LostCount {
    /// Name of the part.
    #[serde(serialize_with = "part_name")]
    pub part: LostPart,
    /// Number of impressions.
    pub impressions: u64,
}

fn part_name<S: serde::Serializer>(part: &LostPart, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(part.name())
}

/// The losses of a log that was written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct WrittenLog {
    /// Number of impressions.
    pub impressions: u64,
    /// Parts that the format cannot hold.
    pub lost: Vec<LostCount>,
    /// Number of impressions without an id that were given one; in the log of Yandex' challenge
    /// those without a session, or without a time of the page or of a click.
    pub made_ids: u64,
}

/// Writes impressions in a format.
///
/// ```
/// use rankwright_clicks::Impression;
/// use rankwright_clicks::log::write::{LogTarget, LogWriter};
///
/// let mut out = Vec::new();
/// let mut writer = LogWriter::new(LogTarget::YandexPages, &mut out)?;
/// writer.write(&Impression::new("cat", ["a", "b"]).clicked([2]))?;
/// assert_eq!(writer.finish()?.impressions, 1);
/// assert_eq!(out, b"cat\ta,b : b;\n");
/// # Ok::<(), rankwright_clicks::log::write::LogWriteError>(())
/// ```
pub struct LogWriter<'a> {
    target: LogTarget,
    body: WriterBody<'a>,
    impressions: u64,
    made_ids: u64,
    lost: Vec<LostCount>,
}

enum WriterBody<'a> {
    Text(&'a mut dyn Write),
    Table(Box<csv::Writer<&'a mut dyn Write>>),
    #[cfg(feature = "columnar")]
    Parquet(Box<parquet::PageWriter<'a>>),
}

impl<'a> LogWriter<'a> {
    /// A writer of this format; a table begins with its header.
    pub fn new(target: LogTarget, out: &'a mut dyn Write) -> Result<Self, LogWriteError> {
        let body = match target {
            LogTarget::Csv => WriterBody::Table(Box::new(table::start(b',', out)?)),
            LogTarget::Tsv => WriterBody::Table(Box::new(table::start(b'\t', out)?)),
            #[cfg(feature = "columnar")]
            LogTarget::Parquet => WriterBody::Parquet(Box::new(parquet::PageWriter::new(out)?)),
            #[cfg(not(feature = "columnar"))]
            LogTarget::Parquet => {
                let format = rankwright_data::format::Format::Parquet;
                return Err(DataError::NotBuilt { format, feature: "columnar" }.into());
            }
            _ => WriterBody::Text(out),
        };
        Ok(LogWriter { target, body, impressions: 0, made_ids: 0, lost: Vec::new() })
    }

    /// Writes an impression. One that stands for several is written as often, unless the format
    /// has a count; the copies of an id are then numbered.
    pub fn write(&mut self, page: &Impression) -> Result<(), LogWriteError> {
        if page.count == 1 || (page.count > 1 && self.target == LogTarget::Lists) {
            return self.write_line(page);
        }
        let mut copy = Impression { count: 1, ..page.clone() };
        for number in 1..=page.count {
            if !page.id.is_empty() && number > 1 {
                copy.id = format!("{}#{number}", page.id);
            }
            self.write_line(&copy)?;
        }
        Ok(())
    }

    fn write_line(&mut self, page: &Impression) -> Result<(), LogWriteError> {
        self.impressions += page.count;
        for part in self.target.cannot_hold() {
            // Clicks of a table that have times are sorted by them again when it is read.
            let is_timed = || page.clicks.iter().all(|click| click.time.is_some());
            let is_table = matches!(self.target, LogTarget::Csv | LogTarget::Tsv);
            let is_kept = *part == LostPart::ClickOrder && is_table && is_timed();
            if part.is_in(page) && !is_kept {
                self.count_lost(*part, page.count);
            }
        }
        let made_id;
        let id = match page.id.is_empty() && self.target.needs_id() {
            true => {
                self.made_ids += 1;
                made_id = self.impressions.to_string();
                &made_id
            }
            false => &page.id,
        };
        match (&mut self.body, self.target) {
            (WriterBody::Table(table), _) => table::write(table, id, page)?,
            #[cfg(feature = "columnar")]
            (WriterBody::Parquet(writer), _) => writer.write(page)?,
            (WriterBody::Text(out), LogTarget::Ubi) => {
                if !ubi::write(out, id, page)? {
                    self.count_lost(LostPart::Times, page.count);
                }
            }
            (WriterBody::Text(out), LogTarget::Metarank) => metarank::write(out, id, page)?,
            (WriterBody::Text(out), LogTarget::YandexLog) => {
                let is_whole = yandex::write_lines(out, self.impressions, page)?;
                self.made_ids += u64::from(!is_whole);
            }
            (WriterBody::Text(out), LogTarget::YandexPages) => yandex::write(out, page)?,
            (WriterBody::Text(out), _) => json::write_page(out, page)?,
        }
        Ok(())
    }

    fn count_lost(&mut self, part: LostPart, impressions: u64) {
        match self.lost.iter_mut().find(|count| count.part == part) {
            Some(count) => count.impressions += impressions,
            None => self.lost.push(LostCount { part, impressions }),
        }
    }

    /// Ends the log; returns what it could not hold.
    pub fn finish(self) -> Result<WrittenLog, LogWriteError> {
        match self.body {
            WriterBody::Text(out) => out.flush()?,
            WriterBody::Table(mut table) => table.flush()?,
            #[cfg(feature = "columnar")]
            WriterBody::Parquet(writer) => writer.finish()?,
        }
        let mut lost = self.lost;
        // In the order of the declaration, whatever impression came first.
        lost.sort_by_key(|count| count.part as u8);
        Ok(WrittenLog { impressions: self.impressions, lost, made_ids: self.made_ids })
    }
}

impl std::fmt::Debug for LogWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogWriter").field("target", &self.target).finish_non_exhaustive()
    }
}
