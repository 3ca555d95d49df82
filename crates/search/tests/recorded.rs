//! A model records the analysis, the first stage and the number of candidates of its training.

use std::sync::Arc;

use crate::five::bench;
use rankwright_data::{Absent, FeatureNames, Qrels, QueryLists};
use rankwright_model::{Header, Linear, Model, ModelBody};
use rankwright_search::{
    DEFAULT_CANDIDATES, Extractor, FeatureSet, FirstStage, Index, Query, Ranker, RowOptions,
    SearchError, SearchWarning, training_data,
};

/// A linear model over the features of a set, which it records.
fn linear_model(set: &FeatureSet) -> Model {
    let names = FeatureNames::from_names(set.features.clone());
    let mut header = Header::new(names, Absent::Zero);
    header.feature_set = Some(set.to_toml());
    let weights = vec![1.0; set.features.len()];
    Model::new(header, ModelBody::Linear(Linear::new(0.0, weights).unwrap())).unwrap()
}

fn queries() -> Vec<Query> {
    vec![Query::new("q1", "blue train"), Query::new("q2", "sea"), Query::new("q3", "giant")]
}

fn qrels() -> Qrels {
    let rows = [("q1", "d1", 2.0), ("q1", "d3", 1.0), ("q2", "d3", 1.0)];
    Qrels::from_lists(QueryLists::from_rows("judgements", rows).unwrap())
}

fn recorded(index: &Arc<Index>) -> FeatureSet {
    let set = FeatureSet::parse("bm25, query-length").unwrap();
    let stage = FirstStage::parse("dirichlet(mu=10)").unwrap();
    let options = RowOptions::new().first_stage(stage).candidates(2);
    training_data(index.clone(), queries(), None, &set, &options).unwrap().set
}

#[test]
fn rows_by_default_are_the_usual_number_of_candidates() {
    let bench = bench();
    let set = FeatureSet::parse("bm25").unwrap();
    let training =
        training_data(bench.index.clone(), queries(), Some(&qrels()), &set, &RowOptions::default());
    let training = training.unwrap();
    assert_eq!(training.set.candidates, Some(DEFAULT_CANDIDATES));
    assert_eq!(training.set.first_stage.as_deref(), Some("bm25"));
    assert_eq!(training.set.analysis.as_deref(), Some("english"));
    assert_eq!(
        training.data.feature_set(),
        Some(training.set.to_toml().as_str()),
        "the data carries it"
    );
    assert_eq!((training.queries, training.rows), (2, training.data.rows()));
    let left_out = SearchWarning::WithoutJudgements { queries: ["q3"].into_iter().collect() };
    let queries_of_relevant = ["q1"].into_iter().collect();
    let without_row = SearchWarning::RelevantLeftOut { documents: 1, queries: queries_of_relevant };
    assert_eq!(training.warnings, [left_out, without_row]);
    let options = RowOptions::new().candidates(0);
    let error = training_data(bench.index.clone(), queries(), None, &set, &options).unwrap_err();
    assert!(matches!(error, SearchError::ZeroCandidates), "{error}");
    let unknown_queries = vec![Query::new("x", "blue")];
    let error = training_data(
        bench.index.clone(),
        unknown_queries,
        Some(&qrels()),
        &set,
        &RowOptions::default(),
    );
    assert!(matches!(error, Err(SearchError::NoJudgedQueries { queries: 1, .. })));
}

#[test]
fn a_set_with_a_first_stage_gives_the_rows_it_was_made_of() {
    let bench = bench();
    let set = recorded(&bench.index);
    assert_eq!(set.first_stage.as_deref(), Some("dirichlet(mu=10)"));
    assert_eq!(FeatureSet::from_toml(&set.to_toml()).unwrap(), set);
    let extractor = Extractor::new(bench.index.clone(), &set).unwrap();
    let again = extractor.dataset(&queries(), None, &RowOptions::default()).unwrap();
    assert_eq!(extractor.set_with(&RowOptions::default()).unwrap(), set);
    assert_eq!(again.rows(), 2 + 2 + 2, "two candidates of each query");
}

#[test]
fn a_ranker_takes_first_stage_and_candidates_of_the_model() {
    let bench = bench();
    let model = linear_model(&recorded(&bench.index));
    let ranker = Ranker::new(bench.index.clone(), &model).unwrap();
    assert_eq!(ranker.stage().to_string(), "dirichlet(mu=10)");
    assert_eq!(ranker.candidates(), 2);
    assert_eq!(ranker.rank("blue train", 10).unwrap().len(), 2);
    assert!(ranker.warnings().is_empty());
    let same = FirstStage::parse("dirichlet(mu=10.0, field=all)").unwrap();
    let ranker = Ranker::builder(bench.index.clone()).model(&model).first_stage(same);
    assert!(ranker.candidates(2).build().unwrap().warnings().is_empty(), "the same as in training");
}

#[test]
fn a_ranker_warns_of_settings_that_differ_from_training() {
    let bench = bench();
    let model = linear_model(&recorded(&bench.index));
    let other = Ranker::builder(bench.index.clone())
        .model(&model)
        .first_stage(FirstStage::default())
        .candidates(4)
        .build()
        .unwrap();
    assert_eq!(
        other.warnings(),
        [
            SearchWarning::OtherFirstStage {
                trained: "dirichlet(mu=10)".into(),
                used: "bm25".into()
            },
            SearchWarning::OtherCandidates { trained: 2, used: 4 },
        ]
    );
    let run = other.run(&queries(), None, 10).unwrap();
    assert_eq!(run.warnings, other.warnings());
    assert_eq!(other.candidates(), 4);
    let zero = Ranker::builder(bench.index.clone()).candidates(0).build().unwrap_err();
    assert!(matches!(zero, SearchError::ZeroCandidates));
}

#[test]
fn a_model_without_a_record_is_used_with_a_warning() {
    let bench = bench();
    let set = FeatureSet::new(vec!["bm25(field=all)".into()]);
    let (mut header, body) = linear_model(&set).into_parts();
    header.feature_set = None;
    let model = Model::new(header, body).unwrap();
    let ranker = Ranker::new(bench.index.clone(), &model).unwrap();
    assert_eq!(ranker.warnings(), [SearchWarning::NoFeatureSet]);
    assert_eq!(ranker.candidates(), DEFAULT_CANDIDATES);
}

#[test]
fn scores_of_both_zeros_tie_and_the_first_stage_decides() {
    let bench = bench();
    let set = FeatureSet::parse("query-length").unwrap().expand(&bench.index).unwrap();
    let names = FeatureNames::from_names(set.features.clone());
    let header = Header::new(names, Absent::Zero);
    let body = ModelBody::Linear(Linear::new(-0.0, vec![-0.0]).unwrap());
    let model = Model::new(header, body).unwrap();
    let hits = Ranker::new(bench.index.clone(), &model).unwrap().rank("blue train", 10).unwrap();
    let ids: Vec<&str> = hits.iter().map(|hit| hit.id.as_str()).collect();
    let first = Ranker::first_stage(bench.index.clone()).unwrap().rank("blue train", 10).unwrap();
    assert_eq!(ids, first.iter().map(|hit| hit.id.as_str()).collect::<Vec<_>>());
}
