//! Whether a document's category equals the query's, or occurs in its words.

use std::sync::Arc;

use super::Feature;
use super::def::FeatureDef;
use super::fields::{FieldParams, field};
use super::statistics::CandidateStatistics;
use crate::document::Value;
use crate::error::SearchError;
use crate::index::{FieldLabels, Index};
use crate::schema::FieldKind;
use crate::terms::Terms;

pub(super) static CATEGORY_MATCH: FeatureDef = FeatureDef {
    name: "category-match",
    help: "1 if the category equals the query's or all its words are in the query, otherwise 0.",
    example: "category-match(field=genre)",
    field: Some(FieldKind::Category),
    ..FeatureDef::of::<FieldParams>(|index, spec| {
        let field = field(index, spec, FieldKind::Category)?;
        let labels = index.labels(&field, FieldKind::Category)?;
        Ok(Box::new(CategoryMatch::new(index, field, labels)))
    })
};

/// Whether a document's category equals the query's, or occurs in its words.
///
/// A query with a field of the category's name matches by that value; otherwise a category matches
/// when all of its terms are in the query. 1 or 0.
struct CategoryMatch {
    field: String,
    labels: Arc<FieldLabels>,
    /// The terms of each label.
    terms: Vec<Vec<String>>,
}

impl CategoryMatch {
    fn new(index: &Index, field: String, labels: Arc<FieldLabels>) -> Self {
        let of = |label: usize| Terms::new(labels.name(label as u32), index.analysis());
        let terms = (0..labels.len()).map(of).map(|t| t.distinct().map(str::to_owned).collect());
        Self { field, terms: terms.collect(), labels }
    }

    fn matches(&self, statistics: &CandidateStatistics<'_>) -> Vec<bool> {
        let given = statistics.query.fields.iter().find(|(name, _)| *name == self.field);
        let wanted: Option<Vec<String>> = given.map(|(_, value)| match value {
            Value::Text(text) => vec![text.clone()],
            Value::Texts(texts) => texts.clone(),
            Value::Number(number) => vec![number.to_string()],
        });
        let in_query = |term: &String| statistics.terms.distinct().any(|known| known == term);
        let labels = self.terms.iter().enumerate().map(|(label, terms)| match &wanted {
            Some(wanted) => wanted.iter().any(|name| name == self.labels.name(label as u32)),
            None => !terms.is_empty() && terms.iter().all(in_query),
        });
        labels.collect()
    }
}

impl Feature for CategoryMatch {
    fn query_fields(&self) -> Vec<String> {
        vec![self.field.clone()]
    }

    fn values(
        &self,
        statistics: &CandidateStatistics<'_>,
        out: &mut [f64],
    ) -> Result<(), SearchError> {
        let matches = self.matches(statistics);
        for (slot, &doc) in out.iter_mut().zip(statistics.docs) {
            let labels = self.labels.of(doc);
            *slot = f64::from(labels.iter().any(|&label| matches[label as usize]));
        }
        Ok(())
    }
}
