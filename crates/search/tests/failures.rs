//! Kills, full disks and damage: an index is the old one or the new one, and damage is an error.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{
    assert_is_clean, build, build_with, document, large, message, names, old_documents, search,
};
use rankwright_search::{
    BuildOptions, Document, Existing, Extractor, FIRST_STAGES, FeatureSet, Filter, FirstStage,
    Index, Query, Schema, SearchBuffers, SearchError, Terms, Value, build_index,
};

// ---------------------------------------------------------------------------- kills and full disks

/// Documents of the collection that a child process builds.
const LARGE: usize = 12_000;

const TASK: &str = "RANKWRIGHT_TEST_TASK";
const BASE: &str = "RANKWRIGHT_TEST_FOLDER";

/// Not a test itself: the tests below run it as another process, which is killed or runs out of
/// disk.
#[test]
#[ignore = "started by other tests"]
fn child_that_builds_a_large_index() {
    let (Some(task), Some(base)) = (std::env::var_os(TASK), std::env::var_os(BASE)) else {
        return;
    };
    let (task, base) = (task.into_string().unwrap(), PathBuf::from(base));
    let existing = match task.as_str() {
        "add" => Existing::Add,
        "rebuild" => Existing::Replace,
        _ => Existing::Refuse,
    };
    let options = BuildOptions::new().existing(existing);
    let documents = (0..LARGE).map(|number| Ok(large(number)));
    let result = build_index(base.join("index"), documents, &options, &mut |done| {
        fs::write(base.join("progress"), done.to_string()).unwrap();
        ControlFlow::Continue(())
    });
    let outcome = match result {
        Ok(_) => "done".to_owned(),
        Err(error) => message(&error),
    };
    fs::write(base.join("outcome"), outcome).unwrap();
}

fn child(task: &str, base: &Path, limit: Option<u32>) -> Child {
    let _ = fs::remove_file(base.join("progress"));
    let _ = fs::remove_file(base.join("outcome"));
    let exe = std::env::current_exe().unwrap();
    let words = ["--exact", "failures::child_that_builds_a_large_index", "--ignored"];
    let mut command = match limit {
        None => Command::new(exe),
        // Writing more into a file than the limit fails, as on a full disk; without the trap the
        // system would kill the process instead.
        Some(blocks) => {
            let mut shell = Command::new("sh");
            let line = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
            shell.arg("-c").arg(line).arg(exe);
            shell
        }
    };
    let command = command.args(words).env(TASK, task).env(BASE, base);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until a child process has added this many documents.
fn wait_for(base: &Path, documents: usize) {
    let start = Instant::now();
    loop {
        let done = fs::read_to_string(base.join("progress")).unwrap_or_default();
        if done.parse::<usize>().is_ok_and(|done| done >= documents) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "the child does not get there");
        sleep(Duration::from_millis(2));
    }
}

/// Kills a child process during its work: either all of the old index is there, or all of the new.
fn kill_during(task: &str, after: usize, delay: Duration) {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path();
    let path = base.join("index");
    if task != "new" {
        build(&path, old_documents(), Existing::Refuse).unwrap();
    }
    let mut child = child(task, base, None);
    wait_for(base, after);
    sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
    let what = format!("{task}, killed {delay:?} after {after} documents");
    let (old, new) = (2, if task == "add" { LARGE + 2 } else { LARGE });
    match Index::open(&path) {
        Ok(index) if index.documents() == new => {}
        Ok(index) => {
            assert_eq!(index.documents(), old, "{what}");
            assert_eq!(search(&index, "old"), ["old-2", "old-1"], "{what}");
            assert!(search(&index, "large").is_empty(), "{what}");
        }
        Err(error) => {
            assert_eq!(task, "new", "{what}: {error}");
            assert!(error.to_string().contains("there is no index"), "{what}: {error}");
        }
    }
    // The next build finds the folder unlocked, and leaves nothing of the killed one behind.
    let next = vec![document("next", "the next record")];
    let existing = if task == "add" { Existing::Add } else { Existing::Replace };
    build(&path, next, existing).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_is_clean(&path);
    assert_eq!(search(&Index::open(&path).unwrap(), "next"), ["next"], "{what}");
}

#[test]
fn a_build_killed_on_the_way_leaves_the_old_index() {
    for task in ["rebuild", "add", "new"] {
        kill_during(task, 3000, Duration::ZERO);
    }
}

