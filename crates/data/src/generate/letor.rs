//! Synthetic data with the features of MSLR-WEB, and with a known relevance function.
//!
//! Each query has one to five terms with an idf each; each document has five text streams (body,
//! anchor, title, url, whole) with 25 statistics each, as MSLR-WEB has them, and eleven features
//! that are not about text (links, ranks, clicks): 136 in all. Text features are numbered stream by
//! stream, where MSLR-WEB numbers them statistic by statistic, so that only the features 126 to 136
//! have the same numbers as there. Counts, heavy tails, ties and zeros
//! arise as they do on the web: from term counts in streams of uneven length that may be empty.
//!
//! Each document has three hidden numbers: match (r), popularity (p) and quality (q). The features
//! are noisy functions of them. The utility u of a document is not linear in them:
//!
//! u = r + 0.5 max(p, 0) n + 0.7 [r > 0.4 and q > 0] - 0.9 [q < -0.8 and p > 0.3] + noise,
//!
//! where n is the query's weight of popularity. Labels 0 to 4 are given by thresholds of u, so that
//! about 52, 32, 13, 2 and 1 % of the documents get each label. The thresholds are the same for
//! every seed, so that data of two seeds are two samples of one distribution. Only additions,
//! products, quotients and square roots are used, which have the same result on every machine.
//!
//! The numeric constants in this file are chosen by hand, so that distributions look like those of
//! MSLR-WEB; they have no other meaning.

use rankwright_spec::{check_params, params};
use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::error::DataError;
use crate::memory::memory_limit;
use crate::names::FeatureNames;
use crate::random::{DEFAULT_SEED, Random};

const STREAM_COUNT: usize = 5;
const STREAM_FEATURES: usize = 25;
const DOCUMENT_FEATURES: usize = 11;
const FEATURES: usize = STREAM_COUNT * STREAM_FEATURES + DOCUMENT_FEATURES;
const MAX_TERMS: usize = 5;

/// A text stream of a document, such as its title.
#[derive(Clone, Copy)]
struct TextStream {
    /// The probability that the stream is not empty, for a document whose popularity is not below
    /// 0; less popular documents have it less often.
    presence: f64,
    /// The typical length in words.
    length: f64,
    /// A factor on the idf: how much rarer terms are in this stream than in the body.
    rarity: f64,
}

/// In the order of [`STREAM_NAMES`].
const TEXT_STREAMS: [TextStream; STREAM_COUNT] = [
    TextStream { presence: 1.0, length: 600.0, rarity: 1.0 },
    TextStream { presence: 0.4, length: 40.0, rarity: 1.3 },
    TextStream { presence: 0.97, length: 8.0, rarity: 1.45 },
    TextStream { presence: 1.0, length: 6.0, rarity: 1.6 },
    TextStream { presence: 1.0, length: 650.0, rarity: 0.95 },
];

/// The cumulative shares of the labels 0 to 3 among all documents.
const LABEL_SHARES: [f64; 4] = [0.52, 0.84, 0.97, 0.99];

params! {
    /// Parameters of generated LETOR data.
    pub struct LetorOptions: literal {
        queries: usize = 1000, 1.., "Number of queries.";
        documents: usize = 120, 1.., "Mean number of documents per query; a query has between 1 document and 7.5 times this number.";
        seed: u64 = DEFAULT_SEED, .., "Seed of all draws; the same seed gives the same bytes on any machine.";
    }
}

impl LetorOptions {
    /// Generates the data.
    ///
    /// ```
    /// use rankwright_data::generate::LetorOptions;
    /// let options = LetorOptions { queries: 10, documents: 20, seed: 1 };
    /// let data = options.generate()?;
    /// assert_eq!((data.queries(), data.columns()), (10, 136));
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn generate(&self) -> Result<Dataset, DataError> {
        self.build(FeatureNames::Ids { first: 1, count: FEATURES })
    }

    /// Generates the same data with names of the features, such as `bm25_title` and `pagerank`, for
    /// formats that hold names.
    ///
    /// ```
    /// use rankwright_data::generate::LetorOptions;
    /// let data = LetorOptions { queries: 1, documents: 5, seed: 1 }.generate_named()?;
    /// assert_eq!(data.features().name(129), "pagerank");
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn generate_named(&self) -> Result<Dataset, DataError> {
        self.build(FeatureNames::Named(feature_names()))
    }

