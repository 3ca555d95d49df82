//! Click logs through the command: inspected, turned into pairs that train a model, fitted.

use rankwright::data::Random;

use crate::common::{Bench, command};

/// A log of 6000 pages of three documents, whose clicks follow the position-based model with an
/// examination of 1, 0.5 and 0.25; document `a` of every query attracts most.
fn log() -> Bench {
    let bench = Bench::new();
    let mut lines = String::new();
    for page in 0..6000_u64 {
        let mut random = Random::new(9, page);
        let mut documents = [("a", 0.9), ("b", 0.5), ("c", 0.2)];
        random.shuffle(&mut documents);
        let shown = documents.map(|(name, _)| format!("\"{name}\""));
        let examined = [1.0, 0.5, 0.25].into_iter();
        let clicks: Vec<String> = documents
            .iter()
            .zip(examined)
            .map(|((_, attraction), examined)| (random.unit() < attraction * examined).to_string())
            .collect();
        lines += &format!(
            "{{\"query\": \"q{}\", \"docs\": [{}], \"clicks\": [{}]}}\n",
            page % 4,
            shown.join(", "),
            clicks.join(", ")
        );
    }
    bench.put("log.jsonl", &lines);
    bench
}

#[test]
fn a_log_is_described_and_its_bias_estimated() {
    let bench = log();
    let found = bench.run("clicks inspect log.jsonl --json").json();
    assert_eq!((&found["counts"]["impressions"], &found["queries"]), (&6000.into(), &4.into()));
    assert_eq!(found["linked_ranks"], serde_json::json!([[1, 2, 3]]));
    let text = bench.run("clicks inspect log.jsonl").ok().out();
    assert!(
        text.contains("Each rank shares documents with others") && text.contains("q3"),
        "{text}"
    );
    let bias = bench.run("clicks bias log.jsonl --samples 20 --json").json();
    for estimate in bias["estimates"].as_array().unwrap() {
        let values = estimate["examination"].as_array().unwrap();
        for (value, expected) in values.iter().zip([1.0, 0.5, 0.25]) {
            assert!((value.as_f64().unwrap() - expected).abs() < 0.04, "{estimate}");
        }
    }
    let text = bench.run("clicks bias log.jsonl --estimator em --samples 0").ok().out();
    assert!(text.contains("rank") && text.contains("0.5") && !text.contains("allpairs"), "{text}");
}

/// A document is no better than itself: `train --pairs` would refuse such a pair.
#[test]
fn a_page_that_shows_a_document_twice_gives_no_pair_of_it() {
    let bench = Bench::new();
    let page = r#"{"query": "q", "docs": ["a", "b", "a"], "clicks": [0, 0, 1]}"#;
    bench.put("twice.jsonl", &format!("{page}\n"));
    let result = bench.run("clicks pairs twice.jsonl --out pairs.tsv --json").json();
    assert_eq!((&result["pairs"], &result["same_document"]), (&1.into(), &1.into()));
    assert_eq!(bench.text("pairs.tsv"), "qid\tbetter\tworse\tweight\nq\ta\tb\t1\n");
    let text = bench.run("clicks pairs twice.jsonl --out pairs.tsv").ok().out();
    assert!(text.contains("1 left out as of one document shown twice"), "{text}");
}

#[test]
fn pairs_of_clicks_train_a_ranking_svm() {
    let bench = log();
    let result =
        bench.run("clicks pairs log.jsonl --rule skip-above,next --out pairs.tsv --json").json();
    assert_eq!((&result["queries"], &result["contradicted"]), (&4.into(), &result["pairs"]));
    let pairs = bench.text("pairs.tsv");
    assert!(pairs.starts_with("qid\tbetter\tworse\tweight\nq0\ta\tb\t"), "{pairs}");
    // Feature 1 is the attraction of the document, feature 2 says nothing.
    let mut table = "qid,docid,good,other\n".to_owned();
    for query in 0..4 {
        table += &format!("q{query},a,0.9,0.3\nq{query},b,0.5,0.1\nq{query},c,0.2,0.4\n");
    }
    bench.put("train.csv", &table);
    let train =
        "train train.csv --columns label=none --pairs pairs.tsv --learner ranksvm --out m.model";
    bench.run(train).ok();
    let scores = bench.run("score m.model train.csv --json").json();
    let value = |row: usize| scores["scores"][row].as_f64().unwrap();
    assert!(value(0) > value(1) && value(1) > value(2), "{scores}");
    let few = bench.run("clicks pairs log.jsonl --min 100000 --out none.tsv").ok().out();
    assert!(few.contains("0 pairs of 0 queries"), "{few}");
}

