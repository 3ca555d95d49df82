//! A set of features: specs, which an index expands into columns of one feature each.
//!
//! A user writes a set as a list of specs, as a TOML file, or as `default`. The command `features`
//! stores it in its data file, or as `DATA.features.toml` beside a file that cannot hold it; a model that is trained on the data stores it:
//!
//! ```toml
//! version = 1
//! analysis = "english"
//! first_stage = "bm25"
//! candidates = 100
//! query_fields = ["language"]
//! features = ["bm25(field=title)", "pagerank(field=links)"]
//! ```
//!
//! `version` is the version of the formulas; `analysis` is the analysis of the text (its language
//! and tokens). An index rejects a model whose set differs from it in one of these. `first_stage`
//! and `candidates` define which documents of a query became rows; a ranker takes them as its
//! defaults. `query_fields` are the query fields that features read; a ranker warns of queries
//! without them.

use std::path::PathBuf;

use rankwright_spec::{Spec, SpecError, split_specs};
use serde::{Deserialize, Serialize};

use super::def::{FeatureDef, IndexValues};
use crate::error::{FeatureSetProblem, SearchError};
use crate::index::Index;
use crate::retrieve::FirstStage;
use crate::schema::FieldKind;

/// The version of the formulas. It is increased when a feature's values change.
pub const FEATURE_VERSION: u32 = 1;

/// The default number of candidates of a query.
pub const DEFAULT_CANDIDATES: usize = 100;

/// Maximum number of values of an index that `*` may stand for, as each becomes a column: the
/// classes of a category field, or the hosts, domains or countries of web addresses.
const MAX_STAR_VALUES: usize = 64;

/// A list of features by spec.
///
/// ```
/// use rankwright_search::FeatureSet;
///
/// let set = FeatureSet::parse("bm25(field=title), query-length")?;
/// assert_eq!(set.features.len(), 2);
/// assert_eq!(FeatureSet::from_toml(&set.to_toml())?, set);
/// # Ok::<(), rankwright_search::SearchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureSet {
    /// The version of the formulas.
    #[serde(default = "version")]
    pub version: u32,
    /// The analysis of the text; `None` before the set is used with an index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analysis: Option<String>,
    /// The spec of the first stage whose candidates became rows; `None` before there are rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_stage: Option<String>,
    /// The largest number of candidates of a query; `None` before there are rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<usize>,
    /// The fields of the queries that the features read; empty before there are rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query_fields: Vec<String>,
    /// The specs of the features.
    pub features: Vec<String>,
}

/// The default of [`FeatureSet::version`] in TOML.
fn version() -> u32 {
    FEATURE_VERSION
}

impl FeatureSet {
    /// A set of these features, by the formulas of this program.
    pub fn new(features: Vec<String>) -> Self {
        Self {
            version: FEATURE_VERSION,
            analysis: None,
            first_stage: None,
            candidates: None,
            query_fields: Vec::new(),
            features,
        }
    }

    /// Reads a list of specs, separated by commas; `default` stands for a set that fits most
    /// indexes. The index checks the names later, as it can have custom features.
    pub fn parse(text: &str) -> Result<Self, SearchError> {
        let features: Vec<String> = split_specs(text).into_iter().map(str::to_owned).collect();
        for feature in &features {
            Spec::parse(feature)?;
        }
        Ok(Self::new(features))
    }

    /// The first stage that the set records, if any.
    pub fn stage(&self) -> Result<Option<FirstStage>, SearchError> {
        let stage = self.first_stage.as_deref().map(FirstStage::parse);
        let problem = |error| SearchError::BadFeatureSet(FeatureSetProblem::FirstStage(error));
        stage.transpose().map_err(problem)
    }

    /// Files that the features read: runs and word vectors.
    pub fn files(&self) -> Vec<PathBuf> {
        let specs = self.features.iter().filter_map(|feature| Spec::parse(feature).ok());
        specs.filter_map(|spec| spec.get("file").map(PathBuf::from)).collect()
    }

    /// Reads the TOML form.
    pub fn from_toml(text: &str) -> Result<Self, SearchError> {
        toml::from_str(text).map_err(|error| {
            let message = error.message().to_owned();
            SearchError::BadFeatureSet(FeatureSetProblem::Syntax { message })
        })
    }

