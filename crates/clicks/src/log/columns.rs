//! Roles of the columns of a log that is a table: given by the caller, or guessed by name.
//!
//! A table has a row for each shown document, or a row for each page with lists of documents and
//! clicks. Names are compared in lower case, with `_` for `-` and spaces. If several columns have a
//! name of one role, the name that comes first in the list of the role counts.

use std::fmt;

use rankwright_data::format::{quoted_column, role_entries};
use rankwright_data::{DataError, SourceLocation};
use rankwright_spec::{choices, json_by_text};

choices! {
    /// The use of a column of a log.
    pub enum LogRole {
        /// The id of the impression.
        Impression = "impression",
        /// The session.
        Session = "session",
        /// The user, client or visitor.
        User = "user",
        /// The query.
        Query = "query",
        /// The shown document, or the list of them.
        Document = "document",
        /// The position of the document, or those of all documents.
        Position = "position",
        /// Whether the document was clicked, or the list of that.
        Click = "click",
        /// The time of the click.
        ClickTime = "click_time",
        /// The time of the impression.
        Time = "time",
        /// The ranker that made the page.
        Ranker = "ranker",
        /// The probability with which the document was shown at its position, or the list of them.
        Propensity = "propensity",
        /// The kind of device.
        Device = "device",
        /// No use.
        Ignore = "ignore",
    }
}

impl LogRole {
    /// Names of columns that mean the role by default, the best first.
    fn column_names(self) -> &'static [&'static str] {
        match self {
            Self::Impression => {
                &["impression", "impression_id", "search_id", "serp_id", "page_id", "request_id"]
            }
            Self::Session => &["session", "session_id", "visit_id"],
            Self::User => &["user", "user_id", "client_id", "visitor_id", "userid"],
            Self::Query => {
                &["query", "query_id", "qid", "query_text", "user_query", "search_term", "q"]
            }
            Self::Document => &[
                "document",
                "document_id",
                "doc",
                "doc_id",
                "docid",
                "docs",
                "documents",
                "doc_ids",
                "query_doc_ids",
                "item",
                "item_id",
                "object_id",
                "product_id",
                "url",
            ],
            Self::Position => &["position", "positions", "pos", "rank", "ranks"],
            Self::Click => &["click", "clicks", "clicked", "is_click", "is_clicked"],
            Self::ClickTime => &["click_time", "clicked_at"],
            Self::Time => &["time", "timestamp", "ts", "datetime", "shown_at", "date"],
            Self::Ranker => &["ranker", "application", "system", "model", "variant"],
            Self::Propensity => &["propensity", "propensities"],
            Self::Device => &["device", "device_type", "platform"],
            Self::Ignore => &[],
        }
    }

    /// The role with this name, or an error that lists the names.
    pub fn from_name(name: &str) -> Result<Self, DataError> {
        let named = Self::ALL.iter().find(|(known, _)| *known == name);
        named.map(|(_, role)| *role).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).collect();
            let (what, name) = ("column role", name.to_owned());
            DataError::UnknownName { what, name, known: known.join(", ") }
        })
    }
}

/// Roles of columns that are given instead of guessed.
///
/// ```
/// use rankwright_clicks::log::LogColumns;
///
/// let columns = LogColumns::parse("query=keyword, document=sku, click=bought")?;
/// assert_eq!(columns.to_string(), "query=keyword,document=sku,click=bought");
/// assert!(LogColumns::parse("docid=sku").is_err());
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogColumns {
    given: Vec<(LogRole, String)>,
}

json_by_text!(LogColumns, LogColumns::to_string, LogColumns::parse);

impl LogColumns {
    /// Reads `role=column, role=column, ...`; `ignore` takes several columns, joined by `+`. A name
    /// that contains `,`, `+` or `=` is written in double quotes; a double quote in it is doubled.
    pub fn parse(text: &str) -> Result<Self, DataError> {
        let mut columns = Self::default();
        for (role, names) in role_entries(text)? {
            let role = LogRole::from_name(role)?;
            names.iter().try_for_each(|name| columns.set(role, name))?;
        }
        Ok(columns)
    }

    fn set(&mut self, role: LogRole, column: &str) -> Result<(), DataError> {
        if column.is_empty() {
            return Err(DataError::RoleWithoutColumn { role: role.name() });
        }
        let column = column.to_owned();
        if let Some((first, _)) = self.given.iter().find(|(_, known)| *known == column) {
            let (first, second) = (first.name(), role.name());
            return Err(DataError::TwoRoles { column, first, second });
        }
        let taken = self.given.iter().find(|(known, _)| *known == role && role != LogRole::Ignore);
        if let Some((_, first)) = taken {
            let (role, first) = (role.name(), first.clone());
            return Err(DataError::TwoColumns { role, first, second: column });
        }
        self.given.push((role, column));
        Ok(())
    }

    /// Whether no role is given.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// The role that was given to a column.
    fn given_role(&self, column: &str) -> Option<LogRole> {
        self.given.iter().find(|(_, name)| name == column.trim()).map(|(role, _)| *role)
    }

