//! The plan by which a table is read: the use of each column. It is decided by given roles, by the
//! columns of earlier data (such as the training data of a model), by names, and by values, in this
//! order. The problems of all columns are one error, which suggests roles that solve them.

use std::borrow::Cow;
use std::sync::Arc;

use super::content::{ColumnContent, ContentKind};
use super::guess::Guesses;
use super::schema::{EncodingOrigin, TableSchema};
use crate::error::{ColumnProblem, DataError, SourceLocation};
use crate::format::ReadOptions;
use crate::format::roles::{NONE, Role, Roles, is_data_frame_index};
use crate::table_columns::{Encoding, MAX_CATEGORIES, TableColumn, TableColumns, TimePart};
use crate::warnings::{WarningKind, Warnings};

/// A column of the first file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::format) struct SourceColumn {
    pub(in crate::format) name: String,
    /// Whether it is a feature under the key `features` of JSON lines; its name then means no role.
    pub(in crate::format) is_nested: bool,
}

impl SourceColumn {
    /// A column that is not nested.
    pub(in crate::format) fn new(name: impl Into<String>) -> SourceColumn {
        SourceColumn { name: name.into(), is_nested: false }
    }
}

/// The use of a column.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::format) enum ColumnUse {
    /// A role that is no feature.
    Role(Role),
    /// A feature; if no encoding is given, its values decide.
    Feature(Option<Encoding>),
    /// A feature whose values are categories.
    Category,
    /// A feature whose values are points in time.
    Time,
}

impl ColumnUse {
    fn encoding_origin(&self) -> EncodingOrigin {
        match self {
            ColumnUse::Feature(None) => EncodingOrigin::Guess,
            ColumnUse::Feature(Some(_)) => EncodingOrigin::Fixed,
            _ => EncodingOrigin::Role,
        }
    }
}

/// A role for which the user has to choose a column.
struct RoleChoice {
    role: Role,
    /// The columns that could have the role; none if no name means the role.
    columns: Vec<usize>,
}

/// The most columns of which an error proposes each for a role.
const MAX_PROPOSED: usize = 4;

