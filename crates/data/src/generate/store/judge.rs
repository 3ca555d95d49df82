//! Relevance: a hidden utility, the pool of judged records of a query, and grades 0 to 4 by the
//! utilities within the query.
//!
//! The utility of a record that has a word of the query is
//!
//! u = 2.6 t + c p + l + 0.7 r² + 0.4 q + 0.3 noise.
//!
//! t is the share of the query (by rareness of its words) that the record has, where title and
//! artist count more than the text; p is the number of plays on a logarithmic scale, with c = 1.5
//! for a single word and 0.9 otherwise, because users who type one word look for something well
//! known; l is 0.9 if the record has the language of the user, else 0.3 times the share of the
//! query that is in the title; r is recency from 0 (1950) to 1 (2025); q is the hidden quality of
//! the record. Records without a word of the query are grade 0.
//!
//! The pool has 50 to 150 records: 70 % are those with the highest u, 15 % are drawn from the other
//! records that have a word of the query, and the rest from all records. Records outside of the
//! best 70 % have grade 0, and so would every record outside of the pool. Logarithms are
//! approximated linearly between powers of two, so that results are the same on every machine.

use super::queries::GeneratedQuery;
use super::records::{RecordDraft, YEARS};
use super::words::Vocabulary;
use crate::random::Random;

/// For each grade from 1 to 4: the lowest utility, as a fraction of the distance from the base
/// utility to the best, and the maximum number of records of a query with this grade or a better
/// one.
const GRADES: [(f64, usize); 4] = [(0.30, 45), (0.46, 24), (0.64, 11), (0.82, 4)];

/// The rank whose utility is the base utility of a query, from which grades are measured.
const BASE_RANK: usize = 70;

/// The occurrences of a word in a record.
struct Posting {
    record: u32,
    in_title: bool,
    in_artist: bool,
    /// Occurrences in the text.
    count: u32,
}

/// Grades records; an index of all records by word.
pub(super) struct Judge<'a> {
    drafts: &'a [RecordDraft],
    /// By the number of the word.
    postings: Vec<Vec<Posting>>,
}

