//! Runs: the documents of an index ranked for many queries, written to a run file.

use std::path::{Path, PathBuf};

use rankwright_data::ListFormat;
use rankwright_model::Model;
use rankwright_search::{FeatureSet, RunResult};
use rankwright_spec::words::counted;
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::paths::check_used;
use super::{
    CandidateOptions, Context, IndexSource, ModelSource, QueriesSource, ScoreRequest, TaskError,
    TaskInputs, Warning, check_outputs,
};

/// An index, queries, and the file for the run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RunQueriesRequest {
    /// The index.
    pub index: IndexSource,
    /// The queries.
    pub queries: QueriesSource,
    /// A model that re-ranks the candidates.
    pub model: Option<ModelSource>,
    /// The candidates.
    #[serde(default)]
    pub candidates: CandidateOptions,
    /// Number of documents of each query that are written.
    #[serde(default = "default_top")]
    pub top: usize,
    /// Name of the run, its last column: one word.
    #[serde(default = "default_tag")]
    pub tag: String,
    /// File for the run; if not given, the result alone has it.
    pub out: Option<PathBuf>,
    /// Format of the run; if not given, JSON lines for a file that ends in `.jsonl`, TREC for
    /// others.
    pub format: Option<ListFormat>,
}

impl TaskInputs for RunQueriesRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let model = self.model.as_ref().and_then(ModelSource::path);
        let files = model.into_iter().chain(self.queries.path()).chain(self.index.path());
        files.map(Path::to_owned).collect()
    }
}

/// Number of documents of each query of a request that gives none.
fn default_top() -> usize {
    RunQueriesRequest::DEFAULT_TOP
}

/// Name of the run of a request that gives none.
fn default_tag() -> String {
    RunQueriesRequest::DEFAULT_TAG.to_owned()
}

impl RunQueriesRequest {
    /// Number of documents of each query that are written if none is given.
    pub const DEFAULT_TOP: usize = 1000;
    /// The name of a run if none is given.
    pub const DEFAULT_TAG: &'static str = ScoreRequest::DEFAULT_TAG;

    /// Ranks the 1,000 best documents of each query, by the first stage alone.
    pub fn new(index: impl Into<IndexSource>, queries: impl Into<QueriesSource>) -> Self {
        RunQueriesRequest {
            index: index.into(),
            queries: queries.into(),
            model: None,
            candidates: CandidateOptions::new(),
            top: default_top(),
            tag: default_tag(),
            out: None,
            format: None,
        }
    }

    /// Sets the file for the run.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }

    /// Re-ranks the candidates with a model.
    pub fn model(mut self, model: impl Into<ModelSource>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets first stage, filter and number of candidates.
    pub fn candidates(mut self, candidates: CandidateOptions) -> Self {
        self.candidates = candidates;
        self
    }

    /// Sets the number of documents of each query that are written.
    pub fn top(mut self, top: usize) -> Self {
        self.top = top;
        self
    }

    /// Sets the name of the run.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tag = tag.into();
        self
    }

    /// Sets the format of the run.
    pub fn format(mut self, format: ListFormat) -> Self {
        self.format = Some(format);
        self
    }
}

/// The run, and the file that was written.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct RunQueriesResult {
    /// The file, if one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
    /// The run with its counts; its warnings are those below.
    #[serde(flatten)]
    pub result: RunResult,
    /// Warnings about queries, the filter and the model.
    pub warnings: Vec<Warning>,
}

