//! Pairwise judgements of people or language models: "A > B".
//!
//! Data flows down this list:
//!
//! - [`choose_pairs`] finds the pairs that are worth a question, and [`PromptTemplate`] makes the
//!   text of a question, in both orders of the documents ([`Question`]);
//! - [`read_answers`] reads what the judge answered, and [`match_answers`] turns it into
//!   comparisons ([`PairComparison`]);
//! - [`check_judgements`] reports how consistent the judges are with themselves, with each other
//!   and with grades;
//! - [`BradleyTerry`] turns comparisons into a strength for each document of a query.
//!
//! A judge who prefers the document that is shown first is found by asking in both orders.

mod answer;
mod answer_file;
mod bradley_terry;
mod check;
mod choose;
mod comparison;
mod question;
mod template;

pub use answer::read_answer;
pub use answer_file::{AnswerKey, JudgeAnswer, read_answers};
pub use bradley_terry::{AggregatedPair, BradleyTerry, BradleyTerryOptions, write_aggregated};
pub use check::{JudgeAgreement, JudgeCheck, JudgementCheck, check_judgements};
pub use choose::{CandidatePair, JudgePair, choose_pairs, disagreements, near_ties};
pub use comparison::{PairComparison, Preferred, read_comparisons, write_comparisons};
pub use question::{
    MatchedAnswers, PromptOptions, Question, UnreadableAnswer, ask, match_answers, read_questions,
    write_questions,
};
pub use template::{PROMPT_TEMPLATES, Placeholder, PromptError, PromptTemplate};
