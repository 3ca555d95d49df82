//! The formats of feature data: their table, detection by content, reading and writing.

mod cache;
#[cfg(feature = "columnar")]
mod columnar;
#[cfg(feature = "text")]
mod csv;
mod detect;
mod feature_set;
#[cfg(feature = "text")]
mod jsonl;
#[cfg(feature = "text")]
pub mod letor;
mod roles;
#[cfg(feature = "text")]
mod table;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_spec::json_by_text;

use crate::bytes::Input;
use crate::dataset::{Absent, Dataset};
use crate::error::{ColumnProblem, DataError, FormatProblem, SourceLocation};
use crate::memory::memory_limit;
use crate::names::FeatureNames;
use crate::store::{WriteBody, is_ordinary, write_atomic, write_together};
use crate::table_columns::{TableColumns, UnseenCategories};
use crate::warnings::{DataPart, WarningKind, Warnings};

#[cfg(all(feature = "text", feature = "columnar"))]
pub(crate) use columnar::NamedColumns;
#[cfg(feature = "text")]
pub(crate) use csv::nul_in_text;
pub use detect::is_split_by_semicolons;
pub(crate) use feature_set::ENDING as FEATURE_SET_ENDING;
use feature_set::FeatureSets;
pub use feature_set::feature_set_path;
pub use roles::{Role, Roles, quoted_column, role_entries};
pub(crate) use roles::{has_undecided_role, is_query_name};
#[cfg(feature = "text")]
pub use table::{RowCell, RowEncoder};

/// A format of feature data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// LETOR / SVMlight text.
    Letor,
    /// Comma-separated values with a header.
    Csv,
    /// Tab-separated values with a header.
    Tsv,
    /// One JSON object per line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, file or stream.
    Arrow,
    /// Rankwright's own binary cache.
    Cache,
}

json_by_text!(Format, |format: &Format| format.info().name, Format::from_name);

/// A row of the table of formats.
#[derive(Debug)]
pub struct FormatInfo {
    /// The format.
    pub format: Format,
    /// The name used in options.
    pub name: &'static str,
    /// File extensions of the format, used for writing, and for reading if the content is
    /// ambiguous.
    pub extensions: &'static [&'static str],
    /// A description in one line.
    pub doc: &'static str,
    /// An example of a row, of columns or of a file name.
    pub example: &'static str,
}

/// All formats of feature data.
pub static FORMATS: [FormatInfo; 7] = [
    FormatInfo {
        format: Format::Letor,
        name: "letor",
        extensions: &["txt", "letor", "svm", "libsvm", "svmlight", "dat"],
        doc: "LETOR / SVMlight text; if rows have no qid, query sizes come from a LightGBM side file",
        example: "2 qid:10 1:0.031 2:0.66 # docA",
    },
    FormatInfo {
        format: Format::Csv,
        name: "csv",
        extensions: &["csv"],
        doc: "comma-separated values with a header, or semicolons and decimal commas, as spreadsheets of many countries write them; columns get their roles by name; NA, N/A, NULL and nan are missing values",
        example: "qid,label,docid,bm25,pagerank",
    },
    FormatInfo {
        format: Format::Tsv,
        name: "tsv",
        extensions: &["tsv", "tab"],
        doc: "tab-separated values with a header",
        example: "qid\tlabel\tdocid\tbm25\tpagerank",
    },
    FormatInfo {
        format: Format::Jsonl,
        name: "jsonl",
        extensions: &["jsonl", "ndjson", "json"],
        doc: "one JSON object per line; features as an array, an object, or further numeric keys",
        example: r#"{"qid": "10", "label": 2, "docid": "docA", "features": {"bm25": 7.1}}"#,
    },
    FormatInfo {
        format: Format::Parquet,
        name: "parquet",
        extensions: &["parquet", "pq"],
        doc: "Apache Parquet, one column per feature",
        example: "columns qid, label, docid, bm25, pagerank",
    },
    FormatInfo {
        format: Format::Arrow,
        name: "arrow",
        extensions: &["arrow", "feather", "ipc"],
        doc: "Arrow IPC, file or stream, one column per feature",
        example: "columns qid, label, docid, bm25, pagerank",
    },
    FormatInfo {
        format: Format::Cache,
        name: "rwd",
        extensions: &["rwd"],
        doc: "binary cache: checksummed, mapped into memory, opens in milliseconds",
        example: "train.rwd",
    },
];