impl<'a> Judge<'a> {
    /// Indexes all records.
    pub(super) fn new(drafts: &'a [RecordDraft], vocabulary: &Vocabulary) -> Judge<'a> {
        let mut postings: Vec<Vec<Posting>> = (0..vocabulary.len()).map(|_| Vec::new()).collect();
        for (number, draft) in drafts.iter().enumerate() {
            let record = number as u32;
            let fields = [&draft.title, &draft.artist_name, &draft.text];
            for (field, words) in fields.into_iter().enumerate() {
                for word in words {
                    let list = &mut postings[*word as usize];
                    if list.last().is_none_or(|last| last.record != record) {
                        list.push(Posting { record, in_title: false, in_artist: false, count: 0 });
                    }
                    let Some(last) = list.last_mut() else { continue };
                    match field {
                        0 => last.in_title = true,
                        1 => last.in_artist = true,
                        _ => last.count += 1,
                    }
                }
            }
        }
        Judge { drafts, postings }
    }

    /// The pool of a query: records with a grade each, by the number of the record.
    pub(super) fn grade(&self, query: &GeneratedQuery, random: &mut Random) -> Vec<(u32, u8)> {
        let mut ranked = self.utilities(query, random);
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let size = (50 + random.below(101)).min(self.drafts.len());
        let mut pool: Vec<(u32, u8)> = grades(&ranked).take((size * 7).div_ceil(10)).collect();
        let mut is_in_pool = vec![false; self.drafts.len()];
        pool.iter().for_each(|(record, _)| is_in_pool[*record as usize] = true);
        let mut rest = ranked.split_off(pool.len());
        random.shuffle(&mut rest);
        let matching = rest.iter().map(|(_, record)| *record).take(size * 3 / 20);
        for record in matching {
            is_in_pool[record as usize] = true;
            pool.push((record, 0));
        }
        while pool.len() < size {
            let record = random.below(self.drafts.len());
            if !std::mem::replace(&mut is_in_pool[record], true) {
                pool.push((record as u32, 0));
            }
        }
        pool.sort_unstable();
        pool
    }

    /// The utility of each record that has a word of the query, with the record's number,
    /// ascending.
    fn utilities(&self, query: &GeneratedQuery, random: &mut Random) -> Vec<(f64, u32)> {
        // For each record, the matching weight in all its fields, and that in the title alone.
        let mut matched = vec![(0.0, 0.0); self.drafts.len()];
        let mut weight_sum = 0.0;
        for word in &query.words {
            let list = &self.postings[*word as usize];
            let weight = log2((self.drafts.len() + 1) as f64 / (list.len() as f64 + 0.5));
            weight_sum += weight;
            for posting in list {
                let count = f64::from(posting.count);
                let title = if posting.in_title { 0.7 } else { 0.0 };
                let artist = if posting.in_artist { 0.8 } else { 0.0 };
                let (all, in_title) = &mut matched[posting.record as usize];
                *all += weight * (title + artist + 0.5 * count / (count + 1.5));
                *in_title += weight * title / 0.7;
            }
        }
        let mut utilities = Vec::new();
        for (number, (all, in_title)) in matched.into_iter().enumerate() {
            if all > 0.0 {
                let (all, in_title) = (all / weight_sum, in_title / weight_sum);
                let utility = self.utility(query, number, all, in_title);
                utilities.push((utility + 0.3 * random.normal(), number as u32));
            }
        }
        utilities
    }

    /// The utility without noise; `text` is the share of the query that the record has, and
    /// `titled` the share that is in its title.
    fn utility(&self, query: &GeneratedQuery, number: usize, text: f64, titled: f64) -> f64 {
        let draft = &self.drafts[number];
        let popularity_weight = if query.words.len() == 1 { 1.5 } else { 0.9 };
        let plays = log2(1.0 + draft.popularity as f64) / 16.0;
        let language = if draft.language == query.language { 0.9 } else { 0.3 * titled };
        let recency = f64::from(draft.year - YEARS.0) / f64::from(YEARS.1 - YEARS.0);
        2.6 * text
            + popularity_weight * plays
            + language
            + 0.7 * recency * recency
            + 0.4 * draft.quality
    }
}

/// Turns utilities, best first, into grades.
fn grades(ranked: &[(f64, u32)]) -> impl Iterator<Item = (u32, u8)> {
    let best = ranked.first().map_or(0.0, |first| first.0);
    // If few records match, the base is a fixed distance from the best: even the worst of them has
    // a word of the query.
    let base = ranked.get(BASE_RANK).map_or(best - 2.0, |ranked| ranked.0.max(best - 2.5));
    let span = best - base;
    ranked.iter().enumerate().map(move |(rank, (utility, record))| {
        let fraction = if span > 0.0 { (utility - base) / span } else { 1.0 };
        let is_reached = |(least, max): &&(f64, usize)| fraction >= *least && rank < *max;
        (*record, GRADES.iter().filter(is_reached).count() as u8)
    })
}

/// An approximate logarithm to base 2: exact at powers of two, linear between; 0 for numbers below
/// 1.
fn log2(mut x: f64) -> f64 {
    let mut whole = 0.0;
    while x >= 2.0 {
        x /= 2.0;
        whole += 1.0;
    }
    whole + (x - 1.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_exact_at_powers_of_two() {
        assert_eq!([0.5, 1.0, 2.0, 3.0, 1024.0].map(log2), [0.0, 0.0, 1.0, 1.5, 10.0]);
    }

    #[test]
    fn grades_go_down_with_utility_and_the_best_is_a_4() {
        let ranked: Vec<(f64, u32)> = (0..200).map(|i| (4.0 - f64::from(i) / 50.0, i)).collect();
        let found: Vec<u8> = grades(&ranked).map(|(_, grade)| grade).collect();
        assert_eq!((found[0], found[199]), (4, 0));
        assert!(found.is_sorted_by(|a, b| a >= b));
        assert_eq!(found.iter().filter(|g| **g == 4).count(), 4, "the maximum in `GRADES`");
        let one: Vec<_> = grades(&ranked[..1]).collect();
        assert_eq!(one, [(0, 4)]);
        assert_eq!(grades(&[]).count(), 0);
    }
}
