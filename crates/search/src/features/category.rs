//! Feature: whether a document's category equals that of the query, or occurs in the query's words.

use std::sync::Arc;

use super::Feature;
use super::def::FeatureDef;
use super::fields::{FieldParams, field};
use super::statistics::CandidateStatistics;
use crate::document::Value;
use crate::error::SearchError;
use crate::index::{FieldValues, Index};
use crate::schema::FieldKind;
use crate::terms::Terms;

pub(super) static CATEGORY_MATCH: FeatureDef = FeatureDef {
    name: "category-match",
    help: "1 if the document's category is that of the query, or all words of the category are in the query; otherwise 0.",
    example: "category-match(field=genre)",
    field: Some(FieldKind::Category),
    ..FeatureDef::of::<FieldParams>(|index, spec| {
        let field = field(index, spec, FieldKind::Category)?;
        let categories = index.field_values(&field, FieldKind::Category)?;
        Ok(Box::new(CategoryMatch::new(index, field, categories)))
    })
};

/// The feature of a category field.
///
/// If the query has a field of the same name, a category matches if it equals the value of that
/// field. Otherwise a category matches if all of its terms are in the query.
struct CategoryMatch {
    field: String,
    categories: Arc<FieldValues>,
    /// The terms of each category.
    terms_of_category: Vec<Vec<String>>,
}

impl CategoryMatch {
    fn new(index: &Index, field: String, categories: Arc<FieldValues>) -> Self {
        let terms_of = |category: &str| -> Vec<String> {
            let terms = Terms::new(category, index.analysis());
            terms.distinct().map(str::to_owned).collect()
        };
        let terms_of_category = categories.texts().map(terms_of).collect();
        Self { field, categories, terms_of_category }
    }

    /// Whether each category matches the query.
    fn matches(&self, statistics: &CandidateStatistics<'_>) -> Vec<bool> {
        let query_field = statistics.query.fields.iter().find(|(name, _)| *name == self.field);
        let query_categories: Option<Vec<String>> = query_field.map(|(_, value)| match value {
            Value::Text(text) => vec![text.clone()],
            Value::Texts(texts) => texts.clone(),
            Value::Number(number) => vec![number.to_string()],
        });
        let in_query = |term: &String| statistics.terms.distinct().any(|known| known == term);
        let categories = self.categories.texts().zip(&self.terms_of_category);
        let matches = categories.map(|(category, terms)| match &query_categories {
            Some(names) => names.iter().any(|name| name == category),
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
            let categories = self.categories.of(doc);
            *value = f64::from(categories.iter().any(|&category| matches[category as usize]));
        }
        Ok(())
    }
}
