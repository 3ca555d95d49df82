//! Reports do not train: no code of this crate names a training function.

use std::fs;
use std::path::{Path, PathBuf};

/// Types and functions of `rankwright-learn` without which nobody can start a training.
const TRAINERS: [&str; 8] = [
    "LearnerSpec",
    "Learner",
    "Booster",
    "ObjectiveBooster",
    "cross_validate",
    "tune",
    "TrainRequest",
    "Trainer",
];

#[test]
fn reports_name_no_trainer() {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 40, "only {} files were found", files.len());
    let mut found = Vec::new();
    for path in files.iter().filter(|path| !path.ends_with("tests.rs")) {
        let text = fs::read_to_string(path).unwrap();
        for (number, line) in library_lines(&text) {
            let code = without_text(line);
            let names = |name: &&str| words(&code).any(|word| word == *name);
            if TRAINERS.iter().any(names) || code.contains(".train(") || code.contains(".fit(") {
                found.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => collect(&path, files),
            false if path.extension().is_some_and(|end| end == "rs") => files.push(path),
            false => {}
        }
    }
}

/// The lines of a file that are compiled into the library, with their numbers: no comments, and
/// nothing from the unit tests on, which train models.
fn library_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let tests = |(_, line): &(usize, &str)| !line.starts_with("mod tests {");
    lines.take_while(tests).filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// A line without its string literals.
fn without_text(line: &str) -> String {
    line.split('"').step_by(2).collect::<Vec<_>>().join(" ")
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
}
