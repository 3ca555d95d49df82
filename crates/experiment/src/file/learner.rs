//! `[[learner]]`: a spec, a grid of specs, an existing model, or a feature to rank by.

use std::collections::HashMap;

use rankwright_data::FeatureNames;
use rankwright_learn::LearnerSpec;
use rankwright_spec::{Spec, nearest};
use toml::Spanned;

use super::super::paths::{FilePath, PathResolver};
use super::document::{TomlDocument, TomlTable};
use super::grid;
use super::raw::RawLearner;
use super::text::feature_texts;
use crate::ExperimentError;

/// A `[[learner]]` entry of the file: one learner, or one for each combination of its grid.
#[derive(Debug, Clone)]
pub struct LearnerEntry {
    /// Name without the values of a grid.
    pub name: String,
    /// Description for the report: the spec, and the values of the grid.
    pub text: String,
    /// Whether the entry has a spec, as opposed to a model or a feature.
    pub has_spec: bool,
}

/// A learner of an experiment: a spec with all its settings, or a model given as a file in place of
/// a learner.
#[derive(Debug, Clone)]
pub struct ExperimentLearner {
    /// Name in the report.
    pub name: String,
    /// Index of the `[[learner]]` entry that it comes from, from 0.
    pub entry: usize,
    /// The spec or the model.
    pub kind: LearnerKind,
    /// The features that it is trained on: names of columns, or of features without their
    /// parameters; empty for all.
    pub features: Vec<String>,
}

impl ExperimentLearner {
    /// The columns of the data that the learner is trained on; `None` for all.
    pub(crate) fn columns(
        &self,
        names: &FeatureNames,
    ) -> Result<Option<Vec<usize>>, ExperimentError> {
        if self.features.is_empty() {
            return Ok(None);
        }
        if matches!(names, FeatureNames::Ids { .. }) {
            return Err(ExperimentError::NumberedFeatures);
        }
        let is_named = |column: &str, feature: &str| {
            column == feature || column.split('(').next() == Some(feature)
        };
        let has = |feature: &String| names.iter().any(|column| is_named(&column, feature));
        if let Some(unknown) = self.features.iter().find(|feature| !has(feature)) {
            let names: Vec<String> = names.iter().map(|name| name.into_owned()).collect();
            let known: Vec<&str> = names.iter().map(String::as_str).collect();
            let nearest = nearest(unknown, &known);
            return Err(ExperimentError::UnknownFeature { name: unknown.clone(), nearest });
        }
        let columns = names.iter().enumerate();
        let selected = columns.filter(|(_, c)| self.features.iter().any(|f| is_named(c, f)));
        Ok(Some(selected.map(|(column, _)| column).collect()))
    }
}

/// The kind of a learner of an experiment.
#[derive(Debug, Clone)]
pub enum LearnerKind {
    /// A spec, trained for each fold and seed.
    Spec(Box<LearnerSpec>),
    /// An existing model, which only scores.
    Model(FilePath),
}

impl LearnerKind {
    /// The description in the report.
    pub fn text(&self) -> String {
        match self {
            LearnerKind::Spec(spec) => spec.to_string(),
            LearnerKind::Model(file) => format!("the model {}", file.written),
        }
    }

    /// Whether the seed can change the result.
    pub fn is_seeded(&self) -> bool {
        matches!(self, LearnerKind::Spec(spec) if spec.learns())
    }
}

/// Reads all `[[learner]]` entries, and the learners of each.
pub(super) fn read(
    document: TomlDocument<'_>,
    raw: &[Spanned<RawLearner>],
    paths: &PathResolver<'_>,
) -> Result<(Vec<LearnerEntry>, Vec<ExperimentLearner>), ExperimentError> {
    let mut all = LearnerList::default();
    for raw in raw {
        let table = document.table(raw.span().start, "[[learner]]");
        let raw = raw.get_ref();
        match raw.grid.is_some() {
            true => all.add_grid(&table, raw)?,
            false => all.add_one(&table, raw, kind(&table, raw, paths)?)?,
        }
    }
    match all.learners.is_empty() {
        true => Err(document.error(
            0..0,
            "there is no learner; write [[learner]] with a name and a spec, such as spec = \
             \"lambdamart(trees=100)\"",
        )),
        false => Ok((all.entries, all.learners)),
    }
}

