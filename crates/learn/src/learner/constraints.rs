//! What a spec says of single features besides `monotone`, by feature name or id:
//! `interactions=1+2+5/7+9` (groups), `feature_cost=12:0.5/33:2` and `categorical=3/17`.
//!
//! Lists are parted by slashes, as everywhere, and the members of a group by plus signs, as the
//! members of a blend. Which column a name is waits for the data; a name that the data does not
//! have is an error, and so is a number that belongs to an option which is not there.

use rankwright_data::FeatureNames;
use rankwright_eval::Params;
use rankwright_spec::SpecError;

use super::monotone::known;
use crate::tree::TreeParams;

/// What was said of features, by their names.
#[derive(Debug, Clone, Default)]
pub(super) struct Constraints {
    interactions: Vec<Vec<String>>,
    costs: Vec<(String, f64)>,
    categorical: Vec<String>,
}

impl Constraints {
    /// Reads `interactions=`, `feature_cost=` and `categorical=`.
    pub(super) fn read(params: &Params<'_>) -> Result<Self, SpecError> {
        let found = Self {
            interactions: interactions(params)?,
            costs: costs(params)?,
            categorical: categorical(params)?,
        };
        for (key, of, given) in [
            ("cost_weight", "feature_cost", !found.costs.is_empty()),
            ("cat_smooth", "categorical", !found.categorical.is_empty()),
            ("cat_l2", "categorical", !found.categorical.is_empty()),
            ("max_categories", "categorical", !found.categorical.is_empty()),
        ] {
            if params.is_written(key) && !given {
                let why = format!("{key} is for {of}; write that too, or leave it out");
                return Err(params.conflict(why));
            }
        }
        if !found.categorical.is_empty() {
            if params.text("growth") == Some("oblivious") {
                return Err(params.conflict(
                    "growth=oblivious asks one question a level, and sets of categories are found \
                     leaf by leaf; leave categorical out, or grow by leaf or depth",
                ));
            }
            let monotone = params.text("monotone").unwrap_or_default().split('/');
            let mut names =
                monotone.filter_map(|term| term.rsplit_once(':')).map(|(n, _)| n.trim());
            if let Some(both) = names.find(|name| found.categorical.iter().any(|c| c == name)) {
                return Err(params.conflict(format!(
                    "feature {both} is in monotone and in categorical; categories have no order"
                )));
            }
        }
        Ok(found)
    }

    /// Puts the columns into a tree's parameters.
    pub(super) fn apply(
        &self,
        tree: &mut TreeParams,
        features: &FeatureNames,
        learner: &str,
    ) -> Result<(), SpecError> {
        let column = |key: &'static str| {
            move |name: &String| match features.column(name) {
                Some(column) => Ok(column as u32),
                None => Err(SpecError::BadValue {
                    name: learner.to_owned(),
                    key: key.to_owned(),
                    value: name.clone(),
                    expected: known(features, name),
                }),
            }
        };
        let group = |names: &Vec<String>| names.iter().map(column("interactions")).collect();
        tree.interactions = self.interactions.iter().map(group).collect::<Result<_, _>>()?;
        let cost = |(name, cost): &(String, f64)| Ok((column("feature_cost")(name)?, *cost));
        tree.feature_cost = self.costs.iter().map(cost).collect::<Result<_, _>>()?;
        let categorical = self.categorical.iter().map(column("categorical"));
        tree.categorical = categorical.collect::<Result<_, _>>()?;
        Ok(())
    }
}

/// The text of a list, where there is one.
fn list<'a>(params: &'a Params<'_>, key: &str) -> Option<&'a str> {
    params.text(key).filter(|text| *text != "none")
}

fn interactions(params: &Params<'_>) -> Result<Vec<Vec<String>>, SpecError> {
    const EXPECTED: &str = "groups of features, each feature once in a group, such as 1+2+5/7+9";
    let Some(text) = list(params, "interactions") else { return Ok(Vec::new()) };
    let mut groups = Vec::new();
    for group in text.split('/') {
        groups.push(names(group, '+').ok_or_else(|| params.bad("interactions", text, EXPECTED))?);
    }
    Ok(groups)
}

fn costs(params: &Params<'_>) -> Result<Vec<(String, f64)>, SpecError> {
    const EXPECTED: &str = "features with what they cost, from 0 on, each once: 12:0.5/33:2";
    let Some(text) = list(params, "feature_cost") else { return Ok(Vec::new()) };
    let mut all: Vec<(String, f64)> = Vec::new();
    for term in text.split('/') {
        // The last colon counts, so names may hold colons themselves.
        let (name, cost) = term.rsplit_once(':').unwrap_or((term, ""));
        let (name, cost) = (name.trim(), cost.trim().parse().unwrap_or(f64::NAN));
        let twice = all.iter().any(|(other, _)| other == name);
        if name.is_empty() || twice || !(cost >= 0.0 && f64::is_finite(cost)) {
            return Err(params.bad("feature_cost", text, EXPECTED));
        }
        all.push((name.to_owned(), cost));
    }
    Ok(all)
}

fn categorical(params: &Params<'_>) -> Result<Vec<String>, SpecError> {
    const EXPECTED: &str = "features, each once, such as 3/17";
    let Some(text) = list(params, "categorical") else { return Ok(Vec::new()) };
    names(text, '/').ok_or_else(|| params.bad("categorical", text, EXPECTED))
}

/// Names parted by a sign, each once.
fn names(text: &str, sign: char) -> Option<Vec<String>> {
    let all: Vec<String> = text.split(sign).map(|name| name.trim().to_owned()).collect();
    let once = |(at, name): (usize, &String)| !name.is_empty() && !all[..at].contains(name);
    all.iter().enumerate().all(once).then_some(all)
}
