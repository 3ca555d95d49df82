//! Parameters of the pairwise objectives, and how a spec writes them.

use rankwright_eval::{MetricSpec, ParamInfo, Params};
use rankwright_spec::SpecError;

use super::Lambda;
use super::coherent::PairChoice;
use super::weight::{Cut, Scheme, Weight};
use crate::simd::Simd;

/// What pairs of equal labels count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TiedLabels {
    /// Nothing.
    #[default]
    Ignore,
    /// As pairs whose two orders are equally likely (P = 1/2). Only with weight 1: under a metric
    /// a swap of equal labels changes nothing.
    Half,
}

/// What anyone may write; [`LambdaParams::check`] makes the objective.
///
/// ```
/// use rankwright_learn::objective::{LambdaParams, Weight};
/// use rankwright_eval::MetricSpec;
///
/// let metric = MetricSpec::parse("err@10")?;
/// let lambda = LambdaParams { weight: Weight::Metric(metric), ..LambdaParams::default() };
/// assert_eq!(lambda.check()?.truncation(), Some(13));
/// assert!(LambdaParams { sigma: 0.0, ..LambdaParams::default() }.check().is_err());
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LambdaParams {
    /// Steepness of the logistic function, above 0.
    pub sigma: f64,
    /// Weight of a pair.
    pub weight: Weight,
    /// How the metric becomes a weight.
    pub scheme: Scheme,
    /// Which pairs count beside those of the first ranks.
    pub pairs: PairChoice,
    /// Pairs count where the better-ranked of the two stands among so many ranks. `None`: k + 3
    /// where the metric has a cut-off k, otherwise no limit; `usize::MAX` is no limit in any case.
    pub truncation: Option<usize>,
    /// Pairs of equal labels.
    pub ties: TiedLabels,
    /// Divide a pair's weight by 0.01 + the difference of the scores, in queries whose scores are
    /// not all equal. One half of LightGBM's `lambdarank_norm`.
    pub norm_gap: bool,
    /// Multiply the derivatives of a query by log2(1 + S) / S, S being twice the sum of its
    /// absolute pair lambdas. The other half of LightGBM's `lambdarank_norm`.
    pub norm_query: bool,
    /// What becomes of the metric's cut-off.
    pub cut: Cut,
    /// Machine code of the kernel.
    pub simd: Simd,
}

impl Default for LambdaParams {
    /// The pair logistic loss itself: weight 1, all pairs, no normalisation.
    fn default() -> Self {
        Self {
            sigma: 1.0,
            weight: Weight::One,
            scheme: Scheme::Swap,
            pairs: PairChoice::Top,
            truncation: None,
            ties: TiedLabels::Ignore,
            norm_gap: false,
            norm_query: false,
            cut: Cut::Soft,
            simd: Simd::Auto,
        }
    }
}

impl LambdaParams {
    /// Lambdas for a metric, both normalisations on.
    pub fn for_metric(metric: MetricSpec) -> Self {
        let weight = Weight::Metric(metric);
        Self { weight, norm_gap: true, norm_query: true, ..Self::default() }
    }

    /// Checks the parameters and settles the metric.
    pub fn check(self) -> Result<Lambda, SpecError> {
        let conflict = |why: &str| {
            Err(SpecError::Conflict { name: self.weight.to_string(), why: why.to_owned() })
        };
        if !(self.sigma.is_finite() && self.sigma > 0.0) {
            return conflict("sigma must be a finite number above 0");
        }
        if self.truncation == Some(0) {
            return conflict("truncation=0 leaves no pair; say 1 or more, or none");
        }
        if self.ties == TiedLabels::Half && !matches!(self.weight, Weight::One) {
            let why = "ties=half has no effect under a metric, whose value does not change when \
                       equal labels swap ranks; leave it out, or use pair-logistic";
            return conflict(why);
        }
        Lambda::new(self)
    }

