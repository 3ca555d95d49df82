//! The JSON form of every request: read from the shortest JSON, printed back with its defaults, and
//! described field by field from the documentation in the source.

use rankwright::tasks::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::json_results;

/// A request: the function that takes it, its type, and its shortest JSON in one or several forms.
pub(super) struct RequestEntry {
    task: &'static str,
    name: &'static str,
    examples: &'static [&'static str],
    print: fn(&str) -> Result<String, String>,
    /// The JSON of the request that the constructor makes from the values of the first example.
    built: fn() -> String,
}

/// The JSON of a request.
fn json<R: Serialize>(request: &R) -> String {
    serde_json::to_string_pretty(request).unwrap()
}

/// Reads a request and prints it back.
fn print<R: Serialize + DeserializeOwned>(text: &str) -> Result<String, String> {
    let request: R = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(json(&request))
}

macro_rules! requests {
    ($($task:ident: $name:ident = $built:expr, [$($example:literal),+ $(,)?];)*) => {
        pub(super) const REQUESTS: &[RequestEntry] = &[$( RequestEntry {
            task: stringify!($task),
            name: stringify!($name),
            examples: &[$($example),+],
            print: print::<$name>,
            built: || json(&$built),
        } ),*];
    };
}

/// A value from its JSON.
fn of<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap()
}

fn log() -> ClickFiles {
    ClickFiles::new(["log.jsonl"])
}

fn labelled() -> LabelledFiles {
    LabelledFiles::new(["labelled.jsonl"], "topic")
}

