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
    let message = "(`qid=none` if all rows are one list)";
    assert!(ran.err().contains(message) && !ran.err().contains('?'), "{}", ran.err());
    let error = bench.run("cv list.csv --columns qid=none").err();
    assert!(error.contains("the rows of a query stay together"), "{error}");
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
    let warning_of = |learner: &str, columns: &str| {
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
        let warning = warning_of(learner, texts);
        let is_number = warning.contains("takes the numbers of categories as numbers");
        assert!(is_number && warning.contains("in 1 feature: brand"), "{learner}: {warning}");
        let warning = warning_of(learner, "label=stars,ignore=title+added+brand");
        assert!(!warning.contains("categories"), "{learner}: {warning}");
    }
    for learner in ["lambdamart(trees=3)", "blend(members=mart(trees=3)+xendcg(trees=3))"] {
        let warning = warning_of(learner, texts);
        assert!(!warning.contains("as numbers"), "{learner}: {warning}");
    }
}

#[test]
fn a_conversion_to_a_format_without_texts_gives_a_warning() {
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
    let message = bench.run("model convert m --to lightgbm --out x").ok().err();
    assert!(
        message.contains("the roles of the table's columns") && !message.contains("texts"),
        "{message}"
    );
}

#[test]
fn lines_are_counted_in_files_with_crlf() {
    let bench = Bench::new();
    bench.put("a.csv", "qid,label,x\r\n1,0,1\r\n1,bad,2\r\n");
    let error = bench.run("data inspect a.csv").err();
    assert!(error.contains("a.csv:3 (column 'label')"), "{error}");
}

#[test]
fn labels_that_are_too_large_for_an_exponential_gain_give_a_warning() {
    let bench = Bench::new();
    let rows: String = (0..60).map(|n| format!("{},{},{}\n", n / 20, n % 5 * 20, n % 7)).collect();
    bench.put("a.csv", &format!("qid,label,x\n{rows}"));
    for line in ["data inspect a.csv", "train a.csv --learner lambdamart --out m.model"] {
        let ran = bench.run(line).ok();
        let message = ran.out() + &ran.err();
        assert!(message.contains("labels up to 80"), "{line}: {message}");
    }
}

/// Another file numbers the texts of a column differently, and a file of numbers has no texts.
#[test]
fn features_matched_by_position_keep_the_categories_of_the_model() {
    let bench = shop();
    let columns = "--columns|label=stars,ignore=title";
    bench.run(&format!("train|train.csv|{columns}|--learner|mart(trees=9)|--out|m|--quiet")).ok();
    // Few rows, so that the frequencies of brands, and with them their numbers, are others.
    bench.put("few.csv", &log(700..703));
    bench.run("score m few.csv --out right.txt").ok();

    bench.run(&format!("data|convert|few.csv|few.letor|{columns}")).ok();
    let ran = bench.run("score m few.letor --match-by position --out wrong.txt");
    assert_eq!(ran.code(), 1);
    let error = ran.err();
    let message =
        "the feature 'brand' is a category with texts in the model, but has numbers without";
    assert!(error.contains(message) && error.contains("help: give the data as a table"), "{error}");
    assert!(!bench.path("wrong.txt").exists());

    // The same table with other names has texts, which get the numbers of the model.
    let renamed = bench.text("few.csv").replacen("brand", "marke", 1);
    bench.put("renamed.csv", &renamed);
    bench.run("score m renamed.csv --match-by position --columns label=stars,ignore=title --out by_position.txt").ok();
    assert_eq!(bench.text("by_position.txt"), bench.text("right.txt"));

    // The same for validation data and for a model that trees are added to.
    bench.run(&format!("data|convert|train.csv|train.rwd|{columns}")).ok();
    let learner = "--learner|mart(trees=3)|--match-by|position|--out|n";
    for line in [
        format!("train|train.rwd|--valid|few.letor|{learner}"),
        format!("train|few.letor|--start|m|{learner}"),
    ] {
        let error = bench.run(&line).err();
        assert!(error.contains("the feature 'brand'"), "{line}: {error}");
    }
}

