//! `[[data]]`: where queries come from, and how they are divided into training, validation and test.
//!
//! | keys | folds |
//! |---|---|
//! | `train`, `valid`, `test` | one |
//! | `[[data.fold]]`, each with the three | as many |
//! | `folders`: train.txt, vali.txt and test.txt in each | as many |
//! | `parts`: LETOR's rotation, fold f tests on the last part but f | as many as parts |
//! | `files` or `generate`, with `folds` | as many |
//! | `files` or `generate`, with `split` | one |

use rankwright_data::format::{Format, ReadOptions, Roles};
use rankwright_data::generate::LetorOptions;
use rankwright_data::split::Parts;
use rankwright_data::{Absent, DEFAULT_SEED};
use rankwright_spec::words::counted;

use super::super::fields::Fields;
use super::super::paths::{FilePath, PathResolver};
use super::{generator, one_line, split_parts};
use crate::ExperimentError;

const DATA: &[&str] = &[
    "name",
    "train",
    "valid",
    "test",
    "fold",
    "folders",
    "parts",
    "files",
    "generate",
    "seed",
    "folds",
    "split",
    "fold_seed",
    "format",
    "absent",
    "columns",
    "ignore_extra",
];
const FOLD: &[&str] = &["train", "valid", "test"];
const SOURCES: [&str; 6] = ["train", "fold", "folders", "parts", "files", "generate"];
/// How generated data is divided where nothing is said.
const SPLIT: &str = "train=0.6,valid=0.2,test=0.2";

/// A data set and how it is divided.
#[derive(Debug, Clone)]
pub struct DataSet {
    /// What it is called.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
    /// Format of the files; told by content if not given.
    pub format: Option<Format>,
    /// What an absent feature of a sparse row is worth.
    pub absent: Absent,
    /// Roles of columns, as `data inspect --columns` takes them; may be empty.
    pub columns: String,
    /// Whether features of validation and test data that training does not know are passed over.
    pub ignore_extra: bool,
}

/// Where the parts of a data set come from.
#[derive(Debug, Clone)]
pub enum Source {
    /// Files for each part of each fold.
    Folds(Vec<FoldFiles>),
    /// One body of queries, divided here.
    Whole {
        /// Where it comes from.
        origin: Origin,
        /// How it is divided.
        division: Division,
    },
}

/// The files of a fold; several files of a part are one data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldFiles {
    /// To train on.
    pub train: Vec<FilePath>,
    /// To stop and choose by; may be empty.
    pub valid: Vec<FilePath>,
    /// To report on.
    pub test: Vec<FilePath>,
}

/// Queries before they are divided.
#[derive(Debug, Clone)]
pub enum Origin {
    /// Read from files.
    Files(Vec<FilePath>),
    /// Made on the spot.
    Generated(LetorOptions),
}

/// How queries are divided.
#[derive(Debug, Clone)]
pub enum Division {
    /// Cross validation: fold f tests on one part, validates on another, trains on the rest.
    Folds {
        /// Number of folds, 3 at least.
        count: usize,
        /// Seed of the shuffle.
        seed: u64,
    },
    /// Once, by shares.
    Split {
        /// The shares as written.
        text: String,
        /// The shares.
        parts: Parts,
        /// Seed of the shuffle.
        seed: u64,
    },
}

impl DataSet {
    /// Number of folds; 1 where the data is divided once.
    pub fn folds(&self) -> usize {
        match &self.source {
            Source::Folds(folds) => folds.len(),
            Source::Whole { division: Division::Folds { count, .. }, .. } => *count,
            Source::Whole { .. } => 1,
        }
    }

    /// Every file, in order, some perhaps several times.
    pub fn files(&self) -> Vec<&FilePath> {
        match &self.source {
            Source::Folds(folds) => folds
                .iter()
                .flat_map(|fold| [&fold.train, &fold.valid, &fold.test])
                .flatten()
                .collect(),
            Source::Whole { origin: Origin::Files(files), .. } => files.iter().collect(),
            Source::Whole { .. } => Vec::new(),
        }
    }

