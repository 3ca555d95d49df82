//! Features of the proximity of the query's terms in a text.
//!
//! Positions count all words of the text, including those that the analysis removes. Words of
//! different fields are not near each other, so with `field=all` the values of the single fields
//! are combined: the smallest window and the smallest distance, the largest proximity, and the sum
//! of the phrases. The fields may match different terms: a field that matches one term has a window
//! of one word, which is smaller than that of any field that matches more.

use rankwright_spec::Spec;

use super::Feature;
use super::def::FeatureDef;
use super::fields::text_field;
use super::frequency::of_text;
use super::statistics::{CandidateStatistics, FieldStatistics, Needs};
use crate::error::SearchError;
use crate::index::{Index, TextField};

pub(super) static WINDOW: FeatureDef = FeatureDef {
    name: "window",
    help: "Words in the smallest window with all matched terms; 0 without a match. With field=all the smallest window of a field, which is 1 if a field matches a single term.",
    example: "window(field=text)",
    ..of_text(|index, spec| build(index, spec, ProximityKind::Window))
};

pub(super) static PAIR_DISTANCE: FeatureDef = FeatureDef {
    name: "pair-distance",
    help: "Smallest distance, in words, between two terms that are adjacent in the query; missing without such a pair.",
    example: "pair-distance(field=text)",
    ..of_text(|index, spec| build(index, spec, ProximityKind::PairDistance))
};

pub(super) static PAIR_PROXIMITY: FeatureDef = FeatureDef {
    name: "pair-proximity",
    help: "Sum over pairs of adjacent query terms of 1 / their smallest distance.",
    example: "pair-proximity(field=text)",
    ..of_text(|index, spec| build(index, spec, ProximityKind::PairProximity))
};

pub(super) static PHRASE: FeatureDef = FeatureDef {
    name: "phrase",
    help: "Number of exact occurrences of the query as a phrase.",
    example: "phrase(field=text)",
    ..of_text(|index, spec| build(index, spec, ProximityKind::Phrase))
};

fn build(index: &Index, spec: &Spec, kind: ProximityKind) -> Result<Box<dyn Feature>, SearchError> {
    Ok(Box::new(Proximity { field: text_field(index, spec)?, kind }))
}

/// A feature of positions in a text field.
#[derive(Debug, Clone, Copy)]
struct Proximity {
    field: TextField,
    kind: ProximityKind,
}

/// The number that is computed from the positions; the definitions above describe each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProximityKind {
    Window,
    PairDistance,
    PairProximity,
    Phrase,
}

impl Feature for Proximity {
    fn needs(&self) -> Needs {
        Needs::default().positions(self.field)
    }

    fn values(
        &self,
        statistics: &CandidateStatistics<'_>,
        out: &mut [f64],
    ) -> Result<(), SearchError> {
        let fields = statistics.fields_with_positions(self.field)?;
        for (candidate, value) in out.iter_mut().enumerate() {
            let values = fields.iter().map(|field| self.kind.value(statistics, field, candidate));
            *value = self.kind.combine(values);
        }
        Ok(())
    }
}

impl ProximityKind {
    /// The value of a candidate in one text field of the schema; NaN if it is missing.
    fn value(
        self,
        statistics: &CandidateStatistics<'_>,
        field: &FieldStatistics,
        candidate: usize,
    ) -> f64 {
        let positions = |term: usize| statistics.positions_in(field, term, candidate);
        let terms = statistics.terms;
        match self {
            ProximityKind::Window => {
                let lists: Vec<&[u32]> = (0..terms.distinct().len()).map(positions).collect();
                f64::from(smallest_window(&lists))
            }
            ProximityKind::PairDistance => {
                let pairs = neighbours(terms.sequence());
                let distances =
                    pairs.filter_map(|(a, b)| smallest_distance(positions(a), positions(b)));
                distances.min().map_or(f64::NAN, f64::from)
            }
            ProximityKind::PairProximity => {
                let pairs = neighbours(terms.sequence());
                let distances =
                    pairs.filter_map(|(a, b)| smallest_distance(positions(a), positions(b)));
                distances.map(|distance| 1.0 / f64::from(distance.max(1))).sum()
            }
            ProximityKind::Phrase => {
                f64::from(count_phrases(terms.sequence(), terms.positions(), positions))
            }
        }
    }

    /// Combines the values of the single fields that a text field such as `all` stands for.
    fn combine(self, values: impl Iterator<Item = f64>) -> f64 {
        let present = values.filter(|value| !value.is_nan());
        match self {
            // The smallest window among fields with a match, however many terms each matches; 0 if
            // there is none.
            ProximityKind::Window => {
                let matched = present.filter(|&value| value > 0.0);
                matched.reduce(f64::min).unwrap_or(0.0)
            }
            ProximityKind::PairDistance => present.reduce(f64::min).unwrap_or(f64::NAN),
            ProximityKind::PairProximity => present.reduce(f64::max).unwrap_or(0.0),
            ProximityKind::Phrase => present.sum(),
        }
    }
}

