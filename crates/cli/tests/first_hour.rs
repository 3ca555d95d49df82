//! The first hour of a new user with own tables: errors with lines to paste, new texts in
//! later data, and texts instead of numbers in explanations.

use crate::common::Bench;

/// Rows of a shop with a text and a number; the label depends on both.
fn shop_rows(queries: usize, brands: &[&str]) -> String {
    let mut text = String::from("qid,label,brand,price\n");
    for query in 0..queries {
        for document in 0..12 {
            let (brand, price) =
                ((query + document) % brands.len(), (query * 7 + document * 5) % 50);
            let label = usize::from(brand % 2 == 0) * 2 + usize::from(price < 20);
            text += &format!("q{query},{label},{},{price}\n", brands[brand]);
        }
    }
    text
}

/// A folder with a table, a later table with two brands that the first does not have, and models.
fn shop() -> Bench {
    let bench = Bench::new();
    bench.put("train.csv", &shop_rows(40, &["acme", "best", "core", "dual"]));
    bench.put("later.csv", &shop_rows(10, &["acme", "zeta", "core", "eta"]));
    bench.run("train|train.csv|--learner|lambdamart(trees=20)|--out|m.model|--quiet").ok();
    bench
}

/// The flag that the help of a failed command names.
fn flag_to_paste(error: &str) -> String {
    let help = error.lines().find_map(|line| line.trim_start().strip_prefix("help: "));
    let (_, flag) = help.unwrap_or_else(|| panic!("{error}")).split_once("--columns ").unwrap();
    format!("--columns {flag}")
}

#[test]
fn texts_that_the_model_does_not_know_are_counted_and_named() {
    let bench = shop();
    let expected = "column 'brand': 60 values are not among the known categories and are read as missing: \
                    'zeta', 'eta' (first: later.csv:3)";
    for line in [
        "score m.model later.csv",
        "eval m.model later.csv",
        "compare later.csv m.model",
        "explain m.model later.csv --query q1",
    ] {
        let error = bench.run(line).ok().err();
        assert!(error.contains(expected), "{line}: {error}");
    }
    let found = bench.run("score m.model later.csv --json").json();
    let warning = &found["warnings"][0];
    assert_eq!((&warning["kind"], &warning["count"]), (&"unseen-categories".into(), &60.into()));
    assert_eq!(warning["examples"], serde_json::json!(["zeta", "eta"]));
    assert_eq!(warning["first"]["line"], 3);
    // The same from tables of other kinds, and from a cache with numbers of its own.
    for file in ["later.jsonl", "later.parquet", "later.rwd"] {
        bench.run(&format!("data convert later.csv {file}")).ok();
        let error = bench.run(&format!("score m.model {file}")).ok().err();
        let message = expected.split(" (first").next().unwrap();
        assert!(error.contains(message), "{file}: {error}");
    }
    // Nothing is said of known texts and of empty cells.
    bench.put("known.csv", "qid,label,brand,price\nq,1,acme,3\nq,0,,3\nq,0,NULL,4\n");
    let error = bench.run("eval m.model known.csv").ok().err();
    assert!(!error.contains("known categories"), "{error}");
}

#[test]
fn models_with_other_categories_are_compared_by_all_their_texts() {
    let bench = shop();
    bench.put("new.csv", &shop_rows(40, &["acme", "zeta", "core", "eta"]));
    bench.run("train|new.csv|--learner|lambdamart(trees=20)|--out|new.model|--quiet").ok();
    let ndcg = |line: &str| bench.run(&format!("{line} --metric ndcg@10 --json")).json();
    let alone = ndcg("eval new.model later.csv")["metrics"][0]["value"].clone();
    let compared = ndcg("compare later.csv m.model new.model");
    assert_eq!(compared["metrics"][0]["systems"][1]["value"], alone, "{compared}");
    let error = bench.run("compare later.csv m.model new.model").ok().err();
    assert!(error.contains("60 values are not among the known categories"), "{error}");
}

#[test]
fn two_possible_labels_are_both_named_and_neither_becomes_a_feature() {
    let bench = Bench::new();
    let rows: String = (0..40).map(|n| format!("{},{},{},{n}\n", n / 8, n % 3, n % 4)).collect();
    bench.put("t.csv", &format!("qid,rating,score,price\n{rows}"));
    let error = bench.run("data inspect t.csv").err();
    assert!(error.contains("both 'rating' and 'score' could be the label"), "{error}");
    for flag in ["--columns label=rating,ignore=score", "--columns label=score,ignore=rating"] {
        assert!(error.lines().any(|line| line.trim() == flag), "{error}");
        let found = bench.run(&format!("data inspect t.csv {flag} --json")).json();
        assert_eq!(found["features"], 1, "{found}");
    }
}