// `Format::info` uses a format as index into the table, so the order must be that of the enum.
#[allow(clippy::indexing_slicing)]
const _: () = {
    let mut index = 0;
    while index < FORMATS.len() {
        assert!(FORMATS[index].format as usize == index);
        assert!(!FORMATS[index].extensions.is_empty());
        index += 1;
    }
};

impl Format {
    /// The row of the table for this format.
    #[allow(clippy::indexing_slicing)] // The constant above checks the order at compile time.
    pub fn info(self) -> &'static FormatInfo {
        &FORMATS[self as usize]
    }

    /// The extension of files that are written in this format.
    #[allow(clippy::indexing_slicing)] // The constant above checks that there is one.
    pub fn extension(self) -> &'static str {
        self.info().extensions[0]
    }

    /// The format with this name, or an error that lists the names.
    pub fn from_name(name: &str) -> Result<Format, DataError> {
        FORMATS.iter().find(|info| info.name == name).map(|info| info.format).ok_or_else(|| {
            DataError::UnknownName { what: "format", name: name.to_owned(), known: format_names() }
        })
    }

    /// The format of a path's extension; a final `.gz` or `.zst` is skipped.
    pub fn from_path(path: impl AsRef<Path>) -> Option<Format> {
        let name = path.as_ref().file_name()?.to_str()?.to_ascii_lowercase();
        let stem = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
        let (_, extension) = stem.rsplit_once('.')?;
        let known = |info: &&FormatInfo| info.extensions.contains(&extension);
        FORMATS.iter().find(known).map(|info| info.format)
    }
}

/// The names of all formats, separated by commas.
pub(crate) fn format_names() -> String {
    FORMATS.iter().map(|info| info.name).collect::<Vec<_>>().join(", ")
}

/// Options for reading feature data.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The format; detected by content if not given.
    pub format: Option<Format>,
    /// The value of features that a sparse row does not mention.
    pub absent: Absent,
    /// Roles of columns whose names do not tell the role.
    pub roles: Roles,
    /// The columns of earlier data, such as the training data of a model: roles and encodings that
    /// are not given in `roles` are taken from them, and a text gets the category number that it
    /// has there.
    pub columns: Option<Arc<TableColumns>>,
    /// The features of earlier data, such as those of a model. JSON lines may leave out any key, so
    /// a feature of this list that no line has is absent in all rows, with a warning; if no line
    /// has any of these features, nothing is added.
    pub features: Option<FeatureNames>,
    /// Whether a table without labels is an error; otherwise all labels are 0.
    pub needs_labels: bool,
    /// The largest matrix, in bytes, that will be allocated; [`memory_limit`] by default.
    pub max_matrix_bytes: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: None,
            absent: Absent::Zero,
            roles: Roles::default(),
            columns: None,
            features: None,
            needs_labels: true,
            max_matrix_bytes: memory_limit(),
        }
    }
}

impl ReadOptions {
    /// The default options: the format is detected by content, absent features are 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the format; `None` detects it by content.
    #[must_use]
    pub fn format(mut self, format: impl Into<Option<Format>>) -> Self {
        self.format = format.into();
        self
    }

    /// Sets the value of features that a sparse row does not mention.
    #[must_use]
    pub fn absent(mut self, absent: Absent) -> Self {
        self.absent = absent;
        self
    }

    /// Sets the roles of columns whose names do not tell the role.
    #[must_use]
    pub fn roles(mut self, roles: Roles) -> Self {
        self.roles = roles;
        self
    }

    /// Sets the columns of earlier data, such as the training data of a model.
    #[must_use]
    pub fn columns(mut self, columns: impl Into<Option<Arc<TableColumns>>>) -> Self {
        self.columns = columns.into();
        self
    }

    /// Sets the features of earlier data, which JSON lines may leave out.
    #[must_use]
    pub fn features(mut self, features: impl Into<Option<FeatureNames>>) -> Self {
        self.features = features.into();
        self
    }

    /// Sets whether a table without labels is an error.
    #[must_use]
    pub fn needs_labels(mut self, needs_labels: bool) -> Self {
        self.needs_labels = needs_labels;
        self
    }

    /// Sets the largest matrix, in bytes, that will be allocated.
    #[must_use]
    pub fn max_matrix_bytes(mut self, max_matrix_bytes: u64) -> Self {
        self.max_matrix_bytes = max_matrix_bytes;
        self
    }
}