    /// Generates the data; only the names of the features differ between callers.
    fn build(&self, names: FeatureNames) -> Result<Dataset, DataError> {
        check_params(self, "letor")?;
        self.check_size()?;
        // Even streams of random numbers are for the sizes of queries, odd ones for their
        // documents.
        let sizes: Vec<usize> = (0..self.queries)
            .map(|query| query_size(&mut Random::new(self.seed, 2 * query as u64), self.documents))
            .collect();
        let rows: usize = sizes.iter().sum();
        let mut values = vec![0f32; rows * FEATURES];
        let mut labels = vec![0f64; rows];
        let mut tasks = Vec::with_capacity(self.queries);
        let (mut rest, mut rest_labels) = (&mut values[..], &mut labels[..]);
        for &size in &sizes {
            let (cells, after) = rest.split_at_mut(size * FEATURES);
            let (labels, after_labels) = rest_labels.split_at_mut(size);
            tasks.push((cells, labels));
            (rest, rest_labels) = (after, after_labels);
        }
        let thresholds = label_thresholds();
        tasks.into_par_iter().enumerate().for_each(|(query, (cells, labels))| {
            let mut random = Random::new(self.seed, 2 * query as u64 + 1);
            let intent = QueryIntent::draw(&mut random);
            for (row, label) in cells.chunks_exact_mut(FEATURES).zip(labels) {
                let utility = draw_document(&mut random, &intent, row);
                *label = thresholds.iter().filter(|threshold| utility > **threshold).count() as f64;
            }
        });
        let query_ids = (1..).zip(&sizes).flat_map(|(id, size)| std::iter::repeat_n(id, *size));
        let data = Dataset::builder().dense(values, FEATURES).features(names);
        data.labels(labels).query_ids(query_ids).build()
    }

    /// Rejects sizes that do not fit in memory, before anything is allocated.
    fn check_size(&self) -> Result<(), DataError> {
        let rows = self.queries.checked_mul(self.documents).filter(|rows| *rows < 1 << 31);
        let bytes = rows.map(|rows| rows as u64 * FEATURES as u64 * 4);
        if bytes.is_some_and(|bytes| bytes <= memory_limit()) {
            return Ok(());
        }
        let (queries, documents) = (self.queries, self.documents);
        Err(DataError::GeneratedDataTooLarge { queries, documents })
    }
}

/// Names of the streams, in the order of [`TEXT_STREAMS`].
const STREAM_NAMES: [&str; STREAM_COUNT] = ["body", "anchor", "title", "url", "whole"];

/// Names of the features of a stream, in the order of [`text_features`].
const STREAM_FEATURE_NAMES: [&str; STREAM_FEATURES] = [
    "covered_terms",
    "covered_ratio",
    "length",
    "idf",
    "tf_sum",
    "tf_min",
    "tf_max",
    "tf_mean",
    "tf_variance",
    "tf_by_length_sum",
    "tf_by_length_min",
    "tf_by_length_max",
    "tf_by_length_mean",
    "tf_by_length_variance",
    "tfidf_sum",
    "tfidf_min",
    "tfidf_max",
    "tfidf_mean",
    "tfidf_variance",
    "boolean",
    "cosine",
    "bm25",
    "lm_absolute",
    "lm_dirichlet",
    "lm_jelinek_mercer",
];

/// Names of the features of a document that are not about text, in the order of
/// [`document_features`].
const DOCUMENT_FEATURE_NAMES: [&str; DOCUMENT_FEATURES] = [
    "url_slashes",
    "url_length",
    "inlinks",
    "outlinks",
    "pagerank",
    "site_rank",
    "quality",
    "quality_2",
    "query_clicks",
    "url_clicks",
    "dwell_time",
];

