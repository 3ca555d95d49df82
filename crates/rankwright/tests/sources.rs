//! Tasks on files, on values in memory, and from JSON give the same results: they make the same
//! decisions.
#![cfg(all(feature = "train", feature = "search", feature = "experiment"))]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rankwright::data::format::{Format, write};
use rankwright::data::generate::{LetorOptions, StoreOptions};
use rankwright::data::split::{Parts, SplitOptions};
use rankwright::learn::tune::{Space, TuneData, TunePlan, TuneSettings};
use rankwright::learn::{FoldParams, Progress, TrainingHistory};
use rankwright::prelude::*;
use rankwright::tasks::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A folder with feature data and a model.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (name, seed) in [("train.rwd", 1), ("valid.rwd", 2), ("test.rwd", 3)] {
            let data = LetorOptions { queries: 25, documents: 12, seed }.generate().unwrap();
            write(&data, folder.path(name), Format::Cache).unwrap();
        }
        let data = folder.data("train.rwd");
        for (name, learner) in [("a.model", "mart(trees=8, leaves=4)"), ("b.model", "ranksvm")] {
            let learner = LearnerSpec::parse(learner).unwrap();
            let model = learner.train(TrainRequest::new(&data)).unwrap().model;
            model.save(folder.path(name)).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn data(&self, name: &str) -> Arc<Dataset> {
        Arc::new(Dataset::read(self.path(name)).unwrap())
    }

    /// The data in memory, with the name of its file.
    fn memory(&self, name: &str) -> DataSource {
        DataSource::named(name, self.data(name))
    }

    /// The model in memory, with the name of its file.
    fn model(&self, name: &str) -> ModelSource {
        let path = self.path(name);
        ModelSource::named(name, Model::load(&path).unwrap())
    }
}

/// A result without times, and with the names of files without their temporary folder: results show
/// some files without their folders, and values in memory always by their whole names.
fn values(result: &impl Serialize) -> Value {
    fn comparable(value: Value) -> Value {
        match value {
            Value::Object(map) => {
                let is_kept = |key: &str| !["seconds", "peak_rss_bytes"].contains(&key);
                let kept = map.into_iter().filter(|(key, _)| is_kept(key));
                kept.map(|(key, value)| (without_folder(&key), comparable(value))).collect()
            }
            Value::Array(list) => list.into_iter().map(comparable).collect(),
            Value::String(text) => without_folder(&text).into(),
            other => other,
        }
    }
    comparable(serde_json::to_value(result).unwrap())
}

/// A text without the paths of temporary folders, whose names are `.tmp` and six characters.
fn without_folder(text: &str) -> String {
    let start = std::env::temp_dir().join(".tmp").display().to_string();
    let mut parts = text.split(&start);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |found, rest| found + rest.get("123456/".len()..).unwrap_or_default())
}

/// The request that is read from the JSON of a request.
fn from_json<R: Serialize + DeserializeOwned>(request: &R) -> R {
    let text = serde_json::to_string(request).unwrap();
    let read: R = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    read
}

