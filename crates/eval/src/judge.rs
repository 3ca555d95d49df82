//! A run joined with judgements, as a source of queries.
//!
//! The queries are those of the judgements, in their order; queries of the run without judgements
//! are ignored. A document that occurs twice for a query, in the run or in the judgements, is an
//! error: it would count twice. Cost is linear in the documents of a query; the hash table is kept
//! from query to query.

use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::BuildHasher;

use rankwright_data::{ListedDocument, Qrels, QueryLists, Run};

use crate::error::{DocumentList, EvalError};
use crate::list::Candidates;
use crate::source::{QuerySource, SourceKind};

/// A run and the judgements it is measured by.
///
/// ```
/// use rankwright_data::{QueryLists, Qrels, Run};
/// use rankwright_eval::{EvalOptions, JudgedRun, MetricSpec, SourceKind, evaluate};
///
/// let qrels = Qrels::from_lists(QueryLists::from_rows("qrels", [("q", "a", 1.0), ("q", "b", 0.0)])?);
/// let run = Run::from_lists(QueryLists::from_rows("run", [("q", "b", 9.0), ("q", "a", 7.0)])?);
/// let rr = MetricSpec::parse("rr")?.resolve(SourceKind::Run)?;
/// let found = evaluate(&JudgedRun::new(&run, &qrels), &[rr], EvalOptions::default())?;
/// assert_eq!(found.results[0].value, 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct JudgedRun<'a> {
    run: &'a QueryLists,
    qrels: &'a QueryLists,
    /// For each judged query its number in the run; `None` if the run lacks it.
    returned: Vec<Option<usize>>,
}

impl<'a> JudgedRun<'a> {
    /// Matches the queries of a run and of judgements by id.
    pub fn new(run: &'a Run, qrels: &'a Qrels) -> Self {
        let (run, qrels) = (run.lists(), qrels.lists());
        let returned = (0..qrels.queries()).map(|q| run.find(qrels.query_id(q))).collect();
        Self { run, qrels, returned }
    }

    /// Number of judged queries that the run lacks.
    pub fn missing(&self) -> usize {
        self.returned.iter().filter(|q| q.is_none()).count()
    }

    /// Whether a judgement names a document of the run, for a query that both have. Reads the run up
    /// to the first such document.
    pub fn has_judged_document(&self) -> bool {
        self.returned.iter().enumerate().any(|(query, returned)| {
            let Some(returned) = *returned else { return false };
            let judged: HashSet<&[u8]> = self.qrels.list(query).map(|judged| judged.id).collect();
            self.run.list(returned).any(|document| judged.contains(document.id))
        })
    }

    /// Number of queries of the run without judgements.
    pub fn unjudged(&self) -> usize {
        self.run.queries() - (self.returned.len() - self.missing())
    }
}

impl QuerySource for JudgedRun<'_> {
    fn len(&self) -> usize {
        self.qrels.queries()
    }

    fn id(&self, q: usize) -> &str {
        self.qrels.query_id(q)
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Run
    }

    fn load<'b>(&'b self, q: usize, into: &mut Candidates<'b>) -> Result<(), EvalError> {
        into.clear();
        let returned = self.returned.get(q).copied().flatten();
        into.returned = returned.is_some();
        TABLE.with_borrow_mut(|table| {
            let results = returned.map_or(0, |r| self.run.list(r).count());
            table.clear(results + self.qrels.list(q).count());
            if let Some(r) = returned {
                for (number, ListedDocument { id, value }) in self.run.list(r).enumerate() {
                    if table.insert(id, &into.doc_ids, &[]).is_some() {
                        return Err(duplicate(DocumentList::Run, self.run, r, number, id));
                    }
                    into.doc_ids.push(id);
                    into.scores.push(value);
                }
            }
            into.labels.resize(into.doc_ids.len(), 0.0);
            into.judged.resize(into.doc_ids.len(), false);
            self.judge(q, table, into)
        })
    }
}

impl JudgedRun<'_> {
    /// Sets the labels of the run's documents for query `q`; the labels of judged documents that
    /// the run lacks go to `unretrieved`.
    fn judge<'b>(
        &'b self,
        q: usize,
        table: &mut DocumentTable,
        into: &mut Candidates<'b>,
    ) -> Result<(), EvalError> {
        let mut unretrieved: Vec<&[u8]> = Vec::new();
        for (number, ListedDocument { id, value }) in self.qrels.list(q).enumerate() {
            match table.insert(id, &into.doc_ids, &unretrieved) {
                None => {
                    unretrieved.push(id);
                    into.unretrieved.push(value);
                }
                Some(found) => match (into.judged.get_mut(found), into.labels.get_mut(found)) {
                    (Some(judged), Some(label)) if !*judged => {
                        *judged = true;
                        *label = value;
                    }
                    _ => {
                        let list = DocumentList::Judgements;
                        return Err(duplicate(list, self.qrels, q, number, id));
                    }
                },
            }
        }
        Ok(())
    }
}

