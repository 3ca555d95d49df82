//! Names of metrics: those of their declarations, aliases, and trec_eval's names.
//!
//! trec_eval's names stand for the metric under `preset=trec`: `P_10` is `p(preset=trec)@10`. They
//! are matched first, and exactly; other names without regard to case. Parameters may follow
//! (`P_10(missing=zero)`), and `trec_eval` stands for trec_eval's official set.

use rankwright_spec::{Spec, SpecError, nearest, split_specs};

use super::{METRICS, MetricDef, MetricSpec};

/// trec_eval names that end in a cut-off, and their metrics.
const WITH_CUTOFF: [(&str, &str); 5] = [
    ("P_", "p"),
    ("recall_", "recall"),
    ("ndcg_cut_", "ndcg"),
    ("map_cut_", "ap"),
    ("success_", "success"),
];

/// trec_eval names without a cut-off. `map`, `ndcg` and `bpref` are not listed, as they are our
/// names too.
const WITHOUT_CUTOFF: [(&str, &str); 3] =
    [("recip_rank", "rr"), ("Rprec", "rprec"), ("gm_map", "gmap")];

/// The official set of metrics, which trec_eval prints without options.
const OFFICIAL_METRICS: [&str; 29] = [
    "num_q(preset=trec)",
    "num_ret(preset=trec)",
    "num_rel(preset=trec)",
    "num_rel_ret(preset=trec)",
    "map(preset=trec)",
    "gm_map",
    "Rprec",
    "bpref(preset=trec)",
    "recip_rank",
    "iprec_at_recall_0.00",
    "iprec_at_recall_0.10",
    "iprec_at_recall_0.20",
    "iprec_at_recall_0.30",
    "iprec_at_recall_0.40",
    "iprec_at_recall_0.50",
    "iprec_at_recall_0.60",
    "iprec_at_recall_0.70",
    "iprec_at_recall_0.80",
    "iprec_at_recall_0.90",
    "iprec_at_recall_1.00",
    "P_5",
    "P_10",
    "P_15",
    "P_20",
    "P_30",
    "P_100",
    "P_200",
    "P_500",
    "P_1000",
];

/// The metric of a trec_eval name; `None` for other names.
pub(crate) fn parse_trec_name(name: &str) -> Option<Spec> {
    let trec = |metric: &str| Spec::new(metric).with("preset", "trec");
    if let Some((_, metric)) = WITHOUT_CUTOFF.iter().find(|(n, _)| *n == name) {
        return Some(trec(metric));
    }
    if let Some(level) = name.strip_prefix("iprec_at_recall_") {
        return level.parse::<f64>().ok().map(|_| trec("iprec").with("recall", level));
    }
    WITH_CUTOFF.iter().find_map(|(prefix, metric)| {
        let k = name.strip_prefix(prefix)?.parse().ok().filter(|k| *k > 0)?;
        Some(trec(metric).at(k))
    })
}

/// The metric with this name or alias, in upper or lower case.
pub(crate) fn find_metric(name: &str) -> Result<&'static MetricDef, SpecError> {
    let is_name = |n: &&str| n.eq_ignore_ascii_case(name);
    let found = METRICS.iter().copied().find(|m| is_name(&m.name) || m.aliases.iter().any(is_name));
    found.ok_or_else(|| {
        let names = METRICS.iter().map(|m| m.name);
        let all: Vec<&str> =
            names.clone().chain(METRICS.iter().flat_map(|m| m.aliases).copied()).collect();
        SpecError::UnknownName {
            kind: "metric",
            found: name.to_owned(),
            nearest: nearest(name, &all),
            known: names.map(str::to_owned).collect(),
        }
    })
}

/// Reads a comma-separated list of metrics; the name `trec_eval` stands for trec_eval's official
/// set.
///
/// ```
/// use rankwright_eval::parse_metrics;
///
/// let metrics = parse_metrics("P_10, ndcg(gain=linear, blank=0)@5")?;
/// assert_eq!(metrics[0].canonical().to_string(), "p(preset=trec)@10");
/// assert_eq!(metrics[1].to_string(), "ndcg(gain=linear, blank=0)@5");
/// assert_eq!(parse_metrics("trec_eval")?.len(), 29);
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
pub fn parse_metrics(text: &str) -> Result<Vec<MetricSpec>, SpecError> {
    let parts = split_specs(text);
    if parts.is_empty() {
        // An empty list is a mistake; the parser's error says what was expected.
        return MetricSpec::parse(text).map(|m| vec![m]);
    }
    let names = parts.into_iter().flat_map(|part| match part {
        "trec_eval" => OFFICIAL_METRICS.to_vec(),
        other => vec![other],
    });
    names.map(MetricSpec::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trec_eval_names_stand_for_metrics_with_the_trec_preset() {
        for (name, spec) in [
            ("P_10", "p(preset=trec)@10"),
            ("recall_100", "recall(preset=trec)@100"),
            ("ndcg_cut_10", "ndcg(preset=trec)@10"),
            ("map_cut_10", "ap(preset=trec)@10"),
            ("success_5", "success(preset=trec)@5"),
            ("iprec_at_recall_0.10", "iprec(preset=trec, recall=0.10)"),
            ("Rprec", "rprec(preset=trec)"),
            ("recip_rank", "rr(preset=trec)"),
            ("gm_map", "gmap(preset=trec)"),
            ("P_10(missing=zero)", "p(preset=trec, missing=zero)@10"),
            ("MAP", "ap"),
            ("nDCG@10", "ndcg@10"),
        ] {
            let parsed = MetricSpec::parse(name).unwrap();
            assert_eq!(parsed.canonical().to_string(), spec);
            assert_eq!(parsed.to_string(), name);
        }
    }

    #[test]
    fn the_error_for_an_unknown_name_suggests_the_nearest() {
        let error = MetricSpec::parse("ncdg@10").unwrap_err().to_string();
        assert!(
            error.starts_with("unknown metric `ncdg` (did you mean `ndcg`?); known: "),
            "{error}"
        );
        let twice = MetricSpec::parse("P_10@5").unwrap_err();
        let expected = "`P_10`: the name already contains a cut-off, and @5 was given";
        assert_eq!(twice.to_string(), expected);
        assert_eq!(twice.help().unwrap(), "leave @5 out");
        assert!(MetricSpec::parse("P_0").is_err());
        assert!(parse_metrics(" ").is_err());
    }
}
