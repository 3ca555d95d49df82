//! Parameters of the pairwise objectives.

use rankwright_eval::{DEFAULT_METRIC, MetricSpec, MetricText};
use rankwright_spec::{Auto, Conflict, SpecError, above, choices, params};

use super::Lambda;
use super::coherent::PairChoice;
use super::goal::{GoalText, KeptMetric};
use super::weight::{CutoffMode, WeightScheme, WeightSource};
use crate::objective::{Objective, ObjectiveDef, ObjectiveParams};
use crate::simd::Simd;

choices! {
    /// The treatment of pairs of equal labels.
    pub enum TiedLabels {
        /// They do not count.
        Ignore = "ignore",
        /// They count as pairs whose two orders are equally likely (P = 1/2). Only with weight 1:
        /// under a metric a swap of equal labels changes nothing.
        Half = "half",
    }
}

choices! {
    /// The formula by which a metric gives the weight of a pair, as in specs; see
    /// [`WeightScheme`].
    pub enum WeightSchemeName {
        /// The change of the metric when the two documents swap ranks: LambdaRank.
        Swap = "swap",
        /// NDCG-Loss2 (LambdaLoss), for NDCG and DCG.
        Loss2 = "loss2",
        /// NDCG-Loss2++: the weight of `Swap` plus mu times that of `Loss2`.
        Loss2PlusPlus = "loss2++",
        /// LambdaGap, for P@k.
        Gap = "gap",
    }
}

params! {
    /// Parameters of the pair logistic loss.
    pub struct PairParams {
        sigma: f64 = 1.0, above(0.0), "Steepness of the logistic function.";
        truncation: Auto<Option<usize>> = Auto::Auto, 1..,
            "Truncation level: one document of a pair must be among this many first ranks; auto \
             and none: all ranks.";
        ties: TiedLabels = TiedLabels::Ignore, ..,
            "Pairs of equal labels: left out (ignore), or with target probability 1/2 (half).";
        norm_gap: bool = false, ..,
            "Divide a pair's weight by the score difference (plus 0.01).";
        norm_query: bool = false, ..,
            "Multiply a query's derivatives by log2(1 + S) / S, where S is twice the sum of \
             its absolute pair lambdas.";
    }
    /// Builder methods for the parameters of the pair logistic loss.
    pub trait PairOptions: pair_params;
}

choices! {
    /// A set of values of other parameters.
    pub enum LambdaPreset {
        /// The values as given.
        None = "none",
        /// The lambdas of Burges 2010: all pairs, the metric with its cut-off as written, and no
        /// normalisation by score differences or by query.
        Burges = "burges",
    }
}

params! {
    /// Parameters of the lambda objective.
    pub struct LambdaParams {
        metric: MetricText = MetricText::new(DEFAULT_METRIC), ..,
            "Metric that the lambdas optimise; several with weights: ndcg@10:1+p@5:0.3.";
        goal: GoalText = GoalText::default(), ..,
            "Metric that comes first, with a tolerance, such as keep(ndcg@10, 0.005): metric= counts \
             only where it changes by no more; none: metric= alone.", requires "weight=swap";
        sigma: f64 = 1.0, above(0.0), "Steepness of the logistic function.";
        truncation: Auto<Option<usize>> = Auto::Auto, 1..,
            "Truncation level: one document of a pair must be among this many first ranks; auto: \
             k + 3 if the metric has a cut-off k, else all; none: all.", requires "preset=none";
        norm_gap: bool = true, ..,
            "Divide a pair's weight by the score difference (plus 0.01).", requires "preset=none";
        norm_query: bool = true, ..,
            "Multiply a query's derivatives by log2(1 + S) / S, where S is twice the sum of \
             its absolute pair lambdas.", requires "preset=none";
        weight: WeightSchemeName = WeightSchemeName::Swap, ..,
            "Weight of a pair: the metric's change when the two swap ranks (swap), LambdaLoss for \
             ndcg and dcg (loss2, loss2++), or LambdaGap for p@k (gap).";
        mu: f64 = 10.0, 0.0..,
            "Factor of the loss2 part of weight=loss2++.", requires "weight=loss2++";
        pairs: PairChoice = PairChoice::Top, ..,
            "Pairs that are used: those with a document within the truncation level (top), or also \
             those of documents that an ideal ranking has there (coherent).";
        cut: CutoffMode = CutoffMode::Soft, ..,
            "The metric's cut-off in the weight of a pair: left out (soft), or used as written \
             (hard).", requires "preset=none";
        preset: LambdaPreset = LambdaPreset::None, ..,
            "burges: the lambdas of Burges, From RankNet to LambdaRank to LambdaMART, 2010: \
             truncation=none, norm_gap=false, norm_query=false, cut=hard.";
    }
    /// Builder methods for the parameters of the lambda objective.
    pub trait LambdaOptions: lambda_params;
}

