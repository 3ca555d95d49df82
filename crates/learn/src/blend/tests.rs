//! Blends trained from specs, as users write them.

use rankwright_data::Dataset;
use std::time::Duration;

use rankwright_data::generate::LetorOptions;
use rankwright_eval::{MetricSpec, ScoredDataset, SourceKind};
use rankwright_model::{Model, ModelBody, Normalise, ScoreOptions};

use rankwright_eval::MetricText;

use super::*;
use crate::ensemble::test_support::{rows, trains_reproducibly};
use crate::learner::LearnerSpec;
use crate::session::Checkpoints;

fn data(queries: usize, seed: u64) -> Dataset {
    LetorOptions { queries, documents: 15, seed }.generate().unwrap()
}

fn parse(text: &str) -> LearnerSpec {
    LearnerSpec::parse(text).unwrap()
}

/// The weights and learners of a blend's members.
fn members(model: &Model) -> Vec<(f64, String)> {
    let ModelBody::Blend(blend) = model.body() else { panic!("no blend") };
    let name = |(weight, model): &(f64, Model)| (*weight, model.header().learner.clone());
    blend.members().iter().map(name).collect()
}

#[test]
fn members_are_printed_in_canonical_form() {
    for (text, canonical) in [
        (
            "blend( members = mart( leaves=3,trees=+5 ) + file:a/007.model+rankboost , normalise=rank)",
            "blend(members=mart(trees=5, leaves=3)+file:a/007.model+rankboost, normalise=rank)",
        ),
        ("blend", "blend"),
        ("blend(preset=yahoo, metric=err@10)", "blend(preset=yahoo, metric=err@10)"),
        (
            "blend(members=mart(monotone=22:+)+mart(l2=1e+3))",
            "blend(members=mart(monotone=22:+)+mart(l2=1000))",
        ),
    ] {
        assert_eq!(parse(text).to_string(), canonical);
        assert_eq!(parse(canonical).to_string(), canonical);
    }
}

#[test]
fn errors_name_the_wrong_member_or_value() {
    for (text, expected) in [
        ("blend(members=mart+)", "an empty member"),
        ("blend(members=mart++mart)", "an empty member"),
        ("blend(members=file:)", "file:a.model"),
        ("blend(members=lamdamart)", "did you mean `lambdamart`?"),
        ("blend(members=mart(rate=0))", "`mart`: rate=0 is not allowed"),
        ("blend(members=mart+blend)", "a blend as a member is not supported"),
        ("blend(preset=google)", "none | yahoo"),
        ("blend(normalise=z)", "standard | none | min-max | rank"),
        ("blend(hold_out=1)", "above 0, below 1"),
        ("blend(repeats=0)", "from 1 on"),
        ("blend(weights=best)", "learn | equal"),
        ("blend(weights=equal, repeats=3)", "weights=learn"),
        ("blend(metric=rmse)", "metric=ndcg@10"),
    ] {
        let found = LearnerSpec::parse(text).unwrap_err().to_string();
        assert!(found.contains(expected), "{text}: {found}");
    }
}

#[test]
fn the_yahoo_preset_has_8_lambdamarts_2_lambdaranks_and_2_logistic_models() {
    let name = |member: &BlendMember| match member {
        BlendMember::Learner(learner) => learner.def().name,
        BlendMember::File(_) => "file",
    };
    let metric = MetricText::new("err");
    let all = members::members(&MembersText::new("mart"), BlendPreset::Yahoo, &metric).unwrap();
    let names: Vec<&str> = all.iter().map(name).collect();
    assert_eq!(names[..8], ["lambdamart"; 8]);
    assert_eq!(names[8..], ["lambdarank", "lambdarank", "logistic", "logistic", "mart"]);
    let texts: std::collections::HashSet<String> = all.iter().map(|m| format!("{m:?}")).collect();
    assert_eq!(texts.len(), all.len(), "no two are the same");
    assert!(
        all.iter().all(|m| matches!(m, BlendMember::Learner(l) if l.target().to_string() == "err"))
    );
}

