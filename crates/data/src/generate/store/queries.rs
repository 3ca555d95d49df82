//! Queries of the customers of the generated record store: one to four words that they remember of a
//! music record, with the language of the customer.
//!
//! Records with more plays are chosen more often. The words come from the title, the artist, both,
//! or the text; some are remembered wrongly (another word of the record) and a few are misspelt. At
//! least one word stays unchanged.

use super::records::RecordDraft;
use super::words::{Vocabulary, language};
use crate::random::Random;

/// A query with words as numbers.
pub(super) struct GeneratedQuery {
    pub(super) text: String,
    pub(super) language: usize,
    /// Its words without the misspelt ones, each once.
    pub(super) words: Vec<u32>,
}

/// Draws a query.
pub(super) fn draw(
    random: &mut Random,
    vocabulary: &Vocabulary,
    drafts: &[RecordDraft],
) -> GeneratedQuery {
    let record = target(random, drafts);
    let mut words = remembered(random, vocabulary, record);
    for word in words.iter_mut().skip(1) {
        if random.unit() < 0.12 {
            *word = record.text[random.below(record.text.len())];
        }
    }
    let mut seen = Vec::new();
    words.retain(|word| {
        let new = !seen.contains(word);
        seen.push(*word);
        new
    });
    let language = if random.unit() < 0.75 { record.language } else { language(random) };
    let mut texts: Vec<String> = words.iter().map(|w| vocabulary.text(*w).to_owned()).collect();
    if words.len() > 1 && random.unit() < 0.08 {
        words.pop();
        if let Some(last) = texts.last_mut() {
            misspell(random, last);
        }
    }
    GeneratedQuery { text: texts.join(" "), language, words }
}

/// The record that the user looks for: mostly the most played of three.
fn target<'a>(random: &mut Random, drafts: &'a [RecordDraft]) -> &'a RecordDraft {
    let mut best = &drafts[random.below(drafts.len())];
    if random.unit() < 0.7 {
        for _ in 0..2 {
            let other = &drafts[random.below(drafts.len())];
            if other.popularity > best.popularity {
                best = other;
            }
        }
    }
    best
}

fn remembered(random: &mut Random, vocabulary: &Vocabulary, record: &RecordDraft) -> Vec<u32> {
    let wanted = 1 + random.below(2) + random.below(3);
    let title = || record.title.iter().copied();
    let artist = || record.name.iter().copied();
    let kind = random.unit();
    let mut words: Vec<u32> = if kind < 0.4 {
        title().collect()
    } else if kind < 0.55 {
        artist().collect()
    } else if kind < 0.75 {
        artist().take(1).chain(title()).collect()
    } else {
        let text = &record.text;
        (0..wanted * 2).map(|_| text[random.below(text.len())]).collect()
    };
    words.retain(|word| !vocabulary.is_function_word(*word));
    if words.is_empty() {
        words = title().filter(|word| !vocabulary.is_function_word(*word)).collect();
    }
    words.truncate(wanted);
    words
}

/// Swaps two neighbouring letters or, if they are the same, deletes one.
fn misspell(random: &mut Random, word: &mut String) {
    let mut letters: Vec<char> = word.chars().collect();
    if letters.len() < 2 {
        return;
    }
    let at = random.below(letters.len() - 1);
    if letters[at] == letters[at + 1] {
        letters.remove(at);
    } else {
        letters.swap(at, at + 1);
    }
    *word = letters.into_iter().collect();
}
