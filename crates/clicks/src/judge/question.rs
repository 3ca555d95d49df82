//! Questions to a judge, and the answers to them.
//!
//! A file of questions has JSON lines with `id`, `query`, `a`, `b` (ids of the documents, in the
//! order of the question) and `prompt`, the text.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use rankwright_data::bytes::Input;
use rankwright_data::{DEFAULT_SEED, DataError, Random, SourceLocation, quote};
use rankwright_spec::{params, visible};
use serde::{Deserialize, Serialize};

use super::{AnswerKey, JudgeAnswer, JudgePair, PairComparison, read_answer};

params! {
    /// Options of choosing pairs of documents and of asking about them.
    #[derive(Copy, Eq)]
    pub struct PromptOptions {
        max_words: usize = 100, 1.., "Number of words of a field that are shown.";
        depth: usize = 10, 2..,
            "Number of first documents of each run among which pairs are chosen.";
        max_pairs: usize = 100, 1.., "Largest number of pairs.";
        both_orders: bool = true, ..,
            "Whether each pair is asked about in both orders of its documents.";
        seed: u64 = DEFAULT_SEED, ..,
            "Seed of the choice among queries and of the order of documents.";
    }
}

/// A question to a judge: which of two documents is better for a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Question {
    /// The id, by which the answer names the question.
    pub id: String,
    /// The query.
    pub query: String,
    /// The document that is shown first.
    pub a: String,
    /// The document that is shown second.
    pub b: String,
    /// The text of the question.
    pub prompt: String,
}

/// The questions on chosen pairs, without their texts. `orders` is the number of times that a pair
/// is asked about: 1, or 2 for both orders of the documents. The seed decides which document is
/// first; the second orders follow after all first ones, so that a person does not see a pair twice
/// in a row.
pub fn ask(pairs: &[JudgePair], orders: usize, seed: u64) -> Vec<Question> {
    let question = |order: usize, number: usize, pair: &JudgePair| {
        let is_exchanged = Random::new(seed, number as u64).below(2) == 1;
        let (first, second) = match is_exchanged == (order == 1) {
            true => (&pair.second, &pair.first),
            false => (&pair.first, &pair.second),
        };
        Question {
            id: format!("{number}-{order}"),
            query: pair.query.clone(),
            a: first.clone(),
            b: second.clone(),
            prompt: String::new(),
        }
    };
    let of_order = |order: usize| (1..).zip(pairs).map(move |(number, pair)| (order, number, pair));
    let all = (1..=orders.min(2)).flat_map(of_order);
    all.map(|(order, number, pair)| question(order, number, pair)).collect()
}

/// Writes questions as JSON lines.
pub fn write_questions(out: &mut dyn Write, questions: &[Question]) -> io::Result<()> {
    for question in questions {
        writeln!(out, "{}", visible::json(&serde_json::to_string(question)?))?;
    }
    Ok(())
}

/// Reads questions from JSON lines.
pub fn read_questions(input: &Input) -> Result<Vec<Question>, DataError> {
    let mut questions: Vec<Question> = Vec::new();
    let mut ids = HashSet::new();
    for (number, line) in (1..).zip(input.bytes.split(|byte| *byte == b'\n')) {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let malformed = |expected: String| {
            DataError::malformed(SourceLocation::line(&input.name, number), quote(line), expected)
        };
        let question: Question = serde_json::from_slice(line)
            .map_err(|error| malformed(format!("a question as JSON ({error})")))?;
        if !ids.insert(question.id.clone()) {
            return Err(malformed("an id that no question before has".to_owned()));
        }
        questions.push(question);
    }
    Ok(questions)
}

/// Answers joined with their questions.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct MatchedAnswers {
    /// The answers that can be read, as comparisons.
    pub comparisons: Vec<PairComparison>,
    /// The answers that cannot be read.
    pub unreadable: Vec<UnreadableAnswer>,
    /// Number of answers whose question is unknown.
    pub unknown: usize,
    /// Number of questions without an answer that names them by id, by place, or by query and
    /// documents.
    pub unanswered: usize,
}

/// An answer that is no judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnreadableAnswer {
    /// The line of its file.
    pub line: u64,
    /// The answer, shortened.
    pub answer: String,
}

/// Number of characters that are kept of an answer that cannot be read.
const KEPT: usize = 120;

