//! Demonstration of all steps from text to a better ranking, on a generated shop of music records.
//!
//! Records and queries are generated, indexed, and retrieved by BM25; features of the candidates
//! train MART, RankMART and LambdaMART; these and a linear model of given weights re-rank the
//! candidates of test queries, and are compared with BM25 by the judgements, with significance. The
//! seed determines all results.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_data::format::{Format, write};
use rankwright_data::generate::StoreOptions;
use rankwright_data::store::write_atomic;
use rankwright_data::{DEFAULT_SEED, DataError, Dataset, ListFormat, Qrels, QueryLists, Random};
use rankwright_eval::compare::{CompareOptions, Comparison, compare_evaluations};
use rankwright_eval::{
    EvalOptions, Evaluation, JudgedRun, Measure, SourceKind, ToMeasures, evaluate,
};
use rankwright_learn::{LearnerSpec, TrainRequest};
use rankwright_model::{Model, ScoreOptions};
use rankwright_report::comparison::ComparisonReport;
use rankwright_report::training::{NamedData, TrainingOptions, TrainingReport, TrainingRequest};
use rankwright_search::{
    BuildOptions, Documents, Existing, FeatureSet, Index, Query, QueryOptions, Ranker, RowOptions,
    SearchWarning, TrainingData, Value, build_index, read_queries, training_data,
};
use rankwright_spec::{check_params, params};
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::split_data::make_folder;
use super::train::ForwardedProgress;
use super::{Context, TaskError, Warning};

params! {
    /// Sizes of a demonstration.
    #[derive(Copy, Eq)]
    pub struct DemoParams {
        records: usize = 20_000, 100.., "Number of records.";
        queries: usize = 600, 12..,
            "Number of queries: one half for training, one sixth for early stopping, one third for \
             testing.";
        seed: u64 = DEFAULT_SEED, .., "Seed of the store and the trainings.";
    }
}

/// Sizes of a demonstration, and the folder for its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct DemoRequest {
    /// Folder for all files: records, queries and judgements, `index`, `train.rwd` and `valid.rwd`,
    /// a `.model` and a `.run` of each system, `test.qrels.txt`, and two HTML reports. Nothing is
    /// kept where it is not given.
    pub out: Option<PathBuf>,
    /// Number of records, at least 100.
    pub records: usize,
    /// Number of queries, at least 12: one half for training, one sixth for validation, one third
    /// for testing.
    pub queries: usize,
    /// Seed of the store and of the trainings.
    pub seed: u64,
}

impl Default for DemoRequest {
    fn default() -> Self {
        let DemoParams { records, queries, seed } = DemoParams::default();
        DemoRequest { out: None, records, queries, seed }
    }
}

impl DemoRequest {
    /// The default sizes; nothing is kept.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of records.
    pub fn records(mut self, records: usize) -> Self {
        self.records = records;
        self
    }

    /// Sets the number of queries.
    pub fn queries(mut self, queries: usize) -> Self {
        self.queries = queries;
        self
    }

    /// Sets the seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Keeps all files in this folder; created if needed.
    pub fn out(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out = Some(folder.into());
        self
    }
}

/// Systems compared with BM25 on the test queries of a generated store.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DemoResult {
    /// Values, differences and tests for each metric and system.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// The store and the feature data.
    pub store: DemoStore,
    /// The systems, BM25 first.
    #[serde(rename = "trainings")]
    pub systems: Vec<DemoSystem>,
    /// Warnings about files, features and queries.
    pub warnings: Vec<Warning>,
    /// Number of candidates of a query that the systems re-rank.
    #[serde(skip)]
    pub candidates: usize,
    /// Text of a test query, as an example of a search.
    #[serde(skip)]
    pub example_query: String,
    /// Further fields of this query, such as its language.
    #[serde(skip)]
    pub example_fields: Vec<(String, String)>,
    /// HTML reports of the comparison and of LambdaMART's training, where a folder was given.
    #[serde(skip)]
    pub pages: Vec<PathBuf>,
}

