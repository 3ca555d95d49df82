//! Division of data by query: named parts, or folds for cross validation.

use std::path::{Path, PathBuf};

use rankwright_data::format::{FORMATS, Format, feature_set_path, write_parts};
use rankwright_data::split::{SplitOptions, SplitPart};
use rankwright_data::store::is_same_file;
use rankwright_data::{DataError, Dataset};
use rankwright_spec::words::counted;
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::paths::check_used;
use super::{Context, DataSource, LoadedData, TaskError, TaskInputs, Warning};

/// Data, its division, and the folder to write into.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SplitRequest {
    /// The data.
    pub data: DataSource,
    /// The division: each part is a file `NAME.EXTENSION`, each fold a folder `foldN` with `train`,
    /// `valid` and `test`.
    pub split: SplitOptions,
    /// Folder to write into; created if needed. If not given, the result alone has the parts.
    pub out: Option<PathBuf>,
    /// The format to write; that of the data if not given, or the cache format for data in memory.
    pub format: Option<Format>,
    /// Whether parts that exist are replaced; an error otherwise.
    #[serde(default)]
    pub replace: bool,
}

impl TaskInputs for SplitRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.data.paths().map(Path::to_owned).collect()
    }
}

impl SplitRequest {
    /// Divides data; [`out`](Self::out) is the folder to write into.
    pub fn new(data: impl Into<DataSource>, split: SplitOptions) -> Self {
        SplitRequest { data: data.into(), split, out: None, format: None, replace: false }
    }

    /// Sets the folder to write into, in the format of the data.
    pub fn out(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out = Some(folder.into());
        self
    }

    /// Sets the format to write.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Replaces parts that exist.
    pub fn replace(mut self, replace: bool) -> Self {
        self.replace = replace;
        self
    }
}

/// The parts, and the files that were written.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SplitResult {
    /// Seed of the shuffle.
    pub seed: u64,
    /// One entry for each part.
    pub parts: Vec<WrittenPart>,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
    /// The data of each part, in the order of `parts`, if no folder was given.
    #[serde(skip)]
    pub data: Vec<Dataset>,
}

/// One part of a division.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WrittenPart {
    /// The name; of a part of a fold with the fold, as in `fold1/train`.
    pub name: String,
    /// The file, if a folder was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Number of its queries.
    pub queries: usize,
    /// Number of its rows.
    pub rows: usize,
}

/// Divides data by query; no query is in two parts. All files of a folder change together, so that
/// an older division never mixes with the new one, even if this process is killed.
pub fn split_data(request: &SplitRequest, context: &Context<'_>) -> Result<SplitResult, TaskError> {
    let mut task = RunningTask::new(context);
    let loaded = request.data.load(None, &mut task)?;
    let data = &loaded.data;
    let format = request.format.or(loaded.format).unwrap_or(Format::Cache);
    let out = request.out.clone().unwrap_or_default();
    let (mut files, mut names) = (Vec::new(), Vec::new());
    for SplitPart { fold, name, queries, .. } in request.split.divide(data.queries())? {
        if queries.is_empty() {
            return Err(TaskError::EmptyPart { name, queries: data.queries() });
        }
        let folder = match fold {
            Some(number) => out.join(format!("fold{number}")),
            None => out.clone(),
        };
        names.push(match fold {
            Some(number) => format!("fold{number}/{name}"),
            None => name.clone(),
        });
        files.push((part_path(&folder, &name, format), queries));
    }
    let mut parts_in_memory = Vec::new();
    match &request.out {
        Some(folder) => write_files(request, folder, &loaded, &files, format, &mut task)?,
        None => {
            check_used(request.format.is_some(), "format", "no files are written")?;
            check_used(request.replace, "replace", "no files are written")?;
            for (_, queries) in &files {
                parts_in_memory.push(data.select_queries(queries)?);
            }
        }
    }
    let rows = |queries: &[usize]| queries.iter().map(|q| data.query_rows(*q).len()).sum();
    let part = |(name, (path, queries)): (String, (PathBuf, Vec<usize>))| WrittenPart {
        name,
        path: request.out.is_some().then_some(path),
        rows: rows(&queries),
        queries: queries.len(),
    };
    let parts = names.into_iter().zip(files).map(part).collect();
    Ok(SplitResult {
        seed: request.split.seed,
        parts,
        warnings: task.into_warnings(),
        data: parts_in_memory,
    })
}

/// Writes the parts into the folder.
fn write_files(
    request: &SplitRequest,
    out: &Path,
    loaded: &LoadedData,
    files: &[(PathBuf, Vec<usize>)],
    format: Format,
    task: &mut RunningTask<'_>,
) -> Result<(), TaskError> {
    check(request, files)?;
    for folder in files.iter().filter_map(|(path, _)| path.parent()) {
        make_folder(folder)?;
    }
    let step = format!("writing {}", counted(files.len(), "part"));
    // The writer gives one warning of each kind, for any number of parts.
    let (warnings, _) = task.step(&step, || write_parts(&loaded.data, files, format))?;
    task.warn_of(&warnings);
    let others = other_parts(request, out, files);
    if !others.is_empty() {
        task.warn(Warning::OtherParts { files: others });
    }
    Ok(())
}

