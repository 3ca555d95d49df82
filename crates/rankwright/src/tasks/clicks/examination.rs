//! The examination of ranks that corrections of clicks need: from a file, or estimated from the
//! log.

use std::path::{Path, PathBuf};

use rankwright_clicks::LogFeatureRows;
use rankwright_clicks::bias::{
    BiasEstimator, BiasLog, BiasOptions, check_examination, is_random_order, read_examination,
};
use rankwright_clicks::{ClicksError, Impression, Pages, PagesBuilder};
use rankwright_data::bytes::Input;

use serde::{Deserialize, Serialize};

use crate::tasks::TaskError;
use crate::tasks::context::RunningTask;
use crate::tasks::paths::check_used;

/// The source of the examination of each rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ExaminationSource {
    /// A file: an estimate of position bias as JSON, or a line with rank and examination for each
    /// rank.
    File(PathBuf),
    /// An estimator, applied to the log itself.
    Estimator(BiasEstimator),
    /// The examination of each rank from 1 on, relative to rank 1; `None` (in JSON `null`) where it
    /// is not known.
    Values(Vec<Option<f64>>),
}

impl Default for ExaminationSource {
    fn default() -> Self {
        Self::Estimator(BiasEstimator::Em)
    }
}

impl ExaminationSource {
    /// The file, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Estimator(_) | Self::Values(_) => None,
        }
    }

    /// Rejects an examination, or options of its estimate, for a request that uses none.
    pub(super) fn check_unused(
        &self,
        options: &BiasOptions,
        reason: &'static str,
    ) -> Result<(), TaskError> {
        check_used(*self != Self::default(), "examination", reason)?;
        check_used(*options != BiasOptions::default(), "bias", reason)
    }

    /// The examination of each rank relative to rank 1; an error if the log has none. An estimate
    /// has these options, but no intervals.
    pub(super) fn examination(
        &self,
        options: &BiasOptions,
        log: &CollectedLog,
        features: Option<&LogFeatureRows<'_>>,
        task: &RunningTask<'_>,
    ) -> Result<Vec<Option<f64>>, TaskError> {
        let estimator = match self {
            Self::File(path) => return Ok(read_examination(&Input::open(path)?)?),
            Self::Values(values) => {
                check_examination(values)?;
                return Ok(values.clone());
            }
            Self::Estimator(estimator) => *estimator,
        };
        let pairs = match (estimator, features) {
            (BiasEstimator::RegressionEm, Some(rows)) => Some(rows.pair_features(&log.pages)?),
            _ => None,
        };
        let mut bias_log = BiasLog::new(&log.pages).random_pages(&log.random_pages);
        if let Some(pairs) = &pairs {
            bias_log = bias_log.features(pairs);
        }
        let step = format!("estimating bias by {}", estimator.name());
        let options = options.clone().samples(0_u32);
        let (bias, _) = task.step(&step, || bias_log.bias(estimator, &options))?;
        match bias.refusal {
            Some(reason) => Err(ClicksError::NoBias { estimator: estimator.name(), reason }.into()),
            None => Ok(bias.examination),
        }
    }
}

/// The pages of a log, and those of them in random order.
#[derive(Debug, Default)]
pub(super) struct CollectedLog {
    pub(super) pages: Pages,
    pub(super) random_pages: Pages,
}

/// Collects impressions into the pages of a log, and those in random order.
#[derive(Debug, Default)]
pub(super) struct LogCollector {
    pages: PagesBuilder,
    random_pages: PagesBuilder,
}

impl LogCollector {
    /// Adds an impression; `random_ranker` is the ranker whose pages are in random order.
    pub(super) fn add(&mut self, impression: &Impression, random_ranker: &str) {
        self.pages.add(impression);
        if is_random_order(impression, random_ranker) {
            self.random_pages.add(impression);
        }
    }

    pub(super) fn finish(self) -> CollectedLog {
        CollectedLog { pages: self.pages.finish(), random_pages: self.random_pages.finish() }
    }
}
