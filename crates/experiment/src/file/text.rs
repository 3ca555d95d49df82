//! `[[text]]`: feature data that is computed from documents, queries and judgements.
//!
//! A `[[data]]` names such data as `text:NAME` in place of a file. This crate knows nothing of
//! indexes: whoever runs the experiment computes the features first and writes them to
//! [`ExperimentRequest::text_file`](crate::ExperimentRequest::text_file). Cells depend on the
//! content of that file, as on that of any other.

use rankwright_data::DEFAULT_SEED;
use rankwright_spec::{Spec, split_specs};
use toml::Spanned;

use super::super::paths::{FilePath, PathResolver};
use super::document::{TomlDocument, TomlTable};
use super::raw::{RawText, Texts};
use super::texts;
use crate::ExperimentError;

/// The beginning of a path that names a `[[text]]`.
pub(crate) const TEXT_PREFIX: &str = "text:";

/// Feature data to compute from text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextSource {
    /// Name of the text; letters, digits, `-` and `_`.
    pub name: String,
    /// The documents, queries and judgements.
    pub origin: TextOrigin,
    /// Kinds of the documents' fields, written as for `rankwright index`; may be empty.
    pub schema: String,
    /// Analysis of the text; `None` for English.
    pub analysis: Option<String>,
    /// Whether the ids of queries are 1, 2, 3, ... by position.
    pub number_queries: bool,
    /// The features.
    pub features: Vec<TextFeature>,
    /// The first stage that finds candidates; `None` for BM25.
    pub first_stage: Option<String>,
    /// Largest number of candidates of a query; `None` for the default number.
    pub candidates: Option<usize>,
    /// Whether judged documents that are not candidates become rows too.
    pub judged: bool,
}

impl TextSource {
    /// Every file, in order; without folders of documents, which may contain the results.
    pub(crate) fn files(&self) -> Vec<&FilePath> {
        let mut files = Vec::new();
        if let TextOrigin::Files { documents, queries, qrels } = &self.origin {
            files.extend(documents.iter().filter(|file| !file.path.is_dir()));
            files.extend([queries, qrels]);
        }
        files.extend(self.features.iter().filter_map(|feature| feature.file.as_ref()));
        files
    }
}

/// The source of documents, queries and judgements.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextOrigin {
    /// Files.
    Files {
        /// Files or folders of documents.
        documents: Vec<FilePath>,
        /// The file of queries.
        queries: FilePath,
        /// The file of judgements.
        qrels: FilePath,
    },
    /// Generated text.
    Generated {
        /// The generator as a spec: `homepages(sites=100)`.
        generator: String,
        /// The seed.
        seed: u64,
    },
}

/// A feature as the file names it, and with the resolved path of the file that it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextFeature {
    /// The spec as written.
    pub written: String,
    /// The spec with the resolved path; that as written if the feature reads no file.
    pub resolved: String,
    /// The file that the feature reads, such as a run; `None` if it reads none.
    pub file: Option<FilePath>,
}

/// Reads all of `[[text]]`.
pub(super) fn read(
    document: TomlDocument<'_>,
    raw: &[Spanned<RawText>],
    paths: &PathResolver<'_>,
) -> Result<Vec<TextSource>, ExperimentError> {
    let mut sources: Vec<TextSource> = Vec::new();
    for raw in raw {
        let table = document.table(raw.span().start, "[[text]]");
        let reader = TextReader { table, raw: raw.get_ref(), paths };
        let source = reader.source()?;
        if sources.iter().any(|other| other.name == source.name) {
            let message = format!("two texts are called `{}`", source.name);
            return Err(table.error_at(&raw.get_ref().name, message));
        }
        sources.push(source);
    }
    Ok(sources)
}

/// Reads one `[[text]]`.
struct TextReader<'a> {
    table: TomlTable<'a>,
    raw: &'a RawText,
    paths: &'a PathResolver<'a>,
}