/// A data set that was read, with the warnings of its input.
#[derive(Debug)]
pub struct Loaded {
    /// The data.
    pub data: Dataset,
    /// Recoverable problems of the input.
    pub warnings: Warnings,
    /// The format that was read.
    pub format: Format,
    /// The columns of a table, or of the table that a cache was made from, with their roles and
    /// encodings; `None` if there are none.
    pub columns: Option<TableColumns>,
}

/// Reads one data set from one or several files of the same format.
pub fn read<P: AsRef<Path>>(paths: &[P], options: &ReadOptions) -> Result<Loaded, DataError> {
    let inputs =
        paths.iter().map(|path| Input::open(path.as_ref())).collect::<Result<Vec<_>, _>>()?;
    read_inputs(inputs, options)
}

/// Reads one data set from opened inputs.
pub fn read_inputs(inputs: Vec<Input>, options: &ReadOptions) -> Result<Loaded, DataError> {
    let Some(first) = inputs.first() else {
        return Err(DataError::NoInput);
    };
    let format = match options.format {
        Some(format) => format,
        None => detect::detect(first)?,
    };
    for input in inputs.iter().skip(1).filter(|_| options.format.is_none()) {
        let other = detect::detect(input)?;
        if other != format {
            let (file, first) = (input.name.clone(), first.name.clone());
            let problem = FormatProblem::Different { found: other, first, expected: format };
            return Err(DataError::UnknownFormat { file, problem });
        }
    }
    if options.roles != Roles::default() && matches!(format, Format::Letor | Format::Cache) {
        return Err(DataError::columns(&first.name, ColumnProblem::NoNames { format }));
    }
    check_built(format)?;
    let name = first.name.clone();
    let mut warnings = Warnings::default();
    // The readers of Parquet and Arrow add feature sets that are inside of the inputs.
    let mut sets = FeatureSets::from_side_files(&inputs)?;
    let read = read_format(format, inputs, options, &mut sets, &mut warnings);
    let (mut data, columns) = read.map_err(|error| {
        let known = options.columns.as_deref();
        error.with_given_roles(&options.roles).with_known_columns(known)
    })?;
    if data.feature_set.is_none() {
        data.feature_set = sets.join(&mut warnings)?;
    }
    if let Some(known) = &options.columns {
        for unseen in data.unseen_categories(known) {
            let UnseenCategories { feature, values, examples } = unseen;
            let location = || SourceLocation::file(&*name);
            warnings.add_unseen(&feature, values, &examples, location);
        }
        data = data.with_categories(known);
    }
    Ok(Loaded { data, warnings, format, columns })
}

/// Reads inputs of a format; a table also has its columns.
#[cfg_attr(not(feature = "columnar"), allow(unused_variables))]
fn read_format(
    format: Format,
    inputs: Vec<Input>,
    options: &ReadOptions,
    sets: &mut FeatureSets,
    warnings: &mut Warnings,
) -> Result<(Dataset, Option<TableColumns>), DataError> {
    let some_columns = |(data, columns): (Dataset, TableColumns)| (data, Some(columns));
    Ok(match format {
        #[cfg(feature = "text")]
        Format::Letor => (letor::read(&inputs, options, warnings)?, None),
        #[cfg(feature = "text")]
        Format::Csv => some_columns(csv::read(&inputs, b',', options, warnings)?),
        #[cfg(feature = "text")]
        Format::Tsv => some_columns(csv::read(&inputs, b'\t', options, warnings)?),
        #[cfg(feature = "text")]
        Format::Jsonl => some_columns(jsonl::read(&inputs, options, warnings)?),
        Format::Cache => {
            let data = cache::read(inputs)?;
            let columns = data.table_columns.as_deref().cloned();
            (data, columns)
        }
        #[cfg(feature = "columnar")]
        Format::Parquet => some_columns(columnar::read_parquet(inputs, options, sets, warnings)?),
        #[cfg(feature = "columnar")]
        Format::Arrow => some_columns(columnar::read_arrow(inputs, options, sets, warnings)?),
        #[cfg(not(all(feature = "text", feature = "columnar")))]
        _ => return Err(DataError::io("read", format.info().name, not_built())),
    })
}

