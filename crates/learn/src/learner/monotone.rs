//! Monotone constraints as a spec writes them: `22:+/72:-`, by feature name or id.
//!
//! The last colon counts, so names may hold colons themselves. Which column a name is waits for
//! the data; a name that the data does not have is an error, because a constraint that silently
//! does nothing is worse than none.

use rankwright_data::FeatureNames;
use rankwright_eval::Params;
use rankwright_spec::{SpecError, nearest};

use crate::tree::Direction;

/// Constraints by feature name.
#[derive(Debug, Clone, Default)]
pub(super) struct Monotone(Vec<(String, Direction)>);

impl Monotone {
    /// Reads `monotone=`.
    pub(super) fn read(params: &Params<'_>) -> Result<Self, SpecError> {
        const EXPECTED: &str = "features with + or -, each once, such as 22:+/72:-";
        let text = match params.text("monotone") {
            None | Some("none") => return Ok(Self::default()),
            Some(text) => text,
        };
        let mut all: Vec<(String, Direction)> = Vec::new();
        for term in text.split('/') {
            let (name, sign) = term.rsplit_once(':').unwrap_or((term, ""));
            let direction = match sign.trim() {
                "+" => Direction::Rising,
                "-" => Direction::Falling,
                _ => return Err(params.bad("monotone", text, EXPECTED)),
            };
            let name = name.trim();
            if name.is_empty() || all.iter().any(|(other, _)| other == name) {
                return Err(params.bad("monotone", text, EXPECTED));
            }
            all.push((name.to_owned(), direction));
        }
        Ok(Self(all))
    }

    /// The constraints by column.
    pub(super) fn columns(
        &self,
        features: &FeatureNames,
        learner: &str,
    ) -> Result<Vec<(u32, Direction)>, SpecError> {
        let column = |(name, direction): &(String, Direction)| match features.column(name) {
            Some(column) => Ok((column as u32, *direction)),
            None => Err(SpecError::BadValue {
                name: learner.to_owned(),
                key: "monotone".to_owned(),
                value: name.clone(),
                expected: known(features, name),
            }),
        };
        self.0.iter().map(column).collect()
    }
}

/// What a message says of the features that there are.
pub(super) fn known(features: &FeatureNames, found: &str) -> String {
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
