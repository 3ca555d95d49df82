//! Rules for single features, by name or id: `monotone=22:+/72:-`, `interactions=1+2+5/7+9`,
//! `feature_cost=12:0.5/33:2` and `categorical=3/17`.
//!
//! Terms are separated by slashes, and the members of a group by plus signs. In `name:value` the
//! last colon is the separator, so names may contain colons. Names are resolved to columns once the
//! data is known; a name that the data does not have is an error, because a rule that silently does
//! nothing is worse than no rule.

use rankwright_data::{Dataset, FeatureNames};
use rankwright_spec::{
    Conflict, ParamKind, ParamValue, RangeDef, SpecError, TextValue, ValueError, nearest,
};

use super::params::{Direction, Growth, TreeConfig, TreeParams};

/// Declares types of parameters that hold rules for features as text, `none` for no rule: name of
/// the type, the function that parses the text (`None` if it is not such a rule), the separators
/// around which white space is removed, and the description of legal texts for the error.
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
                Self(trim_around(text, $separators))
            }
        }
    )* };
}

rule_texts! {
    /// Monotone constraints by feature: `22:+/72:-`.
    MonotoneText, parse_monotone, "/", "none | features with + or -, each once, such as 22:+/72:-";
    /// Groups of features that may share a path: `1+2+5/7+9`.
    InteractionText, parse_groups, "/+",
        "none | groups of features, each feature once in a group, such as 1+2+5/7+9";
    /// Costs of features: `12:0.5/33:2`.
    FeatureCostText, parse_costs, "/",
        "none | features with their costs from 0 on, each once, such as 12:0.5/33:2";
    /// Features whose values are category numbers: `3/17`.
    CategoricalText, parse_names, "/", "none | features, each once, such as 3/17";
}

/// The text without white space around the `separators` and at both ends; names may contain white
/// space.
pub(crate) fn trim_around(text: &str, separators: &str) -> String {
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
fn parse_monotone(text: &str) -> Option<Vec<(&str, Direction)>> {
    let direction = |sign: &str| match sign {
        "+" => Some(Direction::Rising),
        "-" => Some(Direction::Falling),
        _ => None,
    };
    parse_valued_terms(text, direction)
}

/// The features and costs of a cost rule; `None` if the text is not such a rule.
fn parse_costs(text: &str) -> Option<Vec<(&str, f64)>> {
    parse_valued_terms(text, |cost| {
        cost.parse().ok().filter(|cost| (0.0..f64::INFINITY).contains(cost))
    })
}

/// The names and values of terms `name:value`; `None` if a term has another form or a name comes
/// twice. `value` parses a value.
fn parse_valued_terms<T>(text: &str, value: impl Fn(&str) -> Option<T>) -> Option<Vec<(&str, T)>> {
    let term = |term| {
        let (name, text): (&str, &str) = str::rsplit_once(term, ':')?;
        Some((name.trim(), value(text.trim())?))
    };
    let all: Vec<(&str, T)> = text.split('/').map(term).collect::<Option<_>>()?;
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    are_distinct(&names).then_some(all)
}

/// The groups of an interaction rule; `None` if a name is empty or comes twice in a group.
fn parse_groups(text: &str) -> Option<Vec<Vec<&str>>> {
    let group = |group| {
        Some(str::split(group, '+').map(str::trim).collect())
            .filter(|names: &Vec<_>| are_distinct(names))
    };
    text.split('/').map(group).collect()
}

/// Names separated by slashes; `None` if a name is empty or comes twice.
fn parse_names(text: &str) -> Option<Vec<&str>> {
    Some(text.split('/').collect()).filter(|names: &Vec<_>| are_distinct(names))
}

/// Whether no name is empty and none comes twice.
fn are_distinct(names: &[&str]) -> bool {
    let is_new = |(index, name): (usize, &&str)| !name.is_empty() && !names[..index].contains(name);
    names.iter().enumerate().all(is_new)
}

impl TreeParams {
    /// The configuration of a tree on this data; `learner` is used in messages. Features whose
    /// values are texts in the table that the data was read from are categorical, except in
    /// oblivious trees, which do not support categories.
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
        for (name, direction) in parsed_terms(&self.monotone.0, parse_monotone) {
            config.monotone.push((column("monotone", name)?, direction));
        }
        for group in parsed_terms(&self.interactions.0, parse_groups) {
            let columns = group.into_iter().map(|name| column("interactions", name));
            config.interactions.push(columns.collect::<Result<_, _>>()?);
        }
        for (name, cost) in parsed_terms(&self.feature_cost.0, parse_costs) {
            config.feature_cost.push((column("feature_cost", name)?, cost));
        }
        for name in parsed_terms(&self.categorical.0, parse_names) {
            config.categorical.push(column("categorical", name)?);
        }
        let has_texts = |column: &u32| data.categories(*column as usize).is_some();
        for column in (0..data.columns() as u32).filter(has_texts) {
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

/// The terms of a text that has been checked; none for `none`.
#[allow(clippy::expect_used, reason = "a rule that is left out would go unnoticed")]
fn parsed_terms<'a, T>(text: &'a str, parse: impl Fn(&'a str) -> Option<Vec<T>>) -> Vec<T> {
    if text == "none" {
        return Vec::new();
    }
    parse(text).expect("rules are checked together with the other parameters")
}

/// The features that a rule may name, in words, for the error about the name `unknown`.
fn known_features(features: &FeatureNames, unknown: &str) -> String {
    let (Some(last), true) = (features.len().checked_sub(1), !features.is_empty()) else {
        return "a feature of the data, which has none".to_owned();
    };
    if let FeatureNames::Ids { .. } = features {
        return format!("a feature of the data: {} to {}", features.name(0), features.name(last));
    }
    let names: Vec<_> = features.iter().collect();
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match nearest(unknown, &names) {
        Some(near) => format!("a feature of the data, perhaps `{near}`"),
        None => format!("a feature of the data, such as {}", features.name(0)),
    }
}
