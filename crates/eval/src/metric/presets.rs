//! Presets: the conventions of known tools (how ties, unjudged documents and so on are treated), as
//! parameter values.
//!
//! A preset has values of parameters for each metric that the tool has; parameters in the user's
//! spec override them. The values follow the tools' own code and are checked against their outputs
//! in tests. A blank query is one without a relevant document.

use rankwright_spec::{ParamKind, ParamValue, RangeDef, SpecError, ValueError, nearest, params};
use serde::Serialize;

use super::{MetricDef, MetricParams};

/// Parameter values of a preset, as `(key, value)`.
type Values = &'static [(&'static str, &'static str)];

/// The conventions of a tool.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct PresetDef {
    /// Name in specs.
    pub name: &'static str,
    /// The tool and its conventions.
    pub help: &'static str,
    /// Rules: metrics that the tool has, and the values of their parameters. All rules that list a
    /// metric apply to it; a value whose key a metric lacks is ignored for it.
    #[serde(skip)]
    pub(crate) rules: &'static [(&'static [&'static str], Values)],
}

/// A preset as the value of a parameter.
#[derive(Debug, Clone, Copy)]
pub struct Preset(&'static PresetDef);

impl Preset {
    /// The preset with this name.
    pub fn named(name: &str) -> Option<Self> {
        PRESETS.iter().find(|preset| preset.name == name).map(Self)
    }

    /// The declaration of the preset.
    pub fn def(self) -> &'static PresetDef {
        self.0
    }
}

impl PartialEq for Preset {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl ParamValue for Preset {
    fn kind() -> ParamKind {
        ParamKind::Choice { values: PRESETS.iter().map(|preset| preset.name).collect() }
    }

    fn read(text: &str, range: &RangeDef) -> Result<Self, ValueError> {
        Self::named(text).ok_or_else(|| ValueError::Expected(Self::kind().expected(range)))
    }

