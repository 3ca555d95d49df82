//! Several files that get their names together, although a process can be killed between two
//! renames.
//!
//! All files are complete on disk under temporary names first. Then the list of changes appears in
//! the folder as `.rankwright-switch`, in one step: from then on the new files count. The changes
//! follow, and the list is removed. Whoever finds a list whose writer is gone carries it out before
//! reading or writing in that folder ([`finish_switch`]), so that no reader of ours sees files of
//! two writings side by side. A list that cannot be carried out stays, and so do its temporary files:
//! every reader reports it.
//!
//! A list has three lines for each change: the temporary file, the digest of its content, and the
//! file that it replaces; or `-`, `-` and the file that is removed. A file that has its name already
//! is recognised by the digest. Since a reader carries out what it finds, a list must belong to this
//! user or to the owner of the folder, names files of its folder only, and removes nothing but
//! feature sets, the only files that are removed in a switch.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::digest::FileDigest;
use super::target::folder_of;
use super::temporary::{TemporaryFile, is_temporary_name};
use super::{FileChange, sync_folder};
use crate::error::{DataError, UnfinishedWrite};
use crate::format::FEATURE_SET_ENDING;

/// The list of changes of a folder.
const LIST: &str = ".rankwright-switch";

/// In the place of a temporary file and its digest: the target is removed.
const NOTHING: &str = "-";

/// The time that a living writer gets to finish, which takes a moment.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most bytes of a list; a split of 10,000 parts has fewer.
const MOST_BYTES: u64 = 4 << 20;

/// Whether a folder has a list of changes.
pub(super) fn is_list_there(folder: &Path) -> bool {
    folder.join(LIST).symlink_metadata().is_ok()
}

/// Carries out the changes of one folder, all or none. If the system refuses one of them, the others
/// wait for the next reader.
pub(super) fn switch_together(
    folder: &Path,
    mut changes: Vec<FileChange>,
) -> Result<(), DataError> {
    let failed = |e| DataError::io("write to", folder.display().to_string(), e);
    changes.retain(|change| matches!(change, FileChange::Replace(_)) || change.path().exists());
    if changes.len() < 2 {
        changes.into_iter().try_for_each(carry_out_alone).map_err(failed)?;
        sync_folder(folder);
        return Ok(());
    }
    let listed: Option<Vec<ListedChange>> = changes.iter().map(ListedChange::of).collect();
    let not_plain = || io::Error::new(io::ErrorKind::InvalidInput, "not a plain file name");
    let listed = listed.ok_or_else(|| failed(not_plain()))?;
    let list = staged_list(folder, &listed).map_err(failed)?;
    for change in &changes {
        if let FileChange::Replace(file) = change {
            file.temporary.keep_if_process_ends();
        }
    }
    while let Err(error) = publish(&list, folder) {
        match error.kind() {
            // Another switch is under way, or was not finished.
            io::ErrorKind::AlreadyExists => finish_switch(folder)?,
            _ => return Err(failed(error)),
        }
    }
    for change in changes {
        if let FileChange::Replace(file) = change {
            file.temporary.keep();
        }
    }
    carry_out(folder, &listed).map_err(|problem| unfinished(folder, problem))?;
    fs::remove_file(folder.join(LIST)).map_err(failed)
}

fn carry_out_alone(change: FileChange) -> io::Result<()> {
    match change {
        FileChange::Replace(file) => file.temporary.persist(&file.path),
        FileChange::Remove(path) => remove(&path),
    }
}

/// The list under a temporary name, with the lock of its writer.
fn staged_list(folder: &Path, changes: &[ListedChange]) -> io::Result<TemporaryFile> {
    let list = TemporaryFile::named_in(folder)?;
    let text: String = changes.iter().map(ListedChange::lines).collect();
    list.file().write_all(text.as_bytes())?;
    list.file().sync_all()?;
    Ok(list)
}

/// A change of a file in the folder of a list.
#[derive(Debug, PartialEq)]
enum ListedChange {
    Replace { target: String, temporary: String, digest: FileDigest },
    Remove { target: String },
}

impl ListedChange {
    /// None if a name cannot stand on a line.
    fn of(change: &FileChange) -> Option<ListedChange> {
        let target = plain_name(change.path())?;
        Some(match change {
            FileChange::Replace(file) => {
                let temporary = plain_name(file.temporary.path()?)?;
                ListedChange::Replace { target, temporary, digest: file.digest }
            }
            FileChange::Remove(_) => ListedChange::Remove { target },
        })
    }

