//! Lists of learners, objectives, metrics, features, first stages, classifiers, click models and
//! formats, from the library's own tables.

#[cfg(feature = "clicks")]
use rankwright_clicks::model::{CLICK_MODELS, ClickModelDef};
use rankwright_data::format::FORMATS;
use rankwright_eval::{METRICS, MetricDef, MetricSpec, PRESETS, PresetDef};
#[cfg(feature = "train")]
use rankwright_learn::objective::{OBJECTIVES, ObjectiveDef, find_objective};
#[cfg(feature = "train")]
use rankwright_learn::{LEARNERS, LearnerDef, find_learner};
use rankwright_model::ModelFormat;
#[cfg(feature = "search")]
use rankwright_search::classify::{CLASSIFIERS, ClassifierDef};
#[cfg(feature = "search")]
use rankwright_search::{DocumentFormat, FEATURES, FIRST_STAGES, FeatureDef, FirstStageDef};
#[cfg(any(feature = "search", feature = "clicks"))]
use rankwright_spec::ParamDef;
use rankwright_spec::SpecError;
use serde::Serialize;

/// Learners with their parameters.
#[cfg(feature = "train")]
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct LearnerList {
    /// The learners.
    pub learners: &'static [&'static LearnerDef],
}

/// All learners.
#[cfg(feature = "train")]
pub fn list_learners() -> LearnerList {
    LearnerList { learners: LEARNERS }
}

/// One learner with its parameters; the error lists all names.
#[cfg(feature = "train")]
pub fn describe_learner(name: &str) -> Result<&'static LearnerDef, SpecError> {
    find_learner(name)
}

/// Objectives with their parameters: the losses that boosted trees and nets minimise.
#[cfg(feature = "train")]
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ObjectiveList {
    /// The objectives.
    pub objectives: &'static [&'static ObjectiveDef],
}

/// All objectives.
#[cfg(feature = "train")]
pub fn list_objectives() -> ObjectiveList {
    ObjectiveList { objectives: OBJECTIVES }
}

/// One objective with its parameters; the error lists all names.
#[cfg(feature = "train")]
pub fn describe_objective(name: &str) -> Result<&'static ObjectiveDef, SpecError> {
    find_objective(name)
}

/// Metrics with their parameters, and presets: the conventions (treatment of ties, unjudged
/// documents and so on) of known tools.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct MetricList {
    /// The metrics.
    pub metrics: &'static [&'static MetricDef],
    /// The presets.
    pub presets: &'static [PresetDef],
}

/// All metrics.
pub fn list_metrics() -> MetricList {
    MetricList { metrics: METRICS, presets: PRESETS }
}

/// One metric with its parameters, by its name or by a spec; the error lists all names.
///
/// ```
/// use rankwright::tasks::describe_metric;
/// assert_eq!(describe_metric("mrr@10")?.name, "rr");
/// # Ok::<(), rankwright::spec::SpecError>(())
/// ```
pub fn describe_metric(name: &str) -> Result<&'static MetricDef, SpecError> {
    let is = |def: &&MetricDef| def.name == name || def.aliases.contains(&name);
    match METRICS.iter().copied().find(is) {
        Some(def) => Ok(def),
        None => Ok(MetricSpec::parse(name)?.def()),
    }
}

/// Features of documents and queries.
#[cfg(feature = "search")]
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct FeatureList {
    /// The features.
    pub features: &'static [&'static FeatureDef],
}

/// All features that an index computes.
#[cfg(feature = "search")]
pub fn list_features() -> FeatureList {
    FeatureList { features: FEATURES }
}

/// One feature with its parameters; the error lists all names.
#[cfg(feature = "search")]
pub fn describe_feature(name: &str) -> Result<&'static FeatureDef, SpecError> {
    FEATURES.iter().copied().find(|def| def.name == name).ok_or_else(|| {
        let known: Vec<&str> = FEATURES.iter().map(|def| def.name).collect();
        SpecError::unknown("feature", name, &known)
    })
}

/// First stages with their parameters.
#[cfg(feature = "search")]
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct FirstStageList {
    /// The first stages.
    pub first_stages: &'static [&'static FirstStageDef],
}

/// All first stages of an index.
#[cfg(feature = "search")]
pub fn list_first_stages() -> FirstStageList {
    FirstStageList { first_stages: FIRST_STAGES }
}

/// One first stage with its parameters; the error lists all names.
#[cfg(feature = "search")]
pub fn describe_first_stage(name: &str) -> Result<&'static FirstStageDef, SpecError> {
    FIRST_STAGES.iter().copied().find(|def| def.name == name).ok_or_else(|| {
        let known: Vec<&str> = FIRST_STAGES.iter().map(|def| def.name).collect();
        SpecError::unknown("first stage", name, &known)
    })
}

/// A declared component with its parameters.
#[cfg(any(feature = "search", feature = "clicks"))]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ComponentEntry {
    /// Name in specs.
    pub name: &'static str,
    /// One sentence of help.
    pub help: &'static str,
    /// A spec that works.
    pub example: &'static str,
    /// The parameters.
    pub parameters: Vec<ParamDef>,
}

/// The entry of this name; the error lists all names. `kind` is the kind of component, for the
/// error.
#[cfg(any(feature = "search", feature = "clicks"))]
fn entry_named(
    kind: &'static str,
    name: &str,
    entries: Vec<ComponentEntry>,
) -> Result<ComponentEntry, SpecError> {
    let known: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
    let unknown = SpecError::unknown(kind, name, &known);
    entries.into_iter().find(|entry| entry.name == name).ok_or(unknown)
}