    /// How its files are read.
    pub(crate) fn options(&self) -> Result<ReadOptions, rankwright_data::DataError> {
        let roles = Roles::parse(&self.columns)?;
        Ok(ReadOptions {
            format: self.format,
            absent: self.absent,
            roles,
            ..ReadOptions::default()
        })
    }
}

/// Reads all of `[[data]]`.
pub(super) fn data_sets(
    top: &Fields<'_>,
    places: &PathResolver<'_>,
) -> Result<Vec<DataSet>, ExperimentError> {
    let mut sets: Vec<DataSet> = Vec::new();
    for fields in top.tables("data", "[[data]]", DATA)? {
        let set = data_set(&fields, places)?;
        if sets.iter().any(|other| other.name == set.name) {
            let message = format!("two data sets are called `{}`", set.name);
            return Err(fields.wrong("name", message));
        }
        sets.push(set);
    }
    match sets.is_empty() {
        true => Err(top.wrong("data", "there is no data; write [[data]] with a name and files")),
        false => Ok(sets),
    }
}

fn data_set(fields: &Fields<'_>, places: &PathResolver<'_>) -> Result<DataSet, ExperimentError> {
    let name = one_line(fields, fields.needed("name", "\"mq2008\"")?)?;
    let format = fields.text("format")?.map(|name| Format::from_name(&name)).transpose();
    let absent = match fields.text("absent")?.as_deref() {
        None | Some("zero") => Absent::Zero,
        Some("missing") => Absent::Missing,
        Some(other) => {
            let message = format!("`absent` is \"zero\" or \"missing\", not \"{other}\"");
            return Err(fields.wrong("absent", message));
        }
    };
    let columns = fields.text("columns")?.unwrap_or_default();
    Roles::parse(&columns).map_err(|e| fields.wrong("columns", e))?;
    Ok(DataSet {
        name,
        source: source(fields, places)?,
        format: format.map_err(|e| fields.wrong("format", e))?,
        absent,
        columns,
        ignore_extra: fields.flag("ignore_extra")?.unwrap_or(false),
    })
}

fn source(fields: &Fields<'_>, places: &PathResolver<'_>) -> Result<Source, ExperimentError> {
    let ways = fields.present(&SOURCES);
    let [way] = ways.as_slice() else {
        let message = format!("[[data]] has one of {}", SOURCES.join(", "));
        return Err(fields.wrong(ways.last().unwrap_or(&"name"), message));
    };
    let allowed: &[&str] = match *way {
        "train" => &["valid", "test"],
        "files" => &["folds", "split", "fold_seed"],
        "generate" => &["folds", "split", "fold_seed", "seed"],
        _ => &[],
    };
    let all = ["valid", "test", "folds", "split", "fold_seed", "seed"];
    let unfit = fields.present(&all).into_iter().find(|key| !allowed.contains(key));
    if let Some(key) = unfit {
        return Err(fields.wrong(key, format!("`{key}` does not go with `{way}`")));
    }
    match *way {
        "train" => Ok(Source::Folds(vec![fold_files(fields, places)?])),
        "fold" => {
            let folds = fields.tables("fold", "[[data.fold]]", FOLD)?;
            let folds = folds.iter().map(|fold| fold_files(fold, places));
            Ok(Source::Folds(folds.collect::<Result<_, _>>()?))
        }
        "folders" => folders(fields, places),
        "parts" => rotation(fields, places),
        _ => whole(fields, places, way),
    }
}

/// The files of a key; none where it is not there.
fn listed(
    fields: &Fields<'_>,
    places: &PathResolver<'_>,
    key: &str,
) -> Result<Vec<FilePath>, ExperimentError> {
    let mut files = Vec::new();
    for text in fields.texts(key)? {
        files.extend(places.files(&text).map_err(|e| fields.wrong(key, e))?);
    }
    Ok(files)
}

fn fold_files(
    fields: &Fields<'_>,
    places: &PathResolver<'_>,
) -> Result<FoldFiles, ExperimentError> {
    let needed = |key: &str| match listed(fields, places, key)? {
        files if files.is_empty() => {
            Err(fields.wrong(key, format!("`{key}` names no file; both train and test are needed")))
        }
        files => Ok(files),
    };
    Ok(FoldFiles {
        train: needed("train")?,
        valid: listed(fields, places, "valid")?,
        test: needed("test")?,
    })
}

