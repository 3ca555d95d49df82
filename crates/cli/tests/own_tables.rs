//! Tables of users: roles that are typed once, texts and times as features, and notes on guesses.

use rankwright::data::Random;

use crate::common::Bench;

/// A log of a shop: the label depends on the brand, on the hour and on the price.
fn log(sessions: std::ops::Range<usize>) -> String {
    let mut text = String::from("session,stars,product_id,title,brand,price,in_stock,added\n");
    for session in sessions {
        let mut random = Random::new(session as u64, 0);
        for product in 0..15 {
            let brand = random.below(30);
            let (price, hour, day) = (random.below(1000), random.below(24), random.below(28));
            let liked = [3, 7, 12, 20, 21, 28].contains(&brand);
            let noise = random.below(3);
            let stars = usize::from(liked) * 2 + usize::from(hour >= 18) + usize::from(price < 300);
            let stars = (stars + noise).saturating_sub(1).min(4);
            text += &format!(
                "s{session},{stars},{},\"Product {session}, {product}\",brand {brand},{}.50,{},2026-03-{:02} {hour:02}:15:00\n",
                session * 100 + product,
                price,
                product % 3 == 0,
                day + 1
            );
        }
    }
    text
}

fn ndcg(bench: &Bench, model: &str, data: &str) -> f64 {
    let found = bench.run(&format!("eval {model} {data} --metric ndcg@10 --json")).json();
    let text = found.to_string();
    found["metrics"][0]["value"].as_f64().unwrap_or_else(|| panic!("{text}"))
}

fn shop() -> Bench {
    let bench = Bench::new();
    bench.put("train.csv", &log(0..200)).put("test.csv", &log(500..600));
    bench
}

