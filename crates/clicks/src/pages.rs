//! The distinct pages of a log in the form that click models read, each with its number of
//! impressions.
//!
//! Two impressions are the same page if query, documents, their order and the set of clicked
//! documents are the same. Queries and documents are numbered in the order of their first
//! appearance, and so are the *pairs* of a query and a document, query by query. Memory is
//! proportional to the distinct pages, not to the impressions.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::FixedState;
use rankwright_data::Random;

use crate::impression::Impression;

/// The number of a pair that a log does not have; for a page of another log.
pub(crate) const UNKNOWN_PAIR: u32 = u32::MAX;

/// A page with the number of its impressions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DistinctPage<'a> {
    /// The pair of the query and each shown document, the first rank first.
    pub(crate) pairs: &'a [u32],
    /// Whether each document was clicked.
    pub(crate) clicked: &'a [bool],
    /// Number of impressions.
    pub(crate) count: u64,
}

/// The pages of one query.
#[derive(Debug, Clone)]
pub(crate) struct QueryPages<'a> {
    pub(crate) pages: Vec<DistinctPage<'a>>,
    /// The numbers of the query's pairs.
    pub(crate) pairs: Range<usize>,
}

/// The distinct pages of a log, by query.
#[derive(Debug, Clone, Default)]
pub struct Pages {
    /// The ids of the queries.
    queries: Vec<String>,
    /// The ids of the documents.
    documents: Vec<String>,
    /// Query and document of each pair, sorted by query.
    pairs: Vec<(u32, u32)>,
    /// The pages of each query, as indices of `starts` and `counts`.
    query_pages: Vec<Range<usize>>,
    /// The start of each page in `shown` and `clicked`, and at the end their length.
    starts: Vec<usize>,
    /// Number of impressions of each page.
    counts: Vec<u64>,
    /// The pair of each shown document, page after page.
    shown: Vec<u32>,
    /// Whether each shown document was clicked.
    clicked: Vec<bool>,
    max_ranks: usize,
}

impl Pages {
    /// The pages of these impressions. Impressions without documents are left out.
    pub fn collect<'a>(impressions: impl IntoIterator<Item = &'a Impression>) -> Self {
        let mut builder = PagesBuilder::default();
        for impression in impressions {
            builder.add(impression);
        }
        builder.finish()
    }

    /// The ids of the queries, in the order of their first appearance.
    pub fn queries(&self) -> &[String] {
        &self.queries
    }

    /// Number of distinct pairs of a query and a shown document.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// Query and document of each pair, sorted by query.
    pub fn named_pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(query, document)| {
            let query = &self.queries[*query as usize];
            (query.as_str(), self.documents[*document as usize].as_str())
        })
    }

    /// Number of distinct pages.
    pub fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// Number of impressions.
    pub fn impressions(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Length of the longest page.
    pub fn max_ranks(&self) -> usize {
        self.max_ranks
    }

    /// The pages of each query with the numbers of its pairs, in the order of the queries.
    pub(crate) fn by_query(&self) -> Vec<QueryPages<'_>> {
        let mut first_pair = 0;
        let mut pages_of = |pages: &Range<usize>| {
            let pages: Vec<DistinctPage<'_>> = pages.clone().map(|page| self.page(page)).collect();
            let shown = pages.iter().flat_map(|page| page.pairs);
            let end = shown.max().map_or(first_pair, |last| *last as usize + 1);
            let pairs = first_pair..end;
            first_pair = end;
            QueryPages { pages, pairs }
        };
        self.query_pages.iter().map(&mut pages_of).collect()
    }

    /// All pages, sorted by query.
    pub(crate) fn iter(&self) -> impl Iterator<Item = DistinctPage<'_>> {
        (0..self.counts.len()).map(|page| self.page(page))
    }

    fn page(&self, page: usize) -> DistinctPage<'_> {
        let range = self.starts[page]..self.starts[page + 1];
        DistinctPage {
            pairs: &self.shown[range.clone()],
            clicked: &self.clicked[range],
            count: self.counts[page],
        }
    }

    /// The same pages with counts drawn anew, as if as many impressions were drawn from the log
    /// with replacement: each count is drawn from a Poisson distribution (Poisson bootstrap). Pages
    /// may get the count 0.
    pub(crate) fn resampled(&self, random: &mut Random) -> Self {
        let counts = self.counts.iter().map(|count| poisson(*count as f64, random)).collect();
        Self { counts, ..self.clone() }
    }

    /// For each pair of this log its number in `other`, or [`UNKNOWN_PAIR`].
    pub(crate) fn numbers_in(&self, other: &Pages) -> Vec<u32> {
        let known: HashMap<_, _, FixedState> = other.named_pairs().zip(0_u32..).collect();
        self.named_pairs().map(|pair| known.get(&pair).copied().unwrap_or(UNKNOWN_PAIR)).collect()
    }
}

/// A number of a Poisson distribution. Small means: the number of uniform factors until their
/// product is below exp(-mean) (Knuth); large ones: the rounded normal number of the same mean and
/// variance.
pub(crate) fn poisson(mean: f64, random: &mut Random) -> u64 {
    if mean > 50.0 {
        return (mean + mean.sqrt() * random.normal()).round().max(0.0) as u64;
    }
    let limit = (-mean).exp();
    let mut product = random.unit();
    let mut count = 0;
    while product > limit {
        product *= random.unit();
        count += 1;
    }
    count
}

/// Collects impressions into [`Pages`].
#[derive(Debug, Default)]
pub struct PagesBuilder {
    queries: NameTable,
    documents: NameTable,
    pages: PageTable,
    /// The documents of the current page, each with its click in the lowest bit.
    current: Vec<u64>,
}

