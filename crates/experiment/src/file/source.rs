//! `[[data]]`: the source of queries, and their division into training, validation and test parts.
//!
//! | keys | number of folds |
//! |---|---|
//! | `train`, `valid`, `test` | one |
//! | `[[data.fold]]`, each with `train`, `valid` and `test` | one for each of these tables |
//! | `folders`: train.txt, vali.txt and test.txt in each | one for each folder |
//! | `parts`: LETOR's rotation, in which each part is tested once | one for each part |
//! | `files` or `generate`, with `folds` | the value of `folds` |
//! | `files` or `generate`, with `split` | one |

use rankwright_data::format::{Format, ReadOptions, Roles};
use rankwright_data::generate::LetorOptions;
use rankwright_data::split::{MIN_FOLDS, Parts, SplitOptions};
use std::ops::Range;
use std::path::PathBuf;

use rankwright_data::Absent;
use rankwright_model::MatchOptions;
use rankwright_spec::nearest;
use rankwright_spec::words::counted;
use toml::Spanned;

use super::super::paths::{FilePath, PathResolver};
use super::document::{TomlDocument, TomlTable};
use super::raw::{RawData, RawFold, SplitFractions, Texts, WholeNumber};
use super::text::{TEXT_PREFIX, TextSource};
use super::texts;
use crate::ExperimentError;

/// The keys of which exactly one must be present.
const SOURCES: [&str; 6] = ["train", "fold", "folders", "parts", "files", "generate"];

/// A data set and its division into folds or parts.
#[derive(Debug, Clone)]
pub struct DataSet {
    /// Name of the data set.
    pub name: String,
    /// Source of the queries.
    pub source: DataSource,
    /// Format of the files; `None` to detect it by content.
    pub format: Option<Format>,
    /// The meaning of an absent feature in a sparse row.
    pub absent: Absent,
    /// Roles of columns, as [`Roles::parse`] reads them; may be empty.
    pub columns: String,
    /// The rule that matches features of validation and test data with those of the training data.
    pub matching: MatchOptions,
}

/// The source of the parts of a data set.
#[derive(Debug, Clone)]
pub enum DataSource {
    /// Files for each part of each fold.
    Folds(Vec<FoldFiles>),
    /// One undivided collection of queries, which the experiment divides.
    Whole {
        /// The source of the queries.
        origin: DataOrigin,
        /// The division of the queries.
        division: QueryDivision,
    },
}

/// The files of a fold; several files of a part form one data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldFiles {
    /// Training files.
    pub train: Vec<FilePath>,
    /// Validation files, for early stopping and model choice; may be empty.
    pub valid: Vec<FilePath>,
    /// Test files, for the report.
    pub test: Vec<FilePath>,
}

/// The source of queries before their division.
#[derive(Debug, Clone)]
pub enum DataOrigin {
    /// Read from files.
    Files(Vec<FilePath>),
    /// Generated data.
    Generated(LetorOptions),
}

/// The division of queries into parts.
#[derive(Debug, Clone)]
pub enum QueryDivision {
    /// Cross validation: fold f tests on one part, validates on another, trains on the other parts.
    Folds {
        /// Number of folds, 3 at least.
        count: usize,
        /// Seed of the shuffle.
        seed: u64,
    },
    /// One division, by fractions of the queries: `train=0.6,valid=0.2,test=0.2`.
    Split {
        /// The fractions as written.
        text: String,
        /// The fractions.
        parts: Parts,
        /// Seed of the shuffle.
        seed: u64,
    },
}

impl DataSet {
    /// Number of folds; 1 if the data is divided once.
    pub fn folds(&self) -> usize {
        match &self.source {
            DataSource::Folds(folds) => folds.len(),
            DataSource::Whole { division: QueryDivision::Folds { count, .. }, .. } => *count,
            DataSource::Whole { .. } => 1,
        }
    }

    /// Every file, in order; a file may occur several times.
    pub fn files(&self) -> Vec<&FilePath> {
        match &self.source {
            DataSource::Folds(folds) => folds
                .iter()
                .flat_map(|fold| [&fold.train, &fold.valid, &fold.test])
                .flatten()
                .collect(),
            DataSource::Whole { origin: DataOrigin::Files(files), .. } => files.iter().collect(),
            DataSource::Whole { .. } => Vec::new(),
        }
    }

