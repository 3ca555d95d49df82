//! The plan by which a table is read: the use of each column, decided by given roles, by the
//! columns of earlier data, by names, and by values, in this order. All problems of all columns are
//! one error, with roles that solve them.

use std::collections::HashMap;
use std::sync::Arc;

use super::content::{ColumnContent, ContentKind};
use super::guess::Guesses;
use super::schema::TableSchema;
use crate::error::{ColumnProblem, DataError, SourceLocation};
use crate::format::ReadOptions;
use crate::format::roles::{Role, Roles};
use crate::table_columns::{Encoding, MAX_CATEGORIES, TableColumn, TableColumns, TimePart};
use crate::warnings::{WarningKind, Warnings};

/// A column of the first file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::format) struct SourceColumn {
    pub(in crate::format) name: String,
    /// Whether it is a member of a group of features: then it has no role by its name.
    pub(in crate::format) is_nested: bool,
}

impl SourceColumn {
    /// A column of its own.
    pub(in crate::format) fn new(name: impl Into<String>) -> SourceColumn {
        SourceColumn { name: name.into(), is_nested: false }
    }
}

/// The use of a column.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::format) enum ColumnUse {
    /// A role that is no feature.
    Role(Role),
    /// A feature; without an encoding, its values decide.
    Feature(Option<Encoding>),
    /// A feature whose values are categories.
    Category,
    /// A feature whose values are points in time.
    Time,
}

/// The plan of a table.
pub(in crate::format) struct TablePlan<'o> {
    file: String,
    options: &'o ReadOptions,
    columns: Vec<SourceColumn>,
    uses: Vec<ColumnUse>,
    /// Whether the use of a column was given, or is that in earlier data.
    is_given: Vec<bool>,
    contents: Vec<ColumnContent>,
    /// Whether the content of a column is that of all rows.
    is_complete: Vec<bool>,
    /// Whether a column of numbers was found to hold something else.
    is_suspect: Vec<bool>,
    problems: Vec<ColumnProblem>,
    /// Roles that solve the problems, besides the given ones.
    solution: Roles,
    notes: Warnings,
    is_one_query: bool,
    is_labelled: bool,
}

