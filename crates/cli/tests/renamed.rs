//! Flags of earlier versions are refused with their new names, and warnings of all commands have
//! one shape.

use crate::common::{Bench, bench};
use serde_json::Value;

/// A command line with an old flag, and the new name that the message has.
const RENAMED: [(&str, &str); 11] = [
    ("train train.txt --learner mart --measure-training --out m.model", "--eval-train"),
    ("--quiet --threads 2 train --measure-training", "--eval-train"),
    ("explain m.model train.txt --orders 64", "--permutations"),
    ("explain m.model train.txt --orders=64", "--permutations"),
    ("explain m.model train.txt --html e.html --parts dir", "--assets"),
    ("compare train.txt a.model b.model --html c.html --parts dir", "--assets"),
    ("report train m.model train.txt --parts dir", "--assets"),
    ("report shrinkage train.txt --parts dir", "--assets"),
    ("report compare train.txt a.model b.model --parts dir", "--assets"),
    ("report data train.txt --parts dir", "--assets"),
    ("search shop jazz --with language=en", "--query-field"),
];

#[test]
fn old_flags_are_refused_with_the_new_name() {
    let bench = Bench::new();
    for (line, new) in RENAMED {
        let ran = bench.run(line);
        assert_eq!(ran.code(), 2, "{line}: {}", ran.err());
        let expected = format!("was renamed: write {new}\n");
        assert!(ran.err().ends_with(&expected), "{line}: {}", ran.err());
    }
    // The same word at a command that never had it is an ordinary error.
    let ran = bench.run("score m.model train.txt --orders 64");
    assert!(ran.code() == 2 && ran.err().contains("unexpected argument"), "{}", ran.err());
    assert!(!ran.err().contains("renamed"), "{}", ran.err());
    // `--parts` of a split is not an old name.
    let ran = bench.run("data split nowhere.txt --parts a=1 --out parts");
    assert_eq!(ran.code(), 1, "{}", ran.err());
}

/// The kinds of the warnings of a document; each is an object with a kind and a sentence.
fn kinds(document: &Value) -> Vec<String> {
    let warnings = document["warnings"].as_array().expect("a list of warnings");
    let kind = |warning: &Value| {
        assert!(warning["message"].as_str().is_some_and(|text| !text.is_empty()), "{warning}");
        let kind = warning["kind"].as_str().unwrap_or_else(|| panic!("{warning}"));
        assert!(kind.chars().all(|c| c == '-' || c.is_ascii_alphanumeric()), "{kind}");
        kind.to_owned()
    };
    warnings.iter().map(kind).collect()
}

#[test]
fn warnings_have_one_shape_in_every_document() {
    let bench = bench();
    let blank = bench.text("valid.txt").replacen('\n', "\n\n", 1);
    bench.put("blank.txt", &blank).put("qrels", "a 0 x 1\n").put("x.run", "b 0 x 1 2 r\n");
    bench.put(
        "docs.jsonl",
        "{\"id\": \"a\", \"text\": \"one\"}\n{\"id\": \"a\", \"text\": \"two\"}\n",
    );
    bench.put("queries.tsv", "q\tthree\n");
    bench.run("train train.txt --learner mart(trees=2) --out m.model").ok();
    for (line, expected) in [
        ("train blank.txt --learner mart(trees=2) --out b.model --json", "blank-lines"),
        ("cv blank.txt --learner mart(trees=2) --folds 2 --json", "blank-lines"),
        ("score m.model blank.txt --out s.txt --json", "blank-lines"),
        ("eval m.model blank.txt --json", "blank-lines"),
        ("eval --run x.run --qrels qrels --json", "unjudged-queries"),
        ("compare blank.txt m.model b.model --json", "blank-lines"),
        ("explain m.model blank.txt --json", "blank-lines"),
        ("model inspect m.model --data blank.txt --json", "blank-lines"),
        ("data inspect blank.txt --json", "blank-lines"),
        ("data convert blank.txt c.rwd --json", "blank-lines"),
        ("data split blank.txt --out parts --json", "blank-lines"),
        ("report data blank.txt --json", "blank-lines"),
        ("report train m.model blank.txt --json", "other-data"),
        ("index docs.jsonl --out shop --json", "duplicate-ids"),
        ("search shop three --filter text:none --json", "nothing-passes"),
        ("run shop --queries queries.tsv --out y.run --json", "nothing-found"),
    ] {
        let found = kinds(&bench.run(line).json());
        assert!(found.iter().any(|kind| kind == expected), "{line}: {found:?}");
    }
}