    /// Reads the parameters of [`PAIR_PARAMS`] and, where `metric` is set, [`LAMBDA_PARAMS`].
    pub(crate) fn read(params: &Params<'_>, metric: bool) -> Result<Self, SpecError> {
        let ties = [("ignore", TiedLabels::Ignore), ("half", TiedLabels::Half)];
        let choices = [("top", PairChoice::Top), ("coherent", PairChoice::Coherent)];
        let cuts = [("soft", Cut::Soft), ("hard", Cut::Hard)];
        let default = match metric {
            true => {
                let spec = params.text("metric").unwrap_or(DEFAULT_METRIC);
                Self::for_metric(MetricSpec::parse(spec)?)
            }
            false => Self::default(),
        };
        Ok(Self {
            sigma: params.f64_in("sigma", 1.0, |s| s > 0.0, "a number above 0")?,
            truncation: read_truncation(params)?,
            ties: params.choice("ties", &ties, TiedLabels::Ignore)?,
            norm_gap: params.bool("norm_gap", default.norm_gap)?,
            norm_query: params.bool("norm_query", default.norm_query)?,
            cut: params.choice("cut", &cuts, Cut::Soft)?,
            scheme: read_scheme(params)?,
            pairs: params.choice("pairs", &choices, PairChoice::Top)?,
            ..default
        })
    }
}

/// The metric that lambdas aim at unless told otherwise.
pub const DEFAULT_METRIC: &str = "ndcg@10";

fn read_scheme(params: &Params<'_>) -> Result<Scheme, SpecError> {
    let mu = params.f64_in("mu", 10.0, |mu| mu >= 0.0, "a number from 0 on")?;
    let schemes = [
        ("swap", Scheme::Swap),
        ("loss2", Scheme::Loss2),
        ("loss2++", Scheme::Loss2PlusPlus(mu)),
        ("gap", Scheme::Gap),
    ];
    let scheme = params.choice("weight", &schemes, Scheme::Swap)?;
    match params.is_written("mu") && !matches!(scheme, Scheme::Loss2PlusPlus(_)) {
        true => Err(params.conflict("mu is for weight=loss2++; write that too, or leave it out")),
        false => Ok(scheme),
    }
}

fn read_truncation(params: &Params<'_>) -> Result<Option<usize>, SpecError> {
    match params.text("truncation") {
        None | Some("auto") => Ok(None),
        Some("none") => Ok(Some(usize::MAX)),
        Some(text) => match text.parse::<usize>() {
            Ok(ranks) if ranks > 0 => Ok(Some(ranks)),
            _ => Err(params.bad("truncation", text, "auto | none | a number of ranks from 1 on")),
        },
    }
}

const SIGMA: ParamInfo =
    ParamInfo { name: "sigma", doc: "steepness of the logistic function", default: "1" };

const TRUNCATION: ParamInfo = ParamInfo {
    name: "truncation",
    doc: "pairs count whose better-ranked document stands among so many ranks: auto (k + 3 where \
          the metric has a cut-off k) | none | a number",
    default: "auto",
};

/// Parameters of `pair-logistic`.
pub const PAIR_PARAMS: &[ParamInfo] = &[
    SIGMA,
    TRUNCATION,
    ParamInfo {
        name: "ties",
        doc: "pairs of equal labels: ignore | half (as pairs that may go either way)",
        default: "ignore",
    },
    ParamInfo {
        name: "norm_gap",
        doc: "divide a pair's weight by 0.01 + the difference of its scores",
        default: "false",
    },
    ParamInfo {
        name: "norm_query",
        doc: "multiply a query's derivatives by log2(1 + S) / S, S the sum of its lambdas",
        default: "false",
    },
];

/// Parameters of `lambda`.
pub const LAMBDA_PARAMS: &[ParamInfo] = &[
    ParamInfo { name: "metric", doc: "metric that the lambdas aim at", default: DEFAULT_METRIC },
    SIGMA,
    TRUNCATION,
    ParamInfo {
        name: "norm_gap",
        doc: "divide a pair's weight by 0.01 + the difference of its scores",
        default: "true",
    },
    ParamInfo {
        name: "norm_query",
        doc: "multiply a query's derivatives by log2(1 + S) / S, S the sum of its lambdas",
        default: "true",
    },
    ParamInfo {
        name: "weight",
        doc: "how the metric weighs a pair: swap (its change when the two swap) | loss2 | loss2++ \
              (LambdaLoss, for ndcg) | gap (LambdaGap, for p@k)",
        default: "swap",
    },
    ParamInfo { name: "mu", doc: "share of loss2 in weight=loss2++", default: "(10 there)" },
    ParamInfo {
        name: "pairs",
        doc: "pairs: top (of the first ranks) | coherent (also of documents that belong there)",
        default: "top",
    },
    ParamInfo {
        name: "cut",
        doc: "the metric's cut-off in the weight of a pair: soft (goes on below it) | hard",
        default: "soft",
    },
];
