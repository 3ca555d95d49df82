//! A list computed by hand: three documents under a linear model of three features, one of which
//! has the weight 0.

use rankwright_data::{Absent, FeatureNames};
use rankwright_model::{Header, Linear};
use serde_json::to_value;

use super::*;
use crate::chart::Body;
use crate::page::PageBlock;

fn names() -> FeatureNames {
    FeatureNames::Named(["bm25", "clicks", "age"].map(String::from).to_vec())
}

/// The score is 1 + 2 bm25 - clicks.
fn model() -> Model {
    let linear = Linear::new(1.0, vec![2.0, -1.0, 0.0]).unwrap();
    Model::new(Header::new(names(), Absent::Zero), ModelBody::Linear(linear)).unwrap()
}

/// Query q1 with documents a, b, c and query q2 with document d.
fn data() -> Dataset {
    let rows = [[1.0, 0.0, 7.0], [3.0, 1.0, 7.0], [2.0, 3.0, 7.0], [5.0, 5.0, 7.0]];
    let data = Dataset::builder().rows(rows).features(names()).labels([0, 2, 1, 0]);
    let data = data.query_ids(["q1", "q1", "q1", "q2"]).doc_ids(["a", "b", "c", "d"]);
    data.build().unwrap()
}

fn request<'a>(model: &'a Model, data: &'a Dataset) -> ExplanationRequest<'a> {
    ExplanationRequest {
        model: ("m", model),
        data: ("d", data),
        background: None,
        query: Some("q1"),
        documents: &[],
        pair: None,
        dependence: &[],
        curves: 0,
        options: ExplainOptions::default(),
    }
}

#[test]
fn documents_are_sorted_by_rank_and_contributions_by_size() {
    let (model, data) = (model(), data());
    let found = explain(&request(&model, &data)).unwrap();
    let query = found.query.as_ref().unwrap();
    // Scores 3, 6, 2.
    let heads: Vec<_> = query.documents.iter().map(|d| (d.doc.as_str(), d.rank, d.score)).collect();
    assert_eq!(heads, [("b", 1, 6.0), ("a", 2, 3.0), ("c", 3, 2.0)]);
    let last: Vec<_> = query.documents[2]
        .contributions
        .iter()
        .map(|c| (c.feature.as_str(), c.contribution))
        .collect();
    assert_eq!(last, [("bm25", 4.0), ("clicks", -3.0)]);
    assert_eq!((query.base, found.relative_to.as_str()), (1.0, "a document of zeros"));
    assert_eq!(query.documents[0].label, 2.0);
}

