//! The best n of many scored documents, in order.
//!
//! Cost: O(m + n log n) for m scored documents.

use rankwright_eval::Orderer;

use crate::index::Index;
use crate::order::order;
use crate::{Candidate, SearchError};

/// The best `n` of scored documents, by score and then by id.
pub(super) fn best(
    index: &Index,
    mut scored: Vec<Candidate>,
    n: usize,
) -> Result<Vec<Candidate>, SearchError> {
    if n == 0 {
        return Ok(Vec::new());
    }
    let scores: Vec<f64> = scored.iter().map(|candidate| candidate.score).collect();
    if let Some(threshold) = Orderer::default().score_of_rank(&scores, n)? {
        scored.retain(|candidate| candidate.score >= threshold);
    }
    let docs: Vec<u32> = scored.iter().map(|candidate| candidate.doc).collect();
    let scores: Vec<f64> = scored.iter().map(|candidate| candidate.score).collect();
    let order = order(index, &docs, &scores)?;
    Ok(order.into_iter().take(n).map(|i| scored[i]).collect())
}
