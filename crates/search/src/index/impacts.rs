//! The impacts of a term: the frequencies that it has in documents of a text field, each with the
//! smallest value of a statistic (such as the length) among the documents with this frequency.
//!
//! The contribution of a term to a score grows with its frequency and shrinks with the statistic,
//! so that the largest contribution over all documents is that of one of the impacts. It is exact,
//! whatever the parameters of the formula. Frequencies of [`COUNTED`] or more share one impact,
//! which is an upper bound. Cost: one pass over the postings at the first use of a term; then
//! cached.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use foldhash::fast::FixedState;

use super::postings::keep;
use super::{Index, Stat, TermPostings, TextField, lock};

/// Frequencies below this have an impact of their own.
const COUNTED: usize = 32;

/// A frequency, and the smallest statistic of the documents with this frequency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Impact {
    pub(crate) tf: u32,
    pub(crate) least: f64,
}

/// The impacts of a term, by frequency.
pub(crate) type Impacts = Arc<[Impact]>;

/// The impacts of the terms of a text field, for each of the statistics that weightings read.
#[derive(Default)]
pub(super) struct ImpactCache {
    by_stat: [Mutex<HashMap<String, Impacts, FixedState>>; 3],
}

impl ImpactCache {
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
        keep(&mut lock(self.impacts[text_field.0].of(stat)), term, impacts.clone());
        impacts
    }
}

fn impacts_of(postings: &TermPostings, values: &[f64]) -> Impacts {
    let mut least = [f64::INFINITY; COUNTED + 1];
    let mut largest = 0;
    for (&doc, &tf) in postings.docs.iter().zip(&postings.tfs) {
        let slot = &mut least[(tf as usize).min(COUNTED)];
        let value = values[doc as usize];
        *slot = slot.min(if value.is_nan() { 0.0 } else { value });
        largest = largest.max(tf);
    }
    let of = |(tf, &least): (usize, &f64)| {
        let tf = if tf == COUNTED { largest } else { tf as u32 };
        least.is_finite().then_some(Impact { tf, least })
    };
    least.iter().enumerate().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_frequency_has_the_smallest_statistic_and_large_ones_share_an_impact() {
        let postings = TermPostings { docs: vec![0, 1, 2, 4, 5], tfs: vec![1, 3, 1, 40, 50] };
        let impacts = impacts_of(&postings, &[9.0, 8.0, 7.0, 1.0, 60.0, 50.0]);
        let expected = [(1, 7.0), (3, 8.0), (50, 50.0)];
        assert_eq!(*impacts, expected.map(|(tf, least)| Impact { tf, least }));
        assert!(impacts_of(&TermPostings::default(), &[]).is_empty());
    }
}