/// Runs a task on files, from JSON and on values in memory; returns the result on files.
fn same<R: Serialize + DeserializeOwned, T: Serialize>(
    files: R,
    memory: R,
    task: impl Fn(&R, &Context<'_>) -> Result<T, TaskError>,
) -> T {
    let run = |request: &R| task(request, &Context::default()).unwrap();
    let (of_files, of_memory) = (run(&files), run(&memory));
    assert_eq!(values(&of_files), values(&of_memory));
    assert_eq!(values(&of_files), values(&run(&from_json(&files))));
    let error = serde_json::to_string(&memory).unwrap_err().to_string();
    assert!(error.contains("is in memory"), "{error}");
    of_files
}

#[test]
fn a_training_gives_the_same_model() {
    let folder = Folder::new();
    let learner = || LearnerSpec::parse("lambdamart(trees=9, leaves=4, stop=3)").unwrap();
    let files = TrainModelRequest::new(learner(), folder.path("train.rwd"))
        .validation(folder.path("valid.rwd"))
        .start(folder.path("a.model"))
        .eval_train(true);
    let memory = TrainModelRequest::new(learner(), folder.memory("train.rwd"))
        .validation(folder.memory("valid.rwd"))
        .start(folder.model("a.model"))
        .eval_train(true);
    let result = same(files.clone(), memory.clone(), train_model);
    assert_eq!((result.model, result.start_trees), (None, Some(8)));
    let written = train_model(&memory.out(folder.path("m.model")), &Context::default()).unwrap();
    assert_eq!((written.sha256, written.model), (result.sha256, Some(folder.path("m.model"))));
    let bytes = std::fs::read(folder.path("m.model")).unwrap();
    assert!(bytes == result.trained.to_bytes());
    // The log beside the model names its data.
    let log = std::fs::read_to_string(folder.path("m.model.log.json")).unwrap();
    assert!(log.contains("valid.rwd"), "{log}");
}

#[test]
fn a_stopped_training_keeps_its_model_where_the_request_says_so() {
    struct StopsAtThree(AtomicBool);
    impl Progress for StopsAtThree {
        fn round_finished(&self, history: &TrainingHistory) {
            assert!(history.iterations.len() <= 3);
            self.0.store(history.iterations.len() == 3, Ordering::Relaxed);
        }
        fn should_stop(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }
    impl TrainingProgress for StopsAtThree {}
    let data = Arc::new(LetorOptions { queries: 9, documents: 9, seed: 1 }.generate().unwrap());
    let learner = LearnerSpec::parse("mart(trees=8, leaves=4)").unwrap();
    let train = |request: &TrainModelRequest, cancelled: bool| {
        let (progress, cancel) = (StopsAtThree(AtomicBool::new(false)), AtomicBool::new(cancelled));
        train_model(request, &Context::default().training(&progress).cancel(&cancel))
    };
    let request = TrainModelRequest::new(learner, &data);
    let stopped = TaskError::kind(&train(&request, false).unwrap_err());
    assert_eq!(stopped, "training-stopped");
    let request = request.keep_stopped(true);
    let kept = train(&request, false).unwrap();
    assert_eq!((kept.is_stopped, kept.trees), (true, Some(3)));
    assert!(train(&request, true).is_err(), "a cancelled task is an error");
    let whole = train_model(&request, &Context::default()).unwrap();
    assert_eq!((whole.is_stopped, whole.trees), (false, Some(8)));
}

#[test]
fn evaluations_are_compared_as_the_systems_that_they_are_of() {
    let folder = Folder::new();
    let systems =
        || ["a", "b"].map(|name| Source::named(format!("new/{name}"), folder_model(&folder, name)));
    let input = CompareInput::data(folder.memory("test.rwd"), systems(), [] as [ScoreSource; 0]);
    let found = compare_systems(&CompareRequest::new(input), &Context::default()).unwrap();
    let names: Vec<&str> = found.systems.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["new/a", "new/b"], "names of values in memory are no paths");
    let evaluations = CompareRequest::new(CompareInput::evaluations(found.systems.clone()));
    let again = compare_systems(&evaluations, &Context::default()).unwrap();
    assert_eq!(values(&again), values(&found));
    assert!(again.sources.queries().unwrap().is_empty());
    let report = ReportComparisonRequest::new(evaluations.clone());
    assert!(report_comparison(&report, &Context::default()).is_ok());
    let error = compare_systems(&evaluations.depth(Some(3)), &Context::default()).unwrap_err();
    assert_eq!(error.kind(), "option-unused");
}

fn folder_model(folder: &Folder, name: &str) -> Model {
    Model::load(folder.path(&format!("{name}.model"))).unwrap()
}

#[test]
fn a_training_with_a_teacher_and_unlabelled_queries_gives_the_same_model() {
    let folder = Folder::new();
    let learner = || LearnerSpec::parse("mart(trees=4, leaves=4)").unwrap();
    let files = TeacherSource::new(folder.path("b.model")).unlabelled(folder.path("test.rwd"));
    let files = TrainModelRequest::new(learner(), folder.path("train.rwd")).teacher(files);
    let memory = TeacherSource::new(folder.model("b.model")).unlabelled(folder.memory("test.rwd"));
    let memory = TrainModelRequest::new(learner(), folder.memory("train.rwd")).teacher(memory);
    let with_teacher = same(files, memory, train_model).sha256;
    let alone = TrainModelRequest::new(learner(), folder.path("train.rwd"));
    assert_ne!(with_teacher, train_model(&alone, &Context::default()).unwrap().sha256);
}

#[test]
fn scores_are_the_same() {
    let folder = Folder::new();
    let files = ScoreRequest::new(folder.path("a.model"), folder.path("test.rwd")).ids(true);
    let memory = ScoreRequest::new(folder.model("a.model"), folder.memory("test.rwd")).ids(true);
    let result = same(files, memory.clone(), score);
    assert_eq!(result.rows, folder.data("test.rwd").rows());
    // A file of scores from memory reads back to the same scores.
    score(&memory.ids(false).out(folder.path("scores")), &Context::default()).unwrap();
    let text = std::fs::read_to_string(folder.path("scores")).unwrap();
    let read: Vec<f64> = text.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(read, result.scores);
}

#[test]
fn evaluations_are_the_same() {
    let folder = Folder::new();
    let files = EvalInput::model(folder.path("a.model"), folder.path("test.rwd"));
    let memory = EvalInput::model(folder.model("a.model"), folder.memory("test.rwd"));
    let of_model = same(EvalRequest::new(files), EvalRequest::new(memory), eval);
    let ndcg = of_model.evaluation.get("ndcg@10").unwrap();
    assert!(ndcg > 0.3, "{ndcg}");

    let scores = ScoreRequest::new(folder.path("a.model"), folder.path("test.rwd"));
    let scores = score(&scores.out(folder.path("scores")), &Context::default()).unwrap().scores;
    let files = EvalInput::scores(folder.path("scores"), folder.path("test.rwd"));
    let memory = EvalInput::scores(scores, folder.memory("test.rwd"));
    let of_scores = same(EvalRequest::new(files), EvalRequest::new(memory), eval);
    assert_eq!(of_scores.evaluation.get("ndcg@10"), Some(ndcg));

    std::fs::write(folder.path("qrels"), "a 0 x 1\na 0 y 0\nb 0 x 2\n").unwrap();
    std::fs::write(folder.path("run"), "a 0 y 1 9 r\na 0 x 2 8 r\n").unwrap();
    let files = EvalInput::run(folder.path("run"), folder.path("qrels"));
    let context = Context::default();
    let run = read_run(&folder.path("run"), &context).unwrap();
    let qrels = read_qrels(&folder.path("qrels"), &context).unwrap();
    let run = RunSource::named(folder.path("run").display().to_string(), run);
    let of_run = same(EvalRequest::new(files), EvalRequest::new(EvalInput::run(run, qrels)), eval);
    assert_eq!(of_run.evaluation.get("rr"), Some(0.25));
    assert_eq!(of_run.queries.missing, Some(1));
}

#[test]
fn comparisons_are_the_same() {
    let folder = Folder::new();
    let models = ["a.model", "b.model"];
    let no_scores = || Vec::<ScoreSource>::new();
    let files = models.map(|name| folder.path(name));
    let files = CompareInput::data(folder.path("test.rwd"), files, no_scores());
    let memory = models.map(|name| folder.model(name));
    let memory = CompareInput::data(folder.memory("test.rwd"), memory, no_scores());
    let result = same(CompareRequest::new(files), CompareRequest::new(memory), compare_systems);
    let names: Vec<&str> = result.systems.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, models);
}

