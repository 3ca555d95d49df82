//! Preferences between documents of a query: one form for all pairwise learners.
//!
//! If the data has explicit pairs (a file of pairs), these are the preferences. Otherwise the
//! preferences follow from the labels: every two documents of a query with different labels are a
//! pair. Their number is quadratic in the number of documents, so pairs from labels are counted and
//! listed only on request. A query of 0 or 1 documents or of equal labels has none.
//!
//! The weight of a preference is that of its pair (1 if it follows from labels), times the weights
//! of both documents (a document of weight 2 counts like two of them), times the weight of the
//! query.

use rankwright_data::Dataset;

use crate::error::LearnError;
use crate::objective::DocumentPair;

/// One preference: the better document and the worse one, numbered within their query, and the
/// weight.
pub(crate) type WeightedPair = (u32, u32, f32);

/// The preferences of a data set.
///
/// ```
/// use rankwright_data::generate::LetorOptions;
/// use rankwright_learn::Preferences;
///
/// let data = LetorOptions { queries: 3, documents: 30, seed: 1 }.generate()?;
/// assert!(Preferences::new(&data).explicit_pairs(0).is_none());
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
#[derive(Debug)]
pub struct Preferences<'a> {
    data: &'a Dataset,
    /// The explicit pairs, query by query, those of a query in the order of the file.
    pairs: Vec<DocumentPair>,
    /// The index of each query's first pair in `pairs`, and at the end the number of all pairs;
    /// empty if the data has no explicit pairs.
    offsets: Vec<usize>,
}

impl<'a> Preferences<'a> {
    /// Sorts the data's explicit pairs by query, if it has any. Cost O(pairs log pairs).
    pub fn new(data: &'a Dataset) -> Self {
        let (pairs, offsets) = pairs_by_query(data);
        Self { data, pairs, offsets }
    }

    /// The query's explicit pairs, weights as in the file; `None` if the data has no pairs, so that
    /// preferences follow from the labels.
    pub fn explicit_pairs(&self, query: usize) -> Option<&[DocumentPair]> {
        match (self.offsets.get(query), self.offsets.get(query + 1)) {
            (Some(&from), Some(&to)) => self.pairs.get(from..to),
            _ => None,
        }
    }

    /// All preferences of a query, with their weights; equal pairs and weights of 0 are left out.
    /// If they follow from labels, better documents come in row order, each with all documents that
    /// are worse.
    pub(crate) fn weighted_pairs(&self, query: usize) -> Vec<WeightedPair> {
        let rows = self.data.query_rows(query);
        let query_weight = self.data.query_weights().map_or(1.0, |weights| weights[query]);
        let document_weight = |document: u32| {
            self.data.row_weights().map_or(1.0, |weights| weights[rows.start + document as usize])
        };
        let scale = |better, worse| query_weight * document_weight(better) * document_weight(worse);
        let mut all = Vec::new();
        if let Some(pairs) = self.explicit_pairs(query) {
            let preferred = pairs.iter().filter(|pair| !pair.equal);
            all.extend(preferred.map(|p| (p.better, p.worse, p.weight * scale(p.better, p.worse))));
        } else {
            let labels = self.data.query(query).labels;
            for (i, label) in (0..).zip(labels) {
                let worse = (0..).zip(labels).filter(|(_, other)| label > *other);
                all.extend(worse.map(|(j, _)| (i, j, scale(i, j))));
            }
        }
        all.retain(|(_, _, weight)| *weight > 0.0);
        all
    }

    /// The number of preferences of a query, regardless of weights; equal pairs do not count.
    pub(crate) fn count(&self, query: usize) -> u64 {
        match self.explicit_pairs(query) {
            Some(pairs) => pairs.iter().filter(|pair| !pair.equal).count() as u64,
            None => count_by_labels(self.data.query(query).labels),
        }
    }

    /// Rejects data without a single preference; equal pairs do not count.
    pub(crate) fn check(&self) -> Result<(), LearnError> {
        match (0..self.data.queries()).any(|query| self.count(query) > 0) {
            true => Ok(()),
            false if self.offsets.is_empty() => Err(LearnError::NothingToRank),
            false => Err(LearnError::OnlyTiedPairs),
        }
    }
}

/// The preferences of one query; [`Preferences`] is faster for many queries.
#[cfg(test)]
pub(crate) fn weighted_pairs(data: &Dataset, query: usize) -> Vec<WeightedPair> {
    Preferences::new(data).weighted_pairs(query)
}

