//! Tasks on pairwise judgements: questions to judges, their answers, checks, and aggregation.

mod aggregate;
mod check;
#[cfg(feature = "search")]
mod prompts;
mod read;

use rankwright_clicks::judge::PairComparison;

use super::context::RunningTask;
use super::sources::source_label;
use super::{JudgementsSource, TaskError};

pub use aggregate::{
    AggregateFormat, DocumentStrength, JudgeAggregateRequest, JudgeAggregateResult, QueryStrengths,
    judge_aggregate,
};
pub use check::{JudgeCheckRequest, JudgeCheckResult, judge_check};
#[cfg(feature = "search")]
pub use prompts::{JudgePromptsRequest, JudgePromptsResult, PromptSource, judge_prompts};
pub use read::{JudgeReadRequest, JudgeReadResult, UnreadAnswer, judge_read};

/// The comparisons of several sources; none at all is an error.
fn load_comparisons(
    sources: &[JudgementsSource],
    task: &RunningTask<'_>,
) -> Result<Vec<PairComparison>, TaskError> {
    let mut comparisons = Vec::new();
    for source in sources {
        comparisons.extend_from_slice(&source.load(task)?);
    }
    match comparisons.is_empty() {
        true => Err(TaskError::NoComparisons { files: source_label(sources) }),
        false => Ok(comparisons),
    }
}