/// LETOR's folders.
fn folders(fields: &Fields<'_>, places: &PathResolver<'_>) -> Result<Source, ExperimentError> {
    let inside = |folder: &FilePath, name: &str| {
        vec![FilePath {
            written: format!("{}/{name}", folder.written.trim_end_matches('/')),
            path: folder.path.join(name),
        }]
    };
    let fold = |folder: FilePath| FoldFiles {
        train: inside(&folder, "train.txt"),
        valid: inside(&folder, "vali.txt"),
        test: inside(&folder, "test.txt"),
    };
    let folds: Vec<FoldFiles> = listed(fields, places, "folders")?.into_iter().map(fold).collect();
    match folds.is_empty() {
        true => Err(fields.wrong("folders", "`folders` names no folder, such as Fold{1..5}")),
        false => Ok(Source::Folds(folds)),
    }
}

/// LETOR's rotation of parts S1 to S5: fold f trains on parts f, f+1, f+2, validates on f+3 and
/// tests on f+4, wrapping round.
fn rotation(fields: &Fields<'_>, places: &PathResolver<'_>) -> Result<Source, ExperimentError> {
    let parts = listed(fields, places, "parts")?;
    let count = parts.len();
    if count < 3 {
        return Err(fields.wrong("parts", "`parts` are 3 files at least, such as S{1..5}.txt"));
    }
    let fold = |f: usize| {
        let mut turned = parts.clone();
        turned.rotate_left(f);
        let test = turned.pop().into_iter().collect();
        let valid = turned.pop().into_iter().collect();
        FoldFiles { train: turned, valid, test }
    };
    Ok(Source::Folds((0..count).map(fold).collect()))
}

fn whole(
    fields: &Fields<'_>,
    places: &PathResolver<'_>,
    way: &str,
) -> Result<Source, ExperimentError> {
    let origin = match way {
        "files" => Origin::Files(listed(fields, places, "files")?),
        _ => {
            let text = fields.needed("generate", "\"letor(queries=500, documents=60)\"")?;
            let seed = fields.whole("seed")?.unwrap_or(DEFAULT_SEED);
            Origin::Generated(generator(&text, seed).map_err(|e| fields.wrong("generate", e))?)
        }
    };
    if matches!(&origin, Origin::Files(files) if files.is_empty()) {
        return Err(fields.wrong("files", "`files` names no file"));
    }
    let seed = fields.whole("fold_seed")?.unwrap_or(DEFAULT_SEED);
    let division = match (fields.whole("folds")?, fields.text("split")?) {
        (Some(_), Some(_)) => {
            return Err(fields.wrong("split", "data has `folds` or a `split`, not both"));
        }
        (Some(count), None) if count < 3 => {
            let message = "at least 3 folds are needed to train, validate and test";
            return Err(fields.wrong("folds", message));
        }
        (Some(count), None) => {
            more_queries_than_folds(fields, &origin, count)?;
            Division::Folds { count: count as usize, seed }
        }
        (None, None) if way == "files" => {
            let message = format!("`files` need `folds = 5` or `split = \"{SPLIT}\"`");
            return Err(fields.wrong("files", message));
        }
        (None, text) => {
            let text = text.unwrap_or_else(|| SPLIT.to_owned());
            let parts = split_parts(&text).map_err(|e| fields.wrong("split", e))?;
            Division::Split { text, parts, seed }
        }
    };
    Ok(Source::Whole { origin, division })
}

/// Of data that is made, the number of queries is known at once; of files it is found in the run.
fn more_queries_than_folds(
    fields: &Fields<'_>,
    origin: &Origin,
    folds: u64,
) -> Result<(), ExperimentError> {
    match origin {
        Origin::Generated(options) if (options.queries as u64) < folds => {
            let queries = counted(options.queries, "query");
            let message = format!("{queries} cannot be divided into {folds} folds; generate more");
            Err(fields.wrong("folds", message))
        }
        _ => Ok(()),
    }
}
