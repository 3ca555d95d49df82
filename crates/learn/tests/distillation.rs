//! Learning from a teacher: with every kind of learner, on queries without labels, and how much
//! better the student becomes.

use rankwright_data::Dataset;
use rankwright_data::generate::LetorOptions;
use rankwright_eval::ScoredDataset;
use rankwright_learn::prelude::*;
use rankwright_learn::{LEARNERS, LearnError, Teacher};
use rankwright_model::{Model, ScoreOptions};
use rankwright_spec::Spec;

fn data(queries: usize, seed: u64) -> Dataset {
    LetorOptions { queries, documents: 20, seed }.generate().unwrap()
}

fn train(learner: &str, request: TrainRequest<'_>) -> Result<Model, LearnError> {
    Ok(LearnerSpec::parse(learner)?.train(request)?.model)
}

/// The data without its labels.
fn without_labels(data: &Dataset) -> Dataset {
    let rows = (0..data.rows()).map(|row| data.matrix().row(row));
    let ids = data.query_of_rows();
    let features = data.features().clone();
    Dataset::builder().rows(rows).features(features).query_ids(ids).build().unwrap()
}

fn ndcg(model: &Model, data: &Dataset) -> f64 {
    let scores = model.score(data, ScoreOptions::default()).unwrap();
    ScoredDataset::new(data, &scores).unwrap().evaluate("ndcg@10").unwrap().results[0].value
}

/// Every learner learns from a teacher, or its error lists the learners that can; with a weight of
/// 0 the model has the same bytes as without a teacher.
#[test]
fn every_learner_learns_from_a_teacher_or_names_the_learners_that_can() {
    let (labelled, more) = (data(15, 1), without_labels(&data(10, 2)));
    let teacher = train("mart(trees=20, leaves=4)", TrainRequest::new(&labelled)).unwrap();
    let mut accepting = Vec::new();
    for def in LEARNERS {
        let mut spec = Spec::parse(def.example).unwrap();
        for (name, value) in [("trees", "4"), ("epochs", "2"), ("passes", "1"), ("restarts", "1")] {
            if def.params().iter().any(|param| param.name == name) {
                spec = spec.with(name, value);
            }
        }
        let learner = LearnerSpec::from_spec(spec).unwrap();
        if !learner.learns() || def.name == "auto" || def.name == "blend" {
            continue;
        }
        let request = || TrainRequest::new(&labelled).validation(&labelled);
        let taught = |weight: f64| {
            let teacher = Teacher::of_model(&teacher).weight(weight).unlabelled(&more);
            learner.train(request().teacher(teacher))
        };
        if !learner.accepts_teacher() {
            let error = taught(0.5).unwrap_err();
            assert_eq!(error.kind(), "teacher-unsupported", "{}", def.name);
            let message = error.to_string();
            assert!(message.contains("lambdamart, ") && !message.contains(", auto"), "{message}");
            continue;
        }
        accepting.push(def.name);
        let plain = learner.train(request()).unwrap().model;
        assert!(taught(0.0).unwrap().model.to_bytes() == plain.to_bytes(), "{}", def.name);
        let half = taught(0.5).unwrap().model;
        assert!(half.body() != plain.body(), "{}: the teacher changes nothing", def.name);
        assert_eq!((half.header().queries, plain.header().queries), (25, 15), "{}", def.name);
        assert!(half.header().notes["teacher"].contains("teacher_weight=0.5"), "{}", def.name);
    }
    for name in ["lambdamart", "mart", "rankmart", "xendcg", "yetirank", "random-forest"] {
        assert!(accepting.contains(&name), "{name}: {accepting:?}");
    }
    for name in ["ranknet", "listnet", "lambdarank", "linear-regression"] {
        assert!(accepting.contains(&name), "{name}: {accepting:?}");
    }
}

/// The teacher is trained on the same few labelled queries. With many queries without labels, the
/// student is better than a model that learns from the labels alone.
#[test]
fn queries_without_labels_make_a_better_student() {
    let (labelled, more, test) = (data(40, 1), without_labels(&data(300, 2)), data(300, 3));
    let teacher = train("ranksvm", TrainRequest::new(&labelled)).unwrap();
    let learner = "lambdamart(trees=100, leaves=8, rate=0.1)";
    let alone = train(learner, TrainRequest::new(&labelled)).unwrap();
    let taught = Teacher::of_model(&teacher).weight(0.5).unlabelled(&more);
    let taught = train(learner, TrainRequest::new(&labelled).teacher(taught)).unwrap();
    let (alone, taught, teacher) =
        (ndcg(&alone, &test), ndcg(&taught, &test), ndcg(&teacher, &test));
    assert!(taught > alone + 0.005, "alone {alone}, taught {taught}, teacher {teacher}");
}

/// Data without any labels is learned from the teacher alone.
#[test]
fn a_student_without_labels_ranks_like_its_teacher() {
    let (labelled, unlabelled, test) = (data(100, 1), without_labels(&data(200, 2)), data(100, 3));
    let teacher = train("ranksvm", TrainRequest::new(&labelled)).unwrap();
    for learner in ["mart(trees=100)", "lambdamart(trees=100)", "xendcg(trees=100)", "ranknet"] {
        let taught = TrainRequest::new(&unlabelled).teacher(Teacher::of_model(&teacher));
        let student = train(learner, taught).unwrap();
        let (student, teacher) = (ndcg(&student, &test), ndcg(&teacher, &test));
        assert!(student > teacher - 0.03, "{learner}: {student}, teacher {teacher}");
    }
}

#[test]
fn given_scores_must_fit_the_rows_and_be_finite() {
    let labelled = data(5, 1);
    let refused = |scores: &[f64], weight: f64| {
        let teacher = Teacher::of_scores(scores).weight(weight);
        train("mart(trees=2)", TrainRequest::new(&labelled).teacher(teacher)).unwrap_err()
    };
    let rows = labelled.rows();
    assert_eq!(
        refused(&[1.0], 0.5).to_string(),
        format!("the teacher has 1 score, and the data has {rows} rows")
    );
    let mut scores = vec![0.0; rows];
    scores[3] = f64::NAN;
    assert_eq!(refused(&scores, 0.5).kind(), "teacher-score-not-finite");
    assert!(refused(&vec![0.0; rows], 1.5).to_string().contains("teacher_weight=1.5"));
}

/// Scores from elsewhere give the bytes of the model that computes them, on any threads and after
/// an interruption.
#[test]
fn threads_and_the_source_of_scores_change_nothing() {
    let labelled = data(20, 1);
    let teacher = train("ranksvm", TrainRequest::new(&labelled)).unwrap();
    let scores = teacher.score(&labelled, ScoreOptions::default()).unwrap();
    for learner in ["lambdamart(trees=5)", "rankmart(trees=5)", "listnet(epochs=2)"] {
        let body = |teacher: Teacher<'_>, threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let request = TrainRequest::new(&labelled).teacher(teacher);
            pool.install(|| train(learner, request).unwrap().into_parts().1)
        };
        let one = body(Teacher::of_model(&teacher), 1);
        assert!(one == body(Teacher::of_model(&teacher), 3), "{learner}");
        assert!(one == body(Teacher::of_scores(&scores), 2), "{learner}");
    }
}
