//! Presets: the conventions of known tools, as parameter values.
//!
//! A preset is a list of `key=value` for each metric that the tool has; what the user writes
//! beside it wins. Sources of the rules: the tools' own code, checked against their outputs in the
//! tests.

use super::registry::MetricInfo;
use rankwright_spec::SpecError;
use rankwright_spec::nearest;

type Values = &'static [(&'static str, &'static str)];

/// A preset and what it sets.
#[derive(Debug)]
pub struct PresetInfo {
    /// Name in specs.
    pub name: &'static str,
    /// Whose conventions.
    pub doc: &'static str,
    /// For each metric that the tool has: the values; entries with more than one match add up.
    pub rules: &'static [(&'static [&'static str], Values)],
}

/// Every preset.
pub const PRESETS: &[PresetInfo] = &[
    PresetInfo {
        name: "trec",
        doc: "trec_eval 10: linear gain, blank queries 0, queries the run lacks skipped (as without \
              -c), ties by docid, scores as 32-bit floats",
        rules: &[TREC],
    },
    PresetInfo {
        name: "trec9",
        doc: "trec_eval 9 and pytrec_eval: as trec, with the older rounding of recall in iprec",
        rules: &[TREC, (&["iprec"], &[("round", "up")])],
    },
    PresetInfo {
        name: "lightgbm",
        doc: "LightGBM's ndcg and map: blank queries 1, ties by row, AP over min(relevant, k)",
        rules: &[(
            &["ndcg", "ap"],
            &[("gain", "exp"), ("norm", "min"), ("blank", "1"), ("ties", "stable")],
        )],
    },
    PresetInfo {
        name: "xgboost",
        doc: "XGBoost 3's ndcg, map and pre: blank queries 1 (pre: 0), ties by row, AP over \
              min(relevant, k), P over min(documents, k)",
        rules: &[
            (
                &["ndcg", "ap"],
                &[("gain", "exp"), ("norm", "min"), ("blank", "1"), ("ties", "stable")],
            ),
            (&["p"], &[("blank", "0"), ("ties", "stable"), ("short", "list")]),
        ],
    },
    PresetInfo {
        name: "ranklib",
        doc: "RankLib: exponential gain, blank queries 0, ties by row, P over min(documents, k)",
        rules: &[
            (
                &["ndcg", "dcg", "ap", "rr", "err", "p"],
                &[("gain", "exp"), ("blank", "0"), ("ties", "stable")],
            ),
            (&["p"], &[("short", "list")]),
        ],
    },
    PresetInfo {
        name: "sklearn",
        doc: "scikit-learn's ndcg_score and dcg_score: linear gain, tied scores averaged, blank \
              queries 0",
        rules: &[(&["ndcg", "dcg"], &[("gain", "linear"), ("blank", "0"), ("ties", "mean")])],
    },
    PresetInfo {
        name: "yahoo",
        doc: "Yahoo! challenge: exponential gain, NDCG of blank queries 1, ERR on grades 0 to 4",
        rules: &[
            (&["ndcg"], &[("gain", "exp"), ("blank", "1")]),
            (&["err"], &[("max", "4"), ("blank", "0")]),
        ],
    },
    PresetInfo {
        name: "letor3",
        doc: "LETOR 3.0's script: as letor4, and P@k is 0 for lists shorter than k",
        rules: &[LETOR, LETOR_NDCG, (&["p"], &[("short", "zero")])],
    },
    PresetInfo {
        name: "letor4",
        doc: "LETOR 4.0's script: ranks 1 and 2 undiscounted, blank queries 0, ties by row, \
              NDCG@k is 0 for lists shorter than k, P@k divides by k",
        rules: &[LETOR, LETOR_NDCG, (&["p"], &[("short", "keep")])],
    },
];

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
const LETOR: (&[&str], Values) = (
    &["ndcg", "mean-ndcg", "dcg", "p", "ap"],
    &[("gain", "exp"), ("discount", "letor"), ("blank", "0"), ("ties", "stable")],
);
const LETOR_NDCG: (&[&str], Values) = (&["ndcg"], &[("short", "zero")]);

impl PresetInfo {
    /// Whether the tool has the metric.
    pub fn covers(&self, metric: &str) -> bool {
        self.rules.iter().any(|(metrics, _)| metrics.contains(&metric))
    }
}

/// What a preset says about a metric.
pub(crate) fn preset_values(
    info: &MetricInfo,
    name: &str,
) -> Result<Vec<(&'static str, &'static str)>, SpecError> {
    let found = PRESETS.iter().find(|p| p.name == name && p.covers(info.name));
    let Some(preset) = found else {
        let known: Vec<&str> =
            PRESETS.iter().filter(|p| p.covers(info.name)).map(|p| p.name).collect();
        let hint = nearest(name, &known).map(|n| format!(" (did you mean {n}?)"));
        return Err(SpecError::BadValue {
            name: info.name.to_owned(),
            key: "preset".to_owned(),
            value: name.to_owned(),
            expected: match known.is_empty() {
                true => "none: no preset knows this metric".to_owned(),
                false => format!("{}{}", known.join(" | "), hint.unwrap_or_default()),
            },
        });
    };
    let rules = preset.rules.iter().filter(|(metrics, _)| metrics.contains(&info.name));
    Ok(rules.flat_map(|(_, values)| values.iter().copied()).collect())
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
    fn written_parameters_beat_the_preset() {
        let spec = MetricSpec::parse("ndcg(preset=letor4, ties=worst)@10").unwrap();
        let said = spec.resolve(SourceKind::Features).unwrap().convention().to_owned();
        assert_eq!(
            said,
            "gain=exp, discount=letor, short=zero, cutoff=10, blank=0, missing=zero, \
             unjudged=nonrel, ties=worst, scores=f64"
        );
    }

    #[test]
    fn a_preset_without_the_metric_lists_those_that_have_it() {
        let error = MetricSpec::parse("err(preset=yaho)").unwrap_err().to_string();
        assert!(error.ends_with("expected ranklib | yahoo (did you mean yahoo?)"), "{error}");
        let none = MetricSpec::parse("rbp(preset=trec)").unwrap_err().to_string();
        assert!(none.contains("no parameter `preset`"), "{none}");
    }
}
