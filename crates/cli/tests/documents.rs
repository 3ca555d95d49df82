//! Tests of updates of an index and of searches: additions, deletions, broken documents, query
//! syntax, suggestions, facets, hints, and fields of queries.

use serde_json::Value;

use crate::common::Bench;

const PRODUCTS: [&str; 6] = [
    r#"{"id": "p1", "title": "Wireless keyboard", "text": "A quiet keyboard without a cable.", "color": "Dark Green", "tags": ["office", "input"], "price": 49.5, "in_stock": true}"#,
    r#"{"id": "p2", "title": "Wireless mouse", "text": "A mouse for the keyboard.", "color": "black", "tags": ["office", "input"], "price": 19, "in_stock": true}"#,
    r#"{"id": "p3", "title": "Keyboard stand", "text": "Holds a keyboard or a wireless phone.", "color": "black", "tags": ["office"], "price": 15, "in_stock": false}"#,
    r#"{"id": "p4", "title": "Garden chair", "text": "A chair of wood for the garden.", "color": "Dark Green", "tags": ["garden"], "price": 75, "in_stock": true}"#,
    r#"{"id": "p5", "title": "Garden table", "text": "A table of wood.", "color": "brown", "tags": ["garden"], "price": 120, "in_stock": false}"#,
    r#"{"id": "p6", "title": "Desk lamp", "text": "Light for the keyboard.", "color": "black", "tags": ["office", "light"], "price": 30, "in_stock": true}"#,
];

/// A shop of six products, indexed.
fn shop() -> Bench {
    let bench = Bench::new();
    bench.put("products.jsonl", &PRODUCTS.map(|line| format!("{line}\n")).concat());
    bench.run("index|products.jsonl|--out|shop|--schema|color:category|--quiet").ok();
    bench
}

