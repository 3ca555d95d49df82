//! An answer of a judge as text: "A > B", or the sentences that language models write instead.
//!
//! The rules, in this order; the first one that finds something decides:
//!
//! 1. A JSON object in the text: the value of `preferred`, `answer`, `winner` or the like, read by
//!    the other rules.
//! 2. Relations such as `A > B`, `B < A`, `Document A = Document B`; of several the last one, as a
//!    conclusion stands at the end.
//! 3. A letter in brackets, `[[A]]`; again the last one.
//! 4. What follows `Answer:` and the like, the text as a whole, its last line or its first line is
//!    a letter or a word such as `tie`.
//! 5. Sentences such as "A is more relevant", "I prefer document B", "both are equally good", if
//!    all of them agree.
//!
//! Anything else cannot be read.

use serde_json::Value;

use super::Preferred;

/// Keys of JSON objects whose value is the answer.
const ANSWER_KEYS: [&str; 9] = [
    "preferred",
    "preference",
    "answer",
    "winner",
    "better",
    "choice",
    "verdict",
    "output",
    "result",
];

/// Words before a letter that name the same thing: "document A".
const NOUNS: [&str; 14] = [
    "DOCUMENT",
    "DOC",
    "CANDIDATE",
    "OPTION",
    "SONG",
    "ITEM",
    "PASSAGE",
    "RESPONSE",
    "TEXT",
    "RESULT",
    "PAGE",
    "PRODUCT",
    "ANSWER",
    "OUTPUT",
];

/// Words that stand before the conclusion.
const MARKERS: [&str; 9] = [
    "FINAL ANSWER",
    "ANSWER",
    "OUTPUT",
    "VERDICT",
    "PREFERENCE",
    "PREFERRED",
    "CHOICE",
    "WINNER",
    "CONCLUSION",
];

/// The judgement that an answer expresses; `None` if it cannot be read.
///
/// ```
/// use rankwright_clicks::judge::{Preferred, read_answer};
///
/// assert_eq!(read_answer("B > A"), Some(Preferred::Second));
/// assert_eq!(read_answer("Both mention jazz, but **Document A > Document B**."), Some(Preferred::First));
/// assert_eq!(read_answer("{\"preferred\": \"tie\"}"), Some(Preferred::Neither));
/// assert_eq!(read_answer("I cannot help with that."), None);
/// ```
pub fn read_answer(text: &str) -> Option<Preferred> {
    from_json(text).or_else(|| from_text(text))
}

fn from_text(text: &str) -> Option<Preferred> {
    let words = words(text);
    let by_relation = last_relation(&words);
    by_relation
        .or_else(|| in_brackets(text))
        .or_else(|| conclusion(text))
        .or_else(|| sentences(&words))
}

/// The answer in the JSON object that the text contains.
fn from_json(text: &str) -> Option<Preferred> {
    let (start, end) = (text.find('{')?, text.rfind('}')?);
    let object: Value = serde_json::from_str(text.get(start..=end)?).ok()?;
    let object = object.as_object()?;
    let value = |key: &&str| {
        let found = object.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
        found.and_then(|(_, value)| value.as_str())
    };
    ANSWER_KEYS.iter().find_map(value).and_then(from_text)
}

/// The words of a text in upper case, and its relations as words of their own. Marks of emphasis
/// and punctuation are left out.
fn words(text: &str) -> Vec<String> {
    let text = text.replace("&gt;", ">").replace("&lt;", "<");
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        let relation = match c {
            '>' | '≻' | '＞' => Some(">"),
            '<' | '≺' | '＜' => Some("<"),
            '=' | '≈' | '≡' | '~' => Some("="),
            _ => None,
        };
        // An apostrophe belongs to a word: "isn't".
        match relation {
            None if c.is_alphanumeric() || matches!(c, '\'' | '’') => {
                word.extend(c.to_uppercase())
            }
            _ => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                // `>>` and `==` are one relation.
                if let Some(relation) = relation
                    && words.last().is_none_or(|last| last != relation)
                {
                    words.push(relation.to_owned());
                }
            }
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The document of a letter.
fn letter(word: &str) -> Option<Preferred> {
    match word {
        "A" => Some(Preferred::First),
        "B" => Some(Preferred::Second),
        _ => None,
    }
}

fn without_nouns(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).filter(|word| !NOUNS.contains(word)).collect()
}

/// The last `A > B` of the words.
fn last_relation(words: &[String]) -> Option<Preferred> {
    let words = without_nouns(words);
    let relation = |three: &[&str]| {
        let [left, relation, right] = three else { return None };
        let (left, right) = (letter(left)?, letter(right)?);
        if left == right {
            return None;
        }
        match *relation {
            ">" => Some(left),
            "<" => Some(right),
            "=" => Some(Preferred::Neither),
            _ => None,
        }
    };
    words.windows(3).rev().find_map(relation)
}

/// The last letter in square brackets; C is a tie, as in MT-Bench.
fn in_brackets(text: &str) -> Option<Preferred> {
    let inner = |rest: &str| -> Option<Preferred> {
        let (inner, _) = rest.split_once(']')?;
        match inner.trim().to_uppercase().as_str() {
            "C" | "TIE" => Some(Preferred::Neither),
            word => letter(word),
        }
    };
    text.split('[').skip(1).filter_map(inner).last()
}

