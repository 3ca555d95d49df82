//! `[[learner]]`: a spec, a grid of specs, a model that is there already, or a feature to rank by.

use std::collections::HashMap;

use rankwright_learn::LearnerSpec;
use rankwright_spec::Spec;

use super::super::fields::Fields;
use super::super::paths::{FilePath, PathResolver};
use super::{grid, one_line};
use crate::ExperimentError;

const LEARNER: &[&str] = &["name", "spec", "grid", "model", "feature"];

/// A `[[learner]]` as it is written: one member, or one for each combination of its grid.
#[derive(Debug, Clone)]
pub struct LearnerEntry {
    /// What it is called, before the values of a grid.
    pub name: String,
    /// What it does, for the report: the spec, and what the grid varies.
    pub text: String,
    /// Whether it is a spec, as opposed to a model or a feature.
    pub learns: bool,
}

/// One of those compared.
#[derive(Debug, Clone)]
pub struct Member {
    /// What it is called.
    pub name: String,
    /// Which entry it was written as.
    pub entry: usize,
    /// What it does.
    pub what: MemberKind,
}

/// What a member does.
#[derive(Debug, Clone)]
pub enum MemberKind {
    /// Learns, for each fold and seed.
    Learner(Box<LearnerSpec>),
    /// Scores with a model that is there already.
    Model(FilePath),
}

impl MemberKind {
    /// As the report shows it.
    pub fn text(&self) -> String {
        match self {
            MemberKind::Learner(spec) => spec.to_string(),
            MemberKind::Model(file) => format!("the model {}", file.written),
        }
    }

    /// Whether the seed can change anything.
    pub fn is_seeded(&self) -> bool {
        matches!(self, MemberKind::Learner(spec) if spec.learns())
    }
}

/// Reads all of `[[learner]]`: as written, and one by one.
pub(super) fn read(
    top: &Fields<'_>,
    places: &PathResolver<'_>,
) -> Result<(Vec<LearnerEntry>, Vec<Member>), ExperimentError> {
    let mut all = All::default();
    for fields in top.tables("learner", "[[learner]]", LEARNER)? {
        match fields.has("grid") {
            true => all.add_grid(&fields)?,
            false => all.add_one(&fields, what(&fields, places)?)?,
        }
    }
    match all.members.is_empty() {
        true => Err(top.wrong(
            "learner",
            "there is no learner; write [[learner]] with a name and a spec, such as spec = \
             \"lambdamart(trees=100)\"",
        )),
        false => Ok((all.entries, all.members)),
    }
}

/// What was read so far; by name and by what they do, as there may be thousands.
#[derive(Default)]
struct All {
    entries: Vec<LearnerEntry>,
    members: Vec<Member>,
    by_name: HashMap<String, usize>,
    by_text: HashMap<String, usize>,
}

impl All {
    fn add_one(&mut self, fields: &Fields<'_>, what: MemberKind) -> Result<(), ExperimentError> {
        let text = what.text();
        let name = self.entry(fields, &text, text.clone(), fields.has("spec"))?;
        self.member(fields, "spec", name, what)
    }

    fn add_grid(&mut self, fields: &Fields<'_>) -> Result<(), ExperimentError> {
        if !fields.has("spec") {
            let message = "`grid` varies the parameters of a `spec`, and there is none";
            return Err(fields.wrong("grid", message));
        }
        let text = fields.needed("spec", "\"lambdamart(trees=100)\"")?;
        let spec = Spec::parse(&text).map_err(|e| fields.wrong("spec", e))?;
        let axes = grid::read(fields, &spec)?;
        let specs = grid::expand(fields, &spec, &axes, self.members.len())?;
        let entry = self.entry(fields, &spec.name, grid::in_words(&spec, &axes), true)?;
        for (values, spec) in specs {
            no_files(fields, "spec", &spec)?;
            let name = format!("{entry} {values}");
            self.member(
                fields,
                "grid",
                one_line(fields, name)?,
                MemberKind::Learner(Box::new(spec)),
            )?;
        }
        Ok(())
    }

    /// Adds an entry; gives its name.
    fn entry(
        &mut self,
        fields: &Fields<'_>,
        usual: &str,
        text: String,
        learns: bool,
    ) -> Result<String, ExperimentError> {
        let name = match fields.has("name") {
            true => fields.needed("name", "\"lambdamart\"")?,
            false => usual.to_owned(),
        };
        let name = one_line(fields, name)?;
        if self.entries.iter().any(|entry| entry.name == name) {
            return Err(fields.wrong("name", format!("two learners are called `{name}`")));
        }
        self.entries.push(LearnerEntry { name: name.clone(), text, learns });
        Ok(name)
    }

    fn member(
        &mut self,
        fields: &Fields<'_>,
        key: &str,
        name: String,
        what: MemberKind,
    ) -> Result<(), ExperimentError> {
        let (number, text) = (self.members.len(), what.text());
        if self.by_name.insert(name.clone(), number).is_some() {
            let place = if key == "grid" { key } else { "name" };
            return Err(fields.wrong(place, format!("two learners are called `{name}`")));
        }
        if let Some(other) = self.by_text.get(&text).and_then(|other| self.members.get(*other)) {
            let message = format!("`{name}` is the same as `{}`: {text}", other.name);
            return Err(fields.wrong(key, message));
        }
        self.by_text.insert(text, number);
        self.members.push(Member { name, entry: self.entries.len().saturating_sub(1), what });
        Ok(())
    }
}

fn what(fields: &Fields<'_>, places: &PathResolver<'_>) -> Result<MemberKind, ExperimentError> {
    let ways = fields.present(&["spec", "model", "feature"]);
    let [way] = ways.as_slice() else {
        let message = "[[learner]] has one of `spec` (to learn), `model` (a file) and `feature` (to \
                       rank by)";
        return Err(fields.wrong(ways.last().unwrap_or(&"spec"), message));
    };
    let text = fields.word(way)?.unwrap_or_default();
    let spec = match *way {
        "model" => {
            let file = places.file(&text).map_err(|e| fields.wrong("model", e))?;
            return Ok(MemberKind::Model(file));
        }
        // A line with one weight ranks by one feature.
        "feature" => format!("linear(weights={text}:1)"),
        _ => text,
    };
    let spec = LearnerSpec::parse(&spec).map_err(|e| fields.wrong(way, e))?;
    no_files(fields, way, &spec)?;
    Ok(MemberKind::Learner(Box::new(spec)))
}

fn no_files(fields: &Fields<'_>, key: &str, spec: &LearnerSpec) -> Result<(), ExperimentError> {
    if spec.to_string().contains("file:") {
        let message = "a member that is read from a file (file:...) is not recorded in a cell, so \
                       that a change of it would go unnoticed; write its spec instead";
        return Err(fields.wrong(key, message));
    }
    Ok(())
}
