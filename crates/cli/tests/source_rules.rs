//! Rules for the source: messages of the libraries name no flags and commands, the command line
//! only renders results of the library, documentation does not begin with a question word, plurals
//! are correct, and few type names stand for several things.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Crates whose messages also reach users of Rust, Python and HTTP: all but the command.
fn libraries() -> Vec<PathBuf> {
    let folders = std::fs::read_dir(crates()).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = folders.filter(|folder| !folder.ends_with("cli")).collect();
    found.sort();
    found
}

/// The commands of `rankwright`, from its own help.
fn commands() -> &'static [String] {
    static COMMANDS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let help = Command::new(env!("CARGO_BIN_EXE_rankwright")).arg("--help").output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let listed = listed.take_while(|line| !line.is_empty());
        let name = |line: &str| line.strip_prefix("  ")?.split(' ').next().map(str::to_owned);
        listed.filter_map(name).filter(|name| !name.is_empty()).collect()
    });
    &COMMANDS
}

#[test]
fn the_rules_know_every_crate_and_command() {
    let libraries: Vec<_> =
        libraries().iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    assert!(
        libraries.iter().any(|name| name == "clicks") && libraries.len() >= 10,
        "{libraries:?}"
    );
    for command in ["clicks", "train", "man"] {
        assert!(commands().iter().any(|name| name == command), "{command}: {:?}", commands());
    }
}

