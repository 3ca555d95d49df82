//! Roles of the columns of a table: guessed from their names, or given by the caller.
//!
//! A guess uses only the name, in lower case, with `-` and blanks replaced by `_`. Nothing is
//! chosen silently: two columns with the same guess, or a column that looks like a label beside the
//! one that was named as label, is an error that says how to choose. Otherwise a label that is read
//! as a feature would make every model look perfect.

use std::collections::{HashMap, HashSet};

use crate::error::{ColumnProblem, DataError};

/// The use of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The query id.
    Query,
    /// The graded label.
    Label,
    /// The document id.
    Docid,
    /// The weight of the row.
    Weight,
    /// The weight of the query, the same in all of its rows.
    QueryWeight,
    /// The position at which the result was shown, from 1.
    Position,
    /// A feature: every column without another role.
    Feature,
    /// Left out.
    Ignore,
}

/// A role, its name in options, and the column names that mean it by default.
const ROLES: &[(Role, &str, &[&str])] = &[
    (Role::Query, "qid", &["qid", "q_id", "query_id", "queryid", "query", "q"]),
    (Role::Label, "label", &["label", "relevance", "rel", "grade", "target", "y"]),
    (
        Role::Docid,
        "docid",
        &["docid", "doc_id", "document_id", "documentid", "did", "docno", "corpus_id"],
    ),
    (Role::Weight, "weight", &["weight", "row_weight", "sample_weight"]),
    (Role::QueryWeight, "query_weight", &["query_weight", "group_weight"]),
    (Role::Position, "position", &["position", "pos"]),
    (Role::Feature, "feature", &[]),
    (Role::Ignore, "ignore", &[]),
];

// The table is indexed by role.
#[allow(clippy::indexing_slicing)]
const _: () = {
    let mut at = 0;
    while at < ROLES.len() {
        assert!(ROLES[at].0 as usize == at);
        at += 1;
    }
};

impl Role {
    /// The name used in options and messages.
    #[allow(clippy::indexing_slicing)] // Checked above, when this is compiled.
    pub fn name(self) -> &'static str {
        ROLES[self as usize].1
    }

    /// The role with this name, or an error that lists the names.
    pub fn from_name(name: &str) -> Result<Role, DataError> {
        ROLES.iter().find(|(_, known, _)| *known == name).map(|(role, ..)| *role).ok_or_else(|| {
            let known: Vec<&str> = ROLES.iter().map(|(_, name, _)| *name).collect();
            let (what, name) = ("column role", name.to_owned());
            DataError::UnknownName { what, name, known: known.join(", ") }
        })
    }

    /// The role that a column name means by default; features have none.
    pub fn guess(column: &str) -> Option<Role> {
        let plain = column.trim().to_lowercase().replace(['-', ' '], "_");
        let known = |entry: &&(Role, &str, &[&str])| entry.2.contains(&plain.as_str());
        ROLES.iter().find(known).map(|(role, ..)| *role)
    }

    /// Whether several columns may have it.
    fn is_shared(self) -> bool {
        matches!(self, Role::Feature | Role::Ignore)
    }
}

/// Roles that are given instead of guessed.
///
/// ```
/// use rankwright_data::format::{Role, Roles};
/// let roles = Roles::parse("qid=session, label=clicks, ignore=url+title")?;
/// assert_eq!(roles.role("title"), Some(Role::Ignore));
/// assert!(Roles::parse("lable=clicks").is_err());
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roles {
    given: Vec<(Role, String)>,
}

impl Roles {
    /// Reads `role=column, role=column, ...`; `feature` and `ignore` take several columns, joined
    /// by `+`. `label=none` means that there are no labels (all are then 0).
    pub fn parse(text: &str) -> Result<Roles, DataError> {
        let mut roles = Roles::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((role, columns)) = part.split_once('=') else {
                return Err(DataError::RoleSyntax { part: part.to_owned() });
            };
            let role = Role::from_name(role.trim())?;
            for column in columns.split('+') {
                roles.set(role, column.trim())?;
            }
        }
        Ok(roles)
    }

    /// Sets the role of one column.
    pub fn set(&mut self, role: Role, column: &str) -> Result<(), DataError> {
        let name = role.name();
        if column.is_empty() {
            return Err(DataError::RoleWithoutColumn { role: name });
        }
        let column = column.to_owned();
        if let Some(other) = self.role(&column) {
            return Err(DataError::TwoRoles { column, first: other.name(), second: name });
        }
        if let Some(first) = self.columns(role).next().filter(|_| !role.is_shared()) {
            let first = first.to_owned();
            return Err(DataError::TwoColumns { role: name, first, second: column });
        }
        self.given.push((role, column));
        Ok(())
    }

    /// The role that was given to a column.
    pub fn role(&self, column: &str) -> Option<Role> {
        self.given.iter().find(|(_, name)| name == column.trim()).map(|(role, _)| *role)
    }

    /// The columns that were given a role.
    pub(super) fn columns(&self, role: Role) -> impl Iterator<Item = &str> {
        self.given
            .iter()
            .filter(move |(given, _)| *given == role)
            .map(|(_, column)| column.as_str())
    }

    /// Gives each column of a table its role.
    pub(super) fn assign(&self, file: &str, columns: &[String]) -> Result<Vec<Role>, DataError> {
        check_names(file, columns)?;
        let unlabelled = self.check_given(file, columns)?;
        let mut taken: HashMap<Role, &str> = HashMap::new();
        let mut roles = Vec::with_capacity(columns.len());
        for column in columns {
            let given = self.role(column);
            let role = given.or_else(|| Role::guess(column)).unwrap_or(Role::Feature);
            if let Some(other) = taken.insert(role, column).filter(|_| !role.is_shared()) {
                return Err(ambiguous(file, role, other, column));
            }
            if let Some(other) =
                self.columns(role).next().filter(|_| given.is_none() && !role.is_shared())
            {
                return Err(ambiguous(file, role, other, column));
            }
            roles.push(role);
        }
        for role in [Role::Query, Role::Label] {
            let is_optional = role == Role::Label && unlabelled;
            if !taken.contains_key(&role) && !is_optional {
                return Err(none_for_role(file, role, columns));
            }
        }
        Ok(roles)
    }

    /// Checks that every named column exists; returns whether `label=none` was given. A role for a
    /// column that does not exist is most likely a misspelling.
    fn check_given(&self, file: &str, columns: &[String]) -> Result<bool, DataError> {
        let mut unlabelled = false;
        for (role, name) in &self.given {
            if columns.iter().any(|column| column.trim() == name) {
                continue;
            }
            if *role == Role::Label && name == "none" {
                unlabelled = true;
                continue;
            }
            let (role, column, columns) = (*role, name.clone(), columns.to_vec());
            return Err(DataError::columns(file, ColumnProblem::Missing { role, column, columns }));
        }
        Ok(unlabelled)
    }
}