/// The plan of a table.
pub(in crate::format) struct TablePlan<'o> {
    file: String,
    options: &'o ReadOptions,
    columns: Vec<SourceColumn>,
    uses: Vec<ColumnUse>,
    /// Whether the use of each column was given by a role or by earlier data.
    is_given: Vec<bool>,
    contents: Vec<ColumnContent>,
    /// Whether the content of each column was counted in all rows, not only in the first ones.
    is_complete: Vec<bool>,
    /// For each column that was guessed to hold numbers, whether a reader found something else in
    /// it.
    is_suspect: Vec<bool>,
    /// Whether the format tells texts and missing values apart, so that `NA` is a text.
    has_text_type: bool,
    problems: Vec<ColumnProblem>,
    /// The given roles, and further roles that solve the problems.
    solution: Roles,
    /// Roles of the solution for which there is a choice.
    choices: Vec<RoleChoice>,
    /// Warnings on guesses.
    warnings: Warnings,
    /// Whether the data has no queries: all rows are one list.
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
        has_text_type: bool,
    ) -> Result<TablePlan<'o>, DataError> {
        let roles = &options.roles;
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        roles.check_given(file, &names)?;
        let earlier = options.columns.as_deref();
        let uses = columns.iter().map(|column| use_of(column, roles, earlier)).collect();
        let is_given = |column: &SourceColumn| {
            let is_in_earlier =
                earlier.is_some_and(|earlier| earlier.column(&column.name).is_some());
            is_in_earlier || roles.role(&column.name).is_some()
        };
        let earlier_has_no_query =
            earlier.is_some_and(|earlier| earlier.of_role(Role::Query).is_none());
        let mut plan = TablePlan {
            file: file.to_owned(),
            options,
            uses,
            is_given: columns.iter().map(is_given).collect(),
            is_complete: vec![false; columns.len()],
            is_suspect: vec![false; columns.len()],
            has_text_type,
            columns,
            contents,
            problems: Vec::new(),
            solution: roles.clone(),
            choices: Vec::new(),
            warnings: Warnings::default(),
            is_one_query: roles.has_none(Role::Query, &names),
            is_labelled: !roles.has_none(Role::Label, &names),
        };
        plan.assign_by_name();
        plan.find_label();
        plan.warn_of_possible_labels();
        plan.find_query(earlier_has_no_query);
        plan.find_ids();
        Ok(plan)
    }

    fn name(&self, column: usize) -> &str {
        self.columns.get(column).map_or("", |column| &column.name)
    }

    fn warn(&mut self, kind: WarningKind, column: usize) {
        let (file, name) = (self.file.clone(), self.name(column).to_owned());
        self.warnings.add_column(kind, name, || SourceLocation::file(file));
    }

    fn set(&mut self, column: usize, column_use: ColumnUse) {
        if let Some(old) = self.uses.get_mut(column) {
            *old = column_use;
        }
    }

    /// The column of a role.
    fn of_role(&self, role: Role) -> Option<usize> {
        self.uses.iter().position(|used| *used == ColumnUse::Role(role))
    }

    fn guesses(&self) -> Guesses<'_> {
        let (columns, uses) = (&self.columns, &self.uses);
        Guesses { columns, uses, contents: &self.contents, is_given: &self.is_given }
    }

    /// Gives columns without a role the role that their name means.
    fn assign_by_name(&mut self) {
        // If some columns were given the role `feature`, no others become features.
        let are_features_listed = self.options.roles.columns(Role::Feature).next().is_some();
        for column in 0..self.columns.len() {
            let Some(SourceColumn { name, is_nested }) = self.columns.get(column).cloned() else {
                continue;
            };
            if self.is_given.get(column) == Some(&true) {
                continue;
            }
            let guess = Role::guess(&name).filter(|_| !is_nested);
            if is_data_frame_index(&name) && !is_nested {
                self.set(column, ColumnUse::Role(Role::Ignore));
                self.warn(WarningKind::RowNumbersLeftOut, column);
                continue;
            }
            let Some(role) = guess else {
                if are_features_listed {
                    self.set(column, ColumnUse::Role(Role::Ignore));
                }
                continue;
            };
            let is_role_none = (role == Role::Label && !self.is_labelled)
                || (role == Role::Query && self.is_one_query);
            if is_role_none {
                // `label=none` was given, but this column could be the label: it must not become a
                // feature.
                self.set(column, ColumnUse::Role(Role::Ignore));
                self.warn(WarningKind::RoleLeftOut(role), column);
                continue;
            }
            if let Some(other) = self.of_role(role).filter(|_| !role.is_shared()) {
                if self.is_given.get(other) != Some(&true) {
                    self.add_choice(role, &[other, column]);
                }
                let (one, other) = (self.name(other).to_owned(), name);
                self.solution.set_if_free(role, &one);
                self.solution.set_if_free(Role::Ignore, &other);
                self.problems.push(ColumnProblem::Ambiguous { role, one, other });
                self.set(column, ColumnUse::Role(Role::Ignore));
                continue;
            }
            self.set(column, ColumnUse::Role(role));
            if matches!(role, Role::Weight | Role::QueryWeight | Role::Position) {
                self.warn(WarningKind::GuessedRole(role), column);
            }
        }
    }

    /// Guesses the column of the label if none has that role.
    fn find_label(&mut self) {
        if !self.is_labelled || self.of_role(Role::Label).is_some() {
            return;
        }
        match self.guesses().label() {
            Some(column) => {
                self.set(column, ColumnUse::Role(Role::Label));
                self.warn(WarningKind::GuessedRole(Role::Label), column);
            }
            None if !self.options.needs_labels => self.is_labelled = false,
            None => {
                let possible = self.guesses().possible_labels();
                self.add_missing_role(Role::Label, &possible);
            }
        }
    }

    /// Warns of columns that are features and could be the label, if another column was given as label.
    fn warn_of_possible_labels(&mut self) {
        let roles = &self.options.roles;
        if !self.is_labelled || roles.columns(Role::Label).next().is_none() {
            return;
        }
        let possible = self.guesses().possible_labels();
        let mut solution = roles.clone();
        for column in &possible {
            solution.set_if_free(Role::Ignore, self.name(*column));
        }
        let (kind, solution) = (WarningKind::PossibleLabels, solution.to_string());
        for column in possible {
            let (file, name) = (self.file.clone(), self.name(column).to_owned());
            let location = || SourceLocation::file(file);
            self.warnings.add_column_with_example(kind, name, solution.clone(), location);
        }
    }

    /// Guesses the column of the query id if none has that role.
    fn find_query(&mut self, earlier_has_no_query: bool) {
        if self.is_one_query || self.of_role(Role::Query).is_some() {
            return;
        }
        if earlier_has_no_query {
            self.is_one_query = true;
            return;
        }
        match self.guesses().query() {
            Some(column) => {
                self.set(column, ColumnUse::Role(Role::Query));
                self.warn(WarningKind::GuessedRole(Role::Query), column);
            }
            None => {
                let possible = self.guesses().possible_queries();
                self.add_missing_role(Role::Query, &possible);
            }
        }
    }

    /// Adds columns of which one has to be chosen for a role.
    fn add_choice(&mut self, role: Role, columns: &[usize]) {
        match self.choices.iter_mut().find(|choice| choice.role == role) {
            Some(choice) => {
                let new = columns.iter().filter(|column| !choice.columns.contains(column));
                choice.columns.extend(new.copied().collect::<Vec<usize>>());
            }
            None => self.choices.push(RoleChoice { role, columns: columns.to_vec() }),
        }
    }

    /// The solution for each choice of columns, and the roles that no column may need to have.
    fn solutions(&self, solution: &Roles) -> (Vec<Roles>, Vec<Role>) {
        let (mut solutions, mut optional) = (vec![solution.clone()], Vec::new());
        let most = match self.choices.len() {
            0 | 1 => MAX_PROPOSED,
            _ => MAX_PROPOSED / 2,
        };
        for choice in &self.choices {
            let role = choice.role;
            let is_free = |column: &usize| solution.role(self.name(*column)).is_none();
            let columns: Vec<usize> = match choice.columns.is_empty() {
                true => self.guesses().likely(role).into_iter().filter(is_free).collect(),
                false => choice.columns.clone(),
            };
            if choice.columns.is_empty() {
                optional.push(role);
            }
            let with_column = |roles: &Roles, column: usize| {
                let name = self.name(column);
                // The column was chosen for another role.
                if matches!(roles.role(name), Some(other) if other != role && other != Role::Ignore)
                {
                    return None;
                }
                let mut roles = roles.clone();
                roles.replace(role, name);
                for other in choice.columns.iter().filter(|other| **other != column) {
                    roles.remove(self.name(*other));
                    roles.set_if_free(Role::Ignore, self.name(*other));
                }
                Some(roles)
            };
            let with_columns: Vec<Roles> = solutions
                .iter()
                .flat_map(|roles| {
                    columns.iter().filter_map(|column| with_column(roles, *column)).take(most)
                })
                .collect();
            match with_columns.is_empty() {
                true => solutions.iter_mut().for_each(|roles| roles.replace(role, NONE)),
                false => solutions = with_columns,
            }
        }
        (solutions, optional)
    }

    /// Adds the problem that no column has a required role, or that several columns could have it.
    /// The solution gives the role to the first of these columns, and leaves the others out: a
    /// label among the features would make every model look perfect.
    fn add_missing_role(&mut self, role: Role, possible: &[usize]) {
        let names: Vec<String> = possible.iter().map(|c| self.name(*c).to_owned()).collect();
        if let Some(first) = names.first() {
            self.solution.set_if_free(role, first);
            for other in names.iter().skip(1) {
                self.solution.set_if_free(Role::Ignore, other);
                let (one, other) = (first.clone(), other.clone());
                self.problems.push(ColumnProblem::Ambiguous { role, one, other });
            }
        }
        if names.len() != 1 {
            self.add_choice(role, possible);
        }
        if names.len() > 1 {
            return;
        }
        let top_level = self.columns.iter().filter(|column| !column.is_nested);
        let columns = top_level.map(|column| column.name.clone()).collect();
        self.problems.push(ColumnProblem::NoneForRole { role, columns });
    }

    /// Guesses the column of the document id, and keeps other ids from becoming numeric features.
    fn find_ids(&mut self) {
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
                self.warn(WarningKind::GuessedRole(Role::Docid), column);
            }
        }
        let (left_out, categories) = self.guesses().other_ids();
        for column in left_out {
            self.set(column, ColumnUse::Role(Role::Ignore));
            self.warn(WarningKind::IdLeftOut, column);
        }
        for column in categories {
            self.set(column, ColumnUse::Category);
            self.warn(WarningKind::IdsAsCategories, column);
        }
    }

    /// Adds a document id to the roles that an error suggests, if there is none.
    fn suggest_document(&self, solution: &mut Roles) {
        let has_docid = self.of_role(Role::Docid).is_some();
        if has_docid || solution.columns(Role::Docid).next().is_some() {
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
            solution.set_if_free(Role::Docid, name);
        }
    }

    /// The columns whose content in all rows must be counted before the table can be read.
    pub(in crate::format) fn columns_to_survey(&self) -> Vec<usize> {
        let is_needed = |column: &usize| {
            // For numbers and typed times, the first rows are enough.
            let is_plain = self.contents.get(*column).is_none_or(|content| {
                let is_plain = match content.kind() {
                    ContentKind::Nothing => !content.has_missing_words(),
                    kind => kind == ContentKind::Numbers,
                };
                is_plain || matches!(content.typed, Some(super::content::TypedValues::Time { .. }))
            });
            let is_suspect = self.is_suspect.get(*column) == Some(&true);
            let is_complete = self.is_complete.get(*column) == Some(&true);
            let depends_on_all_rows = match self.uses.get(*column) {
                Some(ColumnUse::Feature(None)) => !is_plain || is_suspect,
                // The numbers of all rows show whether they are written like dates.
                Some(ColumnUse::Time) => {
                    let content = self.contents.get(*column);
                    let typed = content.and_then(|content| content.typed.as_ref());
                    !matches!(typed, Some(super::content::TypedValues::Time { .. }))
                }
                Some(ColumnUse::Category) => true,
                _ => false,
            };
            depends_on_all_rows && !is_complete
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
                // The reader found something else than numbers, but the survey did not: with a
                // fixed encoding, the reader reports its error.
                self.set(column, ColumnUse::Feature(Some(Encoding::Number)));
            }
            if let (Some(old), Some(is_complete)) =
                (self.contents.get_mut(column), self.is_complete.get_mut(column))
            {
                *old = content;
                *is_complete = true;
            }
        }
    }

    /// Marks columns in which a reader found something else than the numbers of the first rows.
    pub(in crate::format) fn mark_suspect(&mut self, columns: &[usize]) {
        for &column in columns {
            if let Some(is_suspect) = self.is_suspect.get_mut(column) {
                *is_suspect = true;
            }
            if self.is_complete.get(column) == Some(&true) {
                // The survey of all rows did not find it: with a fixed encoding, the reader reports
                // its error.
                self.set(column, ColumnUse::Feature(Some(Encoding::Number)));
            }
        }
    }

    /// The content of a column. Words for missing values, such as `NA`, count as texts in a column
    /// of texts if the format tells texts and missing values apart, or if the column was given the
    /// role `category`.
    fn with_kept_words<'c>(
        &self,
        name: &str,
        content: &'c ColumnContent,
    ) -> Cow<'c, ColumnContent> {
        let is_text = matches!(
            content.kind(),
            ContentKind::Nothing
                | ContentKind::Codes
                | ContentKind::Categories
                | ContentKind::FreeTexts { .. }
                | ContentKind::Mixed { .. }
        );
        let is_category = self.options.roles.role(name) == Some(Role::Category);
        match content.has_missing_words() && (is_category || (self.has_text_type && is_text)) {
            true => Cow::Owned(content.words_as_texts()),
            false => Cow::Borrowed(content),
        }
    }

    /// The schema by which the rows are read, or one error with the problems of all columns.
    pub(in crate::format) fn schema(
        &self,
        warnings: &mut Warnings,
    ) -> Result<TableSchema, DataError> {
        let (mut problems, mut solution) = (self.problems.clone(), self.solution.clone());
        let mut all_warnings = self.warnings.clone();
        let mut columns = Vec::with_capacity(self.columns.len());
        for ((column, used), content) in self.columns.iter().zip(&self.uses).zip(&self.contents) {
            let mut planned = TableColumn::new(column.name.as_str(), Role::Feature);
            match used {
                ColumnUse::Role(role) => planned.role = *role,
                ColumnUse::Feature(Some(encoding)) => {
                    planned.encoding = encoding.clone();
                }
                used => match encoding(
                    &column.name,
                    used,
                    &self.with_kept_words(&column.name, content),
                    &self.options.roles,
                ) {
                    Ok((encoding, warning)) => {
                        planned.encoding = encoding;
                        if let Some(kind) = warning {
                            let file = || SourceLocation::file(&self.file);
                            all_warnings.add_column(kind, column.name.clone(), file);
                        }
                    }
                    Err(EncodingProblem::Error(error)) => return Err(*error),
                    Err(EncodingProblem::Column(problem, role)) => {
                        problems.push(*problem);
                        solution.remove(&column.name);
                        solution.set_if_free(role, &column.name);
                    }
                },
            }
            if matches!(planned.encoding, Encoding::Time(_)) {
                let earlier = self.options.columns.as_deref();
                let earlier = earlier.and_then(|earlier| earlier.column(&column.name));
                let known = earlier.map(|earlier| earlier.date_order);
                planned.date_order = known
                    .filter(|order| !order.is_unknown())
                    .unwrap_or_else(|| content.date_order());
            }
            columns.push(planned);
        }
        if !problems.is_empty() {
            self.suggest_document(&mut solution);
            let (roles, optional) = self.solutions(&solution);
            let problem = ColumnProblem::Unusable { problems, roles, optional };
            return Err(DataError::columns(&self.file, problem));
        }
        warnings.merge(all_warnings);
        let origins = self.uses.iter().map(ColumnUse::encoding_origin).collect();
        let columns = TableColumns::new(columns)?;
        Ok(TableSchema::new(&self.file, columns, origins, self.is_labelled, self.is_one_query))
    }
}

