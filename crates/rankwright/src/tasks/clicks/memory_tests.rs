//! Tests that a task gives the same result for values in memory as for their files.

use std::fs;
use std::path::PathBuf;

use rankwright_clicks::Impression;
use rankwright_clicks::interleave::read_lists;
use rankwright_clicks::judge::{read_answers, read_comparisons, read_questions};
use rankwright_clicks::log::{LogInput, LogOptions, LogValues, read_impressions};
use rankwright_data::bytes::Input;
use rankwright_data::{DataError, Dataset};
use serde::Serialize;
use serde_json::Value;

use crate::tasks::*;

const LOG: &str = r#"{"query": "q", "docs": ["a", "b", "c"], "clicks": [1, 0, 0], "user": "u"}
{"query": "q", "docs": ["b", "a", "c"], "clicks": [0, 1, 1], "user": "v"}
{"query": "q", "docs": ["c", "b", "a"], "clicks": [0, 1, 0]}
{"query": "p", "docs": ["x", "y"], "clicks": [0, 1]}
"#;

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        fs::write(files.path("log"), LOG).unwrap();
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn input(&self, name: &str) -> Input {
        Input::open(self.path(name)).unwrap()
    }

    fn log(&self) -> LogSource {
        ClickFiles::new([self.path("log")]).into()
    }

    /// The log in memory, as impressions and as text.
    fn logs(&self) -> [LogSource; 2] {
        let mut pages: Vec<Impression> = Vec::new();
        let input = LogInput::open(self.path("log")).unwrap();
        read_impressions(vec![input], &LogOptions::default(), |page| {
            pages.push(page.clone());
            Ok::<_, DataError>(())
        })
        .unwrap();
        let text = fs::read(self.path("log")).unwrap();
        [LogSource::from(pages), LogSource::from(LogValues::Text(text.into()))]
    }
}

/// A result as JSON, without times and the parts that differ between a file and memory.
fn json(result: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(result).unwrap();
    let fields = value.as_object_mut().unwrap();
    for name in ["seconds", "out", "rows", "pages", "format"] {
        fields.remove(name);
    }
    value
}

fn context() -> Context<'static> {
    Context::default()
}

#[test]
fn a_log_in_memory_gives_the_results_of_its_file() {
    let files = Files::new();
    let rows = [[1.0], [2.0], [3.0], [1.0], [2.0]];
    let data = Dataset::from_rows(rows, ["f"])
        .query_ids(["q", "q", "q", "p", "p"])
        .doc_ids(["a", "b", "c", "x", "y"])
        .build()
        .unwrap();
    let results = |log: &LogSource| {
        let examination = ExaminationSource::Values(vec![Some(1.0), Some(0.5), Some(0.25)]);
        let labels = LabelClicksRequest::new(log.clone(), data.clone())
            .source(rankwright_clicks::labels::LabelSource::Ips)
            .examination(examination);
        let labels = label_clicks(&labels, &context()).unwrap();
        let data = labels.data.clone().unwrap();
        assert_eq!((data.rows(), data.labels()[1]), (5, 2.0 / 3.0));
        let bias = EstimateBiasRequest::new(log.clone())
            .options(rankwright_clicks::bias::BiasOptions::default().min_shown(1_u64));
        vec![
            json(&inspect_clicks(&InspectClicksRequest::new(log.clone()), &context()).unwrap()),
            json(&convert_clicks(&ConvertClicksRequest::new(log.clone()), &context()).unwrap()),
            json(&count_clicks(&CountClicksRequest::new(log.clone()), &context()).unwrap()),
            json(&click_pairs(&ClickPairsRequest::new(log.clone()), &context()).unwrap()),
            json(&fit_click_model(&FitClickModelRequest::new(log.clone()), &context()).unwrap()),
            json(&estimate_bias(&bias, &context()).unwrap()),
            json(&labels),
        ]
    };
    let expected = results(&files.log());
    assert_eq!(expected[4]["model"], "ubm");
    for log in files.logs() {
        assert_eq!(results(&log), expected);
    }
}

