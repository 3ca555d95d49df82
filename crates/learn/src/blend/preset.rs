//! Presets: named lists of members of a blend.

use rankwright_spec::choices;

choices! {
    /// A list of members that come before those that are named in the spec.
    pub enum BlendPreset {
        /// No members.
        None = "none",
        /// Modelled on the winner of the Yahoo challenge: 8 LambdaMART, 2 LambdaRank nets, and 2
        /// linear logistic regressions where the winner had MART with a logistic cost.
        Yahoo = "yahoo",
    }
}

impl BlendPreset {
    /// The members of the preset.
    pub(super) fn members(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Yahoo => YAHOO,
        }
    }
}

/// The members of `blend` without `members=` and `preset=`: trees, a neural net and a linear model,
/// whose errors differ.
pub(super) const DEFAULT_MEMBERS: &str = "lambdamart+lambdarank+ranksvm";

/// Modelled on the winner of the Yahoo Learning to Rank Challenge, track 1 (Burges et al. 2011): a
/// linear combination of 8 LambdaMART ensembles, 2 LambdaRank nets and 2 MART models with a
/// logistic regression cost.
///
/// Differences: the last two members are linear logistic regressions, which differ in the transform
/// of features; they learn only whether a document is relevant, not its grade. The parameters are
/// our own: the LambdaMART ensembles differ in leaves, rate and sampling, and stop early by
/// validation data, which is given or held out.
const YAHOO: &[&str] = &[
    "lambdamart(trees=1000, rate=0.1, leaves=15, stop=50)",
    "lambdamart(trees=1000, rate=0.05, leaves=31, stop=100)",
    "lambdamart(trees=1000, rate=0.1, leaves=31, stop=50, sample_queries=0.5)",
    "lambdamart(trees=1000, rate=0.05, leaves=63, stop=100, sample_queries=0.7)",
    "lambdamart(trees=1000, rate=0.1, leaves=7, stop=50, sample_features=0.5)",
    "lambdamart(trees=1000, rate=0.05, leaves=15, stop=100, sample_features=0.3)",
    "lambdamart(trees=1000, rate=0.1, leaves=63, stop=50, sample_queries=0.5, sample_features=0.5)",
    "lambdamart(trees=1000, rate=0.05, leaves=127, stop=100, sample_queries=0.5, sample_features=0.3)",
    "lambdarank(layers=64)",
    "lambdarank(layers=64/32)",
    "logistic",
    "logistic(transform=gauss)",
];
