//! Feature data from an index: a row for each candidate of each query, labelled by judgements.
//!
//! Candidates are those of the first stage, so that a model is trained on what it will be served;
//! judged documents that the first stage did not find can be added. Candidates without a judgement have
//! label 0, and so have those judged below 0. Queries that find nothing have no rows.

use rankwright_data::{Dataset, Qrels};
use rayon::prelude::*;

use crate::document::Query;
use crate::error::SearchError;
use crate::features::{Extractor, FeatureRows};
use crate::index::Index;
use crate::retrieve::{Candidate, Filter, FirstStage, SearchBuffers};
use crate::terms::Terms;

/// Which documents become rows.
#[derive(Debug, Clone, Default)]
pub struct RowOptions<'a> {
    /// How candidates are found.
    pub stage: FirstStage,
    /// Candidates of a query.
    pub candidates: usize,
    /// Add judged documents that are not among them.
    pub judged: bool,
    /// Only documents that pass.
    pub filter: Option<&'a Filter>,
}

/// One query's rows.
struct Part {
    ids: Vec<String>,
    labels: Vec<f64>,
    rows: FeatureRows,
}

/// Judgements of a query by document id, ascending.
type Judgements = Vec<(Vec<u8>, f64)>;

impl Extractor {
    /// Feature data of many queries; without judgements all labels are 0.
    pub fn dataset(
        &self,
        index: &Index,
        queries: &[Query],
        qrels: Option<&Qrels>,
        options: &RowOptions<'_>,
    ) -> Result<Dataset, SearchError> {
        let part = |buffers: &mut SearchBuffers, query: &Query| {
            let judgements = judgements(qrels, query);
            self.part(index, query, &judgements, options, buffers)
        };
        let parts = queries.par_iter().map_init(SearchBuffers::default, part);
        let parts: Result<Vec<Part>, SearchError> = parts.collect();
        self.together(queries, parts?)
    }

    fn part(
        &self,
        index: &Index,
        query: &Query,
        judgements: &Judgements,
        options: &RowOptions<'_>,
        buffers: &mut SearchBuffers,
    ) -> Result<Part, SearchError> {
        let terms = Terms::new(&query.text, index.analysis());
        let RowOptions { stage, candidates, judged, filter } = options;
        let mut found = index.retrieve(&terms, stage, *candidates, *filter, buffers)?;
        if *judged {
            add_judged(index, &mut found, judgements)?;
        }
        let rows = self.rows(index, query, &terms, &found)?;
        let ids = found.iter().map(|ranked| Ok(index.id(ranked)?.to_owned()));
        let ids: Vec<String> = ids.collect::<Result<_, SearchError>>()?;
        let label = |id: &String| {
            let at = judgements.binary_search_by(|(known, _)| known.as_slice().cmp(id.as_bytes()));
            at.ok().and_then(|at| judgements.get(at)).map_or(0.0, |(_, label)| label.max(0.0))
        };
        Ok(Part { labels: ids.iter().map(label).collect(), ids, rows })
    }

    fn together(&self, queries: &[Query], parts: Vec<Part>) -> Result<Dataset, SearchError> {
        let (mut query_ids, mut doc_ids) = (Vec::new(), Vec::new());
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for (query, part) in queries.iter().zip(parts) {
            query_ids.extend(part.ids.iter().map(|_| query.id.as_str()));
            doc_ids.extend(part.ids);
            labels.extend(part.labels);
            values.extend(part.rows.values);
        }
        if labels.is_empty() {
            return Err(SearchError::request(
                "no query found a document, so that there are no rows",
                "look at the queries with `rankwright search`",
            ));
        }
        let set = self.set();
        let data = Dataset::builder()
            .dense(values, set.features.len())
            .feature_names(&set.features)
            .labels(labels)
            .query_ids(query_ids)
            .doc_ids(doc_ids)
            .feature_set(set.to_toml())
            .build()?;
        Ok(data)
    }
}

fn judgements(qrels: Option<&Qrels>, query: &Query) -> Judgements {
    let Some(lists) = qrels.map(Qrels::lists) else { return Vec::new() };
    let Some(number) = lists.find(&query.id) else { return Vec::new() };
    let documents = lists.list(number).map(|document| (document.id.to_vec(), document.value));
    let mut judgements: Judgements = documents.collect();
    judgements.sort_by(|a, b| a.0.cmp(&b.0));
    judgements
}

fn add_judged(
    index: &Index,
    found: &mut Vec<Candidate>,
    judgements: &Judgements,
) -> Result<(), SearchError> {
    for (id, _) in judgements {
        let judged = index.ranked(&String::from_utf8_lossy(id))?;
        let is_new = |judged: &Candidate| !found.iter().any(|known| known.is_same(judged));
        if let Some(judged) = judged.filter(is_new) {
            found.push(judged);
        }
    }
    Ok(())
}