    /// Every file, to be changed.
    pub(super) fn files_mut(&mut self) -> Vec<&mut FilePath> {
        match &mut self.source {
            DataSource::Folds(folds) => folds
                .iter_mut()
                .flat_map(|fold| [&mut fold.train, &mut fold.valid, &mut fold.test])
                .flatten()
                .collect(),
            DataSource::Whole { origin: DataOrigin::Files(files), .. } => {
                files.iter_mut().collect()
            }
            DataSource::Whole { .. } => Vec::new(),
        }
    }

    /// The options of reading the files.
    pub(crate) fn options(&self) -> Result<ReadOptions, rankwright_data::DataError> {
        let roles = Roles::parse(&self.columns)?;
        Ok(ReadOptions::new().format(self.format).absent(self.absent).roles(roles))
    }
}

/// Reads all of `[[data]]`.
pub(super) fn data_sets(
    document: TomlDocument<'_>,
    raw: &[Spanned<RawData>],
    from_text: &[TextSource],
    paths: &PathResolver<'_>,
) -> Result<Vec<DataSet>, ExperimentError> {
    let mut sets: Vec<DataSet> = Vec::new();
    for raw in raw {
        let reader = DataReader {
            table: document.table(raw.span().start, "[[data]]"),
            raw: raw.get_ref(),
            from_text,
            paths,
        };
        let set = reader.data_set()?;
        if sets.iter().any(|other| other.name == set.name) {
            let message = format!("two data sets are called `{}`", set.name);
            return Err(reader.table.error_at(&reader.raw.name, message));
        }
        sets.push(set);
    }
    match sets.is_empty() {
        true => Err(document.error(0..0, "there is no data; write [[data]] with a name and files")),
        false => Ok(sets),
    }
}

/// Reads one `[[data]]`.
struct DataReader<'a> {
    table: TomlTable<'a>,
    raw: &'a RawData,
    /// The texts that data can be computed from.
    from_text: &'a [TextSource],
    paths: &'a PathResolver<'a>,
}