#[test]
fn the_text_na_is_a_category_where_it_can_be_told_from_a_missing_value() {
    let bench = Bench::new();
    let countries = ["NA", "DE", "", "NA", "FR", "null", "NA", "DE"];
    let row = |(n, country): (usize, &&str)| format!("q{},{},{country},{n}\n", n / 4, n % 2);
    let rows: String = countries.iter().enumerate().map(row).collect();
    bench.put("a.csv", &format!("qid,label,country,x\n{rows}"));
    let categories = |ran: crate::common::Ran| {
        let found = ran.json();
        let column = found["columns"].as_array().unwrap().iter().find(|c| c["name"] == "country");
        column.unwrap()["categories"].as_u64().unwrap()
    };
    // A CSV file has no other way to write a missing value of a text.
    let ran = bench.run("data inspect a.csv").ok();
    let note = "column 'country': 4 values written 'NA', 'null', read as missing; the role \
                `category` keeps such a word as a text (first: a.csv:2)";
    assert!(ran.err().contains(note), "{}", ran.err());
    assert_eq!(categories(bench.run("data inspect a.csv --json")), 2);
    let kept = bench.run("data inspect a.csv --columns category=country --json").ok();
    assert!(!kept.out().contains("missing-values"), "{}", kept.out());
    assert_eq!(categories(kept), 4);
    // Types of columns tell a text from a missing value.
    for (name, format) in [("a.parquet", "parquet"), ("a.jsonl", "jsonl"), ("a.arrow", "arrow")] {
        bench
            .run(&format!("data convert a.csv {name} --columns category=country --to {format}"))
            .ok();
        let ran = bench.run(&format!("data inspect {name} --json")).ok();
        assert!(!ran.out().contains("missing-values"), "{name}: {}", ran.out());
        assert_eq!(categories(ran), 4, "{name}");
    }
    let lines: String = countries
        .iter()
        .map(|c| format!("{{\"qid\":1,\"label\":1,\"x\":\"NaN\",\"country\":\"{c}\"}}\n"))
        .collect();
    bench.put("texts.jsonl", &lines);
    assert_eq!(categories(bench.run("data inspect texts.jsonl --json")), 4);
    // A model that knows the text takes it from a CSV file too.
    let line = "train|a.parquet|--learner|mart(trees=2, leaves=3, min_rows=1)|--out|m";
    bench.run(line).ok();
    bench.run("score m a.csv --out csv.txt").ok();
    bench.run("score m a.parquet --out parquet.txt").ok();
    assert_eq!(bench.text("csv.txt"), bench.text("parquet.txt"));
}

#[test]
fn dates_are_read_in_the_order_that_the_column_shows() {
    let bench = Bench::new();
    let table = |date: &dyn Fn(usize) -> String| {
        let row = |n: usize| format!("q{},{},{},{n}\n", n / 10, n % 2, date(n));
        format!("qid,label,seen,x\n{}", (0..200).map(row).collect::<String>())
    };
    let day = |n: usize| (n % 28 + 1, n % 12 + 1);
    bench.put("iso.csv", &table(&|n| format!("2025-{:02}-{:02}", day(n).1, day(n).0)));
    bench.put("dots.csv", &table(&|n| format!("{}.{}.2025", day(n).0, day(n).1)));
    bench.put("american.csv", &table(&|n| format!("{:02}/{:02}/2025", day(n).1, day(n).0)));
    bench.put("british.csv", &table(&|n| format!("{:02}/{:02}/2025", day(n).0, day(n).1)));
    bench.put("either.csv", &table(&|n| format!("{}/{}/2025", n % 12 + 1, n % 11 + 1)));
    bench.run("data convert iso.csv iso.txt").ok();
    for (name, note) in [
        ("dots", None),
        ("american", Some("column 'seen' is read as dates with the month first")),
        ("british", Some("column 'seen' is read as dates with the day first")),
    ] {
        let ran = bench.run(&format!("data convert {name}.csv {name}.txt")).ok();
        assert_eq!(bench.text(&format!("{name}.txt")), bench.text("iso.txt"), "{name}");
        let message = ran.err();
        assert!(note.is_none_or(|note| message.contains(note)), "{name}: {message}");
    }
    let error = bench.run("data inspect either.csv").err();
    assert!(error.contains("either the day or the month may come first"), "{error}");
    assert!(error.contains("help: write these values differently; or give the roles"), "{error}");
    // A model keeps the order, so that few rows are read as the many of the training.
    let learner = "--learner|mart(trees=3, min_rows=1)|--out|m";
    bench.run(&format!("train|american.csv|{learner}")).ok();
    bench
        .put("new.csv", "qid,seen,x\nq,03/04/2025,1\n")
        .put("new-iso.csv", "qid,seen,x\nq,2025-03-04,1\n");
    bench.run("score m new.csv --out a.txt").ok();
    bench.run("score m new-iso.csv --out b.txt").ok();
    assert_eq!(bench.text("a.txt"), bench.text("b.txt"));
}

