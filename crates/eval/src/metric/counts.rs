//! The counts that trec_eval prints: numbers of queries, of retrieved documents, of relevant
//! documents, and of relevant documents that were retrieved.
//!
//! The value for all queries is the sum of the queries' values. As in trec_eval, queries that the
//! run lacks are not counted unless `missing=zero` (trec_eval's option -c): then they add to num_q
//! and num_rel. Cost O(n).
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

use rankwright_spec::param_groups;

use super::{
    Aggregate, Metric, MetricDef, MetricParams, MissingOptions, MissingParams, OrderOptions,
    OrderParams, PresetParams, RelOptions, RelParams, UnjudgedOptions, UnjudgedParams,
};
use crate::convention::Missing;
use crate::error::EvalError;
use crate::list::RankedList;

param_groups! {
    /// Parameters of the number of queries.
    pub struct NumQueriesParams {
        preset: PresetParams;
        missing: MissingParams = MissingParams::default().missing(Missing::Skip), MissingOptions::missing_params;
    }
}

param_groups! {
    /// Parameters of the number of retrieved documents.
    pub struct NumRetrievedParams {
        preset: PresetParams;
        missing: MissingParams = MissingParams::default().missing(Missing::Skip), MissingOptions::missing_params;
        unjudged: UnjudgedParams, UnjudgedOptions::unjudged_params;
        order: OrderParams, OrderOptions::order_params;
    }
}

param_groups! {
    /// Parameters of the number of relevant documents.
    pub struct NumRelevantParams {
        preset: PresetParams;
        rel: RelParams, RelOptions::rel_params;
        missing: MissingParams = MissingParams::default().missing(Missing::Skip), MissingOptions::missing_params;
    }
}

param_groups! {
    /// Parameters of the number of relevant documents retrieved.
    pub struct NumRelevantRetrievedParams {
        preset: PresetParams;
        rel: RelParams, RelOptions::rel_params;
        missing: MissingParams = MissingParams::default().missing(Missing::Skip), MissingOptions::missing_params;
        order: OrderParams, OrderOptions::order_params;
    }
}

/// Number of queries.
pub(super) static NUM_Q: MetricDef = MetricDef {
    name: "num_q",
    help: "Number of queries; trec_eval's conventions.",
    example: "num_q",
    cutoff: false,
    ..MetricDef::of::<NumQueriesParams>()
};

/// Number of retrieved documents.
pub(super) static NUM_RET: MetricDef = MetricDef {
    name: "num_ret",
    help: "Number of retrieved documents; trec_eval's conventions.",
    example: "num_ret",
    cutoff: false,
    ..MetricDef::of::<NumRetrievedParams>()
};

/// Number of relevant documents.
pub(super) static NUM_REL: MetricDef = MetricDef {
    name: "num_rel",
    help: "Number of relevant documents; trec_eval's conventions.",
    example: "num_rel(rel=1)",
    cutoff: false,
    ..MetricDef::of::<NumRelevantParams>()
};

/// Number of relevant documents retrieved.
pub(super) static NUM_REL_RET: MetricDef = MetricDef {
    name: "num_rel_ret",
    help: "Number of relevant documents that were retrieved; trec_eval's conventions.",
    example: "num_rel_ret(rel=1)",
    cutoff: false,
    ..MetricDef::of::<NumRelevantRetrievedParams>()
};

impl MetricParams for NumQueriesParams {
    fn def(&self) -> &'static MetricDef {
        &NUM_Q
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Count::Queries)
    }
}

impl MetricParams for NumRetrievedParams {
    fn def(&self) -> &'static MetricDef {
        &NUM_RET
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Count::Retrieved)
    }
}

impl MetricParams for NumRelevantParams {
    fn def(&self) -> &'static MetricDef {
        &NUM_REL
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Count::Relevant { rel: self.rel.rel })
    }
}

impl MetricParams for NumRelevantRetrievedParams {
    fn def(&self) -> &'static MetricDef {
        &NUM_REL_RET
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Count::RelevantRetrieved { rel: self.rel.rel })
    }
}

#[derive(Debug, Clone, Copy)]
enum Count {
    Queries,
    Retrieved,
    Relevant { rel: f64 },
    RelevantRetrieved { rel: f64 },
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
    fn range(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        Ok(Some(self.of(list)))
    }

    fn when_missing(&self, list: &RankedList<'_>) -> Option<f64> {
        Some(self.of(list))
    }

    fn aggregate(&self) -> Aggregate {
        Aggregate::Sum
    }
}
