//! One function for each target, and the list of them.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use rankwright::clicks::bias::read_examination;
use rankwright::clicks::interleave::{read_lists, read_requests, write_lists};
use rankwright::clicks::judge::{
    BradleyTerry, BradleyTerryOptions, PromptTemplate, check_judgements, match_answers,
    read_answer, read_answers, read_comparisons, read_questions,
};
use rankwright::clicks::log::LogFormat;
use rankwright::data::bytes::Input;
use rankwright::data::format::{Format, Roles};
use rankwright::data::read_scores;
use rankwright::eval::{MetricSpec, parse_metrics};
use rankwright::experiment::Experiment;
use rankwright::learn::tune::Space;
use rankwright::learn::{BiasFile, LearnerSpec};
use rankwright::search::{
    Analysis, Document, DocumentFormat, Documents, FeatureSet, Filter, FilterExpression,
    FirstStage, Index, QueryOptions, QuerySyntax, Ranker, Schema, read_queries,
};
use rankwright::spec::Spec;

use crate::{TemporaryPath, clicks, data_set, run_with_qrels, state};

/// A target: a function of any bytes, which panics if the code under test breaks a guarantee.
pub type Target = fn(&[u8]);

macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        /// All targets by name.
        pub static TARGETS: &[(&str, Target)] = &[$((stringify!($name), $name)),*];
    };
}

targets![
    letor,
    csv,
    tsv,
    jsonl,
    parquet,
    arrow,
    cache,
    packed,
    run,
    qrels,
    pairs,
    scores,
    spec,
    filter,
    query,
    feature_set,
    documents,
    queries,
    experiment,
    model,
    interchange,
    position_bias,
    training_log,
    tune_log,
    checkpoint,
    vectors,
    side_files,
    cell,
    switch,
    index,
    click_lines,
    click_table,
    click_parquet,
    click_yandex,
    interleaved,
    requests,
    judge,
];

/// LETOR text: a data set that survives a trip through the cache, or an error.
pub fn letor(bytes: &[u8]) {
    data_set(bytes, Format::Letor);
}

/// Comma-separated tables, as [`letor`].
pub fn csv(bytes: &[u8]) {
    data_set(bytes, Format::Csv);
}

/// Tab-separated tables, as [`letor`].
pub fn tsv(bytes: &[u8]) {
    data_set(bytes, Format::Tsv);
}

/// JSON lines, as [`letor`].
pub fn jsonl(bytes: &[u8]) {
    data_set(bytes, Format::Jsonl);
}

/// Parquet files, as [`letor`].
pub fn parquet(bytes: &[u8]) {
    data_set(bytes, Format::Parquet);
}

/// Arrow IPC files and streams, as [`letor`].
pub fn arrow(bytes: &[u8]) {
    data_set(bytes, Format::Arrow);
}

/// The binary cache, as [`letor`].
pub fn cache(bytes: &[u8]) {
    data_set(bytes, Format::Cache);
}

/// Compressed files: decompressed, or an error.
pub fn packed(bytes: &[u8]) {
    let _ = Input::from_bytes("fuzz", bytes.to_vec());
}

/// A run in the first half of the bytes, evaluated against the judgements in the second half.
pub fn run(bytes: &[u8]) {
    let (run, qrels) = bytes.split_at(bytes.len() / 2);
    run_with_qrels(run, qrels);
}

/// Judgements, and a small run evaluated against them.
pub fn qrels(bytes: &[u8]) {
    run_with_qrels(b"q Q0 d 1 2.5 t\nq Q0 e 2 1.5 t\n", bytes);
}

/// Preference pairs of a small data set.
pub fn pairs(bytes: &[u8]) {
    crate::pairs(bytes);
}

/// A score file.
pub fn scores(bytes: &[u8]) {
    if let Ok(scores) = read_scores(&Input::raw("scores", bytes.to_vec())) {
        assert!(scores.iter().all(|score| !score.is_nan()));
    }
}

/// A text in every small language; what parses prints back to itself.
pub fn spec(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(spec) = Spec::parse(text) {
        assert_eq!(Spec::parse(&spec.to_string()).as_ref(), Ok(&spec));
    }
    for metric in parse_metrics(text).unwrap_or_default() {
        let again = MetricSpec::parse(&metric.to_string());
        assert_eq!(again.map(|m| m.to_string()), Ok(metric.to_string()));
    }
    if let Ok(learner) = LearnerSpec::parse(text) {
        let again = LearnerSpec::parse(&learner.to_string());
        assert_eq!(again.map(|l| l.to_string()).ok(), Some(learner.to_string()));
    }
    if let Ok(space) = Space::parse(text) {
        assert_eq!(Space::parse(&space.to_string()).as_ref(), Ok(&space));
    }
    let _ = (Analysis::parse(text), FirstStage::parse(text), Schema::parse(text));
    let _ = FeatureSet::parse(text);
    let _ = Roles::parse(text);
}

