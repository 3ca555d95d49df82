//! Tests of click reports.

use rankwright_clicks::bias::{BiasEstimator, BiasOptions, position_bias};
use rankwright_clicks::log::LogCounts;
use rankwright_clicks::{ClickModel, Impression, LogSummaryBuilder, Pages};

use super::*;
use crate::chart::Body;
use crate::page::PageBlock;

/// Two documents in both orders; rank 2 gets half as many clicks.
fn report() -> ClickReport {
    let page = |first: &'static str, second: &'static str| Impression::new("<q>", [first, second]);
    let log = [
        page("a", "b").clicked([1, 2]),
        page("a", "b").clicked([1]),
        page("b", "a").clicked([1, 2]),
        page("b", "a").clicked([1]),
    ];
    let mut builder = LogSummaryBuilder::default();
    log.iter().for_each(|page| builder.add(page));
    let pages = Pages::collect(&log);
    let options = BiasOptions::default().min_shown(1_u64).samples(10_u32).iterations(100_u32);
    let bias = [BiasEstimator::AllPairs, BiasEstimator::Randomised, BiasEstimator::ClickRate]
        .map(|estimator| position_bias(&pages, estimator, &options).unwrap());
    let fits = ["global-ctr", "pbm"].map(|spec| {
        let model = ClickModel::parse(spec).unwrap().fit(&pages);
        ClickModelFit { model: spec.to_owned(), fitted: model.evaluate(&pages, &pages), test: None }
    });
    ClickReport::new("Log", builder.finish(LogCounts::default()))
        .with_bias(bias.to_vec())
        .with_click_models(fits.to_vec())
}

#[test]
fn every_part_is_drawn_and_a_refusal_is_said() {
    let page = report().page();
    let titles: Vec<&str> = page.sections.iter().map(|section| section.title.as_str()).collect();
    assert_eq!(titles, ["Click rates", "Position bias", "Click models", "Queries"]);
    let PageBlock::Chart(rates) = &page.sections[0].blocks[0] else { panic!("no chart") };
    let Body::Lines(series) = &rates.body else { panic!("no lines") };
    assert_eq!(series[0].points, [(1.0, 1.0), (2.0, 0.5)]);
    assert_eq!(series[0].band.len(), 2);
    let PageBlock::Chart(bias) = &page.sections[1].blocks[0] else { panic!("no chart") };
    let Body::Lines(series) = &bias.body else { panic!("no lines") };
    assert_eq!(series.len(), 2);
    assert!((series[0].points[1].1 - 0.5).abs() < 0.05, "{series:?}");
    let refused =
        |block: &PageBlock| matches!(block, PageBlock::Text(text) if text.contains("random order"));
    assert!(page.sections[1].blocks.iter().any(refused));
    let html = page.to_html().unwrap();
    assert!(html.contains("&lt;q&gt;") && !html.contains("<q>"));
}

#[test]
fn parts_without_numbers_are_left_out() {
    let summary = LogSummaryBuilder::default().finish(LogCounts::default());
    let page = ClickReport::new("Empty", summary).page();
    assert_eq!(page.sections.len(), 2);
    assert!(page.to_html().is_ok());
}

#[test]
fn the_result_has_all_numbers() {
    let json = serde_json::to_value(report()).unwrap();
    assert_eq!((&json["queries"], &json["ranks"][1]["clicked"]), (&1.into(), &2.into()));
    assert_eq!(json["bias"][0]["estimator"], "allpairs");
    assert!(json["bias"][1]["refusal"].as_str().unwrap().contains("random order"));
    assert_eq!(json["click_models"][1]["model"], "pbm");
}
