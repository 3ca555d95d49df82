//! Roles of the columns of a table: guessed from their names, or given by the caller.
//!
//! A guess by name uses the name in lower case, with `-` and spaces replaced by `_`. An ambiguity
//! is an error that says how to choose: two columns whose names mean the same role, or a column
//! whose name means the label although another column was given as label. Otherwise a label could
//! be read as a feature, which would make every model look perfect. Guesses that need the values of
//! a column are in `table/guess.rs`.

use std::collections::HashSet;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use rankwright_spec::json_by_text;

use crate::dataset::is_label_column;
use crate::error::{ColumnProblem, DataError};
use crate::table_columns::TimePart;

/// The use of a column. Serialised as its [`name`](Self::name).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The query id.
    Query,
    /// The graded label.
    Label,
    /// The document id.
    Docid,
    /// A further column of labels, for learners of several goals.
    ExtraLabel,
    /// The weight of the row.
    Weight,
    /// The weight of the query, the same in all of its rows.
    QueryWeight,
    /// The position at which the row was shown to a user, from 1.
    Position,
    /// A feature. If any column is given this role, all columns without a role are left out.
    Feature,
    /// Left out.
    Ignore,
    /// A feature whose values are numbers.
    Number,
    /// A feature whose values are categories.
    Category,
    /// Three features from a point in time: days since 1970, hour and day of the week.
    Time,
    /// A feature from a point in time: days since 1970.
    Days,
    /// A feature from a point in time: the hour.
    Hour,
    /// A feature from a point in time: the day of the week.
    Weekday,
}

/// The declaration of a role.
struct RoleDef {
    role: Role,
    /// The name in options and messages.
    name: &'static str,
    /// Names of columns that mean the role by default.
    column_names: &'static [&'static str],
}

const fn role_def(
    role: Role,
    name: &'static str,
    column_names: &'static [&'static str],
) -> RoleDef {
    RoleDef { role, name, column_names }
}

/// Every role, in the order of the enum.
const ROLES: &[RoleDef] = &[
    role_def(Role::Query, "qid", &["qid", "q_id", "query_id", "queryid", "query", "q"]),
    role_def(Role::Label, "label", &["label", "relevance", "rel", "grade", "target", "y"]),
    role_def(
        Role::Docid,
        "docid",
        &["docid", "doc_id", "document_id", "documentid", "did", "docno", "corpus_id"],
    ),
    role_def(Role::ExtraLabel, "extra_label", &[]),
    role_def(Role::Weight, "weight", &["weight", "row_weight", "sample_weight"]),
    role_def(Role::QueryWeight, "query_weight", &["query_weight", "group_weight"]),
    role_def(Role::Position, "position", &["position", "pos"]),
    role_def(Role::Feature, "feature", &[]),
    role_def(Role::Ignore, "ignore", &[]),
    role_def(Role::Number, "number", &[]),
    role_def(Role::Category, "category", &[]),
    role_def(Role::Time, "time", &[]),
    role_def(Role::Days, "days", &[]),
    role_def(Role::Hour, "hour", &[]),
    role_def(Role::Weekday, "weekday", &[]),
];

// `Role::name` uses a role as index into the table, so the order must be that of the enum.
#[allow(clippy::indexing_slicing)]
const _: () = {
    let mut index = 0;
    while index < ROLES.len() {
        assert!(ROLES[index].role as usize == index);
        index += 1;
    }
};

/// Names that mean the label if no column has a name of `Role::Label` in [`ROLES`], and exactly one
/// column with a name of this list has values like grades (see `table/guess.rs`).
pub(super) const FALLBACK_LABEL_NAMES: &[&str] = &[
    "rating",
    "ratings",
    "score",
    "judgment",
    "judgement",
    "relevance_label",
    "relevance_score",
    "relevance_grade",
];

/// Names of columns that may be the label. Such a column is only suggested in the error message if
/// no label is found.
pub(super) const POSSIBLE_LABEL_NAMES: &[&str] = &[
    "clicks",
    "click",
    "clicked",
    "stars",
    "gain",
    "purchases",
    "purchased",
    "bought",
    "booked",
    "booking",
    "conversions",
    "converted",
    "orders",
];

/// Names that mean the query if no column has a name of `Role::Query` in [`ROLES`], and exactly one
/// column with a name of this list has values that repeat (see `table/guess.rs`).
pub(super) const FALLBACK_QUERY_NAMES: &[&str] = &[
    "session_id",
    "session",
    "search_id",
    "srch_id",
    "query_text",
    "query_string",
    "search_term",
    "search_query",
    "keyword",
    "keywords",
    "request_id",
    "topic_id",
    "topic",
    "group_id",
    "group",
    "list_id",
];

