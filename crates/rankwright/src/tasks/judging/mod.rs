//! Tasks on pairwise judgements: questions to judges, their answers, checks, and aggregation.

mod aggregate;
mod check;
#[cfg(feature = "search")]
mod prompts;
mod read;

use std::path::PathBuf;

use rankwright_clicks::judge::{PairComparison, read_comparisons};
use rankwright_data::bytes::Input;

use super::context::RunningTask;
use super::{TaskError, file_label};

pub use aggregate::{
    AggregateFormat, DocumentStrength, JudgeAggregateRequest, JudgeAggregateResult, QueryStrengths,
    judge_aggregate,
};
pub use check::{JudgeCheckRequest, JudgeCheckResult, judge_check};
#[cfg(feature = "search")]
pub use prompts::{
    JudgePromptsRequest, JudgePromptsResult, PromptDocuments, PromptSource, judge_prompts,
};
pub use read::{JudgeReadRequest, JudgeReadResult, UnreadAnswer, judge_read};

/// Reads the comparisons of several files; none at all is an error.
fn load_comparisons(
    files: &[PathBuf],
    task: &RunningTask<'_>,
) -> Result<Vec<PairComparison>, TaskError> {
    let mut comparisons = Vec::new();
    for path in files {
        let step = format!("reading {}", path.display());
        let (found, _) = task.step(&step, || read_comparisons(&Input::open(path)?))?;
        comparisons.extend(found);
    }
    match comparisons.is_empty() {
        true => Err(TaskError::NoComparisons { files: file_label(files) }),
        false => Ok(comparisons),
    }
}
