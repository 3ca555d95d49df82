//! Queries to the generated record store: one to four words that a user remembers of a music
//! record, and the language of the user.
//!
//! Records with more plays are searched more often. The words come from the title, the artist,
//! both, or the text; some are remembered wrongly (replaced by another word of the record) and a
//! few are misspelt. At least one word stays unchanged.

use super::records::RecordDraft;
use super::words::{Vocabulary, language};
use crate::random::Random;

/// A query, as text and as numbers of words.
pub(super) struct GeneratedQuery {
    pub(super) text: String,
    /// The number of the language.
    pub(super) language: usize,
    /// The words that are not misspelt, each once.
    pub(super) words: Vec<u32>,
}

/// Draws a query.
pub(super) fn draw(
    random: &mut Random,
    vocabulary: &Vocabulary,
    drafts: &[RecordDraft],
) -> GeneratedQuery {
    let record = searched_record(random, drafts);
    let mut words = remembered_words(random, vocabulary, record);
    for word in words.iter_mut().skip(1) {
        if random.unit() < 0.12 {
            *word = record.text[random.below(record.text.len())];
        }
    }
    let mut seen = Vec::new();
    words.retain(|word| {
        let is_new = !seen.contains(word);
        seen.push(*word);
        is_new
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

/// The record that the user looks for: in 70 % of the cases the most played of three records, else
/// any record.
fn searched_record<'a>(random: &mut Random, drafts: &'a [RecordDraft]) -> &'a RecordDraft {
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

/// One to four content words of a record, from its title, its artist, both, or its text.
fn remembered_words(
    random: &mut Random,
    vocabulary: &Vocabulary,
    record: &RecordDraft,
) -> Vec<u32> {
    let max_words = 1 + random.below(2) + random.below(3);
    let title = || record.title.iter().copied();
    let artist = || record.artist_name.iter().copied();
    let source = random.unit();
    let mut words: Vec<u32> = if source < 0.4 {
        title().collect()
    } else if source < 0.55 {
        artist().collect()
    } else if source < 0.75 {
        artist().take(1).chain(title()).collect()
    } else {
        let text = &record.text;
        // Twice as many, since function words are dropped below.
        (0..max_words * 2).map(|_| text[random.below(text.len())]).collect()
    };
    words.retain(|word| !vocabulary.is_function_word(*word));
    if words.is_empty() {
        words = title().filter(|word| !vocabulary.is_function_word(*word)).collect();
    }
    words.truncate(max_words);
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