/// Rejects parts that are inputs, or that exist and are not to be replaced.
fn check(request: &SplitRequest, files: &[(PathBuf, Vec<usize>)]) -> Result<(), TaskError> {
    let sets: Vec<PathBuf> = files.iter().map(|(path, _)| feature_set_path(path)).collect();
    let parts = files.iter().map(|(path, _)| path).chain(&sets);
    request.check_files(parts.map(PathBuf::as_path))?;
    let mut existing = files.iter().map(|(path, _)| path).filter(|path| path.exists());
    match existing.next() {
        Some(path) if !request.replace => {
            Err(TaskError::PartExists { path: path.clone(), others: existing.count() })
        }
        _ => Ok(()),
    }
}

/// Usual names of the parts of a division.
const PART_NAMES: [&str; 6] = ["train", "valid", "vali", "validation", "dev", "test"];

/// Files of the folder, and of folders `foldN` in it, that look like parts of another division,
/// sorted: data files with a usual name that are neither parts of this division nor inputs. A
/// folder that cannot be listed has none.
fn other_parts(
    request: &SplitRequest,
    out: &Path,
    files: &[(PathBuf, Vec<usize>)],
) -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.filter_map(|entry| Some(entry.ok()?.path())).collect::<Vec<PathBuf>>()
    };
    let is_fold = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_prefix("fold"));
        number.is_some_and(|number| number.parse::<usize>().is_ok()) && path.is_dir()
    };
    let folds = entries(out).into_iter().filter(is_fold);
    let folders: Vec<PathBuf> = folds.chain([out.to_owned()]).collect();
    let is_other = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some((stem, extension)) = name.and_then(|name| name.split_once('.')) else {
            return false;
        };
        PART_NAMES.contains(&stem)
            && FORMATS.iter().any(|format| format.extensions.contains(&extension))
            && !files.iter().any(|(part, _)| part == path)
            && !request.data.paths().any(|input| is_same_file(input, path))
    };
    let mut others: Vec<PathBuf> =
        folders.iter().flat_map(|folder| entries(folder)).filter(is_other).collect();
    others.sort_unstable();
    others
}

/// The file of a part.
fn part_path(folder: &Path, name: &str, format: Format) -> PathBuf {
    folder.join(format!("{name}.{}", format.extension()))
}

