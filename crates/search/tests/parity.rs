//! Training and serving compute the same features, and a model that does not fit is rejected.

use std::sync::Arc;

use crate::five::{bench, build};
use rankwright_data::{Absent, FeatureNames};
use rankwright_model::{Header, Linear, Model, ModelBody};
use rankwright_search::{
    Extractor, FEATURE_VERSION, FeatureSet, FirstStage, Index, Query, Ranker, SearchBuffers,
    SearchError, Terms,
};

/// A linear model over features, with the feature set where one is given.
fn linear_model(features: &[String], set: Option<&FeatureSet>) -> Model {
    let names = FeatureNames::from_names(features.to_vec());
    let mut header = Header::new(names, Absent::Zero);
    if let Some(set) = set {
        header.feature_set = Some(set.to_toml());
    }
    let weights = (0..features.len()).map(|at| ((at % 7) as f64 - 2.5) / 10.0).collect();
    Model::new(header, ModelBody::Linear(Linear::new(0.25, weights).unwrap())).unwrap()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn training_and_serving_compute_the_same_bits_on_any_number_of_threads() {
    let bench = bench();
    let set =
        FeatureSet::parse("default, rocchio(field=shelf, class=*), knn(field=shelf, class=a)");
    let stage = || FirstStage::parse("bm25(b=0.4)").unwrap();
    let mut before: Option<Vec<u32>> = None;
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let served = pool.install(|| parity(&bench.index, set.as_ref().unwrap(), stage));
        assert_eq!(before.get_or_insert(served.clone()), &served, "{threads} threads");
    }
}

/// Compares rows of training with rows of serving; returns the bits of all.
fn parity(index: &Arc<Index>, set: &FeatureSet, stage: impl Fn() -> FirstStage) -> Vec<u32> {
    let extractor = Extractor::new(index.clone(), set).unwrap();
    let model = linear_model(&extractor.set().features, Some(extractor.set()));
    let ranker = Ranker::builder(index.clone()).first_stage(stage()).model(&model).build().unwrap();
    assert_eq!(ranker.features(), extractor.set().features);
    let mut buffers = SearchBuffers::default();
    let mut served = Vec::new();
    for (number, text) in
        ["blue train", "the giant sea", "step step", "", "sea blue"].iter().enumerate()
    {
        let query = Query::new(format!("q{number}"), *text);
        let terms = Terms::new(text, index.analysis());
        let found = index.retrieve(&terms, &stage(), 100, None, &mut buffers).unwrap();
        let rows = extractor.rows(&query, &terms, &found).unwrap();
        let ranked = ranker.rank_query(&query, None, &mut buffers).unwrap();
        assert_eq!(ranked.documents.len(), found.len());
        for (rank, document) in ranked.documents.iter().enumerate() {
            let first = ranked.first_ranks[rank] as usize - 1;
            assert_eq!(index.id(document).unwrap(), index.id(&found[first]).unwrap());
            assert_eq!(ranked.first_scores[rank].to_bits(), found[first].score.to_bits());
            assert_eq!(bits(ranked.features.row(rank)), bits(rows.row(first)), "'{text}'");
            let score = model.score_row(rows.row(first));
            assert_eq!(document.score.to_bits(), score.to_bits(), "'{text}'");
        }
        for (pair, ids) in ranked
            .documents
            .windows(2)
            .map(|pair| (pair, [0, 1].map(|at| index.id(&pair[at]).unwrap())))
        {
            assert!(
                pair[0].score > pair[1].score || pair[0].score == pair[1].score && ids[0] > ids[1]
            );
        }
        served.extend(bits(&ranked.features.values));
    }
    assert!(!served.is_empty());
    served
}

#[test]
fn a_ranker_without_a_model_is_the_first_stage() {
    let bench = bench();
    let stage = FirstStage::default();
    let ranker = Ranker::builder(bench.index.clone()).candidates(3).build().unwrap();
    let mut buffers = SearchBuffers::default();
    let query = Query::new("q1", "blue train");
    let ranked = ranker.rank_query(&query, None, &mut buffers).unwrap();
    let terms = Terms::new(&query.text, bench.index.analysis());
    let found = bench.index.retrieve(&terms, &stage, 3, None, &mut buffers).unwrap();
    assert_eq!(ranked.documents, found);
    assert_eq!(ranked.first_ranks, [1, 2, 3]);
    assert!(ranked.features.values.is_empty() && ranker.features().is_empty());
}

fn refused(index: &Arc<Index>, model: &Model) -> String {
    let error = Ranker::new(index.clone(), model).unwrap_err();
    assert!(matches!(error, SearchError::ModelFeatures(_)), "{error}");
    let help = error.help().unwrap();
    assert!(help.contains("train again"), "{help}");
    error.to_string()
}

#[test]
fn a_model_of_other_features_is_refused() {
    let bench = bench();
    let index = &bench.index;
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
    let message =
        refused(index, &linear_model(&names(&["bm25(field=text)", "tf_idf_of_title"]), None));
    assert!(message.contains("unknown feature `tf_idf_of_title`"), "{message}");
    let message = refused(index, &linear_model(&names(&["bm25(field=body)"]), None));
    assert!(message.contains("no text field `body`"), "{message}");
    let message = refused(index, &linear_model(&names(&["bm25( field=text )"]), None));
    assert!(message.contains("which the index names `bm25(field=text)`"), "{message}");
    let numbered = Header::new(FeatureNames::Ids { first: 1, count: 2 }, Absent::Zero);
    let numbered =
        Model::new(numbered, ModelBody::Linear(Linear::new(0.0, vec![1.0, 1.0]).unwrap()));
    let message = refused(index, &numbered.unwrap());
    assert!(message.contains("unknown feature"), "{message}");
}

#[test]
fn a_model_of_another_analysis_or_version_is_refused() {
    let bench = bench();
    let plain = build(&bench.folder.path().join("plain"), "plain");
    let set = FeatureSet::parse("bm25, query-length").unwrap().expand(&bench.index).unwrap();
    let model = linear_model(&set.features, Some(&set));
    Ranker::new(bench.index.clone(), &model).unwrap();
    let message = refused(&plain, &model);
    assert!(
        message.contains("the analysis english, but the index has the analysis plain"),
        "{message}"
    );
    let newer = FeatureSet { version: FEATURE_VERSION + 1, ..set.clone() };
    let message = refused(&bench.index, &linear_model(&set.features, Some(&newer)));
    assert!(message.contains("have version 2; this program computes version 1"), "{message}");
    let error = newer.expand(&bench.index).unwrap_err();
    assert!(
        matches!(error, SearchError::FeatureVersion { found: 2, .. }),
        "a TOML file of features likewise"
    );
    let mut header = linear_model(&set.features, None).into_parts();
    header.0.feature_set = Some("no = toml =".into());
    let broken = Model::new(header.0, header.1).unwrap();
    let error = Ranker::new(bench.index.clone(), &broken).unwrap_err();
    assert!(error.to_string().starts_with("the feature set cannot be read: "), "{error}");
}