fn check_names(file: &str, columns: &[String]) -> Result<(), DataError> {
    let mut seen = HashSet::new();
    for (index, column) in columns.iter().enumerate() {
        let problem = if column.trim().is_empty() {
            ColumnProblem::Unnamed { number: index + 1, columns: columns.len() }
        } else if !seen.insert(column.as_str()) {
            ColumnProblem::Duplicate { column: column.clone() }
        } else {
            continue;
        };
        return Err(DataError::columns(file, problem));
    }
    Ok(())
}

fn ambiguous(file: &str, role: Role, one: &str, other: &str) -> DataError {
    let (one, other) = (one.to_owned(), other.to_owned());
    DataError::columns(file, ColumnProblem::Ambiguous { role, one, other })
}

fn none_for_role(file: &str, role: Role, columns: &[String]) -> DataError {
    DataError::columns(file, ColumnProblem::NoneForRole { role, columns: columns.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| name.to_string()).collect()
    }

    fn assigned(given: &str, columns: &[&str]) -> Result<Vec<Role>, String> {
        let roles = Roles::parse(given).map_err(|e| e.to_string())?;
        roles.assign("t.csv", &names(columns)).map_err(|e| format!("{e} | {}", e.help().unwrap()))
    }

    #[test]
    fn names_decide_roles_for_any_case_and_separator() {
        let columns = ["Query-ID", "Relevance", "DOC ID", "bm25", "weight", "Group_Weight", "pos"];
        let roles = assigned("", &columns).unwrap();
        use Role::*;
        assert_eq!(roles, [Query, Label, Docid, Feature, Weight, QueryWeight, Position]);
    }

    #[test]
    fn given_roles_take_precedence_over_guesses() {
        let roles = assigned(
            "qid=session, feature=y, ignore=url+t",
            &["session", "label", "y", "url", "t"],
        );
        use Role::*;
        assert_eq!(roles.unwrap(), [Query, Label, Feature, Ignore, Ignore]);
        assert_eq!(assigned("label=none", &["qid", "a"]).unwrap(), [Query, Feature]);
        assert_eq!(assigned("label=none", &["qid", "none"]).unwrap(), [Query, Label]);
    }

    #[test]
    fn a_second_label_is_never_taken_for_a_feature() {
        let error = assigned("label=clicks", &["qid", "clicks", "relevance"]).unwrap_err();
        assert!(error.contains("both 'clicks' and 'relevance' could be the label"), "{error}");
        assert!(error.contains("ignore=relevance"), "{error}");
        assert!(assigned("", &["q", "qid", "label"]).unwrap_err().contains("could be the qid"));
        assert!(assigned("label=clicks, ignore=rel", &["qid", "clicks", "rel"]).is_ok());
    }

    #[test]
    fn columns_without_query_or_label_are_refused_with_a_remedy() {
        let error = assigned("", &["a", "label"]).unwrap_err();
        assert!(error.contains("the columns are 'a', 'label'"), "{error}");
        assert!(error.contains("`qid=NAME`"), "{error}");
        assert!(assigned("", &["qid", "a"]).unwrap_err().contains("label=none"));
    }

    #[test]
    fn bad_names_and_bad_roles_are_refused() {
        assert!(assigned("", &["qid", "label", "a", "a"]).unwrap_err().contains("two columns 'a'"));
        assert!(assigned("", &["qid", "label", ""]).unwrap_err().contains("column 3 of 3"));
        assert!(assigned("ignore=urll", &["qid", "label", "url"]).unwrap_err().contains("'urll'"));
        assert!(assigned("lable=x", &[]).unwrap_err().contains("qid, label, docid"));
        assert!(assigned("qid", &[]).unwrap_err().contains("role=column"));
        assert!(assigned("qid=a+b", &[]).unwrap_err().contains("'a' and 'b'"));
        assert!(assigned("qid=a, label=a", &[]).unwrap_err().contains("'qid' and 'label'"));
        assert!(assigned("qid=", &[]).unwrap_err().contains("without a name"));
    }

    #[test]
    fn every_role_has_a_name_that_reads_back() {
        for (role, name, _) in ROLES {
            assert_eq!(Role::from_name(name).unwrap(), *role);
            assert_eq!(role.name(), *name);
        }
    }
}