/// Writes a data set atomically. Its feature set is written into the file, or to the side file
/// `PATH.features.toml` if the format cannot hold it. Rows are written in the order of the input.
/// Returns a warning for each part that the format cannot hold.
pub fn write(
    data: &Dataset,
    path: impl AsRef<Path>,
    format: Format,
) -> Result<Warnings, DataError> {
    let path = path.as_ref();
    check_built(format)?;
    check_width(data, format)?;
    let target = DataTarget::new(data, path, format);
    let write_body = |out: &mut dyn Write| write_content(data, format, out);
    match target.changes_side_file {
        true => write_together(target.files(data, Box::new(write_body)))?,
        false => write_atomic(path, write_body)?,
    }
    let mut warnings = Warnings::default();
    target.warn(&mut warnings);
    Ok(warnings)
}

/// Writes parts of a data set. A part is a path and the numbers of its queries. All files, with
/// their feature sets, change together: a reader sees all old or all new files, even if this
/// process is killed (see [`write_together`] for files in different folders).
pub fn write_parts(
    data: &Dataset,
    parts: &[(PathBuf, Vec<usize>)],
    format: Format,
) -> Result<Warnings, DataError> {
    check_built(format)?;
    check_width(data, format)?;
    for number in parts.iter().flat_map(|(_, queries)| queries).copied() {
        if number >= data.queries() {
            let (what, count) = ("query", data.queries());
            return Err(DataError::OutOfRange { what, index: number, count });
        }
    }
    let (mut files, mut warnings) = (Vec::new(), Warnings::default());
    for (path, queries) in parts {
        let target = DataTarget::new(data, path, format);
        target.warn(&mut warnings);
        // Each part is made when its file is written, so that only one part is in memory at a time.
        files.extend(target.files(
            data,
            Box::new(move |out| {
                let part = data.select_queries(queries).map_err(io::Error::other)?;
                write_content(&part, format, out)
            }),
        ));
    }
    write_together(files)?;
    Ok(warnings)
}

/// A file that a data set is written to, perhaps with the side file of its feature set.
struct DataTarget<'a> {
    path: &'a Path,
    /// Parts of the data that are not written.
    lost: Vec<DataPart>,
    /// Whether the side file is written or removed together with the file.
    changes_side_file: bool,
    /// Whether the feature set is written to the side file; otherwise an old side file is removed.
    writes_feature_set: bool,
}

impl<'a> DataTarget<'a> {
    /// Decides which parts of the data are written, and where the feature set goes.
    fn new(data: &Dataset, path: &'a Path, format: Format) -> Self {
        let needs_side_file = !feature_set::is_inside(format) && is_ordinary(path);
        let mut lost = lost_parts(data, format);
        // A pipe has no side file, and a feature set is useless if the names of its features are
        // lost.
        if data.feature_set.is_some() && !feature_set::is_inside(format) {
            let keeps_names = !lost.contains(&DataPart::FeatureNames);
            lost.extend((!needs_side_file || !keeps_names).then_some(DataPart::FeatureSet));
        }
        let changes_side_file =
            is_ordinary(path) && (needs_side_file || feature_set_path(path).exists());
        let writes_feature_set = needs_side_file && !lost.contains(&DataPart::FeatureSet);
        DataTarget { path, lost, changes_side_file, writes_feature_set }
    }

