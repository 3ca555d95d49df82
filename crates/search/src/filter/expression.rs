//! The expression of a filter, as parsed: conditions on fields, joined by AND, OR and NOT.
//!
//! An expression does not belong to an index: [`super::condition`] checks whether its fields exist
//! and its values fit them when the expression is used with an index.

use std::fmt;

use super::error::ConditionOrigin;

/// A parsed filter expression. It prints in a form that parses to an equal expression; two
/// expressions are equal if they parse to the same conditions, even if they are spaced differently.
///
/// ```
/// use rankwright_search::FilterExpression;
///
/// let filter = FilterExpression::parse("tags:red and not price>=20")?;
/// assert_eq!(filter.to_string(), "tags:red AND NOT price>=20");
/// assert_eq!(filter, FilterExpression::parse("tags:red AND NOT price>=20")?);
/// # Ok::<(), rankwright_search::FilterError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FilterExpression {
    /// The text as given, for messages.
    pub(super) text: String,
    pub(super) root: Node,
    /// The kind of text, for messages.
    pub(super) origin: ConditionOrigin,
}

impl FilterExpression {
    /// The conditions of a query in simple syntax, all of which must hold; `None` without
    /// conditions.
    pub(crate) fn of_query(text: &str, conditions: Vec<QueryCondition>) -> Option<Self> {
        let nodes: Vec<Node> = conditions.into_iter().map(QueryCondition::into_node).collect();
        let root = match nodes.len() {
            0 => return None,
            _ => Node::And(nodes),
        };
        Some(Self { text: text.to_owned(), root, origin: ConditionOrigin::Query })
    }

    /// The field and the value, if the expression only compares a field with one value by `:` or
    /// `=`.
    pub(crate) fn single_value(&self) -> Option<(&str, &str)> {
        match &self.root {
            Node::Test(FieldTest {
                field: Some(field),
                test: ValueTest::Compare(Comparison::Matches | Comparison::Equals, value),
            }) => Some((&field.text, &value.text)),
            _ => None,
        }
    }
}

/// A condition of a query in simple syntax.
pub(crate) struct QueryCondition {
    /// Whether documents must not pass the test.
    pub(crate) is_excluded: bool,
    pub(crate) test: QueryTest,
    /// Offset of the condition's first byte in the text of the query.
    pub(crate) offset: usize,
}

/// The test of a condition of a query.
pub(crate) enum QueryTest {
    /// A text field has these words in this order.
    Words(String),
    /// A condition on a field.
    Field(FilterExpression),
}

impl QueryCondition {
    /// The condition as a node, whose positions are those in the query.
    fn into_node(self) -> Node {
        let node = match self.test {
            QueryTest::Words(text) => {
                let word = Literal { text, is_quoted: true, offset: self.offset };
                let test = ValueTest::Compare(Comparison::Matches, word);
                Node::Test(FieldTest { field: None, test })
            }
            QueryTest::Field(mut expression) => {
                expression.root.shift(self.offset);
                expression.root
            }
        };
        if self.is_excluded { Node::Not(Box::new(node)) } else { node }
    }
}

/// Compares the conditions and not the text, as the same conditions can be written in several ways.
impl PartialEq for FilterExpression {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

impl Eq for FilterExpression {}

/// A node of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// Documents that pass every part.
    And(Vec<Node>),
    /// Documents that pass at least one part.
    Or(Vec<Node>),
    /// Documents that do not pass a part.
    Not(Box<Node>),
    /// Documents whose field passes a test.
    Test(FieldTest),
}

/// A test of one field, or of all text fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldTest {
    /// The field; `None` stands for all text fields.
    pub(super) field: Option<Literal>,
    pub(super) test: ValueTest,
}

/// A test of a field's values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ValueTest {
    /// The field has a value.
    Present,
    /// The comparison of a value with the literal is true.
    Compare(Comparison, Literal),
    /// The comparison, `:` or `=`, of a value with one of the literals is true.
    OneOf(Comparison, Vec<Literal>),
    /// A value lies in a range; an end without a literal is open.
    Range { low: RangeEnd, high: RangeEnd },
}

