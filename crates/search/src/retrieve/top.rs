//! The best n of many scores: by score, then by id, the larger first, as runs are ordered.
//!
//! Cost: O(m + n log n) for m scored documents.

use crate::index::Index;
use crate::{Ranked, SearchError};

/// Cuts a list to its best `n` in order.
pub(super) fn best(
    index: &Index,
    mut scored: Vec<Ranked>,
    n: usize,
) -> Result<Vec<Ranked>, SearchError> {
    let ids = index.ids()?;
    let order = |a: &Ranked, b: &Ranked| {
        b.score.total_cmp(&a.score).then_with(|| ids.place(b.doc).cmp(&ids.place(a.doc)))
    };
    if n == 0 {
        return Ok(Vec::new());
    }
    if scored.len() > n {
        scored.select_nth_unstable_by(n - 1, order);
        scored.truncate(n);
    }
    scored.sort_unstable_by(order);
    Ok(scored)
}