/// The error of a document that a query's list names twice; the second entry has this number.
fn duplicate(
    list: DocumentList,
    lists: &QueryLists,
    query: usize,
    number: usize,
    document: &[u8],
) -> EvalError {
    EvalError::DuplicateDocument {
        query: lists.query_id(query).to_owned(),
        document: String::from_utf8_lossy(document).into_owned(),
        list,
        location: lists.location(query, number).to_string(),
    }
}

thread_local! {
    /// The table of this thread, kept from query to query.
    static TABLE: RefCell<DocumentTable> = RefCell::default();
}

/// A hash table of the document ids of one query, with open addressing: a slot holds a document's
/// number plus one, or 0 if it is empty.
#[derive(Debug, Default)]
struct DocumentTable {
    slots: Vec<u32>,
    /// Number of documents in the table.
    filled: usize,
    hasher: foldhash::fast::FixedState,
}

impl DocumentTable {
    /// Empties the table and makes room for this number of documents.
    fn clear(&mut self, documents: usize) {
        self.slots.clear();
        self.slots.resize((documents * 2).next_power_of_two().max(16), 0);
        self.filled = 0;
    }

    /// The number of this id if it is in the table; otherwise adds it with the next number and
    /// returns `None`. The ids of the numbers so far are those in `first`, then those in `second`.
    fn insert(&mut self, id: &[u8], first: &[&[u8]], second: &[&[u8]]) -> Option<usize> {
        let mask = self.slots.len() - 1;
        let mut index = self.hasher.hash_one(id) as usize & mask;
        loop {
            let slot = self.slots.get_mut(index)?;
            let Some(number) = (*slot as usize).checked_sub(1) else {
                self.filled += 1;
                *slot = self.filled as u32;
                return None;
            };
            let known = first.get(number).or_else(|| second.get(number - first.len()));
            if known == Some(&id) {
                return Some(number);
            }
            index = (index + 1) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::bytes::Input;

    fn run(text: &str) -> Run {
        Run::read(Input::from_bytes("r", text.as_bytes().to_vec()).unwrap()).unwrap().0
    }

    fn qrels(text: &str) -> Qrels {
        Qrels::read(Input::from_bytes("q", text.as_bytes().to_vec()).unwrap()).unwrap().0
    }

    #[test]
    fn documents_get_their_labels_and_unretrieved_labels_are_kept_apart() {
        let (run, qrels) = (
            run("1 Q0 a 1 3 t\n1 Q0 x 2 2 t\n1 Q0 b 3 1 t\n9 Q0 a 1 1 t\n"),
            qrels("1 0 b 2\n1 0 c 1\n1 0 d 0\n2 0 a 1\n"),
        );
        let joined = JudgedRun::new(&run, &qrels);
        let mut candidates = Candidates::new();
        joined.load(0, &mut candidates).unwrap();
        assert_eq!(candidates.labels, [0.0, 0.0, 2.0]);
        assert_eq!(candidates.judged, [false, false, true]);
        assert_eq!(candidates.unretrieved, [1.0, 0.0]);
        joined.load(1, &mut candidates).unwrap();
        assert!(!candidates.returned && candidates.labels.is_empty());
        assert_eq!((joined.missing(), joined.unjudged()), (1, 1));
    }

    #[test]
    fn a_document_named_twice_is_an_error_with_its_line() {
        let good = (run("1 Q0 a 1 3 t\n"), qrels("1 0 a 2\n1 0 c 1\n"));
        for (run, qrels, message) in [
            (
                &run("1 Q0 a 1 3 t\n1 Q0 a 2 2 t\n"),
                &good.1,
                "the run names document 'a' twice (r:2)",
            ),
            (
                &good.0,
                &qrels("1 0 a 2\n1 0 a 2\n"),
                "the qrels file names document 'a' twice (q:2)",
            ),
            (
                &good.0,
                &qrels("1 0 c 2\n1 0 c 2\n"),
                "the qrels file names document 'c' twice (q:2)",
            ),
        ] {
            let error = JudgedRun::new(run, qrels).load(0, &mut Candidates::new()).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
    }
}