#[test]
fn a_build_killed_at_its_end_leaves_the_old_index_or_the_new_one() {
    for (task, delay) in
        [("rebuild", 0), ("rebuild", 60), ("rebuild", 150), ("add", 30), ("add", 120), ("new", 80)]
    {
        kill_during(task, LARGE, Duration::from_millis(delay));
    }
}

#[test]
fn a_build_removes_the_leftovers_of_a_killed_build() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let write_leftovers = || {
        fs::create_dir_all(path.join("generation-7")).unwrap();
        fs::write(path.join("generation-7/meta.json"), "{}").unwrap();
        fs::write(path.join(".rankwright-7-1"), "{").unwrap();
        fs::write(path.join("building.lock"), "").unwrap();
        // In the generation in use: a file that tantivy had not renamed yet.
        let in_use = names(&path).into_iter().find(|name| name.starts_with("generation-")).unwrap();
        fs::write(path.join(in_use).join(".tmpa1B2c3"), "{").unwrap();
    };
    for existing in [Existing::Refuse, Existing::Add, Existing::Replace] {
        write_leftovers();
        build(&path, old_documents(), existing).unwrap();
        assert_is_clean(&path);
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_and_leaves_the_old_index() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path();
    let path = base.join("index");
    build(&path, old_documents(), Existing::Refuse).unwrap();
    for task in ["rebuild", "add"] {
        let status = child(task, base, Some(100)).wait().unwrap();
        assert!(status.success(), "{task}: the child must not end with a failure: {status}");
        let outcome = fs::read_to_string(base.join("outcome")).unwrap();
        assert!(outcome.starts_with("cannot access the index "), "{task}: {outcome}");
        let cause = std::io::Error::from(std::io::ErrorKind::FileTooLarge).to_string();
        assert!(outcome.to_lowercase().contains(&cause), "{task}: {outcome}");
        let index = Index::open(&path).unwrap();
        assert_eq!(search(&index, "old"), ["old-2", "old-1"], "{task}");
        assert_eq!(index.documents(), 2, "{task}");
    }
    build(&path, vec![document("old-3", "old again")], Existing::Add).unwrap();
    assert_is_clean(&path);
    assert_eq!(Index::open(&path).unwrap().documents(), 3);
}

// ------------------------------------------------------------------------------------------ damage

const SCHEMA: &str = "title:text, text:text, links:links, year:number, date:date, genre:category, \
                      url:url";

fn document_of_all_kinds(number: usize, word: &str) -> Document {
    let text = |text: String| Value::Text(text);
    Document::new(format!("d{number}"))
        .with("title", text(format!("{word} train {number}")))
        .with(
            "text",
            text(format!("the {word} sea and the {word} train of {number} giants").repeat(3)),
        )
        .with("links", Value::Texts(vec!["d1".into(), "d4".into()]))
        .with("year", Value::Number(1950.0 + number as f64))
        .with("date", text(format!("19{}-01-01", 50 + number)))
        .with("genre", text(if number.is_multiple_of(2) { "jazz".into() } else { "rock".into() }))
        .with("url", text(format!("https://a.org/{word}/{number}")))
}

/// An index of several segments with deleted documents.
fn index_of_all_kinds(path: &Path) {
    let first = (0..9).map(|number| document_of_all_kinds(number, "blue")).collect();
    let options = BuildOptions::new().schema(Schema::parse(SCHEMA).unwrap());
    build_with(path, first, &options).unwrap();
    let second = (6..12).map(|number| document_of_all_kinds(number, "red")).collect();
    build_with(path, second, &BuildOptions::new().existing(Existing::Add)).unwrap();
}

