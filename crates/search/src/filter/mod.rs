//! Filters: the documents that a ranking may contain, given by conditions on their fields.
//!
//! `genre:rock AND year>=1990`, `-language:en`, `title:"blue train"`, `tags:(red, green)`,
//! `date:[2024-01 TO 2024-06}`. `parse.rs` has the grammar, `condition.rs` the meaning of a
//! condition for each kind of field. Scores do not depend on the filter. Cost of each condition:
//! one pass over the documents, or over the postings of its terms.

mod condition;
mod error;
mod expression;
mod hint;
mod parse;

pub use error::{ConditionOrigin, FilterError, FilterProblem};
pub use expression::FilterExpression;
pub(crate) use expression::{QueryCondition, QueryTest};
pub use hint::FilterHint;
pub(crate) use parse::closing_quotes;

use tantivy::Term;
use tantivy::collector::DocSetCollector;
use tantivy::query::{PhraseQuery, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};

use crate::error::{IndexObject, SearchError};
use crate::index::{Index, IndexId, Stat};
use condition::{Condition, ResolvedFilter, contains};

/// The documents of an index that pass a filter expression. It can be used only with this index.
#[derive(Debug, Clone)]
pub struct Filter {
    /// Whether each document passes, by document number.
    passes: Vec<bool>,
    /// Number of documents that pass.
    documents: usize,
    index: IndexId,
    hints: Vec<FilterHint>,
}

impl Filter {
    /// Finds the documents that pass a filter expression.
    pub fn new(index: &Index, text: &str) -> Result<Filter, SearchError> {
        Self::of_expression(index, &FilterExpression::parse(text)?)
    }

    /// Finds the documents that pass a parsed filter expression.
    pub fn of_expression(
        index: &Index,
        expression: &FilterExpression,
    ) -> Result<Filter, SearchError> {
        let filter = expression.resolve(index)?;
        let passes = filter_mask(index, &filter)?;
        let documents = passes.iter().filter(|&&passes| passes).count();
        let hints = hint::hints(index, expression, &filter, documents > 0)?;
        Ok(Filter { passes, documents, index: index.index_id(), hints })
    }

    /// The documents that pass both filters.
    pub fn and(mut self, other: &Filter) -> Result<Filter, SearchError> {
        if self.index != other.index {
            return Err(SearchError::OtherIndex { object: IndexObject::Filter });
        }
        self.passes.iter_mut().zip(&other.passes).for_each(|(passes, also)| *passes &= also);
        self.documents = self.passes.iter().filter(|&&passes| passes).count();
        self.hints.extend(other.hints.iter().cloned());
        Ok(self)
    }

    /// Possible mistakes in the expression.
    pub fn hints(&self) -> &[FilterHint] {
        &self.hints
    }

    /// Number of documents that pass.
    pub fn documents(&self) -> usize {
        self.documents
    }

    /// The index that the filter was made for.
    pub(crate) fn index(&self) -> IndexId {
        self.index
    }

    /// Whether a document passes.
    pub(crate) fn passes(&self, doc: u32) -> bool {
        self.passes[doc as usize]
    }
}

impl Index {
    /// The ids of the documents that pass a filter, ascending.
    pub fn filtered_ids(&self, filter: &Filter) -> Result<Vec<&str>, SearchError> {
        self.check_filter(filter.index)?;
        let ids = self.ids()?;
        Ok(ids
            .sorted()
            .iter()
            .filter(|&&doc| filter.passes(doc))
            .map(|&doc| ids.get(doc))
            .collect())
    }
}

/// Whether each document passes; deleted documents never do.
fn filter_mask(index: &Index, filter: &ResolvedFilter) -> Result<Vec<bool>, SearchError> {
    match filter {
        ResolvedFilter::Everything => Ok(not_deleted(index)),
        ResolvedFilter::Condition(condition) => condition_mask(index, condition),
        ResolvedFilter::Not(filter) => {
            let mut passes = not_deleted(index);
            let excluded = filter_mask(index, filter)?;
            passes.iter_mut().zip(excluded).for_each(|(passes, excluded)| *passes &= !excluded);
            Ok(passes)
        }
        ResolvedFilter::All(filters) => {
            let mut passes = not_deleted(index);
            for filter in filters {
                let also = filter_mask(index, filter)?;
                passes.iter_mut().zip(also).for_each(|(passes, also)| *passes &= also);
            }
            Ok(passes)
        }
        ResolvedFilter::Any(filters) => {
            let mut passes = vec![false; index.max_doc()];
            for filter in filters {
                let also = filter_mask(index, filter)?;
                passes.iter_mut().zip(also).for_each(|(passes, also)| *passes |= also);
            }
            Ok(passes)
        }
    }
}

/// Whether each document is not deleted.
fn not_deleted(index: &Index) -> Vec<bool> {
    (0..index.max_doc() as u32).map(|doc| index.is_alive(doc)).collect()
}

/// Whether each document fulfils a condition; deleted documents never do.
fn condition_mask(index: &Index, condition: &Condition) -> Result<Vec<bool>, SearchError> {
    let by_document = |passes: &dyn Fn(u32) -> bool| -> Vec<bool> {
        (0..index.max_doc() as u32).map(|doc| index.is_alive(doc) && passes(doc)).collect()
    };
    match condition {
        Condition::Phrase { field, terms } => phrase_mask(index, field.as_deref(), terms),
        Condition::HasText { field } => {
            let lengths = index.stat(index.text_field(field)?, Stat::Length)?;
            Ok(by_document(&|doc| lengths[doc as usize] > 0.0))
        }
        Condition::Interval { field, kind, interval } => {
            let values = index.values(field, *kind)?;
            Ok(by_document(&|doc| contains(interval, values[doc as usize])))
        }
        Condition::FieldValue { field, kind, test } => {
            let values = index.field_values(field, *kind)?;
            let value_passes: Vec<bool> = values.texts().map(|text| test.passes(text)).collect();
            let passes = |doc| values.of(doc).iter().any(|&value| value_passes[value as usize]);
            Ok(by_document(&passes))
        }
        Condition::Id(test) => {
            let ids = index.ids()?;
            Ok(by_document(&|doc| test.passes(ids.get(doc))))
        }
    }
}

/// Whether each document has a phrase in the named text field, or in any; each term has its
/// position in the phrase.
fn phrase_mask(
    index: &Index,
    field: Option<&str>,
    terms: &[(String, usize)],
) -> Result<Vec<bool>, SearchError> {
    let mut passes = vec![false; index.max_doc()];
    for field in index.text_fields_named(field) {
        let found = index.catch_damage(|| {
            let found = index.searcher().search(&*phrase_query(field, terms), &DocSetCollector);
            found.map_err(|error| index.tantivy_error(&error))
        })?;
        for address in found {
            passes[index.doc_number(address) as usize] = true;
        }
    }
    Ok(passes)
}

/// Tantivy's query for a phrase; each term has its position in the phrase.
fn phrase_query(field: Field, terms: &[(String, usize)]) -> Box<dyn Query> {
    match terms {
        [(term, _)] => {
            let term = Term::from_field_text(field, term);
            Box::new(TermQuery::new(term, IndexRecordOption::Basic))
        }
        _ => {
            let first = terms.first().map_or(0, |(_, position)| *position);
            let with_offsets = terms
                .iter()
                .map(|(term, position)| (position - first, Term::from_field_text(field, term)));
            Box::new(PhraseQuery::new_with_offset(with_offsets.collect()))
        }
    }
}