/// The use of a column by the given roles and by earlier data; a feature if neither has it.
fn use_of(column: &SourceColumn, roles: &Roles, earlier: Option<&TableColumns>) -> ColumnUse {
    let column_roles: Vec<Role> = roles.roles_of(&column.name).collect();
    let mut parts: Vec<TimePart> =
        column_roles.iter().filter_map(|role| role.time_part()).collect();
    parts.sort_unstable();
    match column_roles.first() {
        _ if !parts.is_empty() => ColumnUse::Feature(Some(Encoding::Time(parts))),
        Some(Role::Feature) => earlier_feature(column, earlier),
        Some(Role::Number) => ColumnUse::Feature(Some(Encoding::Number)),
        Some(Role::Category) => match earlier_feature(column, earlier) {
            feature @ ColumnUse::Feature(Some(Encoding::Category(_))) => feature,
            _ => ColumnUse::Category,
        },
        Some(Role::Time) => ColumnUse::Time,
        Some(role) => ColumnUse::Role(*role),
        None => match earlier.and_then(|earlier| earlier.column(&column.name)) {
            // The role that this column had in earlier data was now given to another column.
            Some(before)
                if !before.role.is_shared() && roles.columns(before.role).next().is_some() =>
            {
                ColumnUse::Role(Role::Ignore)
            }
            Some(before) if before.role != Role::Feature => ColumnUse::Role(before.role),
            _ => earlier_feature(column, earlier),
        },
    }
}