/// Short names for the features of MSLR-WEB, in the order of the columns here.
fn feature_names() -> Vec<String> {
    let of_streams = STREAM_NAMES
        .iter()
        .flat_map(|stream| STREAM_FEATURE_NAMES.iter().map(move |name| format!("{name}_{stream}")));
    of_streams.chain(DOCUMENT_FEATURE_NAMES.map(str::to_owned)).collect()
}

/// The number of documents of a query: skewed to the right, between 1 and 7.5 times the mean.
fn query_size(random: &mut Random, mean: usize) -> usize {
    let z = random.normal();
    let low = (1.0 + z / 3.2).max(0.0);
    let spread = if z < 0.0 { low * low } else { 1.0 + 0.62 * z + 0.35 * z * z };
    // The mean of `spread` is about 1 / 0.809.
    ((spread * 0.809 * mean as f64) as usize).clamp(1, mean * 15 / 2)
}

/// The utilities at which labels change: quantiles of a fixed sample.
fn label_thresholds() -> [f64; 4] {
    // Any constant: the seed of the sample.
    const SAMPLE_SEED: u64 = 0x0c41_1b4a;
    let mut utilities: Vec<f64> = (0..2000u64)
        .into_par_iter()
        .flat_map_iter(|query| {
            let mut random = Random::new(SAMPLE_SEED, query);
            let intent = QueryIntent::draw(&mut random);
            let mut row = [0f32; FEATURES];
            (0..20).map(|_| draw_document(&mut random, &intent, &mut row)).collect::<Vec<_>>()
        })
        .collect();
    utilities.sort_unstable_by(f64::total_cmp);
    LABEL_SHARES.map(|share| {
        let index = (share * utilities.len() as f64) as usize;
        utilities.get(index).copied().unwrap_or(0.0)
    })
}

/// The hidden properties of a query.
struct QueryIntent {
    /// The number of terms.
    terms: usize,
    /// The idf of each term.
    idf: [f64; MAX_TERMS],
    /// The weight of popularity (n), 0 to 1.
    popularity_weight: f64,
    /// The mean match (r) of its documents.
    mean_match: f64,
}

impl QueryIntent {
    fn draw(random: &mut Random) -> QueryIntent {
        let terms = 1 + random.below(MAX_TERMS);
        let mut idf = [0.0; MAX_TERMS];
        idf.iter_mut().take(terms).for_each(|idf| *idf = 1.5 + 9.0 * random.unit());
        QueryIntent {
            terms,
            idf,
            popularity_weight: random.unit(),
            mean_match: 0.45 * random.normal(),
        }
    }
}

/// Draws a document: fills its row and returns its utility (u). The module documentation explains
/// r, p, q and u.
fn draw_document(random: &mut Random, intent: &QueryIntent, row: &mut [f32]) -> f64 {
    let r = intent.mean_match + 0.9 * random.normal();
    let p = random.normal();
    let q = random.normal();
    let (of_streams, of_document) = row.split_at_mut(STREAM_COUNT * STREAM_FEATURES);
    for (stream, cells) in TEXT_STREAMS.iter().zip(of_streams.chunks_exact_mut(STREAM_FEATURES)) {
        let is_present = random.unit() < stream.presence + 0.1 * p.min(0.0);
        let stream_match = r + random.normal();
        let length = if is_present { stream.length } else { 0.0 };
        text_features(random, intent, stream_match, TextStream { length, ..*stream }, cells);
    }
    document_features(random, intent, [r, p, q], of_document);
    let quality_bonus = if r > 0.4 && q > 0.0 { 0.7 } else { 0.0 };
    let spam_penalty = if q < -0.8 && p > 0.3 { 0.9 } else { 0.0 };
    let popularity = 0.5 * p.max(0.0) * intent.popularity_weight;
    r + popularity + quality_bonus - spam_penalty + 0.8 * random.normal()
}

/// A positive number with a heavy tail and a median of about 1.
fn heavy_tailed(random: &mut Random) -> f64 {
    let u = random.unit();
    (0.15 + u) / (1.03 - u).sqrt()
}