#[test]
fn lines_to_paste_are_quoted_and_keep_the_roles_that_were_given() {
    let bench = Bench::new();
    // Names with a blank, a comma, a plus, an apostrophe and a double quote.
    let header = "\"sess ion\",\"rele,vance\",\"it's a+b\",\"5\"\" disk\",\"free text\"\n";
    let row = |n: usize| format!("s{},{},{n},{},\"some text {n}\"\n", n / 10, n % 3, n % 5);
    let rows: String = (0..100).map(row).collect();
    bench.put("t.csv", &format!("{header}{rows}"));
    let roles = "--columns 'qid=sess ion,label=\"rele,vance\"'";
    let error = bench.shell(&format!("rankwright data inspect t.csv {roles}")).err();
    let flag = flag_to_paste(&error);
    assert!(flag.contains("sess ion") && flag.contains("ignore=free text"), "{error}");
    let found = bench.shell(&format!("rankwright data inspect t.csv {flag} --json")).json();
    assert_eq!(found["features"], 2, "{found}");
    // A cell that is no number, in a column that must be numbers: the flag keeps all roles.
    let late = format!("{header}{}", rows.replace("s9,0,99,", "s9,0,ninety,"));
    bench.put("late.csv", &late);
    let numbers =
        "--columns 'qid=sess ion,label=\"rele,vance\",number=\"it'\\''s a+b\",ignore=free text'";
    let error = bench.shell(&format!("rankwright data inspect late.csv {numbers}")).err();
    let flag = flag_to_paste(&error);
    let found = bench.shell(&format!("rankwright data inspect late.csv {flag} --json")).json();
    assert_eq!(found["features"], 1, "{flag}: {found}");
    // An object of JSON lines.
    bench.put(
        "t.jsonl",
        "{\"qid\":1,\"label\":1,\"a\":2}\n{\"qid\":1,\"label\":0,\"a\":1,\"b'c\":{}}\n",
    );
    let error = bench.shell("rankwright data inspect t.jsonl").err();
    let flag = flag_to_paste(&error);
    let found = bench.shell(&format!("rankwright data inspect t.jsonl {flag} --json")).json();
    assert_eq!(found["features"], 1, "{flag}: {found}");
}

#[test]
fn explanations_and_drawings_show_texts_of_categories() {
    let bench = shop();
    let text = bench.run("explain m.model train.csv --query q1").ok().out();
    assert!(text.contains(" acme ") && text.contains(" core "), "{text}");
    let found = bench.run("explain m.model train.csv --query q1 --pair 12 13 --json").json();
    let parts = found["documents"][0]["contributions"].as_array().unwrap();
    let brand = parts.iter().find(|part| part["feature"] == "brand").unwrap();
    assert!(["acme", "core"].contains(&brand["text"].as_str().unwrap()), "{brand}");
    let parts = found["pair"]["contributions"].as_array().unwrap();
    let brand = parts.iter().find(|part| part["feature"] == "brand").unwrap();
    assert_eq!(brand["texts"], serde_json::json!(["best", "core"]), "{brand}");
    let text = bench.run("explain m.model train.csv --dependence brand").ok().out();
    assert!(text.lines().any(|line| line.trim_start().starts_with("dual ")), "{text}");
    let text = bench.run("model inspect m.model --tree 1").ok().out();
    assert!(text.contains("brand in {best}?"), "{text}");
    bench.run("explain m.model train.csv --dependence brand --html e.html").ok();
    assert!(bench.text("e.html").contains("brand: category and contribution"));
}

#[test]
fn trees_of_a_start_model_count_and_it_is_named_where_it_takes_categories_as_numbers() {
    let bench = shop();
    let start =
        "train|train.csv|--start|m.model|--learner|lambdamart(trees=5, leaves=2)|--out|n.model";
    let text = bench.run(start).ok().out();
    let line = text.lines().find(|line| line.starts_with("trees")).unwrap();
    // Leaves of all 25 trees, most of which have more than two.
    assert!(line.contains("25, ") && !line.contains("2.0 leaves"), "{line}");
    bench.run("train train.csv --learner linear-regression --out linear.model").ok();
    let sum = "train|train.csv|--start|linear.model|--learner|lambdamart(trees=5)|--out|sum.model";
    let error = bench.run(sum).ok().err();
    assert!(error.contains("the start model takes the numbers of categories"), "{error}");
    let error = bench.run("model convert sum.model --to lightgbm --out sum.txt").err();
    assert!(error.contains("a sum of a linear model and the trees"), "{error}");
    assert!(error.contains("without a start model"), "{error}");
    // Trees of a table with texts test categories, which ONNX does not have.
    let error = bench.run("model convert sum.model --to onnx --out sum.onnx").err();
    assert!(error.contains("tests categories"), "{error}");
}

#[test]
fn a_learner_that_needs_labels_besides_pairs_says_so() {
    let bench = Bench::new();
    let pairs = |learner: &str| {
        let text = bench.run(&format!("list learners {learner}")).ok().out();
        text.lines().find(|line| line.starts_with("preference pairs")).unwrap().to_owned()
    };
    assert_eq!(pairs("lambdamart"), "preference pairs: yes, together with labels");
    assert_eq!(pairs("rankmart"), "preference pairs: yes");
    assert_eq!(pairs("mart"), "preference pairs: no");
}
