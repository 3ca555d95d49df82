//! Feature: whether a document's category equals that of the query, or occurs in the query's words.

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
    help: "1 if the document's category is that of the query, or all words of the category are in the query; otherwise 0.",
    example: "category-match(field=genre)",
    field: Some(FieldKind::Category),
    ..FeatureDef::of::<FieldParams>(|index, spec| {
        let field = field(index, spec, FieldKind::Category)?;
        let labels = index.labels(&field, FieldKind::Category)?;
        Ok(Box::new(CategoryMatch::new(index, field, labels)))
    })
};

/// The feature of a category field.
///
/// If the query has a field of the same name, a category matches if it equals the value of that
/// field. Otherwise a category matches if all of its terms are in the query.
struct CategoryMatch {
    field: String,
    labels: Arc<FieldLabels>,
    /// The terms of each label.
    terms_of_label: Vec<Vec<String>>,
}

impl CategoryMatch {
    fn new(index: &Index, field: String, labels: Arc<FieldLabels>) -> Self {
        let terms_of = |label: usize| -> Vec<String> {
            let terms = Terms::new(labels.name(label as u32), index.analysis());
            terms.distinct().map(str::to_owned).collect()
        };
        Self { field, terms_of_label: (0..labels.len()).map(terms_of).collect(), labels }
    }

    /// Whether each label matches the query.
    fn matches(&self, statistics: &CandidateStatistics<'_>) -> Vec<bool> {
        let query_field = statistics.query.fields.iter().find(|(name, _)| *name == self.field);
        let query_categories: Option<Vec<String>> = query_field.map(|(_, value)| match value {
            Value::Text(text) => vec![text.clone()],
            Value::Texts(texts) => texts.clone(),
            Value::Number(number) => vec![number.to_string()],
        });
        let in_query = |term: &String| statistics.terms.distinct().any(|known| known == term);
        let labels = self.terms_of_label.iter().enumerate();
        let matches = labels.map(|(label, terms)| match &query_categories {
            Some(names) => names.iter().any(|name| name == self.labels.name(label as u32)),
            None => !terms.is_empty() && terms.iter().all(in_query),
        });
        matches.collect()
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
        for (value, &doc) in out.iter_mut().zip(statistics.docs) {
            let labels = self.labels.of(doc);
            *value = f64::from(labels.iter().any(|&label| matches[label as usize]));
        }
        Ok(())
    }
}