#[test]
fn an_error_has_a_line_to_paste_which_works() {
    let bench = shop();
    let ran = bench.run("data inspect train.csv");
    assert_eq!(ran.code(), 1);
    let error = ran.err();
    let line = error.lines().find_map(|line| line.trim_start().strip_prefix("help: ")).unwrap();
    let (_, columns) = line.split_once("--columns ").unwrap();
    assert_eq!(columns, "label=stars,ignore=title", "{error}");
    let found = bench.run(&format!("data inspect train.csv --json --columns {columns}")).json();
    let column = |name: &str| {
        let columns = found["columns"].as_array().unwrap();
        columns.iter().find(|column| column["name"] == name).unwrap().clone()
    };
    assert_eq!(column("session")["role"], "qid");
    assert_eq!(column("product_id")["role"], "docid");
    assert_eq!(
        (&column("brand")["values"], &column("brand")["categories"]),
        (&"category".into(), &30.into())
    );
    assert_eq!(column("added")["parts"], serde_json::json!(["days", "hour", "weekday"]));
    assert_eq!(column("title")["role"], "ignore");
    let kinds: Vec<&str> =
        found["warnings"].as_array().unwrap().iter().map(|w| w["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"guessed-qid") && kinds.contains(&"guessed-docid"), "{kinds:?}");
    let text = bench.run(&format!("data inspect train.csv --columns {columns}")).ok().out();
    assert!(text.contains("30 categories"), "{text}");
}

#[test]
fn a_brand_and_a_time_raise_the_quality_and_roles_are_typed_once() {
    let bench = shop();
    let learner = "--learner|lambdamart(trees=60, leaves=15)";
    let train = |columns: &str, out: &str| {
        bench
            .run(&format!("train|train.csv|--columns|{columns}|{learner}|--out|{out}|--quiet"))
            .ok();
    };
    train("label=stars,ignore=title", "all.model");
    train("label=stars,ignore=title+brand+added", "numbers.model");
    // The roles and the texts are in the model.
    let all = ndcg(&bench, "all.model", "test.csv");
    let numbers = ndcg(&bench, "numbers.model", "test.csv");
    assert!(all > numbers + 0.05, "{all} with texts and times, {numbers} without");

    // The same rows have the same scores in every format, with other category numbers too.
    bench.run("score all.model test.csv --out csv.txt").ok();
    for name in ["test.parquet", "test.arrow", "test.jsonl", "test.rwd", "again.csv"] {
        bench.run(&format!("data convert test.csv {name} --columns label=stars,ignore=title")).ok();
        bench.run(&format!("score all.model {name} --out other.txt")).ok();
        assert_eq!(bench.text("other.txt"), bench.text("csv.txt"), "{name}");
    }
    // A cache keeps the roles: nothing is typed again.
    bench.run("data convert train.csv train.rwd --columns label=stars,ignore=title").ok();
    bench.run(&format!("train|train.rwd|{learner}|--out|cache.model|--quiet")).ok();
    assert_eq!(
        std::fs::read(bench.path("cache.model")).unwrap(),
        std::fs::read(bench.path("all.model")).unwrap()
    );
}

#[test]
fn scoring_needs_no_label_and_new_texts_are_missing_values() {
    let bench = shop();
    bench
        .run("train|train.csv|--columns|label=stars,ignore=title|--learner|lambdamart(trees=20)|--out|m.model|--quiet")
        .ok();
    let header = "session,product_id,title,brand,price,in_stock,added\n";
    let row = |brand: &str| format!("q,{},x,{brand},10,true,2026-03-05 20:00:00\n", brand.len());
    bench.put("new.csv", &format!("{header}{}{}{}", row("never seen"), row(""), row("brand 7")));
    bench.run("score m.model new.csv --out scores.txt").ok();
    let scores = bench.text("scores.txt");
    let scores: Vec<&str> = scores.lines().collect();
    assert_eq!(scores[0], scores[1], "a text that the model does not know is missing");
    assert_ne!(scores[0], scores[2]);
    let ran = bench.run("eval m.model new.csv");
    assert!(ran.err().contains("no column is recognised as the label"), "{}", ran.err());
}

#[test]
fn data_without_queries_is_one_list() {
    let bench = Bench::new();
    let rows: String = (0..60).map(|n| format!("{},{},{}\n", n % 3, n % 7, n)).collect();
    bench.put("list.csv", &format!("label,a,b\n{rows}"));
    let ran = bench.run("train list.csv --learner mart --out m.model");
    assert!(ran.err().contains("--columns qid=none"), "{}", ran.err());
    let found = bench.run("data inspect list.csv --columns qid=none --json").json();
    assert_eq!((&found["queries"], &found["rows"]), (&1.into(), &60.into()));
    // The model and the data cache keep it, so that it is given once.
    bench.run("train list.csv --columns qid=none --learner mart --out m.model").ok();
    let scored = bench.run("score m.model list.csv --json").ok().json();
    assert_eq!(scored["rows"], 60);
    bench.run("eval m.model list.csv --metric ndcg@10").ok();
    bench.run("data convert list.csv list.rwd --columns qid=none").ok();
    bench.run("train list.rwd --valid list.csv --learner mart --out n.model").ok();
    // Data with queries still has them.
    let queries: String = (0..60).map(|n| format!("{},{},{}\n", n / 20, n % 7, n)).collect();
    bench.put("queries.csv", &format!("qid,a,b\n{queries}"));
    let scored = bench.run("score m.model queries.csv --with-ids --json").ok().json();
    assert_eq!(scored["query_ids"][59], "2");
}

#[test]
fn learners_without_sets_of_categories_say_that_they_take_numbers() {
    let bench = shop();
    let said = |learner: &str, columns: &str| {
        let line = format!("train|train.csv|--columns|{columns}|--learner|{learner}|--out|m");
        bench.run(&line).ok().err()
    };
    let texts = "label=stars,ignore=title+added";
    for learner in [
        "linear-regression",
        "listnet(layers=4, epochs=2)",
        "blend(members=mart(trees=3)+linear-regression)",
        "random-forest(trees=3)",
    ] {
        let warning = said(learner, texts);
        let is_number = warning.contains("takes the numbers of categories as numbers");
        assert!(is_number && warning.contains("in 1 feature: brand"), "{learner}: {warning}");
        let warning = said(learner, "label=stars,ignore=title+added+brand");
        assert!(!warning.contains("categories"), "{learner}: {warning}");
    }
    for learner in ["lambdamart(trees=3)", "blend(members=mart(trees=3)+xendcg(trees=3))"] {
        let warning = said(learner, texts);
        assert!(!warning.contains("as numbers"), "{learner}: {warning}");
    }
}

#[test]
fn a_format_without_texts_is_said_when_a_model_is_converted() {
    let bench = shop();
    let train = |columns: &str| {
        let line = format!("train|train.csv|--columns|{columns}|--learner|mart(trees=3)|--out|m");
        bench.run(&line).ok();
    };
    train("label=stars,ignore=title");
    for (format, is_said) in [("lightgbm", true), ("rankwright", false)] {
        let ran = bench.run(&format!("model convert m --to {format} --out x --json")).ok();
        let found = ran.json();
        let warnings = found["warnings"].as_array().unwrap();
        let lost = warnings.iter().find(|warning| warning["kind"] == "table-columns-lost");
        assert_eq!(lost.is_some(), is_said, "{format}: {found}");
        let names = |one: &serde_json::Value| {
            one["message"].as_str().unwrap().ends_with("as numbers: brand")
        };
        assert!(lost.is_none_or(names), "{lost:?}");
    }
    train("label=stars,ignore=title+brand+added");
    let said = bench.run("model convert m --to lightgbm --out x").ok().err();
    assert!(said.contains("the roles of the table's columns") && !said.contains("texts"), "{said}");
}

#[test]
fn lines_are_counted_in_files_with_crlf() {
    let bench = Bench::new();
    bench.put("a.csv", "qid,label,x\r\n1,0,1\r\n1,bad,2\r\n");
    let error = bench.run("data inspect a.csv").err();
    assert!(error.contains("a.csv:3 (column 'label')"), "{error}");
}

#[test]
fn labels_that_are_too_large_for_an_exponential_gain_are_said() {
    let bench = Bench::new();
    let rows: String = (0..60).map(|n| format!("{},{},{}\n", n / 20, n % 5 * 20, n % 7)).collect();
    bench.put("a.csv", &format!("qid,label,x\n{rows}"));
    for line in ["data inspect a.csv", "train a.csv --learner lambdamart --out m.model"] {
        let ran = bench.run(line).ok();
        let said = ran.out() + &ran.err();
        assert!(said.contains("labels up to 80"), "{line}: {said}");
    }
}
