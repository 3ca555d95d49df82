//! Numbers of categories. A feature that is a category has the number of its text in a list, and
//! the lists of a model and of a data set may differ: data that is scored gets the model's numbers.
//!
//! Numbers without texts are refused where the model knows texts, however the features are matched,
//! since nothing says which texts they mean; so are texts where the model knows none. A missing
//! value needs no text. Cost: one pass over the features if either side has categories, and one
//! pass over the values if lists differ.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use rankwright_data::{Dataset, FeatureNames, TableColumns, UnseenCategories};

use crate::error::ModelError;
use crate::header::Header;
use crate::matching::{MatchOptions, Matching};
use crate::model::Model;

/// A feature that is a category in a model or in data.
struct MatchedCategory<'a> {
    /// The feature, by its number in the model.
    feature: usize,
    /// Its column in the data.
    column: usize,
    /// The texts that the model knows, by their numbers; `None` if it was trained on numbers.
    model_texts: Option<&'a Arc<[String]>>,
    /// The texts of the data, by their numbers; `None` if the data has numbers alone.
    data_texts: Option<&'a Arc<[String]>>,
}

/// The lists of categories by the numbers of their features.
fn lists<'a>(
    columns: Option<&'a TableColumns>,
    features: &FeatureNames,
) -> HashMap<usize, &'a Arc<[String]>> {
    let all = columns.into_iter().flat_map(TableColumns::all_categories);
    all.filter_map(|(name, texts)| Some((features.column(name)?, texts))).collect()
}

/// The features that are categories in a model, in data, or in both.
fn matched_categories<'a>(
    header: &'a Header,
    data: &'a Dataset,
    matching: &Matching,
) -> Vec<MatchedCategory<'a>> {
    let of_model = lists(header.table_columns.as_deref(), &header.features);
    let of_data = lists(data.table_columns().map(|columns| &**columns), data.features());
    if of_model.is_empty() && of_data.is_empty() {
        return Vec::new();
    }
    let category = |feature: usize| {
        let column = matching.column(feature)?;
        let (model_texts, data_texts) =
            (of_model.get(&feature).copied(), of_data.get(&column).copied());
        let is_category = model_texts.is_some() || data_texts.is_some();
        is_category.then_some(MatchedCategory { feature, column, model_texts, data_texts })
    };
    (0..header.features.len()).filter_map(category).collect()
}

/// Whether a column has a value that is not missing.
fn has_values(data: &Dataset, column: usize) -> bool {
    (0..data.rows()).any(|row| !data.matrix().get(row, column).is_nan())
}

impl Header {
    /// An error if a feature has other category numbers in this header than in the data, or is a
    /// category on one side and a number on the other.
    pub fn check_categories(&self, data: &Dataset, matching: &Matching) -> Result<(), ModelError> {
        for category in matched_categories(self, data, matching) {
            let feature = self.features.name(category.feature).into_owned();
            match (category.model_texts, category.data_texts) {
                (Some(_), None) if has_values(data, category.column) => {
                    return Err(ModelError::CategoriesWithoutTexts { feature });
                }
                (model, Some(data)) if model != Some(data) => {
                    return Err(ModelError::OtherCategories { feature });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Model {
    /// The values of the data whose texts are none of the model's categories, so that scores take
    /// them as missing. Data that was read with the table columns of the model has no such values:
    /// its reader has taken them as missing and warned of them
    /// ([`WarningKind::UnseenCategories`](rankwright_data::WarningKind)).
    pub fn unseen_categories(&self, data: &Dataset, matching: &Matching) -> Vec<UnseenCategories> {
        let categories = matched_categories(self.header(), data, matching);
        let unseen = |category: MatchedCategory<'_>| {
            data.values_not_in(category.column, category.model_texts?)
        };
        categories.into_iter().filter_map(unseen).collect()
    }

    /// An error if texts of a feature have other category numbers in the model than in the data, or
    /// if the feature is a category on one side and a number on the other.
    pub fn check_categories(&self, data: &Dataset, matching: &Matching) -> Result<(), ModelError> {
        self.header().check_categories(data, matching)
    }

    /// The data with the category numbers of the model, and its columns that hold the model's
    /// features. The data must treat absent values as the model does, if that makes a difference to
    /// the model. It is an error if a feature that scores depend on has texts on one side only.
    pub(crate) fn prepared<'a>(
        &self,
        data: &'a Dataset,
        options: MatchOptions,
    ) -> Result<(Cow<'a, Dataset>, Matching), ModelError> {
        let (model_absent, data_absent) = (self.header().absent, data.absent());
        // For a linear model an absent value counts as 0 in either case.
        if model_absent != data_absent && self.distinguishes_missing() {
            let (model, data) = (model_absent.name(), data_absent.name());
            return Err(ModelError::Absent { model, data });
        }
        let matching = Matching::new(self.header(), data.features(), options)?;
        let categories = matched_categories(self.header(), data, &matching);
        if categories.is_empty() {
            return Ok((Cow::Borrowed(data), matching));
        }
        let used = self.used_features();
        let mut changed = Vec::new();
        for category in categories {
            let feature = || self.header().features.name(category.feature).into_owned();
            let is_used = used.contains(&category.feature);
            match (category.model_texts, category.data_texts) {
                (Some(model), Some(data)) if model != data => {
                    changed.push((category.column, model.clone()));
                }
                (None, Some(_)) if is_used => {
                    return Err(ModelError::UnknownCategories { feature: feature() });
                }
                (Some(_), None) if is_used && has_values(data, category.column) => {
                    return Err(ModelError::CategoriesWithoutTexts { feature: feature() });
                }
                _ => {}
            }
        }
        Ok(match changed.is_empty() {
            true => (Cow::Borrowed(data), matching),
            false => (Cow::Owned(data.clone().with_category_lists(&changed)), matching),
        })
    }
}
