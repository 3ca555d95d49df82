//! Spelling suggestions from the terms of an index.
//!
//! A word of a query whose term no document has is compared, as it is and as a term, with all terms of
//! the text fields, and so is one that hardly any document has, if the query finds little. Near terms differ by few letters
//! inserted, deleted, replaced or exchanged with their neighbours (Damerau 1964): one for words of up
//! to five letters, two for longer ones, none below three letters and none in words with digits. Of
//! these the nearest counts, and of equally near ones that of most documents. Terms are stems, so that
//! the suggested word is one that documents have for the term: the nearest, then the most frequent. Cost: one pass over the
//! terms for each such word.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::error::SearchError;
use crate::index::{Index, TermPostings};
use crate::schema::{FieldKind, texts_of};
use crate::terms::Terms;

/// A query that finds fewer documents finds little.
pub(crate) const LITTLE: usize = 3;
/// A word of a query that finds little is replaced if another term has this many times as many
/// documents.
const TIMES_MORE: u64 = 10;
/// Number of near terms whose words are looked up.
const COMPARED: usize = 8;
/// Number of documents in which the words of a term are counted.
const DOCUMENTS_READ: usize = 20;

impl Index {
    /// The query with misspelt words replaced by words of the index; `None` if none is misspelt,
    /// or no word is near. `found` is the number of documents that the query finds; `terms` are the
    /// words that may be replaced.
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
        let mut words: Vec<(String, usize, usize)> = Vec::new();
        self.analysis().visit_tokens(query, |token| {
            words.push((token.text.clone(), token.offset_from, token.offset_to));
        });
        let (mut suggested, mut copied) = (String::new(), 0);
        let mut known: HashMap<String, Option<String>> = HashMap::new();
        for (term, from, to) in words {
            if !terms.distinct().any(|wanted| wanted == term) {
                continue;
            }
            let word = query[from..to].to_lowercase();
            let better = match known.get(&term) {
                Some(better) => better.clone(),
                None => {
                    let better = self.better_word(&term, &word, found)?;
                    known.insert(term, better.clone());
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

    /// The word of the index that was probably meant.
    fn better_word(
        &self,
        term: &str,
        word: &str,
        found: usize,
    ) -> Result<Option<String>, SearchError> {
        let documents = self.term_stats(self.all(), term)?.documents;
        let is_rare = found < LITTLE && documents < LITTLE as u64;
        let edits = match most_edits(word) {
            0 => return Ok(None),
            _ if documents > 0 && !is_rare => return Ok(None),
            _ if documents > 0 => 1,
            edits => edits,
        };
        let mut near = self.catch_damage(|| self.near_terms(term, word, edits))?;
        near.retain(|near| documents == 0 || near.documents >= TIMES_MORE * documents);
        near.sort_by(|a, b| (a.edits, b.documents, &a.term).cmp(&(b.edits, a.documents, &b.term)));
        let mut best: Option<(usize, u64, String)> = None;
        for near in near.into_iter().take(COMPARED) {
            // A count with deleted documents is good enough to order terms, not to suggest one.
            if self.term_stats(self.all(), &near.term)?.documents == 0 {
                continue;
            }
            let surface = self.word_of(&near.term, word)?.unwrap_or(near.term);
            let edits = edits_between(word, &surface, usize::MAX).unwrap_or(usize::MAX);
            let is_better = |(best, documents, _): &(usize, u64, String)| {
                edits < *best || edits == *best && near.documents > *documents
            };
            if best.as_ref().is_none_or(is_better) {
                best = Some((edits, near.documents, surface));
            }
        }
        Ok(best.map(|(_, _, surface)| surface))
    }

    /// The terms of the text fields that differ by at most this number of edits from a word or its
    /// term: a misspelt word may have an odd stem.
    fn near_terms(
        &self,
        term: &str,
        word: &str,
        most: usize,
    ) -> Result<Vec<NearTerm>, SearchError> {
        let mut found: HashMap<String, (usize, u64)> = HashMap::new();
        self.visit_terms(|other, documents| {
            let of_term = edits_between(term, other, most);
            let of_word = if word == term { None } else { edits_between(word, other, most) };
            let edits = of_term.into_iter().chain(of_word).min().filter(|_| other != term);
            if let Some(edits) = edits {
                found.entry(other.to_owned()).or_insert((edits, 0)).1 += documents;
            }
        })?;
        let near = found.into_iter();
        Ok(near.map(|(term, (edits, documents))| NearTerm { term, edits, documents }).collect())
    }

    /// The word of documents for a term that is nearest to a given word, and of these the most
    /// frequent one.
    fn word_of(&self, term: &str, word: &str) -> Result<Option<String>, SearchError> {
        let mut postings = TermPostings::default();
        self.catch_damage(|| self.read_postings(self.all(), term, &mut postings))?;
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for &doc in postings.docs.iter().take(DOCUMENTS_READ) {
            let document = self.source(doc)?;
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
            .min_by_key(|(own, count)| (edits_between(word, own, usize::MAX), Reverse(*count)));
        Ok(best.map(|(word, _)| word))
    }
}

/// A term that is near to another one.
struct NearTerm {
    term: String,
    edits: usize,
    documents: u64,
}

/// The largest number of edits of a misspelt word.
fn most_edits(word: &str) -> usize {
    match word.chars().count() {
        _ if word.chars().any(char::is_numeric) => 0,
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    }
}

/// Number of letters to insert, delete, replace, or exchange with their neighbours to get from one
/// word to the other; `None` if there are more than `most`.
fn edits_between(a: &str, b: &str, most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most.saturating_mul(4) {
        return None;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    // The rows of the table for the previous two letters of `a`, and the current one.
    let mut older: Vec<usize> = vec![0; b.len() + 1];
    let mut old: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = old[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(old[j] + 1).min(row[j - 1] + 1);
            let is_exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if is_exchanged {
                row[j] = row[j].min(older[j - 2] + 1);
            }
        }
        if row.iter().all(|&edits| edits > most) {
            return None;
        }
        older = std::mem::replace(&mut old, row);
    }
    old.last().copied().filter(|&edits| edits <= most)
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
        assert_eq!(suggested("cafe"), None, "accents are no difference");
        assert_eq!(suggested("zzzzzz qqqq"), None);
        assert_eq!(suggested("1985"), None, "numbers are not guessed");
        assert_eq!(suggested("xy"), None, "too short");
        assert_eq!(suggested(""), None);
    }

    #[test]
    fn known_words_are_replaced_only_if_little_is_found_and_others_are_far_more_common() {
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