fn ids(found: &Value) -> String {
    let documents = found["documents"].as_array().unwrap();
    let mut ids: Vec<&str> = documents.iter().map(|hit| hit["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.join(" ")
}

fn kinds(result: &Value) -> Vec<&str> {
    let warnings = result["warnings"].as_array().map(Vec::as_slice).unwrap_or_default();
    warnings.iter().map(|warning| warning["kind"].as_str().unwrap()).collect()
}

#[test]
fn adding_says_what_changed_and_which_fields_are_not_indexed() {
    let bench = shop();
    let new = r#"{"id": "p7", "title": "Green lamp", "watts": 60}"#;
    let changed = PRODUCTS[1].replace("19", "17");
    bench.put("more.jsonl", &format!("{}\n{changed}\n{new}\n", PRODUCTS[0]));
    let ran = bench.run("index more.jsonl --out shop --add").ok();
    let message = "shop: 1 document added, 1 replaced, 1 unchanged; 7 documents now, in ";
    assert!(ran.out().starts_with(message), "{}", ran.out());
    let note = "field `watts` of 1 document is kept but not indexed, as the index does not have it";
    assert!(ran.err().contains(note) && ran.err().contains("--rebuild"), "{}", ran.err());
    let again = bench.run("index more.jsonl --out shop --add --json").json();
    let counts =
        ["added", "replaced", "unchanged", "total"].map(|key| again[key].as_u64().unwrap());
    assert_eq!(counts, [0, 0, 3, 7]);
    assert_eq!(kinds(&again), [""; 0]);
}

#[test]
fn a_word_among_prices_is_noted() {
    let bench = Bench::new();
    let line = |id: usize, price: &str| {
        format!("{{\"id\": \"{id}\", \"title\": \"a lamp\", \"price\": \"{price}\"}}\n")
    };
    let prices: String = (0..50).map(|id| line(id, &format!("{id}.99"))).collect();
    bench.put("docs.jsonl", &(prices + &line(50, "n/a")));
    let ran = bench.run("index docs.jsonl --out shop").ok();
    let note = "field `price` is text, as 1 of its 51 values is no number, such as 'n/a'";
    assert!(ran.err().contains(note), "{}", ran.err());
    assert!(ran.err().contains("--schema 'price:number'"), "{}", ran.err());
    let ran = bench.run("index|docs.jsonl|--out|shop|--rebuild|--schema|price:number").ok();
    let note = "field `price`: 1 value that is no number counted as absent, such as 'n/a'";
    assert!(ran.err().contains(note) && !ran.err().contains("is text"), "{}", ran.err());
}

#[test]
fn codes_with_a_zero_in_front_stay_as_they_are() {
    let bench = Bench::new();
    let line = |id: &str, zip: &str| {
        format!(
            "{{\"id\": \"{id}\", \"title\": \"a lamp\", \"zip\": \"{zip}\", \"size\": \"{id}\"}}\n"
        )
    };
    bench.put("docs.jsonl", &(line("1", "01234") + &line("2", "1234") + &line("3", "10115")));
    let ran = bench.run("index docs.jsonl --out shop").ok();
    let note = "field `zip` has codes such as '01234', whose first zero a number would lose: it is a \
                category";
    assert!(
        ran.err().contains(note) && ran.err().contains("--schema 'zip:number'"),
        "{}",
        ran.err()
    );
    assert!(!ran.err().contains("`size`"), "{}", ran.err());
    let found = bench.run("search shop lamp --filter zip:01234 --json").json();
    assert_eq!(ids(&found), "1");
    let ran = bench.run("index|docs.jsonl|--out|shop|--rebuild|--schema|zip:number|--json").json();
    assert_eq!(kinds(&ran), [""; 0]);
    let found = bench.run("search shop lamp --filter zip:1234 --json").json();
    assert_eq!(ids(&found), "1 2");
}

#[test]
fn documents_are_deleted_by_id_and_by_filter() {
    let bench = shop();
    let ran = bench.run("index --out shop --delete p1 p2 nobody").ok();
    assert!(
        ran.out().starts_with("shop: 2 documents deleted, 4 documents left, in "),
        "{}",
        ran.out()
    );
    assert!(ran.err().contains("1 document to delete not in the index: 'nobody'"), "{}", ran.err());
    let ran = bench.run("index|--out|shop|--delete-where|tags:garden AND price>100|--json").json();
    assert_eq!((&ran["deleted"], &ran["total"]), (&1.into(), &3.into()));
    assert_eq!(ids(&bench.run("search shop keyboard garden --json").json()), "p3 p4 p6");
    let wrong = bench.run("index --out shop --delete-where prize>100");
    assert!(wrong.code() == 1 && wrong.err().contains("did you mean `price`?"), "{}", wrong.err());
    let none = bench.run("index|--out|shop|--delete-where|price:[75 TO 20]").ok();
    assert!(none.err().contains("lies above the second one"), "{}", none.err());
    // Ids and a filter: the documents of both.
    let both = bench.run("index|--out|shop|--delete|p3|--delete-where|price:*|--json").json();
    assert_eq!(both["total"], 0, "{both}");
    assert_eq!(bench.run("index products.jsonl --out shop --delete p3").code(), 2);
    assert_eq!(bench.run("index --out shop --add --delete p3").code(), 2);
    assert_eq!(bench.run("index --out shop").code(), 2);
    let nothing = bench.run("index --out nowhere --delete p3");
    assert!(nothing.err().contains("there is no index in nowhere"), "{}", nothing.err());
}

#[test]
fn broken_documents_are_skipped_on_request() {
    let bench = Bench::new();
    let lines = [PRODUCTS[0], "{\"id\": \"x\", ", PRODUCTS[1], "{\"title\": \"no id\"}", "[1, 2]"];
    bench.put("some.jsonl", &lines.join("\n"));
    let refused = bench.run("index some.jsonl --out shop");
    assert!(refused.code() == 1 && refused.err().contains("some.jsonl:2"), "{}", refused.err());
    assert!(refused.err().contains("--skip-broken"), "{}", refused.err());
    let ran = bench.run("index some.jsonl --out shop --skip-broken").ok();
    assert!(ran.out().starts_with("shop: 2 documents in "), "{}", ran.out());
    for message in [
        "3 broken documents skipped:",
        "some.jsonl:2:",
        "some.jsonl:4: found no id",
        "some.jsonl:5",
    ] {
        assert!(ran.err().contains(message), "{message}: {}", ran.err());
    }
    let json = bench.run("index some.jsonl --out shop --skip-broken --rebuild --json").json();
    assert_eq!(json["skipped"]["documents"], 3);
    assert_eq!(json["skipped"]["first"][1]["location"]["line"], 4);
    bench.put("bad.csv", "id,title\na,one\nb,two,three\nc,four\n");
    let json = bench.run("index bad.csv --out table --skip-broken --json").json();
    assert_eq!((&json["total"], &json["skipped"]["documents"]), (&2.into(), &1.into()));
    bench.put("all.jsonl", "{\n{\n");
    let all = bench.run("index all.jsonl --out none --skip-broken");
    assert!(
        all.code() == 1 && all.err().contains("none of 2 documents can be read"),
        "{}",
        all.err()
    );
}

#[test]
fn empty_files_and_wrong_schemas_are_refused_with_advice() {
    let bench = shop();
    bench.put("empty.jsonl", "\n\n");
    let empty = bench.run("index empty.jsonl --out other");
    assert_eq!(empty.code(), 1);
    assert!(empty.err().contains("there are no documents: the input is empty"), "{}", empty.err());
    let wrong = bench.run("index products.jsonl --out other --schema colour:category");
    assert_eq!(wrong.code(), 1);
    assert!(
        wrong.err().contains("the schema names a field `colour`, but no document has it"),
        "{}",
        wrong.err()
    );
    assert!(wrong.err().contains("did you mean `color`?"), "{}", wrong.err());
    let added = bench.run("index empty.jsonl --out shop --add").ok();
    assert!(added.out().contains("0 documents added"), "{}", added.out());
}

#[test]
fn lost_values_are_reported_with_their_fields() {
    let bench = Bench::new();
    bench.put(
        "odd.jsonl",
        "{\"id\": \"a\", \"text\": \"x\", \"parts\": [{\"n\": 1}], \"sizes\": [[1], 2]}\n",
    );
    let ran = bench.run("index odd.jsonl --out odd").ok();
    for field in ["parts", "sizes"] {
        let message = format!("(first: odd.jsonl:1 (column '{field}'))");
        assert!(ran.err().contains(&message), "{}", ran.err());
    }
}

#[test]
fn the_simple_syntax_has_phrases_required_and_excluded_words_and_fields() {
    let bench = shop();
    let search = |query: &str| {
        let line = format!("search|shop|{query}|--query-syntax|simple|--json");
        bench.run(&line).json()
    };
    assert_eq!(ids(&search("wireless keyboard")), "p1 p2 p3 p6");
    assert_eq!(ids(&search("\"wireless keyboard\"")), "p1");
    assert_eq!(ids(&search("keyboard -wireless")), "p6");
    assert_eq!(ids(&search("wireless +mouse")), "p2");
    assert_eq!(ids(&search("title:keyboard wireless")), "p1 p3");
    assert_eq!(ids(&search("keyboard tags:input")), "p1 p2");
    assert_eq!(ids(&search("color:\"Dark Green\" wood")), "p4");
    let none = search("keyboard +garden +mouse");
    assert_eq!((ids(&none).as_str(), kinds(&none)), ("", vec!["nothing-fits"]));
    let stop = search("keyboard +the");
    assert_eq!(kinds(&stop), ["ignored-parts"]);
    let wrong = bench.run("search|shop|keyboard price:cheap|--query-syntax|simple");
    assert_eq!(wrong.code(), 1);
    assert!(
        wrong.err().contains("query, character 16: field `price` is a number"),
        "{}",
        wrong.err()
    );
    // The same text as plain words: a hint, and other results.
    let plain = bench.run("search|shop|\"wireless keyboard\" -mouse|--json").json();
    assert_eq!((ids(&plain).as_str(), kinds(&plain)), ("p1 p2 p3 p6", vec!["plain-operators"]));
    let text = bench.run("search|shop|keyboard -mouse").ok();
    assert!(text.err().contains("--query-syntax simple"), "{}", text.err());
    // Files of queries can be in simple syntax, too.
    bench.put("queries.tsv", "q1\tkeyboard -wireless\nq2\t\"garden chair\"\n");
    bench.run("run shop --queries queries.tsv --query-syntax simple --out simple.run").ok();
    let run = bench.text("simple.run");
    let found: Vec<&str> = run.lines().map(|line| line.split(' ').nth(2).unwrap()).collect();
    assert_eq!(found, ["p6", "p4"]);
    bench.run("features shop --queries queries.tsv --query-syntax simple --out simple.csv").ok();
    assert_eq!(bench.text("simple.csv").lines().count(), 3);
}

#[test]
fn misspelt_queries_get_a_suggestion() {
    let bench = shop();
    let ran = bench.run("search shop wireles keybaord").ok();
    assert!(ran.out().contains("did you mean: wireless keyboard"), "{}", ran.out());
    let json = bench.run("search shop wireles keyboard --json").json();
    assert_eq!(json["suggestion"], "wireless keyboard");
    assert_eq!(json["query"], "wireles keyboard");
    assert!(bench.run("search shop wireless keyboard --json").json()["suggestion"].is_null());
    assert!(bench.run("search shop xylophone --json").json()["suggestion"].is_null());
}

#[test]
fn facets_count_values_of_all_matching_documents() {
    let bench = shop();
    let words = "search shop keyboard wood -k 1 --facet tags --facet color --facet in_stock";
    let json = bench.run(&format!("{words} --json")).json();
    assert_eq!(
        (json["matching"].as_u64(), json["documents"].as_array().unwrap().len()),
        (Some(6), 1)
    );
    let tags = &json["facets"][0];
    assert_eq!((&tags["field"], &tags["values"][0]["value"]), (&"tags".into(), &"office".into()));
    assert_eq!(tags["values"][0]["documents"], 4);
    assert_eq!(json["facets"][2]["values"][0]["value"], "1");
    let text = bench.run(&format!("{words} --facet-values 2")).ok().out();
    for line in ["tags    documents", "office          4", "2 values more"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let filtered =
        bench.run("search|shop|keyboard wood|--facet|tags|--filter|price<20|--json").json();
    assert_eq!(filtered["matching"], 2);
    let wrong = bench.run("search shop keyboard --facet title");
    assert!(
        wrong.code() == 1 && wrong.err().contains("cannot be counted: it is text"),
        "{}",
        wrong.err()
    );
    assert_eq!(bench.run("search shop keyboard --facet-values 3").code(), 2);
}

#[test]
fn words_such_as_and_in_a_query_give_a_note_with_the_query_in_simple_syntax() {
    let bench = shop();
    for (query, simple) in [
        ("wireless AND keyboard", "perhaps --query-syntax simple '+wireless +keyboard'"),
        ("keyboard NOT mouse", "perhaps --query-syntax simple 'keyboard -mouse'"),
    ] {
        for syntax in ["plain", "simple"] {
            let ran = bench.run(&format!("search|shop|{query}|--query-syntax|{syntax}")).ok();
            assert!(ran.err().contains("is read as a word like the others"), "{}", ran.err());
            assert!(ran.err().contains(simple), "{}", ran.err());
        }
    }
    let found = bench.run("search|shop|keyboard -mouse|--query-syntax|simple|--json").json();
    assert!(!ids(&found).contains("p2"), "{found}");
    let lower = bench.run("search|shop|wireless and keyboard").ok();
    assert_eq!(lower.err(), "");
}

#[test]
fn documents_with_semicolons_and_decimal_commas_are_indexed() {
    let bench = Bench::new();
    let rows: String =
        (0..30).map(|n| format!("b{n};\"Stuhl {n}; rot, blau\";{n},50\r\n")).collect();
    bench.put("moebel.csv", &format!("\u{feff}id;title;price\r\n{rows}"));
    let ran = bench.run("index moebel.csv --out ix").ok();
    assert!(ran.out().contains("fields: title:text, price:number"), "{}", ran.out());
    let found = bench.run("search|ix|blau|--filter|price:[3.5 TO 5]|--json").json();
    assert_eq!(ids(&found).split(' ').count(), 2, "{found}");
}

#[test]
fn a_filter_that_finds_nothing_gets_a_hint() {
    let bench = shop();
    for (filter, message) in [
        ("color:Dark Green", "quote values with spaces: color:\"Dark Green\""),
        ("in_stock", "for the field write in_stock:true"),
        ("price:[75 TO 20]", "the first end of the range of `price` lies above the second one"),
        ("color:Black", "did you mean color:black?"),
        ("price BETWEEN 60 AND 70", "for the range of `price` write price:[60 TO 70]"),
    ] {
        let ran = bench.run(&format!("search|shop|keyboard chair|--filter|{filter}")).ok();
        assert!(ran.err().contains(message), "{filter}: {}", ran.err());
    }
    let curly = bench.run("search|shop|chair|--filter|color:“Dark Green”|--json").json();
    assert_eq!(ids(&curly), "p4");
    bench.put("queries.tsv", "q1\tkeyboard\n");
    let ran =
        bench.run("features|shop|--queries|queries.tsv|--filter|color:Dark Green|--out|x.csv");
    assert!(ran.code() == 1 && ran.err().contains("quote values with spaces"), "{}", ran.err());
}

#[test]
fn a_model_that_was_trained_with_fields_of_queries_misses_them() {
    let bench = Bench::new();
    bench.run("data generate store --records 300 --queries 30 --seed 3 --out shop").ok();
    bench.run("index shop/documents.jsonl --out shop/index").ok();
    bench
        .run("features shop/index --queries shop/queries.jsonl --qrels shop/qrels.txt --out d.rwd")
        .ok();
    bench.run("train|d.rwd|--learner|lambdamart(trees=5, leaves=4)|--out|m.model").ok();
    let query = bench.text("shop/queries.jsonl");
    let query: Value = serde_json::from_str(query.lines().next().unwrap()).unwrap();
    let (text, language) = (query["text"].as_str().unwrap(), query["language"].as_str().unwrap());
    let without = format!("search|shop/index|{text}|--model|m.model");
    let ran = bench.run(&without).ok();
    let message = "the query has no field `language`, which the model was trained with";
    assert!(ran.err().contains(message), "{}", ran.err());
    assert!(ran.err().contains("give --query-field language=VALUE"), "{}", ran.err());
    let with = bench.run(&format!("{without}|--query-field|language={language}|--json")).json();
    assert_eq!(kinds(&with), [""; 0]);
    bench.put("plain.tsv", &format!("q0001\t{text}\nq0002\t{text}\n"));
    let run =
        bench.run("run shop/index --queries plain.tsv --model m.model --out m.run --json").json();
    assert_eq!(kinds(&run), ["queries-without-fields"]);
    // A model of queries without the field does not ask for it.
    bench.run("features shop/index --queries plain.tsv --qrels shop/qrels.txt --out p.rwd").ok();
    bench.run("train|p.rwd|--learner|linear(weights=bm25(field=all):1)|--out|p.model").ok();
    let plain = bench.run(&format!("search|shop/index|{text}|--model|p.model|--json")).json();
    assert_eq!(kinds(&plain), [""; 0]);
}

#[test]
fn dates_without_a_zone_and_booleans_are_what_they_look_like() {
    let bench = Bench::new();
    let rows: String = (1..=30)
        .map(|n| {
            let clock = ["T05:06:07", " 05:06:07", "T05:06:07.123456", "T05:06Z", ""][n % 5];
            format!("{n},a tent,2025-01-{n:02}{clock},{}\n", n % 2 == 0)
        })
        .collect();
    bench.put("docs.csv", &format!("id,title,seen,in_stock\n{rows}"));
    let built = bench.run("index docs.csv --out idx").ok();
    assert!(
        built.out().contains("seen:date") && built.out().contains("in_stock:number"),
        "{}",
        built.out()
    );
    let given = bench.run("index|docs.csv|--out|given|--schema|seen:date,in_stock:number").ok();
    assert!(!given.err().contains("counted as absent"), "{}", given.err());
    for index in ["idx", "given"] {
        let found = bench
            .run(&format!("search|{index}|tent|--filter|seen:2025-01-07 AND in_stock:false|--json"))
            .json();
        assert_eq!(ids(&found), "7", "{index}");
    }
}

#[test]
fn a_model_of_a_table_is_refused_by_its_kind() {
    let bench = shop();
    let rows: String =
        (0..60).map(|n| format!("q{},{},brand {},{n}\n", n / 10, n % 3, n % 4)).collect();
    bench.put("table.csv", &format!("qid,label,brand,Price (EUR)\n{rows}"));
    bench.run("train|table.csv|--learner|mart(trees=2)|--out|table.model|--quiet").ok();
    let error = bench.run("search shop keyboard --model table.model").err();
    assert!(
        error.contains("this model was trained on a table with columns such as 'brand'"),
        "{error}"
    );
    assert!(error.contains("help: compute features with `rankwright features"), "{error}");
}

#[test]
fn signs_of_other_languages_between_conditions_are_named() {
    let bench = shop();
    let error = bench.run("search|shop|keyboard|--filter|price<50 && in_stock:true").err();
    assert!(error.contains("help: conditions are joined by AND and OR"), "{error}");
}

#[test]
fn a_run_without_a_judged_document_is_noted() {
    let bench = Bench::new();
    bench.put("a.run", "q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2 1.0 x\n").put("qrels.txt", "q1 0 D1 1\n");
    let ran = bench.run("eval --run a.run --qrels qrels.txt --metric ndcg@10").ok();
    assert!(ran.err().contains("no document of a.run is among the judged ones"), "{}", ran.err());
    bench.put("qrels.txt", "q1 0 d1 1\n");
    let ran = bench.run("eval --run a.run --qrels qrels.txt --metric ndcg@10").ok();
    assert!(!ran.err().contains("judged ones"), "{}", ran.err());
}

#[test]
fn prices_with_a_decimal_comma_are_noted() {
    let bench = Bench::new();
    let line =
        |n: usize| format!("{{\"id\": \"{n}\", \"title\": \"a lamp\", \"price\": \"{n},50\"}}\n");
    bench.put("docs.jsonl", &(0..30).map(line).collect::<String>());
    let message = bench.run("index docs.jsonl --out idx").ok().err();
    assert!(
        message.contains("field `price` is a text: its values, such as '0,50', are numbers"),
        "{message}"
    );
}
