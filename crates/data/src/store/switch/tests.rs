//! Tests of switches that are interrupted after each of their renames, and of lists of changes that
//! this program did not write.

use std::ffi::OsStr;

use super::*;
use crate::bytes::{Input, read_blocks};
use crate::store::temporary::is_temporary_name;
use crate::store::{WriteBody, check_room, write_atomic, write_together};

/// A body that writes this content.
fn body(content: &'static str) -> WriteBody<'static> {
    Box::new(move |out| out.write_all(content.as_bytes()))
}

/// Writes the files `a` and `b` together, both with this content.
fn write_pair(folder: &Path, content: &'static str) {
    let files = ["a", "b"].map(|name| (folder.join(name), Some(body(content))));
    write_together(files).unwrap();
}

/// The contents of the files `a` and `b`; empty if there is no such file.
fn contents(folder: &Path) -> [String; 2] {
    ["a", "b"].map(|name| fs::read_to_string(folder.join(name)).unwrap_or_default())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Writes `a` and `b` with the content `old`; then writes `a`, `b` and `end` with the content `new`
/// in this order. A folder with the name `end` makes the rename of that file fail, so that the
/// switch is interrupted there.
fn interrupt(folder: &Path, order: [&str; 3]) -> DataError {
    write_pair(folder, "old");
    let files = order.map(|name| {
        let path = folder.join(name);
        let obstacle = (name == "end").then(|| path.join("obstacle"));
        let body: WriteBody<'_> = Box::new(move |out| {
            obstacle.map_or(Ok(()), fs::create_dir_all)?;
            out.write_all(b"new")
        });
        (path, Some(body))
    });
    write_together(files).unwrap_err()
}

/// A folder with an unfinished switch, as a killed writer leaves it.
struct KilledFolder {
    path: PathBuf,
    _parent: tempfile::TempDir,
}

impl KilledFolder {
    fn path(&self) -> &Path {
        &self.path
    }
}

/// The folder of a writer of `a`, `b` and `end` that was killed after `done` of its three renames.
fn killed_after(done: usize) -> KilledFolder {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("writer");
    fs::create_dir(&folder).unwrap();
    let orders = [["end", "a", "b"], ["a", "end", "b"], ["a", "b", "end"]];
    interrupt(&folder, orders[done]);
    fs::remove_dir_all(folder.join("end")).unwrap();
    // Each process removes abandoned files only once for each path of a folder. Under its new name
    // the folder looks new to this process, as it would to the process that comes after the killed
    // one.
    let path = parent.path().join("killed");
    fs::rename(folder, &path).unwrap();
    KilledFolder { path, _parent: parent }
}

#[test]
fn files_change_together_and_leave_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    for content in ["one", "two"] {
        write_pair(folder.path(), content);
        assert_eq!(contents(folder.path()), [content, content]);
        assert_eq!(names(folder.path()), ["a", "b"]);
    }
}

#[test]
fn a_switch_that_was_killed_at_any_moment_is_finished_by_the_next_reader() {
    for done in 0..3 {
        let read = |path: PathBuf| Input::open(path).unwrap().bytes.to_vec();
        let read_in_blocks = |path: PathBuf| {
            let mut bytes = Vec::new();
            read_blocks(path, |block| bytes.extend_from_slice(block)).unwrap();
            bytes
        };
        let readers: [&dyn Fn(PathBuf) -> Vec<u8>; 2] = [&read, &read_in_blocks];
        for reader in readers {
            let folder = killed_after(done);
            assert_eq!(reader(folder.path().join("b")), b"new", "{done} renames were done");
            assert_eq!(contents(folder.path()), ["new", "new"], "{done} renames were done");
            assert_eq!(names(folder.path()), ["a", "b", "end"]);
        }
    }
}