impl PagesBuilder {
    /// Adds an impression. One without documents is left out.
    pub fn add(&mut self, impression: &Impression) {
        if impression.documents.is_empty() {
            return;
        }
        let query = self.queries.number(&impression.query);
        let documents = impression.documents.iter().map(|id| self.documents.number(id));
        self.current.clear();
        self.current.extend(documents.map(|document| u64::from(document) << 1));
        for click in &impression.clicks {
            if let Some(document) = self.current.get_mut(click.index) {
                *document |= 1;
            }
        }
        self.pages.count(query, &self.current, impression.count);
    }

    /// The collected pages.
    pub fn finish(self) -> Pages {
        let Self { queries, documents, pages: table, .. } = self;
        let mut sorted: Vec<usize> = (0..table.pages.len()).collect();
        // A stable sort: the pages of a query keep the order of their first appearance.
        sorted.sort_by_key(|page| table.pages[*page].query);
        let mut pages = Pages { starts: vec![0], ..Pages::default() };
        let mut numbers: HashMap<(u32, u32), u32, FixedState> = HashMap::default();
        for CountedPage { query, shown, count, .. } in
            sorted.into_iter().map(|page| &table.pages[page])
        {
            let page = pages.counts.len();
            match pages.query_pages.get_mut(*query as usize) {
                Some(range) => range.end = page + 1,
                None => pages.query_pages.push(page..page + 1),
            }
            let shown = &table.shown[shown.clone()];
            for document in shown {
                let next = numbers.len() as u32;
                let name = (document >> 1) as u32;
                let pair = *numbers.entry((*query, name)).or_insert(next);
                if pair == next {
                    pages.pairs.push((*query, name));
                }
                pages.shown.push(pair);
                pages.clicked.push(document & 1 == 1);
            }
            pages.max_ranks = pages.max_ranks.max(shown.len());
            pages.starts.push(pages.shown.len());
            pages.counts.push(*count);
        }
        Pages { queries: queries.into_names(), documents: documents.into_names(), ..pages }
    }
}

/// The distinct pages, in the order of their first appearance.
#[derive(Debug, Default)]
struct PageTable {
    pages: Vec<CountedPage>,
    /// Documents and clicks of all pages, one after another.
    shown: Vec<u64>,
    /// The last page with each hash.
    by_hash: HashMap<u64, u32, FixedState>,
}

#[derive(Debug)]
struct CountedPage {
    query: u32,
    /// The page before with the same hash, if there is one.
    same_hash: Option<u32>,
    /// Documents and clicks in [`PageTable::shown`].
    shown: Range<usize>,
    count: u64,
}

impl PageTable {
    /// Counts impressions of a page.
    fn count(&mut self, query: u32, shown: &[u64], count: u64) {
        let hash = FixedState::with_seed(u64::from(query)).hash_one(shown);
        let number = self.pages.len() as u32;
        let mut same_hash = self.by_hash.get(&hash).copied();
        let first = same_hash;
        while let Some(known) = same_hash {
            let page = &mut self.pages[known as usize];
            if page.query == query && self.shown[page.shown.clone()] == *shown {
                page.count += count;
                return;
            }
            same_hash = page.same_hash;
        }
        let start = self.shown.len();
        self.shown.extend_from_slice(shown);
        let shown = start..self.shown.len();
        self.pages.push(CountedPage { query, same_hash: first, shown, count });
        self.by_hash.insert(hash, number);
    }
}

/// Names, numbered in the order of their first appearance.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    names: Vec<String>,
    numbers: HashMap<String, u32, FixedState>,
}

impl NameTable {
    /// The number of a name; a new name gets the next one.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The names in the order of their numbers.
    pub(crate) fn into_names(self) -> Vec<String> {
        self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resampled_counts_have_the_mean_and_variance_of_a_poisson_distribution() {
        for mean in [1.0, 7.0, 200.0] {
            let draws: Vec<f64> = (0..20_000)
                .map(|stream| poisson(mean, &mut Random::new(5, stream)) as f64)
                .collect();
            let average = draws.iter().sum::<f64>() / 20_000.0;
            let variance = draws.iter().map(|d| (d - average).powi(2)).sum::<f64>() / 20_000.0;
            assert!((average / mean - 1.0).abs() < 0.03, "{mean}: {average}");
            assert!((variance / mean - 1.0).abs() < 0.06, "{mean}: {variance}");
        }
    }

    #[test]
    fn equal_pages_are_counted_once_and_pairs_are_sorted_by_query() {
        let page = |query: &str| Impression::new(query, ["a", "b"]);
        let log = [
            page("q").clicked([1]),
            page("r"),
            page("q").clicked([1, 1]),
            Impression::new("q", ["b", "c"]).clicked([2]),
            Impression::new("empty", Vec::<String>::new()),
        ];
        let pages = Pages::collect(&log);
        assert_eq!((pages.distinct(), pages.impressions(), pages.max_ranks()), (3, 4, 2));
        let named: Vec<_> = pages.named_pairs().collect();
        assert_eq!(named, [("q", "a"), ("q", "b"), ("q", "c"), ("r", "a"), ("r", "b")]);
        let by_query = pages.by_query();
        assert_eq!(by_query[0].pages.iter().map(|page| page.count).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(
            by_query[0].pages[1],
            DistinctPage { pairs: &[1, 2], clicked: &[false, true], count: 1 }
        );
        assert_eq!(by_query[1].pages[0].pairs, [3, 4]);
        assert_eq!((by_query[0].pairs.clone(), by_query[1].pairs.clone()), (0..3, 3..5));
        let other = Pages::collect(&[Impression::new("r", ["b", "x"])]);
        assert_eq!(other.numbers_in(&pages), [4, UNKNOWN_PAIR]);
    }
}
