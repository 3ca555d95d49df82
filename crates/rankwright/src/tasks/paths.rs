//! Paths of inputs and outputs: checks before anything is read, and names for messages.

use std::path::{Path, PathBuf};

use rankwright_data::is_standard_stream;
use rankwright_data::store::{Overwritten, overwritten};

#[cfg(feature = "train")]
use super::DataSource;
use super::TaskError;

/// Rejects standard input (`-`, where the program allows it) as more than one of a task's inputs.
pub fn check_standard_input<'a>(
    paths: impl IntoIterator<Item = &'a Path>,
) -> Result<(), TaskError> {
    match paths.into_iter().filter(|path| is_standard_stream(path)).count() {
        0 | 1 => Ok(()),
        _ => Err(TaskError::StandardInputTwice),
    }
}

/// Rejects an option that is given and has no effect; `is_unused` is true then.
pub(super) fn check_used(
    is_unused: bool,
    option: &'static str,
    reason: &'static str,
) -> Result<(), TaskError> {
    match is_unused {
        true => Err(TaskError::OptionUnused { option, reason }),
        false => Ok(()),
    }
}

/// Rejects writing a result over an input, over a file that is read with it, or over another
/// result; see [`overwritten`].
pub fn check_outputs<'a>(
    outputs: impl IntoIterator<Item = &'a Path>,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), TaskError> {
    match overwritten(outputs, inputs) {
        None => Ok(()),
        Some(Overwritten::Output { path }) => Err(TaskError::SameFile { path }),
        Some(Overwritten::Input { out, input }) => Err(TaskError::OutputIsInput { out, input }),
    }
}

/// Files as named in messages: the first, and the number of others.
pub fn file_label<P: AsRef<Path>>(files: &[P]) -> String {
    match files {
        [one] => one.as_ref().display().to_string(),
        [first, rest @ ..] => format!("{} and {} more", first.as_ref().display(), rest.len()),
        [] => "no file".into(),
    }
}

/// Names of systems by their files: without folders where these names differ, else whole paths.
pub fn system_names(paths: &[PathBuf]) -> Vec<String> {
    short_names(&paths.iter().map(|path| SourceName::file(path)).collect::<Vec<_>>())
}

/// The name of a source: the path of a file, or the name of a value in memory, which is never
/// shortened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceName {
    /// The path or the name.
    pub(super) text: String,
    /// Whether it is a path.
    pub(super) is_file: bool,
}

impl SourceName {
    /// The name of a file.
    pub(super) fn file(path: &Path) -> Self {
        SourceName { text: path.display().to_string(), is_file: true }
    }

    /// A file without its folder, or the name of a value in memory.
    pub(super) fn short(&self) -> String {
        let name = Path::new(&self.text).file_name().filter(|_| self.is_file);
        name.map_or_else(|| self.text.clone(), |name| name.to_string_lossy().into_owned())
    }
}

/// Names of sources: those of files without folders where these differ, else whole paths.
fn short_names(names: &[SourceName]) -> Vec<String> {
    let shorts: Vec<String> = names.iter().map(SourceName::short).collect();
    let unique = |name: &String| shorts.iter().filter(|other| *other == name).count() == 1;
    let named = names.iter().zip(&shorts);
    named
        .map(|(whole, short)| if unique(short) { short.clone() } else { whole.text.clone() })
        .collect()
}

/// Names of files and values in memory: [`short_names`] of all, with numbers for values in memory
/// where several have the same name.
pub(super) fn distinct_names(inputs: impl IntoIterator<Item = SourceName>) -> Vec<String> {
    let given: Vec<SourceName> = inputs.into_iter().collect();
    let short = short_names(&given);
    let mut names: Vec<String> = Vec::new();
    for (name, SourceName { is_file, .. }) in short.iter().zip(&given) {
        let is_shared = short.iter().filter(|other| *other == name).count() > 1;
        let mut numbered = (1_usize..).map(|number| format!("{name} {number}"));
        let is_free = |name: &String| !names.contains(name) && !short.contains(name);
        names.push(match is_shared && !*is_file {
            true => numbered.find(is_free).unwrap_or_else(|| name.clone()),
            false => name.clone(),
        });
    }
    names
}

/// Names of data sets: those of files without folders where these differ; data sets in memory that
/// have the same name get numbers.
#[cfg(feature = "train")]
pub(super) fn data_names(sets: &[DataSource]) -> Vec<String> {
    distinct_names(sets.iter().map(DataSource::source_name))
}

/// Names of the training data and of each validation set: those of their files, where these differ.
#[cfg(all(feature = "train", feature = "report"))]
pub(super) fn set_names(train: &DataSource, valid: &[DataSource]) -> (String, Vec<String>) {
    let train = match train.files() {
        Some(files) => {
            let names = files.files.iter().map(|path| SourceName::file(path).short());
            file_label(&names.collect::<Vec<_>>())
        }
        None => train.label(),
    };
    let valid = data_names(valid);
    match valid.contains(&train) {
        true => {
            let valid = valid.iter().map(|name| format!("{name} (validation)")).collect();
            (format!("{train} (training)"), valid)
        }
        false => (train, valid),
    }
}

