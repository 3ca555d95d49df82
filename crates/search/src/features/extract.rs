//! A feature set prepared for an index, and the rows of feature values that it computes.
//!
//! The same code computes the rows of training data and those of a served query. Values are
//! computed in f64 and stored as f32. Cost of a query: one pass over the postings of its terms for
//! the candidates, then candidates x features.

use std::collections::BTreeSet;
use std::sync::Arc;

use rankwright_spec::Spec;

use super::set::FeatureSet;
use super::statistics::{CandidateStatistics, Needs};
use super::{FEATURES, Feature};
use crate::document::Query;
use crate::error::SearchError;
use crate::index::Index;
use crate::retrieve::Candidate;
use crate::terms::Terms;

/// Computes the features of a set on an index.
pub struct Extractor {
    index: Arc<Index>,
    /// The expanded set.
    set: FeatureSet,
    /// The features of the set, one per column.
    features: Vec<FeatureColumn>,
    /// The needs of all features together.
    needs: Needs,
}

/// The feature of a column.
struct FeatureColumn {
    feature: Box<dyn Feature>,
    /// Whether the feature is a custom one, with code from outside of this crate.
    is_custom: bool,
}

impl std::fmt::Debug for Extractor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Extractor").field("set", &self.set).finish_non_exhaustive()
    }
}

/// Feature values of a query's candidates, row by row, in the candidates' order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FeatureRows {
    /// The values.
    pub values: Vec<f32>,
    /// Number of columns.
    pub columns: usize,
}

impl Extractor {
    /// Expands a set and prepares its features.
    pub fn new(index: impl Into<Arc<Index>>, set: &FeatureSet) -> Result<Extractor, SearchError> {
        let index = index.into();
        let set = set.expand(&index)?;
        let mut features = Vec::with_capacity(set.features.len());
        let mut needs = Needs::default();
        for column in &set.features {
            let spec = Spec::parse(column)?;
            let def = index.feature(&spec.name)?;
            let feature = (def.build)(&index, &spec)?;
            needs = needs.and(feature.needs());
            let is_custom = !FEATURES.iter().any(|known| known.name == def.name);
            features.push(FeatureColumn { feature, is_custom });
        }
        needs.check(&index)?;
        Ok(Extractor { index, set, features, needs })
    }

    /// The index.
    pub fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// The expanded set: one feature per column.
    pub fn set(&self) -> &FeatureSet {
        &self.set
    }

    /// The query fields that the features read, in alphabetical order.
    pub fn query_fields(&self) -> Vec<String> {
        let fields = self.features.iter().flat_map(|column| column.feature.query_fields());
        fields.collect::<BTreeSet<String>>().into_iter().collect()
    }

    /// The rows of a query's candidates, in the order of the candidates.
    pub fn rows(
        &self,
        query: &Query,
        terms: &Terms,
        candidates: &[Candidate],
    ) -> Result<FeatureRows, SearchError> {
        let index = &*self.index;
        let docs = candidates.iter().map(|candidate| index.doc_of(candidate));
        let docs: Vec<u32> = docs.collect::<Result<_, _>>()?;
        let mut order: Vec<u32> = (0..docs.len() as u32).collect();
        order.sort_unstable_by_key(|&i| docs[i as usize]);
        let sorted: Vec<u32> = order.iter().map(|&i| docs[i as usize]).collect();
        let columns = self.features.len();
        let mut values = vec![0.0_f32; docs.len() * columns];
        let mut buffer = Vec::with_capacity(docs.len());
        let mut compute =
            |i: usize, column: &FeatureColumn, statistics: &CandidateStatistics<'_>| {
                buffer.clear();
                buffer.resize(docs.len(), f64::NAN);
                column.feature.values(statistics, &mut buffer)?;
                for (&candidate, &value) in order.iter().zip(&buffer) {
                    values[candidate as usize * columns + i] = to_f32(value);
                }
                Ok::<(), SearchError>(())
            };
        let (custom, built_in): (Vec<_>, Vec<_>) =
            self.features.iter().enumerate().partition(|(_, column)| column.is_custom);
        let statistics = index.catch_damage(|| {
            let statistics =
                CandidateStatistics::gather(index, query, terms, &sorted, &self.needs)?;
            built_in.into_iter().try_for_each(|(i, column)| compute(i, column, &statistics))?;
            Ok(statistics)
        })?;
        // Outside of `catch_damage`: a panic in custom code is not damage of the index.
        custom.into_iter().try_for_each(|(i, column)| compute(i, column, &statistics))?;
        Ok(FeatureRows { values, columns })
    }
}

impl FeatureRows {
    /// The values of one candidate.
    pub fn row(&self, candidate: usize) -> &[f32] {
        let start = candidate * self.columns;
        &self.values[start..start + self.columns]
    }
}

/// The nearest f32; values out of range become `f32::MIN` or `f32::MAX`.
fn to_f32(value: f64) -> f32 {
    if value.is_nan() {
        f32::NAN
    } else {
        value.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32
    }
}