#[test]
fn cross_validations_and_searches_over_parameters_are_the_same() {
    let folder = Folder::new();
    let learners =
        || ["mart(trees=3, leaves=4)", "ranksvm"].map(|l| LearnerSpec::parse(l).unwrap()).to_vec();
    let division = FoldParams::default().folds(3_usize);
    let files = CrossValidateRequest::new(learners(), folder.path("train.rwd"));
    let memory = CrossValidateRequest::new(learners(), folder.memory("train.rwd"));
    let request = |request: CrossValidateRequest| request.division(division.clone());
    let result = same(request(files), request(memory), cross_validate_learners);
    assert_eq!((result.folds, result.learners.len()), (3, 2));
    assert!(result.comparison.is_some());

    let space = Space::parse("leaves=int(2,8), rate=log(0.1,1)").unwrap();
    let settings = TuneSettings::new(TuneData::Valid).space(space).trials(3);
    let plan = || TunePlan::new(&learners()[0], settings.clone()).unwrap();
    let files =
        TuneRequest::new(plan(), folder.path("train.rwd")).validation(folder.path("valid.rwd"));
    let memory =
        TuneRequest::new(plan(), folder.memory("train.rwd")).validation(folder.memory("valid.rwd"));
    let result = same(files, memory, |request, context| tune_learner(request, &Quiet, context));
    assert_eq!(result.trials.len(), 3);
}

