//! The layout of an index in tantivy: the mapping from our schema to tantivy's.
//!
//! Text fields are indexed with positions and not stored. Their statistics ([`Stat`]) are columns:
//! for each text field, and for all text fields together if there are several. The whole document
//! is one stored value. Text is analysed before it is passed to tantivy (see
//! [`crate::index::encode`]).

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema as TantivySchema,
    SchemaBuilder, TextFieldIndexing, TextOptions,
};

use crate::error::SearchError;
use crate::schema::{FieldKind, Schema};

/// The name of the tokenizer of text fields in tantivy.
pub(crate) const ANALYZER: &str = "rankwright";
/// The tantivy field of the document's id.
pub(crate) const ID: &str = "_id";
/// The tantivy field of the whole document as JSON.
const SOURCE: &str = "_source";
/// Name of all text fields together, in specs and columns.
pub(crate) const ALL_TEXT: &str = "all";

/// A statistic of a text field of a document, kept as a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Stat {
    /// Number of terms.
    Length,
    /// Number of different terms.
    Distinct,
    /// Number of words, including removed ones.
    Words,
    /// The Euclidean length of the vector of 1 + ln(tf) over the different terms.
    Norm,
    /// Entropy of the terms in bits.
    Entropy,
}

impl Stat {
    /// All statistics.
    pub(crate) const ALL: [Stat; 5] =
        [Stat::Length, Stat::Distinct, Stat::Words, Stat::Norm, Stat::Entropy];

    /// The name of the column with this statistic of a field.
    pub(crate) fn column(self, field: &str) -> String {
        let stat = match self {
            Stat::Length => "length",
            Stat::Distinct => "distinct",
            Stat::Words => "words",
            Stat::Norm => "norm",
            Stat::Entropy => "entropy",
        };
        format!("_{stat}_{field}")
    }
}

/// The numbers that are computed from a web address; each is a column.
pub(crate) const URL_STATS: [&str; 3] = ["depth", "length", "slashes"];

/// The name of the column with one of [`URL_STATS`].
pub(crate) fn url_column(stat: &str, field: &str) -> String {
    format!("_url_{stat}_{field}")
}

/// A text field, or all of them together, in tantivy.
#[derive(Debug, Clone)]
pub(crate) struct TextLayout {
    /// Its name in tantivy, also in the names of its columns; [`ALL_TEXT`] for several together.
    pub(crate) name: String,
    /// The fields of tantivy that index its text: one, or all of them.
    pub(crate) fields: Vec<Field>,
}

/// A field that is not text, in tantivy.
#[derive(Debug, Clone)]
pub(crate) struct NonTextLayout {
    /// The name that documents use.
    pub(crate) source: String,
    /// Its name in tantivy.
    pub(crate) name: String,
    /// Its kind.
    pub(crate) kind: FieldKind,
}

/// The fields of an index, and their fields and columns in tantivy.
#[derive(Debug, Clone)]
pub(crate) struct IndexLayout {
    pub(crate) schema: TantivySchema,
    /// The field of the document's id.
    pub(crate) id: Field,
    /// The field of the whole document as JSON.
    pub(crate) source: Field,
    /// Text fields in order, by the names that documents use.
    pub(crate) texts: Vec<(String, TextLayout)>,
    /// All text fields together, or the only one; `None` if there is no text field.
    pub(crate) all: Option<TextLayout>,
    /// Fields that are not text.
    pub(crate) non_text: Vec<NonTextLayout>,
}

impl IndexLayout {
    /// The layout of a schema.
    pub(crate) fn new(schema: &Schema) -> Result<IndexLayout, SearchError> {
        let mut builder = TantivySchema::builder();
        let id = builder.add_text_field(ID, STRING | FAST);
        let source = builder.add_bytes_field(SOURCE, STORED);
        let (mut texts, mut non_text) = (Vec::new(), Vec::new());
        let mut names: Vec<String> = Vec::new();
        for field in &schema.fields {
            let name = ascii_name(&field.name);
            if name == ALL_TEXT {
                return Err(SearchError::FieldNameReserved { field: field.name.clone() });
            }
            if names.contains(&name) {
                return Err(SearchError::FieldNameTaken { field: field.name.clone(), name });
            }
            names.push(name.clone());
            if field.kind == FieldKind::Text {
                let fields = vec![builder.add_text_field(&name, text_options())];
                add_stats(&mut builder, &name);
                texts.push((field.name.clone(), TextLayout { name, fields }));
            } else {
                add_non_text(&mut builder, &name, field.kind);
                let source = field.name.clone();
                non_text.push(NonTextLayout { source, name, kind: field.kind });
            }
        }
        let all = match texts.as_slice() {
            [] => None,
            [(_, only)] => Some(only.clone()),
            several => {
                add_stats(&mut builder, ALL_TEXT);
                let fields = several.iter().flat_map(|(_, text)| text.fields.clone());
                Some(TextLayout { name: ALL_TEXT.to_owned(), fields: fields.collect() })
            }
        };
        Ok(IndexLayout { schema: builder.build(), id, source, texts, all, non_text })
    }