#[test]
fn effects_have_the_spread_and_the_agreement_of_contributions() {
    let (model, data) = (model(), data());
    let found = explain(&request(&model, &data)).unwrap().query.unwrap().effects;
    // bm25 adds 2, 6, 4: mean 4, spread (2 + 2 + 0) / 3. clicks adds 0, -1, -3: mean -4/3.
    assert_eq!(found[0].feature, "bm25");
    assert!((found[0].spread - 4.0 / 3.0).abs() < 1e-12);
    assert!((found[1].spread - (4.0 / 3.0 + 1.0 / 3.0 + 5.0 / 3.0) / 3.0).abs() < 1e-12);
    // Order b a c by score. bm25 gives b c a: one of three pairs is reversed. clicks gives a b c.
    assert!((found[0].agreement.unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert!((found[1].agreement.unwrap() - 1.0 / 3.0).abs() < 1e-12);
    let one_document = ExplanationRequest { query: Some("q2"), ..request(&model, &data) };
    let found = explain(&one_document).unwrap().query.unwrap().effects;
    assert!(found.iter().all(|effect| effect.spread == 0.0 && effect.agreement.is_none()));
}

#[test]
fn a_pair_sums_to_the_difference_of_the_scores() {
    let (model, data) = (model(), data());
    // "2" is the row of document c.
    let found =
        explain(&ExplanationRequest { pair: Some(["a", "2"]), ..request(&model, &data) }).unwrap();
    let pair = found.query.as_ref().unwrap().pair.as_ref().unwrap();
    assert_eq!((pair.a.doc.as_str(), pair.b.doc.as_str(), pair.difference), ("a", "c", 1.0));
    let contributions: Vec<_> =
        pair.contributions.iter().map(|c| (c.feature.as_str(), c.difference)).collect();
    assert_eq!(contributions, [("clicks", 3.0), ("bm25", -2.0)]);
    assert_eq!(pair.contributions[0].values, [0.0, 3.0]);
    let text = found.to_text(1, 3);
    assert!(text.contains("why a is above c") && text.contains("sum of 1 other"), "{text}");
    assert!(text.contains("-2.0000") && text.contains("= +1.0000"), "{text}");
    assert!(!text.contains("Shown:"), "{text}");
    let fewer = found.to_text(1, 1);
    assert!(fewer.contains("Shown: the first 1 of 3 documents."), "{fewer}");
}

#[test]
fn unknown_names_are_refused_with_similar_ones() {
    let (model, data) = (model(), data());
    let refusal = |request: ExplanationRequest<'_>| {
        let error = explain(&request).unwrap_err();
        format!("{error}; {}", error.help().unwrap_or_default())
    };
    let error = refusal(ExplanationRequest { query: Some("q11"), ..request(&model, &data) });
    assert!(error.contains("no query 'q11'") && error.contains("similar: q1, q2"), "{error}");
    let documents = ["d".to_owned()];
    let error = refusal(ExplanationRequest { documents: &documents, ..request(&model, &data) });
    assert!(error.contains("query 'q1' has no document 'd'"), "{error}");
    let features = ["bm52".to_owned()];
    let error = refusal(ExplanationRequest { dependence: &features, ..request(&model, &data) });
    assert!(error.contains("no feature 'bm52'") && error.contains("similar: bm25"), "{error}");
    let error = refusal(ExplanationRequest {
        query: None,
        documents: &documents,
        ..request(&model, &data)
    });
    assert!(error.contains("name the query as well"), "{error}");
}

#[test]
fn a_summary_is_over_all_documents_of_the_sample() {
    let (model, data) = (model(), data());
    let found = explain(&ExplanationRequest { query: None, ..request(&model, &data) }).unwrap();
    let summary = found.summary.as_ref().unwrap();
    assert_eq!((summary.queries, summary.documents), (2, 4));
    // bm25 adds 2, 6, 4 and 10; clicks 0, -1, -3 and -5.
    let sizes: Vec<f64> = summary.features.iter().map(|feature| feature.size).collect();
    assert_eq!(sizes, [22.0 / 4.0, 9.0 / 4.0]);
    assert!((summary.features[0].spread - 4.0 / 4.0).abs() < 1e-12);
    let points: Vec<_> =
        summary.features[0].points.iter().map(|p| (p.row, p.value, p.contribution)).collect();
    assert_eq!(points, [(0, 1.0, 2.0), (2, 2.0, 4.0), (1, 3.0, 6.0), (3, 5.0, 10.0)]);
    let json = to_value(&found).unwrap();
    assert_eq!(json["summary"]["features"][0]["feature"], "bm25");
    assert!(found.to_text(5, 3).contains("over 4 documents of 2 queries,"));
}

#[test]
fn a_page_has_plots_of_documents_pair_list_and_dependence() {
    let (model, data) = (model(), data());
    let features = ["bm25".to_owned()];
    let request_of_all = ExplanationRequest {
        pair: Some(["b", "a"]),
        dependence: &features,
        curves: 2,
        ..request(&model, &data)
    };
    let page = explain(&request_of_all).unwrap().page();
    let sections: Vec<&str> = page.sections.iter().map(|section| section.id.as_str()).collect();
    assert_eq!(sections, ["documents", "pair", "list", "dependence"]);
    let PageBlock::Choice { groups, .. } = &page.sections[0].blocks[0] else { panic!("no choice") };
    assert_eq!(groups.len(), 3);
    let PageBlock::Chart(chart) = &groups[0].1[0] else { panic!("no chart") };
    let Body::Bars(bars) = &chart.body else { panic!("no bars") };
    assert_eq!(bars.categories, ["bm25 = 3", "clicks = 1"]);
    assert_eq!(bars.series[0].values, [6.0, -1.0]);
    let PageBlock::Chart(chart) = &page.sections[3].blocks[0] else { panic!("no chart") };
    let Body::Lines(lines) = &chart.body else { panic!("no lines") };
    assert_eq!(lines.len(), 3, "the mean and two documents");
    // With bm25 set to 1: 2, plus the mean of the base and clicks, 1 - (0 + 1 + 3 + 5) / 4.
    assert_eq!(lines[0].points[0], (1.0, 2.0 + 1.0 - 9.0 / 4.0));
    let summary =
        explain(&ExplanationRequest { query: None, ..request(&model, &data) }).unwrap().page();
    assert_eq!(summary.sections.len(), 2);
    assert!(page.to_html().is_ok() && summary.to_html().is_ok());
}

#[test]
fn a_missing_value_is_null_and_values_are_short_in_json() {
    let (model, data) = (model(), data());
    let found = explain(&request(&model, &data)).unwrap();
    let mut query = found.query.clone().unwrap();
    query.documents[0].contributions[0].value = f32::NAN;
    query.documents[0].contributions[1].value = 0.1;
    let json = to_value(RankingExplanation { query: Some(query), ..found }).unwrap();
    let parts = &json["documents"][0]["contributions"];
    assert!(parts[0]["value"].is_null());
    assert_eq!(parts[1]["value"].to_string(), "0.1");
    assert_eq!(json["list"][0]["feature"], "bm25");
    assert_eq!(json["exact"], true);
}