/// The entries and learners read so far; indexed by name and by description, because there may be
/// thousands of them.
#[derive(Default)]
struct LearnerList {
    entries: Vec<LearnerEntry>,
    learners: Vec<ExperimentLearner>,
    /// The index of the learner with each name.
    by_name: HashMap<String, usize>,
    /// The index of the learner with each description.
    by_text: HashMap<String, usize>,
}

impl LearnerList {
    /// Adds an entry without a grid, and its learner.
    fn add_one(
        &mut self,
        table: &TomlTable<'_>,
        raw: &RawLearner,
        kind: LearnerKind,
    ) -> Result<(), ExperimentError> {
        let (text, has_spec) = (kind.text(), raw.spec.is_some());
        let features = features(table, raw)?;
        let described = with_features(text.clone(), &features);
        let name = self.add_entry(table, raw, &text, described, has_spec)?;
        self.add_learner(&name, kind, features).map_err(|rejected| match rejected {
            RejectedLearner::Name(message) => table.error_at(&raw.name, message),
            RejectedLearner::Same(message) => table.error_at(&raw.spec, message),
        })
    }

    /// Adds an entry with a grid, and a learner for each combination.
    fn add_grid(&mut self, table: &TomlTable<'_>, raw: &RawLearner) -> Result<(), ExperimentError> {
        if raw.spec.is_none() {
            let message = "`grid` needs a `spec` whose parameters it varies";
            return Err(table.error_at(&raw.grid, message));
        }
        let text = table.required_text("spec", &raw.spec, "\"lambdamart(trees=100)\"")?;
        let spec = Spec::parse(text).map_err(|e| table.error_at(&raw.spec, e))?;
        let axes = grid::read(table, raw, &spec)?;
        let specs = grid::expand(table, raw, &spec, &axes, self.learners.len())?;
        let features = features(table, raw)?;
        let text = with_features(grid::in_words(&spec, &axes), &features);
        let has_spec = true;
        let entry_name = self.add_entry(table, raw, &spec.name, text, has_spec)?;
        for (values, spec) in specs {
            reject_file_members(table, &raw.spec, &spec)?;
            let name = table.one_line(&raw.name, format!("{entry_name} {values}"))?;
            let kind = LearnerKind::Spec(Box::new(spec));
            self.add_learner(&name, kind, features.clone()).map_err(|rejected| {
                let (RejectedLearner::Name(message) | RejectedLearner::Same(message)) = rejected;
                table.error_at(&raw.grid, message)
            })?;
        }
        Ok(())
    }

    /// Adds an entry; returns its name.
    fn add_entry(
        &mut self,
        table: &TomlTable<'_>,
        raw: &RawLearner,
        default_name: &str,
        text: String,
        has_spec: bool,
    ) -> Result<String, ExperimentError> {
        let name = match raw.name.is_some() {
            true => table.required_text("name", &raw.name, "\"lambdamart\"")?,
            false => default_name,
        };
        let name = table.one_line(&raw.name, name.to_owned())?;
        if self.entries.iter().any(|entry| entry.name == name) {
            return Err(table.error_at(&raw.name, format!("two learners are called `{name}`")));
        }
        self.entries.push(LearnerEntry { name: name.clone(), text, has_spec });
        Ok(name)
    }

    /// Adds a learner of the last entry.
    fn add_learner(
        &mut self,
        name: &str,
        kind: LearnerKind,
        features: Vec<String>,
    ) -> Result<(), RejectedLearner> {
        let (index, text) = (self.learners.len(), with_features(kind.text(), &features));
        if self.by_name.insert(name.to_owned(), index).is_some() {
            return Err(RejectedLearner::Name(format!("two learners are called `{name}`")));
        }
        if let Some(other) = self.by_text.get(&text).and_then(|other| self.learners.get(*other)) {
            return Err(RejectedLearner::Same(format!(
                "`{name}` is the same as `{}`: {text}",
                other.name
            )));
        }
        self.by_text.insert(text, index);
        let entry = self.entries.len().saturating_sub(1);
        self.learners.push(ExperimentLearner { name: name.to_owned(), entry, kind, features });
        Ok(())
    }
}