/// The features of one stream: coverage, length, idf, then sum, minimum, maximum, mean and variance
/// of term counts, of counts divided by length and of tf-idf, then boolean, cosine, BM25 and three
/// scores that behave like those of language models. `stream_match` is the hidden match of the
/// document in this stream.
fn text_features(
    random: &mut Random,
    intent: &QueryIntent,
    stream_match: f64,
    stream: TextStream,
    out: &mut [f32],
) {
    let length = (stream.length * heavy_tailed(random)).floor();
    // The number of occurrences of each term: grows with the match and with the length.
    let mut counts = [0.0; MAX_TERMS];
    for count in counts.iter_mut().take(intent.terms) {
        let term_match = (1.5 + stream_match + 0.6 * random.normal()).max(0.0);
        *count = (term_match * term_match * (0.35 + (length / 40.0).sqrt())).floor().min(length);
    }
    let counts = counts.get(..intent.terms).unwrap_or(&[]);
    let idf = intent.idf.get(..intent.terms).unwrap_or(&[]);
    let covered = counts.iter().filter(|c| **c > 0.0).count() as f64;
    let terms = intent.terms as f64;
    let per_length = |c: f64| if length > 0.0 { c / length } else { 0.0 };
    // BM25 with k1 = 1.2 and b = 0.75.
    let length_norm = 1.2 * (0.25 + 0.75 * length / stream.length.max(1.0));
    // The count (c) and the idf (w) of each term.
    let terms_with_idf = || counts.iter().zip(idf).map(|(c, w)| (*c, *w));
    let bm25: f64 = terms_with_idf().map(|(c, w)| w * c * 2.2 / (c + length_norm)).sum();
    let dot_product: f64 = terms_with_idf().map(|(c, w)| c * w * w).sum();
    let squared_norm: f64 = terms_with_idf().map(|(c, w)| c * c * w * w).sum::<f64>() + 1.0;
    let language_model = |mu: f64| -> f64 {
        terms_with_idf().map(|(c, w)| -w / (1.0 + (c + 0.3) * mu / (length + mu))).sum()
    };
    let mut cells = out.iter_mut();
    let mut put = |value: f64| {
        if let Some(cell) = cells.next() {
            *cell = rounded(value);
        }
    };
    put(covered);
    put(covered / terms);
    put(length);
    put(stream.rarity * idf.iter().sum::<f64>());
    five_statistics(counts.iter().copied(), terms, &mut put);
    five_statistics(counts.iter().map(|c| per_length(*c)), terms, &mut put);
    five_statistics(terms_with_idf().map(|(c, w)| c * w), terms, &mut put);
    put(if covered == terms { 1.0 } else { 0.0 });
    put(dot_product / squared_norm.sqrt());
    put(if length > 0.0 { bm25 } else { 0.0 });
    put(if length > 0.0 { language_model(10.0) } else { 0.0 });
    put(if length > 0.0 { language_model(50.0) } else { 0.0 });
    put(if length > 0.0 { language_model(2.0) } else { 0.0 });
}

/// Calls `put` with sum, minimum, maximum, mean and variance of `count` values.
fn five_statistics(
    values: impl Iterator<Item = f64> + Clone,
    count: f64,
    put: &mut impl FnMut(f64),
) {
    let sum: f64 = values.clone().sum();
    let mean = sum / count;
    put(sum);
    put(values.clone().fold(f64::INFINITY, f64::min));
    put(values.clone().fold(0.0, f64::max));
    put(mean);
    put(values.map(|v| (v - mean) * (v - mean)).sum::<f64>() / count);
}

