//! Files of feature data with the options of reading them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_data::bytes::Input;
use rankwright_data::format::{Format, ReadOptions, Roles, read_inputs};
use rankwright_data::{Absent, Dataset, FeatureNames, PairColumn, TableColumns, Warnings};
use rankwright_model::{MatchBy, MatchOptions, Model, ModelFormat};

use serde::{Deserialize, Deserializer, Serialize};

use super::context::RunningTask;
use super::sources::short_or_object;
use super::{Context, TaskError, check_standard_input, file_label};

/// Files of feature data, and options of reading them. Several files are one data set.
///
/// ```
/// use rankwright::data::Absent;
/// use rankwright::tasks::DataFiles;
/// let files = DataFiles::new(["day1.txt", "day2.txt"]).absent(Absent::Missing);
/// assert_eq!(files.files.len(), 2);
/// ```
///
/// In JSON it is a path, a list of paths, or an object with these fields.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct DataFiles {
    /// The files; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// The format; detected by content if not given.
    pub format: Option<Format>,
    /// The meaning of an absent feature of a sparse row. If not given: the model's rule if
    /// there is a model, zero otherwise.
    pub absent: Option<Absent>,
    /// Roles of columns, in addition to those of their names.
    pub roles: Option<Roles>,
    /// A file of preference pairs.
    pub pairs: Option<PathBuf>,
    /// The meaning of the fourth column of the pairs; needed where it is ambiguous.
    pub pair_column: Option<PairColumn>,
}

impl DataFiles {
    /// Files whose format is detected by content.
    pub fn new<P: Into<PathBuf>>(files: impl IntoIterator<Item = P>) -> Self {
        DataFiles { files: files.into_iter().map(Into::into).collect(), ..DataFiles::default() }
    }

    /// Sets the format, independent of the content.
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets the meaning of absent features.
    pub fn absent(mut self, absent: Absent) -> Self {
        self.absent = Some(absent);
        self
    }

    /// Sets roles of columns.
    pub fn roles(mut self, roles: Roles) -> Self {
        self.roles = Some(roles);
        self
    }

    /// Sets a file of preference pairs.
    pub fn pairs(mut self, file: impl Into<PathBuf>) -> Self {
        self.pairs = Some(file.into());
        self
    }

    /// Sets the meaning of the fourth column of the pairs.
    pub fn pair_column(mut self, column: PairColumn) -> Self {
        self.pair_column = Some(column);
        self
    }

