//! Simulated click logs through the command: labels, position bias, off-policy values and the
//! report find what the simulation put in.

use rankwright::data::Random;

use crate::common::Bench;

/// The probability of a click on an examined document of each label.
const CLICK: [f64; 3] = [0.1, 0.4, 1.0];

/// The grade of a document of a query; the feature `good` depends on it, `shown` does not.
fn label(query: u64, document: u64) -> usize {
    Random::new(query, document).below(3)
}

/// A table of 30 queries with 6 documents each.
fn data() -> Bench {
    let bench = Bench::new();
    let mut table = "qid,docid,label,good,shown\n".to_owned();
    for query in 0..30 {
        for document in 0..6 {
            let label = label(query, document);
            let mut random = Random::new(77, query * 100 + document);
            let good = label as f64 + 0.001 * random.unit();
            table += &format!("q{query},d{document},{label},{good},{}\n", random.unit());
        }
    }
    bench.put("data.csv", &table);
    bench.put("true.txt", "1 1\n2 0.5\n3 0.33333333\n4 0.25\n5 0.2\n6 0.16666667\n");
    bench
}

/// Simulates pages by the feature `shown`, with an examination of 1 / rank.
fn simulate(bench: &Bench, more: &str, out: &str) -> serde_json::Value {
    let user = "--user pbm(click=.1/.4/1)";
    let line =
        format!("clicks simulate data.csv --by-feature shown {user} {more} --out {out} --json");
    bench.run(&line).json()
}

#[test]
fn a_simulated_log_depends_on_the_seed_alone() {
    let bench = data();
    let result = simulate(&bench, "--sessions 50", "log.jsonl");
    assert_eq!((&result["impressions"], &result["queries"]), (&1500.into(), &30.into()));
    assert_eq!(result["user"], "pbm(click=0.1/0.4/1)");
    simulate(&bench, "--sessions 50 --threads 1", "again.jsonl");
    assert_eq!(bench.text("log.jsonl"), bench.text("again.jsonl"));
    simulate(&bench, "--sessions 50 --seed 2", "other.jsonl");
    assert_ne!(bench.text("log.jsonl"), bench.text("other.jsonl"));
    // Every page of a query is the same; reversed, the last document is the first.
    let first = |text: String| -> serde_json::Value {
        serde_json::from_str(text.lines().next().unwrap()).unwrap()
    };
    let page = first(bench.text("log.jsonl"));
    simulate(&bench, "--sessions 1 --reverse --top 2", "reversed.jsonl");
    let reversed = first(bench.text("reversed.jsonl"));
    assert_eq!(reversed["docs"][0], page["docs"][5]);
    assert_eq!(reversed["docs"].as_array().unwrap().len(), 2);
    assert!(page.get("propensities").is_none());
    simulate(&bench, "--sessions 1 --ranker plackett-luce(temperature=0.5)", "drawn.jsonl");
    let drawn = first(bench.text("drawn.jsonl"));
    assert_eq!(drawn["propensities"][5], 1.0);
    let unknown = bench.run("clicks simulate data.csv --by-feature 9 --out x.jsonl");
    assert!(unknown.code() == 1 && unknown.err().contains("no feature '9'"), "{}", unknown.err());
    let over = bench.run("clicks simulate data.csv --by-feature shown --out data.csv");
    assert!(over.code() == 1 && over.err().contains("over the input"), "{}", over.err());
}

/// The document without a value is not among the first, whichever end of the order is shown first.
#[test]
fn missing_values_are_shown_last_in_either_order() {
    let bench = Bench::new();
    bench.put("data.csv", "qid,docid,label,shown\nq,a,1,5\nq,b,0,\nq,c,0,7\nq,d,0,9\n");
    for (order, first, second) in [("", "d", "c"), ("--reverse", "a", "c")] {
        simulate(&bench, &format!("--sessions 1 {order}"), "log.jsonl");
        let page: serde_json::Value = serde_json::from_str(&bench.text("log.jsonl")).unwrap();
        assert_eq!((&page["docs"][0], &page["docs"][1]), (&first.into(), &second.into()), "{page}");
    }
}