/// The results of all queries of an index, as text.
fn all_results(path: &Path) -> Result<String, SearchError> {
    let index = Arc::new(Index::open(path)?);
    let mut text = format!("{} documents\n", index.documents());
    let query = Query::new("q", "blue train");
    let terms = Terms::new(&query.text, index.analysis());
    let filter = Filter::new(&index, "genre:jazz AND year:>=1952")?;
    let mut found = Vec::new();
    for info in FIRST_STAGES {
        let stage = FirstStage::parse(info.name)?;
        for filter in [Some(&filter), None] {
            found = index.retrieve(&terms, &stage, 20, filter, &mut SearchBuffers::default())?;
            for ranked in &found {
                text.push_str(&format!("{} {} {:?}\n", info.name, index.id(ranked)?, ranked.score));
            }
        }
    }
    let set =
        FeatureSet::parse("default, rocchio(field=genre, class=*), knn(field=genre, class=rock)")?;
    let extractor = Extractor::new(index.clone(), &set)?;
    let rows = extractor.rows(&query, &terms, &found)?;
    text.push_str(&format!("{:?}\n{:?}\n", extractor.set().features, rows.values));
    for ranked in &found {
        let snippet = index.snippet(ranked, &terms, 40)?;
        text.push_str(&format!("{snippet:?} {:?}\n", index.document(index.id(ranked)?)?));
    }
    Ok(text)
}

/// Every file of an index.
fn files(path: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            true => files.extend(self::files(&entry)),
            false => files.push(entry),
        }
    }
    files.sort();
    files
}

/// The bytes of a file after several kinds of damage, each with a description.
fn damaged_copies(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut damaged: Vec<(String, Vec<u8>)> = Vec::new();
    for length in [0, bytes.len() / 2, bytes.len() - 1] {
        damaged.push((format!("cut to {length}"), bytes[..length].to_vec()));
    }
    damaged.push(("longer".into(), [bytes, b"xyz"].concat()));
    let flips = 24.min(bytes.len());
    for flip in 0..flips {
        let at = flip * bytes.len() / flips;
        let mut changed = bytes.to_vec();
        changed[at] ^= [0x01, 0x80, 0xff][flip % 3];
        damaged.push((format!("byte {at} changed"), changed));
    }
    damaged
}

#[test]
fn a_damaged_index_gives_an_error_or_the_right_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    index_of_all_kinds(&path);
    let right = all_results(&path).unwrap();
    assert!(right.contains("12 documents"), "{right}");
    let (mut errors, mut harmless) = (0, 0);
    for file in files(&path) {
        let bytes = fs::read(&file).unwrap();
        if bytes.is_empty() {
            continue;
        }
        for (what, damaged) in damaged_copies(&bytes) {
            fs::write(&file, damaged).unwrap();
            match all_results(&path) {
                Ok(text) => {
                    assert_eq!(text, right, "{} {what}", file.display());
                    harmless += 1;
                }
                Err(_) => errors += 1,
            }
        }
        fs::remove_file(&file).unwrap();
        if let Ok(text) = all_results(&path) {
            assert_eq!(text, right, "{} is missing", file.display());
        }
        fs::write(&file, &bytes).unwrap();
    }
    assert_eq!(all_results(&path).unwrap(), right, "all files are restored");
    assert!(errors > 3 * harmless, "{errors} errors, {harmless} harmless");
}

#[test]
fn a_damaged_index_can_be_built_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("first");
    index_of_all_kinds(&path);
    let empty = |file: &PathBuf| file.metadata().unwrap().len() == 0;
    for at in 0..files(&path).len() {
        let path = folder.path().join(format!("index-{at}"));
        index_of_all_kinds(&path);
        let files = files(&path);
        if files.get(at).is_none_or(empty) {
            continue;
        }
        let what = files[at].display();
        fs::write(&files[at], "{").unwrap();
        if let Err(error) = Index::open(&path) {
            assert!(is_broken(&error), "{what}: {error}");
            let error = build(&path, old_documents(), Existing::Add).unwrap_err();
            assert!(is_broken(&error), "{what}: {error}");
        }
        build(&path, old_documents(), Existing::Replace).unwrap();
        assert_eq!(search(&Index::open(&path).unwrap(), "old"), ["old-2", "old-1"], "{what}");
        assert_is_clean(&path);
    }
    fs::write(
        path.join("rankwright.json"),
        r#"{"rankwright_index":9,"generation":1,"analysis":"plain","schema":[]}"#,
    )
    .unwrap();
    let error = Index::open(&path).unwrap_err();
    assert!(message(&error).contains("has version 9"), "{error}");
    build(&path, old_documents(), Existing::Replace).unwrap();
    assert_eq!(Index::open(&path).unwrap().documents(), 2);
}

/// Whether an index has to be rebuilt.
fn is_broken(error: &SearchError) -> bool {
    matches!(error, SearchError::Damaged { .. })
}

// --------------------------------------------------------------------- readers beside other builds

