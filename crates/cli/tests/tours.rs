//! The commands in README, tour, guide and how-to pages work as shown.
//!
//! Every block of shell commands (fence `sh`) is run, one after another in one folder, with the
//! built command in the path; a block fails with its first failing command. A block of plain text
//! (fence `text`) directly after it is the expected output. Commands on data that is not generally
//! available are in `text` blocks and are not run.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use crate::common::{Bench, Ran};

/// One fenced block.
#[derive(Debug, PartialEq)]
struct Block {
    fence: String,
    body: String,
    /// Whether it directly follows the previous block.
    follows: bool,
}

/// The fenced blocks of a Markdown text.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut open, mut follows) = (false, false);
    for line in text.lines() {
        match (line.strip_prefix("```"), open) {
            (Some(fence), false) => {
                blocks.push(Block { fence: fence.to_owned(), body: String::new(), follows });
                open = true;
            }
            (Some(_), true) => (open, follows) = (false, true),
            (None, true) => {
                if let Some(block) = blocks.last_mut() {
                    block.body += line;
                    block.body.push('\n');
                }
            }
            (None, false) => follows &= line.is_empty(),
        }
    }
    blocks
}

/// Runs shell commands in a folder, with the built command in the path.
fn shell(bench: &Bench, script: &str) -> Ran {
    let folder = Path::new(env!("CARGO_BIN_EXE_rankwright")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-e", "-u", "-c", script])
        .env("PATH", format!("{}:{path}", folder.display()))
        .current_dir(bench.path(""))
        .output();
    Ran(output.unwrap())
}

/// The text without spaces at the ends of lines, which editors remove.
fn without_trailing_spaces(text: &str) -> String {
    text.trim_end().lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Copies the tables beside a document, which its commands may read.
fn copy_tables(document: &Path, bench: &Bench) {
    for entry in std::fs::read_dir(document.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "parquet") {
            std::fs::copy(&path, bench.path("").join(path.file_name().unwrap())).unwrap();
        }
    }
}

/// Runs the blocks of a document of the project; returns the number of blocks run, and of those
/// compared.
fn walk(document: &str) -> (usize, usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(document);
    let blocks = blocks(&std::fs::read_to_string(&path).unwrap());
    let bench = Bench::new();
    copy_tables(&path, &bench);
    let (mut run, mut shown) = (0, 0);
    for (at, block) in blocks.iter().enumerate().filter(|(_, block)| block.fence == "sh") {
        let ran = shell(&bench, &block.body);
        assert_eq!(ran.code(), 0, "{}\n{}{}", block.body, ran.out(), ran.err());
        run += 1;
        if let Some(next) = blocks.get(at + 1).filter(|next| next.follows && next.fence == "text") {
            assert_eq!(
                without_trailing_spaces(&ran.out()),
                without_trailing_spaces(&next.body),
                "{}",
                block.body
            );
            shown += 1;
        }
    }
    (run, shown)
}

#[test]
fn every_command_of_the_readme_works_and_prints_what_is_shown() {
    let (run, shown) = walk("README.md");
    assert!(run >= 5 && shown >= 3, "{run} blocks were run, {shown} compared");
}

#[test]
fn every_command_of_the_tour_works_and_prints_what_is_shown() {
    let (run, shown) = walk("docs/tour.md");
    assert!(run >= 10 && shown >= 2, "{run} blocks were run, {shown} compared");
}

#[test]
fn every_command_of_the_guide_works() {
    let (run, _) = walk("docs/guide.md");
    assert!(run >= 10, "{run} blocks were run");
}

/// Pages whose commands other tests run: tour and guide above, experiments in `experiment.rs`.
const RUN_ELSEWHERE: [&str; 3] = ["docs/tour.md", "docs/guide.md", "docs/experiments.md"];

#[test]
fn every_command_of_the_other_pages_works() {
    let mut pages = 0;
    for (page, text) in pages_of_docs() {
        let has_commands = blocks(&text).iter().any(|block| block.fence == "sh");
        if has_commands && !RUN_ELSEWHERE.contains(&page.as_str()) {
            walk(&page);
            pages += 1;
        }
    }
    assert!(pages >= 5, "{pages} pages were run");
}

#[test]
fn the_pages_that_readers_look_for_exist_and_name_their_readers() {
    let pages = pages_of_docs();
    for needed in [
        "docs/README.md",
        "docs/clicks.md",
        "docs/guide.md",
        "docs/howto/classify.md",
        "docs/howto/clickthrough.md",
        "docs/howto/compare-runs.md",
        "docs/howto/elasticsearch.md",
        "docs/howto/from-lightgbm.md",
        "docs/howto/lecture.md",
        "docs/howto/nightly.md",
        "docs/howto/own-data.md",
        "docs/howto/parquet.md",
        "docs/howto/scikit-learn.md",
        "docs/howto/search.md",
        "docs/interleaving.md",
        "docs/judges.md",
        "docs/lectures.md",
        "docs/newton-step.md",
        "docs/objectives.md",
        "docs/python.md",
        "docs/reproducibility.md",
        "docs/scoring.md",
    ] {
        assert!(pages.iter().any(|(page, _)| page == needed), "there is no {needed}");
    }
    for (page, text) in &pages {
        let readers = text.lines().nth(2).unwrap_or_default();
        assert!(readers.starts_with("*For "), "{page} does not begin with its readers: {readers}");
    }
}

/// The pages under `docs`, except for the generated reference: path and text.
fn pages_of_docs() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = Vec::new();
    for folder in ["docs", "docs/howto"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "md") {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                let text = std::fs::read_to_string(&path).unwrap();
                pages.push((format!("{folder}/{name}"), text));
            }
        }
    }
    pages.sort();
    pages
}

/// Checks links to files of the project, in all documents: lists `(document, link)` of broken ones.
#[test]
fn every_link_between_documents_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut documents: Vec<_> = ["", "docs", "docs/howto", "docs/reference", "bench"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    documents.sort();
    assert!(documents.len() > 15, "{documents:?}");
    let mut broken = Vec::new();
    for document in &documents {
        let text = std::fs::read_to_string(document).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap();
            let outside = link.contains("://") || link.contains(char::is_whitespace);
            if !outside && !file.is_empty() && !document.parent().unwrap().join(file).exists() {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_block_fails_with_its_first_failing_command_and_blocks_are_separated() {
    let bench = Bench::new();
    assert_eq!(shell(&bench, "rankwright list formats\n").code(), 0);
    assert_ne!(shell(&bench, "rankwright lost\nrankwright list formats\n").code(), 0);
    let found = blocks("a\n```sh\nb\nc\n```\n\n```text\nd\n```\ne\n```text\n```\n");
    let result: Vec<(&str, &str, bool)> =
        found.iter().map(|b| (b.fence.as_str(), b.body.as_str(), b.follows)).collect();
    assert_eq!(result, [("sh", "b\nc\n", false), ("text", "d\n", true), ("text", "", false)]);
}
