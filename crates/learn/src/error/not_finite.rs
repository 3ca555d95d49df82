//! Values that are not finite or too large to continue a training.

/// A value that left the range in which training can continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotFiniteValue {
    /// A derivative of a pointwise or listwise loss does not fit into 32 bits.
    #[error("derivatives leave the range of a 32-bit float")]
    Derivatives,
    /// A lambda does not fit into 32 bits.
    #[error("lambdas leave the range of a 32-bit float")]
    Lambdas,
    /// The objective returned a derivative that is NaN or infinite.
    #[error("the objective returned a derivative that is not a finite number")]
    ObjectiveDerivative,
    /// The leaf values of an ensemble with dropout grew too large for exact sums.
    #[error("leaf values have grown two million times as large as those of the first tree")]
    LeafValues,
    /// The exponentials of score differences overflow.
    #[error("scores are so far apart that their exponentials leave the range of a float")]
    PairExponentials,
    /// The scores of a net are NaN or infinite.
    #[error("the scores of the net are no longer finite numbers")]
    NetScores,
}

impl NotFiniteValue {
    /// A remedy for the most likely cause.
    pub fn help(self) -> &'static str {
        match self {
            Self::Derivatives => "scale the labels, the start scores or the weights down",
            Self::Lambdas => {
                "scale the labels or the weights down, or choose a metric with smaller values"
            }
            Self::ObjectiveDerivative => "scale the labels down, or lower the learning rate",
            Self::LeafValues => "lower the learning rate, or raise min_hessian or l2",
            Self::PairExponentials => {
                "lower the learning rate, train fewer trees, or scale the weights down"
            }
            Self::NetScores => "lower the learning rate, or scale the features down",
        }
    }
}
