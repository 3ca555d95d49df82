//! Building of an index: a collection of text becomes searchable.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rankwright_search::{
    BuildOptions, BuildReport, Document, DocumentFormat, Documents, Existing, Index, SearchError,
    SkippedDocuments, build_index as build,
};
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::paths::check_used;
use super::{CollectionSource, Context, TaskError, TaskInputs, Warning};

/// Documents, and the folder of the index.
///
/// ```
/// use rankwright::tasks::{BuildIndexRequest, Context, build_index};
///
/// # let folder = tempfile::tempdir()?;
/// let file = folder.path().join("records.jsonl");
/// std::fs::write(&file, "{\"id\": \"1\", \"title\": \"Blue Train\"}\n")?;
/// let request = BuildIndexRequest::new([file], folder.path().join("records"));
/// let result = build_index(&request, &Context::default())?;
/// assert_eq!(result.report.documents, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BuildIndexRequest {
    /// Files and folders of documents; several are one collection. `-` is standard input.
    pub documents: CollectionSource,
    /// Folder of the index; if not given, the index is in memory, and the result alone has it.
    pub out: Option<PathBuf>,
    /// Format of the documents; detected by content if not given.
    pub format: Option<DocumentFormat>,
    /// Analysis of text, kinds of fields, and the treatment of an existing index.
    #[serde(default)]
    pub options: BuildOptions,
    /// Whether documents that cannot be read are skipped; otherwise the first one is an error.
    #[serde(default)]
    pub skip_broken: bool,
}

impl TaskInputs for BuildIndexRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.documents.paths().to_vec()
    }
}

impl BuildIndexRequest {
    /// Builds a new index of files in a folder, with the default options.
    pub fn new<P: Into<PathBuf>>(
        documents: impl IntoIterator<Item = P>,
        out: impl Into<PathBuf>,
    ) -> Self {
        BuildIndexRequest::of(CollectionSource::files(documents)).out(out)
    }

    /// Builds an index in memory, with the default options.
    ///
    /// ```
    /// use rankwright::search::{Document, Ranker};
    /// use rankwright::tasks::{BuildIndexRequest, Context, CollectionSource, build_index};
    ///
    /// let documents = vec![Document::new("1").with("title", "Blue Train")];
    /// let request = BuildIndexRequest::of(CollectionSource::in_memory(documents));
    /// let index = build_index(&request, &Context::default())?.built.unwrap();
    /// assert_eq!(Ranker::first_stage(index)?.rank("train", 10)?[0].id, "1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(documents: CollectionSource) -> Self {
        BuildIndexRequest {
            documents,
            out: None,
            format: None,
            options: BuildOptions::new(),
            skip_broken: false,
        }
    }

    /// Sets the folder of the index.
    pub fn out(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out = Some(folder.into());
        self
    }

    /// Sets the format of the documents.
    pub fn format(mut self, format: DocumentFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets analysis, kinds of fields, and the treatment of an existing index.
    pub fn options(mut self, options: BuildOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets whether documents that cannot be read are skipped.
    pub fn skip_broken(mut self, skip: bool) -> Self {
        self.skip_broken = skip;
        self
    }
}

/// The index that was built.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct BuildIndexResult {
    /// Folder of the index; `in memory` if none was requested.
    pub index: PathBuf,
    /// Number of bytes that were read.
    pub bytes: u64,
    /// Seconds of the build.
    pub seconds: f64,
    /// Numbers of documents, the analysis and the fields.
    #[serde(flatten)]
    pub report: BuildReport,
    /// The documents that were skipped, if that was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<SkippedDocuments>,
    /// Warnings about the documents.
    pub warnings: Vec<Warning>,
    /// The index, if it is in memory.
    #[serde(skip)]
    pub built: Option<Index>,
}

/// The state of a build, for a progress bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexProgress {
    /// Number of documents so far.
    pub documents: u64,
    /// Number of bytes that were read so far.
    pub bytes: u64,
    /// Number of bytes of all inputs, if it is known.
    pub bytes_total: Option<u64>,
}