/// Reports no progress.
struct Quiet;

impl rankwright::learn::Progress for Quiet {}

impl rankwright::learn::tune::TuneProgress for Quiet {}

#[test]
fn explanations_are_the_same() {
    let folder = Folder::new();
    let query = folder.data("test.rwd").query(0).id.to_owned();
    let files = ExplainRequest::new(folder.path("a.model"), folder.path("test.rwd"));
    // The result has the whole paths.
    let whole = |name: &str| folder.path(name).display().to_string();
    let model = Model::load(folder.path("a.model")).unwrap();
    let memory = ExplainRequest::new(
        ModelSource::named(whole("a.model"), model),
        DataSource::named(whole("test.rwd"), folder.data("test.rwd")),
    );
    let result = same(files.query(query.clone()), memory.query(query), explain_ranking);
    assert!(result.explanation.query.is_some());
}

#[test]
fn searches_runs_and_features_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let store = StoreOptions::default().records(60_usize).queries(8_usize);
    generate_store(&GenerateStoreRequest::new(store, path("store")), &Context::default()).unwrap();
    let documents = path("store/documents.jsonl");
    build_index(&BuildIndexRequest::new([documents], path("index")), &Context::default()).unwrap();
    let index = Arc::new(Index::open(path("index")).unwrap());
    let queries = path("store/queries.jsonl");
    let read = rankwright::search::read_queries(&queries, Default::default()).unwrap();
    let qrels = read_qrels(&path("store/qrels.txt"), &Context::default()).unwrap();

    let files = ExtractFeaturesRequest::new(path("index"), queries.as_path());
    let files = files.qrels(path("store/qrels.txt"));
    let memory = ExtractFeaturesRequest::new(&index, read.clone()).qrels(qrels);
    let result = same(files, memory.clone(), extract_features);
    assert!(result.result.rows > 8 && result.result.data.feature_set().is_some());
    let written = extract_features(&memory.out(path("d.rwd")), &Context::default()).unwrap();
    assert_eq!(written.out, Some(path("d.rwd")));
    let data = Dataset::read(path("d.rwd")).unwrap();
    assert_eq!(data.labels(), result.result.data.labels());

    let learner = LearnerSpec::parse("mart(trees=4, leaves=3)").unwrap();
    let request = TrainModelRequest::new(learner, result.result.data).out(path("m.model"));
    let model = Arc::new(train_model(&request, &Context::default()).unwrap().trained);
    let text = read[0].text.clone();
    let files = SearchIndexRequest::new(path("index"), &text).model(path("m.model"));
    let memory = SearchIndexRequest::new(&index, &text).model(&model);
    let found = same(files, memory, search_index);
    assert!(found.result.found > 0);

    let files = RunQueriesRequest::new(path("index"), queries.as_path()).model(path("m.model"));
    let memory = RunQueriesRequest::new(&index, read).model(&model);
    same(files, memory.clone(), run_queries);
    let kept = run_queries(&memory.clone(), &Context::default()).unwrap();
    run_queries(&memory.out(path("a.run")), &Context::default()).unwrap();
    let read = read_run(&path("a.run"), &Context::default()).unwrap();
    let ids = |run: &Run| run.iter().map(|(query, _)| query.to_owned()).collect::<Vec<_>>();
    assert_eq!(ids(&read), ids(&kept.result.run));
}