#[test]
fn a_simulated_log_is_written_as_any_other() {
    let bench = data();
    simulate(&bench, "--sessions 3 --ranker random --top 4", "log.jsonl");
    bench.run("clicks convert log.jsonl --to lists --out again.jsonl").ok();
    assert_eq!(bench.text("log.jsonl"), bench.text("again.jsonl"));
    bench.put("a.run", "q1 Q0 a 1 3 x\nq1 Q0 b 2 2 x\nq2 Q0 c 1 1 x\n");
    bench.put("qrels", "q1 0 a 1\nq1 0 b 4\nq2 0 c 4\n");
    bench.run("interleave simulate a.run --qrels qrels --sessions 9 --users 3 --out log.ubi").ok();
    bench.run("clicks convert log.ubi --to ubi --out again.ubi").ok();
    assert_eq!(bench.text("log.ubi"), bench.text("again.ubi"));
}

/// The mean label of the rows of each grade, in a table of labelled data.
fn means_by_grade(bench: &Bench, file: &str) -> [f64; 3] {
    let table = bench.text(file);
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|found| *found == name).unwrap();
    let (qid, docid, label_at) = (column("qid"), column("docid"), column("label"));
    let mut sums = [(0.0, 0.0); 3];
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at][1..].parse::<u64>().unwrap();
        let (sum, count) = &mut sums[label(number(qid), number(docid))];
        *sum += cells[label_at].parse::<f64>().unwrap();
        *count += 1.0;
    }
    sums.map(|(sum, count)| sum / count)
}

#[test]
fn labels_of_weighted_clicks_are_the_click_probabilities() {
    let bench = data();
    simulate(&bench, "--sessions 400", "log.jsonl");
    let result = bench
        .run("clicks labels log.jsonl --from ips --bias true.txt --features data.csv --out ips.csv --json")
        .json();
    assert_eq!((&result["rows"], &result["unshown"]), (&180.into(), &0.into()));
    for (found, expected) in means_by_grade(&bench, "ips.csv").into_iter().zip(CLICK) {
        assert!((found - expected).abs() < 0.03, "{found} {expected}");
    }
    let header = bench.text("ips.csv").lines().next().unwrap().to_owned();
    assert!(header.contains("weight") && header.contains("position"), "{header}");
    let clipped = bench
        .run("clicks labels log.jsonl --from ips --bias true.txt --clip 3.5 --features data.csv --out c.csv");
    let text = clipped.ok().out();
    assert!(text.contains("at most 3.5, which limits those of 3 ranks"), "{text}");
    bench
        .run("clicks labels log.jsonl --from coec --features data.csv --grades 3 --out grades.csv")
        .ok();
    let [bad, fair, good] = means_by_grade(&bench, "grades.csv");
    assert!(bad < fair && fair < good && good > 1.5, "{bad} {fair} {good}");
    // A ranker trained on the labels is as good as one trained on the grades.
    bench.run("train ips.csv --learner linear-regression --out m.model").ok();
    let ndcg = bench.run("eval m.model data.csv --metric ndcg@5 --ignore-extra --json").json();
    assert!(ndcg["metrics"][0]["value"].as_f64().unwrap() > 0.97, "{ndcg}");
}