impl TextReader<'_> {
    fn source(&self) -> Result<TextSource, ExperimentError> {
        let raw = self.raw;
        let optional =
            |value: &Option<Spanned<String>>| value.as_ref().map(|v| v.get_ref().clone());
        Ok(TextSource {
            name: self.name()?,
            origin: self.origin()?,
            schema: optional(&raw.schema).unwrap_or_default(),
            analysis: optional(&raw.analysis),
            number_queries: raw.number_queries,
            features: self.features()?,
            first_stage: optional(&raw.first_stage),
            candidates: raw.candidates.as_ref().map(|count| count.get_ref().0 as usize),
            judged: raw.judged,
        })
    }

    /// The name, which becomes a part of file names.
    fn name(&self) -> Result<String, ExperimentError> {
        let name = self.table.required_text("name", &self.raw.name, "\"cranfield\"")?;
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        match name.chars().all(is_allowed) {
            true => Ok(name.to_owned()),
            false => {
                let message = "the name of a text has letters, digits, - and _ only";
                Err(self.table.error_at(&self.raw.name, message))
            }
        }
    }

    /// Files, or a generator.
    fn origin(&self) -> Result<TextOrigin, ExperimentError> {
        let (table, raw) = (&self.table, self.raw);
        if let Some(generator) = &raw.generate {
            if raw.documents.is_some() || raw.queries.is_some() || raw.qrels.is_some() {
                let message =
                    "`generate` makes documents, queries and judgements; leave out the files";
                return Err(table.error_at(&raw.generate, message));
            }
            let seed = raw.seed.as_ref().map_or(DEFAULT_SEED, |seed| seed.get_ref().0);
            return Ok(TextOrigin::Generated { generator: generator.get_ref().clone(), seed });
        }
        if raw.seed.is_some() {
            return Err(table.error_at(&raw.seed, "`seed` belongs to `generate`"));
        }
        let mut documents = Vec::new();
        for text in texts(&raw.documents) {
            documents
                .extend(self.paths.files(text).map_err(|e| table.error_at(&raw.documents, e))?);
        }
        if documents.is_empty() {
            let message = "[[text]] needs `documents`, `queries` and `qrels`, or `generate`";
            return Err(table.error_at(&raw.documents, message));
        }
        let file = |key: &str, value: &Option<Spanned<String>>| {
            let text = table.required_text(key, value, "\"queries.tsv\"")?;
            self.paths.file(text).map_err(|e| table.error_at(value, e))
        };
        let (queries, qrels) = (file("queries", &raw.queries)?, file("qrels", &raw.qrels)?);
        Ok(TextOrigin::Files { documents, queries, qrels })
    }

    /// The features; paths in `file=...` are resolved as other paths are.
    fn features(&self) -> Result<Vec<TextFeature>, ExperimentError> {
        let (table, raw) = (&self.table, &self.raw.features);
        let mut features = Vec::new();
        for written in feature_texts(raw) {
            let spec = Spec::parse(&written).map_err(|e| table.error_at(raw, e))?;
            let file = spec.get("file").map(|file| self.paths.file(file)).transpose();
            let file = file.map_err(|e| table.error_at(raw, e))?;
            let resolved = match &file {
                Some(file) => spec.with("file", file.path.display().to_string()).to_string(),
                None => written.clone(),
            };
            features.push(TextFeature { written, resolved, file });
        }
        match features.is_empty() {
            true => Err(table.error_at(raw, "[[text]] needs `features`, such as \"default\"")),
            false => Ok(features),
        }
    }
}

/// The specs of a key; each text may be a list of several.
pub(super) fn feature_texts(value: &Option<Spanned<Texts>>) -> Vec<String> {
    let specs = texts(value).iter().flat_map(|text| split_specs(text));
    specs.map(str::to_owned).filter(|spec| !spec.is_empty()).collect()
}