/// The files `one/a` and `two/b` as a writer leaves them that is killed after `done` of three
/// renames, `two/end` being the third file.
fn folds_killed_after(done: usize) -> KilledFolder {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join("writer").join(name);
    for (folder, file) in [("one", "one/a"), ("two", "two/b")] {
        fs::create_dir_all(at(folder)).unwrap();
        fs::write(at(file), "old").unwrap();
    }
    let orders = [
        ["two/end", "one/a", "two/b"],
        ["one/a", "two/end", "two/b"],
        ["one/a", "two/b", "two/end"],
    ];
    let files = orders[done].map(|name| {
        let path = at(name);
        let obstacle = name.ends_with("end").then(|| path.join("obstacle"));
        let body: WriteBody<'_> = Box::new(move |out| {
            obstacle.map_or(Ok(()), fs::create_dir_all)?;
            out.write_all(b"new")
        });
        (path, Some(body))
    });
    write_together(files).unwrap_err();
    fs::remove_dir_all(at("two/end")).unwrap();
    let path = parent.path().join("killed");
    fs::rename(parent.path().join("writer"), &path).unwrap();
    KilledFolder { path, _parent: parent }
}

#[test]
fn a_switch_of_several_folders_is_finished_by_a_reader_or_writer_in_any_of_them() {
    type Step<'a> = &'a dyn Fn(&Path) -> Result<(), DataError>;
    let steps: [Step<'_>; 5] = [
        &|folder| Input::open(folder.join("one/a")).map(drop),
        &|folder| Input::open(folder.join("two/b")).map(drop),
        &|folder| check_room(folder.join("one"), 100),
        &|folder| check_room(folder.join("two"), 100),
        &|folder| check_room(folder, 100),
    ];
    for (number, step) in steps.into_iter().enumerate() {
        for done in 0..3 {
            let folder = folds_killed_after(done);
            step(folder.path()).unwrap();
            for name in ["one/a", "two/b", "two/end"] {
                let content = fs::read_to_string(folder.path().join(name)).unwrap();
                assert_eq!(content, "new", "step {number}, {done} renames were done: {name}");
            }
            assert_eq!(names(folder.path()), ["one", "two"]);
            assert_eq!(names(&folder.path().join("two")), ["b", "end"]);
        }
    }
}

/// The report of an experiment and its plots.
#[test]
fn files_of_a_folder_and_of_its_subfolder_change_together() {
    for reader in ["report", "plots/a"] {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join("study").join(name);
        fs::create_dir_all(at("plots")).unwrap();
        let pair = ["report", "plots/a"];
        write_together(pair.map(|name| (at(name), Some(body("old"))))).unwrap();
        let obstacle = at("plots/end/obstacle");
        let end: WriteBody<'_> = Box::new(move |out| {
            fs::create_dir_all(obstacle)?;
            out.write_all(b"new")
        });
        let files = [("report", body("new")), ("plots/end", end), ("plots/a", body("new"))];
        let files = files.map(|(name, body)| (at(name), Some(body)));
        write_together(files).unwrap_err();
        fs::remove_dir_all(at("plots/end")).unwrap();
        assert_eq!(&*Input::open(at(reader)).unwrap().bytes, b"new");
        for name in ["report", "plots/a", "plots/end"] {
            assert_eq!(fs::read_to_string(at(name)).unwrap(), "new", "{name}");
        }
        assert_eq!(names(&at("")), ["plots", "report"]);
    }
}

/// A writer that is killed before its list has its final name leaves the list in the parent folder.
#[test]
fn a_list_without_its_name_is_removed_by_the_next_writer_of_the_folders() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["one", "two"] {
        fs::create_dir(at(name)).unwrap();
    }
    fs::write(at(".rankwright-1-1"), "x").unwrap();
    write_together(["one/a", "two/b"].map(|name| (at(name), Some(body("new"))))).unwrap();
    assert_eq!(names(folder.path()), ["one", "two"]);
}

#[test]
fn temporary_files_of_a_switch_of_several_folders_are_not_abandoned() {
    let folder = folds_killed_after(0);
    // The list does not name the folder `three`, so reading a file there does not finish the
    // switch.
    fs::create_dir(folder.path().join("three")).unwrap();
    fs::write(folder.path().join("three/c"), "c").unwrap();
    assert_eq!(&*Input::open(folder.path().join("three/c")).unwrap().bytes, b"c");
    assert!(is_list_near(&folder.path().join("one")));
    assert_eq!(fs::read_to_string(folder.path().join("one/a")).unwrap(), "old");
}

