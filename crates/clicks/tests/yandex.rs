//! The pages of Yandex' challenge: estimators of position bias that correct for relevance agree.

use std::path::Path;

use rankwright_clicks::Pages;
use rankwright_clicks::bias::BiasEstimator::{self, Adjacent, AllPairs, ClickRate, Em};
use rankwright_clicks::bias::{BiasOptions, position_bias};
use rankwright_clicks::log::read_log;
use rankwright_data::bytes::Input;

/// The largest difference between the estimators at a rank.
fn spread(pages: &Pages, estimators: &[BiasEstimator], options: &BiasOptions) -> f64 {
    let found: Vec<Vec<f64>> = estimators
        .iter()
        .map(|estimator| {
            let bias = position_bias(pages, *estimator, options).unwrap();
            bias.examination.iter().take(10).map(|value| value.unwrap()).collect()
        })
        .collect();
    let at = |rank: usize| {
        let values = || found.iter().map(|examination| examination[rank]);
        values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
    };
    (0..10).map(at).fold(0.0, f64::max)
}

#[test]
fn estimators_that_correct_for_relevance_agree() {
    let Ok(data) = std::env::var("RANKWRIGHT_DATA") else {
        return println!("left out: RANKWRIGHT_DATA is not set");
    };
    let mut log = Vec::new();
    for part in ["trainSample", "testSample"] {
        let path = Path::new(&data).join("yandex-relpred-clicks").join(part);
        read_log([Input::open(path).unwrap()], None, |page| log.push(page.clone())).unwrap();
    }
    assert_eq!(log.len(), 56_477);
    let pages = Pages::collect(&log);
    let options = BiasOptions::default().samples(0_u32);
    let corrected = spread(&pages, &[Em, AllPairs, Adjacent], &options);
    assert!(corrected < 0.07, "{corrected}");
    // Ratios of neighbouring ranks are multiplied, so that one bad ratio spoils all ranks below it:
    // documents that were shown ten times are too few.
    let few = spread(&pages, &[Em, AllPairs, Adjacent], &options.clone().min_shown(10_u64));
    assert!(few > 0.07, "{few}");
    // Click rates differ from all of them.
    let rates = spread(&pages, &[Em, ClickRate], &options);
    assert!(rates > 0.08, "{rates}");
}