/// Ranks the documents of an index for many queries, and writes the run.
pub fn run_queries(
    request: &RunQueriesRequest,
    context: &Context<'_>,
) -> Result<RunQueriesResult, TaskError> {
    let mut task = RunningTask::new(context);
    request.check_files(request.out.as_deref())?;
    check_used(request.out.is_none() && request.format.is_some(), "format", "no file is written")?;
    let has_tag = request.tag != RunQueriesRequest::DEFAULT_TAG;
    check_used(request.out.is_none() && has_tag, "tag", "no file is written")?;
    if request.tag.contains(char::is_whitespace) || request.tag.is_empty() {
        return Err(TaskError::TagNotOneWord { tag: request.tag.clone() });
    }
    let model = request.model.as_ref().map(ModelSource::load).transpose()?;
    let files = feature_files(model.as_deref())?;
    check_outputs(request.out.as_deref(), files.iter().map(PathBuf::as_path))?;
    let queries = request.queries.load(&mut task)?;
    let index = request.index.open(&task)?;
    let filter = request.candidates.make_filter(&index)?;
    let ranker = request.candidates.make_ranker(index, model.as_deref(), &task)?;
    let step = format!("ranking documents for {}", counted(queries.len(), "query"));
    let work = || ranker.run(&queries, filter.as_ref(), request.top);
    let (mut result, _) = task.step(&step, work)?;
    task.warn_of_search(std::mem::take(&mut result.warnings));
    if let Some(out) = &request.out {
        let format = request.format.unwrap_or_else(|| ListFormat::from_path(out));
        let step = format!("writing {}", out.display());
        task.step(&step, || result.run.save(out, format, &request.tag))?;
    }
    Ok(RunQueriesResult { out: request.out.clone(), result, warnings: task.into_warnings() })
}

/// Files that the features of a model read: runs and word vectors.
fn feature_files(model: Option<&Model>) -> Result<Vec<PathBuf>, TaskError> {
    let text = model.and_then(|model| model.header().feature_set.as_deref());
    Ok(text.map(FeatureSet::from_toml).transpose()?.map_or_else(Vec::new, |set| set.files()))
}

#[cfg(all(test, feature = "train"))]
mod tests {
    use super::*;
    use crate::tasks::{
        BuildIndexRequest, ExtractFeaturesRequest, FeatureSource, QueryFile, SearchIndexRequest,
        TrainModelRequest, build_index, extract_features, search_index, train_model,
    };
    use rankwright_learn::LearnerSpec;
    use std::sync::Mutex;

    /// An index `shop` of forty records, with `queries.tsv` and `qrels`.
    fn shop() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let topics = ["jazz", "ocean"];
        let (mut documents, mut queries, mut qrels) = (String::new(), String::new(), String::new());
        for number in 0..40_usize {
            let (topic, plays) = (topics[number % 2], (number * 7) % 40);
            documents.push_str(&format!(
                "{{\"id\": \"r{number}\", \"title\": \"{topic} record\", \"plays\": {plays}}}\n"
            ));
            for query in (0..4).filter(|query| query % 2 == number % 2) {
                qrels.push_str(&format!("q{query} 0 r{number} {}\n", plays / 14));
            }
        }
        for query in 0..4 {
            queries.push_str(&format!("q{query}\t{} record\n", topics[query % 2]));
        }
        for (name, text) in [("docs.jsonl", documents), ("queries.tsv", queries), ("qrels", qrels)]
        {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let request =
            BuildIndexRequest::new([folder.path().join("docs.jsonl")], folder.path().join("shop"));
        build_index(&request, &Context::default()).unwrap();
        folder
    }

    fn queries(folder: &Path) -> QueryFile {
        QueryFile::new(folder.join("queries.tsv"))
    }