/// Classifiers of documents with their parameters.
#[cfg(feature = "search")]
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ClassifierList {
    /// The classifiers.
    pub classifiers: Vec<ComponentEntry>,
}

/// All classifiers.
#[cfg(feature = "search")]
pub fn list_classifiers() -> ClassifierList {
    let entry = |def: &ClassifierDef| ComponentEntry {
        name: def.name,
        help: def.help,
        example: def.example,
        parameters: def.params(),
    };
    ClassifierList { classifiers: CLASSIFIERS.iter().map(entry).collect() }
}

/// One classifier with its parameters; the error lists all names.
#[cfg(feature = "search")]
pub fn describe_classifier(name: &str) -> Result<ComponentEntry, SpecError> {
    entry_named("classifier", name, list_classifiers().classifiers)
}

/// Click models with their parameters.
#[cfg(feature = "clicks")]
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ClickModelList {
    /// The click models.
    pub click_models: Vec<ComponentEntry>,
}

/// All click models.
#[cfg(feature = "clicks")]
pub fn list_click_models() -> ClickModelList {
    let entry = |def: &&ClickModelDef| ComponentEntry {
        name: def.name,
        help: def.help,
        example: def.example,
        parameters: def.params(),
    };
    ClickModelList { click_models: CLICK_MODELS.iter().map(entry).collect() }
}

/// One click model with its parameters; the error lists all names.
#[cfg(feature = "clicks")]
pub fn describe_click_model(name: &str) -> Result<ComponentEntry, SpecError> {
    entry_named("click model", name, list_click_models().click_models)
}

/// Formats that are read and written.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct FormatList {
    /// Formats of feature data.
    pub data: Vec<FileFormat>,
    /// Formats of judgements and runs.
    pub judgements_and_runs: Vec<FileFormat>,
    /// Lines of files of preference pairs.
    pub preference_pairs: Vec<PairFormat>,
    /// Formats of documents.
    pub documents: Vec<FileFormat>,
    /// Formats of models.
    pub models: &'static [&'static ModelFormat],
}

/// A format of files.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct FileFormat {
    /// Its name.
    pub name: &'static str,
    /// Extensions of its files; may be empty.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub extensions: &'static [&'static str],
    /// A description in one line.
    pub doc: &'static str,
    /// An example of a line.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub example: &'static str,
}

/// A form of the lines of a file of preference pairs.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct PairFormat {
    /// Its name.
    pub name: &'static str,
    /// A description in one line.
    pub doc: &'static str,
    /// The header line that a file of such lines can have; empty if it has none.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub header: &'static str,
    /// An example of a line.
    pub example: &'static str,
}

/// Lines of files of preference pairs.
const PAIR_FORMATS: [PairFormat; 5] = [
    PairFormat {
        name: "preference",
        doc: "query, better document, worse document",
        header: "qid better worse",
        example: "q1 d7 d3",
    },
    PairFormat {
        name: "weight",
        doc: "a preference and its weight, above 0",
        header: "qid better worse weight",
        example: "q1 d7 d3 2.5",
    },
    PairFormat {
        name: "relation",
        doc: "query, A, one of `>`, `<` and `=` (equally good), B, and a weight if there is one",
        header: "",
        example: "q1 d7 > d3 2.5",
    },
    PairFormat {
        name: "probability",
        doc: "query, two documents, and the probability that the first is better, from 0 to 1; 0.5 \
              for equally good ones",
        header: "qid a b probability",
        example: "q1 d7 d3 0.7",
    },
    PairFormat {
        name: "probability and weight",
        doc: "a probability and the weight of the pair",
        header: "qid a b probability weight",
        example: "q1 d7 d3 0.7 3",
    },
];

/// Formats of judgements and runs: name, description, an example line.
const LIST_FORMATS: [[&str; 3]; 5] = [
    ["trec qrels", "judgements: query, ignored, document, relevance", "q1 0 d7 2"],
    ["trec run", "a run: query, ignored, document, rank, score, tag", "q1 Q0 d7 1 14.2 bm25"],
    [
        "table",
        "judgements or a run, tab-separated with a header (BEIR)",
        "query-id corpus-id score",
    ],
    [
        "jsonl qrels",
        "judgements as JSON lines",
        r#"{"query_id": "q1", "doc_id": "d7", "relevance": 2}"#,
    ],
    ["jsonl run", "a run as JSON lines", r#"{"query_id": "q1", "doc_id": "d7", "score": 14.2}"#],
];

/// All formats.
pub fn list_formats() -> FormatList {
    let data = FORMATS.iter().map(|info| FileFormat {
        name: info.name,
        extensions: info.extensions,
        doc: info.doc,
        example: info.example,
    });
    let lists = LIST_FORMATS.iter().map(|[name, doc, example]| FileFormat {
        name,
        extensions: &[],
        doc,
        example,
    });
    FormatList {
        data: data.collect(),
        judgements_and_runs: lists.collect(),
        preference_pairs: PAIR_FORMATS.to_vec(),
        documents: document_formats(),
        models: ModelFormat::all(),
    }
}

#[cfg(feature = "search")]
fn document_formats() -> Vec<FileFormat> {
    let format = |format: &DocumentFormat| FileFormat {
        name: format.name(),
        extensions: &[],
        doc: format.doc(),
        example: "",
    };
    DocumentFormat::ALL.iter().map(format).collect()
}

/// The formats of documents; none without the feature `search`.
#[cfg(not(feature = "search"))]
fn document_formats() -> Vec<FileFormat> {
    Vec::new()
}