/// The parameter `truncation` as [`LambdaConfig::truncation`]: `None` for auto, `usize::MAX` for
/// all ranks.
fn config_truncation(truncation: Auto<Option<usize>>) -> Option<usize> {
    truncation.given().map(|ranks| ranks.unwrap_or(usize::MAX))
}

impl ObjectiveParams for PairParams {
    const DEF: &'static ObjectiveDef = &ObjectiveDef {
        name: "pair-logistic",
        help: "Logistic loss of pairs, each with weight 1 (RankNet, RankMART).",
        example: "pair-logistic(sigma=1, ties=half)",
        preferences: true,
        ..ObjectiveDef::of::<Self>()
    };

    fn build(&self) -> Result<Box<dyn Objective>, SpecError> {
        let config = LambdaConfig {
            sigma: self.sigma,
            truncation: config_truncation(self.truncation),
            ties: self.ties,
            norm_gap: self.norm_gap,
            norm_query: self.norm_query,
            ..LambdaConfig::default()
        };
        Ok(Box::new(config.check()?))
    }
}

impl ObjectiveParams for LambdaParams {
    const DEF: &'static ObjectiveDef = &ObjectiveDef {
        name: "lambda",
        help: "Logistic loss of pairs, weighted by the change of a metric under their swap (LambdaMART).",
        example: "lambda(metric=ndcg@10, truncation=30)",
        preferences: true,
        ..ObjectiveDef::of::<Self>()
    };

    fn build(&self) -> Result<Box<dyn Objective>, SpecError> {
        let config = LambdaConfig {
            sigma: self.sigma,
            truncation: config_truncation(self.truncation),
            norm_gap: self.norm_gap,
            norm_query: self.norm_query,
            scheme: match self.weight {
                WeightSchemeName::Swap => WeightScheme::Swap,
                WeightSchemeName::Loss2 => WeightScheme::Loss2,
                WeightSchemeName::Loss2PlusPlus => WeightScheme::Loss2PlusPlus(self.mu),
                WeightSchemeName::Gap => WeightScheme::Gap,
            },
            pairs: self.pairs,
            cut: self.cut,
            keep: self.goal.kept().map_err(|error| error.at(Self::DEF.name, "goal", ""))?,
            ..LambdaConfig::for_metric(self.metric.spec()?)
        };
        let config = match self.preset {
            LambdaPreset::None => config,
            LambdaPreset::Burges => LambdaConfig {
                truncation: Some(usize::MAX),
                norm_gap: false,
                norm_query: false,
                cut: CutoffMode::Hard,
                ..config
            },
        };
        Ok(Box::new(config.check()?))
    }
}

/// Configuration of a pairwise objective with a weight of any kind, including a metric that the
/// caller implements; [`LambdaConfig::check`] creates the objective.
///
/// ```
/// use rankwright_learn::objective::{LambdaConfig, WeightSource};
/// use rankwright_eval::MetricSpec;
///
/// let metric = MetricSpec::parse("err@10")?;
/// let lambda = LambdaConfig::new().pair_weight(WeightSource::Metric(metric));
/// assert_eq!(lambda.check()?.truncation(), Some(13));
/// assert!(LambdaConfig::new().sigma(0.0).check().is_err());
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LambdaConfig {
    /// Steepness of the logistic function, above 0.
    pub sigma: f64,
    /// The source of a pair's weight: 1, or a metric.
    pub pair_weight: WeightSource,
    /// A metric that comes before that of `pair_weight`.
    pub keep: Option<KeptMetric>,
    /// The formula that computes a pair's weight from the metric.
    pub scheme: WeightScheme,
    /// The pairs that are used: those of the first ranks, or others too.
    pub pairs: PairChoice,
    /// A pair is used if its better-ranked document is among this many first ranks. `None`: k + 3
    /// if the metric has a cut-off k and the scheme is not [`WeightScheme::Gap`], otherwise no
    /// limit; `usize::MAX` is no limit in any case.
    pub truncation: Option<usize>,
    /// The treatment of pairs of equal labels.
    pub ties: TiedLabels,
    /// Whether a pair's weight is divided by the score difference (plus 0.01), in queries whose
    /// scores are not all equal. One half of LightGBM's `lambdarank_norm`.
    pub norm_gap: bool,
    /// Whether the derivatives of a query are multiplied by log2(1 + S) / S, S being twice the sum
    /// of its absolute pair lambdas. The other half of LightGBM's `lambdarank_norm`.
    pub norm_query: bool,
    /// The treatment of the metric's cut-off.
    pub cut: CutoffMode,
    /// The SIMD instruction set of the loop over pairs.
    pub simd: Simd,
}

