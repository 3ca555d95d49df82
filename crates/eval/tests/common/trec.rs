//! A simple reader of TREC runs and judgements, without checks.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use rankwright_eval::{Candidates, EvalError, QuerySource, SourceKind};

/// A run joined with judgements, one entry for each judged query.
pub(crate) struct JudgedRun {
    queries: Vec<(String, Query)>,
}

#[derive(Default)]
struct Query {
    doc_ids: Vec<String>,
    scores: Vec<f64>,
    labels: Vec<f64>,
    judged: Vec<bool>,
    unretrieved: Vec<f64>,
}

impl JudgedRun {
    pub(crate) fn read(qrels: &Path, run: &Path) -> Self {
        let mut judged: BTreeMap<String, HashMap<String, f64>> = BTreeMap::new();
        for line in fs::read_to_string(qrels).unwrap().lines() {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (query, document, label) = (fields[0], fields[2], fields[3]);
            let labels = judged.entry(query.to_owned()).or_default();
            labels.insert(document.to_owned(), label.parse().unwrap());
        }
        let mut queries: BTreeMap<String, Query> =
            judged.keys().map(|q| (q.clone(), Query::default())).collect();
        for line in fs::read_to_string(run).unwrap().lines() {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (id, document, score) = (fields[0], fields[2], fields[4]);
            let Some(query) = queries.get_mut(id) else { continue };
            let label = judged.get_mut(id).unwrap().remove(document);
            query.doc_ids.push(document.to_owned());
            query.scores.push(score.parse().unwrap());
            query.labels.push(label.unwrap_or(0.0));
            query.judged.push(label.is_some());
        }
        for (id, query) in &mut queries {
            query.unretrieved = judged[id].values().copied().collect();
        }
        Self { queries: queries.into_iter().collect() }
    }

    /// Whether two documents of the query have the same score as 32-bit floats.
    pub(crate) fn has_ties(&self, query: &str) -> bool {
        let found = self.queries.iter().find(|(id, _)| id == query).map(|(_, q)| &q.scores);
        let mut scores: Vec<f32> = found.unwrap().iter().map(|s| *s as f32).collect();
        scores.sort_by(f32::total_cmp);
        scores.windows(2).any(|w| w[0] == w[1])
    }
}

impl QuerySource for JudgedRun {
    fn len(&self) -> usize {
        self.queries.len()
    }

    fn id(&self, q: usize) -> &str {
        &self.queries[q].0
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Run
    }

    fn load<'a>(&'a self, q: usize, into: &mut Candidates<'a>) -> Result<(), EvalError> {
        into.clear();
        let query = &self.queries[q].1;
        into.returned = !query.scores.is_empty();
        into.doc_ids.extend(query.doc_ids.iter().map(String::as_bytes));
        into.scores.extend(&query.scores);
        into.labels.extend(&query.labels);
        into.judged.extend(&query.judged);
        into.unretrieved.extend(&query.unretrieved);
        Ok(())
    }
}