    fn write(&self) -> String {
        self.0.name.to_owned()
    }
}

params! {
    /// The tool whose conventions a metric follows. A preset only takes effect when a spec is read.
    pub struct PresetParams {
        preset: Option<Preset> = None, ..,
            "Conventions of a known tool; other parameters of the spec override it.";
    }
}

/// Every preset.
pub static PRESETS: &[PresetDef] = &[
    PresetDef {
        name: "trec",
        help: "trec_eval 10: linear gain, queries without relevant documents 0, queries the run lacks \
              skipped (as without -c), ties by docid, scores as 32-bit floats",
        rules: &[TREC],
    },
    PresetDef {
        name: "trec9",
        help: "trec_eval 9 and pytrec_eval: as trec, with the older rounding of recall in iprec",
        rules: &[TREC, (&["iprec"], &[("round", "up")])],
    },
    PresetDef {
        name: "lightgbm",
        help: "LightGBM's ndcg and map: blank queries 1, ties by row, AP over min(relevant, k)",
        rules: &[(
            &["ndcg", "ap"],
            &[("gain", "exp"), ("norm", "min"), ("blank", "1"), ("ties", "stable")],
        )],
    },
    PresetDef {
        name: "xgboost",
        help: "XGBoost 3's ndcg, map and pre: blank queries 1 (pre: 0), ties by row, AP over \
              min(relevant, k), P over min(documents, k)",
        rules: &[
            (
                &["ndcg", "ap"],
                &[("gain", "exp"), ("norm", "min"), ("blank", "1"), ("ties", "stable")],
            ),
            (&["p"], &[("blank", "0"), ("ties", "stable"), ("short", "list")]),
        ],
    },
    PresetDef {
        name: "ranklib",
        help: "RankLib: exponential gain, blank queries 0, ties by row, P over min(documents, k)",
        rules: &[
            (
                &["ndcg", "dcg", "ap", "rr", "err", "p"],
                &[("gain", "exp"), ("blank", "0"), ("ties", "stable")],
            ),
            (&["p"], &[("short", "list")]),
        ],
    },
    PresetDef {
        name: "sklearn",
        help: "scikit-learn's ndcg_score and dcg_score: linear gain, tied scores averaged, blank \
              queries 0",
        rules: &[(&["ndcg", "dcg"], &[("gain", "linear"), ("blank", "0"), ("ties", "mean")])],
    },
    PresetDef {
        name: "yahoo",
        help: "Yahoo! challenge: exponential gain, NDCG of blank queries 1, ERR on grades 0 to 4",
        rules: &[
            (&["ndcg"], &[("gain", "exp"), ("blank", "1")]),
            (&["err"], &[("max", "4"), ("blank", "0")]),
        ],
    },
    PresetDef {
        name: "letor3",
        help: "LETOR 3.0's script: as letor4, and P@k is 0 for lists shorter than k",
        rules: &[LETOR, LETOR_NDCG, (&["p"], &[("short", "zero")])],
    },
    PresetDef {
        name: "letor4",
        help: "LETOR 4.0's script: ranks 1 and 2 undiscounted, blank queries 0, ties by row, \
              NDCG@k is 0 for lists shorter than k, P@k divides by k",
        rules: &[LETOR, LETOR_NDCG, (&["p"], &[("short", "keep")])],
    },
];

/// The rule of trec_eval.
const TREC: (&[&str], Values) = (
    &[
        "ndcg",
        "ap",
        "gmap",
        "rr",
        "p",
        "recall",
        "rprec",
        "success",
        "bpref",
        "iprec",
        "num_q",
        "num_ret",
        "num_rel",
        "num_rel_ret",
    ],
    &[
        ("gain", "linear"),
        ("blank", "0"),
        ("missing", "skip"),
        ("ties", "docid"),
        ("scores", "f32"),
    ],
);
/// The rule of LETOR's scripts.
const LETOR: (&[&str], Values) = (
    &["ndcg", "mean-ndcg", "dcg", "p", "ap"],
    &[("gain", "exp"), ("discount", "letor"), ("blank", "0"), ("ties", "stable")],
);
/// The additional rule of LETOR's scripts for NDCG.
const LETOR_NDCG: (&[&str], Values) = (&["ndcg"], &[("short", "zero")]);

impl PresetDef {
    /// Whether the tool has the metric.
    pub fn covers(&self, metric: &str) -> bool {
        self.rules.iter().any(|(metrics, _)| metrics.contains(&metric))
    }
}

/// Sets the values of a preset in the parameters of a metric.
pub(crate) fn apply_preset(
    def: &MetricDef,
    name: &str,
    params: &mut dyn MetricParams,
) -> Result<(), SpecError> {
    let found = PRESETS.iter().find(|preset| preset.name == name && preset.covers(def.name));
    let preset = found.ok_or_else(|| unknown_preset(def, name))?;
    let rules = preset.rules.iter().filter(|(metrics, _)| metrics.contains(&def.name));
    for (key, value) in rules.flat_map(|(_, values)| values.iter()) {
        // A key that the metric lacks is ignored: a rule may be for several metrics.
        params.set(key, value).map_err(|error| error.at(def.name, key, value))?;
    }
    Ok(())
}

fn unknown_preset(def: &MetricDef, name: &str) -> SpecError {
    let known: Vec<&str> =
        PRESETS.iter().filter(|preset| preset.covers(def.name)).map(|preset| preset.name).collect();
    let hint = nearest(name, &known).map(|near| format!(" (did you mean {near}?)"));
    SpecError::BadValue {
        name: def.name.to_owned(),
        key: "preset".to_owned(),
        value: name.to_owned(),
        expected: format!("{}{}", known.join(" | "), hint.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{METRICS, MetricSpec};
    use crate::source::SourceKind;

    #[test]
    fn every_preset_resolves_for_every_metric_that_it_covers() {
        for preset in PRESETS {
            for metric in METRICS.iter().filter(|m| preset.covers(m.name)) {
                let extra = if metric.name == "iprec" { ", recall=0.1" } else { "" };
                let spec = format!("{}(preset={}{extra})", metric.name, preset.name);
                MetricSpec::parse(&spec).unwrap().resolve(SourceKind::Run).unwrap();
            }
            for (metrics, _) in preset.rules {
                for name in *metrics {
                    assert!(METRICS.iter().any(|m| m.name == *name), "{name}");
                }
            }
        }
    }

    #[test]
    fn the_metrics_that_take_a_preset_are_those_that_one_covers() {
        for metric in METRICS {
            let takes = metric.params().iter().any(|param| param.name == "preset");
            let covered = PRESETS.iter().any(|preset| preset.covers(metric.name));
            assert_eq!(takes, covered, "{}", metric.name);
        }
    }

    #[test]
    fn every_value_of_a_preset_is_known_to_a_metric_of_its_rule() {
        for (metrics, values) in PRESETS.iter().flat_map(|preset| preset.rules) {
            for (key, _) in *values {
                let knows = |name: &&str| {
                    let def = METRICS.iter().find(|m| m.name == *name).unwrap();
                    def.params().iter().any(|param| param.name == *key)
                };
                assert!(metrics.iter().any(knows), "{key} of {metrics:?}");
            }
        }
    }

    #[test]
    fn a_spec_made_of_typed_parameters_has_their_values_not_those_of_the_preset() {
        use crate::metric::NdcgParams;
        let mut params = NdcgParams::default();
        params.preset.preset = Preset::named("trec");
        let spec = params.spec(Some(5)).unwrap();
        let with_preset = spec.resolve(SourceKind::Run).unwrap();
        let without = NdcgParams::default().spec(Some(5)).unwrap();
        let without = without.resolve(SourceKind::Run).unwrap();
        // `ties` is docid in both: from the preset, and from `auto` for runs.
        assert_eq!(with_preset.convention(), without.convention());
    }

    #[test]
    fn parameters_of_a_spec_override_the_preset() {
        let spec = MetricSpec::parse("ndcg(preset=letor4, ties=worst)@10").unwrap();
        let convention = spec.resolve(SourceKind::Features).unwrap().convention().to_owned();
        assert_eq!(
            convention,
            "gain=exp, discount=letor, short=zero, cutoff=10, blank=0, missing=zero, \
             unjudged=nonrel, ties=worst, scores=f64"
        );
    }

    #[test]
    fn the_error_for_an_unknown_preset_lists_those_of_the_metric() {
        let error = MetricSpec::parse("err(preset=yaho)").unwrap_err().to_string();
        assert!(error.ends_with("expected ranklib | yahoo (did you mean yahoo?)"), "{error}");
        let none = MetricSpec::parse("rbp(preset=trec)").unwrap_err().to_string();
        assert!(none.contains("no parameter `preset`"), "{none}");
    }
}
