//! Code shared by `search`, `run` and `features`: an index, a first stage, queries.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright::search::{
    Filter, FirstStage, Index, Query, QueryOptions, Ranker, SearchWarning, TopicPart, read_queries,
};
use rankwright::tasks::load_model;

use crate::failure::Failure;
use crate::output::Output;
use crate::progress::timed;

/// First stage and filter.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct StageArgs {
    /// First stage that finds candidates, such as `bm25(k1=0.9, b=0.4)`; by default that of the
    /// model or feature set, or `bm25`. See `list first-stages`
    #[arg(long, value_name = "SPEC")]
    first_stage: Option<String>,
    /// Only documents that pass this filter, such as `genre:rock AND year:>=1990`
    #[arg(long, value_name = "FILTER")]
    filter: Option<String>,
}

impl StageArgs {
    /// The first stage, where one is given.
    pub(crate) fn stage(&self) -> Result<Option<FirstStage>, Failure> {
        Ok(self.first_stage.as_deref().map(FirstStage::parse).transpose()?)
    }

    /// The filter, where one is given.
    pub(crate) fn filter(&self, index: &Index, out: &Output) -> Result<Option<Filter>, Failure> {
        let filter = self.filter.as_deref().map(|text| Filter::new(index, text)).transpose()?;
        if filter.as_ref().is_some_and(|filter| filter.documents() == 0) {
            out.warn(&[SearchWarning::NothingPasses]);
        }
        Ok(filter)
    }

    /// A ranker of the first stage, with a model where one is given.
    pub(crate) fn ranker(
        &self,
        index: &Arc<Index>,
        candidates: Option<u32>,
        model: Option<&Path>,
        out: &Output,
    ) -> Result<Ranker, Failure> {
        let model = model.map(load_model).transpose()?;
        let mut builder = Ranker::builder(Arc::clone(index));
        if let Some(model) = &model {
            builder = builder.model(model);
        }
        if let Some(stage) = self.stage()? {
            builder = builder.first_stage(stage);
        }
        if let Some(candidates) = candidates {
            builder = builder.candidates(candidates as usize);
        }
        Ok(timed(out, "making features ready", || builder.build()).0?)
    }
}

/// A file of queries.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct QueryArgs {
    /// Queries: TSV (id, text), JSON lines, TREC topics, or SMART (.I/.W)
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// Number the queries 1, 2, 3, ... by position, as the judgements of Cranfield do
    #[arg(long)]
    number_by_position: bool,
    /// The parts of a TREC topic that form a query; may be repeated
    #[arg(long, value_name = "PART", value_enum, default_value = "title")]
    topic_part: Vec<CollectionPart>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum CollectionPart {
    Title,
    Desc,
    Narr,
}

impl QueryArgs {
    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.queries
    }

    /// Reads the queries.
    pub(crate) fn read(&self) -> Result<Vec<Query>, Failure> {
        let parts = self.topic_part.iter().map(|part| match part {
            CollectionPart::Title => TopicPart::Title,
            CollectionPart::Desc => TopicPart::Description,
            CollectionPart::Narr => TopicPart::Narrative,
        });
        let options =
            QueryOptions { number_by_position: self.number_by_position, parts: parts.collect() };
        Ok(read_queries(&self.queries, options)?)
    }
}

/// Opens an index with a spinner.
pub(crate) fn open_index(path: &Path, out: &Output) -> Result<Arc<Index>, Failure> {
    let what = format!("opening {}", path.display());
    Ok(Arc::new(timed(out, &what, || Index::open(path)).0?))
}