#[test]
fn members_are_trained_as_if_alone_on_the_queries_that_are_not_held_out() {
    let (train, valid) = (data(20, 1), data(15, 2));
    let text =
        "blend(members=mart(trees=6, leaves=4)+tree(leaves=5)+rankboost(trees=8), repeats=1)";
    let valid_sets = || vec![ValidationSet::new("valid", &valid)];
    let request = || TrainRequest::new(&train).validation_sets(valid_sets()).seed(3);
    let model = parse(text).train(request()).unwrap().model;
    let ModelBody::Blend(blend) = model.body() else { panic!("no blend") };
    assert_eq!(blend.common_normalisation(), Some(Normalise::Standard));
    for (weight, member) in blend.members() {
        assert!(*weight > 0.0);
        let learner = parse(&member.header().learner);
        let seed = member.header().seed;
        let alone = learner.train(request().seed(seed)).unwrap().model;
        assert_eq!(alone.to_bytes(), member.to_bytes());
    }
    // Without validation data a fifth of the 20 queries is held out.
    let with_held_out = parse(text).train(TrainRequest::new(&train).seed(3)).unwrap().model;
    let ModelBody::Blend(blend) = with_held_out.body() else { panic!("no blend") };
    assert!(blend.members().iter().all(|(_, member)| member.header().queries == 16));
    assert_eq!(with_held_out.header().queries, 20);
}

#[test]
fn equal_weights_hold_no_queries_out_unless_a_member_needs_validation_data() {
    let train = data(20, 1);
    let queries_seen = |members: &str| {
        let text = format!("blend(members={members}, weights=equal)");
        let model = parse(&text).train(TrainRequest::new(&train).seed(3)).unwrap().model;
        let ModelBody::Blend(blend) = model.body() else { panic!("no blend") };
        assert!(blend.members().iter().all(|(weight, _)| *weight == 0.5));
        blend.members().iter().map(|(_, member)| member.header().queries).collect::<Vec<_>>()
    };
    assert_eq!(queries_seen("mart(trees=6, leaves=4)+tree(leaves=5)"), [20, 20]);
    // A member with `stop=2` needs validation data, so a fifth of the queries is held out.
    assert_eq!(queries_seen("mart(trees=6, leaves=4, stop=2)+tree(leaves=5)"), [16, 16]);
}

#[test]
fn a_blend_is_no_worse_than_equal_weights_where_its_weights_were_learnt() {
    let (train, valid) = (data(20, 1), data(25, 2));
    let text = "blend(members=mart(trees=6, leaves=4)+tree(leaves=3)+adarank(rounds=3), repeats=1, \
                tolerance=0)";
    let valid_sets = vec![ValidationSet::new("valid", &valid)];
    let model =
        parse(text).train(TrainRequest::new(&train).validation_sets(valid_sets)).unwrap().model;
    let ndcg = MetricSpec::parse("ndcg@10").unwrap().resolve(SourceKind::Features).unwrap();
    let ndcg_of = |model: &Model| {
        let scores = model.score(&valid, ScoreOptions::default()).unwrap();
        let found = ScoredDataset::new(&valid, &scores)
            .unwrap()
            .evaluate(std::slice::from_ref(&ndcg))
            .unwrap();
        found.results[0].value
    };
    let (header, body) = model.clone().into_parts();
    let ModelBody::Blend(blend) = body else { panic!("no blend") };
    let equal = blend.members().iter().map(|(_, member)| (1.0, member.clone())).collect();
    let equal = BlendModel::new(Normalise::Standard, equal).unwrap();
    let equal = Model::new(header, ModelBody::Blend(equal)).unwrap();
    assert!(ndcg_of(&model) >= ndcg_of(&equal) - 1e-9);
}

#[test]
fn models_from_files_can_be_members_and_need_no_held_out_queries() {
    let train = data(12, 1);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, learner) in [("a.model", "mart(trees=3)"), ("b.model", "rankboost(trees=5)")] {
        parse(learner).train(TrainRequest::new(&train)).unwrap().model.save(path(name)).unwrap();
    }
    let (a, b) = (path("a.model"), path("b.model"));
    let text = format!("blend(members=file:{}+file:{}, repeats=1)", a.display(), b.display());
    let blend = parse(&text).train(TrainRequest::new(&train)).unwrap().model;
    assert!(members(&blend).iter().all(|(weight, _)| *weight > 0.0));
    blend.save(path("c.model")).unwrap();
    let blend_of_blend = parse(&format!("blend(members=file:{})", path("c.model").display()));
    let error = blend_of_blend.train(TrainRequest::new(&train)).unwrap_err().to_string();
    assert!(error.contains("is a blend;"), "{error}");
    let missing = parse("blend(members=file:there-is-none.model)");
    let error = missing.train(TrainRequest::new(&train)).unwrap_err().to_string();
    assert!(error.contains("there-is-none.model"), "{error}");
}