    /// The roles of the columns of a table, given or guessed; `None` for a column without a use.
    pub(super) fn roles<N: AsRef<str>>(&self, columns: &[N]) -> Vec<Option<LogRole>> {
        let mut roles: Vec<Option<LogRole>> =
            columns.iter().map(|column| self.given_role(column.as_ref())).collect();
        for (_, role) in LogRole::ALL {
            if roles.contains(&Some(*role)) {
                continue;
            }
            let names = role.column_names().iter();
            let found = names.filter_map(|name| {
                let is_named = |(column, role): (&N, &Option<LogRole>)| {
                    role.is_none() && normalised(column.as_ref()) == *name
                };
                columns.iter().zip(&roles).position(is_named)
            });
            let found: Option<usize> = found.into_iter().next();
            if let Some(slot) = found.and_then(|column| roles.get_mut(column)) {
                *slot = Some(*role);
            }
        }
        roles.iter().map(|role| role.filter(|role| *role != LogRole::Ignore)).collect()
    }

    /// Whether columns of these names are those of a log.
    pub(super) fn fit<N: AsRef<str>>(&self, columns: &[N]) -> bool {
        missing_role(&self.roles(columns)).is_none()
    }

    /// The roles of the columns of a table, or an error if a given column does not exist or a
    /// necessary role is missing.
    pub(super) fn checked_roles<N: AsRef<str>>(
        &self,
        columns: &[N],
        header: SourceLocation,
    ) -> Result<Vec<Option<LogRole>>, DataError> {
        let listed = || {
            let names: Vec<&str> = columns.iter().map(AsRef::as_ref).collect();
            format!("the columns {}", names.join(", "))
        };
        let exists = |name: &str| columns.iter().any(|column| column.as_ref().trim() == name);
        if let Some((role, name)) = self.given.iter().find(|(_, name)| !exists(name)) {
            let expected = format!("a column '{name}' for the role {}", role.name());
            return Err(DataError::malformed(header, listed(), expected));
        }
        let roles = self.roles(columns);
        match missing_role(&roles) {
            None => Ok(roles),
            Some(missing) => {
                let expected = format!("a column with the role {missing}");
                Err(DataError::malformed(header, listed(), expected))
            }
        }
    }
}

/// A role that a table needs and does not have.
pub(super) fn missing_role(roles: &[Option<LogRole>]) -> Option<&'static str> {
    let has = |role: LogRole| roles.contains(&Some(role));
    if !has(LogRole::Document) {
        return Some("document");
    }
    if !has(LogRole::Query) && !has(LogRole::Impression) {
        return Some("query or impression");
    }
    (!has(LogRole::Click)).then_some("click")
}

/// The column with a role; the name of the role if there is none.
pub(super) fn column_of<'a, N: AsRef<str>>(
    role: LogRole,
    roles: &[Option<LogRole>],
    columns: &'a [N],
) -> &'a str {
    let column = roles.iter().position(|found| *found == Some(role));
    column.and_then(|column| columns.get(column)).map_or(role.name(), AsRef::as_ref)
}

fn normalised(column: &str) -> String {
    column.trim().to_lowercase().replace(['-', ' '], "_")
}

/// Prints the text that [`LogColumns::parse`] reads.
impl fmt::Display for LogColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for (name, role) in LogRole::ALL {
            let columns = self.given.iter().filter(|(given, _)| given == role);
            let columns: Vec<String> = columns.map(|(_, column)| quoted_column(column)).collect();
            if !columns.is_empty() {
                write!(f, "{comma}{name}={}", columns.join("+"))?;
                comma = ",";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_given_or_guessed_by_name() {
        let names = ["Query ID", "query", "doc-id", "POS", "clicked", "price", "ts"];
        let roles = LogColumns::default().roles(&names);
        use LogRole::*;
        let expected =
            [None, Some(Query), Some(Document), Some(Position), Some(Click), None, Some(Time)];
        assert_eq!(roles, expected);
        let given = LogColumns::parse("query=Query ID, ignore=ts+POS, document=price").unwrap();
        let expected = [Some(Query), None, None, None, Some(Click), Some(Document), None];
        // `document` was given, so `doc-id` has no use; nor has `query`.
        let roles = given.roles(&["Query ID", "query", "doc-id", "POS", "clicked", "price", "ts"]);
        assert_eq!(roles, expected);
        let text = given.to_string();
        assert_eq!(text, "query=Query ID,document=price,ignore=ts+POS");
        assert_eq!(LogColumns::parse(&text).unwrap().to_string(), text);
    }

    #[test]
    fn bad_roles_are_refused() {
        let refused = |text: &str| LogColumns::parse(text).unwrap_err().to_string();
        assert!(refused("docid=x").contains("impression, session, user, query"));
        assert!(refused("query").contains("role=column"));
        assert!(refused("query=a+b").contains("'a' and 'b'"));
        assert!(refused("query=a, click=a").contains("'query' and 'click'"));
        assert!(refused("query=").contains("without a name"));
        let header = || SourceLocation::line("t.csv", 1);
        let given = LogColumns::parse("document=sku").unwrap();
        let error = given.checked_roles(&["query", "click"], header()).unwrap_err().to_string();
        assert!(error.contains("a column 'sku' for the role document"), "{error}");
        for (columns, missing) in [
            (vec!["query", "click"], "document"),
            (vec!["doc", "click"], "query or impression"),
            (vec!["doc", "query"], "click"),
        ] {
            let error = LogColumns::default().checked_roles(&columns, header()).unwrap_err();
            assert!(error.to_string().ends_with(&format!("the role {missing}")), "{error}");
        }
    }
}
