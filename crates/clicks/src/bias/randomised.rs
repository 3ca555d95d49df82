//! Position bias from pages in random order: there every rank shows the same mixture of documents,
//! so that click rates differ by examination alone (Joachims, Swaminathan and Schnabel 2017).
//!
//! The value of rank r is the number of clicks at r divided by that at rank 1, on the pages that
//! have a rank r.

use crate::impression::Impression;
use crate::pages::Pages;

/// Largest relative difference of a propensity from that of a random order.
const TOLERANCE: f64 = 1e-6;

/// Whether the order of a page was random: its ranker has the given name, or its propensities are
/// those of a draw without replacement from m documents, 1/m at rank 1, 1/(m - 1) at rank 2 and so
/// on. A page of one document is not taken for random.
pub fn is_random_order(page: &Impression, ranker: &str) -> bool {
    if page.documents.len() < 2 {
        return false;
    }
    if !page.ranker.is_empty() && page.ranker == ranker {
        return true;
    }
    let Some(first) = page.propensities.first().filter(|first| **first > 0.0) else {
        return false;
    };
    let candidates = 1.0 / first;
    let is_uniform = |(rank, propensity): (usize, &f64)| {
        let expected = candidates - rank as f64;
        (propensity * expected - 1.0).abs() < TOLERANCE
    };
    page.propensities.len() == page.documents.len()
        && page.propensities.iter().enumerate().all(is_uniform)
}

/// The click rate of each rank relative to rank 1.
pub(super) fn rates(pages: &Pages) -> Vec<Option<f64>> {
    // Clicks at the rank and at rank 1, on pages that have the rank.
    let mut clicks = vec![(0.0, 0.0); pages.max_ranks()];
    for page in pages.iter() {
        let count = page.count as f64;
        let clicks_of = |clicked: &bool| if *clicked { count } else { 0.0 };
        let first = page.clicked.first().map_or(0.0, clicks_of);
        for ((here, at_first), clicked) in clicks.iter_mut().zip(page.clicked) {
            *here += clicks_of(clicked);
            *at_first += first;
        }
    }
    clicks.into_iter().map(|(here, first)| (first > 0.0).then(|| here / first)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_orders_are_told_by_the_ranker_or_the_propensities() {
        let page = |propensities: &[f64], ranker: &str| Impression {
            propensities: propensities.to_vec(),
            ranker: ranker.to_owned(),
            ..Impression::new("q", ["a", "b", "c"])
        };
        assert!(is_random_order(&page(&[], "random"), "random"));
        assert!(is_random_order(&page(&[1.0 / 3.0, 0.5, 1.0], ""), "random"));
        assert!(is_random_order(&page(&[0.1, 1.0 / 9.0, 0.125], "pl"), "random"));
        assert!(!is_random_order(&page(&[0.5, 0.5, 1.0], ""), "random"));
        assert!(!is_random_order(&page(&[1.0, 1.0, 1.0], ""), "random"));
        assert!(!is_random_order(&page(&[], "best"), "random"));
        assert!(!is_random_order(&page(&[], ""), ""));
    }
}