/// Builds an index, replaces it, or adds documents to it. A cancelled build changes nothing.
pub fn build_index(
    request: &BuildIndexRequest,
    context: &Context<'_>,
) -> Result<BuildIndexResult, TaskError> {
    let task = RunningTask::new(context);
    request.check_files(request.out.as_deref())?;
    let adds = request.options.existing != Existing::default();
    check_used(adds && request.out.is_none(), "existing", "an index in memory is always new")?;
    match &request.documents {
        CollectionSource::Files(files) => build_from_files(request, files, task),
        CollectionSource::Memory(documents) => {
            let reason = "documents in memory are not read";
            check_used(request.format.is_some(), "format", reason)?;
            check_used(request.skip_broken, "skip_broken", reason)?;
            build_from_memory(request, documents, task)
        }
    }
}

/// Indexes documents in memory.
fn build_from_memory(
    request: &BuildIndexRequest,
    documents: &[Document],
    mut task: RunningTask<'_>,
) -> Result<BuildIndexResult, TaskError> {
    let progress = |documents: u64| IndexProgress { documents, bytes: 0, bytes_total: None };
    let step = format!("indexing {}", request.documents.label());
    let documents = documents.iter().cloned().map(Ok);
    let (built, seconds) =
        task.step(&step, || write(request, documents, &progress, task.context()))?;
    let (report, built) = built.ok_or(TaskError::Cancelled)?;
    task.warn_of_search(report.warnings());
    Ok(BuildIndexResult {
        index: folder_name(request),
        bytes: 0,
        seconds,
        report,
        skipped: None,
        warnings: task.into_warnings(),
        built,
    })
}

/// The folder of the index, or words for an index in memory.
fn folder_name(request: &BuildIndexRequest) -> PathBuf {
    request.out.clone().unwrap_or_else(|| "in memory".into())
}

/// Writes the index into its folder, or makes it in memory; `None` if the caller cancelled.
fn write(
    request: &BuildIndexRequest,
    documents: impl Iterator<Item = Result<Document, SearchError>> + Send,
    progress: &(dyn Fn(u64) -> IndexProgress + Sync),
    context: &Context<'_>,
) -> Result<Option<(BuildReport, Option<Index>)>, SearchError> {
    let Some(out) = &request.out else {
        // An index in memory reports no progress; a raised flag ends it after the next document.
        let is_cancelled = || context.is_cancelled();
        let documents = documents.take_while(|_| !is_cancelled());
        let (index, report) = Index::in_memory_with(documents, &request.options)?;
        return Ok((!context.is_cancelled()).then_some((report, Some(index))));
    };
    let mut report_progress = |documents: u64| {
        context.report_indexing(&progress(documents));
        match context.is_cancelled() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let report = build(out, documents, &request.options, &mut report_progress)?;
    Ok(report.map(|report| (report, None)))
}

/// Reads and indexes the documents of files.
fn build_from_files(
    request: &BuildIndexRequest,
    files: &[PathBuf],
    mut task: RunningTask<'_>,
) -> Result<BuildIndexResult, TaskError> {
    let documents = Documents::open_all(files, request.format)?;
    let mut documents = documents.skip_broken(request.skip_broken);
    let bytes_total = documents.bytes_total();
    let bytes = AtomicU64::new(0);
    let progress = |documents: u64| {
        let bytes = bytes.load(Ordering::Relaxed);
        IndexProgress { documents, bytes, bytes_total }
    };
    let step = format!("indexing {}", request.documents.label());
    let built = task.step(&step, || {
        let counted = CountedDocuments { documents: &mut documents, bytes: &bytes };
        write(request, counted, &progress, task.context())
    });
    // If every document was skipped, the error names the first of them.
    let (built, seconds) = match (built, documents.skipped().and_then(|all| all.first.first())) {
        (Err(TaskError::Search(SearchError::NoDocuments)), Some(first)) => {
            let first = format!("{}: {}", first.location, first.reason);
            let documents = documents.skipped().map_or(0, |skipped| skipped.documents);
            return Err(SearchError::AllBroken { documents, first }.into());
        }
        (built, _) => built?,
    };
    let (report, built) = built.ok_or(TaskError::Cancelled)?;
    task.warn_of(documents.warnings());
    task.warn_of_search(report.warnings());
    Ok(BuildIndexResult {
        index: folder_name(request),
        bytes: documents.bytes_read(),
        seconds,
        report,
        skipped: documents.skipped().cloned(),
        warnings: task.into_warnings(),
        built,
    })
}

/// An iterator over documents that records the number of bytes read.
struct CountedDocuments<'a> {
    documents: &'a mut Documents,
    bytes: &'a AtomicU64,
}

