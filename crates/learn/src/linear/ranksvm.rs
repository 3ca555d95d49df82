//! The ranking SVM: preferred documents should score higher by a margin of 1 (Herbrich, Graepel and
//! Obermayer 1999; Joachims 2002).
//!
//! ```text
//! 1/2 |w|^2 + c * mean over preferences, by weight, of loss(s_better - s_worse)
//! ```
//!
//! with the squared hinge or the hinge (smoothed, see `loss.rs`). There is no intercept: it would
//! not change any score difference. (Papers that write C times the sum of the losses mean a C that
//! is c divided by the number of preferences.) Preferences between labels are not listed but
//! counted (`counting.rs`); pairs that are listed (`pairs.rs`), such as those given with the data,
//! are visited one by one.

use super::counting::SortedScores;
use super::loss::{ConvexLoss, Gradient, LossPoint, MarginLoss};
use super::pairs::{self, PairSource};
use crate::objective::PairLossDef;

/// The hinge of a pair.
pub(crate) static PAIR_HINGE: PairLossDef =
    PairLossDef::new("pair-hinge", |margin| if margin < 1.0 { 1.0 } else { 0.0 });
/// The squared hinge of a pair.
pub(crate) static PAIR_SQUARED_HINGE: PairLossDef =
    PairLossDef::new("pair-squared-hinge", |margin| 2.0 * (1.0 - margin).max(0.0));

/// The loss of the ranking SVM.
#[derive(Debug)]
pub(super) struct RankSvmLoss {
    pub(super) pair_sources: Vec<PairSource>,
    /// A hinge, squared or smoothed.
    pub(super) margin_loss: MarginLoss,
}

/// Values that a query keeps for `hessian_product`.
#[derive(Debug, Default)]
pub(super) struct MarginCache {
    /// For preferences between labels that are not listed.
    sorted: SortedScores,
    /// Second derivatives of listed pairs.
    hessians: Vec<f64>,
}

impl RankSvmLoss {
    /// The squared hinges whose sum is the loss, as (margin, factor), and how many of the two are
    /// used. See `counting.rs` for the smoothed hinge as a difference of two squared hinges.
    fn margins(&self) -> ([(f64, f64); 2], usize) {
        match self.margin_loss {
            MarginLoss::Hinge(smoothing_width) => {
                let factor = 0.5 / smoothing_width;
                ([(1.0, factor), (1.0 - smoothing_width, -factor)], 2)
            }
            _ => ([(1.0, 1.0); 2], 1),
        }
    }
}

impl ConvexLoss for RankSvmLoss {
    type Cache = MarginCache;

    fn value(
        &self,
        query: usize,
        point: LossPoint<'_>,
        cache: &mut MarginCache,
        gradient: Gradient<'_>,
    ) -> f64 {
        let (margins, count) = self.margins();
        match &self.pair_sources[query] {
            PairSource::Nothing => {
                gradient.scores.fill(0.0);
                0.0
            }
            PairSource::Levels(levels) => {
                cache.sorted.value(levels, &margins[..count], point.scores, gradient.scores)
            }
            PairSource::Listed(list) => pairs::value(
                self.margin_loss,
                list,
                point.scores,
                &mut cache.hessians,
                gradient.scores,
            ),
        }
    }

    fn hessian_product(
        &self,
        query: usize,
        direction: LossPoint<'_>,
        cache: &mut MarginCache,
        product: Gradient<'_>,
    ) {
        let (margins, count) = self.margins();
        match &self.pair_sources[query] {
            PairSource::Nothing => product.scores.fill(0.0),
            PairSource::Levels(levels) => {
                cache.sorted.hessian_product(
                    levels,
                    &margins[..count],
                    direction.scores,
                    product.scores,
                );
            }
            PairSource::Listed(list) => {
                pairs::hessian_product(list, &cache.hessians, direction.scores, product.scores)
            }
        }
    }

    fn smoothing_widths(&self) -> &'static [f64] {
        self.margin_loss.smoothing_widths()
    }

    fn set_smoothing_width(&mut self, smoothing_width: f64) {
        self.margin_loss.set_smoothing_width(smoothing_width);
    }
}
