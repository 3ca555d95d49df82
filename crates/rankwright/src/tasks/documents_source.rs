//! Documents as an input of tasks: files, an index, or documents in memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_search::Document;
use serde::{Deserialize, Serialize, Serializer};

use super::IndexSource;
use super::sources::no_json_form;

/// Documents: an index that has them, their files, or the documents themselves.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum DocumentsSource {
    /// An index.
    Index(IndexSource),
    /// Files or folders of documents.
    Files(Vec<PathBuf>),
    /// Documents in memory; they have no JSON form.
    #[serde(skip_deserializing)]
    Memory(#[serde(serialize_with = "in_memory")] Arc<[Document]>),
}

fn in_memory<S: Serializer>(_: &Arc<[Document]>, _: S) -> Result<S::Ok, S::Error> {
    Err(no_json_form("the list of documents"))
}

impl DocumentsSource {
    /// The folder of the index, or the files.
    pub fn paths(&self) -> Vec<&Path> {
        match self {
            DocumentsSource::Index(index) => index.path().into_iter().collect(),
            DocumentsSource::Files(files) => files.iter().map(PathBuf::as_path).collect(),
            DocumentsSource::Memory(_) => Vec::new(),
        }
    }
}

impl From<Vec<Document>> for DocumentsSource {
    fn from(documents: Vec<Document>) -> Self {
        DocumentsSource::Memory(documents.into())
    }
}

impl From<IndexSource> for DocumentsSource {
    fn from(index: IndexSource) -> Self {
        DocumentsSource::Index(index)
    }
}

impl From<Vec<PathBuf>> for DocumentsSource {
    fn from(files: Vec<PathBuf>) -> Self {
        DocumentsSource::Files(files)
    }
}
