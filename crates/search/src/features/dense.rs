//! Semantic similarity from given word vectors: the cosine of mean vectors.
//!
//! The file of vectors is text, a word and its numbers per line, as written by word2vec and GloVe
//! (a first line of two counts is skipped). The vector of a term is the mean of the vectors of all
//! words with this term; the vector of a text is the idf-weighted mean of the vectors of its terms.
//! Texts without a word of the file have similarity 0.

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

/// The feature `dense`: mean vectors of all documents, and the vectors of terms for queries.
struct Dense {
    vectors: TermVectors,
    dimensions: usize,
    /// The vector of each document, one after another: of length 1, or of zeros.
    documents: Vec<f32>,
}

/// The largest number in a vector, well inside the range of `f32`, as which vectors are stored.
const MAX_NUMBER: f64 = 1e30;

/// The vector of each term.
type TermVectors = HashMap<String, Vec<f32>>;

impl Dense {
    /// Reads the vectors of words, and computes those of all documents.
    fn open(index: &Index, file: &str) -> Result<Self, SearchError> {
        let (vectors, dimensions) = read_vectors(index, file)?;
        check_memory(file, index.max_doc(), dimensions, memory_limit())?;
        let mut documents = vec![0.0; index.max_doc() * dimensions];
        let rows = documents.par_chunks_mut(dimensions.max(1)).zip(0_u32..index.max_doc() as u32);
        rows.try_for_each(|(row, doc)| -> Result<(), SearchError> {
            if index.is_alive(doc) {
                let terms = index.terms_of_document(doc)?;
                let vector = mean_vector(index, &vectors, dimensions, terms.iter())?;
                row.copy_from_slice(&vector);
            }
            Ok(())
        })?;
        Ok(Self { vectors, dimensions, documents })
    }
}

impl Feature for Dense {
    fn values(
        &self,
        statistics: &CandidateStatistics<'_>,
        out: &mut [f64],
    ) -> Result<(), SearchError> {
        let terms: Vec<String> = statistics.terms.distinct().map(str::to_owned).collect();
        let query = mean_vector(statistics.index, &self.vectors, self.dimensions, terms.iter())?;
        for (value, &doc) in out.iter_mut().zip(statistics.docs) {
            let start = doc as usize * self.dimensions;
            let document = &self.documents[start..start + self.dimensions];
            *value = query.iter().zip(document).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        }
        Ok(())
    }
}

/// Rejects vectors with so many dimensions that those of all documents take more than `limit`
/// bytes: a small file with one long line could ask for that.
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

/// The idf-weighted mean of the vectors of terms, scaled to length 1; zeros if no term has a
/// vector.
fn mean_vector<'t>(
    index: &Index,
    vectors: &TermVectors,
    dimensions: usize,
    terms: impl Iterator<Item = &'t String>,
) -> Result<Vec<f32>, SearchError> {
    let mut sum = vec![0.0_f64; dimensions];
    for term in terms {
        let Some(vector) = vectors.get(term) else { continue };
        let df = index.term_stats(index.all_text(), term)?.documents as f64;
        let weight = idf(index.documents() as f64, df);
        sum.iter_mut().zip(vector).for_each(|(s, v)| *s += weight * f64::from(*v));
    }
    let length = sum.iter().map(|s| s * s).sum::<f64>().sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    Ok(sum.into_iter().map(|s| (s * scale) as f32).collect())
}

/// Reads a file of word vectors; returns the vectors of terms and the number of dimensions.
fn read_vectors(index: &Index, file: &str) -> Result<(TermVectors, usize), SearchError> {
    let input = Input::open(Path::new(file))?;
    let text = String::from_utf8_lossy(&input.bytes);
    let mut sums: HashMap<String, (Vec<f64>, u32)> = HashMap::new();
    let mut dimensions = 0;
    for (line, text) in (1..).zip(text.lines()) {
        let mut parts = text.split_ascii_whitespace();
        let Some(word) = parts.next() else { continue };
        let numbers: Option<Vec<f64>> =
            parts.map(|p| p.parse::<f64>().ok().filter(|v| v.abs() <= MAX_NUMBER)).collect();
        let numbers =
            numbers.ok_or_else(|| malformed(file, line, "a word and numbers up to 1e30"))?;
        if line == 1 && numbers.len() == 1 {
            continue;
        }
        if dimensions == 0 {
            dimensions = numbers.len();
        }
        if numbers.len() != dimensions || dimensions == 0 {
            let expected =
                format!("a word and as many numbers as in the lines before ({dimensions})");
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

/// The error of a line. It does not show the line: the spec may come from a model of an unknown
/// author and name any file.
fn malformed(file: &str, line: u64, expected: &str) -> SearchError {
    SearchError::malformed(
        rankwright_data::SourceLocation::line(file, line),
        "a line of another form",
        expected,
    )
    .with_help("a file of word vectors is text with one word and its numbers per line")
}