/// The number of pairs with different labels: all pairs minus those with equal labels.
pub(crate) fn count_by_labels(labels: &[f64]) -> u64 {
    let mut sorted = labels.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let pairs = |n: usize| (n as u64) * (n as u64).saturating_sub(1) / 2;
    // 0 and -0 are the same label: numbers are compared, not their bits.
    pairs(labels.len()) - sorted.chunk_by(|a, b| a == b).map(|same| pairs(same.len())).sum::<u64>()
}

/// The data's explicit pairs, query by query, documents numbered within the query from 0; and the
/// index of each query's first pair, followed by the number of all pairs. Both are empty if the
/// data has no explicit pairs.
pub(crate) fn pairs_by_query(data: &Dataset) -> (Vec<DocumentPair>, Vec<usize>) {
    let Some(pairs) = data.pairs_by_query() else { return (Vec::new(), Vec::new()) };
    let (mut explicit, mut offsets) = (Vec::new(), vec![0]);
    for query in 0..data.queries() {
        let first_row = data.query_rows(query).start as u32;
        explicit.extend(pairs.of_query(query).iter().map(|pair| DocumentPair {
            better: pair.better - first_row,
            worse: pair.worse - first_row,
            weight: pair.weight,
            equal: pair.equal,
        }));
        offsets.push(explicit.len());
    }
    (explicit, offsets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::bytes::Input;

    /// Two queries of equal size, a and b. If documents have weights, query b has weight 3.
    fn data(labels: &[f64], weights: Option<Vec<f32>>) -> Dataset {
        let (rows, half) = (labels.len(), labels.len() / 2);
        let ids = (0..rows).map(|row| if row < half { "a" } else { "b" });
        let data = Dataset::builder().dense(vec![0.0; rows], 1).labels(labels).query_ids(ids);
        let data = match weights {
            Some(weights) => {
                data.weights(weights).query_weights([vec![1.0; half], vec![3.0; half]].concat())
            }
            None => data,
        };
        data.build().unwrap()
    }

    #[test]
    fn labels_give_every_pair_of_different_labels() {
        let data = data(&[1.0, 0.0, 2.0, 1.0, 1.0, -0.0], None);
        assert_eq!(weighted_pairs(&data, 0), [(0, 1, 1.0), (2, 0, 1.0), (2, 1, 1.0)]);
        assert_eq!(weighted_pairs(&data, 1), [(0, 2, 1.0), (1, 2, 1.0)]);
        let all = Preferences::new(&data);
        assert_eq!((all.count(0), all.count(1)), (3, 2));
        assert!(all.check().is_ok() && all.explicit_pairs(0).is_none());
    }

    #[test]
    fn weights_of_documents_and_queries_are_multiplied() {
        let data = data(&[1.0, 0.0, 0.0, 1.0], Some(vec![2.0, 5.0, 0.5, 1.0]));
        // 2 x 5, and 0.5 x 1 times the weight 3 of the query.
        assert_eq!(weighted_pairs(&data, 0), [(0, 1, 10.0)]);
        assert_eq!(weighted_pairs(&data, 1), [(1, 0, 1.5)]);
    }

    #[test]
    fn explicit_pairs_replace_labels() {
        let text = "qid better worse weight\nb 2 > 3 4\na 0 = 1\nb 3 2 0.5\n";
        let input = Input::from_bytes("pairs", text.as_bytes().to_vec()).unwrap();
        let (data, _) = data(&[1.0, 0.0, 0.0, 1.0], None).with_pairs(&input).unwrap();
        assert_eq!(weighted_pairs(&data, 0), []);
        assert_eq!(weighted_pairs(&data, 1), [(0, 1, 4.0), (1, 0, 0.5)]);
        let all = Preferences::new(&data);
        assert_eq!((all.count(0), all.count(1)), (0, 2));
        assert!(all.explicit_pairs(0).unwrap()[0].equal);
    }

    #[test]
    fn data_without_preferences_is_refused() {
        let equal_labels = data(&[1.0; 4], None);
        let error = Preferences::new(&equal_labels).check().unwrap_err().to_string();
        assert!(error.contains("nothing to rank"), "{error}");
        let input = Input::from_bytes("pairs", b"a 0 = 1".to_vec()).unwrap();
        let (equal_pair, _) = equal_labels.with_pairs(&input).unwrap();
        let error = Preferences::new(&equal_pair).check().unwrap_err().to_string();
        assert!(error.contains("are ties"), "{error}");
    }
}