/// A file in the parent folder that is not a valid list does not concern the files of a folder.
#[cfg(unix)]
#[test]
fn a_list_in_the_parent_changes_only_files_of_real_folders_that_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["inside", "other"] {
        fs::create_dir(at(name)).unwrap();
        fs::write(at(name).join("data"), "x").unwrap();
        fs::write(at(name).join(".rankwright-1-1"), "y").unwrap();
    }
    std::os::unix::fs::symlink("other", at("link")).unwrap();
    let hash = "0".repeat(32);
    let line = |folder: &str| format!("{folder}/.rankwright-1-1\n1-{hash}\n{folder}/data\n");
    for list in ["x".to_owned(), "-\n-\ninside/data\n".to_owned(), line("..") + &line("inside")] {
        fs::write(at(LIST), list).unwrap();
        assert_eq!(&*Input::open(at("inside/data")).unwrap().bytes, b"x");
    }
    fs::write(at(LIST), line("inside") + &line("link")).unwrap();
    assert!(Input::open(at("inside/data")).is_err());
    assert_eq!(fs::read_to_string(at("other/data")).unwrap(), "x");
    assert_eq!(fs::read_to_string(at("inside/data")).unwrap(), "x");
}

/// Also by `check_room`, and by a writer of other files.
#[test]
fn a_switch_that_was_killed_is_finished_by_the_next_writer() {
    let check = |folder: &Path| check_room(folder, 100);
    let write = |folder: &Path| write_atomic(folder.join("c"), |out| out.write_all(b"c"));
    let together =
        |folder: &Path| write_together(["c", "d"].map(|name| (folder.join(name), Some(body("c")))));
    type Writer<'a> = &'a dyn Fn(&Path) -> Result<(), DataError>;
    let writers: [Writer<'_>; 3] = [&check, &write, &together];
    for writer in writers {
        for done in 0..3 {
            let folder = killed_after(done);
            writer(folder.path()).unwrap();
            assert_eq!(contents(folder.path()), ["new", "new"], "{done} renames were done");
            assert!(!is_list_near(folder.path()));
            assert!(!names(folder.path()).iter().any(|name| name.starts_with('.')));
        }
    }
}

#[test]
fn a_file_that_cannot_be_replaced_is_reported_until_it_can() {
    let folder = tempfile::tempdir().unwrap();
    let first = interrupt(folder.path(), ["a", "end", "b"]);
    let read = || Input::open(folder.path().join("b"));
    for error in [first, read().unwrap_err(), read().unwrap_err()] {
        let text = error.to_string();
        assert!(text.contains(".rankwright-switch has changes of files"), "{text}");
        assert!(text.contains("end cannot be changed: "), "{text}");
        assert!(error.help().unwrap().contains("read again"));
    }
    assert_eq!(contents(folder.path()), ["new", "old"]);
    fs::remove_dir_all(folder.path().join("end")).unwrap();
    assert_eq!(&*read().unwrap().bytes, b"new");
    assert_eq!(names(folder.path()), ["a", "b", "end"]);
}

#[test]
fn new_content_that_somebody_removed_is_an_error_and_not_a_mixture() {
    let folder = killed_after(1);
    for name in names(folder.path()).iter().filter(|name| is_temporary_name(OsStr::new(name))) {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    for _ in 0..2 {
        let error = Input::open(folder.path().join("a")).unwrap_err();
        let missing = "the new content of end no longer exists";
        assert!(error.to_string().contains(missing), "{error}");
        assert!(check_room(folder.path(), 1).is_err());
    }
    fs::remove_file(folder.path().join(LIST)).unwrap();
    write_pair(folder.path(), "newer");
    assert_eq!(contents(folder.path()), ["newer", "newer"]);
}

#[test]
fn a_file_can_be_removed_with_the_change_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let set = "b.features.toml";
    write_together([(at("a"), Some(body("old"))), (at(set), Some(body("old")))]).unwrap();
    let removals = [(at(set), None), (at("c.features.toml"), None)];
    write_together([(at("a"), Some(body("new")))].into_iter().chain(removals)).unwrap();
    assert_eq!(
        (contents(folder.path()), names(folder.path())),
        (["new".into(), String::new()], vec!["a".into()])
    );
}

/// A list with such a removal would be refused by the process that finishes the switch.
#[test]
fn only_a_feature_set_is_removed_with_the_change_of_another_file() {
    let folder = tempfile::tempdir().unwrap();
    write_pair(folder.path(), "old");
    let at = |name: &str| folder.path().join(name);
    for removed in ["b", "missing"] {
        let error = write_together([(at("a"), Some(body("new"))), (at(removed), None)]);
        assert!(matches!(error, Err(DataError::Internal { .. })), "{error:?}");
        assert_eq!(contents(folder.path()), ["old", "old"]);
        assert_eq!(names(folder.path()), ["a", "b"]);
    }
    write_together([(at("b"), None)]).unwrap();
    assert_eq!(names(folder.path()), ["a"]);
}

#[cfg(unix)]
#[test]
fn the_removal_of_a_link_keeps_its_target() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("shared.toml"), "x").unwrap();
    for target in ["shared.toml", "missing.toml"] {
        std::os::unix::fs::symlink(target, at("a.features.toml")).unwrap();
        write_together([(at("a"), Some(body("new"))), (at("a.features.toml"), None)]).unwrap();
        assert_eq!(names(folder.path()), ["a", "shared.toml"]);
    }
}