/// Counts and times of a generated store and its feature data.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DemoStore {
    /// Number of records.
    pub records: usize,
    /// The seed.
    pub seed: u64,
    /// Number of queries of each part.
    pub queries: DemoQueries,
    /// Number of rows of the feature data.
    pub rows: DemoRows,
    /// Number of features.
    pub features: usize,
    /// Seconds of the steps.
    pub seconds: DemoSeconds,
}

/// Numbers of queries of the three parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DemoQueries {
    /// Training queries.
    pub train: usize,
    /// Validation queries, for early stopping.
    pub valid: usize,
    /// Test queries.
    pub test: usize,
}

/// Numbers of rows of the feature data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DemoRows {
    /// Rows of the training data.
    pub train: usize,
    /// Rows of the validation data.
    pub valid: usize,
}

/// Seconds of the steps before the first training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DemoSeconds {
    /// Generating and writing the store.
    pub generate: f64,
    /// Indexing.
    pub index: f64,
    /// Computing features.
    pub features: f64,
}

/// A system of the demonstration.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DemoSystem {
    /// Its name.
    #[serde(rename = "system")]
    pub name: &'static str,
    /// The learner as a full spec; empty for BM25.
    pub learner: String,
    /// Seconds of training.
    pub train_seconds: f64,
    /// Milliseconds to rank a query, including its features.
    pub rank_ms: f64,
    /// Its evaluation on the test queries.
    #[serde(skip)]
    pub evaluation: Evaluation,
}

/// The systems besides BM25: name, file name without extension, learner. The linear model has
/// weights chosen by hand.
const SYSTEMS: [[&str; 3]; 4] = [
    [
        "linear, set by hand",
        "line",
        "linear(weights=bm25(field=all):1/bm25(field=title):0.5/number(field=popularity, log=true):0.5/category-match(field=language):2)",
    ],
    ["MART", "mart", "mart(trees=150, leaves=15, stop=25)"],
    ["RankMART", "rankmart", "rankmart(trees=150, leaves=15, stop=25)"],
    ["LambdaMART", "lambdamart", "lambdamart(trees=150, leaves=15, stop=25)"],
];

const METRICS: [&str; 4] = ["ndcg@10", "ap", "err@10", "p@10"];
/// File names of the HTML reports.
const COMPARISON: &str = "report.html";
const TRAINING: &str = "training.html";
/// Number of candidates of a query.
const CANDIDATES: usize = 300;

/// Generates a store, indexes it, trains rankers on it and compares them with BM25.
pub fn demo(request: &DemoRequest, context: &Context<'_>) -> Result<DemoResult, TaskError> {
    let DemoRequest { records, queries, seed, .. } = *request;
    check_params(&DemoParams { records, queries, seed }, "demo")?;
    let temporary =
        tempfile::tempdir().map_err(|e| DataError::io("create", "a temporary folder", e))?;
    let folder = request.out.as_deref().unwrap_or(temporary.path());
    make_folder(folder)?;
    let demo = Demo {
        request,
        folder,
        measures: METRICS.to_measures(SourceKind::Run)?,
        task: RunningTask::new(context),
    };
    demo.run()
}

/// A running demonstration.
struct Demo<'a> {
    request: &'a DemoRequest,
    folder: &'a Path,
    measures: Vec<Measure>,
    task: RunningTask<'a>,
}

/// The indexed store, with its queries in three parts.
struct SearchableStore {
    index: Arc<Index>,
    train: Vec<Query>,
    valid: Vec<Query>,
    test: Vec<Query>,
    qrels: Qrels,
    /// Judgements of the test queries.
    test_qrels: Qrels,
    generate_seconds: f64,
    index_seconds: f64,
}

/// Feature data of the training and validation parts.
struct DemoFeatures {
    train: Dataset,
    valid: Dataset,
    seconds: f64,
}

