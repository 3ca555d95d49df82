//! Rules for single features, by name or id: `monotone=22:+/72:-`, `interactions=1+2+5/7+9`,
//! `feature_cost=12:0.5/33:2` and `categorical=3/17`.
//!
//! Terms are separated by slashes, and the members of a group by plus signs. In `name:value` the
//! last colon is the separator, so names may contain colons. Names are resolved to columns once the
//! data is known; a name that the data does not have is an error, because a rule that silently does
//! nothing is worse than none.

use rankwright_data::{Dataset, FeatureNames};
use rankwright_spec::{
    Conflict, ParamKind, ParamValue, RangeDef, SpecError, TextValue, ValueError, nearest,
};

use super::params::{Direction, Growth, TreeConfig, TreeParams};

/// Declares a parameter that holds rules for features as text, `none` for no rule.
macro_rules! rule_texts {
    ($(
        $(#[$meta:meta])*
        $name:ident, $parse:ident, $separators:literal, $expected:literal;
    )*) => { $(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(String);

        impl Default for $name {
            fn default() -> Self {
                Self("none".to_owned())
            }
        }

        impl $name {
            /// Whether there is no rule.
            pub(crate) fn is_none(&self) -> bool {
                self.0 == "none"
            }
        }

        impl ParamValue for $name {
            fn kind() -> ParamKind {
                ParamKind::Text
            }

            fn read(text: &str, _: &RangeDef) -> Result<Self, ValueError> {
                let value = Self::from_text(text);
                value.check()?;
                Ok(value)
            }

            fn write(&self) -> String {
                self.0.clone()
            }

            fn check(&self) -> Result<(), ValueError> {
                match self.is_none() || $parse(&self.0).is_some() {
                    true => Ok(()),
                    false => Err(ValueError::Expected($expected.to_owned())),
                }
            }
        }

        impl TextValue for $name {
            fn from_text(text: &str) -> Self {
                Self(trimmed(text, $separators))
            }
        }
    )* };
}

rule_texts! {
    /// Monotone constraints by feature: `22:+/72:-`.
    MonotoneText, monotone, "/", "none | features with + or -, each once, such as 22:+/72:-";
    /// Groups of features that may share a path: `1+2+5/7+9`.
    InteractionText, groups, "/+", "none | groups of features, each feature once in a group, such as 1+2+5/7+9";
    /// Costs of features: `12:0.5/33:2`.
    FeatureCostText, costs, "/", "none | features with their costs from 0 on, each once, such as 12:0.5/33:2";
    /// Features whose values are numbers of categories: `3/17`.
    CategoricalText, slashed, "/", "none | features, each once, such as 3/17";
}

/// The text without white space around any of the `separators`; names may contain white space.
pub(crate) fn trimmed(text: &str, separators: &str) -> String {
    let mut trimmed = text.to_owned();
    for separator in separators.chars() {
        let terms: Vec<&str> = trimmed.split(separator).map(str::trim).collect();
        trimmed = terms.join(&separator.to_string());
    }
    trimmed
}

impl MonotoneText {
    /// The names of the features in the rules.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter_map(|term| term.rsplit_once(':')).map(|(name, _)| name.trim())
    }
}

impl CategoricalText {
    /// The names of the features in the rules.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|name| *name != "none")
    }
}

/// The features and directions of a monotone rule; `None` if the text is not such a rule.
fn monotone(text: &str) -> Option<Vec<(&str, Direction)>> {
    let direction = |sign: &str| match sign {
        "+" => Some(Direction::Rising),
        "-" => Some(Direction::Falling),
        _ => None,
    };
    valued(text, direction)
}

/// The features and costs of a cost rule; `None` if the text is not such a rule.
fn costs(text: &str) -> Option<Vec<(&str, f64)>> {
    valued(text, |cost| cost.parse().ok().filter(|cost| (0.0..f64::INFINITY).contains(cost)))
}