#[test]
fn rows_that_the_log_does_not_show_are_dropped_or_kept() {
    let bench = data();
    simulate(&bench, "--sessions 50 --top 2", "log.jsonl");
    let labels = "clicks labels log.jsonl --bias true.txt --features";
    let dropped = bench.run(&format!("{labels} data.csv --from ips --out a.rwd --json")).json();
    assert_eq!((&dropped["rows"], &dropped["unshown"]), (&60.into(), &120.into()));
    let kept =
        bench.run(&format!("{labels} data.csv --from dr --unshown keep --out b.csv --json")).json();
    assert_eq!((&kept["rows"], &kept["shown"]), (&180.into(), &60.into()));
    // The regression knows the documents that were never shown by their feature.
    let [bad, _, good] = means_by_grade(&bench, "b.csv");
    assert!(good > bad + 0.4, "{bad} {good}");
    let few: String = bench.text("data.csv").lines().take(13).map(|l| format!("{l}\n")).collect();
    bench.put("few.csv", &few);
    let unused = bench.run(&format!("{labels} few.csv --from coec --out c.csv"));
    assert!(unused.code() == 2 && unused.err().contains("leave out --bias"), "{}", unused.err());
    let labels = "clicks labels log.jsonl --features";
    let partly = bench.run(&format!("{labels} few.csv --from coec --out c.csv")).ok();
    assert!(partly.err().contains("lacks 56 of the 60 documents"), "{}", partly.err());
    bench.put("none.csv", "qid,docid,good\nz,z,1\n");
    let none = bench.run(&format!("{labels} none.csv --from coec --out d.csv"));
    assert!(none.code() == 1 && none.err().contains("no query and document"), "{}", none.err());
}

#[test]
fn a_fixed_ranking_has_no_bias_without_features() {
    let bench = data();
    simulate(&bench, "--sessions 300", "log.jsonl");
    let refused = bench.run("clicks bias log.jsonl --samples 0");
    assert!(refused.code() == 1 && refused.err().contains("no document"), "{}", refused.err());
    let found = bench
        .run("clicks bias log.jsonl --estimator regression-em --features data.csv --samples 5 --json")
        .json();
    for (rank, value) in (1..).zip(found["estimates"][0]["examination"].as_array().unwrap()) {
        let (value, expected) = (value.as_f64().unwrap(), 1.0 / f64::from(rank));
        assert!((value - expected).abs() < 0.08, "{rank}: {value} {expected}");
    }
    // The estimate serves as a file of examinations.
    bench.put("bias.json", &found.to_string());
    bench
        .run("clicks labels log.jsonl --from ips --bias bias.json --features data.csv --out l.csv")
        .ok();
    let [bad, fair, good] = means_by_grade(&bench, "l.csv");
    assert!((bad - 0.1).abs() < 0.05 && (fair - 0.4).abs() < 0.08 && (good - 1.0).abs() < 0.15);
}

#[test]
fn random_pages_give_the_bias_and_groups_have_their_own() {
    let bench = data();
    simulate(&bench, "--sessions 200 --ranker random", "random.jsonl");
    simulate(&bench, "--sessions 200 --ranker plackett-luce(temperature=0.3)", "drawn.jsonl");
    let estimators = "--estimator randomised,allpairs --samples 10";
    let line = format!("clicks bias random.jsonl drawn.jsonl {estimators} --by ranker --json");
    let found = bench.run(&line).json();
    for estimate in found["estimates"].as_array().unwrap() {
        for (rank, value) in (1..).zip(estimate["examination"].as_array().unwrap()) {
            let expected = 1.0 / f64::from(rank);
            assert!((value.as_f64().unwrap() - expected).abs() < 0.06, "{rank}: {estimate}");
        }
    }
    let groups = found["groups"].as_array().unwrap();
    let values: Vec<&str> = groups.iter().map(|group| group["value"].as_str().unwrap()).collect();
    assert_eq!(values, ["plackett-luce(temperature=0.3)", "random"]);
    let refusal = groups[0]["estimates"][0]["refusal"].as_str().unwrap();
    assert!(refusal.contains("random order"), "{refusal}");
    let text = bench.run(&format!("clicks bias random.jsonl {estimators} --by ranker")).ok().out();
    assert!(text.contains("ranker random: 6000 impressions"), "{text}");
    let unknown = bench.run("clicks bias random.jsonl --by colour");
    assert!(unknown.code() == 1 && unknown.err().contains("device, ranker"), "{}", unknown.err());
}