/// Slashes and length of the url, in-links, out-links, PageRank, site rank, two quality scores,
/// clicks on the document for the query and in total, and dwell time. `hidden` are match,
/// popularity and quality.
fn document_features(random: &mut Random, intent: &QueryIntent, hidden: [f64; 3], out: &mut [f32]) {
    let [r, p, q] = hidden;
    let slashes = (1.0 + 2.0 * random.unit() * heavy_tailed(random) - 0.4 * p).max(1.0).floor();
    let fame = (1.2 + p + 0.5 * random.normal()).max(0.0);
    let links = (fame * fame * fame * 3.0 * heavy_tailed(random)).floor();
    let clicks = (fame * heavy_tailed(random) * 4.0 - 8.0).max(0.0).floor();
    // Most documents have no clicks for the query.
    let query_clicks = if random.unit() < 0.12 + 0.1 * intent.popularity_weight {
        (r + 1.0).max(0.0)
    } else {
        0.0
    };
    let values = [
        slashes,
        (12.0 + 9.0 * slashes * (0.5 + random.unit())).floor(),
        links,
        (30.0 * heavy_tailed(random) * (1.6 - 0.5 * q).max(0.2)).floor(),
        (30000.0 * fame + 4000.0 * random.normal()).clamp(0.0, 65535.0).floor(),
        (9000.0 * (2.0 + p + 0.9 * random.normal())).clamp(0.0, 65535.0).floor(),
        (128.0 + 32.0 * (q + 0.5 * random.normal())).clamp(0.0, 255.0).floor(),
        (100.0 + 25.0 * (q - 0.6 * random.normal())).clamp(0.0, 255.0).floor(),
        (query_clicks * 3.0 * heavy_tailed(random)).floor(),
        clicks,
        (query_clicks * 20.0 * heavy_tailed(random) * 100.0).floor() / 100.0,
    ];
    for (cell, value) in out.iter_mut().zip(values) {
        *cell = rounded(value);
    }
}

/// The value rounded to six decimals, as in feature files.
fn rounded(value: f64) -> f32 {
    ((value * 1e6).round() / 1e6) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(queries: usize, seed: u64) -> Dataset {
        LetorOptions { queries, documents: 120, seed }.generate().unwrap()
    }

    #[test]
    fn labels_and_sizes_have_the_documented_distribution() {
        let data = data(1500, 3);
        let rows = data.rows() as f64;
        assert!((rows / 1500.0 - 120.0).abs() < 6.0, "{} documents a query", rows / 1500.0);
        for (label, share) in [52.0, 32.0, 13.0, 2.0, 1.0].into_iter().enumerate() {
            let count = data.labels().iter().filter(|l| **l == label as f64).count() as f64;
            let found = 100.0 * count / rows;
            assert!((found - share).abs() < 0.15 * share + 0.3, "label {label}: {found} %");
        }
        let sizes: Vec<usize> = data.iter_queries().map(|q| q.rows.len()).collect();
        assert!(*sizes.iter().min().unwrap() < 5 && *sizes.iter().max().unwrap() > 500);
        assert!(sizes.iter().all(|size| (1..=900).contains(size)));
    }

    #[test]
    fn data_with_feature_names_is_otherwise_the_same() {
        let options = LetorOptions { queries: 4, documents: 10, seed: 2 };
        let (plain, named) = (options.generate().unwrap(), options.generate_named().unwrap());
        assert_eq!(plain.matrix(), named.matrix());
        assert_eq!((plain.labels(), plain.rows()), (named.labels(), named.rows()));
        assert_eq!(plain.features().name(0), "1");
        let names: std::collections::HashSet<_> = named.features().iter().collect();
        assert_eq!(names.len(), FEATURES, "each name once");
        assert_eq!(named.features().name(21), "bm25_body");
    }

    #[test]
    fn threads_do_not_matter_and_seeds_do() {
        let in_pool = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| data(30, 5))
        };
        let one = in_pool(1);
        assert_eq!(one, in_pool(3));
        assert_ne!(one.labels(), data(30, 6).labels());
    }

    #[test]
    fn features_have_zeros_ties_and_heavy_tails() {
        let data = data(100, 1);
        let data = &data;
        let column = |c: usize| (0..data.rows()).map(move |r| data.matrix().get(r, c));
        // The stream `anchor` is the second; its length is the third of its features.
        let anchor_length: Vec<f32> = column(STREAM_FEATURES + 2).collect();
        let zeros = anchor_length.iter().filter(|v| **v == 0.0).count() as f64;
        assert!(zeros / anchor_length.len() as f64 > 0.4);
        let mut links: Vec<f32> = column(STREAM_COUNT * STREAM_FEATURES + 2).collect();
        links.sort_unstable_by(f32::total_cmp);
        let median = links[links.len() / 2];
        assert!(*links.last().unwrap() > 20.0 * median.max(1.0));
    }
}
