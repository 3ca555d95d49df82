//! Deletion of documents from an index, by id or by filter.

use std::path::PathBuf;

use rankwright_search::{Filter, Index, SearchWarning};
use rankwright_spec::words::counted;
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::{Context, TaskError, Warning};

/// An index, and the documents to delete.
///
/// ```
/// use rankwright::tasks::{
///     BuildIndexRequest, Context, DeleteDocumentsRequest, build_index, delete_documents,
/// };
///
/// # let folder = tempfile::tempdir()?;
/// let file = folder.path().join("records.jsonl");
/// std::fs::write(&file, "{\"id\": \"1\", \"title\": \"Blue Train\"}\n{\"id\": \"2\"}\n")?;
/// let index = folder.path().join("records");
/// build_index(&BuildIndexRequest::new([file], &index), &Context::default())?;
/// let request = DeleteDocumentsRequest::new(&index).id("2");
/// let result = delete_documents(&request, &Context::default())?;
/// assert_eq!((result.deleted, result.total), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DeleteDocumentsRequest {
    /// Folder of the index.
    pub index: PathBuf,
    /// Ids of documents to delete.
    #[serde(default)]
    pub ids: Vec<String>,
    /// A filter; documents that pass it are deleted too.
    pub filter: Option<String>,
}

impl DeleteDocumentsRequest {
    /// A request that deletes no documents yet.
    pub fn new(index: impl Into<PathBuf>) -> Self {
        Self { index: index.into(), ids: Vec::new(), filter: None }
    }

    /// Adds the id of a document to delete.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.ids.push(id.into());
        self
    }

    /// Also deletes the documents that pass a filter.
    pub fn filter(mut self, filter: impl Into<String>) -> Self {
        self.filter = Some(filter.into());
        self
    }
}

/// The result of a deletion.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DeleteDocumentsResult {
    /// Folder of the index.
    pub index: PathBuf,
    /// Number of documents that were deleted.
    pub deleted: usize,
    /// Number of documents that the index has now.
    pub total: usize,
    /// Seconds of the deletion.
    pub seconds: f64,
    /// Warnings about unknown ids and the filter.
    pub warnings: Vec<Warning>,
}

/// Deletes documents from an index. The filter is parsed and resolved before anything is deleted:
/// if it is invalid, no document is deleted.
pub fn delete_documents(
    request: &DeleteDocumentsRequest,
    context: &Context<'_>,
) -> Result<DeleteDocumentsResult, TaskError> {
    let task = RunningTask::new(context);
    let step = format!("opening {}", request.index.display());
    let mut index = task.step(&step, || Index::open(&request.index))?.0;
    delete_from_index(&mut index, request, context)
}

/// Deletes documents from an opened index, as [`delete_documents`] does; the request's folder is only
/// a name for the result.
///
/// ```
/// use rankwright::search::{Document, Index};
/// use rankwright::tasks::{Context, DeleteDocumentsRequest, delete_from_index};
///
/// let mut index = Index::in_memory(["a", "b"].map(|id| Document::new(id).with("text", "word")))?;
/// let request = DeleteDocumentsRequest::new("in memory").id("b").id("c");
/// let result = delete_from_index(&mut index, &request, &Context::default())?;
/// assert_eq!((result.deleted, result.total, result.warnings.len()), (1, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn delete_from_index(
    index: &mut Index,
    request: &DeleteDocumentsRequest,
    context: &Context<'_>,
) -> Result<DeleteDocumentsResult, TaskError> {
    let mut task = RunningTask::new(context);
    let mut warnings = Vec::new();
    if let Some(filter) = &request.filter {
        let filter = Filter::new(index, filter)?;
        if filter.documents() == 0 {
            warnings.push(SearchWarning::NothingPasses);
        }
        let hints = filter.hints().iter().cloned();
        warnings.extend(hints.map(|hint| SearchWarning::FilterHint { hint }));
    }
    let mut known = Vec::new();
    let mut unknown = Vec::new();
    for id in &request.ids {
        match index.candidate(id)? {
            Some(_) => known.push(id.as_str()),
            None => unknown.push(id.as_str()),
        }
    }
    if !unknown.is_empty() {
        let documents = unknown.into_iter().collect();
        warnings.push(SearchWarning::UnknownIds { documents });
    }
    let step = format!("deleting from {}", counted(index.documents(), "document"));
    let (deleted, seconds) = task.step(&step, || {
        let mut deleted = if known.is_empty() { 0 } else { index.delete(known)? };
        if let Some(filter) = &request.filter {
            deleted += index.delete_where(filter)?;
        }
        Ok::<usize, rankwright_search::SearchError>(deleted)
    })?;
    task.warn_of_search(warnings);
    Ok(DeleteDocumentsResult {
        index: request.index.clone(),
        deleted,
        total: index.documents(),
        seconds,
        warnings: task.into_warnings(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::{BuildIndexRequest, build_index};

    #[test]
    fn documents_are_deleted_by_id_and_by_filter() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("docs.jsonl");
        let line = |number: u32| {
            format!("{{\"id\": \"d{number}\", \"text\": \"word\", \"year\": {number}}}\n")
        };
        std::fs::write(&file, (0..10).map(line).collect::<String>()).unwrap();
        let path = folder.path().join("index");
        build_index(&BuildIndexRequest::new([file], &path), &Context::default()).unwrap();
        let delete =
            |request: DeleteDocumentsRequest| delete_documents(&request, &Context::default());
        let request = || DeleteDocumentsRequest::new(&path);
        fn kinds(result: &DeleteDocumentsResult) -> Vec<&str> {
            result.warnings.iter().map(Warning::kind).collect()
        }
        let wrong = delete(request().id("d1").filter("yaer<5")).unwrap_err();
        assert!(wrong.to_string().contains("there is no field `yaer`"), "{wrong}");
        let result = delete(request().id("d1").id("nobody").filter("year<3")).unwrap();
        assert_eq!((result.deleted, result.total), (3, 7));
        assert_eq!(kinds(&result), ["unknown-ids"]);
        let none = delete(request().filter("year:[9 TO 3]")).unwrap();
        assert_eq!((none.deleted, none.total), (0, 7));
        assert_eq!(kinds(&none), ["nothing-passes", "filter-hint"]);
        let all = delete(request().filter("*")).unwrap();
        assert_eq!((all.deleted, all.total), (7, 0));
        assert_eq!(Index::open(&path).unwrap().documents(), 0);
    }
}