/// Regression: the error only said that the first file does not exist.
#[test]
fn files_of_conversions_in_the_wrong_order_are_named() {
    let bench = Bench::new();
    bench.put("a.csv", "qid,label,x\n1,0,2\n1,1,3\n");
    bench.run("train|a.csv|--learner|mart(trees=1, min_rows=1)|--out|m.model").ok();
    for (line, hint) in [
        ("data convert b.rwd a.csv", "rankwright data convert a.csv b.rwd"),
        ("model convert m.txt m.model --to lightgbm", "rankwright model convert m.model m.txt"),
    ] {
        let error = bench.run(line).err();
        assert!(error.contains("the file to write comes last") && error.contains(hint), "{error}");
    }
    let missing = bench.run("data convert none.csv b.rwd").err();
    assert!(!missing.contains("comes last"), "{missing}");
}

/// Regression: the line to paste had `qid=?,label=?`, and named no column that could be meant.
#[test]
fn every_suggested_command_can_be_pasted() {
    let bench = Bench::new();
    let row = |n: usize| format!("{},{},s{}\n", n * 7 % 10, n % 3, n % 9);
    let rows: String = (0..90).map(row).collect();
    bench.put("a.csv", &format!("preis,bewertung,suche\n{rows}"));
    let error = bench.run("data inspect a.csv").err();
    let flags: Vec<&str> =
        error.lines().filter_map(|line| line.trim().strip_prefix("--columns ")).collect();
    let expected = [
        "qid=suche,label=bewertung",
        "qid=preis,label=bewertung",
        "qid=suche,label=preis",
        "qid=bewertung,label=preis",
    ];
    assert_eq!(flags, expected, "{error}");
    for flag in flags {
        bench.run(&format!("data inspect a.csv --columns {flag}")).ok();
    }
    let error = bench.run("data|inspect|a.csv|--columns|qid=?,label=bewertung").err();
    let message = "`qid=?` is to be replaced by the name of a column; the columns are 'preis'";
    assert!(error.contains(message) && error.contains("--columns qid=NAME"), "{error}");
}

#[test]
fn the_help_for_a_column_says_what_was_seen() {
    let bench = Bench::new();
    bench.put("price.csv", "qid,label,price\n1,0,€12\n1,1,\"1,234.50\"\n");
    bench.put("index.csv", ",qid,label,x\n0,1,0,3\n1,1,1,4\n");
    bench.put("unnamed.csv", "Unnamed: 0,qid,label,x\n0,1,0,3\n1,1,1,4\n");
    bench.put("label.csv", "qid,label,x\n1,0,3\n1,,4\n").put("words.csv", "qid,label,x\n1,bad,3\n");
    bench.put("spaces.csv", "qid,label,x\nq1,0,3\nq1 ,1,4\n");
    for (line, message) in [
        (
            "data inspect price.csv",
            "a currency sign, a percent sign or a thousands separator (the first, '€12', is at price.csv:2)",
        ),
        ("data inspect price.csv", "help: write these values differently; or give the roles"),
        ("data inspect index.csv", "index=False"),
        (
            "data inspect unnamed.csv",
            "column 'Unnamed: 0' has the row numbers of a data frame and is left out",
        ),
        ("data inspect label.csv", "help: leave out rows that nobody judged, or write 0"),
        ("data inspect words.csv", "help: write grades as numbers"),
        (
            "data inspect spaces.csv",
            "1 query id that differs from another only by spaces around it",
        ),
        ("data inspect label.csv --columns query=qid", "did you mean 'qid'?"),
        ("data inspect label.csv --columns qid=qdi", "did you mean 'qid'?"),
    ] {
        let error = bench.run(line).err();
        assert!(error.contains(message), "{line}: {error}");
    }
    let found = bench.run("data inspect unnamed.csv --json").json();
    assert_eq!(found["features"], 1, "{found}");
}

