//! Judges through the command: questions, answers, checks, and the pairs that train a model.

use serde_json::{Value, json};

use crate::common::Bench;

/// Twelve queries on songs; document n of a query has n times its word. The runs order them in
/// opposite ways.
fn songs() -> Bench {
    let bench = Bench::new();
    let (mut documents, mut queries, mut qrels) = (String::new(), String::new(), String::new());
    let (mut up, mut down, mut table) = (String::new(), String::new(), String::new());
    for query in 0..12 {
        queries += &format!("q{query}\tword{query}\n");
        for number in 1..=4 {
            let id = format!("d{query}x{number}");
            let lyrics = vec![format!("word{query}"); number].join(" ");
            documents += &format!(
                "{{\"id\": \"{id}\", \"title\": \"Song {number}\", \"lyrics\": \"{lyrics} la la\"}}\n"
            );
            up += &format!("q{query} Q0 {id} 0 {number} up\n");
            down += &format!("q{query} Q0 {id} 0 {} down\n", 9 - number);
            qrels += &format!("q{query} 0 {id} {}\n", number - 1);
            table += &format!("q{query},{id},{number},{}\n", (number * 7 + query) % 5);
        }
    }
    bench
        .put("songs.jsonl", &documents)
        .put("queries.tsv", &queries)
        .put("up.run", &up)
        .put("down.run", &down)
        .put("qrels", &qrels)
        .put("train.csv", &format!("qid,docid,count,other\n{table}"));
    bench
}

const PROMPTS: &str = "judge prompts up.run down.run --queries queries.tsv --documents songs.jsonl";