/// The true value of the ranking by a feature: the discounted click probabilities of its best
/// documents, times the examination of the rank where `examination` counts.
fn true_value(bench: &Bench, column: usize, counts_examination: bool) -> f64 {
    let mut total = 0.0;
    for query in 0..30 {
        let mut documents: Vec<(f64, usize)> = bench
            .text("data.csv")
            .lines()
            .filter(|line| line.starts_with(&format!("q{query},")))
            .map(|line| {
                let cells: Vec<&str> = line.split(',').collect();
                (cells[column].parse().unwrap(), cells[2].parse().unwrap())
            })
            .collect();
        documents.sort_by(|one, other| other.0.total_cmp(&one.0));
        for (rank, (_, label)) in (1..=3).zip(documents) {
            let rank = f64::from(rank);
            let examination = if counts_examination { 1.0 / rank } else { 1.0 };
            total += CLICK[label] * examination / (rank + 1.0).log2();
        }
    }
    total / 30.0
}

#[test]
fn values_of_models_are_found_in_the_log_of_another_ranking() {
    let bench = data();
    for (name, weights) in [("good", "good:1"), ("shown", "shown:1")] {
        let spec = format!("linear(weights={weights})");
        bench.run(&format!("train data.csv --learner {spec} --out {name}.model")).ok();
    }
    simulate(&bench, "--sessions 400", "log.jsonl");
    let evaluate =
        "clicks evaluate log.jsonl good.model shown.model --features data.csv --metric dcg@3";
    for estimator in ["ips", "snips", "dr"] {
        let line = format!("{evaluate} --bias true.txt --estimator {estimator} --json");
        let found = bench.run(&line).json();
        for (model, column) in [(0, 3), (1, 4)] {
            let model = &found["models"][model];
            let (value, expected) =
                (model["value"].as_f64().unwrap(), true_value(&bench, column, false));
            assert!((value - expected).abs() < 0.06, "{estimator}: {model} {expected}");
            let low = model["ci95"][0].as_f64().unwrap();
            assert!(low < value && model["overlap"] == 1.0, "{model}");
        }
        let difference = &found["models"][1]["difference_ci95"];
        assert!(difference[1].as_f64().unwrap() < 0.0, "{difference}");
    }
    let direct = bench.run(&format!("{evaluate} --bias true.txt --estimator dm --json")).json();
    assert!(direct["models"][0]["value"].as_f64() > direct["models"][1]["value"].as_f64());
    let text = bench.run(&format!("{evaluate} --bias true.txt --clip 4")).ok().out();
    assert!(text.contains("good.model") && text.contains("at most 4"), "{text}");
    // Pages of one document say nothing of the others.
    simulate(&bench, "--sessions 20 --top 1", "top.jsonl");
    let missing = bench.run(
        "clicks evaluate top.jsonl good.model --features data.csv --bias true.txt --metric dcg@3",
    );
    assert!(
        missing.code() == 1 && missing.err().contains("good.model: the log covers"),
        "{}",
        missing.err()
    );
    let metric =
        bench.run("clicks evaluate log.jsonl good.model --features data.csv --metric ndcg@3");
    assert!(metric.code() == 1 && metric.err().contains("sum over ranks"), "{}", metric.err());
}

#[test]
fn propensities_of_pages_need_no_examination() {
    let bench = data();
    bench.run("train data.csv --learner linear(weights=good:1) --out good.model").ok();
    simulate(&bench, "--sessions 3000 --ranker random --top 3", "log.jsonl");
    let evaluate =
        "clicks evaluate log.jsonl good.model --features data.csv --metric dcg@3 --propensity page";
    let expected = true_value(&bench, 3, true);
    for estimator in ["ips", "snips"] {
        let found = bench.run(&format!("{evaluate} --estimator {estimator} --json")).json();
        let model = &found["models"][0];
        let value = model["value"].as_f64().unwrap();
        assert!((value - expected).abs() < 0.08, "{estimator}: {model} {expected}");
        assert!(found["examination"].as_array().unwrap().is_empty());
        // Every list of 3 of 6 documents has the probability 1 / 120.
        assert!((model["largest_weight"].as_f64().unwrap() - 120.0).abs() < 1e-6, "{model}");
    }
    simulate(&bench, "--sessions 5", "fixed.jsonl");
    let without =
        bench.run("clicks evaluate fixed.jsonl good.model --features data.csv --propensity page");
    assert!(without.code() == 1 && without.err().contains("probability"), "{}", without.err());
}

