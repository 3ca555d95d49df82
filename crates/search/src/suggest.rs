//! Spelling suggestions from the terms of an index.
//!
//! A word of a query is looked up if no document has its term, or if hardly any document has it and
//! the query finds few documents. The word and its term are compared with all terms of the text
//! fields. The distance is the number of letters to insert, delete, replace or exchange with their
//! neighbours (Damerau 1964). A near term has a distance of at most one for words of three to five
//! letters and for words that a document has, and two for longer words that no document has;
//! shorter words and words with digits are not corrected.
//!
//! The nearest few terms are taken, of equally near ones those that most documents have. Terms are
//! stems, so each stands for a word of the documents with this term: the nearest to the query's
//! word, then the most frequent. The suggestion is the nearest of these words, and of equally near
//! words the one whose term most documents have. Cost: one pass over all terms for each word that
//! is looked up.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::error::SearchError;
use crate::index::{Index, TermPostings};
use crate::schema::{FieldKind, texts_of};
use crate::terms::Terms;

// The constants below are rules of thumb.

/// Fewer documents than this are few, both for a query and for a term.
const FEW_DOCUMENTS: usize = 3;
/// A word that few documents have is replaced only by a term that this many times as many have.
const MIN_FREQUENCY_RATIO: u64 = 10;
/// Maximum number of near terms whose words in documents are looked up.
const MAX_NEAR_TERMS: usize = 8;
/// Maximum number of documents in which the words of a term are counted.
const MAX_DOCUMENTS_READ: usize = 20;

impl Index {
    /// The query with misspelt words replaced by words of the index; `None` if no word is misspelt,
    /// or the index has no near word. `found` is the number of documents that the query finds;
    /// only words whose term is in `terms` may be replaced.
    ///
    /// ```
    /// use rankwright_search::{Document, Index, Terms};
    ///
    /// let documents = ["wireless keyboard", "wireless mouse"].map(|title| {
    ///     Document::new(title.replace(' ', "-")).with("title", title)
    /// });
    /// let index = Index::in_memory(documents)?;
    /// let query = "Wireles keybaord";
    /// let terms = Terms::new(query, index.analysis());
    /// assert_eq!(index.suggest(query, &terms, 0)?.as_deref(), Some("wireless keyboard"));
    /// # Ok::<(), rankwright_search::SearchError>(())
    /// ```
    pub fn suggest(
        &self,
        query: &str,
        terms: &Terms,
        found: usize,
    ) -> Result<Option<String>, SearchError> {
        // The term of each word, and the byte range of the word in the query.
        let mut words: Vec<(String, usize, usize)> = Vec::new();
        self.analysis().visit_tokens(query, |token| {
            words.push((token.text.clone(), token.offset_from, token.offset_to));
        });
        // `copied` is the number of bytes of the query that are in `suggested` or were replaced.
        let (mut suggested, mut copied) = (String::new(), 0);
        let mut better_words: HashMap<String, Option<String>> = HashMap::new();
        for (term, from, to) in words {
            if !terms.distinct().any(|replaceable| replaceable == term) {
                continue;
            }
            let word = query[from..to].to_lowercase();
            let better = match better_words.get(&term) {
                Some(better) => better.clone(),
                None => {
                    let better = self.better_word(&term, &word, found)?;
                    better_words.insert(term, better.clone());
                    better
                }
            };
            if let Some(better) = better.filter(|better| *better != word) {
                suggested.push_str(&query[copied..from]);
                suggested.push_str(&better);
                copied = to;
            }
        }
        if copied == 0 {
            return Ok(None);
        }
        suggested.push_str(&query[copied..]);
        Ok(Some(suggested))
    }