fn questions(bench: &Bench) -> Vec<Value> {
    bench.text("questions.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The answers of a judge who counts the words of the query, but takes the first document if the
/// numbers differ by one.
fn answers(questions: &[Value]) -> String {
    let number =
        |id: &Value| -> i32 { id.as_str().unwrap()[3..].trim_start_matches('x').parse().unwrap() };
    let of = |question: &Value, side: &str| {
        let id = question[side].as_str().unwrap();
        number(&json!(format!("___{}", id.rsplit('x').next().unwrap())))
    };
    let answer = |question: &Value| match of(question, "a") - of(question, "b") {
        -1..=1 => "Both fit, but A > B",
        2.. => "Document A is more relevant.",
        _ => "**B > A**",
    };
    let line = |question: &Value| {
        format!("{}\n", json!({ "id": question["id"], "answer": answer(question) }))
    };
    questions.iter().map(line).collect()
}

#[test]
fn questions_answers_checks_and_pairs_train_a_model() {
    let bench = songs();
    let made = bench.run(&format!("{PROMPTS} --max 60 --out questions.jsonl --json")).json();
    assert_eq!((&made["pairs"], &made["questions"]), (&60.into(), &120.into()));
    assert_eq!((&made["chosen_by"], &made["candidates"]), (&"disagreement".into(), &72.into()));
    let questions = questions(&bench);
    let prompt = questions[0]["prompt"].as_str().unwrap();
    for part in ["Task:", "Query:\nword", "Candidate Document A:\nTitle: Song", "Lyrics: word"] {
        assert!(prompt.contains(part), "{prompt}");
    }
    bench.put("answers.jsonl", &(answers(&questions) + "{\"id\": \"1-1\", \"answer\": \"Hm.\"}\n"));
    let read =
        "judge read answers.jsonl --prompts questions.jsonl --judge counter --out judged.jsonl";
    let result = bench.run(&format!("{read} --json")).json();
    assert_eq!((&result["comparisons"], &result["unanswered"]), (&120.into(), &0.into()));
    assert_eq!(
        (&result["judges"], &result["unreadable"][0]["line"]),
        (&json!(["counter"]), &121.into())
    );
    let text = bench.run(read).ok();
    assert!(text.out().contains("answers.jsonl:121: Hm.") && text.err().contains("cannot be read"));
    // Pairs whose counts differ by one flip; the first place is preferred.
    let check = bench.run("judge check judged.jsonl --qrels qrels --json").json();
    let flips = check["flips"].as_u64().unwrap();
    assert!(flips >= 20 && check["both_orders"] == 60, "{check}");
    assert_eq!(check["first_wins"].as_u64().unwrap(), 60 + flips);
    assert!(check["first_p"].as_f64().unwrap() < 0.01, "{check}");
    assert_eq!(
        (&check["cycles"], &check["with_grades"][0]["decided_agreement"]),
        (&0.into(), &1.0.into())
    );
    let text = bench.run("judge check judged.jsonl --qrels qrels").ok().out();
    assert!(text.contains("flips") && text.contains("judge and grades"), "{text}");
    // The pairs train a model, although half of the answers depend on the order.
    bench.run("judge aggregate judged.jsonl --out pairs.tsv").ok();
    assert!(bench.text("pairs.tsv").starts_with("qid\tbetter\tworse\tweight\n"));
    let train = "train train.csv --columns label=none --pairs pairs.tsv --learner ranksvm --out m";
    bench.run(train).ok();
    let scores = bench.run("score m train.csv --json").json();
    let score = |row: usize| scores["scores"][row].as_f64().unwrap();
    assert!(score(3) > score(1) && score(1) > score(0), "{scores}");
    bench.run("judge aggregate judged.jsonl --to probabilities --out p.tsv").ok();
    bench.run(&train.replace("pairs.tsv", "p.tsv").replace("ranksvm", "pairwise-logistic")).ok();
    bench.run("judge aggregate judged.jsonl --to qrels --grades 3 --out made").ok();
    let good = bench.run("eval --run up.run --qrels made --metric ndcg@4 --json").json();
    assert!(good["metrics"][0]["value"].as_f64().unwrap() > 0.95, "{good}");
}

#[test]
fn questions_come_from_one_run_an_index_and_an_own_template() {
    let bench = songs();
    bench.run("index songs.jsonl --out index").ok();
    bench.put("own.txt", "Is {a.title} or {b.title} about {query}?");
    let one = "judge prompts up.run --queries queries.tsv --index index --template own.txt --max 3 \
               --one-order --out questions.jsonl";
    let made = bench.run(&format!("{one} --json")).json();
    assert_eq!((&made["chosen_by"], &made["questions"]), (&"uncertainty".into(), &3.into()));
    let found = questions(&bench);
    let texts: Vec<&str> =
        found.iter().map(|question| question["prompt"].as_str().unwrap()).collect();
    assert!(texts.iter().all(|text| text.starts_with("Is Song ") && text.contains(" about word")));
    // The same seed chooses the same pairs.
    bench.run(&one.replace("questions.jsonl", "again.jsonl")).ok();
    assert_eq!(bench.text("again.jsonl"), bench.text("questions.jsonl"));
    for template in ["recommendation", "search"] {
        bench.run(&format!("{PROMPTS} --template {template} --out questions.jsonl")).ok();
    }
    let answer = bench.run(&format!("{PROMPTS} --template answer --out questions.jsonl"));
    assert!(answer.code() == 1 && answer.err().contains("{query.answer}"), "{}", answer.err());
    let lost = bench.run(&format!("{PROMPTS} --template lost.txt --out questions.jsonl"));
    assert!(lost.code() == 1 && lost.err().contains("lost.txt"), "{}", lost.err());
    let fields = bench.run(&format!("{PROMPTS} --fields titel --out questions.jsonl"));
    assert!(fields.code() == 1 && fields.err().contains("lyrics"), "{}", fields.err());
}

#[test]
fn answers_without_questions_and_files_without_answers_are_reported() {
    let bench = songs();
    bench.put(
        "a.tsv",
        "q1\td1\td2\tA > B\tanna\nq1\td1\td2\tB > A\tbert\nq1\td2\td3\tA = B\tanna\n",
    );
    bench.run("judge read a.tsv --out j").ok();
    let check = bench.run("judge check j --json").json();
    assert_eq!(check["agreements"][0]["agreement"], 0.0);
    assert_eq!(check["judges"].as_array().unwrap().len(), 2);
    bench.put("b.tsv", "17-1\tA > B\n");
    let none = bench.run("judge read b.tsv --out j2");
    assert!(none.code() == 1 && none.err().contains("--prompts"), "{}", none.err());
    bench.put("c", "q1 d1 ? d2\n");
    let bad = bench.run("judge check c");
    assert!(bad.code() == 1 && bad.err().contains("c:1: "), "{}", bad.err());
}