impl Demo<'_> {
    fn run(mut self) -> Result<DemoResult, TaskError> {
        let store = self.make_store()?;
        let features = self.make_features(&store)?;
        let bm25 = Ranker::builder(store.index.clone()).candidates(CANDIDATES).build()?;
        let mut systems = vec![self.rank(&store, &bm25, "BM25", "bm25")?];
        let mut last_model = None;
        for [name, file, spec] in SYSTEMS {
            let learner = LearnerSpec::parse(spec)?;
            let (model, seconds) = self.train(name, &learner, &features)?;
            model.save(self.folder.join(format!("{file}.model")))?;
            let ranker = Ranker::new(store.index.clone(), &model)?;
            let ranked = self.rank(&store, &ranker, name, file)?;
            let learner = learner.to_string();
            systems.push(DemoSystem { learner, train_seconds: seconds, ..ranked });
            last_model = Some((file, model));
        }
        let evaluations = systems.iter().map(|s| (s.name.to_owned(), s.evaluation.clone()));
        let evaluations: Vec<(String, Evaluation)> = evaluations.collect();
        let options = CompareOptions::default();
        let work = || compare_evaluations(&evaluations, &options);
        let (comparison, _) = self.task.step("testing differences", work)?;
        let pages = match (&self.request.out, last_model) {
            (Some(_), Some((file, model))) => {
                let title = "A shop of music records: BM25, a linear model and three learners";
                let report =
                    ComparisonReport::from_comparison(title, evaluations, comparison.clone())?;
                self.write_pages(&report, &format!("{file}.model"), &model, &features)?
            }
            _ => Vec::new(),
        };
        Ok(DemoResult {
            comparison,
            store: self.counts(&store, &features),
            systems,
            warnings: self.task.into_warnings(),
            candidates: CANDIDATES,
            example_query: store.test.first().map_or(String::new(), |query| query.text.clone()),
            example_fields: store.test.first().map(text_fields).unwrap_or_default(),
            pages,
        })
    }

    /// Generates the store, writes it, and indexes the written files.
    fn make_store(&mut self) -> Result<SearchableStore, TaskError> {
        let DemoRequest { records, queries, seed, .. } = *self.request;
        let folder = self.folder;
        let (store, generate_seconds) =
            self.task.step("generating a shop of music records", || {
                let store = StoreOptions::default().records(records).queries(queries).seed(seed);
                let store = store.generate()?;
                store.write(folder)?;
                Ok::<_, TaskError>(store)
            })?;
        let path = folder.join("index");
        let context = self.task.context();
        let (built, index_seconds) = self.task.step("indexing", || {
            let documents = Documents::open(folder.join("documents.jsonl"), None)?;
            let options = BuildOptions::new().existing(Existing::Replace);
            build_index(&path, documents, &options, &mut |_| match context.is_cancelled() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            })
        })?;
        self.task.warn_of_search(built.ok_or(TaskError::Cancelled)?.warnings());
        let mut train = read_queries(folder.join("queries.jsonl"), QueryOptions::default())?;
        // Any number will do: only this shuffle draws from the stream.
        let stream = 0;
        Random::new(seed, stream).shuffle(&mut train);
        let rest = train.split_off(train.len() / 2);
        let (valid, test) = rest.split_at(rest.len() / 3);
        let test_qrels = judgements_of(&store.qrels, test)?;
        test_qrels.save(folder.join("test.qrels.txt"), ListFormat::Trec)?;
        Ok(SearchableStore {
            index: Arc::new(Index::open(&path)?),
            train,
            valid: valid.to_vec(),
            test: test.to_vec(),
            qrels: store.qrels,
            test_qrels,
            generate_seconds,
            index_seconds,
        })
    }

    /// Computes the features of the training and validation queries, and writes them.
    fn make_features(&mut self, store: &SearchableStore) -> Result<DemoFeatures, TaskError> {
        let ([train, valid], seconds) = self.task.step("computing features", || {
            let set = FeatureSet::parse("default")?;
            let options = RowOptions::new().candidates(CANDIDATES);
            let features_of = |queries: &[Query]| {
                let qrels = judgements_of(&store.qrels, queries)?;
                let index = store.index.clone();
                Ok::<_, TaskError>(training_data(
                    index,
                    queries.to_vec(),
                    Some(&qrels),
                    &set,
                    &options,
                )?)
            };
            Ok::<_, TaskError>([features_of(&store.train)?, features_of(&store.valid)?])
        })?;
        let mut write_data = |name: &str, made: TrainingData| {
            // The number of candidates is fixed here, so relevant documents that are not among
            // them are no problem.
            let warnings = made.warnings.into_iter();
            let is_problem =
                |w: &SearchWarning| !matches!(w, SearchWarning::RelevantLeftOut { .. });
            self.task.warn_of_search(warnings.filter(is_problem).collect());
            let warnings = write(&made.data, self.folder.join(name), Format::Cache)?;
            self.task.warn_of(&warnings);
            Ok::<_, TaskError>(made.data)
        };
        let (train, valid) = (write_data("train.rwd", train)?, write_data("valid.rwd", valid)?);
        Ok(DemoFeatures { train, valid, seconds })
    }

    /// Trains one system; returns the seconds too.
    fn train(
        &mut self,
        name: &str,
        learner: &LearnerSpec,
        features: &DemoFeatures,
    ) -> Result<(Model, f64), TaskError> {
        let (result, seconds) = self.task.step(&format!("training {name}"), || {
            let rows = features.train.rows();
            let forwarded = ForwardedProgress::begin(self.task.context(), learner, rows, None);
            let request = TrainRequest::new(&features.train)
                .validation(&features.valid)
                .seed(self.request.seed)
                .progress(&forwarded)
                .simd(self.task.simd());
            learner.train(request)
        })?;
        result.warnings.into_iter().for_each(|warning| self.task.warn(Warning::Training(warning)));
        match result.finished {
            true => Ok((result.model, seconds)),
            false => Err(TaskError::Cancelled),
        }
    }

    /// Ranks the test queries and evaluates the run.
    fn rank(
        &mut self,
        store: &SearchableStore,
        ranker: &Ranker,
        name: &'static str,
        file: &str,
    ) -> Result<DemoSystem, TaskError> {
        let work = || ranker.run(&store.test, None, CANDIDATES);
        let (ranked, seconds) = self.task.step(&format!("ranking by {name}"), work)?;
        self.task.warn_of_search(ranked.warnings);
        let run = ranked.run;
        run.save(self.folder.join(format!("{file}.run")), ListFormat::Trec, file)?;
        let judged = JudgedRun::new(&run, &store.test_qrels);
        let evaluation =
            evaluate(&judged, &self.measures, EvalOptions::default().tie_effect(true))?;
        let rank_ms = seconds * 1e3 / store.test.len() as f64;
        Ok(DemoSystem { name, learner: String::new(), train_seconds: 0.0, rank_ms, evaluation })
    }

    /// Writes the pages of the comparison and of a training.
    fn write_pages(
        &self,
        comparison: &ComparisonReport,
        name: &str,
        model: &Model,
        features: &DemoFeatures,
    ) -> Result<Vec<PathBuf>, TaskError> {
        let train = NamedData { name: "train.rwd", data: &features.train };
        let input = TrainingRequest::new((name, model), train)
            .valid(vec![NamedData { name: "valid.rwd", data: &features.valid }])
            .measures(METRICS[..1].to_measures(SourceKind::Features)?);
        let score = ScoreOptions::new().simd(self.task.simd());
        let options = TrainingOptions::default().score(score);
        let (pages, _) = self.task.step("making pages", || {
            let training = TrainingReport::new(&input, &options)?;
            Ok::<_, TaskError>([(COMPARISON, comparison.page()), (TRAINING, training.page())])
        })?;
        let mut written = Vec::new();
        for (name, page) in pages {
            let (html, path) = (page.to_html()?, self.folder.join(name));
            write_atomic(&path, |file| file.write_all(html.as_bytes()))?;
            written.push(path);
        }
        Ok(written)
    }

    /// The counts and times of the store and its features.
    fn counts(&self, store: &SearchableStore, features: &DemoFeatures) -> DemoStore {
        let [train, valid, test] = [&store.train, &store.valid, &store.test].map(Vec::len);
        DemoStore {
            records: store.index.documents(),
            seed: self.request.seed,
            queries: DemoQueries { train, valid, test },
            rows: DemoRows { train: features.train.rows(), valid: features.valid.rows() },
            features: features.train.columns(),
            seconds: DemoSeconds {
                generate: store.generate_seconds,
                index: store.index_seconds,
                features: features.seconds,
            },
        }
    }
}