/// A small index.
static INDEX: LazyLock<Arc<Index>> = LazyLock::new(|| {
    let documents = [("1", "red", 3.0), ("2", "blue", 30.0), ("3", "red", 7.5)];
    let documents = documents.map(|(id, tags, price)| {
        Document::new(id).with("title", "a shoe").with("tags", tags).with("price", price)
    });
    Arc::new(Index::in_memory(documents).expect("the sample can be indexed"))
});

/// A query in the simple syntax, searched in a small index.
pub fn query(bytes: &[u8]) {
    static RANKER: LazyLock<Ranker> = LazyLock::new(|| {
        let ranker = Ranker::builder(INDEX.clone()).syntax(QuerySyntax::Simple);
        ranker.build().expect("the index is there")
    });
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(parsed) = QuerySyntax::Simple.parse(text, &INDEX) {
        assert!(parsed.conditions.is_none_or(|conditions| !conditions.to_string().is_empty()));
    }
    if let Ok(hits) = RANKER.rank(text, 10) {
        assert!(hits.len() <= 3 && hits.iter().all(|hit| hit.score.is_finite()));
    }
}

/// A filter, applied to a small index. An error points into the text.
pub fn filter(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match FilterExpression::parse(text) {
        Ok(expression) => {
            let again = FilterExpression::parse(&expression.to_string());
            assert_eq!(again.as_ref(), Ok(&expression), "it prints to an equal expression");
            if let Ok(filter) = Filter::new(&INDEX, text) {
                assert!(filter.documents() <= 3);
            }
        }
        Err(error) => {
            assert!(error.position <= text.chars().count());
            let _ = error.pointer();
        }
    }
}

/// The TOML file of a feature set; what is read prints back to itself.
pub fn feature_set(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(set) = FeatureSet::from_toml(text) {
        assert_eq!(FeatureSet::from_toml(&set.to_toml()).ok().as_ref(), Some(&set));
        let _ = set.stage();
    }
}

/// A collection, in the format that is detected and in every format, and as a page and a text of a
/// folder.
pub fn documents(bytes: &[u8]) {
    crate::allow_caught_panics();
    let file = TemporaryPath::with(bytes);
    let is_packed = bytes.starts_with(b"\x1f\x8b") || bytes.starts_with(b"\x28\xb5\x2f\xfd");
    for format in DocumentFormat::ALL.into_iter().map(Some).chain([None]) {
        if let Ok(documents) = Documents::open(file.path(), format) {
            // A document can be as short as a byte, or shorter where the file is compressed.
            let count = documents.take_while(Result::is_ok).count();
            assert!(is_packed || count <= bytes.len());
        }
    }
    let folder = TemporaryPath::folder();
    for name in ["page.html", "page.txt"] {
        std::fs::write(folder.path().join(name), bytes).expect("the folder is there");
    }
    if let Ok(documents) = Documents::open(folder.path(), None) {
        assert!(documents.take_while(Result::is_ok).count() <= 2);
    }
}

/// Queries in any format.
pub fn queries(bytes: &[u8]) {
    let file = TemporaryPath::with(bytes);
    if let Ok(queries) = read_queries(file.path(), QueryOptions::default()) {
        assert!(!queries.is_empty() && queries.len() <= bytes.len());
    }
}

/// The TOML file of an experiment.
pub fn experiment(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = Experiment::parse(text, "fuzz", Path::new("none"), &|_| None);
}

/// A model file: a model that can be used and written again, or an error.
pub fn model(bytes: &[u8]) {
    crate::model(bytes);
}

/// A model of any system: a model that can be used and written, or an error.
pub fn interchange(bytes: &[u8]) {
    crate::interchange(bytes);
}

