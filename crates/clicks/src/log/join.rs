//! Events joined with their impressions by id, in whatever order the log has them.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::counts::LogCounts;
use crate::impression::{Click, Impression};

/// A line of a log: an impression, or an event on one.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum LogRecord {
    /// A page. Clicks may be part of it, or come as events.
    Impression(Impression),
    /// A click on a document of the impression with this id.
    Click { impression: String, document: String, time: Option<f64> },
    /// An event that is no click.
    Other,
}

/// Collects the records of a log and joins them.
#[derive(Debug, Default)]
pub(super) struct LogJoin {
    impressions: Vec<Impression>,
    by_id: HashMap<String, usize, FixedState>,
    clicks: Vec<(String, String, Option<f64>)>,
    counts: LogCounts,
}

impl LogJoin {
    pub(super) fn add(&mut self, record: LogRecord) {
        match record {
            LogRecord::Impression(impression) => self.add_impression(impression),
            LogRecord::Click { impression, document, time } => {
                self.clicks.push((impression, document, time));
            }
            LogRecord::Other => self.counts.other_events += 1,
        }
    }

    fn add_impression(&mut self, impression: Impression) {
        if !impression.id.is_empty() {
            let number = self.impressions.len();
            if self.by_id.contains_key(&impression.id) {
                self.counts.repeated_impressions += 1;
                return;
            }
            self.by_id.insert(impression.id.clone(), number);
        }
        self.impressions.push(impression);
    }

    /// Passes every impression with its clicks to `visit`, in the order of the log.
    pub(super) fn finish(mut self, mut visit: impl FnMut(Impression)) -> LogCounts {
        for (impression, document, time) in std::mem::take(&mut self.clicks) {
            let Some(number) = self.by_id.get(&impression) else {
                self.counts.clicks_without_impression += 1;
                continue;
            };
            let page = &mut self.impressions[*number];
            match page.documents.iter().position(|shown| *shown == document) {
                Some(index) => page.clicks.push(Click { index, time }),
                None => self.counts.off_page_clicks += 1,
            }
        }
        for mut impression in self.impressions {
            // Clicks without a time keep their place in the log.
            let is_timed = impression.clicks.iter().all(|click| click.time.is_some());
            if is_timed {
                impression
                    .clicks
                    .sort_by(|a, b| f64::total_cmp(&a.time.unwrap_or(0.0), &b.time.unwrap_or(0.0)));
            }
            if self.counts.add(&impression) {
                visit(impression);
            }
        }
        self.counts
    }
}
