//! Tests of worked examples of lectures on learning to rank, through the command.

use rankwright::learn::{LEARNERS, LearnerSpec};

use crate::common::{Bench, bench};

/// Seventeen points in two dimensions: five of label 1, four of label 2, three of label 3 and five
/// of label 4. x1 separates the labels 1 and 2 from 3 and 4; x2 is below 0.5 for two of label 1,
/// two of label 2 and all of label 3.
const POINTS: &str = "label,qid,x1,x2\n1,1,.24,.35\n1,1,.16,.1\n1,1,.32,.74\n1,1,.28,.86\n\
    1,1,.08,.9\n2,1,.4,.25\n2,1,.2,.15\n2,1,.36,.58\n2,1,.12,.82\n3,1,.86,.2\n3,1,.6,.3\n\
    3,1,.74,.4\n4,1,.78,.62\n4,1,.9,.78\n4,1,.7,.66\n4,1,.82,.94\n4,1,.65,.7\n";

fn points() -> Bench {
    let bench = Bench::new();
    bench.put("points.csv", POINTS);
    bench
        .run("train points.csv --learner mart(trees=2,leaves=2,rate=1,min_rows=1) --out m.model")
        .ok();
    bench
}

#[test]
fn the_impurity_of_splits_is_computed_from_data() {
    let bench = points();
    let text = bench.run("model inspect m.model --tree 1 --impurity points.csv").ok().out();
    assert!(text.contains("x1 <= "), "{text}");
    assert!(text.contains("17 rows, gain 10.069") && text.contains(", G 0.1205, before 0.7128\n"));
    // The targets of the second tree are the residuals of the first: their impurity is what the
    // first split left.
    let json = bench.run("model inspect m.model --tree 2 --impurity points.csv --json").json();
    let impurity = &json["tree"]["impurities"][0];
    assert!((impurity["before"].as_f64().unwrap() - 0.120507).abs() < 1e-5, "{impurity}");
    assert!((impurity["after"].as_f64().unwrap() - 0.100995).abs() < 1e-5, "{impurity}");
    assert_eq!(impurity["rows"], 17);
    // Without data, the tree is as before.
    assert!(!bench.run("model inspect m.model --tree 1").ok().out().contains(", G "));
}

#[test]
fn the_drawing_of_a_tree_has_impurities_too() {
    let bench = points();
    bench.run("model inspect m.model --svg tree.svg --impurity points.csv").ok();
    assert!(bench.text("tree.svg").contains("G 0.1205, before 0.7128"));
    let error = bench.run("model inspect m.model --impurity points.csv");
    assert!(error.code() == 2 && error.err().contains("--tree"), "{}", error.err());
    bench.run("train points.csv --learner ranksvm --out l.model").ok();
    let error = bench.run("model inspect l.model --tree 1 --impurity points.csv");
    assert!(error.code() == 1 && error.err().contains("tree"), "{}", error.err());
}

