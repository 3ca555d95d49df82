//! Whether files to write would replace files that are read, by whatever names and links.

use std::path::{Path, PathBuf};

use super::identity::is_same_file;
use crate::format::FEATURE_SET_ENDING;
use crate::standard_streams::is_standard_stream;

/// Endings of files that are read with an input, under its name.
const COMPANIONS: [&str; 5] = [FEATURE_SET_ENDING, ".query", ".weight", ".position", ".log.json"];

/// A file that would be replaced although it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Overwritten {
    /// An input.
    Input {
        /// The file to write.
        out: PathBuf,
        /// The input, or the file that is read with it.
        input: PathBuf,
    },
    /// Another file to write.
    Output {
        /// The file.
        path: PathBuf,
    },
}

/// The first file to write that would replace an input, a file that is read with an input
/// (`DATA.query`, `MODEL.log.json`), or another file to write. Files are compared by identity, so
/// that neither links nor other names of a file hide it. Files of an input that is a folder are
/// inputs.
///
/// ```
/// use std::path::Path;
/// use rankwright_data::store::{Overwritten, overwritten};
///
/// # let folder = tempfile::tempdir().unwrap();
/// let (data, other) = (folder.path().join("a.txt"), folder.path().join("./a.txt"));
/// std::fs::write(&data, "x").unwrap();
/// let found = overwritten([other.as_path()], [data.as_path()]);
/// assert!(matches!(found, Some(Overwritten::Input { .. })));
/// assert_eq!(overwritten([Path::new("b.txt")], [data.as_path()]), None);
/// ```
pub fn overwritten<'a>(
    outputs: impl IntoIterator<Item = &'a Path>,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Option<Overwritten> {
    let outputs: Vec<&Path> =
        outputs.into_iter().filter(|path| !is_standard_stream(path)).collect();
    for input in inputs {
        let companions = COMPANIONS.map(|ending| with_ending(input, ending));
        for read in std::iter::once(input).chain(companions.iter().map(PathBuf::as_path)) {
            if let Some(out) = outputs.iter().find(|out| replaces(out, read)) {
                let (out, input) = (out.to_path_buf(), read.to_owned());
                return Some(Overwritten::Input { out, input });
            }
        }
    }
    for (number, out) in outputs.iter().enumerate() {
        if outputs.iter().take(number).any(|other| is_same_file(out, other)) {
            return Some(Overwritten::Output { path: out.to_path_buf() });
        }
    }
    None
}

/// Whether a file to write is this input, or in this input.
fn replaces(out: &Path, input: &Path) -> bool {
    if is_standard_stream(input) {
        return is_same_file(out, Path::new("/dev/stdin"));
    }
    if !input.exists() {
        return false;
    }
    match input.is_dir() {
        true => out.is_file() && is_below(out, input),
        false => is_same_file(out, input),
    }
}

fn is_below(file: &Path, folder: &Path) -> bool {
    let (file, folder) = (file.canonicalize(), folder.canonicalize());
    file.is_ok_and(|file| folder.is_ok_and(|folder| file.starts_with(folder)))
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