    /// The file, and its side file if that changes, with the functions that write them.
    fn files(
        &self,
        data: &'a Dataset,
        body: WriteBody<'a>,
    ) -> Vec<(PathBuf, Option<WriteBody<'a>>)> {
        let mut files = vec![(self.path.to_owned(), Some(body))];
        if self.changes_side_file {
            let set = data.feature_set().filter(|_| self.writes_feature_set);
            let set =
                set.map(|set| -> WriteBody<'a> { Box::new(|out| out.write_all(set.as_bytes())) });
            files.push((feature_set_path(self.path), set));
        }
        files
    }

    /// Adds a warning for each part of the data that is not written.
    fn warn(&self, warnings: &mut Warnings) {
        for part in &self.lost {
            let location = || SourceLocation::file(self.path.display().to_string());
            warnings.add(WarningKind::Lost(*part), 1, location);
        }
    }
}

/// Writes a data set to a writer. The feature set is written if the format can hold it. Returns a
/// warning for each part that the format cannot hold.
pub fn write_to(
    data: &Dataset,
    mut out: impl Write,
    format: Format,
) -> Result<Warnings, DataError> {
    check_built(format)?;
    check_width(data, format)?;
    write_content(data, format, &mut out).map_err(|e| DataError::io("write", "the data", e))?;
    let mut lost = lost_parts(data, format);
    let loses_feature_set = data.feature_set.is_some() && !feature_set::is_inside(format);
    lost.extend(loses_feature_set.then_some(DataPart::FeatureSet));
    let mut warnings = Warnings::default();
    for part in lost {
        warnings.add(WarningKind::Lost(part), 1, || SourceLocation::file(format.info().name));
    }
    Ok(warnings)
}

/// The parts of a data set that a format cannot hold; the caller handles the feature set.
fn lost_parts(data: &Dataset, format: Format) -> Vec<DataPart> {
    let is_letor = format == Format::Letor;
    let is_named = matches!(data.features(), FeatureNames::Named(_));
    let is_missing = data.absent() == Absent::Missing;
    let lost = [
        (DataPart::FeatureNames, is_letor && is_named),
        (DataPart::AbsentRule, is_missing && !feature_set::is_inside(format)),
        (DataPart::RowWeights, is_letor && data.row_weights().is_some()),
        (DataPart::QueryWeights, is_letor && data.query_weights().is_some()),
        (DataPart::Positions, is_letor && data.positions().is_some()),
        (DataPart::LabelColumns, is_letor && !data.label_columns.is_empty()),
        (DataPart::Pairs, format != Format::Cache && data.pairs().is_some()),
        (DataPart::Categories, !keeps_categories(data, format)),
        (DataPart::NoLabels, is_letor && !data.is_labelled()),
    ];
    lost.into_iter().filter(|(_, is_lost)| *is_lost).map(|(part, _)| part).collect()
}

/// Whether a format keeps the categories of a data set. Text formats hold the texts of categories;
/// when they are read, a column becomes categories again if all its values look like texts.
fn keeps_categories(data: &Dataset, format: Format) -> bool {
    let Some(columns) = data.table_columns() else { return true };
    match format {
        Format::Cache | Format::Parquet | Format::Arrow => true,
        Format::Letor => columns.all_categories().next().is_none(),
        #[cfg(feature = "text")]
        _ => {
            let has_text_type = format == Format::Jsonl;
            let is_kept = |values: &[String]| table::read_as_categories(values, has_text_type);
            columns.all_categories().all(|(_, values)| is_kept(values))
        }
        #[cfg(not(feature = "text"))]
        _ => true,
    }
}

fn write_content(data: &Dataset, format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        #[cfg(feature = "text")]
        Format::Letor => letor::write(data, out),
        #[cfg(feature = "text")]
        Format::Csv => csv::write(data, b',', out),
        #[cfg(feature = "text")]
        Format::Tsv => csv::write(data, b'\t', out),
        #[cfg(feature = "text")]
        Format::Jsonl => jsonl::write(data, out),
        Format::Cache => cache::write(data, out),
        #[cfg(feature = "columnar")]
        Format::Parquet => columnar::write_parquet(data, out),
        #[cfg(feature = "columnar")]
        Format::Arrow => columnar::write_arrow(data, out),
        #[cfg(not(all(feature = "text", feature = "columnar")))]
        _ => Err(not_built()),
    }
}

/// Rejects a format that this build does not include.
fn check_built(format: Format) -> Result<(), DataError> {
    let (feature, is_built) = match format {
        Format::Letor | Format::Csv | Format::Tsv | Format::Jsonl => {
            ("text", cfg!(feature = "text"))
        }
        Format::Parquet | Format::Arrow => ("columnar", cfg!(feature = "columnar")),
        Format::Cache => return Ok(()),
    };
    match is_built {
        true => Ok(()),
        false => Err(DataError::NotBuilt { format, feature }),
    }
}

/// The most features of a Parquet or Arrow file: writers and readers of these formats need memory
/// for each column, some 100 KB while a Parquet file is compressed.
const MAX_COLUMNAR_FEATURES: usize = 20_000;

/// Rejects a data set with more features than are written in this format.
fn check_width(data: &Dataset, format: Format) -> Result<(), DataError> {
    let what = match format {
        Format::Parquet => "Parquet files",
        Format::Arrow => "Arrow files",
        _ => return Ok(()),
    };
    match data.columns() {
        columns if columns > MAX_COLUMNAR_FEATURES => {
            Err(DataError::TooManyColumns { what, columns, limit: MAX_COLUMNAR_FEATURES })
        }
        _ => Ok(()),
    }
}

/// The error for a format that this build does not include; `check_built` comes first, so that
/// users never see it.
#[cfg(not(all(feature = "text", feature = "columnar")))]
fn not_built() -> io::Error {
    io::ErrorKind::Unsupported.into()
}