#[test]
fn conversions_and_divisions_without_a_file_return_the_data() {
    let folder = Folder::new();
    let convert = ConvertRequest::new(folder.path("train.rwd"));
    let converted = convert_data(&convert, &Context::default()).unwrap();
    assert_eq!((converted.out, converted.format), (None, "rwd"));
    assert_eq!(converted.data.labels(), folder.data("train.rwd").labels());

    let split = SplitOptions::default().parts(Parts::parse("a=0.6, b=0.4").unwrap());
    let in_memory = SplitRequest::new(folder.memory("train.rwd"), split.clone());
    let result =
        same(SplitRequest::new(folder.path("train.rwd"), split), in_memory.clone(), split_data);
    let queries: usize = result.data.iter().map(Dataset::queries).sum();
    assert_eq!((result.data.len(), queries), (2, folder.data("train.rwd").queries()));
    assert_eq!((result.parts[1].name.as_str(), &result.parts[1].path), ("b", &None));
    let files = split_data(&in_memory.out(folder.path("parts")), &Context::default()).unwrap();
    assert!(files.data.is_empty());
    for (part, data) in files.parts.iter().zip(&result.data) {
        assert_eq!(
            Dataset::read(part.path.as_ref().unwrap()).unwrap().labels(),
            data.labels(),
            "{part:?}"
        );
    }
    let format = ConvertRequest::new(folder.path("train.rwd")).format(Format::Cache);
    let error = convert_data(&format, &Context::default()).unwrap_err();
    assert_eq!(error.kind(), "option-unused");
}

#[test]
fn models_convert_from_memory_to_bytes() {
    let folder = Folder::new();
    let files = ConvertModelRequest::new(folder.path("a.model"), "lightgbm");
    let memory = ConvertModelRequest::new(folder.model("a.model"), "lightgbm");
    let result = same(files, memory.clone(), convert_model);
    convert_model(&memory.out(folder.path("a.txt")), &Context::default()).unwrap();
    assert!(std::fs::read(folder.path("a.txt")).unwrap() == result.content);
}

/// Texts of categories get the numbers of the training data, and unknown ones are a warning, whether
/// the data is read from a file or was in memory.
#[test]
fn categories_of_data_in_memory_get_the_numbers_of_the_training_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let rows = |brands: [&str; 4]| {
        let row = |(n, brand): (usize, &str)| format!("q{},{},{brand},{n}\n", n / 2, n % 2);
        let rows: String = brands.into_iter().enumerate().map(row).collect();
        format!("qid,label,brand,x\n{rows}")
    };
    std::fs::write(path("train.csv"), rows(["ibis", "emu", "ibis", "emu"])).unwrap();
    std::fs::write(path("test.csv"), rows(["emu", "ibis", "rhea", "emu"])).unwrap();
    let learner = LearnerSpec::parse("mart(trees=2, leaves=2, min_rows=1)").unwrap();
    let request = |train: DataSource, valid: DataSource| {
        TrainModelRequest::new(learner.clone(), train).validation(valid)
    };
    let read = |name: &str| {
        let roles = rankwright::data::format::Roles::parse("category=brand").unwrap();
        let options = rankwright::data::format::ReadOptions::new().roles(roles);
        rankwright::data::format::read(&[path(name)], &options).unwrap().data
    };
    let files = |name: &str| {
        let roles = rankwright::data::format::Roles::parse("category=brand").unwrap();
        DataSource::from(DataFiles::new([path(name)]).roles(roles))
    };
    let named = |name: &str| DataSource::named(name, read(name));
    let context = Context::default();
    let of_files = train_model(&request(files("train.csv"), path("test.csv").into()), &context);
    let of_memory = train_model(&request(named("train.csv"), named("test.csv")), &context);
    let (of_files, of_memory) = (of_files.unwrap(), of_memory.unwrap());
    assert_eq!(of_files.sha256, of_memory.sha256);
    assert_eq!(values(&of_files)["valid"], values(&of_memory)["valid"]);
    fn kinds(result: &TrainModelResult) -> Vec<&str> {
        result.warnings.iter().map(|warning| warning.kind()).collect()
    }
    assert_eq!(kinds(&of_files), kinds(&of_memory));
    assert!(kinds(&of_files).contains(&"unseen-categories"), "{:?}", of_files.warnings);
}