/// The judgements of some queries only.
fn judgements_of(qrels: &Qrels, queries: &[Query]) -> Result<Qrels, TaskError> {
    let lists = qrels.lists();
    let mut rows = Vec::new();
    for query in queries {
        let documents = lists.find(&query.id).map(|number| lists.list(number));
        for document in documents.into_iter().flatten() {
            rows.push((&query.id, String::from_utf8_lossy(document.id), document.value));
        }
    }
    let rows = rows.iter().map(|(query, id, value)| (query.as_str(), id.as_ref(), *value));
    Ok(Qrels::from_lists(QueryLists::from_rows("judgements", rows)?))
}

/// The fields of a query that are texts.
fn text_fields(query: &Query) -> Vec<(String, String)> {
    let texts = query.fields.iter().filter_map(|(name, value)| match value {
        Value::Text(text) => Some((name.clone(), text.clone())),
        _ => None,
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn small() -> DemoRequest {
        DemoRequest::new().records(300).queries(24)
    }

    #[test]
    fn everything_follows_from_the_seed_and_the_models_know_their_features() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        let first = demo(&small().out(&one), &Context::default()).unwrap();
        demo(&small().out(&two), &Context::default()).unwrap();
        for name in ["lambdamart.model", "mart.model", "line.model", "train.rwd", "bm25.run"] {
            let [a, b] = [&one, &two].map(|folder| std::fs::read(folder.join(name)).unwrap());
            assert!(a == b, "{name}");
        }
        let data = Dataset::read(one.join("train.rwd")).unwrap();
        for [_, file, _] in SYSTEMS {
            let model = Model::load(one.join(format!("{file}.model"))).unwrap();
            assert!(model.header().feature_set.is_some(), "{file}");
            assert_eq!(model.header().feature_set.as_deref(), data.feature_set(), "{file}");
        }
        assert_eq!(first.pages, [one.join(COMPARISON), one.join(TRAINING)]);
        assert!(first.pages.iter().all(|page| page.is_file()));
        assert_eq!(first.store.queries, DemoQueries { train: 12, valid: 4, test: 8 });
        // Each part has the judgements of its own queries, so that none are ignored.
        assert!(first.warnings.is_empty(), "{:?}", first.warnings);
        let json = serde_json::to_value(&first).unwrap();
        assert_eq!(json["store"]["rows"]["train"], first.store.rows.train);
        assert_eq!(json["trainings"][1]["system"], "linear, set by hand");
        assert_eq!(json["metrics"][0]["systems"].as_array().unwrap().len(), 5);
    }

    #[test]
    fn a_raised_flag_ends_it_before_the_next_step() {
        let stop = AtomicBool::new(false);
        let seen = Mutex::new(Vec::new());
        let step = |name: &str| {
            seen.lock().unwrap().push(name.to_owned());
            stop.store(name == "training MART", Ordering::Relaxed);
        };
        let context = Context::default().on_step(&step).cancel(&stop);
        let error = demo(&small(), &context).unwrap_err();
        assert!(matches!(error, TaskError::Cancelled), "{error}");
        assert_eq!(seen.lock().unwrap().last().unwrap(), "training MART");
    }
}
