//! The impacts of a term: the frequencies that it has in documents of a text field, each with the
//! smallest value of a statistic (such as the length) among the documents with this frequency.
//!
//! The contribution of a term to a score grows with its frequency and shrinks with the statistic,
//! so that the largest contribution over all documents is that of one of the impacts. This holds
//! exactly, for all parameters of the formula. Frequencies of [`FIRST_SHARED_TF`] or more share one
//! impact, which gives an upper bound. Cost: one pass over the postings at the first use of a term;
//! then cached.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use foldhash::fast::FixedState;

use super::postings::cache_value;
use super::{Index, Stat, TermPostings, TextField, lock};

/// Frequencies below this have an impact of their own; larger ones, which are rare, share one.
pub(crate) const FIRST_SHARED_TF: usize = 32;

/// A frequency, and the smallest statistic of the documents with this frequency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Impact {
    pub(crate) tf: u32,
    pub(crate) min_stat: f64,
}

/// The impacts of a term, ascending by frequency.
pub(crate) type Impacts = Arc<[Impact]>;

/// The impacts of the terms of a text field, for each of the statistics that weightings read.
#[derive(Default)]
pub(super) struct ImpactCache {
    /// By statistic (length, different terms, norm), then by term.
    by_stat: [Mutex<HashMap<String, Impacts, FixedState>>; 3],
}

impl ImpactCache {
    /// The cache of a statistic. No weighting reads `Words` or `Entropy`.
    fn of(&self, stat: Stat) -> &Mutex<HashMap<String, Impacts, FixedState>> {
        &self.by_stat[match stat {
            Stat::Distinct => 1,
            Stat::Norm => 2,
            Stat::Length | Stat::Words | Stat::Entropy => 0,
        }]
    }
}

impl Index {
    /// The cached impacts of a term.
    pub(crate) fn cached_impacts(
        &self,
        text_field: TextField,
        stat: Stat,
        term: &str,
    ) -> Option<Impacts> {
        lock(self.impacts[text_field.0].of(stat)).get(term).cloned()
    }

    /// Computes the impacts of a term from its postings, and caches them. `values` is the statistic
    /// of each document.
    pub(crate) fn find_impacts(
        &self,
        text_field: TextField,
        stat: Stat,
        term: &str,
        postings: &TermPostings,
        values: &[f64],
    ) -> Impacts {
        let impacts = impacts_of(postings, values);
        cache_value(&mut lock(self.impacts[text_field.0].of(stat)), term, impacts.clone());
        impacts
    }
}

/// The smallest of `values` for each frequency that occurs; a missing value (NaN) counts as 0.
fn impacts_of(postings: &TermPostings, values: &[f64]) -> Impacts {
    let mut min_stats = [f64::INFINITY; FIRST_SHARED_TF + 1];
    let mut max_tf = 0;
    for (&doc, &tf) in postings.docs.iter().zip(&postings.tfs) {
        let min_stat = &mut min_stats[(tf as usize).min(FIRST_SHARED_TF)];
        let value = values[doc as usize];
        *min_stat = min_stat.min(if value.is_nan() { 0.0 } else { value });
        max_tf = max_tf.max(tf);
    }
    let impact = |(tf, &min_stat): (usize, &f64)| {
        let tf = if tf == FIRST_SHARED_TF { max_tf } else { tf as u32 };
        min_stat.is_finite().then_some(Impact { tf, min_stat })
    };
    min_stats.iter().enumerate().filter_map(impact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_frequency_has_the_smallest_statistic_and_large_ones_share_an_impact() {
        let postings = TermPostings { docs: vec![0, 1, 2, 4, 5], tfs: vec![1, 3, 1, 40, 50] };
        let impacts = impacts_of(&postings, &[9.0, 8.0, 7.0, 1.0, 60.0, 50.0]);
        let expected = [(1, 7.0), (3, 8.0), (50, 50.0)];
        assert_eq!(*impacts, expected.map(|(tf, min_stat)| Impact { tf, min_stat }));
        assert!(impacts_of(&TermPostings::default(), &[]).is_empty());
    }
}
