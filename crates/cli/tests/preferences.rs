//! Data that has preference pairs instead of labels: trained, validated, evaluated and converted.

use rankwright::data::Random;

use crate::common::Bench;

/// A table without labels and its pairs: a document is better if twice its price minus its rank is
/// larger.
fn part(bench: &Bench, name: &str, queries: usize, seed: u64) {
    let (mut table, mut pairs) = ("session,doc,price,rank\n".to_owned(), String::new());
    let mut random = Random::new(seed, 0);
    for query in 0..queries {
        let mut values = Vec::new();
        for document in 0..8 {
            let (price, rank) = (random.unit(), random.unit());
            table += &format!("{name}{query},d{document},{price:.4},{rank:.4}\n");
            values.push(2.0 * price - rank);
        }
        for _ in 0..10 {
            let (a, b) = (random.below(8), random.below(8));
            match values[a].total_cmp(&values[b]) {
                std::cmp::Ordering::Greater => pairs += &format!("{name}{query}\td{a}\td{b}\n"),
                std::cmp::Ordering::Less => pairs += &format!("{name}{query}\td{b}\td{a}\n"),
                std::cmp::Ordering::Equal => {}
            }
        }
    }
    bench.put(&format!("{name}.csv"), &table).put(&format!("{name}.tsv"), &pairs);
}

const ROLES: &str = "--columns qid=session,docid=doc,label=none";

fn shop() -> Bench {
    let bench = Bench::new();
    part(&bench, "train", 40, 1);
    part(&bench, "valid", 20, 2);
    part(&bench, "test", 30, 3);
    bench
}

fn accuracy(found: &serde_json::Value) -> f64 {
    assert_eq!(found["metrics"][0]["metric"], "preference-accuracy", "{found}");
    found["metrics"][0]["value"].as_f64().unwrap()
}

#[test]
fn pairs_alone_train_stop_and_evaluate_a_model() {
    let bench = shop();
    let train = format!(
        "train train.csv {ROLES} --pairs train.tsv --valid valid.csv --valid-pairs valid.tsv \
         --learner rankmart(trees=150,stop=20) --out m.model --json"
    );
    let result = bench.run(&train).json();
    let curve = result["iterations"].as_array().unwrap();
    let value = |round: usize| curve[round]["values"][0][0].as_f64();
    assert!(value(curve.len() - 1).unwrap() > value(0).unwrap(), "{}", result["iterations"]);
    // The roles of the columns are those of the model.
    let found = bench.run("eval m.model test.csv --pairs test.tsv --json").json();
    assert_eq!(found["metrics"].as_array().unwrap().len(), 1, "no labels, no other metric");
    assert!(accuracy(&found) > 0.8, "{found}");
    let table = bench.run("compare test.csv m.model --pairs test.tsv").ok().out();
    assert!(table.contains("preference-accuracy") && !table.contains("ndcg"), "{table}");
}

#[test]
fn a_metric_of_labels_is_refused_without_labels() {
    let bench = shop();
    let roles = "--columns|qid=session,docid=doc,label=none";
    bench
        .run(&format!("train|train.csv|{roles}|--pairs|train.tsv|--learner|ranksvm|--out|m.model"))
        .ok();
    for metrics in ["", "|--metric|ndcg@10"] {
        let ran = bench.run(&format!("eval|m.model|test.csv|{roles}{metrics}"));
        assert_eq!(ran.code(), 1);
        assert!(ran.err().contains("needs labels, and the data has none"), "{}", ran.err());
    }
}

#[test]
fn a_table_without_labels_is_converted_to_one_without_labels() {
    let bench = shop();
    bench.run(&format!("data convert train.csv small.csv {ROLES}")).ok();
    assert_eq!(bench.text("small.csv").lines().next(), Some("qid,docid,price,rank"));
    let text = bench.run(&format!("data convert train.csv small.txt {ROLES}")).ok().err();
    assert!(
        text.contains("the data has no labels, but every row of this format needs one"),
        "{text}"
    );
    bench.run(&format!("data convert train.csv small.rwd --pairs train.tsv {ROLES}")).ok();
    let found =
        bench.run("cv small.rwd --learner ranksvm --metric preference-accuracy --json").json();
    assert!(found.to_string().contains("preference-accuracy"), "{found}");
    let found = bench.run("data inspect small.rwd --json").json();
    assert_eq!(found["labels"].as_array().unwrap().len(), 0, "{found}");
    assert_eq!(found["equal_label_queries"], 0, "{found}");
}

