//! bpref: a preference measure for incomplete judgements (Buckley and Voorhees, SIGIR 2004).
//!
//! ```text
//! bpref = 1/R * sum over retrieved relevant documents of
//!         1 - min(R, N(above it)) / min(R, N)
//! ```
//!
//! R and N count the judged relevant and the judged non-relevant documents of the query, and
//! N(above) the judged non-relevant ones above the document; with none above, the term is 1. This
//! is trec_eval's definition. Unjudged documents are skipped, and so are negative labels, which
//! trec_eval reads as "not judged". Conventions (how ties, unjudged documents and so on are
//! treated) default to trec_eval's: queries without a relevant document count 0 (`blank=0`), and
//! judged queries that the run lacks are left out (`missing=skip`). Cost O(n).
//!
//! ```
//! use rankwright_eval::of_ranking;
//! // R = 2, N = 2: no non-relevant document above the first, one above the second
//! assert_eq!(of_ranking("bpref", &[1.0, 0.0, 1.0, 0.0])?, Some(0.75));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::param_groups;

use super::{
    BlankOptions, ConventionOptions, ConventionParams, Metric, MetricDef, MetricParams,
    MissingOptions, PresetParams, RelOptions, RelParams, ZERO_TO_ONE,
};
use crate::convention::{Blank, Missing};
use crate::error::EvalError;
use crate::list::RankedList;

param_groups! {
    /// Parameters of bpref.
    pub struct BprefParams {
        // The conventions of a known tool.
        preset: PresetParams;
        rel: RelParams, RelOptions::rel_params;
        conventions: ConventionParams = ConventionParams::default().blank(Blank::Zero).missing(Missing::Skip), ConventionOptions::convention_params;
    }
}

/// bpref.
pub(super) static BPREF: MetricDef = MetricDef {
    name: "bpref",
    help: "Preference of relevant over judged non-relevant documents; trec_eval's conventions.",
    example: "bpref(rel=1)",
    cutoff: false,
    ..MetricDef::of::<BprefParams>()
};

impl MetricParams for BprefParams {
    fn def(&self) -> &'static MetricDef {
        &BPREF
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Bpref { rel: self.rel.rel })
    }
}

#[derive(Debug)]
struct Bpref {
    rel: f64,
}

impl Metric for Bpref {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let relevant = list.relevant(self.rel);
        let nonrelevant = list.ideal().partition_point(|&l| l >= 0.0) - relevant;
        let max_counted = relevant.min(nonrelevant) as f64;
        let (mut nonrelevant_above, mut sum) = (0, 0.0);
        for (rank, &label) in list.labels().iter().enumerate() {
            if label >= self.rel {
                let counted = relevant.min(nonrelevant_above) as f64;
                sum += if nonrelevant_above > 0 { 1.0 - counted / max_counted } else { 1.0 };
            } else if label >= 0.0 && list.is_judged(rank) {
                nonrelevant_above += 1;
            }
        }
        Ok(Some(sum / relevant as f64))
    }

    fn has_no_relevant(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        Ok(list.has_no_relevant(self.rel))
    }
}
