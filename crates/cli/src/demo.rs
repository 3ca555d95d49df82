//! `demo`: the main job end to end, from text to a better ranking, with a record store made on the
//! spot.
//!
//! Records and queries are generated (synthetic, and said to be), indexed, and found by BM25; features
//! of the candidates train MART, RankMART and LambdaMART; all of them and a line made by hand
//! re-rank the candidates of test queries, and are compared with BM25 by the judgements, with
//! significance; with `--out`, on pages too. Everything follows from the seed.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright::data::format::{Format, write};
use rankwright::data::generate::{Store, StoreOptions};
use rankwright::data::store::write_atomic;
use rankwright::data::{DEFAULT_SEED, DataError, Dataset, ListFormat, Qrels, QueryLists, Random};
use rankwright::eval::compare::{CompareOptions, Comparison, compare_evaluations};
use rankwright::eval::table::comparison_table;
use rankwright::eval::{
    EvalOptions, Evaluation, JudgedRun, Measure, MetricSpec, SourceKind, evaluate,
};
use rankwright::learn::{LearnerSpec, TrainRequest, ValidationSet};
use rankwright::model::{Model, ScoreOptions};
use rankwright::report::comparison::ComparisonReport;
use rankwright::report::training::{NamedData, TrainingOptions, TrainingReport, TrainingRequest};
use rankwright::search::{
    BuildOptions, Documents, Existing, Extractor, FeatureSet, Index, Query, QueryOptions, Ranker,
    RowOptions, build_index, read_queries,
};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Output;
use crate::progress::timed;
use rankwright::eval::conventions;

/// Generate a record store, index it, and teach rankers to beat BM25 and a line made by hand.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Keep the records, the index, the data, the models, the runs and two pages in this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Number of records
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(100..))]
    records: u32,
    /// Number of queries: a half to train on, a sixth to stop by, a third to test on
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u32).range(12..))]
    queries: u32,
    /// Seed of the store and the trainings
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
}

/// Who competes with the first stage: name, file, learner. The line weighs what a person might.
const SYSTEMS: [[&str; 3]; 4] = [
    [
        "line by hand",
        "line",
        "linear(weights=bm25(field=all):1/bm25(field=title):0.5/number(field=popularity, log=true):0.5/category-match(field=language):2)",
    ],
    ["MART", "mart", "mart(trees=150, leaves=15, stop=25)"],
    ["RankMART", "rankmart", "rankmart(trees=150, leaves=15, stop=25)"],
    ["LambdaMART", "lambdamart", "lambdamart(trees=150, leaves=15, stop=25)"],
];

const METRICS: [&str; 4] = ["ndcg@10", "ap", "err@10", "p@10"];
/// The pages.
const COMPARISON: &str = "report.html";
const TRAINING: &str = "training.html";
/// Candidates of a query.
const CANDIDATES: usize = 300;

/// The store, searchable, with its queries in three parts.
struct Shop {
    index: Arc<Index>,
    train: Vec<Query>,
    valid: Vec<Query>,
    test: Vec<Query>,
    qrels: Qrels,
    /// Judgements of the test queries.
    judged: Qrels,
    generated: f64,
    indexed: f64,
}

/// Feature data of the first two parts.
struct Features {
    train: Dataset,
    valid: Dataset,
    set: FeatureSet,
    seconds: f64,
}

/// A competitor and how it did.
#[derive(Serialize)]
struct System {
    #[serde(rename = "system")]
    name: &'static str,
    learner: String,
    train_seconds: f64,
    /// Milliseconds for a query, features included.
    rank_ms: f64,
    #[serde(skip)]
    evaluation: Evaluation,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Demo<'a> {
    #[serde(flatten)]
    comparison: &'a Comparison,
    store: StoreCounts,
    trainings: &'a [System],
}

/// The store in numbers.
#[derive(Serialize)]
struct StoreCounts {
    records: u64,
    seed: u64,
    queries: BTreeMap<&'static str, usize>,
    rows: BTreeMap<&'static str, usize>,
    features: usize,
    seconds: BTreeMap<&'static str, f64>,
}

