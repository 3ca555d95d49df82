//! Kendall's tau-b between scores and labels (Kendall 1945; counting after Knight 1966).
//!
//! ```text
//! tau-b = (concordant - discordant) / sqrt((n0 - ties in score) * (n0 - ties in label))
//! ```
//!
//! n0 = n(n-1)/2 is the number of pairs, and ties are numbers of tied pairs. From -1 to 1. The list
//! is already sorted by score, so one counting merge gives the discordant pairs: O(n log n). Equal
//! scores are ties by definition; no tie policy applies. All labels equal, or fewer than two
//! documents: no value, skipped. All scores equal: 0.
//!
//! ```
//! use rankwright_eval::{MetricSpec, SourceKind, of_ranking};
//! assert_eq!(of_ranking("kendall", &[3.0, 1.0, 2.0])?, Some(1.0 / 3.0));
//! let tau = MetricSpec::parse("kendall")?.resolve(SourceKind::Features)?;
//! // scipy.stats.kendalltau
//! let value = tau.of(&[1.0, 2.0, 2.0, 3.0], &[0.0, 0.0, 1.0, 2.0])?;
//! assert_eq!(value.map(|v| (v * 1e6).round()), Some(800000.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::param_groups;

use super::inversions::{count_inversions, different_pairs};
use super::{
    Metric, MetricDef, MetricParams, MissingOptions, MissingParams, UnjudgedOptions, UnjudgedParams,
};
use crate::error::EvalError;
use crate::list::RankedList;

param_groups! {
    /// Parameters of Kendall's tau-b.
    pub struct KendallParams {
        missing: MissingParams, MissingOptions::missing_params;
        unjudged: UnjudgedParams, UnjudgedOptions::unjudged_params;
    }
}

/// Kendall's tau-b.
pub(super) static KENDALL: MetricDef = MetricDef {
    name: "kendall",
    aliases: &["tau"],
    help: "Kendall's tau-b between scores and labels.",
    example: "kendall",
    cutoff: false,
    ..MetricDef::of::<KendallParams>()
};

impl MetricParams for KendallParams {
    fn def(&self) -> &'static MetricDef {
        &KENDALL
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Kendall)
    }
}

#[derive(Debug)]
struct Kendall;

impl Metric for Kendall {
    fn range(&self) -> (f64, f64) {
        (-1.0, 1.0)
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let scores = list.scores();
        let mut labels = list.labels().to_vec();
        // Labels are sorted, highest first, within equal scores, so that no pair of equal scores
        // counts as discordant.
        let mut start = 0;
        // Number of pairs with equal scores and different labels.
        let mut tied_scores_only = 0;
        for tied in scores.chunk_by(|a, b| a == b) {
            let group = &mut labels[start..start + tied.len()];
            group.sort_unstable_by(|a, b| b.total_cmp(a));
            tied_scores_only += different_pairs(group);
            start += tied.len();
        }
        let discordant = count_inversions(&mut labels, &mut Vec::new()) as f64;
        let different_labels = different_pairs(&labels) as f64;
        let different_scores = different_pairs(scores) as f64;
        if different_labels == 0.0 {
            return Ok(None);
        }
        if different_scores == 0.0 {
            return Ok(Some(0.0));
        }
        let concordant = different_labels - tied_scores_only as f64 - discordant;
        let divisor = (different_labels * different_scores).sqrt();
        Ok(Some((concordant - discordant) / divisor))
    }

    fn when_missing(&self, list: &RankedList<'_>) -> Option<f64> {
        list.labels_differ().then_some(0.0)
    }
}