/// The last part of a path or a label, for a title.
#[cfg(feature = "report")]
pub(super) fn short_name(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().filter(|end| !end.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_never_one_of_the_inputs_however_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path_of = |name: &str| folder.path().join(name);
        std::fs::create_dir(path_of("docs")).unwrap();
        for name in ["a.txt", "a.txt.query", "m.log.json", "docs/1.txt"] {
            std::fs::write(path_of(name), "x").unwrap();
        }
        std::fs::hard_link(path_of("a.txt"), path_of("hard")).unwrap();
        let refused = |out: &str, input: &str| {
            let (out, input) = (path_of(out), path_of(input));
            match check_outputs([out.as_path()], [input.as_path()]) {
                Err(TaskError::OutputIsInput { .. }) => true,
                other => other.map(|()| false).unwrap(),
            }
        };
        for (out, input) in [
            ("./a.txt", "a.txt"),
            ("hard", "a.txt"),
            ("a.txt.query", "a.txt"),
            ("m.log.json", "m"),
            ("docs/1.txt", "docs"),
        ] {
            assert!(refused(out, input), "{out} over {input}");
        }
        for (out, input) in [("b.txt", "a.txt"), ("a.txt", "b.txt"), ("docs/2.txt", "docs")] {
            assert!(!refused(out, input), "{out} beside {input}");
        }
        let twice = [path_of("new"), path_of("./new")];
        let error = check_outputs(twice.iter().map(PathBuf::as_path), []).unwrap_err();
        assert!(matches!(error, TaskError::SameFile { .. }), "{error}");
    }

    #[test]
    fn systems_are_named_by_file_where_that_tells_them_apart() {
        let paths = ["a/x.run", "b/x.run", "b/y.run"].map(PathBuf::from);
        assert_eq!(system_names(&paths), ["a/x.run", "b/x.run", "y.run"]);
    }

    #[test]
    fn values_in_memory_with_one_name_get_numbers() {
        let inputs = [("the data", false), ("a/x", true), ("the data", false), ("set", false)];
        let source = |(name, is_file): (&str, bool)| SourceName { text: name.to_owned(), is_file };
        let names = distinct_names(inputs.map(source));
        assert_eq!(names, ["the data 1", "x", "the data 2", "set"]);
    }

    #[test]
    fn names_of_values_in_memory_are_not_cut() {
        let memory = SourceName { text: "rate=0.1/leaves=31".into(), is_file: false };
        let names = [SourceName::file(Path::new("a/x.model")), memory];
        assert_eq!(short_names(&names), ["x.model", "rate=0.1/leaves=31"]);
    }

    #[cfg(all(feature = "train", feature = "report"))]
    #[test]
    fn data_sets_are_named_by_file_and_told_apart() {
        let names = |train: &[&str], valid: &[&str]| {
            let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
            let valid: Vec<DataSource> = valid.iter().copied().map(DataSource::from).collect();
            set_names(&DataSource::from(paths(train)), &valid)
        };
        let (train, valid) = names(&["a/t.txt"], &["a/v.txt", "b/v.txt"]);
        assert_eq!((train.as_str(), valid), ("t.txt", vec!["a/v.txt".into(), "b/v.txt".into()]));
        let (train, valid) = names(&["a/x.txt"], &["b/x.txt"]);
        assert_eq!(train, "x.txt (training)");
        assert_eq!(valid, ["x.txt (validation)"]);
        assert_eq!(names(&["a/1", "a/2"], &[]).0, "1 and 1 more");
        let rows = rankwright_data::Dataset::from_rows([[1.0]], ["x"]).query_ids(["q"]);
        let data = std::sync::Arc::new(rows.build().unwrap());
        let named = |name: &str| DataSource::named(name, data.clone());
        let valid = [named("day/2"), "a/v.txt".into()];
        let (train, valid) = set_names(&named("day/1"), &valid);
        assert_eq!((train.as_str(), valid), ("day/1", vec!["day/2".into(), "v.txt".into()]));
    }

    #[cfg(feature = "report")]
    #[test]
    fn a_title_has_the_end_of_a_path() {
        assert_eq!(short_name("a/b.txt and 2 more"), "b.txt and 2 more");
        assert_eq!(short_name("a\\b.txt"), "b.txt");
        assert_eq!(short_name("/"), "/");
    }

    #[test]
    fn standard_input_is_read_once() {
        rankwright_data::allow_standard_streams();
        assert!(check_standard_input(["-", "a"].map(Path::new)).is_ok());
        assert!(check_standard_input(["-", "-"].map(Path::new)).is_err());
    }
}