impl<'o> TablePlan<'o> {
    /// Gives columns their roles; `contents` are those of the first rows.
    pub(in crate::format) fn new(
        file: &str,
        columns: Vec<SourceColumn>,
        contents: Vec<ColumnContent>,
        options: &'o ReadOptions,
    ) -> Result<TablePlan<'o>, DataError> {
        let roles = &options.roles;
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        roles.check_given(file, &names)?;
        let known = options.columns.as_deref();
        let uses = columns.iter().map(|column| use_of(column, roles, known)).collect();
        let is_given = |column: &SourceColumn| {
            let is_known = known.is_some_and(|known| known.column(&column.name).is_some());
            is_known || roles.role(&column.name).is_some()
        };
        let no_query_before = known.is_some_and(|known| known.of_role(Role::Query).is_none());
        let mut plan = TablePlan {
            file: file.to_owned(),
            options,
            uses,
            is_given: columns.iter().map(is_given).collect(),
            is_complete: vec![false; columns.len()],
            is_suspect: vec![false; columns.len()],
            columns,
            contents,
            problems: Vec::new(),
            solution: roles.clone(),
            notes: Warnings::default(),
            is_one_query: roles.has_none(Role::Query, &names),
            is_labelled: !roles.has_none(Role::Label, &names),
        };
        plan.by_name();
        plan.label();
        plan.query(no_query_before);
        plan.ids();
        Ok(plan)
    }

    fn name(&self, column: usize) -> &str {
        self.columns.get(column).map_or("", |column| &column.name)
    }

    fn note(&mut self, kind: WarningKind, column: usize) {
        let (file, name) = (self.file.clone(), self.name(column).to_owned());
        self.notes.add_column(kind, name, || SourceLocation::file(file));
    }

    fn set(&mut self, column: usize, used: ColumnUse) {
        if let Some(known) = self.uses.get_mut(column) {
            *known = used;
        }
    }

    fn of_role(&self, role: Role) -> Option<usize> {
        self.uses.iter().position(|used| *used == ColumnUse::Role(role))
    }

    fn guesses(&self) -> Guesses<'_> {
        let (columns, uses) = (&self.columns, &self.uses);
        Guesses { columns, uses, contents: &self.contents, is_given: &self.is_given }
    }

    /// Gives the roles that names mean to columns without a role.
    fn by_name(&mut self) {
        let is_listed = self.options.roles.columns(Role::Feature).next().is_some();
        for column in 0..self.columns.len() {
            let Some(SourceColumn { name, is_nested }) = self.columns.get(column).cloned() else {
                continue;
            };
            if self.is_given.get(column) == Some(&true) {
                continue;
            }
            let guess = Role::guess(&name).filter(|_| !is_nested);
            let Some(role) = guess else {
                if is_listed {
                    self.set(column, ColumnUse::Role(Role::Ignore));
                }
                continue;
            };
            let has_none = (role == Role::Label && !self.is_labelled)
                || (role == Role::Query && self.is_one_query);
            if has_none {
                // `label=none` beside a column that could be the label: it must not be a feature.
                self.set(column, ColumnUse::Role(Role::Ignore));
                self.note(WarningKind::RoleLeftOut(role), column);
                continue;
            }
            if let Some(other) = self.of_role(role) {
                let (one, other) = (self.name(other).to_owned(), name);
                self.solution.add(role, &one);
                self.solution.add(Role::Ignore, &other);
                self.problems.push(ColumnProblem::Ambiguous { role, one, other });
                self.set(column, ColumnUse::Role(Role::Ignore));
                continue;
            }
            self.set(column, ColumnUse::Role(role));
            if matches!(role, Role::Weight | Role::QueryWeight | Role::Position) {
                self.note(WarningKind::GuessedRole(role), column);
            }
        }
    }

    fn label(&mut self) {
        if !self.is_labelled || self.of_role(Role::Label).is_some() {
            return;
        }
        match self.guesses().label() {
            Some(column) => {
                self.set(column, ColumnUse::Role(Role::Label));
                self.note(WarningKind::GuessedRole(Role::Label), column);
            }
            None if !self.options.needs_labels => self.is_labelled = false,
            None => {
                let possible = self.guesses().possible_label();
                let name = possible.map_or("none", |column| self.name(column)).to_owned();
                self.solution.add(Role::Label, &name);
                self.missing(Role::Label);
            }
        }
    }

    fn query(&mut self, no_query_before: bool) {
        if self.is_one_query || self.of_role(Role::Query).is_some() {
            return;
        }
        if no_query_before {
            self.is_one_query = true;
            return;
        }
        match self.guesses().query() {
            Some(column) => {
                self.set(column, ColumnUse::Role(Role::Query));
                self.note(WarningKind::GuessedRole(Role::Query), column);
            }
            None => {
                let possible = self.guesses().possible_query();
                let name = possible.map_or("none", |column| self.name(column)).to_owned();
                self.solution.add(Role::Query, &name);
                self.missing(Role::Query);
            }
        }
    }

    fn missing(&mut self, role: Role) {
        let own = self.columns.iter().filter(|column| !column.is_nested);
        let columns = own.map(|column| column.name.clone()).collect();
        self.problems.push(ColumnProblem::NoneForRole { role, columns });
    }

    /// Finds the document id, and keeps other ids from becoming numbers.
    fn ids(&mut self) {
        if self.of_role(Role::Docid).is_none() {
            let mut query = self.of_role(Role::Query);
            // The column that is suggested as the query id must not be the document id.
            let suggested = self.solution.columns(Role::Query).next();
            let suggested = suggested.and_then(|s| self.columns.iter().position(|c| c.name == s));
            query = query.or(suggested);
            if let Some(column) =
                self.guesses().document(query).filter(|column| Some(*column) != suggested)
            {
                self.set(column, ColumnUse::Role(Role::Docid));
                self.note(WarningKind::GuessedRole(Role::Docid), column);
            }
        }
        let (left_out, categories) = self.guesses().other_ids();
        for column in left_out {
            self.set(column, ColumnUse::Role(Role::Ignore));
            self.note(WarningKind::IdLeftOut, column);
        }
        for column in categories {
            self.set(column, ColumnUse::Category);
            self.note(WarningKind::IdsAsCategories, column);
        }
    }

    /// Suggests a document id in the roles of an error, if there is none.
    fn suggest_document(&self, solution: &mut Roles) {
        let is_known = self.of_role(Role::Docid).is_some();
        if is_known || solution.columns(Role::Docid).next().is_some() {
            return;
        }
        let suggested = |role: Role| {
            let name = solution.columns(role).next()?;
            self.columns.iter().position(|column| column.name == name)
        };
        let query = self.of_role(Role::Query).or_else(|| suggested(Role::Query));
        let Some(column) = self.guesses().possible_document(query) else { return };
        if Some(column) != query && Some(column) != suggested(Role::Label) {
            let name = self.name(column);
            solution.remove(name);
            solution.add(Role::Docid, name);
        }
    }

    /// The columns whose values in all rows must be known before the table can be read.
    pub(in crate::format) fn unknown_contents(&self) -> Vec<usize> {
        let is_needed = |column: &usize| {
            let is_plain = self.contents.get(*column).is_none_or(|content| {
                matches!(content.kind(), ContentKind::Nothing | ContentKind::Numbers)
                    || matches!(content.typed, Some(super::content::TypedValues::Time { .. }))
            });
            let is_suspect = self.is_suspect.get(*column) == Some(&true);
            let is_complete = self.is_complete.get(*column) == Some(&true);
            let depends = match self.uses.get(*column) {
                Some(ColumnUse::Feature(None) | ColumnUse::Time) => !is_plain || is_suspect,
                Some(ColumnUse::Category) => true,
                _ => false,
            };
            depends && !is_complete
        };
        (0..self.columns.len()).filter(is_needed).collect()
    }

    /// Sets the contents of columns in all rows.
    pub(in crate::format) fn set_contents(
        &mut self,
        columns: &[usize],
        contents: Vec<ColumnContent>,
    ) {
        for (&column, content) in columns.iter().zip(contents) {
            let is_plain = matches!(content.kind(), ContentKind::Nothing | ContentKind::Numbers);
            if self.is_suspect.get(column) == Some(&true) && is_plain {
                // The reader and the survey disagree: the reader's error is the one to see.
                self.set(column, ColumnUse::Feature(Some(Encoding::Number)));
            }
            if let (Some(known), Some(is_complete)) =
                (self.contents.get_mut(column), self.is_complete.get_mut(column))
            {
                *known = content;
                *is_complete = true;
            }
        }
    }

    /// Marks columns that hold something else than the numbers of their first rows.
    pub(in crate::format) fn suspect(&mut self, columns: &[usize]) {
        for &column in columns {
            if let Some(is_suspect) = self.is_suspect.get_mut(column) {
                *is_suspect = true;
            }
            if self.is_complete.get(column) == Some(&true) {
                // The reader and the survey disagree: the reader's error is the one to see.
                self.set(column, ColumnUse::Feature(Some(Encoding::Number)));
            }
        }
    }

    /// The columns as they are read, or one error with the problems of all columns.
    pub(in crate::format) fn schema(
        &self,
        warnings: &mut Warnings,
    ) -> Result<TableSchema, DataError> {
        let (mut problems, mut solution) = (self.problems.clone(), self.solution.clone());
        let mut notes = self.notes.clone();
        let mut columns = Vec::with_capacity(self.columns.len());
        for ((column, used), content) in self.columns.iter().zip(&self.uses).zip(&self.contents) {
            let mut planned = TableColumn::new(column.name.as_str(), Role::Feature);
            match used {
                ColumnUse::Role(role) => planned.role = *role,
                ColumnUse::Feature(Some(encoding)) => planned.encoding = encoding.clone(),
                used => match encoding(&column.name, used, content, &self.options.roles) {
                    Ok((encoding, note)) => {
                        planned.encoding = encoding;
                        if let Some(kind) = note {
                            let file = || SourceLocation::file(&self.file);
                            notes.add_column(kind, column.name.clone(), file);
                        }
                    }
                    Err(EncodingProblem::Error(error)) => return Err(*error),
                    Err(EncodingProblem::Column(problem, role)) => {
                        problems.push(*problem);
                        solution.remove(&column.name);
                        solution.add(role, &column.name);
                    }
                },
            }
            columns.push(planned);
        }
        if !problems.is_empty() {
            self.suggest_document(&mut solution);
            let problem = ColumnProblem::Unusable { problems, roles: solution };
            return Err(DataError::columns(&self.file, problem));
        }
        warnings.merge(notes);
        let guessed = self.uses.iter().map(|used| *used == ColumnUse::Feature(None)).collect();
        let columns = TableColumns::new(columns)?;
        Ok(TableSchema::new(&self.file, columns, guessed, self.is_labelled, self.is_one_query))
    }
}