/// A short path is enough wherever a source is taken.
#[test]
fn every_kind_of_path_is_a_source() {
    let path = Path::new("a.model");
    for source in [
        ModelSource::from(path),
        "a.model".into(),
        "a.model".to_owned().into(),
        path.to_owned().into(),
    ] {
        assert_eq!(source.path(), Some(path));
    }
    assert_eq!(DataSource::from("a.txt").label(), "a.txt");
    assert!(DataSource::default().is_empty());
}

#[test]
fn a_list_of_queries_in_json_has_their_texts_and_ids() {
    let text = r#"{"index": "i", "queries": ["jazz", {"id": "q7", "text": "ocean"}]}"#;
    let request: RunQueriesRequest = serde_json::from_str(text).unwrap();
    let QueriesSource::Memory(queries) = &request.queries else { panic!("{request:?}") };
    let found = queries.iter().map(|query| (query.id.as_str(), query.text.as_str()));
    assert_eq!(found.collect::<Vec<_>>(), [("1", "jazz"), ("q7", "ocean")]);
    let again = from_json(&request);
    assert!(matches!(again.queries, QueriesSource::Memory(again) if again == *queries));

    let folder = tempfile::tempdir().unwrap();
    let documents = folder.path().join("d.jsonl");
    std::fs::write(&documents, r#"{"id": "d1", "title": "jazz"}"#).unwrap();
    let index = folder.path().join("index");
    build_index(&BuildIndexRequest::new([documents], &index), &Context::default()).unwrap();
    let run = |queries: &str| {
        let text = serde_json::json!({"index": &index, "queries": queries_of(queries)});
        run_queries(&serde_json::from_value(text).unwrap(), &Context::default())
    };
    assert_eq!(run(r#"["jazz"]"#).unwrap().result.run.iter().count(), 1);
    let twice = run(r#"["jazz", {"id": "1", "text": "ocean"}]"#).unwrap_err();
    assert_eq!(twice.kind(), "query-twice");
}

/// The JSON of a list of queries.
fn queries_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_name_of_a_run_that_is_not_written_is_an_unused_option() {
    let run = RunQueriesRequest::new("no-index", "no-queries").tag("mine");
    assert_eq!(run_queries(&run, &Context::default()).unwrap_err().kind(), "option-unused");
    let score = ScoreRequest::new("no.model", "no.txt").tag("mine").out("scores.txt");
    let error = score_data(&score);
    assert_eq!(error.kind(), "option-unused");
}

fn score_data(request: &ScoreRequest) -> TaskError {
    score(request, &Context::default()).unwrap_err()
}

#[test]
fn names_of_values_in_memory_are_not_cut() {
    let folder = Folder::new();
    let models = ["a.model", "b.model"].map(|name| {
        let model = Model::load(folder.path(name)).unwrap();
        ModelSource::named(format!("rate=0.1/{name}"), model)
    });
    let input = CompareInput::data(folder.memory("test.rwd"), models, Vec::<ScoreSource>::new());
    let found = compare_systems(&CompareRequest::new(input), &Context::default()).unwrap();
    let names: Vec<&str> = found.systems.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["rate=0.1/a.model", "rate=0.1/b.model"]);
}
