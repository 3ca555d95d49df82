//! The best n of many scored documents, in order.
//!
//! Cost: O(m + n log n) for m scored documents.

use rankwright_eval::Orderer;

use crate::index::Index;
use crate::order::order;
use crate::{Candidate, SearchError};

/// Truncates a list to its best `n`, in order.
pub(super) fn best(
    index: &Index,
    mut scored: Vec<Candidate>,
    n: usize,
) -> Result<Vec<Candidate>, SearchError> {
    if n == 0 {
        return Ok(Vec::new());
    }
    let scores: Vec<f64> = scored.iter().map(|ranked| ranked.score).collect();
    if let Some(least) = Orderer::default().score_of_rank(&scores, n)? {
        scored.retain(|ranked| ranked.score >= least);
    }
    let docs: Vec<u32> = scored.iter().map(|ranked| ranked.doc).collect();
    let scores: Vec<f64> = scored.iter().map(|ranked| ranked.score).collect();
    let order = order(index, &docs, &scores)?;
    Ok(order.into_iter().take(n).map(|at| scored[at]).collect())
}
