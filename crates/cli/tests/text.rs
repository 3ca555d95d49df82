//! Tests of `index`, `search`, `run`, `features` and `classify`, and of all steps from text to a
//! compared ranking.

use crate::common::{Bench, command};
use rankwright::data::Dataset;
use rankwright::model::Model;
use serde_json::Value;

const TOPICS: [&str; 4] = ["jazz", "ocean", "railway", "garden"];

/// Sixty records of four topics. The more often a text repeats its topic the higher BM25 ranks it;
/// the relevant ones are the popular ones.
fn documents() -> String {
    let mut lines = String::new();
    for number in 0..60_usize {
        let topic = TOPICS[number % 4];
        let repeated = format!("{topic} ").repeat(1 + number % 5);
        let plays = (number * 37) % 60;
        let genre = if number % 4 < 2 { "music" } else { "travel" };
        lines.push_str(&format!(
            "{{\"id\": \"r{number:02}\", \"title\": \"The {topic} record {number}\", \"text\": \
             \"About the {repeated} and the weather of {number} days.\", \"plays\": {plays}, \
             \"date\": \"20{:02}-01-01\", \"genre\": \"{genre}\", \"links\": [\"r{:02}\"]}}\n",
            number % 20,
            (number * 7) % 60
        ));
    }
    lines
}

/// Sixteen queries, and judgements: the label of a record of the topic is its popularity.
fn queries() -> (String, String) {
    let words = ["record", "weather", "about", "days"];
    let (mut queries, mut qrels) = (String::new(), String::new());
    for number in 0..16_usize {
        let topic = TOPICS[number % 4];
        queries.push_str(&format!("q{number}\t{topic} {}\n", words[number / 4]));
        for document in (0..60_usize).filter(|document| document % 4 == number % 4) {
            let grade = (document * 37) % 60 / 20;
            qrels.push_str(&format!("q{number} 0 r{document:02} {grade}\n"));
        }
    }
    (queries, qrels)
}

/// A folder with the collection, indexed.
fn shop() -> Bench {
    let bench = Bench::new();
    let (queries, qrels) = queries();
    bench.put("records.jsonl", &documents()).put("queries.tsv", &queries).put("qrels", &qrels);
    bench.run("index records.jsonl --out shop --quiet").ok();
    bench
}

/// A shop with a model that uses popularity.
fn shop_with_model() -> Bench {
    let bench = shop();
    bench.run("features shop --queries queries.tsv --qrels qrels --out data.rwd").ok();
    bench
        .run("train|data.rwd|--learner|lambdamart(trees=20, leaves=4, min_rows=2)|--out|m.model")
        .ok();
    bench
}

fn ids(found: &Value) -> Vec<&str> {
    let documents = found["documents"].as_array().unwrap();
    documents.iter().map(|document| document["id"].as_str().unwrap()).collect()
}

#[test]
fn index_says_what_it_made_and_adds_replaces_and_refuses() {
    let bench = Bench::new();
    bench.put("records.jsonl", &documents());
    let ran = bench.run("index records.jsonl --out shop").ok();
    assert!(ran.out().contains("shop: 60 documents in "), "{}", ran.out());
    assert!(ran.out().contains("analysis: english"), "{}", ran.out());
    for field in
        ["title:text", "text:text", "plays:number", "date:date", "genre:category", "links:links"]
    {
        assert!(ran.out().contains(field), "{field}: {}", ran.out());
    }
    let again = bench.run("index records.jsonl --out shop");
    assert_eq!(again.code(), 1);
    assert!(again.err().contains("there is already an index in"), "{}", again.err());
    assert!(again.err().contains("help: --add adds documents to it"), "{}", again.err());
    bench.put("more.jsonl", "{\"id\": \"r00\", \"title\": \"Replaced\"}\n{\"id\": \"new\", \"title\": \"Added\", \"plays\": \"many\"}\n");
    let added = bench.run("index more.jsonl --out shop --add --json").json();
    assert_eq!((&added["documents"], &added["not_of_kind"]), (&2.into(), &1.into()));
    assert_eq!(ids(&bench.run("search shop replaced --json").json()), ["r00"]);
    assert_eq!(ids(&bench.run("search shop added --json").json()), ["new"]);
    let rebuilt = bench.run("index more.jsonl --out shop --rebuild --analysis plain --json").json();
    assert_eq!(rebuilt["analysis"], "plain");
    assert!(ids(&bench.run("search shop jazz --json").json()).is_empty());
    assert_eq!(bench.run("index more.jsonl --out shop --add --rebuild").code(), 2);
    assert_eq!(bench.run("index more.jsonl --out x --format words").code(), 2);
    let other = bench.run("index more.jsonl --out shop --add --analysis german");
    assert!(other.code() == 1 && other.err().contains("--rebuild"), "{}", other.err());
    bench.put("bad.jsonl", "{\"id\": \"a\", \"text\": \"x\"}\n{\"id\": ");
    let bad = bench.run("index bad.jsonl --out other");
    assert!(bad.code() == 1 && bad.err().contains("bad.jsonl:2"), "{}", bad.err());
    assert!(!bench.path("other/rankwright.json").exists());
}