impl Iterator for CountedDocuments<'_> {
    type Item = Result<Document, SearchError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.documents.next();
        self.bytes.store(self.documents.bytes_read(), Ordering::Relaxed);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicBool;

    /// A request for an index of two documents with the same id.
    fn request(folder: &std::path::Path) -> BuildIndexRequest {
        let file = folder.join("documents.jsonl");
        let text = "{\"id\": \"a\", \"text\": \"one\"}\n{\"id\": \"a\", \"text\": \"two\"}\n";
        std::fs::write(&file, text).unwrap();
        BuildIndexRequest::new([file], folder.join("index"))
    }

    #[test]
    fn problems_of_the_documents_are_warnings_and_progress_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let request = request(folder.path());
        let seen = Mutex::new(Vec::new());
        let show = |progress: &IndexProgress| seen.lock().unwrap().push(*progress);
        let result = build_index(&request, &Context::default().on_indexing(&show)).unwrap();
        assert_eq!((result.report.documents, result.report.duplicates), (2, 1));
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!(json["warnings"][0]["kind"], "duplicate-ids");
        assert!(json["warnings"][0]["message"].is_string(), "{json}");
        assert_eq!((&json["documents"], &json["analysis"]), (&2.into(), &"english".into()));
        let last = *seen.lock().unwrap().last().unwrap();
        assert_eq!((last.documents, Some(last.bytes)), (2, last.bytes_total));
    }

    #[test]
    fn broken_documents_are_skipped_on_request_and_reported_with_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("some.jsonl");
        let text = "{\"id\": \"a\", \"text\": \"one\"}\n{\"id\": \n{\"text\": \"no id\"}\n";
        std::fs::write(&file, text).unwrap();
        let request = BuildIndexRequest::new([&file], folder.path().join("some"));
        assert!(build_index(&request, &Context::default()).is_err());
        let result = build_index(&request.skip_broken(true), &Context::default()).unwrap();
        let skipped = result.skipped.unwrap();
        assert_eq!((result.report.total, skipped.documents), (1, 2));
        let lines: Vec<Option<u64>> = skipped.first.iter().map(|one| one.location.line).collect();
        assert_eq!(lines, [Some(2), Some(3)]);
        assert!(skipped.first[1].reason.contains("no id among the fields"), "{skipped:?}");
        std::fs::write(&file, "{\n").unwrap();
        let request = BuildIndexRequest::new([&file], folder.path().join("none")).skip_broken(true);
        let error = build_index(&request, &Context::default()).unwrap_err();
        assert!(error.to_string().starts_with("none of 1 document can be read"), "{error}");
    }

    #[test]
    fn documents_and_index_in_memory_are_those_of_files() {
        let folder = tempfile::tempdir().unwrap();
        let of_files = build_index(&request(folder.path()), &Context::default()).unwrap();
        let documents = ["one", "two"].map(|text| Document::new("a").with("text", text)).to_vec();
        let source = CollectionSource::in_memory(documents);
        let request = BuildIndexRequest::of(source.clone());
        let result = build_index(&request, &Context::default()).unwrap();
        assert_eq!(result.warnings, of_files.warnings);
        assert_eq!((result.report.total, of_files.report.total), (1, 1));
        assert_eq!(result.built.unwrap().documents(), 1);
        assert_eq!(result.index, PathBuf::from("in memory"));
        let out = folder.path().join("of memory");
        let written = BuildIndexRequest::of(source).out(&out);
        assert!(build_index(&written, &Context::default()).unwrap().built.is_none());
        assert_eq!(Index::open(&out).unwrap().documents(), 1);
        let add = request.options(BuildOptions::new().existing(Existing::Add));
        let error = build_index(&add, &Context::default()).unwrap_err();
        assert!(matches!(error, TaskError::OptionUnused { option: "existing", .. }), "{error}");
    }

    #[test]
    fn a_cancelled_build_leaves_no_index() {
        let folder = tempfile::tempdir().unwrap();
        let request = request(folder.path());
        let flag = AtomicBool::new(false);
        let stop = |_: &IndexProgress| flag.store(true, Ordering::Relaxed);
        let context = Context::default().on_indexing(&stop).cancel(&flag);
        let error = build_index(&request, &context).unwrap_err();
        assert!(matches!(error, TaskError::Cancelled), "{error}");
        assert!(!request.out.unwrap().join("rankwright.json").exists());
    }
}
