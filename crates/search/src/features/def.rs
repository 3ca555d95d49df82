//! The definition of a feature: name, help, example, parameters, and its constructor.

use std::fmt;

use rankwright_spec::{ParamDef, ParamGroup, Spec};
use serde::{Serialize, Serializer};

use super::Feature;
use super::category::class_names;
use super::weight::build_weight;
use crate::error::SearchError;
use crate::index::Index;
use crate::params::read_params;
use crate::retrieve::Weighting;
use crate::schema::FieldKind;

/// The declaration of a feature, for help, documentation and other languages, and its constructor.
///
/// A custom feature is a `static` that [`Index::with_feature`] takes:
///
/// ```
/// use rankwright_search::{
///     CandidateStatistics, Document, Extractor, Feature, FeatureDef, FeatureParams, FeatureSet,
///     Index, Needs, SearchError, TextField,
/// };
///
/// rankwright_spec::params! {
///     /// Parameters of the feature `coverage`.
///     pub struct CoverageParams {
///         field: String = "all".to_owned(), .., "Text field; all: every text field as one.";
///     }
/// }
///
/// /// Share of the words of a field that the query has.
/// struct Coverage(TextField);
///
/// impl FeatureParams for CoverageParams {
///     fn build(&self, index: &Index) -> Result<Box<dyn Feature>, SearchError> {
///         Ok(Box::new(Coverage(index.text_field(&self.field)?)))
///     }
/// }
///
/// impl Feature for Coverage {
///     fn needs(&self) -> Needs {
///         Needs::default().frequencies(self.0)
///     }
///
///     fn values(
///         &self,
///         statistics: &CandidateStatistics<'_>,
///         out: &mut [f64],
///     ) -> Result<(), SearchError> {
///         for (candidate, value) in out.iter_mut().enumerate() {
///             let found: u32 = statistics.frequencies(self.0, candidate)?.sum();
///             *value = f64::from(found) / statistics.length(self.0, candidate)?.max(1.0);
///         }
///         Ok(())
///     }
/// }
///
/// static COVERAGE: FeatureDef = FeatureDef {
///     name: "coverage",
///     help: "Share of the words of a field that the query has.",
///     example: "coverage(field=title)",
///     ..FeatureDef::of_params::<CoverageParams>()
/// };
///
/// let document = Document::new("1").with("title", "red shoe");
/// let index = Index::in_memory([document])?.with_feature(&COVERAGE)?;
/// let extractor = Extractor::new(index, &FeatureSet::parse("bm25, coverage(field=title)")?)?;
/// assert_eq!(extractor.set().features, ["bm25", "coverage(field=title)"]);
/// # Ok::<(), SearchError>(())
/// ```
///
/// Serialised, it is the entry of the feature in the result of `list features`.
#[derive(Clone, Copy)]
pub struct FeatureDef {
    /// Name in specs.
    pub name: &'static str,
    /// One sentence of help.
    pub help: &'static str,
    /// A spec that works on an index with fields of these names.
    pub example: &'static str,
    /// The kind of field of the documents that the feature reads, if the parameter `field` names
    /// one; text fields include `all`.
    pub field: Option<FieldKind>,
    /// Whether the feature is in the default set, on every field of its kind.
    pub is_default: bool,
    /// A parameter other than `field` that may be `*`, and the values that `*` stands for. The
    /// default set has a column for each of them.
    pub star_values: Option<(&'static str, &'static [&'static str])>,
    /// A parameter that may be `*` for each value that an index has for it, and the function that
    /// lists these values; the classes of a category field by default.
    #[doc(hidden)]
    pub index_values: (&'static str, IndexValues),
    /// Returns the declarations of the parameters; [`FeatureDef::of_params`] sets it.
    #[doc(hidden)]
    pub params: fn() -> Vec<ParamDef>,
    /// The constructor from a spec; [`FeatureDef::of_params`] sets it.
    #[doc(hidden)]
    pub build: Build,
}

/// The parameters of a feature: a struct declared by `params!`, and the feature built from it.
pub trait FeatureParams: ParamGroup + Default {
    /// The feature with these parameters, prepared for an index. Fields that the index lacks are an
    /// error here, before the first query.
    fn build(&self, index: &Index) -> Result<Box<dyn Feature>, SearchError>;
}

/// Lists the values of an index for a parameter of a spec.
pub(super) type IndexValues = fn(&Index, &Spec) -> Result<Vec<String>, SearchError>;

/// Prepares a feature for an index, from its spec.
pub(super) type Build = fn(&Index, &Spec) -> Result<Box<dyn Feature>, SearchError>;

impl FeatureDef {
    /// The definition of a feature with these parameters, to be completed with name, help and
    /// example.
    pub const fn of_params<P: FeatureParams>() -> Self {
        Self::of::<P>(|index, spec| read_params::<P>(spec)?.build(index))
    }

    /// A definition of which only the functions are filled in: each feature adds its name, help and
    /// example.
    pub(super) const fn of<P: ParamGroup + Default>(build: Build) -> Self {
        Self {
            name: "",
            help: "",
            example: "",
            field: None,
            is_default: true,
            star_values: None,
            index_values: ("class", class_names),
            params: param_defs::<P>,
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

    /// The declarations of the parameters.
    pub fn params(&self) -> Vec<ParamDef> {
        (self.params)()
    }
}

fn param_defs<P: ParamGroup + Default>() -> Vec<ParamDef> {
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
        struct FeatureDescription<'a> {
            name: &'a str,
            help: &'a str,
            example: &'a str,
            field: Option<FieldKind>,
            default: bool,
            parameters: Vec<ParamDef>,
        }
        let Self { name, help, example, field, is_default: default, .. } = *self;
        FeatureDescription { name, help, example, field, default, parameters: self.params() }
            .serialize(serializer)
    }
}
