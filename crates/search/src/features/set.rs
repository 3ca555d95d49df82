//! A set of features: specs, expanded for an index into columns of one feature each.
//!
//! Written as a list of specs, as a TOML file, or `default`. The TOML file that `features` writes beside
//! its data goes into the model that is trained on it:
//!
//! ```toml
//! version = 1
//! analysis = "english"
//! features = ["bm25(field=title)", "pagerank(field=links)"]
//! ```
//!
//! `version` is that of the formulas; `analysis` how text became terms. A model whose set says
//! something else than the index is refused.

use rankwright_spec::{Spec, SpecError, split_specs};
use serde::{Deserialize, Serialize};

use super::table::{FEATURES, FeatureInfo, find};
use crate::error::SearchError;
use crate::index::Index;
use crate::schema::FieldKind;

/// The version of the formulas. It goes up when a feature's values change.
pub const FEATURE_VERSION: u32 = 1;

/// More classes than this are not expanded.
const MOST_CLASSES: usize = 64;

/// Features by spec.
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
    /// How text became terms; `None` before the set has met an index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analysis: Option<String>,
    /// The features.
    pub features: Vec<String>,
}

fn version() -> u32 {
    FEATURE_VERSION
}

impl FeatureSet {
    /// These features, by the formulas of this program.
    pub fn new(features: Vec<String>) -> Self {
        Self { version: FEATURE_VERSION, analysis: None, features }
    }

    /// Reads a list of specs, with commas between them; `default` is one that fits most indexes.
    pub fn parse(text: &str) -> Result<Self, SearchError> {
        let features: Vec<String> = split_specs(text).into_iter().map(str::to_owned).collect();
        for feature in features.iter().filter(|feature| *feature != "default") {
            find(&Spec::parse(feature)?.name)?;
        }
        Ok(Self::new(features))
    }

    /// Reads the TOML form.
    pub fn from_toml(text: &str) -> Result<Self, SearchError> {
        toml::from_str(text).map_err(|error| {
            SearchError::request(
                format!("feature set: {}", error.message()),
                "a TOML file with features = [\"bm25\", ...]",
            )
        })
    }

    /// The TOML form.
    pub fn to_toml(&self) -> String {
        // Three plain fields cannot fail; a reader would say so if they did.
        toml::to_string(self).unwrap_or_default()
    }

    /// The columns for an index: one feature each, in order, without repeats.
    pub fn expand(&self, index: &Index) -> Result<FeatureSet, SearchError> {
        self.check(index)?;
        let mut columns: Vec<String> = Vec::new();
        for feature in &self.features {
            let specs = if feature == "default" {
                FEATURES.iter().filter(|info| info.is_default).map(every).collect()
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
            return Err(SearchError::request("a set of no features", "name some, or `default`"));
        }
        let analysis = Some(index.analysis().to_string());
        Ok(FeatureSet { version: FEATURE_VERSION, analysis, features: columns })
    }

    /// Whether the set is of these formulas and of this index's analysis.
    pub fn check(&self, index: &Index) -> Result<(), SearchError> {
        if self.version != FEATURE_VERSION {
            return Err(SearchError::Mismatch {
                what: format!(
                    "they are of version {}, this program computes version {FEATURE_VERSION}",
                    self.version
                ),
            });
        }
        let own = index.analysis().to_string();
        match &self.analysis {
            Some(analysis) if *analysis != own => Err(SearchError::Mismatch {
                what: format!("their text was analysed as {analysis}, the index's as {own}"),
            }),
            _ => Ok(()),
        }
    }
}

/// The spec that stands for a feature on every field and with every choice.
fn every(info: &FeatureInfo) -> Spec {
    let mut spec = Spec::new(info.name);
    if info.field.is_some() {
        spec = spec.with("field", "*");
    }
    if let Some((key, _)) = info.choices {
        spec = spec.with(key, "*");
    }
    spec
}

/// The columns of a spec, with `*` expanded.
fn expand_spec(index: &Index, spec: Spec) -> Result<Vec<String>, SearchError> {
    let info = find(&spec.name)?;
    let mut specs = vec![spec];
    if let Some(kind) = info.field {
        specs = fan(specs, "field", || fields(index, kind));
    }
    if let Some((key, choices)) = info.choices {
        specs = fan(specs, key, || choices.iter().map(|&choice| choice.to_owned()).collect());
    }
    let mut columns = Vec::new();
    for spec in specs {
        let classes = spec.get("class").is_some_and(|class| class == "*");
        let specs = if classes { of_classes(index, spec)? } else { vec![spec] };
        columns.extend(specs.iter().map(Spec::to_string));
    }
    Ok(columns)
}

/// One spec for each value where a parameter is `*`.
fn fan(specs: Vec<Spec>, key: &str, values: impl Fn() -> Vec<String>) -> Vec<Spec> {
    let mut fanned = Vec::new();
    for spec in specs {
        if spec.get(key) == Some("*") {
            fanned.extend(values().into_iter().map(|value| spec.clone().with(key, value)));
        } else {
            fanned.push(spec);
        }
    }
    fanned
}

fn fields(index: &Index, kind: FieldKind) -> Vec<String> {
    if kind == FieldKind::Text {
        return index
            .text_fields()
            .map(|text_field| index.text_field_name(text_field).to_owned())
            .collect();
    }
    index.schema().of_kind(kind).map(str::to_owned).collect()
}

fn of_classes(index: &Index, spec: Spec) -> Result<Vec<Spec>, SearchError> {
    let field = spec.get("field").unwrap_or_default();
    let labels = index.labels(field, FieldKind::Category)?;
    if labels.len() > MOST_CLASSES {
        return Err(SpecError::BadValue {
            name: spec.name.clone(),
            key: "class".into(),
            value: "*".into(),
            expected: format!("a field of at most {MOST_CLASSES} classes; it has {}", labels.len()),
        }
        .into());
    }
    let mut names: Vec<&str> = (0..labels.len() as u32).map(|label| labels.name(label)).collect();
    names.sort_unstable();
    Ok(names.into_iter().map(|name| spec.clone().with("class", name)).collect())
}
