//! What was found, as one JSON document. Numbers that JSON cannot say, such as a missing value, are null.

use rankwright_model::Dependence;
use serde_json::{Value, json};

use super::{Document, Explanation, PairPart, QueryPart, Summary};

impl Explanation {
    /// Everything that was found.
    pub fn to_json(&self) -> Value {
        let mut all = json!({
            "model": self.model,
            "data": self.data,
            "relative_to": self.relative_to,
            "exact": !self.sampled,
            "dependence": self.dependence.iter().map(dependence).collect::<Vec<_>>(),
        });
        if let Some(query) = &self.query {
            add_query(&mut all, query);
        }
        if let Some(found) = &self.summary {
            all["summary"] = summary(found);
        }
        all
    }
}

/// A value as the shortest number that reads back to the same f32.
fn value(value: f32) -> Value {
    json!(value.to_string().parse::<f64>().ok().filter(|value| value.is_finite()))
}

fn add_query(all: &mut Value, query: &QueryPart) {
    all["query"] = json!(query.query);
    all["base"] = json!(query.base);
    all["documents"] = query.documents.iter().map(document).collect();
    let list = query.list.iter().map(|effect| {
        json!({
            "feature": effect.feature,
            "spread": effect.spread,
            "agreement": effect.agreement,
        })
    });
    all["list"] = list.collect();
    if let Some(found) = &query.pair {
        all["pair"] = pair(found);
    }
}

fn document(document: &Document) -> Value {
    let mut all = head(document);
    let parts = document.contributions.iter().map(|part| {
        json!({
            "feature": part.feature,
            "value": value(part.value),
            "contribution": part.contribution,
        })
    });
    all["contributions"] = parts.collect();
    all
}

fn head(document: &Document) -> Value {
    json!({
        "doc": document.doc,
        "row": document.row,
        "rank": document.rank,
        "label": document.label,
        "score": document.score,
    })
}

fn pair(pair: &PairPart) -> Value {
    let parts = pair.shares.iter().map(|share| {
        json!({
            "feature": share.feature,
            "values": share.values.map(value),
            "difference": share.difference,
        })
    });
    json!({
        "a": head(&pair.a),
        "b": head(&pair.b),
        "difference": pair.difference,
        "contributions": parts.collect::<Vec<_>>(),
    })
}

fn summary(summary: &Summary) -> Value {
    let features = summary.features.iter().map(|feature| {
        json!({ "feature": feature.feature, "size": feature.size, "spread": feature.spread })
    });
    json!({
        "queries": summary.queries,
        "documents": summary.documents,
        "features": features.collect::<Vec<_>>(),
    })
}

fn dependence(found: &Dependence) -> Value {
    let points = found.values.iter().zip(&found.means);
    let curves = found.curves.iter().map(|(row, scores)| json!({ "row": row, "scores": scores }));
    json!({
        "feature": found.name,
        "documents": found.documents,
        "points": points.map(|(at, mean)| json!({ "value": value(*at), "score": mean })).collect::<Vec<_>>(),
        "missing": found.missing,
        "curves": curves.collect::<Vec<_>>(),
    })
}