    fn lines(&self) -> String {
        match self {
            ListedChange::Replace { target, temporary, digest } => {
                format!("{temporary}\n{digest}\n{target}\n")
            }
            ListedChange::Remove { target } => format!("{NOTHING}\n{NOTHING}\n{target}\n"),
        }
    }

    /// Reads a change from its lines, which may come from anywhere; only a change that a switch of
    /// this program makes is one.
    fn parse(lines: &[&str]) -> Option<ListedChange> {
        let &[temporary, digest, target] = lines else { return None };
        if Path::new(target).file_name() != Some(OsStr::new(target)) {
            return None;
        }
        let target = target.to_owned();
        if (temporary, digest) == (NOTHING, NOTHING) {
            return target.ends_with(FEATURE_SET_ENDING).then_some(ListedChange::Remove { target });
        }
        let digest = digest.parse().ok()?;
        let temporary = temporary.to_owned();
        let is_temporary = is_temporary_name(OsStr::new(&temporary));
        is_temporary.then_some(ListedChange::Replace { target, temporary, digest })
    }

    fn target(&self) -> &str {
        match self {
            ListedChange::Replace { target, .. } | ListedChange::Remove { target } => target,
        }
    }

    /// Carries out the change, unless it was already.
    fn carry_out(&self, folder: &Path) -> Result<(), UnfinishedWrite> {
        let target = folder.join(self.target());
        let failed = |source| UnfinishedWrite::System { file: self.target().to_owned(), source };
        let ListedChange::Replace { temporary, digest, .. } = self else {
            return remove(&target).map_err(failed);
        };
        let temporary = folder.join(temporary);
        if digest.fits_length(&temporary) {
            return fs::rename(temporary, target).map_err(failed);
        }
        match digest.fits(&target) {
            true => Ok(()),
            false => Err(UnfinishedWrite::Missing { file: self.target().to_owned() }),
        }
    }
}

fn carry_out(folder: &Path, changes: &[ListedChange]) -> Result<(), UnfinishedWrite> {
    changes.iter().try_for_each(|change| change.carry_out(folder))?;
    sync_folder(folder);
    Ok(())
}

