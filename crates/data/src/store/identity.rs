//! Whether two paths lead to the same file, also through links and other names.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use super::target::{WriteTarget, folder_of};

/// Whether two paths lead to the same ordinary file. Links are followed, and two hard links are the
/// same file. If neither file exists yet, the paths are the same if a file written to one path
/// would appear at the other.
///
/// ```
/// use rankwright_data::store::is_same_file;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("a.txt");
/// std::fs::write(&path, "x").unwrap();
/// assert!(is_same_file(&path, &folder.path().join(".").join("a.txt")));
/// assert!(!is_same_file(&path, &folder.path().join("b.txt")));
/// ```
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    match (one.metadata(), other.metadata()) {
        (Ok(a), Ok(b)) => a.is_file() && b.is_file() && is_same(one, &a, other, &b),
        (Err(_), Err(_)) => path_of_new(one).is_some_and(|path| Some(path) == path_of_new(other)),
        _ => false,
    }
}

#[cfg(unix)]
fn is_same(_: &Path, one: &Metadata, _: &Path, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(one: &Path, _: &Metadata, other: &Path, _: &Metadata) -> bool {
    one.canonicalize().is_ok_and(|path| other.canonicalize().is_ok_and(|other| path == other))
}

/// The path of a file that does not exist yet, in its folder without links. A link to such a file
/// is followed, as a write follows it.
fn path_of_new(path: &Path) -> Option<PathBuf> {
    let WriteTarget::Ordinary(path) = WriteTarget::of(path).ok()? else { return None };
    let folder = folder_of(&path).canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_of_both_kinds_lead_to_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a"), "x").unwrap();
        std::fs::write(at("b"), "x").unwrap();
        std::os::unix::fs::symlink("a", at("soft")).unwrap();
        std::fs::hard_link(at("a"), at("hard")).unwrap();
        assert!(is_same_file(&at("a"), &at("soft")) && is_same_file(&at("soft"), &at("hard")));
        assert!(!is_same_file(&at("a"), &at("b")));
        assert!(!is_same_file(Path::new("/dev/null"), Path::new("/dev/null")), "not a file");
        assert!(is_same_file(&at("new"), &at("./new")) && !is_same_file(&at("new"), &at("a")));
        // A write to a link whose target does not exist makes the target.
        std::os::unix::fs::symlink("new", at("to-new")).unwrap();
        std::os::unix::fs::symlink("to-new", at("again")).unwrap();
        assert!(is_same_file(&at("to-new"), &at("new")));
        assert!(is_same_file(&at("new"), &at("again")) && !is_same_file(&at("again"), &at("c")));
    }
}
