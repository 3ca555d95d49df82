//! The members of a blend as written in a spec: `lambdamart(trees=100)+ranksvm+file:a.model`.
//!
//! Members are joined by `+` outside of parentheses, so that numbers such as `1e+3` and monotone
//! constraints such as `22:+` within a learner are not split. `file:` and a path is a model of any
//! supported format; paths must not contain `+`, commas or parentheses. A blend cannot be a member:
//! its own members can be named instead.

use std::path::{Path, PathBuf};

use rankwright_data::{Dataset, FeatureNames};
use rankwright_eval::MetricText;
use rankwright_model::{MatchBy, MatchOptions, Matching, Model, ModelBody};
use rankwright_spec::{
    Conflict, IntoParam, ParamKind, ParamValue, RangeDef, Spec, SpecError, TextValue, ValueError,
};

use super::preset::{self, BlendPreset};
use crate::error::LearnError;
use crate::learner::{LearnerSpec, LearnerText};

/// The prefix of a model's path.
const FILE_PREFIX: &str = "file:";

/// One member of a blend.
#[derive(Debug, Clone)]
pub(super) enum BlendMember {
    /// A learner to be trained.
    Learner(Box<LearnerSpec>),
    /// An existing model.
    File(PathBuf),
}

/// The expected form of members, for messages.
const EXPECTED: &str = "learners and files, such as lambdamart(trees=100)+file:a.model";

/// The members of a blend as text: `lambdamart(trees=100)+ranksvm+file:a.model`; empty or `auto`:
/// those of the preset, or the default members without a preset.
///
/// Builder methods take a text, which may name files, or a list of learners:
///
/// ```
/// use rankwright_learn::prelude::*;
///
/// let blend = Blend::new().members([LambdaMart::new().trees(30).into(), RankSvm::new().into()]);
/// assert_eq!(LearnerSpec::new(blend)?.to_string(), "blend(members=lambdamart(trees=30)+ranksvm)");
/// # Ok::<(), rankwright_learn::LearnError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MembersText(String);

impl MembersText {
    /// Members as a text, which is not checked yet.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl ParamValue for MembersText {
    fn kind() -> ParamKind {
        ParamKind::Text
    }

    fn read(text: &str, _: &RangeDef) -> Result<Self, ValueError> {
        Ok(Self(canonical(text)))
    }

    fn write(&self) -> String {
        match self.0.is_empty() {
            true => "auto".to_owned(),
            false => self.0.clone(),
        }
    }
}

impl TextValue for MembersText {
    fn from_text(text: &str) -> Self {
        Self::new(text)
    }
}

impl FromIterator<LearnerText> for MembersText {
    fn from_iter<I: IntoIterator<Item = LearnerText>>(learners: I) -> Self {
        let texts: Vec<String> =
            learners.into_iter().map(|learner| learner.as_str().to_owned()).collect();
        Self(texts.join("+"))
    }
}

impl<const N: usize> IntoParam<MembersText> for [LearnerText; N] {
    fn into_param(self) -> MembersText {
        self.into_iter().collect()
    }
}

impl IntoParam<MembersText> for Vec<LearnerText> {
    fn into_param(self) -> MembersText {
        self.into_iter().collect()
    }
}

/// The members of the preset, then those that are named; with neither, the default members. A
/// member without a `metric=` of its own gets `metric`.
pub(super) fn members(
    named: &MembersText,
    preset: BlendPreset,
    metric: &MetricText,
) -> Result<Vec<BlendMember>, SpecError> {
    let named = match (named.0.as_str(), preset) {
        ("" | "auto", BlendPreset::None) => split(preset::DEFAULT_MEMBERS),
        ("" | "auto", _) => Vec::new(),
        (text, _) => split(text),
    };
    preset.members().iter().copied().chain(named).map(|text| member(text, metric)).collect()
}

/// The texts of the named members, not checked; `None` if none are named.
pub(crate) fn member_texts(named: &MembersText) -> Option<Vec<String>> {
    match named.0.as_str() {
        "" | "auto" => None,
        text => Some(split(text).into_iter().map(str::to_owned).collect()),
    }
}

/// Reads one member.
fn member(text: &str, metric: &MetricText) -> Result<BlendMember, SpecError> {
    let rejected = |value: &str| SpecError::BadValue {
        name: "blend".to_owned(),
        key: "members".to_owned(),
        value: value.to_owned(),
        expected: EXPECTED.to_owned(),
    };
    if let Some(path) = text.strip_prefix(FILE_PREFIX) {
        return match path.trim() {
            "" => Err(rejected(text)),
            path => Ok(BlendMember::File(PathBuf::from(path))),
        };
    }
    if text.is_empty() {
        return Err(rejected("an empty member"));
    }
    let mut spec = Spec::parse(text)?;
    // Checked before the member's spec is resolved, which would resolve nested blends without end.
    if spec.name == "blend" {
        let conflict = Conflict::NotSupported {
            setting: "a blend as a member".to_owned(),
            reason: "name the members of that blend instead",
        };
        return Err(SpecError::conflict("blend", conflict));
    }
    if spec.get("metric").is_none() {
        spec = spec.with("metric", metric.as_str());
    }
    Ok(BlendMember::Learner(Box::new(LearnerSpec::from_spec(spec)?)))
}

/// Splits at every `+` outside of parentheses.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let is_separator = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == '+' && depth == 0
    };
    text.split(is_separator).map(str::trim).collect()
}

/// The canonical text of the members: every learner as its spec is printed.
fn canonical(text: &str) -> String {
    let canonical_member = |member: &str| match LearnerSpec::parse(member) {
        Ok(learner) if !member.starts_with(FILE_PREFIX) => learner.to_string(),
        _ => member.to_owned(),
    };
    split(text).into_iter().map(canonical_member).collect::<Vec<_>>().join("+")
}

/// Reads a member's file. If features are matched by position, the model gets the names of the
/// training data's features, so that its features are those of the blend.
pub(super) fn load(
    path: &Path,
    train: &Dataset,
    options: MatchOptions,
) -> Result<Model, LearnError> {
    let model = Model::load(path)?;
    if matches!(model.body(), ModelBody::Blend(_)) {
        return Err(LearnError::BlendOfBlends { path: path.display().to_string() });
    }
    let matching = Matching::new(model.header(), train.features(), options.ignore_extra(true));
    if options.by != MatchBy::Position {
        // Features that do not match are the error of the blend, which names the member.
        if let Ok(matching) = matching {
            model.check_categories(train, &matching)?;
        }
        return Ok(model);
    }
    model.check_categories(train, &matching?)?;
    let (mut header, body) = model.into_parts();
    let count = header.features.len();
    header.features = match train.features() {
        FeatureNames::Named(names) => {
            FeatureNames::Named(names.iter().take(count).cloned().collect())
        }
        FeatureNames::Ids { first, .. } => FeatureNames::Ids { first: *first, count },
    };
    Ok(Model::new(header, body)?)
}