#[test]
fn index_warns_of_replaced_and_empty_documents() {
    let bench = Bench::new();
    bench.put("odd.jsonl", "{\"id\": \"a\", \"text\": \"one\"}\n{\"id\": \"a\", \"text\": \"two\"}\n{\"id\": \"b\", \"text\": \"the\"}\n");
    let ran = bench.run("index odd.jsonl --out odd").ok();
    assert!(
        ran.err().contains("1 document replaced by a later document of the same id"),
        "{}",
        ran.err()
    );
    assert!(ran.err().contains("1 document without a term"), "{}", ran.err());
    assert!(ran.out().contains("odd: 2 documents"), "{}", ran.out());
}

#[test]
fn search_shows_a_table_with_snippets_and_the_time() {
    let bench = shop();
    let ran = bench.run("search shop railway weather -k 3").ok();
    let out = ran.out();
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].contains("rank") && lines[0].contains("score") && lines[0].contains("title"));
    let first = lines.iter().position(|line| line.trim_start().starts_with("1 ")).unwrap();
    assert!(lines[first].contains("The railway record"), "{out}");
    assert!(lines[first + 1].contains("[railway]"), "a snippet below each row: {out}");
    assert!(lines[first + 2].trim_start().starts_with("2 "), "{out}");
    assert!(out.contains("60 documents in ") && out.contains(" ms"), "{out}");
    let found = bench.run("search shop railway weather -k 3 --json").json();
    assert_eq!((&found["query"], &found["found"]), (&"railway weather".into(), &60.into()));
    let documents = found["documents"].as_array().unwrap();
    assert_eq!(documents.len(), 3);
    for (rank, document) in (1..).zip(documents) {
        assert_eq!((&document["rank"], &document["first_rank"]), (&rank.into(), &rank.into()));
        assert_eq!(document["score"], document["first_score"]);
        let mark = &document["marks"][0];
        let (start, end) = (mark[0].as_u64().unwrap() as usize, mark[1].as_u64().unwrap() as usize);
        let marked = &document["snippet"].as_str().unwrap()[start..end];
        assert!(["railway", "weather"].contains(&marked), "{marked}");
    }
    assert!(documents[0]["score"].as_f64() >= documents[1]["score"].as_f64());
    let other = bench.run("search shop railway --first-stage dirichlet(mu=100) --json").json();
    assert_eq!(other["found"], 15);
    let unknown = bench.run("search shop railway --first-stage bm52");
    assert!(
        unknown.code() == 1 && unknown.err().contains("did you mean `bm25`?"),
        "{}",
        unknown.err()
    );
    let none = bench.run("search nowhere railway");
    assert!(
        none.code() == 1 && none.err().contains("help: build one: rankwright index"),
        "{}",
        none.err()
    );
}

/// The text that a terminal gets: the words of the query are bold, and nothing of a document is.
#[cfg(target_os = "linux")]
#[test]
fn search_marks_words_on_a_terminal() {
    let bench = Bench::new();
    bench.put("d.jsonl", "{\"id\": \"a\", \"text\": \"a \\u001b[31mblue train\"}\n");
    bench.run("index d.jsonl --out shop --quiet").ok();
    let shown = crate::common::on_terminal(&bench, &["search", "shop", "train"]);
    assert!(shown.contains("blue \u{1b}[1mtrain\u{1b}[0m"), "{shown:?}");
    assert!(shown.contains("\\u{1b}[31mblue") && !shown.contains("\u{1b}[31m"), "{shown:?}");
    assert!(shown.contains("1 document in "), "{shown:?}");
}