/// Joins answers with the questions; answers that name query and documents themselves need none.
/// `judge` is the judge of answers that name none.
pub fn match_answers(
    questions: &[Question],
    answers: &[JudgeAnswer],
    judge: &str,
) -> MatchedAnswers {
    let by_id: HashMap<&str, usize> =
        questions.iter().map(|question| question.id.as_str()).zip(0..).collect();
    let mut by_pair: HashMap<(&str, &str, &str), Vec<usize>> = HashMap::new();
    for (place, Question { query, a, b, .. }) in questions.iter().enumerate() {
        by_pair.entry(pair_key(query, a, b)).or_default().push(place);
    }
    let mut answered = vec![false; questions.len()];
    let mut matched = MatchedAnswers::default();
    for answer in answers {
        let place = match &answer.key {
            AnswerKey::Id(id) => by_id.get(id.as_str()).copied(),
            AnswerKey::Place(place) => Some(*place),
            AnswerKey::Pair { .. } => None,
        };
        let question = place.and_then(|place| questions.get(place));
        let (query, first, second) = match (&answer.key, question) {
            (AnswerKey::Pair { query, first, second }, _) if first != second => {
                (query, first, second)
            }
            (_, Some(Question { query, a, b, .. })) => (query, a, b),
            _ => {
                matched.unknown += 1;
                continue;
            }
        };
        let named = by_pair.get(&pair_key(query, first, second)).into_iter().flatten();
        let places: Vec<usize> = match place {
            Some(place) => vec![place],
            None => named.copied().collect(),
        };
        for place in places {
            if let Some(answered) = answered.get_mut(place) {
                *answered = true;
            }
        }
        match read_answer(&answer.text) {
            Some(preferred) => {
                let judge = if answer.judge.is_empty() { judge } else { &answer.judge };
                let comparison = PairComparison::new(query, first, second, preferred).by(judge);
                matched.comparisons.push(comparison);
            }
            None => {
                let answer_start = answer.text.chars().take(KEPT).collect();
                matched
                    .unreadable
                    .push(UnreadableAnswer { line: answer.line, answer: answer_start });
            }
        }
    }
    matched.unanswered = answered.iter().filter(|answered| !**answered).count();
    matched
}

/// A query and two documents, which are the same in either order.
fn pair_key<'a>(query: &'a str, a: &'a str, b: &'a str) -> (&'a str, &'a str, &'a str) {
    (query, a.min(b), a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Preferred, read_answers};

    fn pairs() -> Vec<JudgePair> {
        (0..6)
            .map(|n| JudgePair { query: format!("q{n}"), first: "x".into(), second: "y".into() })
            .collect()
    }

    #[test]
    fn a_pair_is_asked_in_both_orders() {
        let questions = ask(&pairs(), 2, 1);
        assert_eq!(questions.len(), 12);
        for (one, other) in questions.iter().zip(questions.iter().skip(6)) {
            assert_eq!((&one.query, &one.a, &one.b), (&other.query, &other.b, &other.a));
        }
        assert_eq!((questions[0].id.as_str(), questions[6].id.as_str()), ("1-1", "1-2"));
        // The seed decides which document is first.
        let first = |seed| ask(&pairs(), 1, seed).iter().filter(|q| q.a == "x").count();
        assert!((0..40).map(first).any(|count| (1..6).contains(&count)));
        let mut text = Vec::new();
        write_questions(&mut text, &questions).unwrap();
        assert_eq!(read_questions(&Input::raw("p", text.clone())).unwrap(), questions);
        let twice = [text.clone(), text].concat();
        assert!(read_questions(&Input::raw("p", twice)).unwrap_err().to_string().contains("p:13"));
    }

    #[test]
    fn answers_find_their_questions_by_id_by_place_or_by_documents() {
        let questions = ask(&pairs(), 1, 1);
        let read = |text: &str| read_answers(&Input::raw("a", text.as_bytes().to_vec())).unwrap();
        let matched = match_answers(&questions, &read("2-1\tA > B\n9-1\tA\n3-1\tdunno\n"), "anna");
        assert_eq!((matched.unknown, matched.unanswered), (1, 4));
        assert_eq!(matched.unreadable, [UnreadableAnswer { line: 3, answer: "dunno".into() }]);
        let [found] = &matched.comparisons[..] else { panic!("{matched:?}") };
        assert_eq!((found.query.as_str(), found.judge.as_str()), ("q1", "anna"));
        assert_eq!((&found.first, found.preferred), (&questions[1].a, Preferred::First));
        let matched = match_answers(&questions, &read("A > B\nB > A\n"), "");
        assert_eq!(matched.comparisons[1].preferred, Preferred::Second);
        // The answer to the second question is missing: the third keeps its own.
        let matched = match_answers(&questions, &read("A > B\n\nB > A\n"), "");
        assert_eq!(matched.comparisons[1].query, questions[2].query);
        assert_eq!(matched.unreadable, [UnreadableAnswer { line: 2, answer: String::new() }]);
        let matched = match_answers(&[], &read("q\tx\ty\tA > B\tbert\nq\tx\tx\tA > B\n"), "");
        assert_eq!((matched.comparisons.len(), matched.unknown), (1, 1));
        assert_eq!(matched.comparisons[0].judge, "bert");
        let matched = match_answers(&questions, &read("q1\ty\tx\tA > B\n"), "");
        assert_eq!((matched.comparisons.len(), matched.unanswered), (1, 5));
    }
}
