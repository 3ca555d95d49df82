//! Tests that values are equal to those of trec_eval, of each query and in total, to the four
//! digits that it prints.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use crate::common::data;
use crate::common::trec::JudgedRun;
use rankwright_eval::{
    EvalOptions, Measure, MeasureResult, MetricSpec, QuerySource, evaluate, parse_metrics,
};
use rankwright_spec::Spec;

/// A call of trec_eval: its input files, the file with its output, and its options.
struct TrecEvalCall<'a> {
    qrels: &'a str,
    run: &'a str,
    output: &'a str,
    /// -c: judged queries that the run lacks count 0.
    complete: bool,
    /// -l: lowest relevant label.
    level: Option<u32>,
    /// -M: maximum number of documents per query.
    depth: Option<usize>,
}

/// Our spec for a name that trec_eval prints; `None` if we do not have the metric.
fn spec_of(name: &str, call: &TrecEvalCall<'_>) -> Option<Spec> {
    let written = match name {
        // trec_eval 10's own rbp divides labels by the best label of each query, unlike ours.
        "rbp" => return None,
        "map" | "ndcg" | "bpref" | "num_q" | "num_ret" | "num_rel" | "num_rel_ret" => {
            format!("{name}(preset=trec)")
        }
        _ => name.to_owned(),
    };
    let found = MetricSpec::parse(&written).ok()?;
    let mut spec = found.canonical().clone();
    if call.complete {
        spec = spec.with("missing", "zero");
    }
    let level = call.level.filter(|_| found.def().params().iter().any(|p| p.name == "rel"));
    if let Some(level) = level {
        spec = spec.with("rel", level.to_string());
    }
    Some(spec)
}

/// Evaluates every metric of an expected output that we have, compares all lines with them, and
/// returns their names.
fn check(folder: &Path, call: &TrecEvalCall<'_>) -> Vec<String> {
    let run = JudgedRun::read(&folder.join(call.qrels), &folder.join(call.run));
    let text = fs::read_to_string(folder.join(call.output)).unwrap();
    let lines: Vec<[&str; 3]> = text
        .lines()
        .map(|l| l.split_whitespace().collect::<Vec<_>>().try_into().unwrap())
        .collect();
    let mut names: Vec<&str> = Vec::new();
    let mut measures: Vec<Measure> = Vec::new();
    let mut seen: HashSet<&str> = HashSet::new();
    for [name, _, _] in &lines {
        if seen.insert(name)
            && let Some(spec) = spec_of(name, call)
        {
            names.push(name);
            measures.push(MetricSpec::from_spec(spec).unwrap().resolve(run.kind()).unwrap());
        }
    }
    let found = evaluate(&run, &measures, EvalOptions::default().depth(call.depth)).unwrap();
    let by_name: HashMap<&str, usize> = names.iter().enumerate().map(|(i, n)| (*n, i)).collect();
    let rows: HashMap<&str, usize> =
        found.queries.iter().enumerate().map(|(i, q)| (q.as_str(), i)).collect();
    for [name, query, expected] in lines {
        if let Some(&m) = by_name.get(name) {
            let q = (query != "all").then(|| rows[query]);
            compare(&found.results[m], q, query, expected, call.output);
        }
    }
    names.into_iter().map(str::to_owned).collect()
}

/// Compares a value with a line of trec_eval's output; `q` is the query's number, `None` for the
/// total.
fn compare(result: &MeasureResult, q: Option<usize>, query: &str, expected: &str, output: &str) {
    let value = match q {
        None => result.value,
        Some(q) => result.values[q].unwrap_or_else(|| panic!("{} {query}", result.measure)),
    };
    let expected_value: f64 = expected.parse().unwrap();
    let close = (value - expected_value).abs() < 5.001e-5;
    assert!(close, "{output}: {} {query}: found {value}, expected {expected}", result.measure);
}

/// Checks that for each prefix a name was compared that starts with it.
fn assert_covers(names: &[String], prefixes: &[&str]) {
    for prefix in prefixes {
        assert!(
            names.iter().any(|n| n.starts_with(prefix)),
            "{prefix} was not compared: {names:?}"
        );
    }
}

/// The beginnings of names that must be compared.
const NEEDED_NAMES: &[&str] = &[
    "num_q",
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "map",
    "gm_map",
    "Rprec",
    "bpref",
    "recip_rank",
    "iprec_at_recall_0.00",
    "iprec_at_recall_1.00",
    "P_5",
    "P_10",
    "recall_5",
    "ndcg",
    "ndcg_cut_10",
    "success_1",
    "success_10",
    "map_cut_100",
];

#[test]
fn the_outputs_of_trec_evals_own_tests_are_reproduced() {
    let Some(folder) = data("trec_eval-tests") else { return };
    let without_options = TrecEvalCall {
        qrels: "qrels.test",
        run: "results.test",
        output: "out.test.aq",
        complete: false,
        level: None,
        depth: None,
    };
    assert_covers(&check(&folder, &without_options), NEEDED_NAMES);
    check(&folder, &TrecEvalCall { output: "out.test.a", ..without_options });
    check(&folder, &TrecEvalCall { output: "out.test", ..without_options });
    let complete = TrecEvalCall {
        run: "results.trunc",
        complete: true,
        output: "out.test.aqc",
        ..without_options
    };
    assert_covers(&check(&folder, &complete), NEEDED_NAMES);
    check(&folder, &TrecEvalCall { depth: Some(100), output: "out.test.aqcM", ..complete });
    let level = TrecEvalCall {
        level: Some(2),
        qrels: "qrels.rel_level",
        output: "out.test.aql",
        ..without_options
    };
    assert_covers(&check(&folder, &level), NEEDED_NAMES);
}

#[test]
fn graded_runs_of_784_queries_equal_trec_eval_10() {
    let Some(folder) = data("metric-conformance") else { return };
    for name in ["mq2008-svm_rank", "mq2008-AdaRank"] {
        let call = TrecEvalCall {
            qrels: &format!("{name}.qrels"),
            run: &format!("{name}.run"),
            output: &format!("{name}.trec_eval.out"),
            complete: true,
            level: None,
            depth: None,
        };
        assert_covers(&check(&folder, &call), NEEDED_NAMES);
    }
}

#[test]
fn the_official_set_has_the_metrics_that_trec_eval_prints_without_options() {
    let Some(folder) = data("trec_eval-tests") else { return };
    let text = fs::read_to_string(folder.join("out.test")).unwrap();
    let printed: Vec<&str> = text.lines().filter_map(|l| l.split_whitespace().next()).collect();
    let ours: Vec<String> =
        parse_metrics("trec_eval").unwrap().iter().map(|m| m.to_string()).collect();
    let names: Vec<&str> = ours.iter().map(|n| n.split('(').next().unwrap()).collect();
    assert_eq!(names, printed[1..], "after runid");
}