#[test]
fn a_click_model_is_fitted_and_measured_on_another_log() {
    let bench = log();
    let pbm = bench
        .run("clicks fit log.jsonl --model pbm(iterations=200) --test log.jsonl --json")
        .json();
    let rates = bench.run("clicks fit log.jsonl --model rank-ctr --json").json();
    let likelihood =
        |found: &serde_json::Value| found["fitted"]["log_likelihood"].as_f64().unwrap();
    assert!(likelihood(&pbm) > likelihood(&rates) + 0.01, "{}", pbm["fitted"]);
    assert_eq!(pbm["test"], pbm["fitted"]);
    assert_eq!(pbm["pairs"].as_array().unwrap().len(), 12);
    let text = bench.run("clicks fit log.jsonl --model dbn").ok().out();
    assert!(text.contains("continuation: ") && text.contains("satisfaction: 12 values"), "{text}");
    let unknown = bench.run("clicks fit log.jsonl --model umb");
    assert!(unknown.code() == 1 && unknown.err().contains("did you mean"), "{}", unknown.err());
}

#[test]
fn logs_that_cannot_be_read_are_errors_with_a_place() {
    let bench = Bench::new();
    bench.put(
        "bad.jsonl",
        "{\"query\": \"q\", \"docs\": [\"a\"], \"clicks\": [1]}\n{\"query\": 3}\n",
    );
    let bad = bench.run("clicks inspect bad.jsonl");
    assert!(bad.code() == 1 && bad.err().contains("bad.jsonl:2"), "{}", bad.err());
    bench.put("empty.jsonl", "{\"query\": \"q\", \"docs\": [], \"clicks\": []}\n");
    let empty = bench.run("clicks bias empty.jsonl");
    assert!(empty.code() == 1 && empty.err().contains("no impression"), "{}", empty.err());
    let rule = bench.run("clicks pairs bad.jsonl --rule skip --out p");
    assert!(rule.code() == 2 && rule.err().contains("skip-above"), "{}", rule.err());
}

#[test]
fn a_log_is_converted_to_every_format_and_read_again() {
    let bench = log();
    let expected = bench.run("clicks inspect log.jsonl --json").json();
    let kinds = |result: &serde_json::Value| -> Vec<String> {
        let warnings = result["warnings"].as_array().unwrap().iter();
        warnings.map(|warning| warning["kind"].as_str().unwrap().to_owned()).collect()
    };
    for (to, warnings) in [
        ("ubi", vec!["impression-ids-made"]),
        ("metarank", vec!["impression-ids-made"]),
        ("lists", vec![]),
        ("parquet", vec![]),
        ("yandex-pages", vec![]),
        ("yandex-log", vec!["impression-ids-made"]),
        ("csv", vec!["impression-ids-made"]),
        ("tsv", vec!["impression-ids-made"]),
    ] {
        let out = format!("log.{to}");
        let words = format!("clicks convert log.jsonl --to {to} --out {out}");
        let made = bench.run(&format!("{words} --json")).json();
        assert_eq!(made["counts"], expected["counts"], "{to}");
        assert_eq!(kinds(&made), warnings, "{to}");
        let found = bench.run(&format!("clicks inspect {out} --json")).json();
        assert_eq!(found["ranks"], expected["ranks"], "{to}");
        assert_eq!(found["top_queries"], expected["top_queries"], "{to}");
        // In little memory the log is the same.
        if to == "ubi" || to == "csv" {
            let bounded = format!("clicks inspect {out} --max-memory 100K --json");
            assert_eq!(bench.run(&bounded).json()["counts"], found["counts"], "{to}");
        }
    }
    bench.run("clicks convert log.ubi --to ubi --out again.jsonl.gz").ok();
    let packed = bench.run("clicks inspect again.jsonl.gz --json").json();
    assert_eq!(packed["ranks"], expected["ranks"]);
    let text = bench.run("clicks convert log.ubi --to yandex-pages --out pages.txt").ok();
    assert!(text.out().contains("6000 impressions"), "{}", text.out());
    assert!(text.err().contains("cannot hold the ids of 6000 impressions"), "{}", text.err());
    let unknown = bench.run("clicks convert log.jsonl --to xml --out x");
    assert!(unknown.code() == 2 && unknown.err().contains("metarank"), "{}", unknown.err());
}

