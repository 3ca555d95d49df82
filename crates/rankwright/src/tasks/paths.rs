//! Paths of inputs and outputs: checks before anything is read, and names for messages.

use std::path::{Path, PathBuf};

use super::TaskError;

/// Refuses standard input (`-`) as more than one of a task's inputs.
pub fn check_standard_input<'a>(
    paths: impl IntoIterator<Item = &'a Path>,
) -> Result<(), TaskError> {
    match paths.into_iter().filter(|path| *path == Path::new("-")).count() {
        0 | 1 => Ok(()),
        _ => Err(TaskError::StandardInputTwice),
    }
}

/// Refuses to write a result over one of the files that it is made from, by file identity.
pub fn check_output<'a>(
    out: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), TaskError> {
    let Ok(target) = out.canonicalize() else { return Ok(()) };
    let same = |path: &&Path| target.is_file() && path.canonicalize().is_ok_and(|p| p == target);
    match inputs.into_iter().find(same) {
        None => Ok(()),
        Some(input) => {
            Err(TaskError::OutputIsInput { out: out.to_owned(), input: input.to_owned() })
        }
    }
}

/// Files as they are named in messages: the first, and how many more.
pub fn file_label<P: AsRef<Path>>(files: &[P]) -> String {
    match files {
        [one] => one.as_ref().display().to_string(),
        [first, rest @ ..] => format!("{} and {} more", first.as_ref().display(), rest.len()),
        [] => "nothing".into(),
    }
}

/// Names of systems by their files: without folders where that tells them apart, else whole paths.
pub fn system_names(paths: &[PathBuf]) -> Vec<String> {
    let short = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
    let shorts: Vec<Option<String>> = paths.iter().map(|path| short(path)).collect();
    let unique = |name: &Option<String>| shorts.iter().filter(|other| *other == name).count() == 1;
    paths
        .iter()
        .zip(&shorts)
        .map(|(path, name)| match name {
            Some(text) if unique(name) => text.clone(),
            _ => path.display().to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_never_one_of_the_inputs_however_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        std::fs::write(&file, "x").unwrap();
        let around = folder.path().join(".").join("a.txt");
        assert!(matches!(
            check_output(&around, [file.as_path()]),
            Err(TaskError::OutputIsInput { .. })
        ));
        assert!(check_output(&folder.path().join("b.txt"), [file.as_path()]).is_ok());
    }

    #[test]
    fn systems_are_named_by_file_where_that_tells_them_apart() {
        let paths = ["a/x.run", "b/x.run", "b/y.run"].map(PathBuf::from);
        assert_eq!(system_names(&paths), ["a/x.run", "b/x.run", "y.run"]);
    }

    #[test]
    fn standard_input_is_read_once() {
        assert!(check_standard_input(["-", "a"].map(Path::new)).is_ok());
        assert!(check_standard_input(["-", "-"].map(Path::new)).is_err());
    }
}