/// A feature, with the encoding that it has in earlier data, if any.
fn earlier_feature(column: &SourceColumn, earlier: Option<&TableColumns>) -> ColumnUse {
    let before = earlier.and_then(|earlier| earlier.column(&column.name));
    let before = before.filter(|before| before.role == Role::Feature);
    ColumnUse::Feature(before.map(|before| before.encoding.clone()))
}

/// The reason why the values of a column cannot be encoded.
enum EncodingProblem {
    /// An error that no role can solve.
    Error(Box<DataError>),
    /// A problem, and the role of the column that solves it.
    Column(Box<ColumnProblem>, Role),
}

/// The encoding of a feature by its values, and a warning, if there is a reason for one.
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
    // Texts that hardly repeat are no categories.
    let category_or_ignore = || match content.is_mostly_unique() {
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
            let order = content.date_order();
            let warning = (!order.is_unknown()).then_some(WarningKind::DateOrder(order));
            Ok((Encoding::Time(parts.collect()), warning))
        }
        (_, ContentKind::DatesOfAnyOrder { text, location }) => {
            problem(ColumnProblem::DateOrder { column, text, location }, Role::Ignore)
        }
        (ColumnUse::Time, ContentKind::Nothing | ContentKind::Numbers) => {
            Ok((Encoding::Time(content.parts_of_numbers()), None))
        }
        (ColumnUse::Time, _) => {
            let (text, location) = content.first_text();
            let location = Box::new(location);
            problem(ColumnProblem::NotTimes { column, text, location }, category_or_ignore())
        }
        (_, ContentKind::TimesAndOthers { text, location }) => {
            let problem_with_column = ColumnProblem::TimesAndOthers { column, text, location };
            problem(problem_with_column, category_or_ignore())
        }
        (_, ContentKind::Nothing | ContentKind::Numbers) => Ok((Encoding::Number, None)),
        (_, ContentKind::Codes) => Ok(categories(content, Some(WarningKind::LeadingZeros))),
        (_, ContentKind::Categories) => Ok(categories(content, None)),
        (_, ContentKind::FreeTexts { different, rows }) => {
            // A column that was given the role `feature` is one, whatever its values.
            if roles.role(name) == Some(Role::Feature) {
                return Ok(categories(content, None));
            }
            problem(ColumnProblem::FreeTexts { column, different, rows }, Role::Ignore)
        }
        (_, ContentKind::Mixed { text, location }) => {
            let problem_with_column = ColumnProblem::NumbersAndTexts { column, text, location };
            problem(problem_with_column, category_or_ignore())
        }
        (_, ContentKind::DecimalCommas { text, location }) => {
            problem(ColumnProblem::DecimalCommas { column, text, location }, Role::Ignore)
        }
        (_, ContentKind::FormattedNumbers { text, location }) if content.has_decimal_commas => {
            problem(ColumnProblem::DecimalPoints { column, text, location }, Role::Ignore)
        }
        (_, ContentKind::FormattedNumbers { text, location }) => {
            problem(ColumnProblem::FormattedNumbers { column, text, location }, Role::Ignore)
        }
    }
}

/// The values of a column as categories, with this warning, or with another one if there are too
/// many categories.
fn categories(
    content: &ColumnContent,
    warning: Option<WarningKind>,
) -> (Encoding, Option<WarningKind>) {
    let has_rare = content.different() > MAX_CATEGORIES;
    let values: Arc<[String]> = content.most_frequent(MAX_CATEGORIES).into();
    let warning = if has_rare { Some(WarningKind::RareCategories) } else { warning };
    (Encoding::Category(values), warning)
}

impl TableColumns {
    /// The column of a role that only one column can have.
    fn of_role(&self, role: Role) -> Option<&TableColumn> {
        self.iter().find(|column| column.role == role)
    }
}
