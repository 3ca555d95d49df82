//! Users of a log: sessions that end after a gap, and users that are no people.
//!
//! A session ends when a user does nothing (no impression, no click) for longer than the gap. The
//! session of an impression is then `USER#NUMBER`, numbered by time from 1. For impressions without
//! a user, their session takes the place of the user. Impressions without a time keep their
//! session.
//!
//! A user, or a session in logs without users, is taken for a bot if it has more impressions than
//! [`BotLimits::impressions`], or at least ten whose mean time between each other is below
//! [`BotLimits::seconds`].
//!
//! Both need all impressions of a user, in whatever order the log has them: they wait in a
//! [`RecordStore`](super::record_store::RecordStore), with the user as key. Counting bots alone
//! needs some bytes for each user.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use rankwright_data::DataError;

use super::counts::LogCounts;
use super::options::{BotLimits, DroppedPart, LogOptions};
use super::record::RecordKind;
use super::record_store::{JoinedRecords, RecordSet, UNREADABLE};
use crate::impression::Impression;

/// The least number of impressions whose pace tells a bot.
const MIN_PACE_IMPRESSIONS: u64 = 10;

/// The user of an impression, or its session if the log has no users; empty if it has neither.
pub(super) fn user_key(page: &Impression) -> &str {
    match page.user.is_empty() {
        true => &page.session,
        false => &page.user,
    }
}

/// The impressions of a user in numbers.
#[derive(Debug, Clone, Copy)]
struct UserActivity {
    impressions: u64,
    /// The impressions that have a time.
    timed: u64,
    /// The earliest time; infinite without times.
    first: f64,
    /// The latest time; minus infinite without times.
    last: f64,
}

impl Default for UserActivity {
    fn default() -> Self {
        Self { impressions: 0, timed: 0, first: f64::INFINITY, last: f64::NEG_INFINITY }
    }
}

impl UserActivity {
    fn add(&mut self, time: Option<f64>, count: u64) {
        self.impressions += count;
        if let Some(time) = time {
            self.timed += count;
            self.first = self.first.min(time);
            self.last = self.last.max(time);
        }
    }

    fn is_bot(&self, limits: &BotLimits) -> bool {
        let gaps = self.timed.saturating_sub(1) as f64;
        // Without times the pace is below 0, and no bot is told by it.
        let pace = (self.last - self.first) / gaps;
        let is_fast = self.timed >= MIN_PACE_IMPRESSIONS && pace >= 0.0;
        self.impressions > limits.impressions || (is_fast && pace < limits.seconds)
    }
}

/// Counts the bots of a log whose impressions are passed on at once.
#[derive(Debug, Default)]
pub(super) struct BotCounter {
    /// By the hash of the user.
    users: HashMap<u64, UserActivity, FixedState>,
}

impl BotCounter {
    pub(super) fn add(&mut self, page: &Impression) {
        let key = user_key(page);
        if !key.is_empty() {
            let hash = RecordKind::SessionPage.hash(key);
            self.users.entry(hash).or_default().add(page.time, page.count);
        }
    }

    pub(super) fn finish(self, limits: &BotLimits, counts: &mut LogCounts) {
        for user in self.users.values().filter(|user| user.is_bot(limits)) {
            counts.bots += 1;
            counts.bot_impressions += user.impressions;
        }
    }
}

/// Whether impressions must wait until all impressions of their users are known.
pub(super) fn needs_users(options: &LogOptions) -> bool {
    options.session_gap.is_some() || options.drops(DroppedPart::Bots)
}

/// The impressions of a set of records that are kept, with their sessions.
#[derive(Debug, Default)]
pub(super) struct SessionLog {
    /// The record of each impression, and the number of its session; 0 if it keeps its own.
    kept: Vec<(u32, u32)>,
}

/// Finds the sessions and the bots among impressions, whose key is the user.
pub(super) fn find_sessions(
    records: &RecordSet,
    options: &LogOptions,
    counts: &mut LogCounts,
) -> Result<SessionLog, DataError> {
    let mut users: HashMap<&str, UserPages, FixedState> = HashMap::default();
    for record in 0..records.len() {
        let (_, key, mut fields) = records.get(record)?;
        if key.is_empty() {
            continue;
        }
        let page = fields.page().ok_or(UNREADABLE)?;
        let user = users.entry(key).or_default();
        user.activity.add(page.time, page.count);
        if let Some(time) = page.time {
            let clicks = page.clicks.iter().filter_map(|click| click.time);
            let end = clicks.fold(time, f64::max);
            user.timed.push((time, end, u32::try_from(record).map_err(|_| UNREADABLE)?));
        }
    }
    let mut sessions: Vec<u32> = vec![0; records.len()];
    let mut bots: HashMap<&str, (), FixedState> = HashMap::default();
    for (key, mut user) in users {
        if user.activity.is_bot(&options.bots) {
            counts.bots += 1;
            counts.bot_impressions += user.activity.impressions;
            if options.drops(DroppedPart::Bots) {
                bots.insert(key, ());
            }
        }
        if let Some(gap) = options.session_gap {
            // Equal times keep the order of the log.
            user.timed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
            let (mut number, mut last) = (0, f64::NEG_INFINITY);
            for (time, end, record) in user.timed {
                number += u32::from(time - last > gap.seconds);
                last = last.max(end);
                if let Some(session) = sessions.get_mut(record as usize) {
                    *session = number;
                }
            }
        }
    }
    let mut kept = Vec::new();
    for (record, session) in sessions.into_iter().enumerate() {
        let (_, key, mut fields) = records.get(record)?;
        match bots.contains_key(key) {
            true => counts.dropped_impressions += fields.page().ok_or(UNREADABLE)?.count,
            false => kept.push((u32::try_from(record).map_err(|_| UNREADABLE)?, session)),
        }
    }
    Ok(SessionLog { kept })
}

/// The impressions of a user: their activity, and of those with a time that time, the time of the
/// last click, and the record.
#[derive(Debug, Default)]
struct UserPages {
    activity: UserActivity,
    timed: Vec<(f64, f64, u32)>,
}

impl JoinedRecords for SessionLog {
    fn len(&self) -> usize {
        self.kept.len()
    }

    fn first_record(&self, impression: usize) -> usize {
        self.kept.get(impression).map_or(0, |(record, _)| *record as usize)
    }

    fn build(
        &self,
        records: &RecordSet,
        impression: usize,
        page: &mut Impression,
    ) -> Result<u64, DataError> {
        let (record, session) = self.kept.get(impression).ok_or(UNREADABLE)?;
        let (_, user, mut fields) = records.get(*record as usize)?;
        fields.read_page(page).ok_or(UNREADABLE)?;
        if *session > 0 {
            page.session = format!("{user}#{session}");
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_or_quick_impressions_are_those_of_a_bot() {
        let limits = BotLimits::default().impressions(20_u64);
        let activity = |count: u32, pace: f64| {
            let mut user = UserActivity::default();
            (0..count).for_each(|number| user.add(Some(f64::from(number) * pace), 1));
            user.is_bot(&limits)
        };
        assert!(!activity(20, 5.0) && activity(21, 5.0));
        assert!(activity(10, 0.5) && !activity(9, 0.5) && activity(10, 0.0));
        let mut untimed = UserActivity::default();
        (0..15).for_each(|_| untimed.add(None, 1));
        untimed.add(Some(7.0), 1);
        assert!(!untimed.is_bot(&limits) && !UserActivity::default().is_bot(&limits));
    }
}