/// Scores of a model on `valid.txt`.
fn scores(bench: &Bench, model: &str) -> Vec<f64> {
    let text = bench.run(&format!("score {model} valid.txt")).ok().out();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

/// F0(x) = BaseModel(x), where the base model is a file of LightGBM.
#[test]
fn an_imported_model_is_the_start_of_boosting() {
    let bench = bench();
    let learner = "lambdamart(trees=8,leaves=6,min_rows=5,stop=none)";
    bench.run(&format!("train train.txt --learner {learner} --out base.model")).ok();
    bench.run("model convert base.model --to lightgbm --out base.txt").ok();
    assert!(bench.text("base.txt").starts_with("tree\n"));
    let more = "lambdamart(trees=5,leaves=6,min_rows=5,stop=none)";
    for start in ["base.model", "base.txt"] {
        let out = start.replace("base", "more");
        bench.run(&format!("train train.txt --learner {more} --start {start} --out {out}")).ok();
    }
    let found = bench.run("model inspect more.txt --json").json();
    assert_eq!(found["trees"]["count"], 13, "{found}");
    // From the imported file the same trees grow as from the model that it was written from.
    let (imported, own) = (scores(&bench, "more.txt"), scores(&bench, "more.model"));
    assert_eq!(imported.len(), own.len());
    for (imported, own) in imported.iter().zip(&own) {
        assert!((imported - own).abs() < 1e-9, "{imported} {own}");
    }
    assert_ne!(own, scores(&bench, "base.model"));
    // The result can be explained and exported like any other model.
    bench.run("explain more.txt valid.txt --query 1").ok();
    bench.run("model convert more.txt --to lightgbm --out again.txt").ok();
    assert_eq!(scores(&bench, "again.txt").len(), own.len());
}

/// Regression: the trees that were added to a linear model could not be shown.
#[test]
fn trees_added_to_a_start_model_are_shown() {
    let bench = bench();
    bench.run("train train.txt --learner ranksvm --out start.model").ok();
    let learner = "lambdamart(trees=3,leaves=4,min_rows=5,stop=none)";
    bench
        .run(&format!("train train.txt --learner {learner} --start start.model --out s.model"))
        .ok();
    let found = bench.run("model inspect s.model --tree 3 --json").json();
    assert_eq!(found["tree"]["number"], 3, "{found}");
    assert!(found["tree"]["text"].as_str().unwrap().contains(" <= "), "{found}");
    bench.run("model inspect s.model --tree 1 --svg tree.svg").ok();
    assert!(bench.text("tree.svg").contains("<svg"));
    let ran = bench.run("model inspect s.model --tree 4");
    assert!(ran.code() == 1 && ran.err().contains("the model has 3 trees"), "{}", ran.err());
}

/// Regression: "this model is blend and has no trees".
#[test]
fn the_impurity_of_trees_added_to_a_start_model_is_that_of_its_residuals() {
    let bench = points();
    // A base model whose scores are all 2: residuals have the variance of the labels.
    bench.run("train points.csv --learner linear(bias=2,weights=x1:0) --out two.model").ok();
    let mart = "mart(trees=2,leaves=2,rate=1,min_rows=1)";
    bench.run(&format!("train points.csv --learner {mart} --start two.model --out s.model")).ok();
    let text =
        bench.run("model inspect s.model --tree 1 --impurity points.csv --svg tree.svg").ok().out();
    assert!(text.contains(", G 0.1205, before 0.7128\n"), "{text}");
    assert!(bench.text("tree.svg").contains("G 0.1205, before 0.7128"));
    let json = bench.run("model inspect s.model --tree 2 --impurity points.csv --json").json();
    let before = json["tree"]["impurities"][0]["before"].as_f64().unwrap();
    assert!((before - 0.120507).abs() < 1e-5, "{json}");
    let ran = bench.run("model inspect s.model --tree 3 --impurity points.csv");
    assert!(ran.code() == 1 && ran.err().contains("the model has 2 trees"), "{}", ran.err());
}

/// Regression: `lecture 000` and `lecture W`, the names of the documentation, were unknown.
#[test]
fn examples_of_a_lecture_are_computed_by_its_letter_or_number() {
    let bench = Bench::new();
    let list = bench.run("lecture").ok().out();
    assert!(list.contains("W or 000: A. F. Wicaksono") && list.contains("T or 004: T. Tunys"));
    let by_letter = bench.run("lecture T").ok().out();
    assert!(by_letter.starts_with("inversions: ") && by_letter.contains("\nlambdas: "));
    assert!(!by_letter.contains("\nmart: "), "{by_letter}");
    assert_eq!(bench.run("lecture 004").ok().out(), by_letter);
    let ran = bench.run("lecture 007");
    assert_ne!(ran.code(), 0);
    for name in ["ndcg-exponential", "mart", "W, 000, Z, 001, P, 002, G, 003, T, 004"] {
        assert!(ran.err().contains(name), "{}", ran.err());
    }
}

/// Whether the line of a text that begins with `start` has all the `parts`.
fn row_with(text: &str, start: &str, parts: &[&str]) -> bool {
    let mut rows = text.lines().filter(|line| line.trim_start().starts_with(start));
    rows.any(|row| parts.iter().all(|part| row.contains(part)))
}

#[test]
fn worked_examples_are_listed_computed_and_written_as_a_page() {
    let bench = Bench::new();
    let list = bench.run("lecture").ok().out();
    for name in ["ndcg", "inversions", "cross-entropy", "tree", "mart", "knn", "pair-space"] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{list}");
    }
    let text = bench.run("lecture mart").ok().out();
    assert!(
        row_with(&text, "h1, yes: mean residual", &["-1.0261", "-1.027", "the slide rounds F0"]),
        "{text}"
    );
    let json = bench.run("lecture ndcg tree --json").json();
    assert_eq!(json["examples"][0]["steps"][0]["slide"], "1.45");
    assert_eq!(json["examples"][1]["name"], "tree");
    bench.run("lecture --html all.html --assets parts").ok();
    assert!(bench.text("all.html").contains("Regions of the regression tree"));
    for file in ["pair-losses.svg", "original-space.svg", "space-of-pairs.svg", "tree-regions.svg"]
    {
        assert!(bench.text(&format!("parts/{file}")).starts_with("<svg"), "{file}");
    }
    let ran = bench.run("lecture ncdg");
    assert!(ran.code() == 1 && ran.err().contains("did you mean `ndcg`"), "{}", ran.err());
}

