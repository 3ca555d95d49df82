//! Equal to trec_eval, per query and in total, to the four digits that it prints.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use crate::common::data;
use crate::common::trec::Run;
use rankwright_eval::{
    EvalOptions, Measure, MeasureResult, MetricSpec, QuerySource, evaluate, expand,
};
use rankwright_spec::Spec;

/// One call of trec_eval.
struct Call<'a> {
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

/// The spec for a name that trec_eval prints, if it is one of ours.
fn spec_of(name: &str, call: &Call<'_>) -> Option<Spec> {
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

/// Evaluates every known name of an expected output and compares all its lines.
fn check(folder: &Path, call: &Call<'_>) -> Vec<String> {
    let run = Run::read(&folder.join(call.qrels), &folder.join(call.run));
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

fn compare(result: &MeasureResult, q: Option<usize>, query: &str, expected: &str, output: &str) {
    let value = match q {
        None => result.value,
        Some(q) => result.values[q].unwrap_or_else(|| panic!("{} {query}", result.measure)),
    };
    let wanted: f64 = expected.parse().unwrap();
    let close = (value - wanted).abs() < 5.001e-5;
    assert!(close, "{output}: {} {query}: found {value}, expected {expected}", result.measure);
}

/// Names that the issue lists must be among those compared.
fn assert_covers(names: &[String], wanted: &[&str]) {
    for prefix in wanted {
        assert!(
            names.iter().any(|n| n.starts_with(prefix)),
            "{prefix} was not compared: {names:?}"
        );
    }
}

const WANTED: &[&str] = &[
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
fn trec_evals_own_tests_come_out() {
    let Some(folder) = data("trec_eval-tests") else { return };
    let plain = Call {
        qrels: "qrels.test",
        run: "results.test",
        output: "out.test.aq",
        complete: false,
        level: None,
        depth: None,
    };
    assert_covers(&check(&folder, &plain), WANTED);
    check(&folder, &Call { output: "out.test.a", ..plain });
    check(&folder, &Call { output: "out.test", ..plain });
    let complete = Call { run: "results.trunc", complete: true, output: "out.test.aqc", ..plain };
    assert_covers(&check(&folder, &complete), WANTED);
    check(&folder, &Call { depth: Some(100), output: "out.test.aqcM", ..complete });
    let level = Call { level: Some(2), qrels: "qrels.rel_level", output: "out.test.aql", ..plain };
    assert_covers(&check(&folder, &level), WANTED);
}

#[test]
fn graded_runs_of_784_queries_equal_trec_eval_10() {
    let Some(folder) = data("metric-conformance") else { return };
    for name in ["mq2008-svm_rank", "mq2008-AdaRank"] {
        let call = Call {
            qrels: &format!("{name}.qrels"),
            run: &format!("{name}.run"),
            output: &format!("{name}.trec_eval.out"),
            complete: true,
            level: None,
            depth: None,
        };
        assert_covers(&check(&folder, &call), WANTED);
    }
}

#[test]
fn the_official_set_is_what_trec_eval_prints_without_options() {
    let Some(folder) = data("trec_eval-tests") else { return };
    let text = fs::read_to_string(folder.join("out.test")).unwrap();
    let printed: Vec<&str> = text.lines().filter_map(|l| l.split_whitespace().next()).collect();
    let ours: Vec<String> = expand("trec_eval").unwrap().iter().map(|m| m.to_string()).collect();
    let names: Vec<&str> = ours.iter().map(|n| n.split('(').next().unwrap()).collect();
    assert_eq!(names, printed[1..], "after runid");
}
