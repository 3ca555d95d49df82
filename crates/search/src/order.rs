//! The order of documents: by score, descending. Documents of equal score are ordered by id, the
//! larger id first, as in run files; after a re-ranking they keep the order of the first stage.
//!
//! Scores are compared by [`Orderer`], as metrics compare them, so that -0.0 equals 0.0 and a score
//! that is not a number is an error.

use std::cmp::Reverse;

use rankwright_eval::{EvalError, OrderRule, Orderer, Rows};

use crate::error::SearchError;
use crate::index::Index;

/// The order of documents by score, then by id, as indices into both slices.
pub(crate) fn order(
    index: &Index,
    docs: &[u32],
    scores: &[f64],
) -> Result<Vec<usize>, SearchError> {
    let ids = index.ids()?;
    let mut by_id: Vec<usize> = (0..docs.len()).collect();
    by_id.sort_unstable_by_key(|&i| Reverse(ids.rank(docs[i])));
    let docs: Vec<u32> = by_id.iter().map(|&i| docs[i]).collect();
    let scores: Vec<f64> = by_id.iter().map(|&i| scores[i]).collect();
    Ok(stable_order(index, &docs, &scores)?.into_iter().map(|i| by_id[i]).collect())
}

/// The order of documents by score, as indices into both slices; documents of equal score keep
/// their order.
pub(crate) fn stable_order(
    index: &Index,
    docs: &[u32],
    scores: &[f64],
) -> Result<Vec<usize>, SearchError> {
    let mut orderer = Orderer::default();
    let order = orderer.order(Rows::of_scores(scores), OrderRule::STABLE);
    match order {
        Ok(order) => Ok(order.iter().map(|&row| row as usize).collect()),
        Err(EvalError::NanScore { row }) => {
            Err(SearchError::NanScore { id: index.ids()?.get(docs[row]).to_owned() })
        }
        Err(other) => Err(other.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, Value};

    #[test]
    fn zeros_of_both_signs_are_equal_and_ties_go_by_id() {
        let folder = tempfile::tempdir().unwrap();
        let documents = ["a", "c", "b"]
            .map(|id| Ok(Document::new(id).with("text", Value::Text("word".into()))));
        let path = folder.path().join("index");
        crate::build_index(&path, documents, &crate::BuildOptions::default(), &mut |_| {
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
        let index = Index::open(&path).unwrap();
        let ids = index.ids().unwrap();
        let docs = ["a", "b", "c"].map(|id| ids.find(id).unwrap());
        let ordered = |scores: [f64; 3]| order(&index, &docs, &scores);
        assert_eq!(ordered([0.0, -0.0, 0.0]).unwrap(), [2, 1, 0]);
        assert_eq!(ordered([0.0, 0.0, -0.0]).unwrap(), [2, 1, 0]);
        assert_eq!(ordered([1.0, -0.0, 0.0]).unwrap(), [0, 2, 1]);
        let nan = ordered([1.0, f64::NAN, 0.0]).unwrap_err();
        assert!(matches!(&nan, SearchError::NanScore { id } if id == "b"), "{nan}");
    }
}