/// Lists that this program does not write: they remove data, lead out of the folder, or rename a
/// file that is not temporary.
#[test]
fn a_list_of_another_program_is_refused_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).unwrap();
    fs::write(inside.join("data"), "x").unwrap();
    fs::write(inside.join(".rankwright-1-1"), "y").unwrap();
    let hash = "0".repeat(32);
    for list in [
        "-\n-\ndata\n".to_owned(),
        "-\n-\n../data.features.toml\n".to_owned(),
        ".rankwright-1-1\ndata\n".to_owned(),
        format!(".rankwright-1-1\n1-{hash}\n../b\n"),
        format!("data\n1-{hash}\nb\n"),
        format!(".rankwright-1-1\n1-{hash}\n..\n"),
        "x".repeat(MAX_LIST_BYTES as usize + 1),
        "\u{0}".to_owned(),
    ] {
        fs::write(inside.join(LIST), list).unwrap();
        let error = Input::open(inside.join("data")).unwrap_err().to_string();
        assert!(error.ends_with("it is not a list of changes of this program"), "{error}");
        assert_eq!(names(&inside), [".rankwright-1-1", LIST, "data"]);
    }
}

#[cfg(unix)]
#[test]
fn only_an_ordinary_file_is_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("data"), "x").unwrap();
    fs::write(at("other"), "").unwrap();
    std::os::unix::fs::symlink("other", at(LIST)).unwrap();
    assert!(Input::open(at("data")).is_err());
    fs::remove_file(at(LIST)).unwrap();
    let made = std::process::Command::new("mkfifo").arg(at(LIST)).status();
    assert!(made.is_ok_and(|status| status.success()));
    let error = Input::open(at("data")).unwrap_err().to_string();
    assert!(error.ends_with("it is not a list of changes of this program"), "{error}");
}

/// Only the superuser can give a file to somebody else; other users skip this test.
#[cfg(unix)]
#[test]
fn the_list_of_another_user_is_refused_unless_the_folder_is_theirs() {
    let folder = killed_after(1);
    // 12345 is any user id that is not the superuser's.
    let give = |path: &Path| std::os::unix::fs::chown(path, Some(12_345), None);
    if give(&folder.path().join(LIST)).is_err() {
        return;
    }
    let read = || Input::open(folder.path().join("b"));
    let error = read().unwrap_err();
    assert!(error.to_string().ends_with("it belongs to another user"), "{error}");
    assert_eq!(contents(folder.path()), ["new", "old"]);
    give(folder.path()).unwrap();
    assert_eq!(&*read().unwrap().bytes, b"new");
}

#[test]
fn a_list_that_is_held_is_waited_for_but_not_for_ever() {
    let folder = killed_after(1);
    let held = File::open(folder.path().join(LIST)).unwrap();
    held.lock().unwrap();
    let error = finish_within(folder.path(), Duration::from_millis(20)).unwrap_err();
    assert!(matches!(error, UnfinishedWrite::InUse { .. }), "{error}");
    assert_eq!(contents(folder.path()), ["new", "old"]);
    drop(held);
    finish_within(folder.path(), Duration::ZERO).unwrap();
    assert_eq!(contents(folder.path()), ["new", "new"]);
}

#[test]
fn many_writers_at_once_leave_files_of_one_of_them() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for content in ["one", "two", "three", "four"] {
            let folder = folder.path();
            scope.spawn(move || (0..20).for_each(|_| write_pair(folder, content)));
        }
    });
    let [a, b] = contents(folder.path());
    assert_eq!(a, b);
    assert_eq!(names(folder.path()), ["a", "b"]);
}