/// Creates a folder and its parents.
pub(super) fn make_folder(folder: &Path) -> Result<(), TaskError> {
    std::fs::create_dir_all(folder)
        .map_err(|e| DataError::io("create the folder", folder.display().to_string(), e).into())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs;

    use rankwright_data::split::Parts;
    use rankwright_data::store::{WriteBody, write_together};

    use super::*;
    use crate::tasks::{DataFiles, read_data};

    const PARTS: [&str; 2] = ["train.txt", "test.txt"];

    /// A folder with `a.txt`, data of ten queries.
    fn data() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let text: String = (0..10).map(|q| format!("1 qid:{q} 1:2\n")).collect();
        fs::write(folder.path().join("a.txt"), text).unwrap();
        folder
    }

    fn request(folder: &Path, out: &str, parts: &str) -> SplitRequest {
        let split = SplitOptions::default().parts(Parts::parse(parts).unwrap());
        SplitRequest::new(folder.join("a.txt"), split).out(folder.join(out))
    }

    fn with_seed(mut request: SplitRequest, seed: u64) -> SplitRequest {
        request.split.seed = seed;
        request
    }

    fn split(request: SplitRequest) -> Result<SplitResult, TaskError> {
        split_data(&request, &Context::default())
    }

    /// The queries of each part.
    fn queries(out: &Path) -> [HashSet<String>; 2] {
        PARTS.map(|part| {
            let files = DataFiles::new([out.join(part)]);
            let data = read_data(&files, None, &Context::default()).unwrap().data;
            data.query_ids().iter().map(str::to_owned).collect()
        })
    }

    #[test]
    fn every_query_is_in_one_part_and_an_empty_part_is_refused() {
        let folder = data();
        let result = split(request(folder.path(), "out", "train=0.7,test=0.3")).unwrap();
        assert_eq!(result.parts.iter().map(|part| part.queries).sum::<usize>(), 10);
        assert_eq!(result.parts.iter().map(|part| part.rows).sum::<usize>(), 10);
        let error = split(request(folder.path(), "other", "train=0.99,test=0.01")).unwrap_err();
        assert!(matches!(error, TaskError::EmptyPart { .. }), "{error}");
        assert!(!folder.path().join("other").exists());
    }

    #[test]
    fn parts_that_exist_are_replaced_only_on_request() {
        let folder = data();
        let again = |seed| with_seed(request(folder.path(), "out", "train=0.5,test=0.5"), seed);
        split(again(1)).unwrap();
        let old = queries(&folder.path().join("out"));
        let error = split(again(2)).unwrap_err();
        assert!(error.to_string().ends_with("train.txt and 1 other part exist already"), "{error}");
        assert_eq!(queries(&folder.path().join("out")), old);
        split(again(2).replace(true)).unwrap();
        assert_ne!(queries(&folder.path().join("out")), old);
    }

    #[test]
    fn files_of_an_older_division_are_named() {
        let folder = data();
        let others = |result: &SplitResult| match result.warnings.as_slice() {
            [] => Vec::<PathBuf>::new(),
            [Warning::OtherParts { files }] => {
                files.iter().map(|path| path.strip_prefix(folder.path()).unwrap().into()).collect()
            }
            other => panic!("{other:?}"),
        };
        let first = split(request(folder.path(), "out", "train=0.5,valid=0.3,test=0.2")).unwrap();
        assert_eq!(others(&first), Vec::<PathBuf>::new());
        let parts = request(folder.path(), "out", "train=0.5,test=0.5").replace(true);
        assert_eq!(others(&split(parts).unwrap()), [Path::new("out/valid.txt")]);
        let folds = |count| {
            let mut request = request(folder.path(), "folds", "a=0.5,b=0.5").replace(true);
            request.split = SplitOptions::default().folds(count);
            split(request).unwrap()
        };
        assert_eq!(others(&folds(4)), Vec::<PathBuf>::new());
        let left = ["test", "train", "valid"].map(|name| format!("folds/fold4/{name}.txt"));
        assert_eq!(others(&folds(3)), left.map(PathBuf::from));
        // The data itself lies beside the parts: it is no part of an older division.
        let beside = split(request(folder.path(), ".", "train=0.5,test=0.5")).unwrap();
        assert_eq!(others(&beside), Vec::<PathBuf>::new());
    }

    #[test]
    fn the_data_itself_is_never_replaced_by_a_part() {
        let folder = data();
        let text = fs::read(folder.path().join("a.txt")).unwrap();
        let error = split(request(folder.path(), ".", "a=0.5,test=0.5").replace(true)).unwrap_err();
        assert!(matches!(error, TaskError::OutputIsInput { .. }), "{error}");
        assert_eq!(fs::read(folder.path().join("a.txt")).unwrap(), text);
        assert!(!folder.path().join("test.txt").exists());
    }

    /// The state that a killed process leaves: some of the new files have their names already.
    #[test]
    fn a_split_over_an_older_one_that_is_killed_leaves_no_query_in_two_parts() {
        for done in 0..=2 {
            let folder = data();
            let split_into = |out: &str, seed| {
                let request = request(folder.path(), out, "train=0.5,test=0.5");
                split(with_seed(request, seed)).unwrap();
                folder.path().join(out)
            };
            let (out, new) = (split_into("out", 1), split_into("new", 2));
            assert!(!queries(&out)[0].is_disjoint(&queries(&new)[1]), "the two must differ");
            interrupt_switch(&new, &out, done);
            let [train, test] = queries(&out);
            assert!(train.is_disjoint(&test), "{done} renames were done");
            assert_eq!([train, test], queries(&new));
        }
    }

    /// Writes the parts of one folder to another, and stops after `done` of them have their names:
    /// a folder appears at the place of a further file, which cannot get its name then.
    fn interrupt_switch(new: &Path, out: &Path, done: usize) {
        let mut names = PARTS.to_vec();
        names.insert(done, "notes.txt");
        let files = names.into_iter().map(|name| {
            let (from, path) = (new.join(name), out.join(name));
            let body: WriteBody<'_> = Box::new(move |out_file| match name {
                "notes.txt" => fs::create_dir_all(out.join("notes.txt/obstacle")),
                _ => out_file.write_all(&fs::read(from)?),
            });
            (path, Some(body))
        });
        write_together(files).unwrap_err();
        fs::remove_dir_all(out.join("notes.txt")).unwrap();
    }

    #[test]
    fn all_parts_and_their_feature_sets_change_in_one_switch() {
        let folder = data();
        let path = |name: &str| folder.path().join(name);
        let csv = path("a.csv");
        fs::write(&csv, "qid,label,x\n1,0,2\n2,1,3\n").unwrap();
        fs::write(path("a.csv.features.toml"), "features = [\"x\"]\n").unwrap();
        let halves = || SplitOptions::default().parts(Parts::parse("one=0.5,two=0.5").unwrap());
        let request = || SplitRequest::new(&csv, halves()).out(path("out"));
        split(request()).unwrap();
        assert!(path("out/one.csv.features.toml").is_file());
        fs::remove_file(path("a.csv.features.toml")).unwrap();
        split(request().replace(true)).unwrap();
        let mut names: Vec<_> =
            fs::read_dir(path("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["one.csv", "two.csv"]);
    }
}