/// Pairs of different terms that are adjacent in the query.
fn neighbours(sequence: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    sequence.windows(2).map(|pair| (pair[0], pair[1])).filter(|(a, b)| a != b)
}

/// Number of words in the smallest window that contains one position of each non-empty list; 0 if
/// all lists are empty. The end of the window moves over all positions; its start follows as long
/// as the window has a position of each list.
fn smallest_window(lists: &[&[u32]]) -> u32 {
    // All positions with the number of their list, ascending.
    let mut all: Vec<(u32, usize)> = Vec::new();
    for (list, positions) in lists.iter().enumerate() {
        all.extend(positions.iter().map(|&position| (position, list)));
    }
    all.sort_unstable();
    let needed = lists.iter().filter(|list| !list.is_empty()).count();
    // Number of positions of each list in the window; `inside` is the number of lists that have
    // one.
    let mut counts = vec![0_u32; lists.len()];
    let (mut inside, mut start, mut best) = (0, 0, u32::MAX);
    for &(end, list) in &all {
        counts[list] += 1;
        inside += usize::from(counts[list] == 1);
        while inside == needed && needed > 0 {
            let (first, list) = all[start];
            best = best.min(end - first + 1);
            counts[list] -= 1;
            inside -= usize::from(counts[list] == 0);
            start += 1;
        }
    }
    if best == u32::MAX { 0 } else { best }
}

/// The smallest distance between positions of two ascending lists; `None` if a list is empty.
fn smallest_distance(a: &[u32], b: &[u32]) -> Option<u32> {
    let (mut i, mut j, mut best) = (0, 0, None::<u32>);
    while let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) {
        let distance = x.abs_diff(y);
        best = Some(best.map_or(distance, |best| best.min(distance)));
        if x < y { i += 1 } else { j += 1 }
    }
    best
}

/// Number of places where all terms of the query occur in the order and at the distances that they
/// have in the query. `offsets` are the positions of the terms of `sequence` in the query.
fn count_phrases<'p>(
    sequence: &[usize],
    offsets: &[usize],
    positions: impl Fn(usize) -> &'p [u32],
) -> u32 {
    let (Some(&first), Some(&origin)) = (sequence.first(), offsets.first()) else { return 0 };
    let starts_phrase = |&start: &&u32| {
        sequence.iter().zip(offsets).skip(1).all(|(&term, &offset)| {
            let expected = start + (offset - origin) as u32;
            positions(term).binary_search(&expected).is_ok()
        })
    };
    positions(first).iter().filter(starts_phrase).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn windows_contain_each_matched_term() {
        assert_eq!(smallest_window(&[&[0, 10], &[12], &[]]), 3);
        assert_eq!(smallest_window(&[&[5]]), 1);
        assert_eq!(smallest_window(&[&[], &[]]), 0);
        assert_eq!(smallest_window(&[&[1, 8], &[3], &[9, 4]]), 4);
    }

    #[test]
    fn phrases_keep_the_query_s_distances() {
        // Term 0 is at the positions 0 and 7 of the document, term 1 at 1 and 9.
        let positions = |term: usize| -> &[u32] { [&[0, 7][..], &[1, 9][..]][term] };
        assert_eq!(count_phrases(&[0, 1], &[0, 1], positions), 1);
        // The query has a removed word between the two terms: only 7 and 9 have this distance.
        assert_eq!(count_phrases(&[0, 1], &[3, 5], positions), 1);
        assert_eq!(count_phrases(&[0, 1], &[0, 3], positions), 0);
        assert_eq!(count_phrases(&[], &[], positions), 0);
    }

    proptest! {
        #[test]
        fn the_smallest_distance_is_that_of_all_pairs(
            a in prop::collection::btree_set(0_u32..60, 0..8),
            b in prop::collection::btree_set(0_u32..60, 0..8),
        ) {
            let (a, b): (Vec<u32>, Vec<u32>) = (a.into_iter().collect(), b.into_iter().collect());
            let all = a.iter().flat_map(|x| b.iter().map(move |y| x.abs_diff(*y)));
            prop_assert_eq!(smallest_distance(&a, &b), all.min());
        }

        #[test]
        fn the_smallest_window_is_that_of_all_windows(
            lists in prop::collection::vec(prop::collection::btree_set(0_u32..25, 0..5), 1..4),
        ) {
            let lists: Vec<Vec<u32>> = lists.into_iter().map(|l| l.into_iter().collect()).collect();
            let used: Vec<&Vec<u32>> = lists.iter().filter(|list| !list.is_empty()).collect();
            let has_each_list = |start: u32, end: u32| {
                used.iter().all(|list| list.iter().any(|p| (start..=end).contains(p)))
            };
            let windows = (0..25).flat_map(|s| (s..25).map(move |e| (s, e)));
            let best = windows.filter(|&(s, e)| has_each_list(s, e)).map(|(s, e)| e - s + 1).min();
            let expected = if used.is_empty() { 0 } else { best.unwrap_or(0) };
            let slices: Vec<&[u32]> = lists.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(smallest_window(&slices), expected);
        }
    }
}
