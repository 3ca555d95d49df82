//! Counts that trec_eval prints: queries, retrieved, relevant, and relevant retrieved documents.
//!
//! Totals are sums. As in trec_eval, queries that the run lacks are not counted unless
//! `missing=zero` (its option -c): then they add to num_q and num_rel. Cost O(n).
//!
//! ```
//! use rankwright_eval::of_ranking;
//! let labels = [0.0, 2.0, 1.0];
//! assert_eq!(of_ranking("num_q", &labels)?, Some(1.0));
//! assert_eq!(of_ranking("num_ret", &labels)?, Some(3.0));
//! assert_eq!(of_ranking("num_rel(rel=2)", &labels)?, Some(1.0));
//! assert_eq!(of_ranking("num_rel_ret", &labels)?, Some(2.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use super::{Aggregate, Metric};
use crate::convention::read_rel;
use crate::error::EvalError;
use crate::list::RankedList;
use crate::params::Params;
use rankwright_spec::SpecError;

#[derive(Debug, Clone, Copy)]
enum Count {
    Queries,
    Retrieved,
    Relevant { rel: f64 },
    RelevantRetrieved { rel: f64 },
}

pub(crate) fn build_queries(_: &Params<'_>) -> Result<Box<dyn Metric>, SpecError> {
    Ok(Box::new(Count::Queries))
}

pub(crate) fn build_retrieved(_: &Params<'_>) -> Result<Box<dyn Metric>, SpecError> {
    Ok(Box::new(Count::Retrieved))
}

pub(crate) fn build_relevant(params: &Params<'_>) -> Result<Box<dyn Metric>, SpecError> {
    Ok(Box::new(Count::Relevant { rel: read_rel(params)? }))
}

pub(crate) fn build_relevant_retrieved(params: &Params<'_>) -> Result<Box<dyn Metric>, SpecError> {
    Ok(Box::new(Count::RelevantRetrieved { rel: read_rel(params)? }))
}

impl Count {
    fn of(self, list: &RankedList<'_>) -> f64 {
        let count = match self {
            Count::Queries => 1,
            Count::Retrieved => list.len(),
            Count::Relevant { rel } => list.relevant(rel),
            Count::RelevantRetrieved { rel } => list.labels().iter().filter(|l| **l >= rel).count(),
        };
        count as f64
    }
}

impl Metric for Count {
    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        Ok(Some(self.of(list)))
    }

    fn when_missing(&self, list: &RankedList<'_>) -> Option<f64> {
        Some(self.of(list))
    }

    fn convention(&self) -> String {
        match self {
            Count::Queries | Count::Retrieved => String::new(),
            Count::Relevant { rel } | Count::RelevantRetrieved { rel } => format!("rel={rel}"),
        }
    }

    fn aggregate(&self) -> Aggregate {
        Aggregate::Sum
    }
}