impl DataReader<'_> {
    /// Reads and checks all keys.
    fn data_set(&self) -> Result<DataSet, ExperimentError> {
        let raw = self.raw;
        let name = self.table.required_text("name", &raw.name, "\"mq2008\"")?.to_owned();
        let format = raw.format.as_ref().map(|name| Format::from_name(name.get_ref()));
        let columns = raw.columns.as_ref().map_or("", |columns| columns.get_ref());
        Roles::parse(columns).map_err(|e| self.table.error_at(&raw.columns, e))?;
        Ok(DataSet {
            name: self.table.one_line(&raw.name, name)?,
            source: self.source()?,
            format: format.transpose().map_err(|e| self.table.error_at(&raw.format, e))?,
            absent: self.absent()?,
            columns: columns.to_owned(),
            matching: MatchOptions::default().ignore_extra(raw.ignore_extra).by(raw.match_by),
        })
    }

    /// The meaning of an absent feature; 0 by default.
    fn absent(&self) -> Result<Absent, ExperimentError> {
        match self.raw.absent.as_ref().map_or("zero", |name| name.get_ref()) {
            "zero" => Ok(Absent::Zero),
            "missing" => Ok(Absent::Missing),
            other => {
                let message = format!("`absent` is \"zero\" or \"missing\", not \"{other}\"");
                Err(self.table.error_at(&self.raw.absent, message))
            }
        }
    }

    /// The keys that define the source and the division of the data, as far as they are present,
    /// with their positions.
    fn present(&self) -> Vec<(&'static str, Range<usize>)> {
        fn span<T>(value: &Option<Spanned<T>>) -> Option<Range<usize>> {
            value.as_ref().map(Spanned::span)
        }
        let raw = self.raw;
        let all = [
            ("train", span(&raw.train)),
            ("fold", span(&raw.fold)),
            ("folders", span(&raw.folders)),
            ("parts", span(&raw.parts)),
            ("files", span(&raw.files)),
            ("generate", span(&raw.generate)),
            ("valid", span(&raw.valid)),
            ("test", span(&raw.test)),
            ("folds", span(&raw.folds)),
            ("split", span(&raw.split)),
            ("fold_seed", span(&raw.fold_seed)),
            ("seed", span(&raw.seed)),
        ];
        all.into_iter().filter_map(|(key, span)| Some((key, span?))).collect()
    }

    /// The source of the queries and their division.
    fn source(&self) -> Result<DataSource, ExperimentError> {
        let (table, raw) = (&self.table, self.raw);
        let (sources, others): (Vec<_>, Vec<_>) =
            self.present().into_iter().partition(|(key, _)| SOURCES.contains(key));
        let [(source, _)] = sources.as_slice() else {
            let message = format!("[[data]] needs exactly one of {}", SOURCES.join(", "));
            return Err(match sources.last() {
                Some((_, span)) => table.document.error(span.clone(), message),
                None => table.error_at(&raw.name, message),
            });
        };
        let allowed: &[&str] = match *source {
            "train" => &["valid", "test"],
            "files" => &["folds", "split", "fold_seed"],
            "generate" => &["folds", "split", "fold_seed", "seed"],
            _ => &[],
        };
        if let Some((key, span)) = others.iter().find(|(key, _)| !allowed.contains(key)) {
            let message = format!("`{key}` cannot be used together with `{source}`");
            return Err(table.document.error(span.clone(), message));
        }
        match (*source, &raw.fold) {
            ("fold", Some(folds)) if folds.get_ref().is_empty() => {
                Err(table.document.error(folds.span(), "`fold` is empty".to_owned()))
            }
            ("fold", Some(folds)) => {
                let fold = |fold: &Spanned<RawFold>| {
                    let table = table.document.table(fold.span().start, "[[data.fold]]");
                    let RawFold { train, valid, test } = fold.get_ref();
                    self.fold_files(&table, [train, valid, test])
                };
                Ok(DataSource::Folds(folds.get_ref().iter().map(fold).collect::<Result<_, _>>()?))
            }
            ("folders", _) => self.folders(),
            ("parts", _) => self.rotation(),
            ("files" | "generate", _) => self.undivided(),
            _ => {
                let files = self.fold_files(table, [&raw.train, &raw.valid, &raw.test])?;
                Ok(DataSource::Folds(vec![files]))
            }
        }
    }

    /// The files of a key; empty if the key is absent.
    fn files_of(&self, value: &Option<Spanned<Texts>>) -> Result<Vec<FilePath>, ExperimentError> {
        let mut files = Vec::new();
        for text in texts(value) {
            match text.strip_prefix(TEXT_PREFIX) {
                Some(name) => files.push(self.text_file(value, text, name)?),
                None => {
                    files
                        .extend(self.paths.files(text).map_err(|e| self.table.error_at(value, e))?);
                }
            }
        }
        Ok(files)
    }

    /// The data of a `[[text]]`; its path is set when the folder of the results is known.
    fn text_file(
        &self,
        value: &Option<Spanned<Texts>>,
        written: &str,
        name: &str,
    ) -> Result<FilePath, ExperimentError> {
        let names: Vec<&str> = self.from_text.iter().map(|text| text.name.as_str()).collect();
        if names.contains(&name) {
            return Ok(FilePath { written: written.to_owned(), path: PathBuf::from(written) });
        }
        let suggestion = nearest(name, &names).map(|near| format!(" (did you mean `{near}`?)"));
        let message = format!("no [[text]] is called `{name}`{}", suggestion.unwrap_or_default());
        Err(self.table.error_at(value, message))
    }

    /// The files of a fold, from the keys `train`, `valid` and `test`.
    fn fold_files(
        &self,
        table: &TomlTable<'_>,
        [train, valid, test]: [&Option<Spanned<Texts>>; 3],
    ) -> Result<FoldFiles, ExperimentError> {
        let required = |key: &str, value: &Option<Spanned<Texts>>| match self.files_of(value)? {
            files if files.is_empty() => {
                let message = format!("`{key}` names no file; both `train` and `test` need one");
                Err(table.error_at(value, message))
            }
            files => Ok(files),
        };
        Ok(FoldFiles {
            train: required("train", train)?,
            valid: self.files_of(valid)?,
            test: required("test", test)?,
        })
    }

    /// The folds of LETOR's folders.
    fn folders(&self) -> Result<DataSource, ExperimentError> {
        let file_in = |folder: &FilePath, name: &str| {
            vec![FilePath {
                written: format!("{}/{name}", folder.written.trim_end_matches('/')),
                path: folder.path.join(name),
            }]
        };
        let fold = |folder: FilePath| FoldFiles {
            train: file_in(&folder, "train.txt"),
            valid: file_in(&folder, "vali.txt"),
            test: file_in(&folder, "test.txt"),
        };
        let folders = &self.raw.folders;
        let folds: Vec<FoldFiles> = self.files_of(folders)?.into_iter().map(fold).collect();
        match folds.is_empty() {
            true => {
                Err(self.table.error_at(folders, "`folders` names no folder, such as Fold{1..5}"))
            }
            false => Ok(DataSource::Folds(folds)),
        }
    }

    /// LETOR's rotation, for parts S1 to S5: fold f, from 1, trains on parts f, f+1 and f+2,
    /// validates on f+3 and tests on f+4, where S1 follows S5.
    fn rotation(&self) -> Result<DataSource, ExperimentError> {
        let parts = self.files_of(&self.raw.parts)?;
        let count = parts.len();
        if count < 3 {
            let message = "`parts` needs at least 3 files, such as S{1..5}.txt";
            return Err(self.table.error_at(&self.raw.parts, message));
        }
        let fold = |f: usize| {
            let mut rotated = parts.clone();
            rotated.rotate_left(f);
            let test = rotated.pop().into_iter().collect();
            let valid = rotated.pop().into_iter().collect();
            FoldFiles { train: rotated, valid, test }
        };
        Ok(DataSource::Folds((0..count).map(fold).collect()))
    }

    /// Files or generated data that the experiment divides.
    fn undivided(&self) -> Result<DataSource, ExperimentError> {
        let raw = self.raw;
        let seed_of = |value: &Option<Spanned<WholeNumber>>, default: u64| {
            value.as_ref().map_or(default, |seed| seed.get_ref().0)
        };
        let origin = match &raw.generate {
            Some(generator) => {
                let options = &generator.get_ref().0.0;
                DataOrigin::Generated(options.clone().seed(seed_of(&raw.seed, options.seed)))
            }
            None => DataOrigin::Files(self.files_of(&raw.files)?),
        };
        if matches!(&origin, DataOrigin::Files(files) if files.is_empty()) {
            return Err(self.table.error_at(&raw.files, "`files` names no file"));
        }
        let seed = seed_of(&raw.fold_seed, SplitOptions::default().seed);
        let division = self.division(&origin, seed)?;
        Ok(DataSource::Whole { origin, division })
    }

    /// The division by `folds` or `split`.
    fn division(&self, origin: &DataOrigin, seed: u64) -> Result<QueryDivision, ExperimentError> {
        let (table, raw) = (&self.table, self.raw);
        match (&raw.folds, &raw.split) {
            (Some(_), Some(_)) => {
                Err(table.error_at(&raw.split, "give either `folds` or `split`, not both"))
            }
            (Some(count), None) => {
                let count = count.get_ref().0;
                match folds_problem(origin, count) {
                    Some(problem) => Err(table.error_at(&raw.folds, problem)),
                    None => Ok(QueryDivision::Folds { count: count as usize, seed }),
                }
            }
            (None, None) if raw.generate.is_none() => {
                let split = SplitOptions::default().parts;
                let message = format!("`files` need `folds = 5` or `split = \"{split}\"`");
                Err(table.error_at(&raw.files, message))
            }
            (None, Some(split)) => {
                let SplitFractions { text, parts } = &split.get_ref().0;
                Ok(QueryDivision::Split { text: text.clone(), parts: parts.clone(), seed })
            }
            (None, None) => {
                let parts = SplitOptions::default().parts;
                Ok(QueryDivision::Split { text: parts.to_string(), parts, seed })
            }
        }
    }
}

/// The problem with a number of folds: fewer than 3, or more than generated data has queries;
/// `None` if there is no problem. The queries of files are not known before the run.
fn folds_problem(origin: &DataOrigin, folds: u64) -> Option<String> {
    match origin {
        _ if folds < MIN_FOLDS as u64 => {
            Some(format!("at least {MIN_FOLDS} folds are needed to train, validate and test"))
        }
        DataOrigin::Generated(options) if (options.queries as u64) < folds => {
            let queries = counted(options.queries, "query");
            Some(format!("{queries} cannot be divided into {folds} folds"))
        }
        _ => None,
    }
}