#[test]
fn a_filter_restricts_the_list_and_changes_no_score() {
    let bench = shop();
    let all = bench.run("search shop weather -k 100 --json").json();
    let some =
        bench.run("search|shop|weather|-k|100|--filter|genre:travel AND plays:>=30|--json").json();
    let score = |id: &str| {
        let documents = all["documents"].as_array().unwrap();
        documents.iter().find(|document| document["id"] == id).unwrap()["score"].clone()
    };
    let documents = some["documents"].as_array().unwrap();
    assert_eq!(documents.len(), 16, "so many travel records are played 30 times or more");
    for document in documents {
        let id = document["id"].as_str().unwrap();
        let number: usize = id[1..].parse().unwrap();
        assert!(number % 4 >= 2 && (number * 37) % 60 >= 30, "{id}");
        assert_eq!(document["score"], score(id));
    }
    let others = bench.run("search shop weather --filter -genre:travel --json").json();
    assert!(others["found"].as_u64().unwrap() > 0, "a filter may begin with a minus");
    for (query, reason) in [
        ("weather --filter genre:opera", "no document of the index passes the filter"),
        ("jazz --filter genre:travel", "match the query, but none of them passes the filter"),
    ] {
        let ran = bench.run(&format!("search shop {query}")).ok();
        assert!(ran.out().contains(reason), "{}", ran.out());
        assert!(!ran.err().contains(reason), "the reason is said once: {}", ran.err());
        for message in [ran.err(), ran.out()] {
            assert!(!message.contains("term of the query"), "{message}");
        }
    }
    let bad = bench.run("search shop weather --filter price:>=3");
    assert!(bad.code() == 1 && bad.err().contains("the fields are title:text"), "{}", bad.err());
}

#[test]
fn an_error_of_a_filter_shows_the_filter_and_points_at_the_place() {
    let bench = shop();
    let bad = bench.run("search|shop|jazz|--filter|genre:travel AND price>3");
    let expected = "error: filter, character 18: there is no field `price`\n       \
                    genre:travel AND price>3\n                        ^\n help: ";
    assert!(bad.code() == 1 && bad.err().starts_with(expected), "{}", bad.err());
}