/// Names that mean an id, besides those that end in `_id`.
const ID_NAMES: &[&str] = &[
    "id", "doc", "document", "item", "product", "sku", "asin", "isbn", "uuid", "guid", "url", "uri",
];

/// Names of ids whose values are often just row numbers.
pub(super) const ROW_NUMBER_NAMES: &[&str] = &["id", "row_id", "record_id", "line_id"];

/// A column name as it is compared with known names: lower case, with `_` for `-` and spaces.
pub(super) fn normalised_name(column: &str) -> String {
    column.trim().to_lowercase().replace(['-', ' '], "_")
}

/// Whether a name means an id: `id`, `product_id`, `productId`, `sku`.
pub(super) fn is_id_name(name: &str) -> bool {
    let normalised = normalised_name(name);
    let bytes = name.trim().as_bytes();
    let is_camel = matches!(
        bytes,
        [.., before, b'I', b'd' | b'D'] if before.is_ascii_lowercase()
    );
    ID_NAMES.contains(&normalised.as_str()) || normalised.ends_with("_id") || is_camel
}

/// Whether a name is one that pandas gives to the row numbers of a data frame.
pub(super) fn is_data_frame_index(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let level = |name: &str| name.strip_prefix("__index_level_")?.strip_suffix("__").map(is_number);
    let unnamed = |name: &str| name.strip_prefix("Unnamed: ").map(is_number);
    level(name.trim()).or_else(|| unnamed(name.trim())).unwrap_or(false)
}

/// Whether a name means a number that identifies something: `item_no`, `articleNumber`.
pub(super) fn is_item_number_name(name: &str) -> bool {
    let normalised = normalised_name(name);
    let is_camel = ["No", "Nr", "Number"].iter().any(|end| {
        name.trim().strip_suffix(end).is_some_and(|rest| rest.ends_with(|c: char| c.is_lowercase()))
    });
    is_camel || ["_no", "_nr", "_number"].iter().any(|end| normalised.ends_with(end))
}

/// Whether a name means a query id, by itself or if no other column has that role.
pub(crate) fn is_query_name(name: &str) -> bool {
    Role::guess(name) == Some(Role::Query)
        || FALLBACK_QUERY_NAMES.contains(&normalised_name(name).as_str())
}

/// Whether a name alone does not decide the role: the column may be an id, a label or a query, and
/// its values decide.
pub(crate) fn has_undecided_role(name: &str) -> bool {
    let normalised = normalised_name(name);
    let lists = [FALLBACK_LABEL_NAMES, POSSIBLE_LABEL_NAMES, FALLBACK_QUERY_NAMES];
    is_id_name(name) || lists.iter().any(|list| list.contains(&normalised.as_str()))
}

