//! Counts of a log that was read.

use std::ops::AddAssign;

use serde::Serialize;

/// The content of a log in numbers: impressions, clicks, clicks of unusual kinds. Repeated clicks, clicks
/// before their impression and clicks that go up the page are part of `clicks`; the others are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct LogCounts {
    /// Number of impressions with at least one document.
    pub impressions: u64,
    /// Number of impressions without a document, which are left out.
    pub empty_impressions: u64,
    /// Number of documents shown, counted once for each impression.
    pub shown: u64,
    /// Number of clicks on shown documents.
    pub clicks: u64,
    /// Clicks on a document of a page that was clicked before.
    pub repeated_clicks: u64,
    /// Clicks on a document at a higher rank than the click before.
    pub upward_clicks: u64,
    /// Clicks that are older than their impression.
    pub early_clicks: u64,
    /// Clicks on documents that their page did not show; left out.
    pub off_page_clicks: u64,
    /// Clicks on impressions that the log does not have; left out.
    pub clicks_without_impression: u64,
    /// Impressions whose id another one had before; left out.
    pub repeated_impressions: u64,
    /// Events that are no clicks.
    pub other_events: u64,
}

impl AddAssign for LogCounts {
    fn add_assign(&mut self, other: Self) {
        let Self {
            impressions,
            empty_impressions,
            shown,
            clicks,
            repeated_clicks,
            upward_clicks,
            early_clicks,
            off_page_clicks,
            clicks_without_impression,
            repeated_impressions,
            other_events,
        } = other;
        self.impressions += impressions;
        self.empty_impressions += empty_impressions;
        self.shown += shown;
        self.clicks += clicks;
        self.repeated_clicks += repeated_clicks;
        self.upward_clicks += upward_clicks;
        self.early_clicks += early_clicks;
        self.off_page_clicks += off_page_clicks;
        self.clicks_without_impression += clicks_without_impression;
        self.repeated_impressions += repeated_impressions;
        self.other_events += other_events;
    }
}

impl LogCounts {
    /// Counts a complete impression and its clicks; false for one without documents, which is left
    /// out.
    pub(super) fn add(&mut self, impression: &crate::Impression) -> bool {
        if impression.documents.is_empty() {
            self.empty_impressions += 1;
            return false;
        }
        self.impressions += 1;
        self.shown += impression.documents.len() as u64;
        self.clicks += impression.clicks.len() as u64;
        let mut seen = vec![false; impression.documents.len()];
        let mut last = None;
        for click in &impression.clicks {
            if let Some(seen) = seen.get_mut(click.index) {
                self.repeated_clicks += u64::from(std::mem::replace(seen, true));
            }
            self.upward_clicks += u64::from(last.is_some_and(|last| click.index < last));
            last = Some(click.index);
            let is_early =
                click.time.zip(impression.time).is_some_and(|(click, page)| click < page);
            self.early_clicks += u64::from(is_early);
        }
        true
    }
}
