//! The preferences of a log as pairs with weights: on how many impressions users preferred one
//! document to another.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rankwright_spec::params;
use rankwright_spec::visible::one_line;
use serde::Serialize;

use crate::impression::Impression;
use crate::preferences::PreferenceRule;

params! {
    /// Options of pairs of clicks.
    #[derive(Copy, Eq)]
    pub struct PairOptions {
        min_count: u64 = 1, 1.., "Number of impressions in which a preference must occur.";
    }
}

/// A preference between two documents of a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PreferencePair {
    /// The query.
    pub query: String,
    /// The better document.
    pub better: String,
    /// The worse document.
    pub worse: String,
    /// Number of impressions with the preference.
    pub weight: u64,
}

/// Finds the preferences of impressions one after another.
///
/// ```
/// use rankwright_clicks::{Impression, PairOptions, PreferencePairsBuilder, PreferenceRule};
///
/// let mut builder = PreferencePairsBuilder::new([PreferenceRule::SkipAbove]);
/// builder.add(&Impression::new("cat", ["a", "b"]).clicked([2]));
/// let found = builder.finish(&PairOptions::default());
/// assert_eq!((found.pairs[0].better.as_str(), found.pairs[0].weight), ("b", 1));
/// ```
#[derive(Debug)]
pub struct PreferencePairsBuilder {
    rules: Vec<PreferenceRule>,
    found: BTreeMap<(String, String, String), u64>,
    same_document: u64,
}

/// The pairs of a log, and what was left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PreferencePairs {
    /// The pairs, sorted by query and documents.
    pub pairs: Vec<PreferencePair>,
    /// Number of pairs of fewer impressions than requested, which are left out.
    pub too_rare: usize,
    /// Number of preferences between two places of one document on a page, which are left out.
    pub same_document: u64,
}

impl PreferencePairsBuilder {
    /// Finds the preferences of these rules; one of several rules on one page counts once.
    pub fn new(rules: impl IntoIterator<Item = PreferenceRule>) -> Self {
        let rules = rules.into_iter().collect();
        Self { rules, found: BTreeMap::new(), same_document: 0 }
    }

    /// Adds an impression.
    pub fn add(&mut self, impression: &Impression) {
        let mut preferences: Vec<(usize, usize)> =
            self.rules.iter().flat_map(|rule| rule.preferences(impression)).collect();
        preferences.sort_unstable();
        preferences.dedup();
        for (better, worse) in preferences {
            let id = |index: usize| impression.documents[index].clone();
            // A page may show a document twice.
            if impression.documents[better] == impression.documents[worse] {
                self.same_document += impression.count;
                continue;
            }
            let pair = (impression.query.clone(), id(better), id(worse));
            *self.found.entry(pair).or_default() += impression.count;
        }
    }

    /// The pairs that occur often enough.
    pub fn finish(self, options: &PairOptions) -> PreferencePairs {
        let all = self.found.len();
        let pairs = self.found.into_iter().filter(|(_, weight)| *weight >= options.min_count);
        let pair =
            |((query, better, worse), weight)| PreferencePair { query, better, worse, weight };
        let pairs: Vec<PreferencePair> = pairs.map(pair).collect();
        let too_rare = all - pairs.len();
        PreferencePairs { pairs, too_rare, same_document: self.same_document }
    }
}

impl PreferencePairs {
    /// Number of pairs of which the opposite is a pair, too.
    pub fn contradicted(&self) -> usize {
        let key =
            |pair: &PreferencePair| (pair.query.clone(), pair.better.clone(), pair.worse.clone());
        let is_contradicted = |pair: &&PreferencePair| {
            let opposite = (pair.query.clone(), pair.worse.clone(), pair.better.clone());
            self.pairs.binary_search_by_key(&opposite, key).is_ok()
        };
        self.pairs.iter().filter(is_contradicted).count()
    }

    /// Number of queries with a pair.
    pub fn queries(&self) -> usize {
        self.pairs.chunk_by(|one, other| one.query == other.query).count()
    }

    /// Writes the pairs as a table that readers of preference pairs know, with a header line.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "qid\tbetter\tworse\tweight")?;
        for PreferencePair { query, better, worse, weight } in &self.pairs {
            let [query, better, worse] = [query, better, worse].map(|id| one_line(id));
            writeln!(out, "{query}\t{better}\t{worse}\t{weight}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_pairs_are_left_out_and_opposite_ones_are_counted() {
        let mut builder =
            PreferencePairsBuilder::new([PreferenceRule::SkipAbove, PreferenceRule::SkipPrevious]);
        for (documents, clicked) in
            [(["a", "b"], 2), (["b", "a"], 2), (["b", "a"], 2), (["a", "c"], 2), (["d", "d"], 2)]
        {
            builder.add(&Impression::new("q", documents).clicked([clicked]));
        }
        let found = builder.finish(&PairOptions::default());
        assert_eq!((found.pairs.len(), found.contradicted(), found.queries()), (3, 2, 1));
        assert_eq!((found.too_rare, found.same_document), (0, 1));
        let mut text = Vec::new();
        found.write(&mut text).unwrap();
        assert!(text.starts_with(b"qid\tbetter\tworse\tweight\nq\ta\tb\t2\nq\tb\ta\t1\n"));
        let mut builder = PreferencePairsBuilder::new([PreferenceRule::SkipAbove]);
        builder.add(&Impression::new("q", ["a", "b"]).clicked([2]));
        let found = builder.finish(&PairOptions::default().min_count(2_u64));
        assert_eq!((found.pairs.len(), found.too_rare), (0, 1));
    }
}