    #[test]
    fn features_train_a_model_that_searches_and_runs() {
        let shop = shop();
        let path = |name: &str| shop.path().join(name);
        let context = Context::default();
        let features = ExtractFeaturesRequest::new(path("shop"), queries(shop.path()))
            .out(path("d.csv"))
            .qrels(path("qrels"))
            .features(FeatureSource::parse("bm25(field=title), number(field=plays)").unwrap())
            .candidates(CandidateOptions::new().count(30));
        let data = extract_features(&features, &context).unwrap();
        assert_eq!((data.result.queries, data.result.rows, data.result.features), (4, 120, 2));
        assert_eq!(
            data.set,
            Some(path("d.csv.features.toml")),
            "beside a file that cannot hold it"
        );
        let learner = LearnerSpec::parse("mart(trees=20, leaves=4, min_rows=2)").unwrap();
        let train = TrainModelRequest::new(learner, path("d.csv")).out(path("m.model"));
        assert_eq!(train_model(&train, &context).unwrap().warnings, []);
        let search = SearchIndexRequest::new(path("shop"), "jazz record")
            .model(path("m.model"))
            .candidates(CandidateOptions::new().count(5))
            .features(true);
        let found = search_index(&search, &context).unwrap();
        assert_eq!((found.result.found, found.result.documents.len()), (5, 5));
        assert!(found.result.documents[0].features.is_some());
        let kinds: Vec<&str> = found.warnings.iter().map(Warning::kind).collect();
        assert_eq!(kinds, ["other-candidates"]);
        let steps = Mutex::new(Vec::new());
        let step = |name: &str| steps.lock().unwrap().push(name.to_owned());
        let run = RunQueriesRequest::new(path("shop"), queries(shop.path()))
            .out(path("m.run"))
            .model(path("m.model"))
            .top(3)
            .tag("mine");
        let result = run_queries(&run, &context.on_step(&step)).unwrap();
        assert_eq!(
            (result.result.queries, result.result.documents, result.result.empty),
            (4, 12, 0)
        );
        let text = std::fs::read_to_string(path("m.run")).unwrap();
        assert!(text.lines().count() == 12 && text.lines().all(|line| line.ends_with(" mine")));
        let steps = steps.into_inner().unwrap();
        assert!(steps.iter().any(|step| step == "ranking documents for 4 queries"), "{steps:?}");
    }

    #[test]
    fn a_filter_without_documents_is_a_warning_of_each_task() {
        let shop = shop();
        let path = |name: &str| shop.path().join(name);
        // No record has more than 39 plays.
        let no_documents = || CandidateOptions::new().filter("plays:>1000");
        let search = SearchIndexRequest::new(path("shop"), "jazz").candidates(no_documents());
        let found = search_index(&search, &Context::default()).unwrap();
        fn kinds(warnings: &[Warning]) -> Vec<&str> {
            warnings.iter().map(Warning::kind).collect()
        }
        assert_eq!(kinds(&found.warnings), ["nothing-passes"]);
        let run = RunQueriesRequest::new(path("shop"), queries(shop.path())).out(path("x.run"));
        let result = run_queries(&run.candidates(no_documents()), &Context::default()).unwrap();
        assert_eq!(kinds(&result.warnings), ["nothing-passes"]);
        let features = ExtractFeaturesRequest::new(path("shop"), queries(shop.path()))
            .out(path("x.csv"))
            .candidates(no_documents());
        let error = extract_features(&features, &Context::default()).unwrap_err();
        assert!(error.to_string().contains("passes the filter, so there are no rows"), "{error}");
    }

    #[test]
    fn an_input_is_not_written_over_and_a_tag_is_one_word() {
        let shop = shop();
        let file = shop.path().join("queries.tsv");
        let run = RunQueriesRequest::new(shop.path().join("shop"), queries(shop.path())).out(&file);
        let error = run_queries(&run, &Context::default()).unwrap_err();
        assert!(matches!(error, TaskError::OutputIsInput { .. }), "{error}");
        let features =
            ExtractFeaturesRequest::new(shop.path().join("shop"), queries(shop.path())).out(&file);
        let error = extract_features(&features, &Context::default()).unwrap_err();
        assert!(matches!(error, TaskError::OutputIsInput { .. }), "{error}");
        let run =
            RunQueriesRequest::new(shop.path(), queries(shop.path())).out(shop.path().join("x"));
        let error = run_queries(&run.tag("two words"), &Context::default()).unwrap_err();
        assert!(matches!(error, TaskError::TagNotOneWord { .. }), "{error}");
        let judged = ExtractFeaturesRequest::new(shop.path(), queries(shop.path())).judged(true);
        let error = extract_features(&judged, &Context::default()).unwrap_err();
        assert!(matches!(error, TaskError::OptionUnused { option: "judged", .. }), "{error}");
    }
}
