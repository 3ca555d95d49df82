//! The destination of a write to a path: links are followed, and a pipe, a device or an open
//! descriptor, of this or of another process, is written to directly instead of being replaced by a file.

use std::io;
use std::path::{Path, PathBuf};

use crate::standard_streams::is_standard_stream;

/// Maximum number of links that are followed, as in Linux.
const MAX_LINKS: usize = 40;

/// The destination of a write to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WriteTarget {
    /// Standard output.
    StandardOutput,
    /// A pipe, a device or an open descriptor: written to directly.
    Special(PathBuf),
    /// An ordinary file that exists or will be created; the path is the one after all links.
    Ordinary(PathBuf),
}

impl WriteTarget {
    /// Follows the links of a path; a folder is an error.
    pub(crate) fn of(path: &Path) -> io::Result<WriteTarget> {
        if is_standard_stream(path) {
            return Ok(WriteTarget::StandardOutput);
        }
        match path.metadata() {
            Ok(meta) if meta.is_dir() => {
                return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let end = match follow_links(path)? {
            LinkEnd::StandardOutput => return Ok(WriteTarget::StandardOutput),
            LinkEnd::Descriptor => return Ok(WriteTarget::Special(path.to_owned())),
            LinkEnd::Path(end) => end,
        };
        match end.metadata() {
            Ok(meta) if !meta.is_file() => Ok(WriteTarget::Special(path.to_owned())),
            _ => Ok(WriteTarget::Ordinary(end)),
        }
    }
}

/// The end of a chain of links.
enum LinkEnd {
    Path(PathBuf),
    /// Standard output of this process, such as `/dev/stdout`.
    StandardOutput,
    /// Another open descriptor of this process, or any of another process.
    Descriptor,
}

/// Follows symbolic links until there are no more, or until one leads to an open descriptor.
fn follow_links(path: &Path) -> io::Result<LinkEnd> {
    let mut current = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Some(end) = descriptor(&current) {
            return Ok(end);
        }
        let Ok(target) = current.read_link() else { return Ok(LinkEnd::Path(current)) };
        current = folder_of(&current).join(target);
    }
    Err(io::Error::other("too many links"))
}

/// The descriptor of a path such as `/proc/self/fd/1`; `None` for other paths.
fn descriptor(path: &Path) -> Option<LinkEnd> {
    let number: u32 = path.file_name()?.to_str()?.parse().ok()?;
    let folder = folder_of(path).canonicalize().ok()?;
    if !(folder.starts_with("/proc") && folder.ends_with("fd")) {
        return None;
    }
    // The same number is another file in another process.
    let is_own = Path::new("/proc/self").canonicalize().is_ok_and(|own| folder.starts_with(own));
    Some(match number {
        1 if is_own => LinkEnd::StandardOutput,
        _ => LinkEnd::Descriptor,
    })
}

/// The folder of a file; `.` if its path has none.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_also_to_a_file_that_does_not_exist_yet() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("deep")).unwrap();
        symlink("deep/file", at("link")).unwrap();
        symlink("link", at("second")).unwrap();
        assert_eq!(WriteTarget::of(&at("second")).unwrap(), WriteTarget::Ordinary(at("deep/file")));
        std::fs::write(at("deep/file"), "x").unwrap();
        assert_eq!(WriteTarget::of(&at("link")).unwrap(), WriteTarget::Ordinary(at("deep/file")));
        symlink("circle", at("circle")).unwrap();
        assert!(WriteTarget::of(&at("circle")).is_err());
    }

    #[test]
    fn folders_are_refused_and_devices_are_written_to_directly() {
        let folder = tempfile::tempdir().unwrap();
        let error = WriteTarget::of(folder.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        symlink("/dev/null", folder.path().join("null")).unwrap();
        let null = WriteTarget::of(&folder.path().join("null")).unwrap();
        assert!(matches!(null, WriteTarget::Special(_)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_names_of_standard_output_are_standard_output_and_not_the_file_behind() {
        with_link_to_stdout(|link| {
            for path in [Path::new("/dev/stdout"), Path::new("/proc/self/fd/1"), link] {
                assert_eq!(WriteTarget::of(path).unwrap(), WriteTarget::StandardOutput);
            }
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn standard_output_of_another_process_is_not_ours() {
        let file = tempfile::tempfile().unwrap();
        let mut other = std::process::Command::new("sleep").arg("60").stdout(file).spawn().unwrap();
        let path = PathBuf::from(format!("/proc/{}/fd/1", other.id()));
        let target = WriteTarget::of(&path);
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(target.unwrap(), WriteTarget::Special(path));
    }

    /// Calls `check` with a symbolic link to `/dev/stdout`, which must still be one afterwards.
    #[cfg(target_os = "linux")]
    fn with_link_to_stdout(check: impl Fn(&Path)) {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("out");
        symlink("/dev/stdout", &link).unwrap();
        check(&link);
        assert!(link.is_symlink());
    }
}
