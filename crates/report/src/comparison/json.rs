//! A comparison as JSON: the document of `compare --json`, and more for the report.

use rankwright_eval::compare::{Comparison, SystemResult};
use rankwright_eval::{Evaluation, MeasureResult};
use serde_json::{Value, json};

use super::changes::{Change, Moved};
use super::cutoffs::{Curves, Point};
use super::hardest::{self, QueryRow};
use super::{ComparisonReport, Details};

/// The numbers of a comparison, in the shape that other programs rely on.
pub fn json_of(comparison: &Comparison, systems: &[(String, Evaluation)]) -> Value {
    let options = &comparison.options;
    let first: &[MeasureResult] = systems.first().map_or(&[], |(_, e)| &e.results);
    let metrics: Vec<Value> = comparison
        .metrics
        .iter()
        .zip(first)
        .map(|(metric, first)| {
            let systems = comparison.systems.iter().zip(&metric.systems);
            json!({
                "metric": metric.label,
                "convention": first.convention,
                "systems": systems.map(|(name, r)| system_json(name, r)).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "baseline": comparison.systems.get(comparison.baseline),
        "test": options.test.to_string(),
        "correction": options.correction.to_string(),
        "alpha": options.alpha,
        "seed": options.seed,
        "samples": options.samples,
        "metrics": metrics,
    })
}

fn system_json(name: &str, result: &SystemResult) -> Value {
    let versus = result.versus.as_ref().map(|v| {
        json!({
            "pairs": v.pairs,
            "difference": v.difference,
            "difference_ci95": v.difference_ci95,
            "p": v.p,
            "p_corrected": v.p_corrected,
            "effect": v.effect,
            "wins": v.counts.wins,
            "ties": v.counts.ties,
            "losses": v.counts.losses,
            "mark": v.mark.symbol(),
        })
    });
    json!({
        "system": name,
        "value": result.mean,
        "ci95": result.ci95,
        "queries": result.queries,
        "best": result.best,
        "versus_baseline": versus,
    })
}

/// Everything that the page shows.
pub(super) fn report(report: &ComparisonReport) -> Value {
    let mut document = json_of(&report.comparison, &report.systems);
    let gains = |d: &super::wins::Differences| {
        let one = |(query, gain): &(usize, f64)| json!({ "query": report.query_id(*query), "gain": gain });
        json!({
            "system": report.name(d.system),
            "wins": d.counts.wins,
            "ties": d.counts.ties,
            "losses": d.counts.losses,
            "queries": d.sorted.iter().map(one).collect::<Vec<_>>(),
        })
    };
    document["title"] = json!(report.title);
    document["per_query"] = json!({
        "metric": report.main_metric(),
        "systems": report.differences.iter().map(gains).collect::<Vec<_>>(),
    });
    document["hardest"] = rows(report, &hardest::hardest(report));
    document["most_different"] = rows(report, &hardest::most_different(report));
    if let Some(Details { curves, changes, .. }) = &report.details {
        document["cutoffs"] = curves.as_ref().map_or(Value::Null, |c| curves_json(report, c));
        document["changes"] = changes.iter().map(|c| change_json(report, c)).collect();
    }
    document
}

fn rows(report: &ComparisonReport, rows: &[QueryRow]) -> Value {
    let row = |row: &QueryRow| {
        let shape = report.details.as_ref().and_then(|details| details.shapes.get(row.query));
        json!({
            "query": report.query_id(row.query),
            "documents": shape.map(|shape| shape.documents),
            "relevant": shape.map(|shape| shape.relevant),
            "values": row.values,
            "mean": row.mean,
            "difference": row.span,
        })
    };
    rows.iter().map(row).collect()
}

fn curves_json(report: &ComparisonReport, curves: &Curves) -> Value {
    let point = |p: &Point| json!({ "cutoff": p.cutoff, "value": p.value, "ci95": p.ci95 });
    let system = |(s, points): (usize, &Vec<Point>)| {
        let points: Vec<Value> = points.iter().map(point).collect();
        json!({ "system": report.name(s), "values": points })
    };
    json!({
        "metric": curves.metric,
        "convention": curves.convention,
        "systems": curves.systems.iter().enumerate().map(system).collect::<Vec<_>>(),
    })
}

fn change_json(report: &ComparisonReport, change: &Change) -> Value {
    let moved = |moved: &Moved| {
        json!({
            "document": moved.name,
            "label": moved.label,
            "baseline_rank": moved.before.map(|place| place.rank),
            "rank": moved.after.map(|place| place.rank),
            "baseline_score": moved.before.map(|place| place.score),
            "score": moved.after.map(|place| place.score),
            "risen": moved.risen(),
        })
    };
    json!({
        "query": report.query_id(change.query),
        "system": report.name(change.system),
        "why": Some(change.why).filter(|why| !why.is_empty()),
        "baseline_value": change.values.0,
        "value": change.values.1,
        "documents": change.documents.iter().map(moved).collect::<Vec<_>>(),
    })
}
