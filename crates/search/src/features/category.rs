//! Features of categories: whether a document's category equals that of the query or occurs in the
//! query's words, and one column for each category (one-hot).

use std::sync::Arc;

use rankwright_spec::{Auto, Spec, SpecError, params};

use super::Feature;
use super::column::DocumentColumn;
use super::def::FeatureDef;
use super::fields::{FieldParams, field, field_or_only};
use super::statistics::CandidateStatistics;
use crate::document::Value;
use crate::error::SearchError;
use crate::index::{FieldValues, Index};
use crate::params::read_params;
use crate::schema::FieldKind;
use crate::terms::Terms;

params! {
    /// Parameters of the feature `category`.
    pub struct CategoryParams {
        field: Auto<String> = Auto::Auto, .., "Category field; auto: the only one.";
        class: String = String::new(), .., "Class: a value of the field; *: a column for each.";
    }
}

pub(super) static CATEGORY: FeatureDef = FeatureDef {
    name: "category",
    help: "1 if the document has this category, otherwise 0.",
    example: "category(field=genre, class=jazz)",
    field: Some(FieldKind::Category),
    is_default: false,
    ..FeatureDef::of::<CategoryParams>(|index, spec| {
        let CategoryParams { field, class } = read_params(spec)?;
        let values = class_values(index, spec, &field, &class)?;
        let has = |doc| values.of(doc).iter().any(|&value| values.text(value) == class);
        let column = (0..index.max_doc() as u32).map(|doc| f64::from(has(doc)));
        Ok(Box::new(DocumentColumn(Arc::new(column.collect()))))
    })
};

/// The values of a category field, one of which must be `class`.
fn class_values(
    index: &Index,
    spec: &Spec,
    field: &Auto<String>,
    class: &str,
) -> Result<Arc<FieldValues>, SearchError> {
    let field = field_or_only(index, spec, field, FieldKind::Category)?;
    let values = index.field_values(&field, FieldKind::Category)?;
    if values.texts().any(|value| value == class) {
        return Ok(values);
    }
    let (name, key, value) = (spec.name.clone(), "class".to_owned(), class.to_owned());
    let expected = format!("a value of the field `{field}`, or * for each value");
    Err(SpecError::BadValue { name, key, value, expected }.into())
}

/// The classes of the category field that a spec names, in alphabetical order.
pub(super) fn class_names(index: &Index, spec: &Spec) -> Result<Vec<String>, SearchError> {
    let named = spec.get("field").map_or(Auto::Auto, |field| Auto::Given(field.to_owned()));
    let field = field_or_only(index, spec, &named, FieldKind::Category)?;
    let values = index.field_values(&field, FieldKind::Category)?;
    let names = values.texts().map(str::to_owned);
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    Ok(names)
}

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