    /// The TOML form.
    #[allow(clippy::expect_used, reason = "an empty text instead of the set would go unnoticed")]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("plain fields can be written as TOML")
    }

    /// The columns for an index: one feature each, in order, without repeats.
    pub fn expand(&self, index: &Index) -> Result<FeatureSet, SearchError> {
        self.check(index)?;
        let mut columns: Vec<String> = Vec::new();
        for feature in &self.features {
            let specs = if feature == "default" {
                index.features().filter(|def| def.is_default).map(spec_with_stars).collect()
            } else {
                vec![Spec::parse(feature)?]
            };
            for spec in specs {
                for column in expand_spec(index, spec)? {
                    if !columns.contains(&column) {
                        columns.push(column);
                    }
                }
            }
        }
        if columns.is_empty() {
            return Err(SearchError::NoFeatures);
        }
        let analysis = Some(index.analysis().to_string());
        Ok(FeatureSet { analysis, features: columns, ..self.clone() })
    }

    /// Checks that the set has this version of the formulas and the analysis of this index.
    pub fn check(&self, index: &Index) -> Result<(), SearchError> {
        if self.version != FEATURE_VERSION {
            let (found, known) = (self.version, FEATURE_VERSION);
            return Err(SearchError::FeatureVersion { found, known });
        }
        let of_index = index.analysis().to_string();
        match &self.analysis {
            Some(analysis) if *analysis != of_index => {
                Err(SearchError::OtherAnalysis { set: analysis.clone(), index: of_index })
            }
            _ => Ok(()),
        }
    }
}

/// The spec of a feature with `*` for the field and for the parameter of `star_values`.
fn spec_with_stars(def: &FeatureDef) -> Spec {
    let mut spec = Spec::new(def.name);
    if def.field.is_some() {
        spec = spec.with("field", "*");
    }
    if let Some((key, _)) = def.star_values {
        spec = spec.with(key, "*");
    }
    spec
}

/// The columns of a spec, with `*` expanded.
fn expand_spec(index: &Index, spec: Spec) -> Result<Vec<String>, SearchError> {
    let def = index.feature(&spec.name)?;
    let mut specs = vec![spec];
    if let Some(kind) = def.field {
        specs = expand_star(specs, "field", || fields_of_kind(index, kind));
    }
    if let Some((key, values)) = def.star_values {
        specs = expand_star(specs, key, || values.iter().map(|&value| value.to_owned()).collect());
    }
    let (key, values_of) = def.index_values;
    let mut columns = Vec::new();
    for spec in specs {
        let is_each_value = spec.get(key) == Some("*");
        let specs =
            if is_each_value { index_specs(index, spec, key, values_of)? } else { vec![spec] };
        columns.extend(specs.iter().map(Spec::to_string));
    }
    Ok(columns)
}

/// Replaces each spec in which the parameter `key` is `*` by one spec for each value.
fn expand_star(specs: Vec<Spec>, key: &str, values: impl Fn() -> Vec<String>) -> Vec<Spec> {
    let mut expanded = Vec::new();
    for spec in specs {
        if spec.get(key) == Some("*") {
            expanded.extend(values().into_iter().map(|value| spec.clone().with(key, value)));
        } else {
            expanded.push(spec);
        }
    }
    expanded
}

/// The names of the fields of a kind; text fields include `all`.
fn fields_of_kind(index: &Index, kind: FieldKind) -> Vec<String> {
    if kind == FieldKind::Text {
        return index
            .text_fields()
            .map(|text_field| index.text_field_name(text_field).to_owned())
            .collect();
    }
    index.schema().of_kind(kind).map(str::to_owned).collect()
}

/// One spec for each value that an index has for the parameter `key`.
fn index_specs(
    index: &Index,
    spec: Spec,
    key: &str,
    values_of: IndexValues,
) -> Result<Vec<Spec>, SearchError> {
    let values = values_of(index, &spec)?;
    if values.len() > MAX_STAR_VALUES {
        let (found, name) = (values.len(), spec.name.clone());
        return Err(SpecError::BadValue {
            name,
            key: key.into(),
            value: "*".into(),
            expected: format!(
                "a field of at most {MAX_STAR_VALUES} values; this field has {found}"
            ),
        }
        .into());
    }
    Ok(values.into_iter().map(|value| spec.clone().with(key, value)).collect())
}
