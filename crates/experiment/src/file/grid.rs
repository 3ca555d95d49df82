//! `grid = { leaves = [7, 31], rate = [0.03, 0.1] }` beside a spec: one learner for each
//! combination.
//!
//! The first parameter varies slowest. Each combination becomes the same spec as if written by
//! hand, so that its stored cells (training runs: data set x fold x learner x seed) are found in
//! either form. Values are texts, numbers and booleans as in a spec; a combination that the learner
//! rejects is an error, reported at the value if it is about one value.

use std::ops::Range;

use rankwright_learn::{LEARNERS, LearnerSpec};
use rankwright_spec::{Spec, SpecError, nearest};
use toml::Spanned;

use super::document::TomlTable;
use super::raw::{RawLearner, Scalar};
use crate::ExperimentError;

/// Maximum number of learners of an experiment, all grids together.
const MAX_LEARNERS: usize = 10_000;

/// A parameter and its values.
pub(super) struct GridAxis {
    /// Name of the parameter.
    key: String,
    /// Each value with its position in the file.
    values: Vec<(String, Range<usize>)>,
}

/// Reads the grid of a spec, in the order of the file.
pub(super) fn read(
    table: &TomlTable<'_>,
    raw: &RawLearner,
    spec: &Spec,
) -> Result<Vec<GridAxis>, ExperimentError> {
    let mut axes: Vec<_> = raw.grid.iter().flat_map(|grid| grid.get_ref()).collect();
    axes.sort_by_key(|(key, _)| key.span().start);
    if axes.is_empty() {
        let message =
            "`grid` is empty; expected parameters with values, such as grid = { leaves = [7, 31] }";
        return Err(table.error_at(&raw.grid, message));
    }
    axes.into_iter().map(|(key, list)| axis(table, raw, spec, key, list)).collect()
}

/// Reads one parameter of a grid and its values.
fn axis(
    table: &TomlTable<'_>,
    raw: &RawLearner,
    spec: &Spec,
    name: &Spanned<String>,
    list: &Spanned<Vec<Spanned<Scalar>>>,
) -> Result<GridAxis, ExperimentError> {
    let (document, key) = (table.document, name.get_ref().as_str());
    check_parameter(table, raw, spec, name)?;
    if spec.get(key).is_some() {
        let message = format!("`{key}` is in the spec and in its grid; keep it in one of them");
        return Err(document.error(name.span(), message));
    }
    let mut values: Vec<(String, Range<usize>)> = Vec::new();
    for item in list.get_ref() {
        let value = document.scalar(item);
        if values.iter().any(|(other, _)| *other == value) {
            return Err(document.error(item.span(), format!("{key}={value} is given twice")));
        }
        values.push((value, item.span()));
    }
    match values.is_empty() {
        true => {
            let message =
                format!("`{key}` is empty; expected a list of values, such as {key} = [1, 2]");
            Err(document.error(list.span(), message))
        }
        false => Ok(GridAxis { key: key.to_owned(), values }),
    }
}

/// Rejects names that are not parameters of the learner, and specs of unknown learners.
fn check_parameter(
    table: &TomlTable<'_>,
    raw: &RawLearner,
    spec: &Spec,
    name: &Spanned<String>,
) -> Result<(), ExperimentError> {
    let Some(def) = LEARNERS.iter().find(|def| def.name == spec.name) else {
        let error = LearnerSpec::from_spec(spec.clone()).err();
        let error = error.map_or("unknown learner".to_owned(), |error| error.to_string());
        return Err(table.error_at(&raw.spec, error));
    };
    let names: Vec<&str> = def.params().iter().map(|param| param.name).collect();
    let key = name.get_ref().as_str();
    if names.contains(&key) {
        return Ok(());
    }
    let suggestion = nearest(key, &names).map(|near| format!(" (did you mean `{near}`?)"));
    let suggestion = suggestion.unwrap_or_default();
    let message = format!(
        "`{}` has no parameter `{key}`{suggestion}; its parameters are {}",
        def.name,
        names.join(", ")
    );
    Err(table.document.error(name.span(), message))
}

/// Every combination: its values as they appear in its name, and the learner. `other_learners` is
/// the number of learners of the entries before.
pub(super) fn expand(
    table: &TomlTable<'_>,
    raw: &RawLearner,
    spec: &Spec,
    axes: &[GridAxis],
    other_learners: usize,
) -> Result<Vec<(String, LearnerSpec)>, ExperimentError> {
    let count = axes.iter().try_fold(1_usize, |count, axis| count.checked_mul(axis.values.len()));
    let is_allowed = |count: &usize| other_learners.saturating_add(*count) <= MAX_LEARNERS;
    let Some(count) = count.filter(is_allowed) else {
        let count = count.map_or("more than can be counted".to_owned(), |count| count.to_string());
        let message = format!(
            "the grid has too many combinations ({count}); an experiment has at most \
             {MAX_LEARNERS} learners"
        );
        return Err(table.error_at(&raw.grid, message));
    };
    (0..count).map(|number| combination(table, raw, spec, axes, number)).collect()
}

/// The combination of this number, from 0; the last parameter varies fastest.
fn combination(
    table: &TomlTable<'_>,
    raw: &RawLearner,
    spec: &Spec,
    axes: &[GridAxis],
    mut number: usize,
) -> Result<(String, LearnerSpec), ExperimentError> {
    // The key, the value and the position of the value in the file, for each parameter.
    let mut picked = Vec::new();
    for axis in axes.iter().rev() {
        let (value, span) = &axis.values[number % axis.values.len()];
        picked.push((axis.key.as_str(), value.as_str(), span));
        number /= axis.values.len();
    }
    picked.reverse();
    let mut combined = spec.clone();
    combined
        .args
        .extend(picked.iter().map(|(key, value, _)| ((*key).to_owned(), (*value).to_owned())));
    let values: Vec<String> =
        picked.iter().map(|(key, value, _)| format!("{key}={value}")).collect();
    let values = values.join(" ");
    // With a text such as "7, rate=1" as a value, the printed spec would be read as another spec.
    let learner = match Spec::parse(&combined.to_string()) {
        Ok(parsed) if parsed == combined => LearnerSpec::from_spec(combined),
        Ok(_) => {
            let message = format!("{values}: a value has characters that a spec cannot hold");
            return Err(table.error_at(&raw.grid, message));
        }
        Err(error) => Err(error),
    };
    let learner = learner.map_err(|error| {
        let key = match &error {
            SpecError::BadValue { key, .. } => Some(key.as_str()),
            _ => None,
        };
        match picked.iter().find(|(name, ..)| Some(*name) == key) {
            Some((.., span)) => table.document.error((*span).clone(), &error),
            None => table.error_at(&raw.grid, format!("with {values}: {error}")),
        }
    })?;
    // Values in their canonical form, as the learner's spec prints them.
    let canonical = |(key, value, _): &(&str, &str, &Range<usize>)| {
        let canonical = learner.learner().params().text(key);
        format!("{key}={}", canonical.unwrap_or_else(|| (*value).to_owned()))
    };
    let name: Vec<String> = picked.iter().map(canonical).collect();
    Ok((name.join(" "), learner))
}

/// The grid in words: "lambdamart(trees=500), leaves 7 or 31, rate 0.03 or 0.1".
pub(super) fn in_words(spec: &Spec, axes: &[GridAxis]) -> String {
    let words = axes.iter().map(|axis| {
        let values: Vec<&str> = axis.values.iter().map(|(value, _)| value.as_str()).collect();
        format!(", {} {}", axis.key, values.join(" or "))
    });
    format!("{spec}{}", words.collect::<String>())
}
