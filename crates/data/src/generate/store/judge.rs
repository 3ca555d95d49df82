//! Relevance: a hidden utility, the pool of a query, and grades 0 to 4 cut within the query.
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
//! The pool of 50 to 150 records has the best by u, some others that match, and some of all; every
//! record outside the pool would be 0. Logarithms are linear between powers of two, so that bits
//! are the same on every machine.

use super::queries::GeneratedQuery;
use super::records::{RecordDraft, YEARS};
use super::words::Vocabulary;
use crate::random::Random;

/// For each grade, the start as a fraction of the distance from the middling to the best utility,
/// and the maximum number of records of a query with this grade or a better one.
const GRADES: [(f64, usize); 4] = [(0.30, 45), (0.46, 24), (0.64, 11), (0.82, 4)];

/// The rank whose utility counts as middling.
const MIDDLING: usize = 70;

/// The occurrences of a word in a record.
struct Posting {
    record: u32,
    title: bool,
    artist: bool,
    count: u32,
}

/// The records of each word.
pub(super) struct Judge<'a> {
    drafts: &'a [RecordDraft],
    postings: Vec<Vec<Posting>>,
}

impl<'a> Judge<'a> {
    /// Indexes all records.
    pub(super) fn new(drafts: &'a [RecordDraft], vocabulary: &Vocabulary) -> Judge<'a> {
        let mut postings: Vec<Vec<Posting>> = (0..vocabulary.len()).map(|_| Vec::new()).collect();
        for (number, draft) in drafts.iter().enumerate() {
            let record = number as u32;
            let fields = [&draft.title, &draft.name, &draft.text];
            for (field, words) in fields.into_iter().enumerate() {
                for word in words {
                    let list = &mut postings[*word as usize];
                    if list.last().is_none_or(|last| last.record != record) {
                        list.push(Posting { record, title: false, artist: false, count: 0 });
                    }
                    let Some(last) = list.last_mut() else { continue };
                    match field {
                        0 => last.title = true,
                        1 => last.artist = true,
                        _ => last.count += 1,
                    }
                }
            }
        }
        Judge { drafts, postings }
    }

    /// The pool of a query with a grade each, in order of record.
    pub(super) fn grade(&self, query: &GeneratedQuery, random: &mut Random) -> Vec<(u32, u8)> {
        let mut ranked = self.utilities(query, random);
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let size = (50 + random.below(101)).min(self.drafts.len());
        let mut pool: Vec<(u32, u8)> = grades(&ranked).take((size * 7).div_ceil(10)).collect();
        let mut inside = vec![false; self.drafts.len()];
        pool.iter().for_each(|(record, _)| inside[*record as usize] = true);
        let mut rest = ranked.split_off(pool.len());
        random.shuffle(&mut rest);
        let matching = rest.iter().map(|(_, record)| *record).take(size * 3 / 20);
        for record in matching {
            inside[record as usize] = true;
            pool.push((record, 0));
        }
        while pool.len() < size {
            let record = random.below(self.drafts.len());
            if !std::mem::replace(&mut inside[record], true) {
                pool.push((record as u32, 0));
            }
        }
        pool.sort_unstable();
        pool
    }

    /// The utility of each record that has a word of the query, in order of record.
    fn utilities(&self, query: &GeneratedQuery, random: &mut Random) -> Vec<(f64, u32)> {
        let mut matched = vec![(0.0, 0.0); self.drafts.len()];
        let mut weights = 0.0;
        for word in &query.words {
            let list = &self.postings[*word as usize];
            let weight = log2((self.drafts.len() + 1) as f64 / (list.len() as f64 + 0.5));
            weights += weight;
            for posting in list {
                let count = f64::from(posting.count);
                let title = if posting.title { 0.7 } else { 0.0 };
                let artist = if posting.artist { 0.8 } else { 0.0 };
                let (all, titled) = &mut matched[posting.record as usize];
                *all += weight * (title + artist + 0.5 * count / (count + 1.5));
                *titled += weight * title / 0.7;
            }
        }
        let mut found = Vec::new();
        for (number, (all, titled)) in matched.into_iter().enumerate() {
            if all > 0.0 {
                let utility = self.utility(query, number, all / weights, titled / weights);
                found.push((utility + 0.3 * random.normal(), number as u32));
            }
        }
        found
    }

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

/// Cuts utilities, best first, into grades.
fn grades(ranked: &[(f64, u32)]) -> impl Iterator<Item = (u32, u8)> {
    let best = ranked.first().map_or(0.0, |first| first.0);
    // With few matches the worst of them is not middling: it still has a word of the query.
    let middling = ranked.get(MIDDLING).map_or(best - 2.0, |middle| middle.0.max(best - 2.5));
    let span = best - middling;
    ranked.iter().enumerate().map(move |(rank, (utility, record))| {
        let fraction = if span > 0.0 { (utility - middling) / span } else { 1.0 };
        let reached = |(from, most): &&(f64, usize)| fraction >= *from && rank < *most;
        (*record, GRADES.iter().filter(reached).count() as u8)
    })
}

/// A logarithm to base 2 of a number of at least 1: exact at powers of two, linear between.
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
        assert_eq!(found.iter().filter(|g| **g == 4).count(), 4, "no more than that");
        let one: Vec<_> = grades(&ranked[..1]).collect();
        assert_eq!(one, [(0, 4)]);
        assert_eq!(grades(&[]).count(), 0);
    }
}