    /// All input files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().chain(&self.pairs).map(PathBuf::as_path)
    }

    /// These files, which belong to others, as validation data to training data: options that they
    /// do not give are those of the others, except a file of pairs.
    #[cfg(feature = "train")]
    pub(super) fn with_options_of(&self, other: &DataFiles) -> DataFiles {
        let own = self.clone();
        DataFiles {
            files: own.files,
            format: own.format.or(other.format),
            absent: own.absent.or(other.absent),
            roles: own.roles.or_else(|| other.roles.clone()),
            pairs: own.pairs,
            pair_column: own.pair_column.or(other.pair_column),
        }
    }

    /// Opens and decompresses the files; returns them and the seconds that it took.
    pub(super) fn open(&self, task: &RunningTask<'_>) -> Result<(Vec<Input>, f64), TaskError> {
        let name = format!("opening {}", file_label(&self.files));
        task.step(&name, || self.files.iter().map(Input::open).collect::<Result<_, _>>())
    }

    /// Opens and reads the files.
    pub(super) fn load(
        &self,
        rules: Option<ReadRules>,
        task: &mut RunningTask<'_>,
    ) -> Result<LoadedData, TaskError> {
        check_standard_input(self.paths())?;
        let (inputs, seconds) = self.open(task)?;
        let loaded = self.load_opened(inputs, rules, task)?;
        Ok(LoadedData { seconds: loaded.seconds + seconds, ..loaded })
    }

    /// Reads opened inputs by the rules of a model or of other data.
    pub(super) fn load_opened(
        &self,
        inputs: Vec<Input>,
        rules: Option<ReadRules>,
        task: &mut RunningTask<'_>,
    ) -> Result<LoadedData, TaskError> {
        // Preference pairs take the place of labels.
        let labels_are_optional =
            self.pairs.is_some() || rules.as_ref().is_some_and(|rules| rules.labels_are_optional);
        let options = ReadOptions::new()
            .format(self.format)
            .roles(self.roles.clone().unwrap_or_default())
            .absent(self.absent_rule(rules.as_ref().and_then(|rules| rules.absent))?)
            .columns(rules.as_ref().and_then(|rules| rules.columns.clone()))
            .features(rules.as_ref().and_then(|rules| rules.features.clone()))
            .needs_labels(!labels_are_optional);
        if let Some(model) = inputs.iter().find(|input| ModelFormat::detect(&input.bytes).is_some())
        {
            return Err(TaskError::ModelInsteadOfData { file: model.name.clone() });
        }
        let names: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
        let label = file_label(&names);
        let (loaded, seconds) =
            task.step(&format!("reading {label}"), || read_inputs(inputs, &options))?;
        let (mut warnings, columns) = (loaded.warnings, loaded.columns);
        self.check_recorded(&label, loaded.format, loaded.data.absent())?;
        let mut data = loaded.data;
        if let Some(pairs) = &self.pairs {
            let input = Input::open(pairs)?;
            let (with_pairs, pair_warnings) = data.with_pairs_as(&input, self.pair_column)?;
            warnings.merge(pair_warnings);
            data = with_pairs;
        }
        task.warn_of(&warnings);
        let (data, format) = (Arc::new(data), Some(loaded.format));
        Ok(LoadedData { data, format, files: names, columns, warnings, seconds })
    }

    /// The meaning of absent features: that of the model, of the caller, or zero.
    fn absent_rule(&self, model: Option<Absent>) -> Result<Absent, TaskError> {
        match (model, self.absent) {
            (Some(model), Some(requested)) if model != requested => {
                Err(TaskError::AbsentContradictsModel { requested, model })
            }
            (model, requested) => Ok(model.or(requested).unwrap_or_default()),
        }
    }

    /// Checks that a format that records its rule for absent features agrees with the caller.
    fn check_recorded(
        &self,
        file: &str,
        format: Format,
        recorded: Absent,
    ) -> Result<(), TaskError> {
        match self.absent {
            Some(requested) if requested != recorded => Err(TaskError::AbsentRecorded {
                file: file.to_owned(),
                format: format.info().name,
                requested,
                recorded,
            }),
            _ => Ok(()),
        }
    }
}

/// The rules by which data is read that belongs to a model or to other data: the meaning of absent
/// features, and the columns of tables, so that roles are given once and texts get the same
/// category numbers.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReadRules {
    /// The meaning of absent features.
    pub absent: Option<Absent>,
    /// The columns of the table that the model's training data, or the other data, was read from.
    pub columns: Option<Arc<TableColumns>>,
    /// The features of the model or of the other data, which JSON lines may leave out: those that no
    /// line has are absent. `None` if data must have the features itself.
    pub features: Option<FeatureNames>,
    /// Whether a table without labels is accepted.
    pub labels_are_optional: bool,
}

impl ReadRules {
    /// The rules of a model.
    pub fn of_model(model: &Model) -> Self {
        let header = model.header();
        let columns = header.table_columns.clone();
        let features = Some(header.features.clone());
        ReadRules { absent: Some(header.absent), columns, features, labels_are_optional: false }
    }

    /// The rules of other data, such as training data.
    pub fn of_data(data: &Dataset) -> Self {
        let columns = data.table_columns().cloned();
        let features = Some(data.features().clone());
        ReadRules { absent: Some(data.absent()), columns, features, labels_are_optional: false }
    }

    /// Fits the rules to the way in which features are matched: where they are matched by position,
    /// their names say nothing, so that no feature is added to the data.
    pub fn matched(mut self, matching: MatchOptions) -> Self {
        self.features = self.features.filter(|_| matching.by == MatchBy::Name);
        self
    }

    /// Accepts tables without labels ([`Dataset::is_labelled`] is then false).
    pub fn labels_are_optional(mut self) -> Self {
        self.labels_are_optional = true;
        self
    }
}

impl From<Absent> for ReadRules {
    fn from(absent: Absent) -> Self {
        ReadRules { absent: Some(absent), ..ReadRules::default() }
    }
}

/// A data set that was read from files, or that a program had in memory.
#[derive(Debug)]
#[non_exhaustive]
pub struct LoadedData {
    /// The data.
    pub data: Arc<Dataset>,
    /// The format of the files; `None` for data in memory.
    pub format: Option<Format>,
    /// Names of the files, or the name of the data in memory.
    pub files: Vec<String>,
    /// The columns of a table, with their roles and encodings; none for other formats.
    pub columns: Option<TableColumns>,
    /// Recoverable problems while reading.
    pub warnings: Warnings,
    /// Seconds of reading.
    pub seconds: f64,
}