#[test]
fn rows_in_memory_are_those_of_the_file() {
    let files = Files::new();
    let lines = |name: &str| -> Vec<Value> {
        let text = fs::read_to_string(files.path(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let rows = |result: &dyn erased::Rows| result.rows();
    let counts = CountClicksRequest::new(files.log());
    let found = count_clicks(&counts, &context()).unwrap();
    let written = count_clicks(&counts.out(files.path("counts.jsonl")), &context()).unwrap();
    assert_eq!(json(&found), json(&written));
    assert_eq!(rows(&found), lines("counts.jsonl"));
    let log = ConvertClicksRequest::new(files.log());
    let found = convert_clicks(&log, &context()).unwrap();
    let lists = rankwright_clicks::log::write::LogTarget::Lists;
    convert_clicks(&log.to(lists).out(files.path("lists")), &context()).unwrap();
    assert_eq!(rows(&found), lines("lists"));
    let pairs = click_pairs(&ClickPairsRequest::new(files.log()), &context()).unwrap();
    assert_eq!(rows(&pairs).len(), pairs.pairs);
}

/// The rows or pages of results.
mod erased {
    use serde_json::Value;

    pub(super) trait Rows {
        fn rows(&self) -> Vec<Value>;
    }

    impl<T: serde::Serialize> Rows for T {
        fn rows(&self) -> Vec<Value> {
            let value = serde_json::to_value(self).unwrap();
            let rows = value.get("rows").or(value.get("pages")).unwrap();
            rows.as_array().unwrap().clone()
        }
    }
}

#[test]
fn interleaved_lists_in_memory_give_the_results_of_their_file() {
    let files = Files::new();
    fs::write(files.path("old"), "q Q0 a 1 2 o\nq Q0 b 2 1 o\np Q0 x 1 1 o\n").unwrap();
    fs::write(files.path("new"), "q Q0 b 1 2 n\nq Q0 a 2 1 n\np Q0 x 1 1 n\n").unwrap();
    fs::write(files.path("qrels"), "q 0 a 2\np 0 x 1\n").unwrap();
    let request = InterleaveRunsRequest::new(["old", "new"].map(|name| files.path(name)));
    let requests = vec![("r1".to_owned(), "q".to_owned()), ("r2".to_owned(), "p".to_owned())];
    let request = request.requests(ListRequests::Values(requests.clone()));
    let made = interleave_runs(&request, &context()).unwrap();
    let twice = ListRequests::Values([requests.clone(), requests].concat());
    let error = interleave_runs(&request.clone().requests(twice), &context()).unwrap_err();
    assert!(error.to_string().contains("the requests: ") && error.to_string().contains("r1"));
    let written = interleave_runs(&request.out(files.path("lists")), &context()).unwrap();
    assert_eq!(json(&made), json(&written));
    let lists = made.rows.unwrap();
    assert_eq!(lists, read_lists(&files.input("lists")).unwrap());
    let qrels = files.path("qrels");
    let of_file = SimulateRunRequest::new(files.path("lists"), &qrels);
    let of_lists = SimulateRunRequest::new(ListsSource::from(lists.clone()), &qrels);
    let simulated = simulate_run(&of_lists, &context()).unwrap();
    let expected = simulate_run(&of_file.out(files.path("clicks")), &context()).unwrap();
    assert_eq!(json(&simulated), json(&expected));
    let score = |log: LogSource, lists: ListsSource| {
        let request = ScoreInterleavingRequest::new(log, lists);
        json(&score_interleaving(&request, &context()).unwrap())
    };
    let log = ClickFiles::new([files.path("clicks")]);
    assert_eq!(
        score(simulated.pages.unwrap().into(), lists.into()),
        score(log.into(), files.path("lists").into())
    );
    let runs = ["old", "new"].map(|name| {
        let (run, _) = rankwright_data::Run::read(files.input(name)).unwrap();
        RunSource::from(run)
    });
    let unnamed = interleave_runs(&InterleaveRunsRequest::new(runs), &context()).unwrap();
    assert_eq!(unnamed.rankers, ["the run 1", "the run 2"]);
}

#[test]
fn judgements_in_memory_give_the_results_of_their_file() {
    let files = Files::new();
    let question = |id: &str, a: &str, b: &str| {
        format!("{{\"id\":\"{id}\",\"query\":\"q\",\"a\":\"{a}\",\"b\":\"{b}\",\"prompt\":\"\"}}\n")
    };
    let questions = question("1", "x", "y") + &question("2", "y", "z") + &question("3", "z", "x");
    fs::write(files.path("questions"), questions).unwrap();
    fs::write(files.path("answers"), "1\tA > B\tanna\n2\tA > B\tanna\n3\tB > A\tanna\n").unwrap();
    let of_files = JudgeReadRequest::new([files.path("answers")])
        .questions(files.path("questions"))
        .out(files.path("judgements"));
    let written = judge_read(&of_files, &context()).unwrap();
    let of_values = JudgeReadRequest::new([read_answers(&files.input("answers")).unwrap()])
        .questions(read_questions(&files.input("questions")).unwrap());
    let found = judge_read(&of_values, &context()).unwrap();
    assert_eq!(json(&found), json(&written));
    let judgements = found.rows.unwrap();
    assert_eq!(judgements, read_comparisons(&files.input("judgements")).unwrap());
    let values = || [JudgementsSource::from(judgements.clone())];
    let file = || [JudgementsSource::from(files.path("judgements"))];
    assert_eq!(
        json(&judge_check(&JudgeCheckRequest::new(values()), &context()).unwrap()),
        json(&judge_check(&JudgeCheckRequest::new(file()), &context()).unwrap())
    );
    let aggregated =
        |request: &JudgeAggregateRequest| judge_aggregate(request, &context()).unwrap();
    let of_values = aggregated(&JudgeAggregateRequest::new(values()));
    let of_file = aggregated(&JudgeAggregateRequest::new(file()).out(files.path("pairs")));
    assert_eq!(json(&of_values), json(&of_file));
    assert_eq!(of_values.rows.unwrap().len(), of_file.lines);
    let none = JudgeCheckRequest::new([JudgementsSource::from(Vec::new())]);
    let error = judge_check(&none, &context()).unwrap_err();
    assert!(error.to_string().starts_with("the judgements: "), "{error}");
}

#[test]
fn options_of_files_are_refused_for_values_in_memory() {
    let files = Files::new();
    let [pages, text] = files.logs();
    let jsonl = || LogOptions::default().format(Some(rankwright_clicks::log::LogFormat::JsonLines));
    let inspect = |log: LogSource| inspect_clicks(&InspectClicksRequest::new(log), &context());
    assert!(inspect(text.with_options(jsonl())).is_ok());
    assert_eq!(inspect(pages.with_options(jsonl())).unwrap_err().kind(), "option-unused");
    let csv = rankwright_clicks::log::write::LogTarget::Csv;
    let error = convert_clicks(&ConvertClicksRequest::new(files.log()).to(csv), &context());
    assert_eq!(error.unwrap_err().kind(), "option-unused");
    let values = ExaminationSource::Values(vec![Some(1.0), Some(-1.0)]);
    let labels = LabelClicksRequest::new(files.log(), DataFiles::new(["none"]))
        .source(rankwright_clicks::labels::LabelSource::Ips)
        .examination(values);
    assert!(label_clicks(&labels, &context()).is_err());
}
