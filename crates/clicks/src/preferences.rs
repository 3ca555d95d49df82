//! Preferences between documents of a page, from the clicks on it (Joachims 2002; Joachims, Granka,
//! Pan, Hembrooke and Gay 2005).
//!
//! A rule compares a clicked document with others of the same page:
//!
//! ```text
//! skip-above       a clicked document is better than every document above it without a click
//! last-skip-above  the same for the last click only
//! earlier-click    a clicked document is better than those that were clicked before it
//! skip-previous    a clicked document is better than the one directly above it without a click
//! next             a clicked document is better than the one directly below it without a click
//! ```
//!
//! `last-skip-above` and `earlier-click` need the order of the clicks in time, the others only
//! whether a document was clicked. For `earlier-click`, the first of several clicks on a document
//! counts. The skip rules prefer documents from lower ranks only: they can contradict the shown
//! order but never confirm it, so that a ranker trained on them alone tends to reverse it.

use rankwright_spec::choices;

use crate::impression::Impression;

choices! {
    /// A rule that turns the clicks on a page into preferences.
    pub enum PreferenceRule {
        /// A clicked document is better than every document above it without a click.
        SkipAbove = "skip-above",
        /// The document of the last click is better than every document above it without a click.
        LastSkipAbove = "last-skip-above",
        /// A clicked document is better than those that were clicked before it.
        EarlierClick = "earlier-click",
        /// A clicked document is better than the one directly above it without a click.
        SkipPrevious = "skip-previous",
        /// A clicked document is better than the one directly below it without a click.
        Next = "next",
    }
}

impl PreferenceRule {
    /// The preferences of a page: for each the better and the worse document, as indices from 0.
    ///
    /// ```
    /// use rankwright_clicks::{Impression, PreferenceRule};
    ///
    /// let page = Impression::new("q", ["a", "b", "c", "d", "e", "f"]).clicked([3, 1, 5]);
    /// assert_eq!(PreferenceRule::SkipAbove.preferences(&page), [(2, 1), (4, 1), (4, 3)]);
    /// ```
    pub fn preferences(self, page: &Impression) -> Vec<(usize, usize)> {
        let clicked = page.clicked_ranks();
        let was_clicked = |index: usize| clicked.get(index).copied();
        let in_rank_order = || (0..clicked.len()).filter(|index| was_clicked(*index) == Some(true));
        let skipped_above = |better: usize| {
            (0..better).filter(|i| was_clicked(*i) == Some(false)).map(move |worse| (better, worse))
        };
        match self {
            Self::SkipAbove => in_rank_order().flat_map(skipped_above).collect(),
            Self::LastSkipAbove => {
                let last = page.clicks.last().map(|click| click.index);
                last.into_iter().flat_map(skipped_above).collect()
            }
            Self::EarlierClick => earlier_clicks(&first_clicks(page)),
            Self::SkipPrevious => in_rank_order()
                .filter_map(|better| Some((better, better.checked_sub(1)?)))
                .filter(|(_, above)| was_clicked(*above) == Some(false))
                .collect(),
            Self::Next => in_rank_order()
                .map(|better| (better, better + 1))
                .filter(|(_, below)| was_clicked(*below) == Some(false))
                .collect(),
        }
    }
}

/// The clicked documents in the order of their first clicks.
fn first_clicks(page: &Impression) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    for click in &page.clicks {
        if click.index < page.documents.len() && !order.contains(&click.index) {
            order.push(click.index);
        }
    }
    order
}

/// Every document with each that was clicked before it, sorted by the better document's click.
fn earlier_clicks(order: &[usize]) -> Vec<(usize, usize)> {
    let later = order.iter().enumerate();
    later.flat_map(|(place, better)| order.iter().take(place).map(|w| (*better, *w))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The preferences of a rule as ranks from 1, sorted.
    fn ranks(rule: PreferenceRule, page: &Impression) -> Vec<(usize, usize)> {
        let mut found: Vec<_> =
            rule.preferences(page).into_iter().map(|(b, w)| (b + 1, w + 1)).collect();
        found.sort_unstable();
        found
    }

    /// Six documents; clicks on ranks 1, 3 and 5 in the order 3, 1, 5.
    fn worked_example() -> Impression {
        Impression::new("q", ["a", "b", "c", "d", "e", "f"]).clicked([3, 1, 5])
    }

    #[test]
    fn the_worked_example_comes_out_under_every_rule() {
        let page = worked_example();
        assert_eq!(ranks(PreferenceRule::SkipAbove, &page), [(3, 2), (5, 2), (5, 4)]);
        assert_eq!(ranks(PreferenceRule::LastSkipAbove, &page), [(5, 2), (5, 4)]);
        assert_eq!(ranks(PreferenceRule::EarlierClick, &page), [(1, 3), (5, 1), (5, 3)]);
        assert_eq!(ranks(PreferenceRule::SkipPrevious, &page), [(3, 2), (5, 4)]);
        assert_eq!(ranks(PreferenceRule::Next, &page), [(1, 2), (3, 4), (5, 6)]);
    }

    #[test]
    fn repeated_clicks_count_once_and_pages_without_clicks_give_nothing() {
        let page = Impression::new("q", ["a", "b", "c"]).clicked([3, 1, 3]);
        assert_eq!(ranks(PreferenceRule::EarlierClick, &page), [(1, 3)]);
        assert_eq!(ranks(PreferenceRule::SkipAbove, &page), [(3, 2)]);
        for (_, rule) in PreferenceRule::ALL {
            assert!(rule.preferences(&Impression::new("q", ["a", "b"])).is_empty());
            assert!(rule.preferences(&Impression::default()).is_empty());
        }
    }
}