#[test]
fn a_search_is_decided_by_the_pairs_of_its_validation_data() {
    let bench = shop();
    let search = format!(
        "tune train.csv {ROLES} --pairs train.tsv --valid valid.csv --valid-pairs valid.tsv --learner \
         rankmart(trees=20) --space leaves=choice(2,4) --trials 3 --out best.model"
    );
    let found = bench.run(&format!("{search} --json")).json();
    assert_eq!(found["metric"], "preference-accuracy", "{found}");
    assert!(found["best"]["value"].as_f64().unwrap() > 0.6, "{found}");
    let text = bench.run(&search).ok().out();
    assert!(text.contains("preference-accuracy") && !text.contains("ndcg"), "{text}");
    // On folds, the pairs of the training data decide.
    let folds = format!(
        "tune train.csv {ROLES} --pairs train.tsv --learner rankmart(trees=10) --space \
         leaves=choice(2,4) --trials 2 --folds 2 --json"
    );
    assert_eq!(bench.run(&folds).json()["metric"], "preference-accuracy");
    let ran = bench.run("tune train.csv --valid-pairs valid.tsv --learner rankmart");
    assert_eq!(ran.code(), 2, "pairs of validation data need validation data");
}

#[test]
fn pair_files_with_other_headers_are_read_or_refused_with_the_expected_header() {
    let bench = shop();
    let lines = bench.text("train.tsv");
    let rows: Vec<&str> = lines.lines().filter(|line| !line.starts_with("qid")).collect();
    let with_commas: String = rows.iter().map(|row| row.replace('\t', ",") + "\n").collect();
    bench.put("other.csv", &format!("query,winner,loser\n{with_commas}"));
    bench.put("neutral.tsv", &format!("qid\tdoc_a\tdoc_b\n{}\n", rows.join("\n")));
    let train = |pairs: &str, out: &str| {
        bench.run(&format!("train train.csv {ROLES} --pairs {pairs} --learner ranksvm --out {out}"))
    };
    train("train.tsv", "one.model").ok();
    train("other.csv", "two.model").ok();
    let bytes = |name: &str| std::fs::read(bench.path(name)).unwrap();
    assert_eq!(bytes("one.model"), bytes("two.model"));
    let error = train("neutral.tsv", "three.model").err();
    assert!(error.contains("neutral.tsv:1: found 'qid"), "{error}");
    assert!(error.contains("a header with the columns qid, better, worse"), "{error}");
}

/// In every query the first document is better with probability 0.8: the scores of a pairwise model
/// differ by log(0.8 / 0.2).
#[test]
fn a_file_of_probabilities_trains_a_model_of_soft_targets() {
    let bench = Bench::new();
    let (mut table, mut pairs) =
        ("qid,docid,x\n".to_owned(), "qid better worse probability\n".to_owned());
    for query in 0..30 {
        table += &format!("q{query},a,1\nq{query},b,0\n");
        pairs += &format!("q{query} a b 0.8\n");
    }
    bench.put("soft.csv", &table).put("soft.tsv", &pairs);
    let roles = "--columns label=none --pairs soft.tsv";
    for learner in [
        "pairwise-logistic(c=10000,transform=none)",
        "rankmart(trees=60,leaves=2,min_rows=1,min_hessian=0,rate=0.3)",
    ] {
        bench.run(&format!("train soft.csv {roles} --learner {learner} --out m.model")).ok();
        let text = bench.run("score m.model soft.csv --columns label=none").ok().out();
        let scores: Vec<f64> = text.lines().filter_map(|line| line.parse().ok()).collect();
        assert_eq!(scores.len(), 60, "{text}");
        let difference = scores[0] - scores[1];
        assert!((difference - 4.0_f64.ln()).abs() < 0.02, "{learner}: {difference}");
    }
    // Without the header, the same file is ambiguous, and both readings are shown.
    let without: String = pairs.lines().skip(1).map(|line| format!("{line}\n")).collect();
    bench.put("soft.tsv", &without);
    let ran = bench.run(&format!("train soft.csv {roles} --learner rankmart --out n.model"));
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("weight") && ran.err().contains("probability"), "{}", ran.err());
}
