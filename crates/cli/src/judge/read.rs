//! `judge read`: answers of judges, read into judgements.

use std::path::{Path, PathBuf};

use rankwright::spec::words::counted;
use rankwright::tasks::{JudgeReadRequest, JudgeReadResult, judge_read};

use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

/// Number of answers that cannot be read that are printed.
const SHOWN: usize = 5;

/// Read answers into judgements. An answer is "A > B", "B > A" or "A = B", or a text that a
/// language model writes instead; answers that cannot be read are counted and listed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Answers: JSON lines (id and answer, also of batch interfaces of language models), a table
    /// (id, answer and perhaps judge, or query, a, b, answer, separated by tabs), or one answer a
    /// line in the order of the questions
    #[arg(value_name = "ANSWERS", required = true)]
    answers: Vec<PathBuf>,
    /// The questions, as `judge prompts` wrote them
    #[arg(long, value_name = "FILE")]
    prompts: Option<PathBuf>,
    /// The judge of answers that name none; by default the name of the answer file where several files
    /// are given, and no name for a single file
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,
    /// File for the judgements: JSON lines with query, a, b, preferred and judge
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    out.check_not_stdout(&args.out)?;
    let mut request = JudgeReadRequest::new(&args.answers).out(&args.out);
    request.questions = args.prompts.as_ref().map(Into::into);
    request.judge = args.judge.clone();
    let result = run_task(out, |context| judge_read(&request, context))?;
    match args.out.as_os_str() == "-" {
        true => Ok(()),
        false => out.show(&result, |result| text(&args.out, result)),
    }
}

fn text(file: &Path, result: &JudgeReadResult) -> String {
    let mut text = format!(
        "{}: {} of {}, {}; {} without an answer\n",
        file.display(),
        counted(result.comparisons, "judgement"),
        counted(result.answers, "answer"),
        counted(result.ties, "tie"),
        counted(result.unanswered, "question")
    );
    if !result.unreadable.is_empty() {
        text += &format!("{} cannot be read:\n", counted(result.unreadable.len(), "answer"));
    }
    for answer in result.unreadable.iter().take(SHOWN) {
        let answer_text = match answer.answer.trim() {
            "" => "(no text)".to_owned(),
            answer_text => answer_text.replace('\n', " "),
        };
        text += &format!("  {}:{}: {answer_text}\n", answer.file, answer.line);
    }
    match result.unreadable.len().saturating_sub(SHOWN) {
        0 => text,
        more => text + &format!("  and {more} more (--json lists all)\n"),
    }
}