#[test]
fn an_unreadable_value_of_a_model_feature_is_to_be_corrected() {
    let bench = shop();
    let columns = "--columns|label=stars,ignore=title";
    bench.run(&format!("train|train.csv|{columns}|--learner|mart(trees=3)|--out|m|--quiet")).ok();
    let new = "session,product_id,title,brand,price,in_stock,added\n\
               q,1,x,brand 7,20 EUR,true,2026-03-05 20:00:00\n";
    bench.put("new.csv", new);
    let error = bench.run("score m new.csv").err();
    assert!(error.contains("found '20 EUR'") && !error.contains("ignore="), "{error}");
    assert!(error.contains("'price' is a feature of the model: write the value"), "{error}");
}

#[test]
fn a_german_spreadsheet_becomes_a_model_that_scores_it_and_its_english_form_alike() {
    let bench = Bench::new();
    let table = |row: fn(usize) -> [String; 6]| -> [String; 2] {
        let rows: Vec<[String; 6]> = (0..120).map(row).collect();
        let header = ["Session", "label", "Hotel-Nr", "Preis", "Ort", "Anreise"].map(str::to_owned);
        [';', ','].map(|delimiter| {
            let line = |cells: &[String; 6]| {
                let cell = |cell: &String| match cell.contains(delimiter) {
                    true => format!("\"{cell}\""),
                    false => cell.clone(),
                };
                let is_price = |at: usize| at == 3 && delimiter == ',';
                let cells = cells.iter().enumerate().map(|(at, text)| match is_price(at) {
                    true => text.replace(',', "."),
                    false => cell(text),
                });
                cells.collect::<Vec<_>>().join(&delimiter.to_string()) + "\r\n"
            };
            line(&header) + &rows.iter().map(line).collect::<String>()
        })
    };
    let [german, english] = table(|n| {
        let price = if n % 17 == 0 { String::new() } else { format!("{},{}", n * 7 % 90, n % 10) };
        let town = ["K\u{f6}ln", "Halle; Saale", "Bonn, Nord"][n % 3].to_owned();
        let time = format!("{}.{}.2025 {}:05", n % 28 + 1, n % 12 + 1, n % 24);
        let label = usize::from(n * 7 % 90 < 30) + usize::from(n % 3 == 1);
        [format!("s{}", n / 10), label.to_string(), format!("H-{}", n % 50), price, town, time]
    });
    bench.put("de.csv", &format!("\u{feff}{german}")).put("en.csv", &english);
    let ran = bench.run("data inspect de.csv --json").ok();
    let roles = ran.out();
    for part in ["\"Hotel-Nr\"", "\"docid\"", "\"category\"", "\"time\""] {
        assert!(roles.contains(part), "{part}: {roles}");
    }
    bench.run("train|de.csv|--learner|lambdamart(trees=20, min_rows=3)|--out|de.model").ok();
    let scores = |file: &str| bench.run(&format!("score de.model {file}")).ok().out();
    assert_eq!(scores("de.csv"), scores("en.csv"));
    let different: std::collections::HashSet<String> =
        scores("de.csv").lines().map(str::to_owned).collect();
    assert!(different.len() > 5, "{different:?}");
    // A thousand with a point is refused, not read as 1.
    bench.put("bad.csv", "Session;Hotel-Nr;Preis;Ort;Anreise\ns0;H-1;1,5;K\u{f6}ln;1.1.2025\ns0;H-2;1.234;K\u{f6}ln;1.1.2025\n");
    let refused = bench.run("score de.model bad.csv");
    assert_eq!(refused.code(), 1);
    assert!(
        refused.err().contains("'1.234', expected a number with a decimal comma"),
        "{}",
        refused.err()
    );
}