impl LoadedData {
    /// Name of the format of the files; `memory` for data in memory.
    pub fn format_name(&self) -> &'static str {
        self.format.map_or("memory", |format| format.info().name)
    }
}

/// Reads one data set, by the rules of a model that will score it or of data that it belongs to.
pub fn read_data(
    files: &DataFiles,
    rules: Option<ReadRules>,
    context: &Context<'_>,
) -> Result<LoadedData, TaskError> {
    files.load(rules, &mut RunningTask::new(context))
}

/// The object form of [`DataFiles`] in JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DataFilesObject {
    files: Vec<PathBuf>,
    format: Option<Format>,
    absent: Option<Absent>,
    roles: Option<Roles>,
    pairs: Option<PathBuf>,
    pair_column: Option<PairColumn>,
}

impl From<DataFilesObject> for DataFiles {
    fn from(object: DataFilesObject) -> Self {
        let DataFilesObject { files, format, absent, roles, pairs, pair_column } = object;
        DataFiles { files, format, absent, roles, pairs, pair_column }
    }
}

impl<'de> Deserialize<'de> for DataFiles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "a path, a list of paths, or an object with `files`";
        short_or_object::<_, DataFilesObject, _>(deserializer, expected, DataFiles::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_model::{Header, Matching};

    fn data(folder: &Path) -> PathBuf {
        let file = folder.join("a.txt");
        std::fs::write(&file, "1 qid:1 1:0.5 3:2\n0 qid:1 2:1\n").unwrap();
        file
    }

    #[test]
    fn the_models_rule_for_absent_features_decides() {
        let folder = tempfile::tempdir().unwrap();
        let files = DataFiles::new([data(folder.path())]);
        let context = Context::default();
        let zero = read_data(&files, None, &context).unwrap();
        assert_eq!(zero.data.matrix().get(0, 1), 0.0);
        let missing = read_data(&files, Some(Absent::Missing.into()), &context).unwrap();
        assert!(missing.data.matrix().get(0, 1).is_nan());
        let both = files.absent(Absent::Zero);
        let error = read_data(&both, Some(Absent::Missing.into()), &context).unwrap_err();
        assert!(matches!(error, TaskError::AbsentContradictsModel { .. }), "{error}");
    }

    /// Regression: scoring and validation refused JSON lines without a key of the model.
    #[test]
    fn json_lines_may_leave_out_a_feature_and_tables_may_not() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            DataFiles::new([file])
        };
        let context = Context::default();
        let train = put("train.csv", "qid,label,a,b\n1,1,2,3\n");
        let train = read_data(&train, None, &context).unwrap().data;
        let check = |data: &DataFiles, options: MatchOptions| {
            let rules = ReadRules::of_data(&train).matched(options);
            let loaded = read_data(data, Some(rules), &context).unwrap();
            let header = Header::new(train.features().clone(), train.absent());
            let matching = Matching::new(&header, loaded.data.features(), options);
            (matching.map(|matching| matching.column(1)).ok(), loaded.warnings.iter().count())
        };
        let json = put("new.jsonl", "{\"qid\":1,\"label\":0,\"a\":5}\n");
        let csv = put("new.csv", "qid,label,a\n1,0,5\n");
        let options = MatchOptions::default();
        assert_eq!(check(&json, options), (Some(Some(1)), 1));
        assert_eq!(check(&csv, options), (None, 0));
        assert_eq!(check(&json, options.by(MatchBy::Position)), (None, 0));
    }

    #[test]
    fn a_file_that_records_its_rule_cannot_be_read_by_another() {
        let folder = tempfile::tempdir().unwrap();
        let loaded =
            read_data(&DataFiles::new([data(folder.path())]), None, &Context::default()).unwrap();
        let cache = folder.path().join("a.rwd");
        rankwright_data::format::write(&loaded.data, &cache, Format::Cache).unwrap();
        let files = DataFiles::new([cache]).absent(Absent::Missing);
        let error = read_data(&files, None, &Context::default()).unwrap_err();
        assert!(matches!(error, TaskError::AbsentRecorded { .. }), "{error}");
    }
}
