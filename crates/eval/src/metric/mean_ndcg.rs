//! MeanNDCG: LETOR's mean of NDCG@k over every k up to the length of the list.
//!
//! ```text
//! MeanNDCG = 1/n * sum over k = 1..n of NDCG@k
//! ```
//!
//! DCG@k and the ideal DCG@k are running sums, so one pass gives all n values: O(n). A query in
//! which even the best document has gain 0 counts as one without a relevant document (`blank`); an
//! empty list counts 0.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! // NDCG@1 = 0, NDCG@2 = (1/log2 3) / 1
//! let value = of_ranking("mean-ndcg", &[0.0, 1.0])?;
//! assert_eq!(value.map(|v| (v * 1e4).round()), Some(3155.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::param_groups;

use super::dcg::Dcg;
use super::{
    ConventionOptions, ConventionParams, DiscountOptions, DiscountParams, GainOptions, GainParams,
    Metric, MetricDef, MetricParams, PresetParams, ZERO_TO_ONE,
};
use crate::error::EvalError;
use crate::list::RankedList;

param_groups! {
    /// Parameters of MeanNDCG.
    pub struct MeanNdcgParams {
        preset: PresetParams;
        gain: GainParams, GainOptions::gain_params;
        discount: DiscountParams, DiscountOptions::discount_params;
        conventions: ConventionParams, ConventionOptions::convention_params;
    }
}

/// MeanNDCG.
pub(super) static MEAN_NDCG: MetricDef = MetricDef {
    name: "mean-ndcg",
    aliases: &["mean_ndcg", "meanndcg"],
    help: "LETOR's MeanNDCG: mean of NDCG@k over k = 1 to the length of the list.",
    example: "mean-ndcg(preset=letor4)",
    cutoff: false,
    ..MetricDef::of::<MeanNdcgParams>()
};

impl MetricParams for MeanNdcgParams {
    fn def(&self) -> &'static MetricDef {
        &MEAN_NDCG
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(MeanNdcg(Dcg::new(&self.gain, &self.discount, None)))
    }
}

#[derive(Debug)]
struct MeanNdcg(Dcg);

impl Metric for MeanNdcg {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let Dcg { gain, discount, .. } = &self.0;
        let (mut dcg, mut ideal_dcg, mut sum) = (0.0, 0.0, 0.0);
        let mut ideal = list.ideal().iter();
        for (rank, &label) in list.labels().iter().enumerate() {
            dcg += gain.of(label)? * discount.at(rank);
            if let Some(&label) = ideal.next() {
                ideal_dcg += gain.of(label)? * discount.at(rank);
            }
            if !f64::is_finite(dcg + ideal_dcg) {
                return Err(EvalError::Overflow { metric: "mean-ndcg" });
            }
            sum += if ideal_dcg > 0.0 { f64::min(dcg / ideal_dcg, 1.0) } else { 0.0 };
        }
        Ok(Some(sum / list.len().max(1) as f64))
    }

    fn has_no_relevant(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        self.0.has_no_gain(list)
    }
}
