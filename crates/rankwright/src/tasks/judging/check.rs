//! The consistency of pairwise judgements.

use std::path::{Path, PathBuf};

use rankwright_clicks::judge::{JudgementCheck, check_judgements};
use rankwright_eval::compare::CompareError;
use serde::{Deserialize, Serialize};

use super::load_comparisons;
use crate::tasks::clicks::query_grades::QueryGrades;
use crate::tasks::context::RunningTask;
use crate::tasks::{Context, JudgementsSource, QrelsSource, TaskError, TaskInputs, Warning};

/// Judgements to check.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct JudgeCheckRequest {
    /// The judgements.
    pub judgements: Vec<JudgementsSource>,
    /// Graded relevance to compare the judges with.
    pub qrels: Option<QrelsSource>,
}

impl TaskInputs for JudgeCheckRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let qrels = self.qrels.as_ref().and_then(QrelsSource::path);
        let judgements = self.judgements.iter().filter_map(JudgementsSource::path);
        judgements.chain(qrels).map(Path::to_owned).collect()
    }
}

impl JudgeCheckRequest {
    /// Checks these judgements.
    pub fn new(judgements: impl IntoIterator<Item = impl Into<JudgementsSource>>) -> Self {
        Self { judgements: judgements.into_iter().map(Into::into).collect(), qrels: None }
    }

    /// Compares the judges with graded relevance.
    pub fn qrels(mut self, qrels: impl Into<QrelsSource>) -> Self {
        self.qrels = Some(qrels.into());
        self
    }
}

/// The consistency of pairwise judgements.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JudgeCheckResult {
    /// Flips, preference for the first place, cycles and agreement.
    #[serde(flatten)]
    pub check: JudgementCheck,
    /// Warnings about files.
    pub warnings: Vec<Warning>,
}

/// Checks judgements: whether a judge changes its mind when the documents change places, prefers
/// the first place, goes round in circles, and agrees with other judges and with grades.
///
/// ```
/// use rankwright::tasks::{Context, JudgeCheckRequest, judge_check};
///
/// # let folder = tempfile::tempdir()?;
/// let file = folder.path().join("judgements");
/// std::fs::write(&file, "q1 a > b\nq1 b > a\nq1 b > c\nq1 c < b\n")?;
/// let result = judge_check(&JudgeCheckRequest::new([file]), &Context::default())?;
/// assert_eq!((result.check.all.both_orders, result.check.all.flips), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn judge_check(
    request: &JudgeCheckRequest,
    context: &Context<'_>,
) -> Result<JudgeCheckResult, TaskError> {
    let mut task = RunningTask::new(context);
    request.check_files([])?;
    let comparisons = load_comparisons(&request.judgements, &task)?;
    let qrels = request.qrels.as_ref().map(|source| source.load(&mut task)).transpose()?;
    let grades = qrels.as_deref().map(QueryGrades::new).unwrap_or_default();
    let grade = |query: &str, document: &str| grades.grade(query, document);
    let check = || check_judgements(&comparisons, grade).map_err(CompareError::from);
    let (check, _) = task.step("checking judgements", check)?;
    Ok(JudgeCheckResult { check, warnings: task.into_warnings() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn judges_are_compared_with_each_other_and_with_grades() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("anna"), "q a > b anna\nq b > c anna\nq a > c anna\n").unwrap();
        fs::write(path("bert"), "q a > b bert\nq c > b bert\n").unwrap();
        fs::write(path("qrels"), "q 0 a 2\nq 0 b 1\nq 0 c 0\n").unwrap();
        let request = JudgeCheckRequest::new([path("anna"), path("bert")]).qrels(path("qrels"));
        let check = judge_check(&request, &Context::default()).unwrap().check;
        assert_eq!((check.agreements[0].pairs, check.agreements[0].agreement), (2, Some(0.5)));
        let with_grades: Vec<(&str, Option<f64>)> =
            check.with_grades.iter().map(|a| (a.first.as_str(), a.agreement)).collect();
        assert_eq!(with_grades, [("anna", Some(1.0)), ("bert", Some(0.5))]);
        fs::write(path("empty"), "").unwrap();
        let error = judge_check(&JudgeCheckRequest::new([path("empty")]), &Context::default());
        assert_eq!(error.unwrap_err().kind(), "no-comparisons");
    }
}
