//! Answers of judges, read into judgements.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_clicks::judge::{PairComparison, Preferred, match_answers, write_comparisons};
use rankwright_data::store::write_atomic;
use serde::{Deserialize, Serialize};

use crate::tasks::context::RunningTask;
use crate::tasks::sources::{source_label, source_names};
use crate::tasks::{AnswersSource, Context, QuestionsSource, TaskError, TaskInputs, Warning};

/// Answers of judges, and the questions that they belong to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct JudgeReadRequest {
    /// The answers.
    pub answers: Vec<AnswersSource>,
    /// The questions; answers that name query and documents themselves need none.
    pub questions: Option<QuestionsSource>,
    /// The judge of answers that name none; if not given and there are several sources of answers,
    /// the name of the source.
    pub judge: Option<String>,
    /// File for the judgements; without one, the result has them.
    pub out: Option<PathBuf>,
}

impl TaskInputs for JudgeReadRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let questions = self.questions.as_ref().and_then(QuestionsSource::path);
        let answers = self.answers.iter().filter_map(AnswersSource::path);
        answers.chain(questions).map(Path::to_owned).collect()
    }
}

impl JudgeReadRequest {
    /// Reads these answers.
    pub fn new(answers: impl IntoIterator<Item = impl Into<AnswersSource>>) -> Self {
        let answers = answers.into_iter().map(Into::into).collect();
        Self { answers, questions: None, judge: None, out: None }
    }

    /// Sets the questions.
    pub fn questions(mut self, questions: impl Into<QuestionsSource>) -> Self {
        self.questions = Some(questions.into());
        self
    }

    /// Sets the file for the judgements.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }

    /// Names the judge of answers that name none.
    pub fn judge(mut self, judge: impl Into<String>) -> Self {
        self.judge = Some(judge.into());
        self
    }
}

/// The judgements that were read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JudgeReadResult {
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
    /// The judgements, if no file was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<PairComparison>>,
    /// Number of answers.
    pub answers: usize,
    /// Number of answers that were read as comparisons.
    pub comparisons: usize,
    /// Number of these without a winner.
    pub ties: usize,
    /// Names of the judges.
    pub judges: Vec<String>,
    /// The answers that cannot be read.
    pub unreadable: Vec<UnreadAnswer>,
    /// Number of answers to questions that are not known.
    pub unknown: usize,
    /// Number of questions that a file does not answer, over all files.
    pub unanswered: usize,
    /// Warnings about answers.
    pub warnings: Vec<Warning>,
}

/// An answer that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnreadAnswer {
    /// The file, or the name of the answers in memory.
    pub file: String,
    /// The line of the file, or the number of the answer in memory.
    pub line: u64,
    /// The beginning of the answer.
    pub answer: String,
}