/// The name of a file that can stand in a list.
fn plain_name(path: &Path) -> Option<String> {
    path.file_name()?.to_str().filter(|name| !name.contains('\n')).map(str::to_owned)
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes the list appear, with the lock of its writer; an existing one is an error.
fn publish(list: &TemporaryFile, folder: &Path) -> io::Result<()> {
    let name = list.path().ok_or(io::ErrorKind::NotFound)?;
    fs::hard_link(name, folder.join(LIST))?;
    sync_folder(folder);
    Ok(())
}

/// [`finish_switch`] in the folder of a path.
pub(crate) fn finish_switch_of(path: &Path) -> Result<(), DataError> {
    finish_switch(folder_of(path))
}

/// Carries out the changes that a killed writer left in a folder, or waits for a living writer.
pub(super) fn finish_switch(folder: &Path) -> Result<(), DataError> {
    finish_within(folder, PATIENCE).map_err(|problem| unfinished(folder, problem))
}

fn unfinished(folder: &Path, problem: UnfinishedWrite) -> DataError {
    DataError::Unfinished { list: folder.join(LIST).display().to_string(), problem }
}

fn finish_within(folder: &Path, patience: Duration) -> Result<(), UnfinishedWrite> {
    let path = folder.join(LIST);
    let failed = |source| UnfinishedWrite::System { file: LIST.to_owned(), source };
    let Some(list) = open_list(&path, folder)? else { return Ok(()) };
    lock(&list, patience)?;
    if !is_still_at(&list, &path) {
        return Ok(());
    }
    let mut text = String::new();
    // Bytes that are not UTF-8 are an error of this kind, too.
    let read = (&list).take(MOST_BYTES + 1).read_to_string(&mut text);
    if read.is_err() || text.len() as u64 > MOST_BYTES {
        return Err(UnfinishedWrite::NotAList);
    }
    let lines: Vec<&str> = text.lines().collect();
    let changes: Option<Vec<ListedChange>> = lines.chunks(3).map(ListedChange::parse).collect();
    carry_out(folder, &changes.ok_or(UnfinishedWrite::NotAList)?)?;
    fs::remove_file(path).map_err(failed)
}

/// Opens the list of a folder, if there is one. Only an ordinary file of somebody who may change the
/// files of the folder is a list: anybody may make a file in a folder such as `/tmp`.
fn open_list(path: &Path, folder: &Path) -> Result<Option<File>, UnfinishedWrite> {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    let failed = |source| UnfinishedWrite::System { file: LIST.to_owned(), source };
    let meta = match path.symlink_metadata() {
        Ok(meta) => meta,
        // Nothing in a folder that cannot be entered can be read or written.
        Err(e) if matches!(e.kind(), NotFound | NotADirectory | PermissionDenied) => {
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    };
    if !meta.is_file() {
        return Err(UnfinishedWrite::NotAList);
    }
    if !is_trusted(&meta, folder) {
        return Err(UnfinishedWrite::OtherUser);
    }
    match File::open(path) {
        Ok(list) => Ok(Some(list)),
        Err(error) if error.kind() == NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Whether a list belongs to this user, or to the owner of the folder, who may do all that it says.
#[cfg(unix)]
fn is_trusted(list: &Metadata, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: the function takes nothing and always succeeds.
    let this_user = unsafe { libc::geteuid() };
    list.uid() == this_user || folder.metadata().is_ok_and(|meta| meta.uid() == list.uid())
}

#[cfg(not(unix))]
fn is_trusted(_list: &Metadata, _folder: &Path) -> bool {
    true
}

/// Waits until the writer of a list is done or gone; not every file system has locks.
fn lock(list: &File, patience: Duration) -> Result<(), UnfinishedWrite> {
    let begin = Instant::now();
    loop {
        match list.try_lock() {
            Err(TryLockError::WouldBlock) if begin.elapsed() >= patience => {
                return Err(UnfinishedWrite::InUse { seconds: patience.as_secs() });
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(()),
        }
    }
}

/// Whether an open file is still the one at this path, and not a later one.
#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |meta: Metadata| (meta.dev(), meta.ino());
    let (open, there) = (file.metadata().map(identity), path.symlink_metadata().map(identity));
    matches!((open, there), (Ok(open), Ok(there)) if open == there)
}

#[cfg(not(unix))]
fn is_still_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    use crate::bytes::{Input, read_blocks};
    use crate::store::{WriteBody, check_room, write_atomic, write_together};

    fn body(content: &'static str) -> WriteBody<'static> {
        Box::new(move |out| out.write_all(content.as_bytes()))
    }

    fn write_pair(folder: &Path, content: &'static str) {
        let files = ["a", "b"].map(|name| (folder.join(name), Some(body(content))));
        write_together(files).unwrap();
    }

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

    /// Writes `new` over the files `a` and `b`, which have `old`; a folder appears at the place of the
    /// third file, `end`, so that it cannot get its name.
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

    /// A folder in the state of a writer that was killed after `done` of its three renames.
    struct Killed {
        path: PathBuf,
        _parent: tempfile::TempDir,
    }

    impl Killed {
        fn path(&self) -> &Path {
            &self.path
        }
    }

    fn killed_after(done: usize) -> Killed {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("writer");
        fs::create_dir(&folder).unwrap();
        let orders = [["end", "a", "b"], ["a", "end", "b"], ["a", "b", "end"]];
        interrupt(&folder, orders[done]);
        fs::remove_dir_all(folder.join("end")).unwrap();
        // Another process has not yet looked for abandoned files in the folder: neither has this one
        // under its new name.
        let path = parent.path().join("killed");
        fs::rename(folder, &path).unwrap();
        Killed { path, _parent: parent }
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

    /// Also if it only looks for room, or writes another file.
    #[test]
    fn a_switch_that_was_killed_is_finished_by_the_next_writer() {
        let check = |folder: &Path| check_room(folder, 100);
        let write = |folder: &Path| write_atomic(folder.join("c"), |out| out.write_all(b"c"));
        let together = |folder: &Path| {
            write_together(["c", "d"].map(|name| (folder.join(name), Some(body("c")))))
        };
        type Writer<'a> = &'a dyn Fn(&Path) -> Result<(), DataError>;
        let writers: [Writer<'_>; 3] = [&check, &write, &together];
        for writer in writers {
            for done in 0..3 {
                let folder = killed_after(done);
                writer(folder.path()).unwrap();
                assert_eq!(contents(folder.path()), ["new", "new"], "{done} renames were done");
                assert!(!is_list_there(folder.path()));
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
            let missing = "the new content of end is not there any more";
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

    /// A list that removes, reads or leads where no switch of this program does.
    #[test]
    fn a_list_from_elsewhere_is_refused_and_changes_nothing() {
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
            "x".repeat(MOST_BYTES as usize + 1),
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
}
