//! The layout of an index in tantivy: the mapping from our schema to tantivy's.
//!
//! Text fields are indexed with positions and not stored; their statistics are columns beside them
//! ([`Stat`]), with additional ones for all text fields together where there are several. The whole
//! document is one stored value. Text is analysed before it is passed to tantivy (see
//! [`crate::index::encode`]).

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema as TantivySchema,
    SchemaBuilder, TextFieldIndexing, TextOptions,
};

use crate::error::SearchError;
use crate::schema::{FieldKind, Schema};

/// The name under which the analysis of text fields is registered.
pub(crate) const ANALYZER: &str = "rankwright";
pub(crate) const ID: &str = "_id";
pub(crate) const SOURCE: &str = "_source";
/// Name of all text fields together.
pub(crate) const ALL: &str = "all";

/// A statistic of a text field of a document, kept as a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Stat {
    /// Number of terms.
    Length,
    /// Number of different terms.
    Distinct,
    /// Number of words, including removed ones.
    Words,
    /// The length of the vector of 1 + ln(tf).
    Norm,
    /// Entropy of the terms in bits.
    Entropy,
}

impl Stat {
    /// All statistics.
    pub(crate) const EACH: [Stat; 5] =
        [Stat::Length, Stat::Distinct, Stat::Words, Stat::Norm, Stat::Entropy];

    /// The column's name.
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

/// The stored numbers of an address.
pub(crate) const URL_STATS: [&str; 3] = ["depth", "length", "slashes"];

/// The column of a number of an address.
pub(crate) fn url_column(stat: &str, field: &str) -> String {
    format!("_url_{stat}_{field}")
}

/// A text field, or all of them together, with the columns of its statistics.
#[derive(Debug, Clone)]
pub(crate) struct TextSlot {
    /// Its name in tantivy; [`ALL`] for all together.
    pub(crate) name: String,
    /// The indexed fields: one, or all of them.
    pub(crate) fields: Vec<Field>,
}

/// A field that is not text.
#[derive(Debug, Clone)]
pub(crate) struct OtherSlot {
    /// The name that documents use.
    pub(crate) source: String,
    /// Its name in tantivy.
    pub(crate) name: String,
    /// Its kind.
    pub(crate) kind: FieldKind,
}

/// The fields of an index, in tantivy's terms.
#[derive(Debug, Clone)]
pub(crate) struct IndexLayout {
    pub(crate) schema: TantivySchema,
    pub(crate) id: Field,
    pub(crate) source: Field,
    /// Text fields in order, by the names that documents use.
    pub(crate) texts: Vec<(String, TextSlot)>,
    /// All text fields together; `None` if there is none.
    pub(crate) all: Option<TextSlot>,
    pub(crate) others: Vec<OtherSlot>,
}

impl IndexLayout {
    /// Lays out a schema.
    pub(crate) fn new(schema: &Schema) -> Result<IndexLayout, SearchError> {
        let mut builder = TantivySchema::builder();
        let id = builder.add_text_field(ID, STRING | FAST);
        let source = builder.add_bytes_field(SOURCE, STORED);
        let (mut texts, mut others) = (Vec::new(), Vec::new());
        let mut names: Vec<String> = vec![ALL.to_owned()];
        for field in &schema.fields {
            let name = ascii_name(&field.name);
            if names.contains(&name) {
                return Err(SearchError::FieldNameTaken { field: field.name.clone(), name });
            }
            names.push(name.clone());
            if field.kind == FieldKind::Text {
                let fields = vec![builder.add_text_field(&name, text_options())];
                add_stats(&mut builder, &name);
                texts.push((field.name.clone(), TextSlot { name, fields }));
            } else {
                add_other(&mut builder, &name, field.kind);
                let source = field.name.clone();
                others.push(OtherSlot { source, name, kind: field.kind });
            }
        }
        let all = match texts.as_slice() {
            [] => None,
            [(_, only)] => Some(only.clone()),
            several => {
                add_stats(&mut builder, ALL);
                let fields = several.iter().flat_map(|(_, slot)| slot.fields.clone());
                Some(TextSlot { name: ALL.to_owned(), fields: fields.collect() })
            }
        };
        Ok(IndexLayout { schema: builder.build(), id, source, texts, all, others })
    }

    /// The field of a column.
    pub(crate) fn column(&self, name: &str) -> Option<Field> {
        self.schema.get_field(name).ok()
    }

    /// Whether there is a field of this name, of any kind.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.texts.iter().any(|(known, _)| known == name)
            || self.others.iter().any(|slot| slot.source == name)
    }

    /// A field that is not text, by the name that documents use.
    pub(crate) fn other(&self, name: &str, kind: FieldKind) -> Option<&OtherSlot> {
        self.others.iter().find(|slot| slot.source == name && slot.kind == kind)
    }
}

fn text_options() -> TextOptions {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(ANALYZER)
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    TextOptions::default().set_indexing_options(indexing)
}

fn add_stats(builder: &mut SchemaBuilder, name: &str) {
    for stat in Stat::EACH {
        let column = stat.column(name);
        match stat {
            Stat::Norm | Stat::Entropy => builder.add_f64_field(&column, FAST),
            _ => builder.add_u64_field(&column, FAST),
        };
    }
}

fn add_other(builder: &mut SchemaBuilder, name: &str, kind: FieldKind) {
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

/// The name with only ASCII letters, digits, `_` and `-`; tantivy gives other characters a meaning.
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
    fn all_is_the_only_text_field_or_several_together() {
        let one = IndexLayout::new(&Schema::parse("text:text").unwrap()).unwrap();
        assert_eq!(one.all.unwrap().name, "text");
        let two = IndexLayout::new(&Schema::parse("title:text, text:text").unwrap()).unwrap();
        assert_eq!(two.all.unwrap().fields.len(), 2);
        assert!(IndexLayout::new(&Schema::default()).unwrap().all.is_none());
    }
}
