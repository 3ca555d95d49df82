//! Tests of every metric in the list.

use super::*;
use crate::list::Candidates;
use crate::metric::MetricSpec;
use crate::source::SourceKind;
use std::collections::HashSet;

#[test]
fn every_metric_has_help_and_an_example_that_prints_back_and_evaluates() {
    for metric in METRICS {
        assert!(!metric.help.is_empty() && !metric.help.contains('\n'), "{}", metric.name);
        let spec = MetricSpec::parse(metric.example).unwrap();
        assert_eq!(spec.to_string(), metric.example);
        assert_eq!(spec.def().name, metric.name);
        for kind in [SourceKind::Features, SourceKind::Run] {
            let measure = spec.resolve(kind).unwrap();
            let candidates = Candidates {
                scores: vec![0.9, 0.1, 0.5],
                labels: vec![0.0, 2.0, 1.0],
                preferences: vec![(0, 1, 1.0), (1, 2, 1.0)],
                returned: true,
                ..Candidates::default()
            };
            let value = measure.of_candidates(&candidates).unwrap().unwrap();
            assert!(value.is_finite(), "{}: {value}", metric.name);
        }
    }
}

/// A ranking with every pair right has a better value than one with every pair wrong: a metric that
/// declares the wrong direction would train and stop the wrong way round.
#[test]
fn the_better_direction_is_that_of_a_better_ranking() {
    use crate::compare::Better;
    for name in
        ["ndcg@2", "ap", "rr", "err", "p@1", "pair-accuracy", "inversions", "auc", "kendall"]
    {
        let measure = MetricSpec::parse(name).unwrap().resolve(SourceKind::Features).unwrap();
        let of = |scores: &[f64]| measure.of(scores, &[0.0, 1.0, 2.0]).unwrap().unwrap();
        let (right, wrong) = (of(&[1.0, 2.0, 3.0]), of(&[3.0, 2.0, 1.0]));
        match measure.metric().better() {
            Better::Higher => assert!(right > wrong, "{name}: {right} {wrong}"),
            Better::Lower => assert!(right < wrong, "{name}: {right} {wrong}"),
        }
    }
}

#[test]
fn every_parameter_is_documented_and_its_default_is_legal() {
    for metric in METRICS {
        for param in metric.params() {
            assert!(param.help.ends_with('.'), "{}: {}", param.name, param.help);
            let Some(default) = param.default else { continue };
            let needed = match metric.name {
                "iprec" => "recall=0.1, ",
                "goals" => "of=rr:1, ",
                _ => "",
            };
            let (name, key) = (metric.name, param.name);
            let spec = format!("{name}({needed}{key}={default})");
            let without = format!("{name}({})", needed.trim_end_matches(", "));
            for kind in [SourceKind::Features, SourceKind::Run] {
                let measure = |text: &str| MetricSpec::parse(text).unwrap().resolve(kind).unwrap();
                let (given, default) = (measure(&spec), measure(&without));
                assert_eq!(given.convention(), default.convention(), "{spec}");
            }
        }
    }
}

#[test]
fn a_metric_describes_itself_as_json() {
    let def = serde_json::to_value(MetricSpec::parse("rbp").unwrap().def()).unwrap();
    assert_eq!((&def["name"], &def["cutoff"]), (&"rbp".into(), &true.into()));
    let p = &def["parameters"][0];
    assert_eq!(
        (&p["name"], &p["type"], &p["default"]),
        (&"p".into(), &"number".into(), &"0.8".into())
    );
    assert_eq!(p["range"]["max_excluded"], true);
    assert_eq!(def["parameters"][2]["requires"], "max=none");
}

#[test]
fn typed_parameters_and_specs_are_the_same_metric() {
    use crate::metric::{ApNorm, ApParams, MetricParams, RmseParams};
    use crate::metric::{BlankOptions, NormOptions, RelOptions, UnjudgedOptions};
    use crate::{Blank, Unjudged};
    let ap = ApParams::default().norm(ApNorm::AtMostCutoff).rel(2.0).blank(Blank::One);
    assert_eq!(ap.spec(Some(7)).unwrap().to_string(), "ap(norm=min, rel=2, blank=1)@7");
    let rmse = RmseParams::default().unjudged(Unjudged::NonRelevant);
    assert_eq!(rmse.spec(None).unwrap().to_string(), "rmse(unjudged=nonrel)");
    let wrong = ApParams::default().rel(0.0).spec(None).unwrap_err().to_string();
    assert_eq!(wrong, "`ap`: rel=0 is not allowed; expected a number above 0");
}

#[test]
fn names_and_aliases_are_unique_without_regard_to_case() {
    let mut seen = HashSet::new();
    for metric in METRICS {
        for name in metric.aliases.iter().chain([&metric.name]) {
            assert!(seen.insert(name.to_ascii_lowercase()), "{name} twice");
        }
    }
}

#[test]
fn empty_and_single_document_queries_never_fail() {
    for metric in METRICS {
        let measure = MetricSpec::parse(metric.example).unwrap();
        let measure = measure.resolve(SourceKind::Features).unwrap();
        for labels in [&[][..], &[0.0], &[1.0], &[-1.0]] {
            let value = measure.of(&vec![0.3; labels.len()], labels).unwrap();
            assert!(value.is_none_or(f64::is_finite), "{} {labels:?}", metric.name);
        }
    }
}

#[test]
fn conventions_name_every_parameter_of_the_metric() {
    for metric in METRICS {
        let measure = MetricSpec::parse(metric.example).unwrap();
        let measure = measure.resolve(SourceKind::Run).unwrap();
        for param in metric.params().iter().filter(|p| p.name != "preset") {
            let convention = measure.convention();
            let key = format!("{}=", param.name);
            assert!(convention.contains(&key), "{}: {convention}", metric.name);
        }
        if metric.cutoff {
            assert!(measure.convention().contains("cutoff="), "{}", metric.name);
        }
    }
}