#[test]
fn too_few_queries_to_hold_some_out_are_refused() {
    let one_query = rows(&[("a", 1.0, &[0.0]), ("a", 0.0, &[1.0])]);
    let error =
        parse("blend(members=mart)").train(TrainRequest::new(&one_query)).unwrap_err().to_string();
    assert!(error.contains("of 1 query cannot be set aside"), "{error}");
    let nothing_relevant = rows(&[("a", 0.0, &[0.0]), ("b", 0.0, &[1.0]), ("b", 0.0, &[2.0])]);
    let learner = parse("blend(members=tree(min_rows=1), hold_out=0.5)");
    let error = learner.train(TrainRequest::new(&nothing_relevant)).unwrap_err().to_string();
    assert!(error.contains("no query"), "{error}");
}

#[test]
fn finished_members_are_taken_from_their_folders() {
    let train = data(12, 1);
    let folder = tempfile::tempdir().unwrap();
    let learner = parse("blend(members=mart(trees=3)+rankboost(trees=3))");
    let request = || TrainRequest::new(&train).checkpoints(Checkpoints::new(folder.path()));
    let first = learner.train(request()).unwrap().model;
    let saved = folder.path().join("member-2/done/checkpoint.model");
    let member = Model::load(&saved).unwrap();
    assert_eq!(learner.train(request()).unwrap().model.to_bytes(), first.to_bytes());
    assert!(member.header().notes.contains_key("checkpoint"));
    let ModelBody::Blend(blend) = first.body() else { panic!("no blend") };
    let has_checkpoint = |member: &Model| member.header().notes.contains_key("checkpoint");
    assert!(!blend.members().iter().any(|(_, member)| has_checkpoint(member)));
    // Checkpoints of another training are an error until they are removed.
    let error = learner.train(request().seed(9)).unwrap_err().to_string();
    assert!(error.contains("belongs to a training with other data"), "{error}");
    assert!(Checkpoints::new(folder.path()).remove().unwrap());
    assert!(!folder.path().join("member-1").exists() && !folder.path().exists());
    assert!(learner.train(request().seed(9)).is_ok());
    // If no regular checkpoints were requested, an uninterrupted training leaves none.
    let only_cancelled = Checkpoints::new(folder.path().join("not-created")).every(Duration::MAX);
    let uninterrupted =
        learner.train(TrainRequest::new(&train).checkpoints(only_cancelled.clone()));
    assert_eq!(uninterrupted.unwrap().model.to_bytes(), first.to_bytes());
    assert!(!only_cancelled.folder.exists());
}

#[test]
fn threads_and_an_interruption_do_not_change_the_blend() {
    trains_reproducibly(
        "blend(members=mart(trees=4, leaves=3)+rankboost(trees=3)+random-forest(trees=3))",
    );
}

#[test]
fn the_seed_determines_the_held_out_queries() {
    let train = data(20, 1);
    let learner = parse("blend(members=mart(trees=3)+tree)");
    let bytes =
        |seed| learner.train(TrainRequest::new(&train).seed(seed)).unwrap().model.to_bytes();
    assert_eq!(bytes(1), bytes(1));
    assert_ne!(bytes(1), bytes(2));
}

#[test]
fn the_history_has_the_metrics_of_each_member() {
    let (train, valid) = (data(15, 1), data(10, 2));
    let valid_sets = vec![ValidationSet::new("valid", &valid)];
    let request = TrainRequest::new(&train).validation_sets(valid_sets);
    let result =
        parse("blend(members=tree+rankboost(trees=4)+mart(trees=2))").train(request).unwrap();
    assert_eq!((result.history.unit.as_str(), result.history.iterations.len()), ("member", 3));
    let ndcg = MetricSpec::parse("ndcg@10").unwrap().resolve(SourceKind::Features).unwrap();
    let ModelBody::Blend(blend) = result.model.body() else { panic!("no blend") };
    for (_, member) in blend.members() {
        let scores = member.score(&valid, ScoreOptions::default()).unwrap();
        let found = ScoredDataset::new(&valid, &scores)
            .unwrap()
            .evaluate(std::slice::from_ref(&ndcg))
            .unwrap();
        let value = found.results[0].value;
        assert!(result.history.iterations.iter().any(|i| i.values == [[value]]), "{value}");
    }
}