#[test]
fn a_report_shows_rates_bias_and_models() {
    let bench = data();
    simulate(&bench, "--sessions 40 --ranker random", "log.jsonl");
    let line =
        "report clicks log.jsonl --samples 5 --features data.csv --models pbm+ubm(iterations=5)";
    let found =
        bench.run(&format!("{line} --test log.jsonl --out r.html --assets parts --json")).json();
    assert_eq!(found["title"], "Click log log.jsonl");
    assert_eq!(
        (&found["click_models"][1]["model"], &found["queries"]),
        (&"ubm(iterations=5)".into(), &30.into())
    );
    let names: Vec<&str> = found["bias"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| b["estimator"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"regression-em") && names.contains(&"randomised"), "{names:?}");
    assert!(bench.text("r.html").contains("Position bias"));
    assert!(bench.text("parts/click-rates.csv").lines().count() > 6);
    let text = bench.run(&format!("{line} --out s.html")).ok().out();
    assert!(text.contains("1200 impressions of 30 queries"), "{text}");
    let over = bench.run("report clicks log.jsonl --out log.jsonl");
    assert!(over.code() == 1, "{}", over.err());
}

/// Equal pages are one line with their number, and everything that is made of the log is the same.
#[test]
fn a_log_of_counted_pages_says_the_same_in_fewer_lines() {
    let bench = data();
    for ranker in ["fixed", "plackett-luce(temperature=0.1)"] {
        let result = simulate(&bench, &format!("--sessions 400 --ranker {ranker}"), "all.jsonl");
        let more = format!("--sessions 400 --count --ranker {ranker}");
        let counted = simulate(&bench, &more, "counted.jsonl");
        for field in ["impressions", "clicks", "without_click"] {
            assert_eq!(result[field], counted[field], "{field}");
        }
        let lines = bench.text("counted.jsonl").lines().count();
        assert!(lines < 400 * 30 / 2, "{ranker}: {lines}");
        let both = |line: &str| {
            ["all.jsonl", "counted.jsonl"].map(|log| bench.run(&line.replace("LOG", log)).json())
        };
        let [all, counted] = both("clicks inspect LOG --json");
        for field in ["counts", "queries", "pairs", "distinct_pages", "ranks", "rank_links", "skew"]
        {
            assert_eq!(all[field], counted[field], "{ranker}: {field}");
        }
        let labels = "clicks labels LOG --features data.csv --json --out";
        for from in ["ips --bias true.txt", "sdbn", "coec"] {
            let rows = ["all", "counted"].map(|log| {
                let line = labels.replace("LOG", &format!("{log}.jsonl"));
                bench.run(&format!("{line} {log}.csv --from {from}")).ok();
                let mut rows: Vec<String> =
                    bench.text(&format!("{log}.csv")).lines().map(str::to_owned).collect();
                rows.sort();
                rows
            });
            // Sums in another order may differ in the last bit.
            let numbers = |row: &str| -> Vec<f64> {
                row.split(',').filter_map(|cell| cell.parse().ok()).collect()
            };
            assert_eq!(rows[0].len(), rows[1].len());
            for (one, other) in rows[0].iter().zip(&rows[1]) {
                let pairs = numbers(one).into_iter().zip(numbers(other));
                assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-9), "{from}: {one} {other}");
            }
        }
        let rule = "clicks pairs LOG --rule next --out p.tsv --json";
        let [all, counted] = both(rule);
        assert_eq!((&all["pairs"], &all["queries"]), (&counted["pairs"], &counted["queries"]));
        let written = bench.text("p.tsv");
        bench.run(&rule.replace("LOG", "all.jsonl")).ok();
        assert_eq!(bench.text("p.tsv"), written);
    }
}