#[test]
fn searches_beside_rebuilds_and_additions_never_fail() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    build(&path, old_documents(), Existing::Refuse).unwrap();
    let is_done = std::sync::atomic::AtomicBool::new(false);
    let done = || is_done.load(std::sync::atomic::Ordering::Relaxed);
    let searches = std::thread::scope(|scope| {
        let reader = |_| {
            scope.spawn(|| {
                let mut searches = 0;
                while !done() {
                    let index = Index::open(&path).unwrap_or_else(|e| panic!("{searches}: {e}"));
                    let found = search(&index, "old");
                    assert!(found.contains(&"old-1".to_owned()), "{found:?}");
                    searches += 1;
                }
                searches
            })
        };
        let readers: Vec<_> = (0..2).map(reader).collect();
        for round in 0..40 {
            let existing = if round % 3 == 2 { Existing::Add } else { Existing::Replace };
            build(&path, old_documents(), existing).unwrap();
        }
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
        readers.into_iter().map(|reader| reader.join().unwrap()).sum::<usize>()
    });
    assert!(searches > 20, "only {searches} searches");
    build(&path, old_documents(), Existing::Replace).unwrap();
    assert_is_clean(&path);
}

#[test]
fn an_old_generation_stays_until_its_readers_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    build(&path, old_documents(), Existing::Refuse).unwrap();
    let reader = Index::open(&path).unwrap();
    build(&path, vec![document("new", "a new record")], Existing::Replace).unwrap();
    assert!(path.join("generation-1/meta.json").is_file(), "it is read");
    assert_eq!(search(&reader, "old"), ["old-2", "old-1"]);
    assert_eq!(search(&Index::open(&path).unwrap(), "record"), ["new"]);
    drop(reader);
    build(&path, vec![document("new", "a new record")], Existing::Add).unwrap();
    assert_is_clean(&path);
}

#[test]
fn documents_added_through_an_index_that_was_rebuilt_meanwhile_are_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    build(&path, old_documents(), Existing::Refuse).unwrap();
    let mut open = Index::open(&path).unwrap();
    build(&path, vec![document("new", "a new record")], Existing::Replace).unwrap();
    open.add([Ok(document("added", "an added record"))]).unwrap();
    assert_eq!(search(&Index::open(&path).unwrap(), "record"), ["new", "added"]);
    assert_eq!(open.delete(["new"]).unwrap(), 1);
}

/// Every file below a folder, with its bytes and the time of its last change.
fn contents(path: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let modified = |file: &Path| file.metadata().unwrap().modified().unwrap();
    let all = files(path).into_iter();
    all.map(|file| (file.clone(), fs::read(&file).unwrap(), modified(&file))).collect()
}

#[test]
fn reading_an_index_writes_nothing_and_needs_no_lock_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    index_of_all_kinds(&path);
    for file in files(&path) {
        if file.extension().is_some_and(|extension| extension == "lock") {
            fs::remove_file(file).unwrap();
        }
    }
    let before = contents(&path);
    assert!(all_results(&path).unwrap().contains("12 documents"));
    assert_eq!(contents(&path), before);
    #[cfg(unix)]
    {
        // Permissions do not bind every user, but where they do, they must not matter.
        use std::os::unix::fs::PermissionsExt as _;
        let set = |mode| {
            for folder in [path.clone(), path.join("generation-1")] {
                fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
            }
        };
        set(0o555);
        let answer = all_results(&path);
        set(0o755);
        assert!(answer.unwrap().contains("12 documents"));
    }
}

#[test]
fn an_index_of_the_previous_version_is_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    index_of_all_kinds(&path);
    let file = path.join("rankwright.json");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"rankwright_index\": 2"), "{text}");
    fs::write(&file, text.replace("\"rankwright_index\": 2", "\"rankwright_index\": 1")).unwrap();
    for error in [
        Index::open(&path).map(drop).unwrap_err(),
        build(&path, old_documents(), Existing::Add).map(drop).unwrap_err(),
    ] {
        assert!(matches!(error, SearchError::IndexVersion { found: 1, known: 3, .. }), "{error}");
        let text = message(&error);
        assert!(text.contains("has version 1; this program reads version 3"), "{text}");
        assert!(text.contains("build the index again"), "{text}");
    }
    build(&path, old_documents(), Existing::Replace).unwrap();
    assert_is_clean(&path);
}