    /// The field of tantivy for a column, by the name of the column.
    pub(crate) fn column(&self, name: &str) -> Result<Field, SearchError> {
        let invariant = "the layout of an index has a column for each of its numbers";
        self.schema.get_field(name).map_err(|_| SearchError::Internal { invariant })
    }

    /// Whether there is a field of any kind with this name, as documents use it.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.texts.iter().any(|(known, _)| known == name)
            || self.non_text.iter().any(|field| field.source == name)
    }

    /// A field that is not text, by the name that documents use, if it has this kind.
    pub(crate) fn non_text_field(&self, name: &str, kind: FieldKind) -> Option<&NonTextLayout> {
        self.non_text.iter().find(|field| field.source == name && field.kind == kind)
    }
}

/// Indexing with frequencies and positions.
fn text_options() -> TextOptions {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(ANALYZER)
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    TextOptions::default().set_indexing_options(indexing)
}

/// Adds the columns of the statistics of a text field.
fn add_stats(builder: &mut SchemaBuilder, name: &str) {
    for stat in Stat::ALL {
        let column = stat.column(name);
        match stat {
            Stat::Norm | Stat::Entropy => builder.add_f64_field(&column, FAST),
            _ => builder.add_u64_field(&column, FAST),
        };
    }
}

/// Adds the field and columns of a field that is not text.
fn add_non_text(builder: &mut SchemaBuilder, name: &str, kind: FieldKind) {
    match kind {
        FieldKind::Number => drop(builder.add_f64_field(name, FAST | INDEXED)),
        FieldKind::Date => drop(builder.add_date_field(name, FAST | INDEXED)),
        FieldKind::Category => drop(builder.add_text_field(name, STRING | FAST)),
        FieldKind::Links => drop(builder.add_text_field(name, FAST)),
        FieldKind::Url => {
            builder.add_text_field(name, FAST);
            for stat in URL_STATS {
                builder.add_u64_field(&url_column(stat, name), FAST);
            }
        }
        FieldKind::Text | FieldKind::Stored => {}
    }
}

/// The name with only ASCII letters, digits, `_` and `-`, as other characters (such as the dot)
/// have a meaning in names of tantivy. `_` and `-` at the beginning are removed: names of our own
/// columns begin with `_`.
fn ascii_name(name: &str) -> String {
    let allowed_or_underscore =
        |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().map(allowed_or_underscore).collect();
    let name = name.trim_start_matches(['_', '-']);
    if name.is_empty() { "field".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_tantivy_would_read_as_paths_are_replaced() {
        assert_eq!(ascii_name("metadata.url"), "metadata_url");
        assert_eq!(ascii_name("_private"), "private");
        assert_eq!(ascii_name("été"), "t_");
    }

    #[test]
    fn two_fields_of_one_ascii_name_are_refused() {
        let schema = Schema::parse("a.b:text, a_b:text").unwrap();
        assert!(
            IndexLayout::new(&schema)
                .unwrap_err()
                .to_string()
                .contains("`a_b` in the index, which another field has")
        );
    }

    #[test]
    fn a_field_called_all_is_refused() {
        for schema in ["all:text", "title:text, _all:number"] {
            let error = IndexLayout::new(&Schema::parse(schema).unwrap()).unwrap_err();
            assert_eq!(error.kind(), "field-name-reserved", "{schema}");
            assert!(error.to_string().ends_with("which stands for all text fields together"));
            assert!(!error.help().unwrap().contains("two fields"), "{schema}");
        }
    }

    #[test]
    fn all_is_the_only_text_field_or_several_together() {
        let one = IndexLayout::new(&Schema::parse("text:text").unwrap()).unwrap();
        assert_eq!(one.all.unwrap().name, "text");
        let two = IndexLayout::new(&Schema::parse("title:text, text:text").unwrap()).unwrap();
        assert_eq!(two.all.unwrap().fields.len(), 2);
        assert!(IndexLayout::new(&Schema::default()).unwrap().all.is_none());
    }
}
