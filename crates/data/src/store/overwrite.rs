//! Whether files to write would replace files that are read, also through links and other names.

use std::path::{Path, PathBuf};

use super::identity::is_same_file;
use crate::format::FEATURE_SET_ENDING;
use crate::standard_streams::is_standard_stream;

/// Endings of side files: files that are read with an input, and whose names are the input's name
/// and one of these endings.
const SIDE_FILE_ENDINGS: [&str; 5] =
    [FEATURE_SET_ENDING, ".query", ".weight", ".position", ".log.json"];

/// A file that would be overwritten although it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Overwritten {
    /// An input.
    Input {
        /// The file to write.
        out: PathBuf,
        /// The input, or the file that is read with it.
        input: PathBuf,
    },
    /// An output that another output would overwrite.
    Output {
        /// The file.
        path: PathBuf,
    },
}

/// The first output that would overwrite an input, a side file of an input (`DATA.query`,
/// `MODEL.log.json`) or another output. Files are compared by identity, not by path, so that
/// links and other names of a file are recognised. If an input is a folder, all files in it are
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
        let side_files = SIDE_FILE_ENDINGS.map(|ending| with_ending(input, ending));
        for file in std::iter::once(input).chain(side_files.iter().map(PathBuf::as_path)) {
            if let Some(out) = outputs.iter().find(|out| replaces(out, file)) {
                let (out, input) = (out.to_path_buf(), file.to_owned());
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

/// Whether an output is this input, or a file in this input if that is a folder.
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