impl Role {
    /// The name used in options and messages.
    #[allow(clippy::indexing_slicing)] // The constant above checks the order at compile time.
    pub fn name(self) -> &'static str {
        ROLES[self as usize].name
    }

    /// The role with this name, or an error that lists the names.
    pub fn from_name(name: &str) -> Result<Role, DataError> {
        ROLES.iter().find(|def| def.name == name).map(|def| def.role).ok_or_else(|| {
            let known: Vec<&str> = ROLES.iter().map(|def| def.name).collect();
            let (what, name) = ("column role", name.to_owned());
            DataError::UnknownName { what, name, known: known.join(", ") }
        })
    }

    /// The role that a column name means by default; features have none.
    pub fn guess(column: &str) -> Option<Role> {
        if is_label_column(column) {
            return Some(Role::ExtraLabel);
        }
        let normalised = normalised_name(column);
        let has_column_name = |def: &&RoleDef| def.column_names.contains(&normalised.as_str());
        ROLES.iter().find(has_column_name).map(|def| def.role)
    }

    /// Whether several columns may have this role.
    pub(super) fn is_shared(self) -> bool {
        matches!(self, Role::Feature | Role::Ignore | Role::ExtraLabel) || self.is_encoding()
    }

    /// Whether this role says how the values of a feature become numbers.
    pub(crate) fn is_encoding(self) -> bool {
        matches!(self, Role::Number | Role::Category | Role::Time) || self.time_part().is_some()
    }

    /// The part of a point in time that this role makes a feature.
    pub(super) fn time_part(self) -> Option<TimePart> {
        match self {
            Role::Days => Some(TimePart::Days),
            Role::Hour => Some(TimePart::Hour),
            Role::Weekday => Some(TimePart::Weekday),
            _ => None,
        }
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Role {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Role::from_name(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

/// The word for "no column" in `label=none` and `qid=none`.
pub(super) const NONE: &str = "none";

/// The word for a column that is still to be chosen.
const PLACEHOLDER: &str = "?";

/// Roles that are given instead of guessed. Whitespace around the name of a column does not count.
///
/// ```
/// use rankwright_data::format::{Role, Roles};
/// let roles = Roles::parse("qid=session, label=clicks, ignore=url+title")?;
/// assert_eq!(roles.role("title"), Some(Role::Ignore));
/// assert_eq!(roles.to_string(), "qid=session,label=clicks,ignore=url+title");
/// assert!(Roles::parse("lable=clicks").is_err());
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roles {
    given: Vec<(Role, String)>,
}

json_by_text!(Roles, Roles::to_string, Roles::parse);

impl Roles {
    /// Reads `role=column, role=column, ...`; `feature`, `ignore`, `extra_label` and the encodings of
    /// features take several columns, joined by `+`. `label=none` means that there are no labels
    /// ([`Dataset::is_labelled`](crate::Dataset::is_labelled)), `qid=none` that all rows are one
    /// query. A name that contains `,`, `+` or `=` is written in double quotes; a double quote in
    /// it is doubled.
    pub fn parse(text: &str) -> Result<Roles, DataError> {
        let mut roles = Roles::default();
        for (role, columns) in role_entries(text)? {
            let role = Role::from_name(role)?;
            columns.iter().try_for_each(|column| roles.set(role, column))?;
        }
        Ok(roles)
    }

    /// The given roles of columns, as far as they do not contradict each other.
    pub(crate) fn of<N: AsRef<str>>(entries: impl IntoIterator<Item = (Role, N)>) -> Roles {
        let mut roles = Roles::default();
        entries.into_iter().for_each(|(role, column)| roles.set_if_free(role, column.as_ref()));
        roles
    }

    /// Sets the role of one column.
    pub fn set(&mut self, role: Role, column: &str) -> Result<(), DataError> {
        let (name, column) = (role.name(), column.trim());
        if column.is_empty() {
            return Err(DataError::RoleWithoutColumn { role: name });
        }
        let column = column.to_owned();
        let mut of_column = self.given.iter().filter(|(_, name)| *name == column);
        // A column may have several roles only if they are different parts of a point in time.
        let other = of_column
            .find(|(other, _)| *other == role || other.time_part().and(role.time_part()).is_none());
        if let Some((other, _)) = other {
            // `none` and `?` are no columns, so `qid=none, label=none` is allowed.
            if ![NONE, PLACEHOLDER].contains(&column.as_str()) {
                return Err(DataError::TwoRoles { column, first: other.name(), second: name });
            }
        }
        if let Some(first) = self.columns(role).next().filter(|_| !role.is_shared()) {
            let first = first.to_owned();
            return Err(DataError::TwoColumns { role: name, first, second: column });
        }
        self.given.push((role, column));
        Ok(())
    }

    /// Sets the role of a column, unless the column has a role already, or another column has this
    /// role and only one may have it.
    pub(crate) fn set_if_free(&mut self, role: Role, column: &str) {
        let column = column.trim();
        let is_known = self.role(column).is_some() && ![NONE, PLACEHOLDER].contains(&column);
        let is_taken = !role.is_shared() && self.columns(role).next().is_some();
        if !is_known && !is_taken {
            self.given.push((role, column.to_owned()));
        }
    }

    /// Removes the roles of a column.
    pub(crate) fn remove(&mut self, column: &str) {
        let column = column.trim();
        self.given.retain(|(_, name)| name != column);
    }

    /// Gives a role to a column, instead of the column that has it and of the role that this column
    /// has.
    pub(super) fn replace(&mut self, role: Role, column: &str) {
        let column = column.trim();
        self.given.retain(|(other, name)| *other != role && (name != column || column == NONE));
        self.given.push((role, column.to_owned()));
    }

    /// Whether no role is given.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// The role that was given to a column; the first, if it was given several parts of a time.
    pub fn role(&self, column: &str) -> Option<Role> {
        self.given.iter().find(|(_, name)| name == column.trim()).map(|(role, _)| *role)
    }

    /// All roles that were given to a column.
    pub(super) fn roles_of<'a>(&'a self, column: &'a str) -> impl Iterator<Item = Role> + 'a {
        let is_named = |entry: &&(Role, String)| entry.1 == column.trim();
        self.given.iter().filter(is_named).map(|(role, _)| *role)
    }

    /// The columns that were given a role.
    pub(super) fn columns(&self, role: Role) -> impl Iterator<Item = &str> {
        self.given
            .iter()
            .filter(move |(given, _)| *given == role)
            .map(|(_, column)| column.as_str())
    }

    /// Whether `none` was given as the column of a role, and is not the name of a column.
    pub(super) fn has_none(&self, role: Role, columns: &[String]) -> bool {
        self.columns(role).any(|name| name == NONE && !columns.iter().any(|c| c.trim() == NONE))
    }

    /// Checks that every named column exists. A role for a column that does not exist is most
    /// likely a misspelling.
    pub(super) fn check_given(&self, file: &str, columns: &[String]) -> Result<(), DataError> {
        for (role, name) in &self.given {
            let is_none = matches!(role, Role::Label | Role::Query) && name == NONE;
            if is_none || columns.iter().any(|column| column.trim() == name) {
                continue;
            }
            let (role, column, columns) = (*role, name.clone(), columns.to_vec());
            return Err(DataError::columns(
                file,
                match name == PLACEHOLDER {
                    true => ColumnProblem::Placeholder { role, columns },
                    false => ColumnProblem::Missing { role, column, columns },
                },
            ));
        }
        Ok(())
    }
}

/// Prints the text that [`Roles::parse`] reads.
impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for def in ROLES {
            let columns: Vec<String> = self.columns(def.role).map(quoted_column).collect();
            if !columns.is_empty() {
                write!(f, "{comma}{}={}", def.name, columns.join("+"))?;
                comma = ",";
            }
        }
        Ok(())
    }
}

/// The entries of a text `role=column, role=column+column, ...`: the name of a role, and its
/// columns. Names are written as [`Roles::parse`] describes. For tables of other kinds, with roles
/// of their own.
///
/// ```
/// use rankwright_data::format::role_entries;
///
/// let entries = role_entries("query=q, document=\"a,b\"")?;
/// assert_eq!(entries, [("query", vec!["q".to_owned()]), ("document", vec!["a,b".to_owned()])]);
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
pub fn role_entries(text: &str) -> Result<Vec<(&str, Vec<String>)>, DataError> {
    let mut entries = Vec::new();
    for part in split_unquoted(text, ',').into_iter().map(str::trim) {
        if part.is_empty() {
            continue;
        }
        let Some((role, columns)) = part.split_once('=') else {
            return Err(DataError::RoleSyntax { part: part.to_owned() });
        };
        let columns = split_unquoted(columns, '+').into_iter();
        entries.push((role.trim(), columns.map(|column| unquoted(column.trim())).collect()));
    }
    Ok(entries)
}

/// The parts of a text between separators that are not in double quotes. Quotes begin only at the
/// start of a name, after `=`, `+` or `,` and spaces; inside of them `""` stands for a quote.
fn split_unquoted(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut is_quoted, mut is_name_start) = (Vec::new(), 0, false, true);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            // Of two quotes, the second one is skipped.
            '"' if is_quoted => is_quoted = chars.next_if(|(_, next)| *next == '"').is_some(),
            '"' if is_name_start && text.get(at + 1..).is_some_and(|rest| rest.contains('"')) => {
                is_quoted = true;
            }
            c if c == separator && !is_quoted => {
                parts.extend(text.get(start..at));
                start = at + c.len_utf8();
            }
            _ => {}
        }
        is_name_start = matches!(c, '=' | '+' | ',') || (is_name_start && c == ' ');
    }
    parts.extend(text.get(start..));
    parts
}