/// Reads the answers of judges as judgements.
///
/// ```
/// use rankwright::tasks::{Context, JudgeReadRequest, judge_read};
///
/// # let folder = tempfile::tempdir()?;
/// let (answers, out) = (folder.path().join("answers.tsv"), folder.path().join("judgements.jsonl"));
/// std::fs::write(&answers, "query\ta\tb\tanswer\nq1\td1\td2\tDocument B is more relevant.\n")?;
/// judge_read(&JudgeReadRequest::new([answers]).out(&out), &Context::default())?;
/// let written = std::fs::read_to_string(out)?;
/// assert_eq!(written, "{\"query\":\"q1\",\"a\":\"d1\",\"b\":\"d2\",\"preferred\":\"b\"}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn judge_read(
    request: &JudgeReadRequest,
    context: &Context<'_>,
) -> Result<JudgeReadResult, TaskError> {
    let mut task = RunningTask::new(context);
    request.check_files(request.out.as_deref())?;
    let questions = match &request.questions {
        None => Arc::default(),
        Some(source) => source.load(&task)?,
    };
    let (mut comparisons, mut unreadable) = (Vec::new(), Vec::new());
    let (mut answers, mut unknown, mut unanswered) = (0, 0, 0);
    for (source, name) in request.answers.iter().zip(source_names(&request.answers)) {
        let found = source.load(&task)?;
        let judge = match (&request.judge, &request.answers[..]) {
            (Some(judge), _) => judge.as_str(),
            (None, [_]) => "",
            (None, _) => name.as_str(),
        };
        let matched = match_answers(&questions, &found, judge);
        answers += found.len();
        unknown += matched.unknown;
        unanswered += matched.unanswered;
        comparisons.extend(matched.comparisons);
        let file = source.name();
        unreadable.extend(matched.unreadable.into_iter().map(|answer| UnreadAnswer {
            file: file.clone(),
            line: answer.line,
            answer: answer.answer,
        }));
    }
    if !unreadable.is_empty() {
        task.warn(Warning::UnreadableAnswers { answers: unreadable.len(), of: answers });
    }
    if unknown > 0 {
        task.warn(Warning::UnknownQuestions { answers: unknown });
    }
    if comparisons.is_empty() {
        return Err(TaskError::NoAnswers { files: source_label(&request.answers) });
    }
    if let Some(out) = &request.out {
        let step = format!("writing {}", out.display());
        task.step(&step, || write_atomic(out, |file| write_comparisons(file, &comparisons)))?;
    }
    Ok(JudgeReadResult {
        out: request.out.clone(),
        answers,
        comparisons: comparisons.len(),
        ties: comparisons.iter().filter(|c| c.preferred == Preferred::Neither).count(),
        judges: judges(&comparisons),
        rows: request.out.is_none().then_some(comparisons),
        unreadable,
        unknown,
        unanswered,
        warnings: task.into_warnings(),
    })
}

/// The names of the judges; one without a name is left out.
fn judges(comparisons: &[PairComparison]) -> Vec<String> {
    let mut judges: Vec<String> = comparisons.iter().map(|c| c.judge.clone()).collect();
    judges.sort_unstable();
    judges.dedup();
    judges.retain(|judge| !judge.is_empty());
    judges
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn answers_are_joined_with_questions_and_what_is_no_answer_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let question = |id: &str, a: &str, b: &str| {
            format!(
                "{{\"id\":\"{id}\",\"query\":\"q\",\"a\":\"{a}\",\"b\":\"{b}\",\"prompt\":\"?\"}}\n"
            )
        };
        fs::write(path("questions"), question("1-1", "x", "y") + &question("1-2", "y", "x"))
            .unwrap();
        fs::write(path("anna"), "1-1\tA > B\n1-2\tB > A\n7-1\tA\n").unwrap();
        // The second request of the batch has failed.
        let bert = "{\"id\": \"1-1\", \"answer\": \"I like trains\"}\n\
                    {\"custom_id\": \"1-2\", \"response\": null, \"error\": {\"code\": \"expired\"}}\n";
        fs::write(path("bert"), bert).unwrap();
        let request = JudgeReadRequest::new([path("anna"), path("bert")])
            .out(path("out"))
            .questions(path("questions"));
        let result = judge_read(&request, &Context::default()).unwrap();
        assert_eq!((result.answers, result.comparisons, result.unknown), (5, 2, 1));
        assert_eq!((result.unanswered, result.judges), (0, vec!["anna".to_owned()]));
        let unreadable = result.unreadable.iter();
        let unreadable: Vec<(u64, &str)> =
            unreadable.map(|answer| (answer.line, answer.answer.as_str())).collect();
        assert_eq!(unreadable, [(1, "I like trains"), (2, "")]);
        let kinds: Vec<&str> = result.warnings.iter().map(Warning::kind).collect();
        assert_eq!(kinds, ["unreadable-answers", "unknown-questions"]);
        let error = judge_read(
            &JudgeReadRequest::new([path("bert")]).out(path("out")),
            &Context::default(),
        );
        assert_eq!(error.unwrap_err().kind(), "no-answers");
    }
}