#[test]
fn a_conversion_that_fails_leaves_the_old_file() {
    let bench = Bench::new();
    let good = "{\"query\": \"q\", \"docs\": [\"a,b\"], \"clicks\": [1]}\n";
    bench.put("log.jsonl", good);
    bench.put("bad.jsonl", &format!("{good}{{\"query\": 3}}\n"));
    bench.put("out.txt", "old");
    let bad = bench.run("clicks convert bad.jsonl --to lists --out out.txt");
    assert!(bad.code() == 1 && bad.err().contains("bad.jsonl:2"), "{}", bad.err());
    let comma = bench.run("clicks convert log.jsonl --to yandex-pages --out out.txt");
    assert!(
        comma.code() == 1 && comma.err().contains("'a,b' cannot be written"),
        "{}",
        comma.err()
    );
    assert_eq!(bench.text("out.txt"), "old");
}

#[test]
fn tables_have_roles_and_sessions_and_bots_are_found() {
    let bench = Bench::new();
    let mut table = "search,visitor,at,keyword,sku,rank,bought\n".to_owned();
    for page in 0..30 {
        let (user, at) = match page < 18 {
            true => (format!("u{}", page % 3), page * 1000),
            false => ("crawler".to_owned(), page / 4),
        };
        table +=
            &format!("{page},{user},{at},cat,b,2,{}\n{page},{user},{at},cat,a,1,0\n", page % 2);
    }
    bench.put("log.csv", &table);
    let columns =
        "--columns impression=search,user=visitor,time=at,query=keyword,document=sku,click=bought";
    let found =
        bench.run(&format!("clicks inspect log.csv {columns} --session-gap 1h --json")).json();
    assert_eq!((&found["counts"]["impressions"], &found["users"]), (&30.into(), &4.into()));
    assert_eq!(
        (&found["counts"]["bots"], &found["counts"]["bot_impressions"]),
        (&1.into(), &12.into())
    );
    // The impressions of a person are 3,000 seconds apart.
    assert_eq!(found["sessions"], 4);
    let text =
        bench.run(&format!("clicks inspect log.csv {columns} --session-gap 30m --drop bots")).ok();
    assert!(text.out().contains("impressions of bots, left out as requested"), "{}", text.out());
    let few = bench
        .run(&format!("clicks inspect log.csv {columns} --session-gap 30m --drop bots --json"))
        .json();
    assert_eq!((&few["counts"]["impressions"], &few["sessions"]), (&18.into(), &18.into()));
    let missing = bench.run("clicks inspect log.csv --columns document=item");
    assert!(missing.code() == 1 && missing.err().contains("'item'"), "{}", missing.err());
    let role = bench.run("clicks inspect log.csv --columns docid=sku");
    assert!(role.code() == 2 && role.err().contains("impression, session"), "{}", role.err());
    let gap = bench.run("clicks inspect log.csv --session-gap soon");
    assert!(gap.code() == 2 && gap.err().contains("30m"), "{}", gap.err());
}

#[test]
fn all_commands_on_logs_have_its_options() {
    let bench = Bench::new();
    let (mut table, mut lists) = ("search,keyword,sku,rank,bought\n".to_owned(), String::new());
    for page in 0..24 {
        let (query, first_clicked) = (page % 4, page % 3 > 0);
        let [first, second] = if page < 12 { ["a", "b"] } else { ["b", "a"] };
        let clicks = [u8::from(first_clicked), u8::from(!first_clicked)];
        table += &format!("r{page},q{query},{first},1,{}\n", clicks[0]);
        table += &format!("r{page},q{query},{second},2,{}\n", clicks[1]);
        let list = serde_json::json!({
            "request": format!("r{page}"), "query": format!("q{query}"), "method": "team-draft",
            "rankers": ["old", "new"], "documents": [first, second], "teams": [0, 1],
            "ranks": [[1, 2], [2, 1]], "lengths": [2, 2],
        });
        lists += &format!("{list}\n");
    }
    bench.put("log.csv", &table);
    bench.put("lists", &lists);
    let rows = (0..4).map(|query| format!("q{query},a,1,2\nq{query},b,0,1\n"));
    bench.put("data.csv", &format!("qid,docid,label,size\n{}", rows.collect::<String>()));
    bench.put("bias.txt", "1 1\n2 0.5\n");
    bench.run("train data.csv --learner linear(weights=size:1) --out m").ok();
    let columns =
        "--format csv --columns impression=search,query=keyword,document=sku,click=bought";
    let evaluate = "clicks evaluate log.csv m --features data.csv --bias bias.txt --metric dcg@2";
    let found = bench.run(&format!("{evaluate} {columns} --json")).json();
    assert_eq!(found["models"][0]["overlap"], 1.0);
    // Of three pages, two have a click on rank 1, which is a document of the old ranker.
    let found = bench.run(&format!("interleave score log.csv --lists lists {columns} --json"));
    assert_eq!(found.json()["comparisons"][0]["wins"], serde_json::json!([16, 8]));
    let report = "report clicks log.csv --test log.csv --models rank-ctr --min-shown 1 --samples 5";
    let found = bench.run(&format!("{report} {columns} --out page.html --json")).json();
    assert_eq!(found["title"], "Click log log.csv");
    let fit = "clicks fit log.csv --test log.csv --model rank-ctr";
    let found = bench.run(&format!("{fit} {columns} --json")).json();
    assert_eq!(found["test"]["impressions"], 24);
}