/// The name that a text in quotes stands for; another text is the name itself.
fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let inner = inner.filter(|inner| !inner.replace("\"\"", "").contains('"'));
    inner.map_or_else(|| text.to_owned(), |inner| inner.replace("\"\"", "\""))
}

/// The text that [`Roles::parse`] and [`role_entries`] read as this name of a column.
pub fn quoted_column(name: &str) -> String {
    match name.contains([',', '+', '=', '"']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    }
}

/// Checks that columns have names, all different when whitespace around them does not count.
pub(super) fn check_names(file: &str, columns: &[String]) -> Result<(), DataError> {
    let mut seen = HashSet::new();
    for (index, column) in columns.iter().enumerate() {
        let problem = if column.trim().is_empty() {
            ColumnProblem::Unnamed { number: index + 1, columns: columns.len() }
        } else if !seen.insert(column.trim()) {
            ColumnProblem::Duplicate { column: column.clone() }
        } else {
            continue;
        };
        return Err(DataError::columns(file, problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_decide_roles_for_any_case_and_separator() {
        let columns = ["Query-ID", "Relevance", "DOC ID", "bm25", "weight", "Group_Weight", "pos"];
        let roles: Vec<Option<Role>> = columns.iter().map(|column| Role::guess(column)).collect();
        use Role::*;
        // `guess` returns `None` for a feature.
        let expected = [Query, Label, Docid, Feature, Weight, QueryWeight, Position];
        let expected = expected.map(|role| (role != Feature).then_some(role));
        assert_eq!(roles, expected);
    }

    #[test]
    fn names_of_ids_are_known() {
        for name in ["id", "ID", "product_id", "Product-ID", "productId", "sku", "doc"] {
            assert!(is_id_name(name), "{name}");
        }
        for name in ["paid", "grid", "bm25", "idf", "width", "id_count", "RAPID", "valid"] {
            assert!(!is_id_name(name), "{name}");
        }
    }

    #[test]
    fn bad_roles_are_refused() {
        let refused = |text: &str| Roles::parse(text).unwrap_err().to_string();
        assert!(refused("lable=x").contains("qid, label, docid"));
        assert!(refused("qid").contains("role=column"));
        assert!(refused("qid=a+b").contains("'a' and 'b'"));
        assert!(refused("qid=a, label=a").contains("'qid' and 'label'"));
        assert!(refused("hour=a, number=a").contains("'hour' and 'number'"));
        assert!(refused("hour=a, hour=a").contains("'hour' and 'hour'"));
        assert!(refused("qid=").contains("without a name"));
        assert!(Roles::parse("days=a, hour=a, qid=none, label=none").is_ok());
    }

    #[test]
    fn roles_print_as_they_are_read() {
        for text in [
            "",
            "qid=session,label=none,feature=a b+c,ignore=url",
            "qid=none,label=none,category=\"a+b\"+\"x=1\"+c,days=at,hour=at",
        ] {
            assert_eq!(Roles::parse(text).unwrap().to_string(), text);
        }
        let roles = Roles::parse("category=\"a+b\" + c , docid=doc\"id").unwrap();
        assert_eq!(roles.role("a+b"), Some(Role::Category));
        assert_eq!(roles.role("doc\"id"), Some(Role::Docid));
        for name in
            ["a", "a b", "x,y", "5\" disk", "5\", \"disk\"", "\"", "\"a\"", "\"\"", "a=\"b+c\""]
        {
            let roles = Roles::of([(Role::Ignore, name), (Role::Label, "y")]);
            assert_eq!(
                Roles::parse(&roles.to_string()).unwrap(),
                Roles::of([(Role::Label, "y"), (Role::Ignore, name)]),
                "{roles}"
            );
        }
    }

    #[test]
    fn any_column_name_prints_as_it_is_read() {
        let names =
            ["a,b", "5\" screen", "a \"b", "c\"d", "\"x\"", "\"", "\"+\"", "w=\"1\",2", "é+"];
        let mut roles = Roles::default();
        names.iter().for_each(|name| roles.set(Role::Ignore, name).unwrap());
        let text = roles.to_string();
        assert_eq!(Roles::parse(&text).unwrap(), roles, "{text}");
    }

    #[test]
    fn whitespace_around_column_names_does_not_count() {
        let mut roles = Roles::parse("qid = session , ignore=\" a \"").unwrap();
        assert_eq!(roles.role(" session"), Some(Role::Query));
        assert_eq!(roles.role("a"), Some(Role::Ignore));
        assert!(roles.set(Role::Label, "session ").is_err());
        roles.remove(" a ");
        roles.set_if_free(Role::Label, " session");
        assert_eq!(roles.to_string(), "qid=session");
        let columns = ["a".to_owned(), " a".to_owned()];
        assert!(check_names("f", &columns).is_err(), "a role could not tell them apart");
    }

    #[test]
    fn every_role_has_a_name_that_reads_back() {
        for def in ROLES {
            assert_eq!(Role::from_name(def.name).unwrap(), def.role);
            assert_eq!(def.role.name(), def.name);
        }
    }
}
