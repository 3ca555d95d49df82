//! Text as vectors, weighted `ltc` in SMART's notation (Salton, Buckley 1988): a term with
//! frequency tf in a document that occurs in df of N documents has weight
//!
//! (1 + ln tf) · ln(N / df),
//!
//! and the vector is scaled to length 1. A term in every document has weight 0, a term outside the
//! vocabulary is ignored; a document without known terms is the vector of zeros. Terms are numbered
//! in the order of their bytes, so that vectors do not depend on the order of a hash map.

use std::collections::{BTreeMap, HashMap};

use super::SparseVector;

/// A vocabulary with the idf of each term.
///
/// ```
/// use rankwright_search::classify::TfIdf;
/// let tokens = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
/// let model = TfIdf::fit(&[tokens("the blue train"), tokens("the red train"), tokens("the sea")]);
/// let vector = model.vector(&tokens("the sea the unknown sea"));
/// assert_eq!(vector.terms(), [(model.term("sea").unwrap(), 1.0)]);
/// ```
#[derive(Debug, Clone)]
pub struct TfIdf {
    /// The number of each term.
    terms: HashMap<String, u32>,
    /// The idf of each term, by its number.
    idf: Vec<f64>,
}

impl TfIdf {
    /// Computes vocabulary and idf from the tokens of documents.
    pub fn fit<D: AsRef<[S]>, S: AsRef<str>>(documents: &[D]) -> TfIdf {
        // For each term the last document so far that has it, and the number of such documents.
        let mut frequencies: HashMap<&str, (usize, u32)> = HashMap::new();
        for (number, document) in documents.iter().enumerate() {
            for token in document.as_ref() {
                let (last, count) = frequencies.entry(token.as_ref()).or_insert((usize::MAX, 0));
                if *last != number {
                    (*last, *count) = (number, *count + 1);
                }
            }
        }
        let mut sorted: Vec<(&str, u32)> =
            frequencies.into_iter().map(|(term, (_, count))| (term, count)).collect();
        sorted.sort_unstable();
        let documents = documents.len() as f64;
        let idf = sorted.iter().map(|(_, count)| (documents / f64::from(*count)).ln()).collect();
        let numbered = sorted.iter().enumerate();
        let terms = numbered.map(|(number, (term, _))| ((*term).to_owned(), number as u32));
        TfIdf { terms: terms.collect(), idf }
    }

    /// Number of known terms.
    pub fn len(&self) -> usize {
        self.idf.len()
    }

    /// Whether no term is known.
    pub fn is_empty(&self) -> bool {
        self.idf.is_empty()
    }

    /// The number of a term; `None` if it is not known.
    pub fn term(&self, word: &str) -> Option<u32> {
        self.terms.get(word).copied()
    }

    /// The idf of the term with this number; `None` if there is no such term.
    pub fn idf(&self, term: u32) -> Option<f64> {
        self.idf.get(term as usize).copied()
    }

    /// The number of times that each known term occurs in a text.
    fn frequencies<S: AsRef<str>>(&self, tokens: &[S]) -> BTreeMap<u32, u32> {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        for term in tokens.iter().filter_map(|token| self.term(token.as_ref())) {
            *counts.entry(term).or_default() += 1;
        }
        counts
    }

    /// The vector of the number of times that each known term occurs in a text.
    pub fn counts<S: AsRef<str>>(&self, tokens: &[S]) -> SparseVector {
        let counts = self.frequencies(tokens).into_iter();
        SparseVector::of_sorted(counts.map(|(term, count)| (term, count as f32)))
    }

    /// The vector of a text's tokens, of length 1 or all zeros.
    pub fn vector<S: AsRef<str>>(&self, tokens: &[S]) -> SparseVector {
        let counts = self.frequencies(tokens);
        let weight = |(term, count): (u32, u32)| {
            (term, (1.0 + f64::from(count).ln()) * self.idf[term as usize])
        };
        let weights: Vec<(u32, f64)> = counts.into_iter().map(weight).collect();
        let length = weights.iter().map(|(_, w)| w * w).sum::<f64>().sqrt();
        if length == 0.0 {
            return SparseVector::default();
        }
        SparseVector::of_sorted(weights.iter().map(|(term, w)| (*term, (w / length) as f32)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_computed_by_hand() {
        let documents = [vec!["b", "a", "a"], vec!["a", "c"], vec!["c", "d", "a"], vec!["a", "b"]];
        let model = TfIdf::fit(&documents);
        assert_eq!((model.len(), model.term("a"), model.term("d")), (4, Some(0), Some(3)));
        assert_eq!((model.idf(0), model.idf(3), model.idf(4)), (Some(0.0), Some(4f64.ln()), None));
        let vector = model.vector(&["d", "b", "b", "b", "a", "new"]);
        let (b, d) = ((1.0 + 3f64.ln()) * 2f64.ln(), 4f64.ln());
        let length = (b * b + d * d).sqrt();
        assert_eq!(vector.terms(), [(1, (b / length) as f32), (3, (d / length) as f32)]);
        assert!((vector.squared_length() - 1.0).abs() < 1e-6);
        let counts = model.counts(&["d", "b", "b", "b", "a", "new"]);
        assert_eq!(counts.terms(), [(0, 1.0), (1, 3.0), (3, 1.0)], "also of weight 0");
    }

    #[test]
    fn a_text_without_a_weighted_term_is_the_vector_of_zeros() {
        let model = TfIdf::fit(&[vec!["a"], vec!["a"]]);
        let zeros = SparseVector::default();
        assert_eq!(model.vector(&["a"]), zeros, "in every document");
        assert_eq!(model.vector(&["x"]), zeros, "not in the vocabulary");
        assert_eq!(model.vector::<&str>(&[]), zeros);
        let none = TfIdf::fit::<Vec<String>, String>(&[]);
        assert!(none.is_empty() && none.vector(&["a"]) == zeros);
    }
}