/// The names and values of terms `name:value`; `None` if a term is not one or a name comes twice.
fn valued<T>(text: &str, value: impl Fn(&str) -> Option<T>) -> Option<Vec<(&str, T)>> {
    let term = |term| {
        let (name, text): (&str, &str) = str::rsplit_once(term, ':')?;
        Some((name.trim(), value(text.trim())?))
    };
    let all: Vec<(&str, T)> = text.split('/').map(term).collect::<Option<_>>()?;
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    each_once(&names).then_some(all)
}

/// The groups of an interaction rule; `None` if a name comes twice in a group.
fn groups(text: &str) -> Option<Vec<Vec<&str>>> {
    let group = |group| {
        Some(str::split(group, '+').map(str::trim).collect())
            .filter(|names: &Vec<_>| each_once(names))
    };
    text.split('/').map(group).collect()
}

/// Names separated by slashes; `None` if a name comes twice.
fn slashed(text: &str) -> Option<Vec<&str>> {
    Some(text.split('/').collect()).filter(|names: &Vec<_>| each_once(names))
}

/// Whether no name is empty and none comes twice.
fn each_once(names: &[&str]) -> bool {
    let is_new = |(at, name): (usize, &&str)| !name.is_empty() && !names[..at].contains(name);
    names.iter().enumerate().all(is_new)
}

impl TreeParams {
    /// The configuration of a tree on this data; `learner` is used in messages. Features whose values
    /// are texts in the table that the data was read from are categorical, unless all leaves of a
    /// level have one test.
    pub(crate) fn resolve(&self, data: &Dataset, learner: &str) -> Result<TreeConfig, SpecError> {
        let features = data.features();
        let column = |key: &'static str, name: &str| match features.column(name) {
            Some(column) => Ok(column as u32),
            None => Err(SpecError::BadValue {
                name: learner.to_owned(),
                key: key.to_owned(),
                value: name.to_owned(),
                expected: known_features(features, name),
            }),
        };
        let mut config = TreeConfig::new(self);
        for (name, direction) in terms(&self.monotone.0, monotone) {
            config.monotone.push((column("monotone", name)?, direction));
        }
        for group in terms(&self.interactions.0, groups) {
            let columns = group.into_iter().map(|name| column("interactions", name));
            config.interactions.push(columns.collect::<Result<_, _>>()?);
        }
        for (name, cost) in terms(&self.feature_cost.0, costs) {
            config.feature_cost.push((column("feature_cost", name)?, cost));
        }
        for name in terms(&self.categorical.0, slashed) {
            config.categorical.push(column("categorical", name)?);
        }
        let is_text = |column: &u32| data.categories(*column as usize).is_some();
        for column in (0..data.columns() as u32).filter(is_text) {
            if config.monotone.iter().any(|(monotone, _)| *monotone == column) {
                let conflict = Conflict::FeatureInBoth {
                    feature: features.name(column as usize).into_owned(),
                    keys: ["monotone", "categorical"],
                    reason: "its values are texts, which have no order",
                };
                return Err(SpecError::conflict(learner, conflict));
            }
            if self.growth != Growth::Oblivious && !config.categorical.contains(&column) {
                config.categorical.push(column);
            }
        }
        Ok(config)
    }
}

/// The terms of a text that has been checked.
#[allow(clippy::expect_used, reason = "a rule that is not kept would be silent")]
fn terms<'a, T>(text: &'a str, parse: impl Fn(&'a str) -> Option<Vec<T>>) -> Vec<T> {
    if text == "none" {
        return Vec::new();
    }
    parse(text).expect("rules are checked with the other parameters")
}

/// The features that a rule may name, in words, for the error about the unknown name `found`.
fn known_features(features: &FeatureNames, found: &str) -> String {
    let (Some(last), true) = (features.len().checked_sub(1), !features.is_empty()) else {
        return "a feature of the data, which has none".to_owned();
    };
    if let FeatureNames::Ids { .. } = features {
        return format!("a feature of the data: {} to {}", features.name(0), features.name(last));
    }
    let names: Vec<_> = features.iter().collect();
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match nearest(found, &names) {
        Some(near) => format!("a feature of the data, perhaps `{near}`"),
        None => format!("a feature of the data, such as {}", features.name(0)),
    }
}
