//! Conflicts: values of a spec that are each allowed, but not together or not in this component (a
//! learner, a metric or anything else that a spec names). The messages and the remedies are in this
//! file.

use std::fmt;

/// A conflict between values of a spec.
///
/// ```
/// use rankwright_spec::Conflict;
///
/// let conflict = Conflict::CutoffNotAllowed { cutoff: 10 };
/// assert_eq!(conflict.to_string(), "it takes no cut-off, and @10 was given");
/// assert!(conflict.help().unwrap().starts_with("leave @10 out"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Conflict {
    /// A cut-off for a component that takes none.
    CutoffNotAllowed {
        /// The given cut-off.
        cutoff: u32,
    },
    /// A cut-off beside a name that already contains one, such as `P_10@5`.
    SecondCutoff {
        /// The given cut-off.
        cutoff: u32,
    },
    /// A parameter that has no effect, because its condition does not hold.
    ConditionNotMet {
        /// The parameter.
        key: String,
        /// The condition under which it has an effect: `newton=joint`.
        condition: String,
    },
    /// Several parameters of which only one may be given.
    OnlyOneOf {
        /// The parameters.
        keys: &'static [&'static str],
        /// The reason, as a clause: "both set the width".
        reason: &'static str,
    },
    /// A value that cannot be used together with another one.
    Incompatible {
        /// The parameter, or the parameter with its value: `ties=mean`.
        setting: String,
        /// The setting or component that excludes it: `growth=oblivious`.
        other: String,
        /// The reason, as a clause.
        reason: &'static str,
    },
    /// One feature in two parameters that exclude each other.
    FeatureInBoth {
        /// The feature.
        feature: String,
        /// The parameters.
        keys: [&'static str; 2],
        /// The reason, as a clause.
        reason: &'static str,
    },
    /// A value, or a sum of values, above a limit that other values set.
    AboveLimit {
        /// The parameters whose values are added.
        keys: &'static [&'static str],
        /// The largest value that is allowed.
        limit: usize,
        /// The reason, as a clause.
        reason: &'static str,
    },
    /// A value whose form is not allowed.
    BadValue {
        /// The parameter.
        key: &'static str,
        /// The value as a spec writes it.
        value: String,
        /// The values that are allowed.
        expected: String,
    },
    /// A metric that the component cannot use.
    UnsuitableMetric {
        /// The metric.
        metric: String,
        /// The reason, as a clause.
        reason: String,
        /// Metrics that can be used.
        expected: &'static str,
    },
    /// A setting that the component does not support.
    NotSupported {
        /// The parameter, or the parameter with its value.
        setting: String,
        /// The reason, as a clause.
        reason: &'static str,
    },
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutoffNotAllowed { cutoff } => {
                write!(f, "it takes no cut-off, and @{cutoff} was given")
            }
            Self::SecondCutoff { cutoff } => {
                write!(f, "the name already contains a cut-off, and @{cutoff} was given")
            }
            Self::ConditionNotMet { key, condition } => {
                write!(f, "{key} is for {condition}, and has no effect here")
            }
            Self::OnlyOneOf { keys, reason } => {
                write!(f, "{} cannot be given together: {reason}", keys.join(" and "))
            }
            Self::Incompatible { setting, other, reason } => {
                write!(f, "{setting} cannot be used with {other}: {reason}")
            }
            Self::FeatureInBoth { feature, keys: [first, second], reason } => {
                write!(f, "feature {feature} is in {first} and in {second}: {reason}")
            }
            Self::AboveLimit { keys, limit, reason } => {
                write!(f, "{} is above {limit}: {reason}", keys.join(" + "))
            }
            Self::BadValue { key, value, expected } => {
                write!(f, "{key}={value} is not allowed; expected {expected}")
            }
            Self::UnsuitableMetric { metric, reason, expected } => {
                write!(f, "the metric {metric} cannot be used: {reason}; expected {expected}")
            }
            Self::NotSupported { setting, reason } => {
                write!(f, "{setting} is not supported: {reason}")
            }
        }
    }
}

impl Conflict {
    /// A remedy, if there is one.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::CutoffNotAllowed { cutoff } => {
                Some(format!("leave @{cutoff} out; cut-offs belong to metrics, such as ndcg@10"))
            }
            Self::SecondCutoff { cutoff } => Some(format!("leave @{cutoff} out")),
            Self::ConditionNotMet { key, condition } => {
                Some(format!("write {condition} too, or leave {key} out"))
            }
            Self::OnlyOneOf { keys, .. } => {
                let left_out = if keys.len() == 2 { "one of them" } else { "all but one" };
                Some(format!("leave {left_out} out"))
            }
            Self::Incompatible { setting, other, .. } => {
                Some(format!("leave out {setting}, or change {other}"))
            }
            Self::FeatureInBoth { feature, keys: [first, second], .. } => {
                Some(format!("remove {feature} from {first} or from {second}"))
            }
            Self::AboveLimit { .. }
            | Self::BadValue { .. }
            | Self::UnsuitableMetric { .. }
            | Self::NotSupported { .. } => None,
        }
    }
}
