//! Counts of a log that was read, and the clicks that are left out.

use std::ops::AddAssign;

use serde::Serialize;

use super::options::{DroppedPart, LogOptions};
use crate::Impression;

/// The content of a log in numbers: impressions, clicks, clicks of unusual kinds. Repeated clicks,
/// clicks before their impression and clicks that go up the page are part of `clicks` unless they
/// were dropped; the others are not.
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
    /// Clicks that name no impression, or one that the log does not have; left out.
    pub clicks_without_impression: u64,
    /// Repeated clicks and clicks before their impression that were left out, as requested.
    pub dropped_clicks: u64,
    /// Impressions whose id another one had before; left out.
    pub repeated_impressions: u64,
    /// Events that are no clicks.
    pub other_events: u64,
    /// Users, or sessions without users, with too many or too quick impressions for a person.
    pub bots: u64,
    /// Impressions of bots; part of `impressions` unless they were dropped.
    pub bot_impressions: u64,
    /// Impressions of bots that were left out, as requested.
    pub dropped_impressions: u64,
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
            dropped_clicks,
            repeated_impressions,
            other_events,
            bots,
            bot_impressions,
            dropped_impressions,
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
        self.dropped_clicks += dropped_clicks;
        self.repeated_impressions += repeated_impressions;
        self.other_events += other_events;
        self.bots += bots;
        self.bot_impressions += bot_impressions;
        self.dropped_impressions += dropped_impressions;
    }
}

impl LogCounts {
    /// Counts a complete impression and its clicks, and removes the clicks to leave out; false for
    /// an impression without documents, which is left out.
    pub(super) fn add(&mut self, impression: &mut Impression, options: &LogOptions) -> bool {
        if impression.documents.is_empty() {
            self.empty_impressions += impression.count;
            return false;
        }
        let count = impression.count;
        self.impressions += count;
        self.shown += impression.documents.len() as u64 * count;
        if impression.clicks.is_empty() {
            return true;
        }
        let mut seen = vec![false; impression.documents.len()];
        // A click after one that was left out is the first that is kept.
        let mut kept = seen.clone();
        let (mut last, page_time) = (None, impression.time);
        impression.clicks.retain(|click| {
            let was_seen = seen.get_mut(click.index).map(|seen| std::mem::replace(seen, true));
            let is_repeated = was_seen == Some(true);
            let is_early = click.time.zip(page_time).is_some_and(|(click, page)| click < page);
            let counted = |is_so: bool| if is_so { count } else { 0 };
            self.repeated_clicks += counted(is_repeated);
            self.early_clicks += counted(is_early);
            self.upward_clicks += counted(last.is_some_and(|last| click.index < last));
            last = Some(click.index);
            let drops_early = is_early && options.drops(DroppedPart::Early);
            let was_kept = kept.get(click.index) == Some(&true);
            let is_dropped = drops_early || was_kept && options.drops(DroppedPart::Repeated);
            if let Some(kept) = kept.get_mut(click.index).filter(|_| !is_dropped) {
                *kept = true;
            }
            self.dropped_clicks += counted(is_dropped);
            !is_dropped
        });
        self.clicks += impression.clicks.len() as u64 * count;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Click;

    /// Found by counting a log again: a click before its page, which was left out, took the valid
    /// click on the same document with it.
    #[test]
    fn a_click_after_an_early_one_that_is_left_out_is_not_a_repeated_one() {
        let click = |index, time| Click { index, time: Some(time) };
        let page = Impression {
            query: "q".into(),
            documents: vec!["a".into(), "b".into()],
            time: Some(10.0),
            clicks: vec![click(0, 5.0), click(1, 11.0), click(0, 12.0), click(0, 13.0)],
            ..Impression::default()
        };
        let times = |dropped: &[DroppedPart]| {
            let (mut page, mut counts) = (page.clone(), LogCounts::default());
            let options = LogOptions::default().drop(dropped.iter().copied());
            assert!(counts.add(&mut page, &options));
            assert_eq!((counts.repeated_clicks, counts.early_clicks), (2, 1));
            assert_eq!(counts.dropped_clicks as usize + page.clicks.len(), 4);
            page.clicks.iter().map(|click| click.time.unwrap()).collect::<Vec<f64>>()
        };
        use DroppedPart::{Early, Repeated};
        assert_eq!(times(&[Early, Repeated]), [11.0, 12.0]);
        assert_eq!(times(&[Repeated]), [5.0, 11.0]);
        assert_eq!(times(&[Early]), [11.0, 12.0, 13.0]);
    }
}
