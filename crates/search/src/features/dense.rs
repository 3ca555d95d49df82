//! Semantic similarity from given word vectors: the cosine of mean vectors.
//!
//! The file is text, a word and its numbers per line, as written by word2vec and GloVe (a first
//! line of two counts is skipped). A term's vector is the mean of those of the words that analyse
//! to it; a text's is the idf-weighted mean of its terms' vectors. Texts without a known word have
//! similarity 0.

use std::collections::HashMap;
use std::path::Path;

use rankwright_data::bytes::Input;
use rankwright_data::{DataError, memory_limit};
use rankwright_spec::params;
use rayon::prelude::*;

use super::Feature;
use super::def::FeatureDef;
use super::statistics::CandidateStatistics;
use crate::error::SearchError;
use crate::index::Index;
use crate::params::read_params;
use crate::retrieve::idf;

params! {
    /// Parameters of the feature `dense`.
    pub struct DenseParams {
        file: String = String::new(), .., "File of word vectors.";
    }
}

pub(super) static DENSE: FeatureDef = FeatureDef {
    name: "dense",
    help: "Cosine of mean word vectors from a text file.",
    example: "dense(file=vectors.txt)",
    is_default: false,
    ..FeatureDef::of::<DenseParams>(|index, spec| {
        Ok(Box::new(Dense::open(index, &read_params::<DenseParams>(spec)?.file)?))
    })
};

/// The feature `dense`: mean vectors of all documents, and the terms' vectors for queries.
struct Dense {
    terms: Terms,
    dimensions: usize,
    /// Vectors of length 1, or of zeros, document by document.
    documents: Vec<f32>,
}

/// The largest number of a vector; the squares of larger ones may exceed the range of numbers.
const MOST: f64 = 1e30;

type Terms = HashMap<String, Vec<f32>>;

impl Dense {
    fn open(index: &Index, file: &str) -> Result<Self, SearchError> {
        let (terms, dimensions) = read(index, file)?;
        check_memory(file, index.max_doc(), dimensions, memory_limit())?;
        let mut documents = vec![0.0; index.max_doc() * dimensions];
        let rows = documents.par_chunks_mut(dimensions.max(1)).zip(0_u32..index.max_doc() as u32);
        rows.try_for_each(|(row, doc)| -> Result<(), SearchError> {
            if index.is_alive(doc) {
                let words = index.words_of(doc)?;
                row.copy_from_slice(&mean(index, &terms, dimensions, words.iter())?);
            }
            Ok(())
        })?;
        Ok(Self { terms, dimensions, documents })
    }
}

impl Feature for Dense {
    fn values(
        &self,
        statistics: &CandidateStatistics<'_>,
        out: &mut [f64],
    ) -> Result<(), SearchError> {
        let words: Vec<String> = statistics.terms.distinct().map(str::to_owned).collect();
        let query = mean(statistics.index, &self.terms, self.dimensions, words.iter())?;
        for (slot, &doc) in out.iter_mut().zip(statistics.docs) {
            let start = doc as usize * self.dimensions;
            let document = &self.documents[start..start + self.dimensions];
            *slot = query.iter().zip(document).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        }
        Ok(())
    }
}

/// Rejects vectors of so many numbers that those of all documents take more than `limit` bytes: a line
/// of the file is enough to claim that.
fn check_memory(
    file: &str,
    documents: usize,
    dimensions: usize,
    limit: u64,
) -> Result<(), DataError> {
    let bytes = (documents as u64).saturating_mul(4).saturating_mul(dimensions as u64);
    match bytes <= limit {
        true => Ok(()),
        false => Err(DataError::ContentTooLarge { file: file.to_owned(), limit }),
    }
}

/// The idf-weighted mean of terms' vectors, of length 1.
fn mean<'t>(
    index: &Index,
    vectors: &Terms,
    dimensions: usize,
    terms: impl Iterator<Item = &'t String>,
) -> Result<Vec<f32>, SearchError> {
    let mut sum = vec![0.0_f64; dimensions];
    for term in terms {
        let Some(vector) = vectors.get(term) else { continue };
        let df = index.term_stats(index.all(), term)?.documents as f64;
        let weight = idf(index.documents() as f64, df);
        sum.iter_mut().zip(vector).for_each(|(s, v)| *s += weight * f64::from(*v));
    }
    let length = sum.iter().map(|s| s * s).sum::<f64>().sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    Ok(sum.into_iter().map(|s| (s * scale) as f32).collect())
}

fn read(index: &Index, file: &str) -> Result<(Terms, usize), SearchError> {
    let input = Input::open(Path::new(file))?;
    let text = String::from_utf8_lossy(&input.bytes);
    let mut sums: HashMap<String, (Vec<f64>, u32)> = HashMap::new();
    let mut dimensions = 0;
    for (line, text) in (1..).zip(text.lines()) {
        let mut parts = text.split_ascii_whitespace();
        let Some(word) = parts.next() else { continue };
        let numbers: Option<Vec<f64>> =
            parts.map(|p| p.parse::<f64>().ok().filter(|v| v.abs() <= MOST)).collect();
        let numbers =
            numbers.ok_or_else(|| malformed(file, line, "a word and numbers up to 1e30"))?;
        if line == 1 && numbers.len() == 1 {
            continue;
        }
        if dimensions == 0 {
            dimensions = numbers.len();
        }
        if numbers.len() != dimensions || dimensions == 0 {
            let expected = format!("as many numbers as in the lines before ({dimensions})");
            return Err(malformed(file, line, &expected));
        }
        let analysed = index.analysis().terms(word);
        let [term] = analysed.as_slice() else { continue };
        let (sum, count) = sums.entry(term.clone()).or_insert_with(|| (vec![0.0; dimensions], 0));
        sum.iter_mut().zip(&numbers).for_each(|(s, n)| *s += n);
        *count += 1;
    }
    let means = sums.into_iter().map(|(term, (sum, count))| {
        (term, sum.into_iter().map(|s| (s / f64::from(count)) as f32).collect())
    });
    Ok((means.collect(), dimensions))
}

fn malformed(file: &str, line: u64, expected: &str) -> SearchError {
    SearchError::malformed(
        rankwright_data::SourceLocation::line(file, line),
        "another line",
        expected,
    )
    .with_help("a file of word vectors is text with one word and its numbers per line")
}