impl Default for LambdaConfig {
    /// The pair logistic loss itself: weight 1, all pairs, no normalisation.
    fn default() -> Self {
        Self {
            sigma: 1.0,
            pair_weight: WeightSource::One,
            keep: None,
            scheme: WeightScheme::Swap,
            pairs: PairChoice::Top,
            truncation: None,
            ties: TiedLabels::Ignore,
            norm_gap: false,
            norm_query: false,
            cut: CutoffMode::Soft,
            simd: Simd::Auto,
        }
    }
}

impl LambdaConfig {
    /// The pair logistic loss itself: weight 1, all pairs, no normalisation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the steepness of the logistic function, above 0.
    #[must_use]
    pub fn sigma(mut self, sigma: f64) -> Self {
        self.sigma = sigma;
        self
    }

    /// Sets the source of a pair's weight: 1, or a metric.
    #[must_use]
    pub fn pair_weight(mut self, pair_weight: WeightSource) -> Self {
        self.pair_weight = pair_weight;
        self
    }

    /// Sets a metric that comes before that of the pair weight.
    #[must_use]
    pub fn keep(mut self, keep: impl Into<Option<KeptMetric>>) -> Self {
        self.keep = keep.into();
        self
    }

    /// The largest cut-off of the metrics; `None` if one of them has none.
    pub(super) fn cutoff(&self) -> Option<u32> {
        let cutoff = self.pair_weight.cutoff();
        match &self.keep {
            None => cutoff,
            Some(kept) => Some(cutoff?.max(WeightSource::Metric(kept.metric.clone()).cutoff()?)),
        }
    }

    /// Sets the formula that computes a pair's weight from the metric.
    #[must_use]
    pub fn scheme(mut self, scheme: WeightScheme) -> Self {
        self.scheme = scheme;
        self
    }

    /// Sets the pairs that are used.
    #[must_use]
    pub fn pairs(mut self, pairs: PairChoice) -> Self {
        self.pairs = pairs;
        self
    }

    /// Sets the truncation level: a pair is used if its better-ranked document is among this many
    /// first ranks. `None` is k + 3 if the metric has a cut-off k and the scheme is not
    /// [`WeightScheme::Gap`], otherwise no limit; `usize::MAX` is no limit in any case.
    #[must_use]
    pub fn truncation(mut self, truncation: impl Into<Option<usize>>) -> Self {
        self.truncation = truncation.into();
        self
    }

    /// Sets the treatment of pairs of equal labels.
    #[must_use]
    pub fn ties(mut self, ties: TiedLabels) -> Self {
        self.ties = ties;
        self
    }

    /// Sets whether a pair's weight is divided by the score difference.
    #[must_use]
    pub fn norm_gap(mut self, norm_gap: bool) -> Self {
        self.norm_gap = norm_gap;
        self
    }

    /// Sets whether the derivatives of a query are normalised.
    #[must_use]
    pub fn norm_query(mut self, norm_query: bool) -> Self {
        self.norm_query = norm_query;
        self
    }

    /// Sets the treatment of the metric's cut-off.
    #[must_use]
    pub fn cut(mut self, cut: CutoffMode) -> Self {
        self.cut = cut;
        self
    }

    /// Sets the SIMD instruction set of the loop over pairs.
    #[must_use]
    pub fn simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }
}

impl LambdaConfig {
    /// Lambdas for a metric, with both normalisations.
    pub fn for_metric(metric: MetricSpec) -> Self {
        let pair_weight = WeightSource::Metric(metric);
        Self { pair_weight, norm_gap: true, norm_query: true, ..Self::default() }
    }

    /// Checks the parameters and resolves the metric.
    pub fn check(self) -> Result<Lambda, SpecError> {
        let conflict = |conflict| Err(SpecError::conflict(self.pair_weight.to_string(), conflict));
        if !(self.sigma.is_finite() && self.sigma > 0.0) {
            let (value, expected) = (self.sigma.to_string(), "a finite number above 0".to_owned());
            return conflict(Conflict::BadValue { key: "sigma", value, expected });
        }
        if self.truncation == Some(0) {
            let (value, expected) =
                ("0".to_owned(), "auto, none, or a number of at least 1".to_owned());
            return conflict(Conflict::BadValue { key: "truncation", value, expected });
        }
        if self.ties == TiedLabels::Half && !matches!(self.pair_weight, WeightSource::One) {
            return conflict(Conflict::Incompatible {
                setting: "ties=half".to_owned(),
                other: "a metric".to_owned(),
                reason: "the metric does not change when documents of equal labels swap ranks",
            });
        }
        Lambda::new(self)
    }
}
