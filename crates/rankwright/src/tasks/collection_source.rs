//! Documents of text as an input: files, or documents in memory.

use std::path::PathBuf;
use std::sync::Arc;

use rankwright_search::{Document, Documents};
use rankwright_spec::words::counted;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::context::RunningTask;
use super::sources::no_json_form;
use super::{TaskError, file_label};

/// Documents of text: files and folders of them, or the documents themselves.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CollectionSource {
    /// Files and folders; several are one collection. `-` is standard input.
    Files(Vec<PathBuf>),
    /// Documents in memory.
    Memory(Arc<[Document]>),
}

impl CollectionSource {
    /// Files and folders of documents.
    pub fn files<P: Into<PathBuf>>(files: impl IntoIterator<Item = P>) -> Self {
        CollectionSource::Files(files.into_iter().map(Into::into).collect())
    }

    /// Documents in memory.
    pub fn in_memory(documents: impl Into<Arc<[Document]>>) -> Self {
        CollectionSource::Memory(documents.into())
    }

    /// The files and folders; none for documents in memory.
    pub fn paths(&self) -> &[PathBuf] {
        match self {
            CollectionSource::Files(files) => files,
            CollectionSource::Memory(_) => &[],
        }
    }

    /// The files as named in messages, or the number of documents in memory.
    pub fn label(&self) -> String {
        match self {
            CollectionSource::Files(files) => file_label(files),
            CollectionSource::Memory(documents) => counted(documents.len(), "document"),
        }
    }

    /// The documents in memory, or those of the files; rows of tables need no ids if all of these
    /// fields are theirs.
    pub(super) fn load(
        &self,
        used: &[String],
        task: &mut RunningTask<'_>,
    ) -> Result<Vec<Document>, TaskError> {
        let files = match self {
            CollectionSource::Files(files) => files,
            CollectionSource::Memory(documents) => return Ok(documents.to_vec()),
        };
        let mut source = Documents::open_all(files, None)?.rows_without_ids(used);
        let step = format!("reading {}", file_label(files));
        let work = || source.by_ref().collect::<Result<Vec<Document>, _>>();
        let (documents, _) = task.step(&step, work)?;
        task.warn_of(source.warnings());
        Ok(documents)
    }
}

/// The JSON form of the files; documents in memory have none.
impl Serialize for CollectionSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            CollectionSource::Files(files) => files.serialize(serializer),
            CollectionSource::Memory(_) => Err(no_json_form("the collection of documents")),
        }
    }
}

impl<'de> Deserialize<'de> for CollectionSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(CollectionSource::Files)
    }
}