#[test]
fn library_texts_name_no_flag_and_no_command() {
    let mut found = Vec::new();
    for library in libraries() {
        for file in rust_files(&library.join("src")) {
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
fn the_command_makes_no_json() {
    let mut found = Vec::new();
    let folder = crates().join("cli/src");
    for file in rust_files(&folder) {
        let name = file.strip_prefix(&folder).unwrap().display().to_string();
        let source = std::fs::read_to_string(&file).unwrap();
        let count = source.lines().filter(|line| calls_json(line)).count();
        if count > 0 {
            found.push(format!("{name}: {count} times json!"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Whether a line calls the macro, with any kind of bracket and with spaces before it.
fn calls_json(line: &str) -> bool {
    let after = line.split("json!").skip(1);
    after.into_iter().any(|after| after.trim_start().starts_with(['(', '{', '[']))
}

#[test]
fn the_macro_is_found_with_any_bracket() {
    for line in ["json!({})", "json! {", "let x = serde_json::json!{\"a\": 1};", "json! [1]"] {
        assert!(calls_json(line), "{line}");
    }
    assert!(!calls_json("// Nothing here is made by json!."));
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
        let programs = manifest.split("[[test]]\nname = \"").skip(1);
        let programs: Vec<&str> = programs.filter_map(|rest| rest.split('"').next()).collect();
        let tests = folder.join("tests");
        let source = |program: &&str| std::fs::read_to_string(tests.join(format!("{program}.rs")));
        let named: String = programs.iter().map(|program| source(program).unwrap()).collect();
        for file in std::fs::read_dir(&tests).unwrap() {
            let path = file.unwrap().path();
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            let is_source =
                path.extension().is_some_and(|end| end == "rs") && !programs.contains(&&*stem);
            if is_source && !named.lines().any(|line| line == format!("mod {stem};")) {
                lost.push(path.display().to_string());
            }
        }
    }
    assert!(lost.is_empty(), "not named in the test program: {}", lost.join(", "));
}

/// The page of docs/ that names the test of each mistake.
#[test]
fn every_test_that_the_documentation_names_exists() {
    let root = crates().parent().unwrap().to_owned();
    let page = std::fs::read_to_string(root.join("docs/reliability-tests.md")).unwrap();
    let mut sources = String::new();
    let folders = [crates(), root.join("tests")];
    let mut folders: Vec<PathBuf> = folders.into();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_source = path.extension().is_some_and(|end| end == "rs" || end == "py");
            match path.is_dir() {
                true => folders.push(path),
                false if is_source => sources += &std::fs::read_to_string(path).unwrap(),
                false => {}
            }
        }
    }
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    let last_cells = rows.filter_map(|row| row.trim_end_matches(" |").rsplit(" | ").next());
    let names: Vec<&str> = last_cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert!(names.len() > 70, "{}", names.len());
    let exists = |name: &&&str| {
        ["fn ", "def "].iter().any(|word| sources.contains(&format!("{word}{name}(")))
    };
    let missing: Vec<&&str> = names.iter().filter(|name| !exists(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
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

/// The first flag, or command after the word `rankwright`, in a text.
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
    let called =
        |pair: &&[&str]| pair[0] == "rankwright" && commands().iter().any(|c| c == pair[1]);
    words.windows(2).find(called).map(|pair| pair.join(" "))
}

/// A file up to the tests at its end; a line `mod tests;` for tests in another file does not end
/// it.
fn without_tests(source: &str) -> &str {
    let starts = source.match_indices("#[cfg(test)]\nmod ").map(|(at, _)| at);
    let is_inline = |at: &usize| {
        let module = source[*at..].lines().nth(1).unwrap_or_default();
        module.contains('{')
    };
    let end = starts.into_iter().find(is_inline).unwrap_or(source.len());
    &source[..end]
}

/// String literals of a file with their lines, up to its test module, without comments.
fn strings(source: &str) -> Vec<(usize, String)> {
    let bytes = without_tests(source).as_bytes();
    let (mut found, mut at, mut line) = (Vec::new(), 0, 1);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest {
            [b'/', b'/', ..] => rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len()),
            [b'\'', b'\\', _, ..] => {
                3 + rest[3..].iter().position(|&b| b == b'\'').unwrap_or(0) + 1
            }
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

/// First words of documentation that describes something without naming it.
const QUESTION_WORDS: [&str; 5] = ["What ", "How ", "Where ", "Someone ", "Something "];

#[test]
fn no_public_item_is_documented_by_a_question() {
    let mut found = Vec::new();
    for file in all_sources() {
        let source = std::fs::read_to_string(&file).unwrap();
        for (line, text) in questions(&source) {
            found.push(format!("{}:{line}: {text}", file.display()));
        }
    }
    assert!(found.is_empty(), "{} places:\n{}", found.len(), found.join("\n"));
}

#[test]
fn plurals_in_messages_are_written_out() {
    let mut found = Vec::new();
    for file in all_sources() {
        let source = std::fs::read_to_string(&file).unwrap();
        for (line, text) in strings(&source).into_iter().filter(|(_, text)| has_both_forms(text)) {
            found.push(format!("{}:{line}: {text:?}", file.display()));
        }
    }
    let help = "use rankwright_spec::words::counted";
    assert!(found.is_empty(), "{} places; {help}:\n{}", found.len(), found.join("\n"));
}

/// Maximum number of type names that may stand for two or more things in all crates together.
const MOST_SHARED_NAMES: usize = 30;

#[test]
fn few_type_names_stand_for_several_things() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in all_sources() {
        let source = std::fs::read_to_string(&file).unwrap();
        for name in type_names(&source) {
            places.entry(name).or_default().push(file.display().to_string());
        }
    }
    places.retain(|_, files| files.len() > 1);
    let list: Vec<String> =
        places.iter().map(|(name, files)| format!("{name}: {}", files.join(", "))).collect();
    let count = places.len();
    assert!(
        count <= MOST_SHARED_NAMES,
        "{count} type names stand for several things; at most {MOST_SHARED_NAMES} may:\n{}",
        list.join("\n")
    );
}

/// The source files of all crates, without tests.
fn all_sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(crates()).unwrap() {
        let folder = entry.unwrap().path().join("src");
        if folder.is_dir() {
            files.extend(rust_files(&folder));
        }
    }
    assert!(files.len() > 300, "only {} files were found", files.len());
    files
}

/// Lines of documentation of public items and of whole files that begin with a question word.
fn questions(source: &str) -> Vec<(usize, String)> {
    let is_question = |text: &str| QUESTION_WORDS.iter().any(|word| text.starts_with(word));
    let mut found = Vec::new();
    // The first line of the current documentation comment, until its item is known.
    let mut first: Option<(usize, &str)> = None;
    for (number, line) in (1..).zip(source.lines()) {
        let line = line.trim();
        if let Some(text) =
            line.strip_prefix("//! ").filter(|text| number == 1 && is_question(text))
        {
            found.push((number, text.to_owned()));
        } else if let Some(text) = line.strip_prefix("///") {
            first.get_or_insert((number, text.trim()));
        } else if !line.starts_with("#[") && !line.is_empty() {
            let item = first.take().filter(|(_, text)| is_question(text));
            // Variants and fields of public types have no `pub` of their own or a plain one.
            let hidden = ["fn ", "struct ", "enum ", "const ", "mod ", "pub(", "let ", "static "];
            let is_public = !hidden.iter().any(|word| line.starts_with(word));
            found.extend(item.filter(|_| is_public).map(|(at, text)| (at, text.to_owned())));
        }
    }
    found
}

/// Whether a message has singular and plural in one, as in `row(s)` or `query/queries`.
fn has_both_forms(text: &str) -> bool {
    let endings = ["(s)", "(es)", "(ies)", "/ies"];
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '/');
    let two_words = |word: &str| match word.split_once('/') {
        Some((one, many)) => one.len() > 2 && (many == format!("{one}s") || many == plural(one)),
        None => false,
    };
    endings.iter().any(|ending| text.contains(ending)) || words.into_iter().any(two_words)
}

fn plural(word: &str) -> String {
    word.strip_suffix('y').map_or(format!("{word}es"), |stem| format!("{stem}ies"))
}

/// Names of the structs, enums and traits that a file declares outside of its tests. `Args` is
/// left out: the arguments of every command have that name.
fn type_names(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in without_tests(source).lines() {
        let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
        if let (Some("struct" | "enum" | "trait"), Some(rest)) = (words.next(), words.next()) {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
            if name.starts_with(char::is_uppercase) && name != "Args" {
                names.push(name);
            }
        }
    }
    names
}

#[test]
fn the_rules_for_words_see_what_they_look_for() {
    let source = "//! How it works.\n\n/// What it is.\n#[derive(Debug)]\npub struct A {\n    \
                  /// Where it is.\n    pub at: usize,\n}\n\n/// What helps.\nfn b() {}\n\n\
                  /// A value.\n/// What follows is fine.\npub enum C {}\n";
    let lines: Vec<usize> = questions(source).into_iter().map(|(line, _)| line).collect();
    assert_eq!(lines, [1, 3, 6]);
    assert_eq!(type_names(source), ["A", "C"]);
    let outer = "#[cfg(test)]\nmod tests;\npub(super) trait D<'a> {\n";
    assert_eq!(type_names(&format!("{outer}#[cfg(test)]\nmod t {{ struct E; }}")), ["D"]);
    for text in ["1 row(s)", "query/queries", "a query/ies", "file/files", "pass/passes"] {
        assert!(has_both_forms(text), "{text}");
    }
    for text in ["train/test", "a/b", "bm25/s", "rows and row"] {
        assert!(!has_both_forms(text), "{text}");
    }
}