/// Files of position bias: finite numbers that a learner accepts, or an error.
pub fn position_bias(bytes: &[u8]) {
    if let Ok(examination) = read_examination(&Input::raw("bias", bytes.to_vec())) {
        assert!(examination.iter().flatten().all(|value| value.is_finite() && *value >= 0.0));
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(file) = BiasFile::parse(text) {
        assert!(file.examination.iter().chain(&file.click_noise).all(|value| value.is_finite()));
        let Ok(learner) = LearnerSpec::parse("mart(bias=dr)") else { return };
        assert!(file.set(&learner).is_ok(), "a learner accepts every file that can be read");
    }
}

/// The log beside a model.
pub fn training_log(bytes: &[u8]) {
    state::training_log(bytes);
}

/// The log of a parameter search: resumed, or an error.
pub fn tune_log(bytes: &[u8]) {
    state::tune_log(bytes);
}

/// The checkpoint of a training: resumed, begun anew, or an error.
pub fn checkpoint(bytes: &[u8]) {
    state::checkpoint(bytes);
}

/// Word vectors, and the feature that is computed with them.
pub fn vectors(bytes: &[u8]) {
    state::vectors(bytes);
}

/// LightGBM's side files.
pub fn side_files(bytes: &[u8]) {
    state::side_files(bytes);
}

/// A stored result of an experiment: used only as it was written.
pub fn cell(bytes: &[u8]) {
    state::cell(bytes);
}

/// The list of changes of an interrupted write of several files.
pub fn switch(bytes: &[u8]) {
    state::switch(bytes);
}

/// One of the files of an index, damaged: an index that can be searched, or an error.
pub fn index(bytes: &[u8]) {
    crate::allow_caught_panics();
    state::index(bytes);
}

/// Click logs as JSON lines: impressions that can be written and read again, or an error.
pub fn click_lines(bytes: &[u8]) {
    clicks::log(bytes, &[LogFormat::JsonLines]);
}

/// Click logs as tables with commas or tabs, as [`click_lines`].
pub fn click_table(bytes: &[u8]) {
    clicks::log(bytes, &[LogFormat::Csv, LogFormat::Tsv]);
}

/// Click logs as Parquet files, as [`click_lines`].
pub fn click_parquet(bytes: &[u8]) {
    crate::allow_caught_panics();
    clicks::log(bytes, &[LogFormat::Parquet]);
}

/// The logs of Yandex' challenge, as [`click_lines`].
pub fn click_yandex(bytes: &[u8]) {
    clicks::log(bytes, &[LogFormat::YandexLog, LogFormat::YandexPages]);
}

/// Interleaved lists: what is read is written and read again, and credits are finite.
pub fn interleaved(bytes: &[u8]) {
    let Ok(pages) = read_lists(&Input::raw("lists", bytes.to_vec())) else { return };
    for page in &pages {
        let all: Vec<usize> = (0..page.list.documents().len().min(20)).collect();
        let credits = page.list.credits(&all);
        assert_eq!(credits.len(), page.rankers.len());
        assert!(credits.iter().all(|credit| credit.is_finite() && *credit >= 0.0));
    }
    let mut text = Vec::new();
    assert!(write_lists(&mut text, &pages).is_ok());
    assert_eq!(read_lists(&Input::raw("lists", text)).ok(), Some(pages));
}

/// Files of requests for interleaved lists: written again, they are the same.
pub fn requests(bytes: &[u8]) {
    let Ok(requests) = read_requests(&Input::raw("requests", bytes.to_vec())) else { return };
    let lines = requests.iter().map(|(id, query)| format!("{id}\t{query}\n"));
    let text: String = lines.collect();
    // A request with an empty id or query cannot be written as a line that is read again.
    if requests.iter().all(|(id, query)| !id.is_empty() && !query.is_empty()) {
        let again = read_requests(&Input::raw("requests", text.into_bytes()));
        assert_eq!(again.ok(), Some(requests));
    }
}

/// Questions, answers, judgements and templates of judges.
pub fn judge(bytes: &[u8]) {
    let input = || Input::raw("judge", bytes.to_vec());
    let questions = read_questions(&input()).unwrap_or_default();
    if let Ok(answers) = read_answers(&input()) {
        let matched = match_answers(&questions, &answers, "");
        let read = matched.comparisons.len() + matched.unreadable.len() + matched.unknown;
        assert_eq!(read, answers.len());
    }
    if let Ok(comparisons) = read_comparisons(&input()) {
        let few = comparisons.get(..200).unwrap_or(&comparisons);
        assert!(check_judgements(few, |_, _| None).is_ok());
        let fitted = BradleyTerry::fit(few, &BradleyTerryOptions::default());
        let is_finite = |fitted: &BradleyTerry| {
            fitted.queries.values().flatten().all(|(_, strength)| strength.is_finite())
        };
        assert!(fitted.is_ok_and(|fitted| is_finite(&fitted)));
    }
    let text = String::from_utf8_lossy(bytes);
    let _ = read_answer(&text);
    if let Ok(template) = PromptTemplate::parse(&text) {
        assert!(template.fill(|_| Some(String::new())).is_ok());
    }
}