/// The use of a column that was given a role, or that earlier data has.
fn use_of(column: &SourceColumn, roles: &Roles, known: Option<&TableColumns>) -> ColumnUse {
    let given: Vec<Role> = roles.roles_of(&column.name).collect();
    let mut parts: Vec<TimePart> = given.iter().filter_map(|role| role.time_part()).collect();
    parts.sort_unstable();
    match given.first() {
        _ if !parts.is_empty() => ColumnUse::Feature(Some(Encoding::Time(parts))),
        Some(Role::Feature) => known_encoding(column, known),
        Some(Role::Number) => ColumnUse::Feature(Some(Encoding::Number)),
        Some(Role::Category) => match known_encoding(column, known) {
            known @ ColumnUse::Feature(Some(Encoding::Category(_))) => known,
            _ => ColumnUse::Category,
        },
        Some(Role::Time) => ColumnUse::Time,
        Some(role) => ColumnUse::Role(*role),
        None => match known.and_then(|known| known.column(&column.name)) {
            // Another column was given the role.
            Some(known)
                if !known.role.is_shared() && roles.columns(known.role).next().is_some() =>
            {
                ColumnUse::Role(Role::Ignore)
            }
            Some(known) if known.role != Role::Feature => ColumnUse::Role(known.role),
            _ => known_encoding(column, known),
        },
    }
}

