//! Several files that get their names together, although a process can be killed between two
//! renames.
//!
//! All files are complete on disk under temporary names first. Then the list of renames appears in
//! the folder as `.rankwright-switch`, in one step: from then on the new files count. The renames
//! follow, and the list is removed. Whoever finds a list whose writer is gone carries it out before
//! reading or writing in that folder ([`finish_switch`]), so that no reader of ours sees files of
//! two writings side by side.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use super::target::folder_of;
use super::temporary::{TemporaryFile, is_temporary_name};
use super::{FileChange, sync_folder};

/// The list of renames of a folder.
const LIST: &str = ".rankwright-switch";

/// In the place of a temporary file: the target is removed.
const NOTHING: &str = "-";

/// Carries out the changes of one folder, all or none.
pub(super) fn switch_together(folder: &Path, mut changes: Vec<FileChange>) -> io::Result<()> {
    changes.retain(|change| matches!(change, FileChange::Replace(_)) || change.path().exists());
    if changes.len() < 2 {
        changes.into_iter().try_for_each(carry_out)?;
        sync_folder(folder);
        return Ok(());
    }
    let mut text = String::new();
    for change in &changes {
        let temporary = match change {
            FileChange::Replace(file) => file.temporary.path().and_then(plain_name),
            FileChange::Remove(_) => Some(NOTHING),
        };
        for name in [temporary, plain_name(change.path())] {
            let error = || io::Error::new(io::ErrorKind::InvalidInput, "not a plain file name");
            text.push_str(name.ok_or_else(error)?);
            text.push('\n');
        }
    }
    let list = TemporaryFile::named_in(folder)?;
    list.file().write_all(text.as_bytes())?;
    list.file().sync_all()?;
    while let Err(error) = publish(&list, folder) {
        match error.kind() {
            // Another switch is under way, or was not finished.
            io::ErrorKind::AlreadyExists => finish_switch(folder)?,
            _ => return Err(error),
        }
    }
    changes.into_iter().try_for_each(carry_out)?;
    sync_folder(folder);
    fs::remove_file(folder.join(LIST))
}

fn carry_out(change: FileChange) -> io::Result<()> {
    match change {
        FileChange::Replace(file) => file.temporary.persist(&file.path),
        FileChange::Remove(path) => remove(&path),
    }
}

/// The name of a file that can stand in a list.
fn plain_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str().filter(|name| !name.contains('\n'))
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
pub(crate) fn finish_switch_of(path: &Path) -> io::Result<()> {
    finish_switch(folder_of(path))
}

/// Carries out the renames that a killed writer left in a folder, or waits for a living writer.
pub(super) fn finish_switch(folder: &Path) -> io::Result<()> {
    let path = folder.join(LIST);
    let mut list = match File::open(&path) {
        Ok(list) => list,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    // A living writer holds the lock until it is done, which takes a moment.
    list.lock()?;
    if !is_still_at(&list, &path) {
        return Ok(());
    }
    let mut text = String::new();
    list.read_to_string(&mut text)?;
    let names: Vec<&str> = text.lines().collect();
    for pair in names.chunks_exact(2) {
        check_names(pair[0], pair[1])?;
        if pair[0] == NOTHING {
            remove(&folder.join(pair[1]))?;
            continue;
        }
        match fs::rename(folder.join(pair[0]), folder.join(pair[1])) {
            // This rename was done before the writer was killed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => other?,
        }
    }
    sync_folder(folder);
    fs::remove_file(path)
}

/// Whether an open file is still the one at this path, and not a later one.
#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |meta: fs::Metadata| (meta.dev(), meta.ino());
    let (open, there) = (file.metadata().map(identity), fs::metadata(path).map(identity));
    matches!((open, there), (Ok(open), Ok(there)) if open == there)
}

#[cfg(not(unix))]
fn is_still_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

/// Accepts a temporary file and a file of the same folder only: the list may come from anywhere.
fn check_names(temporary: &str, target: &str) -> io::Result<()> {
    let is_plain = Path::new(target).file_name() == Some(OsStr::new(target));
    let is_temporary = temporary == NOTHING || is_temporary_name(OsStr::new(temporary));
    match is_temporary && is_plain {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, format!("{LIST} is damaged"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{WriteBody, write_together};

    fn write_pair(folder: &Path, content: &'static str) {
        let files = ["a", "b"].map(|name| {
            let body: WriteBody<'_> = Box::new(move |out| out.write_all(content.as_bytes()));
            (folder.join(name), Some(body))
        });
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

    #[test]
    fn files_change_together_and_leave_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for content in ["one", "two"] {
            write_pair(folder.path(), content);
            assert_eq!(contents(folder.path()), [content, content]);
            assert_eq!(names(folder.path()), ["a", "b"]);
        }
    }

    /// The state that a writer leaves when it is killed after `done` of its two renames.
    #[test]
    fn a_switch_that_was_killed_at_any_moment_is_finished_by_the_next_reader() {
        for done in 0..=2 {
            let folder = tempfile::tempdir().unwrap();
            write_pair(folder.path(), "old");
            let at = |name: &str| folder.path().join(name);
            for (temporary, target) in [("1", "a"), ("2", "b")] {
                let temporary = at(&format!(".rankwright-7-{temporary}"));
                fs::write(&temporary, "new").unwrap();
                if (target == "a" && done > 0) || done == 2 {
                    fs::rename(temporary, at(target)).unwrap();
                }
            }
            fs::write(at(LIST), ".rankwright-7-1\na\n.rankwright-7-2\nb\n").unwrap();
            let input = crate::bytes::Input::open(at("b")).unwrap();
            assert_eq!(&*input.bytes, b"new", "{done} renames were done");
            assert_eq!(contents(folder.path()), ["new", "new"], "{done} renames were done");
            assert_eq!(names(folder.path()), ["a", "b"]);
        }
    }

    #[test]
    fn a_file_can_be_removed_with_the_change_of_another() {
        let folder = tempfile::tempdir().unwrap();
        write_pair(folder.path(), "old");
        let body: WriteBody<'_> = Box::new(|out| out.write_all(b"new"));
        let at = |name: &str| folder.path().join(name);
        write_together([(at("a"), Some(body)), (at("b"), None), (at("c"), None)]).unwrap();
        assert_eq!(contents(folder.path()), ["new", ""]);
        assert_eq!(names(folder.path()), ["a"]);
        fs::write(at(LIST), "-\na\n").unwrap();
        assert!(crate::bytes::Input::open(at("a")).is_err());
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_list_that_leads_out_of_the_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("inside");
        fs::create_dir(&inside).unwrap();
        fs::write(inside.join("data"), "x").unwrap();
        for list in [".rankwright-1-1\n../b\n", "data\nb\n", ".rankwright-1-1\n..\n"] {
            fs::write(inside.join(LIST), list).unwrap();
            let error = crate::bytes::Input::open(inside.join("data")).unwrap_err();
            assert!(error.to_string().contains("is damaged"), "{error}");
        }
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