/// The judgement of a word that stands alone.
fn alone(text: &str) -> Option<Preferred> {
    let words = words(text);
    let words = without_nouns(&words);
    match words[..] {
        [word] => letter(word).or_else(|| is_tie(word).then_some(Preferred::Neither)),
        ["NO", "PREFERENCE"] | ["BOTH", "EQUAL" | "EQUALLY"] | ["A", "TIE"] | ["THE", "SAME"] => {
            Some(Preferred::Neither)
        }
        _ => None,
    }
}

fn is_tie(word: &str) -> bool {
    matches!(
        word,
        "TIE" | "TIED" | "EQUAL" | "EQUALLY" | "SAME" | "DRAW" | "NEITHER" | "BOTH" | "="
    )
}

/// The whole text, its first or last line, or the text after a marker, if it is a judgement alone.
fn conclusion(text: &str) -> Option<Preferred> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let marked = lines.iter().rev().filter_map(|line| after_marker(line));
    let whole = [Some(text), lines.last().copied(), lines.first().copied()];
    marked.chain(whole.into_iter().flatten().filter_map(alone)).next()
}

/// The judgement after `Answer:` or another marker of a line.
fn after_marker(line: &str) -> Option<Preferred> {
    let (before, after) = line.rsplit_once(':')?;
    let before = words(before).join(" ");
    MARKERS.iter().any(|marker| before.ends_with(marker)).then(|| alone(after))?
}

/// The judgement of sentences, if they agree.
fn sentences(words: &[String]) -> Option<Preferred> {
    let words = without_nouns(words);
    let is_negation = |word: &&str| {
        matches!(*word, "NOT" | "CANNOT") || word.ends_with("N'T") || word.ends_with("N\u{2019}T")
    };
    if words.iter().any(is_negation) {
        return None;
    }
    let mut found: Vec<Preferred> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let after = words.get(at + 1..).unwrap_or_default();
        let stated = match *word {
            "A" | "B" => letter(word).and_then(|letter| predicate(letter, after)),
            "PREFER" | "CHOOSE" | "PICK" | "SELECT" | "FAVOR" | "FAVOUR" => {
                after.first().and_then(|word| letter(word))
            }
            "EQUALLY" | "TIE" => Some(Preferred::Neither),
            _ => None,
        };
        found.extend(stated);
    }
    let first = *found.first()?;
    found.iter().all(|other| *other == first).then_some(first)
}

/// The judgement of "A is (clearly) better", of which the letter and the words after it are given.
fn predicate(letter: Preferred, after: &[&str]) -> Option<Preferred> {
    let [verb, rest @ ..] = after else { return None };
    if matches!(*verb, "WINS") {
        return Some(letter);
    }
    if !matches!(*verb, "IS" | "SEEMS" | "LOOKS" | "APPEARS" | "WAS" | "MATCHES" | "FITS" | "WOULD")
    {
        return None;
    }
    rest.iter().take(4).find_map(|word| match *word {
        "BETTER" | "MORE" | "PREFERRED" | "PREFERABLE" | "STRONGER" | "SUPERIOR" | "BEST" => {
            Some(letter)
        }
        "WORSE" | "LESS" | "WEAKER" | "INFERIOR" => Some(letter.exchanged()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_people_and_models_are_read() {
        use Preferred::{First, Neither, Second};
        for (text, expected) in [
            ("A > B", First),
            ("a>b", First),
            ("A < B", Second),
            ("B > A\n", Second),
            ("B >> A", Second),
            ("A = B", Neither),
            ("A ≻ B", First),
            ("A &gt; B", First),
            ("**A > B**", First),
            ("`B > A`.", Second),
            ("Output:\nB > A", Second),
            ("Document A > Document B", First),
            ("Candidate Answer B > Candidate Answer A", Second),
            ("On titles A > B, but the lyrics of B fit. Overall: B > A", Second),
            ("A", First),
            ("B.", Second),
            ("(A)", First),
            ("Document B", Second),
            ("tie", Neither),
            ("Both equal", Neither),
            ("No preference", Neither),
            ("[[A]]", First),
            ("My final verdict is: [[C]]", Neither),
            ("Answer: B", Second),
            ("Reasoning: both are close.\nFinal answer: A", First),
            ("B\n\nDocument B mentions the query terms.", Second),
            ("Document A is more relevant to the query than document B.", First),
            ("B is clearly the better recommendation.", Second),
            ("A is less relevant than B.", Second),
            ("I would choose option B.", Second),
            ("Both documents are equally relevant.", Neither),
            ("{\"preferred\": \"B\"}", Second),
            ("```json\n{\"Answer\": \"A > B\", \"reason\": \"B is short\"}\n```", First),
            ("{\"winner\": \"tie\"}", Neither),
        ] {
            assert_eq!(read_answer(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_read() {
        for text in [
            "",
            "   ",
            "I cannot decide.",
            "As a language model I do not have preferences.",
            "A is better. B is better.",
            "A is not better than B",
            "C",
            "A > A",
            "A and B",
            "Paris",
            "{\"score\": 3}",
            "{\"preferred\": 3}",
        ] {
            assert_eq!(read_answer(text), None, "{text}");
        }
    }
}
