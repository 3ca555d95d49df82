//! Resolves paths: relative to the experiment's own file, with `${NAME}` for environment variables
//! and `{1..5}` for a range of numbers.
//!
//! The path as written is kept with the resolved path, so that a lock file made on one machine is
//! the same on another. A variable that is not set or is empty is an error: the path would name
//! another file.

use std::path::{Path, PathBuf};

/// A file: its path as written and as resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePath {
    /// The path as written in the experiment, with numbers filled in.
    pub written: String,
    /// The resolved path.
    pub path: PathBuf,
}

/// Resolves paths with the folder of the experiment's file and the environment.
#[derive(Clone, Copy)]
pub(super) struct PathResolver<'a> {
    /// The folder that paths are relative to.
    pub(super) folder: &'a Path,
    /// The value of an environment variable; `None` if it is not set.
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
}

impl PathResolver<'_> {
    /// The files that a text names: one, or one for each number of a range.
    pub(super) fn files(&self, text: &str) -> Result<Vec<FilePath>, String> {
        let file = |written: String| {
            let path = self.folder.join(self.with_variables(&written)?);
            Ok(FilePath { written, path })
        };
        expand_range(text)?.into_iter().map(file).collect()
    }

    /// The file that a text names; an error if it names several.
    pub(super) fn file(&self, text: &str) -> Result<FilePath, String> {
        let mut files = self.files(text)?;
        match (files.pop(), files.is_empty()) {
            (Some(file), true) => Ok(file),
            _ => Err(format!("{text} names several files; expected one")),
        }
    }

    /// The text with variables replaced.
    fn with_variables(&self, text: &str) -> Result<String, String> {
        let mut filled = String::new();
        let mut remaining = text;
        while let Some((before, after)) = remaining.split_once("${") {
            let Some((name, after)) = after.split_once('}') else {
                return Err(format!("{text}: `${{` without `}}`; write ${{NAME}}"));
            };
            let value = (self.variable)(name).filter(|value| !value.is_empty());
            let value = value.ok_or_else(|| {
                format!(
                    "{text} needs the environment variable {name}, which is not set or is empty"
                )
            })?;
            filled += before;
            filled += &value;
            remaining = after;
        }
        Ok(filled + remaining)
    }
}

/// `a{1..3}b` as a1b, a2b, a3b; any other text unchanged. A text may have one range of at most 1000
/// numbers.
fn expand_range(text: &str) -> Result<Vec<String>, String> {
    let Some(start) = first_range(text) else { return Ok(vec![text.to_owned()]) };
    let (before, after) = (&text[..start], &text[start + 1..]);
    let error = || {
        format!(
            "{text}: expected one range of at most 1000 numbers after `{{`, such as {{1..5}}, the \
             smaller one first"
        )
    };
    let (range, after) = after.split_once('}').ok_or_else(error)?;
    let (first, last) = range.split_once("..").ok_or_else(error)?;
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| error());
    let (first, last) = (number(first)?, number(last)?);
    if first > last || last - first >= 1000 || first_range(after).is_some() {
        return Err(error());
    }
    Ok((first..=last).map(|number| format!("{before}{number}{after}")).collect())
}

/// The position of the first `{` that does not begin a variable.
fn first_range(text: &str) -> Option<usize> {
    let mut ranges = text.match_indices('{').map(|(start, _)| start);
    ranges.find(|start| !text[..*start].ends_with('$'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files that a text in `/e/x.toml` names, with the variable `DATA` set to `/d`.
    fn files(text: &str) -> Result<Vec<String>, String> {
        let variable = |name: &str| (name == "DATA").then(|| "/d".to_owned());
        let paths = PathResolver { folder: Path::new("/e"), variable: &variable };
        let files = paths.files(text)?;
        Ok(files.into_iter().map(|file| file.path.display().to_string()).collect())
    }

    #[test]
    fn paths_are_relative_to_the_file_and_can_have_variables_and_ranges() {
        assert_eq!(files("a/b.txt").unwrap(), ["/e/a/b.txt"]);
        assert_eq!(files("${DATA}/S{2..4}.txt").unwrap(), ["/d/S2.txt", "/d/S3.txt", "/d/S4.txt"]);
        assert_eq!(files("S{1..2}").unwrap(), ["/e/S1", "/e/S2"]);
        assert_eq!(files("S{1..2}${DATA}.txt").unwrap(), ["/e/S1/d.txt", "/e/S2/d.txt"]);
    }

    #[test]
    fn unset_variables_and_bad_ranges_are_errors() {
        for (text, part) in [
            ("${NONE}/a", "NONE, which is not set"),
            ("${DATA", "without `}`"),
            ("a{5..1}", "such as {1..5}, the smaller one first"),
            ("a{x}", "such as {1..5}"),
            ("a{1..2}{1..2}", "expected one range"),
            ("a{1..5000}", "at most 1000 numbers"),
        ] {
            let error = files(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