    /// The word of the index that the user probably meant by `word`, whose term is `term`.
    fn better_word(
        &self,
        term: &str,
        word: &str,
        found: usize,
    ) -> Result<Option<String>, SearchError> {
        let documents = self.term_stats(self.all_text(), term)?.documents;
        let is_rare = found < FEW_DOCUMENTS && documents < FEW_DOCUMENTS as u64;
        let max_edits = match max_edits(word) {
            0 => return Ok(None),
            _ if documents > 0 && !is_rare => return Ok(None),
            _ if documents > 0 => 1,
            allowed => allowed,
        };
        let mut near = self.catch_damage(|| self.near_terms(term, word, max_edits))?;
        near.retain(|near| documents == 0 || near.documents >= MIN_FREQUENCY_RATIO * documents);
        near.sort_by(|a, b| (a.edits, b.documents, &a.term).cmp(&(b.edits, a.documents, &b.term)));
        // The distance of the best word, the number of documents of its term, and the word.
        let mut best: Option<(usize, u64, String)> = None;
        for near in near.into_iter().take(MAX_NEAR_TERMS) {
            // `near.documents` includes deleted documents: good enough to order the terms, but a
            // term of deleted documents alone must not be suggested.
            if self.term_stats(self.all_text(), &near.term)?.documents == 0 {
                continue;
            }
            let found_word = self.nearest_word(&near.term, word)?.unwrap_or(near.term);
            let edits = edits_between(word, &found_word, usize::MAX).unwrap_or(usize::MAX);
            let is_better = |(best_edits, documents, _): &(usize, u64, String)| {
                edits < *best_edits || edits == *best_edits && near.documents > *documents
            };
            if best.as_ref().is_none_or(is_better) {
                best = Some((edits, near.documents, found_word));
            }
        }
        Ok(best.map(|(_, _, best_word)| best_word))
    }

    /// The terms of the text fields that differ by at most `max_edits` from a word or from its
    /// term: the stem of a misspelt word may be far from that of the correct word.
    fn near_terms(
        &self,
        term: &str,
        word: &str,
        max_edits: usize,
    ) -> Result<Vec<NearTerm>, SearchError> {
        let mut found: HashMap<String, (usize, u64)> = HashMap::new();
        self.visit_terms(|other, documents| {
            let from_term = edits_between(term, other, max_edits);
            let from_word = if word == term { None } else { edits_between(word, other, max_edits) };
            let edits = from_term.into_iter().chain(from_word).min().filter(|_| other != term);
            if let Some(edits) = edits {
                found.entry(other.to_owned()).or_insert((edits, 0)).1 += documents;
            }
        })?;
        let near = found.into_iter();
        Ok(near.map(|(term, (edits, documents))| NearTerm { term, edits, documents }).collect())
    }

    /// Of the words in documents that have this term, the nearest to a given word, and of equally
    /// near words the most frequent. `None` if no document that is read has the term.
    fn nearest_word(&self, term: &str, word: &str) -> Result<Option<String>, SearchError> {
        let mut postings = TermPostings::default();
        self.catch_damage(|| self.read_postings(self.all_text(), term, &mut postings))?;
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for &doc in postings.docs.iter().take(MAX_DOCUMENTS_READ) {
            let document = self.stored_document(doc)?;
            for name in self.schema().of_kind(FieldKind::Text) {
                for text in document.get(name).map(texts_of).unwrap_or_default() {
                    self.analysis().visit_tokens(&text, |token| {
                        if token.text == term {
                            let word = text[token.offset_from..token.offset_to].to_lowercase();
                            *counts.entry(word).or_default() += 1;
                        }
                    });
                }
            }
        }
        let best = counts
            .into_iter()
            .min_by_key(|(found, count)| (edits_between(word, found, usize::MAX), Reverse(*count)));
        Ok(best.map(|(word, _)| word))
    }
}

/// A term of the index that is near to a word of the query.
struct NearTerm {
    term: String,
    /// Its distance in edits.
    edits: usize,
    /// Number of documents that have it, including deleted ones.
    documents: u64,
}

/// The largest number of edits by which a misspelt word may differ from the correct one; 0 if it
/// is not corrected.
fn max_edits(word: &str) -> usize {
    match word.chars().count() {
        _ if word.chars().any(char::is_numeric) => 0,
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    }
}