/// A feature, with the encoding that it has in earlier data.
fn known_encoding(column: &SourceColumn, known: Option<&TableColumns>) -> ColumnUse {
    let known = known.and_then(|known| known.column(&column.name));
    let known = known.filter(|known| known.role == Role::Feature);
    ColumnUse::Feature(known.map(|known| known.encoding.clone()))
}

enum EncodingProblem {
    /// An error that no role can solve.
    Error(Box<DataError>),
    /// A problem, and the role that solves it.
    Column(Box<ColumnProblem>, Role),
}

/// The encoding of a feature by its values, and a note on it.
fn encoding(
    name: &str,
    used: &ColumnUse,
    content: &ColumnContent,
    roles: &Roles,
) -> Result<(Encoding, Option<WarningKind>), EncodingProblem> {
    let column = name.to_owned();
    let kind = content.kind();
    let problem =
        |problem: ColumnProblem, role: Role| Err(EncodingProblem::Column(Box::new(problem), role));
    // Texts that do not repeat are no categories.
    let or_ignored = || match content.is_mostly_unique() {
        true => Role::Ignore,
        false => Role::Category,
    };
    match (used, kind) {
        (_, ContentKind::NotUtf8 { bytes, location }) => {
            let location = location.in_field(name);
            let error = DataError::malformed(location, bytes, "UTF-8 text");
            let error = error.with_help("save the file as UTF-8");
            Err(EncodingProblem::Error(Box::new(error)))
        }
        (_, ContentKind::Type(kind)) => problem(ColumnProblem::Type { column, kind }, Role::Ignore),
        (ColumnUse::Category, _) => Ok(categories(content, None)),
        (_, ContentKind::Times { has_clock }) => {
            let parts = TimePart::ALL.into_iter().filter(|p| has_clock || *p != TimePart::Hour);
            Ok((Encoding::Time(parts.collect()), None))
        }
        (ColumnUse::Time, ContentKind::Nothing | ContentKind::Numbers) => {
            Ok((Encoding::Time(TimePart::ALL.to_vec()), None))
        }
        (ColumnUse::Time, _) => problem(ColumnProblem::NotTimes { column }, or_ignored()),
        (_, ContentKind::Nothing | ContentKind::Numbers) => Ok((Encoding::Number, None)),
        (_, ContentKind::Codes) => Ok(categories(content, Some(WarningKind::LeadingZeros))),
        (_, ContentKind::Categories) => Ok(categories(content, None)),
        (_, ContentKind::FreeTexts { different, rows }) => {
            // A column that was named a feature is one.
            if roles.role(name) == Some(Role::Feature) {
                return Ok(categories(content, None));
            }
            problem(ColumnProblem::FreeTexts { column, different, rows }, Role::Ignore)
        }
        (_, ContentKind::Mixed { text, location }) => {
            problem(ColumnProblem::NumbersAndTexts { column, text, location }, or_ignored())
        }
        (_, ContentKind::DecimalCommas { text, location }) => {
            problem(ColumnProblem::DecimalCommas { column, text, location }, Role::Ignore)
        }
    }
}

/// The values of a column as categories.
fn categories(
    content: &ColumnContent,
    note: Option<WarningKind>,
) -> (Encoding, Option<WarningKind>) {
    let rare = content.different() > MAX_CATEGORIES;
    let values: Arc<[String]> = content.most_frequent(MAX_CATEGORIES).into();
    let note = if rare { Some(WarningKind::RareCategories) } else { note };
    (Encoding::Category(values), note)
}

impl TableColumns {
    /// The column of a role that one column has.
    fn of_role(&self, role: Role) -> Option<&TableColumn> {
        self.iter().find(|column| column.role == role)
    }
}

/// The number of each category of a column.
pub(in crate::format) type CategoryNumbers = HashMap<Box<str>, f32, foldhash::fast::RandomState>;