#[test]
fn an_estimated_examination_has_the_options_of_the_bias() {
    let bench = Bench::new();
    let mut log = String::new();
    // Of three pages, two have a click on rank 1; a document is three times at each rank.
    for page in 0..24 {
        let docs = if page < 12 { r#"["a", "b"]"# } else { r#"["b", "a"]"# };
        let clicks = if page % 3 > 0 { "[1, 0]" } else { "[0, 1]" };
        log += &format!(
            "{{\"query\": \"q{}\", \"docs\": {docs}, \"clicks\": {clicks}, \"ranker\": \"shuffled\", \"device\": \"phone\"}}\n",
            page % 4
        );
    }
    bench.put("log.jsonl", &log);
    let rows = (0..4).map(|query| format!("q{query},a,1,2\nq{query},b,0,1\n"));
    bench.put("data.csv", &format!("qid,docid,label,size\n{}", rows.collect::<String>()));
    bench.run("train data.csv --learner linear(weights=size:1) --out m").ok();
    for command in [
        "clicks labels log.jsonl --from ips --features data.csv --out labels.csv --json",
        "clicks evaluate log.jsonl m --features data.csv --metric dcg@2 --json",
    ] {
        for (estimator, option) in
            [("randomised", "--random-ranker shuffled"), ("swap", "--min-shown 3")]
        {
            let line = format!("{command} --bias-estimator {estimator}");
            let refused = bench.run(&line);
            assert!(refused.code() == 1, "{line}: {}", refused.out());
            let found = bench.run(&format!("{line} {option}")).json();
            let second = found["examination"][1].as_f64().unwrap();
            assert!((second - 0.5).abs() < 1e-9, "{line}: {found}");
        }
    }
    // A group of pages without a known document is refused by the features alone.
    let page =
        "{\"query\": \"z\", \"docs\": [\"x\", \"y\"], \"clicks\": [1, 1], \"device\": \"tv\"}\n";
    bench.put("log.jsonl", &(log + page));
    let line = "clicks bias log.jsonl --features data.csv --estimator regression-em,click-rate";
    let found = bench.run(&format!("{line} --by device --samples 0 --json")).json();
    let groups = found["groups"].as_array().unwrap();
    let refusals: Vec<(&str, bool, bool)> = groups
        .iter()
        .map(|group| {
            let is_refused = |place: usize| !group["estimates"][place]["refusal"].is_null();
            (group["value"].as_str().unwrap(), is_refused(0), is_refused(1))
        })
        .collect();
    assert_eq!(refusals, [("phone", false, false), ("tv", true, false)], "{found}");
}

#[test]
fn a_fit_has_the_perplexity_of_each_rank() {
    let bench = log();
    let fit = "clicks fit log.jsonl --model pbm(iterations=20)";
    let found = bench.run(&format!("{fit} --test log.jsonl --json")).json();
    let text = bench.run(&format!("{fit} --test log.jsonl")).ok().out();
    assert!(text.contains("test conditional perplexity"), "{text}");
    for (rank, value) in
        found["fitted"]["perplexity_by_rank"].as_array().unwrap().iter().enumerate()
    {
        let value = format!("{:.4}", value.as_f64().unwrap());
        let row =
            text.lines().find(|line| line.trim_start().starts_with(&format!("{} ", rank + 1)));
        assert!(row.is_some_and(|row| row.matches(&value).count() >= 2), "{rank} {value}: {text}");
    }
    assert!(!bench.run(fit).ok().out().contains("test "));
}

/// Clicks become numbers that features take: of a document of a query by a run, of a query by the
/// file of queries, and of a document by a field of the collection.
#[test]
fn clicks_are_counted_for_features() {
    let bench = Bench::new();
    let page = |query: &str, docs: &str, clicks: &str| {
        format!("{{\"query\": \"{query}\", \"docs\": {docs}, \"clicks\": {clicks}}}\n")
    };
    let log = page("jazz", r#"["a", "b"]"#, "[0, 1]")
        + &page("jazz", r#"["a", "b"]"#, "[1, 1]")
        + &page("sea", r#"["b"]"#, "[0]");
    bench.put("log.jsonl", &log);
    bench.run("clicks counts log.jsonl --run rate --out rate.run").ok();
    assert_eq!(
        bench.text("rate.run"),
        "jazz Q0 b 1 1 rate\njazz Q0 a 2 0.5 rate\nsea Q0 b 1 0 rate\n"
    );
    let result = bench.run("clicks counts log.jsonl --by query --out queries.tsv").ok().out();
    assert!(
        result.contains("queries.tsv: 2 queries, from 3 impressions with 3 clicks"),
        "{result}"
    );
    let result =
        bench.run("clicks counts log.jsonl --by document --min 3 --out d.jsonl --json").json();
    assert_eq!((&result["written"], &result["too_rare"]), (&1.into(), &1.into()));
    assert!(bench.text("d.jsonl").starts_with(r#"{"id":"b","impressions":3,"clicks":2,"#));
    let documents = r#"{"id": "a", "text": "jazz by the sea"}
{"id": "b", "text": "jazz and sea"}
"#;
    bench.put("documents.jsonl", documents).put("qrels", "jazz 0 a 1\n");
    bench.run("index documents.jsonl --out web").ok();
    let features = "run(file=rate.run), query-number(field=clicks)";
    let line = "features|web|--queries|queries.tsv|--qrels|qrels|--out|f.csv|--features";
    bench.run(&format!("{line}|{features}")).ok();
    let table = bench.text("f.csv");
    let of_a = table.lines().find(|row| row.contains("jazz,a,")).unwrap_or_default();
    assert!(of_a.ends_with(",0.5,3") || of_a.ends_with(",0.5,3.0"), "{table}");
    let both = bench.run("clicks counts log.jsonl --run rate --by query --out x");
    assert!(both.code() == 2 && both.err().contains("--by"), "{}", both.err());
}

/// A conversion that is killed without a warning leaves the whole file of before, or the whole new one.
#[test]
fn a_killed_conversion_leaves_no_half_file() {
    let bench = Bench::new();
    let mut log = String::new();
    for page in 0..60_000 {
        let (query, clicked) = (page % 977, page % 3);
        let flags: Vec<u8> = (0..3).map(|rank| u8::from(rank == clicked)).collect();
        log += &format!(
            "{{\"query\":\"q{query}\",\"docs\":[\"a\",\"b\",\"c\"],\"clicks\":{flags:?}}}\n"
        );
    }
    bench.put("log.jsonl", &log).put("out.jsonl", "before\n");
    let begun = std::time::Instant::now();
    bench.run("clicks convert log.jsonl --to ubi --out whole.jsonl").ok();
    let time = begun.elapsed();
    let whole = bench.text("whole.jsonl");
    let mut killed = 0;
    for moment in 1..=10 {
        let words = ["clicks", "convert", "log.jsonl", "--to", "ubi", "--out", "out.jsonl"];
        let mut converting = command(&bench, &words);
        let null = std::process::Stdio::null;
        let mut converting = converting.stdout(null()).stderr(null()).spawn().unwrap();
        std::thread::sleep(time * moment / 11);
        killed += u32::from(converting.try_wait().unwrap().is_none());
        converting.kill().unwrap();
        converting.wait().unwrap();
        let found = bench.text("out.jsonl");
        assert!(found == "before\n" || found == whole, "{} bytes", found.len());
    }
    assert!(killed >= 3, "{killed}");
    bench.run("clicks convert log.jsonl --to ubi --out out.jsonl").ok();
    assert!(bench.text("out.jsonl") == whole);
    let files = std::fs::read_dir(bench.path("")).unwrap().count();
    assert_eq!(files, 3, "no temporary file is left");
}