impl StoreCounts {
    fn new(args: &Args, shop: &Shop, features: &Features) -> Self {
        let [train, valid, test] = [&shop.train, &shop.valid, &shop.test].map(Vec::len);
        StoreCounts {
            records: shop.index.documents() as u64,
            seed: args.seed,
            queries: [("train", train), ("valid", valid), ("test", test)].into(),
            rows: [("train", features.train.rows()), ("valid", features.valid.rows())].into(),
            features: features.train.columns(),
            seconds: [
                ("generate", shop.generated),
                ("index", shop.indexed),
                ("features", features.seconds),
            ]
            .into(),
        }
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let temporary = tempfile::tempdir().map_err(|e| DataError::io("make", "a folder", e))?;
    let folder = args.out.as_deref().unwrap_or(temporary.path());
    let make = std::fs::create_dir_all(folder);
    make.map_err(|e| DataError::io("make the folder", folder.display().to_string(), e))?;
    let measures =
        METRICS.map(|text| MetricSpec::parse(text).and_then(|spec| spec.resolve(SourceKind::Run)));
    let measures = measures.into_iter().collect::<Result<Vec<Measure>, _>>()?;
    let shop = open_shop(args, folder, out)?;
    let features = make_features(&shop, folder, out)?;
    let mut systems = vec![compete(&shop, "BM25", "bm25", None, folder, &measures, out)?];
    for [name, file, spec] in SYSTEMS {
        let (model, learner, seconds) = train(args, name, spec, &features, out)?;
        model.save(folder.join(format!("{file}.model")))?;
        let mut system = compete(&shop, name, file, Some(&model), folder, &measures, out)?;
        (system.learner, system.train_seconds) = (learner, seconds);
        systems.push(system);
    }
    let evaluations: Vec<(String, Evaluation)> =
        systems.iter().map(|s| (s.name.to_owned(), s.evaluation.clone())).collect();
    let options = CompareOptions::default();
    let (comparison, _) =
        timed(out, "testing differences", || compare_evaluations(&evaluations, &options));
    let comparison = comparison?;
    if args.out.is_some() {
        write_pages(folder, &features, &evaluations, &options, out)?;
    }
    let demo = Demo {
        store: StoreCounts::new(args, &shop, &features),
        trainings: &systems,
        comparison: &comparison,
    };
    out.show(&demo, |demo| text(args, &shop, &features, demo.trainings, demo.comparison))
}

/// Writes what is to be seen: the comparison, and how LambdaMART was trained.
fn write_pages(
    folder: &Path,
    features: &Features,
    evaluations: &[(String, Evaluation)],
    options: &CompareOptions,
    out: &Output,
) -> Result<(), Failure> {
    let model = Model::load(folder.join("lambdamart.model"))?;
    let input = TrainingRequest {
        model: ("lambdamart.model", &model),
        train: NamedData { name: "train.rwd", data: &features.train },
        valid: vec![NamedData { name: "valid.rwd", data: &features.valid }],
        measures: vec![MetricSpec::parse(METRICS[0])?.resolve(SourceKind::Features)?],
        log: None,
    };
    let training_options = TrainingOptions {
        score: ScoreOptions { simd: crate::simd()?, ..ScoreOptions::default() },
        ..TrainingOptions::default()
    };
    let (pages, _) = timed(out, "making pages", || {
        let title = "A record store: BM25, a line and three learners";
        let comparison = ComparisonReport::new(title, evaluations.to_vec(), options)?;
        let training = TrainingReport::new(&input, &training_options)?;
        Ok::<_, Failure>([(COMPARISON, comparison.page()), (TRAINING, training.page())])
    });
    for (name, page) in pages? {
        let html = page.to_html()?;
        write_atomic(folder.join(name), |file| file.write_all(html.as_bytes()))?;
    }
    Ok(())
}

/// Makes the store, writes it, and indexes what was written.
fn open_shop(args: &Args, folder: &Path, out: &Output) -> Result<Shop, Failure> {
    let (records, queries) = (args.records as usize, args.queries as usize);
    let options = StoreOptions { records, queries, seed: args.seed };
    let (store, generated) = timed(out, "generating a record store", || {
        let store = options.generate()?;
        store.write(folder)?;
        Ok::<Store, DataError>(store)
    });
    let path = folder.join("index");
    let (built, indexed) = timed(out, "indexing", || {
        let documents = Documents::open(folder.join("documents.jsonl"), None)?;
        let options = BuildOptions::new().existing(Existing::Replace);
        build_index(&path, documents, &options, &mut |_| ControlFlow::Continue(()))
    });
    built?;
    let mut queries = read_queries(folder.join("queries.jsonl"), QueryOptions::default())?;
    Random::new(args.seed, 0).shuffle(&mut queries);
    let rest = queries.split_off(queries.len() / 2);
    let (valid, test) = rest.split_at(rest.len() / 3);
    let qrels = store?.qrels;
    let judged = judgements_of(&qrels, test)?;
    judged.save(folder.join("test.qrels.txt"), ListFormat::Trec)?;
    let (train, valid, test) = (queries, valid.to_vec(), test.to_vec());
    let index = Arc::new(Index::open(&path)?);
    Ok(Shop { index, train, valid, test, qrels, judged, generated, indexed })
}

/// The judgements of some queries alone.
fn judgements_of(qrels: &Qrels, queries: &[Query]) -> Result<Qrels, Failure> {
    let lists = qrels.lists();
    let mut rows = Vec::new();
    for query in queries {
        let documents = lists.find(&query.id).map(|number| lists.list(number));
        for document in documents.into_iter().flatten() {
            rows.push((&query.id, String::from_utf8_lossy(document.id), document.value));
        }
    }
    let rows = rows.iter().map(|(query, id, value)| (query.as_str(), id.as_ref(), *value));
    Ok(Qrels::from_lists(QueryLists::from_rows("test.qrels.txt", rows)?))
}

fn make_features(shop: &Shop, folder: &Path, out: &Output) -> Result<Features, Failure> {
    let (made, seconds) = timed(out, "computing features", || {
        let extractor = Extractor::new(shop.index.clone(), &FeatureSet::parse("default")?)?;
        let options = RowOptions::new().candidates(CANDIDATES);
        let of = |queries| extractor.dataset(queries, Some(&shop.qrels), &options);
        let (train, valid) = (of(&shop.train)?, of(&shop.valid)?);
        let set = extractor.set_with(&options)?;
        Ok::<_, Failure>(Features { train, valid, set, seconds: 0.0 })
    });
    let features = made?;
    for (name, data) in [("train.rwd", &features.train), ("valid.rwd", &features.valid)] {
        write(data, folder.join(name), Format::Cache)?;
    }
    Ok(Features { seconds, ..features })
}

/// Trains one system; gives the learner's full spec and the seconds too.
fn train(
    args: &Args,
    name: &str,
    spec: &str,
    features: &Features,
    out: &Output,
) -> Result<(Model, String, f64), Failure> {
    let learner = LearnerSpec::parse(spec)?;
    let job = TrainRequest {
        valid: vec![ValidationSet { name: "valid".into(), data: &features.valid }],
        seed: args.seed,
        simd: crate::simd()?,
        ..TrainRequest::new(&features.train)
    };
    let (outcome, seconds) = timed(out, &format!("training {name}"), || learner.train(job));
    let (mut header, kind) = outcome?.model.into_parts();
    header.feature_set = Some(features.set.to_toml());
    Ok((Model::new(header, kind)?, learner.to_string(), seconds))
}

/// Ranks the test queries and measures the run by the judgements.
fn compete(
    shop: &Shop,
    name: &'static str,
    file: &str,
    model: Option<&Model>,
    folder: &Path,
    measures: &[Measure],
    out: &Output,
) -> Result<System, Failure> {
    let ranker = match model {
        Some(model) => Ranker::new(shop.index.clone(), model)?,
        None => Ranker::builder(shop.index.clone()).candidates(CANDIDATES).build()?,
    };
    let (ranked, seconds) =
        timed(out, &format!("ranking by {name}"), || ranker.run(&shop.test, None, CANDIDATES));
    let run = ranked?.run;
    run.save(folder.join(format!("{file}.run")), ListFormat::Trec, file)?;
    let judged = JudgedRun::new(&run, &shop.judged);
    let evaluation = evaluate(&judged, measures, EvalOptions::default())?;
    let rank_ms = seconds * 1e3 / shop.test.len() as f64;
    Ok(System { name, learner: String::new(), train_seconds: 0.0, rank_ms, evaluation })
}

fn text(
    args: &Args,
    shop: &Shop,
    features: &Features,
    systems: &[System],
    comparison: &Comparison,
) -> String {
    let mut table = comparison_table(comparison);
    if let Some(first) = systems.first() {
        table.notes.extend(conventions(&first.evaluation.results));
    }
    let trained: Vec<String> = systems
        .iter()
        .filter(|system| !system.learner.is_empty())
        .map(|s| format!("{:13} {:5.1} s  {}", s.name, s.train_seconds, s.learner))
        .collect();
    format!(
        "A record store, made up for this (synthetic; seed {}): {} records, generated in {:.1} s and \
         indexed in {:.1} s.\n{} queries to train on, {} to stop by, {} to test on; {} features of {} \
         candidates in {:.1} s.\n\n{}\n\nThe {} test queries, {CANDIDATES} candidates of BM25 \
         re-ranked:\n\n{}\n{}",
        args.seed,
        shop.index.documents(),
        shop.generated,
        shop.indexed,
        shop.train.len(),
        shop.valid.len(),
        shop.test.len(),
        features.train.columns(),
        features.train.rows() + features.valid.rows(),
        features.seconds,
        trained.join("\n"),
        shop.test.len(),
        table.to_text(),
        next(shop, args.out.as_deref())
    )
}

/// What to try next.
fn next(shop: &Shop, kept: Option<&Path>) -> String {
    let Some(folder) = kept else {
        return "Next: `rankwright demo --out kept` keeps everything, to be searched and looked into; \
                `rankwright list learners` and `list features` tell what else there is."
            .into();
    };
    let folder = folder.display();
    let query = shop.test.first().map_or("", |query| &query.text);
    format!(
        "Kept in {folder}; {folder}/{COMPARISON} and {folder}/{TRAINING} are pages to look at. Next:\n  \
         rankwright search {folder}/index '{query}' --model {folder}/lambdamart.model --explain -k 3\n  \
         rankwright model inspect {folder}/lambdamart.model\n  \
         rankwright compare --qrels {folder}/test.qrels.txt {folder}/bm25.run {folder}/lambdamart.run --details\n  \
         rankwright train {folder}/train.rwd --valid {folder}/valid.rwd --learner ranksvm --out \
         {folder}/mine.model"
    )
}