/// The texts in backticks of a line of Markdown.
fn codes(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The rows of the tables of `docs/lectures.md` that have a command: the item and its codes.
fn items() -> Vec<(String, Vec<String>)> {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lectures.md");
    let text = std::fs::read_to_string(page).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    // The columns are item, lectures and command.
    let cells = rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let cells = cells.filter(|cells| cells.len() == 3 && cells[2].contains('`'));
    cells.map(|cells| (cells[0].to_owned(), codes(cells[2]).map(str::to_owned).collect())).collect()
}

/// Words of the command line that the tables show without the command before them.
fn words(code: &str) -> Vec<&str> {
    code.split_whitespace().map(|word| word.trim_matches('\'')).collect()
}

/// Every item of the lectures has a command that there is: commands, flags, learners, metrics,
/// examples and features of the tables all exist.
#[test]
fn every_item_of_the_lectures_has_a_command_that_there_is() {
    let bench = Bench::new();
    let items = items();
    assert!(items.len() > 55, "{} items", items.len());
    let mut checked = 0;
    for (item, codes) in &items {
        for code in codes {
            let text = code.replace(" ...", "").replace("[--svg FILE]", "--svg FILE");
            let (first, command) = match words(&text).as_slice() {
                ["data", "generate", kind, ..] => ("data", format!("data generate {kind}")),
                // A line of the command: one or two words, then arguments.
                [first, second, ..]
                    if ["data", "model", "report", "clicks", "judge", "list", "interleave"]
                        .contains(first)
                        && second.chars().all(|c| c.is_ascii_lowercase() || c == '-') =>
                {
                    (*first, format!("{first} {second}"))
                }
                [first, ..] => (*first, (*first).to_owned()),
                [] => continue,
            };
            let help = bench.run(&format!("{command} --help"));
            let is_command = help.code() == 0 && !first.starts_with('-');
            if is_command && first != "lecture" {
                let flags = words(&text).into_iter().filter(|word| word.starts_with("--"));
                for flag in flags {
                    let flag = flag.split('=').next().unwrap();
                    assert!(help.out().contains(flag), "{item}: {command} has no {flag}");
                }
                checked += 1;
            }
            if let Some(example) = text.strip_prefix("lecture ") {
                bench.run(&format!("lecture {example}")).ok();
                checked += 1;
            }
            // A learner as the value of a flag, or alone.
            let spec = match text.split_once("--learner ") {
                Some((_, spec)) => spec.trim_matches('\''),
                None => text.as_str(),
            };
            let name = spec.split('(').next().unwrap();
            let is_learner = LEARNERS.iter().any(|learner| learner.name == name);
            if is_learner && !spec.contains("...") {
                LearnerSpec::parse(spec).unwrap_or_else(|error| panic!("{item}: {error}"));
                checked += 1;
            }
        }
    }
    assert!(checked > 70, "{checked} commands and learners were checked");
}