#[test]
fn a_run_with_a_filter_says_which_queries_it_emptied() {
    let bench = shop();
    bench.put("odd.tsv", "a\tjazz\nb\tzeppelin\n");
    let line = "run shop --queries odd.tsv --filter genre:travel --out odd.run --json";
    let kinds = |json: &Value| -> Vec<String> {
        let all = json["warnings"].as_array().unwrap().iter();
        all.map(|warning| warning["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&bench.run(line).json()), ["nothing-found", "queries-filtered"]);
    let none = bench.run("run shop --queries odd.tsv --filter genre:opera --out odd.run --json");
    assert_eq!(kinds(&none.json()), ["nothing-passes", "nothing-found"]);
}

#[test]
fn a_query_without_terms_is_reported_as_such() {
    let bench = shop();
    for query in ["", "the of and", "?!"] {
        let ran =
            crate::common::Ran(command(&bench, &["search", "shop", query]).output().unwrap()).ok();
        let reason = "the query has no terms after the analysis";
        assert!(ran.out().contains(reason), "'{query}': {}", ran.out());
        assert!(!ran.err().contains(reason), "the reason is said once: {}", ran.err());
        let words = ["search", "shop", query, "--json"];
        let found = crate::common::Ran(command(&bench, &words).output().unwrap()).json();
        assert_eq!(found["found"], 0);
    }
    assert_eq!(bench.run("search shop").code(), 2, "no query at all is wrong usage");
    bench.put("odd.tsv", "a\tthe of\nb\tjazz\nc\tzeppelin\n");
    let ran = bench.run("run shop --queries odd.tsv --out odd.run").ok();
    for message in [
        "1 query found no document, because no term is left after the analysis: 'a'",
        "1 query found no document, because no document has one of the query terms: 'c'",
    ] {
        assert!(ran.err().contains(message), "{}", ran.err());
    }
    assert!(bench.text("odd.run").lines().all(|line| line.starts_with("b Q0 r")));
}

#[test]
fn a_model_re_ranks_and_says_what_moved() {
    let bench = shop_with_model();
    let found = bench.run("search shop jazz record --model m.model -k 60 --explain --json").json();
    let documents = found["documents"].as_array().unwrap();
    let rank = |document: &Value| document["first_rank"].as_u64().unwrap() as usize;
    let moved = (1..).zip(documents).filter(|(at, document)| rank(document) != *at).count();
    assert!(moved > 10, "{moved} of {} moved", documents.len());
    let plays = |document: &Value| document["features"]["number(field=plays, log=false)"].as_f64();
    let id = documents[0]["id"].as_str().unwrap();
    let number: u32 = id[1..].parse().unwrap();
    assert_eq!(plays(&documents[0]), Some(f64::from(number * 37 % 60)));
    assert!(plays(&documents[0]).unwrap() >= 40.0, "the best is popular");
    // The first stage alone gives the ranks and scores that the table with the model shows.
    let first = bench.run("search shop jazz record -k 60 --json").json();
    let first = first["documents"].as_array().unwrap();
    for document in documents {
        let before = &first[rank(document) - 1];
        assert_eq!(before["id"], document["id"]);
        assert_eq!(before["score"], document["first_score"]);
    }
    let out = bench.run("search shop jazz record --model m.model -k 9 --explain").ok().out();
    assert!(out.contains("before") && out.contains('▲') && out.contains("re-ranked"), "{out}");
    assert!(out.contains("rank in the first stage") && out.contains("bm25(field=all)"), "{out}");
    let narrow = bench.run("search shop jazz record --model m.model --candidates 5 --json");
    assert!(narrow.err().contains("was trained on 100 candidates per query, but ranks 5"));
    let narrow = narrow.json();
    assert_eq!(narrow["found"], 5);
    assert_eq!(narrow["warnings"][0]["kind"], "other-candidates");
    assert_eq!(bench.run("search shop jazz --explain").code(), 2, "there is nothing to explain");
}

/// The README's tour: features, split, train. Regression: the split dropped the feature set, and
/// the model accepted any index.
#[test]
fn the_feature_set_travels_through_split_and_convert_into_the_model() {
    let bench = shop();
    bench.run("index records.jsonl --out plain --analysis plain --quiet").ok();
    let features = "features shop --queries queries.tsv --qrels qrels --candidates 10 --out";
    for (number, format) in ["rwd", "csv", "tsv", "jsonl", "parquet", "arrow"].iter().enumerate() {
        bench.run(&format!("{features} all.{format}")).ok();
        let set = Dataset::read(bench.path(&format!("all.{format}"))).unwrap();
        let set = set.feature_set().expect("features knows its set").to_owned();
        let parts = format!("parts{number}");
        bench
            .run(&format!("data split all.{format} --parts train=0.5,test=0.5 --out {parts}"))
            .ok();
        bench.run(&format!("data convert {parts}/train.{format} {parts}/again.rwd")).ok();
        bench.run(&format!("data convert {parts}/again.rwd {parts}/back.csv")).ok();
        for train in [format!("{parts}/train.{format}"), format!("{parts}/back.csv")] {
            bench
                .run(&format!("train|{train}|--learner|mart(trees=2, min_rows=2)|--out|m.model"))
                .ok();
            let model = Model::load(bench.path("m.model")).unwrap();
            assert_eq!(model.header().feature_set.as_ref(), Some(&set), "{train}");
            let plain = bench.run("search plain jazz --model m.model");
            assert_eq!(plain.code(), 1, "{train}: an index of another analysis is refused");
            assert!(plain.err().contains("computed with the analysis english"), "{}", plain.err());
            bench.run("search shop jazz --model m.model").ok();
        }
        // LETOR text has no names of features, so that no index can compute them.
        bench.run(&format!("data convert {parts}/train.{format} {parts}/letor.txt")).ok();
        bench
            .run(&format!(
                "train|{parts}/letor.txt|--learner|mart(trees=2, min_rows=2)|--out|m.model"
            ))
            .ok();
        for index in ["plain", "shop"] {
            let letor = bench.run(&format!("search {index} jazz --model m.model"));
            assert_eq!(letor.code(), 1, "{index}: {}", letor.err());
        }
    }
}

#[test]
fn inspection_names_the_first_stage_and_a_conversion_that_loses_it_says_so() {
    let bench = shop_with_model();
    let text = bench.run("model inspect m.model").ok().out();
    assert!(text.contains("first stage bm25, 100 candidates"), "{text}");
    let converted = bench.run("model convert m.model --to solr --out m.json");
    assert!(converted.err().contains("cannot hold the feature set"), "{}", converted.err());
    let same = bench.run("model convert m.model --to rankwright --out n.model");
    assert!(!same.err().contains("feature set"), "{}", same.err());
}

#[test]
fn a_model_that_does_not_fit_is_refused() {
    let bench = shop_with_model();
    bench.run("index records.jsonl --out plain --analysis plain --quiet").ok();
    let plain = bench.run("search plain jazz --model m.model");
    assert_eq!(plain.code(), 1);
    assert!(
        plain.err().contains("the analysis english, but the index has the analysis plain"),
        "{}",
        plain.err()
    );
    bench.put("other.jsonl", "{\"id\": \"a\", \"text\": \"jazz\"}\n");
    bench.run("index other.jsonl --out other --quiet").ok();
    let other = bench.run("run other --queries queries.tsv --model m.model --out x.run");
    assert_eq!(other.code(), 1);
    assert!(other.err().contains("cannot compute the features of the model"), "{}", other.err());
    assert!(!bench.path("x.run").exists());
    bench.put("letor.txt", "1 qid:1 1:1 2:1\n0 qid:1 1:0 2:1\n");
    bench.run("train letor.txt --learner mart(trees=1,min_rows=1) --out l.model").ok();
    let letor = bench.run("search shop jazz --model l.model");
    assert!(letor.code() == 1 && letor.err().contains("unknown feature"), "{}", letor.err());
}

#[test]
fn features_are_labelled_and_named_and_the_model_keeps_their_set() {
    let bench = shop();
    let line = "features|shop|--queries|queries.tsv|--qrels|qrels|--features|bm25, number(field=plays), window(field=*)|--candidates|10|--out|d.rwd|--json";
    let result = bench.run(line).json();
    assert_eq!(
        (&result["queries"], &result["rows"], &result["features"]),
        (&16.into(), &160.into(), &5.into())
    );
    let set = Dataset::read(bench.path("d.rwd")).unwrap().feature_set().unwrap().to_owned();
    assert_eq!(result["set"], "d.rwd");
    assert!(set.contains("version = 1") && set.contains("analysis = \"english\""), "{set}");
    assert!(set.contains("window(field=title)"), "{set}");
    assert!(set.contains("first_stage = \"bm25\"") && set.contains("candidates = 10"), "{set}");
    // The written set gives the same data again.
    bench.run("features shop --queries queries.tsv --qrels qrels --features d.rwd --candidates 10 --out e.rwd").ok();
    let bytes = |name: &str| std::fs::read(bench.path(name)).unwrap();
    assert_eq!(bytes("d.rwd"), bytes("e.rwd"));
    bench.run("features shop --queries queries.tsv --qrels qrels --features d.rwd --candidates 10 --out e.csv").ok();
    assert_eq!(bench.text("e.csv.features.toml"), set, "beside a file that cannot hold it");
    bench.run("features shop --queries queries.tsv --qrels qrels --features e.csv.features.toml --candidates 10 --threads 3 --out f.rwd").ok();
    assert_eq!(bytes("d.rwd"), bytes("f.rwd"));
    bench.run("train|d.rwd|--learner|mart(trees=2, leaves=3, min_rows=2)|--out|m.model").ok();
    let model = Model::load(bench.path("m.model")).unwrap();
    assert_eq!(model.header().feature_set.as_ref(), Some(&set), "the model carries the set");
    // It re-ranks as many candidates as it was trained on, of the same first stage.
    let found = bench.run("search shop jazz record --model m.model --json");
    assert_eq!(found.err(), "");
    assert_eq!(found.json()["found"], 10);
    let other = bench
        .run("run shop --queries queries.tsv --model m.model --first-stage cosine --out o.run");
    assert!(
        other.err().contains(
            "trained on candidates of the first stage bm25, but ranks candidates of cosine"
        )
    );
    let names: Vec<_> = model.header().features.iter().collect();
    assert_eq!(names[1], "number(field=plays)");
    let judged = bench.run("features shop --queries queries.tsv --qrels qrels --judged --candidates 1 --out j.rwd --json").json();
    assert_eq!(
        judged["rows"],
        16 * 15,
        "the only candidate is among the 15 judged records of the query's topic"
    );
    bench.put("strangers", "x1 0 r01 1\n");
    let none = bench.run("features shop --queries queries.tsv --qrels strangers --out n.rwd");
    assert!(
        none.code() == 1 && none.err().contains("no judgement for any of the 16 given queries"),
        "{}",
        none.err()
    );
    let bad = bench.run("features shop --queries queries.tsv --features bm52 --out n.rwd");
    assert!(bad.code() == 1 && bad.err().contains("did you mean `bm25`?"), "{}", bad.err());
}

#[test]
fn input_that_is_left_out_or_changed_is_reported() {
    let bench = shop();
    bench.put("few", "q0 0 r00 2\nq0 0 r01 1\nq0 0 r05 2\nq0 0 r04 -2\n");
    let line = "features shop --queries queries.tsv --qrels few --candidates 1 --out d.csv";
    let ran = bench.run(line).ok();
    let message = "relevant documents of 1 query left out, not among the candidates: 'q0'";
    assert!(ran.err().contains(message), "{}", ran.err());
    assert!(ran.err().contains("add them with --judged"), "{}", ran.err());
    let json = bench.run(&format!("{line} --json")).json();
    let kinds: Vec<&str> =
        json["warnings"].as_array().unwrap().iter().filter_map(|w| w["kind"].as_str()).collect();
    assert!(kinds.contains(&"relevant-left-out"), "{kinds:?}");
    let ran = bench.run(&format!("{line} --judged")).ok();
    assert!(!ran.err().contains("left out, not among"), "{}", ran.err());
    assert!(ran.err().contains("1 judgement below 0 taken as 0"), "{}", ran.err());
    std::fs::write(bench.path("bad.tsv"), b"q1\tjazz caf\xe9\nq2\tjazz\n").unwrap();
    let ran = bench.run("run shop --queries bad.tsv --out a.run").ok();
    let message = "1 text with bytes that are not UTF-8, replaced by U+FFFD (first: bad.tsv:1)";
    assert!(ran.err().contains(message), "{}", ran.err());
    std::fs::create_dir(bench.path("pages")).unwrap();
    bench.put("pages/a.txt", "some words").put("pages/b.pdf", "%PDF").put("pages/c", "x");
    let ran = bench.run("index pages --out of-pages").ok();
    assert!(ran.err().contains("2 files skipped: neither text"), "{}", ran.err());
    assert!(ran.out().contains("1 document"), "{}", ran.out());
}

#[test]
fn from_text_to_a_compared_ranking() {
    let bench = shop_with_model();
    bench.run("run shop --queries queries.tsv --model m.model --out learnt.run").ok();
    bench.run("run shop --queries queries.tsv --out bm25.run --tag bm25").ok();
    assert!(bench.text("bm25.run").lines().all(|line| line.ends_with(" bm25")));
    let found = bench.run("compare --qrels qrels bm25.run learnt.run --metric ndcg@10 --json").ok();
    assert!(found.out().contains("ndcg@10"), "{}", found.out());
    let ndcg = |run: &str| {
        let line = format!("eval --run {run} --qrels qrels --metric ndcg@10 --json");
        bench.run(&line).json()["metrics"][0]["value"].as_f64().unwrap()
    };
    assert!(
        ndcg("learnt.run") > ndcg("bm25.run") + 0.1,
        "{} {}",
        ndcg("learnt.run"),
        ndcg("bm25.run")
    );
    // A model on the data's own rows scores as on the index.
    bench.run("score m.model data.rwd --out scores.txt").ok();
    let scores = bench.text("scores.txt");
    let run = bench.text("learnt.run");
    let best = |query: &str| -> f64 {
        let line = run.lines().find(|line| line.starts_with(&format!("{query} "))).unwrap();
        line.split(' ').nth(4).unwrap().parse().unwrap()
    };
    let rows: Vec<f64> = scores.lines().map(|line| line.trim().parse().unwrap()).collect();
    let most = rows.iter().copied().fold(f64::MIN, f64::max);
    let all = (0..16).map(|number| best(&format!("q{number}"))).fold(f64::MIN, f64::max);
    assert!((most - all).abs() < 1e-9, "{most} {all}");
    // Runs do not depend on threads.
    bench.run("run shop --queries queries.tsv --model m.model --threads 3 --out again.run").ok();
    assert_eq!(bench.text("again.run"), run);
    bench.run("run shop --queries queries.tsv -k 2 --out short.jsonl").ok();
    assert_eq!(bench.text("short.jsonl").lines().count(), 32);
    assert_eq!(bench.run("run shop --queries queries.tsv --out queries.tsv").code(), 1);
    assert_eq!(bench.run("run|shop|--queries|queries.tsv|--tag|two words|--out|x").code(), 2);
}

#[test]
fn classify_cross_validates_over_folds_of_documents() {
    let bench = shop();
    let found = bench.run("classify records.jsonl --label genre --json").json();
    assert_eq!((&found["documents"], &found["folds"]), (&60.into(), &5.into()));
    assert_eq!(found["accuracy"], 1.0, "the topics tell the genres");
    let music = &found["classes"][0];
    assert_eq!((&music["class"], &music["documents"]), (&"music".into(), &30.into()));
    assert_eq!(found["confusion"], serde_json::json!([[30, 0], [0, 30]]));
    let text = bench.run("classify|records.jsonl|--label|genre|--classifier|knn(k=3, distance=euclidean)|--folds|3").ok().out();
    for part in ["class", "precision", "recall", "music", "travel", "accuracy 1.0000", "3 folds"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Labels independent of the text: only a leak would classify them correctly.
    let lines = (0..40).map(|number| {
        let side = if number % 2 == 0 { "left" } else { "right" };
        format!("{{\"id\": {number}, \"text\": \"same words for number{number}\", \"side\": \"{side}\"}}\n")
    });
    bench.put("blind.jsonl", &lines.collect::<String>());
    let blind = bench.run("classify blind.jsonl --label side --classifier knn(k=1) --json").json();
    assert!(blind["accuracy"].as_f64().unwrap() < 0.9, "{blind}");
    let same = bench
        .run("classify blind.jsonl --label side --classifier knn(k=1) --threads 3 --json")
        .json();
    assert_eq!(same["confusion"], blind["confusion"]);
    let seed =
        bench.run("classify blind.jsonl --label side --classifier knn(k=1) --seed 2 --json").json();
    assert_eq!(seed["seed"], 2);
}

#[test]
fn classify_decides_on_other_documents() {
    let bench = shop();
    bench.put("new.jsonl", "{\"id\": \"n1\", \"text\": \"a jazz ocean\"}\n{\"id\": \"n2\", \"title\": \"garden railway\"}\n{\"id\": \"n3\", \"text\": \"\"}\n");
    let ran =
        bench.run("classify records.jsonl --label genre --apply new.jsonl --out new.tsv").ok();
    assert!(
        ran.out().contains("new.tsv: 3 documents classified, trained on 60 documents"),
        "{}",
        ran.out()
    );
    let table = bench.text("new.tsv");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(
        (rows[0][..2].to_vec(), rows[1][..2].to_vec()),
        (vec!["n1", "music"], vec!["n2", "travel"])
    );
    assert!(rows.iter().all(|row| row.len() == 3 && row[2].parse::<f64>().unwrap() >= 0.0));
    let line = "classify records.jsonl --label genre --classifier knn(k=5) --apply new.jsonl --out - --quiet";
    let piped = bench.run(line).ok().out();
    assert!(piped.starts_with("n1\tmusic\t"), "{piped}");
    assert!(
        rows[2][1] == "music",
        "without text all classes are equally near, and the first by name is taken"
    );
    bench.put("foreign.jsonl", "{\"id\": \"f\", \"body\": \"jazz\"}\n");
    let foreign =
        bench.run("classify records.jsonl --label genre --apply foreign.jsonl --out f.tsv");
    assert!(
        foreign.code() == 1 && foreign.err().contains("none of the fields"),
        "{}",
        foreign.err()
    );
    assert_eq!(bench.run("classify records.jsonl --label genre --apply new.jsonl").code(), 2);
}

#[test]
fn classify_says_what_is_wrong() {
    let bench = shop();
    bench.put("one.jsonl", "{\"id\": 1, \"text\": \"a\", \"c\": \"x\"}\n{\"id\": 2, \"text\": \"b\", \"c\": \"x\"}\n{\"id\": 3, \"text\": \"c\"}\n");
    bench.put("bare.jsonl", "{\"id\": 1, \"c\": \"x\"}\n{\"id\": 2, \"c\": \"y\"}\n");
    for (line, code, message) in [
        ("classify records.jsonl --label mood", 1, "no document has the field `mood`"),
        (
            "classify one.jsonl --label c",
            1,
            "every labelled document has the class `x` (2 documents)",
        ),
        ("classify bare.jsonl --label c", 1, "no text field or number field besides `c`"),
        ("classify records.jsonl --label genre --classifier knn(k=0)", 1, "from 1 on"),
        (
            "classify records.jsonl --label genre --classifier bayes",
            1,
            "unknown classifier `bayes`",
        ),
        ("classify records.jsonl --label genre --classifier rocchio(k=3)", 1, "no parameter `k`"),
        ("classify records.jsonl --label genre --folds 1", 2, "folds"),
        ("classify records.jsonl --label genre --folds 61", 1, "61 folds cannot be made of"),
        ("classify records.jsonl --label genre --analysis klingon", 1, "unknown analysis"),
        ("classify nowhere.jsonl --label genre", 1, "nowhere.jsonl"),
        ("classify records.jsonl --label genre --apply one.jsonl --out one.jsonl", 1, "one.jsonl"),
    ] {
        let ran = bench.run(line);
        assert_eq!(ran.code(), code, "{line}: {}", ran.err());
        assert!(ran.err().contains(message), "{line}: {}", ran.err());
    }
    bench.put("some.jsonl", &documents().replacen("\"genre\": \"music\", ", "", 1));
    let some = bench.run("classify some.jsonl --label genre --json").ok();
    assert!(
        some.err().contains("1 document without a value in `genre` left out"),
        "{}",
        some.err()
    );
}

/// Four pages of two sites; the last one is a page of text alone.
const PAGES: &str = r#"{"id": "a", "title": "Jazz club", "text": "jazz", "url": "https://www.jazz.co.uk/", "links": ["b"], "date": "2024-01-11", "genre": "music", "clicks": 30, "dwell": 2.5}
{"id": "b", "title": "Trains", "text": "jazz train", "url": "https://rail.de/jazz/train.html", "links": ["a", "c"], "date": "2024-01-01", "genre": "travel", "clicks": 0, "dwell": 0.5}
{"id": "c", "title": "Train jazz", "text": "jazz jazz sea", "url": "https://shop.rail.de/x", "links": ["a"], "date": "2024-01-06", "genre": "music", "clicks": 7, "dwell": 9}
{"id": "d", "title": "Sea", "text": "jazz of the sea"}
"#;

/// The features that lectures name, through the command, with values worked out by hand.
#[test]
fn features_of_queries_addresses_links_runs_and_categories_come_from_the_command() {
    let bench = Bench::new();
    bench.put("pages.jsonl", PAGES).put("queries.tsv", "qid\ttext\tfrequency\nq\tjazz\t99\n");
    bench.put("other.run", "q Q0 c 1 9 x\nq Q0 a 2 8 x\n").put("qrels", "q 0 a 1\n");
    let kinds = "url:url, links:links, date:date, genre:category, clicks:number, dwell:number";
    bench.run(&format!("index|pages.jsonl|--out|web|--schema|{kinds}")).ok();
    let nan = f32::NAN;
    for (spec, expected) in [
        ("query-number(field=frequency)", [99.0; 4]),
        ("site(name=rail.de)", [0.0, 1.0, 1.0, nan]),
        ("site(part=host, name=rail.de)", [0.0, 1.0, 0.0, nan]),
        ("site(part=country, name=uk)", [1.0, 0.0, 0.0, nan]),
        // jazz, co, uk; rail, de, jazz, train, html.
        ("url-cosine", [1.0 / 3.0_f32.sqrt(), 1.0 / 5.0_f32.sqrt(), 0.0, nan]),
        // a is linked to by b, ten days old, and c, five days old.
        ("in-link-age", [7.5, 0.0, 10.0, nan]),
        ("run(file=other.run, value=top1)", [0.0, 0.0, 1.0, 0.0]),
        ("run(file=other.run, value=top10)", [1.0, 0.0, 1.0, 0.0]),
        ("run(file=other.run, value=closeness)", [0.98, 0.0, 0.99, 0.0]),
        ("category(class=music)", [1.0, 0.0, 1.0, 0.0]),
        // Numbers of documents that a log of clicks gives.
        ("number(field=clicks)", [30.0, 0.0, 7.0, nan]),
        ("number(field=dwell)", [2.5, 0.5, 9.0, nan]),
    ] {
        let line = "features|web|--queries|queries.tsv|--qrels|qrels|--out|f.rwd|--features";
        bench.run(&format!("{line}|{spec}")).ok();
        let data = Dataset::read(bench.path("f.rwd")).unwrap();
        let ids = data.doc_ids().unwrap();
        for row in 0..4 {
            let at = "abcd".find(ids.get(row)).unwrap();
            let (found, expected) = (data.matrix().get(row, 0), expected[at]);
            let equal = (found - expected).abs() < 1e-6 || found.is_nan() && expected.is_nan();
            assert!(equal, "{spec}, {}: {found}, by hand {expected}", ids.get(row));
        }
    }
    let line = "features|web|--queries|queries.tsv|--qrels|qrels|--out|f.rwd|--json|--features";
    let all =
        bench.run(&format!("{line}|category(class=*), site(part=country, name=*), bm25f")).json();
    assert_eq!(all["features"], 5, "two classes, two countries and BM25F");
}