/// One end of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RangeEnd {
    pub(super) value: Option<Literal>,
    /// Whether the end itself belongs to the range.
    pub(super) included: bool,
}

/// A comparison of a value with a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// `:`. Texts and web addresses contain the literal; values of other kinds are equal to it.
    Matches,
    /// `=`.
    Equals,
    /// `<`.
    Less,
    /// `<=`.
    AtMost,
    /// `>`.
    Greater,
    /// `>=`.
    AtLeast,
}

impl Comparison {
    /// The operator in a filter.
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Matches => ":",
            Self::Equals => "=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }
}

/// A name or value of an expression, with its position in the text.
#[derive(Debug, Clone)]
pub(super) struct Literal {
    pub(super) text: String,
    pub(super) is_quoted: bool,
    /// Offset of its first byte in the text of the expression.
    pub(super) offset: usize,
}

/// Compares without positions, so that an expression equals the one that its printed form parses
/// to.
impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, self.is_quoted) == (&other.text, other.is_quoted)
    }
}

impl Eq for Literal {}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_quoted {
            return f.write_str(&self.text);
        }
        f.write_str("\"")?;
        for c in self.text.chars() {
            if matches!(c, '"' | '\\') {
                f.write_str("\\")?;
            }
            write!(f, "{c}")?;
        }
        f.write_str("\"")
    }
}

impl fmt::Display for FilterExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.fmt(f)
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::And(parts) => write_joined(f, parts, " AND "),
            Node::Or(parts) => write_joined(f, parts, " OR "),
            Node::Not(part) => {
                f.write_str("NOT ")?;
                part.write_in_brackets(f)
            }
            Node::Test(test) => test.fmt(f),
        }
    }
}

impl Node {
    /// Adds an offset to the positions of all literals.
    fn shift(&mut self, offset: usize) {
        match self {
            Node::And(parts) | Node::Or(parts) => {
                parts.iter_mut().for_each(|part| part.shift(offset));
            }
            Node::Not(part) => part.shift(offset),
            Node::Test(FieldTest { field, test }) => {
                let values: Vec<&mut Literal> = match test {
                    ValueTest::Present => Vec::new(),
                    ValueTest::Compare(_, value) => vec![value],
                    ValueTest::OneOf(_, values) => values.iter_mut().collect(),
                    ValueTest::Range { low, high } => {
                        low.value.iter_mut().chain(&mut high.value).collect()
                    }
                };
                field.iter_mut().chain(values).for_each(|literal| literal.offset += offset);
            }
        }
    }

    /// Writes the node, in brackets if it joins several parts.
    fn write_in_brackets(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::And(_) | Node::Or(_) => write!(f, "({self})"),
            Node::Not(_) | Node::Test(_) => write!(f, "{self}"),
        }
    }
}

fn write_joined(f: &mut fmt::Formatter<'_>, parts: &[Node], operator: &str) -> fmt::Result {
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            f.write_str(operator)?;
        }
        part.write_in_brackets(f)?;
    }
    Ok(())
}

impl fmt::Display for FieldTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(field) = &self.field {
            field.fmt(f)?;
        }
        match (&self.test, &self.field) {
            (ValueTest::Present, Some(_)) => f.write_str(":*"),
            (ValueTest::Present, None) => f.write_str("*"),
            (ValueTest::Compare(_, literal), None) => literal.fmt(f),
            (ValueTest::Compare(comparison, literal), Some(_)) => {
                write!(f, "{}{literal}", comparison.symbol())
            }
            (ValueTest::OneOf(comparison, literals), _) => {
                write!(f, "{}(", comparison.symbol())?;
                for (i, literal) in literals.iter().enumerate() {
                    write!(f, "{}{literal}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
            (ValueTest::Range { low, high }, _) => {
                let open = if low.included { '[' } else { '{' };
                let close = if high.included { ']' } else { '}' };
                write!(f, ":{open}")?;
                low.write_value(f)?;
                f.write_str(" TO ")?;
                high.write_value(f)?;
                write!(f, "{close}")
            }
        }
    }
}

impl RangeEnd {
    fn write_value(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(literal) => write!(f, "{literal}"),
            None => f.write_str("*"),
        }
    }
}