/// The features of an entry; only a learner that is trained can have some.
fn features(table: &TomlTable<'_>, raw: &RawLearner) -> Result<Vec<String>, ExperimentError> {
    match raw.features.is_some() && raw.spec.is_none() {
        true => Err(table.error_at(&raw.features, "`features` needs a `spec` to train on them")),
        false => Ok(feature_texts(&raw.features)),
    }
}

/// The description of a learner, with its features if it is not trained on all.
fn with_features(text: String, features: &[String]) -> String {
    match features {
        [] => text,
        features => format!("{text} on {}", features.join(", ")),
    }
}

/// The reason why a learner is rejected, with its message.
enum RejectedLearner {
    /// Another learner has the same name.
    Name(String),
    /// Another learner has the same spec or model.
    Same(String),
}

/// The spec or model of an entry without a grid.
fn kind(
    table: &TomlTable<'_>,
    raw: &RawLearner,
    paths: &PathResolver<'_>,
) -> Result<LearnerKind, ExperimentError> {
    let RawLearner { spec, model, feature, .. } = raw;
    match (spec, model, feature) {
        (Some(text), None, None) => read_spec(table, spec, text.get_ref()),
        (None, Some(text), None) => {
            let file = paths.file(text.get_ref()).map_err(|e| table.error_at(model, e))?;
            Ok(LearnerKind::Model(file))
        }
        // A linear model with one weight ranks by one feature.
        (None, None, Some(name)) => {
            let name = table.document.scalar(name);
            read_spec(table, feature, &format!("linear(weights={name}:1)"))
        }
        _ => {
            let message = "[[learner]] needs exactly one of `spec` (a learner to train), `model` (a \
                           file) and `feature` (a feature to rank by)";
            Err(match (feature, model) {
                (Some(_), _) => table.error_at(feature, message),
                (None, Some(_)) => table.error_at(model, message),
                (None, None) => table.error_at(spec, message),
            })
        }
    }
}

/// Reads the spec of a learner; an error is reported at `key`.
fn read_spec<T>(
    table: &TomlTable<'_>,
    key: &Option<Spanned<T>>,
    text: &str,
) -> Result<LearnerKind, ExperimentError> {
    let spec = LearnerSpec::parse(text).map_err(|e| table.error_at(key, e))?;
    reject_file_members(table, key, &spec)?;
    Ok(LearnerKind::Spec(Box::new(spec)))
}

/// Rejects a blend with members that are read from files; the error is reported at `key`.
fn reject_file_members<T>(
    table: &TomlTable<'_>,
    key: &Option<Spanned<T>>,
    spec: &LearnerSpec,
) -> Result<(), ExperimentError> {
    if spec.to_string().contains("file:") {
        let message = "a member that is read from a file (file:...) is not recorded in a cell, so \
                       that a change of it would go unnoticed; write its spec instead";
        return Err(table.error_at(key, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_named_with_or_without_their_parameters() {
        let spec = LearnerSpec::parse("ranksvm").unwrap();
        let learner = |features: &[&str]| ExperimentLearner {
            name: "svm".to_owned(),
            entry: 0,
            kind: LearnerKind::Spec(Box::new(spec.clone())),
            features: features.iter().map(|&feature| feature.to_owned()).collect(),
        };
        let names = ["bm25(field=title)", "bm25f", "bm25(field=text)", "length"];
        let names = FeatureNames::from_names(names.map(str::to_owned).to_vec());
        let columns = |features: &[&str]| learner(features).columns(&names);
        assert_eq!(columns(&[]).unwrap(), None);
        assert_eq!(columns(&["length", "bm25"]).unwrap(), Some(vec![0, 2, 3]));
        assert_eq!(columns(&["bm25(field=text)"]).unwrap(), Some(vec![2]));
        let error = columns(&["lenght"]).unwrap_err();
        assert_eq!(error.kind(), "unknown-feature");
        assert!(error.to_string().contains("did you mean `length`?"), "{error}");
        let numbered = FeatureNames::Ids { first: 1, count: 3 };
        let error = learner(&["2"]).columns(&numbered).unwrap_err();
        assert_eq!(error.kind(), "numbered-features");
    }
}
