//! Rules for the source: messages of the libraries name no flags and verbs, and the command only
//! renders results of the library.

use std::path::{Path, PathBuf};

/// Crates whose messages also reach users of Rust, Python and HTTP.
const LIBRARIES: [&str; 9] =
    ["data", "eval", "experiment", "learn", "model", "rankwright", "report", "search", "spec"];

/// Verbs of the command.
const VERBS: [&str; 18] = [
    "classify",
    "compare",
    "cv",
    "data",
    "demo",
    "eval",
    "experiment",
    "explain",
    "features",
    "index",
    "list",
    "model",
    "report",
    "run",
    "score",
    "search",
    "train",
    "tune",
];

/// Files of the command that build JSON themselves, and the reason.
const OWN_JSON: [(&str, &str); 1] =
    [("page.rs", "adds the names of the files that it wrote to the document")];

#[test]
fn library_texts_name_no_flag_and_no_verb() {
    let mut found = Vec::new();
    for library in LIBRARIES {
        for file in rust_files(&crates().join(library).join("src")) {
            let source = std::fs::read_to_string(&file).unwrap();
            for (line, text) in strings(&source) {
                if let Some(word) = command_word(&text) {
                    found.push(format!("{}:{line}: {word} in {text:?}", file.display()));
                }
            }
        }
    }
    assert!(found.is_empty(), "{} places:\n{}", found.len(), found.join("\n"));
}

#[test]
fn the_command_makes_no_json_but_its_own() {
    let mut found = Vec::new();
    let folder = crates().join("cli/src");
    for file in rust_files(&folder) {
        let name = file.strip_prefix(&folder).unwrap().display().to_string();
        let source = std::fs::read_to_string(&file).unwrap();
        let own = OWN_JSON.iter().any(|(own, _)| *own == name);
        let count = source.lines().filter(|line| line.contains("json!(")).count();
        if count > 0 && !own {
            found.push(format!("{name}: {count} times json!"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Crates whose test files are modules of one program (`autotests = false`): a file that no program
/// names would never run.
#[test]
fn every_file_of_tests_is_part_of_a_program() {
    let mut lost = Vec::new();
    for entry in std::fs::read_dir(crates()).unwrap() {
        let folder = entry.unwrap().path();
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        if !manifest.contains("autotests = false") {
            continue;
        }
        let program = manifest.split("[[test]]\nname = \"").nth(1).expect("a test program");
        let program = program.split('"').next().unwrap();
        let tests = folder.join("tests");
        let named = std::fs::read_to_string(tests.join(format!("{program}.rs"))).unwrap();
        for file in std::fs::read_dir(&tests).unwrap() {
            let path = file.unwrap().path();
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            let is_source = path.extension().is_some_and(|end| end == "rs") && stem != program;
            if is_source && !named.lines().any(|line| line == format!("mod {stem};")) {
                lost.push(path.display().to_string());
            }
        }
    }
    assert!(lost.is_empty(), "not named in the test program: {}", lost.join(", "));
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// All source files except tests.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        if stem == "tests" || stem == "test_support" {
            continue;
        }
        match path.is_dir() {
            true => files.extend(rust_files(&path)),
            false if path.extension().is_some_and(|end| end == "rs") => files.push(path),
            false => {}
        }
    }
    files.sort();
    files
}

/// The first flag, or verb after the command's name, in a text.
fn command_word(text: &str) -> Option<String> {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || "`'\"(),;:=".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let is_flag = |word: &str| {
        word.strip_prefix("--")
            .is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    if let Some(flag) = words.iter().find(|word| is_flag(word)) {
        return Some((*flag).to_owned());
    }
    let called = |pair: &&[&str]| pair[0] == "rankwright" && VERBS.contains(&pair[1]);
    words.windows(2).find(called).map(|pair| pair.join(" "))
}

/// String literals of a file with their lines, up to its test module, without comments.
fn strings(source: &str) -> Vec<(usize, String)> {
    let end = source.find("#[cfg(test)]\nmod ").unwrap_or(source.len());
    let bytes = &source.as_bytes()[..end];
    let (mut found, mut at, mut line) = (Vec::new(), 0, 1);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest {
            [b'/', b'/', ..] => rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len()),
            [b'\'', b'\\', ..] => 2 + rest[2..].iter().position(|&b| b == b'\'').unwrap_or(0) + 1,
            [b'\'', _, b'\'', ..] => 3,
            [b'r', b'"', ..] | [b'r', b'#', ..] => match raw_string(rest) {
                Some((length, text)) => {
                    found.push((line, text));
                    length
                }
                None => 1,
            },
            [b'"', ..] => {
                let (length, text) = plain_string(rest);
                found.push((line, text));
                length
            }
            _ => 1,
        };
        line += rest[..length].iter().filter(|&&b| b == b'\n').count();
        at += length;
    }
    found
}

fn plain_string(rest: &[u8]) -> (usize, String) {
    let mut at = 1;
    while at < rest.len() && rest[at] != b'"' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1, String::from_utf8_lossy(&rest[1..at.min(rest.len())]).into_owned())
}

fn raw_string(rest: &[u8]) -> Option<(usize, String)> {
    let hashes = rest[1..].iter().take_while(|&&b| b == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let close = [b"\"", &b"#".repeat(hashes)[..]].concat();
    let start = 2 + hashes;
    let length = rest[start..].windows(close.len()).position(|part| part == close)?;
    let text = String::from_utf8_lossy(&rest[start..start + length]).into_owned();
    Some((start + length + close.len(), text))
}

#[test]
fn the_reader_of_strings_sees_literals_and_no_comments() {
    let source = "// \"--no\"\nlet a = '\"'; let b = \"give --valid\"; let c = r#\"x \"y\"\"#;\n\
                  #[cfg(test)]\nmod tests { \"--fine\" }";
    let found = strings(source);
    assert_eq!(found, [(2, "give --valid".to_owned()), (2, "x \"y\"".to_owned())]);
    assert_eq!(command_word("give --valid").as_deref(), Some("--valid"));
    assert_eq!(command_word("see `rankwright list formats`").as_deref(), Some("rankwright list"));
    assert_eq!(command_word("a -- b, rankwright model files"), Some("rankwright model".to_owned()));
    assert_eq!(command_word("a rankwright file -- fine"), None);
}
