//! A data report as JSON: every number of the page, and every feature.

use rankwright_data::FeatureSummary;
use serde_json::{Value, json};

use super::histogram::{Bin, bins};
use super::relation::Relation;
use super::spread::{Bins, Spread};
use super::{DataReport, missing};

pub(super) fn report(report: &DataReport) -> Value {
    let s = &report.summary;
    let labels: Vec<Value> =
        s.labels.iter().map(|(label, rows)| json!({ "label": label, "rows": rows })).collect();
    let histogram = |numbers: &[usize]| -> Value {
        let bin = |b: &Bin| json!({ "from": b.first, "to": b.last, "queries": b.count });
        bins(numbers).iter().map(bin).collect()
    };
    let features = s.features.iter().zip(&report.relations);
    json!({
        "title": report.title,
        "rows": s.rows,
        "queries": s.queries,
        "features": s.features.len(),
        "labels": labels,
        "query_sizes": {
            "min": s.sizes.min, "median": s.sizes.median, "mean": s.sizes.mean,
            "p95": s.sizes.p95, "max": s.sizes.max,
        },
        "documents_per_query": histogram(&report.sizes),
        "relevant_per_query": histogram(&report.relevant),
        "blank_queries": s.blank_queries,
        "level_queries": s.level_queries,
        "single_queries": s.single_queries,
        "warnings": s.warnings(),
        "ranker": { "metric": report.ranker.to_string(), "convention": report.convention() },
        "feature_summaries": features.map(|(f, r)| feature(report, f, r)).collect::<Vec<_>>(),
        "by_correlation": report.order.iter().map(|c| report.name(*c)).collect::<Vec<_>>(),
        "missing": missing::features(report).iter().map(|f| &f.name).collect::<Vec<_>>(),
        "spreads": report.spreads.iter().map(|spread| spread_json(report, spread)).collect::<Vec<_>>(),
        "similar": similar(report),
    })
}

fn feature(report: &DataReport, f: &FeatureSummary, r: &Relation) -> Value {
    let (best, larger) = r.best(report.ranker.metric().better());
    json!({
        "name": f.name, "missing": f.missing, "zeros": f.zeros, "infinite": f.infinite,
        "min": f.min, "max": f.max, "mean": f.mean,
        "constant": f.is_constant(report.summary.rows), "same_as": f.same_as,
        "tau": r.tau, "tau_ci95": r.tau_ci95, "tau_queries": r.tau_queries,
        "ranker": {
            "value": best, "larger_first": larger,
            "descending": r.descending, "ascending": r.ascending,
        },
    })
}

fn spread_json(report: &DataReport, spread: &Spread) -> Value {
    let shares = spread.shares.iter();
    json!({
        "feature": report.name(spread.column),
        "bins": match &spread.bins {
            Bins::Values(values) => json!({ "values": values }),
            Bins::Range(low, high) => json!({
                "from": low, "to": high, "centres": spread.bins.centres(),
            }),
        },
        "labels": shares.map(|(name, s)| json!({ "label": name, "shares": s })).collect::<Vec<_>>(),
    })
}

fn similar(report: &DataReport) -> Value {
    let similar = &report.similar;
    let group = |group: &Vec<(usize, f64)>| -> Value {
        let member =
            |(c, rho): &(usize, f64)| json!({ "feature": report.name(*c), "correlation": rho });
        group.iter().map(member).collect()
    };
    json!({
        "rows": similar.rows,
        "seed": report.options.seed,
        "bound": report.options.near,
        "near_duplicates": similar.groups.iter().map(group).collect::<Vec<_>>(),
        "correlations": {
            "features": similar.top.iter().map(|c| report.name(*c)).collect::<Vec<_>>(),
            "values": similar.correlations,
        },
    })
}
