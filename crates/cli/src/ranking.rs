//! Arguments shared by `search`, `run`, `features` and `judge prompts`: the candidates, and the
//! queries.

use std::path::PathBuf;

use rankwright::search::{FirstStage, QueryOptions, QuerySyntax, TopicPart};
use rankwright::tasks::{CandidateOptions, QueryFile};

use crate::declared::choices;
use crate::failure::Failure;

/// First stage, filter and query syntax.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct StageArgs {
    /// First stage that finds candidates, such as `bm25(k1=0.9, b=0.4)`; by default that of the
    /// model or feature set, or `bm25`. See `list first-stages`
    #[arg(long, value_name = "SPEC")]
    first_stage: Option<String>,
    /// Only documents that pass this filter, such as `genre:rock AND year>=1990`; see
    /// docs/filters.md
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    filter: Option<String>,
    /// Syntax of the queries
    #[arg(long, value_name = "NAME", value_parser = choices::<QuerySyntax>())]
    #[arg(default_value = QuerySyntax::default().name())]
    query_syntax: QuerySyntax,
}

impl StageArgs {
    /// The candidates of a query: at most `count` of them.
    pub(crate) fn candidates(&self, count: Option<u32>) -> Result<CandidateOptions, Failure> {
        let mut options = CandidateOptions::new();
        options.first_stage = self.first_stage.as_deref().map(FirstStage::parse).transpose()?;
        options.filter = self.filter.clone();
        options.count = count.map(|count| count as usize);
        options.syntax = self.query_syntax;
        Ok(options)
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
    topic_part: Vec<TopicPartArg>,
}

/// A part of a TREC topic.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum TopicPartArg {
    Title,
    Desc,
    Narr,
}

impl QueryArgs {
    /// The file, to be read with these options.
    pub(crate) fn file(&self) -> QueryFile {
        let parts = self.topic_part.iter().map(|part| match part {
            TopicPartArg::Title => TopicPart::Title,
            TopicPartArg::Desc => TopicPart::Description,
            TopicPartArg::Narr => TopicPart::Narrative,
        });
        let options =
            QueryOptions::new().number_by_position(self.number_by_position).parts(parts.collect());
        QueryFile::new(&self.queries).options(options)
    }
}
