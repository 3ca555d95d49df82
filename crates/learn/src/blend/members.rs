//! The members of a blend as a spec writes them: `lambdamart(trees=100)+ranksvm+file:a.model`.
//!
//! They are joined by `+` outside of parentheses, so that numbers such as `1e+3` and constraints
//! such as `22:+` within a learner stay whole. `file:` and a path is a model of any format that is
//! read; paths have no `+`, comma or parenthesis in them. A blend is no member: its own members can
//! be named instead.

use std::path::{Path, PathBuf};

use rankwright_eval::{MetricSpec, Params};
use rankwright_model::{Model, ModelBody};
use rankwright_spec::{Spec, SpecError};

use super::preset;
use crate::error::LearnError;
use crate::learner::LearnerSpec;

/// What stands before the path of a model.
const FILE: &str = "file:";

/// One member.
#[derive(Debug, Clone)]
pub(super) enum Member {
    /// To be trained.
    Learner(Box<LearnerSpec>),
    /// A model that is there already.
    File(PathBuf),
}

/// Reads `preset=` and `members=`.
pub(super) fn read(params: &Params<'_>, target: &MetricSpec) -> Result<Vec<Member>, SpecError> {
    let recipe = params.choice("preset", &[("none", &[][..]), ("yahoo", preset::YAHOO)], &[])?;
    let written = match (params.text("members"), recipe) {
        (None, []) => preset::DEFAULT,
        (None, _) => "",
        (Some(text), _) => text,
    };
    let written = if written.is_empty() { Vec::new() } else { split(written) };
    let all = recipe.iter().copied().chain(written);
    all.map(|text| member(text, params, target)).collect()
}

fn member(text: &str, params: &Params<'_>, target: &MetricSpec) -> Result<Member, SpecError> {
    const EXPECTED: &str = "learners and files, such as lambdamart(trees=100)+file:a.model";
    if let Some(path) = text.strip_prefix(FILE) {
        return match path.trim() {
            "" => Err(params.bad("members", text, EXPECTED)),
            path => Ok(Member::File(PathBuf::from(path))),
        };
    }
    if text.is_empty() {
        return Err(params.bad("members", "an empty member", EXPECTED));
    }
    let mut spec = Spec::parse(text)?;
    // Asked before the spec is read whole: blends in blends in blends end here.
    if spec.name == "blend" {
        return Err(params.conflict("a blend is no member of another; name its members instead"));
    }
    if spec.get("metric").is_none() {
        spec = spec.with("metric", target.to_string());
    }
    Ok(Member::Learner(Box::new(LearnerSpec::from_spec(spec)?)))
}

/// Splits at every `+` outside of parentheses.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let outside = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == '+' && depth == 0
    };
    text.split(outside).map(str::trim).collect()
}

/// `members=` and `learner=` in their plain form: every learner as it prints.
pub(crate) fn tidy(text: &str) -> String {
    let plain = |member: &str| match LearnerSpec::parse(member) {
        Ok(learner) if !member.starts_with(FILE) => learner.to_string(),
        _ => member.to_owned(),
    };
    split(text).into_iter().map(plain).collect::<Vec<_>>().join("+")
}

/// Reads a member's file.
pub(super) fn load(path: &Path) -> Result<Model, LearnError> {
    let model = Model::load(path)?;
    if matches!(model.body(), ModelBody::Blend(_)) {
        return Err(LearnError::BlendOfBlends { path: path.display().to_string() });
    }
    Ok(model)
}