requests! {
    train_model: TrainModelRequest =
        TrainModelRequest::new(of(r#""lambdamart(trees=100)""#), "train.txt"),
        [
            r#"{"learner": "lambdamart(trees=100)", "data": "train.txt"}"#,
            r#"{"learner": "lambdamart(bias=ips)", "data": {"files": ["a.csv", "b.csv"], "roles": "qid=session"}, "valid": ["valid.csv"], "metrics": ["ndcg@10"], "out": "m.model", "seed": 7, "checkpoint": {"folder": "saved", "every": 30}, "bias": "bias.json", "teacher": {"model": "t.model", "params": {"teacher_weight": 0.3}}}"#,
        ];
    score: ScoreRequest = ScoreRequest::new("m.model", "test.txt"),
        [
            r#"{"model": "m.model", "data": "test.txt"}"#,
            r#"{"model": "m.model", "data": "test.txt", "out": "a.run", "format": "run", "matching": {"by": "position"}}"#,
        ];
    eval: EvalRequest = EvalRequest::new(EvalInput::model("m.model", "test.txt")),
        [
            r#"{"input": {"model": {"model": "m.model", "data": "test.txt"}}}"#,
            r#"{"input": {"scores": {"scores": "scores.txt", "data": "test.txt"}}, "metrics": ["ndcg@10", "ap"]}"#,
            r#"{"input": {"run": {"run": "a.run", "qrels": "qrels.txt"}}, "depth": 100}"#,
        ];
    compare_systems: CompareRequest =
        CompareRequest::new(CompareInput::runs(["a.run", "b.run"], "qrels.txt")),
        [
            r#"{"input": {"runs": {"runs": ["a.run", "b.run"], "qrels": "qrels.txt"}}}"#,
            r#"{"input": {"data": {"data": "test.txt", "models": ["a.model", "b.model"]}}, "options": {"test": "t", "alpha": 0.01}}"#,
        ];
    cross_validate_learners: CrossValidateRequest =
        CrossValidateRequest::new(vec![of(r#""mart""#), of(r#""ranksvm""#)], "train.txt"),
        [
            r#"{"learners": ["mart", "ranksvm"], "data": "train.txt"}"#,
            r#"{"learners": ["mart"], "data": "train.txt", "division": {"folds": 10, "seed": 3}}"#,
        ];
    tune_learner: TuneRequest =
        TuneRequest::new(of(r#"{"learner": "mart", "space": "leaves=int(2,8)"}"#), "train.txt"),
        [
            r#"{"plan": {"learner": "mart", "space": "leaves=int(2,8)"}, "data": "train.txt"}"#,
            r#"{"plan": {"learner": "mart", "evaluated_on": "valid", "options": {"trials": 9, "method": "random"}}, "data": "train.txt", "valid": "valid.txt", "log": "trials.jsonl"}"#,
        ];
    explain_ranking: ExplainRequest = ExplainRequest::new("m.model", "test.txt"),
        [
            r#"{"model": "m.model", "data": "test.txt"}"#,
            r#"{"model": "m.model", "data": "test.txt", "query": "17", "pair": ["d3", "d9"], "options": {"permutations": 100}}"#,
        ];
    inspect_data: InspectRequest = InspectRequest::new("train.txt"), [r#"{"data": "train.txt"}"#];
    convert_data: ConvertRequest = ConvertRequest::new("train.txt"),
        [
            r#"{"data": "train.txt"}"#,
            r#"{"data": "train.txt", "out": "train.rwd"}"#,
        ];
    split_data: SplitRequest = SplitRequest::new("all.txt", of(r#"{"folds": 5}"#)),
        [
            r#"{"data": "all.txt", "split": {"folds": 5}}"#,
            r#"{"data": "all.txt", "split": {"parts": "train=0.8,test=0.2"}, "out": "parts"}"#,
        ];
    generate_letor: GenerateLetorRequest =
        GenerateLetorRequest::new(Default::default(), "data.txt"),
        [r#"{"out": "data.txt"}"#, r#"{"out": "data.txt", "options": {"queries": 50}}"#];
    generate_store: GenerateStoreRequest = GenerateStoreRequest::new(Default::default(), "store"),
        [r#"{"out": "store"}"#];
    generate_homepages: GenerateHomepagesRequest =
        GenerateHomepagesRequest::new(Default::default(), "web"),
        [r#"{"out": "web"}"#];
    inspect_model: InspectModelRequest = InspectModelRequest::new("m.model"),
        [
            r#"{"model": "m.model"}"#,
            r#"{"model": "m.model", "tree": 1, "impurity": {"data": "train.txt"}, "permutation": {"data": "test.txt"}}"#,
        ];
    convert_model: ConvertModelRequest = ConvertModelRequest::new("m.model", "lightgbm"),
        [r#"{"model": "m.model", "to": "lightgbm"}"#];
    build_index: BuildIndexRequest = BuildIndexRequest::new(["documents.jsonl"], "index"),
        [
            r#"{"documents": ["documents.jsonl"], "out": "index"}"#,
            r#"{"documents": ["documents.jsonl"], "out": "index", "options": {"analysis": "german", "existing": "replace"}}"#,
        ];
    delete_documents: DeleteDocumentsRequest = DeleteDocumentsRequest::new("index"),
        [r#"{"index": "index"}"#, r#"{"index": "index", "ids": ["r1"]}"#];
    search_index: SearchIndexRequest = SearchIndexRequest::new("index", "jazz records"),
        [
            r#"{"index": "index", "query": "jazz records"}"#,
            r#"{"index": "index", "query": {"text": "jazz records", "fields": {"language": "en"}}, "model": "m.model", "candidates": {"first_stage": "bm25(k1=0.9)", "filter": "year>=1990", "count": 200}, "top": 3}"#,
        ];
    run_queries: RunQueriesRequest = RunQueriesRequest::new("index", "queries.tsv"),
        [
            r#"{"index": "index", "queries": "queries.tsv"}"#,
            r#"{"index": "index", "queries": {"path": "topics.txt", "options": {"parts": ["title", "description"]}}, "out": "a.run"}"#,
            r#"{"index": "index", "queries": ["jazz", {"id": "q7", "text": "ocean", "fields": {"language": "en"}}]}"#,
        ];
    extract_features: ExtractFeaturesRequest = ExtractFeaturesRequest::new("index", "queries.tsv"),
        [
            r#"{"index": "index", "queries": "queries.tsv"}"#,
            r#"{"index": "index", "queries": "queries.tsv", "features": "bm25, query-length", "qrels": "qrels.txt"}"#,
            r#"{"index": "index", "queries": "queries.tsv", "features": {"toml": "my.toml"}}"#,
        ];
    validate_classifier: ValidateClassifierRequest = ValidateClassifierRequest::new(labelled()),
        [
            r#"{"labelled": {"files": ["labelled.jsonl"], "label": "topic"}}"#,
            r#"{"labelled": {"files": ["labelled.jsonl"], "label": "topic", "options": {"classifier": "knn(k=5)"}}, "folds": 3}"#,
        ];
    classify_documents: ClassifyDocumentsRequest =
        ClassifyDocumentsRequest::new(labelled(), ["new.jsonl"], "classes.tsv"),
        [r#"{"labelled": {"files": ["labelled.jsonl"], "label": "topic"}, "documents": ["new.jsonl"], "out": "classes.tsv"}"#];
    inspect_clicks: InspectClicksRequest = InspectClicksRequest::new(log()),
        [
            r#"{"log": "log.jsonl"}"#,
            r#"{"log": {"files": ["log.csv"], "options": {"session_gap": "30m", "dropped": ["bots"]}}}"#,
        ];
    convert_clicks: ConvertClicksRequest =
        ConvertClicksRequest::new(log()).to(of(r#""lists""#)).out("lists.jsonl"),
        [r#"{"log": "log.jsonl", "to": "lists", "out": "lists.jsonl"}"#];
    count_clicks: CountClicksRequest =
        CountClicksRequest::new(log()).out("counts.csv"),
        [
            r#"{"log": "log.jsonl", "out": "counts.csv"}"#,
            r#"{"log": "log.jsonl", "content": {"table": "document"}, "out": "counts.csv"}"#,
            r#"{"log": "log.jsonl", "content": {"run": "clicks"}, "options": {"min_count": 5}}"#,
        ];
    click_pairs: ClickPairsRequest = ClickPairsRequest::new(log()).out("pairs.tsv"),
        [r#"{"log": "log.jsonl", "out": "pairs.tsv"}"#];
    fit_click_model: FitClickModelRequest = FitClickModelRequest::new(log()).model(of(r#""pbm""#)),
        [r#"{"log": "log.jsonl", "model": "pbm"}"#];
    estimate_bias: EstimateBiasRequest = EstimateBiasRequest::new(log()),
        [
            r#"{"log": "log.jsonl"}"#,
            r#"{"log": "log.jsonl", "estimators": ["em"], "options": {"min_shown": 20}}"#,
        ];
    label_clicks: LabelClicksRequest = LabelClicksRequest::new(log(), "features.csv").out("out.csv"),
        [
            r#"{"log": "log.jsonl", "features": "features.csv", "out": "out.csv"}"#,
            r#"{"log": "log.jsonl", "features": "features.csv", "out": "out.csv", "source": "ips", "examination": {"file": "bias.json"}}"#,
            r#"{"log": "log.jsonl", "features": "features.csv", "source": "ips", "examination": {"values": [1, 0.6, 0.3]}}"#,
        ];
    simulate_clicks: SimulateClicksRequest = SimulateClicksRequest::new(
            "test.txt",
            LoggingScores::Feature("bm25".into()),
        )
        .out("log.jsonl"),
        [r#"{"data": "test.txt", "scores": {"feature": "bm25"}, "out": "log.jsonl"}"#];
    evaluate_clicks: EvaluateClicksRequest =
        EvaluateClicksRequest::new(log(), ["m.model"], "features.csv").metric(of(r#""dcg@5""#)),
        [r#"{"log": "log.jsonl", "models": ["m.model"], "features": "features.csv", "metric": "dcg@5"}"#];
    report_clicks: ReportClicksRequest = ReportClicksRequest::new(log()), [r#"{"log": "log.jsonl"}"#];
    interleave_runs: InterleaveRunsRequest =
        InterleaveRunsRequest::new(["a.run", "b.run"]).out("lists.jsonl"),
        [
            r#"{"runs": ["a.run", "b.run"], "out": "lists.jsonl"}"#,
            r#"{"runs": ["a.run", "b.run"], "out": "lists.jsonl", "requests": {"per_query": 5}}"#,
        ];
    score_interleaving: ScoreInterleavingRequest =
        ScoreInterleavingRequest::new(log(), "lists.jsonl"),
        [r#"{"log": "log.jsonl", "lists": "lists.jsonl"}"#];
    simulate_run: SimulateRunRequest =
        SimulateRunRequest::new("a.run", "qrels.txt").out("log.jsonl"),
        [r#"{"lists": "a.run", "qrels": "qrels.txt", "out": "log.jsonl"}"#];
    judge_prompts: JudgePromptsRequest = JudgePromptsRequest::new(
            ["a.run", "b.run"],
            "queries.tsv",
            DocumentsSource::Index("index".into()),
        )
        .out("questions.jsonl"),
        [r#"{"runs": ["a.run", "b.run"], "queries": "queries.tsv", "documents": {"index": "index"}, "out": "questions.jsonl"}"#];
    judge_read: JudgeReadRequest = JudgeReadRequest::new(["answers.jsonl"]).out("judgements.tsv"),
        [r#"{"answers": ["answers.jsonl"], "out": "judgements.tsv"}"#];
    judge_check: JudgeCheckRequest = JudgeCheckRequest::new(["judgements.tsv"]),
        [r#"{"judgements": ["judgements.tsv"]}"#];
    judge_aggregate: JudgeAggregateRequest =
        JudgeAggregateRequest::new(["judgements.tsv"]).out("strengths.tsv"),
        [r#"{"judgements": ["judgements.tsv"], "out": "strengths.tsv"}"#];
    report_data: ReportDataRequest = ReportDataRequest::new("train.txt"),
        [r#"{"data": "train.txt"}"#, r#"{"data": "train.txt", "options": {"top": 5}}"#];
    report_training: ReportTrainingRequest = ReportTrainingRequest::new("m.model", "train.txt"),
        [r#"{"model": "m.model", "data": "train.txt"}"#];
    report_shrinkage: ReportShrinkageRequest =
        ReportShrinkageRequest::new(of(r#""mart""#), [0.1, 0.5], "train.txt"),
        [r#"{"learner": "mart", "rates": [0.1, 0.5], "data": "train.txt"}"#];
    report_trade_off: ReportTradeOffRequest = ReportTradeOffRequest::new(
            of(r#""lambdamart""#),
            [of(r#""ndcg@10""#), of(r#""ndcg@10 on clicks""#)],
            "train.txt",
        ),
        [r#"{"learner": "lambdamart", "goals": ["ndcg@10", "ndcg@10 on clicks"], "data": "train.txt"}"#];
    report_comparison: ReportComparisonRequest = ReportComparisonRequest::new(CompareRequest::new(
            CompareInput::runs(["a.run", "b.run"], "qrels.txt"),
        )),
        [r#"{"comparison": {"input": {"runs": {"runs": ["a.run", "b.run"], "qrels": "qrels.txt"}}}}"#];
    lecture: LectureRequest = LectureRequest::new(), ["{}", r#"{"names": ["ndcg"]}"#];
    demo: DemoRequest = DemoRequest::new(), ["{}"];
}

/// The page without its heading.
pub(super) fn page() -> String {
    let mut page = String::new();
    for entry in REQUESTS {
        page.push_str(&format!("## `{}`: `{}`\n\n```json\n", entry.task, entry.name));
        page.push_str(&entry.examples.join("\n"));
        page.push_str("\n```\n\nThe first of these with all fields:\n\n```json\n");
        page.push_str(&(entry.print)(entry.examples[0]).unwrap());
        page.push_str("\n```\n\n| field | meaning |\n|---|---|\n");
        let fields = json_results::fields_of(entry.name);
        assert!(!fields.is_empty(), "{} has no fields", entry.name);
        for (field, about) in fields {
            page.push_str(&format!("| `{field}` | {} |\n", about.replace('|', "\\|")));
        }
        page.push('\n');
    }
    page
}

#[test]
fn every_request_is_read_from_json_and_printed_back() {
    for entry in REQUESTS {
        for example in entry.examples {
            let printed = (entry.print)(example).unwrap_or_else(|e| panic!("{example}: {e}"));
            let again = (entry.print)(&printed).unwrap_or_else(|e| panic!("{printed}: {e}"));
            assert_eq!(again, printed, "{}", entry.name);
        }
    }
}

#[test]
fn fields_that_json_leaves_out_have_the_values_of_the_constructor() {
    for entry in REQUESTS {
        let read = (entry.print)(entry.examples[0]).unwrap();
        assert_eq!(read, (entry.built)(), "{}", entry.name);
    }
}

#[test]
fn unknown_fields_are_refused_by_every_request() {
    for entry in REQUESTS {
        let mut value: serde_json::Value = serde_json::from_str(entry.examples[0]).unwrap();
        value["sead"] = 3.into();
        let error = (entry.print)(&value.to_string()).unwrap_err();
        assert!(error.contains("unknown field `sead`"), "{}: {error}", entry.name);
    }
}

#[test]
fn every_request_of_the_tasks_is_in_the_list() {
    let listed: Vec<&str> = REQUESTS.iter().map(|entry| entry.name).collect();
    let all = json_results::request_types();
    assert!(all.len() > 40, "{all:?}");
    // Parts of other requests, and the request of the experiment crate, whose file is TOML.
    let parts = ["ImpurityRequest", "PermutationRequest"];
    for name in all.iter().filter(|name| !parts.contains(&name.as_str())) {
        assert!(listed.contains(&name.as_str()), "{name} is missing");
    }
    for name in listed {
        assert!(all.iter().any(|found| found == name), "{name} is no request");
    }
}

#[test]
fn values_out_of_range_are_refused_as_by_the_builder() {
    for (name, text, expected) in [
        (
            "CompareRequest",
            r#"{"input": {"runs": {"runs": ["a"], "qrels": "q"}}, "options": {"alpha": 2}}"#,
            "alpha",
        ),
        (
            "CrossValidateRequest",
            r#"{"learners": ["mart"], "data": "a", "division": {"folds": 1}}"#,
            "folds",
        ),
        ("TrainModelRequest", r#"{"learner": "mart(leaves=1)", "data": "a"}"#, "leaves"),
        ("TrainModelRequest", r#"{"learner": "marty", "data": "a"}"#, "mart"),
        (
            "TrainModelRequest",
            r#"{"learner": "mart", "data": "a", "checkpoint": {"folder": "c", "every": -1}}"#,
            "negative",
        ),
        (
            "TuneRequest",
            r#"{"plan": {"learner": "mart", "options": {"trials": 0}}, "data": "a"}"#,
            "trials",
        ),
        (
            "EvalRequest",
            r#"{"input": {"run": {"run": "a", "qrels": "q"}}, "metrics": ["ndgc"]}"#,
            "ndcg",
        ),
        ("ScoreRequest", r#"{"model": "m", "data": {"files": ["a"], "format": "word"}}"#, "word"),
        ("ScoreRequest", r#"{"model": "m", "data": {"file": "a"}}"#, "unknown field `file`"),
        ("ScoreRequest", r#"{"model": "m", "data": 3}"#, "a path, a list of paths"),
        ("ScoreRequest", r#"{"model": "m"}"#, "missing field `data`"),
        (
            "SearchIndexRequest",
            r#"{"index": "i", "query": "q", "candidates": {"first_stage": "bm52"}}"#,
            "bm25",
        ),
        ("RunQueriesRequest", r#"{"index": "i", "queries": 3}"#, "the path of a file of queries"),
        (
            "LabelClicksRequest",
            r#"{"log": "l", "features": "f", "out": "o", "options": {"grades": 0}}"#,
            "grades",
        ),
    ] {
        let entry = REQUESTS.iter().find(|entry| entry.name == name).unwrap();
        let error = (entry.print)(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
