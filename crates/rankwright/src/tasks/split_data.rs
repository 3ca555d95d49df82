//! Division of data by query: named parts, or folds for cross validation.

use std::path::{Path, PathBuf};

use rankwright_data::format::{Format, write};
use rankwright_data::split::{Parts, folds};
use rankwright_data::{DEFAULT_SEED, DataError, Dataset, Warnings};
use serde::Serialize;

use super::context::RunningTask;
use super::{Context, DataFiles, TaskError, Warning, check_output};

/// The division of a data set: parts or folds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Division {
    /// Named parts with their shares; each is a file `NAME.EXTENSION`.
    Parts(Parts),
    /// This many folds; each is a folder `foldN` with `train`, `valid` and `test`.
    Folds(usize),
}

/// Data, its division, and the folder to write into.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SplitRequest {
    /// The data.
    pub data: DataFiles,
    /// The division.
    pub division: Division,
    /// Folder to write into; created if needed.
    pub out: PathBuf,
    /// Seed of the shuffle.
    pub seed: u64,
    /// The format to write; that of the data where not given.
    pub format: Option<Format>,
}

impl SplitRequest {
    /// Divides data, with the default seed and in its own format.
    pub fn new(data: DataFiles, division: Division, out: impl Into<PathBuf>) -> Self {
        SplitRequest { data, division, out: out.into(), seed: DEFAULT_SEED, format: None }
    }

    /// Sets the seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the format to write.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }
}

/// The files that were written.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SplitResult {
    /// Seed of the shuffle.
    pub seed: u64,
    /// One entry for each file.
    pub parts: Vec<WrittenPart>,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

/// One file of a division.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WrittenPart {
    /// The file.
    pub path: PathBuf,
    /// Number of its queries.
    pub queries: usize,
    /// Number of its rows.
    pub rows: usize,
}

/// Divides data by query; no query is in two parts.
pub fn split_data(request: &SplitRequest, context: &Context<'_>) -> Result<SplitResult, TaskError> {
    let mut task = RunningTask::new(context);
    let loaded = request.data.load(None, &mut task)?;
    let format = request.format.unwrap_or(loaded.format);
    let (mut parts, mut lost) = (Vec::new(), Warnings::default());
    for (folder, name, queries) in divide(request, loaded.data.queries())? {
        let path = part_path(&folder, &name, format);
        check_output(&path, request.data.paths())?;
        let step = format!("writing {}", path.display());
        let written = task.step(&step, || write_part(&loaded.data, &name, &queries, path, format));
        let ((part, notes), _) = written?;
        parts.push(part);
        lost.merge(notes);
    }
    // One warning of each kind, for any number of parts.
    task.warn_of(&lost);
    Ok(SplitResult { seed: request.seed, parts, warnings: task.into_warnings() })
}

/// Folder, name and queries of each part.
type Plan = Vec<(PathBuf, String, Vec<usize>)>;

fn divide(request: &SplitRequest, queries: usize) -> Result<Plan, TaskError> {
    let out = &request.out;
    match &request.division {
        Division::Parts(parts) => {
            let split = parts.split(queries, request.seed).into_iter();
            Ok(split.map(|(name, queries)| (out.clone(), name, queries)).collect())
        }
        Division::Folds(count) => {
            let mut plan = Vec::new();
            for (number, fold) in folds(queries, *count, request.seed)?.into_iter().enumerate() {
                let folder = out.join(format!("fold{}", number + 1));
                let parts = [("train", fold.train), ("valid", fold.valid), ("test", fold.test)];
                plan.extend(
                    parts.map(|(name, queries)| (folder.clone(), name.to_owned(), queries)),
                );
            }
            Ok(plan)
        }
    }
}

fn part_path(folder: &Path, name: &str, format: Format) -> PathBuf {
    let extension = format.info().extensions.first().copied().unwrap_or(format.info().name);
    folder.join(format!("{name}.{extension}"))
}

fn write_part(
    data: &Dataset,
    name: &str,
    queries: &[usize],
    path: PathBuf,
    format: Format,
) -> Result<(WrittenPart, Warnings), TaskError> {
    if queries.is_empty() {
        return Err(TaskError::EmptyPart { name: name.to_owned(), queries: data.queries() });
    }
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    let part = data.select_queries(queries)?;
    let notes = write(&part, &path, format)?;
    Ok((WrittenPart { path, queries: part.queries(), rows: part.rows() }, notes))
}

/// Creates a folder and its parents.
pub(super) fn make_folder(folder: &Path) -> Result<(), TaskError> {
    std::fs::create_dir_all(folder)
        .map_err(|e| DataError::io("create the folder", folder.display().to_string(), e).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_is_in_one_part_and_an_empty_part_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        let text: String = (0..10).map(|q| format!("1 qid:{q} 1:2\n")).collect();
        std::fs::write(&file, text).unwrap();
        let split = |parts: &str| {
            let division = Division::Parts(Parts::parse(parts).unwrap());
            let data = DataFiles::new([file.clone()]);
            let request = SplitRequest::new(data, division, folder.path().join("out"));
            split_data(&request, &Context::default())
        };
        let result = split("train=0.7,test=0.3").unwrap();
        assert_eq!(result.parts.iter().map(|part| part.queries).sum::<usize>(), 10);
        let error = split("train=0.99,test=0.01").unwrap_err();
        assert!(matches!(error, TaskError::EmptyPart { .. }), "{error}");
    }
}
