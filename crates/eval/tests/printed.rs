//! Tests that the conventions printed with a result stay the same: for every metric alone, under
//! every preset, and with other parameters they equal the record in `printed.tsv`.

use rankwright_eval::{METRICS, MetricSpec, PRESETS, SourceKind};

/// Specs beyond bare names and presets, in which each parameter occurs.
const SPECS_WITH_PARAMETERS: &[&str] = &[
    "ndcg(gain=0/1/3.5/7, discount=letor, short=zero, blank=1, missing=skip, unjudged=drop, ties=mean, scores=f32)@10",
    "dcg(gain=linear, discount=zipf)@3",
    "mean-ndcg(discount=none)",
    "ap(norm=min, rel=2)@100",
    "gmap(floor=0.001)",
    "rr(rel=0.5)@10",
    "err(max=2)@20",
    "rbp(p=0.5)@10",
    "rbp(p=0.95, max=4)",
    "rbp(rel=2)",
    "rbp-residual(p=0.5)@10",
    "p(short=list, rel=2)@10",
    "iprec(recall=0.25, round=up)",
    "q(beta=0, gain=exp, norm=min)@10",
    "judged@10",
    "accuracy(threshold=-0.5, over=queries)",
    "rmse(over=queries)",
    "mae",
    "P_10(missing=zero)",
    "iprec_at_recall_0.10",
    "gm_map",
    "MAP@5",
];

/// The lines of a metric: its conventions for feature data, and for runs if they differ.
fn lines_of(text: &str) -> String {
    let spec = MetricSpec::parse(text).unwrap();
    let convention = |kind| spec.resolve(kind).unwrap().convention().to_owned();
    let (features, run) = (convention(SourceKind::Features), convention(SourceKind::Run));
    match features == run {
        true => format!("{spec}\t{features}\n"),
        false => format!("{spec}\t{features}\n{spec}\t{run}\n"),
    }
}

/// The lines of the record.
fn printed() -> String {
    let mut found = String::new();
    for metric in METRICS {
        let needed = match metric.name {
            "iprec" => "recall=0.1",
            "goals" => "of=rr:1",
            _ => "",
        };
        found.push_str(&lines_of(&format!("{}({needed})", metric.name)));
        let needed = if metric.name == "iprec" { ", recall=0.1" } else { "" };
        for preset in PRESETS.iter().filter(|preset| preset.covers(metric.name)) {
            found.push_str(&lines_of(&format!("{}(preset={}{needed})", metric.name, preset.name)));
        }
    }
    SPECS_WITH_PARAMETERS.iter().for_each(|text| found.push_str(&lines_of(text)));
    found
}

#[test]
fn printed_conventions_equal_the_record() {
    let (found, record) = (printed(), include_str!("printed.tsv"));
    for (found, record) in found.lines().zip(record.lines()) {
        assert_eq!(found, record);
    }
    assert_eq!(found.lines().count(), record.lines().count());
}

#[test]
#[ignore = "rewrites the record"]
fn write_the_printed_conventions() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/printed.tsv");
    std::fs::write(path, printed()).unwrap();
}
