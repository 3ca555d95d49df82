//! The definition of a feature: name, help, example, parameters, and how it is built.

use std::fmt;

use rankwright_spec::{ParamDef, ParamGroup, Spec, SpecError};
use serde::{Serialize, Serializer};

use super::weight::build_weight;
use super::{FEATURES, Feature};
use crate::error::SearchError;
use crate::index::Index;
use crate::retrieve::Weighting;
use crate::schema::FieldKind;

/// One feature, as help, documentation and other languages read it.
///
/// It serialises to what `list features --json` shows.
#[derive(Clone, Copy)]
pub struct FeatureDef {
    /// Name in specs.
    pub name: &'static str,
    /// One sentence of help.
    pub help: &'static str,
    /// A spec that works on an index with fields of these names.
    pub example: &'static str,
    /// The kind of field it looks at; text fields include `all`.
    pub field: Option<FieldKind>,
    /// Whether it is in the default set, on every field of its kind.
    pub is_default: bool,
    /// A parameter with the values that `*` stands for, each of which is in the default set.
    pub(crate) each: Option<(&'static str, &'static [&'static str])>,
    pub(crate) params: fn() -> Vec<ParamDef>,
    pub(crate) build: Build,
}

/// Makes a feature of an index ready, from its spec.
pub(crate) type Build = fn(&Index, &Spec) -> Result<Box<dyn Feature>, SearchError>;

impl FeatureDef {
    /// A definition without a name; a feature's file fills in the rest.
    pub(super) const fn of<P: ParamGroup + Default>(build: Build) -> Self {
        Self {
            name: "",
            help: "",
            example: "",
            field: None,
            is_default: true,
            each: None,
            params: defs::<P>,
            build,
        }
    }

    /// The feature that is the score of a weighting; it has the name and help of the first stage.
    pub(crate) const fn of_weighting<W: Weighting>() -> Self {
        Self {
            name: W::FIRST_STAGE.name,
            help: W::FIRST_STAGE.help,
            field: Some(FieldKind::Text),
            ..Self::of::<W>(build_weight::<W>)
        }
    }

    /// The parameters.
    pub fn params(&self) -> Vec<ParamDef> {
        (self.params)()
    }

    /// The definition of a name.
    pub(super) fn find(name: &str) -> Result<&'static FeatureDef, SpecError> {
        FEATURES.iter().copied().find(|def| def.name == name).ok_or_else(|| {
            let known: Vec<&str> = FEATURES.iter().map(|def| def.name).collect();
            SpecError::unknown("feature", name, &known)
        })
    }
}

fn defs<P: ParamGroup + Default>() -> Vec<ParamDef> {
    P::default().defs()
}

impl fmt::Debug for FeatureDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeatureDef").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Serialize for FeatureDef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Description<'a> {
            name: &'a str,
            help: &'a str,
            example: &'a str,
            field: Option<FieldKind>,
            default: bool,
            parameters: Vec<ParamDef>,
        }
        let Self { name, help, example, field, is_default: default, .. } = *self;
        Description { name, help, example, field, default, parameters: self.params() }
            .serialize(serializer)
    }
}