/// Number of letters to insert, delete, replace, or exchange with their neighbours to get from one
/// word to the other; `None` if there are more than `max_edits`. This is the optimal string
/// alignment distance, the restricted Damerau-Levenshtein distance.
fn edits_between(a: &str, b: &str, max_edits: usize) -> Option<usize> {
    // A letter has at most 4 bytes.
    if a.len().abs_diff(b.len()) > max_edits.saturating_mul(4) {
        return None;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > max_edits {
        return None;
    }
    // Row i of the table has the distances between the first i letters of `a` and each prefix of
    // `b`. Only the last two rows are kept.
    let mut row_before_last: Vec<usize> = vec![0; b.len() + 1];
    let mut last_row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last_row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last_row[j] + 1).min(row[j - 1] + 1);
            let is_exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if is_exchanged {
                row[j] = row[j].min(row_before_last[j - 2] + 1);
            }
        }
        if row.iter().all(|&edits| edits > max_edits) {
            return None;
        }
        row_before_last = std::mem::replace(&mut last_row, row);
    }
    last_row.last().copied().filter(|&edits| edits <= max_edits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;

    #[test]
    fn edits_are_insertions_deletions_replacements_and_exchanges() {
        for (a, b, edits) in [
            ("keyboard", "keyboard", Some(0)),
            ("keybord", "keyboard", Some(1)),
            ("keybaord", "keyboard", Some(1)),
            ("kyebaord", "keyboard", Some(2)),
            ("cat", "cut", Some(1)),
            ("über", "uber", Some(1)),
            ("", "ab", Some(2)),
            ("abcdef", "uvwxyz", None),
        ] {
            assert_eq!(edits_between(a, b, 2), edits, "{a} {b}");
            assert_eq!(edits_between(b, a, 2), edits, "{b} {a}");
        }
    }

    fn suggest(index: &Index, query: &str, found: usize) -> Option<String> {
        let terms = Terms::new(query, index.analysis());
        index.suggest(query, &terms, found).unwrap()
    }

    /// An index of titles of a shop.
    fn shop() -> Index {
        let titles = [
            "Wireless keyboard",
            "Wireless keyboards",
            "Keyboards and mice",
            "Running shoes",
            "Running shoes for runners",
            "The runing of 1984",
            "Café chairs",
            "Computers",
            "Computer desk",
            "A computer",
        ];
        let documents = titles
            .iter()
            .enumerate()
            .map(|(number, title)| Document::new(number.to_string()).with("title", *title));
        Index::in_memory(documents.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn misspelt_words_are_replaced_by_words_of_documents() {
        let shop = shop();
        let suggested = |query: &str| suggest(&shop, query, 0);
        assert_eq!(suggested("wireles keybord").as_deref(), Some("wireless keyboard"));
        assert_eq!(
            suggested("the  Wirelss, keyboard!").as_deref(),
            Some("the  wireless, keyboard!")
        );
        assert_eq!(suggested("compuetr").as_deref(), Some("computer"), "a word, not a stem");
        assert_eq!(suggested("cafe"), None, "accents make no difference");
        assert_eq!(suggested("zzzzzz qqqq"), None);
        assert_eq!(suggested("1985"), None, "words with digits are not corrected");
        assert_eq!(suggested("xy"), None, "too short");
        assert_eq!(suggested(""), None);
    }

    #[test]
    fn words_of_the_index_are_replaced_only_if_few_documents_match_and_others_are_common() {
        let documents = (0..40).map(|number| {
            let text = if number == 0 { "a keybord" } else { "a keyboard" };
            Document::new(number.to_string()).with("text", text)
        });
        let index = Index::in_memory(documents.collect::<Vec<_>>()).unwrap();
        assert_eq!(suggest(&index, "keybord", 1).as_deref(), Some("keyboard"));
        assert_eq!(suggest(&index, "keybord", 30), None);
        assert_eq!(suggest(&index, "keyboard", 1), None);
    }

    #[test]
    fn words_of_deleted_documents_are_not_suggested() {
        let mut index = shop();
        index.delete(["7", "8", "9"]).unwrap();
        assert_eq!(suggest(&index, "compuetr", 0), None);
    }
}
