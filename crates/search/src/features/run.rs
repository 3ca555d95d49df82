//! Features from other systems: the score or rank of a document in a run file (as in the
//! meta-search of Joachims 2002).
//!
//! A document that the run does not list for the query has a missing score and rank, and so has
//! every document of a query that is not in the run. The indicators `top1` and `top10` and the
//! closeness max(0, (100 - rank)/100) of Joachims are 0 there.

use std::collections::HashMap;
use std::path::Path;

use rankwright_data::bytes::Input;
use rankwright_data::{DataError, Run};
use rankwright_eval::{OrderRule, Orderer, Rows, TiePolicy};
use rankwright_spec::{choices, params};

use super::Feature;
use super::def::FeatureDef;
use super::statistics::CandidateStatistics;
use crate::error::SearchError;
use crate::params::read_params;

choices! {
    /// The number that is taken from a run.
    pub enum RunValue {
        /// The score.
        Score = "score",
        /// The rank, from 1.
        Rank = "rank",
        /// 1 for the first document, otherwise 0.
        Top1 = "top1",
        /// 1 for the first ten documents, otherwise 0.
        Top10 = "top10",
        /// (100 - rank)/100, and 0 from rank 100 on.
        Closeness = "closeness",
    }
}

params! {
    /// Parameters of the feature `run`.
    pub struct RunParams {
        file: String = String::new(), .., "Run file.";
        value: RunValue = RunValue::Score, ..,
            "Score, rank, 1 for the first one or ten documents, or (100 - rank)/100.";
    }
}

pub(super) static RUN: FeatureDef = FeatureDef {
    name: "run",
    help: "Score, rank or rank indicator in a run of another system.",
    example: "run(file=other.run, value=rank)",
    is_default: false,
    ..FeatureDef::of::<RunParams>(|_, spec| {
        let params: RunParams = read_params(spec)?;
        Ok(Box::new(RunFeature::open(&params.file, params.value)?))
    })
};

impl RunValue {
    /// The value of a document that the run does not list.
    fn of_unlisted(self) -> f64 {
        match self {
            RunValue::Score | RunValue::Rank => f64::NAN,
            RunValue::Top1 | RunValue::Top10 | RunValue::Closeness => 0.0,
        }
    }

    /// The value of a document, from its score for [`RunValue::Score`], otherwise from its rank.
    fn of_number(self, number: f64) -> f64 {
        match self {
            RunValue::Score | RunValue::Rank => number,
            RunValue::Top1 => f64::from(number <= 1.0),
            RunValue::Top10 => f64::from(number <= 10.0),
            RunValue::Closeness => ((100.0 - number) / 100.0).max(0.0),
        }
    }
}

/// The feature: scores or ranks of documents in a run.
struct RunFeature {
    run: Run,
    value: RunValue,
}

impl RunFeature {
    fn open(file: &str, value: RunValue) -> Result<Self, SearchError> {
        // The spec may come from a model of an unknown author and name any file: an error must not
        // show the content of the file.
        let read = Run::read(Input::open(Path::new(file))?);
        let (run, _) = read.map_err(DataError::without_content)?;
        Ok(Self { run, value })
    }
}

impl Feature for RunFeature {
    fn values(
        &self,
        statistics: &CandidateStatistics<'_>,
        out: &mut [f64],
    ) -> Result<(), SearchError> {
        let lists = self.run.lists();
        out.fill(self.value.of_unlisted());
        let Some(query) = lists.find(&statistics.query.id) else { return Ok(()) };
        let listed: Vec<(&[u8], f64)> =
            lists.list(query).map(|document| (document.id, document.value)).collect();
        let listed = match self.value {
            RunValue::Score => listed,
            _ => ranks(&listed)?,
        };
        let values = listed.into_iter().map(|(id, number)| (id, self.value.of_number(number)));
        let values: HashMap<&[u8], f64> = values.collect();
        let ids = statistics.index.ids()?;
        for (out, &doc) in out.iter_mut().zip(statistics.docs) {
            if let Some(&value) = values.get(ids.get(doc).as_bytes()) {
                *out = value;
            }
        }
        Ok(())
    }
}

/// Replaces the scores of documents by their ranks: by score, then by id, the larger id first.
fn ranks<'r>(listed: &[(&'r [u8], f64)]) -> Result<Vec<(&'r [u8], f64)>, SearchError> {
    let (doc_ids, scores): (Vec<&[u8]>, Vec<f64>) = listed.iter().copied().unzip();
    let rows = Rows { scores: &scores, labels: &[], doc_ids: &doc_ids };
    let mut orderer = Orderer::default();
    let order = orderer.order(rows, OrderRule { ties: TiePolicy::Docid, scores32: false })?;
    Ok((1..).zip(order).map(|(rank, &row)| (doc_ids[row as usize], f64::from(rank))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indicators_and_closeness_are_0_beyond_their_ranks() {
        let of = |value: RunValue| [1.0, 10.0, 11.0, 150.0].map(|rank| value.of_number(rank));
        assert_eq!(of(RunValue::Top1), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(of(RunValue::Top10), [1.0, 1.0, 0.0, 0.0]);
        assert_eq!(of(RunValue::Closeness), [0.99, 0.9, 0.89, 0.0]);
    }

    #[test]
    fn ranks_follow_the_order_of_runs() {
        let listed: [(&[u8], f64); 4] = [(b"a", 0.0), (b"c", -0.0), (b"b", 0.0), (b"d", -1.0)];
        let ranked = ranks(&listed).unwrap();
        let expected: [(&[u8], f64); 4] = [(b"c", 1.0), (b"b", 2.0), (b"a", 3.0), (b"d", 4.0)];
        assert_eq!(ranked, expected);
    }
}
